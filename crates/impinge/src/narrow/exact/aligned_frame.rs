//! Triangles seen along the direction in which two bodies are nearest.
//!
//! Near the nearest points both surfaces face each other, so in a frame whose third axis is that
//! direction the boxes of their triangles are thin where it counts. The distance of two such boxes
//! refuses nearly every pair of triangles that is not nearest.

use glam::DVec3;

use crate::Pose;
use crate::geom::point_triangle::norm;
use crate::hierarchy::wide::{LEAF_MOST, WIDTH};
use crate::model::Model;
use crate::num::tolerance::{DOT_ROUNDING, LARGEST_LENGTH_UNSCALED, SMALLEST_LENGTH_UNSCALED};

/// A frame in the world: where it is and its three axes, of unit length up to rounding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AlignedFrame {
    origin: DVec3,
    axes: [DVec3; 3],
    /// Radius of a ball around the first origin that holds both bodies.
    reach: f64,
    /// What rounding can do to a coordinate.
    pad: f64,
    /// Whether squares of lengths that matter neither underflow nor overflow.
    plain: bool,
}

impl AlignedFrame {
    /// A view along the world's axes.
    pub fn new(models: [&Model; 2], poses: &[Pose; 2]) -> AlignedFrame {
        let centre = |k: usize| poses[k].apply(models[k].tree().frame().centre);
        let size = |k: usize| {
            let frame = models[k].tree().frame();
            // A box corner is √3 of the reach away from the centre; poses lengthen by 1e-4 at most.
            2.0 * f64::from(frame.reach) * frame.unit
        };
        let origin = centre(0);
        let reach = origin.distance(centre(1)) + size(0).max(size(1));
        let pad = 2.0 * DOT_ROUNDING * reach;
        // Nothing below the pad counts.
        let plain = pad > SMALLEST_LENGTH_UNSCALED && reach < LARGEST_LENGTH_UNSCALED;
        AlignedFrame { origin, axes: [DVec3::X, DVec3::Y, DVec3::Z], reach, pad, plain }
    }

    /// Looks from the first point to the second.
    pub fn turn(&mut self, points: [DVec3; 2]) {
        let between = points[1] - points[0];
        let largest = between.abs().max_element();
        if let Some(direction) = (between / largest).try_normalize() {
            let (u, v) = direction.any_orthonormal_pair();
            self.origin = points[0];
            self.axes = [u, v, direction];
            // The origin lies within the ball, so nothing is farther than its diameter.
            self.pad = 4.0 * DOT_ROUNDING * self.reach;
        }
    }

    /// The lower and upper corner of a triangle's box in this view.
    #[inline]
    pub fn bounds(&self, corners: &[DVec3; 3]) -> [DVec3; 2] {
        let seen = corners.map(|p| {
            let arm = p - self.origin;
            DVec3::new(self.axes[0].dot(arm), self.axes[1].dot(arm), self.axes[2].dot(arm))
        });
        [seen[0].min(seen[1]).min(seen[2]), seen[0].max(seen[1]).max(seen[2])]
    }

    /// Whether two triangles in these boxes can be as near as `distance`.
    #[inline]
    pub fn within(&self, a: &[DVec3; 2], b: &[DVec3; 2], distance: f64) -> bool {
        let apart = (a[0] - b[1]).max(b[0] - a[1]) - DVec3::splat(self.pad);
        // The axes are orthonormal up to a few roundings, which the factor covers.
        let limit = distance * (1.0 + DOT_ROUNDING);
        if self.plain {
            return apart.max(DVec3::ZERO).length_squared() <= limit * limit;
        }
        norm(apart.max(DVec3::ZERO)) <= limit
    }
}

/// The triangles of one bottom node, placed when first needed.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    node: u32,
    placed: u32,
    boxed: u32,
    corners: [[DVec3; 3]; WIDTH * LEAF_MOST],
    boxes: [[DVec3; 2]; WIDTH * LEAF_MOST],
}

impl Default for Leaf {
    fn default() -> Leaf {
        Leaf {
            node: u32::MAX,
            placed: 0,
            boxed: 0,
            corners: [[DVec3::ZERO; 3]; WIDTH * LEAF_MOST],
            boxes: [[DVec3::ZERO; 2]; WIDTH * LEAF_MOST],
        }
    }
}

impl Leaf {
    /// Turns to a node; what is known of it stays if it is the same again.
    #[inline]
    pub fn open(&mut self, node: u32) {
        if self.node != node {
            (self.node, self.placed, self.boxed) = (node, 0, 0);
        }
    }

    /// The view has changed.
    pub fn forget_boxes(&mut self) {
        self.boxed = 0;
    }

    /// The box of the `k`-th triangle of a lane in the view.
    #[inline]
    pub fn bounds(
        &mut self,
        lane: usize,
        k: usize,
        corners: impl FnOnce() -> [DVec3; 3],
        view: &AlignedFrame,
    ) -> [DVec3; 2] {
        let at = lane * LEAF_MOST + k;
        if self.placed >> at & 1 == 0 {
            self.placed |= 1 << at;
            self.corners[at] = corners();
        }
        if self.boxed >> at & 1 == 0 {
            self.boxed |= 1 << at;
            self.boxes[at] = view.bounds(&self.corners[at]);
        }
        self.boxes[at]
    }

    /// The placed corners of a triangle whose box was asked for.
    #[inline]
    pub fn corners(&self, lane: usize, k: usize) -> [DVec3; 3] {
        self.corners[lane * LEAF_MOST + k]
    }
}
