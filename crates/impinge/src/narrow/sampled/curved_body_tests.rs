//! What is said to be sure of curved bodies against meshes is never wrong.

use std::f64::consts::TAU;

use super::*;
use crate::num::random;
use crate::shape::procedural;
use crate::{Shape, narrow::exact::signed_distance::signed_distance};

fn ball(p: DVec3) -> f64 {
    p.length() - 1.0
}

fn torus(p: DVec3) -> f64 {
    DVec3::new(p.x.hypot(p.y) - 1.0, p.z, 0.0).length() - 0.4
}

/// Two balls that run into each other, by the smooth minimum of Quilez: its gradient lies between theirs.
fn blend(p: DVec3) -> f64 {
    let [a, b] = [DVec3::new(-0.5, 0.0, 0.0), DVec3::new(0.6, 0.2, 0.1)].map(|c| p.distance(c) - 0.6);
    let h = (0.3 - (a - b).abs()).max(0.0) / 0.3;
    a.min(b) - h * h * 0.3 / 4.0
}

fn torus_patch(u: f64, v: f64) -> DVec3 {
    let ((s, c), (sv, cv)) = ((TAU * u).sin_cos(), (TAU * v).sin_cos());
    DVec3::new((1.0 + 0.4 * cv) * c, (1.0 + 0.4 * cv) * s, 0.4 * sv)
}

/// Places at which bodies of about unit size just meet or just do not.
fn pose(seed: u64) -> Pose {
    let unit = |n: u64| 2.0 * random::unit(seed, n) - 1.0;
    let far = 1.3 + 1.5 * random::unit(seed, 9);
    let at = DVec3::new(unit(0), unit(1), unit(2)).normalize_or(DVec3::X) * far;
    let turn = [unit(3), unit(4), unit(5), unit(6) + 2.0];
    Pose::new(at.to_array(), turn).unwrap()
}

/// Points spread over a mesh, and how far apart they are at most.
fn samples(mesh: &Mesh, per_side: u32) -> (Vec<DVec3>, f64) {
    let mut points = Vec::new();
    let mut gap = 0.0_f64;
    for t in 0..mesh.triangles().len() as u32 {
        let [a, b, c] = mesh.corners(t);
        for (i, j) in (0..=per_side).flat_map(|i| (0..=per_side - i).map(move |j| (i, j))) {
            let n = f64::from(per_side);
            points.push(a + (b - a) * (f64::from(i) / n) + (c - a) * (f64::from(j) / n));
        }
        gap = gap.max(a.distance(b).max(b.distance(c)).max(c.distance(a)) / f64::from(per_side));
    }
    (points, gap)
}

#[test]
fn what_is_sure_of_implicit_bodies_is_never_wrong() {
    let bounds = Aabb { low: DVec3::splat(-1.45), high: DVec3::splat(1.45) };
    let meshes =
        [procedural::blob(1.0, 0.5, 3, 7).unwrap(), procedural::gear(0.3, 0.8, 1.0, 0.5, 12).unwrap()];
    let shapes = meshes.map(Shape::from);
    for (name, f) in [("ball", ball as fn(DVec3) -> f64), ("torus", torus), ("blend", blend)] {
        let body = CurvedBody::implicit(&f, 1.0, bounds, 32).unwrap();
        let [mut free, mut hit, mut open] = [0; 3];
        for (k, shape) in shapes.iter().enumerate() {
            let mesh = shape.as_mesh().unwrap();
            let (points, spread) = samples(mesh, 3);
            for n in 0..170 {
                let at = pose(1000 * k as u64 + n);
                let said = body.meets(&at, shape, &mut Budget::UNLIMITED.clone()).unwrap();
                let back = at.matrix().transpose();
                let least =
                    points.iter().map(|p| f(back * (*p - at.translation()))).fold(f64::INFINITY, f64::min);
                // The mesh may be around the body.
                let centre = body.polygons().vertices()[0];
                let model = model_of(shape).unwrap();
                let own = signed_distance(model, &Pose::IDENTITY, at.apply(centre)).distance;
                match said {
                    Some(false) => assert!(least > 0.0 && own > -0.01, "{name} {n}: {least} {own}"),
                    Some(true) => assert!(least <= spread || own < spread, "{name} {n}: {least} {own}"),
                    None => {}
                }
                if name == "ball" {
                    let truth = signed_distance(model, &Pose::IDENTITY, at.translation()).distance - 1.0;
                    assert!(said != Some(false) || truth > 0.0, "{n}: {truth}");
                    assert!(said != Some(true) || truth <= 0.0, "{n}: {truth}");
                }
                *match said {
                    Some(false) => &mut free,
                    Some(true) => &mut hit,
                    None => &mut open,
                } += 1;
            }
        }
        println!("{name}: {free} free, {hit} hit, {open} open");
        assert!(free > 80 && hit > 80 && open < 40, "{name}: {free} {hit} {open}");
    }
}

#[test]
fn what_is_sure_of_patches_is_never_wrong() {
    let square = TAU * TAU;
    let patch = Patch { point: &torus_patch, second_derivatives: [1.4 * square, 0.4 * square, 0.4 * square] };
    let body = CurvedBody::patches(&[patch], 48).unwrap();
    let shape = Shape::from(procedural::blob(1.0, 0.5, 3, 7).unwrap());
    let (points, spread) = samples(shape.as_mesh().unwrap(), 3);
    let [mut free, mut hit] = [0; 2];
    for n in 0..200 {
        let at = pose(5000 + n);
        let said = body.meets(&at, &shape, &mut Budget::UNLIMITED.clone()).unwrap();
        let back = at.matrix().transpose();
        let value = |p: &DVec3| torus(back * (*p - at.translation()));
        let (low, high) = points
            .iter()
            .map(value)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        // The surface meets the mesh where the torus' distance changes its sign over the mesh.
        match said {
            Some(false) => assert!(low > 0.0 || high < 0.0, "{n}: {low} {high}"),
            Some(true) => assert!(low <= spread, "{n}: {low}"),
            None => {}
        }
        free += usize::from(said == Some(false));
        hit += usize::from(said == Some(true));
    }
    assert!(free > 40 && hit > 40, "{free} {hit}");
}

#[test]
fn nested_bodies_are_hits_and_budgets_end() {
    let bounds = Aabb { low: DVec3::splat(-1.45), high: DVec3::splat(1.45) };
    let body = CurvedBody::implicit(&ball, 1.0, bounds, 12).unwrap();
    let [around, inside] = [3.0, 0.3].map(|r| Shape::from(procedural::ico_sphere(r, 3).unwrap()));
    let unlimited = || Budget::UNLIMITED.clone();
    assert_eq!(body.meets(&Pose::IDENTITY, &around, &mut unlimited()).unwrap(), Some(true));
    assert_eq!(body.meets(&Pose::IDENTITY, &inside, &mut unlimited()).unwrap(), Some(true));
    let beside = Pose::from_translation([4.5, 0.0, 0.0]).unwrap();
    assert_eq!(body.meets(&beside, &around, &mut unlimited()).unwrap(), Some(false));
    assert_eq!(body.meets(&beside, &around, &mut Budget::units(1)).unwrap(), None);
    assert!(body.meets(&beside, &Shape::sphere(1.0).unwrap(), &mut unlimited()).is_err());
}
