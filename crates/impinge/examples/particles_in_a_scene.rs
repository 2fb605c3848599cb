//! A cloud of a hundred thousand particles in a scene: a mesh moves through it, and each particle that touches it is a
//! contact of its own, with an id that lasts.

use impinge::glam::DVec3;
use impinge::scene::{Body, Contacts, Options, Scene};
use impinge::{Budget, Error, Feature, Pose, Shape, procedural};

fn main() -> Result<(), Error> {
    let points = procedural::positions(100_000, DVec3::splat(-2.0), DVec3::splat(2.0), 1);
    let dust = Shape::particles(points, &[0.01])?;
    let ring = Shape::from(procedural::torus(0.9, 0.3, 96, 48)?);

    let options = Options { contacts: Contacts::Manifold, ..Options::default() };
    let mut scene = Scene::with_options(options)?;
    scene.add(Body::moving(dust, Pose::IDENTITY));
    // Closed meshes are solids: a particle inside is a contact as well.
    let ring = scene.add(Body::moving(ring, Pose::from_translation([4.0, 0.0, 0.0])?));

    for step in 0..=8 {
        let x = 4.0 - f64::from(step);
        scene.place(ring, Pose::new([x, 0.2, 0.0], [0.3, 0.1 * f64::from(step), 0.0, 1.0])?);
        let frame = scene.step(&mut Budget::UNLIMITED.clone());
        let deepest = frame.contacts.first().map(|pair| pair.contact);
        match deepest.map(|contact| (contact.features[0], contact)) {
            Some((Feature::Vertex(i), contact)) => println!(
                "x = {x}: {} particles touch; the deepest is {i}, {:.3} deep, out along {:.2}",
                frame.points.len(),
                contact.depth,
                -contact.normal
            ),
            _ => println!("x = {x}: no particle touches"),
        }
    }
    Ok(())
}
