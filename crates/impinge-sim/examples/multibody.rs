//! A thousand polytopes in a closed box: nothing is lost, nobody leaves.

use impinge::{Budget, Error};
use impinge_sim::scenes::{Multibody, Scenario};

fn main() -> Result<(), Error> {
    let mut gas = Multibody::new(1000, 0)?;
    for frame in 1..=100 {
        let told = gas.advance(&mut Budget::UNLIMITED.clone())?;
        if frame % 20 == 0 {
            println!("frame {frame}: {} boxes meet, {} bodies touch", told.box_pairs, told.contacts.len());
        }
    }
    let world = gas.world();
    println!("{} collisions, {} bounces off walls", world.ledger().collisions, world.ledger().bounces);
    println!(
        "drift of the energy {:.1e}, of the momentum {:.1e}",
        world.energy_drift(),
        world.momentum_drift()
    );
    println!("{} bodies outside", world.outside());
    Ok(())
}
