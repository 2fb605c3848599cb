//! How often a closed surface winds around a place: exact, by a ray along a coordinate axis.
//!
//! The ray starts at a `PerturbedPoint`, which lies on no plane and over no edge, so every triangle is either
//! passed in its inside or not at all and there are no special cases. For surfaces with holes there is
//! the generalised winding number (Jacobson, Kavan and Sorkine-Hornung, Robust inside-outside
//! segmentation using generalized winding numbers, 2013), a sum of solid angles.

#[cfg(any(test, feature = "unstable"))]
use std::f64::consts::PI;
use std::ops::ControlFlow;

use glam::DVec3;
use smallvec::SmallVec;

use super::perturbed_point::{BasePoint, Direction, PerturbedPoint};
use super::placed_mesh::PlacedMesh;
use crate::Pose;
use crate::geom::point_triangle_exact;
use crate::geom::triangle_triangle::upright_axis;
use crate::model::Model;
use crate::num::exact_vector::{cross, normal};
use crate::num::predicate::Sign;

/// A few placed triangles.
pub(crate) type Faces = SmallVec<[[DVec3; 3]; 8]>;

/// Where a point is, relative to a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Winding {
    /// On the surface.
    OnSurface {
        /// Whether the surface winds around places as near as one likes: not so on a double sheet.
        of_solid: bool,
    },
    /// Off the surface, which winds so often around it; 0 is outside.
    Off(i32),
}

impl Winding {
    /// Whether the point belongs to the closed solid: what the surface winds around, and its border.
    pub const fn is_inside(self) -> bool {
        !matches!(self, Winding::Off(0) | Winding::OnSurface { of_solid: false })
    }
}

#[cfg(any(test, feature = "unstable"))]
/// How often a placed surface winds around a point of the world.
///
/// Exact where the surface is closed; for an open one the number depends on where the holes are, and
/// [`solid_angle_winding`] is the better question.
pub fn winding(model: &Model, pose: &Pose, p: DVec3) -> Winding {
    counted_winding(model, pose, p).0
}

/// [`winding`], and how many triangles were asked.
pub(crate) fn counted_winding(model: &Model, pose: &Pose, p: DVec3) -> (Winding, u64) {
    let body = PlacedMesh::new(model, pose);
    let at = faces_at(&body, p);
    if at.is_empty() {
        let (times, tests) = counted_winding_at(&body, &PerturbedPoint::beside(p));
        (Winding::Off(times), tests)
    } else {
        // Each wedge at the point asks all of them again.
        let tests = (at.len() * at.len()) as u64;
        (Winding::OnSurface { of_solid: borders_solid(&body, p, &at) }, tests)
    }
}

#[cfg(any(test, feature = "unstable"))]
/// The generalised winding number of a point: the sum of all solid angles over 4π, in floats.
///
/// Near a whole number for closed surfaces, in between near holes; linear in the number of triangles.
pub fn solid_angle_winding(model: &Model, pose: &Pose, p: DVec3) -> f64 {
    let body = PlacedMesh::new(model, pose);
    let angle = |t: u32| {
        let [a, b, c] = body.corners(t).map(|x| (x - p).normalize_or_zero());
        let below = 1.0 + a.dot(b) + b.dot(c) + c.dot(a);
        a.dot(b.cross(c)).atan2(below)
    };
    (0..model.mesh().triangles().len() as u32).map(angle).sum::<f64>() / (2.0 * PI)
}

/// The placed triangles that a point lies on.
pub(crate) fn faces_at(body: &PlacedMesh<'_>, p: DVec3) -> Faces {
    let mut found = Faces::new();
    body.in_region(p, p, |t| {
        let corners = body.corners(t);
        if point_triangle_exact::contains(&corners, p) {
            found.push(corners);
        }
        ControlFlow::Continue(())
    });
    found
}

/// Whether the surface winds around places as near as one likes to a point of it, given all triangles there.
///
/// Seen from the point each triangle is a piece of a plane, which the others cut into wedges. Every wedge
/// begins at an edge, at a cut or anywhere if there are none; the places beside these, both ways and on both
/// sides, reach everything around the point.
pub(crate) fn borders_solid(body: &PlacedMesh<'_>, p: DVec3, faces: &[[DVec3; 3]]) -> bool {
    faces.iter().any(|face| {
        let Some(axis) = upright_axis(face) else { return false };
        let [a, b, c] = *face;
        faces.iter().flat_map(|other| wedges(p, face, other)).any(|along| {
            let parallel = along.side_of_line(a, b, axis).is_zero();
            let beside = Direction::towards(a, if parallel { c } else { b });
            [beside.reversed(), beside].into_iter().any(|beside| {
                let directions = [along.clone(), beside, Direction::along(axis)];
                let place = PerturbedPoint { base: BasePoint::Corner(p), directions };
                place.covered_by(face, axis).is_some() && windings_across(body, &place) != [0; 2]
            })
        })
    })
}

/// Directions in the plane of a face in which another one, or itself, begins or passes.
fn wedges(p: DVec3, face: &[DVec3; 3], other: &[DVec3; 3]) -> SmallVec<[Direction; 3]> {
    let cut = cross(&normal(face), &normal(other));
    if cut.iter().any(|x| x.sign() != Sign::Zero) {
        let along = Direction::cut(cut, [face, other]);
        return [along.reversed(), along].into_iter().collect();
    }
    other.iter().filter(|corner| **corner != p).map(|corner| Direction::towards(p, *corner)).collect()
}

/// How often the closed surface winds around a place.
/// Also how many triangles were asked.
pub(crate) fn counted_winding_at(body: &PlacedMesh<'_>, place: &PerturbedPoint) -> (i32, u64) {
    let Some(ray) = Ray::shortest(body, place) else { return (0, 1) };
    let (mut sum, mut tests) = (0, 0);
    body.in_region(ray.low, ray.high, |t| {
        sum += ray.passes(place, &body.corners(t));
        tests += 1;
        ControlFlow::Continue(())
    });
    (sum, tests)
}

/// The windings at a place and at its mirror image across the face it lies at.
pub(crate) fn windings_across(body: &PlacedMesh<'_>, place: &PerturbedPoint) -> [i32; 2] {
    counted_windings_across(body, place).0
}

/// [`windings_across`], and how many triangles were asked.
pub(crate) fn counted_windings_across(body: &PlacedMesh<'_>, place: &PerturbedPoint) -> ([i32; 2], u64) {
    let across = place.across();
    let Some(ray) = Ray::shortest(body, place) else { return ([0; 2], 1) };
    let (mut sum, mut tests) = ([0; 2], 0);
    body.in_region(ray.low, ray.high, |t| {
        let corners = body.corners(t);
        sum[0] += ray.passes(place, &corners);
        sum[1] += ray.passes(&across, &corners);
        tests += 2;
        ControlFlow::Continue(())
    });
    (sum, tests)
}

/// A ray along an axis, upward or downward, and the box it runs through.
struct Ray {
    axis: usize,
    up: bool,
    low: DVec3,
    high: DVec3,
}

impl Ray {
    /// The ray with the shortest way out of the body's box; `None` from outside of it.
    fn shortest(body: &PlacedMesh<'_>, place: &PerturbedPoint) -> Option<Ray> {
        let [floor, ceiling] = body.bounds();
        let [mut low, mut high] = place.base.bounds();
        if (low.cmpgt(ceiling) | high.cmplt(floor)).any() {
            return None;
        }
        let way = |i: usize| if i < 3 { ceiling[i] - low[i] } else { high[i - 3] - floor[i - 3] };
        let best = (0..6).min_by(|&i, &j| way(i).total_cmp(&way(j))).unwrap_or(0);
        let (axis, up) = (best % 3, best < 3);
        if up {
            high[axis] = f64::INFINITY;
        } else {
            low[axis] = f64::NEG_INFINITY;
        }
        Some(Ray { axis, up, low, high })
    }

    /// +1 where the ray leaves through the triangle, −1 where it enters, 0 where it passes by.
    #[inline]
    fn passes(&self, place: &PerturbedPoint, triangle: &[DVec3; 3]) -> i32 {
        let [a, b, c] = triangle;
        let (least, most) = (a.min(*b).min(*c), a.max(*b).max(*c));
        if (least.cmpgt(self.high) | most.cmplt(self.low)).any() {
            return 0;
        }
        // A triangle seen anticlockwise against the axis has its normal along it.
        let Some(turn) = place.covered_by(triangle, self.axis) else { return 0 };
        let beyond = place.side_of_plane(triangle) == turn;
        match (beyond == self.up, (turn == Sign::Positive) == self.up) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => -1,
        }
    }
}

#[cfg(test)]
#[path = "winding_tests.rs"]
mod tests;
