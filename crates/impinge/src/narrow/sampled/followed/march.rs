//! One step along the curve in which two surfaces cross.
//!
//! Two triangles that cross have a segment in common. Each of its ends lies on a side of one of them, and behind that
//! side the curve goes on in the triangle beyond it and the same other one (marching along intersection curves: Barnhill
//! and Kersey 1990, here on triangles). Sides are told by the signs of heights over the other triangle's plane, a
//! height of 0 counts as above: two triangles that share a side read the same heights of its ends, so that a curve
//! which enters through a side always leaves through another. Which of two ends comes first is decided in doubles; where
//! that is wrong the walk leaves the pairs that cross, which may cost a contact, and never tells a wrong one: those are
//! tested exactly.

use std::sync::Arc;

use glam::DVec3;

use super::super::front::NONE;
use super::super::layers::Layers;
use super::super::posed::Posed;
use super::super::triangle_pair::Triangle;

/// A side of one of two triangles, from corner k to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Side {
    /// Of a (0) or of b (1).
    pub body: u8,
    pub k: u8,
}

/// The two ends of what the planes' common line has within a triangle.
#[derive(Debug, Clone, Copy)]
struct Reach {
    /// The sides at the lower and at the upper end.
    sides: [u8; 2],
    /// Where along the line.
    at: [f64; 2],
}

/// The common line of two triangles' planes, and what of it lies in each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crossing {
    reaches: [Reach; 2],
}

impl Crossing {
    /// `None` where one lies on one side of the other's plane.
    #[inline]
    pub fn of(a: &Triangle, b: &Triangle) -> Option<Crossing> {
        let along = a.normal.cross(b.normal);
        let heights =
            |own: &Triangle, other: &Triangle| own.corners.map(|p| (p - other.corners[0]).dot(other.normal));
        let reaches = [reach(&a.corners, heights(a, b), along)?, reach(&b.corners, heights(b, a), along)?];
        Some(Crossing { reaches })
    }

    /// The sides at both ends of the common segment.
    #[inline]
    pub fn ends(&self) -> [Side; 2] {
        let [a, b] = &self.reaches;
        let low = if a.at[0] >= b.at[0] { (0, a) } else { (1, b) };
        let high = if a.at[1] <= b.at[1] { (0, a) } else { (1, b) };
        [Side { body: low.0, k: low.1.sides[0] }, Side { body: high.0, k: high.1.sides[1] }]
    }

    /// The side through which the curve leaves that has come in through another; `None` where it cannot have.
    #[inline]
    pub fn exit(&self, entry: Side) -> Option<Side> {
        let own = &self.reaches[usize::from(entry.body)];
        let other = &self.reaches[usize::from(1 - entry.body)];
        // Upwards or downwards along the line.
        let end = match own.sides.iter().position(|&k| k == entry.k)? {
            0 => 1,
            _ => 0,
        };
        let is_own_first = if end == 1 { own.at[1] <= other.at[1] } else { own.at[0] >= other.at[0] };
        Some(match is_own_first {
            true => Side { body: entry.body, k: own.sides[end] },
            false => Side { body: 1 - entry.body, k: other.sides[end] },
        })
    }
}

/// The pairs along a curve, one way from a pair that meets; ends where the curve does, or is back at its start.
pub(super) struct Walk<'w, 'f> {
    layers: &'w [Arc<Layers>; 2],
    bodies: &'w [Posed<'f>; 2],
    start: [u32; 2],
    pair: [u32; 2],
    placed: [Triangle; 2],
    exit: Option<Side>,
    /// Whether the curve came back to its start.
    pub is_closed: bool,
}

impl<'w, 'f> Walk<'w, 'f> {
    /// One of both ways, 0 or 1.
    pub fn new(
        layers: &'w [Arc<Layers>; 2],
        bodies: &'w [Posed<'f>; 2],
        start: [u32; 2],
        way: usize,
    ) -> Walk<'w, 'f> {
        let placed = [0, 1].map(|k| bodies[k].triangle(start[k]));
        let exit = Crossing::of(&placed[0], &placed[1]).map(|crossing| crossing.ends()[way]);
        Walk { layers, bodies, start, pair: start, placed, exit, is_closed: false }
    }
}

impl Iterator for Walk<'_, '_> {
    type Item = [u32; 2];

    fn next(&mut self) -> Option<[u32; 2]> {
        let exit = self.exit?;
        let body = usize::from(exit.body);
        let sides = self.layers[body].sides();
        let last = self.pair[body];
        let triangle = sides[last as usize][usize::from(exit.k)];
        self.exit = None;
        if triangle == NONE {
            return None;
        }
        self.pair[body] = triangle;
        if self.pair == self.start {
            self.is_closed = true;
            return None;
        }
        self.placed[body] = self.bodies[body].triangle(triangle);
        let k = sides[triangle as usize].iter().position(|&t| t == last);
        let entry = k.map(|k| Side { body: exit.body, k: k as u8 });
        let crossing = Crossing::of(&self.placed[0], &self.placed[1]);
        self.exit = crossing.zip(entry).and_then(|(crossing, entry)| crossing.exit(entry));
        Some(self.pair)
    }
}

/// What of a line lies in a triangle, by the heights of its corners over a plane that holds the line.
#[inline]
fn reach(corners: &[DVec3; 3], heights: [f64; 3], along: DVec3) -> Option<Reach> {
    let above = heights.map(|h| h >= 0.0);
    // The corner that is alone on its side.
    let alone = match above {
        [x, y, z] if y == z && x != y => 0,
        [x, y, z] if x == z && x != y => 1,
        [x, y, z] if x == y && z != x => 2,
        _ => return None,
    };
    let (next, last) = ((alone + 1) % 3, (alone + 2) % 3);
    let own = corners[alone].dot(along);
    let at = |other: usize| {
        let share = heights[alone] / (heights[alone] - heights[other]);
        own + share * (corners[other].dot(along) - own)
    };
    let (x, y) = (at(next), at(last));
    // The side from `alone` to `next` is that of `alone`, the one from `last` to `alone` that of `last`.
    Some(match x <= y {
        true => Reach { sides: [alone as u8, last as u8], at: [x, y] },
        false => Reach { sides: [last as u8, alone as u8], at: [y, x] },
    })
}
