//! The bodies in the order of their cells; new ones come after them.

use super::super::bodies::Bodies;
use super::packed_aabb::{PackedAabb, Verdict};

/// Bodies by slot.
#[derive(Debug, Clone, Default)]
pub(super) struct Slots {
    /// Who they are.
    pub ids: Vec<u32>,
    /// The boxes of now.
    pub now: Vec<PackedAabb>,
    /// The boxes after the last step.
    pub before: Vec<PackedAabb>,
    /// Boxes with room; that of a slot without a cell is nothing.
    pub room: Vec<PackedAabb>,
}

impl Slots {
    /// Two slots as a pair of ids.
    pub fn pair(&self, slots: [u32; 2]) -> [u32; 2] {
        let [a, b] = slots.map(|slot| self.ids[slot as usize]);
        [a.min(b), a.max(b)]
    }

    /// Whether two slots are a pair now.
    pub fn meet_now(&self, bodies: &Bodies, [a, b]: [u32; 2]) -> bool {
        match self.now[a as usize].meet(&self.now[b as usize]) {
            Verdict::Meet => true,
            Verdict::Apart => false,
            Verdict::Doubt => bodies.meet_now(self.ids[a as usize], self.ids[b as usize]),
        }
    }

    /// Whether two slots were a pair after the last step.
    pub fn met_before(&self, bodies: &Bodies, [a, b]: [u32; 2]) -> bool {
        match self.before[a as usize].meet(&self.before[b as usize]) {
            Verdict::Meet => true,
            Verdict::Apart => false,
            Verdict::Doubt => bodies.met_before(self.ids[a as usize], self.ids[b as usize]),
        }
    }

    /// Whether two slots meet and are not among the pairs of boxes with room.
    pub fn meet_without_room(&self, bodies: &Bodies, [a, b]: [u32; 2]) -> bool {
        self.room[a as usize].meet(&self.room[b as usize]) == Verdict::Apart && self.meet_now(bodies, [a, b])
    }

    /// Whether a slot is outside its room, or has none.
    pub fn is_loose(&self, slot: u32) -> bool {
        !self.now[slot as usize].is_inside(&self.room[slot as usize])
    }
}
