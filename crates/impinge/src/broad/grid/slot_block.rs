//! What is done slot by slot, a part of the slots at a time: boxes taken in, pairs tested and marked.
//!
//! A part owns its lists: no thread writes where another does, nothing is put together afterwards but the
//! changes, and the memory is kept from step to step.

use crate::simd::{SimdLevel, dispatch, prefetch};

use super::super::Changes;
use super::super::bodies::Bodies;
use super::packed_aabb::PackedAabb;
use super::search::{Found, Search};
use super::slots::Slots;

/// Slots of a part.
pub(super) const SLOTS_PER_BLOCK: usize = 512;

/// Slots whose memory is asked for before they are taken in.
const AHEAD: usize = 32;

/// Bit of a partner's slot: the pair meets.
const MEETS: u32 = 1 << 31;

/// Some slots and the pairs that they are the first of.
#[derive(Debug, Clone, Default)]
pub(super) struct SlotBlock {
    /// Slots outside their room, or without.
    pub loose: Vec<u32>,
    /// Slots whose boxes with room meet, as they were found.
    pub found: Found,
    /// The same as pairs, without those of two fixed bodies; [`MEETS`] in the second marks what meets.
    near: Vec<[u32; 2]>,
    /// Of them, those that meet come first.
    near_met: Vec<[u32; 2]>,
    near_met_count: usize,
    /// Pairs of a loose slot and one that is not, which meet and are not in `near`.
    loose_met: Vec<[u32; 2]>,
    /// What the search around a loose slot finds.
    around: Found,
    /// What began and ended in this step.
    pub changes: Changes,
}

/// What all parts look at.
#[derive(Clone, Copy)]
pub(super) struct GridView<'a> {
    pub instructions: SimdLevel,
    pub slots: &'a Slots,
    pub bodies: &'a Bodies,
    pub search: Search<'a>,
}

/// The boxes of a part while they are taken in.
pub(super) struct Boxes<'a> {
    pub ids: &'a [u32],
    pub now: &'a mut [PackedAabb],
    pub before: &'a [PackedAabb],
    pub room: &'a [PackedAabb],
}

impl SlotBlock {
    /// The pairs that meet, in two lists.
    pub fn met(&self) -> [&[[u32; 2]]; 2] {
        [&self.near_met[..self.near_met_count], &self.loose_met]
    }

    /// Tests the pairs of boxes with room, and searches those of loose slots.
    pub fn test(&mut self, view: GridView<'_>) {
        self.changes.clear();
        test_near(view.instructions, view.slots, view.bodies, self);
        self.list_parted_loose(view);
        self.loose_met.clear();
        for &a in &self.loose {
            let units = view.search.frame.units(&view.slots.now[a as usize]);
            view.search.around(view.instructions, &units, &mut self.around);
            for &b in self.around.partners.iter().filter(|&&b| !view.slots.is_loose(b)) {
                if view.slots.meet_without_room(view.bodies, [a, b]) {
                    self.loose_met.push([a, b]);
                    if !view.slots.met_before(view.bodies, [a, b]) {
                        self.changes.began.push(view.slots.pair([a, b]));
                    }
                }
            }
        }
    }

    /// Tests the pairs of the last step, before the slots change.
    pub fn list_ended(&mut self, view: GridView<'_>) {
        self.changes.clear();
        list_parted(view.instructions, view.slots, view.bodies, self);
        self.list_parted_loose(view);
    }

    /// Searches the pairs of boxes with room for the slots from `first` to `end`, and tests them.
    pub fn search(&mut self, view: GridView<'_>, first: usize, end: usize) {
        self.changes.clear();
        self.loose.clear();
        self.loose_met.clear();
        view.search.forward(view.instructions, first, end, &mut self.found);
        mark(view.instructions, view.slots, view.bodies, first, self);
    }

    fn list_parted_loose(&mut self, view: GridView<'_>) {
        let parted = self.loose_met.iter().filter(|&&pair| !view.slots.meet_now(view.bodies, pair));
        self.changes.ended.extend(parted.map(|&pair| view.slots.pair(pair)));
    }
}

dispatch! {
    /// Takes in the boxes of a part whose first slot is `first`, and lists its loose slots.
    pub(super) fn load(
        by_id: &[PackedAabb],
        first: usize,
        old: usize,
        boxes: &mut Boxes<'_>,
        loose: &mut Vec<u32>,
    ) = each load_plain
}

/// A body that was gone after a step never comes back to its slot; the first `old` slots are not new.
#[inline(always)]
fn load_plain(by_id: &[PackedAabb], first: usize, old: usize, part: &mut Boxes<'_>, loose: &mut Vec<u32>) {
    loose.clear();
    for slot in 0..part.ids.len() {
        // Ids are in no order, so the boxes come from anywhere: many must be on their way at a time.
        if let Some(&id) = part.ids.get(slot + AHEAD) {
            prefetch(&by_id[id as usize]);
        }
        let gone = first + slot < old && part.before[slot].is_nothing();
        let now = if gone { PackedAabb::NOTHING } else { by_id[part.ids[slot] as usize] };
        part.now[slot] = now;
        if !now.is_inside(&part.room[slot]) {
            loose.push((first + slot) as u32);
        }
    }
}

dispatch! {
    /// Tests pairs of boxes with room.
    fn test_near(slots: &Slots, bodies: &Bodies, part: &mut SlotBlock) = each test_near_plain
}

#[inline(always)]
fn test_near_plain(slots: &Slots, bodies: &Bodies, part: &mut SlotBlock) {
    let now = &slots.now[..];
    let mut count = 0;
    for (at, pair) in part.near.iter_mut().enumerate() {
        let [a, b] = [pair[0], pair[1] & !MEETS];
        let marked = pair[1] & MEETS != 0;
        let (mut meet, apart) = now[a as usize].signs(&now[b as usize]);
        // Strictly one of them, and as before.
        if meet != marked || apart == marked {
            meet = note(slots, bodies, [a, b], pair, &mut part.changes);
        }
        part.near_met[count.min(at)] = [a, b];
        count += usize::from(meet);
    }
    part.near_met_count = count;
}

/// A pair that is not as it was marked, or in doubt; returns whether it meets.
#[cold]
#[inline(never)]
fn note(
    slots: &Slots,
    bodies: &Bodies,
    slot_pair: [u32; 2],
    marked: &mut [u32; 2],
    changes: &mut Changes,
) -> bool {
    let meet = slots.meet_now(bodies, slot_pair);
    if meet != (marked[1] & MEETS != 0) {
        marked[1] ^= MEETS;
        let list = if meet { &mut changes.began } else { &mut changes.ended };
        list.push(slots.pair(slot_pair));
    }
    meet
}

dispatch! {
    /// Lists pairs of boxes with room that do not meet any more.
    fn list_parted(slots: &Slots, bodies: &Bodies, part: &mut SlotBlock) = each list_parted_plain
}

#[inline(always)]
fn list_parted_plain(slots: &Slots, bodies: &Bodies, part: &mut SlotBlock) {
    let now = &slots.now[..];
    for &[a, b] in &part.near_met[..part.near_met_count] {
        if !now[a as usize].signs(&now[b as usize]).0 && !slots.meet_now(bodies, [a, b]) {
            part.changes.ended.push(slots.pair([a, b]));
        }
    }
}

dispatch! {
    /// Tests the pairs that were found for slots from `first` on, lists what did not meet before and leaves
    /// out pairs of fixed bodies.
    fn mark(slots: &Slots, bodies: &Bodies, first: usize, part: &mut SlotBlock) = each mark_plain
}

#[inline(always)]
fn mark_plain(slots: &Slots, bodies: &Bodies, first: usize, part: &mut SlotBlock) {
    let Slots { now, before, room, .. } = slots;
    let SlotBlock { found, near, near_met, .. } = part;
    near.clear();
    near.reserve(found.partners.len());
    near_met.resize(found.partners.len(), [0; 2]);
    let (mut from, mut count) = (0, 0);
    for (slot, &end) in (first..).zip(&found.ends) {
        for &other in &found.partners[from..end as usize] {
            let (pair, b) = ([slot as u32, other], other as usize);
            if room[slot].signs(&room[b]).1 {
                continue;
            }
            let (mut meet, apart) = now[slot].signs(&now[b]);
            if meet == apart {
                meet = slots.meet_now(bodies, pair);
            }
            near.push([pair[0], other | if meet { MEETS } else { 0 }]);
            near_met[count] = pair;
            count += usize::from(meet);
            if meet && !before[slot].signs(&before[b]).0 && !slots.met_before(bodies, pair) {
                part.changes.began.push(slots.pair(pair));
            }
        }
        from = end as usize;
    }
    part.near_met_count = count;
}
