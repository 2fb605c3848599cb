//! How far a point is from the boxes of a node and from the triangles of a block: plain loops over the lanes.
//!
//! The loops hold no branch, so that the compiler makes them one instruction a step on any instruction set
//! the caller was compiled for; none uses fused multiply-add, so all give the same bits. Numbers that are not
//! negative are passed on as their bits, whose order is theirs.
//!
//! Write u = 2⁻²⁴, R for the largest coordinate of the point and the tree, e for the placement error of a
//! coordinate, all in tree units. The pad of a query point is 32uR + 2e, its slack three times that.
//! - A difference of coordinates is off by 3uR + e (two casts, one rounding), a dot product with a unit
//!   vector by √3 times that and 3u·√3R: less than 11uR + 2e. The fitted axes are orthonormal within 3u an
//!   entry, which changes a length by at most 5u·2√3R. So a gap less the slack is below the true one.
//! - The foot below is a point of the triangle but for the rounding of its weights, 4u·2√3R. With the
//!   roundings of three coordinates its distance is off by less than the slack.
//! - Along any direction f the nearest corner lies at most as far as the triangle is. Here the rounding is
//!   that of a dot product, |f|(11uR + 2e), and a few u in the squares.

use super::{Block, LANES, Node};
use crate::num::tolerance::{FOOT_AT_THE_POINT, THIN_TRIANGLE};

/// The squared distances from a point between which the nearest points of sixteen patches lie.
pub(super) struct BoxGaps {
    /// Not more than the distance, as bits.
    pub nearest: [u32; LANES],
    /// Not less than it, as bits.
    pub farthest: [u32; LANES],
}

/// Measures the boxes of a node.
#[inline(always)]
pub(super) fn boxes(node: &Node, point: [f32; 3], slack: f32) -> BoxGaps {
    let mut gaps = BoxGaps { nearest: [0; LANES], farthest: [0; LANES] };
    for i in 0..LANES {
        let arm = minus([node.centre[0][i], node.centre[1][i], node.centre[2][i]], point);
        let (mut near, mut far) = (0.0, 0.0);
        for k in 0..3 {
            let axis = [node.axes[k][0][i], node.axes[k][1][i], node.axes[k][2][i]];
            let along = dot(axis, arm).abs();
            let half = node.half[k][i] + slack;
            let (out, across) = (larger(along - half, 0.0), along + half);
            near += out * out;
            far += across * across;
        }
        gaps.nearest[i] = near.to_bits();
        gaps.farthest[i] = far.to_bits();
    }
    gaps
}

/// Points of sixteen triangles near a point, as seen from it.
pub(super) struct Feet {
    /// Their squared distances, as bits.
    pub square: [u32; LANES],
    /// Squares of distances that no point of the triangles is below, but for the slack, as bits.
    pub least: [u32; LANES],
}

/// Finds the feet on the triangles of a block.
#[inline(always)]
pub(super) fn feet(block: &Block, point: [f32; 3]) -> Feet {
    let mut feet = Feet { square: [0; LANES], least: [0; LANES] };
    for i in 0..LANES {
        let at = |k: usize| block.corners[k][i];
        let corner = |c: usize| minus([at(3 * c), at(3 * c + 1), at(3 * c + 2)], point);
        let (a, b, c) = (corner(0), corner(1), corner(2));
        let (u, v) = (minus(b, a), minus(c, a));
        let (uu, uv, vv) = (dot(u, u), dot(u, v), dot(v, v));
        let (along_u, along_v) = (-dot(a, u), -dot(a, v));
        // Weights of b and c in the plane, times the determinant.
        let whole = uu * vv - uv * uv;
        let (of_b, of_c) = (vv * along_u - uv * along_v, uu * along_v - uv * along_u);
        // The third side, from b to c.
        let ww = (uu - uv) + (vv - uv);
        let along_w = (along_v - along_u) + (uu - uv);
        let on_w = larger(smaller(along_w, ww), 0.0);
        // A side counts where the plane's foot is beyond it, unless the side's own foot is an end that
        // another such side has too: then the other decides. A triangle without area is its longest side.
        let thin = !(whole > THIN_TRIANGLE * (uu * vv));
        let beyond_w = of_b + of_c > whole;
        let beyond_v = of_b < 0.0;
        let beyond_u = of_c < 0.0;
        let to_w = thin | beyond_w;
        let to_v = if thin { vv >= ww } else { beyond_v & !(beyond_w & (along_v >= vv)) };
        let corner_u = (beyond_v & (along_u <= 0.0)) | (beyond_w & (along_u >= uu));
        let to_u = if thin { (uu >= vv) & (uu >= ww) } else { beyond_u & !corner_u };
        let pick = |u_side: f32, v_side: f32, w_side: f32, inside: f32| {
            let other = if to_w { w_side } else { inside };
            let other = if to_v { v_side } else { other };
            if to_u { u_side } else { other }
        };
        let share = 1.0 / pick(uu, vv, ww, whole);
        // A side of no length gives no number, which becomes its first end.
        let clamped = |x: f32, most: f32| smaller(larger(x, 0.0), most);
        let s = clamped(pick(along_u, 0.0, ww - on_w, of_b) * share, 1.0);
        let t = clamped(pick(0.0, along_v, on_w, of_c) * share, 1.0 - s);
        let at = |k: usize| a[k] + (u[k] * s + v[k] * t);
        let foot = [at(0), at(1), at(2)];
        let square = dot(foot, foot);
        let least = smaller(smaller(dot(foot, a), dot(foot, b)), dot(foot, c));
        let known = (least > 0.0) & (square > FOOT_AT_THE_POINT);
        feet.square[i] = square.to_bits();
        feet.least[i] = if known { least / square * least } else { 0.0 }.to_bits();
    }
    feet
}

/// The smallest of some bits.
#[inline(always)]
pub(super) fn smallest(bits: &[u32; LANES]) -> u32 {
    bits.iter().fold(u32::MAX, |least, &x| least.min(x))
}

#[inline(always)]
fn dot(p: [f32; 3], q: [f32; 3]) -> f32 {
    (p[0] * q[0] + p[1] * q[1]) + p[2] * q[2]
}

#[inline(always)]
fn minus(p: [f32; 3], q: [f32; 3]) -> [f32; 3] {
    [p[0] - q[0], p[1] - q[1], p[2] - q[2]]
}

/// The second where the first is no number, as the instruction does.
#[inline(always)]
fn larger(x: f32, y: f32) -> f32 {
    if x > y { x } else { y }
}

/// The second where the first is no number, as the instruction does.
#[inline(always)]
fn smaller(x: f32, y: f32) -> f32 {
    if x < y { x } else { y }
}
