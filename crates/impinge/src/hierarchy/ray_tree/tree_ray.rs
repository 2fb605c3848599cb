//! A ray of the world in a placed tree, with what rounding costs.
//!
//! The truth is the ray and the placed doubles. With e for the error of a placed corner, A for the 3×3 part, w for
//! the placed tree origin and s for the tree's unit, a point of the ray on a placed triangle is in tree units
//!
//! `A⁻¹(o + t·d − w − e)/s = from + σ·step`, counted from `from`, which is where the ray comes near the tree, so that
//! a distant origin costs no digits. Its errors are
//!
//! 1. placement: as in `relative`, `PLACEMENT` of the sizes in the world, √3·1.01 of it on an axis;
//! 2. the way: `PLACEMENT` of the way from the origin to `from`, and of the origin itself, which is no larger than w
//!    and twice its distance from there; and where A is a rotation up to rounding, so that its transpose stands for
//!    A⁻¹, six of `PLACEMENT` of that way on an axis for each entry that is off by `ROTATION_ROUNDING`, of place and
//!    direction alike;
//! 3. f32: the line passes the tree within 2√3 of its middle or misses it, so `from` is below 12; its cast and its
//!    product with the reciprocal are off by 12·2⁻²⁴ each, the product of a plane (where it is rounded) by 2⁻²⁴.
//!    Cast, reciprocal, its factor and the difference of a slab are off by 2⁻²⁴ each of the place, which
//!    `SLAB_ROUNDING` covers. A sheared coordinate is the sum of a corner (below 1, off by 2⁻²⁴), the foot (below 3)
//!    and shear times depth (below 1): with the roundings of two sums and a cast of each below 13·2⁻²⁴.
//!
//! `PAD` and `SHEAR` take 32 and 16 of the last, and more than twice the first two.
//!
//! The place of a hit that is sure is the mean of the corners' places by areas (`simd/ray_lanes`): off by what the areas
//! are off, and by four pads for the places themselves, the cast of the corners and five roundings of a number below 1.

use glam::DVec3;

use super::super::relative::PLACEMENT;
use super::super::wide::TreeFrame;
use super::RayTree;
use crate::Pose;
use crate::num::tolerance::{FLATTEST_RAY, SHORTEST_DIRECTION};
use crate::simd::Portable;
use crate::simd::corner_lanes::{Axes, CornerLanes};
use crate::simd::ray_lanes::{Line, RayLanes, Rounding, Slabs};

/// Error of a ray's origin in tree units, relative to the tree's reach (no unit).
const PAD: f64 = 16.0 * f32::EPSILON as f64;
/// Error of a sheared coordinate in tree units, relative to the tree's reach (no unit).
const SHEAR: f64 = 8.0 * f32::EPSILON as f64;
/// Error of the place where a ray meets a plane, relative to the place (no unit).
const SLAB_ROUNDING: f64 = 8.0 * f32::EPSILON as f64;

/// Directions whose longest component is in this range (tree units) are taken as they are: reciprocals and places of
/// theirs, down to the flattest component, are ordinary numbers of f32.
const SHORTEST_STEP: f64 = 1e-12;
const LONGEST_STEP: f64 = 1e12;

/// The frame of a tree at a pose, for many rays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlacedFrame {
    frame: TreeFrame,
    /// From the world's directions to the tree's, in tree units: what each axis becomes.
    inward: [Axes; 3],
    /// The placed tree origin.
    centre: DVec3,
    /// What placing the tree costs (tree units).
    placed: f64,
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
    /// Where it starts along its longest axis, counted forward, and how far it goes there.
    depth: f64,
    slope: f64,
    /// The error of a place, and that of a parameter.
    pad: f64,
    late: f64,
}

/// Up to where a search goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RayLimit {
    /// The tree's parameter.
    pub(super) until: f32,
    /// The place along the ray's longest axis, counted forward.
    pub(super) to: f32,
}

impl RayLimit {
    /// The nearer of two.
    #[inline(always)]
    pub(super) fn min(self, other: RayLimit) -> RayLimit {
        RayLimit { until: self.until.min(other.until), to: self.to.min(other.to) }
    }
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
    pub(crate) fn ray(&self, lanes: impl RayLanes, origin: &DVec3, direction: &DVec3) -> Option<TreeRay> {
        self.placed.ray(lanes, origin, direction, DVec3::ZERO)
    }
}

impl PlacedFrame {
    pub(super) fn new(frame: &TreeFrame, pose: &Pose) -> PlacedFrame {
        let centre = pose.apply(frame.centre);
        let size = frame.centre.abs().element_sum() + 2.0 * f64::from(frame.reach) * frame.unit;
        let size = size + pose.translation().abs().max_element() + centre.abs().max_element();
        let back = pose.inverse_matrix();
        // The unit is a power of two.
        let per_unit = frame.unit.recip();
        let column = |axis: DVec3| (axis * per_unit).extend(0.0).to_array();
        PlacedFrame {
            frame: *frame,
            inward: [column(back.x_axis), column(back.y_axis), column(back.z_axis)],
            centre,
            placed: 4.0 * PLACEMENT * size * per_unit,
        }
    }

    /// A ray that meets boxes as if they were larger by `grown` on each side (tree units).
    #[inline(always)]
    pub(super) fn ray(
        &self,
        lanes: impl RayLanes,
        origin: &DVec3,
        direction: &DVec3,
        grown: DVec3,
    ) -> Option<TreeRay> {
        let reach = f64::from(self.frame.reach) + grown.max_element();
        let from = lanes.product_of_way(&self.inward, self.centre.as_ref(), origin.as_ref());
        let mut step = lanes.product(&self.inward, direction.as_ref());
        let (far, _) = lanes.largest(&from);
        let (mut longest, mut z) = lanes.largest(&step);
        let mut per_unit = 1.0;
        // A sum is NaN where a summand is.
        let sum = (from[0] + from[1] + from[2]) + (step[0] + step[1] + step[2]);
        if !(SHORTEST_STEP..LONGEST_STEP).contains(&longest) || !(sum.abs() < f64::INFINITY) {
            (step, per_unit) = self.rescaled(direction, &from)?;
            (longest, z) = lanes.largest(&step);
        }
        // From far away it starts anew, four reaches before the point of the line nearest to the middle.
        let (from, begin, start) = if far > 4.0 * reach {
            let (near, begin) = brought_near(from, step, 4.0 * reach / longest);
            (near, begin, begin / per_unit)
        } else {
            (from, 0.0, 0.0)
        };
        let exact = self.placed + 32.0 * PLACEMENT * (far + begin * longest);
        let pad = PAD * reach + exact;
        // Negated, so that NaN is refused.
        if !(pad < f64::from(f32::MAX)) || begin > 0.0 && !(lanes.largest(&from).0 < 64.0 * reach + 2.0 * pad)
        {
            return None;
        }
        let rounding = Rounding {
            pad: [grown.x + pad, grown.y + pad, grown.z + pad, pad],
            flattest: FLATTEST_RAY,
            slab: SLAB_ROUNDING as f32,
            error: (SHEAR * reach + exact) as f32,
            margin: (8.0 * pad) as f32,
        };
        let (slabs, line, depth) = lanes.set_up(&from, &step, z, &rounding);
        Some(TreeRay { slabs, line, start, per_unit, depth, slope: longest, pad, late: pad / longest })
    }

    /// A direction in the tree of about 1, and what it must be multiplied with to be that of the ray; `None` where the
    /// ray goes nowhere, or comes from so far away that no number tells where it is in the tree.
    #[cold]
    fn rescaled(&self, direction: &DVec3, from: &Axes) -> Option<(Axes, f64)> {
        let length = direction.abs().max_element();
        if !(length >= SHORTEST_DIRECTION && direction.is_finite() && from.iter().all(|x| x.is_finite())) {
            return None;
        }
        let unit = self.frame.unit;
        let ordinary = self.inward.map(|column| column.map(|x| x * unit));
        Some((Portable.product(&ordinary, (*direction / length).as_ref()), length / unit))
    }
}

/// A place so far back along a ray from the point of its line that is nearest to the middle, but not before its start, and
/// the parameter there.
#[cold]
#[inline(never)]
fn brought_near(from: Axes, step: Axes, back: f64) -> (Axes, f64) {
    let dot = |v: &Axes| v[0] * step[0] + v[1] * step[1] + v[2] * step[2];
    let begin = (-dot(&from) / dot(&step) - back).max(0.0);
    ([0, 1, 2, 3].map(|k| from[k] + step[k] * begin), begin)
}

impl TreeRay {
    /// Where something at the world's parameter `t` or before must be looked for.
    #[inline(always)]
    pub(crate) fn limit(&self, t: f64) -> RayLimit {
        // What is no number becomes a large one.
        let until = ((t - self.start) * self.per_unit).min(f64::from(f32::MAX) / 4.0);
        let end = self.depth + self.slope * until;
        // The cast is within the pad where the tree is; a place that is sure keeps `Line::margin` from the ends.
        RayLimit {
            until: (until * (1.0 + 2.0 * SLAB_ROUNDING) + self.late) as f32,
            to: (end + 2.0 * self.pad) as f32,
        }
    }

    /// The limit where something is hit for sure, not after this place of the ray's longest axis; infinite ones say
    /// nothing.
    #[inline(always)]
    pub(super) fn nearer(&self, limit: RayLimit, far: f32) -> RayLimit {
        // Negated, so that what is no number changes nothing.
        if !(far + self.line.margin <= limit.to) {
            return limit;
        }
        // Where the plane at this place is left, as by the slabs of a box that ends there.
        let z = usize::from(self.line.axes[2]);
        let until = far * self.slabs.far_inverse[z].abs() + self.slabs.far_offset[z];
        RayLimit { until, to: far + 0.25 * self.line.margin }.min(limit)
    }
}
