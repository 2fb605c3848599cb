//! A sheet falls onto a ball: when do they first meet, how far may they move, and what meets in all?

use impinge::narrow::deforming::{Deforming, DeformingSearch, Want, contacts, first_contact, free_step};
use impinge::procedural;
use impinge::{Budget, Mesh};

fn main() -> Result<(), impinge::Error> {
    let moved = |mesh: &Mesh, by: [f64; 3]| {
        let points = mesh.vertices().iter().map(|p| (*p + glam::DVec3::from(by)).to_array()).collect();
        Mesh::new(points, mesh.triangles().to_vec())
    };
    let ball = procedural::ico_sphere(1.0, 3)?;
    let ball = Deforming::new(ball.clone(), moved(&ball, [0.0, 0.0, 0.25])?)?;
    let sheet = procedural::sheet([3.0, 3.0], [30, 30])?;
    let (high, low) = (moved(&sheet, [0.0, 0.0, 1.5])?, moved(&sheet, [0.1, 0.0, 0.5])?);
    let sheet = Deforming::new(high, low)?;

    let first = first_contact(&sheet, &ball);
    if let Some(contact) = &first {
        println!(
            "first contact at {:.6} of the step: {:?} {:?}",
            contact.time, contact.kind, contact.vertices
        );
    }
    println!("nothing meets until {:.6}", free_step(first.as_ref()));
    println!("{} pairs of features meet in the whole step", contacts(&sheet, &ball).len());

    // A gap of 0.05 is to be kept.
    let mut search = DeformingSearch::of_two(&sheet, &ball, Want::First).within(0.05);
    let near = search.advance(&mut Budget::UNLIMITED.clone());
    if let Some(contact) = near.contacts.first() {
        println!("within 0.05 of each other from {:.4} on", contact.time);
    }
    Ok(())
}
