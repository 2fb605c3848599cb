//! True points of curved surfaces lie in facets of every level.

use std::f64::consts::{PI, TAU};

use super::super::Facet;
use super::*;
use crate::Shape;
use crate::num::random;

fn unit(seed: u64, n: u64) -> DVec3 {
    let z = 2.0 * random::unit(seed, 2 * n) - 1.0;
    let (sin, cos) = (TAU * random::unit(seed, 2 * n + 1)).sin_cos();
    DVec3::new(cos, sin, 0.0) * (1.0 - z * z).sqrt() + DVec3::Z * z
}

/// Two balls that run into each other, by the smooth minimum of Quilez: its gradient lies between theirs.
fn blend(p: DVec3) -> f64 {
    let [a, b] = [DVec3::new(-0.5, 0.0, 0.0), DVec3::new(0.6, 0.2, 0.1)].map(|c| p.distance(c) - 0.6);
    let h = (0.3 - (a - b).abs()).max(0.0) / 0.3;
    a.min(b) - h * h * 0.3 / 4.0
}

fn ball(p: DVec3) -> f64 {
    p.length() - 1.0
}

fn torus(p: DVec3) -> f64 {
    DVec3::new(p.x.hypot(p.y) - 1.0, p.z, 0.0).length() - 0.4
}

/// A zero of f on the segment, if its ends have different signs.
fn zero_on(f: fn(DVec3) -> f64, [mut a, mut b]: [DVec3; 2]) -> Option<DVec3> {
    if (f(a) < 0.0) == (f(b) < 0.0) {
        return None;
    }
    for _ in 0..60 {
        let middle = 0.5 * (a + b);
        if (f(middle) < 0.0) == (f(a) < 0.0) { a = middle } else { b = middle }
    }
    Some(a)
}

fn contains(facet: &Facet, p: DVec3) -> bool {
    let arm = p - facet.centre;
    let height = arm.dot(facet.normal);
    let beside = (arm - facet.normal * height).length();
    facet.inner <= height && height <= facet.outer && beside <= facet.radius
}

#[test]
fn zeros_of_implicit_surfaces_lie_in_facets() {
    for (name, f) in [("ball", ball as fn(DVec3) -> f64), ("torus", torus), ("blend", blend)] {
        for cells in [6, 14] {
            let bounds = Aabb { low: DVec3::splat(-1.6), high: DVec3::splat(1.6) };
            let (mesh, shells) = Shells::of_implicit(&f, bounds, 1.0, cells).unwrap();
            let mut zeros = 0;
            for n in 0..600 {
                let ends = [unit(1, n) * 1.6, unit(2, n) * 1.6 * random::unit(3, n)];
                let Some(z) = zero_on(f, ends) else { continue };
                zeros += 1;
                for (k, level) in shells.levels.iter().enumerate() {
                    assert!(
                        level.facets.iter().any(|facet| contains(facet, z)),
                        "{name} {cells}: {z} at level {k}"
                    );
                }
            }
            assert!(zeros > 60, "{name}: {zeros}");
            let finest = &shells.levels[0].facets;
            let thick = finest.iter().map(|facet| facet.outer).fold(0.0, f64::max);
            assert!(thick < 3.2 / f64::from(cells), "{name}: {thick}, less than a cell");
            assert!(mesh.vertices().iter().all(|&p| f(p).abs() < 1e-6), "{name}");
            assert!(Shape::from(mesh).is_closed(), "{name}");
        }
    }
}

#[test]
fn points_of_patches_lie_in_the_facets_above_their_triangle() {
    // The torus as one patch: the bounds are those of its trigonometric sums.
    let point = |u: f64, v: f64| {
        let (s, c) = (TAU * u).sin_cos();
        let (sv, cv) = (TAU * v).sin_cos();
        DVec3::new((1.0 + 0.4 * cv) * c, (1.0 + 0.4 * cv) * s, 0.4 * sv)
    };
    let square = TAU * TAU;
    let patch = Patch { point: &point, second_derivatives: [1.4 * square, 0.4 * square, 0.4 * square] };
    for cells in [8, 40] {
        let (mesh, shells) = Shells::of_patches(&[patch], cells).unwrap();
        assert_eq!(mesh.triangles().len() as u32, 2 * cells * cells);
        for n in 0..4000 {
            let (u, v) = (random::unit(7, 2 * n), random::unit(7, 2 * n + 1));
            let scale = f64::from(cells);
            let (column, row) = ((u * scale) as u32, (v * scale) as u32);
            let above = u * scale - f64::from(column) < v * scale - f64::from(row);
            let mut facet = 2 * (row * cells + column) + u32::from(above);
            for level in &shells.levels {
                assert!(contains(&level.facets[facet as usize], point(u, v)), "{u} {v}");
                facet = level.parent.get(facet as usize).copied().unwrap_or(0);
            }
        }
    }
}

#[test]
fn senseless_curved_bodies_are_refused_by_name() {
    let bounds = Aabb { low: DVec3::splat(-1.6), high: DVec3::splat(1.6) };
    let refused = |f: fn(DVec3) -> f64, bounds: Aabb, lipschitz: f64, cells: u32| {
        Shells::of_implicit(&f, bounds, lipschitz, cells).unwrap_err().to_string()
    };
    assert!(refused(ball, bounds, 0.0, 8).contains("lipschitz"));
    assert!(refused(ball, bounds, f64::NAN, 8).contains("lipschitz"));
    assert!(refused(ball, bounds, 1.0, 0).contains("cells"));
    assert!(refused(ball, bounds, 1.0, u32::MAX).contains("cells"));
    assert!(refused(ball, Aabb { low: bounds.high, high: bounds.low }, 1.0, 8).contains("bounds"));
    assert!(refused(|_| 1.0, bounds, 1.0, 8).contains("one sign"));
    assert!(refused(|_| f64::NAN, bounds, 1.0, 8).contains("NaN"));
    let flat = |u: f64, v: f64| DVec3::new(u, v, 0.0);
    let patch = |bounds| Patch { point: &flat, second_derivatives: bounds };
    assert!(Shells::of_patches(&[patch([0.0; 3])], 0).is_err());
    assert!(Shells::of_patches(&[patch([-1.0, 0.0, 0.0])], 4).is_err());
    assert!(Shells::of_patches(&[patch([f64::INFINITY, 0.0, 0.0])], 4).is_err());
    assert!(Shells::of_patches(&[], 4).is_err());
    let wild = |u: f64, _: f64| DVec3::splat(1.0 / (u - 0.5) + PI);
    assert!(Shells::of_patches(&[Patch { point: &wild, second_derivatives: [0.0; 3] }], 4).is_err());
}
