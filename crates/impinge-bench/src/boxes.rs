//! The moving boxes of the broad-phase table: the very ones that the peers' figures were measured with.
//!
//! They come from NumPy's generator (PCG64: O'Neill, "PCG: a family of simple fast space-efficient
//! statistically good algorithms for random number generation", 2014), which is rebuilt here and started
//! where `default_rng(7)` stands after the draws for the hulls and motions that come before the boxes.

use glam::DVec3;
use impinge::Aabb;

/// The sizes in the order in which they are drawn, and the pairs of boxes in f64 after five frames.
pub const SIZES: [(usize, u64); 3] = [(10_000, 18_740), (100_000, 194_258), (1_000_000, 1_974_925)];

/// Boxes that fly straight and turn back outside the walls.
#[derive(Debug, Clone)]
pub struct Boxes {
    side: f32,
    centres: Vec<f32>,
    halves: Vec<f32>,
    velocities: Vec<f32>,
}

impl Boxes {
    /// The boxes of one of the [`SIZES`]; of another number, the first of the next larger one.
    pub fn draw(count: usize) -> Boxes {
        let mut generator = Generator { state: 92_916_203_304_210_325_602_153_951_643_373_026_123 };
        let mut drawn = None;
        for (size, _) in SIZES {
            if drawn.is_none() {
                let boxes = generator.boxes(size);
                drawn = (size >= count).then_some(boxes);
            }
        }
        drawn.unwrap_or_else(|| generator.boxes(count))
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.centres.len() / 3
    }

    /// Moves one box in `every` by one frame.
    pub fn advance(&mut self, every: usize) {
        for i in (0..self.len()).step_by(every) {
            for k in 3 * i..3 * i + 3 {
                self.centres[k] += self.velocities[k];
                if self.centres[k] < 0.0 || self.centres[k] > self.side {
                    self.velocities[k] = -self.velocities[k];
                }
            }
        }
    }

    /// One box, exact in f64.
    pub fn bounds(&self, i: usize) -> Aabb {
        let three = |list: &[f32]| DVec3::from([0, 1, 2].map(|k| f64::from(list[3 * i + k])));
        let (centre, half) = (three(&self.centres), three(&self.halves));
        Aabb { low: centre - half, high: centre + half }
    }

    /// Centre and half extents of one box.
    pub fn centre_and_half(&self, i: usize) -> [[f32; 3]; 2] {
        [&self.centres, &self.halves].map(|list| [list[3 * i], list[3 * i + 1], list[3 * i + 2]])
    }
}

/// PCG64 as in NumPy.
pub struct Generator {
    /// Where in its cycle it stands.
    pub state: u128,
}

impl Generator {
    fn next(&mut self) -> u64 {
        const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;
        const INCREMENT: u128 = 261_136_684_632_268_670_825_940_853_076_396_136_793;
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        ((self.state >> 64) as u64 ^ self.state as u64).rotate_right((self.state >> 122) as u32)
    }

    /// The next number from `low` on.
    pub fn uniform(&mut self, low: f64, range: f64) -> f64 {
        low + range * ((self.next() >> 11) as f64 / (1_u64 << 53) as f64)
    }

    fn boxes(&mut self, count: usize) -> Boxes {
        let side = (2.0 * count as f64).powf(1.0 / 3.0);
        let mut draw = |low: f64, range: f64, factor: f64| {
            (0..3 * count).map(|_| (factor * self.uniform(low, range)) as f32).collect()
        };
        let (centres, halves) = (draw(0.0, side, 1.0), draw(0.5, 1.0, 0.5));
        Boxes { side: side as f32, centres, halves, velocities: draw(-0.02, 0.04, 1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_numpy() {
        let boxes = Boxes::draw(10_000);
        assert_eq!(boxes.side, 27.144_176);
        assert_eq!(boxes.centres[..3], [4.651_099, 23.417_103, 26.319_483]);
        assert_eq!(boxes.halves[29_997..], [0.606_290_4, 0.412_931_65, 0.327_826_2]);
        assert_eq!(boxes.velocities[..2], [-0.002_113_922_7, 0.015_798_803]);
        let more = Boxes::draw(100_000);
        assert_eq!(more.centres[299_997..], [41.257_713, 17.016_539, 56.999_626]);
    }
}
