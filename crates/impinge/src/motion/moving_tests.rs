use std::f64::consts::{PI, TAU};

use glam::DQuat;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;

fn vector(rng: &mut Pcg64, size: f64) -> DVec3 {
    DVec3::from([(); 3].map(|()| rng.random_range(-size..size)))
}

fn pose(rng: &mut Pcg64, size: f64) -> Pose {
    let turn = [(); 4].map(|()| rng.random_range(-1.0..1.0));
    Pose::new(vector(rng, size).to_array(), turn).unwrap()
}

fn motion(rng: &mut Pcg64, size: f64) -> Motion {
    let from = pose(rng, size);
    match rng.random_range(0..6) {
        0 => Motion::velocity(&from, vector(rng, size), vector(rng, 9.0)).unwrap(),
        1 => Motion::between(
            &from,
            &Pose::turned(vector(rng, size), super::super::rigid_motion::quaternion(&from)),
        ),
        2 => Motion::screw(&from, &pose(rng, size), rng.random_range(0..4), Law::Contact),
        3 => Motion::Still(from),
        _ => Motion::screw(&from, &pose(rng, size), rng.random_range(0..4), Law::Uniform),
    }
}

fn close(a: &Pose, b: &Pose) -> f64 {
    let turn = (a.matrix() - b.matrix()).to_cols_array().iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    turn.max((a.translation() - b.translation()).length())
}

#[test]
fn a_motion_ends_where_it_should_and_its_velocity_is_its_derivative() {
    let mut rng = Pcg64::seed_from_u64(3);
    for _ in 0..500 {
        let moving = motion(&mut rng, 2.0);
        // Inside the step no end pose is handed out, so its formula shows.
        for (end, near) in [(0.0, 1e-12), (1.0, 1.0 - 1e-12)] {
            // The law of CONTACT is fast near a half turn.
            assert!(close(&moving.pose(end), &moving.pose(near)) < 1e-7, "{moving:?}");
        }
        let (t, h) = (rng.random_range(0.05..0.95), 1e-6);
        if moving.knots().iter().any(|k| (k - t).abs() < 2.0 * h) {
            continue;
        }
        let p = vector(&mut rng, 1.0);
        let [x, before, after] = [t, t - h, t + h].map(|t| moving.pose(t).apply(p));
        let found = moving.twist(t).velocity(x);
        let wanted = (after - before) / (2.0 * h);
        assert!((found - wanted).length() < 1e-5 * (1.0 + wanted.length()), "{moving:?} at {t}");
    }
}

#[test]
fn bounds_hold_what_points_do() {
    let mut rng = Pcg64::seed_from_u64(5);
    for case in 0..400 {
        let size = [1.0, 1e6, 1e-6][case % 3];
        let moving = motion(&mut rng, size);
        let ball = Ball { centre: vector(&mut rng, size), radius: rng.random_range(0.0..size) };
        let from = rng.random_range(0.0..0.9);
        let span = [from, rng.random_range(from..1.0)];
        let [low, high] = moving.swept_box(&ball, span);
        let speed = moving.speed(&ball, span);
        let mut knots = moving.knots();
        knots.retain(|k| span[0] < *k && *k < span[1]);
        let smooth = [knots.last().copied().unwrap_or(span[0]), span[1]];
        let n = vector(&mut rng, 1.0).normalize();
        let acceleration_bound = moving.acceleration_bound(&ball, smooth);
        let (most, along) = (acceleration_bound.most(), acceleration_bound.along(n));
        let noise = moving.rounding(&ball);
        for _ in 0..60 {
            let p = ball.centre + vector(&mut rng, 1.0).normalize() * ball.radius;
            let t = rng.random_range(span[0]..=span[1]);
            let x = moving.pose(t).apply(p);
            assert!(x.cmpge(low).all() && x.cmple(high).all(), "{moving:?} leaves its box at {t}");
            assert!(moving.twist(t).velocity(x).length() <= speed + noise);
            let s = rng.random_range(smooth[0]..=smooth[1]);
            let u = rng.random_range(smooth[0]..=smooth[1]);
            let change = moving.twist(u).velocity(moving.pose(u).apply(p))
                - moving.twist(s).velocity(moving.pose(s).apply(p));
            let room = 1e-12 * speed + noise;
            assert!(change.length() <= most * (u - s).abs() + room, "{moving:?}: {s} {u}");
            assert!(n.dot(change).abs() <= along * (u - s).abs() + room, "{moving:?} along {n}");
        }
        if case % 3 == 0 && span[1] - span[0] < 0.1 {
            let room = 2.0 * ball.radius + speed * (span[1] - span[0]) * 1.5 + 1e-9;
            assert!((high - low).max_element() < room, "{moving:?}: a loose box");
        }
    }
}

#[test]
fn the_shorter_way_is_taken_and_half_a_turn_has_its_own_axis() {
    let at = |axis: DVec3, angle: f64| Pose::turned(DVec3::ZERO, DQuat::from_axis_angle(axis, angle));
    let turn = |to: &Pose, turns: u32| match Motion::screw(&Pose::IDENTITY, to, turns, Law::Uniform) {
        Motion::Rigid(rigid) => rigid.turn(),
        Motion::Still(_) => (DVec3::ZERO, 0.0),
    };
    let (axis, angle) = turn(&at(DVec3::Z, 1.5 * PI), 0);
    assert!((axis + DVec3::Z).length() < 1e-14 && (angle - 0.5 * PI).abs() < 1e-14);
    for sign in [1.0, -1.0] {
        let (axis, angle) = turn(&at(DVec3::new(0.0, sign, 0.0), PI), 0);
        assert!((axis - DVec3::Y).length() < 1e-14 && angle == PI);
    }
    assert!((turn(&at(DVec3::X, 1.0), 2).1 - (1.0 + 2.0 * TAU)).abs() < 1e-14);
    assert_eq!(turn(&Pose::IDENTITY, 3), (DVec3::Z, 3.0 * TAU));
    assert_eq!(turn(&Pose::shift([0.0, -2.0, 0.0]), 1), (-DVec3::Y, TAU));
    assert_eq!(Motion::between(&Pose::IDENTITY, &Pose::IDENTITY), Motion::Still(Pose::IDENTITY));
}

#[test]
fn the_documents_law_runs_after_the_tangent_and_is_cut_near_its_pole() {
    let to = Pose::turned(3.0 * DVec3::Z, DQuat::from_axis_angle(DVec3::Z, 2.0));
    let moving = Motion::screw(&Pose::IDENTITY, &to, 0, Law::Contact);
    assert_eq!(moving.knots().len(), 1, "the tangent passes 1");
    let z = moving.pose(0.3).translation().z;
    assert!((z - 3.0 * 0.3_f64.tan() / 1.0_f64.tan()).abs() < 1e-14);
    let half = Pose::turned(3.0 * DVec3::Z, DQuat::from_axis_angle(DVec3::Z, PI));
    let cut = Motion::screw(&Pose::IDENTITY, &half, 0, Law::Contact);
    assert_eq!(cut.knots(), [0.5]);
    assert!((cut.pose(0.5).translation().z - 1.5).abs() < 1e-14);
}

#[test]
fn a_small_turn_with_a_large_shift_stays_sharp() {
    for angle in [1e-3, 1e-7, 1e-11, 1e-15] {
        let to = Pose::turned(DVec3::new(1.0, 2.0, 3.0), DQuat::from_axis_angle(DVec3::X, angle));
        let moving = Motion::between(&Pose::IDENTITY, &to);
        let half = moving.pose(0.5).translation();
        assert!((half - DVec3::new(0.5, 1.0, 1.5)).length() < angle + 1e-15, "{angle}: {half}");
        let ball = Ball { centre: DVec3::ZERO, radius: 1.0 };
        assert!(moving.rounding(&ball) < 1e-13);
        assert!(moving.acceleration_bound(&ball, [0.0, 1.0]).most() < 5.0 * angle);
    }
}
