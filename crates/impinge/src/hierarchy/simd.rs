//! All child boxes of one node against all of another: 64 separating-axis tests in one call.
//!
//! Gottschalk, Lin and Manocha, "OBBTree", 1996: of the fifteen axes only the six face normals are
//! tried; the nine edge products cost more than they save. Both nodes are carried into the other's
//! frame once; after that a pair of boxes costs six comparisons. Three versions give the same bits:
//! AVX-512 (two children of a against eight of b), AVX2, and plain loops. None uses fused
//! multiply-add, so that the work of a search is the same on every machine.

use super::relative::{Map, Relative};
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

/// Which child pairs can share a point: bit 8·i + j for lane i of `a` and lane j of `b`.
///
/// Only lanes in `rows` (of a) and `columns` (of b) are looked at.
#[inline]
pub fn overlaps(level: Level, a: &Node, rows: u8, b: &Node, columns: u8, relative: &Relative) -> u64 {
    let mask = match level {
        Level::Portable => portable(a, rows, b, relative),
        // SAFETY: these levels are handed out only after the instructions were detected.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::avx2(a, rows, b, relative) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::avx512(a, rows, b, relative) },
    };
    mask & (u64::from(columns) * 0x0101_0101_0101_0101)
}

type Lanes = [f32; WIDTH];

/// The child boxes of `node` in the other frame.
#[inline]
fn carried(node: &Node, map: &Map) -> ([Lanes; 3], [Lanes; 3]) {
    let mut centre = [[0.0; WIDTH]; 3];
    let mut half = [[0.0; WIDTH]; 3];
    for k in 0..3 {
        let [x, y, z] = map.turn[k];
        for i in 0..WIDTH {
            let at = node.centre[0][i] * x + node.centre[1][i] * y;
            centre[k][i] = (at + node.centre[2][i] * z) + map.shift[k];
            let size = node.half[0][i] * x.abs() + node.half[1][i] * y.abs();
            half[k][i] = (size + node.half[2][i] * z.abs()) + map.pad[k];
        }
    }
    (centre, half)
}

fn portable(a: &Node, rows: u8, b: &Node, relative: &Relative) -> u64 {
    let (b_centre, b_half) = carried(b, &relative.b_in_a);
    let (a_centre, a_half) = carried(a, &relative.a_in_b);
    let mut mask = 0;
    for i in (0..WIDTH).filter(|i| rows >> i & 1 != 0) {
        let mut row = [true; WIDTH];
        for k in 0..3 {
            for j in 0..WIDTH {
                // False for NaN, which an unused lane times a zero gives.
                row[j] &= (b_centre[k][j] - a.centre[k][i]).abs() <= b_half[k][j] + a.half[k][i];
                row[j] &= (b.centre[k][j] - a_centre[k][i]).abs() <= b.half[k][j] + a_half[k][i];
            }
        }
        for (j, &both) in row.iter().enumerate() {
            mask |= u64::from(both) << (WIDTH * i + j);
        }
    }
    mask
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Map, Node, Relative, WIDTH};

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(lanes: &[f32; WIDTH]) -> __m256 {
        // SAFETY: eight numbers are there.
        unsafe { _mm256_loadu_ps(lanes.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn carried(node: &Node, map: &Map) -> ([__m256; 3], [__m256; 3]) {
        let sign = _mm256_set1_ps(-0.0);
        let from = |k: usize, shift: f32, lanes: &[[f32; WIDTH]; 3], absolute: bool| {
            let factor = |j: usize| {
                let x = _mm256_set1_ps(map.turn[k][j]);
                if absolute { _mm256_andnot_ps(sign, x) } else { x }
            };
            let x = _mm256_mul_ps(load(&lanes[0]), factor(0));
            let y = _mm256_mul_ps(load(&lanes[1]), factor(1));
            let z = _mm256_mul_ps(load(&lanes[2]), factor(2));
            _mm256_add_ps(_mm256_add_ps(_mm256_add_ps(x, y), z), _mm256_set1_ps(shift))
        };
        let centre = [0, 1, 2].map(|k| from(k, map.shift[k], &node.centre, false));
        let half = [0, 1, 2].map(|k| from(k, map.pad[k], &node.half, true));
        (centre, half)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn within(centre: __m256, half: __m256, other_centre: f32, other_half: f32) -> __m256 {
        let gap = _mm256_andnot_ps(_mm256_set1_ps(-0.0), _mm256_sub_ps(centre, _mm256_set1_ps(other_centre)));
        _mm256_cmp_ps::<_CMP_LE_OQ>(gap, _mm256_add_ps(half, _mm256_set1_ps(other_half)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn stored(lanes: [__m256; 3]) -> [[f32; WIDTH]; 3] {
        lanes.map(|lane| {
            let mut out = [0.0; WIDTH];
            // SAFETY: eight numbers fit.
            unsafe { _mm256_storeu_ps(out.as_mut_ptr(), lane) };
            out
        })
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(a: &Node, rows: u8, b: &Node, relative: &Relative) -> u64 {
        let (b_centre, b_half) = carried(b, &relative.b_in_a);
        let (a_centre, a_half) = carried(a, &relative.a_in_b);
        let (a_centre, a_half) = (stored(a_centre), stored(a_half));
        let own_centre = [0, 1, 2].map(|k| load(&b.centre[k]));
        let own_half = [0, 1, 2].map(|k| load(&b.half[k]));
        let mut mask = 0;
        let mut left = rows;
        while left != 0 {
            let i = left.trailing_zeros() as usize;
            left &= left - 1;
            let in_a = |k: usize| within(b_centre[k], b_half[k], a.centre[k][i], a.half[k][i]);
            let in_b = |k: usize| within(own_centre[k], own_half[k], a_centre[k][i], a_half[k][i]);
            let [x, y, z] = [0, 1, 2].map(|k| _mm256_and_ps(in_a(k), in_b(k)));
            let row = _mm256_movemask_ps(_mm256_and_ps(_mm256_and_ps(x, y), z));
            mask |= (row as u64) << (WIDTH * i);
        }
        mask
    }

    /// Both nodes side by side: eight lanes of one, then eight of the other.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vl,avx512dq")]
    fn both(low: __m256, high: __m256) -> __m512 {
        _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512vl,avx512dq")]
    fn within_both(
        centre: __m512,
        half: __m512,
        other_centre: __m512,
        other_half: __m512,
        before: u16,
    ) -> u16 {
        let gap = _mm512_abs_ps(_mm512_sub_ps(centre, other_centre));
        _mm512_mask_cmp_ps_mask::<_CMP_LE_OQ>(before, gap, _mm512_add_ps(half, other_half))
    }

    #[target_feature(enable = "avx2,avx512f,avx512vl,avx512dq")]
    pub(super) fn avx512(a: &Node, rows: u8, b: &Node, relative: &Relative) -> u64 {
        let (b_centre, b_half) = carried(b, &relative.b_in_a);
        let (a_centre, a_half) = carried(a, &relative.a_in_b);
        let twice = |lanes: __m256| both(lanes, lanes);
        // Frames of a and of b: b's boxes twice, a's boxes as a table to pick two lanes from.
        let b_centres = [b_centre.map(twice), [0, 1, 2].map(|k| twice(load(&b.centre[k])))];
        let b_halves = [b_half.map(twice), [0, 1, 2].map(|k| twice(load(&b.half[k])))];
        let a_centres = [[0, 1, 2].map(|k| twice(load(&a.centre[k]))), a_centre.map(twice)];
        let a_halves = [[0, 1, 2].map(|k| twice(load(&a.half[k]))), a_half.map(twice)];
        let mut pick = _mm512_set_epi32(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
        let two = _mm512_set1_epi32(2);
        let mut mask = 0;
        for pair in 0..WIDTH / 2 {
            if rows >> (2 * pair) & 3 != 0 {
                let mut alive = u16::MAX;
                for side in 0..2 {
                    for k in 0..3 {
                        let centre = _mm512_permutexvar_ps(pick, a_centres[side][k]);
                        let half = _mm512_permutexvar_ps(pick, a_halves[side][k]);
                        alive = within_both(b_centres[side][k], b_halves[side][k], centre, half, alive);
                    }
                }
                mask |= u64::from(alive) << (2 * WIDTH * pair);
            }
            pick = _mm512_add_epi32(pick, two);
        }
        // Rows come in twos; the partner of a wanted row may not be wanted.
        let mut wanted = 0;
        for i in 0..WIDTH {
            if rows >> i & 1 != 0 {
                wanted |= 0xFF << (WIDTH * i);
            }
        }
        mask & wanted
    }
}
