//! `hand`: an articulated hand closes around objects.
//!
//! The hand of I-COLLIDE (Cohen, Lin, Manocha, Ponamgi 1995): a palm and fifteen bones, all convex, on a tree
//! of joints. The joints of a finger close until a bone beyond them touches something; all closest features
//! between the hand and what is near, and among its own fingers, are told in every frame. The hand has the
//! length 1.

use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use impinge::broad::SweepAndPrune;
use impinge::scene::{Articulated, Body, BodyId, Frame, Groups, Options, Scene, jointed};
use impinge::{Budget, Error, Mesh, Pose, Shape, procedural};

use super::Scenario;
use crate::drawing::{Colour, Drawing, Figure};

/// Features up to this far away are told.
const MARGIN: f64 = 0.12;

/// Angle by which a joint closes in a frame (radians).
const CLOSING: f64 = 0.02;

/// Groups: the hand meets itself and the objects; the objects, which are fixed, meet the hand.
const HAND: Groups = Groups { member: 0b01, meets: 0b11 };
const THINGS: Groups = Groups { member: 0b10, meets: 0b01 };

/// An object in the hand's reach.
#[derive(Debug, Clone)]
struct Thing {
    mesh: Arc<Mesh>,
    pose: Pose,
    colour: Colour,
}

/// A hand, its joints, and what it holds.
#[derive(Debug)]
pub struct Hand {
    scene: Scene,
    hand: Articulated,
    bones: Vec<Arc<Mesh>>,
    things: Vec<Thing>,
    values: Vec<f64>,
    /// Joints that closed until something was touched, or as far as they go.
    stopped: Vec<bool>,
}

impl Hand {
    /// An open hand with a rod, a ball and a die within reach.
    ///
    /// # Errors
    /// None that a hand should give; it passes on those of hulls and scenes.
    pub fn new() -> Result<Hand, Error> {
        let mut scene =
            Scene::new(Options { margin: MARGIN, ..Options::default() }, SweepAndPrune::default())?;
        let parts = procedural::hand(1.0, 12)?;
        // The first joint of a finger bends as far as the second, the last one less.
        let (skeleton, shapes) = jointed(&parts, |i| [0.0, if i % 3 == 0 { 1.2 } else { FRAC_PI_2 }])?;
        let hand = Articulated::add(&mut scene, skeleton, &shapes, &Pose::IDENTITY, HAND)?;
        let things = things()?;
        for thing in &things {
            let shape = Shape::hull(thing.mesh.vertices().iter().copied())?;
            scene.add(Body { groups: THINGS, ..Body::fixed(shape, thing.pose) });
        }
        let joints = parts.len();
        let bones = parts.into_iter().map(|part| Arc::new(part.mesh)).collect();
        let mut stopped = vec![false; joints];
        stopped[0] = true;
        Ok(Hand { scene, hand, bones, things, values: vec![0.0; joints], stopped })
    }

    /// The joint values, angles in radians.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Stops the joints that carry what touches, and takes their last move back.
    fn stop(&mut self) {
        let contacts = self.scene.last().contacts;
        let touching: Vec<BodyId> =
            contacts.iter().filter(|c| c.contact.depth >= 0.0).flat_map(|c| c.bodies).collect();
        let skeleton = self.hand.skeleton();
        for (joint, stopped) in self.stopped.iter_mut().enumerate() {
            let most = skeleton.joints()[joint].limits[1];
            let carries =
                |link: usize| skeleton.hangs_on(link, joint) && touching.contains(&self.hand.links()[link]);
            if *stopped {
                continue;
            }
            if (0..self.bones.len()).any(carries) {
                *stopped = true;
                self.values[joint] = (self.values[joint] - CLOSING).max(0.0);
            } else if self.values[joint] >= most {
                *stopped = true;
            }
        }
    }
}

impl Scenario for Hand {
    fn advance(&mut self, budget: &mut Budget) -> Result<Frame<'_>, Error> {
        for (value, stopped) in self.values.iter_mut().zip(&self.stopped) {
            *value += if *stopped { 0.0 } else { CLOSING };
        }
        self.hand.skeleton().clamp(&mut self.values);
        self.hand.place(&mut self.scene, &Pose::IDENTITY, &self.values);
        self.scene.step(budget);
        self.stop();
        Ok(self.scene.last())
    }

    fn scene(&self) -> &Scene {
        &self.scene
    }

    fn polytopes(&self) -> usize {
        self.bones.len() + self.things.len()
    }

    fn measures(&self) -> Vec<(&'static str, f64)> {
        let contacts = self.scene.last().contacts;
        let nearest = contacts.iter().map(|c| -c.contact.depth).fold(MARGIN, f64::min);
        vec![
            ("joints_at_rest", self.stopped.iter().filter(|s| **s).count() as f64),
            ("joints", self.stopped.len() as f64),
            ("nearest", nearest),
        ]
    }

    fn check(&self) -> Result<(), String> {
        for (i, (value, joint)) in self.values.iter().zip(self.hand.skeleton().joints()).enumerate() {
            let [low, high] = joint.limits;
            if !(low <= *value && *value <= high) {
                return Err(format!("joint {i} is at {value}, outside {low} to {high}"));
            }
        }
        let neighbours: Vec<_> =
            self.hand.skeleton().neighbours().map(|pair| pair.map(|i| self.hand.links()[i])).collect();
        match self.scene.last().contacts.iter().find(|c| neighbours.contains(&c.bodies)) {
            Some(contact) => Err(format!("neighbouring links are told: {contact:?}")),
            None => Ok(()),
        }
    }

    fn drawing(&self) -> Drawing {
        let mut drawing = Drawing::default();
        for (mesh, &id) in self.bones.iter().zip(self.hand.links()) {
            let Some(body) = self.scene.body(id) else { continue };
            drawing.figures.push(Figure {
                mesh: Arc::clone(mesh),
                pose: body.pose,
                colour: [0.86, 0.66, 0.52],
            });
        }
        for thing in &self.things {
            let Thing { mesh, pose, colour } = thing;
            drawing.figures.push(Figure { mesh: Arc::clone(mesh), pose: *pose, colour: *colour });
        }
        drawing.contacts = self.scene.last().contacts.iter().map(|c| c.contact.points).collect();
        drawing.view = Some(DVec3::new(0.75, 0.85, 0.6));
        drawing
    }
}

/// A rod across the fingers, a ball under the thumb and a die at the fingertips.
fn things() -> Result<Vec<Thing>, Error> {
    let thing = |mesh: Mesh, at: DVec3, turn: DQuat, colour: Colour| -> Result<Thing, Error> {
        Ok(Thing { mesh: Arc::new(mesh), pose: Pose::from_rotation(at, turn)?, colour })
    };
    Ok(vec![
        thing(
            procedural::cylinder(0.085, 0.34, 24)?,
            DVec3::new(0.0, 0.53, 0.15),
            DQuat::from_rotation_y(FRAC_PI_2),
            [0.36, 0.56, 0.80],
        )?,
        thing(
            procedural::ico_sphere(0.1, 2)?,
            DVec3::new(0.26, 0.27, 0.17),
            DQuat::IDENTITY,
            [0.50, 0.68, 0.42],
        )?,
        thing(
            procedural::cuboid([0.05; 3], [1; 3])?,
            DVec3::new(-0.02, 0.30, 0.11),
            DQuat::from_rotation_z(0.5),
            [0.86, 0.80, 0.40],
        )?,
    ])
}
