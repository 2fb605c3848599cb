//! A half-space against a mesh, by the corners of its triangles.
//!
//! A plane is as far from a triangle as from its nearest corner, unless the corners lie on both sides of it. The sides
//! are decided exactly, so that the surfaces meet just where a triangle has a corner in the plane or crosses it: a
//! mesh with one component on either side does not.

use std::cmp::Ordering;

use glam::DVec3;

use super::convex::relation::HalfSpace;
use crate::contact::Verdict;
use crate::model::Model;
use crate::{Budget, Certainty, Counters, Feature, Finish, Outcome, Pose, Relation, Separation};

/// Triangles that are looked at before a budget is asked again.
const AT_A_TIME: usize = 128;

/// The gap between the plane, as a, and the surface of a mesh on either side of it.
pub(super) fn distance(
    plane: &HalfSpace,
    mesh: &Model,
    pose: &Pose,
    budget: &mut Budget,
) -> Verdict<Separation> {
    let mut work = Counters::default();
    let mut nearest = (f64::INFINITY, 0);
    let mut finish = Finish::Complete;
    let mut meeting = None;
    let place = |v: u32| pose.apply(mesh.mesh().vertices()[v as usize]);
    for some in mesh.mesh().triangles().chunks(AT_A_TIME) {
        if !budget.draw_or_rest(3 * some.len() as u64) {
            finish = Finish::OutOfBudget;
            break;
        }
        work.primitive_tests += 3 * some.len() as u64;
        meeting = some.iter().find_map(|&corners| common_point(plane, corners, corners.map(place)));
        if meeting.is_some() {
            break;
        }
        for &v in some.as_flattened() {
            let height = plane.height(place(v));
            if height.abs() < f64::abs(nearest.0) {
                nearest = (height, v);
            }
        }
    }
    let found = match meeting {
        _ if finish == Finish::OutOfBudget => None,
        Some((point, feature)) => {
            let features = [Feature::Face(0), feature];
            Some(Separation { distance: 0.0, points: [point; 2], features, normal: DVec3::ZERO })
        }
        None => Some(beside(plane, nearest.0, place(nearest.1), nearest.1)),
    };
    Verdict::new(found, Outcome { certainty: Certainty::Exact, finish, work })
}

/// A point of a placed triangle in the plane, and the corner or edge that it lies on.
fn common_point(plane: &HalfSpace, names: [u32; 3], corners: [DVec3; 3]) -> Option<(DVec3, Feature)> {
    let sides = corners.map(|p| plane.side(p));
    if let Some(k) = sides.iter().position(|&side| side == Ordering::Equal) {
        return Some((corners[k], Feature::Vertex(names[k])));
    }
    let k = (0..3).find(|&k| sides[k] != sides[(k + 1) % 3])?;
    let [(p, i), (q, j)] = [k, (k + 1) % 3].map(|k| (corners[k], names[k]));
    let [below, above] = [p, q].map(|end| plane.height(end).abs());
    // From the nearer end, where the rounding is smaller.
    let share = |own: f64, other: f64| if own > 0.0 { own / (own + other) } else { 0.0 };
    let point =
        if below <= above { p + (q - p) * share(below, above) } else { q + (p - q) * share(above, below) };
    Some((point, Feature::Edge([i.min(j), i.max(j)])))
}

/// The answer where the surface is nearest with a corner, which is not in the plane.
fn beside(plane: &HalfSpace, height: f64, point: DVec3, vertex: u32) -> Separation {
    let normal = plane.unit_normal();
    let toward = if plane.side(point) == Ordering::Less { -normal } else { normal };
    Separation {
        // Rounding may have cost it all.
        distance: height.abs().max(f64::MIN_POSITIVE),
        points: [point - normal * height, point],
        features: [Feature::Face(0), Feature::Vertex(vertex)],
        normal: toward,
    }
}

/// The relation of the half-space, as a, to the mesh; `None` when the budget ended first.
pub(super) fn relation(
    plane: &HalfSpace,
    mesh: &Model,
    pose: &Pose,
    budget: &mut Budget,
) -> (Option<Relation>, Outcome) {
    let mut work = Counters::default();
    let mut open = false;
    let corners = mesh.mesh().triangles().as_flattened().iter().map_while(|&v| {
        if work.primitive_tests % (3 * AT_A_TIME as u64) == 0 {
            open |= !budget.draw_or_rest(3 * AT_A_TIME as u64);
        }
        work.primitive_tests += 1;
        (!open).then(|| pose.apply(mesh.mesh().vertices()[v as usize]))
    });
    let found = plane.against_corners(corners, mesh.topology().is_closed());
    let (found, finish) = if open { (None, Finish::OutOfBudget) } else { (Some(found), Finish::Complete) };
    (found, Outcome { certainty: Certainty::Exact, finish, work })
}
