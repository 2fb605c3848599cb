//! What a pair of shapes remembers between questions; dropping it costs speed, never an answer.

use std::sync::Arc;

use glam::DVec3;
use smallvec::SmallVec;

use super::compound_pairs::CompoundMemory;
use super::continuous::SweepMemory;
use super::convex::separation::ConvexMemory;
use super::exact::distance::DistanceMemory;
use super::exact::relation::RelationMemory;
use super::method::{Finding, Question};
use super::shape_pair::ShapePair;
use super::unfinished::Unfinished;
use crate::model::{Geometry, Model};
use crate::shape::Polytope;
use crate::{Certainty, Pose, Separation};

/// The placed corners of a convex shape.
pub(super) type Corners = SmallVec<[DVec3; 8]>;

/// What a pair of shapes remembers between calls.
#[derive(Debug, Clone, Default)]
pub struct PairMemory {
    pub(super) convex: ConvexMemory,
    pub(super) distance: DistanceMemory,
    pub(super) relation: RelationMemory,
    pub(super) sweep: SweepMemory,
    /// A hull and its triangles as a mesh with a tree.
    pub(super) hull: Option<(Arc<Polytope>, Arc<Model>)>,
    /// The hull of placed corners as a mesh with a tree.
    pub(super) placed: Option<(Corners, Arc<Model>)>,
    /// What a budget cut short.
    pub(super) unfinished: Unfinished,
    /// A distance that was found before the budget ended in what follows it.
    pub(super) measured: Option<Box<(Placement, Separation, Certainty)>>,
    /// What the parts of compounds remember.
    pub(super) parts: Option<Box<CompoundMemory>>,
}

/// Two shapes and where they were: what an unfinished search belongs to.
#[derive(Debug, Clone)]
pub(super) struct Placement {
    shapes: [Geometry; 2],
    poses: [Pose; 2],
}

impl Placement {
    pub fn of(pair: &ShapePair<'_>) -> Placement {
        Placement { shapes: pair.shapes.map(Geometry::clone), poses: pair.poses.map(|pose| *pose) }
    }

    /// Whether nothing has changed since.
    pub fn is_of(&self, pair: &ShapePair<'_>) -> bool {
        let at_rest = [0, 1].iter().all(|&k| self.poses[k] == *pair.poses[k]);
        at_rest && [0, 1].iter().all(|&k| self.shapes[k].is_same(pair.shapes[k]))
    }
}

impl PairMemory {
    /// The answer that an unfinished batch has found about this pair.
    pub(crate) fn answered(&self, question: &Question, pair: &ShapePair<'_>) -> Option<Finding> {
        self.unfinished.answered(question, pair).cloned()
    }

    /// Keeps an answer for as long as the batch is not finished.
    pub(crate) fn keep_answer(&mut self, question: &Question, pair: &ShapePair<'_>, found: &Finding) {
        if self.unfinished.answered(question, pair).is_none() {
            self.unfinished.keep(question, pair, found.clone());
        }
    }

    /// The batch came to its end.
    pub(crate) fn forget_answer(&mut self) {
        self.unfinished.forget();
    }
}
