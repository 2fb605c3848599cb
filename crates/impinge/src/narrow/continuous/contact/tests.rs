use glam::{DQuat, DVec3};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::motion::Law;
use crate::narrow::continuous::mesh_sweep;
use crate::narrow::exact::collide::pairs;
use crate::narrow::exact::distance::distance;
use crate::shape::procedural;

fn soup(random: &mut Pcg64, triangles: usize, size: f64) -> Mesh {
    let mut vertices = Vec::new();
    for _ in 0..triangles {
        let centre = point(random, 1.0);
        let thin = if random.random_bool(0.3) { 0.02 } else { 1.0 };
        vertices.extend([0, 1, 2].map(|k| centre + point(random, size) * if k == 2 { thin } else { 1.0 }));
    }
    let triangles = (0..triangles as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    Mesh::from_points(vertices, triangles).unwrap()
}

fn point(random: &mut Pcg64, size: f64) -> DVec3 {
    DVec3::from_array([0.0; 3].map(|_: f64| random.random_range(-size..size)))
}

fn turned(random: &mut Pcg64, angle: f64) -> DQuat {
    DQuat::from_axis_angle(point(random, 1.0).normalize(), angle)
}

/// The first sample at which the surfaces meet, and the motion is free at those before it.
fn sampled(models: [&Model; 2], motion: &Motion, pose_b: &Pose, samples: u32) -> Option<f64> {
    (0..=samples)
        .map(|k| f64::from(k) / f64::from(samples))
        .find(|&t| !pairs(models[0], &motion.pose(t), models[1], pose_b).is_empty())
}

/// No contact is missed or late; hits are contacts; every table gives the same answer with no more tests.
#[test]
fn agrees_with_dense_sampling() {
    let mut random = Pcg64::seed_from_u64(41);
    let (mut hits, mut starts) = (0, 0);
    for case in 0..160 {
        let models = [0, 1].map(|_| Model::from(soup(&mut random, 4, 0.6)));
        let radius = [0.2, 0.5][case % 2];
        let trees = [0, 1].map(|k| SphereCover::new(models[k].mesh(), radius).unwrap());
        let [a, b] = [0, 1].map(|k| Covered { model: &models[k], spheres: &trees[k] });
        let side = point(&mut random, 1.0).normalize() * 2.6;
        let from = Pose::turned(side, turned(&mut random, 2.0));
        let pose_b = Pose::turned(point(&mut random, 0.3), turned(&mut random, 2.0));
        let to = match case % 4 {
            0 => Pose::turned(-side, DQuat::from_mat3(&from.rotation())),
            1 => Pose::turned(side, turned(&mut random, 3.0)),
            _ => Pose::turned(-side + point(&mut random, 1.0), turned(&mut random, 3.0)),
        };
        let motion = Motion::screw(&from, &to, u32::from(case % 8 == 7), Law::Contact);
        let found = sweep(a, &motion, b, &pose_b).unwrap();
        let truth = sampled([&models[0], &models[1]], &motion, &pose_b, 400);
        let context = format!("case {case}: {found:?}, sampled {truth:?}");
        if let Some(truth) = truth {
            assert!(found.impact.is_some_and(|impact| impact.time <= truth), "{context}");
        }
        if let Some(impact) = found.impact {
            hits += 1;
            starts += usize::from(impact.time == 0.0);
            let gap = distance(&models[0], &motion.pose(impact.time), &models[1], &pose_b);
            assert!(gap.distance <= found.slack + 1e-7, "{context}: gap {}", gap.distance);
            let near = |k: usize, pose: &Pose| {
                crate::narrow::exact::closest_point::closest_point(&models[k], pose, impact.point).distance
            };
            assert!(near(0, &motion.pose(impact.time)) < 1e-6 && near(1, &pose_b) < 1e-6, "{context}");
            assert!((impact.normal.length() - 1.0).abs() < 1e-9, "{context}");
        }
        let mut least = u64::MAX;
        for tables in [
            Tables::NONE,
            Tables { labels: true, primitives: false },
            Tables { labels: false, primitives: true },
            Tables::ALL,
        ] {
            let options = SweepOptions::DEFAULT;
            let mut search = ContactSearch::new(a, &motion, b, &pose_b, &options, tables).unwrap();
            let again = search.advance(&mut Budget::UNLIMITED.clone());
            assert_eq!(again.impact.map(|i| i.time), found.impact.map(|i| i.time), "{context}");
            assert!(tables == Tables::ALL || search.tests().total() >= found.outcome.work.volume_tests);
            least = least.min(search.tests().total());
            if tables == Tables::ALL {
                assert_eq!(least, search.tests().total(), "{context}");
            }
        }
    }
    assert!((40..150).contains(&hits) && starts < hits / 2, "{hits} {starts}");
}

/// A flat square sliding in the plane of another: every polynomial vanishes all the time.
#[test]
fn sliding_in_one_plane_is_found_in_time() {
    let square = Model::from(procedural::sheet([1.0, 1.0], [1, 1]).unwrap());
    let tree = SphereCover::new(square.mesh(), 0.3).unwrap();
    let body = Covered { model: &square, spheres: &tree };
    let at = |x: f64, angle: f64| Pose::turned(DVec3::new(x, 0.2, 0.0), DQuat::from_rotation_z(angle));
    let shift = Motion::screw(&at(3.0, 0.0), &at(0.0, 0.0), 0, Law::Contact);
    let found = sweep(body, &shift, body, &Pose::IDENTITY).unwrap().impact.unwrap();
    assert!((found.time - 2.0 / 3.0).abs() < 1e-7, "{found:?}");
    let spin = Motion::screw(&at(3.0, 0.0), &at(0.0, 1.0), 0, Law::Contact);
    let impact = sweep(body, &spin, body, &Pose::IDENTITY).unwrap().impact.unwrap();
    let truth = sampled([&square, &square], &spin, &Pose::IDENTITY, 2000).unwrap();
    assert!(impact.time <= truth && impact.time > truth - 1e-3, "{impact:?} {truth}");
}

/// A flat square that slides past another in their plane, a hair away: steps do not depend on the gap.
#[test]
fn sliding_past_in_one_plane_takes_few_steps() {
    let square = Model::from(procedural::sheet([1.0, 1.0], [1, 1]).unwrap());
    let tree = SphereCover::new(square.mesh(), 0.3).unwrap();
    let body = Covered { model: &square, spheres: &tree };
    let at = |x: f64| Pose::shift([x, 1.0 + 1e-8, 0.0]);
    let slide = Motion::screw(&at(3.0), &at(-3.0), 0, Law::Contact);
    let found = sweep(body, &slide, body, &Pose::IDENTITY).unwrap();
    assert_eq!(found.impact, None);
}

/// A thin plate flying through a thin plate in one step.
#[test]
fn thin_and_fast_is_stopped() {
    let plate = Model::from(procedural::cuboid([1.0, 1.0, 1e-6], [1; 3]).unwrap());
    let tree = SphereCover::new(plate.mesh(), 0.4).unwrap();
    let body = Covered { model: &plate, spheres: &tree };
    let to = Pose::turned(DVec3::new(0.0, 0.0, -500.0), DQuat::from_rotation_z(0.7));
    let motion = Motion::screw(&Pose::shift([0.0, 0.0, 500.0]), &to, 0, Law::Contact);
    let found = sweep(body, &motion, body, &Pose::IDENTITY).unwrap();
    let impact = found.impact.unwrap();
    let gap = distance(&plate, &motion.pose(impact.time), &plate, &Pose::IDENTITY);
    assert!(gap.distance < found.slack + 1e-9, "{impact:?} {}", gap.distance);
}

/// Equal leaves cover the surface, and equal sets of primitives have one label.
#[test]
fn leaves_cover_and_share() {
    let mesh = procedural::cuboid([2.0, 1.0, 0.5], [1; 3]).unwrap();
    let tree = SphereCover::new(&mesh, 0.15).unwrap();
    let leaves: Vec<_> = tree.spheres().iter().filter(|sphere| sphere.right == 0).collect();
    let mut random = Pcg64::seed_from_u64(9);
    for _ in 0..2000 {
        let t = random.random_range(0..mesh.triangles().len() as u32);
        let (s, r): (f64, f64) = (random.random(), random.random());
        let (s, r) = if s + r > 1.0 { (1.0 - s, 1.0 - r) } else { (s, r) };
        let [a, b, c] = mesh.corners(t);
        let p = a + (b - a) * s + (c - a) * r;
        let holds = |sphere: &&&crate::hierarchy::sphere_cover::Sphere| {
            sphere.centre.distance(p) <= sphere.radius && tree.primitives(sphere.label).faces.contains(&t)
        };
        assert!(leaves.iter().any(|sphere| holds(&sphere)), "{p}");
    }
    let [count, sets] = tree.sharing();
    assert_eq!(count, leaves.len());
    assert!(sets * 3 < count, "{sets} sets for {count} leaves");
    assert!(SphereCover::new(&mesh, 0.0).is_err() && SphereCover::new(&mesh, 1e-9).is_err());
}

#[test]
fn a_budget_interrupts_and_the_search_resumes() {
    let ball = Model::from(procedural::ico_sphere(1.0, 2).unwrap());
    let tree = SphereCover::new(ball.mesh(), 0.2).unwrap();
    let body = Covered { model: &ball, spheres: &tree };
    let at = |x: f64| Pose::shift([x, 0.1, 0.2]);
    let motion = Motion::screw(&at(5.0), &at(0.0), 0, Law::Contact);
    let whole = sweep(body, &motion, body, &Pose::IDENTITY).unwrap();
    let options = SweepOptions::DEFAULT;
    let mut search = ContactSearch::new(body, &motion, body, &Pose::IDENTITY, &options, Tables::ALL).unwrap();
    let mut stops = 0;
    let found = loop {
        let found = search.advance(&mut Budget::units(500));
        if found.outcome.finish == Finish::Complete {
            break found;
        }
        stops += 1;
    };
    assert!(stops > 3);
    assert_eq!(found, whole);
}

/// Both bodies move, by any motions: never later than samples see, and the times are those of the other method.
#[test]
fn two_movers_agree_with_sampling_and_with_the_other_method() {
    let mut random = Pcg64::seed_from_u64(77);
    let (mut hits, mut late, mut apart) = (0, 0, 0);
    for case in 0..80 {
        let models = [0, 1].map(|_| Model::from(soup(&mut random, 4, 0.6)));
        let trees = [0, 1].map(|k| SphereCover::automatic(models[k].mesh()).unwrap());
        let bodies = [0, 1].map(|k| Covered { model: &models[k], spheres: &trees[k] });
        let side = point(&mut random, 1.0).normalize() * 1.6;
        let motions = [side, -side].map(|side| {
            let from = Pose::turned(side + point(&mut random, 0.3), turned(&mut random, 2.0));
            let to = Pose::turned(-side + point(&mut random, 1.0), turned(&mut random, 3.0));
            match case % 4 {
                0 => Motion::between(&from, &to),
                1 => Motion::screw(&from, &to, 1, Law::Contact),
                2 => Motion::velocity(&from, -1.5 * side, point(&mut random, 4.0)).unwrap(),
                _ => Motion::screw(&from, &to, 0, Law::Contact),
            }
        });
        let motions = if case % 8 == 4 { [motions[0], Motion::Still(motions[1].pose(0.0))] } else { motions };
        let motions = [&motions[0], &motions[1]];
        let found =
            sweep_within(bodies, motions, &SweepOptions::DEFAULT, &mut Budget::UNLIMITED.clone()).unwrap();
        let truth = (0..=300).map(|k| f64::from(k) / 300.0).find(|&t| {
            let [a, b] = motions.map(|motion| motion.pose(t));
            !pairs(&models[0], &a, &models[1], &b).is_empty()
        });
        let other = mesh_sweep::sweep([&models[0], &models[1]], motions);
        let context = format!("case {case}: {found:?}, sampled {truth:?}, other {other:?}");
        if let Some(truth) = truth {
            assert!(found.impact.is_some_and(|impact| impact.time <= truth), "{context}");
        }
        assert_eq!(found.impact.is_some(), other.impact.is_some(), "{context}");
        if let (Some(one), Some(two)) = (found.impact, other.impact) {
            // Where they graze, the slack is reached before the contact.
            assert!((one.time - two.time).abs() < 1e-4, "{context}");
            apart += usize::from((one.time - two.time).abs() > 2e-6);
            hits += 1;
            late += usize::from(one.time > 0.0);
        }
        let parts = RelativeSearch::new(bodies, motions, &SweepOptions::DEFAULT, Tables::ALL);
        let mut parts = parts.unwrap();
        let (mut calls, mut reached) = (0, 0.0);
        let again = loop {
            let again = parts.advance(&mut Budget::units(2000));
            assert!(again.free_until >= reached, "{context}");
            (reached, calls) = (again.free_until, calls + 1);
            if again.outcome.finish == Finish::Complete {
                break again;
            }
        };
        assert_eq!(again.impact.is_some(), found.impact.is_some(), "{context} {calls}");
    }
    assert!((16..64).contains(&hits) && late * 2 > hits && apart < 4, "{hits} {late} {apart}");
}
