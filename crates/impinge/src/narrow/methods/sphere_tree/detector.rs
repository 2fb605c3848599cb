//! The method behind the seam.

use super::search::{Bracket, Nearest, bracket};
use super::tree::SphereTree;
use crate::Budget;
use crate::contact::{Certainty, Counters, Feature, Finish, Outcome, Relation, Separation, Verdict};
use crate::model::{Geometry, Model, ShapeKind};
use crate::narrow::detector::pair_memory::PairMemory;
use crate::narrow::detector::{Detector, PairKernel, Question};
use crate::narrow::exact::relation::relation_of_disjoint;
use crate::narrow::methods::decides_each_pair;
use crate::narrow::shape_pair::ShapePair;

/// Bounding spheres alone.
#[derive(Debug, Clone, Copy)]
pub struct SphereTrees;

impl Detector for SphereTrees {
    fn accepts(&self, question: &Question, kinds: [ShapeKind; 2]) -> bool {
        matches!(question, Question::Relation | Question::Distance) && kinds.iter().all(|kind| kind.is_mesh())
    }

    fn expect(&self, _: &Question, pair: &ShapePair<'_>) -> Counters {
        let depth = |shape: &Geometry| u64::from(shape.primitives().max(1).ilog2()) + 1;
        let [m, n] = pair.shapes.map(depth);
        Counters { volume_tests: m * n, primitive_tests: 0, updates: 0 }
    }

    decides_each_pair!();
}

impl PairKernel for SphereTrees {
    fn relation(&self, pair: &ShapePair<'_>, _: &mut PairMemory, budget: &mut Budget) -> Verdict<Relation> {
        let Some((models, found)) = search(pair, budget) else { return Verdict::refused() };
        let Some(Nearest { at_most, .. }) = found.nearest else { return open(&found) };
        let ([a, b], [pose_a, pose_b]) = (models, pair.poses);
        if found.at_least > 0.0 {
            // The surfaces are apart for certain.
            let relation = relation_of_disjoint(a, pose_a, b, pose_b);
            return Verdict::new(Some(relation), outcome(&found, Certainty::Exact));
        }
        let certainty = Certainty::Conservative { tolerance: at_most };
        Verdict::new(Some(Relation::Intersecting), outcome(&found, certainty))
    }

    fn distance(&self, pair: &ShapePair<'_>, _: &mut PairMemory, budget: &mut Budget) -> Verdict<Separation> {
        let Some((_, found)) = search(pair, budget) else { return Verdict::refused() };
        let Some(Nearest { at_most, points, triangles }) = found.nearest else { return open(&found) };
        let normal = (points[1] - points[0]).normalize_or_zero();
        let features = triangles.map(Feature::Face);
        let separation = Separation { distance: at_most, points, features, normal };
        let certainty = Certainty::Conservative { tolerance: at_most - found.at_least };
        Verdict::new(Some(separation), outcome(&found, certainty))
    }
}

/// The bracket of two meshes; their trees are built when first needed and kept with them.
fn search<'p>(pair: &ShapePair<'p>, budget: &mut Budget) -> Option<([&'p Model; 2], Bracket)> {
    let [Geometry::Mesh(a), Geometry::Mesh(b)] = pair.shapes else { return None };
    let trees = [a, b].map(|model| model.attached(|model| SphereTree::new(model.mesh())));
    Some(([a, b], bracket([&trees[0], &trees[1]], pair.poses, budget)))
}

fn outcome(found: &Bracket, certainty: Certainty) -> Outcome {
    Outcome { certainty, finish: Finish::Complete, work: found.work }
}

/// The budget ended first.
fn open<T>(found: &Bracket) -> Verdict<T> {
    let mut verdict = Verdict::out_of_budget();
    verdict.outcome.work = found.work;
    verdict
}
