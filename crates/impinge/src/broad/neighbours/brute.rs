//! Every pair tried: the twin of all other techniques.

use super::particles::is_within;
use super::{NeighbourSearch, Particles, SearchCounters, Technique};
use crate::num::parallel;

/// Particles whose pairs one thread looks for at a time.
const CHUNK: usize = 64;

/// Tries every pair.
#[derive(Debug, Clone, Default)]
pub(super) struct Brute {
    counters: SearchCounters,
}

impl NeighbourSearch for Brute {
    fn technique(&self) -> Technique {
        Technique::Brute
    }

    fn search(&mut self, particles: &Particles<'_>, pairs: &mut Vec<[u32; 2]>) {
        let count = particles.len();
        let tests = (count as u64 * (count as u64).saturating_sub(1)) / 2;
        if are_all_pairs(particles) {
            pairs.clear();
            pairs.reserve(tests as usize);
            let all = (0..count as u32).flat_map(|i| (i + 1..count as u32).map(move |j| [i, j]));
            all.for_each(|pair| pairs.push(pair));
            self.counters = SearchCounters { tests, pairs: tests, ..SearchCounters::default() };
            return;
        }
        let found = parallel::map(count.div_ceil(CHUNK), |chunk| {
            let mut found = Vec::new();
            for i in chunk * CHUNK..count.min((chunk + 1) * CHUNK) {
                let partners = (i + 1..count).filter(|&j| particles.is_pair(i as u32, j as u32));
                found.extend(partners.map(|j| [i as u32, j as u32]));
            }
            found
        });
        pairs.clear();
        found.into_iter().for_each(|found| pairs.extend(found));
        self.counters = SearchCounters { tests, pairs: pairs.len() as u64, ..SearchCounters::default() };
    }

    fn counters(&self) -> SearchCounters {
        self.counters
    }
}

/// Whether the box around all positions is so small that every pair is one. Rounding keeps the order of differences,
/// squares and sums, so the decision on each pair would be the same.
fn are_all_pairs(particles: &Particles<'_>) -> bool {
    let [low, high] = particles.bounds();
    particles.domain().is_open() && particles.len() > 1 && is_within(high - low, particles.cutoff())
}
