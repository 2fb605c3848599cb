//! Seeded numbers in a row.

use impinge::num::random::unit;

/// The numbers of a seed, one after the other.
#[derive(Debug, Clone)]
pub struct Numbers {
    seed: u64,
    drawn: u64,
}

impl Numbers {
    /// From the first.
    pub fn new(seed: u64) -> Numbers {
        Numbers { seed, drawn: 0 }
    }

    /// The next one, uniform from `low` to `high`.
    pub fn next(&mut self, low: f64, high: f64) -> f64 {
        self.drawn += 1;
        low + (high - low) * unit(self.seed, self.drawn)
    }

    /// A point of a cube.
    pub fn point(&mut self, low: f64, high: f64) -> [f64; 3] {
        [self.next(low, high), self.next(low, high), self.next(low, high)]
    }
}
