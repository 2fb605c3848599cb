//! Candidates of every cell, tested block by block: what grid and hash share.
//!
//! Both keep particles of a cell side by side and say which runs of particles these have to look at. The runs are copied
//! into one block, so that vectors are full whatever the lengths of the runs; each particle of the cell is tested with
//! the whole block first and its pairs are listed then: a list that grows by what was just tested would hold up the
//! loads of the next test.

use super::gather::{List, Sink, gather};
use super::grid::RowCells;
use super::hash::CellTable;
use super::images::Images;
use super::meter::{Meter, Unit};
use super::{Particles, bytes_of};
use crate::num::parallel;
use crate::simd::point_columns::{MOST_LANES, PairLimits, PairMasks, PointColumns, PointLanes};
use crate::simd::{SimdLevel, dispatch};

/// Particles that look for others at a time; their pairs fit into a near cache.
const TASK: usize = 1 << 10;

/// The same where a budget is asked before each.
const METERED_TASK: usize = 1 << 4;

/// Candidates of a block: their columns fit into the nearest cache.
const BLOCK: usize = 1 << 10;

/// What is searched.
#[derive(Clone, Copy)]
pub(super) struct Scan<'a> {
    pub particles: &'a Particles<'a>,
    pub images: &'a Images,
    pub points: &'a PointColumns,
    pub limits: PairLimits,
    pub structure: Structure<'a>,
}

/// Where candidates come from.
#[derive(Clone, Copy)]
pub(super) enum Structure<'a> {
    /// Rows of cells.
    Rows(RowCells<'a>),
    /// Cells by their hash.
    Hashed(&'a CellTable),
}

/// What is kept from one search to the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    /// One for each thread.
    workers: Vec<Worker>,
    lists: Vec<List>,
}

impl Scratch {
    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let of_workers = self.workers.iter().map(|worker| bytes_of(&worker.masks) + worker.block.bytes());
        of_workers.sum::<u64>() + self.lists.iter().map(List::bytes).sum::<u64>()
    }
}

/// What a thread needs for its tasks; on cache lines of its own, for it counts every test.
#[derive(Debug, Clone, Default)]
#[repr(align(128))]
struct Worker {
    tests: u64,
    /// Candidates of a cell, side by side.
    block: PointColumns,
    /// Of one particle, for each vector of the block.
    masks: Vec<PairMasks>,
}

impl Worker {
    fn prepare(&mut self, balls: bool) {
        self.tests = 0;
        self.block.resize(BLOCK, balls);
        self.masks.resize(BLOCK, PairMasks::default());
    }
}

impl Scan<'_> {
    /// Replaces `pairs` by all pairs; returns the number of tests.
    pub fn pairs(&self, level: SimdLevel, scratch: &mut Scratch, pairs: &mut Vec<[u32; 2]>) -> u64 {
        let count = self.points.len();
        let tasks = count.div_ceil(TASK);
        let threads = parallel::threads().min(tasks).max(1);
        let Scratch { workers, lists } = scratch;
        workers.resize_with(threads, Worker::default);
        workers.iter_mut().for_each(|worker| worker.prepare(!self.particles.radii().is_empty()));
        if let [worker] = workers.as_mut_slice() {
            let mut sink = Sink::whole(std::mem::take(pairs));
            let meter = Meter::of_thread();
            let size = if meter.is_on() { METERED_TASK } else { TASK };
            for first in parallel::in_turn((0..count).step_by(size)) {
                let end = count.min(first + size);
                let tests = if meter.is_on() { self.tests_ahead(first, end) } else { 0 };
                if !meter.grant(Unit::Test, tests, sink.count()) {
                    break;
                }
                self.task(level, first, end, worker, &mut sink);
            }
            *pairs = sink.into_whole();
        } else {
            gather(tasks, workers, lists, pairs, |k, worker, sink| {
                self.task(level, k * TASK, count.min((k + 1) * TASK), worker, sink);
            });
        }
        workers.iter().map(|worker| worker.tests).sum()
    }

    /// How many tests the particles from `first` to `end` will have.
    fn tests_ahead(&self, first: usize, end: usize) -> u64 {
        let of_cell = |own: [usize; 2], runs: &[[usize; 2]]| {
            let candidates: usize = runs.iter().map(|[first, end]| end - first).sum();
            (1..=own[1] - own[0]).map(|k| (candidates - k) as u64).sum::<u64>()
        };
        let mut tests = 0;
        match &self.structure {
            Structure::Rows(cells) => {
                let mut seeker = cells.seeker(first, end);
                while let Some(own) = seeker.advance() {
                    tests += of_cell(own, seeker.runs());
                }
            }
            Structure::Hashed(cells) => {
                let mut seeker = cells.seeker(first, end);
                while let Some(own) = seeker.advance() {
                    tests += of_cell(own, seeker.runs());
                }
            }
        }
        tests
    }

    /// Adds the pairs in which the particles from `first` to `end` look at those behind them.
    fn task(&self, level: SimdLevel, first: usize, end: usize, worker: &mut Worker, sink: &mut Sink<'_, '_>) {
        let before = sink.count();
        search(level, self, first, end, worker, sink);
        if !self.images.positions().is_empty() {
            self.resolve_images(before, sink);
        }
    }

    /// Numbers of images become those of their particles, in the pairs behind the first `before`.
    fn resolve_images(&self, before: usize, sink: &mut Sink<'_, '_>) {
        let count = self.particles.len() as u32;
        // Two images of a particle are equally near only at half a width; then the doubles say which counts.
        let tied = self.particles.is_tied();
        let (found, pairs) = (sink.count(), sink.slots());
        let mut kept = before;
        for k in before..found {
            let [a, b] = pairs[k];
            let pair = match [a, b] {
                _ if tied => self.particles.pair_of_images(self.images, a, b),
                [_, b] if b < count => Some([a, b]),
                [a, _] if a >= count => None,
                [a, b] => {
                    let b = self.images.source(b);
                    Some([a.min(b), a.max(b)])
                }
            };
            if let Some(pair) = pair {
                pairs[kept] = pair;
                kept += 1;
            }
        }
        sink.set_count(kept);
    }
}

dispatch! {
    fn search(scan: &Scan<'_>, first: usize, end: usize, worker: &mut Worker, sink: &mut Sink<'_, '_>) = proof search_plain
}

#[inline(always)]
fn search_plain<L: PointLanes>(
    lanes: L,
    scan: &Scan<'_>,
    first: usize,
    end: usize,
    worker: &mut Worker,
    sink: &mut Sink<'_, '_>,
) {
    match scan.particles.radii().is_empty() {
        true => search_cells::<L, false>(lanes, scan, first, end, worker, sink),
        false => search_cells::<L, true>(lanes, scan, first, end, worker, sink),
    }
}

#[inline(always)]
fn search_cells<L: PointLanes, const BALLS: bool>(
    lanes: L,
    scan: &Scan<'_>,
    first: usize,
    end: usize,
    worker: &mut Worker,
    sink: &mut Sink<'_, '_>,
) {
    // Loops, not closures: those would not become part of a function for another instruction set.
    match &scan.structure {
        Structure::Rows(cells) => {
            let mut seeker = cells.seeker(first, end);
            while let Some(own) = seeker.advance() {
                search_cell::<L, BALLS>(lanes, scan, own, seeker.runs(), worker, sink);
            }
        }
        Structure::Hashed(cells) => {
            let mut seeker = cells.seeker(first, end);
            while let Some(own) = seeker.advance() {
                search_cell::<L, BALLS>(lanes, scan, own, seeker.runs(), worker, sink);
            }
        }
    }
}

/// Compares particles of a cell with all candidates, of which they are the first.
#[inline(always)]
fn search_cell<L: PointLanes, const BALLS: bool>(
    lanes: L,
    scan: &Scan<'_>,
    own: [usize; 2],
    runs: &[[usize; 2]],
    worker: &mut Worker,
    sink: &mut Sink<'_, '_>,
) {
    let mut before = 0;
    worker.block.clear();
    for &[mut at, end] in runs {
        loop {
            at = worker.block.append(scan.points, at, end);
            if at >= end {
                break;
            }
            search_block::<L, BALLS>(lanes, scan, own, before, worker, sink);
            before += worker.block.len();
            worker.block.clear();
        }
    }
    search_block::<L, BALLS>(lanes, scan, own, before, worker, sink);
}

/// Compares particles of a cell with a block of its candidates, `before` of which were in other blocks.
#[inline(always)]
fn search_block<L: PointLanes, const BALLS: bool>(
    lanes: L,
    scan: &Scan<'_>,
    own: [usize; 2],
    before: usize,
    worker: &mut Worker,
    sink: &mut Sink<'_, '_>,
) {
    let len = worker.block.len();
    for slot in own[0]..own[1] {
        // Candidates up to itself have looked at it.
        let from = (slot - own[0] + 1).saturating_sub(before);
        if from >= len {
            continue;
        }
        worker.tests += (len - from) as u64;
        // List by list a whole vector is written.
        sink.reserve(len - from + MOST_LANES);
        let one = lanes.one(scan.points.coordinates(slot), scan.points.radius(slot), scan.limits);
        let number = scan.points.number(slot);
        let batches = (len - from).div_ceil(L::WIDTH);
        let masks = &mut worker.masks[..batches];
        let mut doubt = 0;
        for (masks, batch) in masks.iter_mut().zip(worker.block.batches::<L>(from)) {
            *masks = lanes.test::<BALLS>(&one, batch);
            doubt |= masks.sure ^ masks.maybe;
        }
        // Lanes behind the last candidate may say anything.
        masks[batches - 1].maybe &= u32::MAX >> (32 - (len - from - (batches - 1) * L::WIDTH));
        if doubt != 0 {
            scan.decide(number, from, L::WIDTH, worker);
        }
        let (mut count, pairs) = (sink.count(), sink.slots());
        for (masks, batch) in worker.masks[..batches].iter().zip(worker.block.batches::<L>(from)) {
            let Some(to) = pairs.get_mut(count..).and_then(|free| free.first_chunk_mut()) else { break };
            lanes.list(masks.maybe, number, batch, to);
            count += masks.maybe.count_ones() as usize;
        }
        sink.set_count(count);
    }
}

impl Scan<'_> {
    /// Where the masks of a particle leave a doubt, the doubles decide.
    #[cold]
    fn decide(&self, number: u32, from: usize, width: usize, worker: &mut Worker) {
        let len = worker.block.len();
        for (masks, at) in worker.masks.iter_mut().zip((from..len).step_by(width)) {
            let mut open = masks.maybe & !masks.sure;
            while open != 0 {
                let lane = open.trailing_zeros();
                open &= open - 1;
                let other = at + lane as usize;
                let is_pair = other < len
                    && self
                        .particles
                        .pair_of_images(self.images, number, worker.block.number(other))
                        .is_some();
                masks.maybe &= !(u32::from(!is_pair) << lane);
            }
        }
    }
}
