//! Candidates of every cell, tested block by block: what grid and hash share.
//!
//! Both keep particles of a cell side by side and say which runs of particles these have to look at. The runs are copied
//! into one block, so that vectors are full whatever the lengths of the runs; each particle of the cell is tested with
//! the whole block first and its pairs are listed then: a list that grows by what was just tested would hold up the
//! loads of the next test.

use std::sync::atomic::{AtomicU64, Ordering};

use super::gather::{TaskList, gather};
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

/// Pairs for which room is made at a time.
const PAIRS: usize = 1 << 14;

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

/// What tasks found, and what they need.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    /// The first `count` are pairs; what follows was written in passing or stood there before.
    pairs: Vec<[u32; 2]>,
    count: usize,
    tests: u64,
    /// Candidates of a cell, side by side.
    block: PointColumns,
    /// Of one particle, for each vector of the block.
    masks: Vec<PairMasks>,
}

impl Found {
    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        bytes_of(&self.pairs) + bytes_of(&self.masks) + self.block.bytes()
    }

    /// Makes room for so many pairs more, and a vector. Memory that was used before is not cleared.
    #[inline(always)]
    fn reserve(&mut self, more: usize) {
        let needed = self.count + more + MOST_LANES;
        if self.pairs.len() < needed {
            self.pairs.resize(needed + PAIRS, [0; 2]);
        }
    }
}

impl TaskList for Found {
    fn restart(&mut self) {
        (self.count, self.tests) = (0, 0);
    }

    fn found(&self) -> &[[u32; 2]] {
        &self.pairs[..self.count]
    }
}

impl Scan<'_> {
    /// Replaces `pairs` by all pairs; returns the number of tests.
    pub fn pairs(&self, level: SimdLevel, scratch: &mut Vec<Found>, pairs: &mut Vec<[u32; 2]>) -> u64 {
        let count = self.points.len();
        let tasks = count.div_ceil(TASK);
        let task = |k: usize, found: &mut Found| {
            self.task(level, k * TASK, count.min((k + 1) * TASK), found);
        };
        if parallel::threads() == 1 || tasks < 2 {
            scratch.resize_with(1, Found::default);
            let found = &mut scratch[0];
            found.restart();
            // Straight into the list.
            std::mem::swap(&mut found.pairs, pairs);
            let meter = Meter::of_thread();
            let size = if meter.is_on() { METERED_TASK } else { TASK };
            for first in parallel::in_turn((0..count).step_by(size)) {
                let end = count.min(first + size);
                let tests = if meter.is_on() { self.tests_ahead(first, end) } else { 0 };
                if !meter.grant(Unit::Test, tests, found.count) {
                    break;
                }
                self.task(level, first, end, found);
            }
            found.pairs.truncate(found.count);
            std::mem::swap(&mut found.pairs, pairs);
            return found.tests;
        }
        let tests = AtomicU64::new(0);
        gather(tasks, scratch, pairs, |k, found| {
            task(k, found);
            tests.fetch_add(found.tests, Ordering::Relaxed);
        });
        tests.into_inner()
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
    fn task(&self, level: SimdLevel, first: usize, end: usize, found: &mut Found) {
        let (before, balls) = (found.count, !self.particles.radii().is_empty());
        found.block.resize(BLOCK, balls);
        found.masks.resize(BLOCK, PairMasks::default());
        match balls {
            false => search_points(level, self, first, end, found),
            true => search_balls(level, self, first, end, found),
        }
        if !self.images.positions().is_empty() {
            self.resolve_images(before, found);
        }
    }

    /// Numbers of images become those of their particles, in the pairs behind the first `before`.
    fn resolve_images(&self, before: usize, found: &mut Found) {
        let count = self.particles.len() as u32;
        // Two images of a particle are equally near only at half a width; then the doubles say which counts.
        let tied = self.particles.is_tied();
        let mut kept = before;
        for k in before..found.count {
            let [a, b] = found.pairs[k];
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
                found.pairs[kept] = pair;
                kept += 1;
            }
        }
        found.count = kept;
    }
}

dispatch! {
    fn search_points(scan: &Scan<'_>, first: usize, end: usize, found: &mut Found) = proof search_points_plain
}

dispatch! {
    fn search_balls(scan: &Scan<'_>, first: usize, end: usize, found: &mut Found) = proof search_balls_plain
}

#[inline(always)]
fn search_points_plain<L: PointLanes>(
    lanes: L,
    scan: &Scan<'_>,
    first: usize,
    end: usize,
    found: &mut Found,
) {
    search_plain::<L, false>(lanes, scan, first, end, found);
}

#[inline(always)]
fn search_balls_plain<L: PointLanes>(lanes: L, scan: &Scan<'_>, first: usize, end: usize, found: &mut Found) {
    search_plain::<L, true>(lanes, scan, first, end, found);
}

#[inline(always)]
fn search_plain<L: PointLanes, const BALLS: bool>(
    lanes: L,
    scan: &Scan<'_>,
    first: usize,
    end: usize,
    found: &mut Found,
) {
    // Loops, not closures: those would not become part of a function for another instruction set.
    match &scan.structure {
        Structure::Rows(cells) => {
            let mut seeker = cells.seeker(first, end);
            while let Some(own) = seeker.advance() {
                search_cell::<L, BALLS>(lanes, scan, own, seeker.runs(), found);
            }
        }
        Structure::Hashed(cells) => {
            let mut seeker = cells.seeker(first, end);
            while let Some(own) = seeker.advance() {
                search_cell::<L, BALLS>(lanes, scan, own, seeker.runs(), found);
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
    found: &mut Found,
) {
    let mut before = 0;
    found.block.clear();
    for &[mut at, end] in runs {
        loop {
            at = found.block.append(scan.points, at, end);
            if at >= end {
                break;
            }
            search_block::<L, BALLS>(lanes, scan, own, before, found);
            before += found.block.len();
            found.block.clear();
        }
    }
    search_block::<L, BALLS>(lanes, scan, own, before, found);
}

/// Compares particles of a cell with a block of its candidates, `before` of which were in other blocks.
#[inline(always)]
fn search_block<L: PointLanes, const BALLS: bool>(
    lanes: L,
    scan: &Scan<'_>,
    own: [usize; 2],
    before: usize,
    found: &mut Found,
) {
    let len = found.block.len();
    for slot in own[0]..own[1] {
        // Candidates up to itself have looked at it.
        let from = (slot - own[0] + 1).saturating_sub(before);
        if from >= len {
            continue;
        }
        found.tests += (len - from) as u64;
        found.reserve(len - from);
        let one = lanes.one(scan.points.coordinates(slot), scan.points.radius(slot), scan.limits);
        let number = scan.points.number(slot);
        let batches = (len - from).div_ceil(L::WIDTH);
        let masks = &mut found.masks[..batches];
        let mut doubt = 0;
        for (masks, batch) in masks.iter_mut().zip(found.block.batches::<L>(from)) {
            *masks = lanes.test::<BALLS>(&one, batch);
            doubt |= masks.sure ^ masks.maybe;
        }
        // Lanes behind the last candidate may say anything.
        masks[batches - 1].maybe &= u32::MAX >> (32 - (len - from - (batches - 1) * L::WIDTH));
        if doubt != 0 {
            scan.decide(number, from, L::WIDTH, found);
        }
        let (mut count, pairs) = (found.count, found.pairs.as_mut_slice());
        for (masks, batch) in found.masks[..batches].iter().zip(found.block.batches::<L>(from)) {
            let Some(to) = pairs.get_mut(count..).and_then(|free| free.first_chunk_mut()) else { break };
            lanes.list(masks.maybe, number, batch, to);
            count += masks.maybe.count_ones() as usize;
        }
        found.count = count;
    }
}

impl Scan<'_> {
    /// Where the masks of a particle leave a doubt, the doubles decide.
    #[cold]
    fn decide(&self, number: u32, from: usize, width: usize, found: &mut Found) {
        let len = found.block.len();
        for (masks, at) in found.masks.iter_mut().zip((from..len).step_by(width)) {
            let mut open = masks.maybe & !masks.sure;
            while open != 0 {
                let lane = open.trailing_zeros();
                open &= open - 1;
                let other = at + lane as usize;
                let is_pair = other < len
                    && self
                        .particles
                        .pair_of_images(self.images, number, found.block.number(other))
                        .is_some();
                masks.maybe &= !(u32::from(!is_pair) << lane);
            }
        }
    }
}
