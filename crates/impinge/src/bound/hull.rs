//! The convex hull of a node's points, by its corners. Two hulls are tested by a boolean GJK walk
//! (Gilbert, Johnson and Keerthi 1988, in the form that only keeps a search direction) in which "apart"
//! is said only along a direction whose two projections were measured and found disjoint: the walk may
//! lose its way in rounding, the answer stays conservative.

use std::mem::size_of;

use glam::DVec3;

use crate::Pose;

use crate::num::tolerance::ROUND_UP;
use crate::shape::hull;

use super::{BoundRef, Bounding, Relative, Sphere};

/// The corners of a hull, rounded off by a ball of radius `pad`.
#[derive(Debug, Clone, PartialEq)]
pub struct Hull {
    points: Vec<DVec3>,
    pad: f64,
}

/// Steps of the walk. Separated hulls of this kind are told apart in about five.
const STEPS: usize = 32;

impl Hull {
    /// The hull of points; there must be one at least.
    pub fn around_points(points: &[DVec3]) -> Hull {
        Hull { points: corners(points), pad: 0.0 }
    }

    /// The corners.
    pub fn points(&self) -> &[DVec3] {
        &self.points
    }

    fn support(&self, d: DVec3) -> DVec3 {
        let mut best = (self.points[0], f64::NEG_INFINITY);
        for &p in &self.points {
            let along = p.dot(d);
            if along > best.1 {
                best = (p, along);
            }
        }
        best.0
    }

    fn error(&self) -> f64 {
        self.points.iter().map(|&p| super::project_error(p)).fold(0.0, f64::max)
    }

    /// The largest certified gap between two hulls, not above zero when none was found; ends with the
    /// first one when `first` is set.
    pub(super) fn gap(&self, other: &Hull, relative: &Relative, first: bool) -> f64 {
        let pad = relative.pad + self.pad + other.pad * relative.stretch;
        // A point of the difference a − b that is extreme along d.
        let extreme = |d: DVec3| self.support(d) - relative.point(other.support(-relative.direction_to_b(d)));
        let mut simplex: Vec<DVec3> = Vec::with_capacity(4);
        let mut d = relative.point(other.points[0]) - self.points[0];
        let mut best = f64::NEG_INFINITY;
        for _ in 0..STEPS {
            let length = d.length();
            if !(length > 0.0 && length.is_finite()) {
                break;
            }
            d /= length;
            let p = extreme(d);
            best = best.max(-p.dot(d) - pad);
            if (first && best > 0.0) || simplex.contains(&p) {
                break;
            }
            simplex.push(p);
            match towards_origin(&mut simplex) {
                Some(next) => d = next,
                None => break,
            }
        }
        best
    }
}

/// The corners of the hull of points, a subset of them in ascending order of coordinates.
fn corners(points: &[DVec3]) -> Vec<DVec3> {
    let (points, _) = hull::distinct(points);
    let mut used = match hull::hull(&points) {
        hull::Hull::Point(p) => vec![p],
        hull::Hull::Segment(ends) => ends.to_vec(),
        hull::Hull::Polygon(loop_) => loop_,
        hull::Hull::Solid(triangles) => triangles.into_iter().flat_map(|t| t.corners).collect(),
    };
    used.sort_unstable();
    used.dedup();
    used.into_iter().map(|i| points[i as usize]).collect()
}

/// Surface and volume of the hull of points, in floats; both sides of a flat hull count.
fn measure(points: &[DVec3]) -> (f64, f64) {
    let (points, _) = hull::distinct(points);
    let at = |i: u32| points[i as usize];
    let area = |[a, b, c]: [u32; 3]| (at(b) - at(a)).cross(at(c) - at(a)).length() / 2.0;
    match hull::hull(&points) {
        hull::Hull::Point(_) | hull::Hull::Segment(_) => (0.0, 0.0),
        hull::Hull::Polygon(loop_) => {
            (2.0 * loop_.windows(2).map(|w| area([loop_[0], w[0], w[1]])).sum::<f64>(), 0.0)
        }
        hull::Hull::Solid(triangles) => {
            let o = points[0];
            let six = |[a, b, c]: [u32; 3]| (at(a) - o).dot((at(b) - o).cross(at(c) - o));
            let volume = triangles.iter().map(|t| six(t.corners)).sum::<f64>() / 6.0;
            (triangles.iter().map(|t| area(t.corners)).sum(), volume.max(0.0))
        }
    }
}

/// Drops the points of a simplex that do not face the origin and gives the direction from it to the
/// origin; `None` when the origin is inside. The newest point is the last.
fn towards_origin(simplex: &mut Vec<DVec3>) -> Option<DVec3> {
    match simplex[..] {
        [a] => Some(-a),
        [b, a] => Some(from_edge(simplex, a, b)),
        [c, b, a] => Some(from_triangle(simplex, a, b, c)),
        [d, c, b, a] => {
            let to = -a;
            for (p, q, r) in [(b, c, d), (c, d, b), (d, b, c)] {
                let mut n = (p - a).cross(q - a);
                if n.dot(r - a) > 0.0 {
                    n = -n;
                }
                if n.dot(to) > 0.0 {
                    return Some(from_triangle(simplex, a, p, q));
                }
            }
            None
        }
        _ => None,
    }
}

fn from_edge(simplex: &mut Vec<DVec3>, a: DVec3, b: DVec3) -> DVec3 {
    let (edge, to) = (b - a, -a);
    if edge.dot(to) > 0.0 {
        *simplex = vec![b, a];
        edge.cross(to).cross(edge)
    } else {
        *simplex = vec![a];
        to
    }
}

fn from_triangle(simplex: &mut Vec<DVec3>, a: DVec3, b: DVec3, c: DVec3) -> DVec3 {
    let (ab, ac, to) = (b - a, c - a, -a);
    let n = ab.cross(ac);
    if n.cross(ac).dot(to) > 0.0 {
        return if ac.dot(to) > 0.0 { from_edge(simplex, a, c) } else { from_edge(simplex, a, b) };
    }
    if ab.cross(n).dot(to) > 0.0 {
        return from_edge(simplex, a, b);
    }
    *simplex = vec![c, b, a];
    if n.dot(to) > 0.0 { n } else { -n }
}

impl Bounding for Hull {
    fn enclose(triangles: &[[DVec3; 3]]) -> Self {
        Hull::around_points(triangles.as_flattened())
    }

    fn merge(&self, other: &Self) -> Self {
        Hull::around(&[BoundRef::Hull(self), BoundRef::Hull(other)])
    }

    fn around(parts: &[BoundRef<'_>]) -> Self {
        let (mut points, mut pad) = (Vec::new(), 0.0_f64);
        for part in parts {
            if let BoundRef::Hull(h) = part {
                points.extend_from_slice(&h.points);
                pad = pad.max(h.pad);
            } else {
                let [x, y, z] = DVec3::AXES.map(|axis| part.interval(axis));
                points.extend((0..8).map(|i| DVec3::new(x[i & 1], y[i >> 1 & 1], z[i >> 2])));
            }
        }
        Hull { pad, ..Hull::around_points(&points) }
    }

    fn overlaps(&self, other: &Self, relative: &Relative) -> bool {
        !(self.gap(other, relative, true) > 0.0)
    }

    fn interval(&self, d: DVec3) -> [f64; 2] {
        let slack = d.length() * (self.pad + self.error()) * ROUND_UP;
        let low = self.points.iter().map(|p| p.dot(d)).fold(f64::INFINITY, f64::min);
        let high = self.points.iter().map(|p| p.dot(d)).fold(f64::NEG_INFINITY, f64::max);
        [low - slack, high + slack]
    }

    fn ball(&self) -> Sphere {
        let mut ball = Sphere::around_points(&self.points);
        ball.inflate(self.pad);
        ball
    }

    fn farthest(&self, p: DVec3) -> f64 {
        let far = self.points.iter().map(|q| q.distance(p)).fold(0.0, f64::max);
        (far + self.pad) * ROUND_UP + f64::MIN_POSITIVE.sqrt()
    }

    fn contains(&self, p: DVec3) -> bool {
        // Outside only when a direction proves it beyond rounding.
        let still = Relative::new(&Pose::IDENTITY, self.ball().farthest(DVec3::ZERO), &Pose::IDENTITY, 0.0);
        let point = Hull { points: vec![p], pad: 0.0 };
        self.points.contains(&p) || self.overlaps(&point, &still)
    }

    fn normals(&self, visit: &mut dyn FnMut(DVec3)) {
        (0..13).map(super::Dop::<13>::direction).for_each(visit);
    }

    fn inflate(&mut self, by: f64) {
        self.pad = (self.pad + by) * ROUND_UP;
    }

    fn surface(&self) -> f64 {
        measure(&self.points).0
    }

    fn volume(&self) -> f64 {
        measure(&self.points).1
    }

    fn bytes(&self) -> usize {
        size_of::<Hull>() + size_of::<DVec3>() * self.points.len()
    }
}
