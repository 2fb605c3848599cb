//! A point of the world seen from a placed tree, with everything that rounding can do to it.

use glam::{DMat3, DVec3};

use crate::Pose;
use crate::hierarchy::box_distance::{SQUARE_ROUNDING, shrinking};
use crate::hierarchy::relative::{PLACEMENT, SINGLE};
use crate::hierarchy::wide::TreeFrame;

/// A placed tree, ready to be asked from many points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlacedPointTree {
    inverse: DMat3,
    origin: DVec3,
    reach: f64,
    /// Bound of all numbers that enter a placed coordinate (world units).
    size: f64,
    tree_unit: f64,
    /// World length of a tree unit, with the shrinking by a matrix that is not quite a rotation.
    unit: f64,
    /// How much longer than that a tree unit can be.
    widen: f32,
}

/// A point in the frame of a tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueryPoint {
    /// The point in tree units.
    pub(super) point: [f32; 3],
    /// More than all errors of a distance from it (tree units).
    pub(super) slack: f32,
    /// As in [`PlacedPointTree`].
    pub(super) widen: f32,
    unit: f64,
}

impl PlacedPointTree {
    /// Places the frame of a tree.
    pub fn new(frame: &TreeFrame, pose: &Pose) -> PlacedPointTree {
        let farthest = frame.centre.length() + 2.0 * f64::from(frame.reach) * frame.unit;
        let shrinking = shrinking(pose);
        // With the square of one singular value at least 1 − x, that of another is at most 1 + x.
        let widen = (2.0 - shrinking * shrinking).sqrt() / shrinking * (1.0 + SQUARE_ROUNDING);
        PlacedPointTree {
            inverse: pose.matrix().inverse(),
            origin: pose.apply(frame.centre),
            reach: frame.reach.into(),
            size: farthest + pose.translation().abs().max_element(),
            tree_unit: frame.unit,
            unit: frame.unit * shrinking,
            widen: widen as f32,
        }
    }

    /// For one point of the world.
    #[inline]
    pub fn query_point(&self, p: DVec3) -> QueryPoint {
        let local = self.inverse * (p - self.origin) / self.tree_unit;
        // Beyond this f32 tells nothing apart any more; nearer is a valid bound.
        let farthest = f64::from(f32::MAX).sqrt() / 8.0;
        let local = local.clamp(DVec3::splat(-farthest), DVec3::splat(farthest));
        let exact = PLACEMENT * (self.size + p.abs().max_element()) / self.tree_unit;
        let pad = SINGLE * (local.abs().max_element() + self.reach) + 2.0 * exact;
        QueryPoint {
            point: local.as_vec3().to_array(),
            // √3 of the pad for the coordinates, the rest for the dot products.
            slack: ((3.0 * pad).min(f32::MAX.into()) as f32).next_up(),
            unit: self.unit,
            widen: self.widen,
        }
    }
}

impl QueryPoint {
    /// The largest squared gap (tree units) at which something can be as near as `distance`.
    #[inline]
    pub fn limit(&self, distance: f64) -> f32 {
        let ratio = distance / self.unit;
        ((ratio * ratio * (1.0 + SQUARE_ROUNDING)) as f32).next_up().min(f32::MAX)
    }
}
