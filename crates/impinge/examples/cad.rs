//! Two parts of an assembly: do they clash, in which triangles, and where do they fit, with which clearance?

use impinge::{Error, Pose, Shape, contour, distance, pairs, pairs_within, procedural, relation};

fn main() -> Result<(), Error> {
    let gear = Shape::from(procedural::gear(0.2, 0.8, 1.0, 0.3, 20)?);
    // The second gear is turned by half a tooth.
    for axes in [1.7, 1.81, 1.9, 2.1] {
        let (sin, cos) = (std::f64::consts::PI / 40.0).sin_cos();
        let other = gear.at(Pose::new([axes, 0.0, 0.0], [0.0, 0.0, sin, cos])?);
        println!("axes {axes} apart: {:?}", relation(&gear, other));
        let clashes = pairs(&gear, other)?;
        match clashes.first() {
            Some([a, b]) => println!("    {} clashes, the first of {a} and {b}", clashes.len()),
            None => println!("    clearance {:.4}", distance(&gear, other).distance),
        }
        println!("    {} pairs of faces nearer than 0.05", pairs_within(&gear, other, 0.05)?.len());
        println!("    {} curves of intersection", contour(&gear, other)?.len());
    }
    Ok(())
}
