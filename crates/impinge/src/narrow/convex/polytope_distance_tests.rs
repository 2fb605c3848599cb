use glam::DVec3;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::super::brute::signed_distance;
use super::*;
use crate::contact::Feature;

fn random_point(rng: &mut Pcg64) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|_| rng.random_range(-1.0..1.0)))
}

fn random_body(rng: &mut Pcg64, count: usize) -> Polytope {
    Polytope::hull(&(0..count).map(|_| random_point(rng)).collect::<Vec<_>>()).unwrap()
}

fn random_pose(rng: &mut Pcg64, spread: f64) -> Pose {
    let q: [f64; 4] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
    Pose::new((random_point(rng) * spread).into(), q).unwrap()
}

fn cube() -> Polytope {
    let corners = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from).into());
    Polytope::hull(&corners.collect::<Vec<DVec3>>()).unwrap()
}

/// A slow turn and drift, through contact and out of it.
fn small_motion(rng: &mut Pcg64, size: f64) -> Pose {
    let q = random_point(rng) * size;
    Pose::new((random_point(rng) * size).into(), [q.x, q.y, q.z, 1.0]).unwrap()
}

#[test]
fn a_motion_through_contact_is_followed_with_few_steps() {
    let mut rng = Pcg64::seed_from_u64(51);
    let (mut overlaps, mut work) = (0, WalkWork::default());
    for _ in 0..40 {
        let (a, b) = (random_body(&mut rng, 20), random_body(&mut rng, 20));
        let pose_a = random_pose(&mut rng, 0.5);
        let mut pose_b = random_pose(&mut rng, 1.5);
        let mut memory = WalkMemory::default();
        for frame in 0..50 {
            pose_b = pose_b.compose(&small_motion(&mut rng, 0.02));
            let found = distance(&a, &pose_a, &b, &pose_b, &mut memory);
            let want = signed_distance(&a, &pose_a, &b, &pose_b);
            assert!((found.distance - want).abs() < 1e-13, "frame {frame}: {} {want}", found.distance);
            overlaps += usize::from(want < 0.0);
        }
        let more = memory.work();
        work += more;
        assert_eq!(more.exhausted, 0);
    }
    assert!((400..1600).contains(&overlaps), "{overlaps} of 2000 overlap");
    assert!(work.steps < 2 * work.queries, "{work:?}");
    assert!(work.corners < 8 * work.depths, "{work:?}");
}

#[test]
fn forgetting_costs_no_answer() {
    let mut rng = Pcg64::seed_from_u64(52);
    let bodies: Vec<Polytope> = (1..24).map(|count| random_body(&mut rng, count)).collect();
    // One memory for all pairs: its features belong to other bodies, or exist in none.
    let mut shared = WalkMemory::default();
    for round in 0..600 {
        let pick = |rng: &mut Pcg64| rng.random_range(0..bodies.len());
        let (a, b) = (&bodies[pick(&mut rng)], &bodies[pick(&mut rng)]);
        let (pose_a, pose_b) = (random_pose(&mut rng, 0.7), random_pose(&mut rng, 0.7));
        let kept = distance(a, &pose_a, b, &pose_b, &mut shared);
        let fresh = distance(a, &pose_a, b, &pose_b, &mut WalkMemory::default());
        let mirrored = distance(b, &pose_b, a, &pose_a, &mut WalkMemory::default());
        for other in [fresh.distance, mirrored.distance] {
            assert!((kept.distance - other).abs() < 1e-13, "{round}: {kept:?} {other}");
        }
    }
}

#[test]
fn cubes_on_cubes() {
    let cube = cube();
    let at = |x: f64, y: f64, z: f64| {
        let pose = Pose::shift([x, y, z]);
        distance(&cube, &Pose::IDENTITY, &cube, &pose, &mut WalkMemory::default())
    };
    let parallel_faces = at(0.3, 0.4, 1.5);
    assert_eq!((parallel_faces.distance, parallel_faces.normal), (0.5, DVec3::Z));
    assert_eq!((at(0.3, 0.4, 1.0).distance, at(0.3, 0.4, 1.0).normal), (0.0, DVec3::Z));
    assert_eq!(at(1.0, 1.0, 1.0).distance, 0.0, "corner on corner");
    assert_eq!(at(1.0, 1.0, 0.2).distance, 0.0, "edge on edge");
    let same = at(0.0, 0.0, 0.0);
    assert_eq!((same.distance, same.normal.abs().max_element()), (-1.0, 1.0));
    let corners = at(2.0, 2.0, 3.0);
    assert_eq!((corners.distance, corners.features), (6f64.sqrt(), [Feature::Vertex(7), Feature::Vertex(0)]));
    let edges = at(2.0, 0.5, 2.0);
    assert_eq!(edges.distance, 2f64.sqrt());
    assert!((edges.points[1] - edges.points[0] - edges.normal * edges.distance).length() < 1e-15);
}

#[test]
fn poses_that_stretch_are_taken_as_given() {
    let cube = cube();
    let mut matrix = [0.0; 16];
    (matrix[0], matrix[5], matrix[10], matrix[15]) = (1.00001, 0.99999, 1.0, 1.0);
    matrix[3] = 2.0;
    let stretched = Pose::from_matrix(&matrix).unwrap();
    let found = distance(&cube, &stretched, &cube, &Pose::IDENTITY, &mut WalkMemory::default());
    assert_eq!((found.distance, found.normal), (1.0, -DVec3::X));
    let found = distance(&cube, &Pose::IDENTITY, &cube, &stretched, &mut WalkMemory::default());
    assert_eq!(found.distance, 1.0);
    matrix[3] = -2.0;
    let stretched = Pose::from_matrix(&matrix).unwrap();
    let found = distance(&cube, &Pose::IDENTITY, &cube, &stretched, &mut WalkMemory::default());
    assert!((found.distance - (1.0 - 0.00001)).abs() < 1e-15, "{}", found.distance);
}

/// Boxes of whole numbers far from the origin: distances and depths are those near it, to the last digit but a few, in
/// either order.
#[test]
fn issue_015_far_hulls_keep_the_digits_of_their_distance() {
    let mut rng = Pcg64::seed_from_u64(15);
    let mut overlaps = 0;
    for _ in 0..300 {
        let mut body = |far: DVec3, from: [i32; 3]| {
            let points: Vec<DVec3> = (0..10)
                .map(|_| DVec3::from([0, 1, 2].map(|i| f64::from(from[i] + rng.random_range(0..8)))))
                .collect();
            [DVec3::ZERO, far]
                .map(|by| Polytope::hull(&points.iter().map(|&p| p + by).collect::<Vec<_>>()).unwrap())
        };
        let far = DVec3::new(1e7, -3e7, 2e7);
        let ([a, far_a], [b, far_b]) = (body(far, [0; 3]), body(far, [2, 3, 4]));
        let still = Pose::IDENTITY;
        let ask =
            |a: &Polytope, b: &Polytope| distance(a, &still, b, &still, &mut WalkMemory::default()).distance;
        let near = ask(&a, &b);
        overlaps += i32::from(near < 0.0);
        for found in [ask(&b, &a), ask(&far_a, &far_b), ask(&far_b, &far_a)] {
            assert!((found - near).abs() <= 1e-12, "{found} {near}");
        }
    }
    assert!((60..290).contains(&overlaps), "{overlaps}");
}
