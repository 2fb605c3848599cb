//! A hand closes around a rod: the closest features of its bones, frame by frame.

use impinge::{Budget, Error};
use impinge_sim::scenes::{Hand, Scenario};

fn main() -> Result<(), Error> {
    let mut hand = Hand::new()?;
    for frame in 1..=80 {
        let told = hand.advance(&mut Budget::UNLIMITED.clone())?;
        let nearest = told.contacts.iter().min_by(|a, b| b.contact.depth.total_cmp(&a.contact.depth));
        if let (0, Some(contact)) = (frame % 20, nearest) {
            let [a, b] = contact.bodies.map(|body| body.index());
            let [on_a, on_b] = contact.contact.features;
            println!(
                "frame {frame}: {} pairs of near parts; nearest {a} and {b}: {:.4} apart, {on_a:?} to {on_b:?}",
                told.contacts.len(),
                -contact.contact.depth,
            );
        }
    }
    for (name, value) in hand.measures() {
        println!("{name}: {value}");
    }
    Ok(())
}
