//! Whether two crossing triangles are the only sheets of their surfaces where they cross: then each surface winds
//! differently on its two sides there, and one quarter around the crossing is in both solids.
//!
//! Only triangles through one point of the crossing matter. The point is taken in the middle of the common segment, in
//! floats, within a proved error; other triangles near it are mostly passed over by their planes. Where the error is too
//! large to be told, all triangles are asked that cover a part of the crossing ones.
//!
//! The error, with u = 2⁻⁵³ and R the largest coordinate of any corner relative to the first one:
//! - a height over a plane, (e × f)·w with e, f and w differences of corners: their components are at most 2R and wrong
//!   by 2u of that, those of e × f at most 8R² and wrong by 6u of that, a height is wrong by less than
//!   3·8R²·2R·(6 + 2 + 3)u = 528u·R³. `HEIGHT` takes 1024u;
//! - an edge meets a plane at its share h/(h − h') of the way. The heights have different signs, so the share is wrong
//!   by less than 2·1024u·R³/|h − h'| + 3u, and the point, an edge being at most 2R long, by δ = R·(4·1024u·R³/|h − h'| +
//!   16u);
//! - the four such points lie on one line, and the two in the middle of them are the ends of the segment. Points taken
//!   in the wrong order lie within 2δ on the axis along which the line is steepest, so also on the others: the ends are
//!   wrong by little more than 3δ at most, and so is the middle. The spot takes 4δ, and 4u for the way back to the world.

use std::ops::ControlFlow;

use glam::DVec3;

use super::placed_mesh::PlacedMesh;
use crate::geom::triangle_triangle::{TriangleRelation, classify};
use crate::num::predicate::Plane;

/// What rounding can do to a height over a plane, relative to R³ (no unit): 1024·2⁻⁵³.
const HEIGHT: f64 = 512.0 * f64::EPSILON;
/// Triangles smaller than this are not measured (world units): products of four such lengths lose no digits yet.
const SMALLEST: f64 = 1e-60;

/// A point, and how far the one that is meant can be from it on any axis.
struct Spot {
    at: DVec3,
    within: f64,
}

/// Whether, somewhere on the segment that two crossing triangles share, no other triangle of either body covers them.
pub(super) fn is_single(a: &PlacedMesh<'_>, t: u32, b: &PlacedMesh<'_>, u: u32) -> bool {
    let corners = [a.corners(t), b.corners(u)];
    if let Some(spot) = middle_of_crossing(&corners)
        && is_alone_at(&spot, a, t, &corners[0])
        && is_alone_at(&spot, b, u, &corners[1])
    {
        return true;
    }
    // Where they can meet at all.
    let bounds = |[p, q, r]: [DVec3; 3]| [p.min(q).min(r), p.max(q).max(r)];
    let [[low_t, high_t], [low_u, high_u]] = corners.map(bounds);
    let region = [low_t.max(low_u), high_t.min(high_u)];
    is_covered_by_none(a, t, &corners[0], region) && is_covered_by_none(b, u, &corners[1], region)
}

/// Whether no other triangle of the body that has a point in the spot covers a part of this one.
fn is_alone_at(spot: &Spot, body: &PlacedMesh<'_>, own: u32, corners: &[DVec3; 3]) -> bool {
    let mut alone = true;
    body.through_spot(spot.at - spot.within, spot.at + spot.within, |other| {
        alone = other == own || {
            let others = body.corners(other);
            is_beside(spot, &others) || !covers(&others, corners)
        };
        if alone { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    alone
}

/// Whether no other triangle of the body that reaches the region covers a part of this one.
fn is_covered_by_none(
    body: &PlacedMesh<'_>,
    own: u32,
    corners: &[DVec3; 3],
    [low, high]: [DVec3; 2],
) -> bool {
    let mut single = true;
    body.in_region(low, high, |other| {
        single = other == own || !covers(&body.corners(other), corners);
        if single { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    single
}

/// Whether a triangle covers a part of another one.
fn covers(others: &[DVec3; 3], corners: &[DVec3; 3]) -> bool {
    // Nearly every triangle has a corner off the plane of the other; a shared one is in it, and asking would be slow.
    let plane = Plane::through(corners[0], corners[1], corners[2]);
    !others.iter().any(|p| !corners.contains(p) && !plane.side(*p).is_zero())
        && classify(corners, others) == TriangleRelation::Coplanar
}

/// Whether the plane of a triangle surely passes beside the spot.
fn is_beside(spot: &Spot, [p, q, r]: &[DVec3; 3]) -> bool {
    let (e, f, way) = (*q - *p, *r - *p, spot.at - *p);
    let normal = e.cross(f);
    let size = e.abs().max(f.abs()).max(way.abs()).max_element() + spot.within;
    let doubt = normal.abs().element_sum() * spot.within * (1.0 + HEIGHT) + HEIGHT * size * size * size;
    // False where a number is none.
    normal.dot(way).abs() > doubt
}

/// The middle of the segment that two crossing triangles share; `None` where rounding hides the sign of a height.
fn middle_of_crossing([t, u]: &[[DVec3; 3]; 2]) -> Option<Spot> {
    let origin = t[0];
    let (t, u) = (t.map(|p| p - origin), u.map(|p| p - origin));
    let farthest = |three: &[DVec3; 3]| three[0].abs().max(three[1].abs()).max(three[2].abs());
    let reach = farthest(&t).max(farthest(&u)).max_element();
    let doubt = HEIGHT * reach * reach * reach;
    let normal = |[p, q, r]: &[DVec3; 3]| (*q - *p).cross(*r - *p);
    let (normal_t, normal_u) = (normal(&t), normal(&u));
    if !(reach > SMALLEST) {
        return None;
    }
    let (ends_t, thin_t) = chord(&t, |p| normal_u.dot(p - u[0]), doubt)?;
    let (ends_u, thin_u) = chord(&u, |p| normal_t.dot(p), doubt)?;
    let error = reach * (4.0 * doubt / thin_t.min(thin_u) + 8.0 * f64::EPSILON);
    let line = normal_t.cross(normal_u).abs();
    let axis = line.max_position();
    // Normals are wrong by less than a twentieth of `HEIGHT`·R²: the line runs along the axis, within some hundredths.
    let largest = normal_t.abs().max(normal_u.abs()).max_element();
    if !(line[axis] > 16.0 * HEIGHT * reach * reach * largest) {
        return None;
    }
    let [[from_t, to_t], [from_u, to_u]] =
        [ends_t, ends_u].map(|[p, q]| if p[axis] <= q[axis] { [p, q] } else { [q, p] });
    let from = if from_t[axis] >= from_u[axis] { from_t } else { from_u };
    let to = if to_t[axis] <= to_u[axis] { to_t } else { to_u };
    let at = origin + 0.5 * (from + to);
    let within = 4.0 * error + 2.0 * f64::EPSILON * (origin.abs().max_element() + reach);
    // False where a number is none.
    (within < f64::MAX).then_some(Spot { at, within })
}

/// Where the border of a triangle passes the plane over which its corners have the given heights, and the smaller
/// difference of the heights at the ends of an edge that does; `None` where a sign is in doubt or all are equal.
fn chord(corners: &[DVec3; 3], height: impl Fn(DVec3) -> f64, doubt: f64) -> Option<([DVec3; 2], f64)> {
    let heights = corners.map(height);
    // Negated, so that a number that is none is in doubt.
    if !heights.iter().all(|h| h.abs() > doubt) {
        return None;
    }
    let above = heights.map(|h| h > 0.0);
    // The corner that is alone on its side.
    let alone = match above {
        [x, y, z] if x == y && y == z => return None,
        [x, y, _] if x == y => 2,
        [x, _, z] if x == z => 1,
        _ => 0,
    };
    let (from, h) = (corners[alone], heights[alone]);
    let end = |k: usize| from + (corners[k] - from) * (h / (h - heights[k]));
    let [j, k] = [(alone + 1) % 3, (alone + 2) % 3];
    Some(([end(j), end(k)], (h - heights[j]).abs().min((h - heights[k]).abs())))
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg32;

    use super::*;
    use crate::model::Model;
    use crate::{Mesh, Pose};

    /// Whether the box of the spot meets both planes: the exact heights of its corners have both signs over each.
    fn is_near_the_exact_segment(spot: &Spot, corners: &[[DVec3; 3]; 2]) -> bool {
        corners.iter().all(|[p, q, r]| {
            let signs: Vec<i32> = (0..8)
                .map(|k: u32| {
                    let side = |bit: u32| if k >> bit & 1 == 0 { -spot.within } else { spot.within };
                    let x = spot.at + DVec3::new(side(0), side(1), side(2));
                    crate::num::predicate::orient3d(*p, *q, *r, x) as i32
                })
                .collect();
            signs.iter().any(|&s| s >= 0) && signs.iter().any(|&s| s <= 0)
        })
    }

    #[test]
    fn the_spot_holds_a_point_of_both_planes_and_is_small() {
        let mut random = Pcg32::seed_from_u64(5);
        let mut point = |size: f64, at: f64| {
            DVec3::from_array(std::array::from_fn(|_| at + size * random.random_range(-1.0..1.0)))
        };
        let (mut told, mut crossing) = (0, 0);
        for round in 0..40_000 {
            let at = [0.0, 1.0, 1e3, 1e6][round % 4];
            let corners = [0, 1].map(|_| [0, 1, 2].map(|_| point(1e-2, at)));
            if classify(&corners[0], &corners[1]) != TriangleRelation::Cross {
                continue;
            }
            crossing += 1;
            let Some(spot) = middle_of_crossing(&corners) else { continue };
            told += usize::from(spot.within < 1e-4);
            assert!(is_near_the_exact_segment(&spot, &corners), "{corners:?}");
        }
        assert!(crossing > 2000 && told > crossing * 9 / 10, "{told} of {crossing}");
    }

    /// A triangle across another one, and further triangles in the first one's body.
    fn single(others: &[[DVec3; 3]]) -> bool {
        let v = |x: f64, y: f64, z: f64| DVec3::new(x, y, z);
        let own = [v(0.0, 0.0, 0.0), v(4.0, 0.0, 0.0), v(0.0, 4.0, 0.0)];
        let across = [v(1.0, -1.0, -1.0), v(1.0, 8.0, -1.0), v(1.0, 1.0, 3.0)];
        let mesh = |all: &[[DVec3; 3]]| {
            let indices = (0..all.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
            Model::from(Mesh::from_points(all.concat(), indices).unwrap())
        };
        let (a, b) = (mesh(&[&[own], others].concat()), mesh(&[across]));
        let pose = Pose::IDENTITY;
        let bodies = [PlacedMesh::new(&a, &pose), PlacedMesh::new(&b, &pose)];
        is_single(&bodies[0], 0, &bodies[1], 0) && is_single(&bodies[1], 0, &bodies[0], 0)
    }

    #[test]
    fn a_second_sheet_over_the_crossing_is_seen() {
        let v = |x: f64, y: f64, z: f64| DVec3::new(x, y, z);
        assert!(single(&[]));
        // A copy, the other way round.
        assert!(!single(&[[v(0.0, 0.0, 0.0), v(0.0, 4.0, 0.0), v(4.0, 0.0, 0.0)]]));
        // In the same plane over all of the crossing.
        assert!(!single(&[[v(-9.0, -9.0, 0.0), v(9.0, -9.0, 0.0), v(0.0, 30.0, 0.0)]]));
        // In the same plane beside it, and above.
        assert!(single(&[[v(0.0, 0.0, 0.0), v(0.5, 0.0, 0.0), v(0.0, 0.5, 0.0)]]));
        assert!(single(&[[v(0.0, 0.0, 0.1), v(4.0, 0.0, 0.1), v(0.0, 4.0, 0.1)]]));
        // Across it.
        assert!(single(&[[v(0.0, 1.5, -1.0), v(4.0, 1.5, -1.0), v(0.0, 1.5, 2.0)]]));
    }
}
