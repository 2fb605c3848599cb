use std::collections::BTreeSet;
use std::sync::Arc;

use glam::DVec3;

use super::super::layers::Layers;
use super::super::posed::Posed;
use super::super::shells::Shells;
use super::super::{Surface, Tracker, TrackerOptions};
use super::march::Walk;
use crate::num::random::unit;
use crate::shape::procedural;
use crate::{Budget, Finish, Mesh, Pose, Shape};

fn meshes() -> [Mesh; 2] {
    [procedural::blob(1.0, 0.3, 3, 5).unwrap(), procedural::torus(0.9, 0.3, 24, 12).unwrap()]
}

/// A pose that is not aligned with anything.
fn pose(seed: u64, reach: f64) -> Pose {
    let u = |k: u64| 2.0 * unit(seed, k) - 1.0;
    Pose::new([reach * u(0), reach * u(1), reach * u(2)], [u(3), u(4), u(5), u(6) + 1.5]).unwrap()
}

#[test]
fn curves_pass_through_all_pairs_that_cross_and_no_others() {
    let meshes = meshes();
    let shapes = meshes.clone().map(Shape::from);
    let layers = meshes.each_ref().map(|mesh| Arc::new(Layers::new(Arc::new(Shells::of_mesh(mesh, None)))));
    let (mut met, mut curves) = (0, 0);
    for case in 0..60 {
        let poses = [pose(2 * case, 0.9), pose(2 * case + 1, 0.9)];
        let exact = crate::pairs(shapes[0].at(poses[0]), shapes[1].at(poses[1])).unwrap();
        let bodies = [0, 1].map(|k| Posed::new(&layers[k].shells, meshes[k].vertices(), &poses[k], 0.0));
        let mut walked: BTreeSet<[u32; 2]> = BTreeSet::new();
        for &start in &exact {
            if !walked.insert(start) {
                continue;
            }
            let mut walk = Walk::new(&layers, &bodies, start, (case % 2) as usize);
            let (before, steps) = (walked.len(), walk.by_ref().map(|pair| walked.insert(pair)).count());
            assert!(walk.is_closed, "{case}: closed surfaces cross in closed curves");
            // Of at least three pairs.
            assert!(steps >= 2 && walked.len() == before + steps, "{case}: each once");
            curves += 1;
        }
        assert!(walked.iter().eq(&exact), "{case}: {} walked, {} cross", walked.len(), exact.len());
        met += usize::from(!exact.is_empty());
    }
    assert!((20..=55).contains(&met) && curves > met, "{met} of 60 meet, {curves} curves");
}

/// Where the bodies are at a time: one swings, the other goes to and fro and turns.
fn surfaces_at(meshes: &[Mesh; 2], seed: u64, t: f64, swing: f64) -> ([Vec<DVec3>; 2], Pose) {
    let phase = std::f64::consts::TAU * unit(seed, 0);
    let swung = |mesh: &Mesh| {
        let wave = |k: f64| (phase + 3.0 * t + k).sin();
        let at = |p: &DVec3| *p + swing * DVec3::new(wave(2.0 * p.y), wave(1.5 * p.z), wave(2.5 * p.x));
        mesh.vertices().iter().map(at).collect()
    };
    let x = 1.9 + 0.6 * (5.0 * t + phase).sin();
    let pose = Pose::new([x, 0.3 * (2.0 * t).sin(), 0.1], [0.1, (t + phase).sin(), 0.3 * t, 1.0]).unwrap();
    (meshes.each_ref().map(swung), pose)
}

/// The curves in which two placed bodies cross, as sets of pairs.
fn curves(layers: &[Arc<Layers>; 2], bodies: &[Posed<'_>; 2], exact: &[[u32; 2]]) -> Vec<BTreeSet<[u32; 2]>> {
    let mut all: Vec<BTreeSet<[u32; 2]>> = Vec::new();
    for &start in exact {
        if !all.iter().any(|curve| curve.contains(&start)) {
            all.push(Walk::new(layers, bodies, start, 0).chain([start]).collect());
        }
    }
    all
}

/// How often curves began, and how many were not told for two frames in a row.
#[derive(Debug, Default)]
struct Told {
    frames: usize,
    met: usize,
    curves: usize,
    late: usize,
    unseen: Vec<BTreeSet<[u32; 2]>>,
}

impl Told {
    fn frame(&mut self, curves: Vec<BTreeSet<[u32; 2]>>, told: &[[u32; 2]]) {
        self.frames += 1;
        self.met += usize::from(!curves.is_empty());
        self.curves += curves.len();
        let is_told = |curve: &BTreeSet<[u32; 2]>| told.iter().any(|pair| curve.contains(pair));
        let unseen: Vec<_> = curves.into_iter().filter(|curve| !is_told(curve)).collect();
        let goes_on = |curve: &&BTreeSet<[u32; 2]>| self.unseen.iter().any(|old| !old.is_disjoint(curve));
        self.late += unseen.iter().filter(goes_on).count();
        self.unseen = unseen;
    }
}

/// Follows two bodies along a motion by the frame.
fn follow(
    meshes: &[Mesh; 2],
    frames: u32,
    units: Option<u64>,
    at: impl Fn(u32) -> ([Vec<DVec3>; 2], Pose),
) -> Told {
    let mut shapes = meshes.clone().map(Shape::from);
    let layers = meshes.each_ref().map(|mesh| Arc::new(Layers::new(Arc::new(Shells::of_mesh(mesh, None)))));
    let options = TrackerOptions { prove: false, deformation: [0.3; 2], ..TrackerOptions::default() };
    let mut tracker = Tracker::new(&shapes[0], &shapes[1], options).unwrap();
    let (mut result, (mut before, _)) = (Told::default(), at(0));
    for k in 0..frames {
        let (now, pose) = at(k);
        let moved =
            [0, 1].map(|i| before[i].iter().zip(&now[i]).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max));
        let surface = |i: usize, pose| Surface { vertices: &now[i], pose, moved: moved[i] };
        let surfaces = [surface(0, Pose::IDENTITY), surface(1, pose)];
        let mut budget = units.map_or(Budget::UNLIMITED, Budget::units);
        let report = tracker.step(surfaces, &mut budget).unwrap();
        assert_ne!(report.meeting, Some(false), "nothing is proved");
        assert!(units.is_some() || report.outcome.finish == Finish::Complete);
        for (shape, points) in shapes.iter_mut().zip(&now) {
            let points: Vec<[f64; 3]> = points.iter().map(|p| p.to_array()).collect();
            shape.set_vertices(&points).unwrap();
        }
        let exact = crate::pairs(&shapes[0], shapes[1].at(pose)).unwrap();
        let told: Vec<[u32; 2]> = tracker.contacts(surfaces).iter().map(|c| c.faces().unwrap()).collect();
        assert_eq!(told.len(), report.contacts);
        assert!(told.iter().all(|pair| exact.binary_search(pair).is_ok()), "{k}");
        let bodies = [0, 1].map(|i| Posed::new(&layers[i].shells, &now[i], &surfaces[i].pose, 0.0));
        result.frame(curves(&layers, &bodies, &exact), &told);
        before = now;
    }
    result
}

#[test]
fn contacts_are_true_and_each_is_told_within_a_frame() {
    let meshes = meshes();
    let (mut frames, mut met, mut curves) = (0, 0, 0);
    for (seed, swing, units) in [(0, 0.0, None), (1, 0.05, None), (2, 0.05, Some(2000)), (3, 0.05, None)] {
        let told = follow(&meshes, 320, units, |k| surfaces_at(&meshes, seed, 0.005 * f64::from(k), swing));
        let most = if units.is_some() { told.curves / 20 } else { 0 };
        assert!(told.late <= most, "{seed}: {} of {} late", told.late, told.curves);
        (frames, met, curves) = (frames + told.frames, met + told.met, curves + told.curves);
    }
    let share = met as f64 / frames as f64;
    assert!((0.3..0.7).contains(&share) && curves > met, "{met} of {frames} frames, {curves} curves");
}

#[test]
fn bodies_that_rest_and_then_move_on_are_followed() {
    let meshes = meshes();
    let at = |k: u32| {
        // To and fro with a rest before each contact, the last approaches ever faster.
        let x = match k {
            0..40 => 2.4 - 0.005 * f64::from(k),
            40..120 => 2.2,
            120..160 => 2.2 - 0.01 * f64::from(k - 120),
            160..180 => 1.8 + 0.03 * f64::from(k - 160),
            180..240 => 2.4,
            _ => 2.4 - 0.04 * f64::from(k - 240),
        };
        let pose = Pose::new([x, 0.1, 0.05], [0.1, 0.2, 0.3, 1.0]).unwrap();
        (meshes.each_ref().map(|mesh| mesh.vertices().to_vec()), pose)
    };
    let told = follow(&meshes, 260, None, at);
    assert!(told.met > 30 && told.frames - told.met > 100, "{} of {} meet", told.met, told.frames);
    assert_eq!(told.late, 0);
}

#[test]
fn the_same_frames_give_the_same_contacts_after_forgetting() {
    let meshes = meshes();
    let shapes = meshes.clone().map(Shape::from);
    let options = TrackerOptions { prove: false, ..TrackerOptions::default() };
    let run = |tracker: &mut Tracker| {
        tracker.forget();
        let mut told = Vec::new();
        for k in 0..60 {
            let (now, pose) = surfaces_at(&meshes, 1, 0.01 * f64::from(k), 0.0);
            let surface = |i: usize, pose| Surface { vertices: &now[i], pose, moved: 0.0 };
            let surfaces = [surface(0, Pose::IDENTITY), surface(1, pose)];
            tracker.step(surfaces, &mut Budget::UNLIMITED.clone()).unwrap();
            told.push(tracker.contacts(surfaces).iter().map(|c| c.faces().unwrap()).collect::<Vec<_>>());
        }
        told
    };
    let mut tracker = Tracker::new(&shapes[0], &shapes[1], options).unwrap();
    let first = run(&mut tracker);
    assert!(first.iter().filter(|told| !told.is_empty()).count() > 10);
    assert_eq!(first, run(&mut tracker));
}
