//! One step along the curve in which two surfaces cross.
//!
//! Two triangles that cross have a segment in common. Each of its ends lies on a side of one of them, and behind that
//! side the curve goes on in the triangle beyond it and the same other one (marching along intersection curves: Barnhill
//! and Kersey 1990, here on triangles). Sides are told by the signs of heights over the other triangle's plane, a
//! height of 0 counts as above: two triangles that share a side read the same heights of its ends, so that a curve
//! which enters through a side always leaves through another. Which of two ends comes first is decided in doubles; where
//! that is wrong the curve leaves the pairs that cross, which costs a contour, never a wrong contact: those are tested
//! exactly.

use glam::DVec3;

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
    along: DVec3,
}

impl Crossing {
    /// `None` where one lies on one side of the other's plane.
    #[inline]
    pub fn of(a: &Triangle, b: &Triangle) -> Option<Crossing> {
        let along = a.normal.cross(b.normal);
        let heights =
            |own: &Triangle, other: &Triangle| own.corners.map(|p| (p - other.corners[0]).dot(other.normal));
        let reaches = [reach(&a.corners, heights(a, b), along)?, reach(&b.corners, heights(b, a), along)?];
        Some(Crossing { reaches, along })
    }

    /// The sides at both ends of the common segment.
    #[inline]
    pub fn ends(&self) -> [Side; 2] {
        let [a, b] = &self.reaches;
        let low = if a.at[0] >= b.at[0] { (0, a) } else { (1, b) };
        let high = if a.at[1] <= b.at[1] { (0, a) } else { (1, b) };
        [Side { body: low.0, k: low.1.sides[0] }, Side { body: high.0, k: high.1.sides[1] }]
    }

    /// The square of the length of the common segment.
    #[inline]
    pub fn length_sq(&self) -> f64 {
        let [a, b] = &self.reaches;
        let length = (a.at[1].min(b.at[1]) - a.at[0].max(b.at[0])).max(0.0);
        length * length / self.along.length_squared().max(f64::MIN_POSITIVE)
    }

    /// How far apart the parts of the common line are that lie in each triangle; negative where they overlap.
    pub fn gap(&self) -> f64 {
        let [a, b] = &self.reaches;
        let gap = (b.at[0] - a.at[1]).max(a.at[0] - b.at[1]);
        gap / self.along.length().max(f64::MIN_POSITIVE)
    }

    /// The sine of the angle between the planes.
    pub fn sine(&self, a: &Triangle, b: &Triangle) -> f64 {
        let product = a.normal.length() * b.normal.length();
        self.along.length() / product.max(f64::MIN_POSITIVE)
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
