//! The tree for questions from points: patches of the surface in turned boxes, sixteen to a node.
//!
//! A patch of a surface is flat and lies askew in a box along the axes, so that from afar the box looks
//! nearer than the patch by about its size. A box turned into the plane of the patch is as thick as the
//! patch is bent (Gottschalk, Lin and Manocha, "OBBTree", 1996), and its distance from a point costs three
//! dot products. We leave that paper in the shape of the tree: sixteen children a node and sixteen
//! triangles a block, all full but the last, so that a search makes few and wide steps.

mod build;
mod measure;
mod query_point;
mod search;
#[cfg(test)]
mod tests;

pub use query_point::{PlacedPointTree, QueryPoint};
#[cfg(any(test, feature = "unstable"))]
pub use search::Found;
pub use search::{Room, Start};

/// Children of a node and triangles of a block.
pub const LANES: usize = crate::simd::u32x16::LANES;

/// One number for each child or triangle.
pub type Lanes = [f32; LANES];

/// Sixteen turned boxes in tree units and where they lead; an unused lane is infinitely far.
#[derive(Debug, Clone, PartialEq)]
#[repr(C, align(64))]
struct Node {
    /// x of all centres, then y, then z.
    centre: [Lanes; 3],
    /// The same for each of the three axes, unit vectors rounded to f32.
    axes: [[Lanes; 3]; 3],
    /// Half extents along the axes; −∞ in an unused lane.
    half: [Lanes; 3],
    /// [`Link`]s.
    child: [u32; LANES],
}

/// Sixteen triangles; an unused lane repeats the first.
#[derive(Debug, Clone, PartialEq)]
#[repr(C, align(64))]
struct Block {
    /// Corners in tree units: x, y, z of the first corners, then of the second and third.
    corners: [Lanes; 9],
    /// Their places in the mesh.
    triangles: [u32; LANES],
}

/// A node, or a block with the number of its triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
struct Link(u32);

impl Link {
    /// The bit that tells blocks from nodes; below it four bits of the number of triangles less one.
    const BLOCK: u32 = 1 << 31;
    const COUNT_SHIFT: u32 = 27;
    /// Leads nowhere.
    const NONE: Link = Link(u32::MAX);

    fn node(index: usize) -> Link {
        debug_assert!(index < 1 << Link::COUNT_SHIFT);
        Link(index as u32)
    }

    fn block(index: usize, count: usize) -> Link {
        debug_assert!(index < Link::NONE.index() && (1..=LANES).contains(&count));
        Link(Link::BLOCK | (count as u32 - 1) << Link::COUNT_SHIFT | index as u32)
    }

    #[inline]
    fn is_block(self) -> bool {
        self.0 & Link::BLOCK != 0
    }

    #[inline]
    fn index(self) -> usize {
        (self.0 & ((1 << Link::COUNT_SHIFT) - 1)) as usize
    }

    /// The lanes of a block that are triangles of their own.
    #[inline]
    fn used(self) -> u16 {
        u16::MAX >> (LANES as u32 - 1 - (self.0 >> Link::COUNT_SHIFT & (LANES as u32 - 1)))
    }
}

/// The patches of one mesh, in the frame of its tree.
#[derive(Debug, Clone, PartialEq)]
pub struct PointTree {
    /// Level by level from the lowest to the root.
    nodes: Vec<Node>,
    blocks: Vec<Block>,
    root: Link,
}

impl PointTree {
    /// Bytes held.
    pub fn memory(&self) -> usize {
        size_of_val(&self.nodes[..]) + size_of_val(&self.blocks[..])
    }
}
