//! How much two solids overlap: exactly, by images, for curved bodies, to a wanted error, and in which direction.

use impinge::glam::DVec3;
use impinge::{Error, Method, Pose, Query, Shape, VolumeOptions, procedural, volume};

fn main() -> Result<(), Error> {
    let torus = Shape::from(procedural::torus(1.0, 0.3, 96, 48)?);
    let ball = Shape::from(procedural::ico_sphere(0.5, 4)?);
    let beside = ball.at(Pose::from_translation([1.1, 0.2, 0.3])?);

    // Meshes, hulls and boxes: exact to rounding, region by region.
    let exact = volume(&torus, beside)?;
    println!("exact: {:.9} (error about {:.0e})", exact.volume, exact.error);
    for one in &exact.regions {
        println!("  a region {:.4} deep along {:.3}", one.region.depth, one.region.normal);
    }

    // The same by images, with the derivative by every vertex: the forces on the two bodies are opposite.
    for resolution in [16, 64, 256] {
        let options =
            VolumeOptions { resolution: Some(resolution), gradient: true, ..VolumeOptions::default() };
        let mut query = Query { method: Method::Image, ..Query::default() };
        let Some(found) = query.volume(&torus, beside, options)?.value else { continue };
        let [force, back] = found.gradient.each_ref().map(|slopes| slopes.iter().sum::<DVec3>());
        println!(
            "{resolution:>4} pixels: {:.9} (error about {:.0e}), slope {force:.4}",
            found.volume, found.error
        );
        assert!((found.volume - exact.volume).abs() <= 0.05 * exact.volume);
        assert!((force + back).length() <= 1e-12 * force.length());
    }

    // Curved bodies have no exact method; images get finer until their stated error is small enough.
    let (peg, cup) = (Shape::capsule(0.3, 0.5)?, Shape::cone(0.8, 0.6)?);
    let options = VolumeOptions { error: Some(0.001), ..VolumeOptions::default() };
    let answer = Query::default().volume(&cup, &peg, options)?;
    if let Some(found) = &answer.value {
        println!(
            "capsule in cone: {:.6} (error about {:.0e}), by {}",
            found.volume, found.error, answer.method
        );
        assert!(found.error <= 0.001 * found.volume);
    }
    Ok(())
}
