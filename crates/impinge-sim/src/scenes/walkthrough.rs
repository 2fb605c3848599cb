//! `walkthrough`: somebody walks through a furnished kitchen.
//!
//! The architectural walkthrough of I-COLLIDE (Cohen, Lin, Manocha, Ponamgi 1995): hundreds of polytopes that
//! never move and one body that does, so that a frame costs what is near the walker and nothing else. The
//! closest features of the walker and everything within an arm's length are told in every frame; the path
//! bumps into a chair that stands in the way. Lengths in metres, 60 frames a second.

use std::f64::consts::TAU;
use std::sync::Arc;

use glam::{DQuat, DVec2, DVec3};
use impinge::broad::SweepAndPrune;
use impinge::scene::{Body, BodyId, Frame, Options, Scene};
use impinge::{Budget, Error, Mesh, Pose, Shape};

use super::Scenario;
use super::kitchen::{Piece, kitchen};
use crate::closed_box::hull;
use crate::drawing::{Drawing, Figure};

/// Features up to this far away are told.
const MARGIN: f64 = 0.35;

/// The piece that is no body of the scene: everybody is always on it.
const FLOOR: &str = "floor";

/// Way in a frame: 1.2 metres a second at 60 frames.
const WAY: f64 = 0.02;

/// The path on the floor, a closed loop around the table.
const PATH: [[f64; 2]; 8] =
    [[1.1, 0.8], [0.9, 2.0], [1.1, 2.93], [2.7, 2.93], [4.2, 2.9], [4.35, 1.7], [3.8, 0.55], [2.2, 0.5]];

/// A kitchen and who walks through it.
#[derive(Debug)]
pub struct Walkthrough {
    scene: Scene,
    pieces: Vec<Piece>,
    walker: BodyId,
    body: Vec<Arc<Mesh>>,
    /// Points along the path, a frame apart.
    track: Vec<DVec2>,
    frame: usize,
    /// Frames in which the walker touched something.
    bumps: usize,
}

impl Walkthrough {
    /// A furnished kitchen with the walker at the start of the path.
    ///
    /// # Errors
    /// None that a kitchen should give; it passes on those of hulls and scenes.
    pub fn new(seed: u64) -> Result<Walkthrough, Error> {
        let mut scene =
            Scene::new(Options { margin: MARGIN, ..Options::default() }, SweepAndPrune::default())?;
        let pieces = kitchen(seed)?;
        for piece in &pieces {
            if piece.name != FLOOR {
                scene.add(Body::fixed(piece.shape.clone(), piece.pose));
            }
        }
        let (mut parts, mut body) = (Vec::new(), Vec::new());
        for part in figure() {
            let (shape, mesh) = hull(part)?;
            parts.push((shape, Pose::IDENTITY));
            body.push(Arc::new(mesh));
        }
        let track = track();
        let walker = scene.add(Body::moving(Shape::compound(parts)?, standing(&track, 0)?));
        Ok(Walkthrough { scene, pieces, walker, body, track, frame: 0, bumps: 0 })
    }

    /// The piece that a body of the scene is; the walker and the floor are none.
    pub fn piece(&self, id: BodyId) -> Option<&Piece> {
        self.pieces.iter().filter(|piece| piece.name != FLOOR).nth(id.index()).filter(|_| id != self.walker)
    }

    /// The pieces of the kitchen.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }
}

impl Scenario for Walkthrough {
    fn advance(&mut self, budget: &mut Budget) -> Result<Frame<'_>, Error> {
        self.frame += 1;
        self.scene.place(self.walker, standing(&self.track, self.frame)?);
        let touched = self.scene.step(budget).contacts.iter().any(|c| c.contact.depth >= 0.0);
        self.bumps += usize::from(touched);
        Ok(self.scene.last())
    }

    fn scene(&self) -> &Scene {
        &self.scene
    }

    fn polytopes(&self) -> usize {
        self.body.len() + self.pieces.iter().map(|piece| piece.meshes.len()).sum::<usize>()
    }

    fn measures(&self) -> Vec<(&'static str, f64)> {
        let nearest = self.scene.last().contacts.iter().map(|c| -c.contact.depth).fold(MARGIN, f64::min);
        vec![("way", WAY * self.frame as f64), ("nearest", nearest), ("frames_in_contact", self.bumps as f64)]
    }

    fn check(&self) -> Result<(), String> {
        let walker = self.walker;
        match self.scene.last().contacts.iter().find(|c| !c.bodies.contains(&walker)) {
            Some(contact) => Err(format!("a contact without the walker: {contact:?}")),
            None => Ok(()),
        }
    }

    fn drawing(&self) -> Drawing {
        let mut drawing = Drawing::default();
        for piece in &self.pieces {
            for mesh in &piece.meshes {
                drawing.figures.push(Figure {
                    mesh: Arc::clone(mesh),
                    pose: piece.pose,
                    colour: piece.colour,
                });
            }
        }
        let pose = self.scene.body(self.walker).map_or(Pose::IDENTITY, |walker| walker.pose);
        for mesh in &self.body {
            drawing.figures.push(Figure { mesh: Arc::clone(mesh), pose, colour: [0.93, 0.55, 0.12] });
        }
        let at = |i: usize| self.track[i % self.track.len()].extend(0.01);
        for i in (0..self.track.len()).step_by(8) {
            drawing.lines.push(([at(i), at(i + 4)], [0.75, 0.40, 0.10]));
        }
        drawing.contacts = self.scene.last().contacts.iter().map(|c| c.contact.points).collect();
        drawing.view = Some(DVec3::new(0.75, -0.85, 0.75));
        drawing
    }
}

/// Somebody 1.75 m tall: legs, trunk, arms and head, each the corners of a convex part.
fn figure() -> Vec<Vec<DVec3>> {
    /// Rings of corners at heights, each with its half widths across (y) and along (x), about a centre.
    fn part(centre: [f64; 2], rings: &[(f64, [f64; 2])]) -> Vec<DVec3> {
        let ring = |&(z, [across, along]): &(f64, [f64; 2])| {
            let corner = move |k: u32| (TAU * f64::from(k) / 10.0).sin_cos();
            (0..10)
                .map(corner)
                .map(move |(s, c)| DVec3::new(centre[0] + along * c, centre[1] + across * s, z))
        };
        rings.iter().flat_map(ring).collect()
    }
    let leg = |y: f64| part([0.0, y], &[(0.0, [0.05, 0.06]), (0.45, [0.065, 0.07]), (0.86, [0.085, 0.09])]);
    let arm = |y: f64| part([0.02, y], &[(0.78, [0.03, 0.03]), (1.1, [0.04, 0.04]), (1.42, [0.05, 0.05])]);
    let trunk = [(0.82, [0.17, 0.12]), (1.05, [0.15, 0.11]), (1.38, [0.19, 0.12]), (1.47, [0.10, 0.08])];
    let head = [(1.49, [0.05, 0.06]), (1.57, [0.08, 0.10]), (1.68, [0.08, 0.10]), (1.75, [0.03, 0.04])];
    vec![leg(-0.095), leg(0.095), part([0.0, 0.0], &trunk), arm(-0.24), arm(0.24), part([0.01, 0.0], &head)]
}

/// The closed path as a Catmull–Rom curve, cut into steps of equal length.
fn track() -> Vec<DVec2> {
    let point = |i: usize| DVec2::from_array(PATH[i % PATH.len()]);
    let curve = |i: usize, t: f64| {
        let [a, b, c, d] = [point(i + PATH.len() - 1), point(i), point(i + 1), point(i + 2)];
        let (u, v) = (0.5 * (c - a), 0.5 * (d - b));
        // Cubic with the values b, c and the slopes u, v at its ends.
        b + t * (u + t * (3.0 * (c - b) - 2.0 * u - v + t * (2.0 * (b - c) + u + v)))
    };
    let fine = 400;
    let mut track = vec![point(0)];
    for k in 1..=PATH.len() * fine {
        let here = curve(k / fine, (k % fine) as f64 / fine as f64);
        let last = track[track.len() - 1];
        if here.distance(last) >= WAY {
            track.push(here);
        }
    }
    track
}

/// Where the walker stands in a frame, turned along the path.
fn standing(track: &[DVec2], frame: usize) -> Result<Pose, Error> {
    let [here, next] = [frame, frame + 1].map(|i| track[i % track.len()]);
    let ahead = next - here;
    Pose::from_rotation(here.extend(0.0), DQuat::from_rotation_z(ahead.y.atan2(ahead.x)))
}
