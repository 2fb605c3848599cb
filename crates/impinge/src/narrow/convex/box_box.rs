//! The overlap of two boxes along the fifteen axes that can separate them.
//!
//! Gottschalk, Lin and Manocha, *OBBTree* (1996): boxes are apart exactly when they are so along a face normal
//! or the cross product of two edges, and the smallest overlap along these is the penetration depth. Cross
//! products of nearly parallel edges, which other codes leave out, are computed with all their digits: leaving
//! them out is wrong by the angle times the size.

use glam::{DMat3, DVec3};

use super::placed_core::cuboid_feature;
use crate::Feature;
use crate::geom::segment_segment::inner_points;
use crate::num::double_double::triangle_normal;
use crate::num::tolerance::{ACROSS, PARALLEL_EDGES, SMALLEST_LENGTH_UNSCALED};

/// The smallest overlap of two boxes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Overlap {
    /// Negative when the axis separates the boxes.
    pub depth: f64,
    /// Unit, from a to b.
    pub normal: DVec3,
}

/// Two boxes by their centres and half sides as columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoxPair<'m> {
    /// The centres.
    pub centres: [DVec3; 2],
    /// The half sides.
    pub sides: [&'m DMat3; 2],
}

/// The corner of a box that is farthest along a direction, and the axes along which others are as far.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Extreme {
    at: DVec3,
    corner: u32,
    free: u32,
}

/// Along a side, which may be so thin that its square is none.
fn direction(side: DVec3) -> DVec3 {
    let largest = side.abs().max_element();
    if largest < SMALLEST_LENGTH_UNSCALED && largest > 0.0 { side / largest } else { side }
}

impl BoxPair<'_> {
    /// The smallest overlap along the fifteen axes, or the first axis that separates the boxes by more than
    /// `noise`. Of an axis without direction the one along `last` is taken.
    pub fn overlap(&self, last: DVec3, noise: f64) -> Overlap {
        let between = self.centres[1] - self.centres[0];
        let [u, v] = self.sides.map(|s| [s.x_axis, s.y_axis, s.z_axis]);
        let mut best = Overlap { depth: f64::INFINITY, normal: DVec3::Z };
        // Axes of any length are compared by signed squares: a root only for a better one.
        let mut least = f64::INFINITY;
        let mut along = |axis: DVec3, square: f64| {
            let t = between.dot(axis);
            let radius = |s: &[DVec3; 3]| s[0].dot(axis).abs() + s[1].dot(axis).abs() + s[2].dot(axis).abs();
            let reach = radius(&u) + radius(&v) - t.abs();
            if reach * reach.abs() < least * square {
                let back = t < 0.0 || t == 0.0 && axis.dot(last) < 0.0;
                let length = square.sqrt();
                let depth = reach / length;
                best = Overlap { depth, normal: axis / if back { -length } else { length } };
                least = depth * depth.abs();
            }
            reach * reach.abs() < -noise * noise * square
        };
        let [du, dv] = [u, v].map(|sides| sides.map(direction));
        if du.iter().chain(&dv).any(|&side| along(side, side.length_squared())) {
            return best;
        }
        for p in du {
            for q in dv {
                let mut axis = p.cross(q);
                let mut square = axis.length_squared();
                if square <= PARALLEL_EDGES * (p.length_squared() * q.length_squared()) {
                    axis = triangle_normal(DVec3::ZERO, p, q);
                    square = axis.length_squared();
                }
                if square > 0.0 && along(axis, square) {
                    return best;
                }
            }
        }
        best
    }

    /// The points at which the boxes touch after b was moved along the normal by the depth, and what they lie
    /// on; none where they touch along more than a point.
    pub fn touch(&self, found: &Overlap) -> Option<([DVec3; 2], [Feature; 2])> {
        let Overlap { depth, normal } = *found;
        let (a, b) = (self.extreme(0, normal), self.extreme(1, -normal));
        let features = [cuboid_feature(a.free, a.corner), cuboid_feature(b.free, b.corner)];
        let shift = normal * depth;
        let points = match (a.free.count_ones(), b.free.count_ones()) {
            (_, 0) => [b.at + shift, b.at],
            (0, _) => [a.at, a.at - shift],
            (1, 1) => {
                let [d, e] = [(0, a.free), (1, b.free)]
                    .map(|(k, free)| self.sides[k].col(free.trailing_zeros() as usize));
                // Both edges in full, from one end to the other.
                let ends = |at: DVec3, side: DVec3, corner: u32, free: u32| {
                    if corner & free == 0 { (at, 2.0 * side) } else { (at - 2.0 * side, 2.0 * side) }
                };
                let (p, d) = ends(a.at, d, a.corner, a.free);
                let (q, e) = ends(b.at, e, b.corner, b.free);
                let [p, _] = inner_points(p, d, q + shift, e)?;
                [p, p - shift]
            }
            _ => return None,
        };
        Some((points, features))
    }

    fn extreme(&self, k: usize, d: DVec3) -> Extreme {
        let (mut at, mut corner, mut free) = (self.centres[k], 0, 0);
        for axis in 0..3 {
            let side = self.sides[k].col(axis);
            let along = side.dot(d);
            if along.abs() <= ACROSS * side.length() {
                free |= 1 << axis;
            }
            if along >= 0.0 {
                corner |= 1 << axis;
                at += side;
            } else {
                at -= side;
            }
        }
        Extreme { at, corner, free }
    }
}
