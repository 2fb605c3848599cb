//! A scene of many bodies: add, group, move, and be told what begins, persists and ends.

use impinge::scene::{Body, Groups, Options, Scene};
use impinge::{Budget, Error, Pose, Shape, procedural};

fn main() -> Result<(), Error> {
    let options = Options { margin: 0.5, ..Options::default() };
    let mut scene = Scene::with_options(options)?;
    let at = |x: f64, z: f64| Pose::from_translation([x, 0.0, z]);

    // A floor that never moves, a ball, a hull of points, and a hammer of two convex parts.
    scene.add(Body::fixed(Shape::cuboid([10.0, 10.0, 0.5])?, at(0.0, -0.5)?));
    let hull = Shape::hull(procedural::blob(0.6, 0.2, 2, 1)?.vertices().to_vec())?;
    let (handle, head) = (Shape::cuboid([0.05, 0.05, 0.5])?, Shape::cuboid([0.3, 0.1, 0.1])?);
    let hammer = Shape::compound([(handle, Pose::IDENTITY), (head, at(0.0, 0.6)?)])?;

    let falling = scene.add(Body::moving(Shape::sphere(0.5)?, at(0.0, 3.0)?));
    let hanging = scene.add(Body::moving(hull, at(0.8, 1.0)?));
    let hammer = scene.add(Body {
        // In a group of its own that meets nothing but the first group.
        groups: Groups { member: 0b10, meets: 0b01 },
        ..Body::moving(hammer, at(-0.4, 1.2)?)
    });
    scene.set_groups(falling, Groups { member: 0b01, meets: !0 });
    // These two may touch unseen.
    scene.ignore([hanging, hammer], true);

    for step in 0..=10 {
        scene.place(falling, at(0.0, 3.0 - 0.27 * f64::from(step))?);
        let frame = scene.step(&mut Budget::UNLIMITED.clone());
        for event in frame.events {
            println!("step {step}: {:?} {:?}", event.bodies.map(|body| body.index()), event.kind);
        }
        for contact in frame.contacts {
            let [a, b] = contact.bodies.map(|body| body.index());
            println!("step {step}: {a} and {b} are {:.3} apart", -contact.contact.depth);
        }
    }
    Ok(())
}
