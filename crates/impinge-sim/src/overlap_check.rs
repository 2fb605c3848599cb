//! Whether all bodies of a scene are apart: the exact relation of every pair whose boxes meet.

use impinge::broad::Mobility;
use impinge::narrow::dispatch::{self, PairMemory};
use impinge::scene::{Body, BodyId, Scene};
use impinge::{Pose, Relation};

/// Asks every pair of which one can move.
///
/// # Errors
/// The first pair that is not apart.
pub fn all_apart(scene: &Scene) -> Result<(), String> {
    all_apart_at(scene, |_, body| body.pose)
}

/// The same with the bodies at other places.
///
/// # Errors
/// The first pair that is not apart.
pub fn all_apart_at(scene: &Scene, place: impl Fn(BodyId, &Body) -> Pose) -> Result<(), String> {
    let bodies: Vec<_> = scene.bodies().map(|(id, body)| (body, place(id, body))).collect();
    let boxes: Vec<_> = bodies.iter().map(|(body, pose)| body.shape.bounds(pose)).collect();
    for (j, (b, pose_b)) in bodies.iter().enumerate() {
        for (i, (a, pose_a)) in bodies[..j].iter().enumerate() {
            let fixed = a.mobility == Mobility::Fixed && b.mobility == Mobility::Fixed;
            if fixed || !boxes[i].meets(&boxes[j]) {
                continue;
            }
            let memory = &mut PairMemory::default();
            let found = dispatch::relation(&a.shape, pose_a, &b.shape, pose_b, memory).0;
            if found != Relation::Separated {
                return Err(format!("bodies {i} and {j} are not apart but {found:?}"));
            }
        }
    }
    Ok(())
}
