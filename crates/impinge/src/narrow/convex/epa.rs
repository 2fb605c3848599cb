//! The penetration depth of two convex cores from their support mappings alone.
//!
//! The expanding polytope of van den Bergen, *Proximity queries and penetration depth computation on 3D game
//! objects* (2001): a polytope inside the difference body M = A − B grows where its surface is nearest to the
//! origin. Four changes make it end and be right. It starts from a fat tetrahedron of M instead of the last
//! simplex of GJK, which may be a sliver, and need not hold the origin: the face that sees the origin from
//! farthest outside is simply expanded first, so touching and barely parted cores take the same way. Which
//! faces a new corner sees is decided by the exact predicate on the corners' doubles, so the polytope stays a
//! closed convex surface whatever the rounding. Normals are right to rounding on slivers too, so that the
//! offset of a face means its plane. And every step keeps a bracket: the depth is at least the distance of the
//! nearest face and at most the support along any normal seen.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use glam::DVec3;

use super::gjk::{Corner, foot_weights, support};
use super::placed_core::PlacedCore;
use crate::geom::incremental_hull::{Facet, IncrementalHull};
use crate::geom::unit_normal::plane_normal;
use crate::num::compact_sort::sort_few;
use crate::num::predicate::{Plane, Sign};
use crate::num::tolerance::SUPPORT_ROUNDING;

/// The depth of two cores, bracketed, and where it is taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Depth {
    /// Unit, from a to b: moving b along it separates the cores soonest.
    pub normal: DVec3,
    /// The depth is at least this; negative when a plane separates the cores.
    pub at_least: f64,
    /// The depth is at most this.
    pub at_most: f64,
    /// A point on each core with the corners of the face that holds them; none where M has no volume, or
    /// where the origin's foot lies beside the face, on a part of M's plane that the search had no need of.
    pub face: Option<([DVec3; 2], [Corner; 3])>,
    /// How many supports were asked for.
    pub steps: u32,
}

/// The polytope while it grows; kept between calls it saves allocations.
#[derive(Debug, Clone, Default)]
pub(crate) struct Polytope {
    corners: Vec<Corner>,
    surface: IncrementalHull<FacePlane>,
    queue: BinaryHeap<Entry>,
    steps: u32,
}

/// Where the plane of a face is.
#[derive(Debug, Clone, Copy)]
struct FacePlane {
    plane: Plane,
    /// Outward and of unit length.
    normal: DVec3,
    /// The distance from the origin, negative when the origin is beyond it.
    offset: f64,
}

/// A face by its offset: the nearest comes first, of equal ones the older.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    offset: f64,
    face: u32,
}

impl Eq for Entry {}

impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        other.offset.total_cmp(&self.offset).then(other.face.cmp(&self.face))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Brackets the depth of two cores that meet, or nearly so, until the bracket is at most `tolerance` wide or
/// `most` supports were asked for. `size` bounds the coordinates.
///
/// With corners the growth ends by itself; a bracket that stays open is reported as it is.
pub(crate) fn depth(
    polytope: &mut Polytope,
    a: &PlacedCore<'_>,
    b: &PlacedCore<'_>,
    size: f64,
    tolerance: f64,
    most: u32,
) -> Depth {
    let noise = SUPPORT_ROUNDING * size;
    match polytope.start(a, b, noise) {
        Ok(()) => polytope.grow(a, b, tolerance.max(noise), most),
        Err(across) => {
            let along = [across, -across].map(|n| support(a, b, n).w.dot(n));
            let (depth, normal) = if along[0] <= along[1] { (along[0], across) } else { (along[1], -across) };
            Depth { normal, at_least: depth, at_most: depth, face: None, steps: polytope.steps + 2 }
        }
    }
}

impl Polytope {
    fn support(&mut self, a: &PlacedCore<'_>, b: &PlacedCore<'_>, d: DVec3) -> Corner {
        self.steps += 1;
        support(a, b, d)
    }

    /// Four corners of M that span a volume; otherwise a direction along which M is thin.
    fn start(&mut self, a: &PlacedCore<'_>, b: &PlacedCore<'_>, noise: f64) -> Result<(), DVec3> {
        self.corners.clear();
        self.queue.clear();
        self.steps = 0;
        let mut ends = [DVec3::X, DVec3::Y, DVec3::Z].map(|d| [d, -d].map(|d| self.support(a, b, d)));
        let width = |[p, q]: &[Corner; 2]| p.w.distance_squared(q.w);
        sort_few(&mut ends, |x, y| width(y).total_cmp(&width(x)));
        let [p, q] = ends[0];
        let line = (q.w - p.w).normalize_or_zero();
        if line == DVec3::ZERO {
            return Err(DVec3::Z);
        }
        let across = line.any_orthonormal_vector();
        let off_line = |c: &Corner| line.cross(c.w - p.w).length_squared();
        let r = self.farthest(a, b, &[across, line.cross(across)], off_line);
        let height = off_line(&r).sqrt();
        if height <= noise {
            // M is a segment: thin along every direction across it.
            return Err(across);
        }
        let plane = Plane::through(p.w, q.w, r.w);
        let normal = plane_normal(&plane);
        let t = self.farthest(a, b, &[normal], |c| (c.w - p.w).dot(normal).abs());
        let side = plane.side(t.w);
        if side.is_zero() || (t.w - p.w).dot(normal).abs() <= noise {
            return Err(normal);
        }
        // The fourth corner has to lie below the plane of the others, so that these turn outward.
        self.tetrahedron(if side == Sign::Positive { [p, r, q, t] } else { [p, q, r, t] });
        Ok(())
    }

    /// Of the corners along these directions and their opposites the one with the largest value.
    fn farthest(
        &mut self,
        a: &PlacedCore<'_>,
        b: &PlacedCore<'_>,
        directions: &[DVec3],
        value: impl Fn(&Corner) -> f64,
    ) -> Corner {
        let mut best = self.support(a, b, directions[0]);
        for d in directions.iter().flat_map(|&d| [d, -d]).skip(1) {
            let corner = self.support(a, b, d);
            if value(&corner) > value(&best) {
                best = corner;
            }
        }
        best
    }

    fn tetrahedron(&mut self, corners: [Corner; 4]) {
        self.corners.extend(corners);
        let Polytope { corners, surface, .. } = self;
        let new = surface.begin([0, 1, 2], 3, |of| face(corners, of));
        self.enqueue(new);
    }

    fn enqueue(&mut self, new: Range<u32>) {
        let faces = self.surface.facets();
        self.queue.extend(new.map(|face| Entry { offset: faces[face as usize].own.offset, face }));
    }

    fn grow(&mut self, a: &PlacedCore<'_>, b: &PlacedCore<'_>, tolerance: f64, most: u32) -> Depth {
        let mut best = Depth {
            normal: DVec3::Z,
            at_least: f64::NEG_INFINITY,
            at_most: f64::INFINITY,
            face: None,
            steps: 0,
        };
        let mut at = None;
        while let Some(&Entry { offset, face }) = self.queue.peek() {
            let Facet { alive, own: FacePlane { plane, normal, .. }, .. } =
                self.surface.facets()[face as usize];
            if !alive {
                self.queue.pop();
                continue;
            }
            best.at_least = offset;
            let corner = self.support(a, b, normal);
            let reach = corner.w.dot(normal);
            // What is beyond the face, but not so exactly, is it by rounding.
            let on_surface = reach - offset <= tolerance || plane.side(corner.w) != Sign::Positive;
            if reach < best.at_most || on_surface {
                (best.at_most, best.normal) = (reach, normal);
                // Only a face on M's surface holds the points.
                at = on_surface.then_some(face);
            }
            if on_surface || best.at_most - best.at_least <= tolerance || self.steps >= most {
                break;
            }
            self.expand(face, corner);
        }
        best.steps = self.steps;
        best.face = at.and_then(|face| self.place(face, best.normal * best.at_most, tolerance));
        best
    }

    /// Adds a corner beyond a face.
    fn expand(&mut self, from: u32, corner: Corner) {
        let new = self.corners.len() as u32;
        self.corners.push(corner);
        let Polytope { corners, surface, .. } = self;
        let sees = |f: &Facet<FacePlane>| f.own.plane.side(corner.w) == Sign::Positive;
        let new = surface.add(from, new, sees, |of| face(corners, of));
        self.enqueue(new);
    }

    /// The points whose difference is the foot of the origin on a face, if the face holds it.
    fn place(&self, face: u32, foot: DVec3, tolerance: f64) -> Option<([DVec3; 2], [Corner; 3])> {
        let corners = self.surface.facets().get(face as usize)?.corners.map(|c| self.corners[c as usize]);
        let weights = foot_weights(&corners.map(|c| c.w));
        if weights.iter().any(|&weight| weight < 0.0) {
            return None;
        }
        let mean = |of: fn(&Corner) -> DVec3| {
            corners.iter().zip(weights).map(|(c, weight)| of(c) * weight).sum::<DVec3>()
        };
        // On a sliver the weights may mean another point.
        let holds_foot = mean(|c| c.w).distance(foot) <= 4.0 * tolerance;
        holds_foot.then(|| ([mean(|c| c.a), mean(|c| c.b)], corners))
    }
}

#[inline]
fn face(corners: &[Corner], of: [u32; 3]) -> FacePlane {
    let [p, q, r] = of.map(|c| corners[c as usize].w);
    let plane = Plane::through(p, q, r);
    let normal = plane_normal(&plane);
    // The corner nearest to the origin has the smallest rounding.
    let nearest =
        [q, r].into_iter().fold(p, |x, y| if y.length_squared() < x.length_squared() { y } else { x });
    FacePlane { plane, normal, offset: normal.dot(nearest) }
}
