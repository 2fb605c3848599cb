//! The pairs of children of a pair of nodes, with the times before which they cannot meet.
//!
//! A search takes the earliest pair of all; most of a block is never taken. So a block is one entry among the open
//! ones, under the time of its earliest pair, and comes back under the next when that one is taken.

use crate::hierarchy::box_time_of_impact::Times;
use crate::hierarchy::wide::{Child, Node, WIDTH};

/// One side of a pair in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChildRef {
    Node(u32),
    Leaf(Child),
}

/// The pairs of children of two nodes; of a bottom node above other nodes' children, the node itself.
#[derive(Debug, Clone)]
pub(super) struct ChildPairs {
    /// After `base`; infinite for what is taken or does not meet.
    times: Times,
    base: f64,
    /// Nothing meets before this.
    start: f64,
    /// The two nodes, and whether their lanes stand here or the nodes themselves.
    pair: [u32; 2],
    lanes: [bool; 2],
    below: [[ChildRef; WIDTH]; 2],
}

impl ChildPairs {
    /// Pairs whose times count from `base` and are not before `start`; infinite times are no pairs.
    pub fn new(
        pair: [u32; 2],
        nodes: [&Node; 2],
        bottom: [bool; 2],
        at: [f64; 2],
        after: &Times,
    ) -> ChildPairs {
        // Leaves meet leaves: a bottom node stays whole until the other side is at the bottom too.
        let whole = [bottom[0] && !bottom[1], bottom[1] && !bottom[0]];
        let below = [0, 1].map(|side| {
            if whole[side] {
                return [ChildRef::Node(pair[side]); WIDTH];
            }
            nodes[side]
                .child
                .map(|child| child.as_node().map_or(ChildRef::Leaf(child), |n| ChildRef::Node(n as u32)))
        });
        let mut times = *after;
        if whole[0] {
            times = [[f32::INFINITY; WIDTH]; WIDTH];
            times[0] = after
                .iter()
                .fold(times[0], |least, row| [0, 1, 2, 3, 4, 5, 6, 7].map(|j| least[j].min(row[j])));
        } else if whole[1] {
            times = [[f32::INFINITY; WIDTH]; WIDTH];
            for (least, row) in times.iter_mut().zip(after) {
                least[0] = row.iter().fold(f32::INFINITY, |least, &x| least.min(x));
            }
        }
        let [base, start] = at;
        let lanes = whole.map(|whole| !whole);
        ChildPairs { times, base, start, pair, lanes, below }
    }

    /// The node and the lane of each side of a pair; none where the node itself stands in the block.
    fn origin(&self, slot: u32) -> [Option<(u32, usize)>; 2] {
        let lane = [slot as usize / WIDTH, slot as usize % WIDTH];
        [0, 1].map(|side| self.lanes[side].then_some((self.pair[side], lane[side])))
    }

    /// The earliest pair that is left.
    fn earliest(&self) -> Option<(f64, u32)> {
        let times = self.times.as_flattened();
        let least = times.iter().fold(f32::INFINITY, |least, &x| if x < least { x } else { least });
        if least == f32::INFINITY {
            return None;
        }
        let slot = times.iter().position(|&x| x == least)?;
        Some(((self.base + f64::from(least)).max(self.start), slot as u32))
    }
}

/// Blocks that are open; places are used again.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    all: Vec<ChildPairs>,
    free: Vec<u32>,
    numbers: u32,
}

impl Blocks {
    /// Keeps a block that is not empty; its place, and its earliest pair.
    pub fn put(&mut self, block: ChildPairs) -> (u32, (f64, u32)) {
        let first = block.earliest().unwrap_or((f64::INFINITY, 0));
        let at = match self.free.pop() {
            Some(at) => {
                self.all[at as usize] = block;
                at
            }
            None => {
                self.all.push(block);
                self.all.len() as u32 - 1
            }
        };
        (at, first)
    }

    /// What a pair of a block is, and where it comes from.
    pub fn children(&self, at: u32, slot: u32) -> ([ChildRef; 2], [Option<(u32, usize)>; 2]) {
        let block = &self.all[at as usize];
        let [a, b] = &block.below;
        ([a[slot as usize / WIDTH], b[slot as usize % WIDTH]], block.origin(slot))
    }

    /// Takes a pair out of a block; the next one, or none and the block is gone.
    pub fn next(&mut self, at: u32, slot: u32) -> Option<(f64, u32)> {
        let block = &mut self.all[at as usize];
        block.times[slot as usize / WIDTH][slot as usize % WIDTH] = f32::INFINITY;
        let next = block.earliest();
        if next.is_none() {
            self.free.push(at);
        }
        next
    }

    /// A number above all before.
    pub fn number(&mut self) -> u32 {
        self.numbers = self.numbers.wrapping_add(1);
        self.numbers
    }
}

/// Raises the times of pairs of children to how long their gaps last, infinite where not below the limit; whether any
/// is left.
pub(super) fn outlast(after: &mut Times, limit: f32, lasts: impl Fn(usize, usize) -> f64) -> bool {
    let mut left = false;
    for (i, row) in after.iter_mut().enumerate() {
        for (j, time) in row.iter_mut().enumerate().filter(|(_, time)| **time < f32::INFINITY) {
            let lasts = (lasts(i, j) as f32).next_down().max(*time);
            *time = if lasts < limit { lasts } else { f32::INFINITY };
            left |= lasts < limit;
        }
    }
    left
}
