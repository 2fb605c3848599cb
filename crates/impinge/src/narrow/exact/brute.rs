//! Every triangle against every other, by the same exact tests: the slow twin that can be named.
//!
//! No tree, no filter, no threads: what it answers is what the triangles say, at the price of all pairs.

use std::any::Any;

use glam::DVec3;

use super::closest_point::feature;
use super::collide::Posed;
use super::distance::Distance;
use crate::contact::{Certainty, Counters, Feature, Finish, Outcome, Verdict};
use crate::geom::common_point::common_point;
use crate::geom::triangle_distance::{separation, within};
use crate::geom::triangle_triangle::meet;
use crate::model::Model;
use crate::{Budget, Pose};

/// Every pair of meeting triangles, ascending; those found so far when the budget ended.
pub fn pairs(
    a: &Model,
    pose_a: &Pose,
    b: &Model,
    pose_b: &Pose,
    budget: &mut Budget,
) -> (Vec<[u32; 2]>, Outcome) {
    let bodies = [Posed::new(a, *pose_a), Posed::new(b, *pose_b)];
    let told = |found: &Vec<[u32; 2]>, outcome| Verdict::by_finish(found.clone(), outcome);
    for_each(bodies, Vec::new(), budget, told, |found, pair, t, u| {
        if meet(t, u) {
            found.push(pair);
        }
        false
    })
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
    let bodies = [Posed::new(a, *pose_a), Posed::new(b, *pose_b)];
    let told = |found: &Vec<[u32; 2]>, outcome| Verdict::by_finish(found.clone(), outcome);
    for_each(bodies, Vec::new(), budget, told, |found, pair, t, u| {
        // Where nothing but contact counts, nothing is measured.
        let is_near = if margin > 0.0 { within(t, u, margin) } else { meet(t, u) };
        if is_near {
            found.push(pair);
        }
        false
    })
}

/// The smallest distance of the surfaces, at the first pair of triangles that has it; infinite when the
/// budget ended before any pair was measured.
pub fn distance(a: &Model, pose_a: &Pose, b: &Model, pose_b: &Pose, budget: &mut Budget) -> Distance {
    let none = Distance {
        distance: f64::INFINITY,
        at_least: 0.0,
        points: [DVec3::ZERO; 2],
        features: [Feature::Surface; 2],
        triangles: [0; 2],
        outcome: Outcome { certainty: Certainty::Exact, finish: Finish::Complete, work: Counters::default() },
    };
    let bodies = [Posed::new(a, *pose_a), Posed::new(b, *pose_b)];
    let told = |best: &Distance, outcome| Distance { outcome, ..*best }.bracketed(0.0).verdict();
    let (best, outcome) = for_each(bodies, none, budget, told, |best, triangles, t, u| {
        match separation(t, u) {
            None => {
                let (points, features) = ([common_point(t, u); 2], triangles.map(Feature::Face));
                *best = Distance { distance: 0.0, points, features, triangles, ..*best };
            }
            Some(near) if near.distance < best.distance => {
                let features = [
                    feature(a.mesh(), triangles[0], near.parts[0]),
                    feature(b.mesh(), triangles[1], near.parts[1]),
                ];
                *best =
                    Distance { distance: near.distance, points: near.points, features, triangles, ..*best };
            }
            Some(_) => {}
        }
        best.distance == 0.0
    });
    Distance { outcome, ..best }.bracketed(0.0)
}

/// Visits all pairs in ascending order until the budget ends or `each` has enough; one unit a pair. What `each` has
/// found is `told` whenever the search rests.
fn for_each<S, T: Any + Send>(
    [a, b]: [Posed<'_>; 2],
    mut found: S,
    budget: &mut Budget,
    told: impl Fn(&S, Outcome) -> Verdict<T>,
    mut each: impl FnMut(&mut S, [u32; 2], &[DVec3; 3], &[DVec3; 3]) -> bool,
) -> (S, Outcome) {
    let counts = [a, b].map(|body| body.model.mesh().triangles().len() as u32);
    // Placed once where nothing limits the search; a limited one begins at once.
    let placed: Option<Vec<[DVec3; 3]>> =
        budget.is_unlimited().then(|| (0..counts[1]).map(|u| b.corners(u)).collect());
    let mut outcome =
        Outcome { certainty: Certainty::Exact, finish: Finish::Complete, work: Counters::default() };
    for i in 0..counts[0] {
        let t = a.corners(i);
        for j in 0..counts[1] {
            while !budget.draw(1) {
                let open = Outcome { finish: Finish::OutOfBudget, ..outcome };
                if !budget.rest(|| told(&found, open)) {
                    return (found, open);
                }
            }
            outcome.work.primitive_tests += 1;
            let u = placed.as_ref().map_or_else(|| b.corners(j), |all| all[j as usize]);
            if each(&mut found, [i, j], &t, &u) {
                return (found, outcome);
            }
        }
    }
    (found, outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mesh;
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

    /// Gaps that floats cannot see: the distance is 0 exactly where triangles meet, by every method.
    #[test]
    fn hidden_gaps_are_measured_by_every_method() {
        let cases = [
            (
                [[1.0, 0.2, 2.0], [0.0, 3.0, 3.0], [0.0, 0.2, 3.0]],
                [[0.7, 1.04, 2.3], [2.0, 3.0, 0.0], [3.0, 0.0, 2.0]],
                1.7457e-16,
            ),
            (
                [[1e30, 1e30, 1e60], [1e60, 1e-20, -1.0], [-1.0, 1e-300, 1e-300]],
                [[0.0, 1e60, 1.0], [-1e60, 1e60, 1e-300], [1e-300, 5e-324, -1.0]],
                1.0,
            ),
        ];
        for (a, b, truth) in cases {
            let [a, b] = [a, b].map(|t| Model::from(Mesh::new(t.to_vec(), vec![[0, 1, 2]]).unwrap()));
            for (a, b) in [(&a, &b), (&b, &a)] {
                let found = distance(a, &Pose::IDENTITY, b, &Pose::IDENTITY, &mut Budget::UNLIMITED.clone());
                let tree = super::super::distance::distance(a, &Pose::IDENTITY, b, &Pose::IDENTITY);
                assert_eq!(found.distance, tree.distance);
                assert!((found.distance / truth - 1.0).abs() < 1e-4, "{found:?}");
                let near = |margin| {
                    let unlimited = &mut Budget::UNLIMITED.clone();
                    near_pairs(a, &Pose::IDENTITY, b, &Pose::IDENTITY, margin, unlimited).0.len()
                };
                assert_eq!([near(0.0), near(0.5 * truth), near(2.0 * truth)], [0, 0, 1]);
            }
        }
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
