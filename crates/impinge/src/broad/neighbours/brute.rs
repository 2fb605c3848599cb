//! Every pair tried: the twin of all other techniques.

use std::ops::Range;

use super::meter::{Meter, Unit};
use super::particles::{SQUARE_ROUNDING, is_within};
use super::{NeighbourSearch, Particles, SearchCounters, Technique, bytes_of};
use crate::budget::QUANTUM;
use crate::num::parallel;
use crate::num::tolerance::SMALLEST_CUTOFF_UNSCALED;
use crate::simd::{SimdLevel, dispatch};

/// Particles whose pairs one thread looks for at a time.
const CHUNK: usize = 64;

/// Particles that are tried together before each is looked at.
const TOGETHER: usize = 32;

/// Tests of a particle for which a budget is asked at a time.
const METERED: usize = QUANTUM as usize;

/// Tries every pair.
#[derive(Debug, Clone)]
pub(super) struct Brute {
    level: SimdLevel,
    columns: Columns,
    counters: SearchCounters,
}

/// Coordinates and radii one by one; the last are empty for points.
#[derive(Debug, Clone, Default)]
struct Columns {
    coordinates: [Vec<f64>; 3],
    radii: Vec<f64>,
    cutoff: f64,
}

impl Default for Brute {
    fn default() -> Brute {
        let (columns, counters) = (Columns::default(), SearchCounters::default());
        Brute { level: SimdLevel::best(), columns, counters }
    }
}

impl NeighbourSearch for Brute {
    fn technique(&self) -> Technique {
        Technique::Brute
    }

    fn search(&mut self, particles: &Particles<'_>, pairs: &mut Vec<[u32; 2]>) {
        let count = particles.len();
        let tests = (count as u64 * (count as u64).saturating_sub(1)) / 2;
        let meter = Meter::of_thread();
        let all = are_all_pairs(particles);
        if !all {
            self.columns.update(particles);
        }
        let (level, columns) = (self.level, &self.columns);
        let is_open = particles.domain().is_open();
        let list = |i: usize, others: Range<usize>, found: &mut Vec<[u32; 2]>| {
            if all {
                list_all(level, i, others, found);
            } else if is_open && columns.are_enough_for(i) {
                partners(level, columns, particles, i, others, found);
            } else {
                let partners = others.filter(|&j| particles.is_pair(i as u32, j as u32));
                found.extend(partners.map(|j| [i as u32, j as u32]));
            }
        };
        pairs.clear();
        if meter.is_on() {
            let blocks =
                (0..count).flat_map(|i| (i + 1..count).step_by(METERED).map(move |first| (i, first)));
            for (i, first) in blocks {
                let others = first..count.min(first + METERED);
                if !meter.grant(Unit::Test, others.len() as u64, pairs.len()) {
                    break;
                }
                list(i, others, pairs);
            }
        } else if all {
            pairs.reserve(tests as usize);
            (0..count).for_each(|i| list(i, i + 1..count, pairs));
        } else {
            let found = parallel::map(count.div_ceil(CHUNK), |chunk| {
                let mut found = Vec::new();
                (chunk * CHUNK..count.min((chunk + 1) * CHUNK))
                    .for_each(|i| list(i, i + 1..count, &mut found));
                found
            });
            found.into_iter().for_each(|found| pairs.extend(found));
        }
        let bytes = self.columns.coordinates.iter().chain([&self.columns.radii]).map(bytes_of).sum();
        self.counters =
            SearchCounters { tests, pairs: pairs.len() as u64, bytes, ..SearchCounters::default() };
    }

    fn counters(&self) -> SearchCounters {
        self.counters
    }
}

impl Columns {
    fn update(&mut self, particles: &Particles<'_>) {
        for (k, column) in self.coordinates.iter_mut().enumerate() {
            column.clear();
            column.extend(particles.positions().iter().map(|x| x[k]));
        }
        self.radii.clear();
        self.radii.extend_from_slice(particles.radii());
        self.cutoff = particles.cutoff();
    }

    /// Whether in open space plain squares of plain differences decide for a particle: no limit of it is so small that
    /// its square underflows.
    fn are_enough_for(&self, i: usize) -> bool {
        self.radius(i).max(self.cutoff) >= SMALLEST_CUTOFF_UNSCALED
    }

    fn at(&self, i: usize) -> [f64; 3] {
        self.coordinates.each_ref().map(|column| column[i])
    }

    fn radius(&self, i: usize) -> f64 {
        self.radii.get(i).copied().unwrap_or(0.0)
    }
}

dispatch! {
    /// Lists particle i with each of some others: nothing but whole vectors that are stored.
    fn list_all(i: usize, others: Range<usize>, found: &mut Vec<[u32; 2]>) = each list_all_plain
}

#[inline(always)]
fn list_all_plain(i: usize, others: Range<usize>, found: &mut Vec<[u32; 2]>) {
    found.extend(others.map(|j| [i as u32, j as u32]));
}

dispatch! {
    /// Lists the pairs of particle i and some others.
    fn partners(
        columns: &Columns,
        particles: &Particles<'_>,
        i: usize,
        others: Range<usize>,
        found: &mut Vec<[u32; 2]>
    ) = each partners_plain
}

#[inline(always)]
fn partners_plain(
    columns: &Columns,
    particles: &Particles<'_>,
    i: usize,
    others: Range<usize>,
    found: &mut Vec<[u32; 2]>,
) {
    let (at, radius) = (columns.at(i), columns.radius(i));
    for first in others.clone().step_by(TOGETHER) {
        let range = first..others.end.min(first + TOGETHER);
        let [x, y, z] = columns.coordinates.each_ref().map(|column| &column[range.clone()]);
        let all = x.iter().zip(y).zip(z).map(|((x, y), z)| [x - at[0], y - at[1], z - at[2]]);
        let near = match columns.radii.get(range.clone()) {
            None => all.fold(false, |near, d| near | may_be_pair(d, 0.0, columns.cutoff).0),
            Some(radii) => {
                all.zip(radii).fold(false, |near, (d, r)| near | may_be_pair(d, radius + r, columns.cutoff).0)
            }
        };
        if near {
            // Written in any case and kept if it is one: where many are pairs, a branch would be guessed wrong.
            let (mut kept, mut count, mut doubt) = ([[0; 2]; TOGETHER], 0, false);
            for j in range.clone() {
                let other = columns.at(j);
                let d = [other[0] - at[0], other[1] - at[1], other[2] - at[2]];
                kept[count] = [i as u32, j as u32];
                let (may_be, is_sure) = may_be_pair(d, radius + columns.radius(j), columns.cutoff);
                count += usize::from(may_be);
                doubt |= may_be & !is_sure;
            }
            if doubt {
                found.extend(kept[..count].iter().filter(|[i, j]| particles.is_pair(*i, *j)));
            } else {
                found.extend_from_slice(&kept[..count]);
            }
        }
    }
}

/// Whether two particles may be a pair and, if so, whether they surely are: rounding as in [`is_within`].
#[inline(always)]
fn may_be_pair(d: [f64; 3], radii: f64, cutoff: f64) -> (bool, bool) {
    let limit = radii + cutoff;
    let (square, limit) = ((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2], limit * limit);
    let doubt = limit * SQUARE_ROUNDING;
    (square <= limit + doubt, square < limit - doubt)
}

/// Whether the box around all positions is surely so small that every pair is one.
pub(super) fn are_all_pairs(particles: &Particles<'_>) -> bool {
    let [low, high] = particles.bounds();
    particles.domain().is_open()
        && particles.len() > 1
        && is_within(high - low, particles.cutoff()) == Some(true)
}
