//! The health of a mesh: open borders, wrong orientation, duplicates and self-intersections; and its mass.

use impinge::{Error, Mesh, Shape, inspect, mass, procedural, self_intersections};

fn main() -> Result<(), Error> {
    let healthy = Shape::from(procedural::torus(1.0, 0.3, 64, 32)?);
    println!("torus: volume {:.4}, problems {:?}", mass(&healthy)?.volume, inspect(&healthy)?.problems);

    // Too thick for its ring: the tube cuts itself. Then a triangle is lost and another is doubled.
    let sick = procedural::knot([2, 3], 1.0, 0.6, 120, 12)?;
    let mut triangles = sick.triangles().to_vec();
    triangles.swap_remove(7);
    triangles.push(triangles[0]);
    let sick = Shape::from(Mesh::from_points(sick.vertices().to_vec(), triangles)?);
    println!("sick knot: {} self-intersections", self_intersections(&sick)?.len());
    for problem in &inspect(&sick)?.problems {
        println!("  {problem}");
    }
    Ok(())
}
