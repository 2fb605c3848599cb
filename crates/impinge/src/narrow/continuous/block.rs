//! The pairs of children of a pair of nodes, with the times before which they cannot meet.
//!
//! A search takes the earliest pair of all; most of a block is never taken. So a block is one entry among the open
//! ones, under the time of its earliest pair, and comes back under the next when that one is taken.

use crate::hierarchy::approach::Times;
use crate::hierarchy::wide::{Child, Node, WIDTH};

/// How many pairs a block has room for.
const SLOTS: usize = WIDTH * WIDTH;

/// One side of a pair in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Below {
    Node(u32),
    Leaf(Child),
}

/// The pairs of children of two nodes; of a bottom node above other nodes' children, the node itself.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// After `base`; infinite for what is taken or does not meet.
    times: [f32; SLOTS],
    base: f64,
    /// Nothing meets before this.
    start: f64,
    below: [[Below; WIDTH]; 2],
}

impl Block {
    /// The pairs of a mask, whose times count from `base` and are not before `start`.
    pub fn new(
        pair: [u32; 2],
        nodes: [&Node; 2],
        bottom: [bool; 2],
        [base, start]: [f64; 2],
        after: &Times,
        mask: u64,
    ) -> Block {
        // Leaves meet leaves: a bottom node stays whole until the other side is at the bottom too.
        let whole = [bottom[0] && !bottom[1], bottom[1] && !bottom[0]];
        let below = [0, 1].map(|side| {
            if whole[side] {
                return [Below::Node(pair[side]); WIDTH];
            }
            nodes[side]
                .child
                .map(|child| child.as_node().map_or(Below::Leaf(child), |n| Below::Node(n as u32)))
        });
        let mut times = [f32::INFINITY; SLOTS];
        for (i, row) in after.iter().enumerate() {
            for (j, &time) in row.iter().enumerate() {
                let slot = match whole {
                    [true, _] => j,
                    [_, true] => WIDTH * i,
                    _ => WIDTH * i + j,
                };
                let open = mask >> (WIDTH * i + j) & 1 != 0;
                let time = if open { time } else { f32::INFINITY };
                times[slot] = if time < times[slot] { time } else { times[slot] };
            }
        }
        Block { times, base, start, below }
    }

    /// The earliest pair that is left.
    fn earliest(&self) -> Option<(f64, u32)> {
        let least = self.times.iter().fold(f32::INFINITY, |least, &x| if x < least { x } else { least });
        if least == f32::INFINITY {
            return None;
        }
        let slot = self.times.iter().position(|&x| x == least)?;
        Some(((self.base + f64::from(least)).max(self.start), slot as u32))
    }
}

/// Blocks that are open; places are used again.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    all: Vec<Block>,
    free: Vec<u32>,
    numbers: u32,
}

impl Blocks {
    /// Keeps a block that is not empty; its place, and its earliest pair.
    pub fn put(&mut self, block: Block) -> (u32, (f64, u32)) {
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

    /// What a pair of a block is.
    pub fn children(&self, at: u32, slot: u32) -> [Below; 2] {
        let [a, b] = &self.all[at as usize].below;
        [a[slot as usize / WIDTH], b[slot as usize % WIDTH]]
    }

    /// Takes a pair out of a block; the next one, or none and the block is gone.
    pub fn next(&mut self, at: u32, slot: u32) -> Option<(f64, u32)> {
        let block = &mut self.all[at as usize];
        block.times[slot as usize] = f32::INFINITY;
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
