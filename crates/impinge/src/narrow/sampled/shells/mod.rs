//! Layered shells of a mesh: levels of ever fewer facets, each a flat cylinder around a part of the surface.
//!
//! Guy and Debunne, Monte-Carlo Collision Detection (INRIA RR-5136, 2004), section 4.1. Level 0 is the mesh
//! itself, each further level a simplification of it with about a quarter of the triangles (`simplify.rs`). A
//! facet rides on one triangle of its level: its centre is the triangle's barycentre, its normal the
//! triangle's normal. Each facet but those of the coarsest level has one parent in the next level
//! (`parents.rs`).
//!
//! # What is proved, and where we leave the paper
//! The paper sets a disc's offset so that it lies outside of its children's discs, estimates its radius by
//! the distance of neighbouring centres, and claims that nothing is missed. Here a facet has a radius and two
//! offsets, found over everything below it (`fit.rs`):
//!
//! 1. **Containment.** A facet's cylinder, {x : inner ≤ (x − centre)·normal ≤ outer, |x − centre| across the
//!    normal ≤ radius}, contains the triangle it rides on and the triangles of all its descendants, at every
//!    finer level down to the mesh. *Proof:* the bounds are taken over all corners of those triangles and
//!    rounded outward by more than what the frame and the sums can be wrong by (`frame.rs`); a cylinder is
//!    convex, so with the corners it contains the triangles.
//! 2. **No hole.** At every level the cylinders together contain the whole mesh, and the discs cover the
//!    simplified surface of that level. *Proof:* every triangle of the mesh has a parent, whose parent has
//!    one, and so on up to the level, where that facet contains it by 1; every triangle of a level lies in
//!    its own facet's disc, again by 1.
//! 3. **Nesting.** What is below a facet is what is below its children, and its own triangle. So if
//!    everything below each child is known to be free of something, so is everything below the facet.
//!
//! On a deforming mesh a facet is read from its triangle's three vertices and grows for a stated largest
//! deformation; `deform.rs` states the condition and proves 1 under it.

mod csr;
mod curved;
mod deform;
mod edge_planes;
mod fit;
mod frame;
mod neighbours;
mod parents;
mod quadric;
mod report;
mod seed_order;
mod simplify;
#[cfg(test)]
mod tests;
#[cfg(any(test, feature = "unstable"))]
mod verify;

use glam::DVec3;

pub use csr::Csr;
pub use curved::Patch;
pub use edge_planes::{Slab, Tightness};
pub(super) use frame::{Frame, largest_coordinate, pad};
pub use report::ShellLevel;
pub(crate) use report::model_of;
#[cfg(any(test, feature = "unstable"))]
pub use verify::Checked;

use self::deform::Ride;
use self::fit::fit;
use self::simplify::Simplifier;
use crate::Mesh;
use crate::num::hash::fnv1a;
use crate::shape::weld::Weld;

/// Without a number of levels, no coarser one is made than the first of at most so many facets.
const COARSEST: usize = 64;

/// A level has about this many times fewer facets than the next finer one.
const RATIO: usize = 4;

/// Layered shells of a mesh. Level 0 is the finest (the mesh's own triangles), the last the coarsest.
#[derive(Debug, Clone, PartialEq)]
pub struct Shells {
    pub(crate) levels: Vec<Level>,
    /// How far the body's surface may be from each triangle of level 0; `None` where the triangles are the
    /// surface.
    error: Option<Vec<f64>>,
    /// Of the mesh, so that shells are not taken for those of another.
    mesh_hash: u64,
}

/// One shell: a simplified mesh and a facet for each of its triangles.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Level {
    /// The triangle that a facet rides on: vertices of the original mesh, so that a facet follows a deforming
    /// vertex array by reading three vertices.
    pub corners: Vec<[u32; 3]>,
    /// The facets at rest.
    pub facets: Vec<Facet>,
    /// The facet of the next coarser level that each belongs to; empty for the coarsest.
    pub parent: Vec<u32>,
    /// The facets of the next finer level that belong to each, at least one; of level 0 none.
    pub children: Csr,
    /// The facets of this level that share a vertex with each.
    pub neighbours: Csr,
    /// The facets in an order in which consecutive ones lie far apart.
    pub order: Vec<u32>,
    /// How the facets ride on their triangles.
    rides: Vec<Ride>,
    /// Edge planes of all facets; where those of each begin, one more entry than facets, or none at all.
    slabs: Vec<Slab>,
    slab_starts: Vec<u32>,
    /// How tightly the facets hold the surface.
    pub tightness: Tightness,
}

/// A flat cylinder: the disc of `radius` about `centre` across `normal`, from `inner` to `outer` along the
/// normal (inner ≤ 0 ≤ outer).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facet {
    /// The barycentre of the triangle it rides on.
    pub centre: DVec3,
    /// The unit normal of that triangle.
    pub normal: DVec3,
    /// The disc's radius.
    pub radius: f64,
    /// How far the surface lies behind the disc at most, negative or 0.
    pub inner: f64,
    /// How far the surface lies before the disc at most, positive or 0.
    pub outer: f64,
}

/// What is above the mesh in each level: the triangles of the next coarser one and the parent of each facet
/// in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Links {
    /// For each facet of a level its parent.
    pub parent: Vec<u32>,
    /// The triangles of the next coarser level.
    pub corners: Vec<[u32; 3]>,
}

impl Shells {
    /// The shells of a mesh, with so many levels, or fewer where no more can be made; `None` for as many as
    /// it takes to come down to a few tens of facets.
    pub fn of_mesh(mesh: &Mesh, levels: Option<usize>) -> Shells {
        Shells::build(mesh, levels, None)
    }

    /// Units that the shells of a mesh cost: about as many tests as would take the same time.
    pub(crate) fn units(mesh: &Mesh) -> u64 {
        let triangles = mesh.triangles().len() as u64;
        triangles * (u64::from(triangles.max(1).ilog2()) + 1)
    }

    /// The shells of a body whose points are each within an error of a triangle of a mesh: `error` has it for
    /// each triangle.
    fn build(mesh: &Mesh, levels: Option<usize>, error: Option<Vec<f64>>) -> Shells {
        let weld = Weld::of(mesh.vertices());
        let welded = welded_triangles(mesh, &weld);
        let mut surface = Simplifier::new(unit_size(mesh, &weld), &welded);
        let mut links = Vec::new();
        let mut fine = welded;
        while levels.map_or(fine.len() > COARSEST, |levels| links.len() + 1 < levels) {
            let before = surface.triangles().len();
            surface.coarsen(before / RATIO);
            if surface.triangles().len() == before {
                break;
            }
            let parent = parents::parents(&fine, &surface);
            let named = |v: u32| weld.first(surface.name(v));
            let corners = surface.triangles().iter().map(|c| c.map(named)).collect();
            links.push(Links { parent, corners });
            surface.next_level();
            fine = surface.triangles().to_vec();
        }
        Shells::from_links(mesh, links, error)
    }

    /// Everything that follows from the mesh and the links between levels. The links must name facets and
    /// vertices that exist, and give every facet of a coarser level a child.
    pub(crate) fn from_links(mesh: &Mesh, links: Vec<Links>, error: Option<Vec<f64>>) -> Shells {
        let mut levels = vec![Level { corners: mesh.triangles().to_vec(), ..Level::default() }];
        for Links { parent, corners } in links {
            let children = Csr::by_owner(&parent, corners.len());
            levels.last_mut().into_iter().for_each(|level| level.parent = parent.clone());
            levels.push(Level { corners, children, ..Level::default() });
        }
        let weld = Weld::of(mesh.vertices());
        for level in &mut levels {
            // Copies of a vertex are one surface.
            let corners: Vec<[u32; 3]> = level.corners.iter().map(|c| c.map(|v| weld.welded(v))).collect();
            level.neighbours = neighbours::neighbours(&corners, weld.count());
        }
        let mut shells = Shells { levels, error, mesh_hash: hash_of(mesh) };
        shells.fit(mesh);
        shells.number();
        shells
    }

    /// The links between levels, and the error where the mesh is not the surface itself.
    #[cfg(feature = "io")]
    pub(crate) fn links(&self) -> (Vec<Links>, Option<&[f64]>) {
        let pairs = self.levels.windows(2);
        let links =
            pairs.map(|pair| Links { parent: pair[0].parent.clone(), corners: pair[1].corners.clone() });
        (links.collect(), self.error.as_deref())
    }

    /// The hash of the mesh they were made for.
    pub(crate) fn mesh_hash(&self) -> u64 {
        self.mesh_hash
    }

    /// Fits the facets and their edge planes, from the finest level to the coarsest.
    fn fit(&mut self, mesh: &Mesh) {
        let (below, leaves) = (self.all_below(), self.all_leaves());
        let mut error = self.error.clone();
        for (k, level) in self.levels.iter_mut().enumerate() {
            if k > 0 {
                let largest = |finer: Vec<f64>| {
                    let of_child = |&child: &u32| finer[child as usize];
                    let of = |f: u32| level.children.of(f).iter().map(of_child).fold(0.0, f64::max);
                    (0..level.corners.len() as u32).map(of).collect()
                };
                error = error.map(largest);
            }
            fit(level, &below[k], mesh.vertices(), error.as_deref());
            if k > 0 {
                edge_planes::attach(level, &leaves[k], mesh, error.as_deref());
            }
        }
    }

    /// Numbers the facets, from the coarsest level to the finest.
    fn number(&mut self) {
        let mut coarser: Option<(&[u32], &Csr)> = None;
        for level in self.levels.iter_mut().rev() {
            level.order = match coarser {
                Some((order, children)) => seed_order::finer(order, children, level.corners.len()),
                None => seed_order::coarsest(&level.facets.iter().map(|f| f.centre).collect::<Vec<_>>()),
            };
            coarser = Some((&level.order, &level.children));
        }
    }
}

/// The hash of a mesh: of every bit of its vertices and triangles.
pub(crate) fn hash_of(mesh: &Mesh) -> u64 {
    let numbers = mesh.vertices().iter().flat_map(|p| p.to_array()).flat_map(f64::to_le_bytes);
    fnv1a(numbers.chain(mesh.triangles().as_flattened().iter().flat_map(|index| index.to_le_bytes())))
}

/// The triangles of a mesh, by welded vertices.
fn welded_triangles(mesh: &Mesh, weld: &Weld) -> Vec<[u32; 3]> {
    mesh.triangles().iter().map(|corners| corners.map(|v| weld.welded(v))).collect()
}

/// The distinct points of a mesh, moved and scaled into the unit box.
fn unit_size(mesh: &Mesh, weld: &Weld) -> Vec<DVec3> {
    let points: Vec<DVec3> =
        (0..weld.count() as u32).map(|w| mesh.vertices()[weld.first(w) as usize]).collect();
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for p in &points {
        (low, high) = (low.min(*p), high.max(*p));
    }
    let size = (high - low).max_element();
    if size > 0.0 { points.into_iter().map(|p| (p - low) / size).collect() } else { points }
}
