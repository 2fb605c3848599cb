//! A thin, fast plate flies through a wall in one step: samples see nothing, the sweep does.

use impinge::narrow::continuous::{SweepOptions, sweep};
use impinge::procedural;
use impinge::{Motion, Pose, Shape, relation};

fn main() -> Result<(), impinge::Error> {
    let plate = procedural::cuboid([0.3, 0.3, 0.001], [1, 1, 1])?;
    let wall = procedural::cuboid([2.0, 2.0, 0.001], [8, 8, 1])?;
    let [a, b] = [Shape::from(plate), Shape::from(wall)];

    // One step carries the plate from one side to the other while it turns over.
    let from = Pose::from_translation([0.0, 0.0, 5.0])?;
    let to = Pose::new([0.2, 0.1, -4.0], [1.0, 0.2, 0.0, 0.3])?;
    let [flight, still] = [Motion::between(&from, &to), Motion::Still(Pose::IDENTITY)];

    if let (Shape::Mesh(plate), Shape::Mesh(wall)) = (&a, &b) {
        let seen = (0..=10).filter(|k| {
            let pose = flight.pose(f64::from(*k) / 10.0);
            relation(plate, &pose, wall, &Pose::IDENTITY).is_contact()
        });
        println!("eleven samples see {} contacts", seen.count());
    }
    let found = sweep([&a, &b], [&flight, &still], &SweepOptions::DEFAULT);
    match found.impact {
        Some(hit) => {
            println!(
                "first contact at {:.6} ({:?}), {:?} at {:.4}",
                hit.time, hit.kind, hit.features, hit.point
            );
            println!("free until then for sure; the true contact is at most 1e-6 later");
        }
        None => println!("free"),
    }
    Ok(())
}
