//! A ray of the world in a placed tree, with what rounding costs.
//!
//! The truth is the ray and the placed doubles. With e for the error of a placed corner, A for the 3×3 part, w for
//! the placed tree origin and s for the tree's unit, a point of the ray on a placed triangle is in tree units
//!
//! `A⁻¹(o + t·d − w − e)/s = from + σ·step`, counted from `from`, which is where the ray comes near the tree, so that
//! a distant origin costs no digits. Its errors are
//!
//! 1. placement: as in `relative`, `PLACEMENT` of the sizes in the world, √3·1.01 of it on an axis;
//! 2. the way: `PLACEMENT` of the way from the origin to `from`;
//! 3. f32: the line passes the tree within 2√3 of its middle or misses it, so `from` is below 12 and its cast off
//!    by 12·2⁻²⁴. Cast, reciprocal, its factor, difference and product of a slab are off by 2⁻²⁴ each of the place,
//!    which `SLAB_ROUNDING` covers. A sheared coordinate is the sum of a corner (below 1, off by 2⁻²⁴), the foot (below 3)
//!    and shear times depth (below 1): with the roundings of two sums and a cast of each below 13·2⁻²⁴.
//!
//! `PAD` and `SHEAR` take 32 and 16 of these, and four times the first two.

use glam::{DMat3, DVec3};

use super::super::relative::PLACEMENT;
use super::super::wide::TreeFrame;
use super::RayTree;
use crate::Pose;
use crate::num::tolerance::{FLATTEST_RAY, LARGEST_LENGTH_UNSCALED, SMALLEST_LENGTH_UNSCALED};
use crate::simd::ray_lanes::{Line, Slabs};

/// Error of a ray's origin in tree units, relative to the tree's reach (no unit).
const PAD: f64 = 16.0 * f32::EPSILON as f64;
/// Error of a sheared coordinate in tree units, relative to the tree's reach (no unit).
const SHEAR: f64 = 8.0 * f32::EPSILON as f64;
/// Error of the place where a ray meets a plane, relative to the place (no unit).
const SLAB_ROUNDING: f64 = 8.0 * f32::EPSILON as f64;

/// The frame of a tree at a pose, for many rays.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedFrame {
    frame: TreeFrame,
    /// From the world's directions to the tree's, in tree units.
    inward: DMat3,
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
    /// Where it starts along its longest axis, and whether it goes up there.
    depth: f64,
    up: bool,
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
    #[inline]
    pub(crate) fn ray(&self, origin: DVec3, direction: DVec3) -> Option<TreeRay> {
        self.placed.ray(origin, direction, DVec3::ZERO)
    }
}

impl PlacedFrame {
    pub(super) fn new(frame: &TreeFrame, pose: &Pose) -> PlacedFrame {
        let size = frame.centre.length() + 2.0 * f64::from(frame.reach) * frame.unit;
        let size = size + pose.translation().abs().max_element();
        let unit = PLACEMENT / frame.unit;
        PlacedFrame {
            frame: *frame,
            // The unit is a power of two.
            inward: pose.matrix().inverse() * frame.unit.recip(),
            centre: pose.apply(frame.centre),
            placed: [size * unit, unit],
        }
    }

    /// A ray that meets boxes as if they were larger by `grown` on each side (lengths of the mesh).
    #[inline]
    pub(super) fn ray(&self, origin: DVec3, direction: DVec3, grown: DVec3) -> Option<TreeRay> {
        let grown = grown / self.frame.unit;
        let reach = f64::from(self.frame.reach) + grown.max_element();
        let local = self.inward * (origin - self.centre);
        let (turned, stretch) = self.turned(direction);
        let z = turned.abs().max_position();
        let per_step = turned[z].abs().recip();
        let mut step = turned * per_step;
        let up = turned[z] > 0.0;
        step[z] = if up { 1.0 } else { -1.0 };
        // From far away it starts anew, four reaches before the point of the line nearest to the middle.
        let far = local.abs().max_element();
        let begin = match far > 4.0 * reach {
            true => (-local.dot(step) / step.length_squared() - 4.0 * reach).max(0.0),
            false => 0.0,
        };
        let from = local + step * begin;
        let exact =
            4.0 * (PLACEMENT * (far + begin) + self.placed[0] + self.placed[1] * origin.abs().max_element());
        let pad = PAD * reach + exact;
        // Negated, so that NaN is refused.
        if !(pad < f64::from(f32::MAX)) || !(from.abs().max_element() < 64.0 * reach + 2.0 * pad) {
            return None;
        }
        let (x, y) = ((z + 1) % 3, (z + 2) % 3);
        let shear = [step[x] * step[z], step[y] * step[z]];
        let line = Line {
            axes: [x as u8, y as u8, z as u8],
            shear: shear.map(|s| s as f32),
            foot: [(from[x] - shear[0] * from[z]) as f32, (from[y] - shear[1] * from[z]) as f32],
            error: (SHEAR * reach + exact) as f32,
            margin: (8.0 * pad) as f32,
        };
        let slabs = slabs(from, step, grown + pad);
        let (unit, per_unit) = (per_step * stretch, turned[z].abs() / stretch);
        Some(TreeRay { slabs, line, start: begin * unit, per_unit, depth: from[z], up, pad })
    }

    /// A direction in the tree, and what it was divided by so that its numbers are ordinary ones.
    #[inline]
    fn turned(&self, direction: DVec3) -> (DVec3, f64) {
        let turned = self.inward * direction;
        if (SMALLEST_LENGTH_UNSCALED..LARGEST_LENGTH_UNSCALED).contains(&turned.abs().max_element()) {
            return (turned, 1.0);
        }
        let length = direction.abs().max_element();
        let unit = self.frame.unit;
        let turned = (self.inward * unit) * (direction / length);
        (turned, unit / length)
    }
}

#[inline]
fn slabs(from: DVec3, step: DVec3, pad: DVec3) -> Slabs {
    let flat = step.map(|x| if x.abs() < FLATTEST_RAY { FLATTEST_RAY.copysign(x) } else { x }).as_vec3();
    let inverse = flat.recip();
    // The near plane of a rising ray is the low one; a higher origin brings it nearer.
    let towards = DVec3::new(pad.x.copysign(step.x), pad.y.copysign(step.y), pad.z.copysign(step.z));
    let near = [0, 1, 2].map(|k| if step[k].is_sign_negative() { k as u8 + 3 } else { k as u8 });
    Slabs {
        near_origin: (from + towards).as_vec3().to_array(),
        far_origin: (from - towards).as_vec3().to_array(),
        near_inverse: (inverse * (1.0 - SLAB_ROUNDING as f32)).to_array(),
        far_inverse: (inverse * (1.0 + SLAB_ROUNDING as f32)).to_array(),
        near,
        far: near.map(|row| (row + 3) % 6),
    }
}

impl TreeRay {
    /// Where something at the world's parameter `t` or before must be looked for.
    #[inline]
    pub(crate) fn limit(&self, t: f64) -> RayLimit {
        let until = ((t - self.start) * self.per_unit).min(f64::from(f32::MAX) / 4.0);
        let end = self.depth + if self.up { until } else { -until };
        let (low, high) = if self.up { (self.depth, end) } else { (end, self.depth) };
        // The cast is within the pad where the tree is; a place that is sure keeps `Line::margin` from the ends.
        let pad = 2.0 * self.pad;
        RayLimit {
            until: (until * (1.0 + 2.0 * SLAB_ROUNDING) + self.pad) as f32,
            between: [(low - pad) as f32, (high + pad) as f32],
        }
    }
}
