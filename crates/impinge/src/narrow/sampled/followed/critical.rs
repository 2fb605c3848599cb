//! When the curve in which two surfaces cross may change at two triangles in another way than by sliding on.
//!
//! It does only where a corner of one passes through the other, or an edge through an edge, and only if the normals
//! around the one have a direction in common with those around the other, up to its sign (`patches`). So each corner and
//! each pair of edges is harmless until both are expected: that they reach each other, and that the normals have something
//! in common. Normals are read from the vertices as they are: those around a corner lie in a cone about their mean, those
//! at an edge on the arc between two.

use std::cell::OnceCell;
use std::f64::consts::PI;

use glam::DVec3;
use smallvec::SmallVec;

use super::super::facet_pair::Gap;
use super::super::front::NONE;
use super::super::layers::Layers;
use super::super::posed::Posed;
use super::super::triangle_pair::Triangle;
use super::cones::{Cone, Cones, KEPT, half_angle};

/// The sine of the angle of two edges below which no direction is across both (no unit).
const PARALLEL: f64 = 1e-6;

/// How fast things change.
pub(super) struct Rates<G> {
    /// By how much normals turn in a frame (radians).
    pub turned: f64,
    /// By how much they turn in a frame against their own body (radians).
    pub bent: f64,
    /// For how many frames a gap is expected to last.
    pub gap: G,
    /// What is not expected sooner need not be known any better (frames).
    pub enough: f64,
}

/// A triangle of a body.
struct Part<'p, 'f> {
    layers: &'p Layers,
    body: &'p Posed<'f>,
    /// Whose triangle: a's (0) or b's (1).
    which: usize,
    index: u32,
    triangle: Triangle,
    normal: DVec3,
    /// Unit directions of the edges.
    edges: [DVec3; 3],
    /// The normals at the edges, found when they are asked for.
    at_edges: [OnceCell<Cone>; 3],
}

/// For how many frames the curve at two triangles is expected to do no more than slide on.
pub(super) fn frames_until_critical<G: Fn(Gap) -> f64>(
    layers: [&Layers; 2],
    bodies: &[Posed<'_>; 2],
    pair: [u32; 2],
    rates: &Rates<G>,
    cones: &mut Cones,
) -> f64 {
    let [a, b] = [0, 1].map(|k| {
        let triangle = bodies[k].triangle(pair[k]);
        let normal = triangle.normal.normalize_or_zero();
        let [p, q, r] = triangle.corners;
        let edges = [q - p, r - q, p - r].map(DVec3::normalize_or_zero);
        Part {
            layers: layers[k],
            body: &bodies[k],
            which: k,
            index: pair[k],
            triangle,
            normal,
            edges,
            at_edges: Default::default(),
        }
    });
    let mut least = rates.enough;
    for k in 0..3 {
        // The direction of a gap is from a to b.
        for (own, other, sign) in [(&a, &b, -1.0), (&b, &a, 1.0)] {
            let reached = to_face(own.triangle.corners[k], other, sign, &rates.gap, least);
            if reached < least {
                let cone = own.corner(k, rates.bent, cones);
                least = least.min(reached.max(cone.angle_to(other.normal) / rates.turned));
            }
        }
    }
    for (k, l) in (0..9).map(|i| (i / 3, i % 3)) {
        least = least.min(to_edge([&a, &b], [k, l], rates, least));
    }
    least
}

/// Frames until a corner reaches a triangle: its plane, and what lies within its sides.
#[inline]
fn to_face(p: DVec3, of: &Part<'_, '_>, sign: f64, gap: impl Fn(Gap) -> f64, least: f64) -> f64 {
    let frames = |outside: f64, from_face: DVec3| {
        if outside > 0.0 { gap(Gap { width: outside, direction: sign * from_face }) } else { 0.0 }
    };
    let corners = &of.triangle.corners;
    let height = (p - corners[0]).dot(of.normal);
    let mut most = frames(height.abs(), height.signum() * of.normal);
    for (corner, edge) in corners.iter().zip(&of.edges) {
        if most >= least {
            break;
        }
        let outward = edge.cross(of.normal);
        most = most.max(frames((p - corner).dot(outward), outward));
    }
    most
}

/// Frames until two edges reach each other while the direction across both is among the normals at each; at least `least`
/// where it is not known any better.
#[inline]
fn to_edge<G: Fn(Gap) -> f64>(
    [a, b]: [&Part<'_, '_>; 2],
    [k, l]: [usize; 2],
    rates: &Rates<G>,
    least: f64,
) -> f64 {
    let [p, q] = [k, (k + 1) % 3].map(|i| a.triangle.corners[i]);
    let [r, s] = [l, (l + 1) % 3].map(|i| b.triangle.corners[i]);
    let (own, other) = (a.edges[k], b.edges[l]);
    let across = own.cross(other);
    let sine = across.length();
    if sine < PARALLEL {
        let (f, g) = (a.edge(k), b.edge(l));
        return (f.angle_to(g.axis) - g.half_angle) / rates.turned;
    }
    let n = across / sine;
    let frames = |x: f64, y: f64, direction: DVec3| match (x.min(y), x.max(y)) {
        (low, _) if low > 0.0 => (rates.gap)(Gap { width: low, direction }),
        (_, high) if high < 0.0 => (rates.gap)(Gap { width: -high, direction: -direction }),
        _ => 0.0,
    };
    let height = (r - p).dot(n);
    let mut most = frames(height, height, n);
    if most < least {
        let beside = n.cross(own);
        most = most.max(frames((r - p).dot(beside), (s - p).dot(beside), beside));
    }
    if most < least {
        let beside = n.cross(other);
        most = most.max(frames((r - p).dot(beside), (r - q).dot(beside), beside));
    }
    if most < least {
        let (f, g) = (a.edge(k), b.edge(l));
        // The direction across both turns the faster the more the edges are in line.
        let arcs = 0.5 * sine * f.angle_to(n).max(g.angle_to(n));
        most = most.max(arcs.max(f.angle_to(g.axis) - g.half_angle) / rates.turned);
    }
    most
}

impl Part<'_, '_> {
    /// The unit normal of a triangle in the body's frame.
    fn own_normal(&self, t: u32) -> DVec3 {
        let corners = self.body.shells.levels[0].corners[t as usize];
        let [a, b, c] = corners.map(|v| self.body.vertices[v as usize]);
        (b - a).cross(c - a).normalize_or_zero()
    }

    /// The normals around a corner; all directions at the rim of an open mesh.
    #[inline]
    fn corner(&self, k: usize, bent: f64, cones: &mut Cones) -> Cone {
        let v = self.body.shells.levels[0].corners[self.index as usize][k];
        let own = cones.around(self.which, v, self.body.vertices.len(), || self.read_corner(v, bent));
        Cone { axis: self.body.turn * own.axis, ..own }
    }

    /// The normals around a vertex in the body's frame, as they may become while they are kept.
    fn read_corner(&self, v: u32, bent: f64) -> Cone {
        let level = &self.body.shells.levels[0];
        let sides = self.layers.sides();
        let has_rim = |t: u32| {
            let of = &level.corners[t as usize];
            (0..3).any(|k| sides[t as usize][k] == NONE && (of[k] == v || of[(k + 1) % 3] == v))
        };
        let others = level.neighbours.of(self.index).iter().copied();
        let around = others.filter(|&t| level.corners[t as usize].contains(&v));
        let around: SmallVec<[u32; 16]> = std::iter::once(self.index).chain(around).collect();
        if around.iter().any(|&t| has_rim(t)) {
            return Cone { axis: DVec3::X, half_angle: PI };
        }
        let normals: SmallVec<[DVec3; 16]> = around.iter().map(|&t| self.own_normal(t)).collect();
        let axis = normals.iter().sum::<DVec3>().normalize_or_zero();
        let least = normals.iter().map(|n| axis.dot(*n)).fold(1.0, f64::min);
        let half_angle = half_angle(least) + KEPT as f64 * bent;
        Cone { axis, half_angle }
    }

    /// The normals at an edge.
    #[inline]
    fn edge(&self, k: usize) -> Cone {
        *self.at_edges[k].get_or_init(|| self.read_edge(k))
    }

    fn read_edge(&self, k: usize) -> Cone {
        let across = self.layers.sides()[self.index as usize][k];
        if across == NONE {
            return Cone { axis: self.normal, half_angle: PI };
        }
        let beyond = self.body.turn * self.own_normal(across);
        let axis = (self.normal + beyond).normalize_or_zero();
        Cone { axis, half_angle: half_angle(axis.dot(self.normal)) }
    }
}
