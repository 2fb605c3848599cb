//! The point of a triangle nearest to a given point, and the part of the triangle it lies on.
//!
//! Ericson, *Real-Time Collision Detection* (2005), 5.1.5, decides the region by four-fold products that
//! cancel on slivers. Here the foot of the perpendicular is only one candidate beside the feet on the
//! three sides: a wrong region then costs at most the height of a sliver, and segments and points as
//! triangles need no case of their own.

use glam::DVec3;

/// The part of a triangle a point lies on; sides run from corner `i` to corner `i + 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TriangleFeature {
    /// One of the three corners.
    Corner(u8),
    /// The open side from corner `i` to the next.
    Side(u8),
    /// The open inside.
    Inside,
}

/// The nearest point of a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TriangleProjection {
    /// The nearest point.
    pub point: DVec3,
    /// Its squared distance; use [`norm`] of the difference where squares may underflow.
    pub distance_sq: f64,
    /// Where on the triangle it lies.
    pub part: TriangleFeature,
}

/// The point of the triangle `t` nearest to `p`.
///
/// Lengths from about 1e-70 to 1e61 are right to rounding; shorter ones count as zero height.
#[inline]
pub fn closest_point(p: DVec3, t: &[DVec3; 3]) -> TriangleProjection {
    let mut best = side_foot(p, t, 0);
    for side in 1..3 {
        let foot = side_foot(p, t, side);
        if foot.distance_sq < best.distance_sq {
            best = foot;
        }
    }
    match inside_foot(p, t) {
        Some(foot) if foot.distance_sq < best.distance_sq => foot,
        _ => best,
    }
}

/// The foot of the perpendicular from `p`, where it falls inside the triangle.
#[inline]
pub fn inside_foot(p: DVec3, t: &[DVec3; 3]) -> Option<TriangleProjection> {
    let (ab, ac, ap) = (t[1] - t[0], t[2] - t[0], p - t[0]);
    let normal = ab.cross(ac);
    let area_sq = normal.length_squared();
    let v = ap.cross(ac).dot(normal);
    let w = ab.cross(ap).dot(normal);
    if v > 0.0 && w > 0.0 && v + w < area_sq {
        let point = t[0] + (ab * (v / area_sq) + ac * (w / area_sq));
        Some(TriangleProjection {
            point,
            distance_sq: p.distance_squared(point),
            part: TriangleFeature::Inside,
        })
    } else {
        None
    }
}

/// The point of side `side` nearest to `p`.
#[inline]
pub fn side_foot(p: DVec3, t: &[DVec3; 3], side: u8) -> TriangleProjection {
    let next = (side + 1) % 3;
    let (a, b) = (t[side as usize], t[next as usize]);
    let (point, end) = segment_foot(p, a, b);
    let part = match end {
        Some(0) => TriangleFeature::Corner(side),
        Some(_) => TriangleFeature::Corner(next),
        None => TriangleFeature::Side(side),
    };
    TriangleProjection { point, distance_sq: p.distance_squared(point), part }
}

/// The point of the segment from `a` to `b` nearest to `p`, and which end it is (0 or 1), if any.
#[inline]
pub fn segment_foot(p: DVec3, a: DVec3, b: DVec3) -> (DVec3, Option<u8>) {
    let ab = b - a;
    let along = (p - a).dot(ab);
    let whole = ab.length_squared();
    // A segment of no length ends here, at its first end.
    if !(along > 0.0) {
        (a, Some(0))
    } else if along >= whole {
        (b, Some(1))
    } else {
        (a + ab * (along / whole), None)
    }
}

/// The length of a vector, also where its square would underflow or overflow.
#[inline]
pub fn norm(v: DVec3) -> f64 {
    let length_sq = v.length_squared();
    if length_sq > f64::MIN_POSITIVE / f64::EPSILON && length_sq < f64::INFINITY {
        return length_sq.sqrt();
    }
    let largest = v.abs().max_element();
    if largest == 0.0 { 0.0 } else { largest * (v / largest).length() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    fn point(rng: &mut Pcg64, size: f64) -> DVec3 {
        DVec3::new(
            rng.random_range(-size..size),
            rng.random_range(-size..size),
            rng.random_range(-size..size),
        )
    }

    /// Nested sampling of the triangle: every round looks at a finer grid around the best point so far.
    fn sampled_distance(p: DVec3, t: &[DVec3; 3]) -> f64 {
        let (mut best, mut at, mut step) = (f64::INFINITY, [1.0 / 3.0, 1.0 / 3.0], 0.34);
        for _ in 0..40 {
            let centre = at;
            for i in -4..=4 {
                for j in -4..=4 {
                    let v = (centre[0] + f64::from(i) * step / 4.0).clamp(0.0, 1.0);
                    let w = (centre[1] + f64::from(j) * step / 4.0).clamp(0.0, 1.0 - v);
                    let d = p.distance(t[0] + (t[1] - t[0]) * v + (t[2] - t[0]) * w);
                    if d < best {
                        (best, at) = (d, [v, w]);
                    }
                }
            }
            step *= 0.6;
        }
        best
    }

    #[test]
    fn agrees_with_sampling_and_meets_every_part() {
        let mut rng = Pcg64::seed_from_u64(11);
        let mut seen = [0; 3];
        for _ in 0..600 {
            let t = [point(&mut rng, 1.0), point(&mut rng, 1.0), point(&mut rng, 1.0)];
            let p = point(&mut rng, 0.8);
            let foot = closest_point(p, &t);
            assert!((foot.distance_sq.sqrt() - sampled_distance(p, &t)).abs() < 1e-5);
            assert!(closest_point(foot.point, &t).distance_sq < 1e-30);
            seen[match foot.part {
                TriangleFeature::Corner(_) => 0,
                TriangleFeature::Side(_) => 1,
                TriangleFeature::Inside => 2,
            }] += 1;
        }
        assert!(seen.iter().all(|&n| n > 30), "{seen:?}");
    }

    #[test]
    fn segments_and_points_are_triangles_too() {
        let (a, b) = (DVec3::new(0.1, 0.2, 0.3), DVec3::new(1.1, -0.4, 0.7));
        let p = DVec3::new(0.5, 0.9, -0.2);
        let (foot, _) = segment_foot(p, a, b);
        for t in [[a, b, a], [a, a, b], [a, b, b], [a, b, a.midpoint(b)]] {
            assert!((closest_point(p, &t).point - foot).length() < 1e-15);
        }
        let foot = closest_point(p, &[a, a, a]);
        assert_eq!((foot.point, foot.part), (a, TriangleFeature::Corner(0)));
    }

    #[test]
    fn lengths_survive_underflow_and_overflow() {
        for scale in [1e-300, 1e-150, 1.0, 1e200] {
            assert!((norm(DVec3::new(3.0, 0.0, 4.0) * scale) / scale - 5.0).abs() < 1e-14);
        }
        assert_eq!(norm(DVec3::ZERO), 0.0);
    }
}
