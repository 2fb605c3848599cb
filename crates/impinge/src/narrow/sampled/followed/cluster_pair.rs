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

use super::clusters::{Block, LANES, larger, smaller};
use crate::geom::triangle_triangle::canonical;
use crate::num::predicate::Sign;
use crate::simd::{SimdLevel, dispatch};

/// Half a unit in the last place of 1 (no unit), 160 times.
const DOUBT: f32 = 160.0 * f32::EPSILON / 2.0;

/// More than all products that underflow can add up to (a cubic length).
const UNDERFLOW: f32 = 64.0 * f32::MIN_POSITIVE;

/// The least speed at which gaps close, where they widen: a part of what motions may differ by (no unit).
const LEAST_SPEED: f32 = 1e-3;

/// How two clusters lie and move.
#[derive(Debug, Clone, Copy)]
pub(super) struct Approach {
    /// From the middle of the second to that of the first.
    shift: [f32; 3],
    /// Of the second against the first in a frame.
    velocity: [f32; 3],
    /// By how much a gap may close faster in a frame than that (a length).
    unlike: f32,
    /// What is not expected sooner is not told any better (frames).
    horizon: f32,
    /// 4u·C, by which the ends of boxes may be wrong.
    of_corner: f32,
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
    /// Frames for which planes are expected to separate the others, pair by pair; 0 for those that none does.
    pub lasts: [[f32; LANES]; LANES],
    /// The least of them, at most the horizon.
    pub frames: f32,
    /// How far ahead that is.
    horizon: f32,
}

impl Near {
    /// Frames for which pairs of these lanes stay apart that are not in a set.
    pub fn frames_without(&self, set: u64, lanes: [u8; 2]) -> f32 {
        let mut least = self.horizon;
        for (i, row) in self.lasts.iter().enumerate() {
            let mut left = if lanes[0] >> i & 1 != 0 { lanes[1] & !(set >> (LANES * i)) as u8 } else { 0 };
            while left != 0 {
                least = smaller(least, row[left.trailing_zeros() as usize]);
                left &= left - 1;
            }
        }
        least
    }
}

/// The answer about one pair of triangles that no plane separates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Decided {
    /// They meet, about so deeply: the least distance that would have to change (a length).
    Meet(f32),
    /// An edge of each is nearest, and so they stay apart for some frames.
    Apart(f32),
}

impl Approach {
    /// Of two blocks with their middles in the world, for so many frames at most.
    #[inline]
    pub fn new(
        blocks: [&Block; 2],
        middles: [DVec3; 2],
        velocity: DVec3,
        unlike: f64,
        horizon: f32,
    ) -> Approach {
        let shift = (middles[0] - middles[1]).as_vec3();
        let size = blocks[0].reach + blocks[1].reach + shift.abs().max_element();
        let of_extent = DOUBT * size * size;
        Approach {
            shift: shift.to_array(),
            velocity: velocity.as_vec3().to_array(),
            unlike: unlike as f32,
            horizon,
            of_corner: 4.0 * f32::EPSILON * size,
            of_extent,
            of_determinant: of_extent * size + UNDERFLOW,
        }
    }

    /// Frames for each unit of a gap by the rate at which what is above recedes, if it is that and if it is below.
    #[inline(always)]
    fn per_gap(&self, rate: f32) -> [f32; 2] {
        let least = LEAST_SPEED * self.unlike + f32::MIN_POSITIVE;
        [1.0 / larger(self.unlike - rate, least), 1.0 / larger(self.unlike + rate, least)]
    }

    /// Looks at the pairs of these lanes.
    #[inline]
    pub fn near(&self, level: SimdLevel, blocks: [&Block; 2], lanes: [u8; 2]) -> Near {
        near(level, self, blocks[0], blocks[1], lanes)
    }

    /// Whether the triangles of two lanes meet, after Guigue and Devillers (2003); `None` in doubt.
    #[inline]
    pub fn decide(&self, blocks: [&Block; 2], [i, j]: [usize; 2]) -> Option<Decided> {
        let s = self.shift;
        let corner = |of: &Block, lane: usize, c: usize| {
            [of.corners[c][0][lane], of.corners[c][1][lane], of.corners[c][2][lane]]
        };
        let shifted = |c: usize| {
            let [x, y, z] = corner(blocks[0], i, c);
            [x + s[0], y + s[1], z + s[2]]
        };
        let own = [shifted(0), shifted(1), shifted(2)];
        let theirs = [corner(blocks[1], j, 0), corner(blocks[1], j, 1), corner(blocks[1], j, 2)];
        let (over, beyond) = self.sides(blocks[0], i, own[0], &theirs)?;
        let (under, within) = self.sides(blocks[1], j, theirs[0], &own)?;
        let is_one = |s: [Sign; 3]| s[0] == s[1] && s[1] == s[2];
        if is_one(over) || is_one(under) {
            return Some(Decided::Apart(0.0));
        }
        let ([a, b, c], [p, q, r]) = canonical(&own, &theirs, under, over);
        // The triangles overlap along the common line of their planes unless two edges pass each other, and then the
        // planes through both edges are between them.
        let (low, high) = (self.pass([a, b], [p, q]), self.pass([a, c], [p, r]));
        let (low_sign, high_sign) = (
            sign(determinant(a, b, p, q), self.of_determinant),
            sign(determinant(a, c, r, p), self.of_determinant),
        );
        let apart =
            |sign: Option<Sign>, frames: f32| if sign == Some(Sign::Positive) { frames } else { -1.0 };
        let frames = larger(apart(low_sign, low.frames), apart(high_sign, high.frames));
        if frames >= 0.0 {
            return Some(Decided::Apart(smaller(frames, self.horizon)));
        }
        low_sign?;
        high_sign?;
        Some(Decided::Meet(smaller(smaller(low.width, high.width), smaller(beyond, within))))
    }

    /// The distance of two edges' lines, and in how many frames it closes.
    #[inline(always)]
    fn pass(&self, [a, b]: [[f32; 3]; 2], [p, q]: [[f32; 3]; 2]) -> Pass {
        let m = cross(minus(b, a), minus(q, p));
        let (height, square) = (dot(m, minus(p, a)), dot(m, m));
        let per_length = if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 };
        let away = if height >= 0.0 { per_length } else { -per_length };
        let [frames_a_unit, _] = self.per_gap(dot(self.velocity, m) * away);
        let width = height * away;
        Pass { width, frames: larger(width - self.of_determinant * per_length, 0.0) * frames_a_unit }
    }

    /// The sides of the plane of a lane's triangle that three corners are on, and how far the least of both sides reaches
    /// beyond it.
    #[inline(always)]
    fn sides(
        &self,
        of: &Block,
        lane: usize,
        from: [f32; 3],
        corners: &[[f32; 3]; 3],
    ) -> Option<([Sign; 3], f32)> {
        let normal = [of.normals[0][lane], of.normals[1][lane], of.normals[2][lane]];
        let doubt = self.of_extent * of.extents[lane] + UNDERFLOW;
        let height = |p: [f32; 3]| dot(normal, minus(p, from));
        let (x, y, z) = (height(corners[0]), height(corners[1]), height(corners[2]));
        let reach = smaller(larger(larger(x, y), z), -smaller(smaller(x, y), z)) * of.per_length[lane];
        Some(([sign(x, doubt)?, sign(y, doubt)?, sign(z, doubt)?], reach))
    }
}

/// Two lines that pass each other.
struct Pass {
    /// Their distance (a length).
    width: f32,
    /// Frames until it is used up.
    frames: f32,
}

dispatch! {
    #[inline]
    fn near(approach: &Approach, first: &Block, second: &Block, lanes: [u8; 2]) -> Near = eight plain
}

#[inline(always)]
fn plain(approach: &Approach, first: &Block, second: &Block, lanes: [u8; 2]) -> Near {
    let &Approach { shift, velocity: v, of_extent, of_corner, .. } = approach;
    let ([a, b, c], n, [low, high]) = (&second.corners, &second.normals, &second.boxes);
    // Frames for each unit of a gap: where the second is above and below along an axis, and above and below its own planes.
    let along = [approach.per_gap(v[0]), approach.per_gap(v[1]), approach.per_gap(v[2])];
    let (mut above, mut below, mut doubts) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    for j in 0..LANES {
        let rate = (v[0] * n[0][j] + v[1] * n[1][j] + v[2] * n[2][j]) * second.per_length[j];
        let [up, down] = approach.per_gap(rate);
        above[j] = down * second.per_length[j];
        below[j] = up * second.per_length[j];
        doubts[j] = of_extent * second.extents[j] + UNDERFLOW;
    }
    let mut frames = [approach.horizon; LANES];
    let mut all = [[0.0; LANES]; LANES];
    let mut pairs = 0_u64;
    for i in 0..LANES {
        if lanes[0] >> i & 1 == 0 {
            continue;
        }
        let at = |x: &[[f32; LANES]; 3]| [x[0][i] + shift[0], x[1][i] + shift[1], x[2][i] + shift[2]];
        let (p, q, r) = (at(&first.corners[0]), at(&first.corners[1]), at(&first.corners[2]));
        let (bottom, top) = (at(&first.boxes[0]), at(&first.boxes[1]));
        let m = [first.normals[0][i], first.normals[1][i], first.normals[2][i]];
        let [up, down] = approach.per_gap(dot(v, m) * first.per_length[i]);
        let (up, down) = (up * first.per_length[i], down * first.per_length[i]);
        let doubt = of_extent * first.extents[i] + UNDERFLOW;
        let mut left = [0_u32; LANES];
        for j in 0..LANES {
            let mut lasts = 0.0;
            for k in 0..3 {
                lasts = larger((low[k][j] - top[k] - of_corner) * along[k][0], lasts);
                lasts = larger((bottom[k] - high[k][j] - of_corner) * along[k][1], lasts);
            }
            let (x, y, z) = (
                m[0] * (a[0][j] - p[0]) + m[1] * (a[1][j] - p[1]) + m[2] * (a[2][j] - p[2]),
                m[0] * (b[0][j] - p[0]) + m[1] * (b[1][j] - p[1]) + m[2] * (b[2][j] - p[2]),
                m[0] * (c[0][j] - p[0]) + m[1] * (c[1][j] - p[1]) + m[2] * (c[2][j] - p[2]),
            );
            lasts = larger((smaller(smaller(x, y), z) - doubt) * up, lasts);
            lasts = larger((-larger(larger(x, y), z) - doubt) * down, lasts);
            let (x, y, z) = (
                n[0][j] * (p[0] - a[0][j]) + n[1][j] * (p[1] - a[1][j]) + n[2][j] * (p[2] - a[2][j]),
                n[0][j] * (q[0] - a[0][j]) + n[1][j] * (q[1] - a[1][j]) + n[2][j] * (q[2] - a[2][j]),
                n[0][j] * (r[0] - a[0][j]) + n[1][j] * (r[1] - a[1][j]) + n[2][j] * (r[2] - a[2][j]),
            );
            lasts = larger((smaller(smaller(x, y), z) - doubts[j]) * above[j], lasts);
            lasts = larger((-larger(larger(x, y), z) - doubts[j]) * below[j], lasts);
            all[i][j] = lasts;
            frames[j] = if lasts > 0.0 { smaller(frames[j], lasts) } else { frames[j] };
            left[j] = if lasts > 0.0 { 0 } else { 1 << j };
        }
        let left = left.iter().fold(0, |set, bit| set | bit) as u8 & lanes[1];
        pairs |= u64::from(left) << (LANES * i);
    }
    let horizon = approach.horizon;
    Near { pairs, lasts: all, frames: frames.into_iter().fold(horizon, smaller), horizon }
}

#[inline(always)]
fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn minus(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
fn cross(u: [f32; 3], v: [f32; 3]) -> [f32; 3] {
    [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
}

/// (b − a) × (c − a) · (d − a).
#[inline(always)]
fn determinant(a: [f32; 3], b: [f32; 3], c: [f32; 3], d: [f32; 3]) -> f32 {
    dot(cross(minus(b, a), minus(c, a)), minus(d, a))
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

#[cfg(test)]
mod tests {
    use super::super::clusters::{Cluster, PlacedClusters};
    use super::*;
    use crate::Pose;
    use crate::geom::triangle_triangle;
    use crate::narrow::sampled::posed::Posed;
    use crate::narrow::sampled::shells::Shells;
    use crate::num::random::unit;
    use crate::shape::procedural;

    /// Two poses that bring a point of one body near to one of the other, in some cases far from the origin.
    fn poses(case: u64, points: [DVec3; 2]) -> [Pose; 2] {
        let u = |k: u64| 2.0 * unit(case, k) - 1.0;
        let place = DVec3::Z * if case.is_multiple_of(3) { 1e4 } else { 0.0 };
        let turn = [u(0), u(1), u(2), 1.2];
        let turned = Pose::new([0.0; 3], turn).unwrap().apply(points[1]);
        let shift = place + points[0] - turned + 0.05 * DVec3::new(u(3), u(4), u(5));
        [Pose::from_translation(place.to_array()).unwrap(), Pose::new(shift.to_array(), turn).unwrap()]
    }

    #[test]
    fn signs_beyond_doubt_are_those_of_the_exact_test_and_planes_hold_as_long_as_they_say() {
        let mesh = procedural::blob(0.3, 0.3, 2, 3).unwrap();
        let shells = Shells::of_mesh(&mesh, None);
        let corners = &shells.levels[0].corners;
        let (mut met, mut apart, mut passing, mut doubtful) = (0, 0, 0, 0);
        for case in 0..400 {
            let first = (17 * case as u32) % (corners.len() as u32 - 8);
            let own = [
                Cluster::new(&(first..first + 8).collect::<Vec<_>>(), corners),
                Cluster::new(&(first / 2..first / 2 + 5).collect::<Vec<_>>(), corners),
            ];
            let points = [0, 1].map(|k| shells.levels[0].facets[own[k].triangles[2] as usize].centre);
            let poses = poses(case, points);
            let bodies = [0, 1].map(|k| Posed::new(&shells, mesh.vertices(), &poses[k], 0.0));
            let mut placed = [PlacedClusters::default(), PlacedClusters::default()];
            for k in 0..2 {
                placed[k].place(0, &own[k..=k], &bodies[k], 1);
            }
            let [a, b] = [placed[0].at(1), placed[1].at(1)];
            let blocks = [&a.block, &b.block];
            let velocity = 0.01 * DVec3::new(unit(case, 6) - 0.5, unit(case, 7) - 0.5, unit(case, 8) - 0.5);
            let unlike = 1e-3;
            let middles = [a.facet.centre, b.facet.centre];
            let approach = Approach::new(blocks, middles, velocity, unlike, 8.0);
            let mut all: Vec<Near> = SimdLevel::available()
                .into_iter()
                .map(|level| approach.near(level, blocks, [own[0].lanes(), own[1].lanes()]))
                .collect();
            let near = all.remove(0);
            let later = 0.9 * f64::from(near.frames);
            for (i, j) in (0..8).flat_map(|i| (0..5).map(move |j| (i, j))) {
                let [p, q] = [(0, i), (1, j)]
                    .map(|(k, lane): (usize, usize)| bodies[k].triangle(own[k].triangles[lane]).corners);
                let exact = triangle_triangle::meet(&p, &q);
                if near.pairs >> (LANES * i + j) & 1 == 0 {
                    assert!(!exact, "{case}: {i} {j}");
                    let moved = q.map(|q| q + velocity * later);
                    assert!(!triangle_triangle::meet(&p, &moved), "{case}: {i} {j} after {later} frames");
                    apart += 1;
                    continue;
                }
                match approach.decide(blocks, [i, j]) {
                    Some(Decided::Meet(_)) => assert!(exact, "{case}: {i} {j}"),
                    Some(Decided::Apart(frames)) => {
                        assert!(!exact, "{case}: {i} {j}");
                        let moved = q.map(|q| q + velocity * 0.9 * f64::from(frames));
                        assert!(
                            !triangle_triangle::meet(&p, &moved),
                            "{case}: {i} {j} after {frames} frames"
                        );
                        passing += usize::from(frames > 0.0);
                    }
                    None => doubtful += 1,
                }
                met += usize::from(exact);
            }
            assert!(all.iter().all(|other| *other == near), "{case}: the same on every instruction set");
        }
        assert!(met > 300 && apart > 3000 && passing > 100, "{met} {apart} {passing}");
        assert!(doubtful < met / 4, "{doubtful} of {met}");
    }
}
