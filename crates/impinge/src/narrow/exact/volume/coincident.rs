//! Triangles of both bodies that lie in one plane and overlap there: what they add to the net area vector of a region.
//!
//! Where faces coincide, the infinitesimal translation of b decides whose surface the border is; moved the other way it
//! would be the other's. The volume has a kink there, and which of its slopes the area vectors give is arbitrary. The
//! mean normal of a region leaves such faces out: it says how the region lies between the others.

use glam::{DVec2, DVec3};
use smallvec::SmallVec;

use super::perturbed_crossing::Face;
use crate::num::predicate::{Sign, drop_axis};

/// What two triangles in one plane add to the area vector of a's surface less that of b's.
pub struct Coincident {
    /// Whose part of the border it is: 0 for a, 1 for b.
    pub surface: usize,
    pub net: DVec3,
}

impl Coincident {
    /// Of a triangle of a and one of b in one plane, both with an area, facing outwards; `None` where they add nothing.
    pub fn of([a, b]: [&Face; 2]) -> Option<Coincident> {
        let normal = a.normal();
        let is_alike = normal.dot(b.normal()) > 0.0;
        let area = normal.normalize_or_zero() * common_area(a, b);
        // Moved outwards, b's face lies outside of a, and a's inside of b.
        let moves_out = a.leading() == Sign::Positive;
        let (surface, net) = match (is_alike, moves_out) {
            (true, true) => (0, area),
            (true, false) => (1, -area),
            // Faces that touch from both sides: the bodies part, or there is a layer between both.
            (false, true) => return None,
            (false, false) => (0, 2.0 * area),
        };
        (net != DVec3::ZERO).then_some(Coincident { surface, net })
    }
}

/// The area that two triangles in one plane have in common: one is clipped by the sides of the other (Sutherland and
/// Hodgman 1974).
fn common_area(a: &Face, b: &Face) -> f64 {
    let normal = a.normal();
    let axis = normal.abs().max_position();
    let [first, ..] = a.corners();
    let flat = |face: &Face| face.corners().map(|p| drop_axis(p - first, axis));
    let (clip, mut left): ([DVec2; 3], SmallVec<[DVec2; 9]>) = (flat(a), SmallVec::from_slice(&flat(b)));
    let way = (clip[1] - clip[0]).perp_dot(clip[2] - clip[0]).signum();
    for side in 0..3 {
        let (from, to) = (clip[side], clip[(side + 1) % 3]);
        let height = |p: DVec2| way * (to - from).perp_dot(p - from);
        let whole = std::mem::take(&mut left);
        for (n, &p) in whole.iter().enumerate() {
            let q = whole[(n + 1) % whole.len()];
            let (at_p, at_q) = (height(p), height(q));
            if at_p >= 0.0 {
                left.push(p);
            }
            if (at_p < 0.0) != (at_q < 0.0) {
                left.push(p + (q - p) * (at_p / (at_p - at_q)));
            }
        }
    }
    let Some(&from) = left.first() else { return 0.0 };
    let doubled: f64 = left.windows(2).map(|pq| (pq[0] - from).perp_dot(pq[1] - from)).sum();
    // Seen along an axis the plane is smaller by the cosine of the normal.
    0.5 * doubled.abs() * normal.length() / normal[axis].abs()
}
