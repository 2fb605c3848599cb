//! What a method of collision detection is: a [`Detector`] over a batch of pairs with one question.
//!
//! A method that shares work or budget among pairs sees them all. One that decides each pair on its own is also a
//! [`PairKernel`], which single questions call directly. The list of methods is `narrow/methods`; how pairs are dealt
//! to them is `narrow/route`.

mod batch;
pub(crate) mod compound_pairs;
mod contacts;
mod memory;
pub mod pair_memory;
pub(crate) mod persistent_manifold;
pub(crate) mod running;
pub(crate) mod shape_memory;
pub(crate) mod unfinished;

pub use batch::{Batch, Finding, Refused, Sink, each_pair};
pub(crate) use contacts::measure;
pub use contacts::{ContactOptions, Contacts, PairContacts, PartContact};
pub use memory::Memory;
pub(crate) use pair_memory::contacts_with_ids;

use super::contacts::SeparatingTranslation;
use super::continuous::{Sweep, SweepOptions};
use super::exact::contour::Polyline;
use super::shape_pair::ShapePair;
use crate::contact::{Counters, Outcome, Relation, Separation, Verdict, Volume, VolumeOptions};
use crate::model::ShapeKind;
use crate::{Budget, Error};
use pair_memory::PairMemory;

/// What is asked about a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Question {
    /// How the bodies lie to each other.
    Relation,
    /// How far apart they are, or how deep.
    Distance,
    /// Every pair of triangles that meet or, with a margin, that are at most so far apart.
    Pairs {
        /// The largest distance (a length); `None` for meeting triangles only.
        margin: Option<f64>,
    },
    /// The curves along which the surfaces cross.
    Contour,
    /// Where they touch, overlap or come near, part by part.
    Contacts(ContactOptions),
    /// Which translation of b takes them apart.
    Separate,
    /// When they first touch.
    Sweep(SweepOptions),
    /// How much they overlap.
    Volume(VolumeOptions),
}

impl Question {
    /// Its name in messages.
    pub const fn name(&self) -> &'static str {
        match self {
            Question::Relation => "relation",
            Question::Distance => "distance",
            Question::Pairs { .. } => "pairs",
            Question::Contour => "contour",
            Question::Contacts(_) => "contacts",
            Question::Separate => "separate",
            Question::Sweep(_) => "sweep",
            Question::Volume(_) => "volume",
        }
    }
}

/// A method of collision detection, over batches of pairs.
pub trait Detector: Sync {
    /// The name it is called by.
    fn name(&self) -> &'static str;

    /// Whether it answers this question about these kinds, a before b.
    fn accepts(&self, question: &Question, kinds: [ShapeKind; 2]) -> bool;

    /// The work it expects: the counts that the cost model weighs.
    fn expect(&self, question: &Question, pair: &ShapePair<'_>) -> Counters;

    /// Answers the question for every pair of the batch, in any order, until the sink or the budget ends it.
    /// Pairs that the budget leaves open are reported as such.
    ///
    /// # Errors
    /// A pair whose motion the method cannot treat.
    fn detect(
        &self,
        batch: &Batch<'_>,
        memory: &mut Memory,
        budget: &mut Budget,
        sink: &mut dyn Sink,
    ) -> Result<(), Refused>;

    /// The same method for one pair, where pairs share nothing.
    fn pairwise(&self) -> Option<&dyn PairKernel> {
        None
    }
}

/// A method that decides each pair on its own. Only what [`Detector::accepts`] is asked for.
pub trait PairKernel: Detector {
    /// How the bodies lie to each other.
    fn relation(&self, _: &ShapePair<'_>, _: &mut PairMemory, _: &mut Budget) -> Verdict<Relation> {
        Verdict::refused()
    }

    /// How far apart they are, or how deep.
    fn distance(&self, _: &ShapePair<'_>, _: &mut PairMemory, _: &mut Budget) -> Verdict<Separation> {
        Verdict::refused()
    }

    /// Every pair of triangles that meet, or that are within a margin.
    fn pairs(
        &self,
        _: &ShapePair<'_>,
        _margin: Option<f64>,
        _: &mut PairMemory,
        _: &mut Budget,
    ) -> Verdict<Vec<[u32; 2]>> {
        Verdict::refused()
    }

    /// The curves along which the surfaces cross.
    fn contour(&self, _: &ShapePair<'_>, _: &mut PairMemory, _: &mut Budget) -> Verdict<Vec<Polyline>> {
        Verdict::refused()
    }

    /// Whether contacts with a mesh are listed with their depths (`narrow/contacts`), not only by the closest features.
    fn lists_contacts(&self) -> bool {
        false
    }

    /// Where they touch, overlap or come near; what the budget leaves open leaves `found` as it was, or provisional.
    ///
    /// Answered by the method's distances and relations, and for compounds part by part, unless it knows better.
    /// `found` is an argument so that a scene keeps its room from frame to frame.
    ///
    /// # Errors
    /// A body that the method cannot treat.
    fn contacts(
        &self,
        pair: &ShapePair<'_>,
        options: &ContactOptions,
        memory: &mut PairMemory,
        budget: &mut Budget,
        found: &mut PairContacts,
    ) -> Result<Outcome, Error> {
        Ok(contacts::by_distance(self, pair, options, memory, budget, found))
    }

    /// Which translation of b takes them apart.
    ///
    /// # Errors
    /// Bodies that no translation takes apart.
    fn separate(
        &self,
        _: &ShapePair<'_>,
        _: &mut PairMemory,
        _: &mut Budget,
    ) -> Result<Verdict<SeparatingTranslation>, Error> {
        Ok(Verdict::refused())
    }

    /// When they first touch.
    ///
    /// # Errors
    /// A motion that the method cannot treat.
    fn sweep(
        &self,
        _: &ShapePair<'_>,
        _: &SweepOptions,
        _: &mut PairMemory,
        _: &mut Budget,
    ) -> Result<Verdict<Sweep>, Error> {
        Ok(Verdict::refused())
    }

    /// How much they overlap.
    ///
    /// # Errors
    /// A body that bounds no solid.
    fn volume(
        &self,
        _: &ShapePair<'_>,
        _: &VolumeOptions,
        _: &mut PairMemory,
        _: &mut Budget,
    ) -> Result<Verdict<Volume>, Error> {
        Ok(Verdict::refused())
    }
}
