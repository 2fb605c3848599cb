//! Whether all bodies of a scene are apart: the exact relation of every pair whose boxes meet.

use impinge::Relation;
use impinge::broad::Mobility;
use impinge::narrow::between::{self, PairMemory};
use impinge::scene::Scene;

/// Asks every pair of which one can move.
///
/// # Errors
/// The first pair that is not apart.
pub fn all_apart(scene: &Scene) -> Result<(), String> {
    let bodies: Vec<_> = scene.bodies().map(|(_, body)| body).collect();
    let boxes: Vec<_> = bodies.iter().map(|body| body.shape.bounds(&body.pose)).collect();
    for (j, b) in bodies.iter().enumerate() {
        for (i, a) in bodies[..j].iter().enumerate() {
            let fixed = a.mobility == Mobility::Fixed && b.mobility == Mobility::Fixed;
            if fixed || !boxes[i].meets(&boxes[j]) {
                continue;
            }
            let memory = &mut PairMemory::default();
            let found = between::relation(&a.shape, &a.pose, &b.shape, &b.pose, memory).0;
            if found != Relation::Separated {
                return Err(format!("bodies {i} and {j} are not apart but {found:?}"));
            }
        }
    }
    Ok(())
}
