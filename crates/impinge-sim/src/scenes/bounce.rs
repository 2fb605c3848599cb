//! `bounce`: a teapot of several thousand triangles is thrown on a floor, again and again.
//!
//! The application of CONTACT (Redon, Kheddar, Coquillart 2001): an impulse at the time of impact, found by a
//! sweep, so that nothing ever has to be moved back. Velocities are random, up to sixty metres a second: a
//! step of a sixtieth of a second then goes half through the pot. When it lies still, or leaves the floor, it is
//! thrown anew. With more than one body the scene is the box of [`super::Crowd`].

use std::sync::Arc;

use glam::{DQuat, DVec3};
use impinge::scene::{Body, Frame, Scene};
use impinge::{Budget, Error, Mesh, Pose, Shape, procedural};

use super::Scenario;
use crate::drawing::{Drawing, Figure};
use crate::random::unit;
use crate::rigid::{Rigid, Weight};
use crate::swept_world::{Laws, Solid, SweptWorld};

/// Length of a step, in seconds.
pub const STEP: f64 = 1.0 / 60.0;

/// Segments of the teapot: 5248 triangles.
const SEGMENTS: u32 = 32;

/// Half the side of the floor, in metres; the teapot is two metres wide.
const FLOOR: f64 = 10.0;

/// Speeds of a throw, the slowest and the fastest, in metres a second.
const SPEEDS: [f64; 2] = [1.0, 60.0];

/// Fastest spin of a throw, in radians a second.
const SPIN: f64 = 15.0;

/// A way in a step, in metres, below which the pot lies still.
const STILL: f64 = 2e-3;

/// Still steps after which it is thrown anew.
const PATIENCE: u32 = 20;

/// Steps after which it is thrown anew in any case.
const LONGEST: u32 = 900;

const LAWS: Laws = Laws {
    gravity: DVec3::new(0.0, 0.0, -9.81),
    restitution: 0.6,
    friction: 0.3,
    quiet: 0.5,
    gap: 1e-4,
    most_impacts: 8,
};

/// A teapot on the floor.
#[derive(Debug)]
pub struct Bounce {
    world: SweptWorld,
    floor: Arc<Mesh>,
    below: Pose,
    seed: u64,
    throws: u64,
    still: u32,
    steps: u32,
}

impl Bounce {
    /// The teapot above the floor, at its first throw.
    ///
    /// # Errors
    /// None that could happen: the numbers are fixed.
    pub fn new(seed: u64) -> Result<Bounce, Error> {
        let parts = procedural::teapot(1.0, SEGMENTS)?;
        let pot = Solid::new(&procedural::join(parts.iter().map(|part| &part.mesh))?)?;
        let floor = procedural::cuboid([FLOOR, FLOOR, 0.05], [1; 3])?;
        let mut scene = Scene::default();
        let below = Pose::from_translation([0.0, 0.0, -0.05])?;
        scene.add(Body::fixed(Shape::from(floor.clone()), below));
        let first = throw(seed, 0, &pot.weight);
        let mut world = SweptWorld::new(scene, LAWS, vec![pot])?;
        world.add(0, first)?;
        Ok(Bounce { world, floor: Arc::new(floor), below, seed, throws: 1, still: 0, steps: 0 })
    }

    /// The bodies.
    pub fn world(&self) -> &SweptWorld {
        &self.world
    }

    fn throw_again(&mut self) -> Result<(), Error> {
        let weight = self.world.solids()[0].weight;
        self.world.put(0, throw(self.seed, self.throws, &weight))?;
        self.throws += 1;
        (self.still, self.steps) = (0, 0);
        Ok(())
    }
}

/// The n-th throw: from two to five metres above the floor, mostly downward.
fn throw(seed: u64, n: u64, weight: &Weight) -> Rigid {
    let random = |k: u64| unit(seed, n * 16 + k);
    let even = |k: u64| 2.0 * random(k) - 1.0;
    let rotation = DQuat::from_xyzw(even(0), even(1), even(2), even(3)).normalize();
    let speed = SPEEDS[0] * (SPEEDS[1] / SPEEDS[0]).powf(random(4));
    let course = DVec3::new(even(5), even(6), even(7) - 0.5).normalize_or(-DVec3::Z);
    let spin = DVec3::new(even(8), even(9), even(10)) * SPIN;
    let inertia = weight.inverse_inertia.inverse();
    Rigid {
        position: DVec3::new(2.0 * even(11), 2.0 * even(12), 2.0 + 3.0 * random(13)),
        rotation,
        momentum: course * (speed * weight.mass),
        spin: rotation * (inertia * (rotation.conjugate() * spin)),
    }
}

impl Scenario for Bounce {
    fn advance(&mut self, budget: &mut Budget) -> Result<Frame<'_>, Error> {
        let Rigid { position, .. } = self.world.members()[0].rigid;
        let off = position.truncate().abs().max_element() > FLOOR - 1.5 || position.z > FLOOR;
        if off || self.still > PATIENCE || self.steps > LONGEST {
            self.throw_again()?;
        }
        let before = self.world.members()[0].rigid;
        self.world.advance(STEP, budget)?;
        let after = self.world.members()[0].rigid;
        let turned = before.rotation.angle_between(after.rotation);
        let way = (after.position - before.position).length() + turned;
        self.still = if way < STILL { self.still + 1 } else { 0 };
        self.steps += 1;
        Ok(self.world.frame())
    }

    fn scene(&self) -> &Scene {
        self.world.scene()
    }

    fn measures(&self) -> Vec<(&'static str, f64)> {
        let mut all = self.world.measures();
        all.extend([("throws", self.throws as f64), ("height", self.world.members()[0].rigid.position.z)]);
        all
    }

    fn check(&self) -> Result<(), String> {
        let height = self.world.members()[0].rigid.position.z;
        if !(height > 0.0) {
            return Err(format!("the teapot is below the floor, at {height}"));
        }
        self.world.check()
    }

    fn promise(&self) -> &'static str {
        SweptWorld::PROMISE
    }

    fn drawing(&self) -> Drawing {
        let floor = Figure { mesh: Arc::clone(&self.floor), pose: self.below, colour: [0.35, 0.38, 0.42] };
        let mesh = Arc::clone(&self.world.solids()[0].mesh);
        let pot = Figure { mesh, pose: self.world.pose(0), colour: [0.75, 0.45, 0.2] };
        let contacts =
            self.world.meetings().iter().map(|m| [m.impact.point, m.impact.point + 0.3 * DVec3::Z]).collect();
        let view = Some(DVec3::new(0.8, -1.0, 0.45));
        Drawing { figures: vec![floor, pot], contacts, view, ..Drawing::default() }
    }
}
