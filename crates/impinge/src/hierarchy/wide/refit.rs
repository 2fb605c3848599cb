//! Keeping the tree while the mesh deforms: refit all boxes, refit a few, rebuild on decay.
//!
//! van den Bergen, "Efficient collision detection of complex deformable models using AABB trees", 1997
//! (bottom-up refit in an array, without recursion); Brown et al., "Real-time simulation of deformable
//! objects", 2001 (local updates). Decay is measured by the surface-area cost relative to the build.

use std::collections::BinaryHeap;

use glam::DVec3;

use super::{Bounds, BuildOptions, Child, Node, TreeFrame, WIDTH, WideTree, mesh_bounds, triangle_bounds};
use crate::Mesh;
use crate::num::parallel;

/// What an update did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Update {
    /// Nu: boxes computed anew.
    pub boxes: u64,
    /// Whether the tree was built anew.
    pub rebuilt: bool,
}

/// When a refitted tree is worth building anew.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decay {
    /// The largest bearable ratio of the surface-area cost to that at the build.
    pub most: f64,
}

impl Decay {
    /// A query costs about in proportion to the surface-area cost; a build costs about forty refits.
    pub const DEFAULT: Decay = Decay { most: 1.5 };
}

/// The ways from triangles and nodes upward, needed only for local updates.
#[derive(Debug, Clone)]
pub struct Links {
    slot_of: Vec<u32>,
    parent_of: Vec<u32>,
}

/// Coordinates beyond this many tree units lose the frame's precision: the whole tree is refitted.
const FARTHEST: f32 = 1024.0;
/// Nodes a thread takes at a time.
const CHUNK: usize = 1024;

impl WideTree {
    /// Fits every box to the moved vertices; the grouping stays. A mesh with another number of
    /// triangles is built anew.
    pub fn refit(&mut self, mesh: &Mesh) -> Update {
        self.refit_states(&[mesh])
    }

    /// Fits every box to what its triangles sweep while each vertex moves on a straight line from one state
    /// of the mesh to another. A mesh with another number of triangles is built anew.
    pub fn refit_swept(&mut self, t0: &Mesh, t1: &Mesh) -> Update {
        let update = self.refit_states(&[t0, t1]);
        if !update.rebuilt {
            return update;
        }
        let swept = self.refit_states(&[t0, t1]);
        Update { boxes: update.boxes + swept.boxes, rebuilt: true }
    }

    /// Fits every box to some states of one mesh.
    fn refit_states(&mut self, states: &[&Mesh]) -> Update {
        if let Some(mesh) = states.first().filter(|mesh| mesh.triangles().len() != self.order.len()) {
            return self.rebuild(mesh);
        }
        let nowhere = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let [low, high] = states.iter().fold(nowhere, |[low, high], mesh| {
            let [l, h] = mesh_bounds(mesh);
            [low.min(l), high.max(h)]
        });
        self.frame = TreeFrame::around(low, high);
        let (frame, order, upper) = (self.frame, &self.order, self.upper);
        parallel::for_each_chunk(&mut self.nodes[upper..], CHUNK, |_, chunk| {
            for node in chunk {
                for lane in 0..WIDTH {
                    fit_leaf(node, lane, order, states, &frame);
                }
            }
        });
        for index in (0..upper).rev() {
            for lane in 0..WIDTH {
                if let Some(child) = self.nodes[index].child[lane].as_node() {
                    let bounds = self.nodes[child].bounds();
                    self.nodes[index].set_box(lane, bounds);
                }
            }
        }
        self.measure();
        #[cfg(debug_assertions)]
        states.iter().for_each(|mesh| self.assert_sound(mesh));
        Update { boxes: self.boxes(), rebuilt: false }
    }

    /// Refits, and builds anew when the boxes have grown beyond `decay`.
    pub fn refit_or_rebuild(&mut self, mesh: &Mesh, decay: Decay) -> Update {
        let update = self.refit(mesh);
        if update.rebuilt || self.quality() <= decay.most {
            return update;
        }
        let rebuilt = self.rebuild(mesh);
        Update { boxes: update.boxes + rebuilt.boxes, rebuilt: true }
    }

    /// The surface-area cost relative to that at the build: 1 is as good as new, 2 twice as dear.
    pub fn quality(&self) -> f64 {
        if self.cost_at_build > 0.0 { self.cost / self.cost_at_build } else { 1.0 }
    }

    /// The links that [`WideTree::refit_moved`] needs; they stay true until the tree is rebuilt.
    pub fn links(&self) -> Links {
        let mut slot_of = vec![0; self.order.len()];
        for (slot, &triangle) in self.order.iter().enumerate() {
            slot_of[triangle as usize] = slot as u32;
        }
        let mut parent_of = vec![0; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            for child in node.child.iter().filter_map(|child| child.as_node()) {
                parent_of[child] = index as u32;
            }
        }
        Links { slot_of, parent_of }
    }

    /// Fits the boxes of the `moved` triangles and what stands above them, as far as they change.
    /// The figure of [`WideTree::quality`] is left as it was; triangle numbers beyond the mesh are ignored.
    pub fn refit_moved(&mut self, mesh: &Mesh, links: &Links, moved: &[u32]) -> Update {
        let foreign = links.slot_of.len() != self.order.len() || links.parent_of.len() != self.nodes.len();
        if foreign || mesh.triangles().len() != self.order.len() {
            return self.refit(mesh);
        }
        let bucket = WIDTH * self.leaf_most;
        let mut boxes = 0;
        let mut changed = BinaryHeap::new();
        for &triangle in moved.iter().filter(|&&t| (t as usize) < links.slot_of.len()) {
            let slot = links.slot_of[triangle as usize] as usize;
            let index = self.upper + slot / bucket;
            let lane = slot % bucket / self.leaf_most;
            let node = &mut self.nodes[index];
            let reach = fit_leaf(node, lane, &self.order, &[mesh], &self.frame);
            if !(reach <= FARTHEST) {
                return self.refit(mesh);
            }
            self.widest = self.widest.max(2.0 * node.lane(lane).1.into_iter().fold(0.0, f32::max));
            boxes += 1;
            changed.push(index as u32);
        }
        // Children stand behind their parents, so the largest index is always ready.
        let mut last = None;
        while let Some(index) = changed.pop().filter(|&index| index != 0) {
            if last.replace(index) == Some(index) {
                continue;
            }
            let parent = links.parent_of[index as usize];
            let bounds = self.nodes[index as usize].bounds();
            let node = &mut self.nodes[parent as usize];
            let Some(lane) = node.child.iter().position(|&child| child == Child(index)) else { continue };
            let before = node.lane(lane);
            node.set_box(lane, bounds);
            boxes += 1;
            if node.lane(lane) != before {
                changed.push(parent);
            }
        }
        let root = self.nodes[0].bounds();
        self.bounds = root.corners();
        self.frame.reach = self.frame.reach.max(root.reach());
        #[cfg(debug_assertions)]
        self.assert_sound(mesh);
        Update { boxes, rebuilt: false }
    }

    fn rebuild(&mut self, mesh: &Mesh) -> Update {
        *self =
            WideTree::build_with(mesh, &BuildOptions { leaf_most: self.leaf_most, ..BuildOptions::DEFAULT });
        Update { boxes: self.boxes(), rebuilt: true }
    }

    /// How many boxes the tree holds.
    pub fn boxes(&self) -> u64 {
        // Every node but the root stands in one lane; every leaf in another.
        (self.nodes.len() - 1 + self.order.len().div_ceil(self.leaf_most)) as u64
    }

    /// Computes the figures that belong to the whole tree.
    pub(super) fn measure(&mut self) {
        let (upper, bottom) = self.nodes.split_at(self.upper);
        let root = self.nodes[0].bounds();
        let sum = |nodes| parallel::reduce_chunks(nodes, CHUNK, Extent::of, Extent::with);
        let (leaves, inner) = parallel::join_if(bottom.len() > CHUNK, || sum(bottom), || sum(upper));
        let area = leaves.area + inner.area;
        self.widest = 2.0 * leaves.widest;
        self.frame.reach = root.reach();
        self.bounds = root.corners();
        let whole = f64::from(root.half_area());
        self.cost = if whole > 0.0 { area / whole } else { 0.0 };
    }
}

/// How large the child boxes of some nodes are.
struct Extent {
    /// The largest half extent.
    widest: f32,
    /// Half the area of all of them.
    area: f64,
}

impl Extent {
    fn of(nodes: &[Node]) -> Extent {
        let mut widest = [0.0; WIDTH];
        let mut area = [0.0; WIDTH];
        for [x, y, z] in nodes.iter().map(|node| &node.half) {
            for lane in 0..WIDTH {
                // An unused lane has no extent.
                let [x, y, z] = [x, y, z].map(|half| larger(half[lane], 0.0));
                widest[lane] = larger(larger(widest[lane], x), larger(y, z));
                area[lane] += f64::from(4.0 * (x * y + y * z + z * x));
            }
        }
        Extent { widest: widest.into_iter().fold(0.0, larger), area: area.into_iter().sum() }
    }

    fn with(self, other: Extent) -> Extent {
        Extent { widest: larger(self.widest, other.widest), area: self.area + other.area }
    }
}

/// The larger of two numbers, of which none is a NaN.
#[inline]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// Fits one leaf's box and returns how far it reaches.
fn fit_leaf(node: &mut Node, lane: usize, order: &[u32], states: &[&Mesh], frame: &TreeFrame) -> f32 {
    let slots = node.child[lane].slots();
    if slots.is_empty() {
        return 0.0;
    }
    let swept = order[slots].iter().flat_map(|&t| states.iter().map(move |mesh| (mesh, t)));
    let bounds = swept.fold(Bounds::EMPTY, |all, (mesh, t)| all.union(triangle_bounds(mesh, t, frame)));
    node.set_box(lane, bounds);
    bounds.reach()
}
