//! The method behind the seam.

use glam::DVec3;

use super::search::{Bracket, Nearest, bracket};
use super::tree::SphereTree;
use crate::Budget;
use crate::contact::{Certainty, Counters, Feature, Finish, Outcome, Relation, Separation, Verdict};
use crate::model::{Geometry, Model, ShapeKind};
use crate::narrow::detector::pair_memory::PairMemory;
use crate::narrow::detector::unfinished::{Kernel, ask};
use crate::narrow::detector::{Detector, PairKernel, Question};
use crate::narrow::exact::relation::relation_of_disjoint;
use crate::narrow::methods::decides_each_pair;
use crate::narrow::shape_pair::ShapePair;

/// Bounding spheres alone.
#[derive(Debug, Clone, Copy)]
pub struct SphereTrees;

impl Detector for SphereTrees {
    fn name(&self) -> &'static str {
        "sphere_tree"
    }

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
    fn relation(
        &self,
        pair: &ShapePair<'_>,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Verdict<Relation> {
        let kernel: Kernel<Relation> = |pair, _, _, budget| Ok(relation(pair, budget));
        let found = ask("sphere_tree", &Question::Relation, pair, memory, budget, kernel);
        found.unwrap_or_else(|_| Verdict::refused())
    }

    fn distance(
        &self,
        pair: &ShapePair<'_>,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Verdict<Separation> {
        let kernel: Kernel<Separation> = |pair, _, _, budget| Ok(distance(pair, budget));
        let found = ask("sphere_tree", &Question::Distance, pair, memory, budget, kernel);
        found.unwrap_or_else(|_| Verdict::refused())
    }
}

fn relation(pair: &ShapePair<'_>, budget: &mut Budget) -> Verdict<Relation> {
    let [Geometry::Mesh(a), Geometry::Mesh(b)] = pair.shapes else { return Verdict::refused() };
    let Some((found, Nearest { at_most, .. })) = search([a, b], pair, budget) else {
        return Verdict::out_of_budget();
    };
    if found.at_least > 0.0 {
        // The surfaces are apart for certain.
        let [pose_a, pose_b] = pair.poses;
        let relation = relation_of_disjoint(a, pose_a, b, pose_b);
        return Verdict::new(Some(relation), outcome(&found, Certainty::Exact));
    }
    let certainty = Certainty::Conservative { tolerance: at_most };
    Verdict::new(Some(Relation::Intersecting), outcome(&found, certainty))
}

fn distance(pair: &ShapePair<'_>, budget: &mut Budget) -> Verdict<Separation> {
    let [Geometry::Mesh(a), Geometry::Mesh(b)] = pair.shapes else { return Verdict::refused() };
    let Some((found, Nearest { at_most, points, triangles })) = search([a, b], pair, budget) else {
        return Verdict::out_of_budget();
    };
    let normal = if at_most > 0.0 { (points[1] - points[0]) / at_most } else { DVec3::ZERO };
    let separation = Separation { distance: at_most, points, features: triangles.map(Feature::Face), normal };
    let certainty = Certainty::Conservative { tolerance: at_most - found.at_least };
    Verdict::new(Some(separation), outcome(&found, certainty))
}

/// The bracket of two meshes; their trees are built when first needed, one unit for each triangle and level, and
/// kept with them. `None` when the budget ended first.
fn search(models: [&Model; 2], pair: &ShapePair<'_>, budget: &mut Budget) -> Option<(Bracket, Nearest)> {
    let mut tree = |model: &Model| {
        let triangles = model.mesh().triangles().len() as u64;
        let units = triangles * (u64::from(triangles.max(1).ilog2()) + 1);
        model.attached(units, budget, |model| SphereTree::new(model.mesh()))
    };
    let trees = [tree(models[0])?, tree(models[1])?];
    let found = bracket([&trees[0], &trees[1]], pair.poses, budget);
    found.nearest.map(|nearest| (found, nearest))
}

fn outcome(found: &Bracket, certainty: Certainty) -> Outcome {
    Outcome { certainty, finish: Finish::Complete, work: found.work }
}
