//! What is asked of all facets of a patch, eight at a time: plain loops over the lanes, compiled for each instruction
//! set, with the same bits on all.

use glam::DVec3;
use smallvec::SmallVec;

use super::point_triangle_simd::{LANES, measure_plain};
use super::surface_patch::Block;
use crate::bound::Aabb;
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
    /// The facets whose boxes reach into a box and into a ball, and whose planes meet the ball.
    pub(crate) fn reaching(blocks: &[Block], bounds: &Aabb, ball: &Ball, out: &mut Lanes) = each reaching_plain
}

dispatch! {
    /// The facets that can be as near to a point as one whose squared distance is known, with their squared distances; of
    /// a `fixed` limit all that are within.
    pub(crate) fn nearer(blocks: &[Block], meant: &Lanes, p: DVec3, limit: f64, fixed: bool, out: &mut Squares)
        = each nearer_plain
}

dispatch! {
    /// The least and the largest height of a point over the planes of facets.
    pub(crate) fn heights(blocks: &[Block], meant: &Lanes, p: DVec3) -> [f64; 2] = each heights_plain
}

dispatch! {
    /// The first facet that a point is under, or over by no more than a margin, or beside by less than its height; `way` is
    /// −1 where the surface is seen from behind.
    pub(crate) fn first_over(blocks: &[Block], meant: &Lanes, x: DVec3, margin: f64, way: f64) -> Option<u32>
        = each first_over_plain
}

dispatch! {
    /// A direction that all facets look along with a cosine of this at least, and how far their corners reach along it.
    pub(crate) fn level(blocks: &[Block], meant: &Lanes, least: f64, way: f64) -> Option<(DVec3, f64)>
        = each level_plain
}

/// One bit for each lane.
#[inline(always)]
pub(crate) fn bits(lanes: [bool; LANES]) -> u8 {
    // The product shifts bit 8·i of the factor to 56 + i.
    (u64::from_le_bytes(lanes.map(u8::from)).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
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
fn box_square(block: &Block, p: [f64; 3], i: usize) -> f64 {
    let beside = |axis: usize| {
        let [low, high] = extent(block, axis, i);
        larger(larger(low - p[axis], p[axis] - high), 0.0)
    };
    let [x, y, z] = [beside(0), beside(1), beside(2)];
    x * x + y * y + z * z
}

#[inline(always)]
fn height(block: &Block, p: [f64; 3], i: usize) -> f64 {
    block.normal[0][i] * p[0] + block.normal[1][i] * p[1] + block.normal[2][i] * p[2] - block.offset[i]
}

#[inline(always)]
fn reaching_plain(blocks: &[Block], bounds: &Aabb, ball: &Ball, out: &mut Lanes) {
    let (low, high) = (bounds.low.to_array(), bounds.high.to_array());
    let (p, square) = (ball.centre.to_array(), ball.radius * ball.radius);
    for block in blocks {
        let mut reaches = [false; LANES];
        for (i, reaches) in reaches.iter_mut().enumerate() {
            let meets = |axis: usize| {
                let [l, h] = extent(block, axis, i);
                (l <= high[axis]) & (h >= low[axis])
            };
            let height = height(block, p, i);
            *reaches = meets(0)
                & meets(1)
                & meets(2)
                & (height * height <= square)
                & (box_square(block, p, i) <= square);
        }
        out.push(bits(reaches));
    }
}

#[inline(always)]
fn nearer_plain(blocks: &[Block], meant: &Lanes, p: DVec3, mut limit: f64, fixed: bool, out: &mut Squares) {
    let p = p.to_array();
    for (k, (block, &meant)) in blocks.iter().zip(meant).enumerate() {
        if meant == 0 {
            continue;
        }
        let mut reaches = [false; LANES];
        for (i, reaches) in reaches.iter_mut().enumerate() {
            *reaches = box_square(block, p, i) <= limit;
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
fn heights_plain(blocks: &[Block], meant: &Lanes, p: DVec3) -> [f64; 2] {
    let p = p.to_array();
    let mut found = [f64::INFINITY, f64::NEG_INFINITY];
    for (block, &meant) in blocks.iter().zip(meant) {
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
fn first_over_plain(blocks: &[Block], meant: &Lanes, x: DVec3, margin: f64, way: f64) -> Option<u32> {
    let x = x.to_array();
    for (k, (block, &meant)) in blocks.iter().zip(meant).enumerate() {
        let (mut all, mut low) = ([0.0; LANES], [false; LANES]);
        for i in 0..LANES {
            all[i] = way * height(block, x, i);
            low[i] = all[i] <= margin;
        }
        if bits(low) & meant == 0 {
            continue;
        }
        for i in 0..LANES {
            low[i] &= is_about_over(block, x, all[i], i);
        }
        let found = bits(low) & meant;
        if found != 0 {
            return Some((k * LANES) as u32 + found.trailing_zeros());
        }
    }
    None
}

/// Whether a triangle is over or under a point, or beside it by less than its height: under a valley it is under neither
/// of the two faces.
#[inline(always)]
fn is_about_over(block: &Block, x: [f64; 3], height: f64, i: usize) -> bool {
    let at = |c: usize| [0, 1, 2].map(|axis| block.corners[3 * c + axis][i]);
    let n = [0, 1, 2].map(|axis| block.normal[axis][i]);
    let within = |p: [f64; 3], q: [f64; 3]| {
        let along = [q[0] - p[0], q[1] - p[1], q[2] - p[2]];
        let out = [
            along[1] * n[2] - n[1] * along[2],
            along[2] * n[0] - n[2] * along[0],
            along[0] * n[1] - n[0] * along[1],
        ];
        let beside = out[0] * (x[0] - p[0]) + out[1] * (x[1] - p[1]) + out[2] * (x[2] - p[2]);
        let square = out[0] * out[0] + out[1] * out[1] + out[2] * out[2];
        (beside <= 0.0) | (beside * beside <= height * height * square)
    };
    let [a, b, c] = [at(0), at(1), at(2)];
    within(a, b) & within(b, c) & within(c, a)
}

#[inline(always)]
fn level_plain(blocks: &[Block], meant: &Lanes, least: f64, way: f64) -> Option<(DVec3, f64)> {
    let mut sum = [[0.0; LANES]; 3];
    for (block, &meant) in blocks.iter().zip(meant) {
        for i in 0..LANES {
            let counts = f64::from(meant >> i & 1);
            for (sum, normal) in sum.iter_mut().zip(&block.normal) {
                sum[i] += counts * normal[i];
            }
        }
    }
    let sum = sum.map(|lanes| lanes.iter().sum::<f64>() * way);
    let up = DVec3::from_array(sum).try_normalize()?;
    let u = up.to_array();
    let (mut cosine, mut level) = (f64::INFINITY, f64::NEG_INFINITY);
    for (block, &meant) in blocks.iter().zip(meant) {
        let (mut cosines, mut tops) = ([0.0; LANES], [0.0; LANES]);
        for i in 0..LANES {
            let along =
                |columns: &[[f64; LANES]]| columns[0][i] * u[0] + columns[1][i] * u[1] + columns[2][i] * u[2];
            cosines[i] = way * along(&block.normal);
            let corner = |c: usize| along(&block.corners[3 * c..3 * c + 3]);
            tops[i] = larger(larger(corner(0), corner(1)), corner(2));
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
