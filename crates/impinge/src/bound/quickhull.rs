//! The convex hull of points in space, after Barber, Dobkin and Huhdanpaa ("The quickhull algorithm for
//! convex hulls", 1996), with every side decided exactly: a point is dropped only when it is in the hull
//! of the corners, so the hull of what is returned holds all points given.
//!
//! Where we leave the paper: facets stay triangles; coplanar points count as not visible, which keeps
//! the boundary of the visible part a simple loop; flat sets are handed to the chain of Andrew (1979) in
//! the plane, sets on a line to their two ends.

use std::collections::HashMap;

use glam::DVec3;

use crate::num::predicate::{Plane, Sign, drop_axis, orient2d};

/// A triangle of the growing hull, its plane outward.
struct Facet {
    corners: [usize; 3],
    plane: Plane,
    /// Points above this facet that no other facet claims.
    above: Vec<usize>,
    alive: bool,
}

impl Facet {
    fn new(points: &[DVec3], corners: [usize; 3]) -> Facet {
        let [a, b, c] = corners.map(|i| points[i]);
        Facet { corners, plane: Plane::through(a, b, c), above: Vec::new(), alive: true }
    }

    fn sees(&self, p: DVec3) -> bool {
        self.plane.side(p) == Sign::Positive
    }
}

/// The corners of the hull of points, a subset of them in ascending order of coordinates.
pub(super) fn corners(points: &[DVec3]) -> Vec<DVec3> {
    let points = distinct(points);
    match facets(&points) {
        Hulled::Solid(triangles) => {
            let mut used: Vec<usize> = triangles.into_flattened();
            used.sort_unstable();
            used.dedup();
            used.into_iter().map(|i| points[i]).collect()
        }
        Hulled::Flat(loop_) => loop_.into_iter().map(|i| points[i]).collect(),
    }
}

/// Surface and volume of the hull of points, in floats; both sides of a flat hull count.
pub(super) fn measure(points: &[DVec3]) -> (f64, f64) {
    let points = distinct(points);
    let area = |[a, b, c]: [usize; 3]| (points[b] - points[a]).cross(points[c] - points[a]).length() / 2.0;
    match facets(&points) {
        Hulled::Solid(triangles) => {
            let six = |[a, b, c]: [usize; 3]| {
                let o = points[0];
                (points[a] - o).dot((points[b] - o).cross(points[c] - o))
            };
            let volume = triangles.iter().map(|&t| six(t)).sum::<f64>() / 6.0;
            (triangles.into_iter().map(area).sum(), volume.max(0.0))
        }
        Hulled::Flat(loop_) => {
            let fan = loop_.windows(2).map(|w| area([loop_[0], w[0], w[1]])).sum::<f64>();
            (2.0 * fan, 0.0)
        }
    }
}

enum Hulled {
    Solid(Vec<[usize; 3]>),
    /// The corners of a polygon in order, the ends of a segment, or one point.
    Flat(Vec<usize>),
}

fn distinct(points: &[DVec3]) -> Vec<DVec3> {
    let mut points = points.to_vec();
    // −0 and 0 are one coordinate.
    points.iter_mut().for_each(|p| *p += DVec3::ZERO);
    points.sort_by(|p, q| p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)).then(p.z.total_cmp(&q.z)));
    points.dedup();
    points
}

fn facets(points: &[DVec3]) -> Hulled {
    let last = points.len() - 1;
    let Some((third, axis)) = off_line(points, 0, last) else {
        return Hulled::Flat(if last == 0 { vec![0] } else { vec![0, last] });
    };
    let base = Facet::new(points, [0, last, third]);
    let Some(apex) = farthest(points, &base, 0..points.len()) else {
        return Hulled::Flat(chain(points, axis));
    };
    let base = if base.sees(points[apex]) { [0, third, last] } else { [0, last, third] };
    Hulled::Solid(grow(points, base, apex))
}

/// A point off the line through two others, far from it, and an axis along which the three still span a
/// triangle.
fn off_line(points: &[DVec3], a: usize, b: usize) -> Option<(usize, usize)> {
    let along = points[b] - points[a];
    let area = |i: usize| along.cross(points[i] - points[a]).length_squared();
    let spans = |i: usize| {
        (0..3).find(|&axis| {
            let [p, q, r] = [a, b, i].map(|i| drop_axis(points[i], axis));
            !orient2d(p, q, r).is_zero()
        })
    };
    let best = (0..points.len()).max_by(|&i, &j| area(i).total_cmp(&area(j)))?;
    // The float guess may fail for needles; then any point will do.
    spans(best)
        .map(|axis| (best, axis))
        .or_else(|| (0..points.len()).find_map(|i| spans(i).map(|axis| (i, axis))))
}

/// The point of a facet's off-plane points that is highest, in floats.
fn farthest(points: &[DVec3], facet: &Facet, among: impl Iterator<Item = usize>) -> Option<usize> {
    let corner = points[facet.corners[0]];
    let height = |i: usize| facet.plane.normal().dot(points[i] - corner).abs();
    among.filter(|&i| !facet.plane.side(points[i]).is_zero()).max_by(|&i, &j| height(i).total_cmp(&height(j)))
}

fn grow(points: &[DVec3], base: [usize; 3], apex: usize) -> Vec<[usize; 3]> {
    let [a, b, c] = base;
    let mut facets: Vec<Facet> = [[a, b, c], [b, a, apex], [c, b, apex], [a, c, apex]]
        .into_iter()
        .map(|corners| Facet::new(points, corners))
        .collect();
    // The facet on the left of each directed edge.
    let mut left: HashMap<(usize, usize), usize> = HashMap::new();
    for (f, facet) in facets.iter().enumerate() {
        left.extend(edges(facet.corners).map(|e| (e, f)));
    }
    assign(points, &mut facets, 0..4, (0..points.len()).collect());
    // Newest first: that is where the points are.
    while let Some(f) = facets.iter().rposition(|f| f.alive && !f.above.is_empty()) {
        let above = facets[f].above.iter().copied();
        let Some(top) = farthest(points, &facets[f], above) else { break };
        let (visible, horizon) = visible_from(points, &facets, &left, f, top);
        let mut orphans = Vec::new();
        for &v in &visible {
            facets[v].alive = false;
            orphans.append(&mut facets[v].above);
            for e in edges(facets[v].corners) {
                left.remove(&e);
            }
        }
        let first = facets.len();
        for &(p, q) in &horizon {
            let facet = Facet::new(points, [p, q, top]);
            left.extend(edges(facet.corners).map(|e| (e, facets.len())));
            facets.push(facet);
        }
        let fresh = first..facets.len();
        orphans.retain(|&i| i != top);
        assign(points, &mut facets, fresh, orphans);
    }
    facets.iter().filter(|f| f.alive).map(|f| f.corners).collect()
}

fn edges([a, b, c]: [usize; 3]) -> [(usize, usize); 3] {
    [(a, b), (b, c), (c, a)]
}

/// Gives each point to the first facet that sees it, the fresh ones first; a point that none sees is
/// inside for good. A point of a removed facet may be seen only by an older one, so all are asked.
fn assign(points: &[DVec3], facets: &mut [Facet], fresh: std::ops::Range<usize>, of: Vec<usize>) {
    for i in of {
        let owner =
            fresh.clone().chain(0..fresh.start).find(|&f| facets[f].alive && facets[f].sees(points[i]));
        if let Some(owner) = owner {
            facets[owner].above.push(i);
        }
    }
}

/// The facets that see a point, found from one of them, and the directed edges around them.
fn visible_from(
    points: &[DVec3],
    facets: &[Facet],
    left: &HashMap<(usize, usize), usize>,
    start: usize,
    top: usize,
) -> (Vec<usize>, Vec<(usize, usize)>) {
    let (mut visible, mut horizon, mut next) = (vec![start], Vec::new(), 0);
    while next < visible.len() {
        for (p, q) in edges(facets[visible[next]].corners) {
            let Some(&other) = left.get(&(q, p)) else { continue };
            if visible.contains(&other) {
                continue;
            }
            if facets[other].sees(points[top]) {
                visible.push(other);
            } else {
                horizon.push((p, q));
            }
        }
        next += 1;
    }
    (visible, horizon)
}

/// The hull of coplanar points (sorted by coordinates), seen along an axis that does not flatten them.
fn chain(points: &[DVec3], axis: usize) -> Vec<usize> {
    let flat: Vec<_> = points.iter().map(|&p| drop_axis(p, axis)).collect();
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&i, &j| flat[i].x.total_cmp(&flat[j].x).then(flat[i].y.total_cmp(&flat[j].y)));
    let half = |order: &mut dyn Iterator<Item = usize>| {
        let mut hull: Vec<usize> = Vec::new();
        for i in order {
            while let [.., a, b] = hull[..] {
                if orient2d(flat[a], flat[b], flat[i]) == Sign::Positive {
                    break;
                }
                hull.pop();
            }
            hull.push(i);
        }
        hull.pop();
        hull
    };
    let mut lower = half(&mut order.iter().copied());
    lower.extend(half(&mut order.iter().rev().copied()));
    lower
}
