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

use crate::simd::prefetch_from;
use crate::simd::ray_lanes::{LANES, Lanes};
use bytemuck::{Pod, Zeroable};

use super::wide::TreeFrame;

pub(crate) use search::{Candidates, Decide, Nearest};
use tree_ray::PlacedFrame;
pub(crate) use tree_ray::{PlacedRayTree, TreeRay};

/// Eight boxes and where they lead.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
struct Node {
    /// For each axis the low planes of all children and the high ones; a lane without a child is inside out.
    planes: [[Lanes; 2]; 3],
    child: [Link; LANES],
}

/// Eight triangles; NaN in a lane without one. Their vertices follow, each once, so that one fetch brings all that a
/// hit is decided on: a ray that is alone waits for memory most of its time.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Block {
    /// x, y, z of the first corners in tree units, then of the second and third, rounded to nearest.
    corners: [[Lanes; 3]; 3],
    /// For each lane its place in the mesh.
    triangles: [u32; LANES],
    /// For each lane the places of its corners among the vertices; the fourth is idle.
    vertices: [[u8; 4]; LANES],
}

/// A piece of the memory of blocks: rows of lanes lie in one line of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C, align(32))]
struct Piece([u32; 8]);

/// Pieces of a block before its vertices.
const BLOCK_PIECES: usize = size_of::<Block>() / size_of::<Piece>();

/// Lines of the cache that a node fills; the corners of a block fill one more.
const NODE_LINES: usize = size_of::<Node>() / 64;

const _: () = assert!(size_of::<[[Lanes; 3]; 3]>().div_ceil(64) == NODE_LINES + 1);

/// Pieces that hold the corners of a block.
const CORNER_PIECES: usize = size_of::<[[Lanes; 3]; 3]>() / size_of::<Piece>();

/// Pieces that the vertices of most blocks fill.
const VERTEX_PIECES: usize = 7;

/// Lines that the rest of most blocks fills.
const REST_LINES: usize = (BLOCK_PIECES - CORNER_PIECES + VERTEX_PIECES).div_ceil(2);

/// A triangle of the mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Face<'t> {
    pub triangle: u32,
    /// In the mesh's frame.
    pub corners: [&'t [f64; 3]; 3],
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
    /// Blocks, each with its vertices; leaves lead to the first piece.
    pieces: Vec<Piece>,
    frame: TreeFrame,
}

impl RayTree {
    /// Bytes held.
    pub fn memory(&self) -> usize {
        size_of_val(&self.nodes[..]) + size_of_val(&self.pieces[..])
    }

    #[inline(always)]
    fn block(&self, leaf: usize) -> &Block {
        bytemuck::from_bytes(bytemuck::cast_slice(&self.pieces[leaf..leaf + BLOCK_PIECES]))
    }

    /// Where a block begins.
    #[inline(always)]
    fn address(&self, leaf: usize) -> *const u8 {
        self.pieces.as_ptr().wrapping_add(leaf).cast()
    }

    /// Asks for the memory of a block that holds no corners.
    #[inline(always)]
    fn prefetch_rest(&self, leaf: usize) {
        prefetch_from::<REST_LINES>(self.address(leaf + CORNER_PIECES));
    }

    #[inline(always)]
    fn face(&self, leaf: usize, lane: usize) -> Face<'_> {
        let block = self.block(leaf);
        let vertices: &[f64] = bytemuck::cast_slice(&self.pieces[leaf + BLOCK_PIECES..]);
        let (vertices, _) = vertices.as_chunks();
        let [a, b, c, _] = block.vertices[lane % LANES].map(usize::from);
        Face { triangle: block.triangles[lane % LANES], corners: [&vertices[a], &vertices[b], &vertices[c]] }
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
