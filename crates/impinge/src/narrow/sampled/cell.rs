//! The end of a descent: the triangles of two facets of the floor against each other.

use smallvec::SmallVec;

use super::posed::Posed;
use super::shells::{Facet, Shells};
use super::triangle_pair::{Meeting, Triangle, meeting};
use crate::contact::Counters;
use crate::geom::triangle_triangle::{folded_over_edge, has_area, meet, meet_sharing_corner};

/// The answer about the triangles of two facets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell {
    /// No two of them meet, and they are at least this far apart.
    Apart(f64),
    /// These two meet.
    Meet([u32; 2]),
}

/// A triangle that may reach the other facet.
struct NearTriangle {
    index: u32,
    triangle: Triangle,
    /// About its centre.
    radius: f64,
    /// How far it stays from what holds the others at least; not positive where that is not known.
    gap: f64,
}

/// Triangles of a facet that may reach the other one.
type Near = SmallVec<[NearTriangle; 8]>;

/// The triangles below a facet of the floor: one level down, or the facet itself.
#[inline]
pub(super) fn triangles<'s>(shells: &'s Shells, level: u8, facet: &'s u32) -> &'s [u32] {
    match level {
        0 => std::slice::from_ref(facet),
        _ => shells.levels[usize::from(level)].children.of(*facet),
    }
}

/// Whether triangles of two facets meet, until the first two that do. `patches` hold them; a gap wider than `enough` is
/// not measured any better.
pub(super) fn of_two(
    bodies: &[Posed<'_>; 2],
    indices: [u32; 2],
    levels: [u8; 2],
    patches: &[Facet; 2],
    [pad, enough]: [f64; 2],
    work: &mut Counters,
) -> Cell {
    let mut least = f64::INFINITY;
    let mut near = |k: usize| {
        let mut near = Near::new();
        for &t in triangles(bodies[k].shells, levels[k], &indices[k]) {
            let triangle = bodies[k].triangle(t);
            let (gap, radius) = clearance(&triangle, &patches[1 - k]);
            if gap - pad > enough {
                least = least.min(gap - pad);
            } else {
                near.push(NearTriangle { index: t, triangle, radius, gap: gap - pad });
            }
        }
        near
    };
    let (near_a, near_b) = (near(0), near(1));
    work.volume_tests += 1;
    for a in &near_a {
        for b in &near_b {
            let between = a.triangle.centre().distance(b.triangle.centre()) - a.radius - b.radius - pad;
            let known = between.max(a.gap).max(b.gap);
            if known > enough {
                least = least.min(known);
                continue;
            }
            work.primitive_tests += 1;
            match meeting(&a.triangle, &b.triangle, pad, enough) {
                Meeting::Meet => return Cell::Meet([a.index, b.index]),
                Meeting::Apart(gap) => least = least.min(gap.max(known)),
            }
        }
    }
    Cell::Apart(least)
}

/// How far a triangle stays from the slab of a facet, or from its ball, and the triangle's own radius about its centre.
#[inline]
fn clearance(triangle: &Triangle, facet: &Facet) -> (f64, f64) {
    let [x, y, z] = triangle.corners.map(|p| (p - facet.centre).dot(facet.normal));
    let slab = (x.min(y).min(z) - facet.outer).max(facet.inner - x.max(y).max(z));
    let centre = triangle.centre();
    let radius = triangle.corners.map(|p| p.distance_squared(centre)).into_iter().fold(0.0, f64::max).sqrt();
    // A unit in the last place more: three products, two sums and a root.
    let radius = radius * crate::num::tolerance::ROUND_UP;
    let ball = centre.distance(facet.centre) - radius - super::facet_pair::reach(facet);
    (slab.max(ball), radius)
}

/// Whether triangles of one mesh below two facets meet each other, as self-intersections do.
pub(super) fn of_one(
    body: &Posed<'_>,
    indices: [u32; 2],
    levels: [u8; 2],
    pad: f64,
    work: &mut Counters,
) -> Cell {
    let mut least = f64::INFINITY;
    let own: SmallVec<[(u32, Triangle); 16]> =
        triangles(body.shells, levels[0], &indices[0]).iter().map(|&t| (t, body.triangle(t))).collect();
    for &u in triangles(body.shells, levels[1], &indices[1]) {
        let b = body.triangle(u);
        for (t, a) in &own {
            if (indices[0], levels[0]) == (indices[1], levels[1]) && *t >= u {
                continue;
            }
            work.primitive_tests += 1;
            if shares_a_vertex(body, [*t, u]) {
                if meets_itself(body, [*t, u], [a, &b]) {
                    return Cell::Meet([*t, u]);
                }
                least = 0.0;
                continue;
            }
            match meeting(a, &b, pad, 0.0) {
                Meeting::Meet if has_area(&a.corners) && has_area(&b.corners) => return Cell::Meet([*t, u]),
                Meeting::Meet => least = 0.0,
                Meeting::Apart(gap) => least = least.min(gap),
            }
        }
    }
    Cell::Apart(least)
}

fn shares_a_vertex(body: &Posed<'_>, [t, u]: [u32; 2]) -> bool {
    let corners = &body.shells.levels[0].corners;
    corners[t as usize].iter().any(|v| corners[u as usize].contains(v))
}

/// Whether two triangles of one mesh count as a self-intersection: the rule of `exact/self_intersection`, with
/// corners shared where the vertex is the same or lies at the same place.
pub(super) fn meets_itself(body: &Posed<'_>, [t, u]: [u32; 2], [a, b]: [&Triangle; 2]) -> bool {
    let (a, b) = (&a.corners, &b.corners);
    let [va, vb] = [t, u].map(|t| body.shells.levels[0].corners[t as usize]);
    let same = |k: usize, l: usize| va[k] == vb[l] || a[k] == b[l];
    let mut shared: SmallVec<[(usize, usize); 3]> = SmallVec::new();
    for k in 0..3 {
        shared.extend((0..3).find(|&l| same(k, l)).map(|l| (k, l)));
    }
    let meets = match shared[..] {
        [] => meet(a, b),
        [(k, l)] => meet_sharing_corner(a, b, k, l),
        // The third corners are those that the shared ones leave: 0 + 1 + 2 = 3.
        [(k, l), (m, n)] => folded_over_edge(a[k], a[m], a[(6 - k - m) % 3], b[(6 - l - n) % 3]),
        _ => false,
    };
    meets && has_area(a) && has_area(b)
}
