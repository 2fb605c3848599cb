//! Comparisons of distances with radii in exact numbers, for pairs too close to call in floats.
//!
//! Cores are taken as the triangles of their placed doubles: a point is a triangle with three equal corners, a
//! segment one with two. A squared distance of such features is a quotient of exact numbers, so comparing it
//! with a squared radius is exact too.

use std::cmp::Ordering;

use glam::DVec3;

use crate::geom::triangle_triangle;
use crate::num::dyadic::Dyadic;
use crate::num::exact_vector::{ExactVec, cross, dot, exact, minus};
use crate::num::predicate::{Sign, orient3d};

/// A placed core as triangles.
pub(crate) type Triangles = [[DVec3; 3]];

/// The order of two exact numbers.
pub(crate) fn compare(x: &Dyadic, y: &Dyadic) -> Ordering {
    match (x - y).sign() {
        Sign::Negative => Ordering::Less,
        Sign::Zero => Ordering::Equal,
        Sign::Positive => Ordering::Greater,
    }
}

/// The order of the smallest distance of two sets of triangles and √`square`.
pub(crate) fn compare_distance(a: &Triangles, b: &Triangles, square: &Dyadic) -> Ordering {
    let pairs = a.iter().flat_map(|t| b.iter().map(move |u| (t, u)));
    pairs.map(|(t, u)| triangle_distance(t, u, square)).min().unwrap_or(Ordering::Greater)
}

fn triangle_distance(t: &[DVec3; 3], u: &[DVec3; 3], square: &Dyadic) -> Ordering {
    if triangle_triangle::meet(t, u) {
        return compare(&Dyadic::zero(), square);
    }
    let corners = t.iter().map(|p| point_triangle(*p, u, square));
    let others = u.iter().map(|p| point_triangle(*p, t, square));
    let sides = (0..9).map(|k| {
        let (i, j) = (k / 3, k % 3);
        segments([t[i], t[(i + 1) % 3]], [u[j], u[(j + 1) % 3]], square)
    });
    corners.chain(others).chain(sides).min().unwrap_or(Ordering::Greater)
}

/// The order of the distance of a point from a triangle and √`square`.
pub(crate) fn point_triangle(p: DVec3, t: &[DVec3; 3], square: &Dyadic) -> Ordering {
    let sides = (0..3).map(|k| point_segment(p, [t[k], t[(k + 1) % 3]], square));
    let best = sides.min().unwrap_or(Ordering::Greater);
    let [o, b, c] = t.map(exact);
    let (u, v, d) = (minus(&b, &o), minus(&c, &o), minus(&exact(p), &o));
    let normal = cross(&u, &v);
    let (s, r) = (dot(&cross(&d, &v), &normal), dot(&cross(&u, &d), &normal));
    let whole = dot(&normal, &normal);
    let inside = s.sign() == Sign::Positive
        && r.sign() == Sign::Positive
        && compare(&(&s + &r), &whole) == Ordering::Less;
    if !inside {
        return best;
    }
    let height = dot(&d, &normal);
    best.min(compare(&(&height * &height), &(square * &whole)))
}

/// The order of the distance of a point from a segment and √`square`.
pub(crate) fn point_segment(p: DVec3, [a, b]: [DVec3; 2], square: &Dyadic) -> Ordering {
    let (a, b, p) = (exact(a), exact(b), exact(p));
    let (d, u) = (minus(&p, &a), minus(&b, &a));
    let (along, whole) = (dot(&d, &u), dot(&u, &u));
    if along.sign() != Sign::Positive {
        return compare(&dot(&d, &d), square);
    }
    if compare(&along, &whole) != Ordering::Less {
        let e = minus(&p, &b);
        return compare(&dot(&e, &e), square);
    }
    let across = cross(&d, &u);
    compare(&dot(&across, &across), &(square * &whole))
}

/// The order of the distance of two segments inside both and √`square`; `Greater` where it is taken at an
/// end, which points see.
fn segments([a, b]: [DVec3; 2], [c, d]: [DVec3; 2], square: &Dyadic) -> Ordering {
    let [a, b, c, d] = [a, b, c, d].map(exact);
    let (u, v, between) = (minus(&b, &a), minus(&d, &c), minus(&c, &a));
    let normal = cross(&u, &v);
    let whole = dot(&normal, &normal);
    let s = dot(&cross(&between, &v), &normal);
    let t = dot(&cross(&between, &u), &normal);
    let within = |x: &Dyadic| x.sign() == Sign::Positive && compare(x, &whole) == Ordering::Less;
    if !within(&s) || !within(&t) {
        return Ordering::Greater;
    }
    let height = dot(&between, &normal);
    compare(&(&height * &height), &(square * &whole))
}

/// Whether a point is in the closed solid whose outward triangles these are.
pub(crate) fn holds(solid: &Triangles, p: DVec3) -> bool {
    solid.iter().all(|[a, b, c]| orient3d(*a, *b, *c, p) != Sign::Positive)
}

/// Whether the ball of radius `radius` around a point is in the closed solid of these outward triangles.
pub(crate) fn holds_ball(solid: &Triangles, p: DVec3, radius: &Dyadic) -> bool {
    solid.iter().all(|[a, b, c]| {
        let a = exact(*a);
        let normal = cross(&minus(&exact(*b), &a), &minus(&exact(*c), &a));
        let depth = dot(&minus(&a, &exact(p)), &normal);
        let least = &(radius * radius) * &dot(&normal, &normal);
        depth.sign() != Sign::Negative && compare(&(&depth * &depth), &least) != Ordering::Less
    })
}

/// The order of n·(p − origin) − offset and radius·|n|.
pub(crate) fn compare_height(
    normal: &ExactVec,
    origin: DVec3,
    offset: f64,
    p: DVec3,
    radius: f64,
) -> Ordering {
    let height = &dot(normal, &minus(&exact(p), &exact(origin))) - &Dyadic::from(offset);
    let radius = Dyadic::from(radius);
    let reach = &(&radius * &radius) * &dot(normal, normal);
    match (height.sign(), reach.is_zero()) {
        (Sign::Negative, _) => Ordering::Less,
        (Sign::Zero, true) => Ordering::Equal,
        (Sign::Zero, false) => Ordering::Less,
        (Sign::Positive, _) => compare(&(&height * &height), &reach),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pythagorean_distances_are_equal_and_a_last_bit_is_not() {
        let (o, x) = (DVec3::ZERO, DVec3::X);
        let square = &Dyadic::from(25.0) * &Dyadic::from(1.0);
        let p = DVec3::new(0.5, 3.0, 4.0);
        assert_eq!(point_segment(p, [o, x], &square), Ordering::Equal);
        let nearer = DVec3::new(0.5, 3.0, 4.0_f64.next_down());
        let farther = DVec3::new(0.5, 3.0, 4.0_f64.next_up());
        assert_eq!(point_segment(nearer, [o, x], &square), Ordering::Less);
        assert_eq!(point_segment(farther, [o, x], &square), Ordering::Greater);
        let flat = [[o, x, DVec3::Y]];
        let above = |z: f64| [[DVec3::new(0.2, 0.2, z); 3]];
        assert_eq!(compare_distance(&flat, &above(5.0), &square), Ordering::Equal);
        assert_eq!(compare_distance(&above(5.0_f64.next_up()), &flat, &square), Ordering::Greater);
        // Crossed segments, 5 apart.
        let [up, down] = [[DVec3::new(-1.0, 0.0, 5.0), DVec3::new(1.0, 0.0, 5.0)], [-DVec3::Y, DVec3::Y]];
        let as_triangle = |[a, b]: [DVec3; 2]| [[a, b, b]];
        assert_eq!(compare_distance(&as_triangle(up), &as_triangle(down), &square), Ordering::Equal);
    }

    #[test]
    fn balls_touch_walls_from_within() {
        let corner = |k: u32| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2));
        let cube = crate::shape::Polytope::hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap();
        let mesh = cube.mesh().unwrap();
        let walls: Vec<[DVec3; 3]> = (0..mesh.triangles().len() as u32).map(|t| mesh.corners(t)).collect();
        let middle = DVec3::splat(0.5);
        assert!(holds_ball(&walls, middle, &Dyadic::from(0.5)));
        assert!(!holds_ball(&walls, middle, &Dyadic::from(0.5_f64.next_up())));
        assert!(holds(&walls, DVec3::new(1.0, 0.3, 0.0)));
        assert!(!holds(&walls, DVec3::new(1.0_f64.next_up(), 0.3, 0.0)));
    }
}
