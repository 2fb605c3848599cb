//! What the kernels of a pair of shapes remember between calls; dropping it costs speed, never an answer.

use std::sync::Arc;

use glam::DVec3;
use smallvec::SmallVec;

use super::continuous::SweepMemory;
use super::convex::separation::ConvexMemory;
use super::exact::distance::DistanceMemory;
use super::exact::relation::RelationMemory;
use super::exact::surface_patch::SurfacePatch;
use crate::model::Model;
use crate::shape::LazyPolytope;
use crate::simd::prefetch_whole;

/// The placed corners of a convex shape.
pub(super) type Corners = SmallVec<[DVec3; 8]>;

/// What the kernels of a pair of shapes remember.
#[derive(Debug, Clone, Default)]
pub struct KernelMemory {
    pub(super) convex: ConvexMemory,
    pub(super) distance: DistanceMemory,
    pub(super) relation: RelationMemory,
    pub(super) sweep: SweepMemory,
    /// The hulls of a pair and their triangles as meshes with trees, the last one first.
    pub(super) hulls: [Option<(Arc<LazyPolytope>, Arc<Model>)>; 2],
    /// The hull of placed corners as a mesh with a tree.
    pub(super) placed: Option<(Corners, Arc<Model>)>,
    /// The surface of a mesh around a convex shape.
    pub(super) surface: Option<SurfacePatch>,
}

impl KernelMemory {
    /// The memory of a pair of which only the last sweep is remembered.
    pub(crate) fn after_sweep(sweep: SweepMemory) -> KernelMemory {
        KernelMemory { sweep, ..KernelMemory::default() }
    }

    /// Asks for where the surface of a mesh around a shape is.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch_whole(&self.surface);
    }

    /// Asks for that surface itself, once it is known where it is.
    #[inline]
    pub(crate) fn prefetch_surface(&self) {
        if let Some(surface) = &self.surface {
            surface.prefetch();
        }
    }

    /// What the last sweep left.
    pub(crate) fn sweep_memory(&self) -> SweepMemory {
        self.sweep
    }
}
