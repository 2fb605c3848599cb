//! `tunnel`: a bunny flies against a thin wall so fast that one step takes it into the wall (a) or beyond it (b).
//!
//! Figure 5 of CONTACT (Redon, Kheddar, Coquillart 2001): a test of the positions at the ends of steps finds case
//! a, though too late, and misses case b; a sweep stops both before the wall. Every frame is a new try of both.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use impinge::scene::{Body, BodyId, Frame, Scene, SceneSweep};
use impinge::{Budget, Error, Mesh, Motion, Pose, Shape, procedural};

use super::Scenario;
use crate::drawing::{Drawing, Figure};
use crate::overlap_check::all_apart;
use crate::random::unit;

/// Half the thickness of the wall; the bunny has radius 1.
const WALL: f64 = 0.005;

/// How far before the wall a bunny is stopped.
const GAP: f64 = 1e-4;

/// Where the steps begin and end: case a in the wall, case b beyond it.
const START: f64 = -4.0;
const ENDS: [f64; 2] = [0.0, 5.0];

/// Two bunnies and a wall.
#[derive(Debug)]
pub struct Tunnel {
    scene: Scene,
    scene_sweep: SceneSweep,
    bunnies: [BodyId; 2],
    wall: BodyId,
    meshes: [Arc<Mesh>; 2],
    seed: u64,
    tries: u64,
    /// How often the positions at the end of the step would have told of a contact, and the sweep did.
    discrete: [u64; 2],
    swept: [u64; 2],
    ways: [[DVec3; 2]; 2],
}

impl Tunnel {
    /// The wall, and both bunnies before it.
    ///
    /// # Errors
    /// None that could happen: the numbers are fixed.
    pub fn new(seed: u64) -> Result<Tunnel, Error> {
        let meshes = [procedural::bunny(1.0, 4, 5)?, procedural::cuboid([WALL, 5.0, 2.0], [1; 3])?];
        let [bunny, wall] = meshes.clone().map(Shape::from);
        let mut scene = Scene::default();
        let wall = scene.add(Body::fixed(wall, Pose::IDENTITY));
        let places =
            [Pose::from_translation([START, lane(0), 0.0])?, Pose::from_translation([START, lane(1), 0.0])?];
        let bunnies = places.map(|place| scene.add(Body::moving(bunny.clone(), place)));
        Ok(Tunnel {
            scene,
            scene_sweep: SceneSweep::with_gap(GAP)?,
            bunnies,
            wall,
            meshes: meshes.map(Arc::new),
            seed,
            tries: 0,
            discrete: [0; 2],
            swept: [0; 2],
            ways: [[DVec3::ZERO; 2]; 2],
        })
    }

    /// Contacts that the ends of the steps tell of, and those that sweeps do, for both cases.
    pub fn found(&self) -> [[u64; 2]; 2] {
        [self.discrete, self.swept]
    }

    /// The step of one case: its start, its motion and its end.
    fn step(&self, k: usize) -> Result<Motion, Error> {
        let even = |n: u64| 2.0 * unit(self.seed, self.tries * 16 + 8 * k as u64 + n) - 1.0;
        let rotation = DQuat::from_xyzw(even(0), even(1), even(2), even(3)).normalize();
        let start = Pose::from_rotation(DVec3::new(START, lane(k), 0.0), rotation)?;
        let way = DVec3::new(ENDS[k] - START, 0.2 * even(4), 0.2 * even(5));
        Motion::velocity(&start, way, DVec3::new(even(6), even(7), even(4)))
    }
}

/// The bunnies fly beside each other.
fn lane(k: usize) -> f64 {
    [-2.4, 2.4][k]
}

impl Scenario for Tunnel {
    fn advance(&mut self, budget: &mut Budget) -> Result<Frame<'_>, Error> {
        let motions = [(self.bunnies[0], self.step(0)?), (self.bunnies[1], self.step(1)?)];
        self.tries += 1;
        let shape = |id: BodyId| self.scene.body(id).map(|body| body.shape.clone());
        if let (Some(bunny), Some(wall)) = (shape(self.bunnies[0]), shape(self.wall)) {
            for (k, (_, motion)) in motions.iter().enumerate() {
                let end = impinge::relation(bunny.at(motion.pose(1.0)), &wall);
                self.discrete[k] += u64::from(end.is_contact());
                self.ways[k] = [motion.pose(0.0), motion.pose(1.0)].map(|pose| pose.translation());
            }
        }
        self.scene_sweep.start(&self.scene, &motions);
        let ahead = loop {
            let ahead = self.scene_sweep.first(&self.scene, budget);
            let Some(hit) = ahead.hit else { break ahead };
            let Some(k) = self.bunnies.iter().position(|id| hit.bodies.contains(id)) else { break ahead };
            self.swept[k] += 1;
            let stopped = Motion::Still(motions[k].1.pose(hit.stop));
            self.scene_sweep.turn(&self.scene, self.bunnies[k], stopped);
        };
        for id in self.bunnies {
            if let Some(pose) = self.scene_sweep.pose(id, ahead.free_until) {
                self.scene.place(id, pose);
            }
        }
        Ok(Frame { outcome: ahead.outcome, ..self.scene.last() })
    }

    fn scene(&self) -> &Scene {
        &self.scene
    }

    fn measures(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("seen_at_ends_a", self.discrete[0] as f64),
            ("seen_at_ends_b", self.discrete[1] as f64),
            ("swept_a", self.swept[0] as f64),
            ("swept_b", self.swept[1] as f64),
        ]
    }

    fn check(&self) -> Result<(), String> {
        for (k, id) in self.bunnies.into_iter().enumerate() {
            let x = self.scene.body(id).map_or(f64::NAN, |body| body.pose.translation().x);
            if !(x < 0.0) {
                return Err(format!("case {} is through the wall, at {x}", ["a", "b"][k]));
            }
        }
        all_apart(&self.scene)
    }

    fn promise(&self) -> &'static str {
        "in every frame both bunnies are stopped before the wall, by exact relations"
    }

    fn drawing(&self) -> Drawing {
        let mut drawing = Drawing { view: Some(DVec3::new(-0.5, -1.0, 0.6)), ..Drawing::default() };
        for (id, body) in self.scene.bodies() {
            let bunny = id != self.wall;
            let mesh = Arc::clone(&self.meshes[usize::from(!bunny)]);
            let colour = if bunny { [0.7, 0.6, 0.45] } else { [0.35, 0.45, 0.55] };
            drawing.figures.push(Figure { mesh, pose: body.pose, colour });
        }
        drawing.lines = self.ways.iter().map(|&way| (way, [0.8, 0.2, 0.1])).collect();
        drawing
    }
}
