//! `multibody`: polytopes fly and tumble in a closed box and collide elastically.
//!
//! The experiment of I-COLLIDE (Cohen, Lin, Manocha, Ponamgi 1995) for many bodies: polytopes of 36 faces
//! fill 1 % of the box; at the start each moves by 10 % of its radius and turns by 10 degrees a frame. The
//! box grows with the number of bodies, so that the density stays. Sizes are in radii of a body.

use std::f64::consts::TAU;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use impinge::scene::{Frame, Options, Scene};
use impinge::{Aabb, Budget, Error, Mesh, procedural};

use super::Scenario;
use crate::closed_box::{ClosedBox, SharedShape};
use crate::drawing::{Drawing, Figure};
use crate::random::unit;
use crate::rigid::Rigid;

/// Bodies unless asked otherwise.
pub const BODIES: usize = 1000;

/// Share of the box that the bodies fill.
pub const DENSITY: f64 = 0.01;

/// Way in a frame at the start, in radii.
const WAY: f64 = 0.1;

/// Angle in a frame at the start, 10 degrees.
const TURN: f64 = TAU / 36.0;

/// Different polytopes.
const KINDS: usize = 32;

/// Corners of a polytope: 2·20 − 4 = 36 triangular faces.
const CORNERS: usize = 20;

/// Largest relative drift of the energy that is no error, whatever the number of frames up to 10,000.
pub const ENERGY_BOUND: f64 = 1e-9;

/// The same for the momentum of bodies and walls, relative to the sum of the lengths of all momenta.
pub const MOMENTUM_BOUND: f64 = 1e-9;

/// Many bodies in a closed box.
#[derive(Debug)]
pub struct Multibody {
    world: ClosedBox,
    meshes: Vec<Arc<Mesh>>,
}

impl Multibody {
    /// So many bodies, on the scene's own choice of a broad phase.
    ///
    /// # Errors
    /// No bodies, or more than can be placed.
    pub fn new(bodies: usize, seed: u64) -> Result<Multibody, Error> {
        Multibody::in_scene(Scene::default(), bodies, seed)
    }

    /// The same in an empty scene with options and a broad phase of one's own.
    ///
    /// # Errors
    /// No bodies, or more than can be placed.
    pub fn in_scene(scene: Scene, bodies: usize, seed: u64) -> Result<Multibody, Error> {
        if bodies == 0 {
            return Err(Error::Argument { name: "bodies", reason: "there must be one at least".into() });
        }
        let kinds = (0..KINDS as u64).map(|k| kind(seed, k)).collect::<Result<Vec<_>, _>>()?;
        let meshes = kinds.iter().map(|k| Arc::new(k.mesh.clone())).collect();
        let volume: f64 = (0..bodies).map(|i| kinds[i % KINDS].weight.mass).sum();
        // A sphere of radius 1 must fit even when there are few bodies.
        let half = DVec3::splat((0.5 * (volume / DENSITY).cbrt()).max(1.5));
        let mut places = procedural::spheres(bodies, 1.0, -half, half, seed)?;
        // Neighbours in space become neighbours in memory, and stay so for long.
        places.sort_by_cached_key(|&p| curve((p + half) / (2.0 * half)));
        let turns = procedural::rotations(bodies, seed.wrapping_add(1));
        let rigid = |i: usize| {
            let weight = &kinds[i % KINDS].weight;
            let rotation = DQuat::from_array(turns[i]);
            let [course, axis] = [2, 3].map(|k| direction(seed.wrapping_add(k), i as u64));
            let spin = weight.inverse_inertia.inverse() * (rotation.conjugate() * (axis * TURN));
            Rigid {
                position: places[i],
                rotation,
                momentum: course * (WAY * weight.mass),
                spin: rotation * spin,
            }
        };
        let members: Vec<_> = (0..bodies).map(|i| ((i % KINDS) as u32, rigid(i))).collect();
        let walls = Aabb { low: -half, high: half };
        Ok(Multibody { world: ClosedBox::new(scene, walls, kinds, members)?, meshes })
    }

    /// The bodies in their box.
    pub fn world(&self) -> &ClosedBox {
        &self.world
    }

    /// The options that every such scene should have: contacts are overlaps.
    pub fn options() -> Options {
        Options::default()
    }
}

impl Scenario for Multibody {
    fn advance(&mut self, budget: &mut Budget) -> Result<Frame<'_>, Error> {
        self.world.advance(1.0, budget)
    }

    fn scene(&self) -> &Scene {
        self.world.scene()
    }

    fn polytopes(&self) -> usize {
        self.world.members().len()
    }

    fn measures(&self) -> Vec<(&'static str, f64)> {
        let (ledger, totals) = (self.world.ledger(), self.world.totals());
        vec![
            ("energy_moving", totals.energy[0]),
            ("energy_turning", totals.energy[1]),
            ("energy_drift", self.world.energy_drift()),
            ("momentum_drift", self.world.momentum_drift()),
            ("collisions", ledger.collisions as f64),
            ("bounces", ledger.bounces as f64),
            ("deepest_overlap", ledger.deepest_overlap),
            ("deepest_in_wall", ledger.deepest_in_wall),
            ("outside", self.world.outside() as f64),
        ]
    }

    fn check(&self) -> Result<(), String> {
        let (energy, momentum) = (self.world.energy_drift(), self.world.momentum_drift());
        let outside = self.world.outside();
        if outside > 0 {
            return Err(format!("{outside} bodies are outside the box"));
        }
        // Negated, so that NaN fails.
        if !(energy.abs() <= ENERGY_BOUND) {
            return Err(format!("the energy is off by {energy:e}, more than {ENERGY_BOUND:e}"));
        }
        if !(momentum <= MOMENTUM_BOUND) {
            return Err(format!("the momentum is off by {momentum:e}, more than {MOMENTUM_BOUND:e}"));
        }
        Ok(())
    }

    fn drawing(&self) -> Drawing {
        let mut drawing = Drawing::default();
        let walls = self.world.walls();
        drawing.outline(walls.low, walls.high, [0.25, 0.28, 0.33]);
        let mut touching = vec![false; self.world.members().len()];
        for contact in self.scene().last().contacts {
            contact.bodies.iter().for_each(|id| touching[id.index()] = true);
        }
        for (member, touching) in self.world.members().iter().zip(touching) {
            let tint = 0.5 + 0.5 * (member.kind as f64 / KINDS as f64);
            let colour = if touching { [0.90, 0.10, 0.06] } else { [0.36 * tint, 0.56 * tint, 0.80 * tint] };
            let mesh = Arc::clone(&self.meshes[member.kind as usize]);
            let Ok(pose) = member.rigid.pose() else { continue };
            drawing.figures.push(Figure { mesh, pose, colour });
        }
        drawing
    }
}

/// A polytope of 36 faces: corners spread over an ellipsoid, the farthest at 1 from the centre of mass.
fn kind(seed: u64, k: u64) -> Result<SharedShape, Error> {
    let seed = seed.wrapping_add(1000 + k);
    let radii = DVec3::new(1.0, 0.7 + 0.3 * unit(seed, 0), 0.6 + 0.3 * unit(seed, 1));
    let mut directions: Vec<DVec3> = Vec::with_capacity(CORNERS);
    while directions.len() < CORNERS {
        // Of some candidates the one farthest from all so far: spread, but not regular.
        let candidates = (0..8).map(|c| direction(seed, 8 * directions.len() as u64 + c + 1));
        let gap = |d: &DVec3| directions.iter().map(|e| d.distance_squared(*e)).fold(4.0, f64::min);
        let best = candidates.max_by(|a, b| gap(a).total_cmp(&gap(b)));
        directions.extend(best);
    }
    let points: Vec<DVec3> = directions.iter().map(|d| *d * radii).collect();
    let rough = SharedShape::hull(&points)?;
    let scaled: Vec<DVec3> = points.iter().map(|&p| p / rough.radius).collect();
    let kind = SharedShape::hull(&scaled)?;
    debug_assert_eq!(kind.shape.hull_faces(), Some(2 * CORNERS - 4));
    Ok(kind)
}

/// A unit vector, uniform over the sphere.
fn direction(seed: u64, n: u64) -> DVec3 {
    let z = 2.0 * unit(seed, 2 * n) - 1.0;
    let (sin, cos) = (TAU * unit(seed, 2 * n + 1)).sin_cos();
    let r = (1.0 - z * z).max(0.0).sqrt();
    DVec3::new(r * cos, r * sin, z)
}

/// The place of a point of the unit cube along a Morton curve of 2¹⁰ cells a side.
fn curve(p: DVec3) -> u32 {
    let cell = (p * 1024.0).as_uvec3().min(glam::UVec3::splat(1023));
    (0..10).fold(0, |code, bit| {
        let take = |x: u32, place: u32| (x >> bit & 1) << (3 * bit + place);
        code | take(cell.x, 0) | take(cell.y, 1) | take(cell.z, 2)
    })
}
