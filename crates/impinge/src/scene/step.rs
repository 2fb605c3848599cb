//! One frame of the scene, in order: boxes of what moved, broad phase, pairs, narrow phase, events.
//!
//! Pairs live from the frame in which their boxes meet to the one in which they part (Cohen, Lin, Manocha,
//! Ponamgi 1995), and so does their memory. A pair whose bodies both rest is not asked again. With a limited
//! budget the pairs that have waited longest come first, so none is left open for ever.

use std::sync::atomic::{AtomicBool, Ordering};

use super::Scene;
use super::event::{Event, EventKind, Frame};
use super::pair::Pair;
use super::route::{CHUNK, Route};
use crate::broad::Changes;
use crate::num::parallel;
use crate::{Budget, Certainty, Counters, Finish, Outcome};

impl Scene {
    /// Brings everything up to date with the poses and tells what began, persists and ended.
    ///
    /// A budget in work units counts the tests of bounding volumes and primitives within the pairs, and is exceeded
    /// by no more than a kernel's quantum. When it runs out, the open pairs are in [`Frame::undecided`]; they keep
    /// their unfinished searches, and the next step goes on with them.
    pub fn step(&mut self, budget: &mut Budget) -> Frame<'_> {
        self.clock += 1;
        let mut work = Counters { updates: self.moved.len() as u64, ..Counters::default() };
        self.refit();
        self.broad.step(&mut self.changes);
        self.events.clear();
        self.merge_pairs();
        self.decide_pairs(budget);
        let certainty = self.tell(&mut work);
        self.bodies.recycle();
        let finish = if self.undecided.is_empty() { Finish::Complete } else { Finish::OutOfBudget };
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
        let route = Route {
            bodies: &self.bodies,
            rules: &self.rules,
            options: &self.options,
            clock: self.clock,
            #[cfg(test)]
            instead: self.instead,
        };
        let unlimited = budget.is_unlimited();
        let left_over = AtomicBool::new(!unlimited);
        parallel::for_each_chunk(&mut self.pairs, CHUNK, |_, pairs| {
            for pair in pairs {
                route.admit(pair);
                if unlimited && pair.due {
                    match route.kernel(pair) {
                        Some(kernel) => route.decide(pair, kernel, &mut Budget::UNLIMITED.clone()),
                        None => left_over.store(true, Ordering::Relaxed),
                    }
                }
            }
        });
        if left_over.into_inner() {
            route.deal(&mut self.pairs, &mut self.memories, budget);
        }
    }

    /// Events, contacts and open pairs, by ascending bodies; returns what they are worth.
    fn tell(&mut self, work: &mut Counters) -> Certainty {
        let mut certainty = Certainty::Exact;
        self.contacts.clear();
        self.points.clear();
        self.undecided.clear();
        for pair in &mut self.pairs {
            *work += std::mem::take(&mut pair.work);
            // A sensor notices, but nothing rests on it.
            let sensed = pair.bodies.iter().any(|&id| self.bodies.get(id).is_some_and(|e| e.body.sensor));
            if pair.due {
                self.undecided.push(pair.bodies);
                // That they touch may be known before how deep.
                if !pair.found.is_provisional {
                    if !sensed {
                        certainty = certainty.lesser(pair.certainty);
                        pair.tell(&mut self.last_id, &mut self.contacts, &mut self.points);
                    }
                    continue;
                }
            }
            if pair.wanted {
                certainty = certainty.lesser(pair.certainty);
            }
            let now = pair.wanted && pair.found.touching;
            let kind = match (std::mem::replace(&mut pair.told, now), now) {
                (false, true) => Some(EventKind::Began),
                (true, true) => Some(EventKind::Persists),
                (true, false) => Some(EventKind::Ended),
                (false, false) => None,
            };
            self.events.extend(kind.map(|kind| Event { bodies: pair.bodies, kind }));
            if pair.wanted && !sensed {
                pair.tell(&mut self.last_id, &mut self.contacts, &mut self.points);
            }
        }
        // Only the pairs that ended in the broad phase stand out of order.
        self.events.sort_unstable();
        self.contacts.iter().map(|contact| contact.certainty).fold(certainty, Certainty::lesser)
    }
}
