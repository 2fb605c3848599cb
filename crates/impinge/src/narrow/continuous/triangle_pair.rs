//! Two moving triangles: how long they surely stay apart.
//!
//! Directed conservative advancement: the line of their nearest points separates them, and along it every corner
//! moves by its velocity and at most the acceleration bound, so that the first root of a parabola for each pair
//! of corners is a time before which they cannot meet. A vertex that meets a face, and edges that cross, have
//! the limiting direction of that line as their normal: steps then converge quadratically, also where the
//! bodies slide or graze.

use glam::DVec3;

use crate::geom::point_triangle::{TriangleFeature, norm};
use crate::geom::triangle_distance::{self, TriangleDistance};
use crate::geom::unit_normal::unit_normal;
use crate::num::each::Each;
use crate::num::tolerance::{DOT_ROUNDING, ROUND_UP};

/// A triangle at an instant: its corners and their velocities.
#[derive(Debug, Clone, Copy)]
pub(super) struct Corners {
    pub at: [DVec3; 3],
    pub velocity: [DVec3; 3],
}

/// What is known of two triangles at an instant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// The nearest points.
    pub near: TriangleDistance,
    /// From a to b, of unit length; zero where nothing separates them.
    pub normal: DVec3,
    /// The time before which they cannot meet; 0 where nothing separates them.
    pub time: f64,
}

/// Looks at two triangles. `acceleration` bounds how their corners accelerate together along a direction,
/// `noise` is what rounding can do to their distance.
pub(super) fn step(a: &Corners, b: &Corners, noise: f64, acceleration: impl Fn(DVec3) -> f64) -> Step {
    let near = triangle_distance::nearest(&a.at, &b.at);
    let way = near.points[1] - near.points[0];
    let length = norm(way);
    if !(length > noise) {
        return Step { near, normal: DVec3::ZERO, time: 0.0 };
    }
    let mut normal = way / length;
    let mut time = time_along(normal, a, b, noise, acceleration(normal));
    if !(time > 0.0) {
        // Rounding has turned the line of a small gap so far that it separates no longer; their normals may.
        for across in feature_normals(a, b, &near) {
            let across = if across.dot(normal) < 0.0 { -across } else { across };
            let apart = time_along(across, a, b, noise, acceleration(across));
            if apart > time {
                (time, normal) = (apart, across);
            }
        }
    }
    Step { near, normal, time }
}

/// The normals of both triangles, and of both sides where the nearest points lie on sides.
fn feature_normals(a: &Corners, b: &Corners, near: &TriangleDistance) -> [DVec3; 3] {
    let side = |t: &Corners, i: u8| t.at[(usize::from(i) + 1) % 3] - t.at[usize::from(i)];
    let across = match near.parts {
        [TriangleFeature::Side(i), TriangleFeature::Side(j)] => side(a, i).cross(side(b, j)),
        _ => DVec3::ZERO,
    };
    [unit_normal(3, |k| a.at[k]), unit_normal(3, |k| b.at[k]), across.normalize_or_zero()]
}

/// The time for which a direction separates two triangles.
pub(super) fn time_along(normal: DVec3, a: &Corners, b: &Corners, noise: f64, acceleration: f64) -> f64 {
    let mut least = f64::INFINITY;
    let speed = |v: &[DVec3; 3]| v.each(|v| normal.dot(v));
    let (rate_a, rate_b) = (speed(&a.velocity), speed(&b.velocity));
    for (i, rate_a) in rate_a.into_iter().enumerate() {
        for (j, rate_b) in rate_b.into_iter().enumerate() {
            let apart = b.at[j] - a.at[i];
            let gap = normal.dot(apart) - DOT_ROUNDING * apart.abs().max_element() - noise;
            let room = DOT_ROUNDING * (a.velocity[i].abs().max_element() + b.velocity[j].abs().max_element());
            least = least.min(first_root(gap, rate_b - rate_a - room, acceleration));
        }
    }
    least
}

/// A time before the first root of `gap + rate·h − acceleration·h²/2`; 0 where the gap is not positive.
pub(super) fn first_root(gap: f64, rate: f64, acceleration: f64) -> f64 {
    if !(gap > 0.0) {
        return 0.0;
    }
    // Roots do not depend on the unit of length; with this one no square underflows.
    let unit = gap.max(rate.abs()).max(acceleration);
    let (gap, rate, acceleration) = (gap / unit, rate / unit, acceleration / unit);
    let swing = (rate * rate + 2.0 * acceleration * gap).sqrt();
    let root = if rate < 0.0 { 2.0 * gap / (swing - rate) } else { (rate + swing) / acceleration };
    root / ROUND_UP
}
