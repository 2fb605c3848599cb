//! Method `exact`: trees, closed forms and exact predicates, for every question and every pair of kinds.

use super::decides_each_pair;
use crate::contact::{Counters, Relation, Separation, Verdict, Volume, VolumeOptions};
use crate::model::{Geometry, Model, ShapeKind};
use crate::narrow::contacts::{SeparatingTranslation, separate};
use crate::narrow::continuous::{Sweep, SweepOptions};
use crate::narrow::detector::pair_memory::PairMemory;
use crate::narrow::detector::unfinished::{Kernel, ask};
use crate::narrow::detector::{Detector, PairKernel, Question};
use crate::narrow::dispatch;
use crate::narrow::exact::collide::{self, Posed};
use crate::narrow::exact::contour::{Polyline, contour};
use crate::narrow::exact::margin;
use crate::narrow::shape_pair::ShapePair;
use crate::narrow::solid_sweep;
use crate::{Budget, Error, Motion};

/// Trees, closed forms and exact predicates.
#[derive(Debug, Clone, Copy)]
pub struct Exact;

impl Detector for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn accepts(&self, question: &Question, kinds: [ShapeKind; 2]) -> bool {
        if kinds.contains(&ShapeKind::Particles) {
            return false;
        }
        match question {
            Question::Relation
            | Question::Distance
            | Question::Contacts(_)
            | Question::Separate
            | Question::Sweep(_) => true,
            Question::Pairs { .. } | Question::Contour => kinds.iter().all(|kind| kind.is_mesh()),
            // What an open mesh bounds, images tell.
            Question::Volume(options) => {
                options.open.is_none()
                    && kinds
                        .iter()
                        .all(|kind| kind.is_mesh() || matches!(kind, ShapeKind::Hull | ShapeKind::Box))
            }
        }
    }

    fn expect(&self, _: &Question, pair: &ShapePair<'_>) -> Counters {
        // By sizes alone: what happens to be built already must not be seen in an answer.
        let sizes = pair.shapes.map(Geometry::primitives);
        let depth = |n: u64| u64::from(n.max(1).ilog2()) + 1;
        Counters { volume_tests: depth(sizes[0]) * depth(sizes[1]), primitive_tests: 1, updates: 0 }
    }

    decides_each_pair!();
}

impl PairKernel for Exact {
    fn lists_contacts(&self) -> bool {
        true
    }

    fn relation(
        &self,
        pair: &ShapePair<'_>,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Verdict<Relation> {
        if dispatch::is_swapped(pair) {
            return self.relation(&pair.swapped(), memory, budget).map(Relation::swapped);
        }
        let kernel: Kernel<Relation> =
            |pair, _, memory, budget| Ok(dispatch::relation(pair, &mut memory.kernel, budget));
        never_refused(ask("exact", &Question::Relation, pair, memory, budget, kernel))
    }

    fn distance(
        &self,
        pair: &ShapePair<'_>,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Verdict<Separation> {
        if dispatch::is_swapped(pair) {
            return self.distance(&pair.swapped(), memory, budget).map(Separation::swapped);
        }
        let kernel: Kernel<Separation> =
            |pair, _, memory, budget| Ok(dispatch::distance(pair, &mut memory.kernel, budget));
        never_refused(ask("exact", &Question::Distance, pair, memory, budget, kernel))
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
            Ok(match question {
                Question::Pairs { margin: Some(margin) } => {
                    margin::pairs_within_budget([a, b], [pose_a, pose_b], *margin, budget)
                }
                _ => {
                    let bodies = [Posed::new(a, *pose_a), Posed::new(b, *pose_b)];
                    let (pairs, outcome) = collide::pairs_within_budget(bodies[0], bodies[1], budget);
                    Verdict::by_finish(pairs, outcome)
                }
            })
        };
        never_refused(ask("exact", &Question::Pairs { margin }, pair, memory, budget, kernel))
    }

    fn contour(
        &self,
        pair: &ShapePair<'_>,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Verdict<Vec<Polyline>> {
        let kernel: Kernel<Vec<Polyline>> = |pair, _, _, budget| {
            let (Some([a, b]), [pose_a, pose_b]) = (meshes(pair), pair.poses) else {
                return Ok(Verdict::refused());
            };
            Ok(contour(a, pose_a, b, pose_b, budget))
        };
        never_refused(ask("exact", &Question::Contour, pair, memory, budget, kernel))
    }

    fn separate(
        &self,
        pair: &ShapePair<'_>,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Result<Verdict<SeparatingTranslation>, Error> {
        let kernel: Kernel<SeparatingTranslation> =
            |pair, _, memory, budget| separate(pair, &mut memory.kernel, budget);
        ask("exact", &Question::Separate, pair, memory, budget, kernel)
    }

    fn sweep(
        &self,
        pair: &ShapePair<'_>,
        options: &SweepOptions,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Result<Verdict<Sweep>, Error> {
        let kernel: Kernel<Sweep> = |pair, question, memory, budget| {
            let Question::Sweep(options) = question else { return Ok(Verdict::refused()) };
            let still = pair.poses.map(|pose| Motion::Still(*pose));
            let motions = pair.motions.unwrap_or([&still[0], &still[1]]);
            let found = solid_sweep::sweep_within(pair.shapes, motions, options, &mut memory.kernel, budget)?;
            Ok(found.into())
        };
        ask("exact", &Question::Sweep(*options), pair, memory, budget, kernel)
    }

    fn volume(
        &self,
        pair: &ShapePair<'_>,
        options: &VolumeOptions,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Result<Verdict<Volume>, Error> {
        let kernel: Kernel<Volume> = |pair, question, _, budget| {
            let Question::Volume(options) = question else { return Ok(Verdict::refused()) };
            dispatch::volume(pair, options, budget)
        };
        ask("exact", &Question::Volume(*options), pair, memory, budget, kernel)
    }
}

/// The answer of a kernel that refuses nothing.
pub(super) fn never_refused<T>(found: Result<Verdict<T>, Error>) -> Verdict<T> {
    found.unwrap_or_else(|_| Verdict::refused())
}

/// The models of two meshes.
pub(super) fn meshes<'p>(pair: &ShapePair<'p>) -> Option<[&'p Model; 2]> {
    match pair.shapes {
        [Geometry::Mesh(a), Geometry::Mesh(b)] => Some([a, b]),
        _ => None,
    }
}
