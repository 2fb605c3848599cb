//! Rigid bodies whose only response is the projection, with the contact manifolds of a scene as they are.

use glam::{DMat3, DQuat, DVec3};
use impinge::response::{Displacement, Projection, Receiver, Stuck};
use impinge::scene::{Body, BodyId, Contacts, Options, Scene};
use impinge::{Budget, Contact, Pose, Shape, procedural};
use impinge_sim::rigid::{Rigid, Weight};

const STEP: f64 = 0.01;

/// Boxes on a fixed slab, under gravity.
struct Boxes {
    scene: Scene,
    slab: BodyId,
    boxes: Vec<(BodyId, Rigid)>,
    weight: Weight,
    gravity: DVec3,
    options: Projection,
    stuck: Stuck,
    /// The deepest overlap before any projection, and the most contacts at once.
    deepest: f64,
    most: usize,
}

impl Boxes {
    /// Boxes of one size at places above a slab whose top is z = 0.
    fn new(half: DVec3, places: &[DVec3], gravity: DVec3, options: Projection) -> Boxes {
        let margin = Options { margin: 0.01, contacts: Contacts::Manifold, ..Options::default() };
        let mut scene = Scene::with_options(margin).unwrap();
        let below = Pose::from_translation([0.0, 0.0, -1.0]).unwrap();
        let slab = scene.add(Body::fixed(Shape::cuboid([50.0, 50.0, 1.0]).unwrap(), below));
        let (weight, _) = Weight::of(&procedural::cuboid(half.to_array(), [1; 3]).unwrap()).unwrap();
        let shape = Shape::cuboid(half).unwrap();
        let mut add = |position: DVec3| {
            let rigid =
                Rigid { position, rotation: DQuat::IDENTITY, momentum: DVec3::ZERO, spin: DVec3::ZERO };
            (scene.add(Body::moving(shape.clone(), rigid.pose().unwrap())), rigid)
        };
        let boxes = places.iter().map(|&p| add(p)).collect();
        Boxes { scene, slab, boxes, weight, gravity, options, stuck: Stuck::default(), deepest: 0.0, most: 0 }
    }

    /// Flight, detection at its end, projection; the velocity is the way by the time.
    fn advance(&mut self) {
        let mut receivers = vec![Receiver::Fixed];
        let before: Vec<Rigid> = self.boxes.iter().map(|(_, rigid)| *rigid).collect();
        for (id, rigid) in &mut self.boxes {
            rigid.momentum += self.gravity * (self.weight.mass * STEP);
            let start = *rigid;
            rigid.fly(&self.weight, STEP);
            self.scene.place(*id, rigid.pose().unwrap());
            let turn = (rigid.rotation * start.rotation.conjugate()).to_scaled_axis();
            let axes = DMat3::from_quat(rigid.rotation);
            receivers.push(Receiver::Rigid {
                centre: rigid.position,
                inverse_mass: 1.0 / self.weight.mass,
                inverse_inertia: axes * self.weight.inverse_inertia * axes.transpose(),
                moved: [rigid.position - start.position, turn],
            });
        }
        let frame = self.scene.step(&mut Budget::UNLIMITED.clone());
        let number = |id: BodyId| self.boxes.iter().position(|(b, _)| *b == id).map_or(0, |k| k + 1);
        let mut contacts: Vec<([usize; 2], Contact)> = Vec::new();
        for met in frame.contacts {
            assert!(met.bodies.iter().all(|&id| id == self.slab || number(id) > 0));
            contacts.extend(frame.manifold(met).iter().map(|point| (met.bodies.map(number), *point)));
        }
        self.deepest = contacts.iter().map(|(_, c)| c.depth).fold(self.deepest, f64::max);
        self.most = self.most.max(contacts.len());
        let done = self.options.project(&receivers, &contacts, &mut self.stuck).unwrap();
        for (((_, rigid), displacement), before) in
            self.boxes.iter_mut().zip(&done.displacements[1..]).zip(before)
        {
            if let Displacement::Rigid { translation, rotation } = displacement {
                rigid.position += *translation;
                rigid.rotation = (DQuat::from_scaled_axis(*rotation) * rigid.rotation).normalize();
            }
            rigid.momentum = (rigid.position - before.position) * (self.weight.mass / STEP);
            let turn = (rigid.rotation * before.rotation.conjugate()).to_scaled_axis() / STEP;
            let body = rigid.rotation.conjugate() * turn;
            rigid.spin = rigid.rotation * (self.weight.inverse_inertia.inverse() * body);
        }
    }

    /// Kinetic and potential energy.
    fn energy(&self) -> f64 {
        let of = |(_, r): &(BodyId, Rigid)| {
            r.energy(&self.weight).iter().sum::<f64>() - self.weight.mass * self.gravity.dot(r.position)
        };
        self.boxes.iter().map(of).sum()
    }
}

#[test]
fn a_block_rests_below_the_critical_slope_and_slides_above_it() {
    let half = DVec3::new(0.5, 0.5, 0.2);
    for friction in [0.1_f64, 0.3, 0.6] {
        for part in [0.9, 0.99, 1.01, 1.1] {
            let angle = part * friction.atan();
            let gravity = 9.81 * DVec3::new(angle.sin(), 0.0, -angle.cos());
            let options = Projection { friction, tolerance: 1e-10, ..Projection::default() };
            let mut block = Boxes::new(half, &[DVec3::Z * half.z], gravity, options);
            let steps = 200;
            (0..steps).for_each(|_| block.advance());
            let place = block.boxes[0].1.position;
            assert!((place.z - half.z).abs() < 1e-6 && place.y.abs() < 1e-6, "{place}");
            if part < 1.0 {
                assert!(place.x.abs() < 1e-6, "{friction} at {part}: it crept by {}", place.x);
            } else {
                // Each step ends with its velocity: s = a·h²·n(n + 1)/2.
                let acceleration = 9.81 * (angle.sin() - friction * angle.cos());
                let expected = acceleration * STEP * STEP * f64::from(steps * (steps + 1)) / 2.0;
                assert!(
                    (place.x / expected - 1.0).abs() < 0.01,
                    "{friction} at {part}: {} {expected}",
                    place.x
                );
            }
        }
    }
}

#[test]
fn a_wall_of_boxes_stands_still_under_many_contacts() {
    let half = DVec3::new(0.5, 0.4, 0.25);
    let rows = 4;
    let mut places = Vec::new();
    for row in 0..rows {
        for column in 0..(4 - row) {
            let x = 1.02 * (f64::from(column) + 0.5 * f64::from(row));
            places.push(DVec3::new(x, 0.0, half.z * (2.0 * f64::from(row) + 1.0)));
        }
    }
    let options = Projection { friction: 0.5, rounds: 3000, tolerance: 1e-7, ..Projection::default() };
    let mut wall = Boxes::new(half, &places, -9.81 * DVec3::Z, options);
    let start = wall.energy();
    let mut highest = start;
    for _ in 0..100 {
        wall.advance();
        highest = highest.max(wall.energy());
    }
    assert!(wall.most >= 40, "{} contacts at once", wall.most);
    for ((_, rigid), place) in wall.boxes.iter().zip(&places) {
        assert!(rigid.position.distance(*place) < 1e-3, "{} from {place}", rigid.position);
    }
    assert!(highest <= start * (1.0 + 1e-6), "{highest} from {start}");
}

#[test]
fn a_dropped_box_comes_to_rest_without_gaining_energy() {
    let half = DVec3::new(0.5, 0.3, 0.2);
    let options = Projection { friction: 0.4, ..Projection::default() };
    let mut boxes = Boxes::new(half, &[DVec3::Z], -9.81 * DVec3::Z, options);
    let tilt = DQuat::from_scaled_axis(DVec3::new(0.3, 0.5, 0.1));
    boxes.boxes[0].1.rotation = tilt;
    let mut last = boxes.energy();
    let start = last;
    for step in 0..400 {
        boxes.advance();
        let now = boxes.energy();
        assert!(now <= last + 0.01 * start, "{now} from {last} in step {step}");
        last = now;
    }
    let (_, rigid) = &boxes.boxes[0];
    assert!(rigid.energy(&boxes.weight).iter().sum::<f64>() < 1e-6 * start, "at rest: {rigid:?}");
    let up = rigid.rotation.conjugate() * DVec3::Z;
    let height = (half * up.abs()).element_sum();
    assert!((rigid.position.z - height).abs() < 1e-3 && up.abs().max_element() > 0.999, "{rigid:?}");
}
