//! What a pair of shapes remembers between questions; dropping it costs speed, never an answer.

use std::any::Any;
use std::fmt;

use super::compound_pairs::CompoundMemory;
use super::contacts::Related;
use super::persistent_manifold::PersistentManifolds;
use super::unfinished::Unfinished;
use super::{ContactOptions, Finding, PairContacts, PairKernel, Question};
use crate::contact::{Finish, Verdict};
use crate::model::Geometry;
use crate::narrow::continuous::SweepMemory;
use crate::narrow::kernel_memory::KernelMemory;
use crate::narrow::shape_pair::ShapePair;
use crate::shape::Convex;
use crate::simd::prefetch;
use crate::{Budget, Error};
use crate::{Certainty, Contact, Pose, Separation};

/// What a pair of shapes remembers between questions.
#[derive(Debug, Clone, Default)]
pub struct PairMemory {
    /// What the kernels remember.
    pub(crate) kernel: KernelMemory,
    /// What a budget cut short.
    pub(super) unfinished: Unfinished,
    /// A distance that was found, by which method, and the relation if it was, before the budget ended in what follows.
    pub(super) measured: Kept<&'static str, (Separation, Option<Related>)>,
    /// Contacts that were found before the budget ended in what follows them.
    pub(super) listed: Kept<ContactOptions, Vec<Contact>>,
    /// What the parts of compounds remember.
    pub(super) parts: Option<Box<CompoundMemory>>,
    /// The persistent ids of the contacts that were told last, and the last one that was given.
    ids: Option<(PersistentManifolds, u64)>,
    /// What a method with its own state from frame to frame remembers.
    method: Opaque,
}

/// Something found for a placement, by which method or with which options, and what it is worth.
type Kept<K, T> = Option<Box<(Placement, K, T, Certainty)>>;

/// Something of a type that only who put it there knows; a copy has nothing.
#[derive(Default)]
pub(super) struct Opaque(Option<Box<dyn Any + Send + Sync>>);

impl Opaque {
    /// Takes out what was kept, by its type; anything else is forgotten.
    pub fn take<T: Any>(&mut self) -> Option<Box<T>> {
        self.0.take()?.downcast().ok()
    }

    /// Keeps something for who will take it out.
    pub fn keep<T: Any + Send + Sync>(&mut self, kept: Box<T>) {
        self.0 = Some(kept);
    }
}

impl Clone for Opaque {
    fn clone(&self) -> Opaque {
        Opaque::default()
    }
}

impl fmt::Debug for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "something" } else { "nothing" })
    }
}

/// Two shapes and where they were: what an unfinished search belongs to.
#[derive(Debug, Clone)]
pub(crate) struct Placement {
    shapes: [Geometry; 2],
    poses: [Pose; 2],
}

impl Placement {
    pub fn of(pair: &ShapePair<'_>) -> Placement {
        Placement { shapes: pair.shapes.map(Geometry::clone), poses: pair.poses.map(|pose| *pose) }
    }

    /// Whether nothing has changed since.
    pub fn is_of(&self, pair: &ShapePair<'_>) -> bool {
        let at_rest = [0, 1].iter().all(|&k| self.poses[k] == *pair.poses[k]);
        at_rest && [0, 1].iter().all(|&k| self.shapes[k].is_same(pair.shapes[k]))
    }
}

impl PairMemory {
    /// What is left by a sweep.
    pub(crate) fn after_sweep(sweep: SweepMemory) -> PairMemory {
        PairMemory { kernel: KernelMemory::after_sweep(sweep), ..PairMemory::default() }
    }

    /// Asks for what contacts look at first.
    #[inline]
    pub(super) fn prefetch(&self) {
        self.kernel.prefetch();
        prefetch(&self.unfinished);
        prefetch(&self.listed);
        prefetch(&self.ids);
    }

    /// Takes out what a method has kept here, by its type; what another one kept is forgotten.
    pub(crate) fn take_kept<T: Any>(&mut self) -> Option<Box<T>> {
        self.method.take()
    }

    /// Keeps something for the method that will take it out.
    pub(crate) fn keep<T: Any + Send + Sync>(&mut self, kept: Box<T>) {
        self.method.keep(kept);
    }

    /// What a task takes along: all but the ids that were given, which must not be given again if the task is dropped.
    pub(super) fn lend(&mut self) -> PairMemory {
        let ids = self.ids.take();
        let lent = std::mem::take(self);
        self.ids = ids;
        lent
    }

    /// What a task brings back.
    pub(super) fn take_back(&mut self, mut lent: PairMemory) {
        let unfinished = std::mem::take(&mut lent.unfinished).with_answers_of(&mut self.unfinished);
        *self = PairMemory { ids: self.ids.take(), unfinished, ..lent };
    }

    /// The answer that an unfinished batch has found about this pair.
    pub(crate) fn answered(
        &self,
        method: &'static str,
        question: &Question,
        pair: &ShapePair<'_>,
    ) -> Option<Finding> {
        self.unfinished.answered(method, question, pair).cloned()
    }

    /// Keeps an answer for as long as the batch is not finished.
    pub(crate) fn keep_answer(
        &mut self,
        method: &'static str,
        question: &Question,
        pair: &ShapePair<'_>,
        found: &Finding,
    ) {
        if self.unfinished.answered(method, question, pair).is_none() {
            self.unfinished.keep(method, question, pair, found.clone());
        }
    }

    /// The batch came to its end.
    pub(crate) fn forget_answer(&mut self) {
        self.unfinished.forget();
    }
}

/// The contacts of a pair, with ids that last as long as the memory does.
///
/// # Errors
/// A body that the method cannot treat.
pub(crate) fn contacts_with_ids(
    kernel: &dyn PairKernel,
    pair: &ShapePair<'_>,
    options: &ContactOptions,
    memory: &mut PairMemory,
    budget: &mut Budget,
) -> Result<Verdict<PairContacts>, Error> {
    memory.prefetch();
    memory.kernel.prefetch_surface();
    if let Some(ids) = &memory.ids {
        ids.0.prefetch();
    }
    for shape in pair.shapes {
        if let Geometry::Convex(Convex::Polytope(hull)) = shape {
            hull.prefetch();
        }
    }
    let mut found = PairContacts::default();
    let outcome = kernel.contacts(pair, options, memory, budget, &mut found)?;
    if outcome.finish == Finish::OutOfBudget {
        return Ok(Verdict::new(None, outcome));
    }
    let (manifolds, last) = memory.ids.get_or_insert_default();
    manifolds.renew(pair, &found);
    manifolds.name(&mut found.points, last);
    Ok(Verdict::new(Some(found), outcome))
}
