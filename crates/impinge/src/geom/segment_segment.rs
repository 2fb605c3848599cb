//! The nearest points of two segments.
//!
//! Lumelsky (1985) and Ericson (2005), 5.1.9, solve for the parameters with products of dot products,
//! which lose half the digits on nearly parallel segments. Cross products keep them: with n = d₁ × d₂
//! the parameters are (r × d₂)·n / |n|² and (r × d₁)·n / |n|², and the points they give are right to
//! rounding at any angle. Where the lines come nearest outside a segment, an end point is nearest.

use glam::DVec3;

use super::point_triangle::segment_foot;

/// The nearest points of two segments and their parameters, 0 at the first end and 1 at the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Closest {
    /// One point on each segment.
    pub points: [DVec3; 2],
    /// The end of each segment the point is, if it is one.
    pub ends: [Option<u8>; 2],
    /// Squared distance of the points.
    pub distance_sq: f64,
}

/// The nearest points of two segments, which may be parallel or of no length.
pub fn closest_points(a: &[DVec3; 2], b: &[DVec3; 2]) -> Closest {
    let from_end = |p: DVec3, end: u8, s: &[DVec3; 2]| {
        let (foot, foot_end) = segment_foot(p, s[0], s[1]);
        Closest { points: [p, foot], ends: [Some(end), foot_end], distance_sq: p.distance_squared(foot) }
    };
    let swapped =
        |c: Closest| Closest { points: [c.points[1], c.points[0]], ends: [c.ends[1], c.ends[0]], ..c };
    let mut best = from_end(a[0], 0, b);
    for other in [from_end(a[1], 1, b), swapped(from_end(b[0], 0, a)), swapped(from_end(b[1], 1, a))] {
        if other.distance_sq < best.distance_sq {
            best = other;
        }
    }
    if let Some([p, q]) = inner_points(a[0], a[1] - a[0], b[0], b[1] - b[0]) {
        let distance_sq = p.distance_squared(q);
        if distance_sq < best.distance_sq {
            best = Closest { points: [p, q], ends: [None; 2], distance_sq };
        }
    }
    best
}

/// The nearest points of the lines `p + s·d` and `q + t·e`, if both lie strictly within 0..1.
#[inline]
pub fn inner_points(p: DVec3, d: DVec3, q: DVec3, e: DVec3) -> Option<[DVec3; 2]> {
    let normal = d.cross(e);
    let square = normal.length_squared();
    let between = q - p;
    let s = between.cross(e).dot(normal);
    let t = between.cross(d).dot(normal);
    // All false when the segments are parallel, as then `square` is zero. Chance decides, so there is one branch only.
    if (s > 0.0) & (s < square) & (t > 0.0) & (t < square) {
        Some([p + d * (s / square), q + e * (t / square)])
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    /// Alternating projections: slow, but convex and without a case distinction.
    fn alternated_distance(a: &[DVec3; 2], b: &[DVec3; 2]) -> f64 {
        let mut best = f64::INFINITY;
        for start in [a[0], a[1], a[0].midpoint(a[1])] {
            let mut p = start;
            for _ in 0..3000 {
                let (q, _) = segment_foot(p, b[0], b[1]);
                (p, _) = segment_foot(q, a[0], a[1]);
                best = best.min(p.distance(q));
            }
        }
        best
    }

    fn point(rng: &mut Pcg64) -> DVec3 {
        DVec3::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0))
    }

    #[test]
    fn agrees_with_alternating_projections() {
        let mut rng = Pcg64::seed_from_u64(3);
        let mut inner = 0;
        for _ in 0..400 {
            let (a, b) = ([point(&mut rng), point(&mut rng)], [point(&mut rng), point(&mut rng)]);
            let found = closest_points(&a, &b);
            assert!((found.distance_sq.sqrt() - alternated_distance(&a, &b)).abs() < 1e-6);
            inner += usize::from(found.ends == [None; 2]);
        }
        assert!((40..360).contains(&inner), "{inner}");
    }

    #[test]
    fn nearly_parallel_crossings_keep_their_digits() {
        // The segments cross at height `gap` under the angle `tilt`; the truth is the gap.
        for tilt in [1e-3, 1e-6, 1e-9, 1e-12] {
            for gap in [0.0, 1e-12, 1e-6, 0.1] {
                let a = [DVec3::new(-1.0, 0.0, 0.0), DVec3::new(1.0, 0.0, 0.0)];
                let b = [DVec3::new(-0.9, -0.9 * tilt, gap), DVec3::new(1.1, 1.1 * tilt, gap)];
                let found = closest_points(&a, &b).distance_sq.sqrt();
                assert!((found - gap).abs() < 1e-15, "{tilt} {gap} {found}");
            }
        }
    }

    #[test]
    fn points_and_parallels() {
        let a = [DVec3::ZERO, DVec3::X];
        assert_eq!(closest_points(&a, &[DVec3::Y, DVec3::Y]).distance_sq, 1.0);
        assert_eq!(closest_points(&[DVec3::Z; 2], &[DVec3::Y; 2]).distance_sq, 2.0);
        let beside = [DVec3::new(0.5, 2.0, 0.0), DVec3::new(3.0, 2.0, 0.0)];
        assert_eq!(closest_points(&a, &beside).distance_sq, 4.0);
    }
}
