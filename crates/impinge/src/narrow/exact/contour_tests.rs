use std::f64::consts::{PI, TAU};

use super::*;
use crate::Mesh;
use crate::geom::triangle_triangle::{TriangleRelation, classify};
use crate::shape::procedural;

fn placed(a: &Model, b: &Model, shift: [f64; 3]) -> Vec<Polyline> {
    let found = contour(a, &Pose::IDENTITY, b, &Pose::shift(shift), &mut Budget::UNLIMITED.clone());
    assert_eq!(found.outcome.finish, crate::Finish::Complete);
    found.value.unwrap()
}

fn model(mesh: Result<Mesh, crate::Error>) -> Model {
    Model::from(mesh.unwrap())
}

/// Every pair of triangles that cross is in the curves once, and nothing else (general position).
fn check_pairs(a: &Model, b: &Model, shift: [f64; 3], curves: &[Polyline]) {
    let pose = Pose::shift(shift);
    let mut slow = vec![];
    for i in 0..a.mesh().triangles().len() as u32 {
        for j in 0..b.mesh().triangles().len() as u32 {
            let [p, q] = [a.mesh().corners(i), b.mesh().corners(j).map(|p| pose.apply(p))];
            if classify(&p, &q) == TriangleRelation::Cross {
                slow.push([i, j]);
            }
        }
    }
    let mut fast: Vec<[u32; 2]> = curves.iter().flat_map(|curve| curve.pairs.clone()).collect();
    fast.sort_unstable();
    assert_eq!(fast, slow);
    for curve in curves {
        assert_eq!(curve.points.len(), curve.pairs.len() + usize::from(!curve.closed));
    }
}

fn loops(curves: &[Polyline]) -> usize {
    assert!(curves.iter().all(|curve| curve.closed));
    curves.len()
}

#[test]
fn two_spheres_cross_in_a_circle() {
    let ball = model(procedural::ico_sphere(1.0, 3));
    let other = model(procedural::uv_sphere(1.0, 41, 23));
    let shift = [0.91, 0.33, 0.17];
    let curves = placed(&ball, &other, shift);
    check_pairs(&ball, &other, shift, &curves);
    assert_eq!(loops(&curves), 1);
    let half_gap = DVec3::from(shift).length() / 2.0;
    let circle = TAU * (1.0 - half_gap * half_gap).sqrt();
    assert!((curves[0].length() / circle - 1.0).abs() < 2e-2, "{} {circle}", curves[0].length());
}

#[test]
fn the_direction_has_bs_inside_on_the_left_seen_from_outside_a() {
    let ball = model(procedural::ico_sphere(1.0, 3));
    let curves = placed(&ball, &ball, [0.0, 0.0, 1.23]);
    assert_eq!(loops(&curves), 1);
    // Around the upper cap of a, which is inside b: counter-clockwise seen from above.
    let next = curves[0].points.iter().cycle().skip(1);
    let turn: f64 = curves[0].points.iter().zip(next).map(|(p, q)| p.truncate().perp_dot(q.truncate())).sum();
    assert!(turn > 1.0, "{turn}");
}

#[test]
fn a_torus_is_cut_into_as_many_loops_as_the_plane_shows() {
    let ring = model(procedural::torus(2.0, 0.5, 40, 20));
    let slab = model(procedural::cuboid([4.0, 4.0, 2.0], [3, 4, 2]));
    for (shift, want) in [
        ([0.0123, 0.0211, 2.0713], 2),
        ([0.013, 0.017, 2.6], 0),
        ([4.0317, 0.0211, 0.0113], 2),
        ([0.0123, 5.731, 0.0213], 1),
        ([0.0123, 0.0211, 0.0313], 0),
    ] {
        let curves = placed(&ring, &slab, shift);
        assert_eq!(loops(&curves), want, "{shift:?}");
        check_pairs(&ring, &slab, shift, &curves);
    }
}

#[test]
fn a_trefoil_passes_its_middle_plane_six_times() {
    let knot = model(procedural::knot([2, 3], 1.0, 0.15, 120, 12));
    let slab = model(procedural::cuboid([3.0, 3.0, 1.0], [5, 5, 1]));
    let shift = [0.0171, 0.0093, 1.0137];
    let curves = placed(&knot, &slab, shift);
    assert_eq!(loops(&curves), 6);
    check_pairs(&knot, &slab, shift, &curves);
}

#[test]
fn boxes_corner_in_corner_cross_in_a_hexagon() {
    let cube = model(procedural::cuboid([1.0; 3], [1; 3]));
    let curves = placed(&cube, &cube, [0.75, 0.5, 0.625]);
    assert_eq!(loops(&curves), 1);
    // Two edges of each rectangle of the overlap, one on each surface.
    assert!((curves[0].length() - 2.0 * (1.25 + 1.5 + 1.375)).abs() < 1e-12);
}

#[test]
fn an_open_sheet_ends_the_curve_at_its_border() {
    let ball = model(procedural::ico_sphere(1.0, 3));
    let sheet = model(procedural::sheet([4.0, 4.0], [7, 7]));
    let whole = placed(&ball, &sheet, [0.0131, 0.0071, 0.3017]);
    assert_eq!(loops(&whole), 1);
    assert!((whole[0].length() / (TAU * (1.0 - 0.3017_f64.powi(2)).sqrt()) - 1.0).abs() < 0.01);
    let part = placed(&ball, &sheet, [2.0131, 0.0071, 0.0017]);
    assert_eq!((part.len(), part[0].closed), (1, false));
    assert!((part[0].length() / PI - 1.0).abs() < 0.02, "{}", part[0].length());
    check_pairs(&ball, &sheet, [2.0131, 0.0071, 0.0017], &part);
}

#[test]
fn a_box_standing_on_a_box_touches_along_its_rim() {
    let cube = model(procedural::cuboid([1.0; 3], [2, 2, 2]));
    let table = model(procedural::cuboid([3.0; 3], [2, 3, 1]));
    let curves = placed(&cube, &table, [0.25, 0.5, -4.0]);
    assert_eq!(loops(&curves), 1);
    assert!((curves[0].length() - 8.0).abs() < 1e-12);
    let side_by_side = placed(&cube, &cube, [2.0, 0.0, 0.0]);
    let length: f64 = side_by_side.iter().map(Polyline::length).sum();
    assert!((length - 8.0).abs() < 1e-12, "{length}");
}

#[test]
fn any_heap_of_grid_triangles_has_all_its_crossings_in_its_curves() {
    use crate::num::random::bits;
    let (mut open, mut closed) = (0, 0);
    for seed in 0..60 {
        let soup = |from: u64| {
            let at = |k: u64| (bits(seed, from + k) % 4) as f64;
            let points = (0..12).map(|v| [at(3 * v), at(3 * v + 1), at(3 * v + 2)]).collect();
            let corner = |k: u64| (bits(seed, from + 100 + k) % 12) as u32;
            let triangles = (0..14).map(|t| [corner(3 * t), corner(3 * t + 1), corner(3 * t + 2)]).collect();
            model(Mesh::new(points, triangles))
        };
        let [a, b] = [soup(0), soup(1000)];
        let curves = placed(&a, &b, [0.0; 3]);
        let mut segments: Vec<([u32; 2], [DVec3; 2])> = vec![];
        for curve in &curves {
            let n = curve.points.len();
            let ends = |k: usize| [curve.points[k], curve.points[(k + 1) % n]];
            segments.extend(curve.pairs.iter().enumerate().map(|(k, &pair)| (pair, ends(k))));
            closed += usize::from(curve.closed);
            open += usize::from(!curve.closed);
        }
        let same = |[p, q]: [DVec3; 2], [s, t]: [DVec3; 2]| {
            let off = |s: DVec3, t: DVec3| (p - s).length() + (q - t).length();
            off(s, t).min(off(t, s)) < 1e-12
        };
        for i in 0..14 {
            for j in 0..14 {
                let told =
                    crossing(&a.mesh().corners(i), &b.mesh().corners(j)).map(|ends| ends.map(|e| e.point));
                let own: Vec<_> = segments.iter().filter(|(pair, _)| *pair == [i, j]).collect();
                assert!(own.len() <= 1);
                assert!(own.iter().all(|(_, ends)| told.is_some_and(|told| same(told, *ends))));
                // A segment along a shared edge is told by the smallest pair that has it.
                assert!(told.is_none_or(|told| segments.iter().any(|(_, ends)| same(told, *ends))));
            }
        }
    }
    assert!(open > 100 && closed > 5, "{open} open, {closed} closed");
}
