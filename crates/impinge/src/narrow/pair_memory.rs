//! What a pair of shapes remembers between questions; dropping it costs speed, never an answer.

use std::sync::Arc;

use glam::DVec3;
use smallvec::SmallVec;

use super::continuous::SweepMemory;
use super::convex::separation::ConvexMemory;
use super::exact::distance::DistanceMemory;
use super::exact::relation::RelationMemory;
use super::method::{Finding, Question};
use super::shape_pair::ShapePair;
use super::unfinished::Unfinished;
use crate::model::Model;
use crate::shape::Polytope;

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
