//! The slow twin of the walk: every pair of features is measured, every direction that could part two
//! bodies is tried. Nothing here knows neighbours, Voronoi regions or a start.

use glam::DVec3;

use super::answer::PlacedPolytope;
use super::voronoi_walk::FeaturePair;
use crate::contact::Separation;
use crate::geom::point_triangle::segment_foot;
use crate::geom::segment_segment::closest_points;
use crate::geom::unit_normal::unit_normal;
#[cfg(any(test, feature = "unstable"))]
use crate::motion::Pose;
#[cfg(any(test, feature = "unstable"))]
use crate::num::tolerance::PLACING_ERROR;
use crate::shape::{Edge, Polytope};

#[cfg(any(test, feature = "unstable"))]
/// The signed distance of two polytopes: the smallest over all pairs of features, or minus the smallest
/// depth over all normals of faces and of pairs of edges.
pub fn signed_distance(a: &Polytope, pose_a: &Pose, b: &Polytope, pose_b: &Pose) -> f64 {
    let [a, b] = [PlacedPolytope { body: a, pose: pose_a }, PlacedPolytope { body: b, pose: pose_b }];
    let origin = a.corner(0);
    let [a, b] = [a, b].map(|p| placed_hull(p, origin));
    if meet(&a, &b) { -least_depth(&a, &b).0 } else { nearest_placed(&a, &b).1.sqrt() }
}

/// The hull of the placed corners, seen from a point near them, so that far from the world's origin no digits are lost.
/// Rounding may change the faces of a sliver, and then only the hull's own faces and edges give the directions to try.
fn placed_hull(p: PlacedPolytope<'_>, origin: DVec3) -> Polytope {
    let corners: Vec<DVec3> = p.body.vertices().iter().map(|&v| p.pose.apply(v) - origin).collect();
    Polytope::hull(&corners).unwrap_or_else(|_| p.body.map(|v| p.pose.apply(v) - origin))
}

/// The nearest features of two bodies that do not overlap, with the way between them, the points and the unit normal
/// that parts the bodies best.
pub(super) fn nearest(
    a: PlacedPolytope<'_>,
    b: PlacedPolytope<'_>,
) -> (FeaturePair, DVec3, [DVec3; 2], DVec3) {
    let origin = a.corner(0);
    let (_, parting) = least_depth(&placed_hull(a, origin), &placed_hull(b, origin));
    let [a, b] = [a, b].map(|p| p.body.map(|v| p.pose.apply(v) - origin));
    let (pair, _, points) = nearest_placed(&a, &b);
    let between = points[1] - points[0];
    let across = |e: &Edge| between - e.along * (between.dot(e.along) / e.along.length_squared());
    // Where the gap is mostly rounding, what is known of its direction from the features counts more.
    let of_features = match pair {
        FeaturePair::Vertices { .. } => between,
        FeaturePair::EdgeVertex { a: true, edge, .. } => across(&a.edges()[edge as usize]),
        FeaturePair::EdgeVertex { a: false, edge, .. } => across(&b.edges()[edge as usize]),
        FeaturePair::FaceVertex { a: true, face, .. } => a.faces()[face as usize].normal,
        FeaturePair::FaceVertex { a: false, face, .. } => -b.faces()[face as usize].normal,
        FeaturePair::Edges { a: i, b: j } => {
            let n = edge_normal(&a.edges()[i as usize], &b.edges()[j as usize]);
            if n.dot(between) < 0.0 { -n } else { n }
        }
    };
    let slab = |n: &DVec3| -reach(&a, *n) - reach(&b, -*n);
    let unit = |d: DVec3| (d / d.abs().max_element()).normalize();
    let candidates = [parting, unit(between), unit(of_features)].into_iter().filter(|n| n.is_finite());
    let normal = candidates.max_by(|m, n| slab(m).total_cmp(&slab(n))).unwrap_or(parting);
    (pair, between, points.map(|p| p + origin), normal)
}

/// The depth of bodies that are in each other, over every direction, at the place of a first guess.
pub(super) fn deep(a: PlacedPolytope<'_>, b: PlacedPolytope<'_>, guess: Separation) -> Separation {
    let origin = a.corner(0);
    let (depth, normal) = least_depth(&placed_hull(a, origin), &placed_hull(b, origin));
    let x = guess.points[0];
    Separation { distance: -depth, points: [x, x - normal * depth], normal, ..guess }
}

/// The smallest translation that separates two bodies that meet, over every direction that can be it.
fn least_depth(a: &Polytope, b: &Polytope) -> (f64, DVec3) {
    let mut best = (f64::INFINITY, DVec3::X);
    directions(a, b, |n| {
        let depth = reach(a, n) + reach(b, -n);
        if depth < best.0 {
            best = (depth, n);
        }
    });
    best
}

#[cfg(any(test, feature = "unstable"))]
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

#[cfg(any(test, feature = "unstable"))]
fn crosses(start: DVec3, along: DVec3, q: &Polytope, face: u32) -> bool {
    let f = &q.faces()[face as usize];
    let (from, to) = (f.normal.dot(start - f.corner), f.normal.dot(start + along - f.corner));
    if from * to > 0.0 || from == to {
        return false;
    }
    let point = start + along * (from / (from - to));
    let rounding = PLACING_ERROR * (start.abs() + along.abs() + f.corner.abs()).max_element();
    q.sides(face).iter().all(|s| s.outward.dot(point - s.corner) <= rounding * s.outward.length())
}

fn edge_normal(e: &Edge, f: &Edge) -> DVec3 {
    unit_normal(3, |i| [DVec3::ZERO, e.along, f.along][i])
}

/// How far a body reaches along a direction.
fn reach(p: &Polytope, along: DVec3) -> f64 {
    p.vertices().iter().map(|v| v.dot(along)).fold(f64::NEG_INFINITY, f64::max)
}

/// The normals of faces and of pairs of edges, from a to b; across everything where bodies span no volume
/// together.
fn directions(a: &Polytope, b: &Polytope, mut consider: impl FnMut(DVec3)) {
    a.faces().iter().for_each(|f| consider(f.normal));
    b.faces().iter().for_each(|f| consider(-f.normal));
    let mut any = !(a.faces().is_empty() && b.faces().is_empty());
    for e in a.edges() {
        for f in b.edges() {
            let n = edge_normal(e, f);
            if n.is_finite() {
                any = true;
                consider(n);
                consider(-n);
            }
        }
    }
    if !any {
        let along = a.edges().first().or(b.edges().first()).map_or(DVec3::Z, |e| e.along);
        consider((along / along.abs().max_element()).normalize().any_orthonormal_vector());
    }
}

/// The nearest features of two bodies in the world that do not overlap, their squared distance, and the points.
fn nearest_placed(a: &Polytope, b: &Polytope) -> (FeaturePair, f64, [DVec3; 2]) {
    let mut best = (FeaturePair::Vertices { a: 0, b: 0 }, f64::INFINITY, [DVec3::ZERO; 2]);
    let mut consider = |pair: FeaturePair, p: DVec3, q: DVec3| {
        let distance_sq = p.distance_squared(q);
        if distance_sq < best.1 {
            best = (pair, distance_sq, [p, q]);
        }
    };
    for (i, &p) in a.vertices().iter().enumerate() {
        for (j, &q) in b.vertices().iter().enumerate() {
            consider(FeaturePair::Vertices { a: i as u32, b: j as u32 }, p, q);
        }
    }
    for (is_a, own, other) in [(true, a, b), (false, b, a)] {
        let mut consider = |pair, x, y| if is_a { consider(pair, x, y) } else { consider(pair, y, x) };
        for (v, &y) in other.vertices().iter().enumerate() {
            let vertex = v as u32;
            for (edge, e) in own.edges().iter().enumerate() {
                let part = (y - e.start).dot(e.along) / e.along.length_squared();
                if part > 0.0 && part < 1.0 {
                    let pair = FeaturePair::EdgeVertex { a: is_a, edge: edge as u32, vertex };
                    consider(pair, e.start + e.along * part, y);
                }
            }
            for (face, f) in own.faces().iter().enumerate() {
                let height = f.normal.dot(y - f.corner);
                let over = own.sides(face as u32).iter().all(|s| s.outward.dot(y - s.corner) <= 0.0);
                // Below a face too: rounding may put a corner that touches it there.
                if over {
                    let pair = FeaturePair::FaceVertex { a: is_a, face: face as u32, vertex };
                    consider(pair, y - f.normal * height, y);
                }
            }
        }
    }
    let ends = |p: &Polytope, edge: usize| p.edges()[edge].ends.map(|v| p.vertices()[v as usize]);
    for i in 0..a.edges().len() {
        for j in 0..b.edges().len() {
            let ([p, p1], [q, q1]) = (ends(a, i), ends(b, j));
            let closest = closest_points(&[p, p1], &[q, q1]);
            if closest.ends == [None; 2] {
                // Nearly parallel edges: each foot takes away what rounding left along the other.
                let y = segment_foot(closest.points[0], q, q1).0;
                consider(FeaturePair::Edges { a: i as u32, b: j as u32 }, segment_foot(y, p, p1).0, y);
            }
        }
    }
    best
}
