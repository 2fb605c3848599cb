//! The axis-aligned box. Under a rotation two boxes are tested as van den Bergen does ("Efficient
//! collision detection of complex deformable models using AABB trees", 1997): by the fifteen axes of
//! Gottschalk's box test, whose matrices are the same for all nodes of a query.

use glam::DVec3;

use crate::Pose;
use crate::num::tolerance::{PLACED_BOX_ROUNDING, ROUND_UP};

#[cfg(any(test, feature = "unstable"))]
use super::{BoundRef, Bounding, Relative, Sphere, obb};

/// The smallest and the largest coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Aabb {
    /// Smallest coordinates.
    pub low: DVec3,
    /// Largest coordinates.
    pub high: DVec3,
}

impl Aabb {
    /// Holds nothing; merged with a box it gives that box.
    pub const EMPTY: Aabb = Aabb { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };

    /// The smallest box around points.
    pub fn around_points(points: &[DVec3]) -> Aabb {
        points.iter().fold(Aabb::EMPTY, |b, &p| Aabb { low: b.low.min(p), high: b.high.max(p) })
    }

    /// The centre.
    pub fn centre(&self) -> DVec3 {
        self.low * 0.5 + self.high * 0.5
    }

    /// Half the sides, rounded up so that centre ± half encloses the box.
    pub fn half(&self) -> DVec3 {
        let c = self.centre();
        (self.high - c).max(c - self.low) * ROUND_UP
    }

    /// A box of the world around this one of a body's frame, rounded outward; unbounded if this one is.
    pub fn placed(&self, pose: &Pose) -> Aabb {
        let (centre, half) = (self.centre(), self.half());
        if !(centre.is_finite() && half.is_finite()) {
            return Aabb { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY };
        }
        let turn = pose.matrix();
        let reach = turn.x_axis.abs() * half.x + turn.y_axis.abs() * half.y + turn.z_axis.abs() * half.z;
        let centre = pose.apply(centre);
        let size = self.low.abs().max(self.high.abs()).element_sum() + pose.translation().abs();
        let reach = reach + PLACED_BOX_ROUNDING * size + f64::MIN_POSITIVE;
        Aabb { low: centre - reach, high: centre + reach }
    }

    /// The smallest box around two.
    #[must_use]
    pub fn merge(&self, other: &Aabb) -> Aabb {
        Aabb { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Grows the box so that it also holds what lies within `by` of it.
    pub(crate) fn grow(&mut self, by: f64) {
        let by = DVec3::splat(by) + self.low.abs().max(self.high.abs()) * f64::EPSILON;
        (self.low, self.high) = (self.low - by, self.high + by);
    }

    /// The area of its surface.
    pub(crate) fn area(&self) -> f64 {
        let s = (self.high - self.low).max(DVec3::ZERO);
        2.0 * (s.x * s.y + s.y * s.z + s.z * s.x)
    }

    /// How far two boxes of one frame are apart, rounded down; 0 where they meet.
    pub(crate) fn gap(&self, other: &Aabb) -> f64 {
        let apart = (self.low - other.high).max(other.low - self.high).max(DVec3::ZERO);
        apart.length() * (1.0 - 8.0 * f64::EPSILON)
    }

    /// Where the ray origin + t·direction, 0 ≤ t ≤ `reach`, enters the box, or 0 in it; `None` where it passes it by.
    /// Never later than the truth, and no ray that meets the box is lost, but for rounding of the origin itself.
    pub(crate) fn entered_by(&self, origin: DVec3, direction: DVec3, reach: f64) -> Option<f64> {
        let (mut enter, mut leave) = (0.0_f64, reach);
        for k in 0..3 {
            let (low, high) = (self.low[k] - origin[k], self.high[k] - origin[k]);
            if direction[k] == 0.0 {
                if low > 0.0 || high < 0.0 {
                    return None;
                }
                continue;
            }
            let (a, b) = (low / direction[k], high / direction[k]);
            // A difference and a quotient are rounded; negative numbers do not count.
            enter = enter.max(a.min(b) * (1.0 - 4.0 * f64::EPSILON));
            leave = leave.min(a.max(b) * (1.0 + 4.0 * f64::EPSILON));
        }
        (enter <= leave).then_some(enter)
    }

    /// Whether all of another box of the same frame lies in this one.
    pub(crate) fn holds(&self, other: &Aabb) -> bool {
        self.low.cmple(other.low).all() && self.high.cmpge(other.high).all()
    }

    /// Whether two boxes of one frame share a point.
    pub fn meets(&self, other: &Aabb) -> bool {
        self.low.cmple(other.high).all() && other.low.cmple(self.high).all()
    }
}

#[cfg(any(test, feature = "unstable"))]
impl Bounding for Aabb {
    fn enclose(triangles: &[[DVec3; 3]]) -> Self {
        Aabb::around_points(triangles.as_flattened())
    }

    fn merge(&self, other: &Self) -> Self {
        Aabb::merge(self, other)
    }

    fn around(parts: &[BoundRef<'_>]) -> Self {
        parts.iter().fold(Aabb::EMPTY, |whole, part| {
            if let BoundRef::Aabb(b) = part {
                return whole.merge(b);
            }
            let [x, y, z] = DVec3::AXES.map(|axis| part.interval(axis));
            let box_ = Aabb { low: DVec3::new(x[0], y[0], z[0]), high: DVec3::new(x[1], y[1], z[1]) };
            whole.merge(&box_)
        })
    }

    fn overlaps(&self, other: &Self, relative: &Relative) -> bool {
        let t = relative.point(other.centre()) - self.centre();
        !obb::apart(&relative.matrix, &relative.absolute, t, [self.half(), other.half()], relative)
    }

    fn interval(&self, d: DVec3) -> [f64; 2] {
        let (low, high) = (d * self.low, d * self.high);
        let slack = super::project_error(self.low.abs().max(self.high.abs())) * d.abs().max_element();
        [low.min(high).element_sum() - slack, low.max(high).element_sum() + slack]
    }

    fn ball(&self) -> Sphere {
        let radius = self.half().length() * ROUND_UP + f64::MIN_POSITIVE.sqrt();
        Sphere { centre: self.centre(), radius }
    }

    fn farthest(&self, p: DVec3) -> f64 {
        (p - self.low).abs().max((self.high - p).abs()).length() * ROUND_UP + f64::MIN_POSITIVE.sqrt()
    }

    fn contains(&self, p: DVec3) -> bool {
        self.low.cmple(p).all() && p.cmple(self.high).all()
    }

    fn normals(&self, visit: &mut dyn FnMut(DVec3)) {
        DVec3::AXES.into_iter().for_each(visit);
    }

    fn inflate(&mut self, by: f64) {
        self.grow(by);
    }

    fn surface(&self) -> f64 {
        self.area()
    }

    fn volume(&self) -> f64 {
        (self.high - self.low).max(DVec3::ZERO).element_product()
    }
}
