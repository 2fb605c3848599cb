//! What the way out along a direction is not shorter than: columns through points of both solids.
//!
//! A line through a common point runs within a for some way ahead and within b for some way back. While b is moved
//! along it by less than the sum of both, the two stretches overlap, so the sum is a lower bound of the way out; rays
//! find it. Corners of one body within the other are where it is sharp.

use std::ops::ControlFlow;

use glam::DVec3;

use crate::bound::Aabb;
use crate::narrow::exact::placed_mesh::PlacedMesh;
use crate::narrow::exact::ray_cast::{MeshRays, Ray};
use crate::{Budget, Counters};

/// Corners of each body that are asked whether they are in the other.
const MOST_ASKED: usize = 128;

/// Points that are asked where many directions are compared.
const ROUGHLY: usize = 16;

/// A point of both bodies, and which of them it lies within: on the surface of the other a ray would tell nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
struct CommonPoint {
    at: DVec3,
    within: [bool; 2],
}

/// Points of two closed bodies, and rays through both.
pub(super) struct CommonPoints<'m> {
    bodies: [PlacedMesh<'m>; 2],
    rays: [MeshRays<'m>; 2],
    /// The one that last told most comes first.
    points: Vec<CommonPoint>,
    /// Rays cast.
    pub work: u64,
}

impl<'m> CommonPoints<'m> {
    /// Corners of either body within the other, of those in a box, and `known` points of both.
    pub fn new(
        bodies: [PlacedMesh<'m>; 2],
        bounds: &Aabb,
        known: impl IntoIterator<Item = DVec3>,
    ) -> CommonPoints<'m> {
        let rays = bodies.map(|body| MeshRays::new(body.model, body.pose));
        let points = known.into_iter().map(|at| CommonPoint { at, within: [true; 2] }).collect();
        let mut found = CommonPoints { bodies, rays, points, work: 0 };
        if bodies.iter().all(PlacedMesh::is_closed) {
            for k in 0..2 {
                let corners = corners_in(&bodies[k], bounds);
                let step = corners.len().div_ceil(MOST_ASKED).max(1);
                for p in corners.into_iter().step_by(step) {
                    found.add_corner(p, 1 - k);
                }
            }
        }
        found
    }

    /// Keeps a point of one body if the `other` holds it.
    fn add_corner(&mut self, p: DVec3, other: usize) {
        let held = self.bodies[other].holds(p, &mut Budget::UNLIMITED.clone(), &mut Counters::default());
        self.work += 1;
        let point = CommonPoint { at: p, within: [other == 0, other == 1] };
        if held == Some(true) && !self.points.contains(&point) {
            self.points.push(point);
        }
    }

    /// Keeps a point of b's surface if a holds it: one at which b left a last, say.
    pub fn add(&mut self, p: DVec3) {
        if self.bodies.iter().all(PlacedMesh::is_closed) {
            self.add_corner(p, 0);
        }
    }

    /// What the way out along a direction is not shorter than; no more than `limit` is looked for.
    pub fn at_least(&mut self, direction: DVec3, limit: f64) -> f64 {
        self.longest(1, direction, limit)
    }

    /// [`CommonPoints::at_least`] from some of the points.
    pub fn at_least_roughly(&mut self, direction: DVec3, limit: f64) -> f64 {
        self.longest(self.points.len().div_ceil(ROUGHLY).max(1), direction, limit)
    }

    fn longest(&mut self, step: usize, direction: DVec3, limit: f64) -> f64 {
        let mut most = 0.0;
        for k in (0..self.points.len()).step_by(step) {
            let CommonPoint { at, within } = self.points[k];
            let ahead = if within[0] { self.way(0, at, direction, limit) } else { 0.0 };
            let back = if within[1] { self.way(1, at, -direction, limit) } else { 0.0 };
            if ahead + back > most {
                most = ahead + back;
            }
            if most >= limit {
                self.points.swap(0, k);
                return limit;
            }
        }
        most
    }

    /// How far it is from a point within a body to its surface, up to `limit`; 0 from its surface or outside, as the
    /// side tells from which the surface is met.
    pub fn way(&mut self, body: usize, origin: DVec3, direction: DVec3, limit: f64) -> f64 {
        self.work += 1;
        let hit = self.rays[body].first(&Ray { origin, direction, reach: f64::INFINITY }).0;
        hit.filter(|hit| hit.normal.dot(direction) > 0.0).map_or(0.0, |hit| hit.t.min(limit))
    }
}

/// The corners of the triangles in a box that lie in it, by ascending triangles.
fn corners_in(body: &PlacedMesh<'_>, bounds: &Aabb) -> Vec<DVec3> {
    let mut triangles = Vec::new();
    body.in_region(bounds.low, bounds.high, |t| {
        triangles.push(t);
        ControlFlow::Continue(())
    });
    let mesh = body.model.mesh();
    let mut used: Vec<u32> = triangles.iter().flat_map(|&t| mesh.triangles()[t as usize]).collect();
    used.sort_unstable();
    used.dedup();
    let placed = used.into_iter().map(|v| body.pose.apply(mesh.vertices()[v as usize]));
    placed.filter(|p| (p.cmpge(bounds.low) & p.cmple(bounds.high)).all()).collect()
}
