//! Which boxes with room meet, from the order of the cells.
//!
//! A box is kept in the cell of its low corner and is at most one unit of its level long. Within a level it
//! looks only forward: along its own row, in the next row if it reaches there, and in three rows of the next
//! slab if it reaches there; so each pair is found once. Boxes of coarser levels look for those of finer
//! ones.

use crate::simd::box_columns::{Lanes, MOST_LANES};
use crate::simd::{SimdLevel, dispatch};

use super::grid_frame::{GridFrame, GridLevel, ROW_CELLS};
use super::sort::Cells;

/// The cells that are searched.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub frame: &'a GridFrame,
    pub cells: &'a Cells,
}

/// Slots found.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    /// Slots of the partners, one slot's after another's.
    pub partners: Vec<u32>,
    /// Where each slot's partners end.
    pub ends: Vec<u32>,
    /// Vectors tested.
    pub work: u64,
}

impl Search<'_> {
    /// Finds the pairs in which the slots from `first` to `end` look forward.
    pub fn forward(&self, instructions: SimdLevel, first: usize, end: usize, found: &mut Found) {
        forward(instructions, self, first, end, found);
    }

    /// Finds all slots in cells whose boxes meet one.
    pub fn around(&self, instructions: SimdLevel, units: &[f32; 6], found: &mut Found) {
        around(instructions, self, units, found);
    }
}

dispatch! {
    fn forward(search: &Search<'_>, first: usize, end: usize, found: &mut Found) = proof forward_plain
}

#[inline(always)]
fn forward_plain<L: Lanes>(lanes: L, search: &Search<'_>, first: usize, end: usize, found: &mut Found) {
    found.ends.clear();
    found.work = 0;
    let mut len = 0;
    for (at, level) in search.frame.levels.iter().enumerate() {
        let starts = &search.cells.starts[level.first_cell..];
        let next = search.frame.levels.get(at + 1).map_or(search.frame.cells, |next| next.first_cell);
        let last = search.cells.starts[next] as usize;
        for slot in first.max(starts[0] as usize)..end.min(last) {
            let units = search.cells.room.get(slot);
            let one = One::new(search, lanes, &units);
            len = one.own_level(level, starts, slot, found, len);
            for finer in &search.frame.levels[..at] {
                len = one.window(finer, found, len);
            }
            found.ends.push(len as u32);
        }
    }
    found.partners.truncate(len);
}

dispatch! {
    fn around(search: &Search<'_>, units: &[f32; 6], found: &mut Found) = proof around_plain
}

#[inline(always)]
fn around_plain<L: Lanes>(lanes: L, search: &Search<'_>, units: &[f32; 6], found: &mut Found) {
    let mut len = 0;
    let one = One::new(search, lanes, units);
    for level in &search.frame.levels {
        len = one.window(level, found, len);
    }
    found.partners.truncate(len);
}

/// One box that looks for others.
struct One<'a, L: Lanes> {
    search: &'a Search<'a>,
    lanes: L,
    units: &'a [f32; 6],
    a: [L::Vector; 6],
}

impl<'a, L: Lanes> One<'a, L> {
    #[inline(always)]
    fn new(search: &'a Search<'a>, lanes: L, units: &'a [f32; 6]) -> Self {
        let &[lx, ly, lz, hx, hy, hz] = units;
        // Not `map`, which would not become part of the caller.
        let low = [lanes.splat(lx), lanes.splat(ly), lanes.splat(lz)];
        let a = [low[0], low[1], low[2], lanes.splat(hx), lanes.splat(hy), lanes.splat(hz)];
        One { search, lanes, units, a }
    }

    #[inline(always)]
    fn own_level(
        &self,
        level: &GridLevel,
        starts: &[u32],
        slot: usize,
        found: &mut Found,
        mut len: usize,
    ) -> usize {
        let [low, high] = level.cells(self.units);
        let back = low[0].saturating_sub(ROW_CELLS as u32) as usize;
        let ahead = high[0] as usize + 1;
        let row_cells = level.size[0] as usize;
        let own = level.index([0, low[1], low[2]]) as usize;
        len = self.run(slot + 1, starts[own + ahead] as usize, found, len);
        if high[1] > low[1] {
            let row = own + row_cells;
            len = self.run(starts[row + back] as usize, starts[row + ahead] as usize, found, len);
        }
        if high[2] > low[2] {
            let first = low[1].saturating_sub(1);
            let mut row = level.index([0, first, high[2]]) as usize;
            for _ in first..=high[1] {
                len = self.run(starts[row + back] as usize, starts[row + ahead] as usize, found, len);
                row += row_cells;
            }
        }
        len
    }

    #[inline(always)]
    fn window(&self, level: &GridLevel, found: &mut Found, mut len: usize) -> usize {
        let [low, high] = level.cells(self.units);
        let starts = &self.search.cells.starts[level.first_cell..];
        let back = low[0].saturating_sub(ROW_CELLS as u32) as usize;
        let ahead = high[0] as usize + 1;
        for z in low[2].saturating_sub(1)..=high[2] {
            for y in low[1].saturating_sub(1)..=high[1] {
                let row = level.index([0, y, z]) as usize;
                len = self.run(starts[row + back] as usize, starts[row + ahead] as usize, found, len);
            }
        }
        len
    }

    /// Tests the slots from `at` to `end`, where a cell begins; returns the new number of partners.
    #[allow(unsafe_code, reason = "to check each run costs 4 % of the search")]
    #[inline(always)]
    fn run(&self, at: usize, end: usize, found: &mut Found, mut len: usize) -> usize {
        // SAFETY: cells begin at slots or behind the last one (`sort::Scratch::sort`), and each slot has a box.
        let mut run = unsafe { self.search.cells.room.run(at, end) };
        while let Some(batch) = run.first() {
            let Some(to) = found.partners.get_mut(len..).and_then(|free| free.first_chunk_mut()) else {
                found.partners.resize(2 * len + 4 * MOST_LANES, 0);
                continue;
            };
            let meet = batch.meet(self.lanes, &self.a);
            self.lanes.pack(meet, batch.at() as u32, to);
            len += meet.count_ones() as usize;
            found.work += 1;
            run.skip(L::WIDTH);
        }
        len
    }
}
