//! That two triangles touched, though at no time that was looked at do they meet: they have passed through each
//! other.
//!
//! Seen along a fixed direction, a point within a triangle leaves it only over its rim, and two crossing edges stop
//! crossing only where an end comes to the other edge. When all these are farther than anything moves, a height that
//! changes its sign was zero in between. Where rims lie on rims nothing can be proved this way.

use glam::DVec3;

use crate::geom::point_triangle::norm;
use crate::num::tolerance::NEARLY_PARALLEL;

/// How much above rounding a height must be to have a sign (no unit): a normal loses at most three digits.
const SURE: f64 = 1024.0;

/// Whether two triangles, given before and after, certainly touched in between. No point moves by more than `moved`
/// in that time; `noise` is what rounding can do to the distance of two points.
pub(super) fn passes_through(ends: [[[DVec3; 3]; 2]; 2], moved: f64, noise: f64) -> bool {
    let room = 2.0 * moved + SURE * noise;
    let crosses = |heights: Option<[f64; 2]>| {
        heights.is_some_and(|[first, last]| {
            first.abs().min(last.abs()) > SURE * noise && (first > 0.0) != (last > 0.0)
        })
    };
    let corner = |k: usize, i: usize| crosses(above(ends.map(|end| (end[k][i], end[1 - k])), room));
    let edge = |triangle: &[DVec3; 3], i: usize| [triangle[i], triangle[(i + 1) % 3]];
    let edges = |i: usize, j: usize| crosses(over(ends.map(|[a, b]| (edge(&a, i), edge(&b, j))), room));
    (0..3).any(|i| corner(0, i) || corner(1, i) || (0..3).any(|j| edges(i, j)))
}

/// The heights of a point above a triangle before and after, if it keeps within it.
fn above([before, after]: [(DVec3, [DVec3; 3]); 2], room: f64) -> Option<[f64; 2]> {
    let [first, last] =
        [before, after].map(|(_, [a, b, c])| unit_across(b - a, c - a)).map(Option::unwrap_or_default);
    let (p, [a, b, c]) = before;
    let within = [(a, b), (b, c), (c, a)].into_iter().all(|(from, to)| {
        let inward = first.cross(to - from);
        inward.dot(p - from) > room * norm(inward)
    });
    // Along the first normal the heights have the signs of those along either.
    (within && first.dot(last) > 0.0).then(|| [first.dot(p - a), last.dot(after.0 - after.1[0])])
}

/// How far an edge passes over another before and after, if they keep crossing as seen along the normal of both.
fn over([before, after]: [([DVec3; 2], [DVec3; 2]); 2], room: f64) -> Option<[f64; 2]> {
    let [first, last] =
        [before, after].map(|(e, f)| unit_across(e[1] - e[0], f[1] - f[0])).map(Option::unwrap_or_default);
    let (e, f) = before;
    let parts = |[from, to]: [DVec3; 2], ends: [DVec3; 2]| {
        let side = first.cross(to - from);
        let [s, t] = ends.map(|x| side.dot(x - from));
        s.min(t) < -room * norm(side) && s.max(t) > room * norm(side)
    };
    let height = |n: DVec3, (e, f): ([DVec3; 2], [DVec3; 2])| n.dot(f[0] - e[0]);
    (parts(e, f) && parts(f, e) && first.dot(last) > 0.0)
        .then(|| [height(first, before), height(last, after)])
}

/// The direction across two others that are not nearly parallel.
fn unit_across(u: DVec3, v: DVec3) -> Option<DVec3> {
    let [u, v] = [u.try_normalize()?, v.try_normalize()?];
    let across = u.cross(v);
    (across.length_squared() > NEARLY_PARALLEL).then(|| across.normalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangle(height: f64, size: f64) -> [DVec3; 3] {
        [[0.0, 0.0], [size, 0.0], [0.0, size]]
            .map(|[x, y]| DVec3::new(x - size / 3.0, y - size / 3.0, height))
    }

    #[test]
    fn only_what_passes_within_the_rim_is_proved() {
        let pass = |size: f64, from: f64, to: f64, moved: f64| {
            let at = |h: f64| [triangle(h, size), triangle(0.0, 1.0)];
            passes_through([at(from), at(to)], moved, 1e-15)
        };
        // A corner within a face, in both orders, and edges that cross.
        assert!(pass(0.5, 1e-6, -1e-6, 1e-5) && pass(2.0, -1e-6, 1e-6, 1e-5));
        assert!(!pass(0.5, 2e-6, 1e-6, 1e-5), "it stays above");
        assert!(!pass(1.0, 1e-6, -1e-6, 1e-5), "rim on rim");
        assert!(!pass(0.5, 1e-6, -1e-6, 1.0), "it may have gone round");
        let turned =
            |h: f64| [triangle(h, 1.0).map(|p| DVec3::new(-p.y - 0.1, p.x - 0.1, p.z)), triangle(0.0, 1.0)];
        assert!(passes_through([turned(1e-6), turned(-1e-6)], 1e-5, 1e-15));
        let beside = |h: f64| [triangle(h, 1.0).map(|p| p + DVec3::X * 2.0), triangle(0.0, 1.0)];
        assert!(!passes_through([beside(1e-6), beside(-1e-6)], 1e-5, 1e-15));
    }
}
