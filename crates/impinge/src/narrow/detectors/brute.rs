//! Method `brute`: every triangle of one mesh against every triangle of the other, by the exact predicates.

use super::decides_each_pair;
use super::exact::meshes;
use crate::Budget;
use crate::contact::{Counters, Separation, Verdict};
use crate::model::{Geometry, ShapeKind};
use crate::narrow::dispatch::surfaces;
use crate::narrow::exact::brute;
use crate::narrow::method::{Detector, PairKernel, Question};
use crate::narrow::pair_memory::PairMemory;
use crate::narrow::shape_pair::ShapePair;

/// All pairs of triangles.
#[derive(Debug, Clone, Copy)]
pub struct Brute;

impl Detector for Brute {
    fn accepts(&self, question: &Question, kinds: [ShapeKind; 2]) -> bool {
        matches!(question, Question::Distance | Question::Pairs { .. })
            && kinds.iter().all(|kind| kind.is_mesh())
    }

    fn expect(&self, _: &Question, pair: &ShapePair<'_>) -> Counters {
        let [m, n] = pair.shapes.map(Geometry::primitives);
        Counters { volume_tests: 0, primitive_tests: m.saturating_mul(n), updates: m + n }
    }

    decides_each_pair!();
}

impl PairKernel for Brute {
    fn distance(&self, pair: &ShapePair<'_>, _: &mut PairMemory, budget: &mut Budget) -> Verdict<Separation> {
        let (Some([a, b]), [pose_a, pose_b]) = (meshes(pair), pair.poses) else { return Verdict::refused() };
        surfaces(&brute::distance(a, pose_a, b, pose_b, budget))
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
            None => brute::pairs(a, pose_a, b, pose_b, budget),
            Some(margin) => brute::near_pairs(a, pose_a, b, pose_b, margin, budget),
        };
        Verdict::by_finish(pairs, outcome)
    }
}
