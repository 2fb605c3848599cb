//! Two trees at once: every pair of triangles whose boxes overlap, depth first, from a stack.
//!
//! A stack entry is some lanes of one node (the few) against all lanes of a node of the other tree (the
//! eight). Of each overlapping pair of boxes the larger is opened: its node becomes the eight, and the
//! lanes of the other node that overlap it stay together as the few. The stack is the whole state, so a
//! search can stop between any two entries and go on later.

use std::ops::ControlFlow;

use smallvec::SmallVec;

use super::relative::Relative;
use super::simd::{Carrier, Level, Overlaps, overlaps};
use super::wide::{Node, WIDTH, WideTree};
use crate::{Budget, Counters, Finish};

/// Who hears of overlapping leaves.
pub trait LeafPairs {
    /// Takes slots (of tree a, of tree b) whose boxes overlap, and counts the pairs it tests; `Break`
    /// ends the search.
    fn meet(&mut self, slots: &[[u32; 2]], work: &mut Counters) -> ControlFlow<()>;

    /// As `meet`, with the leaves of one bottom node of each tree: bit 8·i + j of `mask` stands for lane
    /// i of `a` and lane j of `b`.
    #[inline]
    fn meet_lanes(&mut self, a: &Node, b: &Node, mask: u64, work: &mut Counters) -> ControlFlow<()> {
        let mut slots: SmallVec<[[u32; 2]; 64]> = SmallVec::new();
        for bit in (0..64).filter(|bit| mask >> bit & 1 != 0) {
            for x in a.child[bit / WIDTH].slots() {
                slots.extend(b.child[bit % WIDTH].slots().map(|y| [x as u32, y as u32]));
            }
        }
        self.meet(&slots, work)
    }
}

/// Some lanes of a node against all of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    few: u32,
    many: u32,
    rows: u8,
    /// Whether the few belong to tree b.
    swapped: bool,
}

/// A search through two trees that can be interrupted between any two pairs of nodes.
#[derive(Debug, Clone)]
pub struct DualSearch {
    stack: SmallVec<[Entry; 96]>,
    level: Level,
}

/// What a search looks at.
struct Trees<'t> {
    a: &'t WideTree,
    b: &'t WideTree,
    b_in_a: Carrier,
    a_in_b: Carrier,
}

impl<'t> Trees<'t> {
    #[inline]
    fn new(a: &'t WideTree, b: &'t WideTree, relative: &Relative) -> Trees<'t> {
        Trees { a, b, b_in_a: Carrier::new(&relative.b_in_a), a_in_b: Carrier::new(&relative.a_in_b) }
    }
}

impl DualSearch {
    /// A search that begins at the roots.
    #[inline]
    pub fn new() -> DualSearch {
        DualSearch::on(Level::best())
    }

    /// As [`DualSearch::new`], on a named instruction set; the results are the same.
    #[inline]
    pub fn on(level: Level) -> DualSearch {
        let mut stack = SmallVec::new();
        stack.push(Entry { few: 0, many: 0, rows: u8::MAX, swapped: false });
        DualSearch { stack, level }
    }

    /// Whether everything was looked at.
    pub fn is_complete(&self) -> bool {
        self.stack.is_empty()
    }

    /// Goes on until nothing is left, the visitor has enough, or the budget ends.
    ///
    /// Trees and placement must be those of the earlier calls.
    #[inline]
    pub fn advance(
        &mut self,
        a: &WideTree,
        b: &WideTree,
        relative: &Relative,
        visitor: &mut impl LeafPairs,
        budget: &mut Budget,
        work: &mut Counters,
    ) -> Finish {
        let trees = Trees::new(a, b, relative);
        let limited = !budget.is_unlimited();
        while let Some(&entry) = self.stack.last() {
            if limited && !budget.draw(entry.tests()) {
                return Finish::OutOfBudget;
            }
            self.stack.pop();
            let before = work.primitive_tests;
            if self.visit(&trees, entry, visitor, work).is_break() {
                return Finish::Stopped;
            }
            if limited && !budget.draw(work.primitive_tests - before) {
                return Finish::OutOfBudget;
            }
        }
        Finish::Complete
    }

    /// Cuts the search into at least `parts` independent ones where there is so much to do; leaves met
    /// on the way go to the visitor, who must not break.
    pub fn split(
        mut self,
        a: &WideTree,
        b: &WideTree,
        relative: &Relative,
        visitor: &mut impl LeafPairs,
        parts: usize,
        work: &mut Counters,
    ) -> Vec<DualSearch> {
        let trees = Trees::new(a, b, relative);
        while !self.stack.is_empty() && self.stack.len() < parts {
            for entry in std::mem::take(&mut self.stack) {
                if self.visit(&trees, entry, visitor, work).is_break() {
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
    fn visit(
        &mut self,
        trees: &Trees<'_>,
        entry: Entry,
        visitor: &mut impl LeafPairs,
        work: &mut Counters,
    ) -> ControlFlow<()> {
        work.volume_tests += entry.tests();
        let (few_tree, many_tree, to_few, to_many) = if entry.swapped {
            (trees.b, trees.a, &trees.a_in_b, &trees.b_in_a)
        } else {
            (trees.a, trees.b, &trees.b_in_a, &trees.a_in_b)
        };
        let (few, many) = (entry.few as usize, entry.many as usize);
        let (few_node, many_node) = (&few_tree.nodes()[few], &many_tree.nodes()[many]);
        let mut found = overlaps(self.level, few_node, entry.rows, many_node, to_few, to_many);
        if found.meeting == 0 {
            return ControlFlow::Continue(());
        }
        match (few_tree.is_bottom(few), many_tree.is_bottom(many)) {
            (true, true) if entry.swapped => {
                return visitor.meet_lanes(many_node, few_node, transposed(found.meeting), work);
            }
            (true, true) => return visitor.meet_lanes(few_node, many_node, found.meeting, work),
            // A leaf cannot be opened.
            (true, false) => found.larger = u64::MAX,
            (false, true) => found.larger = 0,
            (false, false) => {}
        }
        self.open(entry, few_node, many_node, found);
        ControlFlow::Continue(())
    }

    /// Puts the larger box of each meeting pair on the stack, with all boxes that it meets.
    #[inline]
    fn open(&mut self, entry: Entry, few: &Node, many: &Node, found: Overlaps) {
        let open_few = found.meeting & !found.larger;
        let mut rows = open_few;
        while rows != 0 {
            let i = rows.trailing_zeros() as usize / WIDTH;
            let lanes = (open_few >> (WIDTH * i)) as u8;
            rows &= !(0xFF << (WIDTH * i));
            if let Some(child) = few.child[i].as_node() {
                // The opened node is now the eight, the other node's lanes the few.
                let swapped = !entry.swapped;
                self.stack.push(Entry { few: entry.many, many: child as u32, rows: lanes, swapped });
            }
        }
        let open_many = found.meeting & found.larger;
        if open_many == 0 {
            return;
        }
        let by_column = transposed(open_many);
        let mut columns = by_column;
        while columns != 0 {
            let j = columns.trailing_zeros() as usize / WIDTH;
            let lanes = (by_column >> (WIDTH * j)) as u8;
            columns &= !(0xFF << (WIDTH * j));
            if let Some(child) = many.child[j].as_node() {
                self.stack.push(Entry { many: child as u32, rows: lanes, ..entry });
            }
        }
    }
}

impl Default for DualSearch {
    fn default() -> DualSearch {
        DualSearch::new()
    }
}

impl Entry {
    /// Box pairs that a visit tests.
    #[inline]
    fn tests(&self) -> u64 {
        u64::from(self.rows.count_ones()) * WIDTH as u64
    }
}

/// Bit 8·i + j becomes bit 8·j + i (Warren, "Hacker's Delight", 7-3).
#[inline]
fn transposed(mut x: u64) -> u64 {
    let mut swap = |shift: u32, mask: u64| {
        let t = (x ^ (x >> shift)) & mask;
        x ^= t ^ (t << shift);
    };
    swap(7, 0x00AA_00AA_00AA_00AA);
    swap(14, 0x0000_CCCC_0000_CCCC);
    swap(28, 0x0000_0000_F0F0_F0F0);
    x
}
