//! Disc bounds against disc bounds: which children of two nodes they separate, although their boxes overlap.
//!
//! A disc bound says that the triangles of a child lie within `half` of a plane and within `radius` of its axis.
//! Near contact two patches of surface face each other, nearly flat and nearly parallel, while their boxes
//! overlap deeply. Seen along the axis n of one disc bound, the other (axis m, half height t, radius r) reaches
//! |n·m|·t + √(1 − (n·m)²)·r from its centre; where the centres are farther apart than that and the first
//! disc bound's own half height, the two are apart. Both axes are tried, all disc bounds of one node at once.
//!
//! A disc bound is carried by the f32 map of the search. What that costs:
//! - its centre errs by less than the map's pad on each axis, so a height by √3 pads; the products and sums
//!   here round by less than another. `slack` takes four pads;
//! - a map that is orthonormal only within δ bends a disc bound by δ times its size; disc bounds that fill their
//!   boxes need 4.5δ·reach, the slack takes 8. It changes the sine by what 4δ under the root covers;
//! - normals too short, and maps too small, to be given the length 1 in f32 separate nothing;
//! - no root is taken: what a gap has beyond the half heights is squared and held against sine²·radius². The three
//!   products round by 3u of the room at most, which the other pad covers too; where they underflow, the lengths are
//!   wrong by less than `UNDERFLOW`.
//!
//! A triangle is the disc bound of its plane: a circle around its corners. Its normal in f32 is wrong by less than
//! 16·2⁻²⁴·(2r)² of |n|, which lifts a corner by 64·2⁻²³·r³/|n| at most; its corners are rounded by 2⁻²⁴ of
//! the reach.

use super::box_overlap::{self, Carrier};
use super::disc_bound::DiscBoundLanes;
use super::leaf_block::{Block, Rows};
use super::relative::{Carry, Map};
use super::wide::{Node, TreeFrame, WIDTH};
use crate::simd::{SimdLevel, dispatch};

#[cfg(test)]
#[path = "disc_bound_pair_tests.rs"]
mod tests;

/// What rounding can do to the square of the sine (no unit).
const SINE_ROUNDING: f32 = 16.0 * f32::EPSILON;
/// More than the lengths whose squares underflow are wrong by (tree units): a few roots of 2⁻¹⁴⁹.
const UNDERFLOW: f32 = 1e-20;
/// So much of the margin is surely in a map's pad (no unit): poses stretch by 1e-4 at most.
const IN_A_PAD: f32 = 0.99;
/// What a stored corner and a centre of three can be wrong by, relative to the reach (no unit).
const CORNER_ROUNDING: f32 = 4.0 * f32::EPSILON;
/// What rounding can take from a radius (no unit).
const RADIUS_ROUNDING: f32 = 1.0 + 8.0 * f32::EPSILON;
/// Squared normals below this (tree units to the fourth) are too short to be given the length 1 in f32.
const SHORTEST_NORMAL: f32 = 7.888_609e-31;
/// Maps that shrink more than this (no unit) are not told from 0 well enough in f32.
const SMALLEST_SCALE: f64 = 7.888_609_052_210_118e-31;
/// The tilt of a normal in f32, times |n|/r² (no unit).
const CORNER_TILT: f32 = 64.0 * f32::EPSILON;

/// The children of a node as disc bounds.
#[derive(Debug, Clone, Copy)]
pub enum PatchLanes<'t> {
    /// Subtrees.
    DiscBounds(&'t DiscBoundLanes),
    /// Single triangles.
    Triangles(&'t Block),
}

/// Two nodes and how their trees lie to each other: the few, then the many.
#[derive(Debug, Clone, Copy)]
pub struct NodePair<'t> {
    /// The boxes of the children.
    pub nodes: [&'t Node; 2],
    /// Their disc bounds.
    pub patches: [PatchLanes<'t>; 2],
    /// Carries boxes of the many into the frame of the few.
    pub to_few: &'t Carrier,
    /// The other way.
    pub to_many: &'t Carrier,
}

/// Carries the disc bounds of one tree, the few, among those of another.
#[derive(Debug, Clone, Copy)]
pub struct DiscBoundTest {
    /// Added to half heights (units of the target tree).
    slack: f32,
    /// 1 and what the sine may be wrong by.
    one: f32,
    /// What the rounding of triangles adds to their disc bounds: of the few, of the many (each tree's units).
    rounding: [f32; 2],
}

/// How far a map is from a rotation times a scale: a bound of the norm of MᵀM/scale² − 1, three times its
/// largest entry.
pub fn bent(carry: &Carry) -> f32 {
    let columns = [carry.turn.x_axis, carry.turn.y_axis, carry.turn.z_axis];
    let [x, y, z] = columns;
    let square = x.length_squared().max(y.length_squared()).max(z.length_squared());
    let off = x.dot(y).abs().max(y.dot(z).abs()).max(z.dot(x).abs());
    let short = x.length_squared().min(y.length_squared()).min(z.length_squared());
    (3.0 * off.max(square - short) / square) as f32
}

impl DiscBoundTest {
    /// For disc bounds of a tree with the frame `few` in that of `many`, carried by `map`, which lets through what is
    /// nearer than `margin` (units of `many`).
    #[inline]
    pub fn new(few: &TreeFrame, many: &TreeFrame, map: &Map, bent: f32, margin: f64) -> DiscBoundTest {
        let largest = map.pad[0].max(map.pad[1]).max(map.pad[2]);
        let margin = margin as f32;
        let pad = largest - IN_A_PAD * margin;
        let scale = few.unit / many.unit;
        let size = 8.0 * few.reach * scale as f32;
        let slack = 4.0 * pad + bent * size + margin + UNDERFLOW;
        DiscBoundTest {
            slack: if scale >= SMALLEST_SCALE { slack } else { f32::INFINITY },
            one: 1.0 + SINE_ROUNDING + 4.0 * bent,
            rounding: [few.reach, many.reach].map(|reach| CORNER_ROUNDING * reach),
        }
    }

    /// Of the pairs in `mask` (bit 8·i + j) those that patch i of the few, carried by `to_many`, and patch j of
    /// the many do not separate. Patches are those of the few, then of the many.
    #[inline]
    pub fn keep(&self, level: SimdLevel, to_many: &Carrier, patches: [PatchLanes<'_>; 2], mask: u64) -> u64 {
        keep(level, self, to_many, patches, mask)
    }

    /// As [`overlaps`](box_overlap::overlaps) of the boxes of two nodes and [`DiscBoundTest::keep`] of their patches
    /// after it, but both are found at once: neither waits for the other.
    #[inline]
    pub fn overlaps(&self, level: SimdLevel, pair: &NodePair<'_>, rows: u8) -> u64 {
        overlaps(level, self, pair, rows)
    }
}

dispatch! {
    #[inline]
    fn overlaps(test: &DiscBoundTest, pair: &NodePair<'_>, rows: u8) -> u64
        = { portable::overlaps, avx2::overlaps, avx512::overlaps }
}

dispatch! {
    #[inline]
    fn keep(test: &DiscBoundTest, to_many: &Carrier, patches: [PatchLanes<'_>; 2], mask: u64) -> u64
        = { portable::keep, avx2::keep, avx512::keep }
}

mod portable {
    use super::{Block, Carrier, NodePair, PatchLanes, Rows, WIDTH, box_overlap};
    use super::{CORNER_TILT, DiscBoundLanes, DiscBoundTest, RADIUS_ROUNDING, SHORTEST_NORMAL};

    fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
        a[2].mul_add(b[2], a[1].mul_add(b[1], a[0] * b[0]))
    }

    fn larger(a: f32, b: f32) -> f32 {
        if a > b { a } else { b }
    }

    fn of_triangles(block: &Block, rounding: f32) -> DiscBoundLanes {
        let mut disc_bounds = Rows([[0.0; WIDTH]; 8]);
        for lane in 0..WIDTH {
            let corner = |c: usize| [0, 1, 2].map(|k| block[3 * c + k][lane]);
            let minus = |a: [f32; 3], b: [f32; 3]| [0, 1, 2].map(|k| a[k] - b[k]);
            let (a, b, c) = (corner(0), corner(1), corner(2));
            let centre = [0, 1, 2].map(|k| ((a[k] + b[k]) + c[k]) * (1.0 / 3.0));
            let (e, f) = (minus(b, a), minus(c, a));
            let minor = |i: usize, j: usize| e[i].mul_add(f[j], -(e[j] * f[i]));
            let normal = [minor(1, 2), minor(2, 0), minor(0, 1)];
            let [p, q, r] = [a, b, c].map(|p| minus(p, centre)).map(|arm| dot(arm, arm));
            let far = larger(larger(p, q), r);
            let radius = far.sqrt().mul_add(RADIUS_ROUNDING, rounding);
            let square = dot(normal, normal);
            let inverse = 1.0 / square.sqrt();
            let tilt = (radius * far) * (inverse * CORNER_TILT) + rounding;
            let half = if square >= SHORTEST_NORMAL { tilt } else { f32::INFINITY };
            let [x, y, z] = centre;
            let [u, v, w] = normal.map(|n| n * inverse);
            [x, y, z, u, v, w, half, radius]
                .into_iter()
                .enumerate()
                .for_each(|(k, x)| disc_bounds[k][lane] = x);
        }
        disc_bounds
    }

    fn disc_bounds(patches: PatchLanes<'_>, rounding: f32) -> DiscBoundLanes {
        match patches {
            PatchLanes::DiscBounds(disc_bounds) => *disc_bounds,
            PatchLanes::Triangles(block) => of_triangles(block, rounding),
        }
    }

    pub(super) fn overlaps(test: &DiscBoundTest, pair: &NodePair<'_>, rows: u8) -> u64 {
        let NodePair { nodes: [few, many], patches, to_few, to_many } = *pair;
        let mask = box_overlap::portable(few, rows, many, to_few, to_many);
        if mask == 0 { 0 } else { keep(test, to_many, patches, mask) }
    }

    pub(super) fn keep(
        test: &DiscBoundTest,
        to_many: &Carrier,
        [few, many]: [PatchLanes<'_>; 2],
        mask: u64,
    ) -> u64 {
        let (few, many) = (disc_bounds(few, test.rounding[0]), disc_bounds(many, test.rounding[1]));
        let scale = to_many.scale;
        let mut kept = 0;
        for bit in (0..WIDTH * WIDTH).filter(|bit| mask >> bit & 1 != 0) {
            let (i, j) = (bit / WIDTH, bit % WIDTH);
            let own = |row: usize| few[row][i];
            let column = |k: usize, axis: usize| to_many.turn[k][axis];
            let at = [0, 1, 2].map(|k| {
                let two = own(1).mul_add(column(1, k), own(0).mul_add(column(0, k), to_many.shift[k]));
                own(2).mul_add(column(2, k), two)
            });
            let along = [0, 1, 2].map(|k| {
                let two = own(4).mul_add(column(1, k), own(3) * column(0, k));
                own(5).mul_add(column(2, k), two) * to_many.unscale
            });
            let own_half = own(6).mul_add(scale, test.slack);
            let own_radius = own(7) * scale;
            let way = [0, 1, 2].map(|k| many[k][j] - at[k]);
            let axis = [3, 4, 5].map(|k| many[k][j]);
            let (half, radius) = (many[6][j], many[7][j]);
            let cosine = dot(along, axis).abs();
            let square = larger((-cosine).mul_add(cosine, test.one), 0.0);
            let room = cosine.mul_add(half, own_half);
            let own_room = cosine.mul_add(own_half, half + test.slack);
            let beyond = |gap: f32, room: f32, radius: f32| {
                let rest = larger(gap.abs() - room, 0.0);
                rest * rest > square * (radius * radius)
            };
            let apart = beyond(dot(along, way), room, radius) | beyond(dot(axis, way), own_room, own_radius);
            kept |= u64::from(!apart) << bit;
        }
        kept
    }
}

#[cfg(target_arch = "x86_64")]
macro_rules! kernels {
    ($set:ident, $features:literal) => {
        mod $set {
            use std::arch::x86_64::*;

            use super::{Block, Carrier, NodePair, PatchLanes, Rows, WIDTH};
            use super::{CORNER_TILT, DiscBoundLanes, DiscBoundTest, RADIUS_ROUNDING, SHORTEST_NORMAL};
            use crate::hierarchy::box_overlap::$set::Eight;
            use crate::simd::avx::{absolute, dot, load, spread, store};

            /// Centres, axes, half heights and radii.
            type DiscBoundVectors = ([__m256; 3], [__m256; 3], __m256, __m256);

            #[inline]
            #[target_feature(enable = $features)]
            fn of_triangles(block: &Block, rounding: f32) -> DiscBoundVectors {
                let corner = |c: usize| [0, 1, 2].map(|k| load(&block[3 * c + k]));
                let minus = |a: &[__m256; 3], b: &[__m256; 3]| [0, 1, 2].map(|k| _mm256_sub_ps(a[k], b[k]));
                let (a, b, c) = (corner(0), corner(1), corner(2));
                let third = _mm256_set1_ps(1.0 / 3.0);
                let centre =
                    [0, 1, 2].map(|k| _mm256_mul_ps(_mm256_add_ps(_mm256_add_ps(a[k], b[k]), c[k]), third));
                let (e, f) = (minus(&b, &a), minus(&c, &a));
                let minor = |i: usize, j: usize| _mm256_fmsub_ps(e[i], f[j], _mm256_mul_ps(e[j], f[i]));
                let normal = [minor(1, 2), minor(2, 0), minor(0, 1)];
                let [p, q, r] = [a, b, c].map(|p| {
                    let arm = minus(&p, &centre);
                    dot(&arm, &arm)
                });
                let far = _mm256_max_ps(_mm256_max_ps(p, q), r);
                let rounding = _mm256_set1_ps(rounding);
                let radius = _mm256_fmadd_ps(_mm256_sqrt_ps(far), _mm256_set1_ps(RADIUS_ROUNDING), rounding);
                let square = dot(&normal, &normal);
                let inverse = _mm256_div_ps(_mm256_set1_ps(1.0), _mm256_sqrt_ps(square));
                let tilt = _mm256_mul_ps(inverse, _mm256_set1_ps(CORNER_TILT));
                let half = _mm256_add_ps(_mm256_mul_ps(_mm256_mul_ps(radius, far), tilt), rounding);
                let known = _mm256_cmp_ps::<_CMP_GE_OQ>(square, _mm256_set1_ps(SHORTEST_NORMAL));
                let half = _mm256_blendv_ps(_mm256_set1_ps(f32::INFINITY), half, known);
                (centre, normal.map(|n| _mm256_mul_ps(n, inverse)), half, radius)
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn loaded(disc_bounds: &DiscBoundLanes) -> DiscBoundVectors {
                let three = |first: usize| [0, 1, 2].map(|k| load(&disc_bounds[first + k]));
                (three(0), three(3), load(&disc_bounds[6]), load(&disc_bounds[7]))
            }

            #[target_feature(enable = $features)]
            pub(super) fn keep(
                test: &DiscBoundTest,
                to_many: &Carrier,
                patches: [PatchLanes<'_>; 2],
                mask: u64,
            ) -> u64 {
                let room;
                let few = match patches[0] {
                    PatchLanes::DiscBounds(disc_bounds) => disc_bounds,
                    PatchLanes::Triangles(block) => {
                        room = in_rows(block, test.rounding[0]);
                        &room
                    }
                };
                let many = vectors(patches[1], test.rounding[1]);
                let carriage = Carriage::new(test, to_many);
                let mut kept = 0;
                let mut rest = mask;
                while rest != 0 {
                    let i = rest.trailing_zeros() as usize / WIDTH;
                    rest &= !(0xFF << (WIDTH * i));
                    let apart = carriage.apart(few, i, &many);
                    kept |= u64::from(!_mm256_movemask_ps(apart) as u8) << (WIDTH * i);
                }
                kept & mask
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn vectors(patches: PatchLanes<'_>, rounding: f32) -> DiscBoundVectors {
                match patches {
                    PatchLanes::DiscBounds(disc_bounds) => loaded(disc_bounds),
                    PatchLanes::Triangles(block) => of_triangles(block, rounding),
                }
            }

            /// Triangles as rows of which one number at a time is taken.
            #[inline]
            #[target_feature(enable = $features)]
            fn in_rows(block: &Block, rounding: f32) -> DiscBoundLanes {
                let ([x, y, z], [u, v, w], half, radius) = of_triangles(block, rounding);
                let mut rows = Rows([[0.0; WIDTH]; 8]);
                for (row, lanes) in rows.iter_mut().zip([x, y, z, u, v, w, half, radius]) {
                    store(lanes, row);
                }
                rows
            }

            /// What carries the few, in registers.
            struct Carriage {
                columns: [__m256; 3],
                shift: __m256,
                scale: __m256,
                unscale: __m256,
                slack: __m256,
                one: __m256,
            }

            impl Carriage {
                #[inline]
                #[target_feature(enable = $features)]
                fn new(test: &DiscBoundTest, to_many: &Carrier) -> Carriage {
                    Carriage {
                        columns: [0, 1, 2].map(|k| load(&to_many.turn[k])),
                        shift: load(&to_many.shift),
                        scale: _mm256_set1_ps(to_many.scale),
                        unscale: _mm256_set1_ps(to_many.unscale),
                        slack: _mm256_set1_ps(test.slack),
                        one: _mm256_set1_ps(test.one),
                    }
                }

                /// All ones in the lanes of the many that one of the few is separated from.
                #[inline]
                #[target_feature(enable = $features)]
                fn apart(&self, few: &DiscBoundLanes, i: usize, many: &DiscBoundVectors) -> __m256 {
                    let Carriage { columns, shift, scale, unscale, slack, one } = *self;
                    let (centre, axis, half, radius) = many;
                    let own = |row: usize| _mm256_set1_ps(few[row][i]);
                    let at = _mm256_fmadd_ps(own(1), columns[1], _mm256_fmadd_ps(own(0), columns[0], shift));
                    let at = spread(_mm256_fmadd_ps(own(2), columns[2], at));
                    let along = _mm256_fmadd_ps(own(4), columns[1], _mm256_mul_ps(own(3), columns[0]));
                    let along = spread(_mm256_mul_ps(_mm256_fmadd_ps(own(5), columns[2], along), unscale));
                    let own_half = _mm256_fmadd_ps(own(6), scale, slack);
                    let own_radius = _mm256_mul_ps(own(7), scale);
                    let way = [0, 1, 2].map(|k| _mm256_sub_ps(centre[k], at[k]));
                    let cosine = absolute(dot(&along, axis));
                    let zero = _mm256_setzero_ps();
                    let square = _mm256_max_ps(_mm256_fnmadd_ps(cosine, cosine, one), zero);
                    let room = _mm256_fmadd_ps(cosine, *half, own_half);
                    let own_room = _mm256_fmadd_ps(cosine, own_half, _mm256_add_ps(*half, slack));
                    let beyond = |gap: __m256, room: __m256, radius: __m256| {
                        let rest = _mm256_max_ps(_mm256_sub_ps(absolute(gap), room), zero);
                        let wide = _mm256_mul_ps(square, _mm256_mul_ps(radius, radius));
                        _mm256_cmp_ps::<_CMP_GT_OQ>(_mm256_mul_ps(rest, rest), wide)
                    };
                    _mm256_or_ps(
                        beyond(dot(&along, &way), room, *radius),
                        beyond(dot(axis, &way), own_room, own_radius),
                    )
                }
            }

            #[target_feature(enable = $features)]
            pub(super) fn overlaps(test: &DiscBoundTest, pair: &NodePair<'_>, rows: u8) -> u64 {
                let NodePair { nodes, patches, to_few, to_many } = *pair;
                let room;
                let few = match patches[0] {
                    PatchLanes::DiscBounds(disc_bounds) => disc_bounds,
                    PatchLanes::Triangles(block) => {
                        room = in_rows(block, test.rounding[0]);
                        &room
                    }
                };
                let many = vectors(patches[1], test.rounding[1]);
                let (eight, carriage) = (Eight::new(nodes[1], to_few), Carriage::new(test, to_many));
                let (mut meeting, mut left) = (0, rows);
                while left != 0 {
                    let i = left.trailing_zeros() as usize & (WIDTH - 1);
                    left &= left - 1;
                    let (near, apart) = (eight.row(nodes[0], i, to_many), carriage.apart(few, i, &many));
                    let row = _mm256_movemask_ps(_mm256_andnot_ps(apart, near));
                    meeting |= (row as u64) << (WIDTH * i);
                }
                meeting
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
crate::simd::for_x86_levels!(kernels);
