//! Method `brute`: every triangle of one mesh against every triangle of the other, by the exact predicates.

use super::decides_each_pair;
use super::exact::{meshes, never_refused};
use crate::Budget;
use crate::contact::{Counters, Separation, Verdict};
use crate::model::{Geometry, ShapeKind};
use crate::narrow::detector::pair_memory::PairMemory;
use crate::narrow::detector::unfinished::{Kernel, ask};
use crate::narrow::detector::{Detector, PairKernel, Question};
use crate::narrow::exact::brute;
use crate::narrow::shape_pair::ShapePair;

/// All pairs of triangles.
#[derive(Debug, Clone, Copy)]
pub struct Brute;

impl Detector for Brute {
    fn name(&self) -> &'static str {
        "brute"
    }

    fn accepts(&self, question: &Question, kinds: [ShapeKind; 2]) -> bool {
        matches!(question, Question::Distance | Question::Pairs { .. })
            && kinds.iter().all(|kind| kind.is_mesh())
    }

    fn expect(&self, _: &Question, pair: &ShapePair<'_>) -> Counters {
        let [m, n] = pair.shapes.map(Geometry::primitives);
        // One call, all pairs of triangles, and every triangle placed.
        Counters { volume_tests: 1, primitive_tests: m.saturating_mul(n), updates: m + n }
    }

    decides_each_pair!();
}

impl PairKernel for Brute {
    fn distance(
        &self,
        pair: &ShapePair<'_>,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Verdict<Separation> {
        let kernel: Kernel<Separation> = |pair, _, _, budget| {
            let (Some([a, b]), [pose_a, pose_b]) = (meshes(pair), pair.poses) else {
                return Ok(Verdict::refused());
            };
            Ok(brute::distance(a, pose_a, b, pose_b, budget).verdict())
        };
        never_refused(ask("brute", &Question::Distance, pair, memory, budget, kernel))
    }

    fn pairs(
        &self,
        pair: &ShapePair<'_>,
        margin: Option<f64>,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Verdict<Vec<[u32; 2]>> {
        let kernel: Kernel<Vec<[u32; 2]>> = |pair, question, _, budget| {
            let (Some([a, b]), [pose_a, pose_b]) = (meshes(pair), pair.poses) else {
                return Ok(Verdict::refused());
            };
            let (pairs, outcome) = match question {
                Question::Pairs { margin: Some(margin) } => {
                    brute::near_pairs(a, pose_a, b, pose_b, *margin, budget)
                }
                _ => brute::pairs(a, pose_a, b, pose_b, budget),
            };
            Ok(Verdict::by_finish(pairs, outcome))
        };
        never_refused(ask("brute", &Question::Pairs { margin }, pair, memory, budget, kernel))
    }
}
