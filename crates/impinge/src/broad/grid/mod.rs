//! A grid with several sizes of cells and room for motion: for scenes in which most bodies move.
//!
//! Each box is kept with room for some steps ahead. Pairs of boxes with room are searched in the grid only
//! when many bodies have left theirs; in between a step tests those pairs alone, as lists of neighbours do
//! in molecular dynamics (Verlet, "Computer experiments on classical fluids", 1967). The few that have left
//! are searched for one by one.
//!
//! Coordinates are doubles rounded to f32, and rounding keeps order: what is apart in f32 is apart, what
//! overlaps strictly in f32 overlaps, and only where two ends are equal in f32 the doubles are asked.

mod corners;
mod frame;
mod lanes;
mod search;
mod sort;

use crate::bound::Aabb;
use crate::hierarchy::simd::Level as Instructions;
use crate::num::parallel;

use super::bodies::Bodies;
use super::{BroadPhase, Changes, Mobility};
use corners::{Corners, Verdict};
use frame::{BLOCK, Ends, Frame};
use lanes::{for_each_level, prefetch};
use search::{Found, Search};
use sort::{Cells, Scratch, Slots};

/// Slots that one thread takes at a time.
const CHUNK: usize = 1024;

/// Bit of a partner's slot: the pair meets.
const MEETS: u32 = 1 << 31;

/// One in so many bodies may be outside its room before all are sorted again.
const LOOSE_PART: usize = 32;

/// Loose slots that one thread takes at a time.
const LOOSE_CHUNK: usize = 64;

/// The pairs of boxes with room are searched again when their number of tests has grown by this factor.
const DECAY: u64 = 4;

/// Boxes in cells.
#[derive(Debug, Clone)]
pub struct Grid {
    instructions: Instructions,
    bodies: Bodies,
    frame: Frame,
    slots: Slots,
    spare: Slots,
    cells: Cells,
    scratch: Scratch,
    /// Pairs of slots whose boxes with room meet, [`CHUNK`] slots at a time.
    near: Vec<Near>,
    /// Slots outside their room, or without.
    loose: Vec<u32>,
    /// Pairs of slots that meet and are not in `found`.
    loose_pairs: Vec<[u32; 2]>,
    /// Whether bodies may have gone since the last sort.
    some_gone: bool,
    /// Bodies when the frame was chosen, and vectors tested in the first search after it.
    chosen_for: [u64; 2],
}

impl Default for Grid {
    fn default() -> Grid {
        Grid {
            instructions: Instructions::best(),
            bodies: Bodies::default(),
            frame: Frame::choose(&[], 0),
            slots: Slots::default(),
            spare: Slots::default(),
            cells: Cells::default(),
            scratch: Scratch::default(),
            near: Vec::new(),
            loose: Vec::new(),
            loose_pairs: Vec::new(),
            some_gone: false,
            chosen_for: [0; 2],
        }
    }
}

impl BroadPhase for Grid {
    fn insert(&mut self, id: u32, bounds: Aabb, mobility: Mobility) {
        self.bodies.insert(id, bounds, mobility);
    }

    fn remove(&mut self, id: u32) {
        self.bodies.remove(id);
    }

    #[inline]
    fn update(&mut self, id: u32, bounds: Aabb) {
        self.bodies.update(id, bounds);
    }

    fn update_range(&mut self, first: u32, bounds: &[Aabb]) {
        self.bodies.update_range(first, bounds);
    }

    fn step(&mut self, changes: &mut Changes) {
        changes.began.clear();
        changes.ended.clear();
        if self.bodies.changed().is_empty() {
            return;
        }
        let old = self.take_new();
        self.load(old);
        if self.loose.len() * LOOSE_PART > self.slots.ids.len() {
            self.list_ended(changes);
            self.sort();
            self.search(changes);
        } else {
            self.test(changes);
            self.test_loose(changes);
        }
        parallel::sort(&mut changes.began);
        parallel::sort(&mut changes.ended);
        self.bodies.settle();
    }

    fn pairs(&self, pairs: &mut Vec<[u32; 2]>) {
        pairs.clear();
        self.for_each_pair(|a, b| pairs.push([a.min(b), a.max(b)]));
        parallel::sort(pairs);
    }
}

impl Grid {
    /// Calls `each` with all pairs as of the last step, in no particular order.
    pub fn for_each_pair(&self, mut each: impl FnMut(u32, u32)) {
        let ids = &self.slots.ids;
        for [a, b] in self.near.iter().flat_map(Near::met).chain(&self.loose_pairs) {
            each(ids[*a as usize], ids[*b as usize]);
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
        [now, before].into_iter().for_each(|list| list.resize(count, Corners::NOTHING));
        room.resize(count, Corners::NOTHING);
        old
    }

    /// Takes in the boxes of now and lists the loose slots.
    ///
    /// A body that was gone after a step never comes back to its slot; the first `old` slots are not new.
    fn load(&mut self, old: usize) {
        let old = if self.some_gone { old } else { 0 };
        let Slots { ids, now, before, room } = &mut self.slots;
        std::mem::swap(now, before);
        let chunks = now.chunks_mut(CHUNK).zip(ids.chunks(CHUNK)).zip(before.chunks(CHUNK));
        let as_chunk = |(((now, ids), before), room)| Chunk { ids, now, before, room, loose: Vec::new() };
        let mut chunks: Vec<Chunk<'_>> = chunks.zip(room.chunks(CHUNK)).map(as_chunk).collect();
        let (frame, bodies, instructions) = (&self.frame, &self.bodies, self.instructions);
        parallel::for_each_chunk(&mut chunks, 1, |k, chunk| {
            for chunk in chunk {
                load_chunk(instructions, frame, bodies, k * CHUNK, old, chunk);
            }
        });
        self.loose.clear();
        chunks.iter().for_each(|chunk| self.loose.extend(&chunk.loose));
    }

    /// Tests the pairs of boxes with room.
    fn test(&mut self, changes: &mut Changes) {
        let (slots, bodies) = (&self.slots, &self.bodies);
        let mut chunks: Vec<_> = self.near.iter_mut().map(|near| (near, Changes::default())).collect();
        let instructions = self.instructions;
        parallel::for_each_chunk(&mut chunks, 1, |_, chunk| {
            for (near, changes) in chunk {
                test_chunk(instructions, slots, bodies, near, changes);
            }
        });
        for (_, part) in chunks {
            changes.began.extend(part.began);
            changes.ended.extend(part.ended);
        }
    }

    /// Finds the pairs of loose slots that are not among the pairs of boxes with room.
    fn test_loose(&mut self, changes: &mut Changes) {
        let (slots, bodies) = (&self.slots, &self.bodies);
        for &[a, b] in &self.loose_pairs {
            if !slots.meet_now(bodies, [a, b]) {
                changes.ended.push(slots.pair([a, b]));
            }
        }
        let mut pairs = std::mem::take(&mut self.loose_pairs);
        pairs.clear();
        let search = Search { frame: &self.frame, cells: &self.cells };
        let (loose, instructions) = (&self.loose, self.instructions);
        let parts = parallel::map(loose.len().div_ceil(LOOSE_CHUNK), |k| {
            let (mut found, mut pairs) = (Found::default(), Vec::new());
            for &a in &loose[k * LOOSE_CHUNK..loose.len().min((k + 1) * LOOSE_CHUNK)] {
                search.around(instructions, &slots.now[a as usize].units(), &mut found);
                let others = found.partners.iter().filter(|&&b| !slots.is_loose(b));
                pairs.extend(others.map(|&b| [a, b]).filter(|&pair| slots.meet_without_room(bodies, pair)));
            }
            pairs
        });
        pairs.extend(parts.iter().flatten());
        self.test_among_loose(&mut pairs);
        for &pair in &pairs {
            if !slots.met_before(bodies, pair) {
                changes.began.push(slots.pair(pair));
            }
        }
        self.loose_pairs = pairs;
    }

    /// Sorts the loose slots along the slabs and sweeps.
    fn test_among_loose(&self, pairs: &mut Vec<[u32; 2]>) {
        let slots = &self.slots;
        let ends = |slot: u32| {
            let units = slots.now[slot as usize].units();
            [units[2], units[5]]
        };
        let mut order: Vec<([f32; 2], u32)> = self.loose.iter().map(|&slot| (ends(slot), slot)).collect();
        order.sort_by(|([x, _], a), ([y, _], b)| x.total_cmp(y).then(a.cmp(b)));
        for (i, ([_, high], a)) in order.iter().enumerate() {
            let reached = order[i + 1..].iter().take_while(|([low, _], _)| low <= high);
            let ordered = reached.map(|(_, b)| [*a, *b]);
            pairs.extend(ordered.filter(|&pair| slots.meet_without_room(&self.bodies, pair)));
        }
    }

    /// Tests the pairs of the last step before the slots change.
    fn list_ended(&mut self, changes: &mut Changes) {
        let (slots, bodies) = (&self.slots, &self.bodies);
        let (near, instructions) = (&self.near, self.instructions);
        let parts = parallel::map(near.len(), |k| {
            let mut ended = Vec::new();
            list_parted(instructions, slots, bodies, near[k].met(), &mut ended);
            ended
        });
        changes.ended.extend(parts.iter().flatten());
        let loose = self.loose_pairs.drain(..).filter(|&pair| !slots.meet_now(bodies, pair));
        changes.ended.extend(loose.map(|pair| slots.pair(pair)));
    }

    fn sort(&mut self) {
        let [count, work] = [self.bodies.len() as u64, self.near.iter().map(|near| near.found.work).sum()];
        let [chosen_count, chosen_work] = self.chosen_for;
        if count > 2 * chosen_count || 4 * count < chosen_count || work > DECAY * chosen_work {
            self.choose_frame();
            self.chosen_for = [count, 0];
        }
        self.scratch.sort(self.instructions, &self.frame, &self.slots, &mut self.spare, &mut self.cells);
        std::mem::swap(&mut self.slots, &mut self.spare);
        self.some_gone = false;
        self.loose.clear();
    }

    fn choose_frame(&mut self) {
        let ids: Vec<u32> = self.bodies.ids().collect();
        let every = ids.len().div_ceil(frame::SAMPLE).max(1);
        let sample = ids.iter().step_by(every).map(|&id| *self.bodies.now(id));
        let sample: Vec<Aabb> = sample.filter(|b| b.low.x <= b.high.x).collect();
        self.frame = Frame::choose(&sample, ids.len());
        let Slots { ids, now, before, .. } = &mut self.slots;
        for ((id, now), before) in ids.iter().zip(now).zip(before) {
            let again = |(bounds, fixed): (&Aabb, bool), to: &mut Corners| {
                if !to.is_nothing() {
                    let boxes = [self.frame.ends(bounds); BLOCK];
                    self.frame.corners(&boxes, &[fixed; BLOCK], std::slice::from_mut(to));
                }
            };
            again(self.bodies.now_and_fixed(*id), now);
            again(self.bodies.before_and_fixed(*id), before);
        }
    }

    /// Searches the pairs of boxes with room and tests them.
    fn search(&mut self, changes: &mut Changes) {
        let (slots, bodies) = (&self.slots, &self.bodies);
        let count = slots.ids.len();
        self.near.resize(count.div_ceil(CHUNK), Near::default());
        let search = Search { frame: &self.frame, cells: &self.cells };
        let mut chunks: Vec<_> = self.near.iter_mut().map(|near| (near, Vec::new())).collect();
        parallel::for_each_chunk(&mut chunks, 1, |k, chunk| {
            for (near, began) in chunk {
                let first = k * CHUNK;
                search.forward(self.instructions, first, (first + CHUNK).min(count), &mut near.found);
                mark(self.instructions, slots, bodies, first, near, began);
            }
        });
        chunks.iter().for_each(|(_, began)| changes.began.extend(began));
        if self.chosen_for[1] == 0 {
            self.chosen_for[1] = self.near.iter().map(|near| near.found.work).sum::<u64>().max(1);
        }
    }
}

impl Slots {
    /// Two slots as a pair of ids.
    fn pair(&self, slots: [u32; 2]) -> [u32; 2] {
        let [a, b] = slots.map(|slot| self.ids[slot as usize]);
        [a.min(b), a.max(b)]
    }

    fn meet_now(&self, bodies: &Bodies, [a, b]: [u32; 2]) -> bool {
        match self.now[a as usize].meet(&self.now[b as usize]) {
            Verdict::Meet => true,
            Verdict::Apart => false,
            Verdict::Doubt => bodies.meet_now(self.ids[a as usize], self.ids[b as usize]),
        }
    }

    fn met_before(&self, bodies: &Bodies, [a, b]: [u32; 2]) -> bool {
        match self.before[a as usize].meet(&self.before[b as usize]) {
            Verdict::Meet => true,
            Verdict::Apart => false,
            Verdict::Doubt => bodies.met_before(self.ids[a as usize], self.ids[b as usize]),
        }
    }

    /// Whether two slots meet and are not among the pairs of boxes with room.
    fn meet_without_room(&self, bodies: &Bodies, [a, b]: [u32; 2]) -> bool {
        self.room[a as usize].meet(&self.room[b as usize]) == Verdict::Apart && self.meet_now(bodies, [a, b])
    }

    fn is_loose(&self, slot: u32) -> bool {
        !self.now[slot as usize].is_inside(&self.room[slot as usize])
    }
}

/// Pairs of slots whose boxes with room meet.
#[derive(Debug, Clone, Default)]
struct Near {
    /// As they were found.
    found: Found,
    /// Without those of two fixed bodies; [`MEETS`] in the second marks what meets.
    pairs: Vec<[u32; 2]>,
    /// Those that meet come first.
    met: Vec<[u32; 2]>,
    met_count: usize,
}

impl Near {
    /// The pairs that meet.
    fn met(&self) -> &[[u32; 2]] {
        &self.met[..self.met_count]
    }
}

/// Slots that take in their boxes.
struct Chunk<'a> {
    ids: &'a [u32],
    now: &'a mut [Corners],
    before: &'a [Corners],
    room: &'a [Corners],
    loose: Vec<u32>,
}

for_each_level! {
    /// Takes in the boxes of a chunk whose first slot is `first`.
    fn load_chunk(frame: &Frame, bodies: &Bodies, first: usize, old: usize, chunk: &mut Chunk<'_>)
        = load_chunk_plain
}

#[inline(always)]
fn load_chunk_plain(frame: &Frame, bodies: &Bodies, first: usize, old: usize, chunk: &mut Chunk<'_>) {
    let (mut boxes, mut fixed) = ([Ends([0.0; 8]); BLOCK], [false; BLOCK]);
    for at in (0..chunk.ids.len()).step_by(BLOCK) {
        let end = chunk.ids.len().min(at + BLOCK);
        // Ids are in no order, so the boxes come from anywhere: many must be on their way at a time.
        for &id in chunk.ids.iter().skip(end).take(BLOCK) {
            prefetch(bodies.now_and_fixed(id).0);
        }
        for ((b, fixed), &id) in boxes.iter_mut().zip(&mut fixed).zip(&chunk.ids[at..end]) {
            let (bounds, is_fixed) = bodies.now_and_fixed(id);
            (*b, *fixed) = (frame.ends(bounds), is_fixed);
        }
        frame.corners(&boxes, &fixed, &mut chunk.now[at..end]);
        for slot in at..end {
            if first + slot < old && chunk.before[slot].is_nothing() {
                chunk.now[slot] = Corners::NOTHING;
            }
            if !chunk.now[slot].is_inside(&chunk.room[slot]) {
                chunk.loose.push((first + slot) as u32);
            }
        }
    }
}

for_each_level! {
    /// Tests pairs of boxes with room.
    fn test_chunk(slots: &Slots, bodies: &Bodies, near: &mut Near, changes: &mut Changes) = test_chunk_plain
}

#[inline(always)]
fn test_chunk_plain(slots: &Slots, bodies: &Bodies, near: &mut Near, changes: &mut Changes) {
    let now = &slots.now[..];
    let mut count = 0;
    for (at, pair) in near.pairs.iter_mut().enumerate() {
        let [a, b] = [pair[0], pair[1] & !MEETS];
        let marked = pair[1] & MEETS != 0;
        let (mut meet, apart) = now[a as usize].signs(&now[b as usize]);
        // Strictly one of them, and as before.
        if meet != marked || apart == marked {
            meet = note(slots, bodies, [a, b], pair, changes);
        }
        near.met[count.min(at)] = [a, b];
        count += usize::from(meet);
    }
    near.met_count = count;
}

for_each_level! {
    /// Lists pairs that do not meet any more.
    fn list_parted(slots: &Slots, bodies: &Bodies, met: &[[u32; 2]], parted: &mut Vec<[u32; 2]>)
        = list_parted_plain
}

#[inline(always)]
fn list_parted_plain(slots: &Slots, bodies: &Bodies, met: &[[u32; 2]], parted: &mut Vec<[u32; 2]>) {
    let now = &slots.now[..];
    for &[a, b] in met {
        if !now[a as usize].signs(&now[b as usize]).0 && !slots.meet_now(bodies, [a, b]) {
            parted.push(slots.pair([a, b]));
        }
    }
}

for_each_level! {
    /// Tests the pairs that were found for slots from `first` on, lists what did not meet before and leaves
    /// out pairs of fixed bodies.
    fn mark(slots: &Slots, bodies: &Bodies, first: usize, near: &mut Near, began: &mut Vec<[u32; 2]>)
        = mark_plain
}

#[inline(always)]
fn mark_plain(slots: &Slots, bodies: &Bodies, first: usize, near: &mut Near, began: &mut Vec<[u32; 2]>) {
    let Slots { now, before, room, .. } = slots;
    let Near { found, pairs, met, met_count } = near;
    pairs.clear();
    pairs.reserve(found.partners.len());
    met.resize(found.partners.len(), [0; 2]);
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
            pairs.push([pair[0], other | if meet { MEETS } else { 0 }]);
            met[count] = pair;
            count += usize::from(meet);
            if meet && !before[slot].signs(&before[b]).0 && !slots.met_before(bodies, pair) {
                began.push(slots.pair(pair));
            }
        }
        from = end as usize;
    }
    *met_count = count;
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
