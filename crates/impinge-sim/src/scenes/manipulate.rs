//! `manipulate`: an object is moved by hand among obstacles, stops at contact and slides along.
//!
//! The application of CONTACT (Redon, Kheddar, Coquillart 2001): each frame the hand asks for a motion; the
//! object follows until it touches, and what is left of the way is projected on the tangent plane and swept again,
//! a few times a frame. The recorded input is a smooth way through obstacles and floor that goes round and round.

use std::f64::consts::TAU;
use std::sync::Arc;

use glam::DVec3;
use impinge::scene::{Body, BodyId, Frame, Scene, SceneSweep};
use impinge::{Budget, Error, Mesh, Motion, Pose, Shape, procedural};

use super::Scenario;
use crate::drawing::{Drawing, Figure};
use crate::overlap_check::all_apart;

/// Frames of one round of the input.
const ROUND: u64 = 400;

/// How often a frame's motion may be turned aside; then the object rests until the next.
const MOST_SLIDES: usize = 6;

/// How near to a contact the object is stopped; it is about 1 wide.
const GAP: f64 = 1e-4;

/// The object, the hand that leads it, and obstacles.
#[derive(Debug)]
pub struct Manipulate {
    scene: Scene,
    scene_sweep: SceneSweep,
    object: BodyId,
    meshes: Vec<Arc<Mesh>>,
    frames: u64,
    slides: u64,
    rests: u64,
    touched: Vec<DVec3>,
}

impl Manipulate {
    /// The object at the start of the input.
    ///
    /// # Errors
    /// None that could happen: the numbers are fixed.
    pub fn new() -> Result<Manipulate, Error> {
        let meshes = [
            procedural::cuboid([5.0, 5.0, 0.1], [1; 3])?,
            procedural::gear(0.4, 0.9, 1.2, 0.8, 12)?,
            procedural::torus(0.9, 0.3, 32, 16)?,
            procedural::stairs(5, 0.4, 1.6, 0.3)?,
            procedural::knot([2, 3], 0.5, 0.12, 96, 12)?,
        ];
        let places = [[0.0, 0.0, -0.1], [2.0, 0.0, 0.45], [-2.0, 0.3, 0.5], [-0.6, 1.6, 0.01]];
        let mut scene = Scene::default();
        let shapes = meshes.clone().map(Shape::from);
        for (shape, place) in shapes.iter().zip(places) {
            scene.add(Body::fixed(shape.clone(), Pose::from_translation(place)?));
        }
        let object = scene.add(Body::moving(shapes[4].clone(), Pose::from_translation(hand(0))?));
        Ok(Manipulate {
            scene,
            scene_sweep: SceneSweep::with_gap(GAP)?,
            object,
            meshes: meshes.map(Arc::new).to_vec(),
            frames: 0,
            slides: 0,
            rests: 0,
            touched: Vec::new(),
        })
    }
}

/// Where the hand is in a frame: round over the obstacles, down to the floor and below it.
fn hand(frame: u64) -> DVec3 {
    let angle = TAU * (frame % ROUND) as f64 / ROUND as f64;
    DVec3::new(2.4 * angle.cos(), -2.4 * angle.sin(), 0.6 + 1.4 * (3.0 * angle).cos())
}

impl Scenario for Manipulate {
    fn advance(&mut self, budget: &mut Budget) -> Result<Frame<'_>, Error> {
        self.frames += 1;
        self.touched.clear();
        let mut pose = self.scene.body(self.object).map_or(Pose::IDENTITY, |body| body.pose);
        let mut way = hand(self.frames) - pose.translation();
        let mut turn = DVec3::new(0.03, 0.02, 0.04);
        let mut outcome = self.scene.last().outcome;
        for slide in 0..=MOST_SLIDES {
            if slide == MOST_SLIDES {
                self.rests += 1;
                break;
            }
            let motion = Motion::velocity(&pose, way, turn)?;
            let ahead = self.scene.first_contact(&[(self.object, motion)], &mut self.scene_sweep, budget);
            outcome = ahead.outcome;
            let Some(hit) = ahead.hit else {
                pose = motion.pose(ahead.free_until);
                break;
            };
            pose = motion.pose(hit.stop);
            self.scene.place(self.object, pose);
            self.touched.push(hit.impact.point);
            self.slides += 1;
            // The normal away from the obstacle; what is left goes along the tangent plane, without turning.
            let normal = hit.impact.normal * if hit.bodies[0] == self.object { -1.0 } else { 1.0 };
            way *= 1.0 - hit.stop;
            way += normal * ((-normal.dot(way)).max(0.0) + 0.5 * GAP);
            turn = DVec3::ZERO;
        }
        self.scene.place(self.object, pose);
        Ok(Frame { outcome, ..self.scene.last() })
    }

    fn scene(&self) -> &Scene {
        &self.scene
    }

    fn measures(&self) -> Vec<(&'static str, f64)> {
        let place = self.scene.body(self.object).map_or(DVec3::NAN, |body| body.pose.translation());
        let behind = (hand(self.frames) - place).length();
        vec![("impacts", self.slides as f64), ("rests", self.rests as f64), ("behind_the_hand", behind)]
    }

    fn check(&self) -> Result<(), String> {
        let z = self.scene.body(self.object).map_or(f64::NAN, |body| body.pose.translation().z);
        if !(z > 0.0) {
            return Err(format!("the object is below the floor, at {z}"));
        }
        all_apart(&self.scene)
    }

    fn promise(&self) -> &'static str {
        "in every frame the object is apart from all obstacles, by exact relations"
    }

    fn drawing(&self) -> Drawing {
        let colours =
            [[0.35, 0.38, 0.42], [0.3, 0.45, 0.7], [0.35, 0.6, 0.3], [0.5, 0.3, 0.6], [0.8, 0.5, 0.2]];
        let mut drawing = Drawing { view: Some(DVec3::new(0.6, -1.0, 0.7)), ..Drawing::default() };
        for (k, (_, body)) in self.scene.bodies().enumerate() {
            let mesh = Arc::clone(&self.meshes[k]);
            drawing.figures.push(Figure { mesh, pose: body.pose, colour: colours[k] });
        }
        let way = |frame: u64| ([hand(frame), hand(frame + 4)], [0.8, 0.2, 0.1]);
        drawing.lines = (0..ROUND).step_by(4).map(way).collect();
        drawing.contacts = self.touched.iter().map(|&p| [p, p]).collect();
        drawing
    }
}
