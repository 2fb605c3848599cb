//! For how long two triangles meet while one is moved along a direction.
//!
//! The set of translations at which two convex bodies meet is their Minkowski difference, itself convex, so along a
//! line it is one interval. Its sides are the planes of the separating-axis test (Gottschalk, Lin and Manocha 1996):
//! the normals of both triangles and the cross products of their sides, and within a common plane the normals of the
//! sides.

use glam::DVec3;

use crate::num::each::Each;
use crate::num::tolerance::{INTERVAL_CLOSED, PARALLEL_PLANES_SQ, SHIFT_ACROSS};

/// While it is moved along a direction, b meets a from `low` to `high` (lengths); beyond, a plane with the normal
/// `exit` is between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Interval {
    pub low: f64,
    pub high: f64,
    /// Of any length, with a positive share of the direction.
    pub exit: DVec3,
}

/// For which lengths `b` moved along the unit vector `direction` meets `a`; `None` when it never does.
pub(super) fn interval(a: &[DVec3; 3], b: &[DVec3; 3], direction: DVec3) -> Option<Interval> {
    let origin = a[0];
    let (a, b) = (a.each(|p| p - origin), b.each(|p| p - origin));
    let sides = |t: &[DVec3; 3]| [t[1] - t[0], t[2] - t[1], t[0] - t[2]];
    let (of_a, of_b) = (sides(&a), sides(&b));
    let normals = [of_a[0].cross(of_a[1]), of_b[0].cross(of_b[1])];
    let mut found = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY, exit: DVec3::ZERO };
    for normal in normals {
        found.clip(&a, &b, normal, direction)?;
    }
    for x in of_a {
        for y in of_b {
            found.clip(&a, &b, x.cross(y), direction)?;
        }
    }
    let across = normals[0].cross(normals[1]).length_squared();
    if across <= PARALLEL_PLANES_SQ * normals[0].length_squared() * normals[1].length_squared() {
        for k in 0..3 {
            found.clip(&a, &b, normals[0].cross(of_a[k]), direction)?;
            found.clip(&a, &b, normals[1].cross(of_b[k]), direction)?;
        }
    }
    (found.low <= found.high && found.high.is_finite()).then_some(found)
}

impl Interval {
    /// Leaves the part in which the shadows on an axis overlap.
    #[inline]
    fn clip(&mut self, a: &[DVec3; 3], b: &[DVec3; 3], axis: DVec3, direction: DVec3) -> Option<()> {
        let range = |t: &[DVec3; 3]| {
            let [x, y, z] = t.each(|p| axis.dot(p));
            [x.min(y).min(z), x.max(y).max(z)]
        };
        let ([a0, a1], [b0, b1]) = (range(a), range(b));
        let (speed, length) = (axis.dot(direction), axis.length_squared().sqrt());
        if speed.abs() <= SHIFT_ACROSS * length {
            return (a0 <= b1 && b0 <= a1).then_some(());
        }
        let (x, y) = ((a0 - b1) / speed, (a1 - b0) / speed);
        let (low, high) = if speed > 0.0 { (x, y) } else { (y, x) };
        self.low = self.low.max(low);
        if high < self.high {
            (self.high, self.exit) = (high, if speed > 0.0 { axis } else { -axis });
        }
        // Triangles that meet for a moment only, as in parallel planes, have both ends from several axes, each rounded.
        let rounding = INTERVAL_CLOSED * (a0.abs().max(a1.abs()) + b0.abs().max(b1.abs()));
        if self.low > self.high && (self.low - self.high) * speed.abs() <= rounding {
            self.low = self.high;
        }
        (self.low <= self.high).then_some(())
    }
}
