//! The normal of a contact where the nearest points alone do not tell it.
//!
//! Where a face lands flat on a face, or bodies begin in contact, many features touch at once and the pair that was
//! found first may be a corner on the rim of some other face: the way between them is not the way to separate the
//! bodies. A direction separates two surfaces at a point when no triangle around it rises along the direction on one
//! side or falls on the other. The one that was found stays when it does; otherwise the normal of a face around the
//! point is taken that does, if there is one.

use std::ops::ControlFlow;

use glam::DVec3;
use smallvec::SmallVec;

use super::answer::Impact;
use super::triangle_pair::Step;
use crate::geom::point_triangle::{TriangleFeature, closest_point, norm};
use crate::geom::unit_normal::unit_normal;
use crate::model::Model;
use crate::motion::Motion;
use crate::narrow::exact::placed_mesh::PlacedMesh;
use crate::num::tolerance::{EQUAL_RISE, PARTING_RISE};

/// What counts as one point, in ways that the bodies go within the tolerance: both come from where they were found.
const AROUND: f64 = 4.0;

/// Corners nearer than this, in sizes of what counts as one point, show no direction.
const FAR: f64 = 256.0;

/// Farthest that the direction of a gap which rounding blurs may be from that of its features (radians).
const MOST_DOUBT: f64 = 0.05;

/// The normal of two triangles at a step, from a to b, of unit length. Where nothing separates them any more it is that of
/// the features, along which a comes: `way` tells how a moves against b.
pub(super) fn features_normal(
    found: &Step,
    parts: &[TriangleFeature; 2],
    [a, b]: [&[DVec3; 3]; 2],
    noise: f64,
    way: impl FnOnce() -> DVec3,
) -> DVec3 {
    let side = |t: &[DVec3; 3], i: u8| t[(usize::from(i) + 1) % 3] - t[usize::from(i)];
    let across = match parts {
        [TriangleFeature::Side(i), TriangleFeature::Side(j)] => side(a, *i).cross(side(b, *j)),
        [TriangleFeature::Inside, TriangleFeature::Corner(_)] => unit_normal(3, |k| a[k]),
        _ => unit_normal(3, |k| b[k]),
    };
    if found.normal != DVec3::ZERO {
        // Where the gap is all but gone its direction is mostly rounding; the features' is not.
        let across = across.normalize_or_zero();
        let across = if across.dot(found.normal) < 0.0 { -across } else { across };
        let doubt = (noise / found.near.distance).min(MOST_DOUBT);
        return if norm(across - found.normal) <= doubt { across } else { found.normal };
    }
    let way = way();
    let across = across.try_normalize().or_else(|| way.try_normalize()).unwrap_or(DVec3::Z);
    if across.dot(way) < 0.0 { -across } else { across }
}

/// The normal of an impact, from a to b, which was found with a tolerance in time and a slack in length.
pub(super) fn separating_normal(
    models: [&Model; 2],
    motions: [&Motion; 2],
    [tolerance, slack]: [f64; 2],
    impact: &Impact,
) -> DVec3 {
    let (time, point, found) = (impact.time, impact.point, impact.normal);
    let speed: f64 = motions.iter().map(|motion| norm(motion.twist(time).velocity(point))).sum();
    let near = AROUND * (slack + tolerance * speed);
    let sides = [0, 1].map(|k| Side::around(models[k], motions[k], time, point, near));
    // How steeply the surfaces rise into each other along a direction.
    let rise = |n: DVec3| sides[0].most_along(n).max(sides[1].most_along(-n));
    if rise(found) <= PARTING_RISE {
        return found;
    }
    let (mut best, mut least) = (found, PARTING_RISE);
    for normal in sides.iter().flat_map(|side| &side.normals).flat_map(|&n| [n, -n]) {
        let value = rise(normal);
        if value < least - EQUAL_RISE || value <= least && normal.dot(found) > best.dot(found) {
            (best, least) = (normal, value);
        }
    }
    best
}

/// One surface around a point.
#[derive(Debug, Default)]
struct Side {
    /// Unit vectors to the corners of its triangles.
    rays: SmallVec<[DVec3; 16]>,
    /// Of its triangles, of unit length.
    normals: SmallVec<[DVec3; 8]>,
}

impl Side {
    fn around(model: &Model, motion: &Motion, time: f64, point: DVec3, near: f64) -> Side {
        let mut side = Side::default();
        let pose = motion.pose(time);
        let body = PlacedMesh::new(model, &pose);
        body.in_region(point - near, point + near, |t| {
            let corners = body.corners(t);
            if norm(closest_point(point, &corners).point - point) <= near {
                let ways = corners.map(|corner| corner - point);
                side.rays
                    .extend(ways.into_iter().filter(|way| norm(*way) > FAR * near).map(DVec3::normalize));
                let [a, b, c] = corners;
                side.normals.extend((b - a).cross(c - a).try_normalize());
            }
            ControlFlow::Continue(())
        });
        side
    }

    fn most_along(&self, direction: DVec3) -> f64 {
        self.rays.iter().map(|ray| ray.dot(direction)).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::super::contact::{self, Covered, SphereCover};
    use super::super::{SweepOptions, sweep};
    use super::*;
    use crate::shape::procedural;
    use crate::{Budget, Pose};

    fn normals(motions: [&Motion; 2], model: &Model) -> [DVec3; 2] {
        let options = SweepOptions::DEFAULT;
        let body = model.clone().into();
        let found = sweep([&body, &body], motions, &options);
        let spheres = SphereCover::automatic(model.mesh()).unwrap();
        let covered = Covered { model, spheres: &spheres };
        let by_contact =
            contact::sweep_within([covered; 2], motions, &options, &mut Budget::UNLIMITED.clone()).unwrap();
        [found, by_contact].map(|sweep| sweep.impact.unwrap().normal)
    }

    #[test]
    fn boxes_that_begin_face_to_face_part_along_it() {
        let model: Model = procedural::cuboid([1.0; 3], [1; 3]).unwrap().into();
        for k in 0..6 {
            let mut way = DVec3::ZERO;
            way[k % 3] = if k < 3 { 1.0 } else { -1.0 };
            for end in [5.0, 0.5] {
                let [from, to] = [2.0, end].map(|x| Pose::shift(way * x));
                let moves = Motion::between(&from, &to);
                for normal in normals([&Motion::Still(Pose::IDENTITY), &moves], &model) {
                    assert!(norm(normal - way) < 1e-9, "{way} to {end}: {normal}");
                }
            }
        }
    }

    #[test]
    fn flat_landings_have_the_normal_of_the_faces() {
        let model: Model = procedural::cuboid([1.0; 3], [1; 3]).unwrap().into();
        for turns in [0.0, 0.3, 3.0, 12.0] {
            let above = Pose::shift([0.0, 0.0, 4.0]);
            let spin = DVec3::Z * (turns * std::f64::consts::PI);
            let moves = Motion::velocity(&above, DVec3::Z * -4.0, spin).unwrap();
            for normal in normals([&Motion::Still(Pose::IDENTITY), &moves], &model) {
                assert!(norm(normal - DVec3::Z) < 1e-6, "{turns}: {normal}");
            }
        }
    }
}
