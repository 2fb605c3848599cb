use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::Mesh;

/// A box of unit cubes with all diagonals one way; the surface is closed.
fn cube(low: [f64; 3], size: f64) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let points = (0..8).map(|i| [0, 1, 2].map(|k| low[k] + size * f64::from(i >> k & 1))).collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    (points, quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect())
}

fn cubes(parts: &[([f64; 3], f64, bool)]) -> Model {
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for &(low, size, inverted) in parts {
        let (p, t) = cube(low, size);
        let base = points.len() as u32;
        points.extend(p);
        triangles.extend(t.iter().map(|&[a, b, c]| {
            if inverted { [base + a, base + c, base + b] } else { [base + a, base + b, base + c] }
        }));
    }
    Model::from(Mesh::new(points, triangles).unwrap())
}

#[test]
fn nested_overlapping_and_inverted_cubes_at_every_grid_point() {
    let parts = [
        ([0.0; 3], 6.0, false),
        ([1.0; 3], 2.0, true),
        ([4.0, 4.0, 4.0], 4.0, false),
        ([4.0, 4.0, 4.0], 4.0, false),
    ];
    let model = cubes(&parts);
    let mut seen = [0; 5];
    for i in 0..21 * 21 * 21 {
        let p = DVec3::new(f64::from(i % 21), f64::from(i / 21 % 21), f64::from(i / 441)) * 0.5 - 1.0;
        let mut want = Winding::Off(0);
        for (low, size, inverted) in parts {
            let offset = p - DVec3::from(low);
            let reach = offset.min_element().min((DVec3::splat(size) - offset).min_element());
            match want {
                _ if reach == 0.0 => want = Winding::OnSurface { of_solid: true },
                Winding::Off(n) if reach > 0.0 => want = Winding::Off(n + if inverted { -1 } else { 1 }),
                _ => {}
            }
        }
        assert_eq!(winding(&model, &Pose::IDENTITY, p), want, "{p}");
        seen[match want {
            Winding::OnSurface { .. } => 4,
            Winding::Off(n) => n as usize,
        }] += 1;
    }
    assert!(seen.iter().all(|&n| n > 20), "{seen:?}");
}

#[test]
fn agrees_with_solid_angles_under_any_pose() {
    let mut rng = Pcg64::seed_from_u64(1);
    let model = cubes(&[([0.0; 3], 2.0, false), ([1.0; 3], 2.0, true), ([0.5; 3], 3.0, false)]);
    let mut inside = 0;
    for _ in 0..2_000 {
        let turn = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
        let pose = Pose::new([1e3, -7.0, 0.1], turn).unwrap();
        let p = pose.apply(DVec3::from_array(std::array::from_fn(|_| rng.random_range(-0.5..4.0))));
        let angle = solid_angle_winding(&model, &pose, p);
        let Winding::Off(number) = winding(&model, &pose, p) else { continue };
        assert!((angle - f64::from(number)).abs() < 1e-6, "{angle} {number}");
        inside += usize::from(number != 0);
    }
    assert!((400..1_600).contains(&inside), "{inside}");
}

#[test]
fn a_single_open_triangle_sees_half_the_sky() {
    let triangle = Mesh::new(vec![[-1e6, -1e6, 0.0], [1e6, -1e6, 0.0], [0.0, 2e6, 0.0]], vec![[0, 1, 2]]);
    let model = Model::from(triangle.unwrap());
    let half = solid_angle_winding(&model, &Pose::IDENTITY, DVec3::new(0.0, 0.0, -1e-3));
    assert!((half - 0.5).abs() < 1e-6, "{half}");
    assert!(matches!(winding(&model, &Pose::IDENTITY, DVec3::ZERO), Winding::OnSurface { .. }));
}

#[test]
fn tiny_and_huge_bodies() {
    for size in [1e-300, 1e-160, 1e-6, 1e6, 1e59] {
        let model = cubes(&[([-size / 2.0; 3], size, false)]);
        assert_eq!(winding(&model, &Pose::IDENTITY, DVec3::ZERO), Winding::Off(1));
        assert_eq!(winding(&model, &Pose::IDENTITY, DVec3::splat(size / 4.0)), Winding::Off(1));
        assert_eq!(
            winding(&model, &Pose::IDENTITY, DVec3::X * size / 2.0),
            Winding::OnSurface { of_solid: true }
        );
        let beside = DVec3::X * (size / 2.0).next_up();
        assert_eq!(winding(&model, &Pose::IDENTITY, beside), Winding::Off(0));
    }
}

#[test]
fn a_double_sheet_bounds_nothing_wherever_it_hangs() {
    // A cube with a double sheet that stands out from one edge, and another within.
    let (mut points, mut triangles) = cube([0.0; 3], 2.0);
    points.extend([[4.0, 0.0, 0.0], [1.0, 1.0, 0.5], [1.0, 1.5, 1.0], [1.0, 0.5, 1.0]]);
    for [a, b, c] in [[0, 1, 8], [9, 10, 11], [1, 5, 8]] {
        triangles.extend([[a, b, c], [a, c, b]]);
    }
    let model = Model::from(Mesh::new(points, triangles).unwrap());
    assert!(model.topology().is_closed());
    let turn = Pose::new([0.0; 3], [0.5, 0.5, 0.5, 0.5]).unwrap();
    for pose in [Pose::IDENTITY, Pose::shift([3.0, 1.0, -7.0]), turn] {
        let at = |p: [f64; 3]| winding(&model, &pose, pose.apply(p.into()));
        let surface = |of_solid| Winding::OnSurface { of_solid };
        // In the sheet, on its border, where two sheets meet and at its tip.
        for p in [[3.0, 0.0, 0.5], [3.0, 0.0, 0.0], [4.0, 0.0, 0.0]] {
            assert_eq!(at(p), surface(false), "{p:?}");
        }
        // Where it meets the cube, on the cube, and on the sheet within.
        for p in [[2.0, 0.0, 0.0], [2.0, 0.0, 1.0], [2.0, 0.0, 2.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.75]] {
            assert_eq!(at(p), surface(true), "{p:?}");
        }
        assert_eq!(at([3.0, 0.1, 0.5]), Winding::Off(0));
        assert_eq!(at([1.1, 1.0, 0.75]), Winding::Off(1));
    }
}
