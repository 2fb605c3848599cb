//! The end of a descent: the triangles of two facets of the floor against each other.

use smallvec::SmallVec;

use super::posed::Posed;
use super::self_pair::folding_way;
use super::shells::{Facet, Shells};
use super::triangle_pair::{Meeting, Triangle, meeting};
use crate::contact::Counters;
use crate::geom::triangle_triangle::meet_in_one_surface;
use crate::num::each::Each;

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
    let [x, y, z] = triangle.corners.each(|p| (p - facet.centre).dot(facet.normal));
    let slab = (x.min(y).min(z) - facet.outer).max(facet.inner - x.max(y).max(z));
    let centre = triangle.centre();
    let radius = triangle.corners.each(|p| p.distance_squared(centre)).into_iter().fold(0.0, f64::max).sqrt();
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
    let (mut least, mut first) = (f64::INFINITY, None);
    let tests = each_of_one(body, indices, levels, pad, |pair, found| {
        match found {
            Meeting::Meet => first = Some(pair),
            Meeting::Apart(gap) => least = least.min(gap),
        }
        first.is_none()
    });
    work.primitive_tests += tests;
    first.map_or(Cell::Apart(least), Cell::Meet)
}

/// All self-intersections of triangles below two facets.
pub(super) fn all_of_one(
    body: &Posed<'_>,
    indices: [u32; 2],
    levels: [u8; 2],
    pad: f64,
) -> SmallVec<[[u32; 2]; 8]> {
    let mut all = SmallVec::new();
    each_of_one(body, indices, levels, pad, |pair, found| {
        if found == Meeting::Meet {
            all.push(pair);
        }
        true
    });
    all
}

/// Every pair of triangles below two facets of one mesh and whether it is a self-intersection, until one is told to be
/// the last; how many they were.
fn each_of_one(
    body: &Posed<'_>,
    indices: [u32; 2],
    levels: [u8; 2],
    pad: f64,
    mut goes_on: impl FnMut([u32; 2], Meeting) -> bool,
) -> u64 {
    let same = (indices[0], levels[0]) == (indices[1], levels[1]);
    let place = |t: &u32| (*t, body.triangle(*t));
    let own: SmallVec<[(u32, Triangle); 8]> =
        triangles(body.shells, levels[0], &indices[0]).iter().map(place).collect();
    let mut tests = 0;
    for (u, b) in triangles(body.shells, levels[1], &indices[1]).iter().map(place) {
        for (t, a) in own.iter().filter(|(t, _)| !same || *t < u) {
            tests += 1;
            if !goes_on([*t, u], self_meeting(body, [*t, u], [a, &b], pad)) {
                return tests;
            }
        }
    }
    tests
}

/// Whether two triangles of one mesh count as a self-intersection, and how far vertices may come nearer to each other
/// otherwise before they can.
fn self_meeting(body: &Posed<'_>, [t, u]: [u32; 2], [a, b]: [&Triangle; 2], pad: f64) -> Meeting {
    let touch = a.corners.iter().any(|p| b.corners.contains(p));
    let found = if touch { neighbours(body, [t, u], [a, b], pad) } else { meeting(a, b, pad, 0.0) };
    match found {
        Meeting::Meet if meets_itself(a, b) => Meeting::Meet,
        Meeting::Meet => Meeting::Apart(0.0),
        apart @ Meeting::Apart(_) => apart,
    }
}

/// The same for two with a common corner: those with one meet elsewhere only if the side opposite to it in one of them
/// meets the other, those with two only when one is folded onto the other. Corners at the same place that are not the
/// same vertex may part.
fn neighbours(body: &Posed<'_>, [t, u]: [u32; 2], [a, b]: [&Triangle; 2], pad: f64) -> Meeting {
    let [va, vb] = [t, u].each(|t| body.shells.levels[0].corners[t as usize]);
    let common = |k: usize| vb.iter().position(|&v| v == va[k]).map(|l| (k, l));
    let shared: SmallVec<[(usize, usize); 3]> = (0..3).filter_map(common).collect();
    let places = a.corners.iter().filter(|p| b.corners.contains(p)).count();
    match shared[..] {
        [(k, l)] if places == 1 => {
            let opposite = |of: &Triangle, k: usize| {
                let [p, q] = [of.corners[(k + 1) % 3], of.corners[(k + 2) % 3]];
                Triangle::new([p, q, q])
            };
            match (meeting(&opposite(a, k), b, pad, 0.0), meeting(&opposite(b, l), a, pad, 0.0)) {
                (Meeting::Apart(x), Meeting::Apart(y)) => Meeting::Apart(x.min(y)),
                _ => Meeting::Meet,
            }
        }
        [_, _] if places == 2 => match folding_way(a, b) {
            way if way > 0.0 => Meeting::Apart(way),
            _ => Meeting::Meet,
        },
        _ => Meeting::Meet,
    }
}

/// Whether two triangles of one mesh count as a self-intersection.
pub(super) fn meets_itself(a: &Triangle, b: &Triangle) -> bool {
    let (a, b) = (&a.corners, &b.corners);
    let shared = |k: usize| b.iter().position(|p| *p == a[k]).map(|l| (k, l));
    meet_in_one_surface(a, b, (0..3).filter_map(shared))
}
