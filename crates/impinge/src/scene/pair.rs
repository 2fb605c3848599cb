//! A pair of bodies whose boxes meet: what is known about it from frame to frame.

use super::event::SceneContact;
use super::{BodyId, Contacts};
use crate::narrow::detector::pair_memory::PairMemory;
use crate::narrow::detector::persistent_manifold::PersistentManifolds;
use crate::narrow::detector::{PairContacts, PartContact};
use crate::narrow::methods::Method;
use crate::narrow::shape_pair::ShapePair;
use crate::{Certainty, Contact, Counters};

/// A pair that lives as long as the boxes meet.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub bodies: [BodyId; 2],
    /// The step in which it was last decided; 0 for never.
    pub decided_at: u64,
    /// Whether groups and rules want it looked at.
    pub wanted: bool,
    /// The method that the rules name.
    pub named: Method,
    /// The method that decides it; `Auto` before one was chosen.
    pub method: Method,
    /// What is told about it.
    pub told_as: Contacts,
    /// To be decided in this step, or left open by it.
    pub due: bool,
    /// In contact, as the last events told.
    pub told: bool,
    /// Cost in this step.
    pub work: Counters,
    /// Lives in a box, made when first needed: pairs are moved whenever others begin and end.
    pub memory: Option<Box<PairMemory>>,
    /// What was found when it was last decided.
    pub found: PairContacts,
    /// What that is worth, and whether they touch.
    pub certainty: Certainty,
    /// No memory that may be lost: it holds the persistent ids.
    manifolds: Option<Box<PersistentManifolds>>,
}

impl Pair {
    pub fn new(bodies: [BodyId; 2]) -> Pair {
        Pair {
            bodies,
            decided_at: 0,
            wanted: false,
            named: Method::Auto,
            method: Method::Auto,
            told_as: Contacts::default(),
            due: false,
            told: false,
            work: Counters::default(),
            memory: None,
            found: PairContacts::default(),
            certainty: Certainty::Exact,
            manifolds: None,
        }
    }

    /// The slots of the bodies.
    pub fn slots(&self) -> [u32; 2] {
        self.bodies.map(BodyId::slot)
    }

    /// Forgets what makes the next decision faster.
    pub fn forget(&mut self) {
        self.memory = None;
    }

    /// One of its bodies has another shape: features and parts that are known of it name nothing now.
    pub fn reshaped(&mut self) {
        self.forget();
        self.found.clear();
        (self.manifolds, self.certainty) = (None, Certainty::Exact);
        self.method = Method::Auto;
    }

    /// Was decided in this step: `found` is up to date.
    pub fn decided(&mut self, shapes: &ShapePair<'_>, clock: u64, certainty: Certainty) {
        (self.due, self.decided_at, self.certainty) = (false, clock, certainty);
        if self.told_as == Contacts::Manifold {
            self.manifolds.get_or_insert_default().renew(shapes, &self.found);
        } else {
            self.manifolds = None;
        }
    }

    /// Within the margin when last decided, by ascending parts, without manifolds.
    pub fn contacts(&self) -> impl Iterator<Item = SceneContact> + '_ {
        self.found.parts.iter().map(|&PartContact { parts, contact, certainty, .. }| SceneContact {
            bodies: self.bodies,
            parts,
            contact,
            certainty,
            manifold: [0; 2],
        })
    }

    /// Appends the contacts with their manifolds, whose new points get the next ids.
    pub fn tell(&mut self, next: &mut u64, contacts: &mut Vec<SceneContact>, points: &mut Vec<Contact>) {
        let first = contacts.len();
        contacts.extend(self.contacts());
        let Some(manifolds) = &mut self.manifolds else { return };
        let from = points.len() as u32;
        for (contact, part) in contacts[first..].iter_mut().zip(&self.found.parts) {
            contact.manifold = part.manifold.map(|k| from + k);
        }
        manifolds.tell(&self.found.points, next, points);
    }
}
