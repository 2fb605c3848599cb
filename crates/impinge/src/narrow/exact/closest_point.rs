//! The point of a placed mesh nearest to a given point.
//!
//! A search in f32 through the patches of the surface leaves the few triangles that could be nearest; these
//! are measured in f64, on their placed corners. Every triangle at the smallest distance is looked at and
//! the smallest index wins, so the answer depends neither on where the search starts nor on the number of
//! threads.

use glam::DVec3;

use super::morton_order::in_good_order;
use super::point_triangle_simd::{Corners, LANES, squares};
use crate::contact::Feature;
use crate::geom::point_triangle::{self, TriangleFeature, norm};
use crate::hierarchy::point_tree::{PlacedPointTree, PointTree, Room, Start};
use crate::model::Model;
use crate::num::parallel;
use crate::num::tolerance::{LARGEST_LENGTH_UNSCALED, SMALLEST_LENGTH_UNSCALED};
use crate::simd::SimdLevel;
use crate::{Counters, Mesh, Pose};

/// Points that follow each other on one thread: enough to share guesses, few enough to share work.
const CHUNK: usize = 1024;

/// Candidates that are measured in a fraction of a millisecond.
const FEW_CANDIDATES: usize = 1 << 13;

/// The nearest point of a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosestPoint {
    /// The nearest point, in the world.
    pub point: DVec3,
    /// Its distance, never negative.
    pub distance: f64,
    /// The triangle it lies on; the smallest index where several share it.
    pub triangle: u32,
    /// The vertex, edge or face it lies on.
    pub feature: Feature,
}

#[cfg(any(test, feature = "unstable"))]
/// The point of the placed mesh nearest to `p`.
///
/// ```
/// # use impinge::{model::Model, Pose, shape::procedural, narrow::exact::closest_point::closest_point};
/// let ball = Model::from(procedural::ico_sphere(1.0, 3)?);
/// let near = closest_point(&ball, &Pose::IDENTITY, glam::DVec3::new(0.0, 0.0, 3.0));
/// assert!((near.distance - 2.0).abs() < 0.01);
/// # Ok::<(), impinge::Error>(())
/// ```
pub fn closest_point(model: &Model, pose: &Pose, p: DVec3) -> ClosestPoint {
    let search = Search::new(model, pose);
    let mut nearest = NearestTriangle::NONE;
    search.improve(p, None, &mut nearest, &mut Room::default(), &mut Counters::default());
    search.answer(p, &nearest)
}

#[cfg(any(test, feature = "unstable"))]
/// [`closest_point`] for many points, in parallel and in an order in which neighbours help each other.
pub fn closest_points(model: &Model, pose: &Pose, points: &[DVec3]) -> Vec<ClosestPoint> {
    counted_closest_points(model, pose, points).0
}

/// [`closest_points`], and what they cost.
pub(crate) fn counted_closest_points(
    model: &Model,
    pose: &Pose,
    points: &[DVec3],
) -> (Vec<ClosestPoint>, Counters) {
    let mut work = Counters::default();
    let found = in_good_order(points, |points| {
        let (found, more) = one_after_another(model, pose, points);
        work += more;
        found
    });
    (found, work)
}

/// [`closest_points`] in the order given, which is best one of neighbours.
pub(crate) fn one_after_another(
    model: &Model,
    pose: &Pose,
    points: &[DVec3],
) -> (Vec<ClosestPoint>, Counters) {
    let search = Search::new(model, pose);
    let chunks = points.len().div_ceil(CHUNK);
    let parts = parallel::map(chunks, |k| {
        let chunk = &points[k * CHUNK..points.len().min((k + 1) * CHUNK)];
        let mut start = None;
        let (mut room, mut work) = (Room::default(), Counters::default());
        let mut found = Vec::with_capacity(chunk.len());
        for &p in chunk {
            let mut nearest = NearestTriangle::NONE;
            start = search.improve(p, start, &mut nearest, &mut room, &mut work);
            found.push(search.answer(p, &nearest));
        }
        (found, work)
    });
    let (mut all, mut work) = (Vec::with_capacity(points.len()), Counters::default());
    for (found, more) in parts {
        all.extend(found);
        work += more;
    }
    (all, work)
}

/// Whether few triangles can be nearest to a point, as far as f32 tells: from the middle of a round body all are as near.
pub(crate) fn has_few_candidates(model: &Model, pose: &Pose, p: DVec3) -> bool {
    if model.mesh().triangles().len() <= FEW_CANDIDATES {
        return true;
    }
    let search = Search::new(model, pose);
    let gauge = search.placed.query_point(p);
    let mut room = Room::default();
    let found = search.patches.search(search.level, &gauge, gauge.limit(f64::INFINITY), None, &mut room);
    room.candidates(&found).take(FEW_CANDIDATES + 1).count() <= FEW_CANDIDATES
}

/// The feature of the mesh that a part of a triangle is.
pub fn feature(mesh: &Mesh, triangle: u32, part: TriangleFeature) -> Feature {
    feature_of(triangle, mesh.triangles()[triangle as usize], part)
}

/// [`feature`] of a triangle whose corners are known.
pub(crate) fn feature_of(triangle: u32, corners: [u32; 3], part: TriangleFeature) -> Feature {
    match part {
        TriangleFeature::Corner(i) => Feature::Vertex(corners[i as usize]),
        TriangleFeature::Side(i) => {
            let (a, b) = (corners[i as usize], corners[(i as usize + 1) % 3]);
            Feature::Edge([a.min(b), a.max(b)])
        }
        TriangleFeature::Inside => Feature::Face(triangle),
    }
}

/// The nearest triangle found so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NearestTriangle {
    pub triangle: u32,
    /// In units of the search.
    pub distance_sq: f64,
    /// In the world.
    point: DVec3,
    part: TriangleFeature,
}

impl NearestTriangle {
    pub const NONE: NearestTriangle = NearestTriangle {
        triangle: u32::MAX,
        distance_sq: f64::INFINITY,
        point: DVec3::ZERO,
        part: TriangleFeature::Inside,
    };

    /// Whether a triangle at such a distance is nearer, or as near and of a smaller index.
    #[inline]
    fn loses_to(&self, distance_sq: f64, triangle: u32) -> bool {
        distance_sq < self.distance_sq || (distance_sq == self.distance_sq && triangle < self.triangle)
    }
}

/// A placed model, ready for points.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search<'m> {
    model: &'m Model,
    pose: &'m Pose,
    patches: &'m PointTree,
    placed: PlacedPointTree,
    level: SimdLevel,
    /// Divides lengths before they are squared; 1 unless squares could underflow or overflow.
    scale: f64,
}

impl<'m> Search<'m> {
    pub fn new(model: &'m Model, pose: &'m Pose) -> Search<'m> {
        let unit = model.tree().frame().unit;
        let ordinary = (SMALLEST_LENGTH_UNSCALED..LARGEST_LENGTH_UNSCALED).contains(&unit);
        Search {
            model,
            pose,
            patches: model.point_tree(),
            placed: PlacedPointTree::new(model.tree().frame(), pose),
            level: SimdLevel::best(),
            scale: if ordinary { 1.0 } else { unit },
        }
    }

    /// Stands for an unknown triangle at most so far away.
    pub fn nearer_than(&self, distance: f64) -> NearestTriangle {
        let scaled = distance / self.scale;
        NearestTriangle { distance_sq: scaled * scaled, ..NearestTriangle::NONE }
    }

    /// The placed corners of a triangle.
    #[inline]
    fn corners(&self, triangle: u32) -> [DVec3; 3] {
        self.model.mesh().corners(triangle).map(|v| self.pose.apply(v))
    }

    /// A point and a triangle's placed corners, brought to a size whose squares are in range.
    #[inline]
    fn scaled(&self, p: DVec3, triangle: u32) -> (DVec3, [DVec3; 3]) {
        let corners = self.corners(triangle);
        if self.scale == 1.0 { (p, corners) } else { (DVec3::ZERO, corners.map(|c| (c - p) / self.scale)) }
    }

    /// Takes the triangle if it is nearer, or as near and of a smaller index.
    #[inline]
    pub fn look_at(&self, p: DVec3, triangle: u32, nearest: &mut NearestTriangle) {
        let (from, corners) = self.scaled(p, triangle);
        let foot = point_triangle::closest_point(from, &corners);
        if nearest.loses_to(foot.distance_sq, triangle) {
            let point = if self.scale == 1.0 { foot.point } else { foot.point * self.scale + p };
            *nearest = NearestTriangle { triangle, distance_sq: foot.distance_sq, point, part: foot.part };
        }
    }

    /// As [`Search::look_at`] for up to eight triangles, of which only the best one's foot is found.
    fn look_at_all(&self, p: DVec3, triangles: &[u32], nearest: &mut NearestTriangle) {
        let mut lanes: Corners = [[0.0; LANES]; 9];
        let mut from = p;
        for (lane, &triangle) in triangles.iter().enumerate() {
            let (scaled, corners) = self.scaled(p, triangle);
            from = scaled;
            (0..9).for_each(|k| lanes[k][lane] = corners[k / 3][k % 3]);
        }
        let squares = squares(self.level, from, &lanes);
        let mut best = NearestTriangle::NONE;
        for (&triangle, distance_sq) in triangles.iter().zip(squares) {
            if best.loses_to(distance_sq, triangle) {
                (best.triangle, best.distance_sq) = (triangle, distance_sq);
            }
        }
        if nearest.loses_to(best.distance_sq, best.triangle) {
            self.look_at(p, best.triangle, nearest);
        }
    }

    /// Looks for something nearer than `nearest`; a start from nearby makes it faster. Returns where a search
    /// from nearby may start.
    #[inline]
    pub fn improve(
        &self,
        p: DVec3,
        start: Option<Start>,
        nearest: &mut NearestTriangle,
        room: &mut Room,
        work: &mut Counters,
    ) -> Option<Start> {
        let gauge = self.placed.query_point(p);
        let limit = gauge.limit(nearest.distance_sq.sqrt() * self.scale);
        let found = self.patches.search(self.level, &gauge, limit, start, room);
        work.volume_tests += found.measured;
        let mut candidates = room.candidates(&found);
        loop {
            let (mut group, mut count) = ([0; LANES], 0);
            for (place, triangle) in group.iter_mut().zip(candidates.by_ref()) {
                (*place, count) = (triangle, count + 1);
            }
            work.primitive_tests += count as u64;
            match &group[..count] {
                [] => return found.block,
                &[one] => self.look_at(p, one, nearest),
                some => self.look_at_all(p, some, nearest),
            }
        }
    }

    /// Visits every triangle that can be nearest to a point within a distance, those among them that are as near but
    /// for the rounding of f64: what f32 leaves open is far more than that.
    pub fn each_candidate(&self, p: DVec3, distance: f64, visit: impl FnMut(u32)) {
        let gauge = self.placed.query_point(p);
        let mut room = Room::default();
        let found = self.patches.search(self.level, &gauge, gauge.limit(distance), None, &mut room);
        room.candidates(&found).for_each(visit);
    }

    /// The answer for the nearest triangle.
    pub fn answer(&self, p: DVec3, nearest: &NearestTriangle) -> ClosestPoint {
        let mut nearest = *nearest;
        if nearest.triangle == NearestTriangle::NONE.triangle {
            // A point that is no number is near nothing; its distance is no number either.
            let corner = self.pose.apply(self.model.mesh().corners(0)[0]);
            nearest = NearestTriangle { triangle: 0, point: corner, ..nearest };
        }
        ClosestPoint {
            point: nearest.point,
            distance: norm(nearest.point - p),
            triangle: nearest.triangle,
            feature: feature(self.model.mesh(), nearest.triangle, nearest.part),
        }
    }
}

#[cfg(test)]
#[path = "closest_point_tests.rs"]
mod tests;
