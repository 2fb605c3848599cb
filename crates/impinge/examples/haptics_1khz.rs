//! A haptic loop: a stylus is drawn over an object of 70,000 triangles, a thousand times a second. Each frame has
//! half a millisecond to find the contacts; the force is a penalty on their depths. A smaller object and fewer frames
//! without optimisation.

use std::f64::consts::TAU;
use std::time::{Duration, Instant};

use impinge::glam::{DQuat, DVec3};
use impinge::{Budget, Mesh, Pose, Shape, Surface, Tracker, TrackerOptions, procedural};

/// The time between two frames.
const FRAME: Duration = Duration::from_millis(1);

/// The part of it that detection may take; the rest is for the device and the rest of the program.
const BUDGET: Duration = Duration::from_micros(500);

/// Newtons for each unit of depth.
const STIFFNESS: f64 = 400.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (segments, frames) = if cfg!(debug_assertions) { (60, 400) } else { (500, 3000) };
    let object = procedural::knot([2, 3], 0.5, 0.16, segments, 70)?;
    let stylus = procedural::capsule(0.04, 0.15, 16, 6)?;
    println!("object: {} triangles, stylus: {}", object.triangles().len(), stylus.triangles().len());
    let shapes = [Shape::from(object.clone()), Shape::from(stylus.clone())];
    let options = TrackerOptions { frame: FRAME.as_secs_f64(), ..TrackerOptions::default() };
    let mut tracker = Tracker::new(&shapes[0], &shapes[1], options)?;

    let mut latencies = Vec::with_capacity(frames);
    let (mut touching, mut unfinished, mut late) = (0, 0, 0);
    let mut strongest = DVec3::ZERO;
    let start = Instant::now();
    for frame in 0..frames {
        let due = start + FRAME * frame as u32;
        late += usize::from(Instant::now() > due + FRAME);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));

        let begin = Instant::now();
        let surfaces = [rigid(&object, Pose::IDENTITY), rigid(&stylus, hand(frame as f64 * 1e-3)?)];
        let report = tracker.step(surfaces, &mut Budget::time(BUDGET))?;
        // The normals point from the object to the stylus: along them it is pushed out.
        let force: DVec3 = tracker.regions(surfaces).iter().map(|r| STIFFNESS * r.depth * r.normal).sum();
        latencies.push(begin.elapsed());

        touching += usize::from(report.contacts > 0);
        unfinished += usize::from(report.miss_probability > 0.0);
        if force.length() > strongest.length() {
            strongest = force;
        }
        if frame % (frames / 8) == 0 {
            println!("{frame:>5} ms: {:>3} contacts, force {force:.2} N", report.contacts);
        }
    }
    println!("in contact in {touching} of {frames} frames, strongest force {strongest:.2} N");
    println!(
        "not everything was looked at in {unfinished} frames; {late} frames began more than {FRAME:?} late"
    );
    histogram(latencies);
    Ok(())
}

/// A body that does not deform.
fn rigid(mesh: &Mesh, pose: Pose) -> Surface<'_> {
    Surface { vertices: mesh.vertices(), pose, moved: 0.0 }
}

/// Where the hand holds the stylus: around the object, pressed against it and lifted again.
fn hand(seconds: f64) -> Result<Pose, impinge::Error> {
    let angle = TAU * 0.3 * seconds;
    let outward = DVec3::new(angle.cos(), angle.sin(), 0.0);
    let at = outward * (0.97 + 0.06 * (TAU * seconds).sin());
    let tilt = DQuat::from_rotation_arc(DVec3::Z, (outward + 0.4 * DVec3::Z).normalize());
    Pose::new((at + outward * 0.15).to_array(), tilt.to_array())
}

/// How many frames took how long, in doubling steps.
fn histogram(mut latencies: Vec<Duration>) {
    latencies.sort_unstable();
    let at = |share: f64| latencies[(share * (latencies.len() - 1) as f64) as usize];
    println!(
        "latency: median {:?}, 99 % {:?}, 99.9 % {:?}, most {:?}",
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0)
    );
    let mut below = Duration::from_micros(2);
    let mut counted = 0;
    while counted < latencies.len() {
        let count = latencies.partition_point(|&l| l <= below) - counted;
        println!("<= {below:>8.0?} {count:>6} {}", "#".repeat((60 * count).div_ceil(latencies.len())));
        (counted, below) = (counted + count, below * 2);
    }
}
