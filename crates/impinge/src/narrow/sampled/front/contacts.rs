//! Pairs in contact: their triangles are looked at again when they may have parted, and pairs that rest become coarser.

use super::super::cell;
use super::super::meter::Meter;
use super::super::triangle_pair::{Meeting, Triangle, crossing_margin, meeting};
use super::{Entry, Frame, Front, Held, NONE, Node, State};

/// A crossing margin is computed only where the step is below this part of a triangle's size (no unit): above it the
/// margin would be used up by the next frame.
const SLOW: f64 = 0.25;

impl Front {
    /// Looks at the pairs in contact whose triangles may have parted; false when the budget ends.
    pub fn verify_contacts(&mut self, frame: &mut Frame<'_>, meter: &mut Meter<'_>) -> bool {
        let mut lost = std::mem::take(&mut self.lost);
        // From the end: a pair that is no longer in contact is replaced by the last one, which was looked at.
        for k in (0..self.contacts.len()).rev() {
            let Held { node: n, due, .. } = self.contacts[k];
            if due >= self.travelled {
                continue;
            }
            if !meter.pay(1) {
                lost.drain(..).for_each(|entry| self.leave_open(entry.pair));
                self.lost = lost;
                return false;
            }
            if !self.still_meets(n, frame) && !self.walk(n, frame, meter) {
                self.leave_contact(n);
                lost.push(Entry { pair: n, stamp: self.nodes[n as usize].stamp });
            }
        }
        // Only now, when it is known which contacts are left beside them.
        let mut in_budget = true;
        for Entry { pair, stamp } in lost.drain(..) {
            // A contact that was found meanwhile may stand for it.
            if self.nodes[pair as usize].stamp == stamp {
                in_budget = self.settle(pair, frame, meter) && in_budget;
            }
        }
        self.lost = lost;
        self.merge_rested();
        in_budget
    }

    /// Whether the triangles of a pair in contact still meet, and the pair may stay as coarse as it is.
    pub(super) fn still_meets(&mut self, n: u32, frame: &mut Frame<'_>) -> bool {
        let node = &mut self.nodes[n as usize];
        if node.witness[0] == NONE {
            return false;
        }
        frame.work.primitive_tests += 1;
        let [a, b] = [0, 1].map(|k| frame.bodies[k].triangle(node.witness[k]));
        let meets = match self.options.one {
            false => meeting(&a, &b, frame.pad, 0.0) == Meeting::Meet,
            true => cell::meets_itself(&a, &b),
        };
        if !meets {
            return false;
        }
        let lies = (b.centre() - a.centre()).as_vec3();
        let is_at_rest = lies.distance(node.seen.into()) <= self.options.rest_drift;
        if !is_at_rest {
            (node.since, node.seen) = (self.clock, lies.to_array());
            if node.rested {
                // What rested coarsely has moved: it is looked at as finely as before.
                return false;
            }
        }
        self.hold(n, [&a, &b], frame);
        if self.has_rested(n) {
            self.rested.push(n);
        }
        true
    }

    /// The triangles of a pair in contact meet: finds out for how long they certainly do.
    pub(super) fn hold(&mut self, n: u32, [a, b]: [&Triangle; 2], frame: &Frame<'_>) {
        let node = &self.nodes[n as usize];
        let size = a.normal.length_squared().min(b.normal.length_squared()).sqrt().sqrt();
        let slow = frame.step < SLOW * size && !self.options.one;
        let margin = if slow { crossing_margin(a, b, frame.pad) } else { 0.0 };
        // What stands for a large patch is to notice soon that it no longer rests.
        let margin = if node.rested { margin.min(f64::from(self.options.rest_drift)) } else { margin };
        let due = (self.travelled + margin).next_down().max(self.travelled);
        self.contacts[node.slot as usize] = Held { node: n, due };
    }

    /// Whether a pair in contact has rested long enough to become coarser.
    pub(super) fn has_rested(&self, n: u32) -> bool {
        let frames = self.clock.wrapping_sub(self.nodes[n as usize].since);
        frames as f32 * self.options.frame >= self.options.rest_after
    }

    /// Looks for triangles that meet next to those of a pair in contact that have parted (section 3.3: the update of a
    /// pair searches the neighbours of its samples).
    pub(super) fn walk(&mut self, n: u32, frame: &mut Frame<'_>, meter: &mut Meter<'_>) -> bool {
        let Node { witness, facets, rested, .. } = self.nodes[n as usize];
        if witness[0] == NONE || rested || self.options.one {
            return false;
        }
        let [a, b] = [0, 1].map(|k| frame.bodies[k].triangle(witness[k]));
        for k in 0..2 {
            let (body, other) = (frame.bodies[k], if k == 0 { &b } else { &a });
            for &t in body.shells.levels[0].neighbours.of(witness[k]) {
                if !self.layers[k].groups.holds(body.shells, facets[k], t) {
                    continue;
                }
                meter.charge(1);
                frame.work.primitive_tests += 1;
                let own = body.triangle(t);
                if meeting(&own, other, frame.pad, 0.0) == Meeting::Meet {
                    let node = &mut self.nodes[n as usize];
                    (node.witness[k], node.since) = (t, self.clock);
                    self.hold(n, if k == 0 { [&own, other] } else { [other, &own] }, frame);
                    return true;
                }
            }
        }
        false
    }

    /// Replaces pairs that rest in contact by their parents, unless a younger contact is below those (section 5.5: a
    /// sample merges only when all its children belong to old pairs).
    pub(super) fn merge_rested(&mut self) {
        while let Some(n) = self.rested.pop() {
            let node = self.nodes[n as usize];
            let parent = node.parent;
            // Others may have been replaced together with it.
            let is_gone = node.state != State::Contact || !self.has_rested(n);
            if is_gone
                || parent == NONE
                || self.is_too_large_to_rest(parent)
                || self.has_young_contact(parent)
            {
                continue;
            }
            let due = self.contacts[node.slot as usize].due;
            self.drop_below(parent);
            self.changes.merges += 1;
            let above = &mut self.nodes[parent as usize];
            (above.witness, above.seen, above.since) = (node.witness, node.seen, node.since);
            (above.id, above.left_at) = (node.id, self.clock);
            above.merged_at = self.clock;
            self.enter_contact(parent, due.min(self.travelled + f64::from(self.options.rest_drift)));
            self.nodes[parent as usize].rested = true;
        }
    }

    /// Whether the patches of a pair are too large to be told as one contact, even at rest.
    pub(super) fn is_too_large_to_rest(&self, n: u32) -> bool {
        let facets = self.nodes[n as usize].facets;
        self.options.one || (0..2).any(|k| self.layers[k].groups.radius(facets[k]) > self.options.rest_size)
    }

    /// Whether a contact below a pair does not rest yet.
    pub(super) fn has_young_contact(&self, n: u32) -> bool {
        let node = &self.nodes[n as usize];
        match node.state {
            State::Contact => !self.has_rested(n),
            State::Split => self.children(n).any(|child| self.has_young_contact(child)),
            _ => false,
        }
    }

    pub(super) fn enter_contact(&mut self, n: u32, due: f64) {
        let node = &mut self.nodes[n as usize];
        (node.state, node.slot, node.rested) = (State::Contact, self.contacts.len() as u32, false);
        if node.id == 0 || node.left_at != self.clock {
            self.last_id += 1;
            node.id = self.last_id;
        }
        self.contacts.push(Held { node: n, due });
    }

    pub(super) fn leave_contact(&mut self, n: u32) {
        let slot = self.nodes[n as usize].slot;
        self.contacts.swap_remove(slot as usize);
        if let Some(moved) = self.contacts.get(slot as usize) {
            self.nodes[moved.node as usize].slot = slot;
        }
        let node = &mut self.nodes[n as usize];
        (node.state, node.left_at) = (State::Open, self.clock);
    }
}
