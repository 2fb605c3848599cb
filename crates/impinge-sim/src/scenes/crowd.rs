//! The box of `bounce --bodies N`: bodies that are not convex fly, tumble and collide in a closed box.
//!
//! Tori, gears, stairs, knots, horseshoes and small teapots of about a hundred to four hundred triangles, all in
//! one motion of the world: continuous against each other and against the six walls. Collisions are elastic and
//! smooth. Lengths are in radii of a body; bodies are about a third thick and two wide.
//!
//! Every five steps all get random velocities anew: in any direction, nine in ten from 0.02 to 0.5 a step and the
//! tenth from 0.5 to 4, evenly in the logarithm, and all turn by up to 0.3 radians a step about any axis. In between
//! collisions share them out. So one body in five goes farther in a step than it is thick, and four or five of two
//! hundred farther than they are wide; the scene counts both.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use impinge::scene::{Body, Frame, Scene};
use impinge::{Aabb, Budget, Error, Mesh, Pose, Shape, procedural};

use super::Scenario;
use crate::drawing::{Drawing, Figure};
use crate::random::unit;
use crate::rigid::Rigid;
use crate::swept_world::{Laws, Solid, SweptWorld};

/// Bodies of the box that the promises are made for.
pub const BODIES: usize = 200;

/// Share of the box that the balls around the bodies fill.
const DENSITY: f64 = 0.05;

/// Ways in a step, the shortest and the longest, of most bodies and of one in [`FAST`].
const WAYS: [[f64; 2]; 2] = [[0.02, 0.5], [0.5, 4.0]];
const FAST: usize = 10;

/// Largest turn in a step, in radians.
const TURN: f64 = 0.3;

/// Steps between two draws of all velocities.
const STIRRED: u64 = 5;

const LAWS: Laws =
    Laws { gravity: DVec3::ZERO, restitution: 1.0, friction: 0.0, quiet: 0.0, gap: 1e-4, most_impacts: 64 };

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
        let places = procedural::spheres(bodies, 1.01, -half, half, seed)?;
        let turns = procedural::rotations(bodies, seed.wrapping_add(1));
        let kinds = solids.len();
        let mut world = SweptWorld::new(scene, LAWS, solids)?;
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
    fn stir(&mut self) -> Result<(), Error> {
        for i in 0..self.world.members().len() {
            let member = self.world.members()[i];
            let weight = self.world.solids()[member.solid as usize].weight;
            let random = |k: u64| unit(self.seed, (self.steps / STIRRED) * (1 << 32) + i as u64 * 8 + k);
            let even = |k: u64| 2.0 * random(k) - 1.0;
            let [least, most] = WAYS[usize::from(i % FAST == 0)];
            let way = least * (most / least).powf(random(6));
            let course = DVec3::new(even(0), even(1), even(2)).normalize_or(DVec3::Z);
            let axis = DVec3::new(even(3), even(4), even(5)).normalize_or(DVec3::Z);
            let angular = axis * (TURN * random(7));
            let rotation = member.rigid.rotation;
            let inertia = weight.inverse_inertia.inverse();
            let momentum = course * (way * weight.mass);
            let spin = rotation * (inertia * (rotation.conjugate() * angular));
            self.world.put(i, Rigid { momentum, spin, ..member.rigid })?;
        }
        Ok(())
    }
}

fn meshes() -> Result<Vec<Mesh>, Error> {
    let pot = procedural::teapot(1.0, 6)?;
    Ok(vec![
        procedural::torus(0.7, 0.25, 12, 8)?,
        procedural::gear(0.3, 0.7, 1.0, 0.4, 9)?,
        procedural::stairs(4, 0.4, 0.8, 0.3)?,
        procedural::knot([2, 3], 1.0, 0.2, 32, 6)?,
        procedural::horseshoe(1.0, 0.2, 16, 6)?,
        procedural::join(pot.iter().map(|part| &part.mesh))?,
    ])
}

/// The solid scaled so that its farthest vertex is at 1.
fn unit_solid(mesh: &Mesh) -> Result<Solid, Error> {
    let scale = 1.0 / Solid::new(mesh)?.radius;
    let vertices = mesh.vertices().iter().map(|&p| p * scale).collect();
    Solid::new(&Mesh::from_points(vertices, mesh.triangles().to_vec())?)
}

/// Six slabs around a room, which overlap at its edges.
fn walls(half: DVec3) -> Result<Vec<(Shape, Pose)>, Error> {
    let mut all = Vec::new();
    for axis in 0..3 {
        let mut size = half + 2.0 * WALL;
        size[axis] = WALL;
        let shape = Shape::from(procedural::cuboid(size.to_array(), [1; 3])?);
        for side in [-1.0, 1.0] {
            let place = DVec3::AXES[axis] * (side * (half[axis] + WALL));
            all.push((shape.clone(), Pose::from_translation(place)?));
        }
    }
    Ok(all)
}

impl Scenario for Crowd {
    fn advance(&mut self, budget: &mut Budget) -> Result<Frame<'_>, Error> {
        if self.steps.is_multiple_of(STIRRED) {
            self.stir()?;
        }
        self.world.advance(1.0, budget)?;
        self.steps += 1;
        Ok(self.world.frame())
    }

    fn scene(&self) -> &Scene {
        self.world.scene()
    }

    fn measures(&self) -> Vec<(&'static str, f64)> {
        let mut all = self.world.measures();
        all.push(("energy", self.world.energy()));
        all
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

    fn promise(&self) -> &'static str {
        SweptWorld::PROMISE
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
        let members = self.world.members().iter().enumerate();
        let figures = members.map(|(i, m)| Figure {
            mesh: Arc::clone(&self.world.solids()[m.solid as usize].mesh),
            pose: self.world.pose(i),
            colour: colour(m.solid),
        });
        let mut drawing = Drawing { figures: figures.collect(), ..Drawing::default() };
        drawing.outline(self.room.low, self.room.high, [0.2; 3]);
        drawing.contacts = self.world.meetings().iter().map(|m| [m.impact.point; 2]).collect();
        drawing
    }
}
