//! Which method decides which pairs of a frame, and with what share of its budget.
//!
//! A pair goes to the method that a rule names for it, else to the choice of `auto` for its shapes. Methods that
//! decide each pair on its own are called pair by pair, each with its own memory, in parallel unless work units are
//! counted. A method that shares work among pairs gets all of its pairs in one batch, once a frame. Each such group
//! has a share of the budget in proportion to its pairs; what it leaves over goes on to the next. Groups come in
//! the order of the pair that has waited longest, so that none is left open for ever.

use std::ops::ControlFlow;

use super::body::{Bodies, Entry};
use super::filter::{Rule, Rules};
use super::pair::Pair;
use super::{Contacts, Options};
use crate::contact::Verdict;
use crate::narrow::detector::pair_memory::PairMemory;
use crate::narrow::detector::{
    Batch, ContactOptions, Detector, Finding, Memory, PairContacts, PairKernel, Question, Sink,
};
use crate::narrow::methods::Method;
use crate::narrow::methods::exact::Exact;
use crate::narrow::route::{Reason, choose, method_for};
use crate::narrow::shape_pair::ShapePair;
use crate::num::compact_sort::sort_rarely;
use crate::num::parallel;
use crate::{Budget, Finish, Outcome};

/// Pairs that one thread decides at a time.
pub(super) const CHUNK: usize = 16;

/// Pairs between two looks at the clock.
const QUANTUM: usize = 32;

/// What deciding a pair needs to know.
#[derive(Clone, Copy)]
pub(super) struct Route<'s> {
    pub bodies: &'s Bodies,
    pub rules: &'s Rules,
    pub options: &'s Options,
    pub clock: u64,
    /// A detector that stands in for a method's own.
    #[cfg(test)]
    pub instead: Option<(Method, &'static dyn Detector)>,
}

/// The method for a pair in a scene, and why: a named one that does not accept the shapes gives way to `auto`.
pub(super) fn method_of(named: Method, options: &Options, pair: &ShapePair<'_>) -> (Method, Reason) {
    let question = Question::Contacts(asked(options, options.contacts));
    let (chosen, refused) = match method_for(named, &question, pair) {
        Ok(found) => return found,
        Err(_) => (choose(&question, pair), Reason::Refused { named }),
    };
    // The exact method answers about all shapes.
    (chosen.map_or(Method::Exact, |(method, _)| method), refused)
}

/// The contacts of a pair; where its method refuses a body the exact one answers, which treats all.
pub(super) fn told_by(
    kernel: &dyn PairKernel,
    shapes: &ShapePair<'_>,
    options: &ContactOptions,
    memory: &mut PairMemory,
    budget: &mut Budget,
    found: &mut PairContacts,
) -> Outcome {
    let told = kernel.contacts(shapes, options, memory, budget, found);
    let told = told.or_else(|_| Exact.contacts(shapes, options, memory, budget, found));
    told.unwrap_or_else(|_| Verdict::<()>::refused().outcome)
}

/// What a scene asks about a pair.
pub(super) fn asked(options: &Options, told: Contacts) -> ContactOptions {
    let Options { margin, touch, one_sided, .. } = *options;
    ContactOptions { margin, touch, told, one_sided, asks_touch: true }
}

/// The shapes of two bodies, where they are.
pub(super) fn placed<'s>([a, b]: [&'s Entry; 2]) -> ShapePair<'s> {
    ShapePair::new([a.body.shape.geometry(), b.body.shape.geometry()], [&a.body.pose, &b.body.pose])
}

impl<'s> Route<'s> {
    /// Whether the pair is wanted, by which method, and whether it has to be decided anew.
    pub fn admit(&self, pair: &mut Pair) {
        let [Some(a), Some(b)] = pair.slots().map(|slot| self.bodies.at(slot)) else { return };
        pair.found.is_provisional = false;
        let rule = if a.named && b.named { self.rules.of(pair.slots()) } else { Rule::default() };
        pair.wanted = !rule.ignored && a.body.groups.allow(b.body.groups);
        // A sensor has events and no contacts.
        let told_as = match a.body.sensor || b.body.sensor {
            true => Contacts::None,
            false => rule.contacts.unwrap_or(self.options.contacts),
        };
        let changed = (pair.named, pair.told_as) != (rule.method, told_as);
        (pair.named, pair.told_as) = (rule.method, told_as);
        if a.reshaped_at.max(b.reshaped_at) == self.clock {
            pair.reshaped();
        }
        if changed || pair.method == Method::Auto {
            (pair.method, _) = method_of(rule.method, self.options, &placed([a, b]));
        }
        let moved_at = a.moved_at.max(b.moved_at);
        // What the last step left open is due still.
        pair.due = pair.wanted && (changed || pair.due || moved_at > pair.decided_at);
    }

    /// What decides the pairs of a method.
    fn detector(&self, method: Method) -> Option<&'static dyn Detector> {
        #[cfg(test)]
        if let Some((_, detector)) = self.instead.filter(|(of, _)| *of == method) {
            return Some(detector);
        }
        method.detector()
    }

    /// What decides a pair on its own; `None` where its method shares work among pairs.
    pub fn kernel(&self, pair: &Pair) -> Option<&'static dyn PairKernel> {
        self.detector(pair.method)?.pairwise()
    }

    fn shapes(&self, pair: &Pair) -> Option<ShapePair<'s>> {
        let [a, b] = pair.slots().map(|slot| self.bodies.at(slot));
        Some(placed([a?, b?]))
    }

    /// Decides a pair on its own as far as the budget goes; what is left open stays due.
    pub fn decide(&self, pair: &mut Pair, kernel: &dyn PairKernel, budget: &mut Budget) {
        let Some(shapes) = self.shapes(pair) else { return };
        let memory = pair.memory.get_or_insert_default();
        let options = asked(self.options, pair.told_as);
        let outcome = told_by(kernel, &shapes, &options, memory, budget, &mut pair.found);
        pair.work += outcome.work;
        if outcome.finish != Finish::OutOfBudget {
            pair.decided(&shapes, self.clock, outcome.certainty);
        }
    }

    /// Decides the pairs that are due as far as the budget goes, those first that have waited longest.
    pub fn deal(&self, pairs: &mut [Pair], memories: &mut Vec<(Method, Memory)>, budget: &mut Budget) {
        let mut due: Vec<&mut Pair> = pairs.iter_mut().filter(|pair| pair.due).collect();
        // Sorting is stable: of those that waited equally long the smaller bodies come first.
        sort_rarely(&mut due, |x, y| x.decided_at.cmp(&y.decided_at));
        let mut left = due.len();
        while let Some(first) = due.first() {
            let method = self.kernel(first).map_or(Some(first.method), |_| None);
            let same = |pair: &&mut Pair| match method {
                None => self.kernel(pair).is_some(),
                Some(method) => pair.method == method,
            };
            let (mut group, others): (Vec<_>, Vec<_>) = due.into_iter().partition(same);
            let given = budget.share(group.len(), left);
            let mut own = given.clone();
            match method {
                None => self.decide_each(&mut group, &mut own),
                Some(method) => self.decide_batch(method, &mut group, memories, &mut own),
            }
            budget.settle(&given, &own);
            left -= group.len();
            due = others;
        }
    }

    /// Decides pairs one after the other where units are counted, so that neither the number of threads nor what a
    /// kernel draws too late can be seen in the result; in parallel where only time counts.
    fn decide_each(&self, pairs: &mut [&mut Pair], budget: &mut Budget) {
        if budget.remaining().is_some() {
            for pair in pairs {
                if !budget.draw(0) {
                    return;
                }
                self.decide_one(pair, budget);
            }
            return;
        }
        for some in pairs.chunks_mut(QUANTUM) {
            let given = budget.clone();
            if !budget.draw(0) {
                return;
            }
            parallel::for_each_chunk(some, CHUNK, |_, pairs| {
                pairs.iter_mut().for_each(|pair| self.decide_one(pair, &mut given.clone()));
            });
        }
    }

    /// Decides a pair and takes all it has cost out of the budget, whatever its kernel has drawn.
    fn decide_one(&self, pair: &mut Pair, budget: &mut Budget) {
        let Some(kernel) = self.kernel(pair) else { return };
        let units = |pair: &Pair| pair.work.volume_tests + pair.work.primitive_tests;
        let (before, had) = (units(pair), budget.remaining());
        self.decide(pair, kernel, budget);
        if let (Some(had), Some(left)) = (had, budget.remaining()) {
            budget.draw((units(pair) - before).saturating_sub(had - left));
        }
    }

    /// Decides all pairs of a method that shares work among them, in one batch.
    fn decide_batch(
        &self,
        method: Method,
        pairs: &mut [&mut Pair],
        memories: &mut Vec<(Method, Memory)>,
        budget: &mut Budget,
    ) {
        let Some(detector) = self.detector(method) else { return };
        let shapes: Option<Vec<ShapePair<'_>>> = pairs.iter().map(|pair| self.shapes(pair)).collect();
        let Some(shapes) = shapes else { return };
        let at = memories.iter().position(|(of, _)| *of == method).unwrap_or_else(|| {
            memories.push((method, Memory::default()));
            memories.len() - 1
        });
        let memory = &mut memories[at].1;
        // What single pairs remember goes with them: the next frame has others, in another order.
        for (slot, pair) in memory.slots(pairs.len()).iter_mut().zip(&mut *pairs) {
            *slot = pair.memory.take();
        }
        let told = pairs.iter().map(|pair| pair.told_as).max().unwrap_or_default();
        let question = Question::Contacts(asked(self.options, told));
        let batch = Batch { question, pairs: &shapes, seed: self.options.seed };
        let mut sink = Scatter { pairs, shapes: &shapes, clock: self.clock };
        // The bodies rest, so no motion is refused; what is not answered stays open.
        _ = detector.detect(&batch, memory, budget, &mut sink);
        for (slot, pair) in memory.slots(pairs.len()).iter_mut().zip(pairs) {
            pair.memory = slot.take();
        }
    }
}

/// Brings the findings of a batch to its pairs.
struct Scatter<'p, 'q> {
    pairs: &'p mut [&'q mut Pair],
    shapes: &'p [ShapePair<'p>],
    clock: u64,
}

impl Sink for Scatter<'_, '_> {
    fn take(&mut self, index: usize, finding: Finding) -> ControlFlow<()> {
        if let Finding::Contacts(verdict) = finding {
            let pair = &mut self.pairs[index];
            pair.work += verdict.outcome.work;
            if let Some(mut found) = verdict.value {
                if pair.told_as == Contacts::None {
                    found.parts.clear();
                    found.points.clear();
                }
                pair.found = found;
                pair.decided(&self.shapes[index], self.clock, verdict.outcome.certainty);
            }
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
#[path = "route_tests.rs"]
mod tests;
