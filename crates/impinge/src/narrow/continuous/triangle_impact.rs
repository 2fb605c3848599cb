//! What two triangles of moving meshes touch with at the time of a contact.

use glam::DVec3;

use super::answer::{ContactKind, Impact};
use super::contact_normal::features_normal;
use super::moving_mesh::MovingMesh;
use super::triangle_pair::Step;
use crate::Feature;
use crate::geom::common_point::common_point;
use crate::geom::point_triangle::TriangleFeature;
use crate::narrow::exact::closest_point::feature;

/// The contact of two triangles, whose corners are given, at a time; proved where they meet then.
pub(super) fn triangle_impact(
    bodies: &[MovingMesh<'_>; 2],
    pair: [u32; 2],
    time: f64,
    found: &Step,
    meets: bool,
    [a, b]: [&[DVec3; 3]; 2],
    noise: f64,
) -> Impact {
    let (kind, parts) = match found.near.parts {
        [TriangleFeature::Side(i), TriangleFeature::Side(j)] => {
            (ContactKind::EdgeEdge, [TriangleFeature::Side(i), TriangleFeature::Side(j)])
        }
        [TriangleFeature::Corner(i), _] => {
            (ContactKind::VertexFace, [TriangleFeature::Corner(i), TriangleFeature::Inside])
        }
        [_, TriangleFeature::Corner(j)] => {
            (ContactKind::FaceVertex, [TriangleFeature::Inside, TriangleFeature::Corner(j)])
        }
        other => (ContactKind::EdgeEdge, other),
    };
    let side = |k: usize| -> Feature { feature(bodies[k].model.mesh(), pair[k], parts[k]) };
    let [p, q] = found.near.points;
    let point = if meets { common_point(a, b) } else { p.midpoint(q) };
    let velocity = |k: usize, x: DVec3| bodies[k].motion.twist(time).velocity(x);
    let way = || velocity(0, p) - velocity(1, q);
    Impact {
        time,
        kind,
        features: [side(0), side(1)],
        triangles: pair.map(Some),
        point,
        normal: features_normal(found, &parts, [a, b], noise, way),
        proved: meets,
    }
}
