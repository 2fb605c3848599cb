//! The bodies of a scene: what they are, their names, and the slots they live in.
//!
//! A name is a slot and a generation, so a name outlives its body without ever meaning another one. A slot
//! that was freed is given out again only after the next step, so that within one step an index is one body.

use super::body_bounds::Fit;
use super::filter::Groups;
use crate::Pose;
use crate::Shape;
use crate::bound::Aabb;
use crate::broad::Mobility;
use crate::simd::prefetch_whole;

/// The name of a body in its scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BodyId {
    index: u32,
    generation: u32,
}

impl BodyId {
    /// The slot: small, dense, and no two bodies of one moment share it; an index for arrays of one's own.
    pub fn index(self) -> usize {
        self.index as usize
    }

    pub(super) fn slot(self) -> u32 {
        self.index
    }
}

/// What a body is when it enters a scene.
#[derive(Debug, Clone)]
pub struct Body {
    /// Its shape.
    pub shape: Shape,
    /// Where it is.
    pub pose: Pose,
    /// Fixed bodies never meet each other and cost nothing while they rest.
    pub mobility: Mobility,
    /// What it is and what it meets.
    pub groups: Groups,
    /// A trigger: it has events and no contacts, motions pass through it, and queries skip it unless their
    /// [`Filter`](super::Filter) includes sensors.
    ///
    /// ```
    /// use impinge::scene::{Body, EventKind, Scene};
    /// use impinge::{Budget, Pose, Shape};
    ///
    /// let mut scene = Scene::default();
    /// let zone = Body::fixed(Shape::cuboid([1.0, 1.0, 2.0])?, Pose::IDENTITY);
    /// scene.add(Body { sensor: true, ..zone });
    /// let hero = scene.add(Body::moving(Shape::capsule(0.3, 0.5)?, Pose::from_translation([5.0, 0.0, 0.0])?));
    /// let mut seen = Vec::new();
    /// for step in 0..=10 {
    ///     scene.place(hero, Pose::from_translation([5.0 - f64::from(step), 0.0, 0.0])?);
    ///     let frame = scene.step(&mut Budget::unlimited());
    ///     seen.extend(frame.events.iter().map(|event| event.kind));
    ///     assert!(frame.contacts.is_empty());
    /// }
    /// use EventKind::{Began, Ended, Persists};
    /// assert_eq!(seen, [Began, Persists, Persists, Ended]);
    /// # Ok::<(), impinge::Error>(())
    /// ```
    pub sensor: bool,
    /// Whatever the caller wants to find again; the scene does not look at it.
    pub user_data: u64,
}

impl Body {
    /// A moving body that meets everything.
    pub fn moving(shape: impl Into<Shape>, pose: Pose) -> Body {
        Body {
            shape: shape.into(),
            pose,
            mobility: Mobility::Moving,
            groups: Groups::ALL,
            sensor: false,
            user_data: 0,
        }
    }

    /// A part of the surroundings.
    pub fn fixed(shape: impl Into<Shape>, pose: Pose) -> Body {
        Body { mobility: Mobility::Fixed, ..Body::moving(shape, pose) }
    }
}

/// A body with what the scene knows about it.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub body: Body,
    /// Its box in the world, grown by half the margin.
    pub bounds: Aabb,
    pub fit: Fit,
    /// The step before which it moved last.
    pub moved_at: u64,
    /// The step before which it got another shape; 0 for never.
    pub reshaped_at: u64,
    /// Counts the changes of its shape and of its vertices.
    pub version: u64,
    /// Whether its box waits for the next step.
    pub queued: bool,
    /// Whether the rules for single pairs name it.
    pub named: bool,
}

impl Entry {
    /// Its box waits for the step with the number `clock`, in which its pairs are asked again.
    pub fn mark_moved(&mut self, id: BodyId, clock: u64, moved: &mut Vec<u32>) {
        self.moved_at = clock;
        if !std::mem::replace(&mut self.queued, true) {
            moved.push(id.slot());
        }
    }
}

#[derive(Debug, Clone)]
struct Slot {
    generation: u32,
    entry: Option<Entry>,
}

/// A slot map.
#[derive(Debug, Clone, Default)]
pub(super) struct Bodies {
    slots: Vec<Slot>,
    /// Slots that may be given out.
    free: Vec<u32>,
    /// Slots freed since the last step.
    freed: Vec<u32>,
    count: usize,
}

impl Bodies {
    pub fn insert(&mut self, entry: Entry) -> BodyId {
        self.count += 1;
        if let Some(index) = self.free.pop() {
            let slot = &mut self.slots[index as usize];
            slot.entry = Some(entry);
            return BodyId { index, generation: slot.generation };
        }
        self.slots.push(Slot { generation: 0, entry: Some(entry) });
        BodyId { index: (self.slots.len() - 1) as u32, generation: 0 }
    }

    pub fn remove(&mut self, id: BodyId) -> Option<Entry> {
        let slot = self.slots.get_mut(id.index()).filter(|slot| slot.generation == id.generation)?;
        let entry = slot.entry.take()?;
        self.count -= 1;
        // A slot whose generations are used up stays empty.
        if let Some(next) = slot.generation.checked_add(1) {
            slot.generation = next;
            self.freed.push(id.index);
        }
        Some(entry)
    }

    /// From now on the slots freed so far may be given out.
    pub fn recycle(&mut self) {
        // The smallest is given out first, so that indices stay dense.
        self.free.append(&mut self.freed);
        self.free.sort_unstable_by(|a, b| b.cmp(a));
    }

    pub fn get(&self, id: BodyId) -> Option<&Entry> {
        self.slots.get(id.index()).filter(|slot| slot.generation == id.generation)?.entry.as_ref()
    }

    pub fn get_mut(&mut self, id: BodyId) -> Option<&mut Entry> {
        self.slots.get_mut(id.index()).filter(|slot| slot.generation == id.generation)?.entry.as_mut()
    }

    /// The body in a slot.
    pub fn at(&self, index: u32) -> Option<&Entry> {
        self.slots.get(index as usize)?.entry.as_ref()
    }

    /// Asks for the memory of a body that is looked at soon.
    #[inline]
    pub fn prefetch(&self, index: u32) {
        if let Some(slot) = self.slots.get(index as usize) {
            prefetch_whole(slot);
        }
    }

    pub fn at_mut(&mut self, index: u32) -> Option<&mut Entry> {
        self.slots.get_mut(index as usize)?.entry.as_mut()
    }

    /// The name of the body in a slot.
    pub fn id(&self, index: u32) -> BodyId {
        BodyId { index, generation: self.slots[index as usize].generation }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// All bodies, by ascending index.
    pub fn iter(&self) -> impl Iterator<Item = (BodyId, &Entry)> {
        self.slots.iter().enumerate().filter_map(|(i, slot)| {
            let id = BodyId { index: i as u32, generation: slot.generation };
            slot.entry.as_ref().map(|entry| (id, entry))
        })
    }
}
