//! How crowded particles are, from a sample, and what work each technique is expected to have with them.

use super::grid::candidate_cube;
use super::{Particles, Technique};
use crate::contact::Counters;

/// Particles in whose surroundings others are counted.
const SAMPLES: usize = 32;

/// Pairs that are looked at, for each particle.
const PAIRS_PER_PARTICLE: usize = 8;

/// Particles that are looked at in any case.
const FEW: usize = 256;

/// Points of a leaf of the trees.
const LEAF: f64 = 12.0;

/// Volume of 27 cells as wide as the reach over that of a ball.
const CELLS_OVER_BALL: f64 = 27.0 / 4.19;

/// Means over the particles.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Crowding {
    /// How many particles there are.
    pub count: f64,
    /// How many others are within reach of one.
    pub near: f64,
    /// How many others are in the cells that a grid compares one with.
    pub in_cells: f64,
    /// How many others a sweep along the widest axis compares one with.
    pub in_sweep: f64,
}

impl Crowding {
    /// Estimated from a sample that is the same for the same positions.
    pub fn of(particles: &Particles<'_>) -> Crowding {
        let all = particles.positions();
        let count = all.len();
        if count < 2 {
            return Crowding { count: count as f64, ..Crowding::default() };
        }
        // Golden steps: no lattice of the numbering is met twice at the same place.
        let golden = |k: usize, of: usize| {
            (((k as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize * of) >> 32
        };
        let samples = SAMPLES.min(count);
        let others = (PAIRS_PER_PARTICLE * count / SAMPLES).max(FEW).min(count);
        let mut columns: [Vec<f64>; 3] = std::array::from_fn(|_| Vec::with_capacity(others));
        for k in 0..others {
            let at = all[if others == count { k } else { golden(k + samples, count) }];
            columns.iter_mut().zip(at).for_each(|(column, x)| column.push(x));
        }
        let (reach, cells) = (particles.reach(), candidate_cube(particles));
        let extent = particles.bounds()[1] - particles.bounds()[0];
        let widest = (0..3).fold(0, |best, k| if extent[k] > extent[best] { k } else { best });
        let mut counts = [0_u64; 3];
        for k in 0..samples {
            let found = surroundings(&columns, all[golden(k, count)], reach, cells, widest);
            counts.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
        }
        let scale = count as f64 / others as f64 / samples as f64;
        // A sample that is compared with itself counts once too often.
        let itself = if others == count { 1.0 } else { 0.0 };
        let [near, in_cells, in_sweep] = counts.map(|n| (n as f64 * scale - itself).max(0.0));
        Crowding { count: count as f64, near, in_cells, in_sweep }
    }

    /// The counts that a technique is expected to have in a frame.
    pub fn expected_work(&self, technique: Technique) -> Counters {
        let Crowding { count, near, in_cells, in_sweep } = *self;
        let half = |others: f64| (0.5 * count * others) as u64;
        // Whole leaves are compared: a ball of neighbours grows by a leaf.
        let leaves = (1.0 + (near / LEAF).cbrt()).powi(3);
        let tree = Counters {
            volume_tests: (count / LEAF * leaves) as u64,
            primitive_tests: half(near + LEAF),
            updates: (count * (count / LEAF).max(2.0).log2()) as u64,
        };
        // Without volumes to test, Nv counts the pairs that are found: each is stored.
        let plain = |tested: f64| Counters {
            volume_tests: half(near),
            primitive_tests: half(tested),
            updates: count as u64,
        };
        match technique {
            // A set within the cutoff is listed without tests.
            Technique::Brute if near >= count - 1.0 => Counters { updates: 0, ..plain(0.0) },
            Technique::Brute => Counters { updates: 0, ..plain(count - 1.0) },
            Technique::Grid => plain(in_cells),
            // Cells as wide as the reach, 27 of them against one ball.
            Technique::Hash => plain(CELLS_OVER_BALL * near),
            Technique::Sweep => plain(in_sweep),
            _ => tree,
        }
    }
}

/// How many points are within reach of a place, in the cube around it, and in the slab that a sweep passes.
fn surroundings([x, y, z]: &[Vec<f64>; 3], at: [f64; 3], reach: f64, cells: f64, widest: usize) -> [u64; 3] {
    let mut counts = [0_u64; 3];
    for ((x, y), z) in x.iter().zip(y).zip(z) {
        let d = [x - at[0], y - at[1], z - at[2]];
        let near = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2] <= reach * reach;
        let in_cells = d[0].abs() <= cells && d[1].abs() <= cells && d[2].abs() <= cells;
        let in_sweep = d[widest].abs() <= reach;
        counts[0] += u64::from(near);
        counts[1] += u64::from(in_cells);
        counts[2] += u64::from(in_sweep);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::super::Domain;
    use super::*;
    use crate::num::random::unit;

    #[test]
    fn a_sample_says_about_as_much_as_all() {
        let all: Vec<[f64; 3]> =
            (0..20_000).map(|i| std::array::from_fn(|k| unit(1, 3 * i + k as u64))).collect();
        let particles = Particles::new(&all, Domain::OPEN, 0.1).unwrap();
        let crowding = Crowding::of(&particles);
        // A ball holds 4.19e-3 of the cube, less at the border.
        assert!((60.0..90.0).contains(&crowding.near), "{crowding:?}");
        assert!(crowding.in_cells > crowding.near && crowding.in_sweep > 3000.0, "{crowding:?}");
        assert_eq!(Crowding::of(&Particles::new(&[], Domain::OPEN, 1.0).unwrap()), Crowding::default());
    }
}
