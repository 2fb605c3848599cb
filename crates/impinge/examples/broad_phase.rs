//! Many boxes: which meet, what began and what ended, with a method chosen from the scene.

use impinge::broad::{Auto, BroadPhase, Changes, Mobility};
use impinge::glam::DVec3;
use impinge::{Aabb, procedural};

fn main() {
    let count = 2_000_u32;
    let places = procedural::positions(count as usize, DVec3::ZERO, DVec3::splat(16.0), 1);
    let velocities = procedural::positions(count as usize, DVec3::splat(-0.5), DVec3::splat(0.5), 2);
    let at = |id: u32, frame: u32| {
        let (place, velocity) = (places[id as usize], velocities[id as usize]);
        let centre = place + velocity * (0.05 * f64::from(frame));
        Aabb { low: centre - 0.5, high: centre + 0.5 }
    };

    let mut broad = Auto::default();
    let mut changes = Changes::default();
    // The ground: a half-space, unbounded on all sides but one, which never moves.
    let ground = Aabb { low: DVec3::NEG_INFINITY, high: DVec3::new(f64::INFINITY, f64::INFINITY, 0.0) };
    broad.insert(count, ground, Mobility::Fixed);
    for id in 0..count {
        broad.insert(id, at(id, 0), Mobility::Moving);
    }
    for frame in 0..5 {
        for id in 0..count {
            broad.update(id, at(id, frame));
        }
        broad.step(&mut changes);
        println!("frame {frame}: {} pairs began, {} ended", changes.began.len(), changes.ended.len());
    }
    let mut pairs = Vec::new();
    broad.pairs(&mut pairs);
    println!("{} pairs in all; {}", pairs.len(), broad.reason());
}
