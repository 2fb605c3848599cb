//! Building the tree: a binary tree by the surface-area heuristic, collapsed to eight children a node.
//!
//! Wald, "On fast construction of SAH-based bounding volume hierarchies", 2007 (binning); Dammertz,
//! Hanika and Keller, "Shallow bounding volume hierarchies", 2008 (collapsing by surface area). We
//! leave them in one point: every split lies at a multiple of the number of triangles of a bottom
//! node, so all bottom nodes but one are full, the memory is known beforehand, and each subtree
//! knows its place in the arrays before it is built. Threads therefore change nothing in the result.

use glam::Vec4;

use super::{Bounds, Child, Frame, LEAF_MOST, Node, WIDTH, WideTree, mesh_bounds, triangle_bounds};
use crate::Mesh;
use crate::num::parallel;

/// How the triangles are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Least surface area, found by binning: the fast queries.
    SurfaceArea,
    /// Halves along the longest axis: the fast build.
    Median,
}

/// Choices of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildOptions {
    /// How the triangles are grouped.
    pub strategy: Strategy,
    /// Triangles in a leaf, 1 to [`LEAF_MOST`]; other values are taken as the nearest of these.
    pub leaf_most: usize,
}

impl BuildOptions {
    /// For many queries: surface area, one triangle a leaf.
    pub const DEFAULT: BuildOptions = BuildOptions { strategy: Strategy::SurfaceArea, leaf_most: 1 };
    /// For few queries of a mesh that changes often: medians, small memory.
    pub const FAST: BuildOptions = BuildOptions { strategy: Strategy::Median, leaf_most: 4 };
}

impl Default for BuildOptions {
    fn default() -> BuildOptions {
        BuildOptions::DEFAULT
    }
}

/// Bins an axis is cut into.
const BINS: usize = 8;
/// Ranges up to this many triangles are sorted instead of binned.
const SORT_MOST: usize = 24;
/// Deeper than this the splits are medians, so that no input makes the recursion deep.
const SAH_DEPTH: usize = 48;
/// Ranges from this size on are treated by several threads.
const PARALLEL_FROM: usize = 4096;
/// Triangles a thread takes at a time in a loop over all of them.
const CHUNK: usize = 8192;

/// A triangle on its way into the tree; the fourth number of `low` holds its index bit by bit.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct Item {
    low: [f32; 4],
    high: [f32; 4],
}

impl Item {
    fn new(triangle: u32, bounds: Bounds) -> Item {
        let mut low = bounds.low.to_array();
        low[3] = f32::from_bits(triangle);
        Item { low, high: bounds.high.to_array() }
    }

    #[inline]
    fn triangle(&self) -> u32 {
        self.low[3].to_bits()
    }

    #[inline]
    fn bounds(&self) -> Bounds {
        Bounds { low: Vec4::from_array(self.low), high: Vec4::from_array(self.high) }
    }

    /// Twice the centre of the box.
    #[inline]
    fn middle(&self) -> Vec4 {
        Vec4::from_array(self.low) + Vec4::from_array(self.high)
    }
}

/// A node of the binary tree, in preorder: the left child follows its parent.
#[derive(Clone, Copy)]
struct Binary {
    bounds: Bounds,
    /// The right child's distance from its parent in the array; 0 for a bucket.
    right: u32,
    first: u32,
}

/// What all stages of one build share.
struct Plan {
    strategy: Strategy,
    leaf_most: usize,
    /// Triangles of a full bottom node.
    bucket: usize,
}

impl WideTree {
    /// Builds the tree; equal meshes and options give equal trees on any number of threads.
    pub fn build_with(mesh: &Mesh, options: &BuildOptions) -> WideTree {
        let leaf_most = options.leaf_most.clamp(1, LEAF_MOST);
        let plan = Plan { strategy: options.strategy, leaf_most, bucket: WIDTH * leaf_most };
        let [low, high] = mesh_bounds(mesh);
        let frame = Frame::around(low, high);
        let mut items = items(mesh, &frame);
        let buckets = items.len().div_ceil(plan.bucket);
        let blank = Binary { bounds: Bounds::EMPTY, right: 0, first: 0 };
        let mut binary = vec![blank; 2 * buckets - 1];
        grow(&plan, &mut items, 0, &mut binary, 0);
        let tree = plan.collapse(&binary, &items, frame);
        #[cfg(debug_assertions)]
        tree.assert_sound(mesh);
        tree
    }
}

fn items(mesh: &Mesh, frame: &Frame) -> Vec<Item> {
    let mut items = vec![Item { low: [0.0; 4], high: [0.0; 4] }; mesh.triangles().len()];
    parallel::for_each_chunk(&mut items, CHUNK, |first, chunk| {
        for (k, item) in chunk.iter_mut().enumerate() {
            let triangle = (first + k) as u32;
            *item = Item::new(triangle, triangle_bounds(mesh, triangle, frame));
        }
    });
    items
}

/// Fills the binary tree over `items`, whose first slot is `first`.
fn grow(plan: &Plan, items: &mut [Item], first: usize, out: &mut [Binary], depth: usize) {
    if items.len() <= plan.bucket {
        arrange(items, plan.leaf_most);
        let bounds = items.iter().fold(Bounds::EMPTY, |all, item| all.union(item.bounds()));
        out[0] = Binary { bounds, right: 0, first: first as u32 };
        return;
    }
    let at = split(plan, items, depth);
    let count = items.len();
    let (left, right) = items.split_at_mut(at);
    let left_nodes = 2 * at.div_ceil(plan.bucket) - 1;
    let (head, tail) = out.split_at_mut(1);
    let (out_left, out_right) = tail.split_at_mut(left_nodes);
    parallel::join_if(
        count >= PARALLEL_FROM,
        || grow(plan, left, first, out_left, depth + 1),
        || grow(plan, right, first + at, out_right, depth + 1),
    );
    let bounds = out_left[0].bounds.union(out_right[0].bounds);
    head[0] = Binary { bounds, right: left_nodes as u32 + 1, first: first as u32 };
}

/// Orders a bucket so that each run of `leaf_most` items lies close together.
fn arrange(items: &mut [Item], leaf_most: usize) {
    if leaf_most == 1 || items.len() <= leaf_most {
        return;
    }
    let (low, high) = middles(items);
    let at = items.len().div_ceil(leaf_most).div_ceil(2) * leaf_most;
    if at < items.len() {
        select(items, at, (high - low).truncate().max_position());
    }
    let (left, right) = items.split_at_mut(at.min(items.len()));
    arrange(left, leaf_most);
    arrange(right, leaf_most);
}

/// Reorders the items into two parts; the first has a multiple of a bucket.
fn split(plan: &Plan, items: &mut [Item], depth: usize) -> usize {
    let (low, high) = middles(items);
    let longest = (high - low).truncate().max_position();
    if plan.strategy == Strategy::Median || depth >= SAH_DEPTH || !(high[longest] > low[longest]) {
        let at = plan.aligned(items.len() / 2, items.len());
        select(items, at, longest);
        return at;
    }
    if items.len() <= SORT_MOST * plan.leaf_most {
        sorted_split(plan, items)
    } else {
        binned_split(plan, items, low, high)
    }
}

impl Plan {
    /// The multiple of a bucket nearest to `at` that leaves something on both sides.
    fn aligned(&self, at: usize, count: usize) -> usize {
        let last = (count - 1) / self.bucket;
        ((at + self.bucket / 2) / self.bucket).clamp(1, last) * self.bucket
    }
}

/// The box of the doubled centres.
fn middles(items: &[Item]) -> (Vec4, Vec4) {
    parallel::reduce_chunks(
        items,
        4 * CHUNK,
        |chunk| {
            chunk.iter().fold((Vec4::INFINITY, Vec4::NEG_INFINITY), |(low, high), item| {
                let middle = item.middle();
                (low.min(middle), high.max(middle))
            })
        },
        |a, b| (a.0.min(b.0), a.1.max(b.1)),
    )
}

/// Puts the `at` items with the smallest centres on an axis first.
fn select(items: &mut [Item], at: usize, axis: usize) {
    items.select_nth_unstable_by(at, |a, b| {
        let key = |item: &Item| (item.low[axis] + item.high[axis], item.triangle());
        key(a).0.total_cmp(&key(b).0).then(key(a).1.cmp(&key(b).1))
    });
}

/// One bin of each axis: the boxes and how many items they hold.
#[derive(Clone, Copy)]
struct Bins {
    bounds: [[Bounds; BINS]; 3],
    count: [[u32; BINS]; 3],
}

/// Which bin of each axis a doubled centre falls into.
#[derive(Clone, Copy)]
struct Ruler {
    low: Vec4,
    scale: Vec4,
}

impl Ruler {
    fn new(low: Vec4, high: Vec4) -> Ruler {
        let extent = high - low;
        let scale = |d: f32| if d > 0.0 { (BINS - 1) as f32 / d } else { 0.0 };
        let scale = Vec4::new(scale(extent.x), scale(extent.y), scale(extent.z), 0.0);
        // A scale that overflowed belongs to an axis of no extent.
        let finite = |s: f32| if s.is_finite() { s } else { 0.0 };
        Ruler { low, scale: Vec4::new(finite(scale.x), finite(scale.y), finite(scale.z), 0.0) }
    }

    /// One number of [`Ruler::bins`], by the same operations.
    #[inline]
    fn bin(&self, item: &Item, axis: usize) -> usize {
        let middle = item.low[axis] + item.high[axis];
        let shifted = (middle - self.low[axis]) * self.scale[axis] + 8_388_608.0;
        (shifted.to_bits() as usize) & (BINS - 1)
    }

    #[inline]
    fn bins(&self, middle: Vec4) -> [usize; 3] {
        // Adding 2²³ leaves the nearest integer in the lowest bits, without a conversion.
        let shifted = (middle - self.low) * self.scale + Vec4::splat(8_388_608.0);
        let bin = |x: f32| (x.to_bits() as usize) & (BINS - 1);
        [bin(shifted.x), bin(shifted.y), bin(shifted.z)]
    }
}

fn binned_split(plan: &Plan, items: &mut [Item], low: Vec4, high: Vec4) -> usize {
    let ruler = Ruler::new(low, high);
    let bins = parallel::reduce_chunks(items, 4 * CHUNK, |chunk| fill(chunk, &ruler), merge);
    let (axis, bin) = best_plane(&bins);
    let mut at = 0;
    for k in 0..items.len() {
        if ruler.bin(&items[k], axis) <= bin {
            items.swap(at, k);
            at += 1;
        }
    }
    let wanted = plan.aligned(at, items.len());
    shift_border(items, at, wanted, axis);
    wanted
}

fn fill(items: &[Item], ruler: &Ruler) -> Bins {
    let mut bins = Bins { bounds: [[Bounds::EMPTY; BINS]; 3], count: [[0; BINS]; 3] };
    for item in items {
        let bounds = item.bounds();
        for (axis, bin) in ruler.bins(item.middle()).into_iter().enumerate() {
            let slot = &mut bins.bounds[axis][bin];
            *slot = slot.union(bounds);
            bins.count[axis][bin] += 1;
        }
    }
    bins
}

fn merge(mut a: Bins, b: Bins) -> Bins {
    for axis in 0..3 {
        for bin in 0..BINS {
            a.bounds[axis][bin] = a.bounds[axis][bin].union(b.bounds[axis][bin]);
            a.count[axis][bin] += b.count[axis][bin];
        }
    }
    a
}

/// The axis, and the last bin of the left part, with the least sum of area times count.
fn best_plane(bins: &Bins) -> (usize, usize) {
    let mut best = (f32::INFINITY, 0, 0);
    for axis in 0..3 {
        let mut right_cost = [0.0; BINS];
        let mut bounds = Bounds::EMPTY;
        let mut count = 0;
        for bin in (1..BINS).rev() {
            bounds = bounds.union(bins.bounds[axis][bin]);
            count += bins.count[axis][bin];
            right_cost[bin] = bounds.half_area() * count as f32;
        }
        bounds = Bounds::EMPTY;
        count = 0;
        for bin in 0..BINS - 1 {
            bounds = bounds.union(bins.bounds[axis][bin]);
            count += bins.count[axis][bin];
            let cost = bounds.half_area() * count as f32 + right_cost[bin + 1];
            if cost < best.0 {
                best = (cost, axis, bin);
            }
        }
    }
    (best.1, best.2)
}

/// Moves the border between two parts by the few items nearest to it: at most half a bucket.
fn shift_border(items: &mut [Item], from: usize, to: usize, axis: usize) {
    let count = from.abs_diff(to);
    let (range, sign) = if to > from { (from..items.len(), 1.0) } else { (0..from, -1.0) };
    let mut nearest = [(f32::INFINITY, usize::MAX); WIDTH * LEAF_MOST];
    let nearest = &mut nearest[..count];
    for k in range {
        let key = sign * (items[k].low[axis] + items[k].high[axis]);
        if nearest.last().is_some_and(|last| key < last.0) {
            let place = nearest.partition_point(|other| other.0 <= key);
            nearest[place..].rotate_right(1);
            nearest[place] = (key, k);
        }
    }
    // From the border outward, so that a swap never moves an item that is still to be moved.
    nearest.sort_unstable_by_key(|&(_, k)| k);
    if to > from {
        for (place, &(_, k)) in nearest.iter().enumerate() {
            items.swap(from + place, k);
        }
    } else {
        for (place, &(_, k)) in nearest.iter().rev().enumerate() {
            items.swap(from - 1 - place, k);
        }
    }
}

/// Tries every allowed border on every axis.
fn sorted_split(plan: &Plan, items: &mut [Item]) -> usize {
    let count = items.len();
    let mut best = (f32::INFINITY, 0);
    let mut best_items: [Item; SORT_MOST * LEAF_MOST] =
        [Item { low: [0.0; 4], high: [0.0; 4] }; SORT_MOST * LEAF_MOST];
    let mut keys = [0_u64; SORT_MOST * LEAF_MOST];
    let mut best_keys = keys;
    for axis in 0..3 {
        for (k, item) in items.iter().enumerate() {
            keys[k] = u64::from(ascending(item.low[axis] + item.high[axis])) << 32 | k as u64;
        }
        keys[..count].sort_unstable();
        let mut left_cost = [0.0; SORT_MOST / WIDTH + 2];
        let mut bounds = Bounds::EMPTY;
        for (group, run) in keys[..count].chunks(plan.bucket).enumerate() {
            left_cost[group] = bounds.half_area() * (group * plan.bucket) as f32;
            bounds = run.iter().fold(bounds, |all, &key| all.union(items[key as u32 as usize].bounds()));
        }
        bounds = Bounds::EMPTY;
        for group in (1..count.div_ceil(plan.bucket)).rev() {
            let start = group * plan.bucket;
            let run = &keys[start..count.min(start + plan.bucket)];
            bounds = run.iter().fold(bounds, |all, &key| all.union(items[key as u32 as usize].bounds()));
            let cost = left_cost[group] + bounds.half_area() * (count - start) as f32;
            if cost < best.0 {
                best = (cost, start);
                best_keys = keys;
            }
        }
    }
    if best.1 == 0 {
        return plan.aligned(count / 2, count);
    }
    for (to, &key) in best_items.iter_mut().zip(&best_keys[..count]) {
        *to = items[key as u32 as usize];
    }
    items.copy_from_slice(&best_items[..count]);
    best.1
}

/// Bits that are ordered like the numbers.
#[inline]
fn ascending(x: f32) -> u32 {
    let bits = x.to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

impl Plan {
    fn collapse(&self, binary: &[Binary], items: &[Item], frame: Frame) -> WideTree {
        let mut upper = Vec::with_capacity(binary.len() / WIDTH + 1);
        if binary.len() > 1 {
            open(binary, 0, self.bucket, &mut upper);
        }
        let first_bottom = upper.len();
        for node in &mut upper {
            for child in &mut node.child {
                // Buckets were entered as leaves of no triangles; now their place is known.
                if child.is_leaf() && *child != Child::NONE {
                    *child = Child::node(first_bottom + child.bucket());
                }
            }
        }
        let mut nodes = upper;
        nodes.resize(first_bottom + items.len().div_ceil(self.bucket), Node::EMPTY);
        parallel::for_each_chunk(&mut nodes[first_bottom..], CHUNK / WIDTH, |first, chunk| {
            for (k, node) in chunk.iter_mut().enumerate() {
                let start = (first + k) * self.bucket;
                self.bottom(node, start, &items[start..items.len().min(start + self.bucket)]);
            }
        });
        let mut order = vec![0; items.len()];
        parallel::for_each_chunk(&mut order, CHUNK, |first, chunk| {
            for (to, item) in chunk.iter_mut().zip(&items[first..]) {
                *to = item.triangle();
            }
        });
        let mut tree = WideTree {
            nodes,
            order,
            upper: first_bottom,
            leaf_most: self.leaf_most,
            frame,
            widest: 0.0,
            cost: 0.0,
            cost_at_build: 0.0,
        };
        tree.measure();
        tree.cost_at_build = tree.cost;
        tree
    }

    /// Fills a bottom node; longer leaves than one triangle take neighbours along the bucket's order.
    fn bottom(&self, node: &mut Node, start: usize, items: &[Item]) {
        for (lane, run) in items.chunks(self.leaf_most).enumerate() {
            let bounds = run.iter().fold(Bounds::EMPTY, |all, item| all.union(item.bounds()));
            let first = start + lane * self.leaf_most;
            node.set_box(lane, bounds);
            node.child[lane] = Child::leaf(first..first + run.len());
        }
    }
}

/// Emits the wide node over a binary one: the child of largest area is opened until eight are there.
fn open(binary: &[Binary], at: usize, bucket: usize, out: &mut Vec<Node>) -> usize {
    let mut children = [0; WIDTH];
    children[0] = at;
    let mut used = 1;
    while used < WIDTH {
        let inner = (0..used).filter(|&k| binary[children[k]].right != 0);
        let area = |k: usize| binary[children[k]].bounds.half_area();
        let Some(widest) = inner.max_by(|&a, &b| area(a).total_cmp(&area(b))) else { break };
        let parent = children[widest];
        children[widest] = parent + 1;
        children[used] = parent + binary[parent].right as usize;
        used += 1;
    }
    let index = out.len();
    out.push(Node::EMPTY);
    for (lane, &child) in children[..used].iter().enumerate() {
        let node = &binary[child];
        let link = if node.right == 0 {
            Child::pending(node.first as usize / bucket)
        } else {
            Child::node(open(binary, child, bucket, out))
        };
        out[index].set_box(lane, node.bounds);
        out[index].child[lane] = link;
    }
    index
}

impl Child {
    /// A bucket whose place among the nodes is not known yet.
    fn pending(bucket: usize) -> Child {
        Child(Child::LEAF | 1 << Child::LENGTH_SHIFT | bucket as u32)
    }

    fn bucket(self) -> usize {
        self.slots().start
    }
}
