//! Moving vertices against faces and edges against edges, every vertex on its own straight line.
//!
//! Touching counts, and so do the start and the end of the step. Floats with error bounds decide nearly
//! every pair; what they cannot tell goes to exact arithmetic, so that yes and no are those of the doubles given.
//! Provot, "Collision and self-collision handling in cloth model dedicated to design garments", 1997 (the
//! cubic); Wang et al., "A large scale benchmark and an inclusion-based algorithm for continuous collision
//! detection", 2021 (what can go wrong with it).

mod aligned;
mod clearance;
mod coplanarity_roots;
mod exact_coplanarity;
mod filter;
#[cfg(test)]
mod tests;

use glam::DVec3;

use crate::num::tolerance::{CONTACT_TIME, SEPARATION_SLACK};

/// Which features the four points are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum FeaturePairKind {
    /// A vertex and the three corners of a face.
    VertexFace,
    /// The ends of one edge, then those of the other.
    EdgeEdge,
}

impl FeaturePairKind {
    /// Ends of the vectors u, v, w of which the determinant vanishes when the points are coplanar.
    const fn frame(self) -> [[usize; 2]; 3] {
        match self {
            FeaturePairKind::VertexFace => [[1, 2], [1, 3], [1, 0]],
            FeaturePairKind::EdgeEdge => [[0, 1], [2, 3], [0, 2]],
        }
    }

    /// Pairs of a point of the first feature and a point of the other, all of them; one may stand twice.
    const fn opposites(self) -> [[usize; 2]; 4] {
        match self {
            FeaturePairKind::VertexFace => [[0, 1], [0, 2], [0, 3], [0, 3]],
            FeaturePairKind::EdgeEdge => [[0, 2], [0, 3], [1, 2], [1, 3]],
        }
    }
}

/// The time of first contact of two moving features.
#[inline]
pub fn first_contact(kind: FeaturePairKind, t0: &[DVec3; 4], t1: &[DVec3; 4]) -> Option<f64> {
    match filter::first_contact(kind, t0, t1) {
        filter::Verdict::Free => None,
        filter::Verdict::Contact(time) => Some(time),
        filter::Verdict::Doubt => in_doubt(kind, t0, t1),
    }
}

/// What plain floats cannot tell: whether equal coordinates leave one direction only, whether a direction separates the
/// features, then the same again with twice the digits, then exact arithmetic.
#[cold]
fn in_doubt(kind: FeaturePairKind, t0: &[DVec3; 4], t1: &[DVec3; 4]) -> Option<f64> {
    match aligned::first_contact(kind, t0, t1) {
        filter::Verdict::Free => return None,
        filter::Verdict::Contact(time) => return Some(time),
        filter::Verdict::Doubt => {}
    }
    if clearance::open_until(kind, t0, t1, [0.0, 0.0], DIRECTIONS) >= 1.0 {
        return None;
    }
    match filter::first_contact_twofold(kind, t0, t1) {
        filter::Verdict::Free => None,
        filter::Verdict::Contact(time) => Some(time),
        filter::Verdict::Doubt => exact_coplanarity::first_contact(kind, t0, t1, CONTACT_TIME),
    }
}

/// Directions that are tried before exact arithmetic: each costs a hundredth of it.
const DIRECTIONS: usize = 6;

/// The first time at which two moving features are within `distance` (a length); `None` when they stay farther
/// apart. With a distance of zero as [`first_contact`].
///
/// Never later than the truth; a time is returned only where they come within
/// `distance · (1 + `[`SEPARATION_SLACK`]`)`, or within rounding of it.
pub fn first_within(kind: FeaturePairKind, t0: &[DVec3; 4], t1: &[DVec3; 4], distance: f64) -> Option<f64> {
    if !(distance > 0.0) {
        return first_contact(kind, t0, t1);
    }
    let range = [distance, distance * (1.0 + SEPARATION_SLACK)];
    let time = clearance::open_until(kind, t0, t1, range, MOST_DIRECTIONS);
    (time < 1.0).then_some(time)
}

/// Steps after which features that turn past each other just outside the distance count as within it.
const MOST_DIRECTIONS: usize = 10_000;

/// As [`first_contact`], by exact arithmetic alone: its slow twin.
pub fn first_contact_exact(kind: FeaturePairKind, t0: &[DVec3; 4], t1: &[DVec3; 4]) -> Option<f64> {
    exact_coplanarity::first_contact(kind, t0, t1, CONTACT_TIME)
}
