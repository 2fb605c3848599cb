use glam::{DQuat, DVec3};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::model::{Cloud, Compound};
use crate::narrow::dispatch::full_distance;
use crate::narrow::kernel_memory::KernelMemory;
use crate::narrow::shape_pair::ShapePair;
use crate::shape::{Polytope, procedural};

fn shapes() -> Vec<Geometry> {
    let ball = Convex::from(Primitive::sphere(0.25).unwrap());
    let places = [DVec3::ZERO, DVec3::X * 0.5, DVec3::new(0.2, -0.6, 0.3)];
    let compound = Compound::new(places.map(|p| (ball.clone(), Pose::shift(p)))).unwrap();
    vec![
        Primitive::sphere(0.4).unwrap().into(),
        Primitive::cuboid([0.3, 0.5, 0.2]).unwrap().into(),
        Primitive::capsule(0.2, 0.5).unwrap().into(),
        Primitive::cylinder(0.3, 0.5).unwrap().into(),
        Primitive::cone(0.5, 0.4).unwrap().into(),
        Primitive::ellipsoid([0.2, 0.4, 0.7]).unwrap().into(),
        Primitive::triangle([DVec3::X, DVec3::Y, DVec3::Z]).unwrap().into(),
        Primitive::segment([DVec3::X, -DVec3::Y]).unwrap().into(),
        Polytope::hull(procedural::blob(0.5, 0.3, 2, 9).unwrap().vertices()).unwrap().into(),
        compound.into(),
        Primitive::half_space([0.2, 0.1, 1.0], -0.6).unwrap().into(),
        procedural::cuboid([0.5, 0.4, 0.3], [1; 3]).unwrap().into(),
        procedural::torus(0.5, 0.15, 10, 6).unwrap().into(),
    ]
}

fn vector(rng: &mut Pcg64, size: f64) -> DVec3 {
    DVec3::from([(); 3].map(|()| rng.random_range(-size..size)))
}

fn motion(rng: &mut Pcg64) -> Motion {
    let turn = |rng: &mut Pcg64| [(); 4].map(|()| rng.random_range(-1.0..1.0));
    let from = Pose::new(vector(rng, 1.2).to_array(), turn(rng)).unwrap();
    match rng.random_range(0..4) {
        0 => Motion::Still(from),
        1 => Motion::velocity(&from, vector(rng, 2.0), vector(rng, 5.0)).unwrap(),
        2 => Motion::between(&from, &Pose::new(vector(rng, 1.2).to_array(), turn(rng)).unwrap()),
        _ => Motion::velocity(&from, vector(rng, 2.0), DVec3::ZERO).unwrap(),
    }
}

/// How deep the shapes are in each other, or how far apart; a mesh that is inside a solid counts as met.
fn apart(shapes: [&Geometry; 2], motions: &[Motion; 2], t: f64) -> f64 {
    let poses = [motions[0].pose(t), motions[1].pose(t)];
    let pair = ShapePair::new(shapes, [&poses[0], &poses[1]]);
    let found = full_distance(&pair, &mut KernelMemory::default()).0.distance;
    let inside = |k: usize| {
        let (Geometry::Mesh(model), Geometry::Convex(convex)) = (shapes[k], shapes[1 - k]) else {
            return false;
        };
        let point = poses[k].apply(model.mesh().corners(0)[0]);
        crate::narrow::convex::relation::point_in(convex, &poses[1 - k], point).1
    };
    if inside(0) || inside(1) { found.min(0.0) } else { found }
}

#[test]
fn no_contact_of_any_two_kinds_is_missed() {
    let mut rng = Pcg64::seed_from_u64(11);
    let shapes = shapes();
    let mut hits = 0;
    let mut cases = 0;
    for i in 0..shapes.len() {
        for j in 0..shapes.len() {
            // Two meshes have a twin of their own.
            if matches!((&shapes[i], &shapes[j]), (Geometry::Mesh(_), Geometry::Mesh(_))) {
                continue;
            }
            for _ in 0..6 {
                let pair = [&shapes[i], &shapes[j]];
                let motions = [motion(&mut rng), motion(&mut rng)];
                let found = sweep(pair, [&motions[0], &motions[1]], &SweepOptions::DEFAULT);
                let told = || format!("{} and {}: {found:?} {motions:?}", pair[0].kind(), pair[1].kind());
                cases += 1;
                let first = (0..=60).map(|k| f64::from(k) / 60.0).find(|&t| apart(pair, &motions, t) <= 0.0);
                let Some(impact) = found.impact else {
                    assert_eq!(first, None, "missed: {}", told());
                    assert_eq!(found.outcome.finish, Finish::Complete);
                    continue;
                };
                hits += 1;
                assert!(first.is_none_or(|t| impact.time <= t), "late for {first:?}: {}", told());
                if impact.proved {
                    let soon = (impact.time + SweepOptions::DEFAULT.tolerance).min(1.0);
                    let near = apart(pair, &motions, impact.time).min(apart(pair, &motions, soon));
                    assert!(near <= CURVED_TOUCH, "{near}: {}", told());
                } else {
                    assert!(apart(pair, &motions, impact.time) <= found.slack, "made up: {}", told());
                }
            }
        }
    }
    assert!((0.3..0.9).contains(&(f64::from(hits) / f64::from(cases))), "{hits} of {cases}");
}

#[test]
fn closed_forms_are_met() {
    let at = |x: f64, y: f64| Pose::shift([x, y, 0.0]);
    let [ball, wall] =
        [Primitive::sphere(0.5).unwrap(), Primitive::cuboid([0.1, 3.0, 3.0]).unwrap()].map(Geometry::from);
    let still = Motion::Still(Pose::IDENTITY);
    let time = |shape: &Geometry, other: &Geometry, motion: Motion| {
        sweep([shape, other], [&motion, &still], &SweepOptions::DEFAULT).impact.map(|i| i.time)
    };
    let cases = [
        (time(&ball, &wall, Motion::between(&at(-5.0, 0.0), &at(5.0, 0.0))), 0.44),
        // Past the edge: the ball's centre is half a unit from it at contact.
        (time(&ball, &wall, Motion::between(&at(-5.0, 3.3), &at(5.0, 3.3))), 0.49 - 0.04),
        (time(&ball, &ball, Motion::between(&at(-5.0, 0.6), &at(5.0, 0.6))), 0.5 - 0.08),
    ];
    for (k, (found, want)) in cases.into_iter().enumerate() {
        let found = found.unwrap();
        assert!(found <= want + 1e-12 && found >= want - 1e-6, "case {k}: {found} for {want}");
    }
    // Spinning a bar about its end: its tip's face sweeps into a ball.
    assert_eq!(time(&ball, &wall, Motion::between(&at(-5.0, 3.6), &at(5.0, 3.6))), None);
    assert_eq!(
        time(&ball, &wall, Motion::between(&at(0.0, 0.0), &at(5.0, 0.0))),
        Some(0.0),
        "solids overlap"
    );
}

#[test]
fn a_budget_interrupts_and_the_search_resumes() {
    let all = shapes();
    let mut rng = Pcg64::seed_from_u64(23);
    let mut stops = 0;
    for case in 0..60 {
        let pair = [&all[9 + case % 4], &all[case % all.len()]];
        let motions = [motion(&mut rng), motion(&mut rng)];
        let motions = [&motions[0], &motions[1]];
        let whole = sweep(pair, motions, &SweepOptions::DEFAULT);
        for budget in [Budget::units(1), Budget::units(7), Budget::time(std::time::Duration::from_nanos(1))] {
            let mut parts = ShapeSweep::new(pair, motions, &SweepOptions::DEFAULT);
            let mut reached = 0.0;
            let found = loop {
                let found = parts.advance_telling(&mut budget.clone(), &|found| found);
                assert!(found.free_until >= reached, "what was certain stays so");
                reached = found.free_until;
                if found.outcome.finish == Finish::Complete {
                    break found;
                }
                stops += 1;
            };
            assert_eq!(found, whole, "case {case}");
            assert_eq!(parts.advance_telling(&mut budget.clone(), &|found| found), whole, "an answer stays");
        }
    }
    assert!(stops > 1000, "{stops}");
}

/// A search that ends before the contact finds none, and one that ends behind it the same.
#[test]
fn a_search_ends_where_it_is_told() {
    let all = shapes();
    let mut rng = Pcg64::seed_from_u64(31);
    let mut hits = 0;
    for case in 0..60 {
        let pair = [&all[11 + case % 2], &all[case % all.len()]];
        let motions = [motion(&mut rng), motion(&mut rng)];
        let motions = [&motions[0], &motions[1]];
        let Some(impact) = sweep(pair, motions, &SweepOptions::DEFAULT).impact else { continue };
        if !(impact.time > 0.01 && impact.time < 0.9) {
            continue;
        }
        hits += 1;
        let ending = |until: f64| sweep(pair, motions, &SweepOptions { until, ..SweepOptions::DEFAULT });
        let (early, late) = (ending(impact.time - 0.01), ending(impact.time + 0.1));
        assert_eq!((early.impact, early.free_until), (None, impact.time - 0.01), "case {case}");
        let again = late.impact.map_or(f64::NAN, |late| late.time);
        assert!((again - impact.time).abs() <= SweepOptions::DEFAULT.tolerance, "case {case}: {again}");
    }
    assert!(hits > 10, "{hits}");
}

/// What has no thickness meets at an instant only; that it has passed through proves it.
#[test]
fn issue_015_thin_bodies_that_cross_state_their_tolerance() {
    let segment = |to: [f64; 3]| {
        let to = DVec3::from(to);
        Geometry::from(Primitive::segment([-to, to]).unwrap())
    };
    let leaf = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]].map(DVec3::from);
    let triangle = Geometry::from(Primitive::triangle(leaf).unwrap());
    let square = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]].map(DVec3::from);
    let sheet = Geometry::from(Polytope::hull(&square).unwrap());
    let points = Geometry::from(
        Cloud::new(vec![DVec3::new(0.1, 0.2, 0.0), DVec3::new(3.0, 0.0, 0.0)], &[0.0]).unwrap(),
    );
    let pairs = [
        [segment([1.0, 0.0, 0.0]), segment([0.3, 1.0, 0.0])],
        [points.clone(), triangle.clone()],
        [points, sheet.clone()],
        [triangle.clone(), triangle.clone()],
        [sheet.clone(), triangle],
        [segment([1.0, 0.5, 0.0]), sheet],
    ];
    let turn = DQuat::from_rotation_z(0.4);
    for (k, [a, b]) in pairs.iter().enumerate() {
        for (end, spin) in [(-1.3, DQuat::IDENTITY), (-0.7, DQuat::from_rotation_z(0.5))] {
            let moving = Motion::between(
                &Pose::turned(DVec3::new(0.05, 0.02, 1.0), turn),
                &Pose::turned(DVec3::new(0.05, 0.02, end), spin * turn),
            );
            let found = sweep([a, b], [&moving, &Motion::Still(Pose::IDENTITY)], &SweepOptions::DEFAULT);
            let (hit, truth) = (found.impact.unwrap(), 1.0 / (1.0 - end));
            assert!(hit.time <= truth + 1e-12 && truth - hit.time < 1e-6, "{k}: {hit:?} {truth}");
            assert!(hit.proved && found.earliness() == SweepOptions::DEFAULT.tolerance, "{k}: {found:?}");
        }
    }
    // A point that goes just beside a segment could have missed it.
    let dot = Geometry::from(Cloud::new(vec![DVec3::ZERO], &[0.0]).unwrap());
    let wire = segment([1.0, 0.0, 0.0]);
    let down = Motion::between(&Pose::shift([0.0, 0.0, 1.0]), &Pose::shift([0.0, 0.0, -1.3]));
    let found = sweep([&dot, &wire], [&down, &Motion::Still(Pose::IDENTITY)], &SweepOptions::DEFAULT);
    assert!(found.impact.is_some_and(|hit| !hit.proved || hit.time == 1.0 / 2.3), "{found:?}");
}
