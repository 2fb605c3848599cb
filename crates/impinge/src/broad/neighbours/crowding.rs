//! How crowded particles are, from a sample, and what work each technique is expected to have with them.

use super::brute::are_all_pairs;
use super::{Particles, Technique};
use super::{grid, hash};
use crate::contact::Counters;
use crate::simd::{SimdLevel, dispatch};

/// Particles in whose surroundings others are counted.
const SAMPLES: usize = 32;

/// Pairs that are looked at, for each particle.
const PAIRS_PER_PARTICLE: usize = 8;

/// Particles that are looked at in any case.
const FEW: usize = 256;

/// Points of a leaf of the trees.
const LEAF: f64 = 12.0;

/// Means over the particles.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Crowding {
    /// How many particles there are.
    pub count: f64,
    /// How many others are pairs with one.
    pub near: f64,
    /// How many others are in the cells that a grid compares one with.
    pub in_cells: f64,
    /// How many others are in the cells of a hash table around one.
    pub in_hashed_cells: f64,
    /// How many others a sweep along the widest axis compares one with.
    pub in_sweep: f64,
    /// Whether the box around all is so small that every pair is one.
    pub are_all_pairs: bool,
}

/// Where others are counted: the lengths are those of a ball's radius and of half the sides of cubes.
struct Around {
    at: [f64; 3],
    reach: f64,
    cells: f64,
    hashed_cells: f64,
    widest: usize,
}

impl Crowding {
    /// Estimated from a sample that is the same for the same positions, for cells about as wide as `voxel` says.
    pub fn of(particles: &Particles<'_>, voxel: Option<f64>) -> Crowding {
        let all = particles.positions();
        let count = all.len();
        if count < 2 {
            return Crowding { count: count as f64, ..Crowding::default() };
        }
        // Golden steps: no lattice of the numbering is met twice at the same place.
        let golden = |k: usize, of: usize| {
            (((k as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize * of) >> 32
        };
        let [samples, others] = sizes(count);
        let mut columns: [Vec<f64>; 3] = std::array::from_fn(|_| Vec::with_capacity(others));
        let other = |k: usize| if others == count { k } else { golden(k + samples, count) };
        for k in 0..others {
            columns.iter_mut().zip(all[other(k)]).for_each(|(column, x)| column.push(x));
        }
        let radii: Vec<f64> = (0..others).filter_map(|k| particles.radii().get(other(k)).copied()).collect();
        let [cells, hashed_cells] =
            [grid::candidate_cube, hash::candidate_cube].map(|cube| cube(particles, voxel));
        let reach = particles.reach();
        let extent = particles.bounds()[1] - particles.bounds()[0];
        let widest = (0..3).fold(0, |best, k| if extent[k] > extent[best] { k } else { best });
        let mut counts = [0_u64; 4];
        for k in 0..samples {
            let around = Around { at: all[golden(k, count)], reach, cells, hashed_cells, widest };
            let mut found = surroundings(SimdLevel::best(), &columns, &around);
            if !radii.is_empty() {
                let radius = particles.radius(golden(k, count) as u32);
                found[0] = balls_near(&columns, &radii, &around, radius, particles.cutoff());
            }
            counts.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
        }
        let scale = count as f64 / others as f64 / samples as f64;
        // A sample that is compared with itself counts once too often.
        let itself = if others == count { 1.0 } else { 0.0 };
        let [near, in_cells, in_hashed_cells, in_sweep] =
            counts.map(|n| (n as f64 * scale - itself).max(0.0));
        let are_all_pairs = are_all_pairs(particles);
        Crowding { count: count as f64, near, in_cells, in_hashed_cells, in_sweep, are_all_pairs }
    }

    /// The counts that a technique is expected to have in a frame.
    pub fn expected_work(&self, technique: Technique) -> Counters {
        let Crowding { count, near, in_cells, in_hashed_cells, in_sweep, are_all_pairs } = *self;
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
            // A set within the cutoff is listed without tests, which takes less than to find as many pairs: with no
            // structure to update, Nu counts those.
            Technique::Brute if are_all_pairs => Counters { updates: half(near), ..Counters::default() },
            Technique::Brute => Counters { updates: 0, ..plain(count - 1.0) },
            Technique::Grid => plain(in_cells),
            Technique::Hash => plain(in_hashed_cells),
            Technique::Sweep => plain(in_sweep),
            _ => tree,
        }
    }
}

/// How many particles are looked around, and at how many others.
fn sizes(count: usize) -> [usize; 2] {
    [SAMPLES.min(count), (PAIRS_PER_PARTICLE * count / SAMPLES).max(FEW).min(count)]
}

/// How many tests a sample of so many particles takes.
pub(super) fn sample_tests(count: usize) -> u64 {
    sizes(count).map(|n| n as u64).iter().product()
}

dispatch! {
    /// How many points are within reach of a place, in the cubes around it that a grid and a hash table search, and in
    /// the slab that a sweep passes.
    fn surroundings(points: &[Vec<f64>; 3], around: &Around) -> [u64; 4] = each surroundings_plain
}

#[inline(always)]
fn surroundings_plain([x, y, z]: &[Vec<f64>; 3], around: &Around) -> [u64; 4] {
    let Around { at, reach, cells, hashed_cells, widest } = *around;
    let mut counts = [0_u64; 4];
    for ((x, y), z) in x.iter().zip(y).zip(z) {
        let d = [(x - at[0]).abs(), (y - at[1]).abs(), (z - at[2]).abs()];
        let within = |half: f64| (d[0] <= half) & (d[1] <= half) & (d[2] <= half);
        counts[0] += u64::from((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2] <= reach * reach);
        counts[1] += u64::from(within(cells));
        counts[2] += u64::from(within(hashed_cells));
        counts[3] += u64::from(
            if widest == 0 {
                d[0]
            } else if widest == 1 {
                d[1]
            } else {
                d[2]
            } <= reach,
        );
    }
    counts
}

/// How many balls are pairs with one. A pair counts for the smaller of the two, twice, so that one large ball in the
/// sample does not stand for many; of two that are equal it counts for each.
fn balls_near([x, y, z]: &[Vec<f64>; 3], radii: &[f64], around: &Around, radius: f64, cutoff: f64) -> u64 {
    let mut near = 0;
    for (((x, y), z), other) in x.iter().zip(y).zip(z).zip(radii) {
        let d = [x - around.at[0], y - around.at[1], z - around.at[2]];
        let limit = radius + other + cutoff;
        let is_near = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2] <= limit * limit;
        near += u64::from(is_near) * (u64::from(*other >= radius) + u64::from(*other > radius));
    }
    near
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
        let crowding = Crowding::of(&particles, None);
        // A ball holds 4.19e-3 of the cube, less at the border.
        assert!((60.0..90.0).contains(&crowding.near), "{crowding:?}");
        assert!(crowding.in_cells > crowding.near && crowding.in_sweep > 3000.0, "{crowding:?}");
        // Cells that hold all.
        let wide = Crowding::of(&particles, Some(2.0));
        assert!(wide.in_cells > 15_000.0 && wide.in_hashed_cells > 15_000.0, "{wide:?}");
        // Among balls of one size, or with one large one, pairs are counted by their own radii.
        for large in [0.02, 3.0] {
            let mut radii = vec![0.02; all.len()];
            radii[0] = large;
            let balls = Crowding::of(&Particles::with_radii(&all, &radii, Domain::OPEN, 0.06).unwrap(), None);
            assert!((60.0..110.0).contains(&balls.near), "{large}: {balls:?}");
        }
        assert_eq!(Crowding::of(&Particles::new(&[], Domain::OPEN, 1.0).unwrap(), None), Crowding::default());
    }
}
