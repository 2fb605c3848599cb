//! Whether a placed box and a triangle of a placed mesh share a point, where doubles tell it for certain.
//!
//! A box and a triangle are apart exactly if one of thirteen axes separates them (Akenine-Möller 2001): the normals of
//! the box, that of the triangle, and the products of their edges. All is measured in the box's frame. A gap wider than
//! what rounding can be proves them apart; thirteen overlaps deeper than that prove that they meet; the rest is left to
//! exact numbers.

use std::ops::ControlFlow;

use glam::DVec3;

use super::exact::placed_mesh::PlacedMesh;
use crate::Pose;
use crate::num::tolerance::SCENE_OVERLAP_ROUNDING;

/// Whether a solid box of these half sides shares a point with a triangle of the mesh; `None` where rounding hides it.
pub(crate) fn meets(half: DVec3, pose: &Pose, body: &PlacedMesh<'_>) -> Option<bool> {
    let rigid = pose.rigid();
    let (turn, at) = (rigid.matrix(), rigid.translation());
    let back = turn.transpose();
    let [low, high] = body.bounds();
    let size = low.abs().max(high.abs()).max_element()
        + at.abs().max_element()
        + half.max_element()
        + body.pose.translation().abs().max_element();
    let pad = SCENE_OVERLAP_ROUNDING * size;
    let mut found = Some(false);
    body.in_cuboid(&turn, at, half, |t| {
        match meets_triangle(half, &body.corners(t).map(|p| back * (p - at)), pad) {
            Some(false) => ControlFlow::Continue(()),
            Some(true) => {
                found = Some(true);
                ControlFlow::Break(())
            }
            // Another triangle may tell.
            None => {
                found = None;
                ControlFlow::Continue(())
            }
        }
    });
    found
}

/// Whether a box about the origin meets a triangle whose corners are known to `pad`; `None` where that hides it.
fn meets_triangle(half: DVec3, corners: &[DVec3; 3], pad: f64) -> Option<bool> {
    let [a, b, c] = *corners;
    let gap = a.min(b).min(c).max(-a.max(b).max(c)) - half;
    if gap.max_element() > pad {
        return Some(false);
    }
    let mut sure = gap.max_element() < -pad;
    // The gap along an axis of this length at most, and whether it parts them.
    let mut parts = |axis: DVec3, length: f64, [low, high]: [f64; 2]| {
        let gap = low.max(-high) - axis.abs().dot(half);
        let doubt = 4.0 * pad * length;
        sure &= gap < -doubt;
        gap > doubt
    };
    let sides = [b - a, c - b, a - c];
    let lengths = sides.map(|side| side.abs().element_sum());
    let normal = sides[0].cross(sides[1]);
    let height = normal.dot(a);
    if parts(normal, lengths[0] * lengths[1], [height; 2]) {
        return Some(false);
    }
    for (side, length) in sides.into_iter().zip(lengths) {
        for of in DVec3::AXES {
            let axis = side.cross(of);
            let [p, q, r] = corners.map(|corner| axis.dot(corner));
            if parts(axis, length, [p.min(q).min(r), p.max(q).max(r)]) {
                return Some(false);
            }
        }
    }
    sure.then_some(true)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::model::Model;
    use crate::narrow::convex::separation::{ConvexMemory, distance};
    use crate::shape::{Convex, Primitive, procedural};

    /// What is certain is what GJK says of every triangle, and nearly all is.
    #[test]
    fn certain_answers_are_those_of_every_triangle() {
        let mut rng = Pcg64::seed_from_u64(5);
        let mut vector = |size: f64| DVec3::from_array([(); 3].map(|()| rng.random_range(-size..size)));
        let meshes = [
            Model::from(procedural::torus(0.6, 0.2, 10, 6).unwrap()),
            Model::from(procedural::blob(0.6, 0.2, 2, 5).unwrap()),
        ];
        let (mut met, mut apart) = (0, 0);
        for k in 0..600 {
            let half = vector(0.5).abs() + 0.05;
            let [pose, at] = [(); 2].map(|()| {
                let (place, turn) = (vector(0.7), vector(1.0));
                Pose::new(place.to_array(), [turn.x, turn.y, turn.z, 0.3]).unwrap()
            });
            let body = PlacedMesh::new(&meshes[k % 2], &at);
            let solid = Convex::Primitive(Primitive::Cuboid { half });
            let touches = (0..body.model.mesh().triangles().len() as u32).any(|t| {
                let triangle = Convex::Primitive(Primitive::Triangle { corners: body.corners(t) });
                let memory = &mut ConvexMemory::default();
                distance(&solid, &pose, &triangle, &Pose::IDENTITY, memory).0.distance <= 0.0
            });
            assert_eq!(meets(half, &pose, &body), Some(touches), "{k}");
            met += usize::from(touches);
            apart += usize::from(!touches);
        }
        assert!(met > 200 && apart > 100, "{met} {apart}");
    }

    #[test]
    fn touching_is_left_open() {
        let half = DVec3::ONE;
        let corners =
            |x: f64| [DVec3::new(x, 0.0, 0.0), DVec3::new(3.0, 1.0, 0.2), DVec3::new(3.0, -1.0, 0.3)];
        assert_eq!(meets_triangle(half, &corners(1.0), 1e-13), None);
        assert_eq!(meets_triangle(half, &corners(1.0 + 1e-9), 1e-13), Some(false));
        assert_eq!(meets_triangle(half, &corners(1.0 - 1e-9), 1e-13), Some(true));
    }
}
