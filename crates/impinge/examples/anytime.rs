//! Budgets and memory: a question stops when its budget ends and says what is certain; asked again, it resumes
//! where it stopped. What one step found speeds up the next.

use impinge::{Budget, Error, Memory, Pose, Query, Shape, procedural};

fn main() -> Result<(), Error> {
    let a = Shape::from(procedural::bunny(1.0, 5, 1)?);
    let b = Shape::from(procedural::knot([3, 4], 1.0, 0.2, 600, 24)?);
    let beside = |x: f64| Pose::from_translation([x, 0.4, 0.0]);

    let mut memory = Memory::default();
    for round in 1_u32.. {
        let budget = Budget::units(20_000);
        let mut query = Query { budget, memory: Some(&mut memory), ..Query::default() };
        let answer = query.distance(&a, b.at(beside(3.6)?))?;
        if let Some(found) = answer.value {
            println!("round {round}: {:.6} for certain", found.distance);
            break;
        }
        let so_far = answer.so_far.map_or(f64::INFINITY, |found| found.distance);
        println!("round {round}: {so_far:.6} at most ({:?})", answer.certainty);
    }

    for step in 0..4 {
        let mut query = Query { memory: Some(&mut memory), ..Query::default() };
        let answer = query.distance(&a, b.at(beside(3.6 + 0.001 * f64::from(step))?))?;
        let Some(found) = answer.value else { continue };
        println!("step {step}: {:.6}, {} box tests", found.distance, answer.work.volume_tests);
    }
    Ok(())
}
