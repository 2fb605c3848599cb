//! Two convex hulls in slow motion: the nearest features are followed from frame to frame, the depth and the
//! contact patch once they meet.

use glam::DVec3;
use impinge::narrow::convex::manifold::manifold;
use impinge::narrow::convex::voronoi_walk::{WalkMemory, distance};
use impinge::shape::Polytope;
use impinge::{Error, Pose};

fn main() -> Result<(), Error> {
    // A round stone of 300 points on an ellipsoid (a spiral of equal steps), and a cube.
    let stone: Vec<DVec3> = (0..300)
        .map(|i| {
            let z = 1.0 - 2.0 * (f64::from(i) + 0.5) / 300.0;
            let (sin, cos) = (2.399963 * f64::from(i)).sin_cos();
            let r = (1.0 - z * z).sqrt();
            DVec3::new(0.5 * r * cos, 0.4 * r * sin, 0.3 * z)
        })
        .collect();
    let stone = Polytope::hull(&stone)?;
    let cube: Vec<DVec3> = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from).into()).collect();
    let cube = Polytope::hull(&cube)?;
    println!("stone: {} corners, {} faces", stone.vertices().len(), stone.faces().len());
    println!("cube:  {} corners, {} faces", cube.vertices().len(), cube.faces().len());

    let mut memory = WalkMemory::default();
    for frame in 0..=60 {
        // The stone sinks onto the cube and turns.
        let t = f64::from(frame) / 60.0;
        let (sin, cos) = (0.4 * t).sin_cos();
        let pose = Pose::new([0.4, 0.6, 1.8 - 0.6 * t], [0.0, sin, 0.0, cos])?;
        let found = distance(&cube, &Pose::IDENTITY, &stone, &pose, &mut memory);
        if frame % 10 == 0 {
            let patch = manifold(&cube, &Pose::IDENTITY, &stone, &pose, &found, 0.01);
            println!(
                "frame {frame:2}: distance {:8.5} between {:?} and {:?}, {} contact points",
                found.distance,
                found.features[0],
                found.features[1],
                patch.points.len()
            );
        }
    }
    let work = memory.work();
    println!(
        "{} queries took {} steps of the walk, {} searches for the depth",
        work.queries, work.steps, work.depths
    );
    Ok(())
}
