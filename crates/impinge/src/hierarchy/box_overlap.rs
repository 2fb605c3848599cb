//! A few boxes of one node against all eight of another, in one call.
//!
//! Gottschalk, Lin and Manocha, "OBBTree", 1996: of the fifteen separating axes only the six face
//! normals are tried; the nine edge products cost more than they save. The eight boxes are carried into
//! the frame of the few, and each of the few into the frame of the eight; then a pair costs six
//! comparisons. The versions give the same bits, since all of them fuse the same products and sums: the
//! work of a search is the same on every machine.

use super::relative::Map;
use super::wide::{Node, WIDTH};
use crate::simd::dispatch;

/// A [`Map`] in the form that the tests want.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(32))]
pub struct Carrier {
    /// The columns of the turn, each twice; the fourth and eighth numbers are 0.
    pub(super) turn: [Lanes; 3],
    /// Their absolute values.
    stretch: [Lanes; 3],
    pub(super) shift: Lanes,
    pad: Lanes,
    /// A length of the source in the target's units.
    pub(super) scale: f32,
    /// The inverse of that.
    pub(super) unscale: f32,
}

impl Carrier {
    /// From a map.
    #[inline]
    pub fn new(map: &Map) -> Carrier {
        let twice = |[x, y, z]: [f32; 3]| [x, y, z, 0.0, x, y, z, 0.0];
        let turn = [0, 1, 2].map(|j| twice([map.turn[0][j], map.turn[1][j], map.turn[2][j]]));
        let stretch = turn.map(|column| column.map(f32::abs));
        // An axis that decides nothing has a row of zeros.
        // In f64, where no square underflows.
        let square = |row: [f32; 3]| row.map(|x| f64::from(x) * f64::from(x)).into_iter().sum::<f64>();
        let square = map.turn.map(square).into_iter().fold(0.0, f64::max);
        let scale = square.sqrt() as f32;
        let (shift, pad) = (twice(map.shift), twice(map.pad));
        Carrier { turn, stretch, shift, pad, scale, unscale: scale.recip() }
    }
}

type Lanes = [f32; WIDTH];

dispatch! {
    /// Which of the lanes `rows` of `few` and of all lanes of `many` can share a point: bit 8·i + j for lane i
    /// of the few and lane j of the many.
    ///
    /// `to_few` carries boxes of `many` into the frame of `few`, `to_many` the other way.
    #[inline]
    pub fn overlaps(few: &Node, rows: u8, many: &Node, to_few: &Carrier, to_many: &Carrier) -> u64
        = { portable, avx2::overlaps, avx512::overlaps }
}

dispatch! {
    /// The lanes of a node whose boxes reach a box of the same frame; also those that cannot be told.
    #[inline]
    pub fn reaching(node: &Node, centre: &[f32; 3], half: &[f32; 3]) -> u8
        = { reaching_portable, avx2::reaching, avx512::reaching }
}

dispatch! {
    /// Whether the largest box of `many` is larger than the largest of `few`, in the sum of its sides; `scale` is a
    /// length of the few in units of the many.
    #[inline]
    pub fn is_larger(many: &Node, few: &Node, scale: f32) -> bool = eight is_larger_in
}

#[inline(always)]
fn is_larger_in(many: &Node, few: &Node, scale: f32) -> bool {
    // Not `f32::max`, whose care for NaN costs more than the rest.
    let larger = |x: f32, y: f32| if x > y { x } else { y };
    let largest = |node: &Node| {
        let [x, y, z] = &node.half;
        let sides: Lanes = std::array::from_fn(|j| (x[j] + y[j]) + z[j]);
        let four: [f32; 4] = std::array::from_fn(|j| larger(sides[j], sides[j + 4]));
        larger(larger(four[0], four[2]), larger(four[1], four[3]))
    };
    largest(few) * scale <= largest(many)
}

/// All lanes carried, one coordinate: from factors and a summand.
#[inline]
fn carried(from: &[Lanes; 3], columns: &[Lanes; 3], k: usize, summand: f32) -> Lanes {
    let [x, y, z] = columns.map(|column| column[k]);
    std::array::from_fn(|j| from[2][j].mul_add(z, from[1][j].mul_add(y, from[0][j].mul_add(x, summand))))
}

pub(super) fn portable(few: &Node, rows: u8, many: &Node, to_few: &Carrier, to_many: &Carrier) -> u64 {
    let centre = [0, 1, 2].map(|k| carried(&many.centre, &to_few.turn, k, to_few.shift[k]));
    let half = [0, 1, 2].map(|k| carried(&many.half, &to_few.stretch, k, to_few.pad[k]));
    let mut meeting = 0;
    for i in (0..WIDTH).filter(|i| rows >> i & 1 != 0) {
        let (own_centre, own_half) = few.lane(i);
        let at = |columns: &[Lanes; 3], [x, y, z]: [f32; 3], summand: &Lanes| {
            [0, 1, 2].map(|k| {
                let one = x.mul_add(columns[0][k], summand[k]);
                z.mul_add(columns[2][k], y.mul_add(columns[1][k], one))
            })
        };
        let other_centre = at(&to_many.turn, own_centre, &to_many.shift);
        let other_half = at(&to_many.stretch, own_half, &to_many.pad);
        for j in 0..WIDTH {
            // False for NaN, which an unused lane times a zero gives.
            let both = (0..3).all(|k| {
                (centre[k][j] - own_centre[k]).abs() <= half[k][j] + own_half[k]
                    && (many.centre[k][j] - other_centre[k]).abs() <= many.half[k][j] + other_half[k]
            });
            meeting |= u64::from(both) << (WIDTH * i + j);
        }
    }
    meeting
}

fn reaching_portable(node: &Node, centre: &[f32; 3], half: &[f32; 3]) -> u8 {
    // Negated, so that a number that is none reaches.
    let apart =
        |lane: usize| (0..3).any(|k| (node.centre[k][lane] - centre[k]).abs() > node.half[k][lane] + half[k]);
    (0..WIDTH).fold(0, |mask, lane| mask | u8::from(!apart(lane)) << lane)
}

#[cfg(target_arch = "x86_64")]
macro_rules! kernels {
    ($set:ident, $features:literal) => {
        pub(super) mod $set {
            use std::arch::x86_64::*;

            use super::{Carrier, Lanes, Node, WIDTH};
            use crate::simd::avx::{absolute, load, spread};

            /// All lanes of a node, carried.
            #[inline]
            #[target_feature(enable = $features)]
            fn carried(from: &[__m256; 3], columns: &[Lanes; 3], summand: &Lanes) -> [__m256; 3] {
                [0, 1, 2].map(|k| {
                    let [x, y, z] = [0, 1, 2].map(|j| _mm256_set1_ps(columns[j][k]));
                    let one = _mm256_fmadd_ps(from[0], x, _mm256_set1_ps(summand[k]));
                    _mm256_fmadd_ps(from[2], z, _mm256_fmadd_ps(from[1], y, one))
                })
            }

            /// One lane, carried: its x, y, z, each spread over eight lanes.
            #[inline]
            #[target_feature(enable = $features)]
            fn carried_lane(from: &[__m256; 3], columns: &[Lanes; 3], summand: &Lanes) -> [__m256; 3] {
                let one = _mm256_fmadd_ps(from[0], load(&columns[0]), load(summand));
                let two = _mm256_fmadd_ps(from[1], load(&columns[1]), one);
                spread(_mm256_fmadd_ps(from[2], load(&columns[2]), two))
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn within(centre: __m256, half: __m256, other_centre: __m256, other_half: __m256) -> __m256 {
                let gap = absolute(_mm256_sub_ps(centre, other_centre));
                _mm256_cmp_ps::<_CMP_LE_OQ>(gap, _mm256_add_ps(half, other_half))
            }

            #[target_feature(enable = $features)]
            pub(super) fn reaching(node: &Node, centre: &[f32; 3], half: &[f32; 3]) -> u8 {
                let [x, y, z] = [0, 1, 2].map(|k| {
                    let gap = absolute(_mm256_sub_ps(load(&node.centre[k]), _mm256_set1_ps(centre[k])));
                    let room = _mm256_add_ps(load(&node.half[k]), _mm256_set1_ps(half[k]));
                    _mm256_cmp_ps::<_CMP_GT_OQ>(gap, room)
                });
                !_mm256_movemask_ps(_mm256_or_ps(_mm256_or_ps(x, y), z)) as u8
            }

            /// The eight boxes of a node, in its own frame and in that of the few.
            pub(in crate::hierarchy) struct Eight {
                centre: [__m256; 3],
                half: [__m256; 3],
                carried_centre: [__m256; 3],
                carried_half: [__m256; 3],
            }

            impl Eight {
                #[inline]
                #[target_feature(enable = $features)]
                pub(in crate::hierarchy) fn new(many: &Node, to_few: &Carrier) -> Eight {
                    let centre = [0, 1, 2].map(|k| load(&many.centre[k]));
                    let half = [0, 1, 2].map(|k| load(&many.half[k]));
                    Eight {
                        carried_centre: carried(&centre, &to_few.turn, &to_few.shift),
                        carried_half: carried(&half, &to_few.stretch, &to_few.pad),
                        centre,
                        half,
                    }
                }

                /// All ones in the lanes whose boxes can share a point with that of lane i of the few.
                #[inline]
                #[target_feature(enable = $features)]
                pub(in crate::hierarchy) fn row(&self, few: &Node, i: usize, to_many: &Carrier) -> __m256 {
                    let own_centre = [0, 1, 2].map(|k| _mm256_set1_ps(few.centre[k][i]));
                    let own_half = [0, 1, 2].map(|k| _mm256_set1_ps(few.half[k][i]));
                    let other_centre = carried_lane(&own_centre, &to_many.turn, &to_many.shift);
                    let other_half = carried_lane(&own_half, &to_many.stretch, &to_many.pad);
                    let [x, y, z] = [0, 1, 2].map(|k| {
                        _mm256_and_ps(
                            within(self.carried_centre[k], self.carried_half[k], own_centre[k], own_half[k]),
                            within(self.centre[k], self.half[k], other_centre[k], other_half[k]),
                        )
                    });
                    _mm256_and_ps(_mm256_and_ps(x, y), z)
                }
            }

            #[target_feature(enable = $features)]
            pub(super) fn overlaps(
                few: &Node,
                rows: u8,
                many: &Node,
                to_few: &Carrier,
                to_many: &Carrier,
            ) -> u64 {
                let eight = Eight::new(many, to_few);
                let mut meeting = 0;
                let mut left = rows;
                while left != 0 {
                    let i = left.trailing_zeros() as usize & (WIDTH - 1);
                    left &= left - 1;
                    let row = _mm256_movemask_ps(eight.row(few, i, to_many));
                    meeting |= (row as u64) << (WIDTH * i);
                }
                meeting
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
crate::simd::for_x86_levels!(kernels);

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg32;

    use super::*;
    use crate::hierarchy::wide::Child;
    use crate::simd::SimdLevel;

    #[test]
    fn all_sets_find_the_same_lanes_in_reach() {
        let mut random = Pcg32::seed_from_u64(81);
        let mut seen = [0; 2];
        for round in 0..2000 {
            let mut lanes = |low: f32, high: f32| -> [Lanes; 3] {
                std::array::from_fn(|_| std::array::from_fn(|_| random.random_range(low..high)))
            };
            let (centre, mut half) = (lanes(-1.0, 1.0), lanes(0.0, 0.3));
            let unused = round % WIDTH;
            half.iter_mut().for_each(|axis| axis[unused] = f32::NEG_INFINITY);
            let node = Node { centre, half, child: [Child::NONE; WIDTH] };
            let at: [f32; 3] = std::array::from_fn(|_| random.random_range(-1.0..1.0));
            let mut reach: [f32; 3] = std::array::from_fn(|_| random.random_range(0.0..0.5));
            if round % 100 == 0 {
                reach[round % 3] = f32::NAN;
            }
            let wanted = reaching(SimdLevel::PORTABLE, &node, &at, &reach);
            for level in SimdLevel::available() {
                assert_eq!(reaching(level, &node, &at, &reach), wanted);
            }
            if round % 100 != 0 {
                assert_eq!(wanted >> unused & 1, 0);
                seen[usize::from(wanted != 0)] += 1;
            }
        }
        assert!(seen[0] > 100 && seen[1] > 100, "{seen:?}");
    }
}
