use glam::DVec3;

use super::{SelfTracker, Surface, Tracker, TrackerOptions};
use crate::num::random::unit;
use crate::shape::procedural;
use crate::{Budget, Certainty, Finish, Mesh, Pose, Relation, Shape};

/// A pose on a smooth path around the origin.
fn path(seed: u64, t: f64, reach: f64) -> Pose {
    let wave = |i: u64| {
        let [rate, phase] = [0, 1].map(|k| unit(seed, 2 * i + k));
        (std::f64::consts::TAU * (phase + (0.3 + rate) * t)).sin()
    };
    let at = [0, 1, 2].map(|i| reach * wave(i));
    Pose::new(at, [wave(3), wave(4), wave(5), wave(6) + 1.5]).unwrap()
}

/// Vertices that swing to and fro, each by at most `swing`.
fn swung(mesh: &Mesh, seed: u64, t: f64, swing: f64) -> Vec<DVec3> {
    let phase = std::f64::consts::TAU * unit(seed, 0);
    let swing = |p: &DVec3| {
        let wave = |k: f64| (phase + 3.0 * t + k).sin();
        *p + swing * DVec3::new(wave(2.0 * p.y), wave(1.5 * p.z + 1.0), wave(2.5 * p.x + 2.0))
    };
    mesh.vertices().iter().map(swing).collect()
}

fn largest_step(before: &[DVec3], now: &[DVec3]) -> f64 {
    before.iter().zip(now).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max)
}

fn rigid(mesh: &Mesh, pose: Pose) -> Surface<'_> {
    Surface { vertices: mesh.vertices(), pose, moved: 0.0 }
}

fn meshes() -> [Mesh; 2] {
    [procedural::blob(1.0, 0.3, 3, 5).unwrap(), procedural::torus(0.9, 0.3, 24, 12).unwrap()]
}

#[test]
fn rigid_motions_agree_with_the_exact_pairs_in_every_frame() {
    let meshes = meshes();
    let shapes = meshes.clone().map(Shape::from);
    let (mut met, mut frames) = (0, 0);
    for seed in 0..4 {
        let mut tracker = Tracker::new(&shapes[0], &shapes[1], TrackerOptions::default()).unwrap();
        for k in 0..150 {
            let t = f64::from(k) * 0.004;
            let poses = [path(2 * seed, t, 1.1), path(2 * seed + 1, t, 1.1)];
            if k % 50 == 37 {
                tracker.forget();
            }
            let surfaces = [rigid(&meshes[0], poses[0]), rigid(&meshes[1], poses[1])];
            let report = tracker.step(surfaces, &mut Budget::UNLIMITED.clone()).unwrap();
            let pairs = crate::pairs(shapes[0].at(poses[0]), shapes[1].at(poses[1])).unwrap();
            assert_eq!(report.meeting, Some(!pairs.is_empty()), "{seed} {k}");
            assert_eq!((report.coverage, report.miss_probability), (1.0, 0.0), "{seed} {k}");
            assert_eq!(
                (report.outcome.certainty, report.outcome.finish),
                (Certainty::Exact, Finish::Complete)
            );
            let contacts = tracker.contacts(surfaces);
            assert_eq!(contacts.len(), report.contacts);
            for contact in &contacts {
                assert!(pairs.binary_search(&contact.faces().unwrap()).is_ok(), "{seed} {k}: {contact:?}");
                let between = contact.points[0] - contact.points[1];
                assert!(
                    contact.depth >= -1e-12 && (between - contact.normal * contact.depth).length() < 1e-12
                );
            }
            assert!(tracker.regions(surfaces).len() <= contacts.len());
            met += usize::from(!pairs.is_empty());
            frames += 1;
        }
    }
    assert!((0.3..0.7).contains(&(met as f64 / frames as f64)), "{met} of {frames} frames in contact");
}

#[test]
fn deforming_meshes_agree_with_the_exact_pairs_in_every_frame() {
    let meshes = meshes();
    let shapes = meshes.clone().map(Shape::from);
    let (mut met, mut frames) = (0, 0);
    for seed in 0..3 {
        let options = TrackerOptions { deformation: [0.5; 2], ..TrackerOptions::default() };
        let mut tracker = Tracker::new(&shapes[0], &shapes[1], options).unwrap();
        let mut before = [0, 1].map(|i| swung(&meshes[i], seed + i as u64, 0.0, 0.1));
        for k in 0..120 {
            let t = f64::from(k) * 0.005;
            let now = [0, 1].map(|i| swung(&meshes[i], seed + i as u64, t, 0.1));
            let moved = [0, 1].map(|i| largest_step(&before[i], &now[i]));
            let pose = path(31 * seed + 7, t, 1.5);
            let surfaces = [
                Surface { vertices: &now[0], pose: Pose::IDENTITY, moved: moved[0] },
                Surface { vertices: &now[1], pose, moved: moved[1] },
            ];
            let report = tracker.step(surfaces, &mut Budget::UNLIMITED.clone()).unwrap();
            let deformed = [0, 1].map(|i| {
                Shape::from(Mesh::from_points(now[i].clone(), meshes[i].triangles().to_vec()).unwrap())
            });
            let pairs = crate::pairs(&deformed[0], deformed[1].at(pose)).unwrap();
            assert_eq!(report.meeting, Some(!pairs.is_empty()), "{seed} {k}");
            for contact in tracker.contacts(surfaces) {
                assert!(pairs.binary_search(&contact.faces().unwrap()).is_ok(), "{seed} {k}: {contact:?}");
            }
            met += usize::from(!pairs.is_empty());
            frames += 1;
            before = now;
        }
    }
    assert!((0.3..0.7).contains(&(met as f64 / frames as f64)), "{met} of {frames} frames in contact");
}

#[test]
fn small_budgets_prove_what_they_say_and_come_to_an_end() {
    let meshes = meshes();
    let shapes = meshes.clone().map(Shape::from);
    let (mut said, mut open) = (0, 0);
    for k in 0..200 {
        let poses = [path(3 * k, 0.0, 1.0), path(3 * k + 1, 0.0, 1.0)];
        let surfaces = [rigid(&meshes[0], poses[0]), rigid(&meshes[1], poses[1])];
        let truth = !crate::pairs(shapes[0].at(poses[0]), shapes[1].at(poses[1])).unwrap().is_empty();
        let options = TrackerOptions { seed: k, ..TrackerOptions::default() };
        let mut tracker = Tracker::new(&shapes[0], &shapes[1], options).unwrap();
        for step in 0.. {
            let report = tracker.step(surfaces, &mut Budget::units(300)).unwrap();
            assert!(report.meeting.is_none_or(|met| met == truth), "{k}");
            assert!(report.outcome.work.volume_tests + report.outcome.work.primitive_tests < 1000);
            if report.outcome.finish == Finish::Complete {
                assert_eq!((report.meeting, report.miss_probability), (Some(truth), 0.0));
                break;
            }
            assert!(
                report.miss_probability > 0.0 && report.coverage < 1.0 && step < 1000,
                "{k}, {step}: {report:?}"
            );
            said += usize::from(report.meeting.is_some());
            open += usize::from(report.meeting.is_none());
        }
    }
    assert!(said > 50 && open > 50, "{said} {open}");
}

#[test]
fn contacts_are_missed_no_more_often_than_stated() {
    let meshes = meshes();
    let shapes = meshes.clone().map(Shape::from);
    let pose = Pose::from_translation([1.75, 0.2, 0.0]).unwrap();
    assert_eq!(crate::relation(&shapes[0], shapes[1].at(pose)), Relation::Intersecting);
    let surfaces = [rigid(&meshes[0], Pose::IDENTITY), rigid(&meshes[1], pose)];
    for units in [200, 400, 800] {
        let (mut missed, mut stated) = (0.0, 0.0);
        for seed in 0..1000 {
            let options =
                TrackerOptions { seed, keep_factor: 0.0, keep_beyond: 0.0, ..TrackerOptions::default() };
            let mut tracker = Tracker::new(&shapes[0], &shapes[1], options).unwrap();
            let mut step = || tracker.step(surfaces, &mut Budget::units(units)).unwrap();
            let report = (0..3).map(|_| step()).last().unwrap();
            missed += f64::from(u8::from(report.meeting.is_none()));
            stated += report.miss_probability;
        }
        assert!(missed <= stated + 3.0 * 1000_f64.sqrt() / 2.0, "{units}: {missed} missed, {stated} stated");
    }
}

#[test]
fn pairs_at_rest_become_coarser_and_wake_when_they_move() {
    // What may deform is told to rest by its contacts, what may not by three of its vertices.
    rest_and_wake(1e-9, 0.002);
    rest_and_wake(0.0, 0.01);
}

fn rest_and_wake(deformation: f64, moved: f64) {
    let mesh = procedural::ico_sphere(1.0, 4).unwrap();
    let shape = Shape::from(mesh.clone());
    let options = TrackerOptions { deformation: [deformation; 2], ..TrackerOptions::default() };
    let mut tracker = Tracker::new(&shape, &shape, options).unwrap();
    // The caller states a motion in every frame, whether the bodies move or not.
    let mut step = |x: f64| {
        let still = Surface { vertices: mesh.vertices(), pose: Pose::IDENTITY, moved };
        let other = Surface { pose: Pose::from_translation([x, 0.02, 0.01]).unwrap(), ..still };
        let report = tracker.step([still, other], &mut Budget::UNLIMITED.clone()).unwrap();
        assert_eq!(report.meeting, Some(true));
        report
    };
    let tests = |report: &super::TrackerReport| {
        report.outcome.work.volume_tests + report.outcome.work.primitive_tests
    };
    // The first frame looks at everything, whether the bodies move or not.
    step(1.799);
    let moving: u64 = (0..20).map(|k| tests(&step(1.8 + 0.001 * f64::from(k)))).sum::<u64>() / 20;
    (0..120).for_each(|_| _ = step(1.819));
    let reports: Vec<_> = (0..20).map(|_| step(1.819)).collect();
    let resting = reports.iter().map(tests).sum::<u64>() / 20;
    assert!(moving >= 5 * resting.max(1), "{moving} moving, {resting} at rest");
    assert_eq!(reports.iter().map(|report| report.changes).max(), Some([0; 3]), "no flicker");
    let woken: u64 = (0..20).map(|k| tests(&step(1.819 - 0.001 * f64::from(k)))).sum::<u64>() / 20;
    assert!(2 * woken > moving, "{moving} moving, {woken} woken");
}

/// A body that is stated not to deform, moved by its vertices: three of them tell that it moves.
#[test]
fn motions_of_vertices_are_seen_after_a_rest() {
    let meshes = meshes();
    let shapes = meshes.clone().map(Shape::from);
    let mut tracker = Tracker::new(&shapes[0], &shapes[1], TrackerOptions::default()).unwrap();
    let (mut met, mut rested) = (0, 0);
    for k in 0..120 {
        // Every other third of the frames is a rest.
        let x = 2.1 + 0.9 * f64::from(k / 20 * 10 + if k / 10 % 2 == 0 { k % 10 } else { 10 } - 30) / 60.0;
        let vertices: Vec<DVec3> = meshes[1].vertices().iter().map(|p| *p + DVec3::X * x).collect();
        let surfaces = [
            rigid(&meshes[0], Pose::IDENTITY),
            Surface { vertices: &vertices, pose: Pose::IDENTITY, moved: 0.016 },
        ];
        let report = tracker.step(surfaces, &mut Budget::UNLIMITED.clone()).unwrap();
        let placed = Shape::from(Mesh::from_points(vertices, meshes[1].triangles().to_vec()).unwrap());
        let pairs = crate::pairs(&shapes[0], &placed).unwrap();
        assert_eq!(report.meeting, Some(!pairs.is_empty()), "{k}");
        met += usize::from(!pairs.is_empty());
        rested += usize::from(report.outcome.work == crate::Counters::default());
    }
    assert!((20..100).contains(&met) && rested > 20, "{met} in contact, {rested} without work");
}

#[test]
fn contacts_lie_on_both_surfaces_and_keep_their_ids() {
    let mesh = procedural::ico_sphere(1.0, 4).unwrap();
    let shape = Shape::from(mesh.clone());
    let mut tracker = Tracker::new(&shape, &shape, TrackerOptions::default()).unwrap();
    let mut at = |x: f64| {
        let surfaces =
            [rigid(&mesh, Pose::IDENTITY), rigid(&mesh, Pose::from_translation([x, 0.02, 0.01]).unwrap())];
        tracker.step(surfaces, &mut Budget::UNLIMITED.clone()).unwrap();
        let contacts = tracker.contacts(surfaces);
        for contact in &contacts {
            let triangles = contact.faces().unwrap();
            for k in 0..2 {
                let placed = mesh.corners(triangles[k]).map(|p| surfaces[k].pose.apply(p));
                let off = crate::geom::point_triangle::closest_point(contact.point(), &placed).distance_sq;
                assert!(off < 1e-30, "{x}: {off}");
            }
        }
        let mut ids: Vec<u64> = contacts.iter().map(|contact| contact.id).collect();
        ids.sort_unstable();
        assert!(ids.windows(2).all(|two| two[0] < two[1]) && ids.first() != Some(&0), "{x}: {ids:?}");
        ids
    };
    let mut before = at(1.9);
    assert!(before.len() > 10);
    let (mut kept, mut all) = (0, 0);
    for k in 1..50 {
        let now = at(1.9 - 1e-5 * f64::from(k));
        kept += before.iter().filter(|id| now.binary_search(id).is_ok()).count();
        all += before.len();
        before = now;
    }
    assert!(kept * 100 >= 99 * all, "{kept} of {all} kept from frame to frame");
    assert!(at(2.1).is_empty());
    assert!(at(1.9)[0] > before[before.len() - 1], "no id is used again");
}

#[test]
fn the_finest_level_may_be_coarser_with_a_stated_error() {
    let meshes = meshes();
    let shapes = meshes.clone().map(Shape::from);
    for k in 0..40 {
        let pose = path(k, 0.0, 1.6);
        let options = TrackerOptions { finest: 0.02, ..TrackerOptions::default() };
        let mut tracker = Tracker::new(&shapes[0], &shapes[1], options).unwrap();
        let surfaces = [rigid(&meshes[0], Pose::IDENTITY), rigid(&meshes[1], pose)];
        let report = tracker.step(surfaces, &mut Budget::UNLIMITED.clone()).unwrap();
        let gap = crate::distance(&shapes[0], shapes[1].at(pose)).distance;
        match (report.meeting, report.outcome.certainty) {
            (Some(true), Certainty::Conservative { tolerance }) => assert!(gap <= tolerance, "{k}"),
            (Some(false), Certainty::Exact) => assert!(gap > 0.0, "{k}"),
            other => panic!("{k}: {other:?}"),
        }
    }
}

/// A straight bar along x, bent into an arc of `angle`.
fn bent(bar: &Mesh, length: f64, angle: f64) -> Vec<DVec3> {
    let radius = length / angle;
    let bend = |p: &DVec3| {
        let (sin, cos) = (p.x / radius).sin_cos();
        // Rising slowly, so that the ends pass over each other.
        DVec3::new((radius - p.y) * sin, radius - (radius - p.y) * cos, p.z + 0.02 * p.x)
    };
    bar.vertices().iter().map(bend).collect()
}

#[test]
fn a_bending_bar_meets_itself_where_the_exact_search_says() {
    let length = 8.0;
    let curve: Vec<DVec3> = (0..60).map(|k| DVec3::X * (length * f64::from(k) / 59.0)).collect();
    let bar = procedural::tube(&curve, 0.3, 12, procedural::Ends::Capped).unwrap();
    let mut tracker = SelfTracker::new(&Shape::from(bar.clone()), TrackerOptions::default()).unwrap();
    let mut before = bent(&bar, length, 1.0);
    let (mut met, mut found, mut false_alarms, mut missed) = (0, 0, 0, 0);
    for k in 0..80 {
        let now = bent(&bar, length, 1.0 + 0.1 * f64::from(k));
        let moved = largest_step(&before, &now);
        let surface = Surface { vertices: &now, pose: Pose::IDENTITY, moved };
        let report = tracker.step(surface, &mut Budget::UNLIMITED.clone()).unwrap();
        let shape = Shape::from(Mesh::from_points(now.clone(), bar.triangles().to_vec()).unwrap());
        let pairs = crate::self_intersections(&shape).unwrap();
        met += usize::from(!pairs.is_empty());
        found += usize::from(!pairs.is_empty() && report.meeting == Some(true));
        let told: Vec<[u32; 2]> =
            tracker.contacts(surface).iter().map(|contact| contact.faces().unwrap()).collect();
        let right = told.iter().filter(|[i, j]| pairs.binary_search(&[*i.min(j), *i.max(j)]).is_ok()).count();
        false_alarms += told.len() - right;
        missed += pairs.len() - right;
        before = now;
    }
    assert!((24..56).contains(&met), "{met} of 80 frames in contact");
    assert_eq!((found, false_alarms, missed), (met, 0, 0), "of {met}");
}

#[test]
fn degenerate_meshes_are_followed() {
    let one = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let cases = [
        Shape::mesh(one.to_vec(), vec![[0, 1, 2]]).unwrap(),
        Shape::mesh(vec![[0.25, 0.25, 0.0]; 3], vec![[0, 1, 2]; 200]).unwrap(),
        Shape::mesh(one.to_vec(), vec![[0, 1, 1], [0, 0, 0], [0, 1, 2], [0, 1, 2]]).unwrap(),
    ];
    for scale in [1e-30, 1.0, 1e30] {
        for a in &cases {
            for b in &cases {
                let [a, b] = [a, b].map(|shape| {
                    let mesh = shape.as_mesh().unwrap();
                    let points = mesh.vertices().iter().map(|p| *p * scale).collect();
                    Mesh::from_points(points, mesh.triangles().to_vec()).unwrap()
                });
                let shapes = [Shape::from(a.clone()), Shape::from(b.clone())];
                for x in [0.0, 0.5, 3.0] {
                    let pose = Pose::from_translation([x * scale, 0.0, 0.0]).unwrap();
                    let mut tracker =
                        Tracker::new(&shapes[0], &shapes[1], TrackerOptions::default()).unwrap();
                    let surfaces = [rigid(&a, Pose::IDENTITY), rigid(&b, pose)];
                    let report = tracker.step(surfaces, &mut Budget::UNLIMITED.clone()).unwrap();
                    let truth = !crate::pairs(&shapes[0], shapes[1].at(pose)).unwrap().is_empty();
                    assert_eq!(report.meeting, Some(truth), "{scale} {x}");
                }
            }
        }
    }
}

#[test]
fn what_is_no_surface_is_refused() {
    let mesh = procedural::ico_sphere(1.0, 1).unwrap();
    let shape = Shape::from(mesh.clone());
    assert!(Tracker::new(&shape, &Shape::sphere(1.0).unwrap(), TrackerOptions::default()).is_err());
    let bad = TrackerOptions { keep_factor: f64::NAN, ..TrackerOptions::default() };
    assert!(Tracker::new(&shape, &shape, bad).is_err());
    let mut tracker = SelfTracker::new(&shape, TrackerOptions::default()).unwrap();
    let mut ask = |count: usize, moved: f64| {
        let surface = Surface { vertices: &mesh.vertices()[..count], pose: Pose::IDENTITY, moved };
        tracker.step(surface, &mut Budget::UNLIMITED.clone())
    };
    assert!(ask(3, 0.0).is_err() && ask(mesh.vertices().len(), -1.0).is_err());
    assert_eq!(ask(mesh.vertices().len(), 0.0).unwrap().meeting, Some(false));
}
