//! Two trees at once: every pair of triangles whose boxes overlap, depth first, from a stack.
//!
//! A stack entry is a pair of nodes with the lanes that are still of interest on each side. A pair of
//! children that are both nodes becomes a new entry; a leaf against a node stays as one lane of its
//! node against the other's children, several such lanes together. The stack is the whole state, so a
//! search can stop anywhere and go on later.

use std::ops::ControlFlow;

use smallvec::SmallVec;

use super::relative::Relative;
use super::simd::{Level, overlaps};
use super::wide::{Node, WIDTH, WideTree};
use crate::{Budget, Counters, Finish};

/// Who hears of overlapping leaves.
pub trait LeafPairs {
    /// Takes slots (of tree a, of tree b) whose boxes overlap; `Break` ends the search.
    fn meet(&mut self, slots: &[[u32; 2]], work: &mut Counters) -> ControlFlow<()>;
}

/// A pair of nodes and the lanes of each to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    node: [u32; 2],
    lanes: [u8; 2],
}

/// A search through two trees that can be interrupted between any two pairs of nodes.
#[derive(Debug, Clone)]
pub struct DualSearch {
    stack: SmallVec<[Entry; 128]>,
    level: Level,
}

impl DualSearch {
    /// A search that begins at the roots.
    pub fn new() -> DualSearch {
        DualSearch::on(Level::best())
    }

    /// As [`DualSearch::new`], on a named instruction set; the results are the same.
    pub fn on(level: Level) -> DualSearch {
        let mut stack = SmallVec::new();
        stack.push(Entry { node: [0; 2], lanes: [u8::MAX; 2] });
        DualSearch { stack, level }
    }

    /// Whether everything was looked at.
    pub fn is_complete(&self) -> bool {
        self.stack.is_empty()
    }

    /// Goes on until nothing is left, the visitor has enough, or the budget ends.
    ///
    /// Trees and placement must be those of the earlier calls.
    pub fn advance(
        &mut self,
        a: &WideTree,
        b: &WideTree,
        relative: &Relative,
        visitor: &mut impl LeafPairs,
        budget: &mut Budget,
        work: &mut Counters,
    ) -> Finish {
        let limited = !budget.is_unlimited();
        let mut found: SmallVec<[[u32; 2]; 64]> = SmallVec::new();
        while let Some(&entry) = self.stack.last() {
            let tests = u64::from(entry.lanes[0].count_ones() * entry.lanes[1].count_ones());
            if limited && !budget.draw(tests) {
                return Finish::OutOfBudget;
            }
            self.stack.pop();
            work.volume_tests += tests;
            let nodes = [&a.nodes()[entry.node[0] as usize], &b.nodes()[entry.node[1] as usize]];
            let mask = overlaps(self.level, nodes[0], entry.lanes[0], nodes[1], entry.lanes[1], relative);
            found.clear();
            self.expand(entry, nodes, mask, &mut found);
            if found.is_empty() {
                continue;
            }
            let before = work.primitive_tests;
            if visitor.meet(&found, work).is_break() {
                return Finish::Stopped;
            }
            if limited && !budget.draw(work.primitive_tests - before) {
                return Finish::OutOfBudget;
            }
        }
        Finish::Complete
    }

    /// Splits the search into at least `parts` independent ones where there is so much to do; the
    /// leaf pairs met on the way go to the visitor.
    pub fn split(
        mut self,
        a: &WideTree,
        b: &WideTree,
        relative: &Relative,
        visitor: &mut impl LeafPairs,
        parts: usize,
        work: &mut Counters,
    ) -> Vec<DualSearch> {
        let mut found: SmallVec<[[u32; 2]; 64]> = SmallVec::new();
        while !self.stack.is_empty() && self.stack.len() < parts {
            for entry in std::mem::take(&mut self.stack) {
                work.volume_tests += u64::from(entry.lanes[0].count_ones() * entry.lanes[1].count_ones());
                let nodes = [&a.nodes()[entry.node[0] as usize], &b.nodes()[entry.node[1] as usize]];
                let mask = overlaps(self.level, nodes[0], entry.lanes[0], nodes[1], entry.lanes[1], relative);
                found.clear();
                self.expand(entry, nodes, mask, &mut found);
                if !found.is_empty() && visitor.meet(&found, work).is_break() {
                    return Vec::new();
                }
            }
        }
        let level = self.level;
        self.stack
            .into_iter()
            .map(|entry| DualSearch { stack: SmallVec::from_slice(&[entry]), level })
            .collect()
    }

    #[inline]
    fn expand(
        &mut self,
        entry: Entry,
        nodes: [&Node; 2],
        mut mask: u64,
        found: &mut SmallVec<[[u32; 2]; 64]>,
    ) {
        // Lanes of a that are leaves, against each child of b that is a node; and the other way round.
        let mut waiting_a = [0_u8; WIDTH];
        let mut waiting_b = [0_u8; WIDTH];
        let mut any_waiting = false;
        while mask != 0 {
            let bit = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            let (i, j) = (bit / WIDTH, bit % WIDTH);
            let (child_a, child_b) = (nodes[0].child[i], nodes[1].child[j]);
            match (child_a.as_node(), child_b.as_node()) {
                (Some(x), Some(y)) => {
                    self.stack.push(Entry { node: [x as u32, y as u32], lanes: [u8::MAX; 2] });
                }
                (None, None) => {
                    for x in child_a.slots() {
                        found.extend(child_b.slots().map(|y| [x as u32, y as u32]));
                    }
                }
                (None, Some(_)) => {
                    waiting_a[j] |= 1 << i;
                    any_waiting = true;
                }
                (Some(_), None) => {
                    waiting_b[i] |= 1 << j;
                    any_waiting = true;
                }
            }
        }
        if any_waiting {
            for lane in 0..WIDTH {
                if let (1.., Some(y)) = (waiting_a[lane], nodes[1].child[lane].as_node()) {
                    let lanes = [waiting_a[lane], u8::MAX];
                    self.stack.push(Entry { node: [entry.node[0], y as u32], lanes });
                }
                if let (1.., Some(x)) = (waiting_b[lane], nodes[0].child[lane].as_node()) {
                    let lanes = [u8::MAX, waiting_b[lane]];
                    self.stack.push(Entry { node: [x as u32, entry.node[1]], lanes });
                }
            }
        }
    }
}

impl Default for DualSearch {
    fn default() -> DualSearch {
        DualSearch::new()
    }
}
