//! Boxes into cells: a counting sort that goes through the bodies in the order of the last one.
//!
//! Little moves from one cell to another in between, so reads and writes are nearly sequential. Chunks of
//! the old order are put into groups by bin, then each bin is sorted on its own: no thread writes where
//! another does, and the order is the same for any number of them.

use crate::num::parallel;
use crate::simd::box_columns::Columns;
use crate::simd::{SimdLevel, dispatch};

use super::grid_frame::{BLOCK, Block, GridFrame, NO_BIN};
use super::packed_aabb::PackedAabb;
use super::slots::Slots;

/// Bodies that one thread takes at a time, at most and at least. Few chunks are quickly gone through bin by
/// bin, many are shared evenly.
const CHUNK: [usize; 2] = [4096, 512];

/// Chunks that there are at least, but for the least size of a chunk.
const CHUNKS: usize = 32;

/// Bodies in cells, with room: the first slots, as they were at the last sort.
#[derive(Debug, Clone, Default)]
pub(super) struct Cells {
    /// Boxes with room, slot by slot.
    pub room: Columns,
    /// For each cell of the frame its first slot, and the number of slots.
    pub starts: Vec<u32>,
}

/// What the sort keeps, so as not to ask for memory again.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    room: Vec<PackedAabb>,
    cells: Vec<u32>,
    /// Old slots, chunk by chunk, in groups by bin.
    grouped: Vec<u32>,
    /// For each chunk and bin where its group begins, and where the last one ends.
    groups: Vec<u32>,
    /// Bodies in a chunk.
    chunk: usize,
}

/// A chunk of [`Scratch`].
struct Chunk<'a> {
    room: &'a mut [PackedAabb],
    cells: &'a mut [u32],
    grouped: &'a mut [u32],
    groups: &'a mut [u32],
}

impl Scratch {
    /// Puts the bodies of `old` that are there into the order of their cells.
    pub fn sort(
        &mut self,
        instructions: SimdLevel,
        frame: &GridFrame,
        old: &Slots,
        to: &mut Slots,
        cells: &mut Cells,
    ) {
        self.place(instructions, frame, old);
        let row = frame.bins + 1;
        let mut firsts = vec![0; row];
        for bin in 0..frame.bins {
            let size: u32 = self.groups.chunks(row).map(|g| g[bin + 1] - g[bin]).sum();
            firsts[bin + 1] = firsts[bin] + size as usize;
        }
        let count = firsts[frame.bins];
        to.ids.resize(count, 0);
        [&mut to.now, &mut to.before, &mut to.room]
            .into_iter()
            .for_each(|c| c.resize(count, PackedAabb::NOTHING));
        cells.room.resize(count);
        cells.starts.resize(frame.cells + 1, 0);
        cells.starts[frame.cells] = count as u32;
        let mut parts = parts(frame, &firsts, to, cells);
        parallel::for_each_chunk(&mut parts, 1, |_, part| {
            part.iter_mut().for_each(|p| self.fill(frame, p, old))
        });
    }

    /// Gives every box room and finds its bin.
    fn place(&mut self, instructions: SimdLevel, frame: &GridFrame, old: &Slots) {
        let (count, row) = (old.ids.len(), frame.bins + 1);
        self.room.resize(count, PackedAabb::NOTHING);
        self.cells.resize(count, 0);
        self.grouped.resize(count, 0);
        let size = count.div_ceil(CHUNKS).clamp(CHUNK[1], CHUNK[0]);
        self.chunk = size;
        self.groups.resize(count.div_ceil(size) * row, 0);
        let chunks = self.room.chunks_mut(size).zip(self.cells.chunks_mut(size));
        let chunks = chunks.zip(self.grouped.chunks_mut(size).zip(self.groups.chunks_mut(row)));
        let as_chunk = |((room, cells), (grouped, groups))| Chunk { room, cells, grouped, groups };
        let mut chunks: Vec<Chunk<'_>> = chunks.map(as_chunk).collect();
        parallel::for_each_chunk(&mut chunks, 1, |k, chunk| {
            chunk.iter_mut().for_each(|chunk| place_chunk(instructions, frame, old, k * size, chunk));
        });
    }

    /// Counting sort of one bin.
    fn fill(&self, frame: &GridFrame, part: &mut BinRange<'_>, old: &Slots) {
        let members = || {
            self.groups.chunks(frame.bins + 1).zip(0..).flat_map(|(g, chunk)| {
                let base = chunk * self.chunk;
                &self.grouped[base + g[part.bin] as usize..base + g[part.bin + 1] as usize]
            })
        };
        part.starts.fill(0);
        for &slot in members() {
            part.starts[self.cells[slot as usize] as usize - part.first_cell] += 1;
        }
        let mut first = 0;
        for start in part.starts.iter_mut() {
            first += std::mem::replace(start, first);
        }
        for &slot in members() {
            let slot = slot as usize;
            let start = &mut part.starts[self.cells[slot] as usize - part.first_cell];
            let to = *start as usize;
            *start += 1;
            part.ids[to] = old.ids[slot];
            part.now[to] = old.now[slot];
            part.before[to] = old.before[slot];
            part.room[to] = self.room[slot];
            for (column, x) in part.columns.iter_mut().zip(frame.units(&self.room[slot])) {
                column[to] = x;
            }
        }
        // Each start has run on to the next one's place.
        part.starts.copy_within(..part.starts.len() - 1, 1);
        part.starts[0] = 0;
        part.starts.iter_mut().for_each(|start| *start += part.first_slot as u32);
    }
}

dispatch! {
    /// Gives the boxes of a chunk room and finds their bins.
    fn place_chunk(frame: &GridFrame, old: &Slots, first: usize, chunk: &mut Chunk<'_>) = each place_chunk_plain
}

#[inline(always)]
fn place_chunk_plain(frame: &GridFrame, old: &Slots, first: usize, chunk: &mut Chunk<'_>) {
    let mut bins = [NO_BIN; CHUNK[0]];
    let mut block = Block::EMPTY;
    for at in (0..chunk.room.len()).step_by(BLOCK) {
        let end = chunk.room.len().min(at + BLOCK);
        for (i, to) in (at..end).enumerate() {
            let room = old.now[first + to].with_room(&old.before[first + to]);
            chunk.room[to] = room;
            for (column, x) in block.units.iter_mut().zip(frame.units(&room)) {
                column[i] = x;
            }
        }
        frame.place(&mut block);
        chunk.cells[at..end].copy_from_slice(&block.cells[..end - at]);
        bins[at..end].copy_from_slice(&block.bins[..end - at]);
    }
    group(&bins[..chunk.room.len()], first as u32, chunk.grouped, chunk.groups);
}

/// Counting sort of a chunk's slots by bin; bodies that are not there stay out.
fn group(bins: &[u32], first: u32, grouped: &mut [u32], groups: &mut [u32]) {
    groups.fill(0);
    for &bin in bins.iter().filter(|&&bin| bin != NO_BIN) {
        groups[bin as usize + 1] += 1;
    }
    for k in 1..groups.len() {
        groups[k] += groups[k - 1];
    }
    let last = groups.len() - 1;
    for (&bin, slot) in bins.iter().zip(first..).filter(|(bin, _)| **bin != NO_BIN) {
        let at = &mut groups[bin as usize];
        grouped[*at as usize] = slot;
        *at += 1;
    }
    groups.copy_within(..last, 1);
    groups[0] = 0;
}

/// The slots and cells of one bin.
struct BinRange<'a> {
    bin: usize,
    first_slot: usize,
    first_cell: usize,
    ids: &'a mut [u32],
    now: &'a mut [PackedAabb],
    before: &'a mut [PackedAabb],
    room: &'a mut [PackedAabb],
    columns: [&'a mut [f32]; 6],
    starts: &'a mut [u32],
}

fn parts<'a>(
    frame: &GridFrame,
    firsts: &[usize],
    to: &'a mut Slots,
    cells: &'a mut Cells,
) -> Vec<BinRange<'a>> {
    let (mut ids, mut starts) = (to.ids.as_mut_slice(), cells.starts.as_mut_slice());
    let [mut now, mut before, mut room] = [&mut to.now, &mut to.before, &mut to.room].map(Vec::as_mut_slice);
    let mut columns = cells.room.as_mut_slices();
    let mut parts = Vec::with_capacity(frame.bins);
    for level in &frame.levels {
        let (mut bin, mut first_cell) = (level.first_bin, level.first_cell);
        let slab_cells = level.size[0] as usize * level.size[1] as usize;
        let mut slabs = level.size[2];
        while slabs > 0 {
            let here = slabs.min(1 << level.slabs_per_bin_log);
            let (slots, count) = (firsts[bin + 1] - firsts[bin], here as usize * slab_cells);
            parts.push(BinRange {
                bin,
                first_slot: firsts[bin],
                first_cell,
                ids: split(&mut ids, slots),
                now: split(&mut now, slots),
                before: split(&mut before, slots),
                room: split(&mut room, slots),
                columns: columns.each_mut().map(|all| split(all, slots)),
                starts: split(&mut starts, count),
            });
            (bin, first_cell, slabs) = (bin + 1, first_cell + count, slabs - here);
        }
    }
    parts
}

/// Takes the first `count` items off a slice.
fn split<'a, T>(all: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (head, tail) = std::mem::take(all).split_at_mut(count);
    *all = tail;
    head
}
