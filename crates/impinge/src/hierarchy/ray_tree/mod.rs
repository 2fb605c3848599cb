//! The tree for rays: eight boxes a node and eight triangles a leaf, in f32; and the same over boxes, for scenes.
//!
//! A search between bodies wants all bottom nodes full; a ray wants boxes that few rays meet, so this tree is built
//! by the surface-area heuristic alone (`build`), and its boxes are planes instead of centres and half extents, of
//! which a ray takes the near ones by the signs of its direction. Wald, Benthin and Boulos, *Getting rid of
//! packets* (2008), is the search of one ray through wide nodes (`search`).
//!
//! Everything is in the tree's own [`TreeFrame`], boxes rounded outward.

mod box_search;
mod build;
mod search;
mod tree_ray;

use crate::simd::ray_lanes::{LANES, Lanes};

use super::wide::TreeFrame;

pub(crate) use search::{Candidates, Decide};
use tree_ray::PlacedFrame;
pub(crate) use tree_ray::{PlacedRayTree, RayLimit, TreeRay};

/// Eight boxes and where they lead.
#[derive(Debug, Clone, PartialEq)]
#[repr(C, align(64))]
struct Node {
    /// For each axis the low planes of all children and the high ones; a lane without a child is inside out.
    planes: [[Lanes; 2]; 3],
    child: [Link; LANES],
}

/// Eight triangles; NaN in a lane without one.
#[derive(Debug, Clone, PartialEq)]
#[repr(C, align(64))]
struct Block {
    /// x, y, z of the first corners in tree units, then of the second and third, rounded to nearest.
    corners: [[Lanes; 3]; 3],
    /// For each lane its place in the mesh and its vertices there.
    faces: [Face; LANES],
}

/// A triangle of the mesh, with its vertices at hand: who asks for their numbers needs not look it up first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Face {
    pub triangle: u32,
    pub vertices: [u32; 3],
}

/// A node or a leaf: a block, or something with a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
struct Link(u32);

impl Link {
    /// The bit that tells leaves from nodes.
    const LEAF: u32 = 1 << 31;
    /// Leads nowhere; its box is inside out, so that no ray follows it.
    const NONE: Link = Link(u32::MAX);

    fn node(index: usize) -> Link {
        debug_assert!(index < Link::LEAF as usize);
        Link(index as u32)
    }

    fn leaf(index: usize) -> Link {
        debug_assert!(index < Link::LEAF as usize);
        Link(Link::LEAF | index as u32)
    }

    #[inline(always)]
    fn is_leaf(self) -> bool {
        self.0 & Link::LEAF != 0
    }

    #[inline(always)]
    fn index(self) -> usize {
        (self.0 & !Link::LEAF) as usize
    }
}

/// The triangles of one mesh, for rays.
#[derive(Debug, Clone, PartialEq)]
pub struct RayTree {
    /// Each before its children; the root first.
    nodes: Vec<Node>,
    blocks: Vec<Block>,
    frame: TreeFrame,
}

impl RayTree {
    /// Bytes held.
    pub fn memory(&self) -> usize {
        size_of_val(&self.nodes[..]) + size_of_val(&self.blocks[..])
    }
}

/// Things with boxes, by their numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxTree {
    /// Each before its children; the root first.
    nodes: Vec<Node>,
    frame: TreeFrame,
    /// The frame where it stands, for rays.
    placed: PlacedFrame,
}
