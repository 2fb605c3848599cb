//! A convex shape whose middle has sunk into a solid: out along the way from its middle to the nearest surface point.
//!
//! Far enough along it the shape is out. From there it is moved back until it touches (`continuous`), which tells how
//! far it must go at least to be out and stay so. The direction is that of the penetration depth of the middle alone,
//! not of the whole shape.

use glam::DVec3;

use super::convex_on_mesh::OnMesh;
use crate::contact::{Certainty, Contact, Counters, Feature};
use crate::motion::Motion;
use crate::narrow::continuous::{SweepMemory, SweepOptions, sweep_within};
use crate::narrow::dispatch;
use crate::narrow::exact::closest_point::one_after_another;
use crate::narrow::kernel_memory::KernelMemory;
use crate::narrow::shape_pair::ShapePair;
use crate::num::tolerance::SWEEP_TOLERANCE;
use crate::{Budget, Pose, Relation};

/// How often the way is doubled where the shape is not out at its end.
const MOST_DOUBLINGS: u32 = 3;

/// The way is longer than what is needed on flat ground by this share (no unit).
const ROOM: f64 = 1e-3;

/// The contact along the way out, and what its depth is worth; `None` where it leads into another part of the mesh.
pub(super) fn contact(
    asked: &OnMesh<'_>,
    middle: DVec3,
    reach: f64,
    work: &mut Counters,
) -> Option<(Contact, Certainty)> {
    let OnMesh { mesh, mesh_pose, shape, pose, .. } = *asked;
    let near = *one_after_another(mesh, mesh_pose, &[middle]).0.first()?;
    let normal = (near.point - middle).try_normalize()?;
    let mut length = (near.distance.abs() + reach) * (1.0 + ROOM);
    for _ in 0..MOST_DOUBLINGS {
        let moved = pose.moved_to(pose.translation() + normal * length);
        if is_out(asked, &moved) {
            let back = Motion::velocity(&moved, normal * -length, DVec3::ZERO).ok()?;
            let options = SweepOptions::default();
            let swept = sweep_within(
                [asked.level, shape],
                [&Motion::Still(*mesh_pose), &back],
                &options,
                &mut SweepMemory::default(),
                &mut Budget::UNLIMITED.clone(),
            );
            *work += swept.outcome.work;
            let impact = swept.impact?;
            let depth = length * (1.0 - impact.time);
            let points = [impact.point, impact.point - normal * depth];
            let features: [Feature; 2] = impact.features;
            let tolerance = length * SWEEP_TOLERANCE;
            return Some((
                Contact::between(points, normal, depth, features),
                Certainty::Conservative { tolerance },
            ));
        }
        length *= 2.0;
    }
    None
}

/// Whether a shape is apart from the mesh.
fn is_out(asked: &OnMesh<'_>, pose: &Pose) -> bool {
    let pair = ShapePair::new([asked.level, asked.shape], [asked.mesh_pose, pose]);
    dispatch::full_relation(&pair, &mut KernelMemory::default()).0 == Relation::Separated
}
