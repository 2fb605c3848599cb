//! The R*-tree (Beckmann, Kriegel, Schneider and Seeger, "The R*-tree: an efficient and robust access method for
//! points and rectangles", 1990): choice of a subtree by overlap, forced reinsertion, split by margin and overlap.
//!
//! It is written over a [`Bound`], so that boxes that stand and boxes that move share it (`moving_tree`). Nodes are in one
//! array; entries are numbers of nodes, or of items in leaves.

mod split;

use split::split;

/// Most entries of a node.
const MOST: usize = 16;

/// Fewest entries of a node, 40 %, but for the root.
const LEAST: usize = 6;

/// Entries that are put in again when a node overflows, 30 %.
const REINSERTED: usize = 5;

pub(super) const NONE: u32 = u32::MAX;

/// What the tree needs to know of a box.
pub(super) trait Bound: Copy + std::fmt::Debug {
    /// Holds nothing.
    const EMPTY: Self;

    /// How many keys a split sorts by.
    const KEYS: usize;

    /// The smallest box around two.
    fn merge(&self, other: &Self) -> Self;

    /// Its volume, or what stands for it; where boxes are flat, more than zero all the same.
    fn volume(&self) -> f64;

    /// The sum of its sides.
    fn margin(&self) -> f64;

    /// The volume that two share.
    fn overlap(&self, other: &Self) -> f64;

    /// The squared distance of the centres.
    fn centre_distance_sq(&self, other: &Self) -> f64;

    /// The k-th key: a lower or an upper end.
    fn key(&self, k: usize) -> f64;

    /// Whether another box lies within.
    fn holds(&self, other: &Self) -> bool;
}

/// A node: its box, its parent, and what it holds.
#[derive(Debug, Clone)]
pub(super) struct Node<B> {
    pub bound: B,
    pub parent: u32,
    /// 0 for leaves.
    pub level: u32,
    pub entries: Vec<u32>,
}

/// An R*-tree over numbered items.
#[derive(Debug, Clone)]
pub(super) struct RStarTree<B> {
    pub nodes: Vec<Node<B>>,
    pub root: u32,
    /// The box of each item and the leaf that holds it.
    pub items: Vec<B>,
    leaf_of: Vec<u32>,
    free: Vec<u32>,
    /// Entries that wait to be put in, with the level of the node that shall hold them.
    waiting: Vec<(u32, u32)>,
    /// Boxes compared, and entries put in place, since the start.
    pub tests: u64,
    pub updates: u64,
}

impl<B: Bound> Default for RStarTree<B> {
    fn default() -> RStarTree<B> {
        RStarTree {
            nodes: Vec::new(),
            root: NONE,
            items: Vec::new(),
            leaf_of: Vec::new(),
            free: Vec::new(),
            waiting: Vec::new(),
            tests: 0,
            updates: 0,
        }
    }
}

impl<B: Bound> RStarTree<B> {
    /// Puts an item in; a number that has one loses it first.
    pub fn insert(&mut self, item: u32, bound: B) {
        self.remove(item);
        let index = item as usize;
        if index >= self.items.len() {
            self.items.resize(index + 1, B::EMPTY);
            self.leaf_of.resize(index + 1, NONE);
        }
        self.items[index] = bound;
        self.waiting.push((item, 0));
        self.place();
    }

    /// Takes an item out; nothing happens where there is none.
    pub fn remove(&mut self, item: u32) {
        let Some(&leaf) = self.leaf_of.get(item as usize).filter(|&&leaf| leaf != NONE) else { return };
        self.leaf_of[item as usize] = NONE;
        self.nodes[leaf as usize].entries.retain(|&entry| entry != item);
        self.condense(leaf);
        self.place();
    }

    /// Gives items their new boxes: those that have left the box of their leaf are put in anew, then all boxes are
    /// fitted.
    pub fn update(&mut self, bounds: impl Fn(u32) -> B) {
        let mut left = Vec::new();
        for item in 0..self.items.len() as u32 {
            let leaf = self.leaf_of[item as usize];
            if leaf == NONE {
                continue;
            }
            self.items[item as usize] = bounds(item);
            self.tests += 1;
            if !self.nodes[leaf as usize].bound.holds(&self.items[item as usize]) {
                left.push(item);
            }
        }
        for &item in &left {
            let leaf = self.leaf_of[item as usize];
            self.leaf_of[item as usize] = NONE;
            self.nodes[leaf as usize].entries.retain(|&entry| entry != item);
        }
        self.fit_all();
        let small: Vec<u32> = (0..self.nodes.len() as u32)
            .filter(|&n| {
                let node = &self.nodes[n as usize];
                node.level == 0 && node.parent != NONE && node.entries.len() < LEAST
            })
            .collect();
        for leaf in small {
            let node = &self.nodes[leaf as usize];
            // Another leaf's condensation may have emptied or freed it.
            if node.parent != NONE && node.entries.len() < LEAST {
                self.condense(leaf);
            }
        }
        self.waiting.extend(left.into_iter().map(|item| (item, 0)));
        self.place();
    }

    /// Fits every box, the deepest nodes first.
    fn fit_all(&mut self) {
        let mut order: Vec<u32> = Vec::with_capacity(self.nodes.len());
        order.extend((self.root != NONE).then_some(self.root));
        let mut at = 0;
        while at < order.len() {
            let node = &self.nodes[order[at] as usize];
            if node.level > 0 {
                order.extend_from_slice(&node.entries);
            }
            at += 1;
        }
        order.into_iter().rev().for_each(|node| self.fit(node));
    }

    fn fit(&mut self, node: u32) {
        let Node { level, entries, .. } = &self.nodes[node as usize];
        let bound = entries.iter().fold(B::EMPTY, |all, &entry| all.merge(self.bound(entry, *level)));
        self.nodes[node as usize].bound = bound;
    }

    /// The box of an entry of a node of this level.
    #[inline]
    fn bound(&self, entry: u32, level: u32) -> &B {
        if level == 0 { &self.items[entry as usize] } else { &self.nodes[entry as usize].bound }
    }

    /// Removes nodes with too few entries from here up, whose entries wait to be put in again; fits the boxes.
    fn condense(&mut self, from: u32) {
        let mut at = from;
        loop {
            let Node { parent, level, .. } = self.nodes[at as usize];
            if parent == NONE {
                break;
            }
            if self.nodes[at as usize].entries.len() < LEAST {
                let entries = std::mem::take(&mut self.nodes[at as usize].entries);
                for &entry in &entries {
                    self.set_parent(entry, level, NONE);
                }
                self.waiting.extend(entries.into_iter().map(|entry| (entry, level)));
                self.nodes[parent as usize].entries.retain(|&entry| entry != at);
                self.nodes[at as usize].parent = NONE;
                self.free.push(at);
            } else {
                self.fit(at);
            }
            at = parent;
        }
        self.fit(at);
        self.shrink_root();
    }

    /// A root with one child gives way to it; one with none goes.
    fn shrink_root(&mut self) {
        while self.root != NONE {
            let Node { level, entries, .. } = &self.nodes[self.root as usize];
            let old = self.root;
            match entries[..] {
                [] if self.waiting.is_empty() => self.root = NONE,
                [only] if *level > 0 => self.root = only,
                _ => return,
            }
            if self.root != NONE {
                self.nodes[self.root as usize].parent = NONE;
            }
            self.nodes[old as usize].entries.clear();
            self.free.push(old);
        }
    }

    /// Puts all waiting entries in; on each level one overflow reinserts, others split.
    fn place(&mut self) {
        let mut reinserted = 0_u64;
        // Whole subtrees first, so that the tree is high enough for them.
        self.waiting.sort_by_key(|&(_, level)| level);
        while let Some((entry, level)) = self.waiting.pop() {
            if self.root == NONE {
                self.root = self.new_node(0);
            }
            let is_low = self.nodes[self.root as usize].level < level;
            if is_low || level > 0 && self.nodes[entry as usize].entries.len() < LEAST {
                // The tree has become lower than a subtree that waits, or items have left it: its parts wait instead.
                let parts = std::mem::take(&mut self.nodes[entry as usize].entries);
                self.free.push(entry);
                self.waiting.extend(parts.into_iter().map(|part| (part, level - 1)));
                continue;
            }
            self.updates += 1;
            let bound = *self.bound(entry, level);
            let node = self.choose(&bound, level);
            self.nodes[node as usize].entries.push(entry);
            self.set_parent(entry, level, node);
            let mut up = node;
            while up != NONE {
                let Node { bound: old, parent, .. } = &mut self.nodes[up as usize];
                *old = old.merge(&bound);
                up = *parent;
            }
            self.treat_overflow(node, &mut reinserted);
        }
    }

    fn set_parent(&mut self, entry: u32, level: u32, node: u32) {
        if level == 0 {
            self.leaf_of[entry as usize] = node;
        } else {
            self.nodes[entry as usize].parent = node;
        }
    }

    fn new_node(&mut self, level: u32) -> u32 {
        let node = Node { bound: B::EMPTY, parent: NONE, level, entries: Vec::with_capacity(MOST + 1) };
        if let Some(free) = self.free.pop() {
            self.nodes[free as usize] = node;
            return free;
        }
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    /// The node of a level that a box belongs to: above leaves by the overlap that it adds, higher by the volume.
    fn choose(&mut self, bound: &B, level: u32) -> u32 {
        let mut at = self.root;
        while self.nodes[at as usize].level > level {
            let node = &self.nodes[at as usize];
            let child = |i: usize| &self.nodes[node.entries[i] as usize].bound;
            let count = node.entries.len();
            self.tests += count as u64;
            let growth = |i: usize| child(i).merge(bound).volume() - child(i).volume();
            let cost = |i: usize| {
                if node.level > 1 {
                    return [growth(i), child(i).volume(), 0.0];
                }
                let grown = child(i).merge(bound);
                let others = (0..count).filter(|&j| j != i);
                let added = others.map(|j| grown.overlap(child(j)) - child(i).overlap(child(j))).sum::<f64>();
                [added, growth(i), child(i).volume()]
            };
            let mut best = (cost(0), 0);
            for i in 1..count {
                let this = cost(i);
                if this < best.0 {
                    best = (this, i);
                }
            }
            at = node.entries[best.1];
        }
        at
    }

    /// Reinserts or splits from a node up, as long as nodes have too many entries.
    fn treat_overflow(&mut self, from: u32, reinserted: &mut u64) {
        let mut at = from;
        while at != NONE && self.nodes[at as usize].entries.len() > MOST {
            let Node { level, parent, .. } = self.nodes[at as usize];
            if parent != NONE && *reinserted >> level & 1 == 0 {
                *reinserted |= 1 << level;
                self.reinsert(at);
                return;
            }
            let entries = std::mem::take(&mut self.nodes[at as usize].entries);
            let (mine, others) = split(entries, LEAST, |entry| *self.bound(entry, level));
            let other = self.new_node(level);
            for &entry in &others {
                self.set_parent(entry, level, other);
            }
            self.nodes[at as usize].entries = mine;
            self.nodes[other as usize].entries = others;
            self.fit(at);
            self.fit(other);
            if parent == NONE {
                let root = self.new_node(level + 1);
                self.nodes[root as usize].entries.extend([at, other]);
                self.nodes[at as usize].parent = root;
                self.nodes[other as usize].parent = root;
                self.root = root;
                self.fit(root);
                return;
            }
            self.nodes[parent as usize].entries.push(other);
            self.nodes[other as usize].parent = parent;
            at = parent;
        }
    }

    /// Takes the entries farthest from the centre out; the nearest of them comes back first.
    fn reinsert(&mut self, node: u32) {
        let Node { bound, level, .. } = self.nodes[node as usize];
        let mut entries = std::mem::take(&mut self.nodes[node as usize].entries);
        let away = |entry: u32| self.bound(entry, level).centre_distance_sq(&bound);
        entries.sort_by(|&a, &b| away(a).total_cmp(&away(b)).then(a.cmp(&b)));
        let far = entries.split_off(entries.len() - REINSERTED);
        self.nodes[node as usize].entries = entries;
        for &entry in &far {
            self.set_parent(entry, level, NONE);
        }
        // The last is taken first.
        self.waiting.extend(far.into_iter().rev().map(|entry| (entry, level)));
        let mut up = node;
        while up != NONE {
            self.fit(up);
            up = self.nodes[up as usize].parent;
        }
    }

    /// Whether levels, parents, boxes and numbers of entries are as they must be, and every item is in one leaf.
    pub fn is_valid(&self) -> bool {
        let present = self.leaf_of.iter().filter(|&&leaf| leaf != NONE).count();
        if self.root == NONE {
            return present == 0;
        }
        let (mut stack, mut items) = (vec![self.root], 0);
        while let Some(at) = stack.pop() {
            let Node { bound, level, entries, .. } = &self.nodes[at as usize];
            let fewest = if at == self.root { 1 } else { LEAST };
            if !(fewest..=MOST).contains(&entries.len()) {
                return false;
            }
            for &entry in entries {
                let parent = if *level == 0 {
                    self.leaf_of[entry as usize]
                } else {
                    self.nodes[entry as usize].parent
                };
                let below = *level == 0 || self.nodes[entry as usize].level + 1 == *level;
                if parent != at || !below || !bound.holds(self.bound(entry, *level)) {
                    return false;
                }
            }
            match level {
                0 => items += entries.len(),
                _ => stack.extend_from_slice(entries),
            }
        }
        items == present
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let entries =
            self.nodes.iter().map(|n| n.entries.capacity() * size_of::<u32>()).sum::<usize>() as u64;
        super::bytes_of(&self.nodes) + super::bytes_of(&self.items) + super::bytes_of(&self.leaf_of) + entries
    }
}
