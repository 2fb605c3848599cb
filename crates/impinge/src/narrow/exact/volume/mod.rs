//! The volume of the intersection of two solids bounded by triangles, with its gradient: exact combinatorics, numbers
//! to rounding.
//!
//! The divergence theorem turns the volume into an integral over the border of the intersection: the part of a's
//! surface inside b and the part of b's inside a, V = ⅓ Σ h·s, with s the area inside of a triangle and h the height
//! of its plane over any one point. Whole triangles inside are found by walking over the surface from the crossings,
//! cut ones are integrated over their borders (`cut`). So nothing is built: no polyhedron, no triangulation, only the
//! pairs of crossing triangles are needed. The derivative of the volume by a vertex is the integral of its barycentric
//! coordinate times the normal over the same parts.
//!
//! Which edge passes through which triangle is decided exactly, with b moved by an infinitesimal translation
//! (`perturbed_crossing`), so touching and coplanar faces, equal bodies and shared vertices are no special cases.
//! Where a body overlaps itself, the overlap counts as often as the surface winds around it.

mod crossings;
mod cut;
mod neighbours;
mod perturbed_crossing;
mod regions;
mod surface;

#[cfg(test)]
mod tests;

use glam::DVec3;

use super::collide::{self, Posed};
use crate::bound::Aabb;
use crate::contact::{Certainty, Counters, Finish, Overlap, Verdict};
use crate::model::Model;
use crate::{Budget, Pose};
use crossings::Crossings;
use perturbed_crossing::Body;
use regions::Integral;
use surface::Surface;
pub(crate) use surface::is_inverted;

/// Rounding of a volume in units of the sum of the absolute values that it is made of: each of them carries the
/// rounding of a crossing point, of a normal and of a height, some ten operations, and the sum is compensated.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// How much two solids overlap.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Volume {
    /// The volume of the common interior.
    pub volume: f64,
    /// The stated error of the volume.
    pub error: f64,
    /// Its connected regions, the largest first.
    pub regions: Vec<Overlap>,
    /// The derivative of the volume by the position of each vertex of both bodies, in the world; empty unless asked.
    pub gradient: [Vec<DVec3>; 2],
}

/// The volume of the intersection of two closed meshes.
pub fn volume(
    models: [&Model; 2],
    poses: [&Pose; 2],
    with_gradient: bool,
    budget: &mut Budget,
) -> Verdict<Volume> {
    measured(models, poses, with_gradient, budget).map(|(volume, _)| volume)
}

/// The regions of the intersection of two closed meshes, the largest first, and a box around each.
pub(crate) fn overlaps(
    models: [&Model; 2],
    poses: [&Pose; 2],
    budget: &mut Budget,
) -> Verdict<Vec<(Overlap, Aabb)>> {
    measured(models, poses, false, budget)
        .map(|(volume, boxes)| volume.regions.into_iter().zip(boxes).collect())
}

/// The volume, and the boxes of its regions.
fn measured(
    models: [&Model; 2],
    poses: [&Pose; 2],
    with_gradient: bool,
    budget: &mut Budget,
) -> Verdict<(Volume, Vec<Aabb>)> {
    let [a, b] = [0, 1].map(|k| Posed::new(models[k], *poses[k]));
    let (pairs, mut outcome) = collide::pairs_within_budget(a, b, budget);
    if outcome.finish == Finish::OutOfBudget {
        return Verdict::new(None, outcome);
    }
    let surface = |body: Body, budget: &mut Budget| {
        let k = body as usize;
        Surface::new(body, models[k], poses[k], budget)
    };
    let (Some(of_a), Some(of_b)) = (surface(Body::A, budget), surface(Body::B, budget)) else {
        return Verdict::out_of_budget();
    };
    let mut surfaces = [of_a, of_b];
    let mut crossings = Crossings::default();
    for &pair in &pairs {
        crossings.add(&mut surfaces, pair);
    }
    let [of_a, of_b] = &mut surfaces;
    of_a.spread(&*of_b);
    of_b.spread(&*of_a);
    let steps = (pairs.len() + surfaces.iter().map(|surface| surface.inside().count()).sum::<usize>()) as u64;
    if !budget.charge_all(steps) {
        return Verdict::out_of_budget();
    }
    outcome.work += Counters { primitive_tests: steps, ..Counters::default() };
    outcome.certainty = Certainty::Exact;
    let found = Integral::of(&surfaces, &crossings, with_gradient).volume();
    Verdict::new(Some(found), outcome)
}
