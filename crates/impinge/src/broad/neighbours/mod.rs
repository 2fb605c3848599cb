//! Which particles are at most a cutoff apart, and what changed since the last frame.
//!
//! Points or balls of different sizes, in open space, in a box that is periodic along some axes, or in a triclinic
//! cell. [`Particles`] is one frame, checked; a [`Technique`] names a way to search it, and all of them implement
//! [`NeighbourSearch`] and find the same pairs: candidates come from each technique's structure, but whether two
//! particles are a pair is decided in one place, on the doubles ([`Particles::is_pair`]).
//!
//! For a simulation, [`NeighbourList`] is the usual entrance: half or full lists that last over frames, with a skin
//! within which a list is reused, excluded pairs such as bonds, what began and ended, and for every pair the
//! [`Displacement`] to the nearest image with its shift. Which particles will meet, and when, says [`MovingTree`].
//!
//! ```
//! use impinge::broad::neighbours::{Domain, Particles, Technique};
//!
//! let positions = [[0.5, 0.5, 0.5], [9.8, 0.5, 0.5], [5.0, 5.0, 5.0]];
//! let cell = Domain::periodic([0.0; 3], [10.0; 3])?;
//! let particles = Particles::new(&positions, cell, 1.0)?;
//! let mut pairs = Vec::new();
//! Technique::Brute.start().search(&particles, &mut pairs);
//! assert_eq!(pairs, [[0, 1]]);
//! assert_eq!(particles.displacement(0, 1).shift, [-1, 0, 0]);
//! # Ok::<(), impinge::Error>(())
//! ```

mod box_tree;
mod brute;
mod bsp_tree;
mod crowding;
mod exact_distance;
mod gather;
mod grid;
mod hash;
mod hybrid;
mod images;
mod kd_tree;
mod lattice;
mod limited;
mod list;
mod meter;
mod moving_tree;
mod nearest;
mod octree;
mod particles;
mod periodic_cell;
mod point_list;
mod point_queries;
mod r_star;
mod r_star_search;
mod reduced_cell;
mod scan;
mod spanner;
mod spanner_search;
mod sweep_and_prune;
mod technique;

use super::Changes;
use crate::error::Error;

#[cfg(feature = "unstable")]
pub use crowding::Crowding;
pub use limited::LimitedPairs;
pub use list::{NeighbourList, NeighbourOptions};
pub use moving_tree::{MovingTree, PredictedContact};
pub use nearest::Nearest;
pub use particles::{Displacement, Particles};
pub use periodic_cell::Domain;
pub use spanner::DeformableSpanner;
pub use technique::Technique;

/// A structure over the particles of a frame that finds the pairs among them.
///
/// It lives from frame to frame and may use what it knows of the last one; each frame is a set of its own all the
/// same: the number of particles, the cutoff and the domain may change.
pub trait NeighbourSearch: Send + Sync {
    /// Which technique this is.
    fn technique(&self) -> Technique;

    /// Brings the structure up to date with a frame and replaces `pairs` by all pairs, each once, with the smaller
    /// index first. Their order is the same at any number of threads and ascending only after a sort.
    fn search(&mut self, particles: &Particles<'_>, pairs: &mut Vec<[u32; 2]>);

    /// What the last search cost.
    fn counters(&self) -> SearchCounters;

    /// Why this technique, as a sentence for people.
    fn reason(&self) -> &str {
        NAMED
    }

    /// Brings the structure up to date with a frame without listing its pairs: enough for the questions about points.
    fn update(&mut self, particles: &Particles<'_>) {
        let _ = particles;
    }

    /// Replaces `found` by the `k` particles nearest to a point, the nearest first, of equal ones the smaller index. The
    /// frame is that of the last update or search. Brute force tries every particle, every other technique uses its structure.
    /// From a point that no particle could be at, not finite, beyond 1e60 or 2³⁰ cells away, nothing is found.
    fn nearest(&self, particles: &Particles<'_>, point: [f64; 3], k: usize, found: &mut Vec<Nearest>) {
        self.within(particles, point, f64::INFINITY, found);
        found.truncate(k);
    }

    /// Replaces `found` by the particles at most `radius` from a point, in the same order.
    fn within(&self, particles: &Particles<'_>, point: [f64; 3], radius: f64, found: &mut Vec<Nearest>) {
        found.clear();
        if let Some(view) = particles.seen_from(point) {
            view.within(radius, found);
        }
    }
}

/// Why a technique that nobody chose is used.
const NAMED: &str = "named by hand";

/// What a search cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SearchCounters {
    /// Pairs of particles whose distance was tested.
    pub tests: u64,
    /// Pairs of cells, boxes or other sets of particles that were tested.
    pub volume_tests: u64,
    /// Pairs found.
    pub pairs: u64,
    /// Particles, nodes or edges of the structure that were put in place or changed; a particle that is sorted into
    /// a cell counts once.
    pub updates: u64,
    /// Memory that the structure holds between frames, in bytes, the list of pairs not counted.
    pub bytes: u64,
}

impl Changes {
    /// What began and ended from one list of pairs to the next; both are ascending.
    pub fn between(&mut self, before: &[[u32; 2]], now: &[[u32; 2]]) {
        self.clear();
        let (mut old, mut new) = (before.iter().copied().peekable(), now.iter().copied().peekable());
        loop {
            match (old.peek(), new.peek()) {
                (Some(a), Some(b)) if a == b => {
                    old.next();
                    new.next();
                }
                (Some(a), b) if b.is_none_or(|b| a < b) => self.ended.extend(old.next()),
                (_, Some(_)) => self.began.extend(new.next()),
                (_, None) => return,
            }
        }
    }
}

/// Numbers without an item that may lie between one and those in use, in any case.
const MOST_UNUSED: usize = 1 << 20;

/// Refuses the number of an item where tables by number would have to grow far beyond what is in use: to more than twice
/// as many as there are, and [`MOST_UNUSED`].
fn checked_number(number: u32, in_use: usize) -> Result<(), Error> {
    let most = (2 * in_use + MOST_UNUSED).min(u32::MAX as usize);
    if (number as usize) < most {
        return Ok(());
    }
    let reason = format!(
        "{number} is too far beyond the {in_use} numbers in use: memory is taken for all up to the largest, so they \
         should count from 0"
    );
    Err(Error::Argument { name: "number", reason })
}

/// Bytes that a vector holds.
fn bytes_of<T>(items: &Vec<T>) -> u64 {
    (items.capacity() * size_of::<T>()) as u64
}

#[cfg(test)]
mod tests;
