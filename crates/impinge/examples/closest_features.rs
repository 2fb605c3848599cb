//! Two convex hulls in slow motion: the nearest features are followed from frame to frame, the depth once they
//! meet. The walk between Voronoi regions remembers where it ended, so a frame takes a few steps.

use impinge::glam::DVec3;
use impinge::{Error, Memory, Method, Pose, Query, Shape};

fn main() -> Result<(), Error> {
    // A round stone of 300 points on an ellipsoid (a spiral of equal steps), and a cube.
    let stone = Shape::hull((0..300).map(|i| {
        let z = 1.0 - 2.0 * (f64::from(i) + 0.5) / 300.0;
        let (sin, cos) = (2.399963 * f64::from(i)).sin_cos();
        let r = (1.0 - z * z).sqrt();
        DVec3::new(0.5 * r * cos, 0.4 * r * sin, 0.3 * z)
    }))?;
    let cube = Shape::hull((0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from)))?;

    for method in [Method::Voronoi, Method::Gjk] {
        let (mut memory, mut tests) = (Memory::default(), 0);
        for frame in 0..=60 {
            // The stone sinks onto the cube and turns.
            let t = f64::from(frame) / 60.0;
            let (sin, cos) = (0.4 * t).sin_cos();
            let pose = Pose::new([0.4, 0.6, 1.8 - 0.6 * t], [0.0, sin, 0.0, cos])?;
            let mut query = Query { method, memory: Some(&mut memory), ..Query::default() };
            let answer = query.distance(&cube, stone.at(pose))?;
            tests += answer.work.primitive_tests;
            if let Some(found) = answer.value.filter(|_| frame % 20 == 0) {
                let [on_cube, on_stone] = found.features;
                println!("{method}, frame {frame:2}: {:8.5}, {on_cube:?} and {on_stone:?}", found.distance);
            }
        }
        println!("{method}: {tests} steps for 61 frames");
    }
    Ok(())
}
