//! The contact patch of two polytopes that touch, overlap or come near: the face of one is clipped by the
//! sides of the other's (Sutherland and Hodgman, "Reentrant polygon clipping", 1974).
//!
//! Each point is named by the two features that make it: a corner over a face, or two edges that cross. The
//! names stay the same while the same features meet, so that a solver can keep what it knows of a point.
//! Where no face looks along the normal, as when two edges cross, the patch is the one pair of nearest
//! points.

use glam::DVec3;
use smallvec::{SmallVec, smallvec};

use crate::contact::{Feature, Separation};
use crate::motion::Pose;
use crate::num::tolerance::{FACE_CONTACT, SAME_FACE_CONTACT};
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

/// The patch of two polytopes whose separation is known, with the points not farther apart than `margin`.
///
/// ```
/// use impinge::narrow::convex::{manifold::manifold, walk::{WalkMemory, distance}};
/// use impinge::{Polytope, Pose};
/// use glam::DVec3;
///
/// let cube = Polytope::hull(&(0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from).into()).collect::<Vec<DVec3>>())?;
/// let (still, above) = (Pose::IDENTITY, Pose::from_translation([0.5, 0.25, 1.0]));
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
    let normal = separation.normal;
    if !(separation.distance <= margin) {
        return Manifold { normal, points: SmallVec::new() };
    }
    let (a, b) = (Body { shape: a, pose: pose_a }, Body { shape: b, pose: pose_b });
    let (face_a, face_b) = (a.facing(normal), b.facing(-normal));
    let slope = |face: Option<(u32, f64)>| face.map_or(-1.0, |(_, slope)| slope);
    // b's face must look along the normal clearly better, so that rounding does not rename the points.
    let of_b = slope(face_b) > slope(face_a) + SAME_FACE_CONTACT;
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
    if points.is_empty() {
        let Separation { points, distance, features, .. } = *separation;
        return Manifold { normal, points: smallvec![PatchPoint { points, distance, features }] };
    }
    Manifold { normal, points }
}

struct Body<'p> {
    shape: &'p Polytope,
    pose: &'p Pose,
}

impl Body<'_> {
    fn corner(&self, vertex: u32) -> DVec3 {
        self.pose.apply(self.shape.vertices()[vertex as usize])
    }

    fn vertex(&self, vertex: u32) -> Feature {
        Feature::Vertex(self.shape.original(vertex))
    }

    fn edge(&self, edge: u32) -> Feature {
        Feature::Edge(self.shape.edges()[edge as usize].ends.map(|v| self.shape.original(v)))
    }

    /// The face that looks along a direction best among those around the farthest corner, and the cosine of
    /// the angle between.
    fn facing(&self, direction: DVec3) -> Option<(u32, f64)> {
        let local = self.pose.matrix().transpose() * direction;
        let top = self.shape.support(local, 0);
        let edges = self.shape.spokes(top).iter().flat_map(|s| self.shape.edges()[s.edge as usize].faces);
        let slopes = edges.filter_map(|f| Some((f, self.shape.faces().get(f as usize)?.normal.dot(local))));
        slopes.max_by(|(f, x), (g, y)| x.total_cmp(y).then(g.cmp(f)))
    }

    /// What is clipped: a face, or all of a segment or point. Corners with the edge that leaves each.
    fn outline(&self, face: Option<u32>) -> Polygon {
        match face {
            Some(face) => {
                let sides = self.shape.sides(face).iter();
                sides
                    .map(|s| Corner {
                        at: self.corner(s.start),
                        name: self.vertex(s.start),
                        along: Line::Of(self.edge(s.edge)),
                    })
                    .collect()
            }
            None => (0..self.shape.vertices().len() as u32)
                .map(|v| {
                    let along = self.shape.spokes(v).first().map_or(self.vertex(v), |s| self.edge(s.edge));
                    Corner { at: self.corner(v), name: self.vertex(v), along: Line::Of(along) }
                })
                .collect(),
        }
    }
}

/// Where a side of the clipped polygon comes from.
#[derive(Clone, Copy, PartialEq)]
enum Line {
    /// An edge of the clipped body.
    Of(Feature),
    /// A side of the clipping face, by its number.
    Cut(usize),
}

/// A corner of the clipped polygon: its name, and the side that leaves it.
#[derive(Clone, Copy)]
struct Corner {
    at: DVec3,
    name: Feature,
    along: Line,
}

type Polygon = SmallVec<[Corner; 16]>;

/// The other body's face clipped by the sides of this body's, along the normal away from this one.
fn clip(
    own: &Body<'_>,
    face: u32,
    other: &Body<'_>,
    other_face: Option<u32>,
    normal: DVec3,
    margin: f64,
) -> SmallVec<[PatchPoint; 8]> {
    let sides = own.shape.sides(face);
    let own_face = Feature::Face(face);
    let theirs = other_face.map_or(Feature::Vertex(other.shape.original(0)), Feature::Face);
    // The names of what makes each corner: first a corner of theirs over our face.
    let mut polygon: SmallVec<[(Corner, [Feature; 2]); 16]> =
        other.outline(other_face).into_iter().map(|c| (c, [own_face, c.name])).collect();
    for (k, side) in sides.iter().enumerate() {
        let next = &sides[(k + 1) % sides.len()];
        let (p, q) = (own.corner(side.start), own.corner(next.start));
        let outward = (q - p).cross(normal);
        let height = |c: &Corner| outward.dot(c.at - p);
        let crossing = |from: &Corner, to: &Corner| {
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
        let mut kept: SmallVec<[(Corner, [Feature; 2]); 16]> = SmallVec::new();
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
                kept.push((Corner { at, along, ..from }, features));
            }
        }
        polygon = kept;
    }
    let f = &own.shape.faces()[face as usize];
    let (up, base) = (own.pose.matrix() * f.normal, own.pose.apply(f.corner));
    let mut points: SmallVec<[PatchPoint; 8]> = SmallVec::new();
    for (corner, features) in polygon {
        let distance = up.dot(corner.at - base) / up.dot(normal);
        // A segment goes there and back, and names its points twice.
        if distance <= margin && !points.iter().any(|p| p.features == features) {
            points.push(PatchPoint {
                points: [corner.at - normal * distance, corner.at],
                distance,
                features,
            });
        }
    }
    points
}

#[cfg(test)]
#[path = "manifold_tests.rs"]
mod tests;
