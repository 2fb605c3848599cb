use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;

/// The determinant in exact numbers, without filter or expansions.
fn exact(points: [DVec3; 4]) -> Sign {
    let [a, b, c, d] = points.map(|p| p.to_array().map(Dyadic::from));
    let row = |p: &[Dyadic; 3]| [&p[0] - &d[0], &p[1] - &d[1], &p[2] - &d[2]];
    let [u, v, w] = [row(&a), row(&b), row(&c)];
    let cofactor = |i: usize, j: usize, k: usize| &u[i] * &(&(&v[j] * &w[k]) - &(&v[k] * &w[j]));
    (&(&cofactor(0, 1, 2) + &cofactor(1, 2, 0)) + &cofactor(2, 0, 1)).sign().flip()
}

fn random(rng: &mut Pcg64, scale: f64) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|_| f64::from(rng.random_range(-1..=1)) * scale))
}

#[test]
fn coplanar_and_nearly_coplanar_points_at_every_scale() {
    let mut rng = Pcg64::seed_from_u64(1);
    let (mut zeros, mut cases) = (0, 0);
    for scale in [1e60, 1e6, 1.0, 0.1, 1e-6, 1e-80, 1e-90, 1e-160, 1e-300, 5e-324] {
        for _ in 0..400 {
            let mut points: [DVec3; 4] = std::array::from_fn(|_| random(&mut rng, scale));
            if rng.random_bool(0.5) {
                let nudged = &mut points[rng.random_range(0..4)][rng.random_range(0..3)];
                *nudged = if rng.random_bool(0.5) { nudged.next_up() } else { nudged.next_down() };
            }
            let [a, b, c, d] = points;
            let sign = orient3d(a, b, c, d);
            assert_eq!(sign, exact(points), "{points:?}");
            assert_eq!(sign, orient3d(b, c, a, d));
            assert_eq!(sign, orient3d(b, a, c, d).flip());
            zeros += usize::from(sign.is_zero());
            cases += 1;
        }
    }
    assert!(zeros * 20 > cases && zeros * 2 < cases, "{zeros} of {cases}");
}

#[test]
fn wildly_mixed_magnitudes() {
    let mut rng = Pcg64::seed_from_u64(2);
    let scales = [1e60, 1.0, 1e-40, 1e-200, 5e-324];
    for _ in 0..2000 {
        let points: [DVec3; 4] = std::array::from_fn(|_| {
            DVec3::from_array(std::array::from_fn(|_| {
                f64::from(rng.random_range(-2..=2)) * scales[rng.random_range(0..scales.len())]
            }))
        });
        let [a, b, c, d] = points;
        assert_eq!(orient3d(a, b, c, d), exact(points), "{points:?}");
        let flat = points.map(|p| drop_axis(p, 2));
        let lifted = [flat[0], flat[1], flat[2]].map(|p| p.extend(0.0));
        let up = DVec3::new(flat[0].x, flat[0].y, 1.0);
        assert_eq!(
            orient2d(flat[0], flat[1], flat[2]),
            exact([lifted[0], lifted[1], lifted[2], up]),
            "{flat:?}"
        );
    }
}

#[test]
fn dropped_axes_keep_the_orientation() {
    let corners = [DVec3::X, DVec3::Y, DVec3::Z];
    for axis in 0..3 {
        let [a, b, c] = corners.map(|p| drop_axis(p, axis));
        assert_eq!(orient2d(a, b, c), Sign::Positive);
    }
    assert_eq!(orient3d(DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE), Sign::Positive);
}
