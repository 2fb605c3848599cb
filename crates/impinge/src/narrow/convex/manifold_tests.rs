use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::super::polytope_distance::{WalkMemory, distance};
use super::*;

fn cube() -> Polytope {
    let corners = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from).into());
    Polytope::hull(&corners.collect::<Vec<DVec3>>()).unwrap()
}

fn patch(a: &Polytope, pose_a: &Pose, b: &Polytope, pose_b: &Pose, margin: f64) -> Manifold {
    let found = distance(a, pose_a, b, pose_b, &mut WalkMemory::default());
    manifold(a, pose_a, b, pose_b, &found, margin)
}

fn turned(angle: f64, at: [f64; 3]) -> Pose {
    Pose::new(at, [0.0, 0.0, (angle / 2.0).sin(), (angle / 2.0).cos()]).unwrap()
}

fn area(patch: &Manifold) -> f64 {
    let at = |i: usize| patch.points[i % patch.points.len()].points[1];
    let fan = (1..patch.points.len()).map(|i| (at(i) - at(0)).cross(at(i + 1) - at(0)));
    fan.sum::<DVec3>().dot(patch.normal).abs() / 2.0
}

#[test]
fn a_cube_on_a_cube_has_the_overlap_of_their_faces() {
    let cube = cube();
    for depth in [0.0, 0.01, -0.0005] {
        let found = patch(&cube, &Pose::IDENTITY, &cube, &Pose::shift([0.5, 0.25, 1.0 - depth]), 1e-3);
        assert_eq!((found.normal, found.points.len()), (DVec3::Z, 4), "{found:?}");
        assert!((area(&found) - 0.375).abs() < 1e-14);
        for p in &found.points {
            assert!((p.distance + depth).abs() < 1e-15);
            assert!((p.points[1] - p.points[0] - found.normal * p.distance).length() < 1e-15);
        }
        let names: Vec<_> = found.points.iter().map(|p| p.features).collect();
        assert!(names.iter().any(|f| matches!(f, [Feature::Vertex(_), Feature::Face(_)])), "{names:?}");
        assert!(names.iter().any(|f| matches!(f, [Feature::Face(_), Feature::Vertex(_)])), "{names:?}");
        assert_eq!(names.iter().filter(|f| matches!(f, [Feature::Edge(_), Feature::Edge(_)])).count(), 2);
    }
    let eighth = turned(std::f64::consts::FRAC_PI_4, [0.5, -0.2071067811865475, 1.0]);
    let found = patch(&cube, &Pose::IDENTITY, &cube, &eighth, 1e-3);
    assert_eq!(found.points.len(), 8, "an octagon: {found:?}");
    assert!(patch(&cube, &Pose::IDENTITY, &cube, &Pose::shift([0.0, 0.0, 1.1]), 0.01).points.is_empty());
}

#[test]
fn edges_corners_and_flat_bodies_have_few_points() {
    let cube = cube();
    let half = std::f64::consts::FRAC_1_SQRT_2;
    // Standing on an edge, turned so that it crosses the other's edge.
    let on_edge = Pose::new([0.0, 0.0, 0.0], [0.3826834323650898, 0.0, 0.0, 0.9238795325112867]).unwrap();
    let across = turned(std::f64::consts::FRAC_PI_2, [0.5, -0.4, half * 2.0]).compose(&on_edge);
    let crossing = patch(&cube, &on_edge, &cube, &across, 1e-3);
    assert_eq!(crossing.points.len(), 1, "{crossing:?}");
    assert!(matches!(crossing.points[0].features, [Feature::Edge(_), Feature::Edge(_)]), "{crossing:?}");
    // An edge along a face has two points, a corner on it one.
    let standing = Pose::new([0.2, 0.5, 1.0], [0.3826834323650898, 0.0, 0.0, 0.9238795325112867]).unwrap();
    assert_eq!(patch(&cube, &Pose::IDENTITY, &cube, &standing, 1e-3).points.len(), 2);
    let segment = Polytope::hull(&[DVec3::new(-1.0, 0.5, 1.0), DVec3::new(0.5, 0.5, 1.0)]).unwrap();
    let lying = patch(&cube, &Pose::IDENTITY, &segment, &Pose::IDENTITY, 1e-3);
    assert_eq!(lying.points.len(), 2, "{lying:?}");
    let point = Polytope::hull(&[DVec3::new(0.3, 0.5, 1.0)]).unwrap();
    assert_eq!(patch(&point, &Pose::IDENTITY, &cube, &Pose::IDENTITY, 1e-3).points.len(), 1);
    assert_eq!(patch(&point, &Pose::IDENTITY, &point, &Pose::IDENTITY, 1e-3).points.len(), 1);
}

#[test]
fn names_stay_through_small_motions_and_either_order() {
    let mut rng = Pcg64::seed_from_u64(71);
    let cube = cube();
    let names = |m: &Manifold| m.points.iter().map(|p| p.features).collect::<Vec<_>>();
    let rest = |x: f64, z: f64, angle: f64| turned(angle, [x, 0.21, z]);
    let first = names(&patch(&cube, &Pose::IDENTITY, &cube, &rest(0.4, 1.0, 0.3), 0.01));
    assert!(first.len() >= 4);
    for _ in 0..200 {
        let mut small = || rng.random_range(-1e-3..1e-3);
        let pose = rest(0.4 + small(), 1.0 + small(), 0.3 + small());
        let tilt = Pose::new([0.0; 3], [small(), small(), small(), 1.0]).unwrap();
        let found = patch(&cube, &Pose::IDENTITY, &cube, &pose.compose(&tilt), 0.01);
        assert_eq!(names(&found), first);
        let mut mirrored = patch(&cube, &pose, &cube, &Pose::IDENTITY, 0.01);
        mirrored.points.iter_mut().for_each(|p| p.features.swap(0, 1));
        assert_eq!(mirrored.points.len(), first.len());
    }
}
