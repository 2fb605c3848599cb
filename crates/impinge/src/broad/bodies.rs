//! The boxes of all bodies, now and after the last step, and who changed in between.
//!
//! An absent body is the empty box, which meets nothing: so a pair began when the boxes meet now and did
//! not before, whatever was inserted, moved or removed. Each body has two places for its box and a bit that
//! says which is the present one; a move writes the other place and turns the bit, so nothing is copied.

use crate::bound::Aabb;
use crate::num::parallel;
use crate::simd::prefetch;

use super::{BroadPhase, Mobility, admitted};

/// The calls of a [`BroadPhase`] that only take note, for one that has its `bodies`.
macro_rules! take_note {
    () => {
        fn insert(&mut self, id: u32, bounds: $crate::bound::Aabb, mobility: $crate::broad::Mobility) {
            self.bodies.insert(id, bounds, mobility);
        }

        fn remove(&mut self, id: u32) {
            self.bodies.remove(id);
        }

        #[inline]
        fn update(&mut self, id: u32, bounds: $crate::bound::Aabb) {
            self.bodies.update(id, bounds);
        }

        fn update_range(&mut self, first: u32, bounds: &[$crate::bound::Aabb]) {
            self.bodies.update_range(first, bounds);
        }
    };
}

pub(super) use take_note;

/// Which of the two places holds the box of now.
const SIDE: u8 = 1;
/// Changed since the last step.
const CHANGED: u8 = 2;
/// Fixed now.
const FIXED: u8 = 4;
/// Fixed after the last step.
const WAS_FIXED: u8 = 8;
/// Inserted and not removed.
const THERE: u8 = 16;
/// The box of now is not empty.
const SOLID: u8 = 32;
/// The box after the last step was not empty.
const WAS_SOLID: u8 = 64;

/// Boxes by id.
#[derive(Debug, Clone, Default)]
pub(super) struct Bodies {
    boxes: [Vec<Aabb>; 2],
    state: Vec<u8>,
    /// Of those that have changed the first `changed_count`; the rest is memory for later.
    changed: Vec<u32>,
    changed_count: usize,
    count: usize,
    /// Whether a box has become empty, or not empty, since the last step.
    came_or_went: bool,
}

impl Bodies {
    /// Adds a body, or replaces the one with this id.
    pub fn insert(&mut self, id: u32, bounds: Aabb, mobility: Mobility) {
        let index = id as usize;
        if self.state.len() <= index {
            let len = (index + 1).next_power_of_two().max(16);
            self.state.resize(len, 0);
            self.boxes.iter_mut().for_each(|boxes| boxes.resize(len, Aabb::EMPTY));
        }
        self.set(index, admitted(bounds));
        let fixed = if mobility == Mobility::Fixed { FIXED } else { 0 };
        self.count += usize::from(self.state[index] & THERE == 0);
        self.state[index] = self.state[index] & !FIXED | fixed | THERE;
    }

    /// Takes a body away.
    pub fn remove(&mut self, id: u32) {
        let index = id as usize;
        if self.state.get(index).is_some_and(|state| state & THERE != 0) {
            self.set(index, Aabb::EMPTY);
            self.state[index] &= !THERE;
            self.count -= 1;
        }
    }

    /// Moves a body.
    #[inline]
    pub fn update(&mut self, id: u32, bounds: Aabb) {
        let index = id as usize;
        if self.state.get(index).is_some_and(|state| state & THERE != 0) {
            self.set(index, admitted(bounds));
        }
    }

    /// Moves the bodies from `first` on.
    pub fn update_range(&mut self, first: u32, bounds: &[Aabb]) {
        let nothing = &mut vec![(); self.state.len()];
        self.update_range_by(first, bounds, nothing, |chunk, nothing| chunk.take_in(nothing, |_, _, _| {}));
    }

    /// Moves the bodies from `first` on, some at a time: `take_in` calls [`Chunk::take_in`] for them, with the
    /// items of `beside`, which has one for each id.
    pub fn update_range_by<T: Send>(
        &mut self,
        first: u32,
        bounds: &[Aabb],
        beside: &mut [T],
        take_in: impl Fn(&mut Chunk<'_>, &mut [T]) + Sync,
    ) {
        let first = first as usize;
        let end = self.state.len().min(first.saturating_add(bounds.len()));
        let Some(state) = self.state.get_mut(first..end) else { return };
        let noted = self.changed_count;
        self.changed.resize(self.changed.len().max(noted + state.len()), 0);
        let [even, odd] = self.boxes.each_mut().map(|boxes| boxes[first..end].chunks_mut(CHUNK));
        let lists = state.chunks_mut(CHUNK).zip(self.changed[noted..].chunks_mut(CHUNK));
        let as_chunk = |(((state, changed), (even, odd)), bounds)| Chunk {
            state,
            sides: [even, odd],
            bounds,
            first: 0,
            changed,
            changed_count: 0,
            came_or_went: false,
        };
        let chunks = lists.zip(even.zip(odd)).zip(bounds.chunks(CHUNK)).map(as_chunk);
        let mut chunks: Vec<_> = chunks.zip(beside[first..end].chunks_mut(CHUNK)).collect();
        parallel::for_each_chunk(&mut chunks, 1, |k, chunks| {
            for (chunk, beside) in chunks {
                chunk.first = first + k * CHUNK;
                take_in(chunk, beside);
            }
        });
        self.came_or_went |= chunks.iter().any(|(chunk, _)| chunk.came_or_went);
        let counts: Vec<usize> = chunks.iter().map(|(chunk, _)| chunk.changed_count).collect();
        self.close_up(noted, &counts);
    }

    /// Closes the gaps in the list of changes from `from` on: of each chunk only the first `counts` count.
    fn close_up(&mut self, from: usize, counts: &[usize]) {
        let mut end = from;
        for (k, &count) in counts.iter().enumerate() {
            let chunk = from + k * CHUNK;
            if chunk != end {
                self.changed.copy_within(chunk..chunk + count, end);
            }
            end += count;
        }
        self.changed_count = end;
    }

    /// The box of now.
    #[inline]
    pub fn now(&self, id: u32) -> &Aabb {
        &self.boxes[usize::from(self.state[id as usize] & SIDE)][id as usize]
    }

    /// The box after the last step.
    #[inline]
    pub fn before(&self, id: u32) -> &Aabb {
        let state = self.state[id as usize];
        let side = if state & CHANGED == 0 { state } else { !state } & SIDE;
        &self.boxes[usize::from(side)][id as usize]
    }

    /// Whether two bodies are a pair now.
    #[inline]
    pub fn meet_now(&self, a: u32, b: u32) -> bool {
        self.state[a as usize] & self.state[b as usize] & FIXED == 0 && self.now(a).meets(self.now(b))
    }

    /// Whether two bodies were a pair after the last step.
    #[inline]
    pub fn met_before(&self, a: u32, b: u32) -> bool {
        let [(a, a_fixed), (b, b_fixed)] = [a, b].map(|id| self.before_and_fixed(id));
        !(a_fixed && b_fixed) && a.meets(b)
    }

    /// The box of now, and whether the body is fixed.
    #[inline]
    pub fn now_and_fixed(&self, id: u32) -> (&Aabb, bool) {
        let state = self.state[id as usize];
        (&self.boxes[usize::from(state & SIDE)][id as usize], state & FIXED != 0)
    }

    /// The box after the last step, and whether the body was fixed then.
    pub fn before_and_fixed(&self, id: u32) -> (&Aabb, bool) {
        let state = self.state[id as usize];
        (self.before(id), state & if state & CHANGED == 0 { FIXED } else { WAS_FIXED } != 0)
    }

    /// Who was inserted, moved or removed since the last step, each once, in the order of the calls.
    pub fn changed(&self) -> &[u32] {
        &self.changed[..self.changed_count]
    }

    /// Who of them has a box that is not empty, and did not have one after the last step.
    pub fn appeared(&self) -> impl Iterator<Item = u32> {
        let appeared = |id: &u32| self.state[*id as usize] & (SOLID | WAS_SOLID) == SOLID;
        self.changed().iter().copied().filter(appeared)
    }

    /// Whether a box has become empty, or not empty, since the last step.
    pub fn came_or_went(&self) -> bool {
        self.came_or_went
    }

    /// Whether a changed body had a box that was not empty, and has one.
    #[inline]
    pub fn stayed(&self, id: u32) -> bool {
        self.state[id as usize] & (SOLID | WAS_SOLID) == SOLID | WAS_SOLID
    }

    /// Whether a changed body had a box that was not empty, and has none.
    pub fn vanished(&self, id: u32) -> bool {
        self.state[id as usize] & (SOLID | WAS_SOLID) == WAS_SOLID
    }

    /// Whether a changed body stayed and has become fixed or movable.
    pub fn turned(&self, id: u32) -> bool {
        let state = self.state[id as usize];
        self.stayed(id) && (state & FIXED == 0) != (state & WAS_FIXED == 0)
    }

    /// Ids are below this.
    pub fn capacity(&self) -> usize {
        self.state.len()
    }

    /// All that have a box that is not empty, ascending.
    pub fn solid(&self) -> impl Iterator<Item = u32> {
        self.state.iter().zip(0..).filter(|(state, _)| **state & SOLID != 0).map(|(_, id)| id)
    }

    /// Inserts all bodies there.
    pub fn copy_to(&self, to: &mut dyn BroadPhase) {
        for id in self.ids() {
            let (bounds, fixed) = self.now_and_fixed(id);
            to.insert(id, *bounds, if fixed { Mobility::Fixed } else { Mobility::Moving });
        }
    }

    /// Ends a step: what is now becomes what was before.
    pub fn settle(&mut self) {
        if self.changed_count > self.state.len() / MANY {
            parallel::for_each_chunk(&mut self.state, STATES, |_, states| {
                states.iter_mut().for_each(|state| *state &= !CHANGED);
            });
        } else {
            for &id in &self.changed[..self.changed_count] {
                self.state[id as usize] &= !CHANGED;
            }
        }
        self.changed_count = 0;
        self.came_or_went = false;
    }

    /// How many bodies there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// All that are there, ascending.
    pub fn ids(&self) -> impl Iterator<Item = u32> {
        self.state.iter().zip(0..).filter(|(state, _)| **state & THERE != 0).map(|(_, id)| id)
    }

    #[inline]
    fn set(&mut self, index: usize, bounds: Aabb) {
        let state = &mut self.state[index];
        if move_on(state) {
            if self.changed_count == self.changed.len() {
                self.changed.push(0);
            }
            self.changed[self.changed_count] = index as u32;
            self.changed_count += 1;
        }
        self.came_or_went |= note_solid(state, &bounds);
        self.boxes[usize::from(*state & SIDE)][index] = bounds;
    }
}

/// Turns to the other place for the box at the first change after a step; returns whether it is the first.
#[inline]
fn move_on(state: &mut u8) -> bool {
    let first = *state & CHANGED == 0;
    if first {
        let was = (*state & (FIXED | SOLID)) << 1;
        *state = (*state ^ SIDE) & !(WAS_FIXED | WAS_SOLID) | CHANGED | was;
    }
    first
}

/// Notes whether the box is empty; returns whether that is new.
#[inline]
fn note_solid(state: &mut u8, bounds: &Aabb) -> bool {
    let solid = if bounds.low.x <= bounds.high.x { SOLID } else { 0 };
    let new = *state & SOLID != solid;
    *state = *state & !SOLID | solid;
    new
}

/// Bodies that one thread takes at a time.
const CHUNK: usize = 512;

/// Bodies whose memory is asked for before they are moved.
const AHEAD: usize = 32;

/// States that one thread takes at a time; each is a byte.
const STATES: usize = 1 << 15;

/// When more than one in so many bodies has changed, all are gone through.
const MANY: usize = 8;

/// Bodies that are moved together.
pub(super) struct Chunk<'a> {
    state: &'a mut [u8],
    sides: [&'a mut [Aabb]; 2],
    bounds: &'a [Aabb],
    /// Id of the first of them.
    first: usize,
    /// Room for all of them.
    changed: &'a mut [u32],
    changed_count: usize,
    came_or_went: bool,
}

impl Chunk<'_> {
    /// Takes in the boxes and calls `note` with each box of now, whether its body is fixed, and what `beside`
    /// has for it.
    #[inline(always)]
    pub fn take_in<T>(&mut self, beside: &mut [T], note: impl Fn(&Aabb, bool, &mut T)) {
        for (k, (bounds, to)) in self.bounds.iter().zip(beside).enumerate() {
            let state = &mut self.state[k];
            if let Some(soon) = self.bounds.get(k + AHEAD) {
                prefetch(soon);
                prefetch(&self.sides[usize::from(!*state & SIDE)][k + AHEAD]);
            }
            if *state & THERE == 0 {
                continue;
            }
            if move_on(state) {
                self.changed[self.changed_count] = (self.first + k) as u32;
                self.changed_count += 1;
            }
            let bounds = admitted(*bounds);
            self.came_or_went |= note_solid(state, &bounds);
            self.sides[usize::from(*state & SIDE)][k] = bounds;
            note(&bounds, *state & FIXED != 0, to);
        }
    }
}
