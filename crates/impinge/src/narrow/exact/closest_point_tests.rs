use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::Mesh;
use crate::shape::procedural;

fn poses() -> [Pose; 4] {
    let mut skewed = [0.0; 16];
    (skewed[0], skewed[5], skewed[10], skewed[15]) = (1.00004, 0.99996, 1.0, 1.0);
    (skewed[1], skewed[3]) = (3e-5, 4e6);
    [
        Pose::IDENTITY,
        Pose::new([0.3, -2.0, 0.7], [0.1, 0.7, -0.3, 0.5]).unwrap(),
        Pose::new([1e6, -2e6, 3e6], [0.5, 0.1, 0.2, -0.4]).unwrap(),
        Pose::from_matrix(&skewed).unwrap(),
    ]
}

fn brute_force(model: &Model, pose: &Pose, p: DVec3) -> ClosestPoint {
    let search = Search::new(model, pose);
    let mut nearest = NearestTriangle::NONE;
    (0..model.mesh().triangles().len() as u32).for_each(|t| search.look_at(p, t, &mut nearest));
    search.answer(p, &nearest)
}

#[test]
fn agrees_with_every_triangle_looked_at() {
    let model = Model::from(procedural::torus(1.0, 0.4, 24, 12).unwrap());
    let mut kinds = [0; 3];
    for pose in poses() {
        let points: Vec<DVec3> = procedural::positions(300, DVec3::splat(-2.0), DVec3::splat(2.0), 4)
            .into_iter()
            .chain(model.mesh().vertices()[..20].iter().copied())
            .map(|p| pose.apply(p))
            .collect();
        let batch = closest_points(&model, &pose, &points);
        for (p, together) in points.iter().zip(batch) {
            let found = closest_point(&model, &pose, *p);
            assert_eq!(found, brute_force(&model, &pose, *p));
            assert_eq!(found, together);
            kinds[match found.feature {
                Feature::Vertex(_) => 0,
                Feature::Edge(_) => 1,
                _ => 2,
            }] += 1;
        }
    }
    assert!(kinds.iter().all(|&n| n > 50), "{kinds:?}");
}

#[test]
fn degenerate_triangles_and_single_ones() {
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 3.0, 1.0]];
    for triangles in [vec![[0, 1, 2]], vec![[3, 3, 3]], vec![[0, 0, 2], [3, 3, 3], [0, 1, 3], [1, 0, 3]]] {
        let model = Model::from(Mesh::new(corners.into(), triangles).unwrap());
        for p in procedural::positions(50, DVec3::splat(-1.0), DVec3::splat(4.0), 9) {
            assert_eq!(closest_point(&model, &Pose::IDENTITY, p), brute_force(&model, &Pose::IDENTITY, p));
        }
    }
}

#[test]
fn huge_and_tiny_meshes_answer_alike() {
    let unit = procedural::ico_sphere(1.0, 2).unwrap();
    let points = procedural::positions(40, DVec3::splat(-1.5), DVec3::splat(1.5), 5);
    let want = closest_points(&Model::from(unit.clone()), &Pose::IDENTITY, &points);
    for power in [-900, -300, -20, 20, 190] {
        let scale = 2f64.powi(power);
        let vertices = unit.vertices().iter().map(|p| *p * scale).collect();
        let model = Model::from(Mesh::from_points(vertices, unit.triangles().to_vec()).unwrap());
        let scaled: Vec<DVec3> = points.iter().map(|p| *p * scale).collect();
        for (near, want) in closest_points(&model, &Pose::IDENTITY, &scaled).iter().zip(&want) {
            assert!((near.distance / scale - want.distance).abs() < 1e-14, "2^{power}");
        }
    }
}

#[test]
fn a_far_point_finds_the_nearest_side() {
    let model = Model::from(procedural::ico_sphere(1.0, 3).unwrap());
    for far in [1e3, 1e9, 1e30, 1e60] {
        let near = closest_point(&model, &Pose::IDENTITY, DVec3::new(0.0, far, 0.0));
        let brute = brute_force(&model, &Pose::IDENTITY, DVec3::new(0.0, far, 0.0));
        assert_eq!(near, brute);
    }
}

#[test]
fn a_large_mesh_agrees_too() {
    let fine = procedural::blob(1.0, 0.4, 5, 5).unwrap();
    let coarse = procedural::octahedron(0.3).unwrap();
    let model = Model::from(procedural::join([&fine, &coarse]).unwrap());
    let pose = Pose::new([0.3, -2.0, 0.7], [0.1, 0.7, -0.3, 0.5]).unwrap();
    let points = procedural::positions(60, DVec3::splat(-2.5), DVec3::splat(2.5), 4);
    for (p, found) in points.iter().zip(closest_points(&model, &pose, &points)) {
        assert_eq!(found, brute_force(&model, &pose, *p));
    }
}

/// Triangles of all shapes: ordinary, duplicated, slivers, segments, points, and far larger ones.
fn soup(rng: &mut Pcg64, count: usize, scale: f64) -> Mesh {
    let mut vertices: Vec<DVec3> = Vec::new();
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    let point = |rng: &mut Pcg64| DVec3::from_array(std::array::from_fn(|_| rng.random_range(-1.0..1.0)));
    for k in 0..count {
        let (a, u, v) = (point(rng), point(rng) * 0.1, point(rng) * 0.1);
        let corners = match k % 6 {
            0 | 1 => [a, a + u, a + v],
            2 => [a, a + u, a + u * 0.4 + v * 1e-9],
            3 => [a, a + u, a + u],
            4 => [a, a + u * 1e-8, a + v * 1e-8],
            _ => [a, a + u * 30.0, a + v * 30.0],
        };
        let base = vertices.len() as u32;
        vertices.extend(corners.map(|p| p * scale));
        triangles.push([base, base + 1, base + 2]);
        if k % 7 == 0 {
            triangles.push([base + 1, base, base + 2]);
        }
    }
    Mesh::from_points(vertices, triangles).unwrap()
}

#[test]
fn soups_of_ill_shaped_triangles_agree_to_the_bit() {
    let mut rng = Pcg64::seed_from_u64(9);
    let mut ties = 0;
    for count in [1, 5, 16, 17, 300, 1500] {
        for scale in [1.0, 1e-120, 1e-6, 1e6, 1e55] {
            let model = Model::from(soup(&mut rng, count, scale));
            let turn = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
            for pose in [Pose::IDENTITY, Pose::new([3.0 * scale, -scale, 0.5 * scale], turn).unwrap()] {
                let mut points =
                    procedural::positions(40, DVec3::splat(-2.0), DVec3::splat(2.0), count as u64);
                points.iter_mut().for_each(|p| *p *= scale);
                points.extend(model.mesh().vertices().iter().take(10));
                points.iter_mut().for_each(|p| *p = pose.apply(*p));
                for (p, together) in points.iter().zip(closest_points(&model, &pose, &points)) {
                    let found = closest_point(&model, &pose, *p);
                    assert_eq!(found, brute_force(&model, &pose, *p), "{count} {scale}");
                    assert_eq!(found, together);
                    ties += usize::from(found.distance == 0.0);
                }
            }
        }
    }
    assert!((100..600).contains(&ties), "{ties}");
}

#[test]
fn many_scattered_points_get_their_own_answers_back() {
    let model = Model::from(procedural::blob(1.0, 0.4, 4, 5).unwrap());
    let pose = Pose::new([0.3, -2.0, 0.7], [0.1, 0.7, -0.3, 0.5]).unwrap();
    let points = procedural::positions(3000, DVec3::splat(-2.5), DVec3::splat(2.5), 4);
    for (p, found) in points.iter().zip(closest_points(&model, &pose, &points)) {
        assert_eq!(found, closest_point(&model, &pose, *p));
    }
}

/// Patches whose areas are too small for squares in f32, and points that are no numbers.
#[test]
fn tiny_patches_are_measured_and_no_numbers_do_no_harm() {
    for edge in [1e-8, 1e-10, 2e-11, 5e-12, 3e-12, 2e-12, 1e-12, 1e-13, 1e-22] {
        // A disc about the tree's origin, a few large triangles around.
        let mut vertices = vec![[0.0; 3]];
        let mut triangles: Vec<[u32; 3]> = (0..16).map(|k| [0, 1 + k, 1 + (k + 1) % 16]).collect();
        for k in 0..16 {
            let (sin, cos) = (f64::from(k) * std::f64::consts::TAU / 16.0).sin_cos();
            vertices.push([0.0, edge * cos, edge * sin]);
        }
        for k in 0..48 {
            let (x, z) = (if k % 3 == 0 { -0.9 } else { 0.85 }, f64::from(k - 24) / 60.0);
            let first = vertices.len() as u32;
            vertices.extend([[x, -0.3, z], [x, 0.3, z + 0.05], [x * 1.05, 0.3, z]]);
            triangles.push([first, first + 1, first + 2]);
        }
        let model = Model::from(Mesh::new(vertices, triangles).unwrap());
        for x in [0.3, 0.4, 0.41, 0.42, 0.43, 0.5] {
            let p = DVec3::new(x, 0.0, 0.0);
            let found = closest_point(&model, &Pose::IDENTITY, p);
            assert_eq!(found.distance, brute_force(&model, &Pose::IDENTITY, p).distance, "{edge:e}, {x}");
        }
        for x in [f64::NAN, f64::INFINITY] {
            assert!(!(closest_point(&model, &Pose::IDENTITY, DVec3::splat(x)).distance < 1e300));
        }
    }
}
