//! The box of `bounce --bodies N`: bodies that are not convex fly, tumble and collide in a closed box.
//!
//! Tori, gears, stairs, knots, horseshoes and small teapots of about a hundred to four hundred triangles, all in
//! one motion of the world: continuous against each other and against the six walls. Collisions are elastic and
//! smooth. Velocities are random, one body in ten is ten times as fast as the others, and all are drawn anew
//! every hundred steps. Lengths are in radii of a body.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use impinge::bound::Aabb;
use impinge::num::random::unit;
use impinge::scene::{Body, Frame, Scene};
use impinge::shape::make;
use impinge::{Budget, Error, Mesh, Model, Pose, Shape};

use super::Scenario;
use crate::drawing::{Drawing, Figure};
use crate::rigid::Rigid;
use crate::swept_world::{Laws, Solid, SweptWorld};

/// Bodies of the box that the promises are made for.
pub const BODIES: usize = 200;

/// Share of the box that the balls around the bodies fill.
const DENSITY: f64 = 0.1;

/// Largest way and turn in a step; the way is ten times as long for the fast ones.
const WAY: f64 = 0.05;
const TURN: f64 = 0.1;

/// Steps between two draws of all velocities.
const STIRRED: u64 = 100;

const LAWS: Laws =
    Laws { gravity: DVec3::ZERO, restitution: 1.0, friction: 0.0, quiet: 0.0, gap: 1e-4, most_impacts: 8 };

/// Half the thickness of a wall.
const WALL: f64 = 0.5;

/// Many bodies in a closed box.
#[derive(Debug)]
pub struct Crowd {
    world: SweptWorld,
    room: Aabb,
    seed: u64,
    steps: u64,
}

impl Crowd {
    /// So many bodies.
    ///
    /// # Errors
    /// No bodies, or more than can be placed.
    pub fn new(bodies: usize, seed: u64) -> Result<Crowd, Error> {
        if bodies == 0 {
            return Err(Error::Argument { name: "bodies", reason: "there must be one at least".into() });
        }
        let solids = meshes()?.iter().map(unit_solid).collect::<Result<Vec<_>, _>>()?;
        let ball = 4.0 / 3.0 * std::f64::consts::PI;
        let half = DVec3::splat((0.5 * (bodies as f64 * ball / DENSITY).cbrt()).max(1.5));
        let mut scene = Scene::default();
        for (shape, pose) in walls(half)? {
            scene.add(Body::fixed(shape, pose));
        }
        let places = make::spheres(bodies, 1.01, -half, half, seed)?;
        let turns = make::rotations(bodies, seed.wrapping_add(1));
        let kinds = solids.len();
        let mut world = SweptWorld::new(scene, LAWS, solids);
        for (i, (&position, turn)) in places.iter().zip(turns).enumerate() {
            let rotation = DQuat::from_array(turn);
            let rigid = Rigid { position, rotation, momentum: DVec3::ZERO, spin: DVec3::ZERO };
            world.add((i % kinds) as u32, rigid)?;
        }
        Ok(Crowd { world, room: Aabb { low: -half, high: half }, seed, steps: 0 })
    }

    /// The bodies.
    pub fn world(&self) -> &SweptWorld {
        &self.world
    }

    /// Random velocities for all.
    fn stir(&mut self) {
        for i in 0..self.world.members().len() {
            let member = self.world.members()[i];
            let weight = self.world.solids()[member.solid as usize].weight;
            let even = |k: u64| {
                let n = (self.steps / STIRRED) * (1 << 32) + i as u64 * 8 + k;
                2.0 * unit(self.seed, n) - 1.0
            };
            let way = if i % 10 == 0 { 10.0 * WAY } else { WAY };
            let angular = DVec3::new(even(3), even(4), even(5)) * TURN;
            let rotation = member.rigid.rotation;
            let inertia = weight.inverse_inertia.inverse();
            let momentum = DVec3::new(even(0), even(1), even(2)) * (way * weight.mass);
            let spin = rotation * (inertia * (rotation.conjugate() * angular));
            self.world.put(i, Rigid { momentum, spin, ..member.rigid });
        }
    }
}

fn meshes() -> Result<Vec<Mesh>, Error> {
    let pot = make::teapot(1.0, 6)?;
    Ok(vec![
        make::torus(0.7, 0.25, 12, 8)?,
        make::gear(0.3, 0.7, 1.0, 0.4, 9)?,
        make::stairs(4, 0.4, 0.8, 0.3)?,
        make::knot([2, 3], 1.0, 0.2, 32, 6)?,
        make::horseshoe(1.0, 0.2, 16, 6)?,
        make::join(pot.iter().map(|part| &part.mesh))?,
    ])
}

/// The solid scaled so that its farthest vertex is at 1.
fn unit_solid(mesh: &Mesh) -> Result<Solid, Error> {
    let scale = 1.0 / Solid::new(mesh)?.radius;
    let vertices = mesh.vertices().iter().map(|&p| p * scale).collect();
    Solid::new(&Mesh::from_points(vertices, mesh.triangles().to_vec())?)
}

/// Six slabs around a room, which overlap at its edges.
fn walls(half: DVec3) -> Result<Vec<(Arc<Shape>, Pose)>, Error> {
    let mut all = Vec::new();
    for axis in 0..3 {
        let mut size = half + 2.0 * WALL;
        size[axis] = WALL;
        let shape = Arc::new(Shape::from(Model::from(make::cuboid(size.to_array(), [1; 3])?)));
        for side in [-1.0, 1.0] {
            let place = DVec3::AXES[axis] * (side * (half[axis] + WALL));
            all.push((Arc::clone(&shape), Pose::from_translation(place)));
        }
    }
    Ok(all)
}

impl Scenario for Crowd {
    fn advance(&mut self, _: &mut Budget) -> Frame<'_> {
        if self.steps.is_multiple_of(STIRRED) {
            self.stir();
        }
        self.world.advance(1.0);
        self.steps += 1;
        self.world.frame()
    }

    fn scene(&self) -> &Scene {
        self.world.scene()
    }

    fn polytopes(&self) -> usize {
        0
    }

    fn measures(&self) -> Vec<(&'static str, f64)> {
        let ledger = self.world.ledger();
        let triangles = |m: &crate::swept_world::Member| {
            self.world.solids()[m.solid as usize].mesh.triangles().len() as f64
        };
        vec![
            ("triangles", self.world.members().iter().map(triangles).sum()),
            ("impacts", ledger.impacts as f64),
            ("rests", ledger.rests as f64),
            ("most_impacts", ledger.most as f64),
            ("energy", self.world.energy()),
        ]
    }

    fn check(&self) -> Result<(), String> {
        for (i, member) in self.world.members().iter().enumerate() {
            let p = member.rigid.position;
            if !(p.cmpge(self.room.low).all() && p.cmple(self.room.high).all()) {
                return Err(format!("body {i} is outside the box, at {p}"));
            }
        }
        self.world.check()
    }

    fn verify(&self) -> Result<(), String> {
        Ok(())
    }

    fn promise(&self) -> &'static str {
        "in every frame all bodies are apart, by exact relations"
    }

    fn drawing(&self) -> Drawing {
        let colour = |solid: u32| match solid {
            0 => [0.75, 0.25, 0.2],
            1 => [0.3, 0.45, 0.7],
            2 => [0.35, 0.6, 0.3],
            3 => [0.8, 0.65, 0.2],
            4 => [0.5, 0.3, 0.6],
            _ => [0.75, 0.45, 0.2],
        };
        let members = self.world.members().iter();
        let figures = members.map(|m| Figure {
            mesh: Arc::clone(&self.world.solids()[m.solid as usize].mesh),
            pose: m.rigid.pose(),
            colour: colour(m.solid),
        });
        let mut drawing = Drawing { figures: figures.collect(), ..Drawing::default() };
        drawing.outline(self.room.low, self.room.high, [0.2; 3]);
        drawing.contacts = self.world.touched().iter().map(|&p| [p, p]).collect();
        drawing
    }
}
