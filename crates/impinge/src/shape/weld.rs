//! Welding: vertices at equal positions become one, for adjacency only; the mesh stays as it came.
//!
//! Equality is that of the doubles, so −0 equals 0 and nothing else is near anything. An open-addressing
//! table over the coordinate bits makes it linear in the number of vertices.

use glam::DVec3;

use crate::num::parallel::in_turn;

/// Stands for a free slot of the table.
const NONE: u32 = u32::MAX;

/// Which vertices have equal positions; welded vertices are numbered in the order of their first use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weld {
    welded: Vec<u32>,
    first: Vec<u32>,
}

impl Weld {
    /// Finds equal positions among at most `u32::MAX` points.
    pub fn of(points: &[DVec3]) -> Weld {
        let slots = (points.len() * 2).next_power_of_two().max(2);
        let mut table = vec![NONE; slots];
        let mut weld = Weld { welded: Vec::with_capacity(points.len()), first: Vec::new() };
        for (v, &p) in in_turn(points).enumerate() {
            let mut slot = hash(p) as usize & (slots - 1);
            let id = loop {
                match table[slot] {
                    NONE => {
                        table[slot] = weld.first.len() as u32;
                        weld.first.push(v as u32);
                        break table[slot];
                    }
                    id if points[weld.first[id as usize] as usize] == p => break id,
                    _ => slot = (slot + 1) & (slots - 1),
                }
            };
            weld.welded.push(id);
        }
        weld
    }

    /// The number of distinct positions.
    pub fn count(&self) -> usize {
        self.first.len()
    }

    /// The welded vertex of a vertex of the mesh.
    #[inline]
    pub fn welded(&self, vertex: u32) -> u32 {
        self.welded[vertex as usize]
    }

    /// The first vertex of the mesh at the position of a welded vertex.
    #[inline]
    pub fn first(&self, welded: u32) -> u32 {
        self.first[welded as usize]
    }

    /// Whether no two vertices have equal positions.
    pub fn is_identity(&self) -> bool {
        self.first.len() == self.welded.len()
    }
}

/// Mixes the bits of the coordinates; adding zero turns −0 into 0.
fn hash(p: DVec3) -> u64 {
    let fold = |a: u64, b: u64| {
        let wide = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD1B5_4A32_D192_ED03);
        wide as u64 ^ (wide >> 64) as u64
    };
    let [x, y, z] = (p + DVec3::ZERO).to_array().map(f64::to_bits);
    fold(fold(fold(x, y), z), 0)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    #[test]
    fn equal_positions_share_a_number_in_order_of_first_use() {
        let p = |x: f64| DVec3::new(x, -x, 0.0);
        let weld = Weld::of(&[p(1.0), p(0.0), p(1.0), -p(0.0), p(2.0)]);
        assert_eq!((0..5).map(|v| weld.welded(v)).collect::<Vec<_>>(), [0, 1, 0, 1, 2]);
        assert_eq!((0..3).map(|w| weld.first(w)).collect::<Vec<_>>(), [0, 1, 4]);
        assert!(!weld.is_identity());
    }

    #[test]
    fn the_nearest_double_is_another_position() {
        let weld = Weld::of(&[DVec3::splat(1.0), DVec3::splat(1.0_f64.next_up()), DVec3::splat(5e-324)]);
        assert_eq!(weld.count(), 3);
        assert!(weld.is_identity());
    }

    #[test]
    fn agrees_with_comparing_all_pairs() {
        let mut dice = Pcg64Mcg::seed_from_u64(1);
        let mut merged = 0;
        for round in 0..50 {
            let side = 1 + round % 3;
            let mut coordinate = || f64::from(dice.random_range(-side..=side)) * 0.1;
            let points: Vec<DVec3> =
                (0..60).map(|_| DVec3::new(coordinate(), coordinate(), coordinate())).collect();
            let weld = Weld::of(&points);
            for i in 0..points.len() {
                let slow = (0..=i).find(|&j| points[j] == points[i]).unwrap();
                assert_eq!(weld.first(weld.welded(i as u32)) as usize, slow);
                merged += usize::from(slow != i);
            }
        }
        assert!((300..2400).contains(&merged), "{merged} of 3000 points were merged");
    }
}
