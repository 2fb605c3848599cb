//! How far apart boxes are at least: all child boxes of one node against all of another, in one call.
//!
//! In the frame of each tree its own boxes are exact and the other's are boxed once more; the distance of
//! two boxes of equal axes is the length of the vector of their gaps (Gottschalk, Lin and Manocha 1996
//! use the same six axes for overlap). The larger of the two frames' values counts. Gaps are measured in
//! a common unit, a power of two so large that no square overflows. Three versions give the same bits;
//! none uses fused multiply-add.

use super::relative::{Map, Relative};
use super::wide::{Node, WIDTH, WideTree};
use crate::Pose;
use crate::simd::dispatch;

/// What rounding can take from a sum of squared gaps, relative (no unit): five operations of 2⁻²⁴ each,
/// and the cast of the limit.
pub(super) const SQUARE_ROUNDING: f64 = 8.0 * f32::EPSILON as f64;

/// How much near centres count beside small gaps in a first guess (no unit).
const CENTRE_WEIGHT: f32 = 0.25;

/// Squared gaps of 64 pairs of boxes, row by row, in squared units of the [`BoxDistance`].
pub type Gaps = [[f32; WIDTH]; WIDTH];

/// Measures the distance of the boxes of two placed trees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxDistance {
    /// Boxes of b in the frame of a and of a in the frame of b, scaled to the common unit.
    maps: [Map; 2],
    /// Tree units of a and b in the common unit.
    own: [f32; 2],
    /// World length of the common unit.
    common: f64,
    /// The same, with the shrinking by matrices that are not quite rotations.
    unit: f64,
}

impl BoxDistance {
    /// For two placed trees.
    pub fn new(a: &WideTree, pose_a: &Pose, b: &WideTree, pose_b: &Pose) -> BoxDistance {
        BoxDistance::with_margin(a, pose_a, b, pose_b, 0.0)
    }

    /// For two placed trees whose boxes count as nearer by `margin` (a world length).
    pub(super) fn with_margin(
        a: &WideTree,
        pose_a: &Pose,
        b: &WideTree,
        pose_b: &Pose,
        margin: f64,
    ) -> BoxDistance {
        let relative = Relative::new(a, pose_a, b, pose_b, margin);
        let apart = (pose_a.apply(a.frame().centre) - pose_b.apply(b.frame().centre)).abs().max_element();
        let largest = a.frame().unit.max(b.frame().unit).max(apart);
        // The power of two at or below, at least the smallest normal number.
        let unit = f64::from_bits((largest.to_bits() >> 52).max(1) << 52);
        let scales = [a.frame().unit / unit, b.frame().unit / unit];
        BoxDistance {
            maps: [scaled(&relative.b_in_a, scales[0]), scaled(&relative.a_in_b, scales[1])],
            own: scales.map(|s| s as f32),
            common: unit,
            unit: unit * shrinking(pose_a).min(shrinking(pose_b)),
        }
    }

    /// The largest squared gap at which things can still be as near as `distance` (a world length).
    #[inline]
    pub fn limit(&self, distance: f64) -> f32 {
        let ratio = distance / self.unit;
        // An unused lane is infinitely far: the limit stays finite.
        ((ratio * ratio * (1.0 + SQUARE_ROUNDING)) as f32).next_up().min(f32::MAX)
    }

    /// World length of the common unit.
    pub(super) fn common(&self) -> f64 {
        self.common
    }

    /// Tree units of a (0) or b (1) in the common unit.
    #[inline]
    pub(super) fn own(&self, body: usize) -> f32 {
        self.own[body]
    }

    /// The boxes of the other node in the frame of a (0) or b (1), in the common unit.
    #[inline(always)]
    pub(super) fn carried(&self, node: &Node, frame: usize) -> ([Lanes; 3], [Lanes; 3]) {
        carried(node, &self.maps[frame])
    }

    /// The world distance that a squared gap proves.
    #[inline]
    pub fn distance(&self, gap_sq: f32) -> f64 {
        f64::from(gap_sq).sqrt() * self.unit * (1.0 - SQUARE_ROUNDING)
    }
}

/// A lower bound of the smallest singular value of the 3×3 part: how much it can shorten a vector.
pub(super) fn shrinking(pose: &Pose) -> f64 {
    let m = pose.matrix();
    let off = m * m.transpose() - glam::DMat3::IDENTITY;
    let norm_sq: f64 = off.to_cols_array().iter().map(|x| x * x).sum();
    (1.0 - norm_sq.sqrt() - SQUARE_ROUNDING * SQUARE_ROUNDING).max(0.0).sqrt()
}

fn scaled(map: &Map, scale: f64) -> Map {
    let by = |x: f32| (f64::from(x) * scale) as f32;
    Map {
        turn: map.turn.map(|row| row.map(by)),
        shift: map.shift.map(by),
        // What underflows in the scaling is less than the smallest normal number.
        pad: map.pad.map(|x| by(x) + f32::MIN_POSITIVE),
    }
}

dispatch! {
    /// Squared gaps of the child boxes of `a` (rows) and `b` (columns), and which are within `limit`: bit
    /// 8·i + j for lane i of `a` and lane j of `b`. An unused lane is infinitely far or no number at all.
    #[inline]
    pub fn gaps(a: &Node, b: &Node, box_distance: &BoxDistance, limit: f32, out: &mut Gaps) -> u64
        = { portable, x86::avx2, x86::avx512 }
}

/// The lanes of `a` and `b` that look nearest: small gap in the frame of a, near centres.
pub fn nearest_centres(
    a: &Node,
    lanes_a: u8,
    b: &Node,
    lanes_b: u8,
    box_distance: &BoxDistance,
) -> (usize, usize) {
    let (b_centre, b_half) = carried(b, &box_distance.maps[0]);
    let mut best = (f32::INFINITY, 0, 0);
    for i in a.used().filter(|i| lanes_a >> i & 1 != 0) {
        for j in b.used().filter(|j| lanes_b >> j & 1 != 0) {
            let mut score = 0.0;
            for k in 0..3 {
                let apart = (b_centre[k][j] - a.centre[k][i] * box_distance.own[0]).abs();
                let gap = positive(apart - (b_half[k][j] + a.half[k][i] * box_distance.own[0]));
                score += gap * gap + CENTRE_WEIGHT * apart * apart;
            }
            // Takes the first pair in any case, also where the score is no number.
            if best.0 == f32::INFINITY || score < best.0 {
                best = (score.min(f32::MAX), i, j);
            }
        }
    }
    (best.1, best.2)
}

/// The larger of a number and zero; the number where it is none, as the instruction does.
#[inline]
fn positive(x: f32) -> f32 {
    if 0.0 > x { 0.0 } else { x }
}

type Lanes = [f32; WIDTH];

#[inline(always)]
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

fn portable(a: &Node, b: &Node, box_distance: &BoxDistance, limit: f32, out: &mut Gaps) -> u64 {
    let (b_centre, b_half) = carried(b, &box_distance.maps[0]);
    let (a_centre, a_half) = carried(a, &box_distance.maps[1]);
    let own = |lanes: &[Lanes; 3], scale: f32| lanes.map(|axis| axis.map(|x| x * scale));
    let (a_own, b_own) = (own(&a.centre, box_distance.own[0]), own(&b.centre, box_distance.own[1]));
    let (a_size, b_size) = (own(&a.half, box_distance.own[0]), own(&b.half, box_distance.own[1]));
    let mut mask = 0;
    for i in 0..WIDTH {
        for j in 0..WIDTH {
            let mut sums = [0.0; 2];
            for k in 0..3 {
                let in_a = positive((b_centre[k][j] - a_own[k][i]).abs() - (b_half[k][j] + a_size[k][i]));
                let in_b = positive((b_own[k][j] - a_centre[k][i]).abs() - (b_size[k][j] + a_half[k][i]));
                sums[0] += in_a * in_a;
                sums[1] += in_b * in_b;
            }
            // In this order a number that is none in the second sum stays, as the instruction does.
            let gap = if sums[0] > sums[1] { sums[0] } else { sums[1] };
            out[i][j] = gap;
            mask |= u64::from(gap <= limit) << (WIDTH * i + j);
        }
    }
    mask
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{BoxDistance, Gaps, Map, Node, WIDTH};
    use crate::simd::avx::{load, store, store_rows};

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
    fn own(lanes: &[[f32; WIDTH]; 3], scale: f32) -> [__m256; 3] {
        [0, 1, 2].map(|k| _mm256_mul_ps(load(&lanes[k]), _mm256_set1_ps(scale)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn square_gap(centre: __m256, half: __m256, other_centre: __m256, other_half: __m256) -> __m256 {
        let apart = _mm256_andnot_ps(_mm256_set1_ps(-0.0), _mm256_sub_ps(centre, other_centre));
        let gap = _mm256_sub_ps(apart, _mm256_add_ps(half, other_half));
        let gap = _mm256_max_ps(_mm256_setzero_ps(), gap);
        _mm256_mul_ps(gap, gap)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(a: &Node, b: &Node, box_distance: &BoxDistance, limit: f32, out: &mut Gaps) -> u64 {
        let (b_centre, b_half) = carried(b, &box_distance.maps[0]);
        let (b_own, b_size) = (own(&b.centre, box_distance.own[1]), own(&b.half, box_distance.own[1]));
        let (a_centre, a_half) = carried(a, &box_distance.maps[1]);
        let (a_own, a_size) = (own(&a.centre, box_distance.own[0]), own(&a.half, box_distance.own[0]));
        // Frame by frame, then axis by axis: centre and half extent of a's lanes.
        let mut rows = [[0.0; WIDTH]; 12];
        for k in 0..3 {
            store(a_own[k], &mut rows[k]);
            store(a_size[k], &mut rows[3 + k]);
            store(a_centre[k], &mut rows[6 + k]);
            store(a_half[k], &mut rows[9 + k]);
        }
        let limits = _mm256_set1_ps(limit);
        let mut mask = 0;
        for (i, row) in out.iter_mut().enumerate() {
            let at = |q: usize| _mm256_set1_ps(rows[q][i]);
            let in_a = [0, 1, 2].map(|k| square_gap(b_centre[k], b_half[k], at(k), at(3 + k)));
            let in_b = [0, 1, 2].map(|k| square_gap(b_own[k], b_size[k], at(6 + k), at(9 + k)));
            let sum = |x: [__m256; 3]| _mm256_add_ps(_mm256_add_ps(x[0], x[1]), x[2]);
            let gap = _mm256_max_ps(sum(in_a), sum(in_b));
            store(gap, row);
            let within = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(gap, limits));
            mask |= (within as u64) << (WIDTH * i);
        }
        mask
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512vl,avx512dq")]
    fn twice(lanes: __m256) -> __m512 {
        _mm512_insertf32x8::<1>(_mm512_castps256_ps512(lanes), lanes)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512vl,avx512dq")]
    fn square_gap_512(centre: __m512, half: __m512, other_centre: __m512, other_half: __m512) -> __m512 {
        let apart = _mm512_abs_ps(_mm512_sub_ps(centre, other_centre));
        let gap = _mm512_sub_ps(apart, _mm512_add_ps(half, other_half));
        let gap = _mm512_max_ps(_mm512_setzero_ps(), gap);
        _mm512_mul_ps(gap, gap)
    }

    #[target_feature(enable = "avx2,avx512f,avx512vl,avx512dq")]
    pub(super) fn avx512(a: &Node, b: &Node, box_distance: &BoxDistance, limit: f32, out: &mut Gaps) -> u64 {
        let (b_centre, b_half) = carried(b, &box_distance.maps[0]);
        let (b_own, b_size) = (own(&b.centre, box_distance.own[1]), own(&b.half, box_distance.own[1]));
        let (a_centre, a_half) = carried(a, &box_distance.maps[1]);
        let (a_own, a_size) = (own(&a.centre, box_distance.own[0]), own(&a.half, box_distance.own[0]));
        let all = |x: [__m256; 3]| [0, 1, 2].map(|k| twice(x[k]));
        // Frame of a, then frame of b.
        let b_centres = [all(b_centre), all(b_own)];
        let b_halves = [all(b_half), all(b_size)];
        let a_centres = [all(a_own), all(a_centre)];
        let a_halves = [all(a_size), all(a_half)];
        let limits = _mm512_set1_ps(limit);
        let mut pick = _mm512_set_epi32(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
        let mut mask = 0;
        for (pair, rows) in out.as_chunks_mut().0.iter_mut().enumerate() {
            let mut sums = [_mm512_setzero_ps(); 2];
            for (frame, sum) in sums.iter_mut().enumerate() {
                for k in 0..3 {
                    let centre = _mm512_permutexvar_ps(pick, a_centres[frame][k]);
                    let half = _mm512_permutexvar_ps(pick, a_halves[frame][k]);
                    let square = square_gap_512(b_centres[frame][k], b_halves[frame][k], centre, half);
                    *sum = if k == 0 { square } else { _mm512_add_ps(*sum, square) };
                }
            }
            let gap = _mm512_max_ps(sums[0], sums[1]);
            store_rows(gap, rows);
            let within = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(gap, limits);
            mask |= u64::from(within) << (2 * WIDTH * pair);
            pick = _mm512_add_epi32(pick, _mm512_set1_epi32(2));
        }
        mask
    }
}

#[cfg(test)]
#[path = "box_distance_tests.rs"]
mod tests;
