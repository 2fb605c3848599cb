//! Moving vertices against faces and edges against edges, every vertex on its own straight line.
//!
//! Touching counts, and so do the start and the end of the step. Floats with error bounds decide nearly
//! every pair; what they cannot tell goes to exact arithmetic, so that yes and no are those of the doubles given.
//! Provot, "Collision and self-collision handling in cloth model dedicated to design garments", 1997 (the
//! cubic); Wang et al., "A large scale benchmark and an inclusion-based algorithm for continuous collision
//! detection", 2021 (what can go wrong with it).

mod cubic;
mod exact;
mod filter;

use glam::DVec3;

use crate::num::tolerance::CONTACT_TIME;

/// Which features the four points are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A vertex and the three corners of a face.
    VertexFace,
    /// The ends of one edge, then those of the other.
    EdgeEdge,
}

impl Kind {
    /// Ends of the vectors u, v, w of which the determinant vanishes when the points are coplanar.
    const fn frame(self) -> [[usize; 2]; 3] {
        match self {
            Kind::VertexFace => [[1, 2], [1, 3], [1, 0]],
            Kind::EdgeEdge => [[0, 1], [2, 3], [0, 2]],
        }
    }
}

/// The time of first contact of a moving vertex and a moving face, corners `[p, a, b, c]` at both ends of the
/// step; `None` when they never meet.
///
/// Never later than the truth and earlier by at most [`CONTACT_TIME`].
pub fn vertex_face(t0: &[DVec3; 4], t1: &[DVec3; 4]) -> Option<f64> {
    first_contact(Kind::VertexFace, t0, t1)
}

/// As [`vertex_face`] for two moving edges, ends `[a0, a1, b0, b1]`.
pub fn edge_edge(t0: &[DVec3; 4], t1: &[DVec3; 4]) -> Option<f64> {
    first_contact(Kind::EdgeEdge, t0, t1)
}

/// The time of first contact of two moving features.
#[inline]
pub fn first_contact(kind: Kind, t0: &[DVec3; 4], t1: &[DVec3; 4]) -> Option<f64> {
    match filter::first_contact(kind, t0, t1) {
        filter::Verdict::Free => None,
        filter::Verdict::Contact(time) => Some(time),
        filter::Verdict::Doubt => exact::first_contact(kind, t0, t1, CONTACT_TIME),
    }
}

/// As [`first_contact`], by exact arithmetic alone: its slow twin.
pub fn first_contact_exact(kind: Kind, t0: &[DVec3; 4], t1: &[DVec3; 4]) -> Option<f64> {
    exact::first_contact(kind, t0, t1, CONTACT_TIME)
}
