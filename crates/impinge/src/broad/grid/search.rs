//! Which boxes with room meet, from the order of the cells.
//!
//! A box is kept in the cell of its low corner and is at most one unit of its level long. Within a level it
//! looks only forward: along its own row, in the next row if it reaches there, and in three rows of the next
//! slab if it reaches there; so each pair is found once. Boxes of coarser levels look for those of finer
//! ones.

use crate::hierarchy::simd::SimdLevel as Instructions;

use super::grid_frame::{GridFrame, GridLevel, ROW_CELLS};
use super::lanes::{Lanes, MOST_LANES, Portable};
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
    pub fn forward(&self, instructions: Instructions, first: usize, end: usize, found: &mut Found) {
        match instructions {
            // SAFETY: plain loops need nothing.
            Instructions::Portable => unsafe { self.forward_on::<Portable>(first, end, found) },
            // SAFETY: the levels are handed out only after their instructions were detected.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { x86::forward_avx2(self, first, end, found) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => unsafe { x86::forward_avx512(self, first, end, found) },
        }
    }

    /// Finds all slots in cells whose boxes meet one.
    pub fn around(&self, instructions: Instructions, units: &[f32; 6], found: &mut Found) {
        match instructions {
            // SAFETY: plain loops need nothing.
            Instructions::Portable => unsafe { self.around_on::<Portable>(units, found) },
            // SAFETY: the levels are handed out only after their instructions were detected.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { x86::around_avx2(self, units, found) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => unsafe { x86::around_avx512(self, units, found) },
        }
    }

    /// # Safety
    /// The machine has the instruction set.
    #[inline(always)]
    unsafe fn forward_on<L: Lanes>(&self, first: usize, end: usize, found: &mut Found) {
        found.ends.clear();
        found.work = 0;
        let mut len = 0;
        for (at, level) in self.frame.levels.iter().enumerate() {
            let starts = &self.cells.starts[level.first_cell..];
            let next = self.frame.levels.get(at + 1).map_or(self.frame.cells, |next| next.first_cell);
            let last = self.cells.starts[next] as usize;
            for slot in first.max(starts[0] as usize)..end.min(last) {
                let units = self.cells.room.get(slot);
                // SAFETY: as for this function.
                unsafe {
                    let one = One::<L>::new(self, &units);
                    len = one.own_level(level, starts, slot, found, len);
                    for finer in &self.frame.levels[..at] {
                        len = one.window(finer, found, len);
                    }
                }
                found.ends.push(len as u32);
            }
        }
        found.partners.truncate(len);
    }

    /// # Safety
    /// The machine has the instruction set.
    #[inline(always)]
    unsafe fn around_on<L: Lanes>(&self, units: &[f32; 6], found: &mut Found) {
        let mut len = 0;
        // SAFETY: as for this function.
        unsafe {
            let one = One::<L>::new(self, units);
            for level in &self.frame.levels {
                len = one.window(level, found, len);
            }
        }
        found.partners.truncate(len);
    }
}

/// One box that looks for others.
struct One<'a, L: Lanes> {
    search: &'a Search<'a>,
    units: &'a [f32; 6],
    a: [L::Vector; 6],
}

impl<'a, L: Lanes> One<'a, L> {
    /// # Safety
    /// The machine has the instruction set.
    #[inline(always)]
    unsafe fn new(search: &'a Search<'a>, units: &'a [f32; 6]) -> Self {
        let &[lx, ly, lz, hx, hy, hz] = units;
        // SAFETY: as for this function. Not `map`, which would not become part of the caller.
        let a =
            unsafe { [L::splat(lx), L::splat(ly), L::splat(lz), L::splat(hx), L::splat(hy), L::splat(hz)] };
        One { search, units, a }
    }

    /// # Safety
    /// The machine has the instruction set.
    #[inline(always)]
    unsafe fn own_level(
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
        // SAFETY: as for this function.
        unsafe {
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
        }
        len
    }

    /// # Safety
    /// The machine has the instruction set.
    #[inline(always)]
    unsafe fn window(&self, level: &GridLevel, found: &mut Found, mut len: usize) -> usize {
        let [low, high] = level.cells(self.units);
        let starts = &self.search.cells.starts[level.first_cell..];
        let back = low[0].saturating_sub(ROW_CELLS as u32) as usize;
        let ahead = high[0] as usize + 1;
        for z in low[2].saturating_sub(1)..=high[2] {
            for y in low[1].saturating_sub(1)..=high[1] {
                let row = level.index([0, y, z]) as usize;
                // SAFETY: as for this function.
                len = unsafe {
                    self.run(starts[row + back] as usize, starts[row + ahead] as usize, found, len)
                };
            }
        }
        len
    }

    /// Tests the slots from `at` to `end`; returns the new number of partners.
    ///
    /// # Safety
    /// The machine has the instruction set.
    #[inline(always)]
    unsafe fn run(&self, mut at: usize, end: usize, found: &mut Found, mut len: usize) -> usize {
        while at < end {
            let Some(to) = found.partners.get_mut(len..).and_then(|free| free.first_chunk_mut()) else {
                found.partners.resize(2 * len + 4 * MOST_LANES, 0);
                continue;
            };
            let lanes = if end - at < L::WIDTH { (1 << (end - at)) - 1 } else { u32::MAX };
            // SAFETY: as for this function; `at` is below the number of slots.
            let meet = unsafe { L::meet(&self.a, &self.search.cells.room, at) } & lanes;
            // SAFETY: as for this function.
            unsafe { L::pack(meet, at as u32, to) };
            len += meet.count_ones() as usize;
            found.work += 1;
            at += L::WIDTH;
        }
        len
    }
}

/// The same code for two instruction sets.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::super::lanes::{Avx2, Avx512};
    use super::{Found, Search};

    #[target_feature(enable = "avx2,fma,popcnt,bmi1,bmi2")]
    pub(super) unsafe fn forward_avx2(search: &Search<'_>, first: usize, end: usize, found: &mut Found) {
        // SAFETY: as for this function.
        unsafe { search.forward_on::<Avx2>(first, end, found) }
    }

    #[target_feature(enable = "avx2,fma,popcnt,bmi1,bmi2")]
    pub(super) unsafe fn around_avx2(search: &Search<'_>, units: &[f32; 6], found: &mut Found) {
        // SAFETY: as for this function.
        unsafe { search.around_on::<Avx2>(units, found) }
    }

    #[target_feature(enable = "avx2,fma,popcnt,bmi1,bmi2,avx512f,avx512vl,avx512dq")]
    pub(super) unsafe fn forward_avx512(search: &Search<'_>, first: usize, end: usize, found: &mut Found) {
        // SAFETY: as for this function.
        unsafe { search.forward_on::<Avx512>(first, end, found) }
    }

    #[target_feature(enable = "avx2,fma,popcnt,bmi1,bmi2,avx512f,avx512vl,avx512dq")]
    pub(super) unsafe fn around_avx512(search: &Search<'_>, units: &[f32; 6], found: &mut Found) {
        // SAFETY: as for this function.
        unsafe { search.around_on::<Avx512>(units, found) }
    }
}
