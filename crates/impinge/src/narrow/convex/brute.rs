//! The slow twin of the walk: every pair of features is measured, every direction that could part two
//! bodies is tried. Nothing here knows neighbours, Voronoi regions or a start.

use glam::DVec3;

use super::answer::Placed;
use super::region::Pair;
use crate::geom::segment_segment::closest_points;
use crate::motion::Pose;
use crate::shape::Polytope;

/// The signed distance of two polytopes: the smallest over all pairs of features, or minus the smallest
/// depth over all normals of faces and of pairs of edges.
pub fn signed_distance(a: &Polytope, pose_a: &Pose, b: &Polytope, pose_b: &Pose) -> f64 {
    let [wa, wb] = [(a, pose_a), (b, pose_b)].map(|(body, pose)| body.map(|p| pose.apply(p)));
    let (a, b) = (&wa, &wb);
    if meet(a, b) { -depth(a, b) } else { nearest_placed(a, b).1.sqrt() }
}

/// The nearest features of two bodies that do not overlap.
pub(super) fn nearest(a: Placed<'_>, b: Placed<'_>) -> Pair {
    let [a, b] = [a, b].map(|p| p.body.map(|v| p.pose.apply(v)));
    nearest_placed(&a, &b).0
}

/// Whether a corner of one is in the other, or an edge of one goes through a face of the other.
fn meet(a: &Polytope, b: &Polytope) -> bool {
    let holds = |p: &Polytope, q: DVec3| {
        p.dimension() == 3 && p.faces().iter().all(|f| f.normal.dot(q - f.corner) <= 0.0)
    };
    let pierces = |p: &Polytope, q: &Polytope| {
        p.edges().iter().any(|e| (0..q.faces().len() as u32).any(|f| crosses(e.start, e.along, q, f)))
    };
    holds(a, b.vertices()[0]) || holds(b, a.vertices()[0]) || pierces(a, b) || pierces(b, a)
}

fn crosses(start: DVec3, along: DVec3, q: &Polytope, face: u32) -> bool {
    let f = &q.faces()[face as usize];
    let (from, to) = (f.normal.dot(start - f.corner), f.normal.dot(start + along - f.corner));
    if from * to > 0.0 || from == to {
        return false;
    }
    let point = start + along * (from / (from - to));
    q.sides(face).iter().all(|s| s.outward.dot(point - s.corner) <= 0.0)
}

/// The smallest translation that parts two overlapping bodies, over every direction that can be it.
fn depth(a: &Polytope, b: &Polytope) -> f64 {
    let mut least = f64::INFINITY;
    let mut consider = |n: DVec3| {
        if n.is_finite() {
            let top = a.vertices().iter().map(|p| p.dot(n)).fold(f64::NEG_INFINITY, f64::max);
            let bottom = b.vertices().iter().map(|p| p.dot(n)).fold(f64::INFINITY, f64::min);
            least = least.min(top - bottom);
        }
    };
    a.faces().iter().for_each(|f| consider(f.normal));
    b.faces().iter().for_each(|f| consider(-f.normal));
    for e in a.edges() {
        for f in b.edges() {
            let n = e.along.normalize().cross(f.along.normalize()).normalize();
            consider(n);
            consider(-n);
        }
    }
    // Bodies that span no volume together part without moving.
    if least == f64::INFINITY { 0.0 } else { least }
}

/// The nearest features of two bodies in the world that do not overlap, and their squared distance.
fn nearest_placed(a: &Polytope, b: &Polytope) -> (Pair, f64) {
    let mut best = (Pair::Vertices { a: 0, b: 0 }, f64::INFINITY);
    let mut consider = |pair: Pair, distance_sq: f64| {
        if distance_sq < best.1 {
            best = (pair, distance_sq);
        }
    };
    for (i, p) in a.vertices().iter().enumerate() {
        for (j, q) in b.vertices().iter().enumerate() {
            consider(Pair::Vertices { a: i as u32, b: j as u32 }, p.distance_squared(*q));
        }
    }
    for (is_a, own, other) in [(true, a, b), (false, b, a)] {
        for (v, &y) in other.vertices().iter().enumerate() {
            let vertex = v as u32;
            for (edge, e) in own.edges().iter().enumerate() {
                let part = (y - e.start).dot(e.along) / e.along.length_squared();
                if part > 0.0 && part < 1.0 {
                    let pair = Pair::EdgeVertex { a: is_a, edge: edge as u32, vertex };
                    consider(pair, y.distance_squared(e.start + e.along * part));
                }
            }
            for (face, f) in own.faces().iter().enumerate() {
                let height = f.normal.dot(y - f.corner);
                let over = own.sides(face as u32).iter().all(|s| s.outward.dot(y - s.corner) <= 0.0);
                if over && height >= 0.0 {
                    consider(Pair::FaceVertex { a: is_a, face: face as u32, vertex }, height * height);
                }
            }
        }
    }
    let ends = |p: &Polytope, edge: usize| p.edges()[edge].ends.map(|v| p.vertices()[v as usize]);
    for i in 0..a.edges().len() {
        for j in 0..b.edges().len() {
            let closest = closest_points(&ends(a, i), &ends(b, j));
            if closest.ends == [None; 2] {
                consider(Pair::Edges { a: i as u32, b: j as u32 }, closest.distance_sq);
            }
        }
    }
    best
}
