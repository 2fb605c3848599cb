//! The common segment of two triangles, with the parts of both that its ends lie on.
//!
//! The ends are told apart by exact signs, as in Guigue and Devillers (2003); only their coordinates are
//! floats. An end lies in exactly one open part of each triangle, so equal parts mean equal points and
//! segments of neighbouring triangles can be chained without comparing coordinates.

use glam::DVec3;

use super::point_triangle::TriangleFeature;
use super::triangle_triangle::{Sides, lone_corner, pierce, plane_sides};
use crate::num::each::Each;
use crate::num::predicate::{Sign, orient3d};

/// An end of a common segment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct End {
    /// Where it is, in floats; exact where a corner is taken.
    pub point: DVec3,
    /// The part of the first and of the second triangle that it lies on, exactly.
    pub on: [TriangleFeature; 2],
}

/// The common segment of two triangles in different planes, from end to end along the product of their
/// normals n_a × n_b; `None` when there is none or it is a single point.
pub fn crossing(a: &[DVec3; 3], b: &[DVec3; 3]) -> Option<[End; 2]> {
    let Sides::Across(over_a, over_b) = plane_sides(a, b) else { return None };
    let (first_a, up_a) = lone_corner(over_a);
    let (first_b, up_b) = lone_corner(over_b);
    // A corner in the other plane with both others on one side reaches it in a point.
    if over_a[first_a].is_zero() || over_b[first_b].is_zero() {
        return None;
    }
    let a = Reach::new(a, over_a, first_a, up_b);
    let b = Reach::new(b, over_b, first_b, up_a);
    // On the common line lie, in order, a's interval [i, j] and b's [k, l]: i on a0a2, j on a0a1, k on
    // b0b1, l on b0b2.
    let [a0, a1, a2] = a.corners;
    let [b0, b1, b2] = b.corners;
    if orient3d(a0, a1, b0, b1) != Sign::Negative || orient3d(a0, a2, b2, b0) != Sign::Negative {
        return None;
    }
    let start = end(&a, 2, &b, 1, orient3d(a0, a2, b0, b1));
    let stop = end(&a, 1, &b, 2, orient3d(a0, a1, b0, b2).flip());
    // Turning one triangle round turns the line.
    Some(if up_a == up_b { [start, stop] } else { [stop, start] })
}

/// A triangle reordered: its first corner alone on one side of the other's plane.
struct Reach {
    corners: [DVec3; 3],
    number: [u8; 3],
    in_plane: [bool; 3],
}

impl Reach {
    fn new(t: &[DVec3; 3], over: [Sign; 3], first: usize, keep: bool) -> Reach {
        let [next, last] = [(first + 1) % 3, (first + 2) % 3];
        let order = if keep { [first, next, last] } else { [first, last, next] };
        Reach {
            corners: order.each(|i| t[i]),
            number: order.each(|i| i as u8),
            in_plane: order.each(|i| over[i].is_zero()),
        }
    }

    /// The part at the end of the interval on the way from the first corner to corner `to`.
    fn tip(&self, to: usize) -> TriangleFeature {
        if self.in_plane[to] { TriangleFeature::Corner(self.number[to]) } else { self.side(0, to) }
    }

    /// The part between the ends of the interval.
    fn middle(&self) -> TriangleFeature {
        if self.in_plane[1] && self.in_plane[2] { self.side(1, 2) } else { TriangleFeature::Inside }
    }

    fn side(&self, i: usize, j: usize) -> TriangleFeature {
        let [p, q] = [self.number[i], self.number[j]];
        TriangleFeature::Side(if (p + 1) % 3 == q { p } else { q })
    }

    /// Where the interval ends on the way to corner `to`.
    fn tip_point(&self, to: usize, other: &Reach) -> DVec3 {
        if self.in_plane[to] {
            self.corners[to]
        } else {
            pierce(self.corners[0], self.corners[to], &other.corners)
        }
    }
}

/// The end where a's interval ends towards its corner `to_a`, or b's towards `to_b`, whichever is inner:
/// `inner` is negative where a's is.
fn end(a: &Reach, to_a: usize, b: &Reach, to_b: usize, inner: Sign) -> End {
    match inner {
        Sign::Negative => End { point: a.tip_point(to_a, b), on: [a.tip(to_a), b.middle()] },
        Sign::Positive => End { point: b.tip_point(to_b, a), on: [a.middle(), b.tip(to_b)] },
        Sign::Zero => {
            let point = if b.in_plane[to_b] { b.corners[to_b] } else { a.tip_point(to_a, b) };
            End { point, on: [a.tip(to_a), b.tip(to_b)] }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::triangle_triangle::{TriangleRelation, classify, segment};
    use crate::num::random::bits;

    fn triangle(points: [[f64; 3]; 3]) -> [DVec3; 3] {
        points.map(DVec3::from)
    }

    #[test]
    fn an_edge_through_a_face_ends_in_the_middle_of_it() {
        let floor = triangle([[-5.0, -5.0, 0.0], [5.0, -5.0, 0.0], [0.0, 5.0, 0.0]]);
        let wall = triangle([[0.0, 0.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 0.0, -1.0]]);
        let [start, stop] = crossing(&wall, &floor).unwrap();
        assert_eq!(
            (start.point, start.on),
            (DVec3::new(-0.5, 0.0, 0.0), [TriangleFeature::Side(2), TriangleFeature::Inside])
        );
        assert_eq!(
            (stop.point, stop.on),
            (DVec3::new(0.5, 0.0, 0.0), [TriangleFeature::Side(0), TriangleFeature::Inside])
        );
    }

    #[test]
    fn a_side_in_the_plane_and_shared_corners_are_told() {
        let floor = triangle([[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]]);
        let standing = triangle([[0.0, 0.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 3.0]]);
        let ends = crossing(&standing, &floor).unwrap().map(|end| end.on);
        let mut sorted = ends;
        sorted.sort_unstable();
        assert_eq!(
            sorted,
            [
                [TriangleFeature::Corner(0), TriangleFeature::Corner(0)],
                [TriangleFeature::Corner(1), TriangleFeature::Side(1)]
            ]
        );
        let touching = triangle([[1.0, 1.0, 0.0], [2.0, 2.0, 1.0], [0.0, 0.0, 3.0]]);
        assert_eq!(crossing(&touching, &floor), None);
    }

    #[test]
    fn grid_triangles_agree_with_the_other_segment_and_with_themselves_exchanged() {
        let mut crossings = 0;
        let rounds = 20_000;
        for round in 0..rounds {
            let point = |k: u64| {
                let at = |c: u64| (bits(round, 3 * k + c) % 5) as f64;
                DVec3::new(at(0), at(1), at(2))
            };
            let [a, b] = [[0, 1, 2], [3, 4, 5]].map(|t| t.map(point));
            let found = crossing(&a, &b);
            let told = segment(&a, &b).filter(|[p, q]| p.distance(*q) > 1e-9);
            assert_eq!(found.is_some(), told.is_some(), "{a:?} {b:?}");
            let exchanged = crossing(&b, &a);
            assert_eq!(found.is_some(), exchanged.is_some());
            let (Some([p, q]), Some([r, s]), Some(mut told)) = (found, exchanged, told) else {
                assert_ne!(classify(&a, &b), TriangleRelation::Cross);
                continue;
            };
            crossings += 1;
            let along = (a[1] - a[0]).cross(a[2] - a[0]).cross((b[1] - b[0]).cross(b[2] - b[0]));
            assert!((q.point - p.point).dot(along) > 0.0);
            // The other order of the normals turns the line.
            assert_eq!([p.on, q.on], [s.on, r.on].map(|[x, y]| [y, x]));
            if (told[1] - told[0]).dot(along) < 0.0 {
                told.swap(0, 1);
            }
            assert!((told[0] - p.point).length() < 1e-12 && (told[1] - q.point).length() < 1e-12);
            for end in [p, q] {
                for (part, t) in end.on.into_iter().zip([a, b]) {
                    check_part(part, &t, end.point);
                }
            }
        }
        assert!((rounds / 10..rounds / 2).contains(&crossings), "{crossings} of {rounds}");
    }

    /// The point lies on the part, as far as floats can tell.
    fn check_part(part: TriangleFeature, t: &[DVec3; 3], p: DVec3) {
        let n = (t[1] - t[0]).cross(t[2] - t[0]);
        let weight = |k: usize| (t[(k + 2) % 3] - t[(k + 1) % 3]).cross(p - t[(k + 1) % 3]).dot(n) / n.dot(n);
        let zero = |k: u8| weight(usize::from(k)).abs() < 1e-12;
        let off = |k: u8| weight(usize::from(k)) > 1e-9;
        let holds = match part {
            TriangleFeature::Corner(k) => zero((k + 1) % 3) && zero((k + 2) % 3),
            TriangleFeature::Side(k) => zero((k + 2) % 3) && off(k) && off((k + 1) % 3),
            TriangleFeature::Inside => off(0) && off(1) && off(2),
        };
        assert!(holds, "{part:?} of {t:?} at {p}");
    }
}
