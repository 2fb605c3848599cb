use std::collections::BTreeSet;
use std::sync::Arc;

use glam::DVec3;

use super::super::layers::Layers;
use super::super::meter::Meter;
use super::super::posed::Posed;
use super::super::shells::Shells;
use super::super::{Surface, Tracker, TrackerOptions};
use super::contours::{Contours, Scene};
use crate::contact::Counters;
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
        let scene = Scene { bodies: &bodies, pad: 1e-13, travelled: 0.0 };
        let mut contours = Contours::new(layers.clone());
        let (mut budget, mut work) = (Budget::UNLIMITED, Counters::default());
        let mut meter = Meter::new(&mut budget);
        for &pair in &exact {
            if !contours.pairs().contains(&pair) {
                contours.add(pair, None, &scene, &mut meter, &mut work);
            }
        }
        let walked: BTreeSet<[u32; 2]> = contours.pairs().iter().copied().collect();
        assert_eq!(walked.len(), contours.pairs().len(), "{case}: each once");
        assert!(walked.iter().eq(&exact), "{case}: {} walked, {} cross", walked.len(), exact.len());
        let told: Vec<([u32; 2], u64)> = contours.witnesses().collect();
        assert!(told.iter().all(|(pair, _)| exact.binary_search(pair).is_ok()), "{case}");
        // Closed surfaces cross in closed curves of at least three pairs.
        assert!(3 * told.len() <= exact.len(), "{case}: {} curves of {} pairs", told.len(), exact.len());
        met += usize::from(!exact.is_empty());
        curves += told.len();
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

#[test]
fn contacts_are_true_and_begin_to_be_told_within_a_frame() {
    let meshes = meshes();
    let shapes = meshes.clone().map(Shape::from);
    for (swing, units) in [(0.0, None), (0.05, None), (0.05, Some(400))] {
        let (mut met, mut frames, mut late, mut waits) = (0, 0, 0, 0);
        let mut placed = shapes.clone();
        for seed in 0..2 {
            let options = TrackerOptions { prove: false, deformation: [0.3; 2], ..TrackerOptions::default() };
            let mut tracker = Tracker::new(&shapes[0], &shapes[1], options).unwrap();
            let (mut before, _) = surfaces_at(&meshes, seed, 0.0, swing);
            for k in 0..300 {
                let (now, pose) = surfaces_at(&meshes, seed, 0.005 * f64::from(k), swing);
                let moved = [0, 1]
                    .map(|i| before[i].iter().zip(&now[i]).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max));
                let surface = |i: usize, pose| Surface { vertices: &now[i], pose, moved: moved[i] };
                let surfaces = [surface(0, Pose::IDENTITY), surface(1, pose)];
                let mut budget = units.map_or(Budget::UNLIMITED, Budget::units);
                let report = tracker.step(surfaces, &mut budget).unwrap();
                assert_ne!(report.meeting, Some(false), "nothing is proved");
                assert!(units.is_some() || report.outcome.finish == Finish::Complete);
                if swing > 0.0 {
                    for (shape, points) in placed.iter_mut().zip(&now) {
                        let points: Vec<[f64; 3]> = points.iter().map(|p| p.to_array()).collect();
                        shape.set_vertices(&points).unwrap();
                    }
                }
                let exact = crate::pairs(&placed[0], placed[1].at(pose)).unwrap();
                let told = tracker.contacts(surfaces);
                assert_eq!(told.len(), report.contacts);
                for contact in &told {
                    assert!(exact.binary_search(&contact.faces().unwrap()).is_ok(), "{seed} {k}");
                }
                let is_waiting = !exact.is_empty() && told.is_empty();
                waits = if is_waiting { waits + 1 } else { 0 };
                late += usize::from(waits > 1);
                met += usize::from(!exact.is_empty());
                frames += 1;
                drop(told);
                before = now;
            }
        }
        assert!((0.3..0.7).contains(&(met as f64 / frames as f64)), "{met} of {frames} frames in contact");
        let most = if units.is_some() { frames / 50 } else { 0 };
        assert!(late <= most, "{swing}, {units:?}: {late} of {frames} frames late");
    }
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
