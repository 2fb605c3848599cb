//! The production tree: eight children a node, f32 boxes rounded outward, triangles in leaf order.
//!
//! A box is stored as centre and half extent, lane by lane, so that one instruction treats the same
//! coordinate of all eight children. An unused lane has the half extent −∞: it overlaps nothing and is
//! infinitely far from everything, so no loop needs to know how many children there are.
//!
//! Boxes live in the tree's own [`TreeFrame`]: the mesh box is moved to the origin and scaled by a power of
//! two to about one, so that f32 keeps its full precision for a part far from the origin and neither
//! overflows nor underflows for a mesh of any size.
//!
//! Upper nodes come first, each before its children; then the bottom nodes, whose lanes are runs of
//! triangles, in the order of the triangles. A loop from the last node to the first meets children
//! before their parents.

mod build;
mod check;
mod refit;
#[cfg(test)]
mod tests;

use std::ops::Range;

use glam::{DVec3, Vec3, Vec4};

use crate::Mesh;
use crate::num::parallel;

pub use build::BuildOptions;
pub use refit::Decay;
#[cfg(any(test, feature = "unstable"))]
pub use {
    build::Strategy,
    check::Unsound,
    refit::{Links, Update},
};

/// Children of a node.
pub const WIDTH: usize = 8;

/// Triangles in a leaf, at most.
pub const LEAF_MOST: usize = 4;

/// Eight child boxes and where they lead.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(32))]
pub struct Node {
    /// Box centres in the tree's frame: x of all children, then y, then z; 0 in an unused lane.
    pub centre: [[f32; WIDTH]; 3],
    /// Half extents, in the same order; −∞ in an unused lane.
    pub half: [[f32; WIDTH]; 3],
    /// What each child is.
    pub child: [Child; WIDTH],
}

impl Node {
    const EMPTY: Node = Node {
        centre: [[0.0; WIDTH]; 3],
        half: [[f32::NEG_INFINITY; WIDTH]; 3],
        child: [Child::NONE; WIDTH],
    };

    /// The lanes that hold a box.
    #[inline]
    pub fn used(&self) -> impl Iterator<Item = usize> + '_ {
        (0..WIDTH).filter(|&lane| self.child[lane] != Child::NONE)
    }

    /// Centre and half extent of one child box, in the tree's frame.
    #[inline]
    pub fn lane(&self, lane: usize) -> ([f32; 3], [f32; 3]) {
        (self.centre.map(|axis| axis[lane]), self.half.map(|axis| axis[lane]))
    }

    /// Puts a box into a lane, rounded outward.
    fn set_box(&mut self, lane: usize, bounds: Bounds) {
        let centre = 0.5 * (bounds.low + bounds.high);
        // Both differences are rounded by at most half a unit; the step covers it.
        let half = (bounds.high - centre).max(centre - bounds.low);
        let half = half + step(half);
        for axis in 0..3 {
            self.centre[axis][lane] = centre[axis];
            self.half[axis][lane] = half[axis];
        }
    }

    /// The box around all children, rounded outward; an unused lane changes nothing.
    #[inline]
    fn bounds(&self) -> Bounds {
        let mut ends = [[0.0_f32; 2]; 3];
        for (k, [low, high]) in ends.iter_mut().enumerate() {
            // Not `f32::min`, whose care for NaN costs more than the rest.
            let (mut least, mut most) = ([f32::INFINITY; WIDTH], [f32::NEG_INFINITY; WIDTH]);
            for lane in 0..WIDTH {
                let (centre, half) = (self.centre[k][lane], self.half[k][lane]);
                least[lane] = centre - half;
                most[lane] = centre + half;
            }
            for width in [4, 2, 1] {
                for lane in 0..width {
                    let (x, y) = (least[lane], least[lane + width]);
                    least[lane] = if x < y { x } else { y };
                    let (x, y) = (most[lane], most[lane + width]);
                    most[lane] = if x > y { x } else { y };
                }
            }
            (*low, *high) = (least[0].next_down(), most[0].next_up());
        }
        let corner = |end: usize| Vec4::new(ends[0][end], ends[1][end], ends[2][end], 0.0);
        Bounds { low: corner(0), high: corner(1) }
    }
}

/// A child: another node, or a run of triangles in leaf order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Child(u32);

impl Child {
    /// The bit that tells leaves from nodes; below it three bits of length, then the first slot.
    const LEAF: u32 = 1 << 31;
    const LENGTH_SHIFT: u32 = 28;

    /// Nothing: a leaf without triangles.
    pub const NONE: Child = Child(Child::LEAF);

    fn node(index: usize) -> Child {
        debug_assert!(index < Child::LEAF as usize);
        Child(index as u32)
    }

    fn leaf(slots: Range<usize>) -> Child {
        debug_assert!(slots.len() <= LEAF_MOST && slots.start < 1 << Child::LENGTH_SHIFT);
        Child(Child::LEAF | (slots.len() as u32) << Child::LENGTH_SHIFT | slots.start as u32)
    }

    /// The index of the child node; `None` for a leaf.
    #[inline]
    pub fn as_node(self) -> Option<usize> {
        (self.0 & Child::LEAF == 0).then_some(self.0 as usize)
    }

    /// Whether this is a run of triangles.
    #[inline]
    pub fn is_leaf(self) -> bool {
        self.0 & Child::LEAF != 0
    }

    /// The slots of a leaf in [`WideTree::order`]; meaningless for a node.
    #[inline]
    pub fn slots(self) -> Range<usize> {
        let first = (self.0 & ((1 << Child::LENGTH_SHIFT) - 1)) as usize;
        first..first + ((self.0 >> Child::LENGTH_SHIFT) & 7) as usize
    }
}

/// Where the tree's boxes live: a mesh point is `centre + unit · ξ`, ξ the tree's coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TreeFrame {
    /// The mesh point that is the tree's origin.
    pub centre: DVec3,
    /// The length of one tree unit in mesh units; a power of two.
    pub unit: f64,
    /// No box reaches farther than this from the tree's origin, on any axis (tree units).
    pub reach: f32,
}

impl TreeFrame {
    /// The frame in which the given box is centred and about one unit large.
    pub(super) fn around(low: DVec3, high: DVec3) -> TreeFrame {
        let centre = low + (high - low) * 0.5;
        let largest = (high - centre).max(centre - low).max_element();
        // The smallest power of two above; far enough from the subnormal numbers to divide by.
        let exponent = ((largest.to_bits() >> 52) as i32 - 1022).max(-1000);
        TreeFrame { centre, unit: 2.0_f64.powi(exponent), reach: 1.0 }
    }

    /// A mesh point in the tree's coordinates, rounded as f64.
    #[inline]
    pub fn inward(&self, p: DVec3) -> DVec3 {
        (p - self.centre) / self.unit
    }

    /// A mesh point in the tree's coordinates, rounded to f32.
    #[inline]
    fn nearest(&self, p: DVec3) -> Vec4 {
        self.inward(p).as_vec3().extend(0.0)
    }
}

/// The tree over the triangles of one mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct WideTree {
    nodes: Vec<Node>,
    order: Vec<u32>,
    /// How many nodes stand before the first bottom node.
    upper: usize,
    leaf_most: usize,
    frame: TreeFrame,
    /// The box around the root's children, in tree units.
    bounds: [Vec3; 2],
    /// Largest extent of any triangle's box on any axis, in tree units.
    widest: f32,
    /// The surface-area cost now and when the tree was built.
    cost: f64,
    cost_at_build: f64,
}

impl WideTree {
    /// Builds the tree with the default options.
    pub fn build(mesh: &Mesh) -> WideTree {
        WideTree::build_with(mesh, &BuildOptions::DEFAULT)
    }

    /// All nodes; the root is the first.
    #[inline]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The mesh's triangle indices in leaf order.
    #[inline]
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Whether the children of a node are runs of triangles; otherwise all of them are nodes.
    #[inline]
    pub fn is_bottom(&self, node: usize) -> bool {
        node >= self.upper
    }

    /// The bottom node that holds a slot; all of them but the last are full.
    #[inline]
    pub fn bottom_of(&self, slot: u32) -> u32 {
        (self.upper + slot as usize / (WIDTH * self.leaf_most)) as u32
    }

    /// The frame of the boxes.
    #[inline]
    pub fn frame(&self) -> &TreeFrame {
        &self.frame
    }

    /// The largest extent of any triangle on any axis, in tree units.
    #[inline]
    pub fn widest(&self) -> f32 {
        self.widest
    }

    /// The corners of a box around all triangles, in tree units.
    #[inline]
    pub fn bounds(&self) -> [Vec3; 2] {
        self.bounds
    }

    /// Bytes held, without the mesh.
    pub fn memory(&self) -> usize {
        size_of_val(&self.nodes[..]) + size_of_val(&self.order[..]) + size_of::<WideTree>()
    }
}

/// A box of f32 coordinates; the fourth number is ignored.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    low: Vec4,
    high: Vec4,
}

impl Bounds {
    const EMPTY: Bounds = Bounds { low: Vec4::INFINITY, high: Vec4::NEG_INFINITY };

    /// Its lowest and its highest corner.
    fn corners(&self) -> [Vec3; 2] {
        [self.low.truncate(), self.high.truncate()]
    }

    #[inline]
    fn union(self, other: Bounds) -> Bounds {
        Bounds { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The box of a triangle whose corners were rounded to f32, rounded outward.
    #[inline]
    fn around([a, b, c]: [Vec4; 3]) -> Bounds {
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        // One step covers the cast and the rounding of the division before.
        Bounds { low: low - step(low), high: high + step(high) }
    }

    /// Half the surface area; 0 for an empty box.
    #[inline]
    fn half_area(&self) -> f32 {
        let d = (self.high - self.low).max(Vec4::ZERO);
        d.x * d.y + d.y * d.z + d.z * d.x
    }

    /// The largest absolute coordinate.
    fn reach(&self) -> f32 {
        self.low.abs().max(self.high.abs()).truncate().max_element()
    }
}

/// At least the distance from each number to the f32 next to it, on either side.
#[inline]
fn step(x: Vec4) -> Vec4 {
    x.abs() * f32::EPSILON + Vec4::splat(f32::MIN_POSITIVE)
}

/// The box of one triangle of a mesh.
#[inline]
fn triangle_bounds(mesh: &Mesh, triangle: u32, frame: &TreeFrame) -> Bounds {
    Bounds::around(mesh.corners(triangle).map(|p| frame.nearest(p)))
}

/// The least of each coordinate, none of which is a NaN.
#[inline]
fn least(a: DVec3, b: DVec3) -> DVec3 {
    let least = |a: f64, b: f64| if a < b { a } else { b };
    DVec3::new(least(a.x, b.x), least(a.y, b.y), least(a.z, b.z))
}

/// The box of the mesh's triangles, not of vertices that none uses.
fn mesh_bounds(mesh: &Mesh) -> [DVec3; 2] {
    parallel::reduce_chunks(
        mesh.triangles(),
        1 << 12,
        |chunk| {
            let mut all = [DVec3::INFINITY, DVec3::NEG_INFINITY];
            for corners in chunk {
                let [a, b, c] = corners.map(|v| mesh.vertices()[v as usize]);
                all[0] = least(all[0], least(a, least(b, c)));
                all[1] = -least(-all[1], least(-a, least(-b, -c)));
            }
            all
        },
        |[low, high], [l, h]| [low.min(l), high.max(h)],
    )
}
