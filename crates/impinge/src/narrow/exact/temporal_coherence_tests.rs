use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::model::Model;
use crate::narrow::exact::collide::first_meeting;
use crate::{Mesh, Pose};

/// A ball with bumps.
fn ball(seed: u64, rings: u32) -> Model {
    let mut rng = Pcg64::seed_from_u64(seed);
    let sides = 2 * rings;
    let mut points = Vec::new();
    for i in 0..=rings {
        for j in 0..sides {
            let (u, v) = (f64::from(i) / f64::from(rings), f64::from(j) / f64::from(sides));
            let (u, v) = (u * std::f64::consts::PI, v * std::f64::consts::TAU);
            let r = rng.random_range(0.9..1.0);
            points.push([r * u.sin() * v.cos(), r * u.sin() * v.sin(), r * u.cos()]);
        }
    }
    let at = |i: u32, j: u32| i * sides + j % sides;
    let mut triangles = Vec::new();
    for i in 0..rings {
        for j in 0..sides {
            triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    Model::from(Mesh::new(points, triangles).unwrap())
}

fn pose(t: f64, distance: f64) -> Pose {
    let turn = [(0.3 * t).sin(), (0.2 * t).cos(), 0.1, 1.0];
    Pose::new([distance, 0.02 * (1.3 * t).sin(), 0.01 * t.cos()], turn).unwrap()
}

#[test]
fn slow_motion_gives_the_same_answers_mostly_without_a_search() {
    let (a, b) = (ball(1, 12), ball(2, 10));
    let mut memory = CoherenceMemory::default();
    let (mut hits, mut searched) = (0, 0);
    let steps = 600;
    for k in 0..steps {
        let t = 1e-2 * f64::from(k);
        let [a, b] = [Posed::new(&a, pose(t, 0.0)), Posed::new(&b, pose(-t, 2.0 + 0.25 * t.sin()))];
        let want = first_meeting(a, b);
        let (got, how) = first_meeting_again(a, b, &mut memory);
        assert_eq!(got.is_some(), want.is_some(), "step {k}, {how:?}");
        if let Some([i, j]) = got {
            assert!(meet(&a.corners(i), &b.corners(j)));
        }
        hits += usize::from(want.is_some());
        searched += usize::from(how == Found::Searched);
    }
    assert!((100..500).contains(&hits), "{hits}");
    assert!(searched < 300, "{searched} searches in {steps} steps");
}

#[test]
fn jumps_and_lost_or_foreign_memories_change_nothing() {
    let models = [ball(3, 8), ball(4, 6), ball(5, 5)];
    let mut rng = Pcg64::seed_from_u64(9);
    let mut memory = CoherenceMemory::default();
    let mut hits = 0;
    let (mut t, mut gap) = (0.0, 2.0);
    let mut pair = (0, 1);
    for _ in 0..1500 {
        match rng.random_range(0..40) {
            0 => memory = CoherenceMemory::default(),
            1 => pair = (rng.random_range(0..3), rng.random_range(0..3)),
            2 => (t, gap) = (rng.random_range(-9.0..9.0), rng.random_range(1.6..2.4)),
            _ => (t, gap) = (t + rng.random_range(-1e-2..1e-2), gap + rng.random_range(-4e-3..4e-3)),
        }
        let a = Posed::new(&models[pair.0], pose(t, 0.0));
        let b = Posed::new(&models[pair.1], pose(1.0 - t, gap));
        let want = first_meeting(a, b).is_some();
        let (got, how) = first_meeting_again(a, b, &mut memory);
        assert_eq!(got.is_some(), want, "{how:?}");
        hits += usize::from(want);
    }
    assert!((300..1200).contains(&hits), "{hits}");
}

/// A tetrahedron and its mirror image have the same boxes; what is known of one says nothing about the other.
#[test]
fn a_mirror_image_is_another_model() {
    let corners = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
    let triangles = vec![[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]];
    let solid = |corners: [[f64; 3]; 4]| Model::from(Mesh::new(corners.to_vec(), triangles.clone()).unwrap());
    let (own, mirrored) = (solid(corners), solid(corners.map(|[x, y, z]| [-x, y, z])));
    // A small one that sits in a corner of the box which only the mirror image reaches.
    let probe = Model::from(crate::shape::procedural::cuboid([0.05; 3], [1; 3]).unwrap());
    let mut memory = CoherenceMemory::default();
    for step in 0..6 {
        let at = Pose::shift([0.9 + 1e-6 * f64::from(step), -0.9, 0.9]);
        let ask = |model| (Posed::new(model, Pose::IDENTITY), Posed::new(&probe, at));
        let (a, b) = ask(&own);
        assert_eq!(first_meeting_again(a, b, &mut memory).0, None);
        let (a, b) = ask(&mirrored);
        assert_eq!(first_meeting_again(a, b, &mut memory).0.is_some(), first_meeting(a, b).is_some());
    }
}
