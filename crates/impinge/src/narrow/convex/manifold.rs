//! The contact patch of two polytopes that touch, overlap or come near: the face of one is clipped by the
//! sides of the other's (Sutherland and Hodgman, "Reentrant polygon clipping", 1974).
//!
//! Each point is named by the two features that make it: a corner over a face, or two edges that cross. The
//! names stay the same while the same features meet, so that a solver can keep what it knows of a point.
//! Where no face looks along the normal, as when two edges cross, the patch is the one pair of nearest
//! points.

use glam::DVec3;
use smallvec::{SmallVec, smallvec};

use super::faceted::{Faceted, Line, Outline};
use crate::contact::{Feature, Separation};
use crate::motion::Pose;
use crate::num::tolerance::{FACE_CONTACT, SAME_DEPTH, SAME_FACE_CONTACT, SAME_PATCH_CORNER};
use crate::shape::Convex;
#[cfg(any(test, feature = "unstable"))]
use crate::shape::Polytope;

/// One point of a contact patch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PatchPoint {
    /// One point on each body, in the world; their difference is `distance` along the patch's normal.
    pub points: [DVec3; 2],
    /// Negative where the bodies overlap.
    pub distance: f64,
    /// What makes the point, of a and of b: its name from frame to frame.
    pub features: [Feature; 2],
}

/// Where two bodies touch, or nearly do.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifold {
    /// Of unit length, from a to b.
    pub normal: DVec3,
    /// The points, in order around the patch; at most as many as both faces have sides together.
    pub points: SmallVec<[PatchPoint; 8]>,
}

#[cfg(any(test, feature = "unstable"))]
/// The patch of two polytopes whose separation is known, with the points not farther apart than `margin`.
///
/// ```
/// use impinge::narrow::convex::{manifold::manifold, polytope_distance::{WalkMemory, distance}};
/// use impinge::{Pose, shape::Polytope};
/// use glam::DVec3;
///
/// let cube = Polytope::hull(&(0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from).into()).collect::<Vec<DVec3>>())?;
/// let (still, above) = (Pose::IDENTITY, Pose::from_translation([0.5, 0.25, 1.0])?);
/// let found = distance(&cube, &still, &cube, &above, &mut WalkMemory::default());
/// assert_eq!(manifold(&cube, &still, &cube, &above, &found, 1e-3).points.len(), 4);
/// # Ok::<(), impinge::Error>(())
/// ```
pub fn manifold(
    a: &Polytope,
    pose_a: &Pose,
    b: &Polytope,
    pose_b: &Pose,
    separation: &Separation,
    margin: f64,
) -> Manifold {
    between([Faceted::hull(a, pose_a), Faceted::hull(b, pose_b)], separation, margin)
}

/// As [`manifold`] for any two convex shapes: whole patches of hulls, boxes, half-spaces, triangles, segments,
/// capsules, cylinders and cones lying on one another, the one pair of nearest points of the others.
///
/// A capsule's points are named by its core: its ends are the corners 0 and 1. The rim of a cylinder or cone counts
/// as a polygon.
pub fn manifold_of(
    a: &Convex,
    pose_a: &Pose,
    b: &Convex,
    pose_b: &Pose,
    separation: &Separation,
    margin: f64,
) -> Manifold {
    let normal = separation.normal;
    match (Faceted::new(a, pose_a, normal), Faceted::new(b, pose_b, -normal)) {
        (Some(a), Some(b)) => between([a, b], separation, margin),
        _ if separation.distance <= margin => nearest(separation),
        _ => Manifold { normal: separation.normal, points: SmallVec::new() },
    }
}

fn between([a, b]: [Faceted<'_>; 2], separation: &Separation, margin: f64) -> Manifold {
    let normal = separation.normal;
    if !(separation.distance <= margin) {
        return Manifold { normal, points: SmallVec::new() };
    }
    let (face_a, face_b) = (a.facing(normal), b.facing(-normal));
    let slope = |face: Option<(u32, f64)>| face.map_or(-1.0, |(_, slope)| slope);
    // b's face must look along the normal clearly better, so that rounding does not rename the points; a plane
    // has no outline that could be clipped.
    let of_b = b.is_endless() || slope(face_b) > slope(face_a) + SAME_FACE_CONTACT;
    let points = match (face_a, face_b) {
        (Some((face, slope)), _) if !of_b && slope >= FACE_CONTACT => {
            clip(&a, face, &b, face_b.map(|f| f.0), normal, margin)
        }
        (_, Some((face, slope))) if of_b && slope >= FACE_CONTACT => {
            let mut points = clip(&b, face, &a, face_a.map(|f| f.0), -normal, margin);
            for p in &mut points {
                p.points.swap(0, 1);
                p.features.swap(0, 1);
            }
            points
        }
        _ => SmallVec::new(),
    };
    if points.is_empty() { nearest(separation) } else { Manifold { normal, points } }
}

/// The one pair of nearest points.
fn nearest(separation: &Separation) -> Manifold {
    let Separation { points, distance, features, normal } = *separation;
    Manifold { normal, points: smallvec![PatchPoint { points, distance, features }] }
}

/// A corner of the clipped polygon, and the features that make it: first ours, then theirs.
type Named = (Outline, [Feature; 2]);

/// The other body's face clipped by the sides of this body's, along the normal away from this one.
fn clip(
    own: &Faceted<'_>,
    face: u32,
    other: &Faceted<'_>,
    other_face: Option<u32>,
    normal: DVec3,
    margin: f64,
) -> SmallVec<[PatchPoint; 8]> {
    let sides = own.sides(face);
    // A segment has no face to name.
    let theirs = other_face.map_or(Feature::Surface, |f| other.face(f));
    // At first every corner is one of theirs over our face.
    let mut polygon: SmallVec<[Named; 16]> =
        other.outline(other_face).into_iter().map(|c| (c, [own.face(face), c.name])).collect();
    for (k, side) in sides.iter().enumerate() {
        let next = &sides[(k + 1) % sides.len()];
        let (p, q) = (own.corner(side.start), own.corner(next.start));
        let outward = (q - p).cross(normal);
        let height = |c: &Outline| outward.dot(c.at - p);
        let crossing = |from: &Outline, to: &Outline| {
            let (x, y) = (height(from), height(to));
            let features = match from.along {
                Line::Of(edge) => [own.edge(side.edge), edge],
                Line::Cut(j) => {
                    // Two sides of our face meet at one of its corners.
                    let corner = if (j + 1) % sides.len() == k { side.start } else { next.start };
                    [own.vertex(corner), theirs]
                }
            };
            (from.at + (to.at - from.at) * (x / (x - y)), features)
        };
        let mut kept: SmallVec<[Named; 16]> = SmallVec::new();
        for i in 0..polygon.len() {
            let ((from, features), (to, _)) = (polygon[i], polygon[(i + 1) % polygon.len()]);
            let (inside, next_inside) = (height(&from) <= 0.0, height(&to) <= 0.0);
            if inside {
                kept.push((from, features));
            }
            if inside != next_inside {
                let (at, features) = crossing(&from, &to);
                // Leaving, the polygon goes on along the cut; entering, along the side it was on.
                let along = if inside { Line::Cut(k) } else { from.along };
                kept.push((Outline { at, along, ..from }, features));
            }
        }
        polygon = kept;
    }
    let (up, base) = own.plane(face);
    let mut points: SmallVec<[PatchPoint; 8]> = SmallVec::new();
    for (corner, features) in simplified(polygon) {
        let Some(radius) = other.radius_below(corner.at, normal) else { continue };
        let distance = up.dot(corner.at - base) / up.dot(normal) - radius;
        let at = corner.at - normal * radius;
        // A segment goes there and back, and tells its points twice.
        // What is round has one name for all its points.
        let named = !features.contains(&Feature::Surface);
        let told = |p: &PatchPoint| {
            p.features == features && (named || p.points[1].distance(at) <= SAME_DEPTH * at.length())
        };
        if distance <= margin && !points.iter().any(told) {
            points.push(PatchPoint { points: [at - normal * distance, at], distance, features });
        }
    }
    points
}

/// Leaves out corners that lie on their neighbours or between them: where an edge lies on an edge, rounding
/// decides where and how often they cross.
fn simplified(polygon: SmallVec<[Named; 16]>) -> SmallVec<[Named; 16]> {
    let first = polygon.first().map_or(DVec3::ZERO, |(corner, _)| corner.at);
    let extent = polygon.iter().fold(0.0_f64, |most, (c, _)| (c.at - first).abs().max_element().max(most));
    let same = SAME_PATCH_CORNER * extent;
    let mut left = polygon.len();
    let mut kept: SmallVec<[Named; 16]> = SmallVec::new();
    for (i, named) in polygon.iter().enumerate() {
        let before = kept.last().or(polygon.last()).map_or(first, |(c, _)| c.at);
        let after = polygon.get(i + 1).or(kept.first()).map_or(first, |(c, _)| c.at);
        if left > 2 && off_segment(named.0.at, before, after) <= same {
            left -= 1;
        } else {
            kept.push(*named);
        }
    }
    kept
}

/// How far a point is from a segment.
fn off_segment(p: DVec3, a: DVec3, b: DVec3) -> f64 {
    let (way, along) = (p - a, b - a);
    let square = along.length_squared();
    let t = if square > 0.0 { (way.dot(along) / square).clamp(0.0, 1.0) } else { 0.0 };
    (way - along * t).length()
}

#[cfg(test)]
#[path = "manifold_tests.rs"]
mod tests;
