//! Method `exact`: trees, closed forms and exact predicates, for every question and every pair of kinds.

use super::decides_each_pair;
use crate::contact::{Counters, Relation, Separation, Verdict};
use crate::model::{Geometry, Model, ShapeKind};
use crate::narrow::continuous::{Sweep, SweepOptions, sweep_within};
use crate::narrow::dispatch;
use crate::narrow::exact::collide::{Posed, pairs_within_budget};
use crate::narrow::exact::contour::{Polyline, contour};
use crate::narrow::exact::margin::MarginSearch;
use crate::narrow::method::{Detector, PairKernel, Question};
use crate::narrow::pair_memory::PairMemory;
use crate::narrow::shape_pair::ShapePair;
use crate::{Budget, Error, Motion};

/// Trees, closed forms and exact predicates.
#[derive(Debug, Clone, Copy)]
pub struct Exact;

impl Detector for Exact {
    fn accepts(&self, question: &Question, kinds: [ShapeKind; 2]) -> bool {
        match question {
            Question::Relation | Question::Distance | Question::Contacts(_) | Question::Sweep(_) => true,
            Question::Pairs { .. } | Question::Contour => kinds.iter().all(|kind| kind.is_mesh()),
        }
    }

    fn expect(&self, _: &Question, pair: &ShapePair<'_>) -> Counters {
        let sizes = pair.shapes.map(Geometry::primitives);
        let depth = |n: u64| u64::from(n.max(1).ilog2()) + 1;
        let built: u64 = pair.shapes.iter().map(|shape| shape.unbuilt()).sum();
        Counters { volume_tests: depth(sizes[0]) * depth(sizes[1]), primitive_tests: 1, updates: built }
    }

    decides_each_pair!();
}

impl PairKernel for Exact {
    fn relation(
        &self,
        pair: &ShapePair<'_>,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Verdict<Relation> {
        dispatch::relation(pair, memory, budget)
    }

    fn distance(
        &self,
        pair: &ShapePair<'_>,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Verdict<Separation> {
        dispatch::distance(pair, memory, budget)
    }

    fn pairs(
        &self,
        pair: &ShapePair<'_>,
        margin: Option<f64>,
        _: &mut PairMemory,
        budget: &mut Budget,
    ) -> Verdict<Vec<[u32; 2]>> {
        let (Some([a, b]), [pose_a, pose_b]) = (meshes(pair), pair.poses) else { return Verdict::refused() };
        let (pairs, outcome) = match margin {
            None => pairs_within_budget(Posed::new(a, *pose_a), Posed::new(b, *pose_b), budget),
            Some(margin) => {
                let found = MarginSearch::new(a, pose_a, b, pose_b, margin).advance(budget);
                (found.pairs, found.outcome)
            }
        };
        Verdict::by_finish(pairs, outcome)
    }

    fn contour(
        &self,
        pair: &ShapePair<'_>,
        _: &mut PairMemory,
        budget: &mut Budget,
    ) -> Verdict<Vec<Polyline>> {
        let (Some([a, b]), [pose_a, pose_b]) = (meshes(pair), pair.poses) else { return Verdict::refused() };
        contour(a, pose_a, b, pose_b, budget)
    }

    fn sweep(
        &self,
        pair: &ShapePair<'_>,
        options: &SweepOptions,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Result<Verdict<Sweep>, Error> {
        let still = pair.poses.map(|pose| Motion::Still(*pose));
        let motions = pair.motions.unwrap_or([&still[0], &still[1]]);
        let found = sweep_within(pair.shapes, motions, options, &mut memory.sweep, budget);
        Ok(first_contact(found))
    }
}

/// The models of two meshes.
pub(super) fn meshes<'p>(pair: &ShapePair<'p>) -> Option<[&'p Model; 2]> {
    match pair.shapes {
        [Geometry::Mesh(a), Geometry::Mesh(b)] => Some([a, b]),
        _ => None,
    }
}

/// A contact that was found is the first one, whatever became of the budget.
pub(super) fn first_contact(found: Sweep) -> Verdict<Sweep> {
    let outcome = found.outcome;
    match found.impact {
        Some(_) => Verdict::new(Some(found), outcome),
        None => Verdict::by_finish(found, outcome),
    }
}
