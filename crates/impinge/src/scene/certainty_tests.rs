//! What a scene tells is decided, or told as open; and what it is worth is said.

use glam::DVec3;

use super::*;
use crate::contact::Relation;
use crate::shape::procedural;
use crate::{Budget, Certainty, Contact, Finish, Pose, Shape};

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::shift(DVec3::new(x, y, z))
}

fn torus() -> Shape {
    Shape::from(procedural::torus(0.7, 0.25, 24, 12).unwrap())
}

/// Convex bodies on, in and beside the tube of a torus that is not prepared, which lies in the middle of its radius 0.7.
fn on_a_torus(touch: f64) -> (Scene, Vec<(BodyId, Shape)>) {
    let options = Options { margin: 0.2, touch, ..Options::default() };
    let mut scene = Scene::with_options(options).unwrap();
    let torus = torus();
    let fixed = scene.add(Body::fixed(torus.clone(), Pose::IDENTITY));
    let shapes = [
        Shape::sphere(0.1).unwrap(),
        Shape::cuboid([0.08, 0.09, 0.1]).unwrap(),
        Shape::capsule(0.05, 0.1).unwrap(),
    ];
    // From the middle of the tube to beyond the margin, each at an angle of its own so that they do not meet.
    let depths = [0.0, 0.12, 0.3, 0.36, 0.7];
    let mut bodies = vec![(fixed, torus)];
    for (k, depth) in depths.into_iter().enumerate() {
        for (n, shape) in shapes.iter().enumerate() {
            let angle = std::f64::consts::TAU * (3 * k + n) as f64 / 15.0;
            let away = 0.7 + depth;
            let body = Body::moving(shape.clone(), at(away * angle.cos(), away * angle.sin(), 0.01));
            let groups = Groups { member: 2, meets: 1 };
            bodies.push((scene.add(Body { groups, ..body }), shape.clone()));
        }
    }
    (scene, bodies)
}

#[test]
fn deepest_contacts_within_small_budgets_are_those_without_a_limit() {
    let (mut whole, _) = on_a_torus(0.0);
    let truth = whole.step(&mut Budget::UNLIMITED.clone());
    assert_eq!(truth.outcome.finish, Finish::Complete);
    let began: Vec<_> = truth.events.iter().map(|event| event.bodies).collect();
    let deep = truth.contacts.iter().filter(|c| c.contact.depth > 0.0).count();
    assert!((3..15).contains(&began.len()) && deep > 2, "{deep} of {began:?}");
    let mut early = 0;
    for units in [150, 1000, 6000] {
        let (mut scene, _) = on_a_torus(0.0);
        let (mut events, mut frames) = (Vec::new(), 0);
        let told = loop {
            let frame = scene.step(&mut Budget::units(units));
            let new = frame.events.iter().filter(|event| event.kind == EventKind::Began);
            events.extend(new.map(|event| event.bodies));
            early += frame.events.iter().filter(|event| frame.undecided.contains(&event.bodies)).count();
            frames += 1;
            assert!(frames < 2000, "{units} units: {} open", frame.undecided.len());
            if frame.undecided.is_empty() {
                break frame;
            }
        };
        events.sort_unstable();
        assert!(frames > 2, "{frames} frames of {units} units");
        assert_eq!((&events, told.contacts), (&began, truth.contacts), "{units} units");
        assert_eq!(told.outcome.certainty, truth.outcome.certainty);
    }
    // That they touch is known before how deep.
    assert!(early > 2, "{early}");
}

#[test]
fn what_touches_is_never_told_as_a_gap() {
    // Also a ball within the torus as a mesh, and the torus within a large box.
    let ball = Shape::from(procedural::ico_sphere(0.1, 2).unwrap());
    let large = Shape::cuboid([1.0, 1.0, 0.3]).unwrap();
    let groups = Groups { member: 2, meets: 1 };
    for touch in [0.0, 0.15] {
        let (mut scene, mut bodies) = on_a_torus(touch);
        for (shape, pose) in [(&ball, at(0.7, 0.0, 0.1)), (&large, Pose::IDENTITY)] {
            bodies.push((scene.add(Body { groups, ..Body::moving(shape.clone(), pose) }), shape.clone()));
        }
        let contacts = scene.step(&mut Budget::UNLIMITED.clone()).contacts.to_vec();
        let (mut nested, mut gaps) = (0, 0);
        for contact in contacts {
            let [a, b] = contact.bodies.map(|id| {
                let (_, shape) = bodies.iter().find(|(of, _)| *of == id).unwrap();
                shape.at(scene.body(id).unwrap().pose)
            });
            let relation = crate::relation(a, b);
            nested += usize::from(matches!(relation, Relation::AInsideB | Relation::BInsideA));
            gaps += usize::from(contact.contact.depth < 0.0);
            assert_eq!(relation.is_contact(), contact.contact.depth >= 0.0, "{relation:?} {contact:?}");
        }
        assert!(nested >= 4 && gaps >= 2, "{nested} nested, {gaps} gaps");
    }
}

#[test]
fn a_new_shape_has_no_contacts_of_the_old_one() {
    let options = Options { contacts: Contacts::Manifold, ..Options::default() };
    let mut scene = Scene::with_options(options).unwrap();
    let box_of = |n: u32| Shape::from(procedural::cuboid([0.5; 3], [n; 3]).unwrap());
    let a = scene.add(Body::fixed(box_of(4), Pose::IDENTITY));
    scene.add(Body::moving(torus(), at(0.0, 0.0, 0.6)));
    let first = scene.step(&mut Budget::UNLIMITED.clone());
    assert!(!first.contacts.is_empty() && !first.points.is_empty());
    assert!(scene.set_shape(a, box_of(1)));
    let open = scene.step(&mut Budget::units(0));
    assert_eq!((open.undecided.len(), open.contacts.len(), open.points.len()), (1, 0, 0));
    assert!(open.events.is_empty());
    let whole = scene.step(&mut Budget::UNLIMITED.clone());
    assert!(!whole.contacts.is_empty() && whole.events[0].kind == EventKind::Persists);
    // A box of 12 triangles.
    let face = |c: &Contact| if let crate::Feature::Face(f) = c.features[0] { f } else { 0 };
    assert!(whole.points.iter().all(|point| face(point) < 12), "{:?}", whole.points);
}

#[test]
fn events_are_worth_what_decided_them() {
    let egg = Shape::ellipsoid([0.5, 0.5, 1.0]).unwrap();
    let ball = Shape::sphere(0.5).unwrap();
    let step = |shape: &Shape, told: Contacts, sensor: bool| {
        let mut scene = Scene::with_options(Options { contacts: told, ..Options::default() }).unwrap();
        scene.add(Body::fixed(ball.clone(), Pose::IDENTITY));
        scene.add(Body { sensor, ..Body::moving(shape.clone(), at(1.0, 0.0, 0.0)) });
        let frame = scene.step(&mut Budget::UNLIMITED.clone());
        (frame.outcome.certainty, frame.contacts.len())
    };
    for (told, sensor) in [(Contacts::None, false), (Contacts::Deepest, true)] {
        let (certainty, contacts) = step(&egg, told, sensor);
        assert!(matches!(certainty, Certainty::Approximate { .. }), "{certainty:?}");
        assert_eq!((contacts, step(&ball, told, sensor)), (0, (Certainty::Exact, 0)));
    }
}

#[test]
fn parts_that_an_earlier_frame_decided_count_for_the_certainty() {
    let egg = Shape::ellipsoid([0.5, 0.5, 1.0]).unwrap();
    let ball = Shape::sphere(0.5).unwrap();
    // The first part is curved, the mesh after it costs many frames.
    let solid = Shape::compound([(egg, at(0.0, 0.0, 0.0)), (ball.clone(), at(3.0, 0.0, 0.0))]).unwrap();
    let mesh = Shape::from(procedural::blob(0.6, 0.3, 4, 3).unwrap());
    let fresh = |mesh: &Shape| {
        let mut scene = Scene::default();
        scene.add(Body::fixed(solid.clone(), Pose::IDENTITY));
        scene.add(Body::moving(ball.clone(), at(1.0, 0.0, 0.0)));
        scene.add(Body::moving(mesh.unprepared(), at(3.4, 0.0, 0.0)));
        scene
    };
    let whole = fresh(&mesh).step(&mut Budget::UNLIMITED.clone()).outcome.certainty;
    assert!(matches!(whole, Certainty::Approximate { .. }), "{whole:?}");
    let mut scene = fresh(&mesh);
    let frames = (1..500).find(|_| scene.step(&mut Budget::units(500)).undecided.is_empty());
    assert!(frames.is_some_and(|frames| frames > 1), "{frames:?}");
    assert_eq!(scene.last().outcome.certainty, whole);
}
