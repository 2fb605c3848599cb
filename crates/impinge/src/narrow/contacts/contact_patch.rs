//! The contact patch of two convex shapes whose separation is known: its points, their depths and its area.

use glam::DVec3;

use crate::Pose;
use crate::contact::{Contact, Separation};
use crate::narrow::convex::manifold::manifold_of;
use crate::num::tolerance::{SAME_DEPTH, TOUCH_DOUBT};
use crate::shape::Convex;

/// Appends the contact patch of two convex shapes whose separation is known, the deepest point with it.
pub(crate) fn add_patch(
    [a, b]: [&Convex; 2],
    [pose_a, pose_b]: [&Pose; 2],
    separation: &Separation,
    margin: f64,
    found: &mut Vec<Contact>,
) {
    let size = separation.points[0].abs().max(separation.points[1].abs()).max_element();
    // Points that touch but for rounding belong to a patch without a margin.
    let most = margin.max(separation.distance) + TOUCH_DOUBT * size;
    let patch = manifold_of(a, pose_a, b, pose_b, separation, most);
    let from = found.len();
    found.extend(
        patch.points.iter().map(|p| Contact::between(p.points, patch.normal, -p.distance, p.features)),
    );
    let area = area(&found[from..], patch.normal) / patch.points.len().max(1) as f64;
    found[from..].iter_mut().for_each(|contact| contact.area = area);
    let deepest = found[from..].iter().map(|contact| contact.depth).fold(f64::NEG_INFINITY, f64::max);
    if !(deepest >= -separation.distance - SAME_DEPTH * size) {
        found.push((*separation).into());
    }
}

/// The area of a patch whose points stand in order around it, seen along the normal.
fn area(points: &[Contact], normal: DVec3) -> f64 {
    let Some(first) = points.first().map(|c| c.points[0]) else { return 0.0 };
    let corners = points.windows(2).map(|w| [w[0].points[0] - first, w[1].points[0] - first]);
    let twice: DVec3 = corners.map(|[p, q]| p.cross(q)).sum();
    0.5 * twice.dot(normal).abs()
}
