//! Whether two placed shapes share a point: what is certain at once, and the exact relation for the rest.

use glam::DVec3;

use crate::bound::Aabb;
use crate::model::{Geometry, Model};
use crate::narrow::convex::placed_core::place;
use crate::narrow::convex::relation::{PlacedConvex, meet_surely};
use crate::narrow::convex_mesh::{Crossing, crossing};
use crate::narrow::cuboid_mesh;
use crate::narrow::dispatch;
use crate::narrow::exact::placed_mesh::PlacedMesh;
use crate::narrow::kernel_memory::KernelMemory;
use crate::narrow::shape_pair::ShapePair;
use crate::num::tolerance::SCENE_OVERLAP_ROUNDING;
use crate::shape::{Convex, Primitive};
use crate::{Budget, Counters, Pose, Relation};

/// Corners of a mesh that are looked for in a convex shape: together they cost a small part of an exact relation, and
/// where a twentieth of the mesh lies in the shape all of them miss it once in 27 times.
const PROBES: usize = 64;

/// Whether they meet, touch, or one lies in the other.
pub(super) fn meet(shapes: [&Geometry; 2], poses: [&Pose; 2]) -> bool {
    if boxes_are_apart(shapes, poses) {
        return false;
    }
    let certain = match shapes {
        [Geometry::Convex(convex), Geometry::Mesh(mesh)] => meets_mesh(convex, poses[0], mesh, poses[1]),
        [Geometry::Mesh(mesh), Geometry::Convex(convex)] => meets_mesh(convex, poses[1], mesh, poses[0]),
        [Geometry::Convex(a), Geometry::Convex(b)] => meets_convex([a, b], poses),
        _ => None,
    };
    let pair = ShapePair::new(shapes, poses);
    let relation = || dispatch::relation(&pair, &mut KernelMemory::default(), &mut Budget::UNLIMITED.clone());
    certain.unwrap_or_else(|| relation().value.is_some_and(|found| found != Relation::Separated))
}

/// Whether a convex shape and a mesh share a point, where that is certain without the exact relation.
fn meets_mesh(convex: &Convex, pose: &Pose, mesh: &Model, mesh_pose: &Pose) -> Option<bool> {
    if holds_a_corner(convex, pose, mesh, mesh_pose) {
        return Some(true);
    }
    let body = PlacedMesh::new(mesh, mesh_pose);
    let (budget, work) = (&mut Budget::UNLIMITED.clone(), &mut Counters::default());
    let crossed = match convex {
        Convex::Primitive(Primitive::Cuboid { half }) => cuboid_mesh::meets(*half, pose, &body)?,
        Convex::Polytope(_) => match crossing(convex, pose, &body, true, budget, work) {
            Crossing::Crossed => true,
            Crossing::Clear => false,
            Crossing::Doubtful => return None,
        },
        Convex::Primitive(_) => return None,
    };
    if crossed {
        return Some(true);
    }
    // Inside or outside as a whole; what reaches out of the box of the mesh is outside.
    let ([low, high], corners) = (body.bounds(), PlacedConvex::new(convex, pose).corners());
    if corners.iter().any(|p| (p.cmplt(low) | p.cmpgt(high)).any()) {
        return Some(false);
    }
    body.holds(corners[0], budget, work)
}

/// Whether two convex shapes share a point, where that is certain without the exact relation: one holds a point of the
/// other, or they are farther apart or deeper in each other than rounding.
fn meets_convex(shapes: [&Convex; 2], poses: [&Pose; 2]) -> Option<bool> {
    if shapes.iter().any(|shape| matches!(shape, Convex::Primitive(Primitive::HalfSpace { .. }))) {
        return None;
    }
    let holds = |outer: usize, inner: usize| {
        let Convex::Primitive(primitive) = shapes[outer] else { return false };
        let back = poses[outer].rigid().inverse();
        let held = |p: DVec3| {
            let size = p.abs().max_element() + poses[outer].translation().abs().max_element();
            surely_holds(primitive, back.apply(p), SCENE_OVERLAP_ROUNDING * size)
        };
        held(place(shapes[inner], poses[inner]))
            || PlacedConvex::new(shapes[inner], poses[inner]).corners().into_iter().any(held)
    };
    if holds(0, 1) || holds(1, 0) {
        return Some(true);
    }
    meet_surely(shapes[0], poses[0], shapes[1], poses[1])
}

/// Whether a face of either shape's own box separates the boxes for sure (Gottschalk, Lin and Manocha 1996, without
/// the axes across two edges).
fn boxes_are_apart(shapes: [&Geometry; 2], poses: [&Pose; 2]) -> bool {
    let boxes = shapes.map(|shape| shape.bounds(&Pose::IDENTITY));
    let is_unbounded = |b: &Aabb| !(b.low.is_finite() && b.high.is_finite());
    // Each part of a compound takes the rotation nearest to its own pose.
    if boxes.iter().any(is_unbounded) || shapes.iter().any(|s| matches!(s, Geometry::Compound(_))) {
        return false;
    }
    let taken = [0, 1].map(|k| match shapes[k] {
        Geometry::Convex(Convex::Primitive(_)) => poses[k].rigid(),
        _ => *poses[k],
    });
    let poses = [&taken[0], &taken[1]];
    let [a, b] = [0, 1].map(|k| (boxes[k].centre(), boxes[k].half()));
    let sizes = boxes.map(|b| b.low.abs().max(b.high.abs()).max_element());
    let places = poses.map(|pose| pose.translation().abs().max_element());
    let pad = SCENE_OVERLAP_ROUNDING * (sizes[0] + sizes[1] + places[0] + places[1]);
    let parts = |[(centre, half), (other, reach)]: [(DVec3, DVec3); 2], own: &Pose, at: &Pose| {
        // The other box in this one's frame; rows of the inverse of a matrix that is a rotation to 1e-4.
        let back = own.matrix().inverse();
        let turn = back * at.matrix();
        let gap = (back * (at.apply(other) - own.apply(centre))).abs();
        let reach = turn.x_axis.abs() * reach.x + turn.y_axis.abs() * reach.y + turn.z_axis.abs() * reach.z;
        gap.cmpgt(half + reach + pad).any()
    };
    parts([a, b], poses[0], poses[1]) || parts([b, a], poses[1], poses[0])
}

/// Whether one of a few corners of the mesh lies in the shape for sure.
fn holds_a_corner(convex: &Convex, pose: &Pose, mesh: &Model, mesh_pose: &Pose) -> bool {
    let Convex::Primitive(primitive) = convex else { return false };
    let back = pose.rigid().inverse();
    let triangles = mesh.mesh().triangles();
    let stride = triangles.len().div_ceil(PROBES).max(1);
    triangles.iter().step_by(stride).any(|t| {
        let corner = mesh_pose.apply(mesh.mesh().vertices()[t[0] as usize]);
        let size = corner.abs().max_element() + pose.translation().abs().max_element();
        surely_holds(primitive, back.apply(corner), SCENE_OVERLAP_ROUNDING * size)
    })
}

/// Whether a point of the shape's frame lies in it by more than `pad`.
fn surely_holds(primitive: &Primitive, p: DVec3, pad: f64) -> bool {
    match *primitive {
        Primitive::Sphere { radius } => p.length() < radius - pad,
        Primitive::Cuboid { half } => p.abs().cmplt(half - pad).all(),
        Primitive::Capsule { radius, half_height } => {
            (p - DVec3::Z * p.z.clamp(-half_height, half_height)).length() < radius - pad
        }
        Primitive::Cylinder { radius, half_height } => {
            p.truncate().length() < radius - pad && p.z.abs() < half_height - pad
        }
        _ => false,
    }
}

/// The box around a point.
pub(super) fn at_point(p: DVec3) -> Aabb {
    Aabb { low: p, high: p }
}
