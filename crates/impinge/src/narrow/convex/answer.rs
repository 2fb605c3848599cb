//! From a pair of features to the answer in the world, measured on the placed corners.

use glam::DVec3;

use super::voronoi_walk::{FeaturePair, Near};
use crate::contact::{Feature, Separation};
use crate::geom::point_triangle::{norm, segment_foot};
use crate::motion::Pose;
use crate::num::tolerance::SLAB_ROUNDING;
use crate::shape::Polytope;

/// A polytope in the world; its pose is a rotation to rounding.
#[derive(Clone, Copy)]
pub(super) struct PlacedPolytope<'p> {
    pub body: &'p Polytope,
    pub pose: &'p Pose,
}

impl PlacedPolytope<'_> {
    pub fn corner(&self, vertex: u32) -> DVec3 {
        self.pose.apply(self.body.vertices()[vertex as usize])
    }

    pub fn edge(&self, edge: u32) -> [DVec3; 2] {
        self.body.edges()[edge as usize].ends.map(|v| self.corner(v))
    }

    fn vertex_feature(&self, vertex: u32) -> Feature {
        Feature::Vertex(self.body.original(vertex))
    }

    fn edge_feature(&self, edge: u32) -> Feature {
        let [i, j] = self.body.edges()[edge as usize].ends.map(|v| self.body.original(v));
        Feature::Edge([i, j])
    }

    /// The feature that a few corners of one face span.
    fn feature_of(&self, vertices: &[u32], normal: DVec3) -> Feature {
        let body = self.body;
        let first = vertices[0];
        let Some(&second) = vertices.iter().find(|&&v| v != first) else { return self.vertex_feature(first) };
        let flat = vertices.iter().all(|&v| v == first || v == second);
        let edge = body.spokes(first).iter().find(|spoke| spoke.to == second);
        match edge {
            Some(spoke) if flat => self.edge_feature(spoke.edge),
            _ => {
                let around = body.spokes(first).iter().flat_map(|s| body.edges()[s.edge as usize].faces);
                let slope =
                    |f: &u32| body.faces().get(*f as usize).map_or(-1.0, |face| face.normal.dot(normal));
                let face = around.max_by(|f, g| slope(f).total_cmp(&slope(g)));
                face.map_or(self.vertex_feature(first), Feature::Face)
            }
        }
    }
}

/// The separation of two features that are the nearest ones; the normal is that of the walk, distance and
/// points are measured in the world.
#[inline]
pub(super) fn between(a: PlacedPolytope<'_>, b: PlacedPolytope<'_>, near: Near) -> Separation {
    let normal = a.pose.matrix() * near.across;
    let normal = normal / norm(normal);
    let (distance, points) = match near.pair {
        FeaturePair::Vertices { a: i, b: j } => apart([a.corner(i), b.corner(j)]),
        FeaturePair::EdgeVertex { a: true, edge, vertex } => edge_vertex(a, b, edge, vertex),
        FeaturePair::EdgeVertex { a: false, edge, vertex } => swapped(edge_vertex(b, a, edge, vertex)),
        FeaturePair::FaceVertex { a: true, face, vertex } => face_vertex(a, b, normal, face, vertex),
        FeaturePair::FaceVertex { a: false, face, vertex } => {
            swapped(face_vertex(b, a, -normal, face, vertex))
        }
        FeaturePair::Edges { a: i, b: j } => edges(a, b, normal, i, j),
    };
    Separation { distance, points, features: features(a, b, near.pair), normal }
}

type Measured = (f64, [DVec3; 2]);

fn swapped((distance, [p, q]): Measured) -> Measured {
    (distance, [q, p])
}

/// The features of a pair by their names.
pub(super) fn features(a: PlacedPolytope<'_>, b: PlacedPolytope<'_>, pair: FeaturePair) -> [Feature; 2] {
    match pair {
        FeaturePair::Vertices { a: i, b: j } => [a.vertex_feature(i), b.vertex_feature(j)],
        FeaturePair::Edges { a: i, b: j } => [a.edge_feature(i), b.edge_feature(j)],
        FeaturePair::EdgeVertex { a: true, edge, vertex } => [a.edge_feature(edge), b.vertex_feature(vertex)],
        FeaturePair::EdgeVertex { a: false, edge, vertex } => {
            [a.vertex_feature(vertex), b.edge_feature(edge)]
        }
        FeaturePair::FaceVertex { a: true, face, vertex } => [Feature::Face(face), b.vertex_feature(vertex)],
        FeaturePair::FaceVertex { a: false, face, vertex } => [a.vertex_feature(vertex), Feature::Face(face)],
    }
}

/// The separation of two bodies whose difference has the origin's foot on a face, from the corners of that
/// face with their weights at the foot; and whether the points lie opposite each other up to rounding.
pub(super) fn on_face(
    a: PlacedPolytope<'_>,
    b: PlacedPolytope<'_>,
    normal: DVec3,
    corners: [[u32; 2]; 3],
    weights: [f64; 3],
) -> (Separation, bool) {
    let world = a.pose.matrix() * normal;
    let placed = [corners.map(|[i, _]| a.corner(i)), corners.map(|[_, j]| b.corner(j))];
    let points = placed.map(|c| c.iter().zip(weights).map(|(p, w)| p * w).sum::<DVec3>());
    let size = placed.as_flattened().iter().map(|p| p.abs().max_element()).fold(0.0, f64::max);
    let taking_part = |which: usize| {
        let mut list = corners.iter().zip(weights).filter(|(_, w)| *w > 0.0).map(|(of, _)| of[which]);
        let first = list.next().unwrap_or(corners[0][which]);
        let second = list.next().unwrap_or(first);
        [first, second, list.next().unwrap_or(first)]
    };
    let in_b = b.pose.matrix().transpose() * -world;
    let features = [a.feature_of(&taking_part(0), normal), b.feature_of(&taking_part(1), in_b)];
    // Differences of corners keep the digits that the points lose far from the origin.
    let between = (0..3).map(|k| (placed[1][k] - placed[0][k]) * weights[k]).sum::<DVec3>();
    let distance = world.dot(between);
    let off = norm(between - world * distance);
    (Separation { distance, points, features, normal: world }, off <= SLAB_ROUNDING * size)
}

fn apart(points: [DVec3; 2]) -> Measured {
    (norm(points[1] - points[0]), points)
}

fn edge_vertex(a: PlacedPolytope<'_>, b: PlacedPolytope<'_>, edge: u32, vertex: u32) -> Measured {
    let y = b.corner(vertex);
    // Seen from the corner, so that the length keeps the digits that the point loses far from the origin.
    let [p, q] = a.edge(edge).map(|end| end - y);
    let foot = segment_foot(DVec3::ZERO, p, q).0;
    (norm(foot), [foot + y, y])
}

fn face_vertex(
    a: PlacedPolytope<'_>,
    b: PlacedPolytope<'_>,
    normal: DVec3,
    face: u32,
    vertex: u32,
) -> Measured {
    let y = b.corner(vertex);
    let distance = normal.dot(y - a.pose.apply(a.body.faces()[face as usize].corner));
    (distance, [y - normal * distance, y])
}

fn edges(a: PlacedPolytope<'_>, b: PlacedPolytope<'_>, normal: DVec3, i: u32, j: u32) -> Measured {
    let ([p, p1], [q, q1]) = (a.edge(i), b.edge(j));
    let (u, v, r) = (p1 - p, q1 - q, q - p);
    let across = u.cross(v);
    let s = r.cross(v).dot(across) / across.length_squared();
    // Where the edges are nearly parallel the first guess may be anywhere; each foot sets it right.
    let x = p + u * if s > 0.0 { s.min(1.0) } else { 0.0 };
    let y = segment_foot(x, q, q1).0;
    (r.dot(normal), [segment_foot(y, p, p1).0, y])
}
