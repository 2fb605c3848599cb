//! The nodes of the tree: putting in, taking out, building, searching.

use crate::bound::Aabb;
use crate::num::parallel;

/// Margin on each side of a leaf's box, in sizes of the body's box along the axis.
const MARGIN: f64 = 0.1;

/// The tree is built anew when its boxes have grown by this factor.
const DECAY: f64 = 1.5;

/// Leaves from which a subtree is worth a thread.
const WORTH_A_THREAD: usize = 4096;

/// Parts that a search of all pairs is cut into.
const TASKS: usize = 256;

/// No node.
const NONE: u32 = u32::MAX;

/// A box in f32, rounded outward.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fat {
    low: [f32; 3],
    high: [f32; 3],
}

impl Fat {
    const EMPTY: Fat = Fat { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] };

    /// Without a margin.
    pub fn rounded(b: &Aabb) -> Fat {
        let down = |x: f64| if f64::from(x as f32) > x { (x as f32).next_down() } else { x as f32 };
        let up = |x: f64| if f64::from(x as f32) < x { (x as f32).next_up() } else { x as f32 };
        Fat { low: b.low.to_array().map(down), high: b.high.to_array().map(up) }
    }

    /// With a margin.
    pub fn around(b: &Aabb) -> Fat {
        // A box of half the range of doubles or more overflows to an unbounded one, which is right.
        let margin = (b.high - b.low) * MARGIN;
        Fat::rounded(&Aabb { low: b.low - margin, high: b.high + margin })
    }

    fn meets(&self, other: &Fat) -> bool {
        (0..3).fold(true, |all, k| all & (self.low[k] <= other.high[k]) & (other.low[k] <= self.high[k]))
    }

    fn holds(&self, other: &Fat) -> bool {
        (0..3).fold(true, |all, k| all & (self.low[k] <= other.low[k]) & (other.high[k] <= self.high[k]))
    }

    fn merge(&self, other: &Fat) -> Fat {
        let low = std::array::from_fn(|k| self.low[k].min(other.low[k]));
        Fat { low, high: std::array::from_fn(|k| self.high[k].max(other.high[k])) }
    }

    /// Half the surface, finite for unbounded boxes too.
    fn surface(&self) -> f64 {
        let side = |k: usize| f64::from(self.high[k]) - f64::from(self.low[k]);
        let [x, y, z] = [0, 1, 2].map(|k| side(k).min(f64::from(f32::MAX)));
        x * y + y * z + z * x
    }

    fn centre(&self, axis: usize) -> f64 {
        let end = |x: f32| f64::from(x.clamp(f32::MIN, f32::MAX));
        end(self.low[axis]) + end(self.high[axis])
    }
}

#[derive(Debug, Clone, Copy)]
struct Node {
    bounds: Fat,
    parent: u32,
    /// Two nodes, or [`NONE`] and a body's id.
    children: [u32; 2],
}

impl Node {
    fn leaf(id: u32, bounds: Fat) -> Node {
        Node { bounds, parent: NONE, children: [NONE, id] }
    }

    fn is_leaf(&self) -> bool {
        self.children[0] == NONE
    }
}

/// A binary tree of boxes.
#[derive(Debug, Clone)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    free: Vec<u32>,
    root: u32,
    /// By id; [`NONE`] for what is not in the tree.
    leaves: Vec<u32>,
    count: usize,
    /// Put in since the last build or check of the boxes' growth.
    inserted: usize,
    /// Surfaces of all inner boxes after the last build.
    built_surface: f64,
}

impl Default for Nodes {
    fn default() -> Nodes {
        Nodes {
            nodes: Vec::new(),
            free: Vec::new(),
            root: NONE,
            leaves: Vec::new(),
            count: 0,
            inserted: 0,
            built_surface: 0.0,
        }
    }
}

impl Nodes {
    /// Whether a body's leaf holds a box.
    pub fn holds(&self, id: u32, b: &Aabb) -> bool {
        self.nodes[self.leaves[id as usize] as usize].bounds.holds(&Fat::rounded(b))
    }

    /// Builds the tree of these alone.
    pub fn build(&mut self, leaves: impl Iterator<Item = (u32, Fat)>) {
        let mut items: Vec<(u32, Fat)> = leaves.collect();
        self.free.clear();
        self.leaves.fill(NONE);
        self.count = items.len();
        self.nodes.clear();
        self.root = NONE;
        if !items.is_empty() {
            self.nodes.resize(2 * items.len() - 1, Node::leaf(0, Fat::EMPTY));
            build(&mut items, &mut self.nodes, 0, NONE);
            self.root = 0;
        }
        for (at, node) in (0..).zip(&self.nodes) {
            if node.is_leaf() {
                let id = node.children[1] as usize;
                if self.leaves.len() <= id {
                    self.leaves.resize(id + 1, NONE);
                }
                self.leaves[id] = at;
            }
        }
        self.inserted = 0;
        self.built_surface = self.surface();
    }

    /// Puts a body in beside the node where the boxes grow least.
    pub fn insert(&mut self, id: u32, bounds: Fat) {
        let leaf = self.take(Node::leaf(id, bounds));
        if self.leaves.len() <= id as usize {
            self.leaves.resize(id as usize + 1, NONE);
        }
        self.leaves[id as usize] = leaf;
        (self.count, self.inserted) = (self.count + 1, self.inserted + 1);
        if self.root == NONE {
            self.root = leaf;
            return;
        }
        let sibling = self.best_sibling(&bounds, id);
        let old_parent = self.nodes[sibling as usize].parent;
        let merged = self.nodes[sibling as usize].bounds.merge(&bounds);
        let parent = self.take(Node { bounds: merged, parent: old_parent, children: [sibling, leaf] });
        self.nodes[sibling as usize].parent = parent;
        self.nodes[leaf as usize].parent = parent;
        self.replace_child(old_parent, sibling, parent);
        self.refit(old_parent);
    }

    /// Takes a body out.
    pub fn remove(&mut self, id: u32) {
        let leaf = std::mem::replace(&mut self.leaves[id as usize], NONE);
        let parent = self.nodes[leaf as usize].parent;
        self.free.push(leaf);
        self.count -= 1;
        if parent == NONE {
            self.root = NONE;
            return;
        }
        let Node { parent: above, children: [a, b], .. } = self.nodes[parent as usize];
        let sibling = if a == leaf { b } else { a };
        self.nodes[sibling as usize].parent = above;
        self.free.push(parent);
        self.replace_child(above, parent, sibling);
        self.refit(above);
    }

    /// Whether so many were put in since the last build that the boxes have grown too much.
    pub fn have_decayed(&mut self) -> bool {
        if 2 * self.inserted <= self.count {
            return false;
        }
        self.inserted = 0;
        self.surface() > DECAY * self.built_surface
    }

    /// Calls `each` with the bodies whose boxes meet one.
    pub fn for_each_near(&self, bounds: &Fat, mut each: impl FnMut(u32)) {
        let mut stack = Vec::with_capacity(64);
        stack.extend((self.root != NONE).then_some(self.root));
        while let Some(at) = stack.pop() {
            let node = &self.nodes[at as usize];
            if !node.bounds.meets(bounds) {
                continue;
            }
            match node.children {
                [NONE, id] => each(id),
                children => stack.extend(children),
            }
        }
    }

    /// Pairs of nodes that together hold every pair of bodies once; a node with itself for its inner pairs.
    pub fn tasks(&self) -> Vec<[u32; 2]> {
        let mut tasks: Vec<[u32; 2]> = (self.root != NONE).then_some([self.root; 2]).into_iter().collect();
        while tasks.len() < TASKS {
            let mut next = Vec::new();
            tasks.iter().for_each(|&task| self.split(task, &mut |part| next.push(part), &mut |_, _| ()));
            // Leaves meet no more: what `split` would have told is left to the search.
            let leaves = |task: &&[u32; 2]| task.iter().all(|&at| self.nodes[at as usize].is_leaf());
            next.extend(tasks.iter().filter(leaves));
            if next.len() <= tasks.len() {
                break;
            }
            tasks = next;
        }
        tasks
    }

    /// Calls `each` with the pairs of bodies of a task whose boxes meet.
    pub fn for_each_pair(&self, task: [u32; 2], mut each: impl FnMut(u32, u32)) {
        let mut stack = vec![task];
        let mut parts = Vec::new();
        while let Some(task) = stack.pop() {
            self.split(task, &mut |part| parts.push(part), &mut each);
            stack.append(&mut parts);
        }
    }

    /// One step down: the parts of a task, or the pair of bodies that it is.
    #[inline]
    fn split(&self, [a, b]: [u32; 2], part: &mut impl FnMut([u32; 2]), each: &mut impl FnMut(u32, u32)) {
        let [one, other] = [&self.nodes[a as usize], &self.nodes[b as usize]];
        if a == b {
            if !one.is_leaf() {
                let [left, right] = one.children;
                [[left, left], [right, right], [left, right]].into_iter().for_each(part);
            }
        } else if one.bounds.meets(&other.bounds) {
            match (one.is_leaf(), other.is_leaf()) {
                (true, true) => each(one.children[1], other.children[1]),
                (false, true) => one.children.iter().for_each(|&child| part([child, b])),
                (true, false) => other.children.iter().for_each(|&child| part([a, child])),
                (false, false) if one.bounds.surface() >= other.bounds.surface() => {
                    one.children.iter().for_each(|&child| part([child, b]));
                }
                (false, false) => other.children.iter().for_each(|&child| part([a, child])),
            }
        }
    }

    fn take(&mut self, node: Node) -> u32 {
        if let Some(at) = self.free.pop() {
            self.nodes[at as usize] = node;
            return at;
        }
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    fn best_sibling(&self, bounds: &Fat, id: u32) -> u32 {
        let mut at = self.root;
        loop {
            let node = &self.nodes[at as usize];
            if node.is_leaf() {
                return at;
            }
            let merged = node.bounds.merge(bounds).surface();
            let beside = 2.0 * merged;
            let inherited = 2.0 * (merged - node.bounds.surface());
            let below = node.children.map(|child| {
                let child = &self.nodes[child as usize];
                let grown = child.bounds.merge(bounds).surface();
                inherited + if child.is_leaf() { grown } else { grown - child.bounds.surface() }
            });
            if beside < below[0].min(below[1]) {
                return at;
            }
            // Equal boxes go either way, so that many of them make no list.
            let right =
                if below[0] == below[1] { (at ^ id).count_ones() & 1 != 0 } else { below[1] < below[0] };
            at = node.children[usize::from(right)];
        }
    }

    fn replace_child(&mut self, parent: u32, old: u32, new: u32) {
        if parent == NONE {
            self.root = new;
            return;
        }
        for child in &mut self.nodes[parent as usize].children {
            if *child == old {
                *child = new;
            }
        }
    }

    /// Fits boxes from a node up to the root, as far as they change.
    fn refit(&mut self, mut at: u32) {
        while at != NONE {
            let [a, b] = self.nodes[at as usize].children;
            let bounds = self.nodes[a as usize].bounds.merge(&self.nodes[b as usize].bounds);
            let node = &mut self.nodes[at as usize];
            if node.bounds == bounds {
                return;
            }
            node.bounds = bounds;
            at = node.parent;
        }
    }

    fn surface(&self) -> f64 {
        let mut stack: Vec<u32> = (self.root != NONE).then_some(self.root).into_iter().collect();
        let mut sum = 0.0;
        while let Some(at) = stack.pop() {
            let node = &self.nodes[at as usize];
            if !node.is_leaf() {
                sum += node.bounds.surface();
                stack.extend(node.children);
            }
        }
        sum
    }
}

/// Fills `nodes`, the first of which has the number `base`, with the tree of the items: halves along the axis
/// on which their centres are spread most.
fn build(items: &mut [(u32, Fat)], nodes: &mut [Node], base: u32, parent: u32) -> Fat {
    if let [(id, bounds)] = items {
        nodes[0] = Node { parent, ..Node::leaf(*id, *bounds) };
        return *bounds;
    }
    let spread = |axis: usize| {
        let centres = items.iter().map(|(_, b)| b.centre(axis));
        let [low, high] = centres.fold([f64::INFINITY, f64::NEG_INFINITY], |[l, h], c| [l.min(c), h.max(c)]);
        high - low
    };
    let spreads = [0, 1, 2].map(spread);
    let axis = (0..3).fold(0, |best, k| if spreads[k] > spreads[best] { k } else { best });
    let half = items.len() / 2;
    items.select_nth_unstable_by(half, |(a, x), (b, y)| {
        x.centre(axis).total_cmp(&y.centre(axis)).then(a.cmp(b))
    });
    let worth = items.len() >= WORTH_A_THREAD;
    let (left, right) = items.split_at_mut(half);
    let (left_base, right_base) = (base + 1, base + 2 * half as u32);
    let (own, below) = nodes.split_at_mut(1);
    let (left_nodes, right_nodes) = below.split_at_mut(2 * half - 1);
    let (a, b) = parallel::join_if(
        worth,
        || build(left, left_nodes, left_base, base),
        || build(right, right_nodes, right_base, base),
    );
    let bounds = a.merge(&b);
    own[0] = Node { bounds, parent, children: [left_base, right_base] };
    bounds
}
