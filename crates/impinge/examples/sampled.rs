//! A soft blob falls through a ring, a millisecond a frame: contacts, regions and what is certain in each.
//!
//! `cargo run --release --example sampled`

use impinge::glam::DVec3;
use impinge::{Budget, Error, Pose, Shape, Surface, Tracker, TrackerOptions, procedural};

/// How far a vertex swings to each side, and how fast.
const SWING: f64 = 0.03;
const RATE: f64 = 0.05;

fn main() -> Result<(), Error> {
    let (blob, ring) = (procedural::blob(0.5, 0.2, 4, 3)?, procedural::torus(0.6, 0.2, 96, 48)?);
    // The displacement a·sin(2·y + …) has the Lipschitz constant 2·a, and no vertex goes farther than a·rate a frame.
    let options = TrackerOptions { deformation: [2.0 * SWING, 0.0], ..TrackerOptions::default() };
    let mut tracker = Tracker::new(&Shape::from(blob.clone()), &Shape::from(ring.clone()), options)?;
    for frame in 0..200 {
        let phase = RATE * f64::from(frame);
        let swung = |p: &DVec3| *p + DVec3::X * (SWING * (2.0 * p.y + phase).sin());
        let vertices: Vec<DVec3> = blob.vertices().iter().map(swung).collect();
        let fall = Pose::from_translation([0.05, 0.0, 1.2 - 0.012 * f64::from(frame)])?;
        let surfaces = [
            Surface { vertices: &vertices, pose: fall, moved: SWING * RATE },
            Surface { vertices: ring.vertices(), pose: Pose::IDENTITY, moved: 0.0 },
        ];
        let report = tracker.step(surfaces, &mut Budget::millis(1))?;
        if frame % 20 == 0 {
            let said = match report.meeting {
                Some(true) => "in contact",
                Some(false) => "free",
                None => "undecided",
            };
            let regions = tracker.regions(surfaces);
            println!(
                "frame {frame}: {said}, {} regions, {:.1} % covered",
                regions.len(),
                100.0 * report.coverage
            );
            for region in regions {
                println!(
                    "  at {:.3}, normal {:.2}, depth {:.3}",
                    region.centroid, region.normal, region.depth
                );
            }
        }
    }
    Ok(())
}
