//! The overlap of two boxes along the fifteen axes that can part them.
//!
//! Gottschalk, Lin and Manocha, *OBBTree* (1996): boxes are apart exactly when they are so along a face normal
//! or the cross product of two edges, and the smallest overlap along these is the penetration depth. Cross
//! products of nearly parallel edges, which other codes leave out, are computed with all their digits: leaving
//! them out is wrong by the angle times the size.

use glam::{DMat3, DVec3};

use crate::num::tolerance::PARALLEL_EDGES;
use crate::num::twofold::triangle_normal;

/// The smallest overlap of two boxes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Overlap {
    /// Negative when the axis parts the boxes.
    pub depth: f64,
    /// Unit, from a to b.
    pub normal: DVec3,
}

/// The smallest overlap along the fifteen axes, for boxes with these half sides as columns and b's centre
/// `between` away from a's. Of equal overlaps the axis along `last` wins, else the first.
pub(crate) fn overlap(between: DVec3, a: &DMat3, b: &DMat3, last: DVec3) -> Overlap {
    let (u, v) = ([a.x_axis, a.y_axis, a.z_axis], [b.x_axis, b.y_axis, b.z_axis]);
    let mut best = Overlap { depth: f64::INFINITY, normal: DVec3::Z };
    let mut along = |axis: DVec3| {
        let t = between.dot(axis);
        let radius = |s: &[DVec3; 3]| s[0].dot(axis).abs() + s[1].dot(axis).abs() + s[2].dot(axis).abs();
        let depth = radius(&u) + radius(&v) - t.abs();
        if depth < best.depth {
            let back = t < 0.0 || t == 0.0 && axis.dot(last) < 0.0;
            best = Overlap { depth, normal: if back { -axis } else { axis } };
        }
    };
    for side in u.iter().chain(&v) {
        along(side.normalize());
    }
    for p in u {
        for q in v {
            let mut axis = p.cross(q);
            let square = axis.length_squared();
            if square <= PARALLEL_EDGES * (p.length_squared() * q.length_squared()) {
                axis = triangle_normal(DVec3::ZERO, p, q);
            }
            if let Some(axis) = axis.try_normalize() {
                along(axis);
            }
        }
    }
    best
}
