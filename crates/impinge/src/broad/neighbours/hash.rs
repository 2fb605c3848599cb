//! Spatial hashing: only cells that hold particles exist, found by the hash of their place.
//!
//! After Teschner, Heidelberger, Müller, Pomeranets and Gross, "Optimized spatial hashing for collision detection of
//! deformable objects", 2003. There several cells may share a bucket; here the table keeps each cell's place, so that
//! candidates are neighbours indeed. For sets of great extent with much empty space, where a grid would have to make
//! its cells wide.

use std::ops::Range;

use super::images::Images;
use super::lattice::Lattice;
use super::point_queries::{nearest_by_growing, within_candidates};
use super::scan::{Scan, Scratch, Structure};
use super::{Nearest, NeighbourSearch, Particles, SearchCounters, Technique, bytes_of};
use crate::num::parallel;
use crate::simd::SimdLevel;
use crate::simd::point_columns::PointColumns;

/// Bits of a cell's place along one axis; three of them fit into a key.
const AXIS_BITS: u32 = 21;

/// The key of no cell.
const NOTHING: u64 = u64::MAX;

/// The rows of cells behind one's own, half of those around it: what is added to a cell's key.
const ROWS_BEHIND: [i64; 4] = [ROW, SLAB - ROW, SLAB, SLAB + ROW];
const ROW: i64 = 1 << AXIS_BITS;
const SLAB: i64 = 1 << (2 * AXIS_BITS);

/// Particles in hashed cells.
#[derive(Debug, Clone)]
pub(super) struct Hash {
    level: SimdLevel,
    voxel: Option<f64>,
    images: Images,
    lattice: Lattice,
    table: CellTable,
    points: PointColumns,
    scratch: Scratch,
    counters: SearchCounters,
}

/// Cells by their place.
#[derive(Debug, Clone, Default)]
pub(super) struct CellTable {
    /// Open addressing: a key and the number of its cell.
    slots: Vec<(u64, u32)>,
    /// Ascending: row by row, as in a grid.
    keys: Vec<u64>,
    /// For each cell its first particle, and behind the last one their number.
    starts: Vec<u32>,
}

impl Hash {
    /// Cells about as wide as `voxel` says, but never narrower than the cutoff; without it, as wide as the cutoff.
    pub fn new(voxel: Option<f64>) -> Hash {
        Hash {
            level: SimdLevel::best(),
            voxel,
            images: Images::default(),
            lattice: Lattice::default(),
            table: CellTable::default(),
            points: PointColumns::default(),
            scratch: Scratch::default(),
            counters: SearchCounters::default(),
        }
    }

    fn fill(&mut self, particles: &Particles<'_>) {
        let lattice = &self.lattice;
        let count = particles.len() + self.images.positions().len();
        let positions = || parallel::in_turn(particles.positions().iter().chain(self.images.positions()));
        let of_points =
            self.table.place(count, positions().map(|x| key(lattice.cells(lattice.fixed(x)).map(u64::from))));
        self.points.resize(count, !particles.radii().is_empty());
        let mut to = self.points.as_mut();
        let mut next = self.table.starts.clone();
        for ((number, x), cell) in (0..).zip(positions()).zip(of_points) {
            let at = next[cell as usize] as usize;
            next[cell as usize] += 1;
            let fixed = lattice.fixed(x);
            for (column, x) in to.coordinates.iter_mut().zip(fixed) {
                column[at] = x as u32;
            }
            to.numbers[at] = number;
            if let Some(radius) = to.radii.get_mut(at) {
                *radius = lattice.radius(particles.radius(self.images.source(number)));
            }
        }
    }
}

impl NeighbourSearch for Hash {
    fn technique(&self) -> Technique {
        Technique::Hash
    }

    fn update(&mut self, particles: &Particles<'_>) {
        self.images.update(particles);
        self.lattice = Lattice::sparse(particles, &self.images, self.voxel);
        self.fill(particles);
    }

    fn search(&mut self, particles: &Particles<'_>, pairs: &mut Vec<[u32; 2]>) {
        self.update(particles);
        let scan = Scan {
            particles,
            images: &self.images,
            points: &self.points,
            limits: self.lattice.limits(),
            structure: Structure::Hashed(&self.table),
        };
        let tests = scan.pairs(self.level, &mut self.scratch, pairs);
        self.counters = SearchCounters {
            tests,
            pairs: pairs.len() as u64,
            updates: self.points.len() as u64,
            bytes: self.images.bytes() + self.points.bytes() + self.table.bytes() + self.scratch.bytes(),
            ..SearchCounters::default()
        };
    }

    fn counters(&self) -> SearchCounters {
        self.counters
    }

    fn nearest(&self, particles: &Particles<'_>, point: [f64; 3], k: usize, found: &mut Vec<Nearest>) {
        let within = |radius: f64, found: &mut Vec<Nearest>| self.within(particles, point, radius, found);
        nearest_by_growing(particles, self.lattice.width(), k, found, within);
    }

    fn within(&self, particles: &Particles<'_>, point: [f64; 3], radius: f64, found: &mut Vec<Nearest>) {
        within_candidates(particles, point, radius, found, |centre, radius, each| {
            let Some(cells) = self.lattice.around(centre, radius) else { return };
            self.table.within(cells, |slots| slots.for_each(|slot| each(self.points.number(slot))));
        });
    }
}

impl CellTable {
    /// Makes the cells of particles that come with these keys; returns the cell of each.
    fn place(&mut self, count: usize, keys: impl Iterator<Item = u64>) -> Vec<u32> {
        self.slots.clear();
        self.slots.resize((2 * count.max(1)).next_power_of_two(), (NOTHING, 0));
        self.keys.clear();
        self.starts.clear();
        let mut of_points = Vec::with_capacity(count);
        for key in keys {
            let at = self.find(key);
            if self.slots[at].0 == NOTHING {
                self.slots[at] = (key, self.keys.len() as u32);
                self.keys.push(key);
                self.starts.push(0);
            }
            let cell = self.slots[at].1;
            self.starts[cell as usize] += 1;
            of_points.push(cell);
        }
        self.order(&mut of_points);
        of_points
    }

    /// Numbers the cells by their place instead of their first particle, so that neighbours lie near each other in
    /// memory, and turns their counts into starts.
    fn order(&mut self, of_points: &mut [u32]) {
        let mut order: Vec<(u64, u32)> = self.keys.iter().copied().zip(0..).collect();
        parallel::sort(&mut order);
        let counts = std::mem::take(&mut self.starts);
        let mut numbers = vec![0; order.len()];
        self.keys.clear();
        let mut next = 0;
        for (&(key, old), number) in order.iter().zip(0..) {
            numbers[old as usize] = number;
            self.keys.push(key);
            self.starts.push(next);
            next += counts[old as usize];
        }
        self.starts.push(next);
        let used = self.slots.iter_mut().filter(|slot| slot.0 != NOTHING);
        used.for_each(|slot| slot.1 = numbers[slot.1 as usize]);
        of_points.iter_mut().for_each(|cell| *cell = numbers[*cell as usize]);
    }

    /// The place in the table of a cell, or where it would stand.
    #[inline]
    fn find(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.slots[at].0 != key && self.slots[at].0 != NOTHING {
            at = (at + 1) & mask;
        }
        at
    }

    /// Before the cell of particle `first`; the last one is that of the particle before `end`.
    pub fn seeker(&self, first: usize, end: usize) -> Seeker<'_> {
        let cell = self.starts.partition_point(|&start| start as usize <= first).saturating_sub(1);
        let begins = ROWS_BEHIND.map(|row| match self.keys.get(cell) {
            Some(&key) => self.keys.partition_point(|&other| other < before(key.wrapping_add_signed(row))),
            None => 0,
        });
        Seeker { table: self, first, end, cell, begins, runs: Vec::new() }
    }

    /// Calls `each` with runs of particles that hold all in a box of cells, given by the first and last along each axis.
    fn within(&self, [x, y, z]: [[u32; 2]; 3], mut each: impl FnMut(Range<usize>)) {
        let run = |cells: Range<usize>| self.starts[cells.start] as usize..self.starts[cells.end] as usize;
        let [rows, slabs] = [y, z].map(|[first, last]| u64::from(last - first) + 1);
        if rows.saturating_mul(slabs) >= self.keys.len() as u64 {
            // More rows than cells: it takes less to look at each cell.
            let is_inside =
                |key: u64| [x, y, z].iter().zip(cell_of(key)).all(|([l, h], at)| (*l..=*h).contains(&at));
            let inside = (0..self.keys.len()).filter(|&cell| is_inside(self.keys[cell]));
            return inside.for_each(|cell| each(run(cell..cell + 1)));
        }
        for z in z[0]..=z[1] {
            for y in y[0]..=y[1] {
                let [first, last] = x.map(|x| key([x, y, z].map(u64::from)));
                let begin = self.keys.partition_point(|&key| key < first);
                let count = self.keys[begin..].partition_point(|&key| key <= last);
                each(run(begin..begin + count));
            }
        }
    }

    /// Bytes held.
    fn bytes(&self) -> u64 {
        bytes_of(&self.slots) + bytes_of(&self.keys) + bytes_of(&self.starts)
    }
}

/// Goes from one cell to the next and knows the cells around it.
pub(super) struct Seeker<'a> {
    table: &'a CellTable,
    /// The particles that look for others.
    first: usize,
    end: usize,
    /// The next cell.
    cell: usize,
    /// In each row behind, the first cell that is not before those to look at. It only ever moves on, so that no cell has
    /// to be looked up.
    begins: [usize; 4],
    runs: Vec<[usize; 2]>,
}

impl Seeker<'_> {
    /// Goes to the next cell with particles that look for others; returns the first of these and their end.
    #[inline(always)]
    pub fn advance(&mut self) -> Option<[usize; 2]> {
        let (cell, CellTable { keys, starts, .. }) = (self.cell, self.table);
        if cell >= keys.len() || starts[cell] as usize >= self.end {
            return None;
        }
        self.cell += 1;
        let own = [(starts[cell] as usize).max(self.first), (starts[cell + 1] as usize).min(self.end)];
        self.enter(cell, own[0]);
        Some(own)
    }

    /// The candidates of the cell's particles: these first, then those behind them in their row, then the rows behind.
    #[inline(always)]
    pub fn runs(&self) -> &[[usize; 2]] {
        &self.runs
    }

    #[inline(always)]
    fn enter(&mut self, cell: usize, first: usize) {
        let CellTable { keys, starts, .. } = self.table;
        let key = keys[cell];
        self.runs.clear();
        let next = cell + 1 + usize::from(keys.get(cell + 1) == Some(&(key + 1)));
        self.runs.push([first, starts[next] as usize]);
        for (begin, row) in self.begins.iter_mut().zip(ROWS_BEHIND) {
            let middle = key.wrapping_add_signed(row);
            while keys.get(*begin).is_some_and(|&other| other < before(middle)) {
                *begin += 1;
            }
            let near = keys[*begin..].iter().take(3).take_while(|&&other| other <= middle + 1).count();
            if near > 0 {
                self.runs.push([starts[*begin] as usize, starts[*begin + near] as usize]);
            }
        }
    }
}

/// The key of the cell before another in its row, or of that one where it is the first. Rows have fewer cells than a key has
/// room for, so a row that is outside holds none.
#[inline(always)]
fn before(key: u64) -> u64 {
    key - u64::from(key & ((1 << AXIS_BITS) - 1) != 0)
}

/// Half the side of the cube around a particle in which a hash table would look for its neighbours.
pub(super) fn candidate_cube(particles: &Particles<'_>, voxel: Option<f64>) -> f64 {
    Lattice::sparse(particles, &Images::default(), voxel).candidate_cube()
}

/// The place that a number stands for.
fn cell_of(key: u64) -> [u32; 3] {
    [0, AXIS_BITS, 2 * AXIS_BITS].map(|bits| (key >> bits) as u32 & ((1 << AXIS_BITS) - 1))
}

/// A cell's place as one number.
#[inline(always)]
fn key([x, y, z]: [u64; 3]) -> u64 {
    x | y << AXIS_BITS | z << (2 * AXIS_BITS)
}
