//! Sweeps of moving meshes against dense sampling: no contact is missed, no time is late, no hit is made up.
//!
//! The twin places all triangles at many times and tests them exactly; between the last free sample and the first
//! contact it bisects. It knows nothing of trees, bounds or velocities.

use glam::{DQuat, DVec3};
use impinge::geom::{triangle_distance, triangle_triangle};
use impinge::model::Model;
use impinge::motion::Law;
use impinge::narrow::continuous::mesh_sweep::{MeshSweep, sweep, sweep_again};
use impinge::narrow::continuous::{Sweep, SweepMemory, SweepOptions};
use impinge::procedural;
use impinge::{Budget, Finish, Mesh, Motion, Pose};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;

/// Bodies that differ in every way that matters: thin, flat, degenerate, open, closed.
fn bodies() -> Vec<Mesh> {
    let mesh = |v: &[[f64; 3]], t: &[[u32; 3]]| Mesh::new(v.to_vec(), t.to_vec()).unwrap();
    vec![
        mesh(&[[-0.6, -0.5, 0.0], [0.7, -0.4, 0.1], [0.0, 0.8, -0.1]], &[[0, 1, 2]]),
        mesh(&[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1e-7, 0.0]], &[[0, 1, 2]]),
        mesh(&[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], &[[0, 1, 2]]),
        procedural::sheet([1.5, 1.5], [1, 1]).unwrap(),
        procedural::tetrahedron(0.8).unwrap(),
        procedural::octahedron(0.7).unwrap(),
        procedural::icosahedron(0.7).unwrap(),
        procedural::cuboid([0.5, 0.5, 0.5], [1; 3]).unwrap(),
        procedural::cuboid([0.8, 0.6, 1e-4], [1; 3]).unwrap(),
        procedural::cuboid([1.2, 0.01, 0.02], [1; 3]).unwrap(),
        procedural::torus(0.6, 0.15, 6, 4).unwrap(),
        procedural::blob(0.7, 0.4, 1, 3).unwrap(),
    ]
}

/// Those of them that are thin: one triangle, a sliver, a sheet, a plate, a bar.
const THIN: [usize; 5] = [0, 1, 3, 8, 9];

/// A number that is a case's own.
struct Case {
    bodies: [usize; 2],
    scale: f64,
    motions: [Motion; 2],
    samples: u32,
}

fn vector(rng: &mut Pcg64, size: f64) -> DVec3 {
    DVec3::from([(); 3].map(|()| rng.random_range(-size..=size)))
}

fn pose(rng: &mut Pcg64, at: DVec3) -> Pose {
    Pose::new(at.to_array(), [(); 4].map(|()| rng.random_range(-1.0..1.0))).unwrap()
}

fn case(index: u64, kinds: usize) -> Case {
    let rng = &mut Pcg64::seed_from_u64(0x5eed ^ index);
    let scale = [1.0, 1.0, 1e6, 1e-6][(index / 6 % 4) as usize];
    let mut bodies = [rng.random_range(0..kinds), rng.random_range(0..kinds)];
    let law = if rng.random_range(0..4) == 0 { Law::Contact } else { Law::Uniform };
    let mut samples = 160;
    let far = if scale == 1.0 && index.is_multiple_of(5) { vector(rng, 100.0) } else { DVec3::ZERO };
    let motions = match index % 6 {
        // Any two screws.
        0 => [0, 1].map(|_| {
            let (from, to) = (vector(rng, 1.6), vector(rng, 1.6));
            Motion::screw(&pose(rng, (from + far) * scale), &pose(rng, (to + far) * scale), 0, law)
        }),
        // Fast and thin: from far away to far away, past or through the other.
        1 => {
            bodies = bodies.map(|_| THIN[rng.random_range(0..THIN.len())]);
            let (from, aim) = (vector(rng, 1.0).normalize_or(DVec3::X) * 12.0, vector(rng, 1.0));
            let start = pose(rng, from * scale);
            // A screw goes round its axis: only a small turn comes by where it is aimed.
            let spin = vector(rng, 0.05);
            let moving = Motion::velocity(&start, (aim - from) * (2.0 * scale), spin).unwrap();
            samples = 2000;
            [Motion::Still(pose(rng, DVec3::ZERO)), moving]
        }
        // Several turns.
        2 => {
            let turns = rng.random_range(1..5);
            samples = 300;
            let (from, to) = (vector(rng, 1.8), vector(rng, 1.8));
            let moving = Motion::screw(&pose(rng, from * scale), &pose(rng, to * scale), turns, law);
            let spin = Motion::velocity(&pose(rng, DVec3::ZERO), DVec3::ZERO, vector(rng, 8.0)).unwrap();
            [spin, moving]
        }
        // Flat boxes that graze: equal axes, a gap of nothing or next to nothing.
        3 => {
            bodies = [7, 7];
            let gap = [0.0, 1e-13, -1e-13, 1e-9, -1e-9, 1e-6, 1e-3][rng.random_range(0..7)];
            let across = DVec3::new(rng.random_range(1.2..3.0), rng.random_range(-0.4..0.4), 0.0);
            let up = DVec3::Z * (1.0 + gap);
            let start = Pose::from_translation((up - across) * scale).unwrap();
            let spin = if rng.random_range(0..2) == 0 {
                DVec3::ZERO
            } else {
                DVec3::Z * rng.random_range(-5.0..5.0)
            };
            let moving = Motion::velocity(&start, across * (2.0 * scale), spin).unwrap();
            [Motion::Still(Pose::IDENTITY), moving]
        }
        // Starting in contact, or as near as rounding allows.
        4 => {
            bodies = [7, rng.random_range(0..kinds)];
            let side = [0.5 + 0.5, 0.5][rng.random_range(0..2)] * scale;
            let touching = Pose::from_translation([side, 0.0, 0.0]).unwrap();
            let away = Motion::velocity(&touching, vector(rng, 2.0) * scale, vector(rng, 3.0)).unwrap();
            [Motion::Still(Pose::IDENTITY), away]
        }
        // Velocities of a physics step.
        _ => [0, 1].map(|_| {
            let at = vector(rng, 1.4) * scale;
            Motion::velocity(&pose(rng, at), vector(rng, 1.5) * scale, vector(rng, 4.0)).unwrap()
        }),
    };
    Case { bodies, scale, motions, samples }
}

fn corners(model: &Model, pose: &Pose) -> Vec<[DVec3; 3]> {
    (0..model.mesh().triangles().len() as u32)
        .map(|t| model.mesh().corners(t).map(|p| pose.apply(p)))
        .collect()
}

fn meet(models: [&Model; 2], motions: &[Motion; 2], t: f64) -> bool {
    let [a, b] = [0, 1].map(|k| corners(models[k], &motions[k].pose(t)));
    let low = |t: &[DVec3; 3]| t[0].min(t[1]).min(t[2]);
    let high = |t: &[DVec3; 3]| t[0].max(t[1]).max(t[2]);
    let boxes: Vec<[DVec3; 2]> = b.iter().map(|t| [low(t), high(t)]).collect();
    a.iter().any(|x| {
        let (l, h) = (low(x), high(x));
        b.iter()
            .zip(&boxes)
            .any(|(y, [from, to])| l.cmple(*to).all() && from.cmple(h).all() && triangle_triangle::meet(x, y))
    })
}

fn distance(models: [&Model; 2], motions: &[Motion; 2], t: f64) -> f64 {
    let [a, b] = [0, 1].map(|k| corners(models[k], &motions[k].pose(t)));
    let pairs = a.iter().flat_map(|x| b.iter().map(move |y| triangle_distance::nearest(x, y).distance));
    pairs.fold(f64::INFINITY, f64::min)
}

/// The first time the twin sees a contact, bisected.
fn sampled(models: [&Model; 2], motions: &[Motion; 2], samples: u32) -> Option<f64> {
    let at = |k: u32| f64::from(k) / f64::from(samples);
    let first = (0..=samples).find(|&k| meet(models, motions, at(k)))?;
    let mut high = at(first);
    let mut low = if first == 0 { 0.0 } else { at(first - 1) };
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if meet(models, motions, middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// Whether surfaces that meet at no sampled time come and go like those that pass through each other: the gap falls
/// to nearly nothing and grows again.
fn passed_through(models: [&Model; 2], motions: &[Motion; 2], time: f64, tolerance: f64) -> bool {
    let gaps: Vec<f64> = (0..=64)
        .map(|k| distance(models, motions, (time + tolerance * f64::from(k) / 64.0).min(1.0)))
        .collect();
    let least = gaps.iter().copied().fold(f64::INFINITY, f64::min);
    least <= (gaps[0] + gaps[64]) / 16.0
}

/// Holds an answer to what the twin saw; whether there was a hit.
fn check(index: u64, case: &Case, models: [&Model; 2], found: &Sweep) -> bool {
    let motions = &case.motions;
    let told = |what: &str| format!("case {index}: {what}: {found:?}, {:?} at {}", case.bodies, case.scale);
    let truth = sampled(models, motions, case.samples);
    match (found.impact, truth) {
        (None, Some(t)) => panic!("{}", told(&format!("missed a contact at {t}"))),
        (Some(impact), Some(t)) => assert!(impact.time <= t, "{}", told(&format!("later than {t}"))),
        _ => {}
    }
    let Some(impact) = found.impact else {
        assert_eq!(found.free_until, 1.0);
        return false;
    };
    let tolerance = SweepOptions::DEFAULT.tolerance;
    if impact.proved {
        let soon = [0.0, tolerance].iter().any(|dt| meet(models, motions, (impact.time + dt).min(1.0)));
        assert!(
            soon || passed_through(models, motions, impact.time, tolerance),
            "{}",
            told("nothing meets within the tolerance")
        );
        // The samples step over a brief contact and see a later one first: looking closely, the twin must see it.
        let after = |k: u32| (impact.time + tolerance * f64::from(k) / 64.0).min(1.0);
        let brief = || (0..=64).any(|k| meet(models, motions, after(k)));
        assert!(
            truth.is_none_or(|t| t <= impact.time + tolerance || brief()),
            "{}",
            told(&format!("nothing meets before {truth:?}"))
        );
    } else {
        let near = distance(models, motions, impact.time);
        assert!(near <= found.slack, "{}", told(&format!("{near} apart and no contact")));
    }
    if impact.time > 0.0 {
        assert!((impact.normal.length() - 1.0).abs() < 1e-9, "{}", told("no unit normal"));
    }
    true
}

fn run(cases: std::ops::Range<u64>) {
    let meshes = bodies();
    let scaled = |scale: f64| -> Vec<Model> {
        let moved = |m: &Mesh| {
            let vertices = m.vertices().iter().map(|v| (*v * scale).to_array()).collect();
            Model::from(Mesh::new(vertices, m.triangles().to_vec()).unwrap())
        };
        meshes.iter().map(moved).collect()
    };
    let sizes = [1.0, 1e6, 1e-6].map(|s| (s, scaled(s)));
    let count = cases.end - cases.start;
    let hits: Vec<u64> = (0..6)
        .map(|family| {
            let of_family = cases.clone().into_par_iter().filter(|i| i % 6 == family);
            of_family
                .map(|index| {
                    let case = case(index, meshes.len());
                    let models = &sizes.iter().find(|(s, _)| *s == case.scale).unwrap().1;
                    let models = case.bodies.map(|k| &models[k]);
                    let found = sweep(models, [&case.motions[0], &case.motions[1]]);
                    u64::from(check(index, &case, models, &found))
                })
                .sum()
        })
        .collect();
    let total: u64 = hits.iter().sum();
    println!("{total} hits in {count} cases, by family {hits:?}");
    assert!((0.2..0.8).contains(&(total as f64 / count as f64)), "{total} hits in {count}");
    let thin = hits[1] as f64 / (count / 6) as f64;
    assert!((0.2..0.8).contains(&thin), "{thin} of the thin and fast");
}

#[test]
fn no_contact_is_missed() {
    run(0..1200);
}

/// A hundred thousand pairs and motions.
#[test]
#[ignore = "some minutes; cargo test --release --test sweep_twin -- --ignored"]
fn sweep_twin() {
    run(0..100_000);
}

#[test]
fn a_budget_interrupts_and_the_answer_is_the_same() {
    let [a, b] = [procedural::blob(0.7, 0.4, 3, 3).unwrap(), procedural::torus(0.6, 0.2, 24, 12).unwrap()]
        .map(Model::from);
    let at = |x: f64, turn: f64| Pose::new([x, 0.1, 0.2], [0.3, turn, 0.5, 1.0]).unwrap();
    let motions =
        [&Motion::between(&at(-2.0, 0.0), &at(0.5, 1.0)), &Motion::between(&at(2.0, 0.7), &at(-0.5, -1.0))];
    let whole = sweep([&a, &b], motions);
    let mut parts = MeshSweep::new([&a, &b], motions, &SweepOptions::DEFAULT);
    let (mut calls, mut reached) = (0, 0.0);
    let found = loop {
        let found = parts.advance(&mut Budget::units(100));
        assert!(found.free_until >= reached, "what was certain stays so");
        reached = found.free_until;
        calls += 1;
        if found.outcome.finish == Finish::Complete {
            break found;
        }
    };
    assert!(calls > 5, "{calls}");
    assert_eq!(found.impact, whole.impact);
    assert!(whole.impact.is_some_and(|i| i.time > 0.1 && i.time < 1.0), "{whole:?}");
}

#[test]
fn memory_changes_no_time() {
    let [a, b] = [procedural::blob(0.7, 0.4, 3, 3).unwrap(), procedural::torus(0.6, 0.2, 24, 12).unwrap()]
        .map(Model::from);
    let mut memory = SweepMemory::default();
    let mut hits = 0;
    for k in 0..40 {
        let shift = f64::from(k) * 0.05;
        let at = |x: f64, turn: f64| Pose::new([x, shift, 0.2], [0.3, turn, 0.5, 1.0]).unwrap();
        let motions = [&Motion::between(&at(-2.0, 0.0), &at(0.5, 1.0)), &Motion::Still(Pose::IDENTITY)];
        let kept = sweep_again([&a, &b], motions, &SweepOptions::DEFAULT, &mut memory);
        let fresh = sweep([&a, &b], motions);
        assert_eq!(kept.impact.map(|i| i.time), fresh.impact.map(|i| i.time));
        hits += u32::from(kept.impact.is_some());
    }
    assert!((10..40).contains(&hits), "{hits}");
    // Memory of larger meshes is noticed.
    let small = Model::from(procedural::tetrahedron(1.0).unwrap());
    let apart = Motion::Still(Pose::from_translation([9.0, 0.0, 0.0]).unwrap());
    let still = Motion::Still(Pose::IDENTITY);
    assert_eq!(
        sweep_again([&small, &small], [&still, &apart], &SweepOptions::DEFAULT, &mut memory).impact,
        None
    );
}

#[test]
fn nested_bodies_do_not_touch() {
    let [shell, core] = [1.0, 0.3].map(|r| Model::from(procedural::ico_sphere(r, 2).unwrap()));
    let spin = Motion::velocity(&Pose::IDENTITY, DVec3::ZERO, DVec3::new(5.0, 1.0, 2.0)).unwrap();
    let still = Motion::Still(Pose::from_translation([0.2, 0.0, 0.0]).unwrap());
    assert_eq!(sweep([&shell, &core], [&spin, &still]).impact, None);
    let out = Motion::between(&Pose::IDENTITY, &Pose::from_translation([1.0, 0.0, 0.0]).unwrap());
    let found = sweep([&shell, &core], [&spin, &out]).impact.unwrap();
    assert!((0.6..0.75).contains(&found.time), "{found:?}");
}

#[test]
fn sizes_at_the_ends_of_the_range_are_answered() {
    for scale in [1e-300, 1e-200, 1e-30, 1e30, 1e59] {
        let mesh = procedural::octahedron(1.0).unwrap();
        let vertices = mesh.vertices().iter().map(|v| (*v * scale).to_array()).collect();
        let model = Model::from(Mesh::new(vertices, mesh.triangles().to_vec()).unwrap());
        let at = |x: f64| Pose::new([x * scale, 0.1 * scale, 0.05 * scale], [0.1, 0.2, 0.3, 0.9]).unwrap();
        let moving = Motion::screw(&at(4.0), &at(-4.0), 1, Law::Uniform);
        let found = sweep([&model, &model], [&Motion::Still(Pose::IDENTITY), &moving]);
        let time = found.impact.map_or(2.0, |i| i.time);
        assert!((0.2..0.5).contains(&time), "{scale}: {found:?}");
    }
}

/// Two rings, one turning half a turn a hair above the other, in frames that lie askew: what parts them is one
/// direction, whatever the number of triangles.
#[test]
fn turning_closely_above_each_other_takes_little_work() {
    let askew = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 1.0);
    let ring = procedural::torus(1.0, 0.25, 96, 48).unwrap();
    let vertices = ring.vertices().iter().map(|v| (askew.inverse() * *v).to_array()).collect();
    let ring = Model::from(Mesh::new(vertices, ring.triangles().to_vec()).unwrap());
    let at = |height: f64, turn: f64| {
        Pose::from_rotation(DVec3::Z * (0.5 + height), DQuat::from_rotation_z(turn) * askew).unwrap()
    };
    let still = Motion::Still(at(-0.5, 0.0));
    for gap in [1e-2, 1e-4, 1e-6] {
        let found = sweep([&ring, &ring], [&still, &Motion::between(&at(gap, 0.0), &at(gap, 3.0))]);
        assert_eq!(found.impact, None);
        let work = found.outcome.work;
        assert!(work.primitive_tests + work.volume_tests / 64 < 20_000, "{gap}: {work:?}");
        // The same, coming down to a depth of one gap.
        let down = sweep([&ring, &ring], [&still, &Motion::between(&at(gap, 0.0), &at(-gap, 3.0))]);
        let time = down.impact.map_or(2.0, |i| i.time);
        assert!((time - 0.5).abs() < 1e-5 + 1e-13 / gap, "{gap}: {down:?}");
    }
}

/// Flat on flat: the touching triangles part again beyond the contact, and still the contact is proved.
#[test]
fn plain_flat_contacts_are_proved() {
    let boxes = |half: [f64; 3]| Model::from(procedural::cuboid(half, [1; 3]).unwrap());
    let sheet = Model::from(procedural::sheet([1.0, 1.0], [2, 2]).unwrap());
    let (large, small, long) = (boxes([1.0, 1.0, 0.5]), boxes([0.3, 0.4, 0.5]), boxes([3.0, 0.2, 0.5]));
    let at = |x: f64, z: f64, turn: f64| {
        Pose::from_rotation(DVec3::new(x, 0.4 * x, z), DQuat::from_rotation_z(turn)).unwrap()
    };
    let cases: [(&str, [&Model; 2], f64, f64, f64); 8] = [
        ("small on large", [&large, &small], 0.0, 0.0, 1.0),
        ("large on small", [&small, &large], 0.0, 0.0, 1.0),
        ("equal on equal", [&large, &large], 0.0, 0.0, 1.0),
        ("aside", [&large, &large], 0.7, 0.0, 1.0),
        ("across", [&long, &long], 0.0, 1.5, 1.0),
        ("turning", [&large, &small], 0.1, 0.7, 1.0),
        ("sheet on sheet", [&sheet, &sheet], 0.3, 0.4, 0.0),
        ("sheet on box", [&large, &sheet], 0.3, 0.0, 0.5),
    ];
    for (name, models, x, turn, height) in cases {
        for speed in [1.0, 0.37, 1e3] {
            let from = at(x, height + 0.61 * speed, 0.2 * turn);
            let down = Motion::between(&from, &at(x, height - 0.39 * speed, turn));
            let found = sweep(models, [&Motion::Still(Pose::IDENTITY), &down]);
            let impact = found.impact.unwrap_or_else(|| panic!("{name}"));
            assert!((impact.time - 0.61).abs() < 2e-6, "{name} at {speed}: {impact:?}");
            assert!(impact.proved, "{name} at {speed}: {impact:?}");
            assert!((impact.normal - DVec3::Z).length() < 1e-4, "{name} at {speed}: {impact:?}");
        }
    }
}
