//! One step on the feature graph: the steepest edge of a corner, the wall of a face that a point is
//! beyond. Small rings and loops are looked through, large ones searched by halving.

use glam::DVec3;

use super::Polytope;
use super::cell::{Side, Spoke};

/// Rings and loops above this size are searched by halving.
pub(super) const LARGE: usize = 12;

impl Polytope {
    /// An edge that leaves a corner in a direction, the one that gains most; none where the corner is the
    /// farthest of all.
    #[inline]
    pub fn steepest(&self, vertex: u32, direction: DVec3) -> Option<&Spoke> {
        let ring = &self.rings[vertex as usize];
        let spokes = &self.spokes[ring.range()];
        if ring.level {
            return steepest_of_many(spokes, direction);
        }
        let (mut best, mut gain) = (None, 0.0);
        for spoke in spokes {
            let this = spoke.along.dot(direction);
            if this > gain {
                (best, gain) = (Some(spoke), this);
            }
        }
        best
    }

    /// A side of a face that a point is beyond, seen along the face's normal; none where it is over the
    /// face.
    #[inline]
    pub fn side_beyond(&self, face: u32, point: DVec3) -> Option<&Side> {
        let sides = self.sides(face);
        if sides.len() > LARGE {
            return side_of_many(sides, self.faces[face as usize].normal, point);
        }
        let (mut best, mut beyond) = (None, 0.0);
        for side in sides {
            let this = side.outward.dot(point - side.corner);
            if this > beyond {
                (best, beyond) = (Some(side), this);
            }
        }
        best
    }
}

/// The spokes end on a convex polygon, over which the gain is linear: from one stride to half of it the
/// best is the same or next to it.
fn steepest_of_many(spokes: &[Spoke], direction: DVec3) -> Option<&Spoke> {
    let n = spokes.len();
    let gain = |i: usize| spokes[i].along.dot(direction);
    let mut stride = n.next_power_of_two() / 4;
    let mut best = (0..n).step_by(stride).map(|i| (i, gain(i))).fold((0, f64::NEG_INFINITY), higher);
    while stride > 1 {
        stride /= 2;
        for i in [(best.0 + stride) % n, (best.0 + n - stride) % n] {
            best = higher(best, (i, gain(i)));
        }
    }
    // Rounding on a nearly flat stretch may have stopped the search a little beside the top.
    loop {
        let from = best;
        for i in [(from.0 + 1) % n, (from.0 + n - 1) % n] {
            best = higher(best, (i, gain(i)));
        }
        if best.0 == from.0 {
            return (best.1 > 0.0).then(|| &spokes[best.0]);
        }
    }
}

fn higher(a: (usize, f64), b: (usize, f64)) -> (usize, f64) {
    if b.1 > a.1 { b } else { a }
}

/// Finds by halving the two rays from the first corner between which the point lies; only the side
/// between them and the two at the first corner can have it beyond them.
fn side_of_many(sides: &[Side], normal: DVec3, point: DVec3) -> Option<&Side> {
    let from = sides[0].corner;
    let across = (point - from).cross(normal);
    // Whether the point is on the left of the ray from the first corner to another.
    let left = |i: usize| across.dot(sides[i].corner - from) >= 0.0;
    let (mut low, mut high) = (1, sides.len() - 1);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if left(middle) { low = middle } else { high = middle }
    }
    let beyond = |i: usize| sides[i].outward.dot(sides[i].corner - point) < 0.0;
    [low, 0, sides.len() - 1].into_iter().find(|&i| beyond(i)).map(|i| &sides[i])
}
