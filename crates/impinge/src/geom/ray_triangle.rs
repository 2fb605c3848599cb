//! Where a ray meets a triangle, without gaps between neighbours.
//!
//! Woop, Benthin and Wald, *Watertight ray/triangle intersection* (2013): the ray becomes the third axis
//! by a shear, and three signed areas in the plane decide. A shared side gives both its triangles the same
//! area with opposite signs, to the bit, and zero counts as inside for both, so no ray slips through a
//! side or a corner. In f64 the paper's fallback to higher precision is not needed for that.

use glam::DVec3;

/// A ray made ready for triangles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShearedRay {
    origin: DVec3,
    axes: [usize; 3],
    shear: DVec3,
    /// Multiplies lengths before they are multiplied with each other, and takes that back; powers of two.
    scale: f64,
    unscale: f64,
}

/// A point of a triangle on a ray.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// The ray's parameter: the point is origin + t·direction.
    pub t: f64,
    /// Weights of the three corners; they sum to 1.
    pub weights: [f64; 3],
}

impl ShearedRay {
    /// Takes a ray whose direction is finite and not zero; lengths are multiplied by `scale` (a power of
    /// two) before they are multiplied with each other.
    #[inline]
    pub fn new(origin: DVec3, direction: DVec3, scale: f64) -> ShearedRay {
        let z = direction.abs().max_position();
        let (mut x, mut y) = ((z + 1) % 3, (z + 2) % 3);
        if direction[z] < 0.0 {
            (x, y) = (y, x);
        }
        let along = direction[z];
        let shear = DVec3::new(direction[x] / along, direction[y] / along, along);
        ShearedRay { origin, axes: [x, y, z], shear, scale, unscale: scale.recip() }
    }

    /// Where the line of the ray meets the triangle, in either orientation; `None` where it misses it or
    /// lies in its plane.
    #[inline(always)]
    pub fn crossing(&self, triangle: &[DVec3; 3]) -> Option<Crossing> {
        let [x, y, z] = self.axes;
        let sheared = |p: DVec3| {
            let arm = ((p - self.origin) * self.scale).to_array();
            [arm[x] - self.shear.x * arm[z], arm[y] - self.shear.y * arm[z], arm[z]]
        };
        let area = |p: [f64; 3], q: [f64; 3]| q[0] * p[1] - q[1] * p[0];
        let [a, b, c] = [sheared(triangle[0]), sheared(triangle[1]), sheared(triangle[2])];
        let (u, v, w) = (area(b, c), area(c, a), area(a, b));
        if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
            return None;
        }
        let sum = u + v + w;
        if sum == 0.0 {
            return None;
        }
        let weights = [u / sum, v / sum, w / sum];
        let along = weights[0] * a[2] + weights[1] * b[2] + weights[2] * c[2];
        Some(Crossing { t: along * self.unscale / self.shear.z, weights })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    fn point(rng: &mut Pcg64) -> DVec3 {
        DVec3::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0))
    }

    /// Cramer's rule for origin + t·direction = a + v·ab + w·ac.
    fn solved(origin: DVec3, direction: DVec3, [a, b, c]: &[DVec3; 3]) -> Option<f64> {
        let m = glam::DMat3::from_cols(*b - *a, *c - *a, -direction);
        let x = m.inverse() * (origin - *a);
        (x.x >= 0.0 && x.y >= 0.0 && x.x + x.y <= 1.0).then_some(x.z)
    }

    #[test]
    fn agrees_with_a_linear_system() {
        let mut rng = Pcg64::seed_from_u64(1);
        let mut hits = 0;
        for _ in 0..2000 {
            let t = [point(&mut rng), point(&mut rng), point(&mut rng)];
            let (origin, target) = (point(&mut rng), point(&mut rng) * 0.5);
            let direction = target - origin;
            let found = ShearedRay::new(origin, direction, 1.0).crossing(&t);
            let want = solved(origin, direction, &t);
            assert_eq!(found.is_some(), want.is_some());
            if let (Some(found), Some(want)) = (found, want) {
                hits += 1;
                let p = t[0] * found.weights[0] + t[1] * found.weights[1] + t[2] * found.weights[2];
                assert!((origin + direction * found.t).distance(p) < 1e-10 * (1.0 + found.t.abs()));
                assert!((found.t - want).abs() < 1e-8 * (1.0 + want.abs()));
            }
        }
        assert!((300..1600).contains(&hits), "{hits}");
    }

    #[test]
    fn no_ray_slips_between_neighbours() {
        // A fan of triangles around a corner; rays through the corner and through points of the sides.
        let mut rng = Pcg64::seed_from_u64(2);
        for _ in 0..300 {
            let rim: Vec<DVec3> = (0..7)
                .map(|k| {
                    let angle = std::f64::consts::TAU * (f64::from(k) + rng.random_range(-0.2..0.2)) / 7.0;
                    DVec3::new(angle.cos(), angle.sin(), rng.random_range(-0.3..0.3))
                })
                .collect();
            let apex = DVec3::new(rng.random_range(-0.2..0.2), 0.1, 0.05);
            let origin = DVec3::new(0.1, 0.2, 5.0) + point(&mut rng);
            let side = rim[rng.random_range(0..7)];
            for target in [apex, apex.lerp(side, rng.random_range(0.0..0.9))] {
                let ray = ShearedRay::new(origin, target - origin, 1.0);
                let hit = (0..7).any(|k| ray.crossing(&[apex, rim[k], rim[(k + 1) % 7]]).is_some());
                assert!(hit);
            }
        }
    }
}
