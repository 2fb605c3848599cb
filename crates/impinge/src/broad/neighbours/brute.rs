//! Every pair tried: the twin of all other techniques.

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
        let tests = (count as u64 * (count as u64).saturating_sub(1)) / 2;
        self.counters = SearchCounters { tests, pairs: pairs.len() as u64, ..SearchCounters::default() };
    }

    fn counters(&self) -> SearchCounters {
        self.counters
    }
}
