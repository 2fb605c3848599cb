//! A grid with several sizes of cells and room for motion: for scenes in which most bodies move.
//!
//! Each box is kept with room for some steps ahead. Pairs of boxes with room are searched in the grid only
//! when many bodies have left theirs; in between a step tests those pairs alone, as lists of neighbours do
//! in molecular dynamics (Verlet, "Computer experiments on classical fluids", 1967). The few that have left
//! are searched for one by one.
//!
//! Coordinates are doubles rounded to f32, and rounding keeps order: what is apart in f32 is apart, what
//! overlaps strictly in f32 overlaps, and only where two ends are equal in f32 the doubles are asked.

use std::iter::Chain;
use std::slice::Iter;

mod among_loose;
mod grid_frame;
mod packed_aabb;
mod search;
mod slot_block;
mod slots;
mod sort;

use crate::bound::Aabb;
use crate::num::parallel;
use crate::simd::SimdLevel;

use super::bodies::Bodies;
use super::{BroadPhase, Changes, Mobility, sort_pairs};
use among_loose::AmongLoose;
use grid_frame::GridFrame;
use packed_aabb::PackedAabb;
use search::Search;
use slot_block::{Boxes, GridView, SLOTS_PER_BLOCK, SlotBlock};
use slots::Slots;
use sort::{Cells, Scratch};

/// One in so many bodies may be outside its room before all are sorted again.
const LOOSE_PART: usize = 32;

/// The pairs of boxes with room are searched again when their number of tests has grown by this factor.
const DECAY: u64 = 4;

/// Boxes in cells.
#[derive(Debug, Clone)]
pub struct Grid {
    instructions: SimdLevel,
    bodies: Bodies,
    frame: GridFrame,
    /// The boxes of now by id, in units of the frame. The bodies of a part are anywhere in it, and often written
    /// by another core: such a box lies in one cache line, its doubles in one or two.
    corners: Vec<PackedAabb>,
    slots: Slots,
    spare: Slots,
    cells: Cells,
    scratch: Scratch,
    /// Of [`SLOTS_PER_BLOCK`] slots each; together they have room for all.
    parts: Vec<SlotBlock>,
    /// All slots outside their room, or without.
    loose: Vec<u32>,
    among_loose: AmongLoose,
    /// Whether bodies may have gone since the last sort.
    some_gone: bool,
    /// Bodies when the frame was chosen, and vectors tested in the first search after it.
    chosen_for: [u64; 2],
}

impl Default for Grid {
    fn default() -> Grid {
        Grid {
            instructions: SimdLevel::best(),
            bodies: Bodies::default(),
            frame: GridFrame::choose(&[], 0),
            corners: Vec::new(),
            slots: Slots::default(),
            spare: Slots::default(),
            cells: Cells::default(),
            scratch: Scratch::default(),
            parts: Vec::new(),
            loose: Vec::new(),
            among_loose: AmongLoose::default(),
            some_gone: false,
            chosen_for: [0; 2],
        }
    }
}

impl BroadPhase for Grid {
    fn insert(&mut self, id: u32, bounds: Aabb, mobility: Mobility) {
        self.bodies.insert(id, bounds, mobility);
        self.corners.resize(self.bodies.capacity(), PackedAabb::NOTHING);
        self.note(id);
    }

    fn remove(&mut self, id: u32) {
        self.bodies.remove(id);
        self.note(id);
    }

    #[inline]
    fn update(&mut self, id: u32, bounds: Aabb) {
        self.bodies.update(id, bounds);
        self.note(id);
    }

    fn update_range(&mut self, first: u32, bounds: &[Aabb]) {
        let (instructions, frame) = (self.instructions, &self.frame);
        self.bodies.update_range_by(first, bounds, &mut self.corners, |bodies, corners| {
            grid_frame::take_in(instructions, frame, bodies, corners);
        });
    }

    fn step(&mut self, changes: &mut Changes) {
        changes.clear();
        if self.bodies.changed().is_empty() {
            return;
        }
        let old = self.take_new();
        self.load(old);
        if self.loose.len() * LOOSE_PART > self.slots.ids.len() {
            self.list_ended(changes);
            self.sort();
            self.search();
        } else {
            self.test();
        }
        self.conclude(changes);
    }

    fn pairs(&self, pairs: &mut Vec<[u32; 2]>) {
        pairs.clear();
        self.for_each_pair(|a, b| pairs.push([a.min(b), a.max(b)]));
        sort_pairs(pairs);
    }
}

impl Grid {
    pub(super) fn bodies(&self) -> &Bodies {
        &self.bodies
    }

    /// Calls `each` with all pairs as of the last step, in no particular order.
    pub fn for_each_pair(&self, mut each: impl FnMut(u32, u32)) {
        for k in 0..=self.parts.len() {
            self.pairs_of(k).for_each(|[a, b]| each(a, b));
        }
    }

    /// The pairs of a part; after the last one, those among the loose slots.
    fn pairs_of(&self, part: usize) -> Pairs<'_> {
        let [first, second] = self.parts.get(part).map_or([&self.among_loose.met[..], &[]], SlotBlock::met);
        Pairs { ids: &self.slots.ids, slots: first.iter().chain(second) }
    }

    /// Takes note of a box that may have changed.
    #[inline]
    fn note(&mut self, id: u32) {
        if let Some(corners) = self.corners.get_mut(id as usize) {
            let (bounds, fixed) = self.bodies.now_and_fixed(id);
            *corners = self.frame.corners(bounds, fixed);
        }
    }

    /// New bodies get slots without cells; returns how many slots there were.
    fn take_new(&mut self) -> usize {
        let old = self.slots.ids.len();
        if !self.bodies.came_or_went() {
            return old;
        }
        self.some_gone = true;
        self.slots.ids.extend(self.bodies.appeared());
        let count = self.slots.ids.len();
        let Slots { now, before, room, .. } = &mut self.slots;
        [now, before, room].into_iter().for_each(|list| list.resize(count, PackedAabb::NOTHING));
        self.parts.resize_with(count.div_ceil(SLOTS_PER_BLOCK), SlotBlock::default);
        old
    }

    /// Takes in the boxes of now and lists the loose slots; the first `old` slots are not new.
    fn load(&mut self, old: usize) {
        let old = if self.some_gone { old } else { 0 };
        let Slots { ids, now, before, room } = &mut self.slots;
        std::mem::swap(now, before);
        let boxes = now
            .chunks_mut(SLOTS_PER_BLOCK)
            .zip(ids.chunks(SLOTS_PER_BLOCK))
            .zip(before.chunks(SLOTS_PER_BLOCK))
            .zip(room.chunks(SLOTS_PER_BLOCK));
        let as_boxes = |(((now, ids), before), room)| Boxes { ids, now, before, room };
        let mut parts: Vec<_> = boxes.map(as_boxes).zip(&mut self.parts).collect();
        let (corners, instructions) = (&self.corners, self.instructions);
        parallel::for_each_chunk(&mut parts, 1, |k, parts| {
            for (boxes, part) in parts {
                slot_block::load(instructions, corners, k * SLOTS_PER_BLOCK, old, boxes, &mut part.loose);
            }
        });
        self.loose.clear();
        self.parts.iter().for_each(|part| self.loose.extend(&part.loose));
    }

    /// Tests the pairs of boxes with room and searches those of loose slots.
    fn test(&mut self) {
        let view = GridView {
            instructions: self.instructions,
            slots: &self.slots,
            bodies: &self.bodies,
            search: Search { frame: &self.frame, cells: &self.cells },
        };
        let (loose, among, parts) = (&self.loose, &mut self.among_loose, &mut self.parts);
        let test = |_, parts: &mut [SlotBlock]| parts.iter_mut().for_each(|part| part.test(view));
        parallel::join_if(
            parts.len() > 1,
            || parallel::for_each_chunk(parts, 1, test),
            || among.test(view, loose),
        );
    }

    /// Tests the pairs of the last step before the slots change.
    fn list_ended(&mut self, changes: &mut Changes) {
        let view = GridView {
            instructions: self.instructions,
            slots: &self.slots,
            bodies: &self.bodies,
            search: Search { frame: &self.frame, cells: &self.cells },
        };
        parallel::for_each_chunk(&mut self.parts, 1, |_, parts| {
            parts.iter_mut().for_each(|part| part.list_ended(view));
        });
        self.among_loose.list_ended(view);
        for part in self.parts.iter().map(|part| &part.changes).chain([&self.among_loose.changes]) {
            changes.ended.extend(&part.ended);
        }
    }

    fn sort(&mut self) {
        let [count, work] = [self.bodies.len() as u64, self.parts.iter().map(|part| part.found.work).sum()];
        let [chosen_count, chosen_work] = self.chosen_for;
        if count > 2 * chosen_count || 4 * count < chosen_count || work > DECAY * chosen_work {
            self.choose_frame();
            self.chosen_for = [count, 0];
        }
        self.scratch.sort(self.instructions, &self.frame, &self.slots, &mut self.spare, &mut self.cells);
        std::mem::swap(&mut self.slots, &mut self.spare);
        self.some_gone = false;
        self.loose.clear();
        self.among_loose.clear();
    }

    fn choose_frame(&mut self) {
        let ids: Vec<u32> = self.bodies.ids().collect();
        let every = ids.len().div_ceil(grid_frame::SAMPLE).max(1);
        let sample = ids.iter().step_by(every).map(|&id| *self.bodies.now(id));
        let sample: Vec<Aabb> = sample.filter(|b| b.low.x <= b.high.x).collect();
        self.frame = GridFrame::choose(&sample, ids.len());
        for (id, corners) in (0..).zip(&mut self.corners) {
            let (bounds, fixed) = self.bodies.now_and_fixed(id);
            *corners = self.frame.corners(bounds, fixed);
        }
        let Slots { ids, now, before, .. } = &mut self.slots;
        for ((&id, now), before) in ids.iter().zip(now).zip(before) {
            if !now.is_nothing() {
                *now = self.corners[id as usize];
            }
            if !before.is_nothing() {
                let (bounds, fixed) = self.bodies.before_and_fixed(id);
                *before = self.frame.corners(bounds, fixed);
            }
        }
    }

    /// Searches the pairs of boxes with room and tests them.
    fn search(&mut self) {
        let count = self.slots.ids.len();
        self.parts.resize_with(count.div_ceil(SLOTS_PER_BLOCK), SlotBlock::default);
        let view = GridView {
            instructions: self.instructions,
            slots: &self.slots,
            bodies: &self.bodies,
            search: Search { frame: &self.frame, cells: &self.cells },
        };
        parallel::for_each_chunk(&mut self.parts, 1, |k, parts| {
            parts.iter_mut().for_each(|part| {
                part.search(view, k * SLOTS_PER_BLOCK, count.min((k + 1) * SLOTS_PER_BLOCK))
            });
        });
        if self.chosen_for[1] == 0 {
            self.chosen_for[1] = self.parts.iter().map(|part| part.found.work).sum::<u64>().max(1);
        }
    }

    /// Puts the changes of all parts together and ends the step.
    fn conclude(&mut self, changes: &mut Changes) {
        let (parts, among, bodies) = (&self.parts, &self.among_loose, &mut self.bodies);
        let all = || parts.iter().map(|part| &part.changes).chain([&among.changes]);
        let Changes { began, ended } = changes;
        parallel::join_if(
            parts.len() > 1,
            || {
                all().for_each(|part| began.extend(&part.began));
                sort_pairs(began);
            },
            || {
                all().for_each(|part| ended.extend(&part.ended));
                sort_pairs(ended);
                bodies.settle();
            },
        );
    }
}

/// Some of the pairs of a grid, as ids in no particular order.
#[derive(Debug, Clone)]
struct Pairs<'a> {
    ids: &'a [u32],
    slots: Chain<Iter<'a, [u32; 2]>, Iter<'a, [u32; 2]>>,
}

impl Iterator for Pairs<'_> {
    type Item = [u32; 2];

    #[inline]
    fn next(&mut self) -> Option<[u32; 2]> {
        let ids = self.ids;
        self.slots.next().map(|pair| pair.map(|slot| ids[slot as usize]))
    }

    // The two lists one after the other, without asking at each pair which one it is from.
    #[inline]
    fn fold<B, F: FnMut(B, [u32; 2]) -> B>(self, first: B, mut each: F) -> B {
        let ids = self.ids;
        self.slots.fold(first, |all, pair| each(all, pair.map(|slot| ids[slot as usize])))
    }
}

#[cfg(test)]
mod tests;
