use glam::{DQuat, DVec3};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;

fn vector(rng: &mut Pcg64, size: f64) -> DVec3 {
    DVec3::from([(); 3].map(|()| rng.random_range(-size..size)))
}

fn solids(rng: &mut Pcg64) -> Vec<Primitive> {
    let mut size = || rng.random_range(0.05..1.0);
    vec![
        Primitive::sphere(size()).unwrap(),
        Primitive::cuboid([size(), size(), size()]).unwrap(),
        Primitive::capsule(size(), size()).unwrap(),
        Primitive::cylinder(size(), size()).unwrap(),
        Primitive::cone(size(), size()).unwrap(),
        Primitive::ellipsoid([size(), size(), size()]).unwrap(),
        Primitive::half_space([size(), size(), -size()], size()).unwrap(),
    ]
}

/// The signed distance is the largest over directions of this.
fn beyond(primitive: &Primitive, p: DVec3, d: DVec3) -> f64 {
    d.dot(p - primitive.support(d))
}

/// The best of many directions, climbed to the top as far as random steps can.
fn sampled(primitive: &Primitive, p: DVec3, rng: &mut Pcg64) -> f64 {
    let mut best = f64::NEG_INFINITY;
    for _ in 0..60 {
        let mut at = vector(rng, 1.0).normalize_or(DVec3::X);
        let mut step = 1.0;
        while step > 1e-8 {
            let next = DQuat::from_scaled_axis(vector(rng, step)) * at;
            if beyond(primitive, p, next) > beyond(primitive, p, at) {
                at = next;
            } else {
                step *= 0.9;
            }
        }
        best = best.max(beyond(primitive, p, at));
    }
    best
}

#[test]
fn agrees_with_the_support_function() {
    let mut rng = Pcg64::seed_from_u64(17);
    let mut inside = 0;
    for _ in 0..12 {
        for solid in solids(&mut rng) {
            let p = vector(&mut rng, 1.0);
            let foot = signed_distance(&solid, p);
            if !matches!(solid, Primitive::HalfSpace { .. }) {
                // No direction does better than the answer's, and that one does as well as it says.
                let slow = sampled(&solid, p, &mut rng);
                assert!(slow < foot.distance + 1e-12, "{solid:?} {p}: {foot:?}, sampled {slow}");
                assert!(slow > foot.distance - 0.01, "{solid:?} {p}: {foot:?}, sampled {slow}");
                let own = beyond(&solid, p, foot.normal);
                assert!((own - foot.distance).abs() < 1e-14, "{solid:?} {p}: {foot:?} {own}");
            }
            assert!(
                (foot.point + foot.normal * foot.distance - p).length() < 1e-14,
                "{solid:?} {p}: {foot:?}"
            );
            assert!(signed_distance(&solid, foot.point).distance.abs() < 1e-15, "{solid:?} {p}: {foot:?}");
            assert!((foot.normal.length() - 1.0).abs() < 1e-15);
            inside += usize::from(foot.distance < 0.0);
        }
    }
    assert!((17..67).contains(&inside), "{inside} of 84 inside");
}

#[test]
fn ellipsoids_keep_their_digits_near_planes_of_symmetry() {
    let radii = DVec3::new(2.0, 1.0, 0.5);
    let solid = Primitive::ellipsoid(radii).unwrap();
    for tiny in [0.0, 1e-300, 1e-200, 1e-17, 1e-12, 1e-8, 1e-5] {
        for p in [
            DVec3::new(0.3, 0.2, tiny),
            DVec3::new(tiny, 0.2, tiny),
            DVec3::new(tiny, tiny, tiny),
            DVec3::new(1.9, tiny, 0.0),
            DVec3::new(2.5, tiny, tiny),
            DVec3::new(0.0, 0.7, -tiny),
        ] {
            let foot = signed_distance(&solid, p);
            assert!(((foot.point / radii).length() - 1.0).abs() < 1e-14, "{p}: {foot:?}");
            assert!((foot.point + foot.normal * foot.distance - p).length() < 1e-13, "{p}: {foot:?}");
        }
    }
    assert_eq!(signed_distance(&solid, DVec3::ZERO).distance, -0.5);
    let ball = Primitive::ellipsoid([1.0; 3]).unwrap();
    assert!((signed_distance(&ball, DVec3::new(0.1, 0.0, 0.0)).distance + 0.9).abs() < 1e-15);
    assert!((signed_distance(&ball, DVec3::ZERO).distance + 1.0).abs() < 1e-15);
}

#[test]
fn sizes_far_from_one_do_not_break_it() {
    for size in [1e-300, 1e-100, 1e-6, 1e6, 1e59] {
        let solids = [
            Primitive::sphere(size).unwrap(),
            Primitive::cuboid([size, 2.0 * size, size]).unwrap(),
            Primitive::capsule(size, size).unwrap(),
            Primitive::cylinder(size, size).unwrap(),
            Primitive::cone(size, size).unwrap(),
            Primitive::ellipsoid([size, 3.0 * size, 2.0 * size]).unwrap(),
        ];
        for solid in solids {
            for p in [DVec3::new(4.0, 5.0, 6.0), DVec3::new(0.1, 0.2, 0.15)] {
                let here = signed_distance(&solid, p * size);
                let unit = signed_distance(&solid.scaled(1.0 / size), p);
                assert!((here.distance / size - unit.distance).abs() < 1e-13, "{solid:?}: {here:?} {unit:?}");
            }
        }
    }
}

/// Squares and products of radii and places must not underflow.
#[test]
fn feet_on_flat_ellipsoids_are_numbers_next_to_their_planes() {
    for thin in [5e-324, 1e-300, 1e-160, 1e-150, 1e-9] {
        let flat = Primitive::ellipsoid([1.0, 1.0, thin]).unwrap();
        for height in [0.0, 5e-324, 1e-320, 1e-200, 1e-150, 1e-140] {
            for x in [0.0, 1e-320, 1e-200, 0.5] {
                let foot = signed_distance(&flat, DVec3::new(x, 0.0, height));
                assert!(
                    foot.point.is_finite() && foot.normal.is_normalized(),
                    "{thin} {height} {x}: {foot:?}"
                );
                assert!(
                    foot.distance.abs() <= thin.max(height) * (1.0 + 1e-12) + 1e-149,
                    "{thin} {height} {x}"
                );
            }
        }
    }
}

/// At an apex or a rim the way from the foot is rounding, and no normal.
#[test]
fn normals_on_apexes_and_rims_support_the_body() {
    let mut rng = Pcg64::seed_from_u64(31);
    for case in 0..2000 {
        let (radius, height) = (rng.random_range(0.1..3.0), rng.random_range(0.1..3.0));
        let body =
            if case % 2 == 0 { Primitive::cone(radius, height) } else { Primitive::cylinder(radius, height) };
        let body = body.unwrap();
        let (sin, cos) = rng.random_range(0.0..6.3_f64).sin_cos();
        let corner = match case % 4 {
            0 => DVec3::Z * height,
            1 => DVec3::new(radius * cos, radius * sin, height),
            _ => DVec3::new(radius * cos, radius * sin, -height),
        };
        let p = corner + vector(&mut rng, 4.0 * f64::EPSILON * (radius + height));
        let foot = signed_distance(&body, p);
        let along = beyond(&body, p, foot.normal);
        assert!(
            (along - foot.distance).abs() < 1e-13,
            "{case}: {} along {}, {along}",
            foot.distance,
            foot.normal
        );
    }
}
