//! What is asked of all facets of a patch, eight at a time: plain loops over the lanes, compiled for each instruction
//! set, with the same bits on all.
#![allow(clippy::needless_range_loop, reason = "a lane or an axis is one number of many columns")]

use glam::DVec3;
use smallvec::SmallVec;

use super::near_facets::Block;
use super::point_triangle_simd::{LANES, measure_plain};
use crate::num::tolerance::SAME_SQUARE;
use crate::simd::dispatch;

/// Facets that are meant: a bit for each lane of each block.
pub(crate) type Lanes = SmallVec<[u8; 16]>;

/// Places of facets and their squared distances from a point.
pub(crate) type Squares = SmallVec<[(u32, f64); 16]>;

/// A ball.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ball {
    pub centre: DVec3,
    pub radius: f64,
}

dispatch! {
    /// The facets that can be as near to a point as one whose squared distance is known, with their squared distances; of
    /// a `fixed` limit all that are within.
    pub(crate) fn nearer(blocks: &[Block], meant: &[u8], p: DVec3, limit: f64, fixed: bool, out: &mut Squares)
        = each nearer_plain
}

dispatch! {
    /// The least and the largest height of a point over the planes of facets.
    pub(crate) fn heights(blocks: &[Block], meant: &[u8], p: DVec3) -> [f64; 2] = each heights_plain
}

dispatch! {
    /// The first facet that a point is under, or over by no more than a margin, or beside by less than its height; `way` is
    /// −1 where the surface is seen from behind.
    pub(crate) fn first_over(blocks: &[Block], meant: &[u8], x: DVec3, margin: f64, way: f64) -> Option<u32>
        = each first_over_plain
}

dispatch! {
    /// A direction that all facets look along with a cosine of this at least, and how far their corners reach along it.
    pub(crate) fn level(blocks: &[Block], meant: &[u8], least: f64, way: f64) -> Option<(DVec3, f64)>
        = each level_plain
}

/// One bit for each lane, from a byte that is 0 or 1.
#[inline(always)]
pub(crate) fn bits(lanes: [u8; LANES]) -> u8 {
    // The product shifts bit 8·i of the factor to 56 + i.
    (u64::from_le_bytes(lanes).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// The places whose bits are set, ascending.
pub(crate) fn chosen(lanes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    lanes.iter().zip((0..).step_by(LANES)).flat_map(|(&lanes, first)| {
        let mut left = lanes;
        std::iter::from_fn(move || {
            let k = (left != 0).then(|| first + left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(k)
        })
    })
}

// Not `f64::min` and `f64::max`, whose care for NaN costs more than the rest.
#[inline(always)]
fn smaller(x: f64, y: f64) -> f64 {
    if x < y { x } else { y }
}

#[inline(always)]
fn larger(x: f64, y: f64) -> f64 {
    if x > y { x } else { y }
}

/// The smallest and the largest coordinate of a lane.
#[inline(always)]
fn extent(block: &Block, axis: usize, i: usize) -> [f64; 2] {
    let [a, b, c] = [block.corners[axis][i], block.corners[axis + 3][i], block.corners[axis + 6][i]];
    [smaller(smaller(a, b), c), larger(larger(a, b), c)]
}

/// The squared distance of a point from the box of a lane.
#[inline(always)]
pub(super) fn box_square(block: &Block, p: [f64; 3], i: usize) -> f64 {
    let mut square = 0.0;
    for axis in 0..3 {
        let [low, high] = extent(block, axis, i);
        let beside = larger(larger(low - p[axis], p[axis] - high), 0.0);
        square += beside * beside;
    }
    square
}

#[inline(always)]
pub(super) fn height(block: &Block, p: [f64; 3], i: usize) -> f64 {
    block.normal[0][i] * p[0] + block.normal[1][i] * p[1] + block.normal[2][i] * p[2] - block.offset[i]
}

// Below no `map` over arrays: it is not inlined into what is compiled for an instruction set.

#[inline(always)]
fn nearer_plain(blocks: &[Block], meant: &[u8], p: DVec3, mut limit: f64, fixed: bool, out: &mut Squares) {
    let p = p.to_array();
    for (k, (block, &meant)) in blocks.iter().zip(meant).enumerate() {
        if meant == 0 {
            continue;
        }
        let mut reaches = [0; LANES];
        for (i, reaches) in reaches.iter_mut().enumerate() {
            *reaches = u8::from(box_square(block, p, i) <= limit);
        }
        let mut left = bits(reaches) & meant;
        if left == 0 {
            continue;
        }
        let squares = measure_plain(p, &block.corners);
        while left != 0 {
            let i = left.trailing_zeros() as usize;
            left &= left - 1;
            if squares[i] <= limit {
                out.push(((k * LANES + i) as u32, squares[i]));
                if !fixed {
                    limit = smaller(limit, squares[i] * (1.0 + 4.0 * SAME_SQUARE));
                }
            }
        }
    }
}

#[inline(always)]
fn heights_plain(blocks: &[Block], meant: &[u8], p: DVec3) -> [f64; 2] {
    let p = p.to_array();
    let mut found = [f64::INFINITY, f64::NEG_INFINITY];
    for (block, &meant) in blocks.iter().zip(meant).filter(|(_, meant)| **meant != 0) {
        let mut all = [0.0; LANES];
        for (i, height_of) in all.iter_mut().enumerate() {
            *height_of = height(block, p, i);
        }
        let mut left = meant;
        while left != 0 {
            let x = all[left.trailing_zeros() as usize];
            left &= left - 1;
            found = [smaller(x, found[0]), larger(x, found[1])];
        }
    }
    found
}

#[inline(always)]
fn first_over_plain(blocks: &[Block], meant: &[u8], x: DVec3, margin: f64, way: f64) -> Option<u32> {
    let x = x.to_array();
    for (k, (block, &meant)) in blocks.iter().zip(meant).enumerate().filter(|(_, (_, meant))| **meant != 0) {
        let (mut all, mut low) = ([0.0; LANES], [0; LANES]);
        for i in 0..LANES {
            all[i] = way * height(block, x, i);
            low[i] = u8::from(all[i] <= margin);
        }
        let mut found = bits(low) & meant;
        if found == 0 {
            continue;
        }
        for i in 0..LANES {
            let within = is_within(block, x, all[i], i, 0, 3)
                & is_within(block, x, all[i], i, 3, 6)
                & is_within(block, x, all[i], i, 6, 0);
            low[i] = u8::from(within);
        }
        found &= bits(low);
        if found != 0 {
            return Some((k * LANES) as u32 + found.trailing_zeros());
        }
    }
    None
}

/// Whether a point is on the inner side of a side of a triangle, seen along the normal, or beside it by less than its
/// height: under a valley it is under neither of the two faces. The side leads from the corner whose columns begin at
/// `from` to that at `to`.
#[inline(always)]
fn is_within(block: &Block, x: [f64; 3], height: f64, i: usize, from: usize, to: usize) -> bool {
    let Block { corners, normal: [nx, ny, nz], .. } = block;
    let p = [corners[from][i], corners[from + 1][i], corners[from + 2][i]];
    let along = [corners[to][i] - p[0], corners[to + 1][i] - p[1], corners[to + 2][i] - p[2]];
    let out = [
        along[1] * nz[i] - ny[i] * along[2],
        along[2] * nx[i] - nz[i] * along[0],
        along[0] * ny[i] - nx[i] * along[1],
    ];
    let beside = out[0] * (x[0] - p[0]) + out[1] * (x[1] - p[1]) + out[2] * (x[2] - p[2]);
    let square = out[0] * out[0] + out[1] * out[1] + out[2] * out[2];
    (beside <= 0.0) | (beside * beside <= height * height * square)
}

#[inline(always)]
fn level_plain(blocks: &[Block], meant: &[u8], least: f64, way: f64) -> Option<(DVec3, f64)> {
    let mut lanes = [[0.0; LANES]; 3];
    for (block, &meant) in blocks.iter().zip(meant).filter(|(_, meant)| **meant != 0) {
        for i in 0..LANES {
            let counts = f64::from(meant >> i & 1);
            for axis in 0..3 {
                lanes[axis][i] += counts * block.normal[axis][i];
            }
        }
    }
    let mut sum = [0.0; 3];
    for axis in 0..3 {
        for lane in lanes[axis] {
            sum[axis] += way * lane;
        }
    }
    let up = DVec3::from_array(sum).try_normalize()?;
    let u = up.to_array();
    let (mut cosine, mut level) = (f64::INFINITY, f64::NEG_INFINITY);
    for (block, &meant) in blocks.iter().zip(meant).filter(|(_, meant)| **meant != 0) {
        let (mut cosines, mut tops) = ([0.0; LANES], [0.0; LANES]);
        for i in 0..LANES {
            let Block { corners, normal, .. } = block;
            cosines[i] = way * (normal[0][i] * u[0] + normal[1][i] * u[1] + normal[2][i] * u[2]);
            let a = corners[0][i] * u[0] + corners[1][i] * u[1] + corners[2][i] * u[2];
            let b = corners[3][i] * u[0] + corners[4][i] * u[1] + corners[5][i] * u[2];
            let c = corners[6][i] * u[0] + corners[7][i] * u[1] + corners[8][i] * u[2];
            tops[i] = larger(larger(a, b), c);
        }
        let mut left = meant;
        while left != 0 {
            let i = left.trailing_zeros() as usize;
            left &= left - 1;
            (cosine, level) = (smaller(cosines[i], cosine), larger(tops[i], level));
        }
    }
    (cosine >= least).then_some((up, level))
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::super::near_facets::tests::blocks;
    use super::*;
    use crate::geom::point_triangle::closest_point;
    use crate::simd::SimdLevel;

    fn vector(dice: &mut Pcg64, size: f64) -> DVec3 {
        DVec3::from_array(std::array::from_fn(|_| dice.random_range(-size..size)))
    }

    /// Triangles that look up, more or less, and what is meant of them.
    fn scene(dice: &mut Pcg64, count: usize) -> (Vec<[DVec3; 3]>, Vec<Block>, Lanes) {
        let triangles: Vec<[DVec3; 3]> = (0..count)
            .map(|_| {
                let at = vector(dice, 1.0) * DVec3::new(1.0, 1.0, 0.2);
                let corner =
                    |x: f64, y: f64, dice: &mut Pcg64| at + DVec3::new(x, y, 0.0) + vector(dice, 0.2);
                [corner(0.0, 0.0, dice), corner(0.7, 0.0, dice), corner(0.0, 0.7, dice)]
            })
            .collect();
        let blocks = blocks(&triangles);
        let lanes =
            triangles.chunks(LANES).map(|eight| dice.random::<u8>() & (u8::MAX >> (LANES - eight.len())));
        let lanes = lanes.collect();
        (triangles, blocks, lanes)
    }

    #[test]
    fn all_instruction_sets_tell_what_one_triangle_at_a_time_does() {
        let dice = &mut Pcg64::seed_from_u64(8);
        let (mut seen, mut levels) = ([0; 3], 0);
        for round in 0..300 {
            let (triangles, blocks, meant) = scene(dice, 3 + round % 29);
            let is_meant = |k: usize| meant[k / LANES] >> (k % LANES) & 1 != 0;
            let p = vector(dice, 1.2);
            let normal = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a).normalize();
            let over = |t: [DVec3; 3]| normal(t).dot(p) - normal(t).dot(t[0]);
            let of_meant: Vec<usize> = (0..triangles.len()).filter(|&k| is_meant(k)).collect();
            for simd in SimdLevel::available() {
                // Distances.
                let mut found = Squares::new();
                nearer(simd, &blocks, &meant, p, 0.25, true, &mut found);
                let all = of_meant.iter().map(|&k| (k as u32, closest_point(p, &triangles[k]).distance_sq));
                let expected: Squares = all.filter(|(_, square)| *square <= 0.25).collect();
                assert_eq!(found, expected);
                let mut best = Squares::new();
                nearer(simd, &blocks, &meant, p, f64::INFINITY, false, &mut best);
                let least = |of: &Squares| of.iter().fold(f64::INFINITY, |least, (_, x)| x.min(least));
                let truth = of_meant.iter().map(|&k| closest_point(p, &triangles[k]).distance_sq);
                assert_eq!(least(&best), truth.fold(f64::INFINITY, f64::min));
                seen[0] += found.len();
                // Heights.
                let [low, high] = heights(simd, &blocks, &meant, p);
                let all = || of_meant.iter().map(|&k| over(triangles[k]));
                assert!((low - all().fold(f64::INFINITY, f64::min)).abs() < 1e-12 || low == f64::INFINITY);
                assert!(
                    (high - all().fold(-f64::INFINITY, f64::max)).abs() < 1e-12 || high == -f64::INFINITY
                );
                for way in [1.0, -1.0] {
                    let first = first_over(simd, &blocks, &meant, p, 0.01, way);
                    assert_eq!(first, first_over(SimdLevel::PORTABLE, &blocks, &meant, p, 0.01, way));
                    // What is straight under a triangle is found.
                    let under = of_meant.iter().find(|&&k| {
                        let foot = crate::geom::point_triangle::inside_foot(p, &triangles[k]);
                        foot.is_some() && way * over(triangles[k]) < 0.0
                    });
                    assert!(under.is_none_or(|&k| first.is_some_and(|first| first as usize <= k)));
                    seen[1] += usize::from(under.is_some());
                    // The common direction.
                    let up = level(simd, &blocks, &meant, 0.3, way);
                    assert_eq!(up, level(SimdLevel::PORTABLE, &blocks, &meant, 0.3, way));
                    if let Some((up, top)) = up {
                        assert!(of_meant.iter().all(|&k| way * normal(triangles[k]).dot(up) > 0.29));
                        let corners = of_meant.iter().flat_map(|&k| triangles[k]);
                        assert!(corners.into_iter().all(|corner| up.dot(corner) <= top + 1e-12));
                        seen[2] += 1;
                    }
                }
                levels += 1;
            }
        }
        assert!(seen.iter().all(|&n| n > 100) && levels >= 300, "{seen:?}");
    }
}
