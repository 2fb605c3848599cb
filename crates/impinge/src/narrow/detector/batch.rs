//! Many pairs with one question, and where the answers go.

use std::ops::ControlFlow;

use super::pair_memory::PairMemory;
use super::{Memory, PairContacts, PairKernel, Question, contacts_with_ids};
use crate::contact::{Counters, Finish, Outcome, Verdict, Volume};
use crate::narrow::contacts::SeparatingTranslation;
use crate::narrow::continuous::Sweep;
use crate::narrow::exact::contour::Polyline;
use crate::narrow::shape_pair::ShapePair;
use crate::num::parallel;
use crate::{Budget, Error, Relation, Separation};

/// Pairs of an unlimited batch that are decided before the sink receives them.
const BLOCK: usize = 1024;

/// Pairs that one thread decides at a time.
const CHUNK: usize = 4;

/// Many pairs with one question.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'p> {
    /// What is asked.
    pub question: Question,
    /// About whom.
    pub pairs: &'p [ShapePair<'p>],
    /// What random choices follow from.
    pub seed: u64,
}

/// What was found about one pair, by the question.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Finding {
    /// How the bodies lie to each other.
    Relation(Verdict<Relation>),
    /// How far apart they are, or how deep.
    Distance(Verdict<Separation>),
    /// The triangles that meet or are near.
    Pairs(Verdict<Vec<[u32; 2]>>),
    /// The curves along which the surfaces cross.
    Contour(Verdict<Vec<Polyline>>),
    /// Where they touch, overlap or come near.
    Contacts(Verdict<PairContacts>),
    /// Which translation takes them apart.
    Separate(Verdict<SeparatingTranslation>),
    /// When they first touch.
    Sweep(Verdict<Sweep>),
    /// How much they overlap.
    Volume(Verdict<Volume>),
}

impl Finding {
    /// Certainty, end and cost.
    fn outcome(&mut self) -> &mut Outcome {
        match self {
            Finding::Relation(verdict) => &mut verdict.outcome,
            Finding::Distance(verdict) => &mut verdict.outcome,
            Finding::Pairs(verdict) => &mut verdict.outcome,
            Finding::Contour(verdict) => &mut verdict.outcome,
            Finding::Contacts(verdict) => &mut verdict.outcome,
            Finding::Separate(verdict) => &mut verdict.outcome,
            Finding::Sweep(verdict) => &mut verdict.outcome,
            Finding::Volume(verdict) => &mut verdict.outcome,
        }
    }

    /// The same, found by an earlier call.
    fn at_no_cost(mut self) -> Finding {
        self.outcome().work = Counters::default();
        self
    }
}

/// A pair of a batch that its method refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// Which one.
    pub index: usize,
    /// Why.
    pub error: Error,
}

/// Takes findings, and says when it has enough.
pub trait Sink {
    /// Takes what was found about pair `index` of the batch.
    fn take(&mut self, index: usize, finding: Finding) -> ControlFlow<()>;
}

/// Decides every pair on its own: in parallel without a limit, one after the other with one. Answers come in the
/// order of the pairs.
///
/// # Errors
/// That of the first pair which the kernel refuses.
pub fn each_pair(
    kernel: &dyn PairKernel,
    batch: &Batch<'_>,
    memory: &mut Memory,
    budget: &mut Budget,
    sink: &mut dyn Sink,
) -> Result<(), Refused> {
    let slots = memory.slots(batch.pairs.len());
    if !budget.is_unlimited() {
        return one_after_another(kernel, batch, slots, budget, sink);
    }
    for (block, slots) in slots.chunks_mut(BLOCK).enumerate() {
        let first = block * BLOCK;
        let mut work: Vec<_> = slots.iter_mut().map(|slot| (slot, None)).collect();
        parallel::for_each_chunk(&mut work, CHUNK, |from, some| {
            for (k, (slot, found)) in some.iter_mut().enumerate() {
                let (pair, memory) = (&batch.pairs[first + from + k], slot.get_or_insert_default());
                *found = Some(one(kernel, &batch.question, pair, memory, &mut Budget::UNLIMITED.clone()));
            }
        });
        for (k, found) in work.into_iter().filter_map(|(_, found)| found).enumerate() {
            let index = first + k;
            let found = found.map_err(|error| Refused { index, error })?;
            if sink.take(index, found).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Under a limited budget. Answers are kept until all pairs have one, so that the next call goes on.
fn one_after_another(
    kernel: &dyn PairKernel,
    batch: &Batch<'_>,
    slots: &mut [Option<Box<PairMemory>>],
    budget: &mut Budget,
    sink: &mut dyn Sink,
) -> Result<(), Refused> {
    let mut open = false;
    for (index, (pair, slot)) in batch.pairs.iter().zip(slots.iter_mut()).enumerate() {
        let memory = slot.get_or_insert_default();
        let mut found = match memory.answered(kernel.name(), &batch.question, pair) {
            Some(found) => found.at_no_cost(),
            None => one(kernel, &batch.question, pair, memory, budget)
                .map_err(|error| Refused { index, error })?,
        };
        if found.outcome().finish == Finish::OutOfBudget {
            open = true;
        } else {
            memory.keep_answer(kernel.name(), &batch.question, pair, &found);
        }
        if sink.take(index, found).is_break() {
            break;
        }
    }
    if !open {
        slots.iter_mut().flatten().for_each(|memory| memory.forget_answer());
    }
    Ok(())
}

/// The question about one pair.
fn one(
    kernel: &dyn PairKernel,
    question: &Question,
    pair: &ShapePair<'_>,
    memory: &mut PairMemory,
    budget: &mut Budget,
) -> Result<Finding, Error> {
    Ok(match question {
        Question::Relation => Finding::Relation(kernel.relation(pair, memory, budget)),
        Question::Distance => Finding::Distance(kernel.distance(pair, memory, budget)),
        Question::Pairs { margin } => Finding::Pairs(kernel.pairs(pair, *margin, memory, budget)),
        Question::Contour => Finding::Contour(kernel.contour(pair, memory, budget)),
        Question::Contacts(options) => {
            Finding::Contacts(contacts_with_ids(kernel, pair, options, memory, budget)?)
        }
        Question::Separate => Finding::Separate(kernel.separate(pair, memory, budget)?),
        Question::Sweep(options) => Finding::Sweep(kernel.sweep(pair, options, memory, budget)?),
        Question::Volume(options) => Finding::Volume(kernel.volume(pair, options, memory, budget)?),
    })
}
