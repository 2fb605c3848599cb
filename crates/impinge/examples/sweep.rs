//! A thin, fast plate flies through a wall in one step: samples see nothing, the sweep does.

use impinge::{Error, Motion, Pose, Shape, procedural, relation, sweep};

fn main() -> Result<(), Error> {
    let plate = Shape::from(procedural::cuboid([0.3, 0.3, 0.001], [1, 1, 1])?);
    let wall = Shape::from(procedural::cuboid([2.0, 2.0, 0.001], [8, 8, 1])?);

    // One step carries the plate from one side to the other while it turns over.
    let from = Pose::from_translation([0.0, 0.0, 5.0])?;
    let to = Pose::new([0.2, 0.1, -4.0], [1.0, 0.2, 0.0, 0.3])?;
    let flight = Motion::between(&from, &to);

    let sampled = |k: &i32| relation(plate.at(flight.pose(f64::from(*k) / 10.0)), &wall).is_contact();
    println!("eleven samples see {} contacts", (0..=10).filter(sampled).count());
    let found = sweep(plate.along(flight), &wall);
    match found.impact {
        Some(hit) => println!(
            "first contact at {:.6} ({:?}), {:?} at {:.4}; free until then for sure",
            hit.time, hit.kind, hit.features, hit.point
        ),
        None => println!("free"),
    }
    Ok(())
}
