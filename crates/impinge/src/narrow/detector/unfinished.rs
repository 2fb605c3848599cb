//! Questions about two shapes that a budget cuts short, and how they continue.
//!
//! Without a limit a question is asked on the caller's thread. With one it is tried there for about as long as
//! starting a thread takes, unless something large has to be built first or the budget is small. What the trial leaves
//! open runs as a task, which keeps its place from call to call. The task stays in the memory and continues when the
//! same question is asked about the same bodies at the same poses; any other question ends it.

use std::any::Any;
use std::sync::Arc;

use smallvec::SmallVec;

use super::pair_memory::PairMemory;
use super::running::{Running, Step};
use super::{Finding, Question};
use crate::contact::{Counters, Finish, Verdict};
use crate::model::{Fact, Geometry, Model};
use crate::narrow::dispatch;
use crate::narrow::shape_pair::ShapePair;
use crate::shape::{Convex, Primitive};
use crate::{Budget, Error, Motion, Pose, Relation};

/// Units that a question may cost before it gets a thread: a tenth of a millisecond, about as long as the thread takes
/// to begin on a machine whose cores are busy. What a trial has spent in vain is lost, so of a budget in units it is an
/// eighth, but for [`SHORT_TRIAL`].
const TRIAL: u64 = 8192;

/// Units of a trial that any budget in units pays for, if they are no more than a half of it.
const SHORT_TRIAL: u64 = 2048;

/// A trial of fewer units finds nothing.
const LEAST_TRIAL: u64 = 128;

/// Corners of a hull up to which it is small, as a mesh is: to place it anew takes less time than to start a thread.
const SMALL_HULL: usize = 128;

/// Corners of two hulls up to which their relation takes a few tenths of a millisecond.
const MOST_CORNERS: usize = 2048;

/// How a method answers a question about a pair.
pub(crate) type Kernel<T> =
    fn(&ShapePair<'_>, &Question, &mut PairMemory, &mut Budget) -> Result<Verdict<T>, Error>;

/// A suspended question, and answers of a batch that did not come to its end; a copy has neither.
#[derive(Debug, Default)]
pub(super) struct Unfinished {
    resting: Option<Box<(Key, Running)>>,
    answered: Option<Box<(Key, Finding)>>,
}

impl Clone for Unfinished {
    fn clone(&self) -> Unfinished {
        Unfinished::default()
    }
}

/// Which question was asked about whom.
#[derive(Debug, Clone)]
struct Key {
    method: &'static str,
    question: Question,
    shapes: [Geometry; 2],
    poses: [Pose; 2],
    motions: Option<[Motion; 2]>,
}

impl Key {
    fn new(method: &'static str, question: &Question, pair: &ShapePair<'_>) -> Key {
        Key {
            method,
            question: *question,
            shapes: pair.shapes.map(Geometry::clone),
            poses: pair.poses.map(|pose| *pose),
            motions: pair.motions.map(|motions| motions.map(|motion| *motion)),
        }
    }

    fn is(&self, method: &'static str, question: &Question, pair: &ShapePair<'_>) -> bool {
        let moving = matches!(question, Question::Sweep(_));
        self.method == method
            && self.question == *question
            && self.shapes.iter().zip(pair.shapes).all(|(mine, theirs)| mine.is_same(theirs))
            && self.poses == pair.poses.map(|pose| *pose)
            && (!moving || self.motions == pair.motions.map(|motions| motions.map(|motion| *motion)))
    }

    fn pair(&self) -> ShapePair<'_> {
        ShapePair {
            shapes: self.shapes.each_ref(),
            poses: self.poses.each_ref(),
            motions: self.motions.as_ref().map(<[Motion; 2]>::each_ref),
        }
    }
}

/// The exact relation of a pair, or as far as the budget goes.
#[inline]
pub(crate) fn exact_relation(
    pair: &ShapePair<'_>,
    memory: &mut PairMemory,
    budget: &mut Budget,
) -> Verdict<Relation> {
    let kernel: Kernel<Relation> =
        |pair, _, memory, budget| Ok(dispatch::relation(pair, &mut memory.kernel, budget));
    let found = ask("exact", &Question::Relation, pair, memory, budget, kernel);
    // The kernel refuses nothing.
    found.unwrap_or_else(|_| Verdict::refused())
}

/// Answers a question about a pair, or continues an unfinished one.
///
/// # Errors
/// The kernel's.
#[inline]
pub(crate) fn ask<T: Any + Send>(
    method: &'static str,
    question: &Question,
    pair: &ShapePair<'_>,
    memory: &mut PairMemory,
    budget: &mut Budget,
    kernel: Kernel<T>,
) -> Result<Verdict<T>, Error> {
    if budget.is_unlimited() && memory.unfinished.resting.is_none() {
        return kernel(pair, question, memory, budget);
    }
    match (pair.shapes, question) {
        // Short, but for the relation of very large hulls: each of their faces is looked at.
        ([Geometry::Convex(a), Geometry::Convex(b)], Question::Relation | Question::Distance)
            if *question == Question::Distance || corners(a) + corners(b) <= MOST_CORNERS =>
        {
            kernel(pair, question, memory, budget)
        }
        _ => ask_within(method, question, pair, memory, budget, kernel),
    }
}

fn ask_within<T: Any + Send>(
    method: &'static str,
    question: &Question,
    pair: &ShapePair<'_>,
    memory: &mut PairMemory,
    budget: &mut Budget,
    kernel: Kernel<T>,
) -> Result<Verdict<T>, Error> {
    if budget.is_spent() {
        return Ok(Verdict::out_of_budget());
    }
    let resting = memory.unfinished.resting.take();
    if let Some(resting) = resting.filter(|resting| resting.0.is(method, question, pair)) {
        return go_on(resting, memory, budget);
    }
    if budget.is_unlimited() {
        return kernel(pair, question, memory, budget);
    }
    let facts = facts(method, question, pair);
    let ready = !needs_a_model(question, pair)
        && pair.shapes.iter().all(|shape| is_quick(shape, question, method))
        && facts
            .iter()
            .all(|(model, fact)| model.knows(*fact) || model.is_small() || is_tried_without(*fact, question));
    let mut tried = Counters::default();
    let most = budget.remaining().map_or(TRIAL, |units| (units / 8).clamp(SHORT_TRIAL, TRIAL).min(units / 2));
    if ready && most >= LEAST_TRIAL {
        let mut trial = budget.trial(most);
        let built = facts.iter().all(|(model, fact)| !model.is_small() || model.prepare(*fact, &mut trial));
        let mut found = match built {
            true => kernel(pair, question, memory, &mut trial)?,
            false => Verdict::out_of_budget(),
        };
        budget.repay(&trial);
        found.outcome.work.updates += trial.updates();
        if found.outcome.finish != Finish::OutOfBudget {
            return Ok(found);
        }
        tried = found.outcome.work;
    }
    let key = Key::new(method, question, pair);
    let (own, mut own_memory) = (key.clone(), memory.lend());
    let running = Running::start(move |budget| {
        if matches!(own.question, Question::Distance | Question::Sweep(_)) {
            // What is told until the trees are built.
            own.shapes.iter().for_each(|shape| _ = shape.own_box());
        }
        let ready = facts.iter().all(|(model, fact)| model.prepare(*fact, budget));
        let found = match ready {
            true => kernel(&own.pair(), &own.question, &mut own_memory, budget),
            false => Ok(Verdict::out_of_budget()),
        };
        (found, own_memory)
    });
    let Some(running) = running else { return kernel(pair, question, memory, budget) };
    let mut found = go_on(Box::new((key, running)), memory, budget)?;
    found.outcome.work += tried;
    Ok(found)
}

/// What the task of a pair ends with: the answer, and the memory that it took along.
type Ended<T> = (Result<Verdict<T>, Error>, PairMemory);

fn go_on<T: Any + Send>(
    mut resting: Box<(Key, Running)>,
    memory: &mut PairMemory,
    budget: &mut Budget,
) -> Result<Verdict<T>, Error> {
    match resting.1.advance::<Ended<T>, T>(budget) {
        Step::Open(verdict) => {
            memory.unfinished.resting = Some(resting);
            Ok(verdict)
        }
        Step::Ended((found, own), spent) => {
            memory.take_back(own);
            let mut found = found?;
            found.outcome.work = resting.1.work(Some(found.outcome.work), spent);
            Ok(found)
        }
    }
}

impl Unfinished {
    /// The answer that an unfinished batch has found about this pair by this method.
    pub fn answered(
        &self,
        method: &'static str,
        question: &Question,
        pair: &ShapePair<'_>,
    ) -> Option<&Finding> {
        let (key, finding) = self.answered.as_deref()?;
        key.is(method, question, pair).then_some(finding)
    }

    /// Keeps an answer for as long as the batch is not finished.
    pub fn keep(
        &mut self,
        method: &'static str,
        question: &Question,
        pair: &ShapePair<'_>,
        finding: Finding,
    ) {
        self.answered = Some(Box::new((Key::new(method, question, pair), finding)));
    }

    /// The batch came to its end.
    pub fn forget(&mut self) {
        self.answered = None;
    }

    /// Takes over the answers of the batch that another one holds.
    pub fn with_answers_of(self, other: &mut Unfinished) -> Unfinished {
        Unfinished { answered: other.answered.take(), ..self }
    }
}

/// Whether a hull is turned into a mesh with a tree first, which nothing interrupts.
fn needs_a_model(question: &Question, pair: &ShapePair<'_>) -> bool {
    let is_hull = |shape: &&Geometry| matches!(shape, Geometry::Convex(Convex::Polytope(_)));
    matches!(question, Question::Relation | Question::Distance | Question::Volume(_))
        && pair.shapes.iter().any(is_hull)
        && pair.shapes.iter().any(|shape| shape.model().is_some())
}

fn corners(convex: &Convex) -> usize {
    match convex {
        Convex::Polytope(hull) => hull.vertices().len(),
        Convex::Primitive(_) => 0,
    }
}

/// Whether no single step of a question about a shape takes longer than a trial may: none that looks at all corners of a
/// large hull, or at all particles of a cloud.
fn is_quick(shape: &Geometry, question: &Question, method: &'static str) -> bool {
    match shape {
        Geometry::Mesh(_) => true,
        Geometry::Convex(convex) => match question {
            Question::Separate | Question::Volume(_) => corners(convex) <= SMALL_HULL,
            Question::Relation => corners(convex) <= MOST_CORNERS,
            _ => true,
        },
        Geometry::Compound(compound) => {
            compound.parts().iter().all(|part| is_quick(&part.shape, question, method))
        }
        Geometry::Particles(cloud) => cloud.is_small() || (method == "particles" && cloud.knows_tree()),
    }
}

/// Whether a trial of the question goes without a fact: it is a filter, which a short search does not need.
fn is_tried_without(fact: Fact, question: &Question) -> bool {
    fact == Fact::DiscBounds && *question == Question::Relation
}

/// What has to be known of the meshes before the search begins. A relation asks for the topology itself, at its end:
/// most are told without.
fn facts(
    method: &'static str,
    question: &Question,
    pair: &ShapePair<'_>,
) -> SmallVec<[(Arc<Model>, Fact); 4]> {
    let meshes = pair.shapes.iter().filter_map(|shape| shape.model());
    let needed: &[Fact] = match (method, pair.shapes) {
        // Other methods pay for what they build themselves.
        (other, _) if !["exact", "contact", "particles"].contains(&other) => &[],
        ("contact", _) => &[Fact::SphereCover, Fact::DiscBounds],
        ("particles", _) => match question {
            Question::Sweep(_) => &[Fact::Tree],
            _ => &[Fact::Topology, Fact::PointTree],
        },
        (_, [Geometry::Mesh(_), Geometry::Mesh(_)]) => match question {
            Question::Relation => &[Fact::Tree, Fact::DiscBounds],
            Question::Contour | Question::Contacts(_) | Question::Separate | Question::Volume(_) => {
                &[Fact::Topology, Fact::DiscBounds]
            }
            Question::Distance => &[Fact::PointTree],
            Question::Pairs { margin: Some(_) } => &[Fact::Tree],
            Question::Pairs { margin: None } | Question::Sweep(_) => &[Fact::DiscBounds],
        },
        (_, [Geometry::Convex(convex), _] | [_, Geometry::Convex(convex)]) => match (question, convex) {
            (Question::Distance, Convex::Polytope(_)) => &[Fact::PointTree],
            (
                Question::Relation,
                Convex::Polytope(_)
                | Convex::Primitive(
                    Primitive::Cuboid { .. } | Primitive::Triangle { .. } | Primitive::Segment { .. },
                ),
            ) => &[Fact::Tree, Fact::DiscBounds],
            (Question::Volume(_), _) => &[Fact::Topology, Fact::DiscBounds],
            _ => &[Fact::Tree],
        },
        _ => match question {
            Question::Relation => &[Fact::Tree, Fact::DiscBounds],
            _ => &[Fact::PointTree],
        },
    };
    meshes.flat_map(|model| needed.iter().map(|&fact| (model.clone(), fact))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Certainty, Outcome, Shape, procedural};

    /// Whether the answer was found on the thread of the caller.
    fn tried(shapes: [&Shape; 2], question: Question, budget: Budget) -> bool {
        let kernel: Kernel<bool> = |_, _, _, _| {
            let outcome =
                Outcome { certainty: Certainty::Exact, finish: Finish::Complete, work: Counters::default() };
            Ok(Verdict::new(Some(std::thread::current().name() != Some("impinge task")), outcome))
        };
        let pose = Pose::IDENTITY;
        let pair = ShapePair::new(shapes.map(Shape::geometry), [&pose; 2]);
        let mut memory = PairMemory::default();
        ask("exact", &question, &pair, &mut memory, &mut { budget }, kernel).unwrap().value.unwrap()
    }

    #[test]
    fn what_takes_long_in_one_step_is_not_tried_on_the_thread_of_the_caller() {
        let hull = |level| {
            let ball = procedural::ico_sphere(1.0, level).unwrap();
            Shape::hull(ball.vertices().to_vec()).unwrap()
        };
        let cloud = |count| {
            let places = procedural::positions(count, glam::DVec3::ZERO, glam::DVec3::ONE, 3);
            Shape::particles(places, &[0.01]).unwrap()
        };
        let (small, large, few, many) = (hull(1), hull(4), cloud(100), cloud(5000));
        let part = |shape: &Shape| Shape::compound([(shape.clone(), Pose::IDENTITY)]).unwrap();
        let quick = [&small, &part(&small), &few];
        let slow = [&large, &part(&large), &many];
        let huge = hull(5);
        for limit in [Budget::units(100_000), Budget::millis(60_000)] {
            // The distance of two hulls is short, their relation up to some size.
            assert!(tried([&huge, &small], Question::Distance, limit.clone()));
            assert!(tried([&small, &small], Question::Relation, limit.clone()));
            assert!(!tried([&huge, &small], Question::Relation, limit.clone()));
            // A sweep looks at few corners.
            let sweep = Question::Sweep(crate::SweepOptions::DEFAULT);
            assert!(tried([&huge, &small], sweep, limit.clone()));
            for question in [Question::Separate, Question::Volume(crate::VolumeOptions::default())] {
                for shape in quick {
                    assert!(tried([shape, &small], question, limit.clone()), "{shape:?}");
                }
                for shape in slow {
                    assert!(!tried([shape, &small], question, limit.clone()), "{shape:?}");
                    assert!(!tried([&small, shape], question, limit.clone()), "{shape:?}");
                }
            }
        }
    }
}
