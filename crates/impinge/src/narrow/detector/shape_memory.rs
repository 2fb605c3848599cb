//! Questions about one shape that a budget cuts short, and how they continue.
//!
//! A search through one shape runs as a task under a limited budget, which stays in the memory. Many points or rays
//! are answered one block after the other on the caller's thread; what was answered is kept with a hash of what was
//! asked, and the next call with the same input continues after it.

use std::any::Any;
use std::sync::Arc;

use super::memory::Memory;
use super::running::{Running, Step};
use crate::contact::{Verdict, VolumeOptions};
use crate::model::{Fact, Geometry};
use crate::narrow::deforming::UnfinishedSearch;
use crate::{Budget, Error, Pose};

/// What was asked about whom.
#[derive(Debug, Clone)]
pub(crate) struct ShapeQuestion {
    /// Its name.
    pub question: &'static str,
    /// The shape.
    pub shape: Geometry,
    /// Where it is.
    pub pose: Pose,
    /// What else was asked for.
    pub options: [f64; 2],
    /// What is asked of a volume.
    pub volume: Option<VolumeOptions>,
    /// A hash of the one item that is asked about, if there is one.
    pub item: Option<u64>,
    /// What has to be known of the shape.
    pub facts: &'static [Fact],
}

impl ShapeQuestion {
    fn is(&self, other: &ShapeQuestion) -> bool {
        self.question == other.question
            && self.pose == other.pose
            && self.options == other.options
            && self.volume == other.volume
            && self.item == other.item
            && self.facts == other.facts
            && self.shape.is_same(&other.shape)
    }
}

/// What questions about one shape leave when their budget ends; a copy has nothing.
#[derive(Debug, Default)]
pub(crate) struct ShapeMemory {
    resting: Option<Box<(ShapeQuestion, Running)>>,
    answered: Option<Box<Answered>>,
    /// A search for contacts of moving vertices.
    pub deforming: Option<Box<UnfinishedSearch>>,
    /// What each of many shapes left that were asked about together.
    members: Vec<Member>,
}

/// One of many shapes with one question.
#[derive(Debug, Default)]
pub(crate) struct Member {
    /// What its own question left.
    pub memory: Memory,
    /// The answer, as long as others are open.
    answer: Option<Box<Answered>>,
}

impl Member {
    /// The answer that an earlier call has found.
    pub fn answer<R: Any + Clone>(&self, asked: &ShapeQuestion) -> Option<R> {
        let known = self.answer.as_ref().filter(|known| known.asked.is(asked))?;
        known.answers.downcast_ref::<R>().cloned()
    }

    /// Keeps an answer for as long as others are open.
    pub fn keep<R: Any + Send + Sync>(&mut self, asked: ShapeQuestion, answer: R) {
        self.answer =
            Some(Box::new(Answered { asked, hash: 0, count: 1, owed: 0, answers: Box::new(answer) }));
    }
}

/// The answers to the first items of a list.
struct Answered {
    asked: ShapeQuestion,
    /// Of the items that were answered.
    hash: u64,
    count: usize,
    /// Units that the last of them have cost and that are still to be paid.
    owed: u64,
    answers: Box<dyn Any + Send + Sync>,
}

impl std::fmt::Debug for Answered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} answers to {}", self.count, self.asked.question)
    }
}

impl Clone for ShapeMemory {
    fn clone(&self) -> ShapeMemory {
        ShapeMemory::default()
    }
}

impl ShapeMemory {
    /// Answers a question under a limited budget, or continues an unfinished one.
    ///
    /// # Errors
    /// Those of the search.
    pub fn ask<T: Any + Send>(
        &mut self,
        asked: ShapeQuestion,
        budget: &mut Budget,
        run: impl Fn(&Geometry, &mut Budget) -> Result<Verdict<T>, Error> + Send + Sync + 'static,
    ) -> Result<Verdict<T>, Error> {
        if budget.is_spent() {
            return Ok(Verdict::out_of_budget());
        }
        let known = self.resting.take().filter(|resting| resting.0.is(&asked));
        let mut resting = match known {
            Some(resting) => resting,
            None => {
                let (shape, run) = (asked.shape.clone(), Arc::new(run));
                let own = run.clone();
                match Running::start(move |budget| own(&shape, budget)) {
                    Some(running) => Box::new((asked, running)),
                    // Without threads it runs here, as far as the budget goes.
                    None => return run(&asked.shape, budget),
                }
            }
        };
        match resting.1.advance::<Result<Verdict<T>, Error>, T>(budget) {
            Step::Open(verdict) => {
                self.resting = Some(resting);
                Ok(verdict)
            }
            Step::Ended(found, spent) => {
                let mut found = found?;
                found.outcome.work = resting.1.work(Some(found.outcome.work), spent);
                Ok(found)
            }
        }
    }

    /// Takes out what many shapes have left, one place for each.
    pub fn take_members(&mut self, count: usize) -> Vec<Member> {
        let mut members = std::mem::take(&mut self.members);
        members.resize_with(count, Member::default);
        members
    }

    /// Keeps it for the next call.
    pub fn keep_members(&mut self, members: Vec<Member>) {
        self.members = members;
    }

    /// What is known of these items: the answers to the first of them, and the units that are owed for them.
    pub fn known<P: Hashed, R: Any>(&mut self, asked: &ShapeQuestion, items: &[P]) -> (Vec<R>, u64) {
        let known = self.answered.take().filter(|known| {
            known.asked.is(asked) && items.get(..known.count).is_some_and(|before| hash(before) == known.hash)
        });
        let answers = known.and_then(|known| Some((known.answers.downcast::<Vec<R>>().ok()?, known.owed)));
        answers.map_or_else(|| (Vec::new(), 0), |(answers, owed)| (*answers, owed))
    }

    /// Keeps the answers to the first of some items, and the units that are owed for them.
    pub fn keep<P: Hashed, R: Any + Send + Sync>(
        &mut self,
        asked: ShapeQuestion,
        items: &[P],
        answers: Vec<R>,
        owed: u64,
    ) {
        let count = answers.len();
        let hash = hash(&items[..count]);
        self.answered = Some(Box::new(Answered { asked, hash, count, owed, answers: Box::new(answers) }));
    }
}

/// Something whose bits can be hashed.
pub(crate) trait Hashed {
    /// Its numbers.
    fn numbers(&self) -> impl Iterator<Item = f64>;
}

impl Hashed for glam::DVec3 {
    fn numbers(&self) -> impl Iterator<Item = f64> {
        self.to_array().into_iter()
    }
}

impl Hashed for crate::narrow::exact::ray_cast::Ray {
    fn numbers(&self) -> impl Iterator<Item = f64> {
        self.origin.to_array().into_iter().chain(self.direction.to_array()).chain([self.reach])
    }
}

/// All bits of all items count (FNV-1a, a word at a time, 64 bits): other input is taken for the same once in 2⁶⁴.
pub(crate) fn hash<P: Hashed>(items: &[P]) -> u64 {
    let mix = |hash: u64, x: f64| {
        let mixed = (hash ^ x.to_bits()).wrapping_mul(0x0100_0000_01b3);
        mixed ^ mixed >> 29
    };
    items.iter().flat_map(Hashed::numbers).fold(0xcbf2_9ce4_8422_2325, mix)
}
