//! A sheet falls onto a ball: when do they first meet, and what meets in all? Both deform or move over the step.

use impinge::glam::DVec3;
use impinge::{Deforming, Error, Mesh, Query, procedural};

fn moved(mesh: &Mesh, by: [f64; 3]) -> Result<Mesh, Error> {
    let points = mesh.vertices().iter().map(|p| *p + DVec3::from(by)).collect();
    Mesh::from_points(points, mesh.triangles().to_vec())
}

fn main() -> Result<(), Error> {
    let ball = procedural::ico_sphere(1.0, 3)?;
    let ball = Deforming::new(ball.clone(), moved(&ball, [0.0, 0.0, 0.25])?)?;
    let sheet = procedural::sheet([3.0, 3.0], [30, 30])?;
    let sheet = Deforming::new(moved(&sheet, [0.0, 0.0, 1.5])?, moved(&sheet, [0.1, 0.0, 0.5])?)?;

    let mut query = Query::default();
    if let Some(contact) = query.first_deforming_contact(&sheet, &ball, 0.0)?.value.flatten() {
        println!("first contact at {:.6} of the step: {:?}", contact.time, contact);
    }
    let all = query.deforming_contacts(&sheet, &ball, 0.0)?.value.unwrap_or_default();
    println!("{} pairs of features meet in the whole step", all.len());
    // A gap of 0.05 is to be kept.
    if let Some(near) = query.first_deforming_contact(&sheet, &ball, 0.05)?.value.flatten() {
        println!("within 0.05 of each other from {:.4} on", near.time);
    }
    let itself = query.first_self_contact(&sheet, 0.0)?.value.flatten();
    println!("the sheet meets itself: {}", itself.is_some());
    Ok(())
}
