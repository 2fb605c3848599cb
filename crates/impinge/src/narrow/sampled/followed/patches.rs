//! A binary tree of surface patches, each with its flat cylinder and the cone of its normals.
//!
//! A patch rides on one of its triangles: it is placed by reading three vertices, whatever the mesh does. The tree goes
//! down to single triangles.
//!
//! What the cones are for. Let a vertex x of one surface pass through a triangle of the other with the unit normal m, and
//! let the normals of the triangles around x lie within α < 90° of c. If m and −m are both more than α away from c, the
//! height over the triangle grows along the same tangent direction on each of the triangles around x: one arc of them is
//! above, one below, before and after. So the curve in which the surfaces cross slides over x, and none begins, ends,
//! splits or merges there (a regular point, Banchoff 1967; for smooth surfaces Sederberg and Meyers 1988: without common
//! normals no closed loop). The same holds for two edges with the normals on both sides of each.
//!
//! Where x is not regular, m or −m is within the hull of the normals around x, so within α of the normal of some
//! triangle there: the hull of some directions is no farther from the nearest of them than the radius of a cone that
//! holds them all. It is enough to watch that triangle and the other. So a patch's cone holds, about the normal of the
//! triangle it rides on, the normal of each of its triangles and α more, the largest at one of its corners; and
//! nothing begins that counts within two patches whose cones have no direction in common, up to its sign.
//!
//! At the rim of an open mesh no cone tells anything. A triangle that is folded over, as simplified scans have many, counts
//! with the mean normal around it: what begins at a fold is no larger than that, beside the curve of the surface around.

use glam::DVec3;

use super::super::facet_pair::shadow;
use super::super::front::NONE;
use super::super::posed::Posed;
use super::super::shells::{Facet, Shells};
use crate::num::tolerance::ROUND_UP;

/// The half-angle of a cone that tells nothing.
const ALL: f32 = std::f32::consts::PI;

/// The cosine of the angle from the mean normal around it beyond which a triangle counts as folded over.
const FOLDED: f64 = 0.5;

/// A patch.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Patch {
    /// The vertices of the triangle that it rides on.
    anchor: [u32; 3],
    /// Of the ball about the anchor's barycentre (a length).
    pub radius: f32,
    /// Heights of the patch's points over the anchor, from the lowest to the highest (lengths).
    inner: f32,
    outer: f32,
    /// The half-angle of the cone of normals (radians).
    pub cone: f32,
    /// The patches that it is made of; `NONE` and a triangle for a single one.
    pub below: [u32; 2],
    /// The part of the surface that it holds: squared radii stand for areas.
    pub share: f32,
}

impl Patch {
    /// Its only triangle.
    #[inline]
    pub fn triangle(&self) -> Option<u32> {
        (self.below[0] == NONE).then_some(self.below[1])
    }

    /// About where it is in the world: as it would be if it deformed with its anchor alone.
    #[inline]
    pub fn place(&self, body: &Posed<'_>) -> Facet {
        let [a, b, c] = self.anchor.map(|v| body.vertices[v as usize]);
        let (radius, normal) = (f64::from(self.radius), (b - a).cross(c - a));
        let length = normal.length();
        let (inner, outer, normal) = match length > 0.0 {
            true => (f64::from(self.inner), f64::from(self.outer), normal / length),
            false => (-radius, radius, DVec3::X),
        };
        body.place(Facet { centre: (a + b + c) / 3.0, normal, radius, inner, outer })
    }
}

/// The tree of a mesh at rest, the root first.
pub(in super::super) fn build(shells: &Shells) -> Vec<Patch> {
    let facets = &shells.levels[0].facets;
    let mut triangles: Vec<u32> = (0..facets.len() as u32).collect();
    let total: f64 = facets.iter().map(|f| f.radius * f.radius).sum();
    let normals = unfolded(shells);
    let fans = fans(shells, &normals);
    let mut build = Build {
        shells,
        normals,
        fans,
        patches: Vec::with_capacity(2 * triangles.len()),
        per_share: 1.0 / total,
    };
    build.patch(&mut triangles);
    build.patches
}

/// The normals of all triangles, but for those that are folded over: there the mean of what is around.
fn unfolded(shells: &Shells) -> Vec<DVec3> {
    let level = &shells.levels[0];
    let own = |t: u32| level.facets[t as usize].normal;
    let unfolded = |t: u32| {
        let sum = own(t) + level.neighbours.of(t).iter().map(|&n| own(n)).sum::<DVec3>();
        let mean = sum.normalize_or(own(t));
        if mean.dot(own(t)) < FOLDED { mean } else { own(t) }
    };
    (0..level.facets.len() as u32).map(unfolded).collect()
}

/// For each triangle the largest half-angle of the normals around one of its corners (radians).
fn fans(shells: &Shells, normals: &[DVec3]) -> Vec<f32> {
    let level = &shells.levels[0];
    let is_open = open(&level.corners);
    let half_angle = |t: u32, v: u32| {
        let around = || {
            let others = level.neighbours.of(t).iter().copied();
            std::iter::once(t).chain(others.filter(|&n| level.corners[n as usize].contains(&v)))
        };
        if around().any(|t| is_open[t as usize]) {
            return ALL;
        }
        let axis = around().map(|t| normals[t as usize]).sum::<DVec3>().normalize_or_zero();
        around().map(|t| axis.dot(normals[t as usize])).fold(1.0, f64::min).acos() as f32
    };
    let largest =
        |t: u32| level.corners[t as usize].map(|v| half_angle(t, v)).into_iter().fold(0.0, f32::max);
    (0..level.corners.len() as u32).map(largest).collect()
}

/// Whether a triangle has a side of its own.
fn open(triangles: &[[u32; 3]]) -> Vec<bool> {
    let mut sides: Vec<[u32; 3]> = Vec::with_capacity(3 * triangles.len());
    for (c, t) in triangles.iter().zip(0..) {
        sides.extend([[c[0], c[1]], [c[1], c[2]], [c[2], c[0]]].map(|[a, b]| [a.min(b), a.max(b), t]));
    }
    sides.sort_unstable();
    let mut is_open = vec![false; triangles.len()];
    for uses in sides.chunk_by(|x, y| x[..2] == y[..2]) {
        if let [[.., t]] = uses {
            is_open[*t as usize] = true;
        }
    }
    is_open
}

struct Build<'s> {
    shells: &'s Shells,
    normals: Vec<DVec3>,
    fans: Vec<f32>,
    patches: Vec<Patch>,
    per_share: f64,
}

impl Build<'_> {
    /// The patch of some triangles, halved along the longest side of the box around their centres.
    fn patch(&mut self, triangles: &mut [u32]) -> u32 {
        let at = self.patches.len() as u32;
        let patch = self.fit(triangles);
        self.patches.push(patch);
        if let [only] = triangles {
            self.patches[at as usize].below = [NONE, *only];
            return at;
        }
        let centre = |t: u32| self.shells.levels[0].facets[t as usize].centre;
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let [low, high] = triangles.iter().fold(start, |[l, h], &t| [l.min(centre(t)), h.max(centre(t))]);
        let (axis, middle) = ((high - low).max_position(), triangles.len() / 2);
        triangles.select_nth_unstable_by(middle, |&a, &b| {
            centre(a)[axis].total_cmp(&centre(b)[axis]).then(a.cmp(&b))
        });
        let (left, right) = triangles.split_at_mut(middle);
        let below = [self.patch(left), self.patch(right)];
        self.patches[at as usize].below = below;
        at
    }

    fn fit(&self, triangles: &[u32]) -> Patch {
        let finest = &self.shells.levels[0];
        let facet = |t: &u32| &finest.facets[*t as usize];
        let anchor = self.anchor(triangles);
        let Facet { centre, normal, .. } = *facet(&anchor);
        let reach = |f: &Facet| f.centre.distance(centre) + f.radius + f.outer - f.inner;
        let radius = triangles.iter().map(|t| reach(facet(t))).fold(0.0, f64::max) * ROUND_UP;
        let hold = |[low, high]: [f64; 2], f: &Facet| {
            let [l, h] = shadow(&Facet { centre: f.centre - centre, ..*f }, normal);
            [low.min(l), high.max(h)]
        };
        let [inner, outer] = triangles.iter().map(facet).fold([0.0; 2], hold);
        let angle = |t: &u32| {
            let t = *t as usize;
            normal.dot(self.normals[t]).min(1.0).acos() as f32 + self.fans[t]
        };
        let share = triangles.iter().map(|t| facet(t).radius.powi(2)).sum::<f64>() * self.per_share;
        Patch {
            anchor: finest.corners[anchor as usize],
            radius: radius as f32,
            inner: inner as f32,
            outer: outer as f32,
            cone: triangles.iter().map(angle).fold(0.0, f32::max).min(ALL),
            below: [NONE; 2],
            share: if share.is_finite() { share as f32 } else { 0.0 },
        }
    }

    /// The triangle that a patch rides on: near the middle of its box, so that the ball is small, and with about the
    /// mean normal, so that cylinder and cone are narrow. Both count as parts of the patch's size.
    fn anchor(&self, triangles: &[u32]) -> u32 {
        let facet = |t: &u32| &self.shells.levels[0].facets[*t as usize];
        let hold = |[l, h]: [DVec3; 2], f: &Facet| [l.min(f.centre - f.radius), h.max(f.centre + f.radius)];
        let [low, high] = triangles.iter().map(facet).fold([DVec3::INFINITY, DVec3::NEG_INFINITY], hold);
        let middle = 0.5 * low + 0.5 * high;
        let size = (0.5 * (high - low).length()).max(f64::MIN_POSITIVE);
        let area = |f: &Facet| f.normal * (f.radius / size) * (f.radius / size);
        let mean = triangles.iter().map(|t| area(facet(t))).sum::<DVec3>().normalize_or_zero();
        let score = |t: &u32| {
            let Facet { centre, normal, .. } = *facet(t);
            let tilt = if normal.dot(mean) > 0.0 { normal.cross(mean).length() } else { 1.0 };
            centre.distance(middle) / size + tilt
        };
        let scored = triangles.iter().map(|t| (score(t), *t));
        scored.min_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1))).map_or(0, |(_, t)| t)
    }
}
