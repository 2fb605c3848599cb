//! The contacts of two convex shapes: the contact patch along the direction of the penetration depth, with the deepest
//! point among its points.

use super::contact_patch::add_patch;
use crate::Pose;
use crate::contact::{Certainty, Contact};
use crate::narrow::convex::separation;
use crate::narrow::dispatch::signed;
use crate::narrow::kernel_memory::KernelMemory;
use crate::shape::Convex;

/// Appends the contacts of two convex shapes not farther apart than `margin`; the answer is what the depth is worth.
pub(super) fn contacts(
    shapes: [&Convex; 2],
    poses: [&Pose; 2],
    margin: f64,
    memory: &mut KernelMemory,
    found: &mut Vec<Contact>,
) -> Certainty {
    let (separation, certainty) =
        separation::distance(shapes[0], poses[0], shapes[1], poses[1], &mut memory.convex);
    let separation = signed(separation, shapes, poses, memory);
    if separation.distance <= margin {
        add_patch(shapes, poses, &separation, margin, found);
    }
    certainty
}
