//! From a pair of features to the answer in the world, measured on the placed corners.

use glam::DVec3;

use super::region::Pair;
use crate::contact::{Feature, Separation};
use crate::geom::point_triangle::{norm, segment_foot};
use crate::motion::Pose;
use crate::num::tolerance::NEARLY_PARALLEL;
use crate::shape::Polytope;

/// A polytope in the world; its pose is a rotation to rounding.
#[derive(Clone, Copy)]
pub(super) struct Placed<'p> {
    pub body: &'p Polytope,
    pub pose: &'p Pose,
}

impl Placed<'_> {
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

/// The separation of two features that are the nearest ones.
#[inline]
pub(super) fn between(a: Placed<'_>, b: Placed<'_>, pair: Pair) -> Separation {
    match pair {
        Pair::Vertices { a: i, b: j } => {
            let features = [a.vertex_feature(i), b.vertex_feature(j)];
            from_points([a.corner(i), b.corner(j)], features)
        }
        Pair::EdgeVertex { a: true, edge, vertex } => edge_vertex(a, b, edge, vertex),
        Pair::EdgeVertex { a: false, edge, vertex } => edge_vertex(b, a, edge, vertex).swapped(),
        Pair::FaceVertex { a: true, face, vertex } => face_vertex(a, b, face, vertex),
        Pair::FaceVertex { a: false, face, vertex } => face_vertex(b, a, face, vertex).swapped(),
        Pair::Edges { a: i, b: j } => edges(a, b, i, j),
    }
}

/// The separation of two bodies that are in each other, from the nearest face of their difference.
pub(super) fn inside(
    a: Placed<'_>,
    b: Placed<'_>,
    normal: DVec3,
    corners: [[u32; 2]; 3],
    weights: [f64; 3],
) -> Separation {
    let world = a.pose.matrix() * normal;
    let point = |body: Placed<'_>, which: usize| -> DVec3 {
        corners.iter().zip(weights).map(|(of, w)| body.corner(of[which]) * w).sum()
    };
    let points = [point(a, 0), point(b, 1)];
    let taking_part = |which: usize| {
        let mut list = corners.iter().zip(weights).filter(|(_, w)| *w > 0.0).map(|(of, _)| of[which]);
        let first = list.next().unwrap_or(corners[0][which]);
        let second = list.next().unwrap_or(first);
        [first, second, list.next().unwrap_or(first)]
    };
    let in_b = b.pose.matrix().transpose() * -world;
    Separation {
        distance: world.dot(points[1] - points[0]),
        points,
        features: [a.feature_of(&taking_part(0), normal), b.feature_of(&taking_part(1), in_b)],
        normal: world,
    }
}

fn from_points(points: [DVec3; 2], features: [Feature; 2]) -> Separation {
    let between = points[1] - points[0];
    let distance = norm(between);
    Separation { distance, points, features, normal: between / distance }
}

fn edge_vertex(a: Placed<'_>, b: Placed<'_>, edge: u32, vertex: u32) -> Separation {
    let [p, q] = a.edge(edge);
    let y = b.corner(vertex);
    from_points([segment_foot(y, p, q).0, y], [a.edge_feature(edge), b.vertex_feature(vertex)])
}

fn face_vertex(a: Placed<'_>, b: Placed<'_>, face: u32, vertex: u32) -> Separation {
    let f = &a.body.faces()[face as usize];
    let normal = a.pose.matrix() * f.normal;
    let y = b.corner(vertex);
    let distance = normal.dot(y - a.pose.apply(f.corner));
    let features = [Feature::Face(face), b.vertex_feature(vertex)];
    Separation { distance, points: [y - normal * distance, y], features, normal }
}

fn edges(a: Placed<'_>, b: Placed<'_>, i: u32, j: u32) -> Separation {
    let ([p, p1], [q, q1]) = (a.edge(i), b.edge(j));
    let (u, v, r) = (p1 - p, q1 - q, q - p);
    let features = [a.edge_feature(i), b.edge_feature(j)];
    let normal = u.cross(v);
    let square = normal.length_squared();
    let [s, t] = [v, u].map(|d| (r.cross(d).dot(normal) / square).clamp(0.0, 1.0));
    let points = [p + u * s, q + v * t];
    if !(square > NEARLY_PARALLEL * u.length_squared() * v.length_squared()) {
        return from_points(points, features);
    }
    let unit = normal / square.sqrt();
    let gap = r.dot(unit);
    Separation { distance: gap.abs(), points, features, normal: if gap < 0.0 { -unit } else { unit } }
}
