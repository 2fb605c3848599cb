//! The distance of two convex cores from their support mappings alone.
//!
//! Gilbert, Johnson and Keerthi, *A fast procedure for computing the distance between complex objects in
//! three-dimensional space* (1988), with van den Bergen's bounds (1999): the difference body M = A − B is
//! approached by simplices of at most four of its points, and every step knows how far the nearest point of
//! M is at most, from the simplex, and at least, from the support. The nearest point of a simplex is not
//! found by one chain of signs, as Johnson's and the signed volumes of Montanari, Petrinic and Barbieri
//! (2017) do: a part that does not hold the newest corner cannot be nearest, so at most three edges and
//! three faces are measured and the nearest wins. A wrong sign then costs a step, never the answer. Where
//! rounding ends the search of cores with corners before the bracket is closed, as between slivers, it goes on
//! in exact numbers (`exact_simplex`) until it is.

use glam::DVec3;
use smallvec::SmallVec;

use super::exact_simplex::nearest;
use super::placed_core::PlacedCore;
use crate::num::tolerance::{GJK_CLOSED, GJK_STALLED, SUPPORT_ROUNDING};

/// Steps without a gain after which the search ends.
const MOST_STALLED: u32 = 4;

/// A point of the difference body and what it comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Corner {
    /// `a − b`.
    pub w: DVec3,
    /// On the core of a.
    pub a: DVec3,
    /// On the core of b.
    pub b: DVec3,
    /// Which corners of the cores these are.
    pub ids: [u32; 2],
}

/// The corner of the difference body farthest along `d`.
#[inline]
pub(crate) fn support(a: &PlacedCore<'_>, b: &PlacedCore<'_>, d: DVec3) -> Corner {
    let (p, i) = a.support(d);
    let (q, j) = b.support(-d);
    Corner { w: p - q, a: p, b: q, ids: [i, j] }
}

/// At most four corners of the difference body with the weights of their point nearest to the origin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Simplex {
    corners: [Corner; 4],
    weights: [f64; 4],
    count: usize,
}

impl Simplex {
    fn of(corner: Corner) -> Simplex {
        Simplex { corners: [corner; 4], weights: [1.0, 0.0, 0.0, 0.0], count: 1 }
    }

    /// The corners in use.
    pub fn corners(&self) -> &[Corner] {
        &self.corners[..self.count]
    }

    /// The points of both cores that the weights mean.
    pub fn points(&self) -> [DVec3; 2] {
        let mean = |of: fn(&Corner) -> DVec3| {
            self.corners().iter().zip(self.weights).map(|(c, weight)| of(c) * weight).sum::<DVec3>()
        };
        [mean(|c| c.a), mean(|c| c.b)]
    }

    fn nearest(&self) -> DVec3 {
        self.corners().iter().zip(self.weights).map(|(c, weight)| c.w * weight).sum()
    }

    fn holds(&self, corner: &Corner) -> bool {
        self.corners().iter().any(|c| c.w == corner.w)
    }
}

/// What is known when the search ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gap {
    /// The last simplex.
    pub simplex: Simplex,
    /// Unit, from a to b: the direction of the best lower bound.
    pub normal: DVec3,
    /// The distance is at least this; negative when nothing is known.
    pub at_least: f64,
    /// The distance is at most this; zero when the cores meet.
    pub at_most: f64,
    /// How many supports were asked for.
    pub steps: u32,
}

/// The widest bracket that counts as closed, for a distance between things of this size.
#[inline]
fn closed_gap(distance: f64, size: f64) -> f64 {
    GJK_CLOSED * distance + SUPPORT_ROUNDING * size
}

fn is_open(gap: &Gap, size: f64) -> bool {
    gap.at_most - gap.at_least > closed_gap(gap.at_most, size)
}

/// Brackets the distance of two cores, beginning along `start` (from b to a; any vector will do).
///
/// `size` bounds the coordinates. Within a few steps the distance to the simplex falls below all before, so the
/// search ends.
pub(crate) fn gap(a: &PlacedCore<'_>, b: &PlacedCore<'_>, start: DVec3, size: f64) -> Gap {
    gap_after(a, b, DVec3::ZERO, start, size)
}

/// As [`gap`], after b was moved by `shift`; the corners stay those of b where it is.
pub(crate) fn gap_after(
    a: &PlacedCore<'_>,
    b: &PlacedCore<'_>,
    shift: DVec3,
    start: DVec3,
    size: f64,
) -> Gap {
    let support = |d: DVec3| {
        let corner = support(a, b, d);
        Corner { w: corner.w - shift, ..corner }
    };
    let mut simplex = Simplex::of(support(-start));
    let mut v = simplex.corners[0].w;
    let mut best =
        Gap { simplex, normal: DVec3::Z, at_least: f64::NEG_INFINITY, at_most: v.length(), steps: 1 };
    let noise = SUPPORT_ROUNDING * size;
    let (mut stalled, mut lowest) = (0, best.at_most);
    let curved = !(a.is_polyhedral() && b.is_polyhedral());
    while best.at_most > noise {
        let corner = support(-v);
        best.steps += 1;
        let at_least = v.dot(corner.w) / best.at_most;
        // Of cores with corners the normal has to be that of the points.
        if at_least > best.at_least || !curved {
            (best.at_least, best.normal) = (at_least, -v / best.at_most);
        }
        // Curved cores go on to the last digit: the points are known only to the root of the gap.
        let enough = if curved { 0.0 } else { closed_gap(best.at_most, size) };
        if best.at_most - best.at_least <= enough || simplex.holds(&corner) {
            break;
        }
        let next = with(&simplex, corner, noise);
        let (nearest, length) = (next.nearest(), next.nearest().length());
        if next.count == 4 && (curved || length <= noise) {
            (best.simplex, best.at_most) = (next, 0.0);
            break;
        }
        // Where two supports are equally far, steps towards one of them win nothing but turn to the other.
        // Only what was never reached before is a gain: rounding may lead round in a circle.
        stalled = if length < lowest * GJK_STALLED { 0 } else { stalled + 1 };
        lowest = lowest.min(length);
        if next.count == 4 || stalled > MOST_STALLED || !(length <= best.at_most / GJK_STALLED) {
            break;
        }
        (simplex, v) = (next, nearest);
        (best.simplex, best.at_most) = (next, length);
    }
    if is_open(&best, size) {
        try_face_normal(support, &mut best);
    }
    if !curved && best.at_most > noise && is_open(&best, size) {
        finish_exactly(support, &mut best, size);
    }
    best
}

/// Goes on from the last simplex with its parts told apart in exact numbers. The point strictly comes nearer,
/// so that this ends, and where no corner brings it nearer the bracket is closed.
fn finish_exactly(support: impl Fn(DVec3) -> Corner, best: &mut Gap, size: f64) {
    let mut corners: SmallVec<[Corner; 4]> = best.simplex.corners().into();
    loop {
        let found = nearest(&corners.iter().map(|c| c.w).collect::<SmallVec<[DVec3; 4]>>());
        let mut simplex = Simplex::of(corners[0]);
        simplex.count = found.part.len();
        for (at, &(k, weight)) in found.part.iter().enumerate() {
            (simplex.corners[at], simplex.weights[at]) = (corners[k], weight);
        }
        (best.simplex, best.at_most) = (simplex, found.distance);
        if found.direction == DVec3::ZERO {
            best.at_least = f64::NEG_INFINITY;
            return;
        }
        let corner = support(-found.direction);
        best.steps += 1;
        (best.at_least, best.normal) = (found.direction.dot(corner.w), -found.direction);
        if !is_open(best, size) || !found.gains(corner.w) {
            return;
        }
        corners = simplex.corners().into();
        corners.push(corner);
    }
}

/// Nearly touching cores: the difference of two near points has few digits, the normal of the face or edge
/// pair that holds them has all.
fn try_face_normal(support: impl Fn(DVec3) -> Corner, best: &mut Gap) {
    if let [p, q, r] = best.simplex.corners() {
        let normal = (q.w - p.w).cross(r.w - p.w).normalize_or_zero();
        for normal in [normal, -normal] {
            let at_least = -support(normal).w.dot(normal);
            if normal != DVec3::ZERO && at_least > best.at_least {
                (best.at_least, best.normal) = (at_least, normal);
            }
        }
    }
}

/// The part of simplex and new corner that is nearest to the origin; all four corners when the origin is
/// inside.
fn with(simplex: &Simplex, new: Corner, noise: f64) -> Simplex {
    let mut best = Simplex::of(new);
    let mut best_sq = new.w.length_squared();
    let mut take = |corners: &[Corner], weights: &[f64]| {
        let point: DVec3 = corners.iter().zip(weights).map(|(c, &weight)| c.w * weight).sum();
        let square = point.length_squared();
        if square < best_sq {
            best_sq = square;
            best.count = corners.len();
            best.corners[..corners.len()].copy_from_slice(corners);
            best.weights[..corners.len()].copy_from_slice(weights);
        }
    };
    let old = simplex.corners();
    for c in old {
        let along = c.w - new.w;
        let (t, whole) = (-new.w.dot(along), along.length_squared());
        if t > 0.0 && t < whole {
            take(&[new, *c], &[1.0 - t / whole, t / whole]);
        }
    }
    for (i, c) in old.iter().enumerate() {
        for d in &old[i + 1..] {
            let weights = foot_weights(&[new.w, c.w, d.w]);
            if weights.iter().all(|&weight| weight > 0.0) {
                take(&[new, *c, *d], &weights);
            }
        }
    }
    let [p, q, r] = *old else { return best };
    match inner_weights(&[p.w, q.w, r.w], new.w, noise) {
        Some(weights) => Simplex { corners: [p, q, r, new], weights, count: 4 },
        None => best,
    }
}

/// Barycentric weights of the origin's foot on the plane of a triangle; one without area gives all to its
/// first corner.
///
/// Taken from the corner across from the longest side: on needles, which curved cores give, the other corners
/// lose half the digits.
pub(crate) fn foot_weights(t: &[DVec3; 3]) -> [f64; 3] {
    let across = |k: usize| t[(k + 1) % 3].distance_squared(t[(k + 2) % 3]);
    let base = (1..3).fold(0, |best, k| if across(k) > across(best) { k } else { best });
    let (i, j) = ((base + 1) % 3, (base + 2) % 3);
    let (u, v) = (t[i] - t[base], t[j] - t[base]);
    let normal = u.cross(v);
    let area_sq = normal.length_squared();
    if area_sq == 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let mut weights = [0.0; 3];
    weights[i] = v.cross(t[base]).dot(normal) / area_sq;
    weights[j] = t[base].cross(u).dot(normal) / area_sq;
    weights[base] = 1.0 - weights[i] - weights[j];
    weights
}

/// Barycentric weights of the origin in the tetrahedron of a base and a top, if it is inside; a flat one holds
/// nothing.
fn inner_weights(base: &[DVec3; 3], top: DVec3, noise: f64) -> Option<[f64; 4]> {
    let [p, q, r] = base.map(|x| x - top);
    let volume = p.dot(q.cross(r));
    let largest = p.abs().max_element().max(q.abs().max_element()).max(r.abs().max_element());
    if volume.abs() <= noise * largest * largest {
        return None;
    }
    let part = |u: DVec3, v: DVec3| -top.dot(u.cross(v)) / volume;
    let [x, y, z] = [part(q, r), part(r, p), part(p, q)];
    let rest = 1.0 - x - y - z;
    (x >= 0.0 && y >= 0.0 && z >= 0.0 && rest >= 0.0).then_some([x, y, z, rest])
}
