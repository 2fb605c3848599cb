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
//!    by 12·2⁻²⁴. Reciprocal, difference and product of a slab are off by 2⁻²⁴ each of the place, which
//!    `SLAB_ROUNDING` covers. A sheared coordinate is the sum of a corner (below 1, off by 2⁻²⁴), the foot (below 3)
//!    and shear times depth (below 1): with the roundings of two sums and a cast of each below 13·2⁻²⁴.
//!
//! `PAD` and `SHEAR` take 32 and 16 of these, and four times the first two.

use glam::{DMat3, DVec3};

use super::super::relative::PLACEMENT;
use super::super::wide::TreeFrame;
use super::RayTree;
use crate::Pose;
use crate::num::tolerance::FLATTEST_RAY;
use crate::simd::ray_lanes::{Line, Slabs};

/// Error of a ray's origin in tree units, relative to the tree's reach (no unit).
const PAD: f64 = 16.0 * f32::EPSILON as f64;
/// Error of a sheared coordinate in tree units, relative to the tree's reach (no unit).
const SHEAR: f64 = 8.0 * f32::EPSILON as f64;
/// Error of the place where a ray meets a plane, relative to the place (no unit).
const SLAB_ROUNDING: f64 = 4.0 * f32::EPSILON as f64;

/// The frame of a tree at a pose, for many rays.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedFrame {
    frame: TreeFrame,
    /// From the world's directions to the tree's, in mesh units.
    inward: DMat3,
    /// The placed tree origin.
    centre: DVec3,
    /// Sizes of the tree and of its place, in the world.
    size: f64,
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
    /// The world's parameter is `start + unit·σ`.
    start: f64,
    unit: f64,
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
        PlacedFrame {
            frame: *frame,
            inward: pose.matrix().inverse(),
            centre: pose.apply(frame.centre),
            size: size + pose.translation().abs().max_element(),
        }
    }

    /// A ray that meets boxes as if they were larger by `grown` on each side (lengths of the mesh).
    #[inline]
    pub(super) fn ray(&self, origin: DVec3, direction: DVec3, grown: DVec3) -> Option<TreeRay> {
        let frame = &self.frame;
        let grown = grown / frame.unit;
        let reach = f64::from(frame.reach) + grown.max_element();
        let length = direction.abs().max_element();
        let local = self.inward * (origin - self.centre) / frame.unit;
        let turned = self.inward * (direction / length);
        let longest = turned.abs().max_element();
        let step = turned / longest;
        // The point of the line nearest to the middle, and four reaches before it at most.
        let near = -local.dot(step) / step.length_squared();
        let begin = (near - 4.0 * reach).max(0.0);
        let from = local + step * begin;
        let way = PLACEMENT * (local.abs().max_element() + begin);
        let placed = PLACEMENT * (self.size + origin.abs().max_element()) / frame.unit;
        let exact = 4.0 * (way + placed);
        let pad = PAD * reach + exact;
        // Negated, so that NaN is refused.
        if !(pad < f64::from(f32::MAX)) || !(from.abs().max_element() < 64.0 * reach + 2.0 * pad) {
            return None;
        }
        let unit = frame.unit / length / longest;
        let z = step.abs().max_position();
        let (x, y) = ((z + 1) % 3, (z + 2) % 3);
        let shear = [step[x] / step[z], step[y] / step[z]];
        let line = Line {
            axes: [x as u8, y as u8, z as u8],
            shear: shear.map(|s| s as f32),
            foot: [(from[x] - shear[0] * from[z]) as f32, (from[y] - shear[1] * from[z]) as f32],
            error: (SHEAR * reach + exact) as f32,
            margin: (8.0 * pad) as f32,
        };
        let slabs = slabs(from, step, grown + pad);
        Some(TreeRay { slabs, line, start: begin * unit, unit, depth: from[z], up: step[z] > 0.0, pad })
    }
}

#[inline]
fn slabs(from: DVec3, step: DVec3, pad: DVec3) -> Slabs {
    let mut slabs = Slabs {
        near_origin: [0.0; 3],
        far_origin: [0.0; 3],
        near_inverse: [0.0; 3],
        far_inverse: [0.0; 3],
        near: [0; 3],
        far: [0; 3],
    };
    for k in 0..3 {
        let x = step[k];
        let flat = if x.abs() < FLATTEST_RAY { FLATTEST_RAY.copysign(x) } else { x };
        let inverse = 1.0 / flat;
        // The near plane of a rising ray is the low one; a higher origin brings it nearer.
        let up = inverse > 0.0;
        let towards = if up { pad[k] } else { -pad[k] };
        slabs.near_origin[k] = (from[k] + towards) as f32;
        slabs.far_origin[k] = (from[k] - towards) as f32;
        slabs.near_inverse[k] = (inverse * (1.0 - SLAB_ROUNDING)) as f32;
        slabs.far_inverse[k] = (inverse * (1.0 + SLAB_ROUNDING)) as f32;
        slabs.near[k] = (if up { k } else { k + 3 }) as u8;
        slabs.far[k] = (if up { k + 3 } else { k }) as u8;
    }
    slabs
}

impl TreeRay {
    /// Where something at the world's parameter `t` or before must be looked for.
    #[inline]
    pub(crate) fn limit(&self, t: f64) -> RayLimit {
        let until = ((t - self.start) / self.unit).min(f64::from(f32::MAX) / 4.0);
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
