//! Which triangles of two bottom nodes are surely apart and which surely meet: eight at a time, in f32.
//!
//! Works in tree units of one node, the many. A triangle of the other, the few, is carried there: its first
//! corner in f64, its edges in f32. With corner a and normal n of one triangle and a corner d of the other,
//! the sign of n·d − n·a tells the side; three equal signs beyond doubt separate the two.
//!
//! What such a height can be wrong by, times |n|: write u = 2⁻²⁴, r for the trees' reaches, w for their
//! widest triangles, ρ for the largest row sum of |M|, E for the largest component of a triangle's two edges.
//! - No coordinate exceeds C = r_many + 2(ρ·w_few + pad), since the boxes overlap.
//! - A stored corner is rounded by u·r, which is u·ρ·r_few when carried; the first corner is rounded to f32
//!   (u·C), an edge costs 8 roundings of at most 2ρ·w_few, the sum of both one more (u·C). The placement
//!   errs by what [`Carry::error`] says. So the difference of any two corners is wrong by less than
//!   ε = u·(2r_many + 2ρ·r_few + 2C + 16(ρ·w_few + w_many)) + error.
//! - A component of n is wrong by 4Eε and, rounded itself, 6u·E²: below 5Eε. No difference of two corners exceeds
//!   R, that of the first corners and both E together. That makes 15·E·R·ε; the doubt takes 16, and 2ε are added
//!   to E and R for what they are wrong by themselves.
//! - n itself meets a d − a wrong by ε, and two dot products round by 4u·|n|₁·C each: |n|₁·(ε + 8u·C).
//!
//! Where all six sides are known, the triangles meet unless their pieces of the common line are apart, which two
//! determinants of differences tell (Guigue and Devillers, 2003). Each of their six products of three is
//! wrong by 3R²ε, and they round by less than 30u·R³ < 4R²ε: below 22R²ε; the doubt takes 32.
//!
//! A margin adds |n|₂ times its length in this frame. `UNDERFLOW` covers products below f32's range.

use super::leaf_block::Block;
use super::relative::{Carry, Map};
use super::wide::{WIDTH, WideTree};
use crate::geom::triangle_triangle::canonical;
use crate::num::predicate::Sign;
use crate::simd::{SimdLevel, dispatch};

#[cfg(test)]
#[path = "leaf_filter_tests.rs"]
mod tests;

/// Half a unit in the last place of 1 (no unit).
const ROUNDING: f64 = f32::EPSILON as f64 / 2.0;

/// Coordinates and extents beyond this (units of the many) make products that f32 cannot hold: then
/// everything is in doubt.
const LARGEST: f64 = 1e11;

/// More than all products that underflow can add up to (cubic tree units).
const UNDERFLOW: f32 = 64.0 * f32::MIN_POSITIVE;

/// Carries triangles of one tree, the few, into the frame of the other.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
pub struct LeafFilter {
    /// Columns; the fourth number is 0.
    exact_turn: [[f64; 4]; 3],
    exact_shift: [f64; 4],
    turn: [[f32; 4]; 3],
    /// 2ε.
    slip: f32,
    /// 16ε.
    of_extent: f32,
    /// ε + 8u·C.
    of_normal: f32,
    /// A length in units of the many.
    margin: f32,
}

impl LeafFilter {
    /// For triangles of `few` against those of `many`; boxes nearer than `margin` (tree units of `many`)
    /// may have been let through. Where the units differ too much it separates nothing.
    pub fn new(few: &WideTree, many: &WideTree, carry: &Carry, map: &Map, margin: f64) -> LeafFilter {
        let columns = carry.turn.to_cols_array_2d();
        let row = |k: usize| columns.iter().map(|column| column[k].abs()).sum::<f64>();
        let spread = row(0).max(row(1)).max(row(2));
        let pad = f64::from(map.pad[0].max(map.pad[1]).max(map.pad[2]));
        let (reach_few, reach_many) = (f64::from(few.frame().reach), f64::from(many.frame().reach));
        let (wide_few, wide_many) = (spread * f64::from(few.widest()), f64::from(many.widest()));
        let largest = reach_many + 2.0 * (wide_few + pad);
        let rounded = 2.0 * (reach_many + spread * reach_few) + 2.0 * largest + 16.0 * (wide_few + wide_many);
        let wrong = if largest + wide_few + wide_many <= LARGEST {
            ROUNDING * rounded + carry.error
        } else {
            f64::INFINITY
        };
        // The sums above and the casts below round by far less than a hundredth.
        let up = |x: f64| (1.01 * x) as f32;
        LeafFilter {
            exact_turn: columns.map(|[x, y, z]| [x, y, z, 0.0]),
            exact_shift: [carry.shift.x, carry.shift.y, carry.shift.z, 0.0],
            turn: columns.map(|[x, y, z]| [x as f32, y as f32, z as f32, 0.0]),
            slip: up(2.0 * wrong),
            of_extent: up(16.0 * wrong),
            of_normal: up(wrong + 8.0 * ROUNDING * largest),
            margin: up(margin),
        }
    }

    /// Which of the pairs in `mask` (bit 8·i + j: lane i of the few, lane j of the many) meet.
    #[inline]
    pub fn decide(&self, level: SimdLevel, few: &Block, many: &Block, mask: u64) -> Verdicts {
        decide(level, self, few, many, mask, false)
    }

    /// The same for who needs one pair that meets: after the first that surely does nothing is said of the others.
    #[inline]
    pub fn decide_until_one(&self, level: SimdLevel, few: &Block, many: &Block, mask: u64) -> Verdicts {
        decide(level, self, few, many, mask, true)
    }
}

dispatch! {
    #[inline]
    fn decide(test: &LeafFilter, few: &Block, many: &Block, mask: u64, one: bool) -> Verdicts
        = { portable, avx2::decide, avx512::decide }
}

/// What was found out about pairs of triangles: bit 8·i + j for lane i of the few and lane j of the many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdicts {
    /// Surely with a common point.
    pub meeting: u64,
    /// Neither surely with nor surely without.
    pub doubtful: u64,
}

impl Verdicts {
    /// Asks for each of the pairs of lane i with the lanes `left`.
    #[inline(always)]
    fn note(&mut self, i: usize, mut left: u8, one: bool, meet: impl Fn(usize) -> Option<bool>) {
        while left != 0 && !(one && self.meeting != 0) {
            let j = left.trailing_zeros() as usize;
            left &= left - 1;
            let bit = 1 << (WIDTH * i + j);
            match meet(j) {
                Some(true) => self.meeting |= bit,
                Some(false) => {}
                None => self.doubtful |= bit,
            }
        }
    }
}

/// Lanes of the many whose corners are surely above and below the plane of one of the few, corner by corner;
/// and those whose plane has that one's corners above and below.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Row {
    over: [[u8; 2]; 3],
    under: [[u8; 2]; 3],
}

impl Row {
    /// Whether the triangle and lane j of the many meet; `None` where a sign is in doubt, and always within a
    /// margin.
    #[inline(always)]
    fn meet(&self, own: &Carried, many: &Block, j: usize, test: &LeafFilter) -> Option<bool> {
        let Row { over, under } = self;
        let certain = over.iter().chain(under).fold(u8::MAX, |all, [above, below]| all & (above | below));
        if certain >> j & 1 == 0 || test.margin > 0.0 {
            return None;
        }
        let sign = |[above, _]: &[u8; 2]| if above >> j & 1 != 0 { Sign::Positive } else { Sign::Negative };
        let theirs = [0, 1, 2].map(|c| [0, 1, 2].map(|k| many[3 * c + k][j]));
        let (over, under) = (over.each_ref().map(sign), under.each_ref().map(sign));
        let ([a, b, c], [p, q, r]) =
            canonical(&own.corners.map(|[x, y, z, _]| [x, y, z]), &theirs, under, over);
        let reach = reach(own, &theirs, edge_extent(&theirs, test.slip));
        let doubt = (reach * reach).mul_add(2.0 * test.of_extent, UNDERFLOW);
        let (low, high) = (determinant(a, b, p, q), determinant(a, c, r, p));
        if low > doubt || high > doubt {
            return Some(false);
        }
        (low < -doubt && high < -doubt).then_some(true)
    }
}

/// E of a triangle, and what it may be wrong by.
#[inline(always)]
fn edge_extent([a, b, c]: &[[f32; 3]; 3], slip: f32) -> f32 {
    let side = |k: usize| larger((b[k] - a[k]).abs(), (c[k] - a[k]).abs());
    larger(larger(side(0), side(1)), side(2)) + slip
}

/// R of a carried triangle and another with its E.
#[inline(always)]
fn reach(own: &Carried, [a, _, _]: &[[f32; 3]; 3], extent: f32) -> f32 {
    let way = |k: usize| (a[k] - own.corners[0][k]).abs();
    larger(larger(way(0), way(1)), way(2)) + (own.extent + extent)
}

/// (b − a) × (c − a) · (d − a).
#[inline(always)]
fn determinant(a: [f32; 3], b: [f32; 3], c: [f32; 3], d: [f32; 3]) -> f32 {
    let minus = |p: [f32; 3]| [p[0] - a[0], p[1] - a[1], p[2] - a[2]];
    let (u, v, w) = (minus(b), minus(c), minus(d));
    let minor = |i: usize, j: usize| u[i].mul_add(v[j], -(u[j] * v[i]));
    minor(0, 1).mul_add(w[2], minor(2, 0).mul_add(w[1], minor(1, 2) * w[0]))
}

/// A triangle of the few where the many are.
#[derive(Clone, Copy)]
struct Carried {
    corners: [[f32; 4]; 3],
    normal: [f32; 3],
    /// n·a.
    offset: f32,
    /// |n|₁ times its share of the doubt.
    doubt: f32,
    /// E, and what it may be wrong by.
    extent: f32,
}

impl LeafFilter {
    #[inline(always)]
    fn carried(&self, few: &Block, lane: usize) -> Carried {
        let corner = |c: usize| [few[3 * c][lane], few[3 * c + 1][lane], few[3 * c + 2][lane]];
        let (a, b, c) = (corner(0), corner(1), corner(2));
        let minus = |b: [f32; 3]| [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
        let (e, f) = (minus(b), minus(c));
        let [x, y, z] = self.exact_turn;
        let at = a.map(f64::from);
        let p: [f32; 4] = std::array::from_fn(|k| {
            z[k].mul_add(at[2], y[k].mul_add(at[1], x[k].mul_add(at[0], self.exact_shift[k]))) as f32
        });
        let [x, y, z] = self.turn;
        let turned = |e: [f32; 3]| -> [f32; 4] {
            std::array::from_fn(|k| z[k].mul_add(e[2], y[k].mul_add(e[1], x[k] * e[0])))
        };
        let (g, h) = (turned(e), turned(f));
        let minor = |i: usize, j: usize| g[i].mul_add(h[j], -(g[j] * h[i]));
        let normal = [minor(1, 2), minor(2, 0), minor(0, 1)];
        let side = |k: usize| larger(g[k].abs(), h[k].abs());
        let sum = (normal[0].abs() + normal[1].abs()) + normal[2].abs();
        let square = normal[2].mul_add(normal[2], normal[1].mul_add(normal[1], normal[0] * normal[0]));
        let length = if self.margin > 0.0 { square.sqrt() } else { 0.0 };
        Carried {
            corners: [p, std::array::from_fn(|k| p[k] + g[k]), std::array::from_fn(|k| p[k] + h[k])],
            normal,
            offset: normal[2].mul_add(p[2], normal[1].mul_add(p[1], normal[0] * p[0])),
            doubt: sum.mul_add(self.of_normal, self.margin.mul_add(length, UNDERFLOW)),
            extent: larger(larger(side(0), side(1)), side(2)) + self.slip,
        }
    }
}

/// As the instruction does it: the second where one is no number.
#[inline(always)]
fn larger(x: f32, y: f32) -> f32 {
    if x > y { x } else { y }
}

/// As [`larger`].
fn smaller(x: f32, y: f32) -> f32 {
    if x < y { x } else { y }
}

fn portable(test: &LeafFilter, few: &Block, many: &Block, mask: u64, one: bool) -> Verdicts {
    let mut found = Verdicts { meeting: 0, doubtful: 0 };
    let corner = |c: usize, j: usize| [many[3 * c][j], many[3 * c + 1][j], many[3 * c + 2][j]];
    let dot = |[a, b, c]: [f32; 3], d: &[f32]| c.mul_add(d[2], b.mul_add(d[1], a * d[0]));
    let one_side = |[x, y, z]: [f32; 3], doubt: f32| {
        smaller(smaller(x, y), z) > doubt || larger(larger(x, y), z) < -doubt
    };
    for i in (0..WIDTH).filter(|i| mask >> (WIDTH * i) & 0xFF != 0) {
        if one && found.meeting != 0 {
            break;
        }
        let own = test.carried(few, i);
        let (mut row, mut left) = (Row::default(), 0);
        for j in 0..WIDTH {
            let (a, b, c) = (corner(0, j), corner(1, j), corner(2, j));
            let (e, f) = ([0, 1, 2].map(|k| b[k] - a[k]), [0, 1, 2].map(|k| c[k] - a[k]));
            let minor = |i: usize, j: usize| e[i].mul_add(f[j], -(e[j] * f[i]));
            let normal = [minor(1, 2), minor(2, 0), minor(0, 1)];
            let theirs = [a, b, c];
            let extent = edge_extent(&theirs, test.slip);
            let across = reach(&own, &theirs, extent) * test.of_extent;
            let over = [a, b, c].map(|d| dot(own.normal, &d) - own.offset);
            let offset = dot(normal, &a);
            let under = own.corners.map(|d| dot(normal, &d) - offset);
            let sum = (normal[0].abs() + normal[1].abs()) + normal[2].abs();
            let length = if test.margin > 0.0 { dot(normal, &normal).sqrt() } else { 0.0 };
            let doubt = sum.mul_add(test.of_normal, test.margin.mul_add(length, UNDERFLOW));
            let (own_doubt, doubt) = (across.mul_add(own.extent, own.doubt), across.mul_add(extent, doubt));
            let parted = one_side(over, own_doubt) || one_side(under, doubt);
            left |= u8::from(!parted) << j;
            let sides = |h: [f32; 3], doubt: f32, sides: &mut [[u8; 2]; 3]| {
                for (h, [above, below]) in h.into_iter().zip(sides) {
                    *above |= u8::from(h > doubt) << j;
                    *below |= u8::from(h < -doubt) << j;
                }
            };
            sides(over, own_doubt, &mut row.over);
            sides(under, doubt, &mut row.under);
        }
        found.note(i, left & (mask >> (WIDTH * i)) as u8, one, |j| row.meet(&own, many, j, test));
    }
    found
}

#[cfg(target_arch = "x86_64")]
macro_rules! kernels {
    ($set:ident, $features:literal) => {
        mod $set {
            use std::arch::x86_64::*;

            use super::{Block, LeafFilter, Row, UNDERFLOW, Verdicts, WIDTH};
            use crate::simd::avx::{absolute, dot, load};

            /// a·b − c·d.
            #[inline]
            #[target_feature(enable = $features)]
            fn minor(a: __m256, b: __m256, c: __m256, d: __m256) -> __m256 {
                _mm256_fmsub_ps(a, b, _mm256_mul_ps(c, d))
            }

            /// All ones where three heights are on one side beyond doubt.
            #[inline]
            #[target_feature(enable = $features)]
            fn one_side(h: &[__m256; 3], doubt: __m256) -> __m256 {
                let least = _mm256_min_ps(_mm256_min_ps(h[0], h[1]), h[2]);
                let most = _mm256_max_ps(_mm256_max_ps(h[0], h[1]), h[2]);
                let below = _mm256_sub_ps(_mm256_setzero_ps(), doubt);
                _mm256_or_ps(
                    _mm256_cmp_ps::<_CMP_GT_OQ>(least, doubt),
                    _mm256_cmp_ps::<_CMP_LT_OQ>(most, below),
                )
            }

            /// The lanes where each height is surely above, and surely below.
            #[inline]
            #[target_feature(enable = $features)]
            fn sides(h: &[__m256; 3], doubt: __m256) -> [[u8; 2]; 3] {
                let below = _mm256_sub_ps(_mm256_setzero_ps(), doubt);
                h.map(|h| {
                    let above = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(h, doubt));
                    let below = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(h, below));
                    [above as u8, below as u8]
                })
            }

            #[target_feature(enable = $features)]
            pub(super) fn decide(
                test: &LeafFilter,
                few: &Block,
                many: &Block,
                mask: u64,
                one: bool,
            ) -> Verdicts {
                let corners = [0, 1, 2].map(|c| [0, 1, 2].map(|k| load(&many[3 * c + k])));
                let [a, b, c] = &corners;
                let e = [0, 1, 2].map(|k| _mm256_sub_ps(b[k], a[k]));
                let f = [0, 1, 2].map(|k| _mm256_sub_ps(c[k], a[k]));
                let normal = [
                    minor(e[1], f[2], e[2], f[1]),
                    minor(e[2], f[0], e[0], f[2]),
                    minor(e[0], f[1], e[1], f[0]),
                ];
                let most = |[x, y, z]: [__m256; 3]| _mm256_max_ps(_mm256_max_ps(x, y), z);
                let side = [0, 1, 2].map(|k| _mm256_max_ps(absolute(e[k]), absolute(f[k])));
                let extent = _mm256_add_ps(most(side), _mm256_set1_ps(test.slip));
                let offset = dot(&normal, a);
                let sum = _mm256_add_ps(
                    _mm256_add_ps(absolute(normal[0]), absolute(normal[1])),
                    absolute(normal[2]),
                );
                let of_normal = _mm256_set1_ps(test.of_normal);
                let mut beyond = _mm256_set1_ps(UNDERFLOW);
                if test.margin > 0.0 {
                    let length = _mm256_sqrt_ps(dot(&normal, &normal));
                    beyond = _mm256_fmadd_ps(_mm256_set1_ps(test.margin), length, beyond);
                }
                let doubt = _mm256_fmadd_ps(sum, of_normal, beyond);
                let mut found = Verdicts { meeting: 0, doubtful: 0 };
                let mut rest = mask;
                while rest != 0 && !(one && found.meeting != 0) {
                    let i = rest.trailing_zeros() as usize / WIDTH;
                    rest &= !(0xFF << (WIDTH * i));
                    let own = test.carried(few, i);
                    let spread = |v: &[f32]| [v[0], v[1], v[2]].map(|x| _mm256_set1_ps(x));
                    let own_extent = _mm256_set1_ps(own.extent);
                    let first = spread(&own.corners[0]);
                    let way = most([0, 1, 2].map(|k| absolute(_mm256_sub_ps(a[k], first[k]))));
                    let reach = _mm256_add_ps(way, _mm256_add_ps(own_extent, extent));
                    let across = _mm256_mul_ps(reach, _mm256_set1_ps(test.of_extent));
                    let own_normal = spread(&own.normal);
                    let own_offset = _mm256_set1_ps(own.offset);
                    let over = [0, 1, 2].map(|c| _mm256_sub_ps(dot(&own_normal, &corners[c]), own_offset));
                    let own_doubt = _mm256_fmadd_ps(across, own_extent, _mm256_set1_ps(own.doubt));
                    let under =
                        [0, 1, 2].map(|c| _mm256_sub_ps(dot(&normal, &spread(&own.corners[c])), offset));
                    let their_doubt = _mm256_fmadd_ps(across, extent, doubt);
                    let parted = _mm256_or_ps(one_side(&over, own_doubt), one_side(&under, their_doubt));
                    let left = !_mm256_movemask_ps(parted) as u8 & (mask >> (WIDTH * i)) as u8;
                    if left != 0 {
                        let row = Row { over: sides(&over, own_doubt), under: sides(&under, their_doubt) };
                        found.note(i, left, one, |j| row.meet(&own, many, j, test));
                    }
                }
                found
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
crate::simd::for_x86_levels!(kernels);
