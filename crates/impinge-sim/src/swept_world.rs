//! Rigid bodies of any shape that never pass through anything: impulses at the time of impact, no backtracking.
//!
//! The order of a frame: gravity; every body gets one motion of constant velocities over the step; the first
//! contact of all ([`Flight`]) stops its two bodies a hair before it, an impulse changes their momenta, and they
//! go on with the rest of the step. A body is only ever placed where its motion is known to be free, so whatever
//! the impulses do, nothing overlaps. A body that has had its share of impacts in one step rests for the
//! remainder of it and keeps its momentum: that bounds the work where bodies are squeezed, and is how they lie
//! still.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use impinge::scene::{Body, BodyId, Flight, Frame, Meeting, Scene};
use impinge::{Certainty, Counters, Error, Finish, Mesh, Model, Motion, Outcome, Pose, Shape};

use crate::apart::all_apart;
use crate::rigid::{Rigid, Weight};
use crate::strike::{Answer, Side, strike};

/// Largest turn in a step (radians) that is told from its end; a faster one takes the velocity of now.
const LARGEST_TURN: f64 = 3.0;

/// A solid that many bodies may share, its frame in the centre of mass.
#[derive(Debug, Clone)]
pub struct Solid {
    /// For the scene.
    pub shape: Arc<Shape>,
    /// Its surface.
    pub mesh: Arc<Mesh>,
    /// For flight and impulses.
    pub weight: Weight,
    /// Distance of the farthest vertex from the centre of mass.
    pub radius: f64,
}

impl Solid {
    /// What a closed mesh bounds, at density 1, moved so that its centre of mass is the origin.
    ///
    /// # Errors
    /// A mesh that bounds no volume.
    pub fn new(mesh: &Mesh) -> Result<Solid, Error> {
        let (weight, centre) = Weight::of(mesh)?;
        let moved = mesh.vertices().iter().map(|&p| p - centre).collect();
        let mesh = Mesh::from_points(moved, mesh.triangles().to_vec())?;
        let radius = mesh.vertices().iter().map(|v| v.length()).fold(0.0, f64::max);
        let shape = Arc::new(Shape::from(Model::from(mesh.clone())));
        Ok(Solid { shape, mesh: Arc::new(mesh), weight, radius })
    }
}

/// How things fall and bounce.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Laws {
    /// Acceleration of free fall.
    pub gravity: DVec3,
    /// Share of the speed of approach that comes back.
    pub restitution: f64,
    /// Coefficient of friction.
    pub friction: f64,
    /// Speed of approach below which nothing comes back.
    pub quiet: f64,
    /// How far from a contact bodies are stopped (a length).
    pub gap: f64,
    /// Impacts of a body in one step; with the next it rests for the remainder.
    pub most_impacts: u32,
}

/// One body that moves.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    /// Where it is and how it moves.
    pub rigid: Rigid,
    /// Which solid it is.
    pub solid: u32,
    /// Its name in the scene.
    pub id: BodyId,
    course: Course,
    impacts: u32,
}

/// Constant velocities, for a whole step, from a time in it.
#[derive(Debug, Clone, Copy, Default)]
struct Course {
    from: f64,
    linear: DVec3,
    angular: DVec3,
}

/// What was counted since the start.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Ledger {
    /// Steps.
    pub frames: u64,
    /// Contacts that were answered.
    pub impacts: u64,
    /// Bodies that rested for the remainder of a step, counted once a step.
    pub rests: u64,
    /// Most impacts in one step.
    pub most: u64,
    /// Tests of pairs of triangles.
    pub tests: u64,
}

/// Moving bodies and their surroundings.
#[derive(Debug)]
pub struct SweptWorld {
    scene: Scene,
    flight: Flight,
    laws: Laws,
    solids: Vec<Solid>,
    members: Vec<Member>,
    /// The member in each slot of the scene.
    of_slot: Vec<Option<usize>>,
    ledger: Ledger,
    outcome: Outcome,
    /// Where the contacts of the last step were.
    touched: Vec<DVec3>,
}

impl Member {
    /// Goes along its course up to a time in the step.
    fn fly_to(&mut self, time: f64) {
        let Course { from, linear, angular } = self.course;
        self.rigid.position += linear * (time - from);
        if angular != DVec3::ZERO {
            let turn = DQuat::from_scaled_axis(angular * (time - from));
            self.rigid.rotation = (turn * self.rigid.rotation).normalize();
        }
        self.course.from = time;
    }

    /// Sets out anew from now: the velocities of free flight, of which the turning is the mean over a step.
    fn set_out(&mut self, weight: &Weight, step: f64) -> Motion {
        let mut later = self.rigid;
        later.fly(weight, step);
        let now = self.rigid.turning(weight) * step;
        let mean = (later.rotation * self.rigid.rotation.conjugate()).normalize();
        let mean = if mean.w < 0.0 { -mean } else { mean }.to_scaled_axis();
        self.course.linear = self.rigid.momentum * (step / weight.mass);
        self.course.angular = if now.length() < LARGEST_TURN { mean } else { now };
        let Course { from, linear, angular } = self.course;
        Motion::through(&self.rigid.pose(), from, linear, angular)
    }
}

impl SweptWorld {
    /// A world without moving bodies; `scene` may hold the surroundings.
    pub fn new(scene: Scene, laws: Laws, solids: Vec<Solid>) -> SweptWorld {
        let outcome =
            Outcome { certainty: Certainty::Exact, finish: Finish::Complete, work: Counters::default() };
        SweptWorld {
            scene,
            flight: Flight::with_gap(laws.gap),
            laws,
            solids,
            members: Vec::new(),
            of_slot: Vec::new(),
            ledger: Ledger::default(),
            outcome,
            touched: Vec::new(),
        }
    }

    /// Adds a body of a solid, clear of all others.
    ///
    /// # Errors
    /// A solid that does not exist.
    pub fn add(&mut self, solid: u32, rigid: Rigid) -> Result<BodyId, Error> {
        let missing = || Error::Argument { name: "solid", reason: format!("there is no solid {solid}") };
        let shape = Arc::clone(&self.solids.get(solid as usize).ok_or_else(missing)?.shape);
        let id = self.scene.add(Body::moving(shape, rigid.pose()));
        self.of_slot.resize(self.of_slot.len().max(id.index() + 1), None);
        self.of_slot[id.index()] = Some(self.members.len());
        self.members.push(Member { rigid, solid, id, course: Course::default(), impacts: 0 });
        Ok(id)
    }

    /// The scene, with all bodies where they are.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The moving bodies.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Puts a body elsewhere, or gives it other momenta; the place must be free.
    pub fn put(&mut self, member: usize, rigid: Rigid) {
        self.members[member].rigid = rigid;
        self.scene.place(self.members[member].id, rigid.pose());
    }

    /// The solids.
    pub fn solids(&self) -> &[Solid] {
        &self.solids
    }

    /// What was counted since the start.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Where the contacts of the last step were.
    pub fn touched(&self) -> &[DVec3] {
        &self.touched
    }

    /// The last step as a frame without events; its cost is that of the sweeps.
    pub fn frame(&self) -> Frame<'_> {
        Frame { events: &[], contacts: &[], points: &[], undecided: &[], box_pairs: 0, outcome: self.outcome }
    }

    /// Kinetic energy of all bodies.
    pub fn energy(&self) -> f64 {
        let energy = |m: &Member| m.rigid.energy(&self.solids[m.solid as usize].weight).iter().sum::<f64>();
        self.members.iter().map(energy).sum()
    }

    /// One step of a length in time.
    pub fn advance(&mut self, step: f64) {
        let mut motions = Vec::with_capacity(self.members.len());
        for member in &mut self.members {
            let weight = &self.solids[member.solid as usize].weight;
            member.rigid.momentum += self.laws.gravity * (weight.mass * step);
            (member.course.from, member.impacts) = (0.0, 0);
            motions.push((member.id, member.set_out(weight, step)));
        }
        self.flight.start(&self.scene, &motions);
        self.touched.clear();
        while let Some(meeting) = self.flight.first(&self.scene) {
            self.meet(&meeting, step);
        }
        for member in &mut self.members {
            member.fly_to(1.0);
            self.scene.place(member.id, member.rigid.pose());
        }
        self.outcome.work = self.flight.work();
        self.outcome.certainty = Certainty::Exact;
        self.ledger.frames += 1;
        self.ledger.most = self.ledger.most.max(self.touched.len() as u64);
        self.ledger.tests += self.outcome.work.primitive_tests;
    }

    /// Answers a contact: both bodies stop, are struck, and go on.
    fn meet(&mut self, meeting: &Meeting, step: f64) {
        let Meeting { bodies, impact, stop, gap } = *meeting;
        let slots = bodies.map(|id| self.of_slot.get(id.index()).copied().flatten());
        let mut sides = slots.map(|at| at.map(|at| self.members[at]));
        // The impulse acts where the bodies would have touched, an instant later.
        let centre = |side: &Option<Member>| {
            side.as_ref().map(|m| m.rigid.position + m.course.linear * (impact.time - m.course.from))
        };
        let centres = [centre(&sides[0]), centre(&sides[1])];
        let normal = impact.normal.try_normalize().unwrap_or_else(|| apart(centres, impact.point));
        for member in sides.iter_mut().flatten() {
            member.fly_to(stop);
        }
        let answer = self.answer(&sides, centres, impact.point, normal, gap, step);
        let [a, b] = &mut sides;
        let a = side(&self.solids, a, centres[0], impact.point);
        strike(a, side(&self.solids, b, centres[1], impact.point), &answer);
        self.ledger.impacts += 1;
        self.touched.push(impact.point);
        for (at, member) in slots.into_iter().zip(sides) {
            if let (Some(at), Some(member)) = (at, member) {
                self.members[at] = member;
                self.go_on(at, step);
            }
        }
    }

    /// Restitution, friction, and a little push where the gap has become small.
    fn answer(
        &self,
        sides: &[Option<Member>; 2],
        centres: [Option<DVec3>; 2],
        point: DVec3,
        normal: DVec3,
        gap: f64,
        step: f64,
    ) -> Answer {
        let velocity = |k: usize| match (&sides[k], centres[k]) {
            (Some(m), Some(centre)) => {
                m.rigid.velocity_at(&self.solids[m.solid as usize].weight, point - centre)
            }
            _ => DVec3::ZERO,
        };
        let approach = normal.dot(velocity(0) - velocity(1));
        let Laws { restitution, friction, quiet, .. } = self.laws;
        Answer {
            normal,
            restitution: if approach < quiet { 0.0 } else { restitution },
            friction,
            parting: if gap < self.laws.gap { 0.5 * self.laws.gap / step } else { 0.0 },
        }
    }

    /// Sends a body on after an impact, or lets it rest until the step ends.
    fn go_on(&mut self, at: usize, step: f64) {
        let member = &mut self.members[at];
        member.impacts += 1;
        let motion = if member.impacts > self.laws.most_impacts {
            self.ledger.rests += u64::from(member.impacts == self.laws.most_impacts + 1);
            (member.course.linear, member.course.angular) = (DVec3::ZERO, DVec3::ZERO);
            Motion::Still(member.rigid.pose())
        } else {
            member.set_out(&self.solids[member.solid as usize].weight, step)
        };
        self.flight.turn(&self.scene, member.id, motion);
    }

    /// Whether all pairs are apart, by exact relations of all whose boxes meet.
    ///
    /// # Errors
    /// The first pair that is not.
    pub fn check(&self) -> Result<(), String> {
        all_apart(&self.scene)
    }

    /// Where a body is.
    pub fn pose(&self, member: usize) -> Pose {
        self.members[member].rigid.pose()
    }
}

fn side<'w>(
    solids: &'w [Solid],
    member: &'w mut Option<Member>,
    centre: Option<DVec3>,
    point: DVec3,
) -> Option<Side<'w>> {
    let (member, centre) = (member.as_mut()?, centre?);
    let weight = &solids[member.solid as usize].weight;
    Some(Side { rigid: &mut member.rigid, weight, arm: point - centre })
}

/// A direction from a to b where the contact has none: away from the point.
fn apart([a, b]: [Option<DVec3>; 2], point: DVec3) -> DVec3 {
    let way = match (a, b) {
        (Some(a), Some(b)) => b - a,
        (Some(a), None) => point - a,
        (None, Some(b)) => b - point,
        (None, None) => DVec3::ZERO,
    };
    way.try_normalize().unwrap_or(DVec3::Z)
}
