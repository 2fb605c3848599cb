//! A soft ball is pressed against a rigid one: indentation, vertices that touch, and how few are simulated. Fewer frames
//! without optimisation. The picture: `impinge simulate press --picture dent.png`.

use impinge::{Budget, Error};
use impinge_sim::scenes::{Press, Scenario};

fn main() -> Result<(), Error> {
    let mut press = Press::new()?;
    println!("frame  indentation  force  fine vertices of {}", press.soft().vertices().len());
    let frames = if cfg!(debug_assertions) { 150 } else { 600 };
    for frame in 1..=frames {
        press.advance(&mut Budget::UNLIMITED.clone())?;
        if frame % 50 == 0 {
            let (soft, indentation) = (press.soft(), press.indentation());
            println!(
                "{frame:5}  {indentation:11.5}  {:5.2}  {}",
                soft.contact_force().length(),
                soft.fine_vertices()
            );
        }
    }
    for (name, value) in press.measures() {
        println!("{name}: {value}");
    }
    Ok(())
}
