//! A ray of the world in a placed tree, with what rounding costs.
//!
//! The truth is the ray and the placed doubles. With e for the error of a placed corner, A for the 3×3 part, w for
//! the placed tree origin and s for the tree's unit, a point of the ray on a placed triangle is in tree units
//!
//! `A⁻¹(o + t·d − w − e)/s = from + σ·step`, counted from `from`, which is where the ray comes near the tree, so that
//! a distant origin costs no digits; the longest component of `step` lies between 1 and 2. Its errors are
//!
//! 1. placement: as in `relative`, `PLACEMENT` of the sizes in the world, √3·1.01 of it on an axis;
//! 2. the way: `PLACEMENT` of the way from the origin to `from`;
//! 3. f32: the line passes the tree within 2√3 of its middle or misses it, so `from` is below 12; its cast and its
//!    product with the reciprocal are off by 12·2⁻²⁴ each, the product of a plane (where it is rounded) by 2⁻²⁴.
//!    Cast, reciprocal, its factor and the difference of a slab are off by 2⁻²⁴ each of the place, which
//!    `SLAB_ROUNDING` covers. A sheared coordinate is the sum of a corner (below 1, off by 2⁻²⁴), the foot (below 3)
//!    and shear times depth (below 1): with the roundings of two sums and a cast of each below 13·2⁻²⁴.
//!
//! `PAD` and `SHEAR` take 32 and 16 of these, and four times the first two.

use glam::DVec3;

use super::super::relative::PLACEMENT;
use super::super::wide::TreeFrame;
use super::RayTree;
use crate::Pose;
use crate::num::tolerance::{FLATTEST_RAY, LARGEST_LENGTH_UNSCALED, SMALLEST_LENGTH_UNSCALED};
use crate::simd::ray_lanes::{Axes, Line, RayLanes, Slabs};

/// Error of a ray's origin in tree units, relative to the tree's reach (no unit).
const PAD: f64 = 16.0 * f32::EPSILON as f64;
/// Error of a sheared coordinate in tree units, relative to the tree's reach (no unit).
const SHEAR: f64 = 8.0 * f32::EPSILON as f64;
/// Error of the place where a ray meets a plane, relative to the place (no unit).
const SLAB_ROUNDING: f64 = 8.0 * f32::EPSILON as f64;

/// The axes that follow each axis, round and round.
const NEXT: [usize; 4] = [1, 2, 0, 1];

/// The frame of a tree at a pose, for many rays.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedFrame {
    frame: TreeFrame,
    /// From the world's directions to the tree's, in tree units: what each axis becomes.
    inward: [Axes; 3],
    /// The placed tree origin.
    centre: DVec3,
    /// What placing the tree costs, and a world coordinate of 1 more (tree units).
    placed: [f64; 2],
}

/// A tree of triangles at a pose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedRayTree<'t> {
    pub(super) tree: &'t RayTree,
    placed: PlacedFrame,
}

/// A ray in a tree, its parameter counted from where it comes near the tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TreeRay {
    pub(super) slabs: Slabs,
    pub(super) line: Line,
    /// The tree's parameter is `(t − start)·per_unit`.
    start: f64,
    per_unit: f64,
    /// Where it starts along its longest axis, and how far it goes there.
    depth: f64,
    slope: f64,
    pad: f64,
}

/// Up to where a search goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RayLimit {
    /// The tree's parameter.
    pub(super) until: f32,
    /// The range of places along the ray's longest axis.
    pub(super) between: [f32; 2],
}

impl<'t> PlacedRayTree<'t> {
    pub(crate) fn new(tree: &'t RayTree, pose: &Pose) -> PlacedRayTree<'t> {
        PlacedRayTree { tree, placed: PlacedFrame::new(&tree.frame, pose) }
    }

    /// The length of one tree unit in the mesh.
    pub(crate) fn unit(&self) -> f64 {
        self.tree.frame.unit
    }

    /// A ray of a finite origin and a finite direction that is not zero; `None` if it cannot come near the tree.
    #[inline(always)]
    pub(crate) fn ray(
        &self,
        lanes: impl RayLanes,
        origin: DVec3,
        direction: DVec3,
    ) -> Option<TreeRay> {
        self.placed.ray(lanes, origin, direction, DVec3::ZERO)
    }
}

impl PlacedFrame {
    pub(super) fn new(frame: &TreeFrame, pose: &Pose) -> PlacedFrame {
        let size = frame.centre.length() + 2.0 * f64::from(frame.reach) * frame.unit;
        let size = size + pose.translation().abs().max_element();
        let unit = PLACEMENT / frame.unit;
        let back = pose.matrix().inverse();
        // The unit is a power of two.
        let column = |axis: DVec3| (axis * frame.unit.recip()).extend(0.0).to_array();
        PlacedFrame {
            frame: *frame,
            inward: [column(back.x_axis), column(back.y_axis), column(back.z_axis)],
            centre: pose.apply(frame.centre),
            placed: [size * unit, unit],
        }
    }

    /// A ray that meets boxes as if they were larger by `grown` on each side (tree units).
    #[inline(always)]
    pub(super) fn ray(
        &self,
        lanes: impl RayLanes,
        origin: DVec3,
        direction: DVec3,
        grown: DVec3,
    ) -> Option<TreeRay> {
        let reach = f64::from(self.frame.reach) + largest(grown.to_array());
        let mut from = lanes.product(&self.inward, (origin - self.centre).to_array());
        let (turned, unscaled) = self.turned(lanes, direction);
        let sizes = [turned[0].abs(), turned[1].abs(), turned[2].abs()];
        let longest = largest(sizes);
        let z = if sizes[2] == longest { 2 } else { usize::from(sizes[1] == longest) };
        let (shrink, per_step) = power_of_two(longest);
        let step = turned.map(|x| x * shrink);
        let per_unit = per_step * unscaled;
        // From far away it starts anew, four reaches before the point of the line nearest to the middle.
        let far = largest([from[0].abs(), from[1].abs(), from[2].abs()]);
        let (mut begin, mut start) = (0.0, 0.0);
        if far > 4.0 * reach {
            let dot = |v: &Axes| v[0] * step[0] + v[1] * step[1] + v[2] * step[2];
            begin = (-dot(&from) / dot(&step) - 4.0 * reach).max(0.0);
            start = begin / per_unit;
            (0..3).for_each(|k| from[k] += step[k] * begin);
        }
        let away = self.placed[0] + self.placed[1] * largest(origin.abs().to_array());
        let exact = 4.0 * (PLACEMENT * (far + 2.0 * begin) + away);
        let pad = PAD * reach + exact;
        // A sum, which is NaN where a summand is; negated, so that NaN is refused.
        let near = from[0].abs() + from[1].abs() + from[2].abs() < 64.0 * reach + 2.0 * pad;
        if !(pad < f64::from(f32::MAX)) || !near {
            return None;
        }
        let (x, y) = (NEXT[z], NEXT[z + 1]);
        let per_depth = step[z].recip();
        let shear = [step[x] * per_depth, step[y] * per_depth];
        let line = Line {
            axes: [x as u8, y as u8, z as u8],
            shear: [shear[0] as f32, shear[1] as f32],
            foot: [(from[x] - shear[0] * from[z]) as f32, (from[y] - shear[1] * from[z]) as f32],
            error: (SHEAR * reach + exact) as f32,
            margin: (8.0 * pad) as f32,
        };
        let pads = [grown.x + pad, grown.y + pad, grown.z + pad, pad];
        let slabs = lanes.slabs(&from, &step, &pads, FLATTEST_RAY, SLAB_ROUNDING as f32);
        Some(TreeRay { slabs, line, start, per_unit, depth: from[z], slope: step[z], pad })
    }

    /// A direction in the tree, and what it must be multiplied with to be that of the ray: its numbers are ordinary
    /// ones.
    #[inline(always)]
    fn turned(&self, lanes: impl RayLanes, direction: DVec3) -> (Axes, f64) {
        let turned = lanes.product(&self.inward, direction.to_array());
        let longest = largest([turned[0].abs(), turned[1].abs(), turned[2].abs()]);
        if (SMALLEST_LENGTH_UNSCALED..LARGEST_LENGTH_UNSCALED).contains(&longest) {
            return (turned, 1.0);
        }
        let length = direction.abs().max_element();
        let unit = self.frame.unit;
        let ordinary = self.inward.map(|column| column.map(|x| x * unit));
        (lanes.product(&ordinary, (direction / length).to_array()), length / unit)
    }
}

/// The largest of three numbers, none of which is NaN.
#[inline(always)]
fn largest([a, b, c]: [f64; 3]) -> f64 {
    let larger = |a: f64, b: f64| if a > b { a } else { b };
    larger(larger(a, b), c)
}

/// The power of two that brings a number to between 1 and 2, and its reciprocal.
#[inline]
fn power_of_two(x: f64) -> (f64, f64) {
    const EXPONENT: u64 = 0x7ff << 52;
    let power = x.to_bits() & EXPONENT;
    (f64::from_bits((0x7fe << 52) - power), f64::from_bits(power))
}

impl TreeRay {
    /// Where something at the world's parameter `t` or before must be looked for.
    #[inline(always)]
    pub(crate) fn limit(&self, t: f64) -> RayLimit {
        // What is no number becomes a large one.
        let until = ((t - self.start) * self.per_unit).min(f64::from(f32::MAX) / 4.0);
        let end = self.depth + self.slope * until;
        // The cast is within the pad where the tree is; a place that is sure keeps `Line::margin` from the ends.
        let pad = 2.0 * self.pad;
        RayLimit {
            until: (until * (1.0 + 2.0 * SLAB_ROUNDING) + self.pad) as f32,
            between: [(self.depth.min(end) - pad) as f32, (self.depth.max(end) + pad) as f32],
        }
    }
}
