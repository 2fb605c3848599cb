use std::f64::consts::TAU;

use glam::{DMat3, DQuat};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::geom::triangle_triangle;
use crate::narrow::continuous::mesh_sweep::sweep;
use crate::shape::Mesh;
use crate::{Counters, Pose};

fn moved(mesh: &Mesh, by: impl Fn(DVec3) -> DVec3) -> Model {
    let vertices = mesh.vertices().iter().map(|&p| by(p).to_array()).collect();
    Model::from(Mesh::new(vertices, mesh.triangles().to_vec()).unwrap())
}

/// A ring about z between two radii of its corners.
fn ring(radii: [f64; 2], half: f64, n: u32) -> Mesh {
    let corner = |k: u32, i: u32| {
        let (sin, cos) = (TAU * f64::from(i % n) / f64::from(n)).sin_cos();
        let (r, z) =
            ([radii[1], radii[0], radii[0], radii[1]][k as usize % 4], if k % 4 < 2 { -half } else { half });
        [r * cos, r * sin, z]
    };
    let vertices = (0..4).flat_map(|k| (0..n).map(move |i| (k, i))).map(|(k, i)| corner(k, i)).collect();
    let at = |k: u32, i: u32| (k % 4) * n + i % n;
    let quads = (0..4).flat_map(|k| (0..n).map(move |i| (k, i)));
    let triangles = quads
        .flat_map(|(k, i)| {
            let [p, q, r, s] = [at(k, i), at(k, i + 1), at(k + 1, i + 1), at(k + 1, i)];
            [[p, r, q], [p, s, r]]
        })
        .collect();
    Mesh::new(vertices, triangles).unwrap()
}

/// What shadows keep apart does not meet at any of many times, and they do keep something apart.
#[test]
fn shadows_never_hide_a_contact() {
    let mut rng = Pcg64Mcg::seed_from_u64(8);
    let (mut apart, mut meeting) = (0, 0);
    for k in 0..400 {
        let mut vector = |size: f64| DVec3::from([(); 3].map(|()| rng.random_range(-size..size)));
        let mut soup = || {
            let corners: Vec<[f64; 3]> = (0..4)
                .flat_map(|_| {
                    let centre = vector(1.0);
                    [(); 3].map(|()| (centre + vector(0.4)).to_array())
                })
                .collect();
            let triangles = (0..4).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
            Model::from(Mesh::new(corners, triangles).unwrap())
        };
        let models = [soup(), soup()];
        let turn = if k % 3 == 0 { 0.0 } else { 2.5 };
        let end = Pose::turned(vector(0.5), DQuat::from_axis_angle(vector(1.0).normalize(), turn));
        let motions = [Motion::Still(Pose::IDENTITY), Motion::between(&Pose::IDENTITY, &end)];
        let (models, motions) = ([&models[0], &models[1]], [&motions[0], &motions[1]]);
        let shadows = ScrewShadows::new(models, motions, 1e-14).unwrap();
        for (i, j) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))) {
            let meet = (0..=60).any(|step| {
                let poses = motions.map(|motion| motion.pose(f64::from(step) / 60.0));
                let corners =
                    |body: usize, t: u32| models[body].mesh().corners(t).map(|p| poses[body].apply(p));
                triangle_triangle::meet(&corners(0, i), &corners(1, j))
            });
            let never = shadows.triangles_never_meet([i, j]);
            assert!(!(never && meet), "{k} {i} {j}");
            apart += usize::from(never);
            meeting += usize::from(meet);
        }
    }
    assert!(apart > 1500 && meeting > 200, "{apart} {meeting}");
}

#[test]
fn rings_pegs_and_threads_are_free_at_little_cost_and_burrs_are_found() {
    let tilt = DMat3::from_quat(DQuat::from_xyzw(0.3, -0.2, 0.5, 0.8).normalize());
    let place = |p: DVec3| tilt * p + DVec3::new(3.0, -2.0, 1.0);
    let cost = |work: Counters| work.primitive_tests + work.volume_tests / 64;
    let about = |angle: f64, shift: f64| {
        let turn = DQuat::from_axis_angle(tilt * DVec3::Z, angle);
        let centre = DVec3::new(3.0, -2.0, 1.0);
        Motion::screw(
            &Pose::IDENTITY,
            &Pose::turned(centre - turn * centre + tilt * DVec3::Z * shift, turn),
            0,
            crate::Law::Uniform,
        )
    };
    let still = Motion::Still(Pose::IDENTITY);
    let n = 90;
    let open = 1.01 / (TAU / 2.0 / f64::from(n)).cos();
    let outer = moved(&ring([open, 1.4], 0.4, n), place);
    let inner = ring([0.7, 1.0], 0.4, n);
    let whole = moved(&inner, place);
    for motion in [about(2.0, 0.0), about(2.0, 0.3), about(0.0, 0.5)] {
        let found = sweep([&outer, &whole], [&still, &motion]);
        assert_eq!(found.impact, None);
        assert!(cost(found.outcome.work) < 20_000, "{:?}", found.outcome.work);
    }
    // A burr on one corner that reaches the outer ring: it is met when the ring has turned far enough, or at once.
    let mut vertices = inner.vertices().to_vec();
    vertices[5] *= 1.03;
    let burr = moved(
        &Mesh::new(vertices.iter().map(|p| p.to_array()).collect(), inner.triangles().to_vec()).unwrap(),
        place,
    );
    let found = sweep([&outer, &burr], [&still, &about(2.0, 0.0)]);
    assert!(found.impact.is_some_and(|hit| hit.proved));
}
