//! Does a closed segment meet a closed triangle? Exact; either may be degenerate.

use glam::DVec3;

use super::triangle_triangle;
use crate::num::predicate::{Plane, Sign, orient3d};

/// Whether the segment pq and the triangle share a point, decided exactly on the doubles.
#[inline]
pub fn meet(p: DVec3, q: DVec3, triangle: &[DVec3; 3]) -> bool {
    let plane = Plane::through(triangle[0], triangle[1], triangle[2]);
    let (side_p, side_q) = (plane.side(p), plane.side(q));
    match (side_p, side_q) {
        (Sign::Zero, Sign::Zero) => triangle_triangle::meet(&[p, q, q], triangle),
        (s, t) if s == t => false,
        _ => line_pierces(p, q, triangle),
    }
}

/// Whether the line through p and q, not parallel to the triangle's plane, meets the closed triangle.
#[inline]
pub(super) fn line_pierces(p: DVec3, q: DVec3, [a, b, c]: &[DVec3; 3]) -> bool {
    let first = orient3d(p, q, *a, *b);
    let second = orient3d(p, q, *b, *c);
    if first.times(second) == Sign::Negative {
        return false;
    }
    let third = orient3d(p, q, *c, *a);
    first.times(third) != Sign::Negative && second.times(third) != Sign::Negative
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIANGLE: [DVec3; 3] = [DVec3::ZERO, DVec3::new(4.0, 0.0, 0.0), DVec3::new(0.0, 4.0, 0.0)];

    fn meets(p: [f64; 3], q: [f64; 3]) -> bool {
        let (p, q) = (DVec3::from(p), DVec3::from(q));
        assert_eq!(meet(p, q, &TRIANGLE), meet(q, p, &TRIANGLE));
        meet(p, q, &TRIANGLE)
    }

    #[test]
    fn through_the_face_an_edge_and_a_corner() {
        for at in [[1.0, 1.0], [2.0, 2.0], [0.0, 0.0], [0.0, 3.0]] {
            assert!(meets([at[0], at[1], -1.0], [at[0], at[1], 2.0]));
            assert!(meets([at[0], at[1], 0.0], [at[0], at[1], 2.0]));
            assert!(!meets([at[0], at[1], 1e-300], [at[0], at[1], 2.0]));
        }
        assert!(!meets([2.0, 2.0_f64.next_up(), -1.0], [2.0, 2.0_f64.next_up(), 1.0]));
    }

    #[test]
    fn within_the_plane() {
        assert!(meets([-1.0, 1.0, 0.0], [5.0, 1.0, 0.0]));
        assert!(meets([1.0, 1.0, 0.0], [1.5, 1.0, 0.0]));
        assert!(meets([4.0, 0.0, 0.0], [9.0, 0.0, 0.0]));
        assert!(!meets([5.0, 0.0, 0.0], [9.0, 0.0, 0.0]));
        assert!(!meets([3.0, 3.0, 0.0], [5.0, 0.0, 0.0]));
    }
}
