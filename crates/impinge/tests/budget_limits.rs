//! How far questions about very large meshes exceed their budgets: by hand, in release, on a quiet machine.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use impinge::glam::DVec3;
use impinge::{
    Answer, Budget, Counters, DecomposeOptions, Error, Memory, Method, Motion, Pose, Query, Ray, Shape,
    procedural,
};

/// Calls that each question gets for each budget.
const CALLS: usize = 40;

/// How much a question exceeded its budgets: units, and time.
#[derive(Debug, Default)]
struct Excess {
    units: u64,
    time: Duration,
    calls: usize,
    answered: usize,
}

fn total(work: &Counters) -> u64 {
    work.volume_tests + work.primitive_tests + work.updates
}

impl Excess {
    fn ask<T>(&mut self, ask: &dyn Fn(&mut Query<'_>) -> Result<Answer<T>, Error>) {
        for (units, time) in [(Some(1), 0), (Some(20_000), 0), (None, 1), (None, 10)] {
            let mut memory = Memory::default();
            for _ in 0..CALLS {
                let budget = units.map_or_else(|| Budget::millis(time), Budget::units);
                let mut query = Query { budget, memory: Some(&mut memory), ..Query::default() };
                let begun = Instant::now();
                let answer = ask(&mut query).unwrap();
                let taken = begun.elapsed();
                self.calls += 1;
                match units {
                    Some(units) => self.units = self.units.max(total(&answer.work).saturating_sub(units)),
                    None => self.time = self.time.max(taken.saturating_sub(Duration::from_millis(time))),
                }
                if answer.value.is_some() {
                    self.answered += 1;
                    break;
                }
            }
        }
    }
}

/// How late a thread that only sleeps a millisecond at a time wakes up meanwhile: what the machine itself adds.
static LATEST: AtomicU64 = AtomicU64::new(0);

fn watch_the_machine() {
    std::thread::spawn(|| {
        loop {
            let begun = Instant::now();
            std::thread::sleep(Duration::from_millis(1));
            let late = begun.elapsed().saturating_sub(Duration::from_millis(1));
            LATEST.fetch_max(late.as_micros() as u64, Ordering::Relaxed);
        }
    });
}

#[test]
#[ignore = "minutes, and only a quiet machine says anything"]
fn excess_over_budgets() {
    watch_the_machine();
    let mesh = || Shape::from(procedural::ico_sphere(1.0, 8).unwrap());
    let (a, b) = (mesh(), mesh());
    let apart = Pose::new([1.2, 0.9, 1.7], [0.1, 0.2, 0.3, 0.9]).unwrap();
    let crossing = Pose::new([0.9, 0.2, 0.1], [0.1, 0.2, 0.3, 0.9]).unwrap();
    let same = Pose::IDENTITY;
    let motion = Motion::between(&apart, &crossing);
    let points = procedural::positions(20_000, DVec3::splat(-1.5), DVec3::splat(1.5), 7);
    let rays: Vec<Ray> = points.iter().map(|&p| Ray::new(p * 3.0, -p).unwrap()).collect();
    let others = [
        ("half-space", Shape::half_space([0.0, 0.0, 1.0], -0.2).unwrap()),
        ("sphere", Shape::sphere(0.5).unwrap()),
        ("box", Shape::cuboid([0.5, 0.6, 0.7]).unwrap()),
        ("cone", Shape::cone(0.5, 0.7).unwrap()),
        ("hull", Shape::hull(procedural::blob(0.7, 0.3, 4, 9).unwrap().vertices().to_vec()).unwrap()),
        (
            "compound",
            Shape::compound(
                [-0.8, 0.8]
                    .map(|x| (Shape::sphere(0.4).unwrap(), Pose::from_translation([x, 0.1, 0.0]).unwrap())),
            )
            .unwrap(),
        ),
    ];
    let mut rows: Vec<(String, Excess)> = Vec::new();
    macro_rules! row {
        ($name:expr, $ask:expr) => {{
            let mut excess = Excess::default();
            excess.ask(&$ask);
            println!("{:32} {excess:?} (sleepers {} µs late)", $name, LATEST.swap(0, Ordering::Relaxed));
            rows.push(($name.to_string(), excess));
        }};
    }
    for (name, pose) in [("apart", apart), ("crossing", crossing), ("same", same)] {
        row!(format!("relation {name}"), |q: &mut Query<'_>| q.relation(&a, b.at(pose)));
        row!(format!("distance {name}"), |q: &mut Query<'_>| q.distance(&a, b.at(pose)));
        row!(format!("pairs {name}"), |q: &mut Query<'_>| q.pairs(&a, b.at(pose)));
        row!(format!("pairs within {name}"), |q: &mut Query<'_>| q.pairs_within(&a, b.at(pose), 0.01));
        row!(format!("contour {name}"), |q: &mut Query<'_>| q.contour(&a, b.at(pose)));
        for (kind, other) in &others {
            row!(format!("relation {kind} {name}"), |q: &mut Query<'_>| q.relation(&a, other.at(pose)));
            row!(format!("distance {kind} {name}"), |q: &mut Query<'_>| q.distance(&a, other.at(pose)));
        }
    }
    for (kind, other) in &others {
        row!(format!("sweep {kind}"), |q: &mut Query<'_>| q.sweep(&a, other.along(motion)));
    }
    row!("sweep", |q: &mut Query<'_>| q.sweep(&a, b.along(motion)));
    row!("sweep by contact", |q: &mut Query<'_>| {
        q.method = Method::Contact;
        q.sweep(&a, b.along(motion))
    });
    row!("pairs by brute force", |q: &mut Query<'_>| {
        q.method = Method::Brute;
        q.pairs(&a, b.at(crossing))
    });
    row!("closest points", |q: &mut Query<'_>| q.closest_point_batch(&a, &points));
    row!("signed distances", |q: &mut Query<'_>| q.signed_distance_batch(&a, &points));
    row!("contains", |q: &mut Query<'_>| q.contains_batch(&a, &points));
    row!("ray casts", |q: &mut Query<'_>| q.ray_cast_batch(&a, &rays));
    let fresh = mesh();
    row!("self-intersections", |q: &mut Query<'_>| q.self_intersections(&fresh));
    row!("inspect", |q: &mut Query<'_>| q.inspect(&fresh));
    row!("decompose", |q: &mut Query<'_>| q.decompose(&fresh, &DecomposeOptions::DEFAULT));
    let worst = |key: fn(&Excess) -> u128| rows.iter().map(|(_, e)| key(e)).max().unwrap_or(0);
    let units = worst(|e| u128::from(e.units));
    let time = worst(|e| e.time.as_micros());
    println!("worst: {units} units, {time} µs beyond the budget");
    assert!(units <= 1000 && time <= 2000);
}
