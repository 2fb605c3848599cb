//! Which triangles of two clusters may meet, and in how many frames the others may: eight at a time in f32.
//!
//! The plane of one triangle has the other on one side, or that of the other has the one: then they are apart (Guigue and
//! Devillers 2003). The distance from the plane and how fast it shrinks tell for how long. A pair that no plane separates
//! beyond doubt is decided by signs where all are known, else by the exact test.
//!
//! What rounding may do. Write u = 2⁻²⁴, r and s for the blocks' reaches, d for the largest component of the shift between
//! their middles, C = r + s + d, E for the largest component of a triangle's edges from its first corner. A stored corner is
//! wrong by at most u·C, a shifted one by 3u·C; so the difference of two by η = 5u·C, its own rounding included, and none is
//! larger than C. A component of the normal e × f is wrong by 4E·η + 4u·E² ≤ 24u·C·E and no larger than 2E². The product of
//! the normal and a difference is wrong by 3·(24u·C·E·C + 2E²·η) + 9u·2E²·C ≤ 120u·C²·E; the doubt takes 160. A determinant
//! of three differences, six products of three, is wrong by 18C²·η + 36u·C³ ≤ 126u·C³; the doubt takes 160. Products below
//! the range of f32 add up to less than `UNDERFLOW`.

use glam::DVec3;

use super::clusters::{Block, LANES};
use crate::geom::triangle_triangle::canonical;
use crate::num::predicate::Sign;
use crate::simd::{SimdLevel, dispatch};

/// Half a unit in the last place of 1 (no unit), 160 times.
const DOUBT: f32 = 160.0 * f32::EPSILON / 2.0;

/// More than all products that underflow can add up to (a cubic length).
const UNDERFLOW: f32 = 64.0 * f32::MIN_POSITIVE;

/// What is not expected sooner is not told any better (frames).
pub(super) const FARTHEST: f32 = 8.0;

/// How two clusters lie and move.
#[derive(Debug, Clone, Copy)]
pub(super) struct Approach {
    /// From the middle of the second to that of the first.
    shift: [f32; 3],
    /// Of the second against the first in a frame.
    velocity: [f32; 3],
    /// By how much a gap may close faster in a frame than that (a length).
    unlike: f32,
    /// 160u·C².
    of_extent: f32,
    /// 160u·C³.
    of_determinant: f32,
}

/// What is known of the pairs of two clusters' triangles: bit 8·i + j for lane i of the first and j of the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Near {
    /// Those that no plane separates beyond doubt.
    pub pairs: u64,
    /// Frames for which planes are expected to separate all others, at most [`FARTHEST`].
    pub frames: f32,
}

impl Approach {
    /// Of two blocks with their middles in the world.
    #[inline]
    pub fn new(blocks: [&Block; 2], middles: [DVec3; 2], velocity: DVec3, unlike: f64) -> Approach {
        let shift = (middles[0] - middles[1]).as_vec3();
        let size = blocks[0].reach + blocks[1].reach + shift.abs().max_element();
        let of_extent = DOUBT * size * size;
        Approach {
            shift: shift.to_array(),
            velocity: velocity.as_vec3().to_array(),
            unlike: unlike as f32,
            of_extent,
            of_determinant: of_extent * size + UNDERFLOW,
        }
    }

    /// Looks at the pairs of these lanes.
    #[inline]
    pub fn near(&self, level: SimdLevel, blocks: [&Block; 2], lanes: [u8; 2]) -> Near {
        near(level, self, blocks[0], blocks[1], lanes)
    }

    /// Whether the triangles of two lanes meet; `None` in doubt.
    #[inline]
    pub fn meet(&self, blocks: [&Block; 2], [i, j]: [usize; 2]) -> Option<bool> {
        let corner = |of: &Block, lane: usize, c: usize| [0, 1, 2].map(|k| of.corners[c][k][lane]);
        let own = [0, 1, 2].map(|c| {
            let at = corner(blocks[0], i, c);
            [0, 1, 2].map(|k| at[k] + self.shift[k])
        });
        let theirs = [0, 1, 2].map(|c| corner(blocks[1], j, c));
        let sides = |of: &Block, lane: usize, from: [f32; 3], to: &[[f32; 3]; 3]| {
            let normal = [0, 1, 2].map(|k| of.normals[k][lane]);
            let doubt = self.of_extent * of.extents[lane] + UNDERFLOW;
            to.map(|p| sign(dot(normal, minus(p, from)), doubt))
        };
        let over = sides(blocks[0], i, own[0], &theirs);
        let under = sides(blocks[1], j, theirs[0], &own);
        let all = |s: [Option<Sign>; 3]| Some([s[0]?, s[1]?, s[2]?]);
        let (over, under) = (all(over)?, all(under)?);
        if over[0] == over[1] && over[1] == over[2] || under[0] == under[1] && under[1] == under[2] {
            return Some(false);
        }
        let ([a, b, c], [p, q, r]) = canonical(&own, &theirs, under, over);
        let low = sign(determinant(a, b, p, q), self.of_determinant);
        let high = sign(determinant(a, c, r, p), self.of_determinant);
        match (low, high) {
            (Some(Sign::Positive), _) | (_, Some(Sign::Positive)) => Some(false),
            (Some(_), Some(_)) => Some(true),
            _ => None,
        }
    }
}

dispatch! {
    #[inline]
    fn near(approach: &Approach, first: &Block, second: &Block, lanes: [u8; 2]) -> Near = eight plain
}

#[inline(always)]
fn plain(approach: &Approach, first: &Block, second: &Block, lanes: [u8; 2]) -> Near {
    let &Approach { shift, velocity: v, unlike, of_extent, .. } = approach;
    let ([a, b, c], n) = (&second.corners, &second.normals);
    let mut frames = [FARTHEST; LANES];
    // By how much the second's planes recede from points of the first in a frame.
    let mut rates = [0.0; LANES];
    let mut doubts = [0.0; LANES];
    for j in 0..LANES {
        rates[j] = (v[0] * n[0][j] + v[1] * n[1][j] + v[2] * n[2][j]) * second.per_length[j];
        doubts[j] = of_extent * second.extents[j] + UNDERFLOW;
    }
    let mut pairs = 0_u64;
    for i in (0..LANES).filter(|i| lanes[0] >> i & 1 != 0) {
        let at = |corner: usize| [0, 1, 2].map(|k| first.corners[corner][k][i] + shift[k]);
        let (p, q, r) = (at(0), at(1), at(2));
        let m = [0, 1, 2].map(|k| first.normals[k][i]);
        let per_length = first.per_length[i];
        let rate = dot(v, m) * per_length;
        let doubt = of_extent * first.extents[i] + UNDERFLOW;
        let mut left = [0_u32; LANES];
        for j in 0..LANES {
            let over = |d: &[[f32; LANES]; 3]| {
                m[0] * (d[0][j] - p[0]) + m[1] * (d[1][j] - p[1]) + m[2] * (d[2][j] - p[2])
            };
            let (x, y, z) = (over(a), over(b), over(c));
            let (low, high) = (smaller(smaller(x, y), z), larger(larger(x, y), z));
            let is_above = low > -high;
            let height = if is_above { low } else { -high };
            let closing = if is_above { -rate } else { rate };
            let under = |d: [f32; 3]| {
                n[0][j] * (d[0] - a[0][j]) + n[1][j] * (d[1] - a[1][j]) + n[2][j] * (d[2] - a[2][j])
            };
            let (x, y, z) = (under(p), under(q), under(r));
            let (low, high) = (smaller(smaller(x, y), z), larger(larger(x, y), z));
            let is_above = low > -high;
            let other_height = if is_above { low } else { -high };
            let other_closing = if is_above { rates[j] } else { -rates[j] };
            let least = 1e-3 * unlike + f32::MIN_POSITIVE;
            let lasts = |height: f32, doubt: f32, per_length: f32, closing: f32| {
                if height > doubt { height * per_length / larger(closing + unlike, least) } else { 0.0 }
            };
            let one = lasts(height, doubt, per_length, closing);
            let other = lasts(other_height, doubts[j], second.per_length[j], other_closing);
            let is_parted = (height > doubt) | (other_height > doubts[j]);
            let most = larger(one, other);
            frames[j] = if is_parted { smaller(frames[j], most) } else { frames[j] };
            left[j] = if is_parted { 0 } else { 1 << j };
        }
        let left = left.iter().fold(0, |set, bit| set | bit) as u8 & lanes[1];
        pairs |= u64::from(left) << (LANES * i);
    }
    Near { pairs, frames: frames.into_iter().fold(FARTHEST, smaller) }
}

/// As the instruction does it: the second where one is no number.
#[inline(always)]
fn larger(x: f32, y: f32) -> f32 {
    if x > y { x } else { y }
}

/// As [`larger`].
#[inline(always)]
fn smaller(x: f32, y: f32) -> f32 {
    if x < y { x } else { y }
}

#[inline(always)]
fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn minus(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// (b − a) × (c − a) · (d − a).
#[inline(always)]
fn determinant(a: [f32; 3], b: [f32; 3], c: [f32; 3], d: [f32; 3]) -> f32 {
    let (u, v, w) = (minus(b, a), minus(c, a), minus(d, a));
    let minor = |i: usize, j: usize| u[i] * v[j] - u[j] * v[i];
    minor(1, 2) * w[0] + minor(2, 0) * w[1] + minor(0, 1) * w[2]
}

/// The sign of a number that may be wrong by so much.
#[inline(always)]
fn sign(x: f32, doubt: f32) -> Option<Sign> {
    match x {
        x if x > doubt => Some(Sign::Positive),
        x if x < -doubt => Some(Sign::Negative),
        _ => None,
    }
}
