//! Building by the surface-area heuristic (Goldsmith and Salmon 1987; MacDonald and Booth 1990): large sets are
//! binned (Wald, *On fast construction of SAH-based bounding volume hierarchies*, 2007), in small ones every border
//! is tried. Then the binary tree is collapsed to eight children a node, so that the heuristic is least for all nodes
//! together (Ylitie, Karras and Laine, *Efficient incoherent ray traversal on GPUs through compressed wide BVHs*, 2017).
//!
//! A leaf costs one step however many of its eight lanes are used, so borders are judged by steps, not triangles.
//! Every subtree stands in one piece with links relative to itself: threads change nothing.

use glam::{DVec3, Vec4};
use smallvec::SmallVec;

use super::super::wide::TreeFrame;
use super::tree_ray::PlacedFrame;
use super::{Block, BoxTree, Link, Node, Piece, RayTree};
use crate::bound::Aabb;
use crate::budget::hand_over::checkpoint;
use crate::num::parallel;
use crate::num::tolerance::WITHIN_THE_LAST_BIN;
use crate::simd::ray_lanes::LANES;
use crate::simd::{in_large_pages, release};
use crate::{Mesh, Pose};

/// Bins along an axis.
const BINS: usize = 32;

/// Sets up to this size are sorted and every border is tried.
const SORTED_MOST: usize = 48;

/// Sets from this size on are divided by two threads.
const PARALLEL_FROM: usize = 4096;

/// What a leaf costs where its box is met (steps of a node).
const LEAF_STEPS: f32 = 1.0;

/// Items between two checkpoints where they are put in order.
const STRIDE: usize = 64;

/// Below this depth sets are halved, so that no input makes the tree deep.
const HALVED_FROM: usize = 40;

/// No tree is deeper: a set of fewer than 2³² items is halved 32 times at most.
pub(super) const DEEPEST: usize = HALVED_FROM + 32;

/// A box in tree units, rounded outward, and what it is of.
#[derive(Debug, Clone, Copy)]
struct Item {
    bounds: Bounds,
    name: u32,
}

impl Item {
    fn around(frame: &TreeFrame, points: impl Iterator<Item = DVec3>, name: u32) -> Item {
        let points = points.map(|p| frame.inward(p).as_vec3().extend(0.0));
        let Bounds { low, high } = points.fold(Bounds::EMPTY, Bounds::with);
        let (low, high) = (low.truncate().map(f32::next_down), high.truncate().map(f32::next_up));
        Item { bounds: Bounds { low: low.extend(0.0), high: high.extend(0.0) }, name }
    }

    /// Twice the centre.
    #[inline]
    fn middle(&self) -> Vec4 {
        self.bounds.low + self.bounds.high
    }
}

/// A box; the fourth components are 0.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    low: Vec4,
    high: Vec4,
}

impl Bounds {
    const EMPTY: Bounds = Bounds { low: Vec4::INFINITY, high: Vec4::NEG_INFINITY };

    #[inline]
    fn union(self, other: Bounds) -> Bounds {
        Bounds { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    #[inline]
    fn with(self, p: Vec4) -> Bounds {
        Bounds { low: self.low.min(p), high: self.high.max(p) }
    }

    /// Half its surface.
    #[inline]
    fn area(&self) -> f32 {
        let d = self.high - self.low;
        d.x * d.y + d.y * d.z + d.z * d.x
    }
}

/// A node of the binary tree over `count` items. Its left child stands next, its right one `right` places on; 0 in a
/// leaf.
#[derive(Debug, Clone, Copy)]
struct Binary {
    bounds: Bounds,
    right: u32,
    count: u32,
}

impl RayTree {
    /// Builds the tree.
    pub fn new(mesh: &Mesh) -> RayTree {
        let corners = mesh.triangles().as_flattened().iter().map(|&v| mesh.vertices()[v as usize]);
        let frame = frame_around(corners);
        let mut items: Vec<Item> = parallel::map(mesh.triangles().len(), |t| {
            Item::around(&frame, mesh.corners(t as u32).into_iter(), t as u32)
        });
        let mut pieces = Vec::new();
        let nodes = nodes_over(&mut items, LANES, &mut |items| {
            let leaf = pieces.len();
            add_block(mesh, &frame, items, &mut pieces);
            Link::leaf(leaf)
        });
        release(items);
        RayTree { nodes: in_large_pages(nodes), pieces: in_large_pages(pieces), frame }
    }
}

impl BoxTree {
    /// Builds the tree over boxes, which must be finite; each is named by a number below 2³¹.
    pub fn new(boxes: &[(u32, Aabb)]) -> BoxTree {
        let frame = frame_around(boxes.iter().flat_map(|(_, b)| [b.low, b.high]));
        let mut items: Vec<Item> =
            boxes.iter().map(|(name, b)| Item::around(&frame, [b.low, b.high].into_iter(), *name)).collect();
        let nodes = nodes_over(&mut items, 1, &mut |items| Link::leaf(items[0].name as usize));
        BoxTree { nodes, frame, placed: PlacedFrame::new(&frame, &Pose::IDENTITY) }
    }
}

fn frame_around(points: impl Iterator<Item = DVec3>) -> TreeFrame {
    let (low, high) = parallel::in_turn(points)
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
    if low.cmple(high).all() {
        TreeFrame::around(low, high)
    } else {
        TreeFrame::around(DVec3::ZERO, DVec3::ONE)
    }
}

/// The nodes over some items, at most `most` in a leaf, for which `leaf` makes the link.
fn nodes_over(items: &mut [Item], most: usize, leaf: &mut dyn FnMut(&[Item]) -> Link) -> Vec<Node> {
    if items.is_empty() {
        return vec![Node::EMPTY];
    }
    let binary = divide(items, most, 0);
    let mut collapse = Collapse { binary: &binary, costs: costs(&binary), nodes: Vec::new(), leaf };
    collapse.node(Part { at: 0, items });
    let Collapse { nodes, costs, .. } = collapse;
    release(costs);
    release(binary);
    nodes
}

/// The binary tree over the items, which it orders as it goes down.
fn divide(items: &mut [Item], most: usize, depth: usize) -> Vec<Binary> {
    let mut tree = Vec::with_capacity(items.len() / 2);
    if items.len() < PARALLEL_FROM {
        divide_into(items, most, depth, &mut tree);
        return tree;
    }
    let count = items.len() as u32;
    let border = border(items, depth);
    let (left, right) = items.split_at_mut(border);
    let (left, right) =
        parallel::join_if(true, || divide(left, most, depth + 1), || divide(right, most, depth + 1));
    let bounds = left[0].bounds.union(right[0].bounds);
    tree.push(Binary { bounds, right: 1 + left.len() as u32, count });
    tree.extend(left);
    tree.extend(right);
    tree
}

fn divide_into(items: &mut [Item], most: usize, depth: usize, tree: &mut Vec<Binary>) {
    checkpoint();
    let at = tree.len();
    let bounds = items.iter().fold(Bounds::EMPTY, |all, item| all.union(item.bounds));
    tree.push(Binary { bounds, right: 0, count: items.len() as u32 });
    if items.len() <= most {
        return;
    }
    let border = border(items, depth);
    let (left, right) = items.split_at_mut(border);
    divide_into(left, most, depth + 1, tree);
    tree[at].right = (tree.len() - at) as u32;
    divide_into(right, most, depth + 1, tree);
}

/// Divides the items in two and tells where.
fn border(items: &mut [Item], depth: usize) -> usize {
    let found = match items.len() {
        _ if depth >= HALVED_FROM => None,
        0..=SORTED_MOST => Some(sorted_border(items)),
        _ => binned_border(items),
    };
    found.unwrap_or_else(|| halved(items))
}

/// Steps that a set of triangles costs when its box is met.
#[inline]
fn steps(count: usize) -> f32 {
    count.div_ceil(LANES) as f32
}

/// The best border between bins; `None` where all centres fall into one.
fn binned_border(items: &mut [Item]) -> Option<usize> {
    let centres = parallel::in_turn(&*items).fold(Bounds::EMPTY, |all, item| all.with(item.middle()));
    let extent = centres.high - centres.low;
    let scale = Vec4::splat(BINS as f32 * WITHIN_THE_LAST_BIN) / extent.max(Vec4::splat(f32::MIN_POSITIVE));
    let bin = |item: &Item| {
        ((item.middle() - centres.low) * scale).as_uvec4().min(glam::UVec4::splat(BINS as u32 - 1))
    };
    let mut bins = [[(Bounds::EMPTY, 0_usize); BINS]; 3];
    for item in parallel::in_turn(&*items) {
        let at = bin(item);
        for axis in 0..3 {
            let (bounds, count) = &mut bins[axis][at[axis] as usize];
            *bounds = bounds.union(item.bounds);
            *count += 1;
        }
    }
    let mut best = (f32::INFINITY, 0, 0);
    for (axis, bins) in bins.iter().enumerate().filter(|(axis, _)| extent[*axis] > 0.0) {
        let mut above = [0.0; BINS];
        let (mut all, mut count) = (Bounds::EMPTY, 0);
        for (at, (bounds, more)) in bins.iter().enumerate().rev() {
            (all, count) = (all.union(*bounds), count + more);
            above[at] = if count == 0 { 0.0 } else { all.area() * steps(count) };
        }
        let (mut all, mut count) = (Bounds::EMPTY, 0);
        for (at, (bounds, more)) in bins[..BINS - 1].iter().enumerate() {
            (all, count) = (all.union(*bounds), count + more);
            if count > 0 && count < items.len() {
                let cost = all.area() * steps(count) + above[at + 1];
                if cost < best.0 {
                    best = (cost, axis, at as u32);
                }
            }
        }
    }
    let (cost, axis, last) = best;
    if cost == f32::INFINITY {
        return None;
    }
    Some(partition(items, |item| bin(item)[axis] <= last))
}

/// The best of all borders along the three axes, where it costs no more to be filled up.
fn sorted_border(items: &mut [Item]) -> usize {
    let mut best = (f32::INFINITY, 0, items.len() / 2);
    for axis in 0..3 {
        sort(items, axis);
        let mut above = [0.0; SORTED_MOST + 1];
        let mut all = Bounds::EMPTY;
        for at in (1..items.len()).rev() {
            all = all.union(items[at].bounds);
            above[at] = all.area() * steps(items.len() - at);
        }
        let mut all = Bounds::EMPTY;
        for at in 1..items.len() {
            all = all.union(items[at - 1].bounds);
            let cost = all.area() * steps(at) + above[at];
            if cost < best.0 {
                best = (cost, axis, at);
            }
        }
    }
    let (_, axis, border) = best;
    if axis != 2 {
        sort(items, axis);
    }
    border
}

fn sort(items: &mut [Item], axis: usize) {
    items.sort_unstable_by(|a, b| a.middle()[axis].total_cmp(&b.middle()[axis]).then(a.name.cmp(&b.name)));
}

/// Half of the items on either side, along the longest axis of their centres.
fn halved(items: &mut [Item]) -> usize {
    let centres = items.iter().fold(Bounds::EMPTY, |all, item| all.with(item.middle()));
    let axis = (centres.high - centres.low).truncate().max_position();
    let middle = items.len() / 2;
    items.select_nth_unstable_by(middle, |a, b| {
        a.middle()[axis].total_cmp(&b.middle()[axis]).then(a.name.cmp(&b.name))
    });
    middle
}

/// Puts the items that belong to the left first and counts them.
fn partition(items: &mut [Item], is_left: impl Fn(&Item) -> bool) -> usize {
    let (mut low, mut high) = (0, items.len());
    loop {
        while low < high && is_left(&items[low]) {
            low += 1;
        }
        while low < high && !is_left(&items[high - 1]) {
            high -= 1;
        }
        if low >= high {
            return low;
        }
        if low.is_multiple_of(STRIDE) {
            checkpoint();
        }
        items.swap(low, high - 1);
    }
}

/// A part of the binary tree: its place and its items.
#[derive(Debug, Clone, Copy)]
struct Part<'i> {
    at: usize,
    items: &'i [Item],
}

/// For each count of lanes, from one on, what a part of the binary tree costs below a node that gives it so many.
type Costs = [f32; LANES];

/// Costs of all parts. In one lane stands a leaf, or a node over the part, which costs a step where its box is met; more
/// lanes are dealt out to the two halves, or left empty where that is no better.
fn costs(binary: &[Binary]) -> Vec<Costs> {
    let mut costs = vec![[0.0; LANES]; binary.len()];
    // Children stand behind their parents.
    for (at, part) in parallel::in_turn(binary.iter().enumerate().rev()) {
        let area = part.bounds.area();
        if part.right == 0 {
            costs[at] = [area * LEAF_STEPS; LANES];
            continue;
        }
        let halves = [&costs[at + 1], &costs[at + part.right as usize]];
        let mut own = [0.0; LANES];
        own[0] = area + dealt(halves, LANES).0;
        for lanes in 2..=LANES {
            own[lanes - 1] = dealt(halves, lanes).0.min(own[lanes - 2]);
        }
        costs[at] = own;
    }
    costs
}

/// The least cost of two halves in so many lanes, and how many of these the left one takes.
fn dealt([left, right]: [&Costs; 2], lanes: usize) -> (f32, usize) {
    let deals = (1..lanes).map(|k| (left[k - 1] + right[lanes - k - 1], k));
    deals.fold((f32::INFINITY, 1), |best, deal| if deal.0 < best.0 { deal } else { best })
}

struct Collapse<'b> {
    binary: &'b [Binary],
    costs: Vec<Costs>,
    nodes: Vec<Node>,
    leaf: &'b mut dyn FnMut(&[Item]) -> Link,
}

impl Collapse<'_> {
    /// Appends a node over a part and everything below it.
    fn node(&mut self, part: Part<'_>) -> Link {
        checkpoint();
        let mut parts = SmallVec::new();
        self.deal(part, LANES, &mut parts);
        let index = self.nodes.len();
        self.nodes.push(Node::EMPTY);
        for (lane, part) in parts.into_iter().enumerate() {
            let Binary { bounds, right, .. } = self.binary[part.at];
            let child = if right == 0 { (self.leaf)(part.items) } else { self.node(part) };
            let node = &mut self.nodes[index];
            for axis in 0..3 {
                node.planes[axis][0][lane] = bounds.low[axis];
                node.planes[axis][1][lane] = bounds.high[axis];
            }
            node.child[lane] = child;
        }
        Link::node(index)
    }

    /// What stands in the lanes that a part is given, when it is to be opened.
    fn deal<'i>(&self, part: Part<'i>, lanes: usize, parts: &mut SmallVec<[Part<'i>; LANES]>) {
        let Binary { right, .. } = self.binary[part.at];
        if right == 0 {
            parts.push(part);
            return;
        }
        let [left, right] = self.children(part);
        let halves = [&self.costs[left.at], &self.costs[right.at]];
        let (_, taken) = dealt(halves, lanes);
        for (half, lanes) in [(left, taken), (right, lanes - taken)] {
            let costs = &self.costs[half.at];
            // As few lanes as cost no more.
            match (1..=lanes).find(|&fewer| costs[fewer - 1] <= costs[lanes - 1]) {
                Some(1) | None => parts.push(half),
                Some(fewer) => self.deal(half, fewer, parts),
            }
        }
    }

    fn children<'i>(&self, part: Part<'i>) -> [Part<'i>; 2] {
        let right = part.at + self.binary[part.at].right as usize;
        let (left_items, right_items) = part.items.split_at(self.binary[part.at + 1].count as usize);
        [Part { at: part.at + 1, items: left_items }, Part { at: right, items: right_items }]
    }
}

/// Appends a block and its vertices.
fn add_block(mesh: &Mesh, frame: &TreeFrame, items: &[Item], pieces: &mut Vec<Piece>) {
    let mut block =
        Block { corners: [[[f32::NAN; LANES]; 3]; 3], triangles: [0; LANES], vertices: [[0; 4]; LANES] };
    let mut vertices: SmallVec<[u32; 3 * LANES]> = SmallVec::new();
    for (lane, item) in items.iter().enumerate() {
        block.triangles[lane] = item.name;
        for (corner, &v) in mesh.triangles()[item.name as usize].iter().enumerate() {
            let at = vertices.iter().position(|&known| known == v).unwrap_or(vertices.len());
            if at == vertices.len() {
                vertices.push(v);
            }
            block.vertices[lane][corner] = at as u8;
            let p = frame.inward(mesh.vertices()[v as usize]).as_vec3();
            for axis in 0..3 {
                block.corners[corner][axis][lane] = p[axis];
            }
        }
    }
    let piece = |bytes: &[u8]| bytemuck::pod_read_unaligned::<Piece>(bytes);
    pieces.extend(bytemuck::bytes_of(&block).chunks_exact(size_of::<Piece>()).map(piece));
    let mut numbers: SmallVec<[f64; 96]> =
        vertices.iter().flat_map(|&v| mesh.vertices()[v as usize].to_array()).collect();
    let per_piece = size_of::<Piece>() / size_of::<f64>();
    numbers.resize(numbers.len().next_multiple_of(per_piece), 0.0);
    pieces.extend(bytemuck::cast_slice(&numbers[..]).chunks_exact(size_of::<Piece>()).map(piece));
}

impl Node {
    const EMPTY: Node = Node {
        planes: [[[f32::INFINITY; LANES], [f32::NEG_INFINITY; LANES]]; 3],
        child: [Link::NONE; LANES],
    };
}
