//! The convex hull of points in space, after Barber, Dobkin and Huhdanpaa ("The quickhull algorithm for
//! convex hulls", 1996), with every side decided exactly: what is returned is the hull of the doubles
//! given, whatever their size and however many of them lie on one line or plane.
//!
//! Where we leave the paper: facets stay triangles while the hull grows, and points in the plane of a
//! facet count as not visible. With exact signs the visible part is then bounded by a simple loop, no
//! triangle is degenerate, and a point left over from the removed facets that is still outside is above
//! one of the new ones. Flat sets go to the chain of Andrew (1979), sets on a line to their two ends.

use std::cmp::Ordering;

use glam::DVec3;

use crate::geom::incremental_hull::{Facet, IncrementalHull};
use crate::num::compact_sort::sort_rarely;
use crate::num::each::Each;
use crate::num::predicate::{Plane, PlaneFilter, Sign, drop_axis, orient2d};

/// No point, no facet.
const NONE: u32 = u32::MAX;

/// What distinct points span; indices are those of the points.
#[derive(Debug, Clone, PartialEq)]
pub enum Hull {
    /// One point.
    Point(u32),
    /// The ends of a segment.
    Segment([u32; 2]),
    /// The corners of a flat polygon in order, none on a straight line between others.
    Polygon(Vec<u32>),
    /// A closed surface.
    Solid(Vec<Triangle>),
}

/// A triangle of the surface, anticlockwise seen from outside.
///
/// Coplanar neighbours are not merged, so a corner may lie inside a flat part or on a straight edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Triangle {
    /// Its corners.
    pub corners: [u32; 3],
    /// The triangle across the side from corner k to corner k + 1.
    pub across: [u32; 3],
}

/// Ascending order of coordinates.
pub(crate) fn ascending(p: &DVec3, q: &DVec3) -> Ordering {
    p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)).then(p.z.total_cmp(&q.z))
}

/// Points without repetition in ascending order of coordinates, each with the first index it came under.
pub fn distinct(points: &[DVec3]) -> (Vec<DVec3>, Vec<u32>) {
    // −0 and 0 are one coordinate.
    let mut order: Vec<(DVec3, u32)> = points.iter().map(|&p| p + DVec3::ZERO).zip(0..).collect();
    order.sort_unstable_by(|(p, i), (q, j)| ascending(p, q).then(i.cmp(j)));
    order.dedup_by_key(|(p, _)| *p);
    order.into_iter().unzip()
}

/// The hull of distinct points in ascending order of coordinates; there must be one at least.
pub fn hull(points: &[DVec3]) -> Hull {
    let last = points.len() - 1;
    let Some((third, axis)) = off_line(points, 0, last) else {
        return if last == 0 { Hull::Point(0) } else { Hull::Segment([0, last as u32]) };
    };
    let plane = Plane::through(points[0], points[last], points[third]);
    let height = |i: usize| plane.normal().dot(points[i] - points[0]).abs();
    let off_plane = (0..points.len()).filter(|&i| !plane.side(points[i]).is_zero());
    let Some(apex) = off_plane.max_by(|&i, &j| height(i).total_cmp(&height(j))) else {
        return Hull::Polygon(chain(points, axis));
    };
    let base = match plane.side(points[apex]) {
        Sign::Positive => [0, third, last],
        _ => [0, last, third],
    };
    Hull::Solid(HullBuilder::from_tetrahedron(points, base.map(|i| i as u32), apex as u32).finish())
}

/// A point off the line through two others, far from it, and an axis along which the three still span a
/// triangle.
fn off_line(points: &[DVec3], a: usize, b: usize) -> Option<(usize, usize)> {
    let along = points[b] - points[a];
    let area = |i: usize| along.cross(points[i] - points[a]).length_squared();
    let spans = |i: usize| {
        (0..3).find(|&axis| {
            let [p, q, r] = [a, b, i].each(|i| drop_axis(points[i], axis));
            !orient2d(p, q, r).is_zero()
        })
    };
    let best = (0..points.len()).max_by(|&i, &j| area(i).total_cmp(&area(j)))?;
    // The float guess may fail for needles; then any point will do.
    spans(best)
        .map(|axis| (best, axis))
        .or_else(|| (0..points.len()).find_map(|i| spans(i).map(|axis| (i, axis))))
}

/// The hull of coplanar points, seen along an axis that does not flatten them.
fn chain(points: &[DVec3], axis: usize) -> Vec<u32> {
    let flat: Vec<_> = points.iter().map(|&p| drop_axis(p, axis)).collect();
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    let at = |i: u32| flat[i as usize];
    sort_rarely(&mut order, |&i, &j| at(i).x.total_cmp(&at(j).x).then(at(i).y.total_cmp(&at(j).y)));
    let half = |order: &mut dyn Iterator<Item = u32>| {
        let mut hull: Vec<u32> = Vec::new();
        for i in order {
            while let [.., a, b] = hull[..] {
                if orient2d(at(a), at(b), at(i)) == Sign::Positive {
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

/// The points above a facet that no other claims.
struct Above {
    /// The first of a list of points linked by `HullBuilder::next`.
    first: u32,
    /// The highest of them, in floats.
    top: u32,
    top_height: f64,
}

const NOTHING_ABOVE: Above = Above { first: NONE, top: NONE, top_height: f64::NEG_INFINITY };

/// A facet's plane, whose corners are among the points, and what is above it.
struct Own {
    plane: PlaneFilter,
    above: Above,
}

/// Whether a facet has a point strictly above it.
#[inline]
fn sees(points: &[DVec3], facet: &Facet<Own>, p: DVec3) -> bool {
    let [a, b, c] = facet.corners;
    let at = |i: u32| points[i as usize];
    facet.own.plane.side(at(a), || [at(b), at(c)], p) == Sign::Positive
}

/// The growing hull and its scratch space.
struct HullBuilder<'p> {
    points: &'p [DVec3],
    surface: IncrementalHull<Own>,
    /// The next point above the same facet.
    next: Vec<u32>,
    /// Facets that had points above them when they were made.
    pending: Vec<u32>,
    /// Where facets went when those that are gone were forgotten.
    place: Vec<u32>,
    /// How many facets are alive.
    alive: usize,
}

/// Up to so many facets, those that went are forgotten at once.
const FEW: usize = 64;

impl<'p> HullBuilder<'p> {
    fn from_tetrahedron(points: &'p [DVec3], base: [u32; 3], apex: u32) -> HullBuilder<'p> {
        let next = vec![NONE; points.len()];
        let mut builder = HullBuilder {
            points,
            surface: IncrementalHull::default(),
            next,
            pending: Vec::new(),
            place: Vec::new(),
            alive: 4,
        };
        builder.surface.begin(base, apex, |corners| own(points, corners));
        for point in 0..points.len() as u32 {
            builder.assign(point, 0);
        }
        builder.pending = (0..4).collect();
        builder
    }

    /// Gives a point to the first facet from `first` on that sees it; one that none sees is inside.
    fn assign(&mut self, point: u32, first: u32) {
        let p = self.points[point as usize];
        let mut facets = self.surface.facets_from(first).iter_mut();
        let Some(facet) = facets.find(|facet| sees(self.points, facet, p)) else { return };
        let (Own { plane, above }, corner) = (&mut facet.own, self.points[facet.corners[0] as usize]);
        let height = plane.normal().dot(p - corner);
        if above.top == NONE || height > above.top_height {
            (above.top, above.top_height) = (point, height);
        }
        self.next[point as usize] = above.first;
        above.first = point;
    }

    fn finish(mut self) -> Vec<Triangle> {
        // Newest first: that is where the points are.
        while let Some(f) = self.pending.pop() {
            let facet = &self.surface.facets()[f as usize];
            if facet.alive && facet.own.above.top != NONE {
                self.rise(f, facet.own.above.top);
            }
        }
        self.compact();
        let triangle = |f: &Facet<Own>| Triangle { corners: f.corners, across: f.across };
        self.surface.facets().iter().map(triangle).collect()
    }

    /// Forgets the facets that went.
    fn compact(&mut self) {
        self.surface.compact(&mut self.place);
        let place = &self.place;
        self.pending.retain_mut(|f| {
            *f = place[*f as usize];
            *f != NONE
        });
    }

    /// Adds the highest point above a facet, and gives what was above the facets that go to those that come.
    fn rise(&mut self, facet_below: u32, top: u32) {
        let points = self.points;
        let at = points[top as usize];
        let fresh =
            self.surface.add(facet_below, top, |f| sees(points, f, at), |corners| own(points, corners));
        for k in 0..self.surface.gone().len() {
            let gone = self.surface.gone()[k];
            let mut point = self.surface.facets()[gone as usize].own.above.first;
            while point != NONE {
                let following = self.next[point as usize];
                if point != top {
                    self.assign(point, fresh.start);
                }
                point = following;
            }
        }
        let facets = self.surface.facets();
        self.alive = self.alive + fresh.len() - self.surface.gone().len();
        self.pending.extend(fresh.filter(|&f| facets[f as usize].own.above.top != NONE));
        if facets.len() > self.alive.max(FEW) + self.alive / 2 || facets.len() <= FEW {
            self.compact();
        }
    }
}

fn own(points: &[DVec3], corners: [u32; 3]) -> Own {
    let [p, q, r] = corners.each(|i| points[i as usize]);
    Own { plane: PlaneFilter::through(p, q, r), above: NOTHING_ABOVE }
}

#[cfg(test)]
#[path = "hull_tests.rs"]
mod tests;
