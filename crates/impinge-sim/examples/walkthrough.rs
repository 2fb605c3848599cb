//! Somebody walks through a kitchen: what is near, and what is bumped into.

use impinge::scene::EventKind;
use impinge::{Budget, Error};
use impinge_sim::scenes::{Scenario, Walkthrough};

fn main() -> Result<(), Error> {
    let mut walk = Walkthrough::new(0)?;
    println!("{} pieces of {} polytopes", walk.pieces().len(), walk.polytopes());
    for frame in 1..=500 {
        let told = walk.advance(&mut Budget::UNLIMITED.clone())?;
        let changes: Vec<_> = told.events.iter().filter(|e| e.kind != EventKind::Persists).copied().collect();
        let tests = told.outcome.work.primitive_tests;
        for event in changes {
            let piece = walk.piece(event.bodies[0]).map_or("something", |piece| piece.name);
            println!("frame {frame}: {piece} {:?} ({tests} pairs of polytopes measured)", event.kind);
        }
    }
    Ok(())
}
