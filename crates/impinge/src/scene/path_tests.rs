use std::f64::consts::PI;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::Shape;
use crate::model::Model;
use crate::motion::{Joint, JointKind, Skeleton};
use crate::scene::{Body, Groups};
use crate::shape::{Polytope, Primitive, procedural};

const ROD: f64 = 0.02;

/// Three rods in a row along x, each 1 long, turning about z, y and z; a slide at the end.
fn arm(scene: &mut Scene, mesh: bool) -> Articulated {
    let axes = [DVec3::Z, DVec3::Y, DVec3::Z, DVec3::X];
    let joint = |k: usize| Joint {
        parent: k.checked_sub(1),
        kind: if k == 3 { JointKind::Prismatic } else { JointKind::Revolute },
        pivot: DVec3::X * k as f64,
        axis: axes[k],
        limits: [-PI, PI],
    };
    let skeleton = Skeleton::new((0..4).map(joint).collect()).unwrap();
    let rod = |k: usize| {
        // A little shorter than the way between the joints, so that only neighbours are near.
        let half = [if k == 3 { 0.1 } else { 0.45 }, ROD, ROD];
        let place = DVec3::X * (k as f64 + half[0] + 0.05);
        let mesh_of = procedural::cuboid(half, [1; 3]).unwrap();
        let moved = mesh_of.vertices().iter().map(|&p| p + place).collect();
        let moved = crate::Mesh::from_points(moved, mesh_of.triangles().to_vec()).unwrap();
        if mesh {
            Shape::from(Model::from(moved))
        } else {
            Shape::from(Polytope::hull(moved.vertices()).unwrap())
        }
    };
    let shapes: Vec<_> = (0..4).map(rod).collect();
    Articulated::add(scene, skeleton, &shapes, &Pose::IDENTITY, Groups::ALL).unwrap()
}

fn validate(arm: &Articulated, scene: &Scene, path: &[[f64; 4]]) -> PathCheck {
    let budget = &mut Budget::UNLIMITED.clone();
    arm.validate_path(scene, &Pose::IDENTITY, path, &PathOptions::default(), budget).unwrap()
}

/// The smallest distance of any pair that may hit, at a time of a segment.
fn apart(arm: &Articulated, scene: &Scene, ends: [&[f64; 4]; 2], t: f64) -> f64 {
    let chain = Chain { skeleton: arm.skeleton(), root: Pose::IDENTITY, waypoints: [ends[0], ends[1]] };
    let mut poses = Vec::new();
    chain.poses(t, &mut poses);
    let mut least = f64::INFINITY;
    for pair in pairs(arm, scene, true) {
        let shape = |id: BodyId| scene.body(id).unwrap().shape.geometry();
        let pose = match pair.other {
            Target::Link(j) => &poses[j],
            Target::Obstacle(_, pose, _) => pose,
        };
        let [a, b] = pair.bodies.map(shape);
        let found = dispatch::full_distance(
            &ShapePair::new([a, b], [&poses[pair.link], pose]),
            &mut KernelMemory::default(),
        );
        least = least.min(found.0.distance);
    }
    least
}

#[test]
fn a_thin_wall_that_samples_miss_is_found() {
    for mesh in [false, true] {
        let mut scene = Scene::default();
        let arm = arm(&mut scene, mesh);
        let free = validate(&arm, &scene, &[[0.0; 4], [PI / 2.0, 0.0, 0.0, 0.0]]);
        assert!(free.hit.is_none() && free.free_until == 1.0, "{free:?}");
        // A blade across the swing, at 41.85 of its 90 degrees: between two of a hundred samples.
        let blade = Shape::from(procedural::cuboid([0.08, 1e-4, 0.3], [1; 3]).unwrap());
        let turn = glam::DQuat::from_rotation_z(0.465 * PI / 2.0);
        let pose = Pose::turned(turn * (3.15 * DVec3::X), turn);
        let id = scene.add(Body::fixed(blade, pose));
        let path = [[0.0; 4], [PI / 2.0, 0.0, 0.0, 0.0]];
        let missed = (0..=100).all(|k| apart(&arm, &scene, [&path[0], &path[1]], f64::from(k) / 100.0) > 0.0);
        let found = validate(&arm, &scene, &path);
        let hit = found.hit.unwrap();
        assert!(missed && hit.bodies == [arm.links()[3], id] && hit.segment == 0, "{hit:?} {missed}");
        assert!(hit.time > 0.45 && hit.time < 0.465 && hit.distance <= 4e-6, "{hit:?}");
        assert!((hit.point.length() - 3.15).abs() < 0.2);
        // With the blade allowed, nothing is hit.
        assert!(arm.links().iter().all(|&link| scene.ignore([link, id], true)));
        assert!(validate(&arm, &scene, &path).hit.is_none());
    }
}

#[test]
fn dense_samples_agree() {
    let mut rng = Pcg64::seed_from_u64(21);
    let mut hits = 0;
    for round in 0..30 {
        let mut scene = Scene::default();
        let arm = arm(&mut scene, round % 3 == 0);
        for _ in 0..8 {
            let place = DVec3::from([(); 3].map(|()| rng.random_range(-2.5..2.5)));
            let shape = Primitive::sphere(rng.random_range(0.05..0.5)).unwrap();
            // None touches the arm at rest: it is about the way, not the start.
            if place.length() > 0.5 {
                scene.add(Body::fixed(shape, Pose::shift(place)));
            }
        }
        let mut waypoint = || [2.0, 1.5, 1.5, 0.4].map(|most: f64| rng.random_range(-most..most));
        let path = [waypoint(), waypoint(), waypoint()];
        let found = validate(&arm, &scene, &path);
        hits += usize::from(found.hit.is_some());
        let mut least = f64::INFINITY;
        'path: for segment in 0..2 {
            for k in 0..=400 {
                let t = f64::from(k) / 400.0;
                if segment as f64 + t >= found.free_until {
                    break 'path;
                }
                least = least.min(apart(&arm, &scene, [&path[segment], &path[segment + 1]], t));
            }
        }
        let [low, high] = found.clearance;
        assert!(least >= low - 1e-9, "round {round}: {least} {found:?}");
        match &found.hit {
            None => assert!(high >= least - 0.05 && found.free_until == 2.0, "{least} {high}"),
            Some(hit) => {
                let ends = [&path[hit.segment], &path[hit.segment + 1]];
                let there = apart(&arm, &scene, ends, hit.time);
                assert!(there <= hit.distance + 1e-9 && hit.distance <= 4e-6, "{there} {hit:?}");
                // Where the path starts in contact, another pair may be deeper.
                assert!(hit.time == 0.0 || there >= hit.distance - 1e-9, "{there} {hit:?}");
            }
        }
    }
    assert!((6..=24).contains(&hits), "{hits} of 30");
}

#[test]
fn links_hit_each_other_unless_told_otherwise() {
    let mut scene = Scene::default();
    let arm = arm(&mut scene, false);
    // The second rod is folded over the first, then the third is swung onto it.
    let path = [[0.0; 4], [0.0, PI, 0.0, 0.0], [0.0, PI, PI, 0.0]];
    let found = validate(&arm, &scene, &path);
    let hit = found.hit.unwrap();
    assert_eq!((hit.segment, hit.link, hit.bodies[1]), (1, 0, arm.links()[2]), "{hit:?}");
    let options = PathOptions { itself: false, ..PathOptions::default() };
    let run = |path: &[[f64; 4]], options: &PathOptions, budget: &mut Budget| {
        arm.validate_path(&scene, &Pose::IDENTITY, path, options, budget)
    };
    assert!(run(&path, &options, &mut Budget::UNLIMITED.clone()).unwrap().hit.is_none());
    let wide = PathOptions { clearance: 0.3, ..PathOptions::default() };
    let early = run(&path, &wide, &mut Budget::UNLIMITED.clone()).unwrap().hit.unwrap();
    assert!(early.segment == 0 && (early.distance - 0.3).abs() < 1e-4, "{early:?}");
    let short = run(&path, &PathOptions::default(), &mut Budget::units(5)).unwrap();
    assert!(short.outcome.finish == Finish::OutOfBudget && short.free_until < 1.1 && short.hit.is_none());
    assert!(run(&path[..1], &PathOptions::default(), &mut Budget::UNLIMITED.clone()).unwrap().hit.is_none());
    assert!(run(&[], &PathOptions::default(), &mut Budget::UNLIMITED.clone()).is_err());
    let wrong = [[0.0, f64::NAN, 0.0, 0.0]];
    assert!(run(&wrong, &PathOptions::default(), &mut Budget::UNLIMITED.clone()).is_err());
    let few = arm.validate_path(
        &scene,
        &Pose::IDENTITY,
        &[[0.0; 3]],
        &PathOptions::default(),
        &mut Budget::UNLIMITED.clone(),
    );
    assert!(few.is_err());
}

#[test]
fn what_is_no_length_and_what_no_joint_reaches_is_refused() {
    let mut scene = Scene::default();
    let arm = arm(&mut scene, false);
    let refusal = |path: &[[f64; 4]], clearance: f64, tolerance: Option<f64>| {
        let options = PathOptions { clearance, tolerance, itself: true };
        let budget = &mut Budget::UNLIMITED.clone();
        arm.validate_path(&scene, &Pose::IDENTITY, path, &options, budget).unwrap_err().to_string()
    };
    let rest = [[0.0; 4]];
    for clearance in [-5.0, f64::NAN, f64::INFINITY] {
        assert!(refusal(&rest, clearance, None).contains("clearance"));
    }
    for tolerance in [-1.0, f64::NAN] {
        assert!(refusal(&rest, 0.0, Some(tolerance)).contains("tolerance"));
    }
    let beyond = refusal(&[[0.0; 4], [0.0, 3.5, 0.0, 0.0]], 0.0, None);
    assert!(beyond.contains("waypoint 1: joint 1") && beyond.contains("3.5"), "{beyond}");
}
