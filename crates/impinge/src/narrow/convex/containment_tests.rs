use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::super::point::signed_distance;
use super::*;
use crate::Pose;

fn curved(rng: &mut Pcg64, size: f64) -> Primitive {
    let mut some = || size * rng.random_range(0.3..1.0);
    let [r, h, t] = [some(), some(), some()];
    match rng.random_range(0..3) {
        0 => Primitive::cylinder(r, h),
        1 => Primitive::cone(r, h),
        _ => Primitive::ellipsoid([r, h, t]),
    }
    .unwrap()
}

/// The slow twin: many points of the surface.
fn sampled(inner: &Turned<'_>, out: impl Fn(DVec3) -> f64) -> f64 {
    let golden = 2.399_963_229_728_653;
    let at = |d: DVec3| out(inner.centre + inner.turn * inner.primitive.support(d));
    let many = 4000;
    let spiral = (0..many).map(|k| {
        let z = 1.0 - (2.0 * f64::from(k) + 1.0) / f64::from(many);
        let (sin, cos) = (f64::from(k) * golden).sin_cos();
        DVec3::new((1.0 - z * z).sqrt() * cos, (1.0 - z * z).sqrt() * sin, z)
    });
    spiral.map(at).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn the_bracket_holds_what_sampling_finds_and_tells_in_from_out() {
    let mut rng = Pcg64::seed_from_u64(41);
    let (mut inside, mut outside) = (0, 0);
    for _ in 0..400 {
        let (small, large) = (curved(&mut rng, 0.5), curved(&mut rng, 2.0));
        let mut some = |most: f64| rng.random_range(-most..most);
        let turn = Pose::new([0.0; 3], [some(1.0), some(1.0), some(1.0), some(1.0)]).unwrap().matrix();
        let inner = Turned { primitive: &small, centre: DVec3::new(some(0.3), some(0.3), some(0.3)), turn };
        let out = |p: DVec3| signed_distance(&large, p).distance;
        let truth = sampled(&inner, out);
        let found = farthest_out(&inner, out, 1e-12);
        assert!(found.at_least <= found.at_most && found.at_most >= truth - 1e-12, "{found:?} {truth}");
        assert!(found.is_decided(1e-12), "{found:?}");
        // What is reached is reached by points of the body.
        assert!(found.at_least <= truth + 0.01, "{found:?} {truth}");
        if let (Primitive::Ellipsoid { radii: own }, Primitive::Ellipsoid { radii }) = (small, large) {
            let closed = ellipsoid_out(&inner, own, DMat3::IDENTITY, radii);
            assert!(closed.at_most >= truth - 1e-12 && closed.at_least <= found.at_most + 1e-9, "{closed:?}");
            assert_eq!(closed.at_most < 0.0, found.at_most < 0.0, "{closed:?} {found:?}");
        }
        inside += usize::from(found.at_most < 0.0);
        outside += usize::from(found.at_least > 0.0);
    }
    assert!(inside > 80 && outside > 80, "{inside} {outside}");
}

fn upright(primitive: &Primitive) -> Turned<'_> {
    Turned { primitive, centre: DVec3::ZERO, turn: DMat3::IDENTITY }
}

#[test]
fn bodies_that_just_fit_are_told_from_those_that_do_not() {
    let quarter = DMat3::from_rotation_y(std::f64::consts::FRAC_PI_2);
    for (more, fits) in [(-1e-9, true), (1e-9, false)] {
        let can = Primitive::cylinder(3.0 + more, 4.0).unwrap();
        let ball = Primitive::sphere(5.0).unwrap();
        let found = farthest_out(&upright(&can), |p| signed_distance(&ball, p).distance, 1e-12);
        // Two whole circles stick out equally far, so the bracket may stay open from above.
        assert!(if fits { found.at_least < 0.0 } else { found.at_least > 1e-12 }, "{found:?}");
        let radii = DVec3::new(1.0, 2.0, 3.0);
        let egg = Primitive::ellipsoid(radii * (1.0 + more)).unwrap();
        let inner = Turned { turn: quarter, ..upright(&egg) };
        let found = ellipsoid_out(&inner, radii * (1.0 + more), quarter, radii);
        assert_eq!((found.at_most < -5e-10, found.at_least > 5e-10), (fits, !fits), "{found:?}");
    }
    let same = DVec3::new(1.0, 2.0, 3.0);
    let egg = Primitive::ellipsoid(same).unwrap();
    let found = ellipsoid_out(&upright(&egg), same, DMat3::IDENTITY, same);
    assert!(found.at_least.abs() < 1e-14 && found.at_most.abs() < 1e-14, "{found:?}");
    let shifted = Turned { centre: DVec3::Z * 1e-9, ..upright(&egg) };
    let found = ellipsoid_out(&shifted, same, DMat3::IDENTITY, same);
    assert!(found.at_least > 1e-10 && found.at_most < 1e-8, "{found:?}");
}

/// Equal radii are equal eigenvalues, which closed forms of the cubic know only to half the digits.
#[test]
fn ellipsoids_with_equal_radii_keep_their_digits() {
    let mut rng = Pcg64::seed_from_u64(29);
    for case in 0..500 {
        let turn = [(); 4].map(|()| rng.random_range(-1.0..1.0));
        let turn = Pose::new([0.0; 3], turn).unwrap().matrix();
        let thin = [1e-3, 0.1, 0.5, 0.999][case % 4];
        let flat = Primitive::ellipsoid([thin, 1.0, 1.0]).unwrap();
        let inner = Turned { primitive: &flat, centre: DVec3::ZERO, turn };
        for gap in [1e-9, 1e-11, 1e-13, -1e-13, -1e-11] {
            let out =
                ellipsoid_out(&inner, DVec3::new(thin, 1.0, 1.0), DMat3::IDENTITY, DVec3::splat(1.0 + gap));
            assert!(
                (out.at_least + gap).abs() < 1e-14 && (out.at_most + gap).abs() < 1e-14,
                "{case} {gap}: {out:?}"
            );
        }
        // Off the middle along the short axis: the farthest points are on the rim of the flat ellipsoid, or near.
        let moved = Turned { centre: turn.x_axis * 0.01, ..inner };
        let out = ellipsoid_out(&moved, DVec3::new(thin, 1.0, 1.0), DMat3::IDENTITY, DVec3::splat(1.0));
        let height = |s: f64| {
            let x = 0.01 + thin * s;
            (x * x + (1.0 - s * s)).sqrt() - 1.0
        };
        let sampled = (0..=20_000).map(|k| height(f64::from(k) / 1e4 - 1.0)).fold(f64::MIN, f64::max);
        assert!(
            out.at_most >= sampled - 1e-14 && out.at_least <= sampled + 1e-7,
            "{case}: {out:?}, {sampled}"
        );
    }
}
