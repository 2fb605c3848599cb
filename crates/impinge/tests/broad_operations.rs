//! Random insertions, removals and moves: every broad phase tells the same events as testing all pairs.

use glam::DVec3;
use impinge::Aabb;
use impinge::broad::{Auto, BroadPhase, Brute, Changes, Grid, Mobility, SweepAndPrune, Tree};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Ids in use, so that many boxes meet and many operations fall on the same body.
const IDS: u32 = 96;

/// A point of one of several crowds, or anywhere.
fn place(rng: &mut Pcg64) -> DVec3 {
    let crowd = f64::from(rng.random_range(0..4_i32)) * 10.0;
    let reach = [0.5, 3.0, 30.0][rng.random_range(0..3)];
    DVec3::splat(crowd) + DVec3::from_array(std::array::from_fn(|_| rng.random_range(-reach..reach)))
}

/// Boxes of every kind, most of them ordinary.
fn any_box(rng: &mut Pcg64) -> Aabb {
    let at = place(rng);
    let whole = |p: DVec3| p.round();
    let half =
        |rng: &mut Pcg64, most: f64| DVec3::from_array(std::array::from_fn(|_| rng.random_range(0.0..most)));
    let around = |at: DVec3, half: DVec3| Aabb { low: at - half, high: at + half };
    match rng.random_range(0..24) {
        0 => Aabb { low: at, high: at },
        1 => Aabb { low: whole(at), high: whole(at) },
        2 => around(at, DVec3::splat(1e-300)),
        3 => around(at, half(rng, 100.0)),
        4 => around(at * 1e12, half(rng, 1e13)),
        5 => around(at * 1e150, half(rng, 1e152)),
        6 => Aabb { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY },
        7 => Aabb { low: DVec3::NEG_INFINITY, high: DVec3::new(f64::INFINITY, f64::INFINITY, at.z) },
        8 => Aabb { low: at.with_y(f64::NAN), high: at },
        9 => Aabb { low: at + 1.0, high: at },
        10 => Aabb { low: DVec3::splat(f64::INFINITY), high: DVec3::splat(f64::INFINITY) },
        11 => Aabb::EMPTY,
        // Neighbours that touch exactly, in f64 or in f32 only.
        12..=15 => Aabb { low: whole(at), high: whole(at) + 1.0 },
        16 => Aabb { low: whole(at), high: (whole(at) + 1.0) * (1.0 - f64::EPSILON) },
        17 => around(at, DVec3::splat(1e-4)),
        _ => around(at, half(rng, 1.0)),
    }
}

/// A little way from where it was.
fn nearby(rng: &mut Pcg64, b: &Aabb) -> Aabb {
    let way = DVec3::from_array(std::array::from_fn(|_| rng.random_range(-0.05..0.05)));
    Aabb { low: b.low + way, high: b.high + way }
}

/// Runs operations on a broad phase and on its oracle; returns how many pairs began.
fn compare(mut broad: impl BroadPhase, operations: usize, seed: u64) -> usize {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut oracle = Brute::default();
    let (mut told, mut expected) = (Changes::default(), Changes::default());
    let (mut pairs, mut expected_pairs) = (Vec::new(), Vec::new());
    let mut boxes = vec![Aabb::EMPTY; IDS as usize];
    let (mut done, mut steps, mut began) = (0, 0, 0);
    while done < operations {
        // Steps with one operation, with some, and with one for nearly everybody.
        let batch = [1, 8, 150][rng.random_range(0..3)];
        for _ in 0..batch {
            let id = rng.random_range(0..IDS);
            match rng.random_range(0..20) {
                0..3 => {
                    let mobility = if rng.random_bool(0.3) { Mobility::Fixed } else { Mobility::Moving };
                    boxes[id as usize] = any_box(&mut rng);
                    oracle.insert(id, boxes[id as usize], mobility);
                    broad.insert(id, boxes[id as usize], mobility);
                }
                3..5 => {
                    oracle.remove(id);
                    broad.remove(id);
                }
                5..8 => {
                    boxes[id as usize] = any_box(&mut rng);
                    oracle.update(id, boxes[id as usize]);
                    broad.update(id, boxes[id as usize]);
                }
                _ => {
                    boxes[id as usize] = nearby(&mut rng, &boxes[id as usize]);
                    oracle.update(id, boxes[id as usize]);
                    broad.update(id, boxes[id as usize]);
                }
            }
        }
        oracle.step(&mut expected);
        broad.step(&mut told);
        assert_eq!(told, expected, "step {steps} of seed {seed}");
        began += told.began.len();
        (done, steps) = (done + batch, steps + 1);
        if steps % 16 == 0 {
            oracle.pairs(&mut expected_pairs);
            broad.pairs(&mut pairs);
            assert_eq!(pairs, expected_pairs, "pairs after step {steps} of seed {seed}");
            let all = IDS as usize * (IDS as usize - 1) / 2;
            assert!((all / 100..all / 2).contains(&pairs.len()), "{} pairs of {all}", pairs.len());
        }
    }
    began
}

fn hundred_thousand(broad: impl BroadPhase) {
    let began = compare(broad, 100_000, 3);
    assert!(began > 10_000, "{began}");
}

#[test]
fn the_grid_tells_the_same() {
    hundred_thousand(Grid::default());
}

#[test]
fn sweep_and_prune_tells_the_same() {
    hundred_thousand(SweepAndPrune::default());
}

#[test]
fn the_tree_tells_the_same() {
    hundred_thousand(Tree::default());
}

#[test]
fn the_choice_tells_the_same() {
    hundred_thousand(Auto::default());
}

#[test]
fn threads_change_nothing() {
    // Enough bodies that every method shares its work.
    let mut rng = Pcg64::seed_from_u64(8);
    let frames: Vec<Vec<Aabb>> =
        (0..4).map(|_| (0..2_500).map(|_| any_box_of_many(&mut rng)).collect()).collect();
    let told = |threads: usize, broad: fn() -> Box<dyn BroadPhase + Send>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mut broad, mut told) = (broad(), Vec::new());
            for frame in &frames {
                if told.is_empty() {
                    // Three are missing: moving them does nothing.
                    for (id, &bounds) in (0..).zip(frame).filter(|(id, _)| id % 1_000 != 7) {
                        broad.insert(id, bounds, Mobility::Moving);
                    }
                } else {
                    broad.update_range(0, frame);
                }
                let mut changes = Changes::default();
                broad.step(&mut changes);
                told.push(changes);
            }
            told
        })
    };
    let methods: [fn() -> Box<dyn BroadPhase + Send>; 3] =
        [|| Box::new(Grid::default()), || Box::new(SweepAndPrune::default()), || Box::new(Tree::default())];
    let reference = told(1, methods[0]);
    assert!(reference.iter().all(|changes| changes.began.len() > 1_000), "{}", reference[0].began.len());
    for method in methods {
        for threads in [1, 2, 5] {
            assert!(told(threads, method) == reference, "{threads} threads");
        }
    }
}

/// Ordinary boxes, a few of them large.
fn any_box_of_many(rng: &mut Pcg64) -> Aabb {
    let at = DVec3::from_array(std::array::from_fn(|_| rng.random_range(0.0..15.0)));
    let most = if rng.random_bool(0.01) { 6.0 } else { 1.0 };
    Aabb { low: at, high: at + DVec3::from_array(std::array::from_fn(|_| rng.random_range(0.0..most))) }
}
