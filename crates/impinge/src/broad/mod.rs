//! Broad phases: which boxes meet, and what began and ended since the last step.
//!
//! All of them take the same calls and give the same events; they differ in what a step costs. Boxes are
//! closed, so touching counts, and the answer is exact on the doubles given. Two fixed bodies are never a
//! pair.
//!
//! ```
//! use impinge::Aabb;
//! use impinge::broad::{BroadPhase, Brute, Changes, Mobility};
//!
//! let cube = |x: f64| Aabb { low: [x, 0.0, 0.0].into(), high: [x + 1.0, 1.0, 1.0].into() };
//! let mut broad = Brute::default();
//! let mut changes = Changes::default();
//! broad.insert(0, cube(0.0), Mobility::Fixed);
//! broad.insert(1, cube(5.0), Mobility::Moving);
//! broad.step(&mut changes);
//! assert!(changes.began.is_empty());
//! broad.update(1, cube(1.0));
//! broad.step(&mut changes);
//! assert_eq!(changes.began, [[0, 1]]);
//! ```

use crate::bound::Aabb;
use crate::num::parallel;

mod auto;
mod bodies;
mod brute;
mod grid;
pub mod neighbours;
mod pair_table;
mod sweep_and_prune;
mod tree;

pub use auto::Auto;
pub use brute::Brute;
pub use grid::Grid;
pub use sweep_and_prune::SweepAndPrune;
pub use tree::Tree;

/// Whether a body ever moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mobility {
    /// Part of the surroundings: no pair with another fixed body, so it costs nothing while it rests.
    Fixed,
    /// Meets every other body.
    #[default]
    Moving,
}

/// What changed in a step; both lists are ascending, with the smaller id of a pair first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Pairs that meet now and did not after the last step.
    pub began: Vec<[u32; 2]>,
    /// Pairs that met after the last step and do not now, also because one was removed.
    pub ended: Vec<[u32; 2]>,
}

impl Changes {
    /// Forgets all; the memory is kept.
    fn clear(&mut self) {
        self.began.clear();
        self.ended.clear();
    }
}

/// A set of boxes and the pairs among them that share a point.
///
/// Ids are chosen by the caller and index arrays, so they should be small. A box may be unbounded
/// (coordinates beyond ±[`f64::MAX`] count as that); a box with a NaN or with `low > high` meets nothing.
/// Calls between two steps only take note: an id that is removed and inserted again counts as one body.
pub trait BroadPhase {
    /// Adds a body, or replaces the one with this id.
    fn insert(&mut self, id: u32, bounds: Aabb, mobility: Mobility);

    /// Takes a body away; nothing happens where there is none.
    fn remove(&mut self, id: u32);

    /// Moves a body; nothing happens where there is none. Fixed bodies may be moved too.
    fn update(&mut self, id: u32, bounds: Aabb);

    /// Moves the bodies `first`, `first + 1`, … at once, on several threads where that pays; as many calls of
    /// [`BroadPhase::update`] do the same.
    fn update_range(&mut self, first: u32, bounds: &[Aabb]) {
        for (id, &bounds) in (first..).zip(bounds) {
            self.update(id, bounds);
        }
    }

    /// Brings the pairs up to date and says what changed since the last step.
    fn step(&mut self, changes: &mut Changes);

    /// Replaces `pairs` by all pairs as of the last step, ascending, the smaller id first.
    fn pairs(&self, pairs: &mut Vec<[u32; 2]>);

    /// The method in use and why, as a sentence for people.
    fn reason(&self) -> &str {
        "named by hand"
    }
}

/// A box as it is let in: without NaN, finite, or empty.
fn admitted(bounds: Aabb) -> Aabb {
    let Aabb { low, high } = bounds;
    if !low.cmple(high).all() {
        return Aabb::EMPTY;
    }
    let most = glam::DVec3::MAX;
    // Adding 0 turns −0 into 0, so that equal coordinates are the same.
    Aabb { low: low.clamp(-most, most) + 0.0, high: high.clamp(-most, most) + 0.0 }
}

/// Puts pairs in ascending order.
fn sort_pairs(pairs: &mut [[u32; 2]]) {
    parallel::sort_by_key(pairs, |&[a, b]| u64::from(a) << 32 | u64::from(b));
}
