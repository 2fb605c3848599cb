//! Budgets and memory: a search stops when its budget ends, says what is certain, and can go on; what
//! one step found speeds up the next.

use impinge::model::Model;
use impinge::narrow::exact::distance::{DistanceMemory, DistanceSearch, distance_again};
use impinge::{Budget, Error, Finish, Pose, procedural};

fn main() -> Result<(), Error> {
    let a = Model::from(procedural::bunny(1.0, 5, 1)?);
    let b = Model::from(procedural::knot([3, 4], 1.0, 0.2, 600, 24)?);
    let (pose_a, pose_b) = (Pose::IDENTITY, Pose::from_translation([3.6, 0.4, 0.0])?);

    let mut search = DistanceSearch::new(&a, &pose_a, &b, &pose_b);
    loop {
        let so_far = search.advance(&mut Budget::units(5_000));
        println!(
            "between {:.6} and {:.6} after {} box tests",
            so_far.at_least, so_far.distance, so_far.outcome.work.volume_tests
        );
        if so_far.outcome.finish == Finish::Complete {
            break;
        }
    }

    let mut memory = DistanceMemory::default();
    for step in 0..4 {
        let moved = Pose::from_translation([3.6 + 0.001 * f64::from(step), 0.4, 0.0])?;
        let found = distance_again(&a, &pose_a, &b, &moved, &mut memory);
        println!("step {step}: {:.6}, {} box tests", found.distance, found.outcome.work.volume_tests);
    }
    Ok(())
}
