//! A pair of bodies whose boxes meet: what is known about it from frame to frame.
//!
//! The closest features come as numbers, so a distance that is 0 but for rounding says nothing about touching;
//! there the exact relation decides. It also decides about meshes, where one may lie inside the other without
//! their surfaces being near.

use super::event::{Contact, ContactPoint};
use super::persistent_manifold::PersistentManifolds;
use super::{BodyId, Contacts, PairMethod};
use crate::model::Geometry;
use crate::narrow::compound_pairs::{self, CompoundMemory, CompoundPairSeparation};
use crate::narrow::convex::separation::{ConvexMemory, distance_by_supports};
use crate::narrow::dispatch;
use crate::narrow::pair_memory::PairMemory;
use crate::narrow::shape_pair::ShapePair;
use crate::num::tolerance::TOUCH_DOUBT;
use crate::{Convex, Counters, Pose, Separation};

/// A pair that lives as long as the boxes meet.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub bodies: [BodyId; 2],
    /// The step in which it was last decided; 0 for never.
    pub decided_at: u64,
    /// Whether groups and rules want it looked at.
    pub wanted: bool,
    pub method: PairMethod,
    /// What is told about it.
    pub told_as: Contacts,
    /// To be decided in this step.
    pub due: bool,
    /// In contact, when last decided.
    pub touching: bool,
    /// In contact, as the last events told.
    pub told: bool,
    /// Cost of the decision in this step.
    pub work: Counters,
    memory: Memory,
    near: Near,
    /// No memory that may be lost: it holds the names of points.
    patches: Option<Box<PersistentManifolds>>,
}

/// Lives in boxes, made when first needed: pairs are moved whenever others begin and end.
#[derive(Debug, Clone, Default)]
struct Memory {
    one: Option<Box<PairMemory>>,
    parts: Option<Box<CompoundMemory>>,
}

/// What was within the margin when the pair was last decided; mostly one contact or none.
#[derive(Debug, Clone)]
enum Near {
    Nothing,
    One(CompoundPairSeparation),
    Many(Vec<CompoundPairSeparation>),
}

impl Pair {
    pub fn new(bodies: [BodyId; 2]) -> Pair {
        Pair {
            bodies,
            decided_at: 0,
            wanted: false,
            method: PairMethod::default(),
            told_as: Contacts::default(),
            due: false,
            touching: false,
            told: false,
            work: Counters::default(),
            memory: Memory::default(),
            near: Near::Nothing,
            patches: None,
        }
    }

    /// The slots of the bodies.
    pub fn slots(&self) -> [u32; 2] {
        self.bodies.map(BodyId::slot)
    }

    /// Forgets what makes the next decision faster.
    pub fn forget(&mut self) {
        self.memory = Memory::default();
    }

    /// Finds the closest features within `margin`; the pair is in contact at or below `touch`.
    pub fn decide(&mut self, shapes: [&Geometry; 2], poses: [&Pose; 2], margin: f64, touch: f64) {
        if self.told_as == Contacts::None && touch == 0.0 {
            self.relate(shapes, poses);
        } else if matches!(shapes, [Geometry::Compound(_), _] | [_, Geometry::Compound(_)]) {
            self.measure_parts(shapes, poses, margin, touch);
        } else {
            self.measure(shapes, poses, margin, touch);
        }
        match self.told_as {
            Contacts::None => (self.near, self.patches) = (Near::Nothing, None),
            Contacts::Deepest => self.patches = None,
            Contacts::Manifold => self.find_patches(shapes, poses, margin),
        }
    }

    fn find_patches(&mut self, shapes: [&Geometry; 2], poses: [&Pose; 2], margin: f64) {
        let patches = self.patches.get_or_insert_default();
        patches.renew();
        for near in self.near.list() {
            let [(a, pose_a), (b, pose_b)] =
                [0, 1].map(|k| compound_pairs::part(shapes[k], poses[k], near.parts[k]));
            patches.add(near, [a, b], [&pose_a, &pose_b], margin);
        }
    }

    /// Only whether they meet.
    fn relate(&mut self, [a, b]: [&Geometry; 2], [pose_a, pose_b]: [&Pose; 2]) {
        let memory = self.memory.one.get_or_insert_default();
        self.touching =
            dispatch::full_relation(&ShapePair::new([a, b], [pose_a, pose_b]), memory).0.is_contact();
        self.work = Counters { primitive_tests: 1, ..Counters::default() };
        self.near = Near::Nothing;
    }

    fn measure(&mut self, shapes: [&Geometry; 2], poses: [&Pose; 2], margin: f64, touch: f64) {
        let ([a, b], [pose_a, pose_b]) = (shapes, poses);
        let memory = self.memory.one.get_or_insert_default();
        let (separation, certainty) = match (self.method, a, b) {
            (
                PairMethod::Gjk,
                Geometry::Convex(a @ Convex::Polytope(_)),
                Geometry::Convex(b @ Convex::Polytope(_)),
            ) => distance_by_supports(a, pose_a, b, pose_b, &mut ConvexMemory::default()),
            _ => dispatch::full_distance(&ShapePair::new(shapes, poses), memory),
        };
        self.touching = touches(shapes, poses, &separation, touch, memory);
        self.work = Counters { primitive_tests: 1, ..Counters::default() };
        let part = CompoundPairSeparation { parts: [0; 2], separation, certainty };
        self.near = if separation.distance <= margin { Near::One(part) } else { Near::Nothing };
    }

    fn measure_parts(&mut self, shapes: [&Geometry; 2], poses: [&Pose; 2], margin: f64, touch: f64) {
        let mut found = match std::mem::replace(&mut self.near, Near::Nothing) {
            Near::Many(old) => old,
            _ => Vec::new(),
        };
        found.clear();
        let memory = self.memory.parts.get_or_insert_default();
        self.work = compound_pairs::within(shapes, poses, margin, memory, &mut found);
        self.touching = found.iter().any(|near| {
            let [(a, pose_a), (b, pose_b)] =
                [0, 1].map(|k| compound_pairs::part(shapes[k], poses[k], near.parts[k]));
            touches([a, b], [&pose_a, &pose_b], &near.separation, touch, &mut PairMemory::default())
        });
        self.near = Near::Many(found);
    }

    /// Within the margin when last decided, by ascending parts, without patches.
    pub fn contacts(&self) -> impl Iterator<Item = Contact> + '_ {
        self.near.list().iter().map(|&CompoundPairSeparation { parts, separation, certainty }| Contact {
            bodies: self.bodies,
            parts,
            separation,
            certainty,
            patch: [0; 2],
        })
    }

    /// Appends the contacts with their patches, whose new points are named from `next` on.
    pub fn tell(&mut self, next: &mut u64, contacts: &mut Vec<Contact>, points: &mut Vec<ContactPoint>) {
        let first = contacts.len();
        contacts.extend(self.contacts());
        let Some(patches) = &mut self.patches else { return };
        for contact in &mut contacts[first..] {
            let from = points.len() as u32;
            patches.tell(contact.parts, next, points);
            contact.patch = [from, points.len() as u32];
        }
    }
}

impl Near {
    fn list(&self) -> &[CompoundPairSeparation] {
        match self {
            Near::Nothing => &[],
            Near::One(part) => std::slice::from_ref(part),
            Near::Many(parts) => parts,
        }
    }
}

/// Whether two shapes that are no compounds are in contact, given their closest features.
fn touches(
    [a, b]: [&Geometry; 2],
    [pose_a, pose_b]: [&Pose; 2],
    separation: &Separation,
    touch: f64,
    memory: &mut PairMemory,
) -> bool {
    let Separation { distance, points, .. } = separation;
    let size = points[0].abs().max(points[1].abs()).max_element();
    let doubtful = touch == 0.0 && distance.abs() <= TOUCH_DOUBT * size;
    let hollow = *distance > touch && matches!([a, b], [Geometry::Mesh(_), _] | [_, Geometry::Mesh(_)]);
    if doubtful || hollow {
        return dispatch::full_relation(&ShapePair::new([a, b], [pose_a, pose_b]), memory).0.is_contact();
    }
    *distance <= touch
}
