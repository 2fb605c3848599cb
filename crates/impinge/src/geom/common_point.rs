//! A point that two meeting triangles share.
//!
//! Two closed triangles that meet share a corner of one, or a point where a side of one passes the plane of the other or
//! crosses a side of it. Which one is decided exactly, and the point is a quotient of exact numbers: every coordinate is
//! right to a few units in its last place, for triangles of any size and shape.

use glam::DVec3;

use super::triangle_distance::nearest;
use super::triangle_distance_exact::nearest_on_lines;
use super::{point_triangle_exact, segment_triangle};
use crate::num::dyadic::Dyadic;
use crate::num::exact_vector::{ExactVec, dot, exact, minus, normal, plus, times};
use crate::num::predicate::{Plane, Sign};

/// A point of both triangles, right to rounding; for triangles that do not meet a point between them.
pub fn common_point(a: &[DVec3; 3], b: &[DVec3; 3]) -> DVec3 {
    shared_corner(a, b).or_else(|| piercing(a, b)).or_else(|| crossing_sides(a, b)).unwrap_or_else(|| {
        let [p, q] = nearest(a, b).points;
        p.midpoint(q)
    })
}

/// A corner of one that lies on the other.
fn shared_corner(a: &[DVec3; 3], b: &[DVec3; 3]) -> Option<DVec3> {
    let on = |t: &[DVec3; 3], other: &[DVec3; 3]| {
        t.iter().copied().find(|&p| point_triangle_exact::contains(other, p))
    };
    on(a, b).or_else(|| on(b, a))
}

/// Where a side of one passes through the other.
fn piercing(a: &[DVec3; 3], b: &[DVec3; 3]) -> Option<DVec3> {
    for (t, other) in [(a, b), (b, a)] {
        let plane = Plane::through(other[0], other[1], other[2]);
        let over = t.map(|p| plane.side(p));
        for side in 0..3 {
            let next = (side + 1) % 3;
            let through = over[side].times(over[next]) == Sign::Negative;
            if through && segment_triangle::meet(t[side], t[next], other) {
                return Some(pierce(t[side], t[next], other));
            }
        }
    }
    None
}

/// Where the segment pq, whose ends lie on different sides, passes the plane of a triangle.
fn pierce(p: DVec3, q: DVec3, triangle: &[DVec3; 3]) -> DVec3 {
    let (normal, origin) = (normal(triangle), exact(triangle[0]));
    let [p, q] = [p, q].map(exact);
    let [high, low] = [&p, &q].map(|x| dot(&normal, &minus(x, &origin)));
    let over = &high - &low;
    rounded(&plus(&times(&over, &p), &times(&high, &minus(&q, &p))), &over)
}

/// Where a side of one crosses a side of the other.
fn crossing_sides(a: &[DVec3; 3], b: &[DVec3; 3]) -> Option<DVec3> {
    let [t, u] = [a, b].map(|corners| corners.map(exact));
    for i in 0..3 {
        let (p, d) = (&t[i], minus(&t[(i + 1) % 3], &t[i]));
        for j in 0..3 {
            let (q, e) = (&u[j], minus(&u[(j + 1) % 3], &u[j]));
            if let Some(found) = nearest_on_lines(p, &d, q, &e).filter(|found| found.height.is_zero()) {
                return Some(rounded(&found.points[0], &found.over));
            }
        }
    }
    None
}

fn rounded(p: &ExactVec, over: &Dyadic) -> DVec3 {
    DVec3::from_array([0, 1, 2].map(|i| p[i].ratio(over)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::triangle_distance_exact;
    use crate::geom::triangle_triangle::meet;
    use crate::num::random::bits;

    /// How far a point is from a triangle, in units in the last place of the triangle's largest coordinate.
    fn off(p: DVec3, t: &[DVec3; 3]) -> f64 {
        let size = t.iter().map(|c| c.abs().max_element()).fold(0.0, f64::max);
        let found = triangle_distance_exact::nearest(&[p; 3], t).distance;
        found / (size * f64::EPSILON).max(f64::from_bits(1))
    }

    fn check(a: &[DVec3; 3], b: &[DVec3; 3]) {
        assert!(meet(a, b));
        let p = common_point(a, b);
        assert!(off(p, a) <= 8.0 && off(p, b) <= 8.0, "{a:?} {b:?}: {p}, {} and {}", off(p, a), off(p, b));
    }

    #[test]
    fn long_triangles() {
        let a = [[1e8, -1.0, 0.5], [1.0, 1.0, 1.0], [1e8, 0.0, 0.0]].map(DVec3::from);
        let b = [[1e8, 1e8, 1e8], [1.0, 1.0, -1.0], [0.1, -1.0, 0.5]].map(DVec3::from);
        check(&a, &b);
        check(&b, &a);
    }

    /// Grids make corners on faces, sides on sides, coplanar triangles and such of no area.
    #[test]
    fn the_point_lies_on_both_at_any_scale() {
        let mut met = 0;
        let rounds = 6000;
        for round in 0..rounds {
            let cells = [3, 5, 1 << 20][round as usize % 3];
            let flat = round % 7 == 0;
            let scale = 2.0_f64.powi([0, 190, -300, -700, -1000, -1022][round as usize / 3 % 6]);
            let point = |k: u64| {
                let at = |c: u64| (bits(round, 3 * k + c) % cells) as f64 * scale;
                DVec3::new(at(0), at(1), if flat { scale } else { at(2) })
            };
            let [a, b] = [[0, 1, 2], [3, 4, 5]].map(|t| t.map(point));
            if meet(&a, &b) {
                check(&a, &b);
                met += 1;
            }
        }
        assert!((rounds / 10..3 * rounds / 4).contains(&met), "{met} of {rounds}");
    }
}
