//! One frame of the scene, in order: boxes of what moved, broad phase, pairs, narrow phase, events.
//!
//! Pairs live from the frame in which their boxes meet to the one in which they part (Cohen, Lin, Manocha,
//! Ponamgi 1995), and so does their memory. A pair whose bodies both rest is not asked again. With a limited
//! budget the pairs that have waited longest come first, so none is left open for ever.

use super::body::Bodies;
use super::event::{Event, EventKind, Frame};
use super::filter::{Rule, Rules};
use super::pair::Pair;
use super::{Options, Scene};
use crate::broad::Changes;
use crate::num::parallel;
use crate::{Budget, Certainty, Counters, Finish, Outcome};

/// Pairs that one thread decides at a time.
const CHUNK: usize = 16;

/// Pairs between two looks at a limited budget.
const QUANTUM: usize = 32;

/// What deciding a pair needs to know.
#[derive(Clone, Copy)]
struct Surroundings<'s> {
    bodies: &'s Bodies,
    rules: &'s Rules,
    options: &'s Options,
    clock: u64,
}

impl Scene {
    /// Brings everything up to date with the poses and tells what began, persists and ended.
    ///
    /// A budget in work units counts the tests of pairs and of their parts. When it runs out, the open pairs
    /// are in [`Frame::undecided`], and the next step goes on with them.
    pub fn step(&mut self, budget: &mut Budget) -> Frame<'_> {
        self.clock += 1;
        let mut work = Counters { updates: self.moved.len() as u64, ..Counters::default() };
        self.refit();
        self.broad.step(&mut self.changes);
        self.events.clear();
        self.merge_pairs();
        self.decide_pairs(budget);
        self.tell(&mut work);
        self.bodies.recycle();
        let finish = if self.undecided.is_empty() { Finish::Complete } else { Finish::OutOfBudget };
        let certainty = self.contacts.iter().map(|c| c.certainty).fold(Certainty::Exact, Certainty::lesser);
        self.outcome = Outcome { certainty, finish, work };
        self.last()
    }

    /// New boxes for the bodies that moved.
    fn refit(&mut self) {
        let (bodies, moved, pad) = (&self.bodies, &self.moved, self.pad());
        self.refitted.clear();
        parallel::extend(&mut self.refitted, moved.len(), |k| {
            let entry = bodies.at(moved[k])?;
            Some(entry.fit.bounds(entry.body.shape.geometry(), &entry.body.pose, pad))
        });
        for (&slot, refitted) in self.moved.iter().zip(&self.refitted) {
            // A body that moved and was then removed has no box.
            let (Some(entry), Some((bounds, fit))) = (self.bodies.at_mut(slot), refitted) else { continue };
            (entry.bounds, entry.fit, entry.queued) = (*bounds, *fit, false);
            self.broad.update(slot, *bounds);
        }
        self.moved.clear();
    }

    /// Takes out the pairs that ended and puts in those that began; all lists are ascending.
    fn merge_pairs(&mut self) {
        let Changes { began, ended } = &self.changes;
        if began.is_empty() && ended.is_empty() {
            return;
        }
        std::mem::swap(&mut self.pairs, &mut self.old_pairs);
        let (mut began, mut ended) = (began.iter().peekable(), ended.iter().peekable());
        let bodies = &self.bodies;
        let fresh = |slots: &[u32; 2]| Pair::new(slots.map(|slot| bodies.id(slot)));
        for pair in self.old_pairs.drain(..) {
            let slots = pair.slots();
            while let Some(new) = began.next_if(|new| **new < slots) {
                self.pairs.push(fresh(new));
            }
            if ended.next_if(|gone| **gone == slots).is_none() {
                self.pairs.push(pair);
            } else if pair.told {
                self.events.push(Event { bodies: pair.bodies, kind: EventKind::Ended });
            }
        }
        self.pairs.extend(began.map(fresh));
        debug_assert!(self.pairs.is_sorted_by_key(Pair::slots), "the pairs lost their order");
    }

    /// Asks groups and rules about every pair, and decides those that are due as far as the budget goes.
    fn decide_pairs(&mut self, budget: &mut Budget) {
        let around = Surroundings {
            bodies: &self.bodies,
            rules: &self.rules,
            options: &self.options,
            clock: self.clock,
        };
        let unlimited = budget.is_unlimited();
        parallel::for_each_chunk(&mut self.pairs, CHUNK, |_, pairs| {
            for pair in pairs {
                around.admit(pair);
                if unlimited {
                    around.decide(pair);
                }
            }
        });
        if unlimited {
            return;
        }
        let mut due: Vec<&mut Pair> = self.pairs.iter_mut().filter(|pair| pair.due).collect();
        // Sorting is stable: of those that waited equally long the smaller bodies come first.
        due.sort_by_key(|pair| pair.decided_at);
        for some in due.chunks_mut(QUANTUM) {
            if !budget.draw(0) {
                break;
            }
            parallel::for_each_chunk(some, CHUNK, |_, pairs| {
                pairs.iter_mut().for_each(|pair| around.decide(pair));
            });
            budget.draw(some.iter().map(|pair| pair.work.volume_tests + pair.work.primitive_tests).sum());
        }
    }

    /// Events, contacts and open pairs, by ascending bodies.
    fn tell(&mut self, work: &mut Counters) {
        self.contacts.clear();
        self.points.clear();
        self.undecided.clear();
        for pair in &mut self.pairs {
            if pair.due {
                self.undecided.push(pair.bodies);
                continue;
            }
            *work += std::mem::take(&mut pair.work);
            let now = pair.wanted && pair.touching;
            let kind = match (std::mem::replace(&mut pair.told, now), now) {
                (false, true) => Some(EventKind::Began),
                (true, true) => Some(EventKind::Persists),
                (true, false) => Some(EventKind::Ended),
                (false, false) => None,
            };
            self.events.extend(kind.map(|kind| Event { bodies: pair.bodies, kind }));
            if pair.wanted {
                pair.tell(&mut self.next_point, &mut self.contacts, &mut self.points);
            }
        }
        // Only the pairs that ended in the broad phase stand out of order.
        self.events.sort_unstable();
    }
}

impl Surroundings<'_> {
    /// Whether the pair is wanted, by which method, and whether it has to be decided anew.
    fn admit(&self, pair: &mut Pair) {
        let [Some(a), Some(b)] = pair.slots().map(|slot| self.bodies.at(slot)) else { return };
        let rule = if a.named && b.named { self.rules.of(pair.slots()) } else { Rule::default() };
        pair.wanted = !rule.ignored && a.body.groups.allow(b.body.groups);
        let told_as = rule.contacts.unwrap_or(self.options.contacts);
        let changed = (pair.method, pair.told_as) != (rule.method, told_as);
        (pair.method, pair.told_as) = (rule.method, told_as);
        let moved_at = a.moved_at.max(b.moved_at);
        pair.due = pair.wanted && (changed || moved_at > pair.decided_at);
    }

    /// Decides the pair if it is due.
    fn decide(&self, pair: &mut Pair) {
        let [Some(a), Some(b)] = pair.slots().map(|slot| self.bodies.at(slot)) else { return };
        if std::mem::take(&mut pair.due) {
            let (shapes, poses) =
                ([a.body.shape.geometry(), b.body.shape.geometry()], [&a.body.pose, &b.body.pose]);
            pair.decide(shapes, poses, self.options.margin, self.options.touch);
            pair.decided_at = self.clock;
        }
    }
}
