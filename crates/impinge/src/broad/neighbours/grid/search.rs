//! Candidates of every particle, tested run by run.

use super::super::images::Images;
use super::super::{Particles, bytes_of};
use super::lattice::Lattice;
use super::sort::Cells;
use crate::num::parallel;
use crate::num::tolerance::IMAGE_MARGIN;
use crate::simd::point_columns::{MOST_LANES, PointLanes};
use crate::simd::{SimdLevel, dispatch};

/// Particles that look for others at a time; their pairs fit into a near cache.
const TASK: usize = 1 << 10;

/// Tasks of a round on several threads; their pairs are then copied in order.
const ROUND: usize = 16;

/// What is searched.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub particles: &'a Particles<'a>,
    pub images: &'a Images,
    pub lattice: &'a Lattice,
    pub cells: &'a Cells,
}

/// What a task found.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    /// The first `count` are pairs; what follows was written in passing.
    pairs: Vec<[u32; 2]>,
    count: usize,
    /// Partners of one particle.
    partners: Vec<u32>,
    tests: u64,
    rows: Vec<(usize, u32)>,
}

impl Found {
    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        bytes_of(&self.pairs) + bytes_of(&self.partners) + bytes_of(&self.rows)
    }
}

impl Search<'_> {
    /// Replaces `pairs` by all pairs; returns the number of tests.
    pub fn pairs(&self, level: SimdLevel, scratch: &mut Vec<Found>, pairs: &mut Vec<[u32; 2]>) -> u64 {
        let count = self.cells.points.len();
        let tasks = count.div_ceil(TASK);
        let task = |k: usize, found: &mut Found| {
            self.task(level, k * TASK, count.min((k + 1) * TASK), found);
        };
        if parallel::threads() == 1 || tasks < 2 {
            scratch.resize_with(1, Found::default);
            pairs.clear();
            return (0..tasks).fold(0, |tests, k| {
                task(k, &mut scratch[0]);
                pairs.extend_from_slice(&scratch[0].pairs[..scratch[0].count]);
                tests + scratch[0].tests
            });
        }
        // What stands in `pairs` is overwritten, so that memory of the last frame is not cleared first.
        scratch.resize_with(ROUND, Found::default);
        let (mut len, mut tests) = (0, 0);
        for first in (0..tasks).step_by(ROUND) {
            let round = &mut scratch[..ROUND.min(tasks - first)];
            parallel::for_each_chunk(round, 1, |k, found| task(first + k, &mut found[0]));
            let total = round.iter().map(|found| found.count).sum::<usize>();
            pairs.resize(pairs.len().max(len + total), [0; 2]);
            let mut free = &mut pairs[len..len + total];
            let mut copies = Vec::with_capacity(ROUND);
            for found in round.iter() {
                let (to, rest) = std::mem::take(&mut free).split_at_mut(found.count);
                free = rest;
                copies.push((to, &found.pairs[..found.count]));
            }
            parallel::for_each_chunk(&mut copies, 1, |_, one| one[0].0.copy_from_slice(one[0].1));
            len += total;
            tests += round.iter().map(|found| found.tests).sum::<u64>();
        }
        pairs.truncate(len);
        tests
    }

    /// Finds the pairs in which the particles from `first` to `end` look forward.
    fn task(&self, level: SimdLevel, first: usize, end: usize, found: &mut Found) {
        (found.count, found.tests) = (0, 0);
        match self.particles.radii().is_empty() {
            true => search_points(level, self, first, end, found),
            false => search_balls(level, self, first, end, found),
        }
        if !self.images.positions().is_empty() {
            self.resolve_images(found);
        }
    }

    /// Numbers of images become those of their particles.
    fn resolve_images(&self, found: &mut Found) {
        let count = self.particles.len() as u32;
        // Two images of a particle are equally near only at half a width; then the doubles say which counts.
        let most = self.particles.domain().widths().into_iter().fold(f64::INFINITY, f64::min);
        let tied = self.particles.candidate_reach() > most * (0.5 - IMAGE_MARGIN);
        let mut kept = 0;
        for k in 0..found.count {
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
    fn search_points(search: &Search<'_>, first: usize, end: usize, found: &mut Found) = proof search_points_plain
}

dispatch! {
    fn search_balls(search: &Search<'_>, first: usize, end: usize, found: &mut Found) = proof search_balls_plain
}

#[inline(always)]
fn search_points_plain<L: PointLanes>(
    lanes: L,
    search: &Search<'_>,
    first: usize,
    end: usize,
    found: &mut Found,
) {
    search_plain::<L, false>(lanes, search, first, end, found);
}

#[inline(always)]
fn search_balls_plain<L: PointLanes>(
    lanes: L,
    search: &Search<'_>,
    first: usize,
    end: usize,
    found: &mut Found,
) {
    search_plain::<L, true>(lanes, search, first, end, found);
}

#[inline(always)]
fn search_plain<L: PointLanes, const BALLS: bool>(
    lanes: L,
    search: &Search<'_>,
    first: usize,
    end: usize,
    found: &mut Found,
) {
    let Search { lattice, cells, .. } = search;
    let (limits, own_along) = (lattice.limits(), lattice.along_own_row());
    let mut rows = std::mem::take(&mut found.rows);
    let [mut row, mut row_end] = [0; 2];
    for slot in first..end {
        let cell = cells.cells[slot] as usize;
        if cell >= row_end {
            let [length, in_slab, _] = lattice.size;
            let number = cell as u32 / length;
            (row, row_end) = (number as usize * length as usize, (number + 1) as usize * length as usize);
            lattice.rows_behind(number % in_slab, number / in_slab, &mut rows);
        }
        let (coordinates, radius) = (cells.points.coordinates(slot), cells.points.radius(slot));
        let one = One {
            search,
            lanes,
            one: lanes.one(coordinates, radius, limits),
            number: cells.points.number(slot),
        };
        let (cell, place) = ((cell - row) as u32, coordinates[0]);
        let [_, last] = lattice.stretch(cell, place, 0, own_along);
        let mut partners = one.run::<BALLS>(slot + 1, cells.starts[row + last] as usize, found, 0);
        for &(row, along) in &rows {
            let [first, last] = lattice.stretch(cell, place, along, along);
            let [first, last] = [cells.starts[row + first], cells.starts[row + last]];
            partners = one.run::<BALLS>(first as usize, last as usize, found, partners);
        }
        list(one.number, partners, found);
    }
    found.rows = rows;
}

/// One particle that looks for others.
struct One<'a, L: PointLanes> {
    search: &'a Search<'a>,
    lanes: L,
    one: L::One,
    number: u32,
}

impl<L: PointLanes> One<'_, L> {
    /// Tests the particles from `at` to `end`; returns the new number of partners.
    #[inline(always)]
    fn run<const BALLS: bool>(&self, at: usize, end: usize, found: &mut Found, mut len: usize) -> usize {
        found.tests += end.saturating_sub(at) as u64;
        let mut run = self.search.cells.points.run(at, end);
        while let Some(batch) = run.first() {
            let Some(to) = found.partners.get_mut(len..).and_then(|free| free.first_chunk_mut()) else {
                found.partners.resize(2 * len + 4 * MOST_LANES, 0);
                continue;
            };
            let masks = self.lanes.test::<BALLS>(&self.one, batch);
            let mut mask = masks.maybe;
            if masks.sure != masks.maybe {
                let decide = |lane| self.decide(batch.number(lane));
                mask = without_far(masks.sure, masks.maybe, decide);
            }
            self.lanes.pack(mask, batch, to);
            len += mask.count_ones() as usize;
            run.skip(L::WIDTH);
        }
        len
    }

    /// The doubles decide.
    #[cold]
    fn decide(&self, other: u32) -> bool {
        self.search.particles.pair_of_images(self.search.images, self.number, other).is_some()
    }
}

/// The lanes of `maybe` that are sure or decided to be pairs.
#[cold]
fn without_far(sure: u32, maybe: u32, decide: impl Fn(u32) -> bool) -> u32 {
    let (mut mask, mut open) = (sure, maybe & !sure);
    while open != 0 {
        let lane = open.trailing_zeros();
        mask |= u32::from(decide(lane)) << lane;
        open &= open - 1;
    }
    mask
}

/// Lists the pairs of a particle and its partners.
#[inline(always)]
fn list(number: u32, partners: usize, found: &mut Found) {
    let needed = found.count + partners + MOST_LANES;
    if found.pairs.len() < needed {
        found.pairs.resize(2 * needed, [0; 2]);
    }
    let (from, _) = found.partners.as_chunks::<MOST_LANES>();
    let to = &mut found.pairs[found.count..];
    for (from, to) in from[..partners.div_ceil(MOST_LANES)].iter().zip(to.as_chunks_mut::<MOST_LANES>().0) {
        for (to, &other) in to.iter_mut().zip(from) {
            *to = [number.min(other), number.max(other)];
        }
    }
    found.count += partners;
}
