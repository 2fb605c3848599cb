//! The distances of eight triangles from a point in f64, to the bit those of
//! [`point_triangle`](crate::geom::point_triangle).
//!
//! The same operations in the same order, with a choice for every branch and without the foot itself: that
//! is found once, for the nearest triangle. The loop over the lanes is compiled for each instruction set.

use glam::DVec3;

use crate::simd::{SimdLevel, dispatch};

/// Triangles measured at once.
pub(crate) const LANES: usize = 8;

/// Corners of eight triangles: x, y, z of the first corners, then of the second and third.
pub(crate) type Corners = [[f64; LANES]; 9];

/// Squared distances of a point from eight triangles.
#[inline]
pub(crate) fn squares(level: SimdLevel, p: DVec3, triangles: &Corners) -> [f64; LANES] {
    measure(level, p.to_array(), triangles)
}

dispatch! {
    #[inline]
    fn measure(p: [f64; 3], triangles: &Corners) -> [f64; LANES] = each measure_plain
}

#[inline(always)]
pub(super) fn measure_plain(p: [f64; 3], triangles: &Corners) -> [f64; LANES] {
    let mut squares = [0.0; LANES];
    for i in 0..LANES {
        let corner = |c: usize| [triangles[3 * c][i], triangles[3 * c + 1][i], triangles[3 * c + 2][i]];
        let (a, b, c) = (corner(0), corner(1), corner(2));
        let first = side(p, a, b);
        let second = side(p, b, c);
        let best = if second < first { second } else { first };
        let third = side(p, c, a);
        let best = if third < best { third } else { best };
        let (ab, ac, ap) = (minus(b, a), minus(c, a), minus(p, a));
        let normal = cross(ab, ac);
        let area_sq = dot(normal, normal);
        let (v, w) = (dot(cross(ap, ac), normal), dot(cross(ab, ap), normal));
        let (s, t) = (v / area_sq, w / area_sq);
        let at = |k: usize| a[k] + (ab[k] * s + ac[k] * t);
        let inside = distance_sq(p, [at(0), at(1), at(2)]);
        let falls_inside = (v > 0.0) & (w > 0.0) & (v + w < area_sq) & (inside < best);
        squares[i] = if falls_inside { inside } else { best };
    }
    squares
}

/// The squared distance from the segment ab.
#[inline(always)]
fn side(p: [f64; 3], a: [f64; 3], b: [f64; 3]) -> f64 {
    let ab = minus(b, a);
    let (along, whole) = (dot(minus(p, a), ab), dot(ab, ab));
    let share = along / whole;
    let at = |k: usize| {
        let on = if along >= whole { b[k] } else { a[k] + ab[k] * share };
        if along > 0.0 { on } else { a[k] }
    };
    distance_sq(p, [at(0), at(1), at(2)])
}

#[inline(always)]
fn distance_sq(p: [f64; 3], q: [f64; 3]) -> f64 {
    let arm = minus(p, q);
    dot(arm, arm)
}

#[inline(always)]
fn minus(p: [f64; 3], q: [f64; 3]) -> [f64; 3] {
    [p[0] - q[0], p[1] - q[1], p[2] - q[2]]
}

#[inline(always)]
fn dot(p: [f64; 3], q: [f64; 3]) -> f64 {
    (p[0] * q[0] + p[1] * q[1]) + p[2] * q[2]
}

#[inline(always)]
fn cross(p: [f64; 3], q: [f64; 3]) -> [f64; 3] {
    [p[1] * q[2] - q[1] * p[2], p[2] * q[0] - q[2] * p[0], p[0] * q[1] - q[0] * p[1]]
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::geom::point_triangle::{TriangleFeature, closest_point};

    #[test]
    fn every_bit_is_that_of_one_triangle_at_a_time() {
        let mut rng = Pcg64::seed_from_u64(4);
        let mut parts = [0; 3];
        for round in 0..2000 {
            // Integers make degenerate triangles and ties; powers of two make all sizes.
            let size = 2.0_f64.powi(rng.random_range(-60..60));
            let point = |rng: &mut Pcg64| {
                DVec3::from_array(std::array::from_fn(|_| match round % 3 {
                    0 => f64::from(rng.random_range(-2..3)) * size,
                    _ => rng.random_range(-1.0..1.0) * size,
                }))
            };
            let triangles: [[DVec3; 3]; LANES] =
                std::array::from_fn(|_| std::array::from_fn(|_| point(&mut rng)));
            let p = point(&mut rng) * if round % 5 == 0 { 100.0 } else { 1.0 };
            let corners = std::array::from_fn(|k| triangles.map(|t| t[k / 3][k % 3]));
            for level in SimdLevel::available() {
                for (square, t) in squares(level, p, &corners).into_iter().zip(&triangles) {
                    let foot = closest_point(p, t);
                    assert_eq!(square.to_bits(), foot.distance_sq.to_bits());
                    parts[match foot.part {
                        TriangleFeature::Corner(_) => 0,
                        TriangleFeature::Side(_) => 1,
                        TriangleFeature::Inside => 2,
                    }] += 1;
                }
            }
        }
        assert!(parts.iter().all(|&n| n > 1000), "{parts:?}");
    }
}
