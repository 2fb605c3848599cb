//! Method `voronoi`: the walk between Voronoi regions of two hulls (Lin and Canny 1991; I-COLLIDE 1995).

use super::decides_each_pair;
use crate::Budget;
use crate::contact::{Counters, Relation, Separation, Verdict};
use crate::model::ShapeKind;
use crate::narrow::detector::pair_memory::PairMemory;
use crate::narrow::detector::{Detector, PairKernel, Question};
use crate::narrow::dispatch;
use crate::narrow::shape_pair::ShapePair;

/// The walk between Voronoi regions; exact dispatch hands two hulls to it.
#[derive(Debug, Clone, Copy)]
pub struct Voronoi;

impl Detector for Voronoi {
    fn name(&self) -> &'static str {
        "voronoi"
    }

    fn accepts(&self, question: &Question, kinds: [ShapeKind; 2]) -> bool {
        matches!(question, Question::Relation | Question::Distance) && kinds == [ShapeKind::Hull; 2]
    }

    fn expect(&self, _: &Question, pair: &ShapePair<'_>) -> Counters {
        // Without a memory the walk passes about as many features as lie around half a hull.
        let steps: u64 = pair.shapes.iter().map(|shape| shape.primitives().isqrt()).sum();
        Counters { volume_tests: steps, primitive_tests: 1, updates: 0 }
    }

    decides_each_pair!();
}

impl PairKernel for Voronoi {
    fn relation(
        &self,
        pair: &ShapePair<'_>,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Verdict<Relation> {
        dispatch::relation(pair, &mut memory.kernel, budget)
    }

    fn distance(
        &self,
        pair: &ShapePair<'_>,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Verdict<Separation> {
        dispatch::distance(pair, &mut memory.kernel, budget)
    }
}
