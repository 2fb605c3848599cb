//! `press`: a soft ball is pressed against a rigid one, held, and lowered again, round after round.
//!
//! The response and the multiresolution link of Guy and Debunne 2004 (sections 5.2 to 5.4): vertices that overlap are
//! projected onto the average plane, and the soft ball ([`TwoLevel`]) is fine only where contact is near. Held, it rests
//! at the indentation that the closed form of an elastic foundation gives; what is displayed never jumps when a
//! vertex changes its level.

use std::f64::consts::TAU;
use std::sync::Arc;

use glam::{DQuat, DVec2, DVec3};
use impinge::response::{FineRegion, Projection, Receiver, Refinable, Stuck};
use impinge::scene::{Body, BodyId, Frame, Scene};
use impinge::{Budget, Error, Mesh, Pose, Shape, procedural};

use super::Scenario;
use crate::drawing::{Colour, Drawing, Figure};
use crate::elastic_foundation;
use crate::two_level::{Elasticity, Hysteresis, TwoLevel};
use crate::vertex_contacts::vertex_contacts;

/// Length of a step, in seconds.
const STEP: f64 = 0.02;

/// Frames of a round, and those of them in which the ball is pressed.
const ROUND: u64 = 600;
const PRESSED: u64 = 400;

/// Radii of the soft and the rigid ball, in metres.
const RADII: [f64; 2] = [1.0, 0.6];

/// The rigid ball's centre is above the soft one's start.
const ABOVE: f64 = RADII[0] + RADII[1] + 0.03;

/// The force is that of this indentation, in metres.
const INDENTATION: f64 = 0.15;

/// Gap below which contact is near, and the wanted edge there, in metres.
const REACH: f64 = 0.08;
const FINEST: f64 = 0.02;

/// Largest relative error of the indentation at rest: the surface is sampled by vertices.
const INDENTATION_ERROR: f64 = 0.01;

/// Largest jump of the displayed surface at a switch of level, in metres.
const JUMP: f64 = 1e-9;

const ELASTICITY: Elasticity = Elasticity {
    foundation: 100.0,
    anchor: f64::INFINITY,
    edge: 0.0,
    masses: [0.01, 1.0, 1.0],
    damping: 10.0,
};

/// The soft ball below the rigid one.
#[derive(Debug)]
pub struct Press {
    scene: Scene,
    rigid: Shape,
    rigid_at: Pose,
    soft_id: BodyId,
    soft: TwoLevel,
    frames: u64,
    /// The largest jump so far.
    jump: f64,
    touching: Vec<DVec3>,
    /// Of the last projection.
    overlap: f64,
}

impl Press {
    /// The balls apart.
    ///
    /// # Errors
    /// None that could happen: the numbers are fixed.
    pub fn new() -> Result<Press, Error> {
        let [fine, coarse] = [procedural::ico_sphere(RADII[0], 5)?, procedural::ico_sphere(RADII[0], 2)?];
        let hysteresis = Hysteresis { patience: 10, slack: 1e-3 };
        let soft = TwoLevel::new(fine.clone(), coarse, ELASTICITY, hysteresis, STEP)?;
        let (rigid, rigid_at) = (Shape::sphere(RADII[1])?, Pose::from_translation([0.0, 0.0, ABOVE])?);
        let mut scene = Scene::default();
        scene.add(Body::fixed(rigid.clone(), rigid_at));
        let soft_id = scene.add(Body::moving(Shape::from(fine), Pose::IDENTITY));
        Ok(Press {
            scene,
            rigid,
            rigid_at,
            soft_id,
            soft,
            frames: 0,
            jump: 0.0,
            touching: Vec::new(),
            overlap: 0.0,
        })
    }

    /// The soft ball.
    pub fn soft(&self) -> &TwoLevel {
        &self.soft
    }

    /// How far the balls, undeformed, would overlap.
    pub fn indentation(&self) -> f64 {
        RADII[0] + RADII[1] - self.soft.core().distance(self.rigid_at.translation())
    }

    /// Detects, refines and projects; what the switch of levels moved is measured.
    fn answer(&mut self) -> Result<(), Error> {
        let contacts = vertex_contacts(self.soft.vertices(), self.rigid.at(self.rigid_at), REACH)?;
        let before = self.soft.vertices().to_vec();
        self.soft.refine(&FineRegion::around(&contacts, 0, REACH, FINEST));
        let jumps = before.iter().zip(self.soft.vertices()).map(|(p, q)| p.distance(*q));
        self.jump = jumps.fold(self.jump, f64::max);
        let pairs: Vec<_> = contacts.iter().map(|c| ([0, 1], *c)).collect();
        let bodies = [self.soft.receiver(), Receiver::Fixed];
        let done = Projection::default().project(&bodies, &pairs, &mut Stuck::default())?;
        self.soft.displace(&done.displacements[0]);
        self.overlap = done.residual;
        let touches = done.planes.iter().zip(&contacts).filter(|(_, c)| c.depth > 0.0);
        self.touching = touches.map(|(p, _)| *p).collect();
        Ok(())
    }

    /// Whether the ball has had the time to come to rest under its load.
    fn is_held(&self) -> bool {
        (self.frames - 1) % ROUND == PRESSED - 1
    }
}

impl Scenario for Press {
    fn advance(&mut self, budget: &mut Budget) -> Result<Frame<'_>, Error> {
        let pressed = self.frames % ROUND < PRESSED;
        let load = elastic_foundation::force(INDENTATION, ELASTICITY.foundation, RADII);
        self.frames += 1;
        // Lowered by a spring to the start.
        let force = if pressed { load * DVec3::Z } else { -20.0 * self.soft.core() };
        self.soft.advance(force);
        self.answer()?;
        let vertices: Vec<[f64; 3]> = self.soft.vertices().iter().map(|p| p.to_array()).collect();
        self.scene.set_vertices(self.soft_id, &vertices)?;
        Ok(self.scene.step(budget))
    }

    fn scene(&self) -> &Scene {
        &self.scene
    }

    fn measures(&self) -> Vec<(&'static str, f64)> {
        let work = self.soft.work();
        let everywhere = work.steps as f64 * self.soft.vertices().len() as f64;
        vec![
            ("indentation", self.indentation()),
            ("closed_form_at_rest", INDENTATION),
            ("vertices_touching", self.touching.len() as f64),
            ("vertices_fine", self.soft.fine_vertices() as f64),
            ("share_simulated", work.fine as f64 / everywhere.max(1.0)),
            ("refined", work.refined as f64),
            ("coarsened", work.coarsened as f64),
            ("largest_jump", self.jump),
        ]
    }

    fn check(&self) -> Result<(), String> {
        if !(self.jump <= JUMP) {
            return Err(format!("the displayed surface jumped by {}", self.jump));
        }
        if !(self.overlap <= JUMP) {
            return Err(format!("an overlap of {} is left", self.overlap));
        }
        let found = self.indentation();
        if self.is_held() && !((found / INDENTATION - 1.0).abs() <= INDENTATION_ERROR) {
            return Err(format!("an indentation of {found} instead of {INDENTATION}"));
        }
        Ok(())
    }

    fn promise(&self) -> &'static str {
        "nothing shown jumped at a switch of level, and each time it rested the indentation was that of the closed form"
    }

    fn drawing(&self) -> Drawing {
        let mut drawing = Drawing { view: Some(DVec3::new(0.5, -1.0, 0.75)), ..Drawing::default() };
        let rest = self.soft.rest();
        if let Ok(mesh) = Mesh::from_points(self.soft.vertices().to_vec(), rest.triangles().to_vec()) {
            let (mesh, pose) = (Arc::new(mesh), Pose::IDENTITY);
            drawing.figures.push(Figure { mesh, pose, colour: [0.75, 0.45, 0.2] });
        }
        // Above the surface, so that they are seen: by a hair, and coarse edges by how far they cut into the ball.
        let lift = |p: DVec3, factor: f64| self.soft.core() + (p - self.soft.core()) * factor;
        let coarse = self.soft.control_edges().map(|ends| (ends.map(|p| lift(p, 1.016)), [0.25, 0.15, 0.08]));
        drawing.lines.extend(coarse);
        for corners in rest.triangles().iter().filter(|t| t.iter().any(|&v| self.soft.is_fine(v))) {
            let [a, b, c] = corners.map(|v| lift(self.soft.vertices()[v as usize], 1.004));
            drawing.lines.extend([[a, b], [b, c], [c, a]].map(|ends| (ends, [0.1, 0.3, 0.8])));
        }
        drawing.lines.extend(circles(self.rigid_at.translation(), RADII[1]));
        drawing.contacts = self.touching.iter().map(|&p| [p, p]).collect();
        drawing
    }
}

/// A ball by circles of longitude and latitude.
fn circles(centre: DVec3, radius: f64) -> Vec<([DVec3; 2], Colour)> {
    let steps = 48;
    let upright = DQuat::from_rotation_x(TAU / 4.0);
    let longitudes = (0..6).map(|k| (DQuat::from_rotation_z(TAU * f64::from(k) / 12.0) * upright, 0.0));
    let latitudes = [-0.5, 0.0, 0.5].map(|height: f64| (DQuat::IDENTITY, height));
    let mut lines = Vec::new();
    for (turn, height) in longitudes.chain(latitudes) {
        let place = |k: i32| {
            let across =
                DVec2::from_angle(TAU * f64::from(k) / f64::from(steps)) * (1.0 - height * height).sqrt();
            centre + turn * across.extend(height) * radius
        };
        lines.extend((0..steps).map(|k| ([place(k), place(k + 1)], [0.3, 0.4, 0.6])));
    }
    lines
}
