//! What a step of the scene tells: events, contacts, and what was left open.

use super::BodyId;
use crate::{Certainty, Contact, Outcome};

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

/// The contact of two bodies, or of one part of each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SceneContact {
    /// The bodies, the smaller index first: a and b of the contact.
    pub bodies: [BodyId; 2],
    /// The part of each; 0 for a body that is no compound.
    pub parts: [u32; 2],
    /// The closest or deepest features; it has no persistent id, the points of its manifold do.
    pub contact: Contact,
    /// What that is worth.
    pub certainty: Certainty,
    /// Where its manifold begins and ends in [`Frame::points`]; empty unless [`Contacts::Manifold`](super::Contacts::Manifold) was
    /// asked for.
    pub manifold: [u32; 2],
}

/// The result of one step; every list is ascending by the bodies' indices.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'s> {
    /// What began, persists and ended.
    pub events: &'s [Event],
    /// All contacts within the margin.
    pub contacts: &'s [SceneContact],
    /// The points of all contact manifolds, in the order of the contacts. A persistent id is the same as long as
    /// the point lasts and the pair's boxes meet, and is never given again: a solver may keep what it knows of a
    /// point under it.
    pub points: &'s [Contact],
    /// Pairs that the budget left open: there is no event of them, and their contacts are those of the step in
    /// which they were last decided; none if one of their bodies was given another shape since. Where it ended between
    /// whether they touch and how deep, the event is told, and with [`Contacts::Deepest`](super::Contacts::Deepest) a
    /// contact without a normal.
    pub undecided: &'s [[BodyId; 2]],
    /// Pairs of bodies whose boxes meet, among them those that groups and rules leave out.
    pub box_pairs: usize,
    /// The least certainty of what was decided about any pair, touching or not, whether all were decided, and the cost.
    pub outcome: Outcome,
}

impl<'s> Frame<'s> {
    /// The points on which the bodies of a contact of this frame lie on each other, in order around the manifold.
    pub fn manifold(&self, contact: &SceneContact) -> &'s [Contact] {
        let [first, end] = contact.manifold.map(|k| k as usize);
        self.points.get(first..end).unwrap_or_default()
    }
}
