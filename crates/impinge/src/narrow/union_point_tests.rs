use glam::DVec3;

use super::*;
use crate::num::random::unit;
use crate::{Query, Shape, closest_point, contains, procedural, signed_distance};

fn vector(seed: u64, n: u64) -> DVec3 {
    DVec3::from_array([0, 1, 2].map(|i| 2.0 * unit(seed, 3 * n + i) - 1.0))
}

fn turned(seed: u64, n: u64, spread: f64) -> Pose {
    let turn = [0, 1, 2, 3].map(|i| unit(seed, 4 * n + i) - 0.5);
    Pose::new((spread * vector(seed + 1, n)).to_array(), turn).unwrap()
}

/// Points of the surfaces of convex parts that no other part covers, along rays out of their middles.
fn surface(parts: &[(Shape, Pose)], splits: u32, distance: impl Fn(usize, DVec3) -> f64) -> Vec<DVec3> {
    let directions = procedural::ico_sphere(1.0, splits).unwrap();
    let mut surface = Vec::new();
    for (i, (shape, pose)) in parts.iter().enumerate() {
        for way in directions.vertices() {
            let ray = Ray { origin: pose.translation(), direction: *way, reach: f64::INFINITY };
            let at = crate::ray_cast(shape.at(*pose), ray).unwrap().point;
            if (0..parts.len()).all(|j| j == i || distance(j, at) > -1e-12) {
                surface.push(at);
            }
        }
    }
    surface
}

fn nearest(surface: &[DVec3], p: DVec3) -> f64 {
    surface.iter().map(|x| x.distance(p)).fold(f64::INFINITY, f64::min)
}

/// Four bodies of different kinds near each other.
fn parts(seed: u64) -> Vec<(Shape, Pose)> {
    let part = |k: u64| {
        let size = 0.4 + 0.3 * unit(seed, 100 + k);
        let shape = match (seed + k) % 4 {
            0 => Shape::cuboid([size, 0.8 * size, 0.6 * size]),
            1 => Shape::sphere(size),
            2 => Shape::capsule(0.5 * size, 0.5 * size),
            _ => Shape::cylinder(0.7 * size, 0.7 * size),
        };
        (shape.unwrap(), turned(seed, k, 0.5))
    };
    (0..4).map(part).collect()
}

#[test]
fn points_about_compounds_agree_with_dense_surfaces() {
    let (mut inside, mut outside, mut open, mut far) = (0, 0, 0, 0);
    for seed in 0..8 {
        let parts = parts(seed);
        let shape = Shape::compound(parts.clone()).unwrap();
        let of = |k: usize, p: DVec3| signed_distance(parts[k].0.at(parts[k].1), p).unwrap();
        let surface = surface(&parts, 4, |k, p| of(k, p).distance);
        for k in 0..60 {
            let p = 0.9 * vector(seed + 50, k);
            let found = signed_distance(&shape, p).unwrap();
            assert_eq!(found.inside, (0..4).any(|k| of(k, p).inside), "{seed} {k}");
            assert_eq!((contains(&shape, p).unwrap(), found.distance < 0.0), (found.inside, found.inside));
            let (truth, away) = (nearest(&surface, p), found.distance.abs());
            assert!(away - found.tolerance <= truth + 1e-9, "{seed} {k}: {found:?} {truth}");
            // It is a point of the surface: on a part, in none.
            assert!((found.point.distance(p) - away).abs() < 1e-9, "{seed} {k}: {found:?}");
            let least = (0..4).map(|k| of(k, found.point).distance).fold(f64::INFINITY, f64::min);
            assert!(least.abs() < 1e-9, "{seed} {k}: {found:?} {least}");
            let unsigned = closest_point(&shape, p).unwrap();
            assert_eq!((unsigned.distance, unsigned.point, unsigned.inside), (away, found.point, false));
            inside += usize::from(found.inside);
            outside += usize::from(!found.inside);
            open += usize::from(found.tolerance > 0.0);
            far += usize::from(away > truth + 1e-3);
        }
    }
    assert!(inside > 100 && outside > 100 && open > 20, "{inside} {outside} {open}");
    // The search over directions is good, if not proved.
    assert!(20 * far <= open, "{far} of {open}");
}

#[test]
fn points_about_clouds_agree_with_dense_surfaces_and_are_exact() {
    let (mut inside, mut outside, mut shifted, mut open) = (0, 0, 0, 0);
    for seed in 0..8 {
        let count = if seed < 7 { 12 + 20 * seed } else { 400 };
        let centres: Vec<DVec3> = (0..count).map(|i| 0.8 * vector(seed, i)).collect();
        let radii: Vec<f64> = (0..count).map(|i| 0.2 + 0.2 * unit(seed + 9, i)).collect();
        let pose = turned(seed, 3, 1.0);
        let cloud = Shape::particles(centres.iter().copied(), &radii).unwrap();
        let of = |k: usize, p: DVec3| p.distance(pose.apply(centres[k])) - radii[k];
        let balls = centres.iter().zip(&radii);
        let balls: Vec<_> =
            balls.map(|(&p, &r)| (Shape::sphere(r).unwrap(), Pose::shift(pose.apply(p)))).collect();
        let surface = surface(&balls, 4, of);
        for k in 0..40 {
            let p = pose.apply(0.9 * vector(seed + 70, k));
            let found = signed_distance(cloud.at(pose), p).unwrap();
            let deepest = (0..balls.len()).map(|k| of(k, p)).fold(f64::INFINITY, f64::min);
            assert_eq!(found.inside, deepest < 0.0, "{seed} {k}");
            assert_eq!(contains(cloud.at(pose), p).unwrap(), found.inside);
            let (truth, away) = (nearest(&surface, p), found.distance.abs());
            assert!(away - found.tolerance <= truth + 1e-9, "{seed} {k}: {found:?} {truth}");
            assert!((found.point.distance(p) - away).abs() < 1e-9, "{seed} {k}: {found:?}");
            let least = (0..balls.len()).map(|k| of(k, found.point)).fold(f64::INFINITY, f64::min);
            assert!(least.abs() < 1e-9, "{seed} {k}: {found:?} {least}");
            let Feature::Vertex(particle) = found.feature else { panic!("{found:?}") };
            assert!(of(particle as usize, found.point).abs() < 1e-9, "{seed} {k}: {found:?}");
            assert!(found.tolerance == 0.0 || balls.len() > MOST_BALLS, "{seed} {k}: {found:?}");
            inside += usize::from(found.inside);
            outside += usize::from(!found.inside);
            shifted += usize::from(found.inside && deepest > found.distance + 1e-9);
            open += usize::from(found.tolerance > 0.0);
        }
    }
    assert!(inside > 80 && outside > 50 && shifted > 30 && open > 0, "{inside} {outside} {shifted} {open}");
}

#[test]
fn seams_of_parts_that_only_touch_are_no_surface() {
    let cube = Shape::cuboid([1.0; 3]).unwrap();
    let at = |x: f64| Pose::from_translation([x, 0.0, 0.0]).unwrap();
    let bar = Shape::compound([(cube.clone(), at(-1.0)), (cube, at(1.0))]).unwrap();
    let found = signed_distance(&bar, [0.5, 0.0, 0.25]).unwrap();
    // The bar's face, not the seam at x = 0.
    assert!((found.distance + 0.75).abs() < 1e-6 && (found.point.z - 1.0).abs() < 1e-6, "{found:?}");
    assert!(found.tolerance <= 0.25 + 1e-6 && found.inside);
    let exact = signed_distance(&bar, [1.5, 0.0, 0.75]).unwrap();
    assert_eq!((exact.distance, exact.tolerance), (-0.25, 0.0));
}

#[test]
fn points_of_no_size_have_no_inside_and_flat_parts_are_surface_outside_of_solids() {
    let dust = Shape::particles([[0.0; 3], [1.0, 0.0, 0.0]], &[0.0]).unwrap();
    let on = signed_distance(&dust, [1.0, 0.0, 0.0]).unwrap();
    assert_eq!((on.distance, on.inside, on.feature), (0.0, false, Feature::Vertex(1)));
    assert!(!contains(&dust, [0.0; 3]).unwrap());
    let ball = Shape::sphere(1.0).unwrap();
    let pin = Shape::segment([[0.0; 3], [3.0, 0.0, 0.0]]).unwrap();
    let both = Shape::compound([(ball, Pose::IDENTITY), (pin, Pose::IDENTITY)]).unwrap();
    let beside = signed_distance(&both, [2.5, 0.25, 0.0]).unwrap();
    assert_eq!((beside.distance, beside.inside), (0.25, false));
    // The part of the pin in the ball is in the solid.
    assert_eq!(signed_distance(&both, [0.5, 0.0, 0.0]).unwrap().distance, -0.5);
}

#[test]
fn one_ball_is_a_sphere_and_the_answer_says_how_sure_it_is() {
    let cloud = Shape::particles([[0.1, 0.2, 0.3]], &[0.75]).unwrap();
    let ball = Shape::sphere(0.75).unwrap();
    let at = Pose::from_translation([0.1, 0.2, 0.3]).unwrap();
    for k in 0..100 {
        let p = vector(3, k);
        let (a, b) = (signed_distance(&cloud, p).unwrap(), signed_distance(ball.at(at), p).unwrap());
        assert!((a.distance - b.distance).abs() < 1e-12 && a.inside == b.inside);
        assert!(a.point.distance(b.point) < 1e-12);
    }
    let cube = Shape::cuboid([1.0; 3]).unwrap();
    let at = |x: f64| Pose::from_translation([x, 0.0, 0.0]).unwrap();
    let bar = Shape::compound([(cube.clone(), at(-1.0)), (cube, at(1.0))]).unwrap();
    let points = [[0.5, 0.0, 0.25], [5.0, 0.0, 0.0]].map(DVec3::from);
    let sure = Query::default().signed_distance_batch(&bar, &points[1..]).unwrap().certainty;
    assert_eq!(sure, crate::Certainty::Exact);
    let open = Query::default().signed_distance_batch(&bar, &points).unwrap();
    let tolerance = open.value.unwrap().iter().map(|point| point.tolerance).fold(0.0, f64::max);
    assert_eq!(open.certainty, crate::Certainty::Conservative { tolerance });
    assert!(tolerance > 0.0);
}
