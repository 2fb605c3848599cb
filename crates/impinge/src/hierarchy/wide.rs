//! The production tree: eight children a node, f32 boxes rounded outward, triangles in leaf order.
//!
//! A box is stored as centre and half extent, lane by lane, so that one instruction treats the same
//! coordinate of all eight children. An unused lane has the half extent −∞: it overlaps nothing and is
//! infinitely far from everything, so no loop needs to know how many children there are.

use std::ops::Range;

use glam::DVec3;

use crate::Mesh;

/// Children of a node.
pub const WIDTH: usize = 8;

/// Triangles in a leaf, at most.
pub const LEAF_MOST: usize = 4;

/// Eight child boxes and where they lead.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(32))]
pub struct Node {
    /// Box centres: x of all children, then y, then z.
    pub centre: [[f32; WIDTH]; 3],
    /// Half extents, in the same order; −∞ in an unused lane.
    pub half: [[f32; WIDTH]; 3],
    /// What each child is.
    pub child: [Child; WIDTH],
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

    fn node(index: u32) -> Child {
        debug_assert!(index < Child::LEAF);
        Child(index)
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

    /// The slots of a leaf in [`WideTree::order`]; meaningless for a node.
    #[inline]
    pub fn slots(self) -> Range<usize> {
        let first = (self.0 & ((1 << Child::LENGTH_SHIFT) - 1)) as usize;
        first..first + ((self.0 >> Child::LENGTH_SHIFT) & 7) as usize
    }
}

/// The tree over the triangles of one mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct WideTree {
    nodes: Vec<Node>,
    order: Vec<u32>,
}

impl WideTree {
    /// Builds the tree.
    pub fn build(mesh: &Mesh) -> WideTree {
        let boxes: Vec<[DVec3; 2]> = (0..mesh.triangles().len() as u32)
            .map(|t| mesh.corners(t))
            .map(|[a, b, c]| [a.min(b).min(c), a.max(b).max(c)])
            .collect();
        let mut tree = WideTree { nodes: Vec::new(), order: (0..boxes.len() as u32).collect() };
        tree.split(&boxes, 0..boxes.len());
        tree
    }

    /// All nodes; the root is the first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The mesh's triangle indices in leaf order.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    fn split(&mut self, boxes: &[[DVec3; 2]], all: Range<usize>) -> usize {
        let mut parts = vec![all];
        while parts.len() < WIDTH {
            let Some(at) =
                (0..parts.len()).filter(|&i| parts[i].len() > LEAF_MOST).max_by_key(|&i| parts[i].len())
            else {
                break;
            };
            let part = parts[at].clone();
            let middle = part.start + part.len() / 2;
            let [low, high] = bounds(boxes, &self.order[part.clone()]);
            let axis = (high - low).max_position();
            self.order[part.clone()].select_nth_unstable_by(part.len() / 2, |&a, &b| {
                let centre = |t: u32| boxes[t as usize][0][axis] + boxes[t as usize][1][axis];
                centre(a).total_cmp(&centre(b))
            });
            parts[at] = part.start..middle;
            parts.push(middle..part.end);
        }
        let index = self.nodes.len();
        let empty = [[f32::NEG_INFINITY; WIDTH]; 3];
        self.nodes.push(Node { centre: [[0.0; WIDTH]; 3], half: empty, child: [Child::NONE; WIDTH] });
        for (lane, part) in parts.into_iter().enumerate() {
            let [low, high] = bounds(boxes, &self.order[part.clone()]);
            for axis in 0..3 {
                let centre = ((low[axis] + high[axis]) / 2.0) as f32;
                let half = (high[axis] - f64::from(centre)).max(f64::from(centre) - low[axis]) as f32;
                self.nodes[index].centre[axis][lane] = centre;
                self.nodes[index].half[axis][lane] = half.next_up();
            }
            self.nodes[index].child[lane] = if part.len() <= LEAF_MOST {
                Child::leaf(part)
            } else {
                Child::node(self.split(boxes, part) as u32)
            };
        }
        index
    }
}

fn bounds(boxes: &[[DVec3; 2]], of: &[u32]) -> [DVec3; 2] {
    of.iter().fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], &t| {
        [low.min(boxes[t as usize][0]), high.max(boxes[t as usize][1])]
    })
}
