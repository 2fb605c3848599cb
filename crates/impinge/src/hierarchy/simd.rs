//! A few boxes of one node against all eight of another, in one call.
//!
//! Gottschalk, Lin and Manocha, "OBBTree", 1996: of the fifteen separating axes only the six face
//! normals are tried; the nine edge products cost more than they save. The eight boxes are carried into
//! the frame of the few, and each of the few into the frame of the eight; then a pair costs six
//! comparisons. The versions give the same bits: none uses fused multiply-add, so that the work of a
//! search is the same on every machine.

use super::relative::Map;
use super::wide::{Node, WIDTH};

/// The instruction sets a search can run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Plain loops.
    Portable,
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, VL and DQ.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The best that this machine has.
    #[inline]
    pub fn best() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
            {
                return Level::Avx512;
            }
            if is_x86_feature_detected!("avx2") {
                return Level::Avx2;
            }
        }
        Level::Portable
    }

    /// All that this machine has, the plain one first.
    pub fn available() -> Vec<Level> {
        #[allow(unused_mut)]
        let mut levels = vec![Level::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                levels.push(Level::Avx2);
            }
            if Level::best() == Level::Avx512 {
                levels.push(Level::Avx512);
            }
        }
        levels
    }
}

/// A [`Map`] in the form that the tests want.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(16))]
pub struct Carrier {
    /// The columns of the turn; the fourth number is 0.
    turn: [[f32; 4]; 3],
    /// Their absolute values.
    stretch: [[f32; 4]; 3],
    shift: [f32; 4],
    pad: [f32; 4],
    /// The area of the source's unit square in the target's units.
    area: f32,
}

impl Carrier {
    /// From a map.
    #[inline]
    pub fn new(map: &Map) -> Carrier {
        let column = |j: usize| [map.turn[0][j], map.turn[1][j], map.turn[2][j], 0.0];
        let turn = [column(0), column(1), column(2)];
        let four = |[x, y, z]: [f32; 3]| [x, y, z, 0.0];
        // An axis that decides nothing has a row of zeros.
        let area = map.turn.map(|[x, y, z]| x * x + y * y + z * z).into_iter().fold(0.0, f32::max);
        let stretch = turn.map(|column| column.map(f32::abs));
        Carrier { turn, stretch, shift: four(map.shift), pad: four(map.pad), area }
    }
}

/// Which boxes can share a point, and which is the larger: bit 8·i + j for lane i of the few and lane j
/// of the eight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlaps {
    /// The boxes can share a point.
    pub meeting: u64,
    /// The box of the eight has the larger surface.
    pub larger: u64,
}

/// Tests the lanes `rows` of `few` against all lanes of `many`.
///
/// `to_few` carries boxes of `many` into the frame of `few`, `to_many` the other way.
#[inline]
pub fn overlaps(
    level: Level,
    few: &Node,
    rows: u8,
    many: &Node,
    to_few: &Carrier,
    to_many: &Carrier,
) -> Overlaps {
    match level {
        Level::Portable => portable(few, rows, many, to_few, to_many),
        // SAFETY: the levels are handed out only after AVX2 was detected; AVX-512 includes it, and its
        // wider registers gain nothing here.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => unsafe { x86::avx2(few, rows, many, to_few, to_many) },
    }
}

type Lanes = [f32; WIDTH];

/// One coordinate of all carried lanes, from factors and a summand.
#[inline]
fn carried(from: &[Lanes; 3], [x, y, z]: [f32; 3], summand: f32) -> Lanes {
    std::array::from_fn(|i| ((from[0][i] * x + from[1][i] * y) + from[2][i] * z) + summand)
}

fn portable(few: &Node, rows: u8, many: &Node, to_few: &Carrier, to_many: &Carrier) -> Overlaps {
    let row = |columns: &[[f32; 4]; 3], k: usize| [columns[0][k], columns[1][k], columns[2][k]];
    let centre = [0, 1, 2].map(|k| carried(&many.centre, row(&to_few.turn, k), to_few.shift[k]));
    let half = [0, 1, 2].map(|k| carried(&many.half, row(&to_few.stretch, k), to_few.pad[k]));
    let area = |[x, y, z]: [f32; 3]| (x * y + y * z) + z * x;
    let mut found = Overlaps { meeting: 0, larger: 0 };
    for i in (0..WIDTH).filter(|i| rows >> i & 1 != 0) {
        let (own_centre, own_half) = few.lane(i);
        let at = |columns: &[[f32; 4]; 3], of: [f32; 3], summand: &[f32; 4]| {
            [0, 1, 2].map(|k| {
                ((of[0] * columns[0][k] + of[1] * columns[1][k]) + of[2] * columns[2][k]) + summand[k]
            })
        };
        let other_centre = at(&to_many.turn, own_centre, &to_many.shift);
        let other_half = at(&to_many.stretch, own_half, &to_many.pad);
        let own_area = area(own_half) * to_many.area;
        for j in 0..WIDTH {
            // False for NaN, which an unused lane times a zero gives.
            let both = (0..3).all(|k| {
                (centre[k][j] - own_centre[k]).abs() <= half[k][j] + own_half[k]
                    && (many.centre[k][j] - other_centre[k]).abs() <= many.half[k][j] + other_half[k]
            });
            let larger = own_area <= area(many.half.map(|axis| axis[j]));
            found.meeting |= u64::from(both) << (WIDTH * i + j);
            found.larger |= u64::from(larger) << (WIDTH * i + j);
        }
    }
    found
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Carrier, Lanes, Node, Overlaps, WIDTH};

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(lanes: &Lanes) -> __m256 {
        // SAFETY: eight numbers are there.
        unsafe { _mm256_loadu_ps(lanes.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load4(numbers: &[f32; 4]) -> __m128 {
        // SAFETY: four numbers are there.
        unsafe { _mm_loadu_ps(numbers.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn carried(from: &[__m256; 3], columns: &[[f32; 4]; 3], summand: &[f32; 4]) -> [__m256; 3] {
        [0, 1, 2].map(|k| {
            let x = _mm256_mul_ps(from[0], _mm256_set1_ps(columns[0][k]));
            let y = _mm256_mul_ps(from[1], _mm256_set1_ps(columns[1][k]));
            let z = _mm256_mul_ps(from[2], _mm256_set1_ps(columns[2][k]));
            _mm256_add_ps(_mm256_add_ps(_mm256_add_ps(x, y), z), _mm256_set1_ps(summand[k]))
        })
    }

    /// One lane carried: its x, y, z, each spread over eight lanes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn carried_lane(
        from: &[Lanes; 3],
        lane: usize,
        columns: &[[f32; 4]; 3],
        summand: &[f32; 4],
    ) -> [__m256; 3] {
        let x = _mm_mul_ps(_mm_set1_ps(from[0][lane]), load4(&columns[0]));
        let y = _mm_mul_ps(_mm_set1_ps(from[1][lane]), load4(&columns[1]));
        let z = _mm_mul_ps(_mm_set1_ps(from[2][lane]), load4(&columns[2]));
        let sum = _mm_add_ps(_mm_add_ps(_mm_add_ps(x, y), z), load4(summand));
        let wide = _mm256_castps128_ps256(sum);
        [0, 1, 2].map(|k| _mm256_permutevar8x32_ps(wide, _mm256_set1_epi32(k)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn within(centre: __m256, half: __m256, other_centre: __m256, other_half: __m256) -> __m256 {
        let gap = _mm256_andnot_ps(_mm256_set1_ps(-0.0), _mm256_sub_ps(centre, other_centre));
        _mm256_cmp_ps::<_CMP_LE_OQ>(gap, _mm256_add_ps(half, other_half))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn area([x, y, z]: [__m256; 3]) -> __m256 {
        _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(x, y), _mm256_mul_ps(y, z)), _mm256_mul_ps(z, x))
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(few: &Node, rows: u8, many: &Node, to_few: &Carrier, to_many: &Carrier) -> Overlaps {
        let many_centre = [0, 1, 2].map(|k| load(&many.centre[k]));
        let many_half = [0, 1, 2].map(|k| load(&many.half[k]));
        let centre = carried(&many_centre, &to_few.turn, &to_few.shift);
        let half = carried(&many_half, &to_few.stretch, &to_few.pad);
        let many_area = area(many_half);
        let mut found = Overlaps { meeting: 0, larger: 0 };
        let mut left = rows;
        while left != 0 {
            let i = left.trailing_zeros() as usize & (WIDTH - 1);
            left &= left - 1;
            let own_centre = [0, 1, 2].map(|k| _mm256_set1_ps(few.centre[k][i]));
            let own_half = [0, 1, 2].map(|k| _mm256_set1_ps(few.half[k][i]));
            let other_centre = carried_lane(&few.centre, i, &to_many.turn, &to_many.shift);
            let other_half = carried_lane(&few.half, i, &to_many.stretch, &to_many.pad);
            let [x, y, z] = [0, 1, 2].map(|k| {
                _mm256_and_ps(
                    within(centre[k], half[k], own_centre[k], own_half[k]),
                    within(many_centre[k], many_half[k], other_centre[k], other_half[k]),
                )
            });
            let meeting = _mm256_movemask_ps(_mm256_and_ps(_mm256_and_ps(x, y), z));
            let own_area = _mm256_mul_ps(area(own_half), _mm256_set1_ps(to_many.area));
            let larger = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(own_area, many_area));
            found.meeting |= (meeting as u64) << (WIDTH * i);
            found.larger |= (larger as u64) << (WIDTH * i);
        }
        found
    }
}
