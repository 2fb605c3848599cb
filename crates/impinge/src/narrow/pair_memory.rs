//! What a pair of shapes remembers between questions; dropping it costs speed, never an answer.

use std::sync::Arc;

use glam::DVec3;
use smallvec::SmallVec;

use super::compound_pairs::CompoundMemory;
use super::continuous::SweepMemory;
use super::convex::separation::ConvexMemory;
use super::exact::distance::DistanceMemory;
use super::exact::relation::RelationMemory;
use super::shape_pair::ShapePair;
use crate::model::{Geometry, Model};
use crate::shape::{Convex, Polytope};
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
        at_rest && [0, 1].iter().all(|&k| is_same(&self.shapes[k], pair.shapes[k]))
    }
}

/// Whether two shapes are one, not only alike.
fn is_same(a: &Geometry, b: &Geometry) -> bool {
    match (a, b) {
        (Geometry::Mesh(a), Geometry::Mesh(b)) => a.identity() == b.identity(),
        (Geometry::Convex(Convex::Primitive(a)), Geometry::Convex(Convex::Primitive(b))) => a == b,
        (Geometry::Convex(Convex::Polytope(a)), Geometry::Convex(Convex::Polytope(b))) => Arc::ptr_eq(a, b),
        (Geometry::Compound(a), Geometry::Compound(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}
