//! Every triangle against every other, by the same exact tests: the slow twin that can be named.
//!
//! No tree, no filter, no threads: what it answers is what the triangles say, at the price of all pairs.

use glam::DVec3;

use super::closest_point::feature;
use super::distance::Distance;
use crate::contact::{Certainty, Counters, Feature, Finish, Outcome};
use crate::geom::triangle_distance::{common_point, nearest};
use crate::geom::triangle_triangle::meet;
use crate::{Budget, Model, Pose};

/// Every pair of meeting triangles, ascending; those found so far when the budget ended.
pub fn pairs(
    a: &Model,
    pose_a: &Pose,
    b: &Model,
    pose_b: &Pose,
    budget: &mut Budget,
) -> (Vec<[u32; 2]>, Outcome) {
    let mut found = Vec::new();
    let outcome = for_each(a, pose_a, b, pose_b, budget, |pair, t, u| {
        if meet(t, u) {
            found.push(pair);
        }
        false
    });
    (found, outcome)
}

/// Every pair of triangles at most `margin` apart, ascending; meeting ones are always among them.
pub fn near_pairs(
    a: &Model,
    pose_a: &Pose,
    b: &Model,
    pose_b: &Pose,
    margin: f64,
    budget: &mut Budget,
) -> (Vec<[u32; 2]>, Outcome) {
    let mut found = Vec::new();
    let outcome = for_each(a, pose_a, b, pose_b, budget, |pair, t, u| {
        let near = nearest(t, u);
        // Where nothing but contact counts, rounding must not make two triangles meet.
        let is_near = margin > 0.0 && near.distance <= margin;
        if is_near || (!near.disjoint && meet(t, u)) {
            found.push(pair);
        }
        false
    });
    (found, outcome)
}

/// The smallest distance of the surfaces, at the first pair of triangles that has it; infinite when the
/// budget ended before any pair was measured.
pub fn distance(a: &Model, pose_a: &Pose, b: &Model, pose_b: &Pose, budget: &mut Budget) -> Distance {
    let mut best = Distance {
        distance: f64::INFINITY,
        at_least: 0.0,
        points: [DVec3::ZERO; 2],
        features: [Feature::Surface; 2],
        triangles: [0; 2],
        outcome: Outcome { certainty: Certainty::Exact, finish: Finish::Complete, work: Counters::default() },
    };
    best.outcome = for_each(a, pose_a, b, pose_b, budget, |triangles, t, u| {
        let near = nearest(t, u);
        let meets = !near.disjoint && meet(t, u);
        let distance = if meets { 0.0 } else { near.distance };
        if distance < best.distance {
            let points = if meets { [common_point(t, u); 2] } else { near.points };
            let features = if meets {
                triangles.map(Feature::Face)
            } else {
                [
                    feature(a.mesh(), triangles[0], near.parts[0]),
                    feature(b.mesh(), triangles[1], near.parts[1]),
                ]
            };
            best = Distance { distance, points, features, triangles, ..best };
        }
        best.distance == 0.0
    });
    best.bracketed(0.0)
}

/// Visits all pairs in ascending order until the budget ends or `each` has enough; one unit a pair.
fn for_each(
    a: &Model,
    pose_a: &Pose,
    b: &Model,
    pose_b: &Pose,
    budget: &mut Budget,
    mut each: impl FnMut([u32; 2], &[DVec3; 3], &[DVec3; 3]) -> bool,
) -> Outcome {
    let place = |model: &Model, pose: &Pose| -> Vec<[DVec3; 3]> {
        let placed: Vec<DVec3> = model.mesh().vertices().iter().map(|&p| pose.apply(p)).collect();
        model.mesh().triangles().iter().map(|t| t.map(|v| placed[v as usize])).collect()
    };
    let others = place(b, pose_b);
    let mut work = Counters::default();
    let mut finish = Finish::Complete;
    'all: for (i, t) in place(a, pose_a).iter().enumerate() {
        for (j, u) in others.iter().enumerate() {
            if !budget.draw(1) {
                finish = Finish::OutOfBudget;
                break 'all;
            }
            work.primitive_tests += 1;
            if each([i as u32, j as u32], t, u) {
                break 'all;
            }
        }
    }
    Outcome { certainty: Certainty::Exact, finish, work }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::procedural;

    #[test]
    fn boxes_side_by_side() {
        let cube = Model::from(procedural::cuboid([1.0; 3], [1; 3]).unwrap());
        let at = |x: f64| Pose::shift([x, 0.0, 0.0]);
        let ask =
            |x: f64| distance(&cube, &Pose::IDENTITY, &cube, &at(x), &mut Budget::UNLIMITED.clone()).distance;
        assert_eq!([ask(2.0), ask(2.5), ask(5.0), ask(-4.0)], [0.0, 0.5, 3.0, 2.0]);
        let meeting = pairs(&cube, &Pose::IDENTITY, &cube, &at(2.0), &mut Budget::UNLIMITED.clone()).0;
        let near = near_pairs(&cube, &Pose::IDENTITY, &cube, &at(2.5), 0.5, &mut Budget::UNLIMITED.clone()).0;
        assert!(!meeting.is_empty() && meeting.is_sorted());
        assert_eq!(meeting, near);
    }

    #[test]
    fn the_budget_counts_pairs() {
        let cube = Model::from(procedural::cuboid([1.0; 3], [1; 3]).unwrap());
        let mut budget = Budget::units(100);
        let (found, outcome) = pairs(&cube, &Pose::IDENTITY, &cube, &Pose::IDENTITY, &mut budget);
        assert_eq!((outcome.finish, outcome.work.primitive_tests), (Finish::OutOfBudget, 100));
        let (all, outcome) =
            pairs(&cube, &Pose::IDENTITY, &cube, &Pose::IDENTITY, &mut Budget::UNLIMITED.clone());
        assert_eq!((outcome.finish, outcome.work.primitive_tests), (Finish::Complete, 144));
        assert!(found.len() < all.len() && found[..] == all[..found.len()]);
    }
}
