//! Method `gjk`: GJK while two convex shapes are apart, EPA where they overlap, each with a proved bracket.

use super::decides_each_pair;
use crate::Budget;
use crate::contact::{Certainty, Counters, Separation, Verdict};
use crate::model::{Geometry, ShapeKind};
use crate::narrow::convex::separation::distance_by_supports;
use crate::narrow::detector::pair_memory::PairMemory;
use crate::narrow::detector::{Detector, PairKernel, Question};
use crate::narrow::dispatch::{convex_outcome, signed};
use crate::narrow::shape_pair::ShapePair;

/// GJK and EPA.
#[derive(Debug, Clone, Copy)]
pub struct Gjk;

impl Detector for Gjk {
    fn name(&self) -> &'static str {
        "gjk"
    }

    fn accepts(&self, question: &Question, kinds: [ShapeKind; 2]) -> bool {
        let bounded = |kind: &ShapeKind| kind.is_convex() && *kind != ShapeKind::HalfSpace;
        matches!(question, Question::Distance) && kinds.iter().all(bounded)
    }

    fn expect(&self, _: &Question, pair: &ShapePair<'_>) -> Counters {
        // Supports of a hull are found by hill climbing.
        let steps: u64 = pair.shapes.iter().map(|shape| shape.primitives().isqrt()).sum();
        Counters { volume_tests: steps, primitive_tests: 1, updates: 0 }
    }

    decides_each_pair!();
}

impl PairKernel for Gjk {
    fn distance(
        &self,
        pair: &ShapePair<'_>,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Verdict<Separation> {
        let [Geometry::Convex(a), Geometry::Convex(b)] = pair.shapes else { return Verdict::refused() };
        if !budget.draw(1) {
            return Verdict::out_of_budget();
        }
        let [pose_a, pose_b] = pair.poses;
        let before = memory.kernel.convex.tests();
        let (found, certainty): (Separation, Certainty) =
            distance_by_supports(a, pose_a, b, pose_b, &mut memory.kernel.convex);
        let found = signed(found, [a, b], pair.poses, &mut memory.kernel);
        Verdict::by_finish(found, convex_outcome(certainty, before, &memory.kernel, budget))
    }
}
