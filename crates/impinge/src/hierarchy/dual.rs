//! Two trees at once: every pair of triangles whose boxes overlap, depth first, from a stack.
//!
//! A stack entry is some lanes of one node (the few) against all lanes of a node of the other tree (the
//! eight). The node with the larger boxes is opened: each child that overlaps something becomes the eight, and
//! the lanes of the other node that it overlaps stay together as the few. Before that the visitor may drop
//! pairs whose contents cannot meet. The stack is the whole state, so a search can stop between any two
//! entries and go on later.

use std::ops::ControlFlow;

use smallvec::SmallVec;

use super::box_overlap::{Carrier, is_larger, overlaps};
use super::relative::Relative;
use super::stack::{Stack, StackSearch};
use super::wide::{Node, WIDTH, WideTree};
use crate::simd::{SimdLevel, prefetch};
use crate::{Budget, Counters, Finish};

/// Who hears of overlapping leaves.
pub trait LeafPairs {
    /// Takes slots (of tree a, of tree b) whose boxes overlap, and counts the pairs it tests; `Break`
    /// ends the search.
    fn meet(&mut self, slots: &[[u32; 2]], work: &mut Counters) -> ControlFlow<()>;

    /// Drops pairs of child boxes that overlap although nothing in them can meet.
    #[inline]
    fn keep(&self, lanes: &LanePairs<'_>) -> u64 {
        lanes.mask
    }

    /// Which of the lanes `rows` of the few and of all lanes of the many can meet: their boxes overlap, and what
    /// [`LeafPairs::keep`] asks for holds as well. The mask of `lanes` says nothing yet.
    #[inline]
    fn overlaps(&self, level: SimdLevel, lanes: &LanePairs<'_>, rows: u8, to_few: &Carrier) -> u64 {
        let mask = overlaps(level, lanes.few, rows, lanes.many, to_few, lanes.to_many);
        self.keep(&LanePairs { mask, ..*lanes })
    }

    /// As `meet`, with the leaves of one bottom node of each tree.
    #[inline]
    fn meet_lanes(&mut self, lanes: &LanePairs<'_>, work: &mut Counters) -> ControlFlow<()> {
        self.meet(&lanes.slots(), work)
    }
}

/// Pairs of lanes of two nodes, one of each tree, whose boxes overlap.
#[derive(Debug, Clone, Copy)]
pub struct LanePairs<'t> {
    /// The node whose lanes count as rows.
    pub few: &'t Node,
    /// The node whose lanes count as columns.
    pub many: &'t Node,
    /// Where both are in their trees.
    pub nodes: [u32; 2],
    /// Carries boxes of the few into the frame of the many.
    pub to_many: &'t Carrier,
    /// Whether the few belong to tree b.
    pub swapped: bool,
    /// Bit 8·i + j for lane i of the few and lane j of the many.
    pub mask: u64,
}

impl LanePairs<'_> {
    /// Something of the few and something of the many, that of tree a first.
    #[inline]
    pub fn in_order<T>(&self, [few, many]: [T; 2]) -> [T; 2] {
        if self.swapped { [many, few] } else { [few, many] }
    }

    /// The slots in the pairs of leaves.
    pub fn slots(&self) -> SmallVec<[[u32; 2]; 64]> {
        let mut slots = SmallVec::new();
        for bit in (0..64).filter(|bit| self.mask >> bit & 1 != 0) {
            for x in self.few.child[bit / WIDTH].slots() {
                let others = self.many.child[bit % WIDTH].slots();
                slots.extend(others.map(|y| self.in_order([x as u32, y as u32])));
            }
        }
        slots
    }
}

/// Some lanes of a node against all of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    few: u32,
    many: u32,
    rows: u8,
    /// Whether the few belong to tree b.
    swapped: bool,
}

/// A search through two trees that can be interrupted between any two pairs of nodes.
#[derive(Debug, Clone)]
pub struct DualSearch {
    stack: Stack<Entry>,
    level: SimdLevel,
    /// Whether everything on the stack will be looked at, so that it is fetched when it is put there.
    exhaustive: bool,
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
        DualSearch::on(SimdLevel::best())
    }

    /// Begins anew, among what is below one node of each tree only.
    #[inline]
    pub fn begin(&mut self, [few, many]: [u32; 2]) {
        self.stack.clear();
        self.stack.push(Entry { few, many, rows: u8::MAX, swapped: false });
    }

    /// As [`DualSearch::new`], on a named instruction set; the results are the same.
    #[inline]
    pub fn on(level: SimdLevel) -> DualSearch {
        let mut search = DualSearch { stack: SmallVec::new(), level, exhaustive: false };
        search.begin([0, 0]);
        search
    }

    /// The same for who wants every pair and will not break off.
    pub fn exhaustive(self) -> DualSearch {
        DualSearch { exhaustive: true, ..self }
    }

    /// A search with nothing left to look at.
    #[inline]
    pub fn nothing() -> DualSearch {
        DualSearch { stack: Stack::new(), level: SimdLevel::best(), exhaustive: false }
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
        self.run(budget, work, |search, entry, work| search.visit(&trees, entry, visitor, work))
    }

    /// Cuts the search into at least `parts` independent ones where there is so much to do; leaves met
    /// on the way go to the visitor, who must not break.
    pub fn split(
        self,
        a: &WideTree,
        b: &WideTree,
        relative: &Relative,
        visitor: &mut impl LeafPairs,
        parts: usize,
        work: &mut Counters,
    ) -> Vec<DualSearch> {
        let trees = Trees::new(a, b, relative);
        self.cut(parts, work, |search, entry, work| search.visit(&trees, entry, visitor, work))
    }

    /// Gives away half of what is left, as an independent search; none where there is too little.
    pub fn halve(&mut self) -> Option<DualSearch> {
        self.give_half()
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
        let Entry { few: f, many: m, rows, swapped } = entry;
        let mut lanes =
            LanePairs { few: few_node, many: many_node, nodes: [f, m], to_many, swapped, mask: 0 };
        let bottom = [few_tree.is_bottom(few), many_tree.is_bottom(many)];
        // Who breaks off goes down from one pair of nodes to the next and waits for each test: then both at once take
        // less time. Where everything is looked at, the next entry is begun meanwhile, and less work is faster.
        let at_once = bottom != [true; 2] && !self.exhaustive;
        lanes.mask = if at_once {
            visitor.overlaps(self.level, &lanes, rows, to_few)
        } else {
            overlaps(self.level, few_node, rows, many_node, to_few, to_many)
        };
        if lanes.mask == 0 {
            return ControlFlow::Continue(());
        }
        let open_many = match bottom {
            [true, true] => return visitor.meet_lanes(&lanes, work),
            // A leaf cannot be opened.
            [true, false] => true,
            [false, true] => false,
            [false, false] => is_larger(self.level, many_node, few_node, to_many.scale),
        };
        if !at_once {
            lanes.mask = visitor.keep(&lanes);
        }
        self.open(&lanes, if open_many { many_tree.nodes() } else { few_tree.nodes() }, open_many);
        ControlFlow::Continue(())
    }

    /// Puts the children of one of the nodes, among `nodes` of its tree, on the stack, each with all lanes of the other that it meets;
    /// the one that meets most comes on top, since it is the likeliest to hold a contact.
    #[inline]
    fn open(&mut self, lanes: &LanePairs<'_>, nodes: &[Node], open_many: bool) {
        let [few, many] = lanes.nodes;
        // The opened node is the eight, the other node's lanes the few.
        let (opened, few, swapped, mut left) = if open_many {
            (lanes.many, few, lanes.swapped, transposed(lanes.mask))
        } else {
            (lanes.few, many, !lanes.swapped, lanes.mask)
        };
        let (before, exhaustive) = (self.stack.len(), self.exhaustive);
        let (mut likeliest, mut most, mut count) = (before, 0, before);
        let children = std::iter::from_fn(|| {
            while left != 0 {
                let i = left.trailing_zeros() as usize / WIDTH;
                let rows = (left >> (WIDTH * i)) as u8;
                left &= !(0xFF << (WIDTH * i));
                let Some(child) = opened.child[i].as_node() else { continue };
                if ONES[rows as usize] >= most {
                    (likeliest, most) = (count, ONES[rows as usize]);
                }
                count += 1;
                // Trees are larger than the near caches, and most children wait for others. A search that ends with
                // the first contact never comes to most of them.
                if let Some(next) = nodes.get(child).filter(|_| exhaustive) {
                    prefetch(&next.centre);
                    prefetch(&next.half);
                }
                return Some(Entry { few, many: child as u32, rows, swapped });
            }
            None
        });
        // All at once: a push by itself asks each time where the stack is.
        self.stack.extend(children);
        if likeliest + 1 < self.stack.len() {
            let top = self.stack.len() - 1;
            self.stack.swap(likeliest, top);
        }
    }
}

impl StackSearch for DualSearch {
    type Entry = Entry;

    #[inline]
    fn stack(&mut self) -> &mut Stack<Entry> {
        &mut self.stack
    }

    #[inline]
    fn tests(entry: &Entry) -> u64 {
        entry.tests()
    }

    fn with(&self, stack: Stack<Entry>) -> DualSearch {
        DualSearch { stack, level: self.level, exhaustive: self.exhaustive }
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
        u64::from(ONES[self.rows as usize]) * WIDTH as u64
    }
}

/// How many bits are set: the plain x86-64 has no instruction for it.
const ONES: [u8; 256] = {
    let mut ones = [0; 256];
    let mut i = 1;
    while i < 256 {
        ones[i] = ones[i >> 1] + (i & 1) as u8;
        i += 1;
    }
    ones
};

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
