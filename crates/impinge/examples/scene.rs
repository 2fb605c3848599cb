//! A scene of many bodies: add, group, move, and be told what begins, persists and ends.

use std::sync::Arc;

use impinge::model::Compound;
use impinge::scene::{Body, Groups, Options, Scene};
use impinge::shape::{Convex, Polytope, Primitive, procedural};
use impinge::{Budget, Error, Pose, Shape};

fn main() -> Result<(), Error> {
    let options = Options { margin: 0.5, ..Options::default() };
    let mut scene = Scene::with_options(options)?;

    // A floor that never moves, a ball, a hull of points, and a hammer of two convex parts.
    let floor = Shape::from(Primitive::cuboid([10.0, 10.0, 0.5])?);
    scene.add(Body::fixed(Arc::new(floor), Pose::from_translation([0.0, 0.0, -0.5])?));
    let ball = Arc::new(Shape::from(Primitive::sphere(0.5)?));
    let hull = Arc::new(Shape::from(Polytope::hull(procedural::blob(0.6, 0.2, 2, 1)?.vertices())?));
    let handle = Convex::from(Primitive::cuboid([0.05, 0.05, 0.5])?);
    let head = Convex::from(Primitive::cuboid([0.3, 0.1, 0.1])?);
    let hammer = Compound::new([(handle, Pose::IDENTITY), (head, Pose::from_translation([0.0, 0.0, 0.6])?)])?;

    let falling = scene.add(Body::moving(ball, Pose::from_translation([0.0, 0.0, 3.0])?));
    let hanging = scene.add(Body::moving(hull, Pose::from_translation([0.8, 0.0, 1.0])?));
    let hammer = scene.add(Body {
        // In a group of its own that meets nothing but the first group.
        groups: Groups { member: 0b10, meets: 0b01 },
        ..Body::moving(Arc::new(hammer.into()), Pose::from_translation([-0.4, 0.0, 1.2])?)
    });
    scene.set_groups(falling, Groups { member: 0b01, meets: !0 });
    // These two may touch unseen.
    scene.ignore([hanging, hammer], true);

    for step in 0..=10 {
        scene.place(falling, Pose::from_translation([0.0, 0.0, 3.0 - 0.27 * f64::from(step)])?);
        let frame = scene.step(&mut Budget::UNLIMITED.clone());
        for event in frame.events {
            println!("step {step}: {:?} {:?}", event.bodies.map(|body| body.index()), event.kind);
        }
        for contact in frame.contacts {
            let [a, b] = contact.bodies.map(|body| body.index());
            println!("step {step}: {a} and {b} are {:.3} apart", contact.separation.distance);
        }
    }
    Ok(())
}
