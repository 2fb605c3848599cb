//! Bodies that are carried nearly together by a turn.

use glam::{DQuat, DVec3};

use super::SweepOptions;
use super::answer::Sweep;
use super::shape_sweep::sweep;
use crate::model::Geometry;
use crate::shape::{Primitive, procedural};
use crate::{Motion, Pose};

/// A body that begins at `start`, carried by a screw about an axis through `centre`.
fn carried(start: &Pose, [axis, centre]: [DVec3; 2], angle: f64, shift: f64) -> Motion {
    let turn = DQuat::from_axis_angle(axis, angle);
    let place = centre + turn * (start.translation() - centre) + axis * shift;
    let turned = turn * DQuat::from_mat3(&start.rotation());
    Motion::between(start, &Pose::turned(place, turned.normalize()))
}

fn units(found: &Sweep) -> u64 {
    found.outcome.work.primitive_tests + found.outcome.work.volume_tests
}

/// Pairs of bodies of which each is 1 wide along x.
fn bodies() -> [Geometry; 4] {
    [
        procedural::cuboid([0.5; 3], [1; 3]).unwrap().into(),
        procedural::cuboid([0.5; 3], [8; 3]).unwrap().into(),
        Primitive::cuboid([0.5; 3]).unwrap().into(),
        Primitive::cylinder(0.5, 0.5).unwrap().into(),
    ]
}

#[test]
fn issue_015_bodies_carried_together_take_little_work() {
    let axes =
        [[DVec3::Z, DVec3::ZERO], [DVec3::new(0.3, -0.7, 0.2).normalize(), DVec3::new(0.4, 1.0, -2.0)]];
    let all = bodies();
    for (k, gap) in [1e-4, 1e-6].into_iter().enumerate() {
        for (axis, angle, shift) in [(axes[0], 1.0, 0.0), (axes[1], 2.5, 0.7), (axes[1], 0.05, -0.3)] {
            for (i, a) in all.iter().enumerate() {
                for (j, b) in all.iter().enumerate() {
                    let frame = DQuat::from_scaled_axis(DVec3::new(0.1, 0.2 * k as f64, 0.3));
                    let starts = [0.0, 1.0 + gap]
                        .map(|x| Pose::turned(DVec3::new(1.0, 0.5, 0.0) + frame * DVec3::X * x, frame));
                    let motions = starts.map(|start| carried(&start, axis, angle, shift));
                    let found = sweep([a, b], [&motions[0], &motions[1]], &SweepOptions::DEFAULT);
                    assert_eq!(found.impact, None, "{i} {j} {gap} {angle}");
                    // Some tests for each of the triangles that face each other, and next to none for convex shapes.
                    let facing = [a, b].map(|shape| match shape {
                        Geometry::Mesh(model) => model.mesh().triangles().len() as u64,
                        _ => 1,
                    });
                    let most = 200 + 40 * (facing[0] + facing[1]);
                    assert!(units(&found) < most, "{i} {j} {gap} {angle}: {} of {most}", units(&found));
                }
            }
        }
    }
}

/// Bodies carried a little differently meet when they do without what they share: one turns against the other by the
/// difference of the angles.
#[test]
fn issue_015_bodies_carried_a_little_differently_meet_in_time() {
    let all = bodies();
    let axis = [DVec3::new(0.2, 0.1, 1.0).normalize(), DVec3::new(-0.3, 0.2, 0.1)];
    let frame = DQuat::from_rotation_arc(DVec3::Z, axis[0]);
    for (gap, more) in [(1e-4, 2e-4), (1e-6, 1e-5), (1e-6, 5e-7), (1e-3, 1.2e-3)] {
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            // Beside each other around the axis, flat sides at x = 0 and x = gap.
            let start = |x: f64| Pose::turned(axis[1] + frame * DVec3::new(x, 3.0, 0.0), frame);
            let [left, right] = [start(-0.5), start(0.5 + gap)];
            let first = carried(&left, axis, 1.5, 0.4);
            let drifting = carried(&right, axis, 1.5 + more, 0.4);
            let found = sweep([a, b], [&first, &drifting], &SweepOptions::DEFAULT);
            // The same as seen from the first body, which rests.
            let alone = carried(&right, axis, more, 0.0);
            let still = Motion::Still(left);
            let truth = sweep([a, b], [&still, &alone], &SweepOptions::DEFAULT);
            match (found.impact, truth.impact) {
                (Some(hit), Some(want)) => {
                    let early = found.earliness().max(truth.earliness()).max(2e-6);
                    assert!((hit.time - want.time).abs() <= early, "{gap} {more}: {hit:?} {want:?}");
                    // Never late: just after the true time they do meet.
                    let soon = want.time + truth.earliness();
                    assert!(hit.time <= soon, "{hit:?} {want:?}");
                }
                (None, None) => {}
                (hit, want) => panic!("{gap} {more}: {hit:?} {want:?}"),
            }
            assert!(units(&found) < 400_000, "{}", units(&found));
        }
    }
}
