//! What a step of the scene tells: events, contacts, and what was left open.

use glam::DVec3;

use super::BodyId;
use crate::{Certainty, Feature, Outcome, Separation};

/// What happened to a pair of bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventKind {
    /// They are in contact and were not after the last step.
    Began,
    /// They are in contact as they were.
    Persists,
    /// They are no longer in contact: parted, removed, or no longer looked at.
    Ended,
}

/// Something that happened to a pair of bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Event {
    /// The bodies, the smaller index first.
    pub bodies: [BodyId; 2],
    /// What happened.
    pub kind: EventKind,
}

/// Closest features of two bodies, or of one part of each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// The bodies, the smaller index first.
    pub bodies: [BodyId; 2],
    /// The part of each; 0 for a body that is no compound.
    pub parts: [u32; 2],
    /// How far apart or how deep, where, and on which features.
    pub separation: Separation,
    /// What that is worth.
    pub certainty: Certainty,
    /// Where its patch begins and ends in [`Frame::points`]; empty unless [`super::Contacts::Manifold`] was
    /// asked for.
    pub patch: [u32; 2],
}

/// One point of the patch on which two bodies, or two of their parts, lie on each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactPoint {
    /// Its name from step to step as long as the pair's boxes meet, never given again: a solver may keep what
    /// it knows of a point under it.
    pub id: u64,
    /// One point on each body, in the world; their difference is `distance` along the contact's normal.
    pub points: [DVec3; 2],
    /// Negative where the bodies overlap.
    pub distance: f64,
    /// What makes the point: a corner over a face, or two edges that cross.
    pub features: [Feature; 2],
}

/// The result of one step; every list is ascending by the bodies' indices.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'s> {
    /// What began, persists and ended.
    pub events: &'s [Event],
    /// All closest features within the margin.
    pub contacts: &'s [Contact],
    /// The points of all patches, in the order of the contacts.
    pub points: &'s [ContactPoint],
    /// Pairs that the budget left open: their contact is as it was known before.
    pub undecided: &'s [[BodyId; 2]],
    /// Pairs of bodies whose boxes meet, among them those that groups and rules leave out.
    pub box_pairs: usize,
    /// The least certainty of any contact, whether all pairs were decided, and the cost.
    pub outcome: Outcome,
}

impl<'s> Frame<'s> {
    /// The points on which the bodies of a contact of this frame lie on each other, in order around the patch.
    pub fn patch(&self, contact: &Contact) -> &'s [ContactPoint] {
        let [first, end] = contact.patch.map(|k| k as usize);
        self.points.get(first..end).unwrap_or_default()
    }
}
