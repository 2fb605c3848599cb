//! Rigid bodies of any shape that never pass through anything: impulses at the time of impact, no backtracking.
//!
//! The order of a frame: gravity; every body gets one motion of constant velocities over the step; the first
//! contact of all ([`SceneSweep`]) stops its two bodies a hair before it, an impulse changes their momenta, and they
//! go on with the rest of the step. A body is only ever placed where its motion is known to be free, so whatever
//! the impulses do, nothing overlaps. A body that has had its share of impacts in one step rests for the
//! remainder of it and keeps its momentum: that bounds the work where bodies are squeezed, and is how they lie
//! still.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use impinge::scene::{Body, BodyId, Frame, Scene, SceneImpact, SceneSweep};
use impinge::{Budget, Certainty, Counters, Error, Finish, Mesh, Motion, Outcome, Pose, Shape};

use crate::contact_impulse::{Answer, Side, apply_contact_impulse, approach};
use crate::overlap_check::{all_apart, all_apart_at};
use crate::rigid::{Rigid, Weight};

/// Largest turn in a step (radians) that is told from its end; a faster one takes the velocity of now.
const LARGEST_TURN: f64 = 3.0;

/// The golden ratio: its multiples are spread evenly over the instants of a step.
const GOLDEN: f64 = 1.618_033_988_749_895;

/// A solid that many bodies may share, its frame in the centre of mass.
#[derive(Debug, Clone)]
pub struct Solid {
    /// For the scene.
    pub shape: Shape,
    /// Its surface.
    pub mesh: Arc<Mesh>,
    /// For flight and impulses.
    pub weight: Weight,
    /// Distance of the farthest vertex from the centre of mass.
    pub radius: f64,
    /// Four times the volume by the area: the diameter of a tube, twice the thickness of a slab.
    pub thickness: f64,
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
        let shape = Shape::from(mesh.clone());
        let area = impinge::mass(&shape)?.area;
        Ok(Solid { shape, mesh: Arc::new(mesh), weight, radius, thickness: 4.0 * weight.mass / area })
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

/// A part of a body's way through a step.
#[derive(Debug, Clone, Copy)]
pub struct Leg {
    /// Which of the moving bodies.
    pub member: usize,
    /// When it begins; it ends with the body's next one.
    pub from: f64,
    /// Over the whole step.
    pub motion: Motion,
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
    /// Steps of bodies that set out for more than their thickness.
    pub beyond_thickness: u64,
    /// Steps of bodies that set out for more than their diameter.
    pub beyond_diameter: u64,
    /// Tests of pairs of triangles.
    pub tests: u64,
}

/// Moving bodies and their surroundings.
#[derive(Debug)]
pub struct SweptWorld {
    scene: Scene,
    scene_sweep: SceneSweep,
    laws: Laws,
    solids: Vec<Solid>,
    members: Vec<Member>,
    /// The member in each slot of the scene.
    of_slot: Vec<Option<usize>>,
    ledger: Ledger,
    outcome: Outcome,
    /// The ways and the contacts of the last step, in the order of time, and how far it came.
    legs: Vec<Leg>,
    meetings: Vec<SceneImpact>,
    reached: f64,
}

impl Member {
    /// Where its course has it at a time in the step.
    fn at(&self, time: f64) -> Rigid {
        let Course { from, linear, angular } = self.course;
        let mut rigid = self.rigid;
        rigid.position += linear * (time - from);
        if angular != DVec3::ZERO {
            let turn = DQuat::from_scaled_axis(angular * (time - from));
            rigid.rotation = (turn * rigid.rotation).normalize();
        }
        rigid
    }

    /// Goes along its course up to a time in the step. A body that tumbles would not turn evenly: its angular
    /// momentum keeps its direction, and gets the length at which the energy is what it was.
    fn fly_to(&mut self, weight: &Weight, time: f64) {
        let energy = self.rigid.energy(weight)[1];
        self.rigid = self.at(time);
        self.course.from = time;
        let scale = (energy / self.rigid.energy(weight)[1]).sqrt();
        if scale.is_finite() {
            self.rigid.spin *= scale;
        }
    }

    /// Sets out at the start of a step: the velocities of free flight, of which the turning is the mean over it.
    fn set_out(&mut self, weight: &Weight, step: f64) -> Result<Motion, Error> {
        let mut later = self.rigid;
        later.fly(weight, step);
        let now = self.rigid.turning(weight) * step;
        let mean = (later.rotation * self.rigid.rotation.conjugate()).normalize();
        let mean = if mean.w < 0.0 { -mean } else { mean }.to_scaled_axis();
        self.follow(weight, step, if now.length() < LARGEST_TURN { mean } else { now })
    }

    /// Sets out after an impact: the velocities of now, so that what parts by the impulse does part. Those of a
    /// body that tumbles fast may be far from their mean.
    fn go_on(&mut self, weight: &Weight, step: f64) -> Result<Motion, Error> {
        self.follow(weight, step, self.rigid.turning(weight) * step)
    }

    /// Takes up a course from now on that turns by `angular` in a step.
    fn follow(&mut self, weight: &Weight, step: f64, angular: DVec3) -> Result<Motion, Error> {
        let linear = self.rigid.momentum * (step / weight.mass);
        self.course = Course { linear, angular, ..self.course };
        Motion::through(&self.rigid.pose()?, self.course.from, linear, angular)
    }
}

impl SweptWorld {
    /// What [`SweptWorld::check`] has found when it found nothing wrong.
    pub const PROMISE: &'static str =
        "in every frame, at its end and at an instant within, all bodies are apart, by exact relations";

    /// A world without moving bodies; `scene` may hold the surroundings.
    ///
    /// # Errors
    /// A gap of the laws that is negative or not finite.
    pub fn new(scene: Scene, laws: Laws, solids: Vec<Solid>) -> Result<SweptWorld, Error> {
        let outcome =
            Outcome { certainty: Certainty::Exact, finish: Finish::Complete, work: Counters::default() };
        Ok(SweptWorld {
            scene,
            scene_sweep: SceneSweep::with_gap(laws.gap)?,
            laws,
            solids,
            members: Vec::new(),
            of_slot: Vec::new(),
            ledger: Ledger::default(),
            outcome,
            legs: Vec::new(),
            meetings: Vec::new(),
            reached: 0.0,
        })
    }

    /// Adds a body of a solid, clear of all others.
    ///
    /// # Errors
    /// A solid that does not exist, or a place that is none.
    pub fn add(&mut self, solid: u32, rigid: Rigid) -> Result<BodyId, Error> {
        let missing = || Error::Argument { name: "solid", reason: format!("there is no solid {solid}") };
        let shape = self.solids.get(solid as usize).ok_or_else(missing)?.shape.clone();
        let id = self.scene.add(Body::moving(shape, rigid.pose()?));
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
    ///
    /// # Errors
    /// A place that is none.
    pub fn put(&mut self, member: usize, rigid: Rigid) -> Result<(), Error> {
        self.scene.place(self.members[member].id, rigid.pose()?);
        self.members[member].rigid = rigid;
        Ok(())
    }

    /// The solids.
    pub fn solids(&self) -> &[Solid] {
        &self.solids
    }

    /// What was counted since the start.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The contacts of the last step, in the order in which bodies were stopped for them.
    pub fn meetings(&self) -> &[SceneImpact] {
        &self.meetings
    }

    /// The ways of the bodies through the last step, in the order of time.
    pub fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// Where the bodies were at a time of the last step.
    pub fn poses_at(&self, time: f64) -> Vec<Pose> {
        let mut poses: Vec<Pose> = (0..self.members.len()).map(|member| self.pose(member)).collect();
        for leg in self.legs.iter().filter(|leg| leg.from <= time) {
            poses[leg.member] = leg.motion.pose(time);
        }
        poses
    }

    /// The last step as a frame without events; its cost is that of the sweeps.
    pub fn frame(&self) -> Frame<'_> {
        Frame { events: &[], contacts: &[], points: &[], undecided: &[], box_pairs: 0, outcome: self.outcome }
    }

    /// Figures for [`crate::scenes::Scenario::measures`].
    pub fn measures(&self) -> Vec<(&'static str, f64)> {
        let triangles = |m: &Member| self.solids[m.solid as usize].mesh.triangles().len();
        let steps = (self.ledger.frames * self.members.len() as u64).max(1) as f64;
        let share = |count: u64| count as f64 / steps;
        vec![
            ("triangles", self.members.iter().map(triangles).sum::<usize>() as f64),
            ("impacts", self.ledger.impacts as f64),
            ("rests", self.ledger.rests as f64),
            ("most_impacts", self.ledger.most as f64),
            ("beyond_thickness", share(self.ledger.beyond_thickness)),
            ("beyond_diameter", share(self.ledger.beyond_diameter)),
        ]
    }

    /// Kinetic energy of all bodies.
    pub fn energy(&self) -> f64 {
        let energy = |m: &Member| m.rigid.energy(&self.solids[m.solid as usize].weight).iter().sum::<f64>();
        self.members.iter().map(energy).sum()
    }

    /// One step of a length in time. When the budget ends all bodies stop where they are known to be free, and keep
    /// their momenta.
    ///
    /// # Errors
    /// A body that has left the range of coordinates or of velocities.
    pub fn advance(&mut self, step: f64, budget: &mut Budget) -> Result<(), Error> {
        self.legs.clear();
        for (at, member) in self.members.iter_mut().enumerate() {
            let weight = &self.solids[member.solid as usize].weight;
            member.rigid.momentum += self.laws.gravity * (weight.mass * step);
            (member.course.from, member.impacts) = (0.0, 0);
            self.legs.push(Leg { member: at, from: 0.0, motion: member.set_out(weight, step)? });
            let (solid, way) = (&self.solids[member.solid as usize], member.course.linear.length());
            self.ledger.beyond_thickness += u64::from(way > solid.thickness);
            self.ledger.beyond_diameter += u64::from(way > 2.0 * solid.radius);
        }
        let motions: Vec<_> =
            self.members.iter().zip(&self.legs).map(|(member, leg)| (member.id, leg.motion)).collect();
        self.scene_sweep.start(&self.scene, &motions);
        self.meetings.clear();
        let ahead = loop {
            let ahead = self.scene_sweep.first(&self.scene, budget);
            let Some(hit) = ahead.hit else { break ahead };
            self.meet(&hit, step)?;
            self.meetings.push(hit);
        };
        for member in &mut self.members {
            member.fly_to(&self.solids[member.solid as usize].weight, ahead.free_until);
            self.scene.place(member.id, member.rigid.pose()?);
        }
        (self.outcome, self.reached) = (ahead.outcome, ahead.free_until);
        self.ledger.frames += 1;
        self.ledger.most = self.ledger.most.max(self.meetings.len() as u64);
        self.ledger.tests += self.outcome.work.primitive_tests;
        Ok(())
    }

    /// Answers a contact: both bodies stop, are struck, and go on.
    fn meet(&mut self, hit: &SceneImpact, step: f64) -> Result<(), Error> {
        let SceneImpact { bodies, impact, stop, gap, .. } = *hit;
        let pair = bodies.map(|id| self.of_slot.get(id.index()).copied().flatten());
        // The impulse acts where the bodies would have touched, an instant later.
        let centres = pair.map(|at| at.map(|at| self.members[at].at(impact.time).position));
        let mut rigids = pair.map(|at| at.map(|at| self.fly(at, stop)));
        let [a, b] = &mut rigids;
        let side = |k: usize, rigid: Option<_>| {
            let weight = &self.solids[self.members[pair[k]?].solid as usize].weight;
            Some(Side { rigid: rigid?, weight, arm: impact.point - centres[k]? })
        };
        let sides = [side(0, a.as_mut()), side(1, b.as_mut())];
        let normal = impact.normal.try_normalize().unwrap_or_else(|| apart(centres, impact.point));
        let Laws { restitution, friction, quiet, .. } = self.laws;
        let answer = Answer {
            normal,
            restitution: if approach(&sides, normal) < quiet { 0.0 } else { restitution },
            friction,
            parting: if gap < self.laws.gap { 0.5 * self.laws.gap / step } else { 0.0 },
        };
        let [a, b] = sides;
        apply_contact_impulse(a, b, &answer);
        self.ledger.impacts += 1;
        for (at, rigid) in pair.into_iter().zip(rigids) {
            if let (Some(at), Some(rigid)) = (at, rigid) {
                self.members[at].rigid = rigid;
                self.go_on(at, step)?;
            }
        }
        Ok(())
    }

    /// Lets a body go along its course up to a time in the step, and tells where it is.
    fn fly(&mut self, at: usize, time: f64) -> Rigid {
        let member = &mut self.members[at];
        member.fly_to(&self.solids[member.solid as usize].weight, time);
        member.rigid
    }

    /// Sends a body on after an impact, or lets it rest until the step ends.
    fn go_on(&mut self, at: usize, step: f64) -> Result<(), Error> {
        let member = &mut self.members[at];
        member.impacts += 1;
        let motion = if member.impacts > self.laws.most_impacts {
            self.ledger.rests += u64::from(member.impacts == self.laws.most_impacts + 1);
            (member.course.linear, member.course.angular) = (DVec3::ZERO, DVec3::ZERO);
            Motion::Still(member.rigid.pose()?)
        } else {
            member.go_on(&self.solids[member.solid as usize].weight, step)?
        };
        self.legs.push(Leg { member: at, from: member.course.from, motion });
        self.scene_sweep.turn(&self.scene, member.id, motion);
        Ok(())
    }

    /// Whether all pairs are apart, at the end of the last step and at an instant within, another in every step, by
    /// exact relations of all whose boxes meet.
    ///
    /// # Errors
    /// The first pair that is not.
    pub fn check(&self) -> Result<(), String> {
        all_apart(&self.scene)?;
        let time = self.reached * (self.ledger.frames as f64 * GOLDEN).fract();
        let poses = self.poses_at(time);
        let place = |id: BodyId, body: &Body| {
            self.of_slot.get(id.index()).copied().flatten().map_or(body.pose, |at| poses[at])
        };
        all_apart_at(&self.scene, place).map_err(|wrong| format!("at {time} of the step: {wrong}"))
    }

    /// Where a body is.
    pub fn pose(&self, member: usize) -> Pose {
        self.scene.body(self.members[member].id).map_or(Pose::IDENTITY, |body| body.pose)
    }
}

/// A direction from a to b where the contact has none: away from the point.
fn apart([a, b]: [Option<DVec3>; 2], point: DVec3) -> DVec3 {
    (b.unwrap_or(point) - a.unwrap_or(point)).try_normalize().unwrap_or(DVec3::Z)
}
