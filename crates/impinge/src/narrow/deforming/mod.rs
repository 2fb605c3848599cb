//! Meshes whose vertices move along straight lines over a step: when and where they meet each other or
//! themselves.
//!
//! Surfaces that are apart meet first as vertex and face or as edge and edge, so those pairs are tested, each
//! once: every vertex and edge belongs to one of its triangles, and trees over swept triangles bring the pairs
//! of triangles (Curtis, Tamstorf and Manocha, "Fast collision detection for deformable models using
//! representative-triangles", 2008). Pairs that share a vertex of the file do not count.

#[cfg(any(test, feature = "unstable"))]
pub mod brute;
mod representative_triangles;
mod search;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};

use glam::DVec3;

#[cfg(any(test, feature = "unstable"))]
use crate::Budget;
use crate::geom::moving::FeaturePairKind;
use crate::hierarchy::wide::{Decay, WideTree};
use crate::{Error, Mesh};

#[cfg(any(test, feature = "unstable"))]
pub use search::Found;
pub use search::{DeformingSearch, UnfinishedSearch, Want};

use representative_triangles::RepresentativeTriangles;

/// A mesh at both ends of a step, with a tree over what its triangles sweep.
#[derive(Debug, Clone)]
pub struct Deforming {
    /// A number that no other step has but copies of this one: memories know their step by it.
    identity: u64,
    t0: Mesh,
    t1: Mesh,
    tree: WideTree,
    /// The tree's quality after it was built and fitted to its first step.
    quality_at_build: f64,
    representatives: RepresentativeTriangles,
}

impl Deforming {
    /// A mesh that moves from one state to another.
    ///
    /// # Errors
    /// The states have not the same triangles and the same number of vertices.
    pub fn new(t0: Mesh, t1: Mesh) -> Result<Deforming, Error> {
        check_states(&t0, &t1)?;
        let (tree, representatives) = (swept_tree(&t0, &t1), RepresentativeTriangles::of(&t0));
        Ok(Deforming {
            identity: next_identity(),
            t0,
            t1,
            quality_at_build: tree.quality(),
            tree,
            representatives,
        })
    }

    /// Goes on to the next step: it begins where this one ends. The tree is refitted, and built anew only
    /// when its boxes have grown too much.
    ///
    /// # Errors
    /// As [`Deforming::new`]; the step stays what it was.
    pub fn next_step(&mut self, end: Mesh) -> Result<(), Error> {
        let start = self.t1.clone();
        self.set_step(start, end)
    }

    /// Takes another step of the same mesh.
    ///
    /// # Errors
    /// As [`Deforming::new`]; the step stays what it was.
    pub fn set_step(&mut self, t0: Mesh, t1: Mesh) -> Result<(), Error> {
        check_states(&t0, &t1)?;
        if t0.triangles() != self.t0.triangles() {
            self.representatives = RepresentativeTriangles::of(&t0);
        }
        self.tree.refit_swept(&t0, &t1);
        if self.tree.quality() > Decay::DEFAULT.most * self.quality_at_build {
            self.tree = swept_tree(&t0, &t1);
            self.quality_at_build = self.tree.quality();
        }
        (self.t0, self.t1, self.identity) = (t0, t1, next_identity());
        Ok(())
    }

    /// The mesh at the start of the step.
    pub fn start(&self) -> &Mesh {
        &self.t0
    }

    /// The mesh at the end of the step.
    pub fn end(&self) -> &Mesh {
        &self.t1
    }

    /// The tree over what the triangles sweep.
    pub(crate) fn tree(&self) -> &WideTree {
        &self.tree
    }

    /// Where some vertices are at both ends of the step.
    #[inline]
    fn points<const N: usize>(&self, vertices: [u32; N]) -> [[DVec3; N]; 2] {
        [&self.t0, &self.t1].map(|mesh| vertices.map(|v| mesh.vertices()[v as usize]))
    }
}

/// Two features that meet during a step.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MovingContact {
    /// When, as a part of the step: never later than the truth.
    pub time: f64,
    /// What the vertices are.
    pub kind: FeaturePairKind,
    /// Whether the vertex is b's and the face is a's; never for edges and within one mesh.
    pub swapped: bool,
    /// Vertex and face, or the ends of both edges, by the indices of their meshes.
    pub vertices: [u32; 4],
}

impl MovingContact {
    /// The order in which contacts are listed: by features.
    fn place(&self) -> (FeaturePairKind, bool, [u32; 4]) {
        (self.kind, self.swapped, self.vertices)
    }
}

#[cfg(any(test, feature = "unstable"))]
/// The first contact of a mesh with itself during its step.
pub fn first_self_contact(mesh: &Deforming) -> Option<MovingContact> {
    DeformingSearch::of_one(mesh, Want::First).advance(&mut Budget::UNLIMITED.clone()).contacts.pop()
}

#[cfg(any(test, feature = "unstable"))]
/// Every vertex and face and every two edges of a mesh that meet during its step, in ascending order.
pub fn self_contacts(mesh: &Deforming) -> Vec<MovingContact> {
    DeformingSearch::of_one(mesh, Want::All).advance(&mut Budget::UNLIMITED.clone()).contacts
}

#[cfg(any(test, feature = "unstable"))]
/// The first contact of two meshes that move over the same step.
pub fn first_contact(a: &Deforming, b: &Deforming) -> Option<MovingContact> {
    DeformingSearch::of_two(a, b, Want::First).advance(&mut Budget::UNLIMITED.clone()).contacts.pop()
}

#[cfg(any(test, feature = "unstable"))]
/// Every vertex and face and every two edges of two meshes that meet during the step, in ascending order.
pub fn contacts(a: &Deforming, b: &Deforming) -> Vec<MovingContact> {
    DeformingSearch::of_two(a, b, Want::All).advance(&mut Budget::UNLIMITED.clone()).contacts
}

/// The largest part of the step after which certainly nothing has met, given its first contact; 0 when
/// something meets at the start.
pub fn free_step(first: Option<&MovingContact>) -> f64 {
    first.map_or(1.0, |contact| contact.time.next_down().max(0.0))
}

fn next_identity() -> u64 {
    static MADE: AtomicU64 = AtomicU64::new(0);
    MADE.fetch_add(1, Ordering::Relaxed)
}

fn swept_tree(t0: &Mesh, t1: &Mesh) -> WideTree {
    let mut tree = WideTree::build(t0);
    tree.refit_swept(t0, t1);
    tree
}

fn check_states(t0: &Mesh, t1: &Mesh) -> Result<(), Error> {
    let refuse = |reason: String| Err(Error::Argument { name: "the second state", reason });
    if t0.vertices().len() != t1.vertices().len() {
        let [n, m] = [t0, t1].map(|mesh| mesh.vertices().len());
        return refuse(format!("{m} vertices at the end of the step, {n} at the start"));
    }
    if t0.triangles().len() != t1.triangles().len() {
        let [n, m] = [t0, t1].map(|mesh| mesh.triangles().len());
        return refuse(format!("{m} triangles at the end of the step, {n} at the start"));
    }
    match t0.triangles().iter().zip(t1.triangles()).position(|(a, b)| a != b) {
        Some(t) => refuse(format!("triangle {t} has other vertices than at the start")),
        None => Ok(()),
    }
}
