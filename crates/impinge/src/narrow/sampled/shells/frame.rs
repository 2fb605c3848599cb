//! The frame of a facet: the barycentre and the unit normal of the triangle it rides on.
//!
//! With u = ε/2 and C the largest coordinate of the corners, the barycentre is off by at most 6·ε·C. A
//! component of the normal's cross product is off by 8·u of the product of the sides' largest components, and
//! [`unit_normal`] takes more digits where less than 1/64 of that product is left: so the normal is off by at
//! most √3·64·4·ε < 512·ε, and its length by a few ε. A point within r of the barycentre therefore has,
//! against the true frame, a height and a distance from the axis that are off by at most 512·ε·r + 6·ε·C, and
//! computing them costs another 16·ε·r: [`pad`] is more than twice the sum.

use glam::DVec3;

use crate::geom::point_triangle::norm;
use crate::geom::unit_normal::unit_normal;
use crate::num::tolerance::{FACET_POSITION_ROUNDING, FACET_TURN_ROUNDING};

/// Barycentre and unit normal of a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) struct Frame {
    pub centre: DVec3,
    pub normal: DVec3,
}

impl Frame {
    /// The frame of a triangle. Without an area the normal is across the longest side; without a side, or
    /// with coordinates that are not finite, it is x.
    #[inline]
    pub fn of(corners: &[DVec3; 3]) -> Frame {
        let [a, b, c] = *corners;
        let centre = (a + b + c) / 3.0;
        if !centre.is_finite() {
            return Frame { centre, normal: DVec3::X };
        }
        let normal = unit_normal(3, |k| corners[k]);
        Frame { centre, normal: if normal.is_nan() { across(longest_side(corners)) } else { normal } }
    }
}

/// The side of a triangle that is longest, the first of several.
pub(super) fn longest_side([a, b, c]: &[DVec3; 3]) -> DVec3 {
    [c - b, a - c]
        .into_iter()
        .fold(b - a, |longest, side| if norm(side) > norm(longest) { side } else { longest })
}

/// A unit vector across a direction; x across none.
#[cold]
fn across(direction: DVec3) -> DVec3 {
    let largest = direction.abs().max_element();
    if largest > 0.0 { (direction / largest).normalize().any_orthonormal_vector() } else { DVec3::X }
}

/// What heights and distances from the axis can be wrong by, for points within `reach` of the centre and
/// coordinates up to `largest`.
#[inline]
pub(in super::super) fn pad(reach: f64, largest: f64) -> f64 {
    FACET_TURN_ROUNDING * reach + FACET_POSITION_ROUNDING * largest + f64::MIN_POSITIVE
}

/// The largest coordinate of some points.
#[inline]
pub(in super::super) fn largest_coordinate(points: &[DVec3]) -> f64 {
    points.iter().fold(DVec3::ZERO, |largest, p| largest.max(p.abs())).max_element()
}
