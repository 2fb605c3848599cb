//! All pairs of triangles nearer than or at a margin.
//!
//! Boxes widened by the margin are refused 64 pairs at a time; what is left is measured. Whether triangles
//! meet is decided exactly, so that a margin of zero gives exactly the meeting pairs; other distances are
//! right to rounding.

use std::ops::ControlFlow;

use glam::DVec3;

use crate::contact::Verdict;
use crate::geom::triangle_distance::within;
use crate::geom::triangle_triangle;
use crate::hierarchy::dual::{DualSearch, LeafPairs};
use crate::hierarchy::relative::Relative;
use crate::model::Model;
use crate::num::each::Each;
use crate::{Budget, Certainty, Counters, Finish, Outcome, Pose};

#[cfg(any(test, feature = "unstable"))]
/// Triangle pairs within a margin.
#[derive(Debug, Clone, PartialEq)]
pub struct MarginPairs {
    /// Triangles of a and b, ascending, each pair once; those found so far if the budget ended.
    pub pairs: Vec<[u32; 2]>,
    /// How the search ended and what it cost.
    pub outcome: Outcome,
}

#[cfg(any(test, feature = "unstable"))]
/// All triangle pairs of two placed meshes at a distance of at most `margin` (a length in the world); none
/// for a negative one.
pub fn pairs_within(a: &Model, pose_a: &Pose, b: &Model, pose_b: &Pose, margin: f64) -> MarginPairs {
    MarginSearch::new(a, pose_a, b, pose_b, margin).advance(&mut Budget::UNLIMITED.clone())
}

/// As [`pairs_within`], with a limit on the cost; the pairs found so far when the budget ends.
pub fn pairs_within_budget(
    [a, b]: [&Model; 2],
    [pose_a, pose_b]: [&Pose; 2],
    margin: f64,
    budget: &mut Budget,
) -> Verdict<Vec<[u32; 2]>> {
    let mut search = MarginSearch::new(a, pose_a, b, pose_b, margin);
    loop {
        let finish = search.run(budget);
        let so_far = || Verdict::by_finish(search.pairs(), search.outcome(finish));
        if finish != Finish::OutOfBudget || !budget.rest(so_far) {
            return so_far();
        }
    }
}

/// A margin query that can be interrupted and resumed.
#[derive(Debug, Clone)]
pub struct MarginSearch<'m> {
    dual: DualSearch,
    relative: Relative,
    visitor: Within<'m>,
    work: Counters,
}

/// Collects the pairs within the margin.
#[derive(Debug, Clone)]
struct Within<'m> {
    models: [&'m Model; 2],
    poses: [Pose; 2],
    margin: f64,
    pairs: Vec<[u32; 2]>,
}

impl<'m> MarginSearch<'m> {
    /// A search that begins at the roots.
    pub fn new(a: &'m Model, pose_a: &Pose, b: &'m Model, pose_b: &Pose, margin: f64) -> MarginSearch<'m> {
        MarginSearch {
            dual: DualSearch::new(),
            relative: Relative::new(a.tree(), pose_a, b.tree(), pose_b, margin.max(0.0)),
            visitor: Within { models: [a, b], poses: [*pose_a, *pose_b], margin, pairs: Vec::new() },
            work: Counters::default(),
        }
    }

    #[cfg(any(test, feature = "unstable"))]
    /// Goes on until all pairs are found or the budget ends; then calling again resumes.
    pub fn advance(&mut self, budget: &mut Budget) -> MarginPairs {
        let finish = self.run(budget);
        MarginPairs { pairs: self.pairs(), outcome: self.outcome(finish) }
    }

    fn run(&mut self, budget: &mut Budget) -> Finish {
        let [a, b] = self.visitor.models.map(Model::tree);
        if self.visitor.margin >= 0.0 {
            self.dual.advance(a, b, &self.relative, &mut self.visitor, budget, &mut self.work)
        } else {
            Finish::Complete
        }
    }

    /// The pairs found so far, ascending.
    fn pairs(&self) -> Vec<[u32; 2]> {
        let mut pairs = self.visitor.pairs.clone();
        pairs.sort_unstable();
        pairs
    }

    fn outcome(&self, finish: Finish) -> Outcome {
        Outcome { certainty: Certainty::Exact, finish, work: self.work }
    }
}

impl LeafPairs for Within<'_> {
    fn meet(&mut self, slots: &[[u32; 2]], work: &mut Counters) -> ControlFlow<()> {
        for pair in slots {
            let triangle = |k: usize| self.models[k].tree().order()[pair[k] as usize];
            let triangles = [triangle(0), triangle(1)];
            let corners =
                |k: usize| self.models[k].mesh().corners(triangles[k]).each(|v| self.poses[k].apply(v));
            work.primitive_tests += 1;
            if self.holds(&corners(0), &corners(1)) {
                self.pairs.push(triangles);
            }
        }
        ControlFlow::Continue(())
    }
}

impl Within<'_> {
    fn holds(&self, a: &[DVec3; 3], b: &[DVec3; 3]) -> bool {
        if self.margin == 0.0 {
            return triangle_triangle::meet(a, b);
        }
        within(a, b, self.margin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::triangle_distance::nearest;
    use crate::shape::procedural;

    fn brute_force(a: &Model, pose_a: &Pose, b: &Model, pose_b: &Pose, margin: f64) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        for i in 0..a.mesh().triangles().len() as u32 {
            for j in 0..b.mesh().triangles().len() as u32 {
                let x = a.mesh().corners(i).map(|p| pose_a.apply(p));
                let y = b.mesh().corners(j).map(|p| pose_b.apply(p));
                if triangle_triangle::meet(&x, &y) || (margin > 0.0 && nearest(&x, &y).distance <= margin) {
                    pairs.push([i, j]);
                }
            }
        }
        pairs
    }

    #[test]
    fn agrees_with_every_pair_of_triangles() {
        let torus = Model::from(procedural::torus(1.0, 0.3, 16, 8).unwrap());
        let blob = Model::from(procedural::blob(0.5, 0.3, 1, 3).unwrap());
        let turns = procedural::rotations(24, 4);
        let mut some = 0;
        for (k, at) in
            procedural::positions(12, DVec3::splat(-1.4), DVec3::splat(1.4), 3).into_iter().enumerate()
        {
            let pose_a = Pose::new([1e3, 0.0, -1e3], turns[2 * k]).unwrap();
            let pose_b = Pose::new((at + pose_a.translation()).into(), turns[2 * k + 1]).unwrap();
            for margin in [0.0, 0.05, 0.3] {
                let found = pairs_within(&torus, &pose_a, &blob, &pose_b, margin);
                assert_eq!(found.pairs, brute_force(&torus, &pose_a, &blob, &pose_b, margin));
                some += usize::from(!found.pairs.is_empty());
            }
        }
        assert!((9..32).contains(&some), "{some}");
    }

    #[test]
    fn grid_distances_at_the_margin_count() {
        let sheet = Model::from(procedural::sheet([4.0, 4.0], [4, 4]).unwrap());
        let above = Pose::shift([0.0, 0.0, 0.25]);
        let all = |margin| pairs_within(&sheet, &Pose::IDENTITY, &sheet, &above, margin).pairs.len();
        assert_eq!(all(0.25_f64.next_down()), 0);
        // Every triangle is at the margin from all that its shadow touches.
        let touching = pairs_within(&sheet, &Pose::IDENTITY, &sheet, &Pose::IDENTITY, 0.0).pairs.len();
        assert_eq!(all(0.25), touching);
        assert_eq!(all(-1.0) + all(f64::NAN), 0);
        assert_eq!(all(f64::INFINITY), 32 * 32);
    }

    #[test]
    fn a_budget_interrupts_and_resumes() {
        let ball = Model::from(procedural::ico_sphere(1.0, 2).unwrap());
        let away = Pose::shift([1.9, 0.1, 0.0]);
        let want = pairs_within(&ball, &Pose::IDENTITY, &ball, &away, 0.2);
        let mut search = MarginSearch::new(&ball, &Pose::IDENTITY, &ball, &away, 0.2);
        let mut rounds = 0;
        let found = loop {
            let found = search.advance(&mut Budget::units(500));
            if found.outcome.finish == Finish::Complete {
                break found;
            }
            rounds += 1;
        };
        assert!(rounds > 2 && !want.pairs.is_empty());
        assert_eq!(found.pairs, want.pairs);
    }
}
