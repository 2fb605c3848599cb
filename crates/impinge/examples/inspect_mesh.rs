//! The health of a mesh: open borders, wrong orientation, duplicates and self-intersections.

use impinge::model::Model;
use impinge::{Error, Mesh, inspect, procedural};

fn main() -> Result<(), Error> {
    let healthy = Model::from(procedural::torus(1.0, 0.3, 64, 32)?);
    println!("torus: volume {:.4}, problems {:?}", inspect(&healthy).volume, inspect(&healthy).problems);

    // Too thick for its ring: the tube cuts itself. Then a triangle is lost and another is doubled.
    let sick = procedural::knot([2, 3], 1.0, 0.6, 120, 12)?;
    let mut triangles = sick.triangles().to_vec();
    triangles.swap_remove(7);
    triangles.push(triangles[0]);
    let sick = Model::from(Mesh::from_points(sick.vertices().to_vec(), triangles)?);
    let report = inspect(&sick);
    println!("sick knot: {} self-intersections", report.self_intersections);
    for problem in &report.problems {
        println!("  {problem}");
    }
    assert!(!report.problems.is_empty());
    Ok(())
}
