//! Whether all bodies of a scene are apart: the exact relation of every pair whose boxes meet.

use impinge::broad::Mobility;
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
            let found = impinge::relation(a.shape.at(*pose_a), b.shape.at(*pose_b));
            if found != Relation::Separated {
                return Err(format!("bodies {i} and {j} are not apart but {found:?}"));
            }
        }
    }
    Ok(())
}
