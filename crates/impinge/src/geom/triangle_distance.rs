//! The nearest points of two triangles.
//!
//! Larsen, Gottschalk, Lin and Manocha, *Fast proximity queries with swept sphere volumes* (1999): of
//! disjoint triangles the nearest points lie on two sides or on a corner and a triangle. All fifteen
//! candidates are taken and the smallest wins, so degenerate triangles need no case of their own. A
//! plane between the triangles then proves that they are disjoint; without one an exact predicate must
//! decide, because crossing triangles have distant corners and sides.

use glam::DVec3;

use super::point_triangle::{TriangleFeature, TriangleProjection, inside_foot, norm, side_foot};
use super::segment_segment::inner_points;
use super::triangle_distance_exact;
use super::triangle_triangle::meet;
use crate::num::each::Each;
use crate::num::tolerance::{DOT_ROUNDING, LARGEST_LENGTH_UNSCALED, SMALLEST_LENGTH_UNSCALED};

/// The nearest points of two triangles, as long as these are disjoint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TriangleDistance {
    /// Euclidean distance of the points.
    pub distance: f64,
    /// One point on each triangle.
    pub points: [DVec3; 2],
    /// The part of each triangle the point lies on.
    pub parts: [TriangleFeature; 2],
    /// Whether a plane between the triangles was found: if so they are disjoint, if not they may meet.
    pub disjoint: bool,
}

/// The nearest points among corners, sides and faces; the distance of the triangles if they are
/// disjoint.
pub fn nearest(a: &[DVec3; 3], b: &[DVec3; 3]) -> TriangleDistance {
    let extent = extent(a, b);
    if extent > SMALLEST_LENGTH_UNSCALED && extent < LARGEST_LENGTH_UNSCALED {
        return nearest_unscaled(a, b);
    }
    if extent == 0.0 {
        let parts = [TriangleFeature::Corner(0); 2];
        return TriangleDistance { distance: 0.0, points: [a[0], b[0]], parts, disjoint: false };
    }
    // In two steps, since the reciprocal of a subnormal number is infinite.
    let scale = f64::from_bits((extent.to_bits() & f64::INFINITY.to_bits()).max(1 << 52));
    let origin = a[0];
    let scaled = |t: &[DVec3; 3]| t.each(|p| (p - origin) / scale);
    let found = nearest_unscaled(&scaled(a), &scaled(b));
    TriangleDistance {
        distance: found.distance * scale,
        points: found.points.each(|p| p * scale + origin),
        ..found
    }
}

/// The nearest points of two triangles, `None` when they meet: decided exactly, so the distance is never 0. Where no
/// plane between them can be seen in floats, the points are found by exact arithmetic.
#[inline]
pub fn separation(a: &[DVec3; 3], b: &[DVec3; 3]) -> Option<TriangleDistance> {
    let near = nearest(a, b);
    if near.disjoint && near.distance > 0.0 {
        return Some(near);
    }
    if near.disjoint || !meet(a, b) { Some(triangle_distance_exact::nearest(a, b)) } else { None }
}

/// Whether two triangles are at most `margin` apart, a positive length; meeting ones always are.
#[inline]
pub fn within(a: &[DVec3; 3], b: &[DVec3; 3], margin: f64) -> bool {
    separation(a, b).is_none_or(|near| near.distance <= margin)
}

/// The largest coordinate difference to the first corner of `a`.
#[inline]
fn extent(a: &[DVec3; 3], b: &[DVec3; 3]) -> f64 {
    let of = |t: &[DVec3; 3]| {
        let from = |p: DVec3| (p - a[0]).abs();
        from(t[0]).max(from(t[1])).max(from(t[2]))
    };
    of(a).max(of(b)).max_element()
}

fn nearest_unscaled(a: &[DVec3; 3], b: &[DVec3; 3]) -> TriangleDistance {
    let mut best_sq = f64::INFINITY;
    let mut points = [a[0], b[0]];
    let mut parts = [TriangleFeature::Corner(0); 2];
    let mut corner_to_foot = |corner: u8, p: DVec3, foot: TriangleProjection, first: bool| {
        if foot.distance_sq < best_sq {
            best_sq = foot.distance_sq;
            points = [p, foot.point];
            parts = [TriangleFeature::Corner(corner), foot.part];
            if !first {
                points.swap(0, 1);
                parts.swap(0, 1);
            }
        }
    };
    for (t, other, first) in [(a, b, true), (b, a, false)] {
        for corner in 0..3u8 {
            let p = t[corner as usize];
            for side in 0..3 {
                corner_to_foot(corner, p, side_foot(p, other, side), first);
            }
            if let Some(foot) = inside_foot(p, other) {
                corner_to_foot(corner, p, foot, first);
            }
        }
    }
    for i in 0..3u8 {
        let (p, d) = (a[i as usize], a[(i as usize + 1) % 3] - a[i as usize]);
        for j in 0..3u8 {
            let (q, e) = (b[j as usize], b[(j as usize + 1) % 3] - b[j as usize]);
            if let Some(found) = inner_points(p, d, q, e) {
                let distance_sq = found[0].distance_squared(found[1]);
                if distance_sq < best_sq {
                    best_sq = distance_sq;
                    points = found;
                    parts = [TriangleFeature::Side(i), TriangleFeature::Side(j)];
                }
            }
        }
    }
    TriangleDistance {
        distance: norm(points[1] - points[0]),
        points,
        parts,
        disjoint: plane_between(a, b, points[0], points[1] - points[0]),
    }
}

/// Whether all of `b` lies beyond all of `a` along `direction`, rounding considered.
fn plane_between(a: &[DVec3; 3], b: &[DVec3; 3], origin: DVec3, direction: DVec3) -> bool {
    let mut farthest: f64 = 0.0;
    let mut height = |p: DVec3| {
        let arm = p - origin;
        farthest = farthest.max(arm.abs().max_element());
        direction.dot(arm)
    };
    let top = a.map(&mut height).into_iter().fold(f64::NEG_INFINITY, f64::max);
    let bottom = b.map(&mut height).into_iter().fold(f64::INFINITY, f64::min);
    bottom - top > DOT_ROUNDING * farthest * direction.abs().max_element()
}

#[cfg(test)]
#[path = "triangle_distance_tests.rs"]
mod tests;
