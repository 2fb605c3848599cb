//! The volume constraint against closed forms: bouncing, sliding, momentum, weight.

use glam::{DMat3, DQuat};

use super::*;
use crate::{Mesh, Pose, Query, Shape, VolumeOptions, procedural};

const GRAVITY: f64 = 9.81;

/// A rigid box that flies.
#[derive(Clone)]
struct Block {
    shape: Shape,
    half: DVec3,
    mass: f64,
    place: DVec3,
    turn: DQuat,
    velocity: DVec3,
    spin: DVec3,
}

impl Block {
    fn new(half: [f64; 3], mass: f64, place: DVec3) -> Block {
        let shape = Shape::from(procedural::cuboid(half, [1; 3]).unwrap());
        let [velocity, spin] = [DVec3::ZERO; 2];
        Block { shape, half: half.into(), mass, place, turn: DQuat::IDENTITY, velocity, spin }
    }

    fn pose(&self) -> Pose {
        Pose::new(self.place.to_array(), self.turn.normalize().to_array()).unwrap()
    }

    fn receiver(&self) -> Receiver<'static> {
        let h = self.half;
        let inertia = DVec3::new(h.y * h.y + h.z * h.z, h.x * h.x + h.z * h.z, h.x * h.x + h.y * h.y);
        let axes = DMat3::from_quat(self.turn);
        let inverse = DMat3::from_diagonal(3.0 / (self.mass * inertia));
        Receiver::Rigid {
            centre: self.place,
            inverse_mass: 1.0 / self.mass,
            inverse_inertia: axes * inverse * axes.transpose(),
            moved: [self.velocity, self.spin],
        }
    }

    fn change(&mut self, by: &Displacement) {
        if let Displacement::Rigid { translation, rotation } = by {
            self.velocity += *translation;
            self.spin += *rotation;
        }
    }

    fn advance(&mut self, step: f64) {
        self.place += self.velocity * step;
        self.turn = (DQuat::from_scaled_axis(self.spin * step) * self.turn).normalize();
    }
}

fn measure(a: (&Shape, Pose), b: (&Shape, Pose)) -> Volume {
    let options = VolumeOptions { samples: true, ..VolumeOptions::default() };
    Query::default().volume(a.0.at(a.1), b.0.at(b.1), options).unwrap().value.unwrap()
}

fn ground() -> Shape {
    Shape::from(procedural::cuboid([20.0, 20.0, 1.0], [1; 3]).unwrap())
}

/// One step of a block above a ground whose top is at z = 0.
fn step(block: &mut Block, ground: &Shape, gravity: DVec3, constraint: &VolumeConstraint, time: f64) -> f64 {
    block.velocity += gravity * time;
    let below = Pose::from_translation([0.0, 0.0, -1.0]).unwrap();
    let found = measure((ground, below), (&block.shape, block.pose()));
    let solved = constraint.solve(&[Receiver::Fixed, block.receiver()], &[([0, 1], &found)]).unwrap();
    block.change(&solved.velocities[1]);
    block.advance(time);
    solved.pressures[0]
}

#[test]
fn a_block_bounces_with_the_given_restitution() {
    let ground = ground();
    for restitution in [0.0, 0.3, 0.5, 0.8, 1.0] {
        let constraint = VolumeConstraint { restitution, ..VolumeConstraint::default() };
        let mut block = Block::new([0.5, 0.4, 0.3], 2.0, DVec3::new(0.1, 0.2, 1.3));
        let (time, mut impact) = (1e-3, None);
        for _ in 0..2000 {
            let before = block.velocity.z - GRAVITY * time;
            if step(&mut block, &ground, -DVec3::Z * GRAVITY, &constraint, time) > 0.0 {
                impact = Some((before, block.velocity.z));
                break;
            }
        }
        let (before, after) = impact.expect("it falls onto the ground");
        // One metre deep: √(2·g·h).
        assert!((before + (2.0 * GRAVITY).sqrt()).abs() < 0.01 * before.abs(), "{before}");
        assert!((after + restitution * before).abs() < 1e-9, "{restitution}: {before} {after}");
        // And flies as high as that allows, within the error of the steps.
        let mut highest = block.place.z;
        for _ in 0..2000 {
            step(&mut block, &ground, -DVec3::Z * GRAVITY, &constraint, time);
            highest = highest.max(block.place.z);
            if block.velocity.z < 0.0 {
                break;
            }
        }
        let height = (highest - 0.3) - restitution * restitution;
        assert!(height.abs() < 0.01, "{restitution}: {highest}");
        assert!(block.spin.length() < 1e-9, "{}", block.spin);
    }
}

/// How far a block slides in a second on a slope.
fn slide(friction: f64, slope: f64) -> (f64, Block) {
    let (time, gravity) = (2e-3, DVec3::new(slope.sin(), 0.0, -slope.cos()) * GRAVITY);
    let rest = 1e-4;
    let constraint = VolumeConstraint { friction, rest, recovery: 20.0, ..VolumeConstraint::default() };
    let ground = ground();
    let mut block = Block::new([0.5, 0.5, 0.1], 2.0, DVec3::new(0.0, 0.0, 0.1 - rest));
    for _ in 0..500 {
        step(&mut block, &ground, gravity, &constraint, time);
    }
    (block.place.x, block)
}

#[test]
fn a_block_holds_below_the_cone_of_friction_and_slides_above() {
    for friction in [0.2, 0.5_f64] {
        let cone = friction.atan();
        for share in [0.5, 0.95] {
            let (way, block) = slide(friction, share * cone);
            assert!(way.abs() < 1e-3 && block.velocity.length() < 1e-2, "{friction} {share}: {way}");
        }
        for share in [1.05, 1.5] {
            let slope = share * cone;
            let (way, block) = slide(friction, slope);
            let expected = 0.5 * GRAVITY * (slope.sin() - friction * slope.cos());
            assert!((way - expected).abs() < 0.02 * expected + 1e-3, "{friction} {share}: {way} {expected}");
            assert!((block.place.z - 0.1).abs() < 1e-3, "{}", block.place);
        }
    }
}

#[test]
fn two_bodies_exchange_momentum() {
    for (masses, restitution) in [([1.0, 1.0], 1.0), ([1.0, 3.0], 0.5), ([5.0, 0.2], 0.0)] {
        let sizes = [[0.5; 3], [0.5, 0.4, 0.3]];
        let mut blocks = [0, 1].map(|k| Block::new(sizes[k], masses[k], DVec3::X * (0.99 * k as f64)));
        (blocks[0].velocity, blocks[1].velocity) = (DVec3::X * 2.0, DVec3::X * -1.0);
        let found = measure((&blocks[0].shape, blocks[0].pose()), (&blocks[1].shape, blocks[1].pose()));
        let constraint =
            VolumeConstraint { restitution, friction: 0.3, tolerance: 1e-12, ..VolumeConstraint::default() };
        let bodies = [blocks[0].receiver(), blocks[1].receiver()];
        let solved = constraint.solve(&bodies, &[([0, 1], &found)]).unwrap();
        (0..2).for_each(|k| blocks[k].change(&solved.velocities[k]));
        let total = masses[0] + masses[1];
        let mean = (2.0 * masses[0] - masses[1]) / total;
        let expected = [1, 0].map(|k| {
            let sign = if k == 1 { -1.0 } else { 1.0 };
            mean + sign * restitution * 3.0 * masses[k] / total
        });
        for k in 0..2 {
            assert!((blocks[k].velocity - DVec3::X * expected[k]).length() < 1e-9, "{}", blocks[k].velocity);
            assert!(blocks[k].spin.length() < 1e-9);
        }
        assert!(solved.residual < 1e-9 && solved.unanswered == 0, "{solved:?}");
    }
}

#[test]
fn a_stack_carries_its_weight() {
    let (ground, time) = (ground(), 1e-2);
    let mut stack = [(0.5, 3.0, 0.499), (0.4, 2.0, 1.398), (0.3, 1.0, 2.097)]
        .map(|(half, mass, z)| Block::new([half; 3], mass, DVec3::Z * z));
    stack.iter_mut().for_each(|block| block.velocity.z = -GRAVITY * time);
    let below = Pose::from_translation([0.0, 0.0, -1.0]).unwrap();
    let on_ground = measure((&ground, below), (&stack[0].shape, stack[0].pose()));
    let between = [0, 1]
        .map(|k| measure((&stack[k].shape, stack[k].pose()), (&stack[k + 1].shape, stack[k + 1].pose())));
    let bodies = [Receiver::Fixed, stack[0].receiver(), stack[1].receiver(), stack[2].receiver()];
    let overlaps = [([0, 1], &on_ground), ([1, 2], &between[0]), ([2, 3], &between[1])];
    let constraint = VolumeConstraint { friction: 0.5, tolerance: 1e-12, ..VolumeConstraint::default() };
    let solved = constraint.solve(&bodies, &overlaps).unwrap();
    let areas = [1.0, 0.64, 0.36];
    for (k, carried) in [6.0, 3.0, 1.0].into_iter().enumerate() {
        let force = solved.pressures[k] * areas[k] / time;
        assert!((force - carried * GRAVITY).abs() < 1e-6, "{k}: {force}");
    }
    assert!(solved.residual < 1e-9, "{solved:?}");
}

#[test]
fn vertices_bounce_as_one_where_they_move_as_one() {
    // A free cube of eight masses falls on the ground: only the lower four are stopped.
    let mesh: Mesh = procedural::cuboid([0.5; 3], [1; 3]).unwrap();
    let vertices: Vec<DVec3> = mesh.vertices().iter().map(|p| *p + DVec3::Z * 0.49).collect();
    let (moved, compliance) = (vec![-DVec3::Z; vertices.len()], vec![8.0; vertices.len()]);
    let body = Receiver::Deformable {
        vertices: &vertices,
        triangles: mesh.triangles(),
        compliance: &compliance,
        moved: &moved,
    };
    let soft = Shape::from(Mesh::from_points(vertices.clone(), mesh.triangles().to_vec()).unwrap());
    let below = Pose::from_translation([0.0, 0.0, -1.0]).unwrap();
    let found = measure((&ground(), below), (&soft, Pose::IDENTITY));
    let constraint = VolumeConstraint { restitution: 0.5, ..VolumeConstraint::default() };
    let solved = constraint.solve(&[Receiver::Fixed, body], &[([0, 1], &found)]).unwrap();
    let Displacement::Vertices(changes) = &solved.velocities[1] else { panic!("{solved:?}") };
    // The rate of the volume goes from 1 (the area of the base times the speed) to −½.
    let mut rate = 0.0;
    for sample in found.samples.iter().filter(|sample| sample.body == 1) {
        let corners = mesh.triangles()[sample.triangle.unwrap() as usize];
        for (v, share) in corners.into_iter().zip(sample.barycentric) {
            let change = changes.iter().find(|(w, _)| *w == v).map_or(DVec3::ZERO, |(_, change)| *change);
            rate += share * sample.area.dot(moved[v as usize] + change);
        }
    }
    assert!((rate + 0.5).abs() < 1e-12, "{rate}");
}

#[test]
fn what_cannot_be_answered_is_counted_and_what_is_wrong_refused() {
    let blocks = [0.0, 0.9].map(|x| Block::new([0.5; 3], 1.0, DVec3::X * x));
    let found = measure((&blocks[0].shape, blocks[0].pose()), (&blocks[1].shape, blocks[1].pose()));
    let constraint = VolumeConstraint::default();
    let fixed = constraint.solve(&[Receiver::Fixed; 2], &[([0, 1], &found)]).unwrap();
    assert_eq!((fixed.unanswered, fixed.pressures), (1, vec![0.0]));
    let apart = constraint.solve(&[Receiver::Fixed; 2], &[([0, 1], &Volume::default())]).unwrap();
    assert_eq!((apart.unanswered, apart.rounds), (0, 0));
    for wrong in [
        VolumeConstraint { restitution: 1.5, ..constraint },
        VolumeConstraint { friction: f64::NAN, ..constraint },
        VolumeConstraint { recovery: -1.0, ..constraint },
    ] {
        let refused = wrong.solve(&[Receiver::Fixed; 2], &[([0, 1], &found)]).unwrap_err();
        assert!(refused.to_string().contains("outside its range"), "{refused}");
    }
    // Bodies that part already are left alone.
    let mut parting = blocks;
    parting[1].velocity = DVec3::X;
    let solved =
        constraint.solve(&[parting[0].receiver(), parting[1].receiver()], &[([0, 1], &found)]).unwrap();
    assert_eq!(solved.pressures, [0.0]);
}
