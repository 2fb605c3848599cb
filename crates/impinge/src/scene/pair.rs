//! A pair of bodies whose boxes meet: what is known about it from frame to frame.

use super::event::Contact;
use super::{BodyId, Method};
use crate::model::Shape;
use crate::narrow::between::{self, PairMemory};
use crate::narrow::parts::{self, PartSeparation, PartsMemory};
use crate::{Counters, Pose};

/// A pair that lives as long as the boxes meet.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub bodies: [BodyId; 2],
    /// The step in which it was last decided; 0 for never.
    pub decided_at: u64,
    /// Whether groups and rules want it looked at.
    pub wanted: bool,
    pub method: Method,
    /// To be decided in this step.
    pub due: bool,
    /// In contact, when last decided.
    pub touching: bool,
    /// In contact, as the last events told.
    pub told: bool,
    /// Cost of the decision in this step.
    pub work: Counters,
    memory: Memory,
    /// Within the margin, when last decided.
    near: Near,
}

#[derive(Debug, Clone)]
enum Memory {
    One(PairMemory),
    Parts(Box<PartsMemory>),
}

/// Most pairs have one contact at most.
#[derive(Debug, Clone)]
enum Near {
    None,
    One(PartSeparation),
    Many(Vec<PartSeparation>),
}

impl Pair {
    pub fn new(bodies: [BodyId; 2]) -> Pair {
        Pair {
            bodies,
            decided_at: 0,
            wanted: false,
            method: Method::default(),
            due: false,
            touching: false,
            told: false,
            work: Counters::default(),
            memory: Memory::One(PairMemory::default()),
            near: Near::None,
        }
    }

    /// The slots of the bodies.
    pub fn slots(&self) -> [u32; 2] {
        self.bodies.map(BodyId::slot)
    }

    /// Forgets what makes the next decision faster.
    pub fn forget(&mut self) {
        self.memory = Memory::One(PairMemory::default());
    }

    /// Finds the closest features within `margin`; the pair is in contact at or below `touch`.
    pub fn decide(&mut self, shapes: [&Shape; 2], poses: [&Pose; 2], margin: f64, touch: f64) {
        if matches!(shapes, [Shape::Compound(_), _] | [_, Shape::Compound(_)]) {
            self.decide_parts(shapes, poses, margin);
        } else {
            self.decide_one(shapes, poses, margin);
        }
        self.touching = self.near().iter().any(|part| part.separation.distance <= touch);
    }

    fn decide_one(&mut self, [a, b]: [&Shape; 2], [pose_a, pose_b]: [&Pose; 2], margin: f64) {
        if !matches!(self.memory, Memory::One(_)) {
            self.forget();
        }
        let Memory::One(memory) = &mut self.memory else { return };
        let (separation, certainty) = match self.method {
            Method::Auto => between::distance(a, pose_a, b, pose_b, memory),
        };
        self.work = Counters { primitive_tests: 1, ..Counters::default() };
        let part = PartSeparation { parts: [0; 2], separation, certainty };
        self.near = if separation.distance <= margin { Near::One(part) } else { Near::None };
    }

    fn decide_parts(&mut self, shapes: [&Shape; 2], poses: [&Pose; 2], margin: f64) {
        if !matches!(self.memory, Memory::Parts(_)) {
            self.memory = Memory::Parts(Box::default());
        }
        let Memory::Parts(memory) = &mut self.memory else { return };
        let mut found = match std::mem::replace(&mut self.near, Near::None) {
            Near::Many(mut old) => {
                old.clear();
                old
            }
            _ => Vec::new(),
        };
        self.work = parts::within(shapes, poses, margin, memory, &mut found);
        self.near = Near::Many(found);
    }

    /// Within the margin when last decided, by ascending parts.
    pub fn near(&self) -> &[PartSeparation] {
        match &self.near {
            Near::None => &[],
            Near::One(part) => std::slice::from_ref(part),
            Near::Many(parts) => parts,
        }
    }

    pub fn contacts(&self) -> impl Iterator<Item = Contact> + '_ {
        self.near().iter().map(|&PartSeparation { parts, separation, certainty }| Contact {
            bodies: self.bodies,
            parts,
            separation,
            certainty,
        })
    }
}
