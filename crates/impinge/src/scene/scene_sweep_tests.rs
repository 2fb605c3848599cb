use glam::DVec3;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::Shape;
use crate::narrow::continuous::sweep;
use crate::scene::{Body, Groups};
use crate::shape::{Primitive, procedural};

fn vector(rng: &mut Pcg64, size: f64) -> DVec3 {
    DVec3::from([(); 3].map(|()| rng.random_range(-size..size)))
}

fn shapes() -> Vec<Shape> {
    let meshes = [
        procedural::torus(0.7, 0.25, 10, 6).unwrap(),
        procedural::stairs(3, 0.4, 0.8, 0.3).unwrap(),
        procedural::gear(0.3, 0.6, 0.9, 0.3, 7).unwrap(),
    ];
    let mut all: Vec<Shape> = meshes.map(Shape::from).to_vec();
    all.push(Primitive::sphere(0.6).unwrap().into());
    all
}

fn crowd(rng: &mut Pcg64, bodies: usize, half: f64) -> (Scene, Vec<BodyId>) {
    let (shapes, mut scene) = (shapes(), Scene::default());
    let places =
        procedural::spheres(bodies, 1.0, DVec3::splat(-half), DVec3::splat(half), rng.random()).unwrap();
    let ids = places.iter().enumerate().map(|(i, &place)| {
        let turn = [(); 4].map(|()| rng.random_range(-1.0..1.0));
        let body = Body::moving(shapes[i % shapes.len()].clone(), Pose::new(place.to_array(), turn).unwrap());
        scene.add(body)
    });
    let ids = ids.collect();
    (scene, ids)
}

fn motions(rng: &mut Pcg64, scene: &Scene, ids: &[BodyId], way: f64) -> Vec<(BodyId, Motion)> {
    let motion = |(k, &id): (usize, &BodyId)| {
        let pose = scene.body(id).unwrap().pose;
        let motion = match k % 4 {
            0 => Motion::Still(pose),
            1 => {
                Motion::between(&pose, &Pose::new(vector(rng, 5.0).to_array(), [0.1, 0.7, 0.2, 0.4]).unwrap())
            }
            _ => Motion::velocity(&pose, vector(rng, way), vector(rng, 2.0)).unwrap(),
        };
        (id, motion)
    };
    ids.iter().enumerate().map(motion).collect()
}

fn unlimited() -> Budget {
    Budget::UNLIMITED
}

fn first(scene: &Scene, motions: &[(BodyId, Motion)], scene_sweep: &mut SceneSweep) -> Option<SceneImpact> {
    let found = scene.first_contact(motions, scene_sweep, &mut unlimited());
    assert_eq!(found.outcome.finish, Finish::Complete);
    assert_eq!(found.free_until, found.hit.map_or(1.0, |hit| hit.stop));
    found.hit
}

/// Every pair, without boxes and balls.
fn brute(scene: &Scene, motions: &[(BodyId, Motion)]) -> Option<(f64, [BodyId; 2])> {
    let mut first: Option<(f64, [BodyId; 2])> = None;
    for (j, (b, motion_b)) in motions.iter().enumerate() {
        for (a, motion_a) in &motions[..j] {
            let shapes = [*a, *b].map(|id| scene.body(id).unwrap().shape.geometry());
            let found = sweep(shapes, [motion_a, motion_b], &SweepOptions::DEFAULT);
            if let Some(impact) = found.impact.filter(|i| first.is_none_or(|(t, _)| i.time < t)) {
                first = Some((impact.time, [*a, *b]));
            }
        }
    }
    first
}

#[test]
fn the_first_contact_is_the_first_of_all_pairs() {
    let mut rng = Pcg64::seed_from_u64(4);
    let (mut hits, mut scene_sweep) = (0, SceneSweep::default());
    let (scene, ids) = crowd(&mut rng, 9, 4.0);
    for round in 0..40 {
        let motions = motions(&mut rng, &scene, &ids, 0.3 + 0.05 * f64::from(round));
        let (fast, slow) = (first(&scene, &motions, &mut scene_sweep), brute(&scene, &motions));
        assert_eq!(
            fast.is_some(),
            slow.is_some(),
            "round {round}: {fast:?} {:?}",
            fast.map(|m| m.bodies.map(|b| motions[b.index()]))
        );
        let (Some(fast), Some(slow)) = (fast, slow) else { continue };
        hits += 1;
        // Bounds from balls start a sweep later, so that it may end elsewhere within the tolerance.
        assert!((fast.impact.time - slow.0).abs() <= 2e-6, "round {round}: {fast:?} {slow:?}");
        assert!(fast.stop <= fast.impact.time);
        assert_eq!(first(&scene, &motions, &mut SceneSweep::default()).map(|m| m.bodies), Some(fast.bodies));
    }
    assert!((8..=32).contains(&hits), "{hits} of 40");
}

#[test]
fn a_body_that_turns_meets_the_next_and_stays_clear() {
    let wall = Shape::from(procedural::cuboid([0.01, 2.0, 2.0], [1; 3]).unwrap());
    let ball = Shape::from(procedural::ico_sphere(0.5, 1).unwrap());
    let mut scene = Scene::default();
    let at = |x: f64| Pose::shift([x, 0.0, 0.0]);
    let walls = [-3.0, 3.0].map(|x| scene.add(Body::fixed(wall.clone(), at(x))));
    let id = scene.add(Body::moving(ball, at(0.0)));
    let mut scene_sweep = SceneSweep::with_gap(0.01).unwrap();
    // Ninety lengths a step between walls five lengths apart: eighteen bounces.
    let mut speed = 90.0;
    scene_sweep.start(&scene, &[(id, Motion::velocity(&at(0.0), [speed, 0.0, 0.0], [0.0; 3]).unwrap())]);
    let (mut bounces, mut last) = (0, 0.0);
    while let Some(hit) = scene_sweep.first(&scene, &mut unlimited()).hit {
        assert_eq!(hit.bodies, [walls[usize::from(speed > 0.0)], id]);
        assert!(hit.stop >= last && hit.gap >= 0.01 && hit.gap < 0.03, "{hit:?}");
        last = hit.stop;
        speed = -speed;
        let pose = scene_sweep.pose(id, hit.stop).unwrap();
        assert!(pose.translation().x.abs() < 2.5);
        assert!(scene_sweep.turn(
            &scene,
            id,
            Motion::through(&pose, last, [speed, 0.0, 0.0], [0.0; 3]).unwrap()
        ));
        bounces += 1;
    }
    assert!((18..=19).contains(&bounces), "{bounces}");
    assert!(scene_sweep.pose(id, 1.0).unwrap().translation().x.abs() < 2.5);
}

#[test]
fn groups_rules_rest_and_removal_are_kept() {
    let ball = Shape::from(procedural::ico_sphere(0.5, 1).unwrap());
    let mut scene = Scene::default();
    let at = |x: f64| Pose::shift([x, 0.0, 0.0]);
    let [a, b, c] = [0.0, 3.0, 6.0].map(|x| scene.add(Body::moving(ball.clone(), at(x))));
    let mut scene_sweep = SceneSweep::default();
    let go = [(a, Motion::between(&at(0.0), &at(9.0)))];
    let first =
        |scene: &Scene, scene_sweep: &mut SceneSweep| first(scene, &go, scene_sweep).map(|m| m.bodies);
    assert_eq!(first(&scene, &mut scene_sweep), Some([a, b]));
    assert!(scene.ignore([a, b], true));
    assert_eq!(first(&scene, &mut scene_sweep), Some([a, c]));
    assert!(scene.set_groups(c, Groups::NONE));
    assert_eq!(first(&scene, &mut scene_sweep), None);
    assert!(scene.ignore([a, b], false));
    assert_eq!(first(&scene, &mut scene_sweep), Some([a, b]));
    scene.remove(b);
    assert_eq!(first(&scene, &mut scene_sweep), None);
    let idle = scene.first_contact(&[], &mut scene_sweep, &mut unlimited());
    assert_eq!((idle.hit, idle.free_until), (None, 1.0), "what rests meets nothing");
    assert!(!scene_sweep.turn(&scene, b, Motion::Still(Pose::IDENTITY)));
    assert_eq!(scene_sweep.pose(b, 0.0), None);
}

/// Cut short it says until when all is free, never later than the first contact; and in the end it finds it.
#[test]
fn a_budget_that_ends_leaves_a_time_that_is_free_and_calling_again_gets_on() {
    let mut rng = Pcg64::seed_from_u64(9);
    let (scene, ids) = crowd(&mut rng, 9, 4.0);
    let (mut hits, mut cuts) = (0, 0);
    for round in 0..24 {
        let motions = motions(&mut rng, &scene, &ids, 0.5 + 0.05 * f64::from(round));
        let truth = first(&scene, &motions, &mut SceneSweep::default());
        let none = scene.first_contact(&motions, &mut SceneSweep::default(), &mut Budget::units(0));
        assert_eq!((none.hit, none.outcome.finish), (None, Finish::OutOfBudget));
        for units in [1, 40, 3000] {
            let mut scene_sweep = SceneSweep::default();
            let mut found = scene.first_contact(&motions, &mut scene_sweep, &mut Budget::units(units));
            let (mut calls, mut last) = (1, 0.0);
            while found.outcome.finish == Finish::OutOfBudget {
                assert!(found.hit.is_none() && found.free_until >= last, "{found:?}");
                assert!(found.free_until <= truth.map_or(1.0, |m| m.impact.time + m.tolerance), "{found:?}");
                assert!(matches!(found.outcome.certainty, Certainty::Conservative { .. }));
                last = found.free_until;
                calls += 1;
                assert!(calls < 100_000, "it does not get on");
                found = scene_sweep.first(&scene, &mut Budget::units(units));
            }
            cuts += usize::from(calls > 1);
            assert_eq!(found.hit.map(|m| m.bodies), truth.map(|m| m.bodies));
            if let (Some(found), Some(truth)) = (found.hit, truth) {
                assert!((found.impact.time - truth.impact.time).abs() <= 2e-6, "{found:?} {truth:?}");
            }
        }
        hits += usize::from(truth.is_some());
    }
    assert!((6..=20).contains(&hits) && cuts > 40, "{hits} of 24, {cuts} cut short");
}

#[test]
fn a_gap_that_is_no_length_is_refused() {
    for gap in [f64::NAN, -0.1, f64::INFINITY] {
        assert!(SceneSweep::with_gap(gap).unwrap_err().to_string().contains("gap"));
    }
}

/// Points of a floor that turns have any speed, and those of one that rises no bound that is a number.
#[test]
fn a_floor_that_tilts_or_rises_stops_at_the_gap() {
    let mut scene = Scene::default();
    let floor = scene.add(Body::moving(Shape::half_space([0.0, 0.0, 1.0], 0.0).unwrap(), Pose::IDENTITY));
    scene.add(Body::fixed(Shape::sphere(0.5).unwrap(), Pose::shift([3.0, 0.0, 1.0])));
    let tilts = Motion::between(&Pose::IDENTITY, &Pose::new([0.0; 3], [0.0, -0.2, 0.0, 1.0]).unwrap());
    let rises = Motion::between(&Pose::IDENTITY, &Pose::shift([0.0, 0.0, 1.0]));
    for motion in [tilts, rises] {
        let found = first(&scene, &[(floor, motion)], &mut SceneSweep::with_gap(0.01).unwrap()).unwrap();
        assert!(found.gap >= 0.01 && found.stop < found.impact.time, "{found:?}");
        assert!(found.stop > 0.5 * found.impact.time, "stopped far from the contact: {found:?}");
    }
}

/// Two rings that stay close for the whole step: no call goes far beyond its budget, what is done is not done again, and
/// all of them end.
#[test]
fn interrupted_sweeps_go_on_where_they_were() {
    let mut scene = Scene::default();
    let ring = |inner: f64, outer: f64| {
        let corner = |r: f64, z: f64| glam::DVec2::new(r, z);
        let profile = [corner(inner, -0.2), corner(outer, -0.2), corner(outer, 0.2), corner(inner, 0.2)];
        Shape::from(procedural::lathe(&profile, 48).unwrap())
    };
    scene.add(Body::fixed(ring(1.0, 1.2), Pose::IDENTITY));
    let turning = scene.add(Body::moving(ring(0.8, 0.99), Pose::IDENTITY));
    let to = Pose::new([0.3e-3, 0.0, 0.0], [0.02, 0.01, 0.0, 1.0]).unwrap();
    let motions = [(turning, Motion::between(&Pose::IDENTITY, &to))];
    const ALL: u64 = 1 << 40;
    let mut budget = Budget::units(ALL);
    let whole = scene.first_contact(&motions, &mut SceneSweep::default(), &mut budget);
    assert_eq!(whole.outcome.finish, Finish::Complete);
    let drawn = ALL - budget.remaining().unwrap();
    let total = |work: &Counters| work.volume_tests + work.primitive_tests;
    let (mut sweep, mut most, mut before, mut calls) = (SceneSweep::default(), 0, 0, 1);
    let mut found = scene.first_contact(&motions, &mut sweep, &mut Budget::units(600));
    while found.outcome.finish == Finish::OutOfBudget {
        let so_far = total(&found.outcome.work);
        (most, before) = (most.max(so_far - before), so_far);
        assert!(calls < 10_000, "it does not get on");
        found = sweep.first(&scene, &mut Budget::units(600));
        calls += 1;
    }
    assert_eq!(
        (found.hit.map(|hit| hit.impact.time), found.free_until),
        (whole.hit.map(|hit| hit.impact.time), whole.free_until)
    );
    // Each of the sweeps that follow one another is tried for half of a call before it becomes a task.
    let most_calls = 4 * (drawn / 600 + 1);
    assert!(calls > 3 && calls < most_calls && most < 2_000, "{calls} calls of {most_calls}, at most {most}");
}
