//! Particles into cells: a counting sort in two passes, so that no write goes farther than a cache.
//!
//! Chunks of the particles as they come are put into groups by bin, some thousand cells each; then every bin is sorted
//! on its own. No thread writes where another does, and particles of a cell keep their order, so the number of threads
//! cannot be seen.

use super::super::images::Images;
use super::super::lattice::Lattice;
use super::super::{Particles, bytes_of};
use crate::num::parallel;
use crate::simd::point_columns::{PointColumns, PointColumnsMut};
use crate::simd::{SimdLevel, dispatch};

/// Particles that are grouped at a time: their records fit into a near cache.
const CHUNK: usize = 1 << 14;

/// Particles of a bin, about.
const BIN: usize = 1 << 12;

/// Bins, at most: as many places are written to at a time.
const MOST_BINS: usize = 1 << 10;

/// Particles in the order of their cells.
#[derive(Debug, Clone, Default)]
pub(super) struct Cells {
    pub points: PointColumns,
    /// For each cell its first particle, and behind the last one their number.
    pub starts: Vec<u32>,
    records: Vec<Record>,
    /// For each chunk and bin where its group begins in the chunk, and where the last one ends.
    groups: Vec<u32>,
}

/// A particle on its way.
#[derive(Debug, Clone, Copy, Default)]
struct Record {
    coordinates: [u32; 3],
    number: u32,
    cell: u32,
}

/// Where things are read from.
#[derive(Clone, Copy)]
struct Source<'a> {
    particles: &'a Particles<'a>,
    images: &'a Images,
    lattice: &'a Lattice,
    /// Cells in a bin, as a power of two, and how many bins there are.
    bin_bits: u32,
    bins: usize,
}

/// A chunk of the particles as they come.
struct Chunk<'a> {
    records: &'a mut [Record],
    groups: &'a mut [u32],
}

/// Cells and particles of one bin.
struct Bin<'a> {
    first_slot: u32,
    starts: &'a mut [u32],
    points: PointColumnsMut<'a>,
}

impl Cells {
    /// Sorts the particles of a frame and their images.
    pub fn sort(&mut self, level: SimdLevel, particles: &Particles<'_>, images: &Images, lattice: &Lattice) {
        let (count, cells) = (particles.len() + images.positions().len(), lattice.count());
        let wanted = (count / BIN).clamp(1, MOST_BINS);
        let bin_bits = cells.div_ceil(wanted).next_power_of_two().trailing_zeros();
        let bins = cells.div_ceil(1 << bin_bits);
        let source = Source { particles, images, lattice, bin_bits, bins };
        self.group(level, source, count);
        self.fill(source, count);
    }

    fn group(&mut self, level: SimdLevel, source: Source<'_>, count: usize) {
        let row = source.bins + 1;
        self.records.resize(count, Record::default());
        self.groups.resize(count.div_ceil(CHUNK) * row, 0);
        let chunks = self.records.chunks_mut(CHUNK).zip(self.groups.chunks_mut(row));
        let mut chunks: Vec<Chunk<'_>> = chunks.map(|(records, groups)| Chunk { records, groups }).collect();
        parallel::for_each_chunk(&mut chunks, 1, |k, chunk| {
            chunk.iter_mut().for_each(|chunk| group_chunk(level, source, k * CHUNK, chunk));
        });
    }

    fn fill(&mut self, source: Source<'_>, count: usize) {
        let (cells, row) = (source.lattice.count(), source.bins + 1);
        let balls = !source.particles.radii().is_empty();
        self.points.resize(count, balls);
        self.starts.resize(cells + 1, 0);
        self.starts[cells] = count as u32;
        let mut bins = Vec::with_capacity(source.bins);
        let mut points = self.points.as_mut();
        let mut first_slot = 0;
        for (bin, starts) in self.starts[..cells].chunks_mut(1 << source.bin_bits).enumerate() {
            let size: u32 = self.groups.chunks(row).map(|g| g[bin + 1] - g[bin]).sum();
            bins.push(Bin { first_slot, starts, points: points.split(size as usize) });
            first_slot += size;
        }
        let (records, groups) = (&self.records, &self.groups);
        parallel::for_each_chunk(&mut bins, 1, |bin, part| {
            let members = || {
                records
                    .chunks(CHUNK)
                    .zip(groups.chunks(row))
                    .flat_map(|(records, groups)| &records[groups[bin] as usize..groups[bin + 1] as usize])
            };
            part.iter_mut()
                .for_each(|part| fill_bin(source, (bin as u32) << source.bin_bits, &members, part));
        });
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.points.bytes() + bytes_of(&self.records) + bytes_of(&self.starts) + bytes_of(&self.groups)
    }
}

dispatch! {
    /// Finds the cells of a chunk's particles and puts them into groups by bin.
    fn group_chunk(source: Source<'_>, first: usize, chunk: &mut Chunk<'_>) = each group_chunk_plain
}

#[inline(always)]
fn group_chunk_plain(source: Source<'_>, first: usize, chunk: &mut Chunk<'_>) {
    let count = chunk.records.len();
    let own = source.particles.len();
    let particles = &source.particles.positions()[first.min(own)..own.min(first + count)];
    let images = &source.images.positions()[first.saturating_sub(own)..(first + count).saturating_sub(own)];
    // Coordinates are computed again when their place is known: that takes less than to write and read them.
    let mut cells = vec![0_u32; count];
    let (of_particles, of_images) = cells.split_at_mut(particles.len());
    for (cells, positions) in [(of_particles, particles), (of_images, images)] {
        for (cell, x) in cells.iter_mut().zip(positions) {
            *cell = source.lattice.cell(source.lattice.fixed(x));
        }
    }
    chunk.groups.fill(0);
    for cell in &cells {
        chunk.groups[(cell >> source.bin_bits) as usize + 1] += 1;
    }
    for bin in 1..=source.bins {
        chunk.groups[bin] += chunk.groups[bin - 1];
    }
    let mut number = first as u32;
    for positions in [particles, images] {
        for (x, &cell) in positions.iter().zip(&cells[number as usize - first..]) {
            let fixed = source.lattice.fixed(x);
            let coordinates = [fixed[0] as u32, fixed[1] as u32, fixed[2] as u32];
            let at = &mut chunk.groups[(cell >> source.bin_bits) as usize];
            chunk.records[*at as usize] = Record { coordinates, number, cell };
            *at += 1;
            number += 1;
        }
    }
    // Each place has run on to the next group's.
    chunk.groups.copy_within(..source.bins, 1);
    chunk.groups[0] = 0;
}

/// Counting sort of one bin.
fn fill_bin<'r, I: Iterator<Item = &'r Record>>(
    source: Source<'_>,
    first_cell: u32,
    members: &impl Fn() -> I,
    bin: &mut Bin<'_>,
) {
    bin.starts.fill(0);
    members().for_each(|record| bin.starts[(record.cell - first_cell) as usize] += 1);
    let mut next = 0;
    for start in bin.starts.iter_mut() {
        next += std::mem::replace(start, next);
    }
    members().for_each(|record| {
        let start = &mut bin.starts[(record.cell - first_cell) as usize];
        let to = *start as usize;
        *start += 1;
        let [x, y, z] = &mut bin.points.coordinates;
        (x[to], y[to], z[to]) = (record.coordinates[0], record.coordinates[1], record.coordinates[2]);
        bin.points.numbers[to] = record.number;
        if !bin.points.radii.is_empty() {
            let radius = source.particles.radius(source.images.source(record.number));
            bin.points.radii[to] = source.lattice.radius(radius);
        }
    });
    let last = bin.starts.len() - 1;
    bin.starts.copy_within(..last, 1);
    bin.starts[0] = 0;
    bin.starts.iter_mut().for_each(|start| *start += bin.first_slot);
}
