//! The squared distances of a point from many planes, as one quadratic form (Garland and Heckbert 1997,
//! section 5).

use std::ops::AddAssign;

use glam::DVec3;

/// The sum of w·(n·x + d)² over planes, and the sum of the weights w.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Quadric {
    /// Σ w·n·nᵀ: xx, yy, zz, xy, xz, yz.
    square: [f64; 6],
    /// Σ w·d·n.
    linear: DVec3,
    /// Σ w·d².
    constant: f64,
    /// Σ w.
    weight: f64,
}

impl Quadric {
    /// The plane through `point` across the unit vector `normal`.
    pub fn plane(normal: DVec3, point: DVec3, weight: f64) -> Quadric {
        let d = -normal.dot(point);
        let DVec3 { x, y, z } = normal;
        Quadric {
            square: [x * x, y * y, z * z, x * y, x * z, y * z].map(|product| weight * product),
            linear: normal * (weight * d),
            constant: weight * d * d,
            weight,
        }
    }

    /// The sum at a point; rounding never makes it negative.
    pub fn at(&self, p: DVec3) -> f64 {
        let [xx, yy, zz, xy, xz, yz] = self.square;
        let squares = xx * p.x * p.x + yy * p.y * p.y + zz * p.z * p.z;
        let mixed = xy * p.x * p.y + xz * p.x * p.z + yz * p.y * p.z;
        (squares + 2.0 * (mixed + self.linear.dot(p)) + self.constant).max(0.0)
    }

    /// The sum of the weights.
    pub fn weight(&self) -> f64 {
        self.weight
    }
}

impl AddAssign for Quadric {
    fn add_assign(&mut self, other: Quadric) {
        for (own, more) in self.square.iter_mut().zip(other.square) {
            *own += more;
        }
        self.linear += other.linear;
        self.constant += other.constant;
        self.weight += other.weight;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::procedural;

    #[test]
    fn a_quadric_is_the_sum_of_the_squared_distances() {
        let points = procedural::positions(60, DVec3::splat(-1.0), DVec3::ONE, 5);
        let mut sum = Quadric::default();
        let mut planes = Vec::new();
        for pair in points.chunks_exact(2) {
            let (normal, weight) = (pair[0].normalize(), pair[1].x.abs());
            sum += Quadric::plane(normal, pair[1], weight);
            planes.push((normal, pair[1], weight));
        }
        for &x in &points {
            let want: f64 = planes.iter().map(|(n, p, w)| w * n.dot(x - *p).powi(2)).sum();
            assert!((sum.at(x) - want).abs() < 1e-12, "{} {want}", sum.at(x));
        }
    }
}
