//! Do two triangles meet, and how? Every decision is the sign of a determinant of the doubles given.
//!
//! After Guigue and Devillers, Fast and robust triangle–triangle overlap test using orientation
//! predicates (2003), with three changes: triangles of zero area count as the segments or points they
//! are; coplanar ones are separated by their edges' lines in one projection; and the signs also tell a
//! crossing from a touch.

use glam::{DVec2, DVec3};
#[cfg(any(test, feature = "unstable"))]
use smallvec::SmallVec;

use super::segment_triangle;
use crate::num::each::Each;
use crate::num::predicate::{Plane, Sign, drop_axis, orient2d, orient3d, orient3d_value};

/// How two closed triangles lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TriangleRelation {
    /// No common point.
    Apart,
    /// A common point, but neither of the two below; always so where a triangle of zero area takes part.
    Touch,
    /// The planes differ and the relative interiors share a point: each surface passes through the other.
    Cross,
    /// In one plane, and the relative interiors share a point: a common part with an area.
    Coplanar,
}

/// Whether the closed triangles share a point.
#[inline]
pub fn meet(a: &[DVec3; 3], b: &[DVec3; 3]) -> bool {
    match plane_sides(a, b) {
        Sides::Apart => false,
        Sides::Across(over_a, over_b) => {
            let (a, b) = canonical(a, b, over_a, over_b);
            orient3d(a[0], a[1], b[0], b[1]) != Sign::Positive
                && orient3d(a[0], a[2], b[2], b[0]) != Sign::Positive
        }
        Sides::FlatA(over_b) => needle_meets(a, over_b, b),
        Sides::FlatB(over_a) => needle_meets(b, over_a, a),
        Sides::Coplanar => coplanar_meet(a, b),
    }
}

/// How the closed triangles meet.
pub fn classify(a: &[DVec3; 3], b: &[DVec3; 3]) -> TriangleRelation {
    let touch = |met: bool| if met { TriangleRelation::Touch } else { TriangleRelation::Apart };
    match plane_sides(a, b) {
        Sides::Apart => TriangleRelation::Apart,
        Sides::Across(over_a, over_b) => {
            let split = |s: &[Sign; 3]| s.contains(&Sign::Positive) && s.contains(&Sign::Negative);
            let both_split = split(&over_a) && split(&over_b);
            let (a, b) = canonical(a, b, over_a, over_b);
            let low = orient3d(a[0], a[1], b[0], b[1]);
            let high = orient3d(a[0], a[2], b[2], b[0]);
            match low.max(high) {
                Sign::Positive => TriangleRelation::Apart,
                Sign::Negative if both_split => TriangleRelation::Cross,
                _ => TriangleRelation::Touch,
            }
        }
        Sides::FlatA(over_b) => touch(needle_meets(a, over_b, b)),
        Sides::FlatB(over_a) => touch(needle_meets(b, over_a, a)),
        Sides::Coplanar => match upright_axis(a).filter(|_| upright_axis(b).is_some()) {
            Some(axis) if coplanar_interiors_meet(a, b, axis) => TriangleRelation::Coplanar,
            _ => touch(coplanar_meet(a, b)),
        },
    }
}

#[cfg(any(test, feature = "unstable"))]
/// The end points of the common segment of two triangles in different planes, in floats; equal ends for
/// a single point, `None` when they do not meet, are coplanar or one has no area.
pub fn segment(a: &[DVec3; 3], b: &[DVec3; 3]) -> Option<[DVec3; 2]> {
    let Sides::Across(over_a, over_b) = plane_sides(a, b) else { return None };
    let (a, b) = canonical(a, b, over_a, over_b);
    let low = orient3d(a[0], a[1], b[0], b[1]);
    let high = orient3d(a[0], a[2], b[2], b[0]);
    if low.max(high) == Sign::Positive {
        return None;
    }
    // On the common line lie, in order, a's interval [i, j] and b's [k, l]: i on a0a2, j on a0a1, k on
    // b0b1, l on b0b2. They overlap, so the segment is [max(i, k), min(j, l)].
    let start = if orient3d(a[0], a[2], b[0], b[1]) == Sign::Negative {
        pierce(a[0], a[2], &b)
    } else {
        pierce(b[0], b[1], &a)
    };
    let end = if orient3d(a[0], a[1], b[0], b[2]) == Sign::Negative {
        pierce(b[0], b[2], &a)
    } else {
        pierce(a[0], a[1], &b)
    };
    Some([start, end])
}

#[cfg(any(test, feature = "unstable"))]
/// The corners of the common polygon of two coplanar triangles, in floats and in order around it; empty
/// when they do not overlap with an area.
pub fn overlap_polygon(a: &[DVec3; 3], b: &[DVec3; 3]) -> SmallVec<[DVec3; 9]> {
    if classify(a, b) != TriangleRelation::Coplanar {
        return SmallVec::new();
    }
    let Some(axis) = upright_axis(a) else { return SmallVec::new() };
    let flat = |p: DVec3| drop_axis(p, axis);
    let turn = f64::from(orient2d(flat(b[0]), flat(b[1]), flat(b[2])) as i8);
    let mut polygon: SmallVec<[DVec3; 9]> = SmallVec::from_slice(a);
    for edge in 0..3 {
        let (p, q) = (flat(b[edge]), flat(b[(edge + 1) % 3]));
        let side = |x: DVec3| (q - p).perp_dot(flat(x) - p) * turn;
        let before = std::mem::take(&mut polygon);
        for (i, &x) in before.iter().enumerate() {
            let y = before[(i + 1) % before.len()];
            let (s, t) = (side(x), side(y));
            if s >= 0.0 {
                polygon.push(x);
            }
            if (s > 0.0 && t < 0.0) || (s < 0.0 && t > 0.0) {
                polygon.push(x + (y - x) * (s / (s - t)));
            }
        }
    }
    polygon
}

/// Whether two triangles with an area that share a corner (`a[ia]` equals `b[ib]`) meet elsewhere too.
pub fn meet_sharing_corner(a: &[DVec3; 3], b: &[DVec3; 3], ia: usize, ib: usize) -> bool {
    debug_assert_eq!(a[ia], b[ib]);
    // A common point spans a common segment with the shared corner, and that segment goes on until it
    // leaves one of the triangles: through the edge opposite the corner.
    segment_triangle::meet(a[(ia + 1) % 3], a[(ia + 2) % 3], b)
        || segment_triangle::meet(b[(ib + 1) % 3], b[(ib + 2) % 3], a)
}

/// Whether the triangles p q ra and p q rb, which share the edge pq, are coplanar and lie on the same
/// side of it.
pub fn folded_over_edge(p: DVec3, q: DVec3, ra: DVec3, rb: DVec3) -> bool {
    orient3d(p, q, ra, rb).is_zero()
        && (0..3).any(|axis| {
            let [p, q, ra, rb] = [p, q, ra, rb].each(|x| drop_axis(x, axis));
            orient2d(p, q, ra).times(orient2d(p, q, rb)) == Sign::Positive
        })
}

/// Whether two triangles of one surface count as a self-intersection: triangles without area and copies of the same three
/// corners never do, two that share a corner do when they meet elsewhere too, two that share an edge only when one is
/// folded onto the other. `shared` are the corners of a that b has too, each with its place in b.
pub(crate) fn meet_in_one_surface(
    a: &[DVec3; 3],
    b: &[DVec3; 3],
    mut shared: impl Iterator<Item = (usize, usize)>,
) -> bool {
    let meets = match (shared.next(), shared.next(), shared.next()) {
        (None, ..) => meet(a, b),
        (Some((k, l)), None, _) => meet_sharing_corner(a, b, k, l),
        // The third corners are those that the shared ones leave: 0 + 1 + 2 = 3. Equal numbers only come
        // from a triangle with two equal corners, which the last line drops.
        (Some((k, l)), Some((m, n)), None) => {
            folded_over_edge(a[k], a[m], a[(6 - k - m) % 3], b[(6 - l - n) % 3])
        }
        _ => false,
    };
    meets && has_area(a) && has_area(b)
}

/// Where the corners of each triangle lie relative to the plane of the other.
pub(super) enum Sides {
    /// One triangle lies strictly on one side of the other's plane.
    Apart,
    /// Both planes exist, differ and are reached: the signs of a's corners over b, and of b's over a.
    Across([Sign; 3], [Sign; 3]),
    /// a has no area and reaches b's plane, but does not lie in it: the signs of a's corners over b.
    FlatA([Sign; 3]),
    /// The same with a and b exchanged.
    FlatB([Sign; 3]),
    /// All signs are zero: in one plane, or both without an area.
    Coplanar,
}

#[inline]
pub(super) fn plane_sides(a: &[DVec3; 3], b: &[DVec3; 3]) -> Sides {
    const ZEROS: [Sign; 3] = [Sign::Zero; 3];
    let plane_a = Plane::through(a[0], a[1], a[2]);
    let over_b = b.each(|p| plane_a.side(p));
    if one_sided(over_b) {
        return Sides::Apart;
    }
    let plane_b = Plane::through(b[0], b[1], b[2]);
    let over_a = a.each(|p| plane_b.side(p));
    if one_sided(over_a) {
        return Sides::Apart;
    }
    // A triangle whose plane sees only zeros has no area, unless the other sees only zeros as well.
    match (over_a == ZEROS, over_b == ZEROS) {
        (false, false) => Sides::Across(over_a, over_b),
        (false, true) => Sides::FlatA(over_a),
        (true, false) => Sides::FlatB(over_b),
        (true, true) => Sides::Coplanar,
    }
}

/// All strictly positive or all strictly negative.
#[inline]
fn one_sided([s, t, u]: [Sign; 3]) -> bool {
    s != Sign::Zero && s == t && t == u
}

/// Both triangles reordered so that the first corner of each lies on the non-negative side of the
/// other's plane and its other two corners on the non-positive side.
#[inline]
pub(crate) fn canonical<P: Copy>(
    a: &[P; 3],
    b: &[P; 3],
    over_a: [Sign; 3],
    over_b: [Sign; 3],
) -> ([P; 3], [P; 3]) {
    let (first_a, up_a) = lone_corner(over_a);
    let (first_b, up_b) = lone_corner(over_b);
    // Turning a round flips the sides of b's corners, and the other way about.
    let order = |t: &[P; 3], first: usize, keep: bool| {
        let (second, third) = ((first + 1) % 3, (first + 2) % 3);
        if keep { [t[first], t[second], t[third]] } else { [t[first], t[third], t[second]] }
    };
    (order(a, first_a, up_b), order(b, first_b, up_a))
}

/// The corner that is alone on its side, and whether that side is the positive one.
#[inline]
pub(super) fn lone_corner(s: [Sign; 3]) -> (usize, bool) {
    let at = |sign: Sign| s.iter().position(|&x| x == sign).unwrap_or(0);
    let count = |sign: Sign| s.iter().filter(|&&x| x == sign).count();
    match (count(Sign::Positive), count(Sign::Negative)) {
        (1, _) => (at(Sign::Positive), true),
        (_, 1) => (at(Sign::Negative), false),
        // A corner in the plane and two on one side: the corner is alone, facing away from them.
        (2, _) => (at(Sign::Zero), false),
        _ => (at(Sign::Zero), true),
    }
}

/// A triangle without area that reaches b's plane but does not lie in it, against b.
fn needle_meets(needle: &[DVec3; 3], over: [Sign; 3], b: &[DVec3; 3]) -> bool {
    // Its extreme corners across the plane; at least one sign is not zero.
    let low = (0..3).min_by_key(|&i| over[i]).unwrap_or(0);
    let high = (0..3).max_by_key(|&i| over[i]).unwrap_or(0);
    segment_triangle::line_pierces(needle[low], needle[high], b)
}

/// Every plane sees only zeros: coplanar triangles, or two without area.
fn coplanar_meet(a: &[DVec3; 3], b: &[DVec3; 3]) -> bool {
    let low = |t: &[DVec3; 3]| t[0].min(t[1]).min(t[2]);
    let high = |t: &[DVec3; 3]| t[0].max(t[1]).max(t[2]);
    if (low(a).cmpgt(high(b)) | low(b).cmpgt(high(a))).any() {
        return false;
    }
    if let Some(axis) = upright_axis(a).or_else(|| upright_axis(b)) {
        return flat_meet(a, b, axis);
    }
    // Two segments or points: on skew lines they are apart, else one of the projections shows it. Boxes
    // decide where all points lie on one line.
    let skew = (0..9).any(|i| {
        let (j, k) = (i / 3, i % 3);
        !orient3d(a[j], a[(j + 1) % 3], b[k], b[(k + 1) % 3]).is_zero()
    });
    !skew && (0..3).all(|axis| flat_meet(a, b, axis))
}

/// Whether the area is not zero, exactly.
pub fn has_area(t: &[DVec3; 3]) -> bool {
    upright_axis(t).is_some()
}

/// The axis to drop so that the triangle keeps an area; `None` when it has none.
pub(crate) fn upright_axis(t: &[DVec3; 3]) -> Option<usize> {
    let first = (t[1] - t[0]).cross(t[2] - t[0]).abs().max_position();
    (0..3).map(|i| (first + i) % 3).find(|&axis| {
        let [p, q, r] = t.each(|x| drop_axis(x, axis));
        !orient2d(p, q, r).is_zero()
    })
}

/// Whether two flat triangles (or segments, or points), whose boxes overlap, share a point.
fn flat_meet(a: &[DVec3; 3], b: &[DVec3; 3], axis: usize) -> bool {
    let (a, b) = (a.each(|p| drop_axis(p, axis)), b.each(|p| drop_axis(p, axis)));
    let strictly = |own: Sign, others: [Sign; 3]| one_sided(others) && own.times(others[0]) != Sign::Positive;
    !an_edge_separates(&a, &b, strictly) && !an_edge_separates(&b, &a, strictly)
}

/// Whether two coplanar triangles, both with an area after dropping the axis, share an area.
fn coplanar_interiors_meet(a: &[DVec3; 3], b: &[DVec3; 3], axis: usize) -> bool {
    let (a, b) = (a.each(|p| drop_axis(p, axis)), b.each(|p| drop_axis(p, axis)));
    let weakly = |own: Sign, others: [Sign; 3]| others.iter().all(|&s| s.times(own) != Sign::Positive);
    !an_edge_separates(&a, &b, weakly) && !an_edge_separates(&b, &a, weakly)
}

/// Whether the line of an edge of `a` separates: `apart` gets the side of a's third corner and those of
/// b's corners. Convex sets in a plane that can be separated can be so along an edge of one of them.
#[inline]
fn an_edge_separates(a: &[DVec2; 3], b: &[DVec2; 3], apart: impl Fn(Sign, [Sign; 3]) -> bool) -> bool {
    (0..3).any(|i| {
        let (p, q, r) = (a[i], a[(i + 1) % 3], a[(i + 2) % 3]);
        apart(orient2d(p, q, r), b.each(|x| orient2d(p, q, x)))
    })
}

/// Where the segment pq passes the plane of t, in floats; p and q lie on different sides or in it.
pub(super) fn pierce(p: DVec3, q: DVec3, t: &[DVec3; 3]) -> DVec3 {
    let height = |x: DVec3| orient3d_value(t[0], t[1], t[2], x);
    let (high, low) = (height(p), height(q));
    let share = high / (high - low);
    // Both zero: the heights underflowed, or the segment lies in the plane.
    if share.is_finite() { p + (q - p) * share.clamp(0.0, 1.0) } else { (p + q) / 2.0 }
}
