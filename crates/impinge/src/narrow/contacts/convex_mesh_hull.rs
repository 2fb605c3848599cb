//! Meshes that bound a convex body, and convex shapes as meshes.
//!
//! A connected closed surface of genus 0 all of whose edges are convex or flat bounds a convex body (van Heijenoort,
//! "On locally convex manifolds", 1952) if it winds around its middle once. All is decided exactly, so a mesh that passes
//! is its own hull.

use std::sync::Arc;

use glam::DVec3;

use super::translation::spread_directions;
use crate::model::{Fact, Geometry, Model};
use crate::narrow::convex::relation::PlacedConvex;
use crate::num::predicate::{Sign, orient3d};
use crate::shape::star_surface::{middle, winds_once};
use crate::shape::topology::Side;
use crate::shape::{Convex, LazyPolytope, Polytope, Primitive};
use crate::{Budget, Mesh, Pose};

/// Points of a curved shape that stand for it.
const CURVED_POINTS: u32 = 512;

/// Whether a mesh bounds a convex body.
struct IsConvex(bool);

/// The hull of a mesh, if it bounds a convex body; both found once. `None` outside when the budget ended first.
pub(super) fn convex_body(model: &Model, budget: &mut Budget) -> Option<Option<Arc<LazyPolytope>>> {
    if !model.prepare(Fact::Topology, budget) {
        return None;
    }
    // An open mesh is none, whatever it looks like.
    if !model.topology().is_closed() {
        return Some(None);
    }
    let units = model.mesh().triangles().len() as u64;
    if !model.attached(units, budget, |model| IsConvex(is_convex(model)))?.0 {
        return Some(None);
    }
    model.prepare(Fact::Hull, budget).then(|| model.hull().cloned())
}

fn is_convex(model: &Model) -> bool {
    let (mesh, topology) = (model.mesh(), model.topology());
    if !topology.is_watertight()
        || topology.components().len() != 1
        || topology.euler() != 2
        || topology.census().collapsed_triangles > 0
    {
        return false;
    }
    // All edges bend to the same side, whichever way the triangles face.
    let mut bends = [false; 2];
    for t in 0..mesh.triangles().len() as u32 {
        let [a, b, c] = mesh.corners(t);
        for corner in 0..3_u8 {
            let Some(other) = topology.across(Side { triangle: t, corner }) else { return false };
            let own = topology.triangles()[t as usize];
            let theirs = topology.triangles()[other as usize];
            let Some(k) = (0..3).find(|&k| !own.contains(&theirs[k])) else { return false };
            let apex = mesh.corners(other)[k];
            match orient3d(a, b, c, apex) {
                Sign::Positive => bends[0] = true,
                Sign::Negative => bends[1] = true,
                // Flat, unless folded onto itself.
                Sign::Zero => {
                    let [p, q, r] = mesh.corners(other);
                    if (b - a).cross(c - a).dot((q - p).cross(r - p)) <= 0.0 {
                        return false;
                    }
                }
            }
        }
    }
    // Edges alone do not tell how often the surface winds around its middle.
    bends[0] != bends[1] && middle(mesh).is_some_and(|middle| winds_once(mesh, &middle))
}

/// A shape as a mesh and where it is: a curved one as the hull of points of its surface, compounds as all their
/// parts. Inner `None` for a half-space and for particles, outer when the budget ends first.
pub(super) fn as_mesh(
    shape: &Geometry,
    pose: &Pose,
    budget: &mut Budget,
) -> Option<Option<(Arc<Model>, Pose)>> {
    budget.draw_all_updates(mesh_units(shape)).then(|| made_mesh(shape, pose))
}

/// Units for a shape as a mesh.
fn mesh_units(shape: &Geometry) -> u64 {
    match shape {
        Geometry::Convex(convex) => PlacedConvex::new(convex, &Pose::IDENTITY).mesh_units(),
        Geometry::Compound(compound) => compound.parts().iter().map(|part| mesh_units(&part.shape)).sum(),
        Geometry::Mesh(_) | Geometry::Particles(_) => 0,
    }
}

fn made_mesh(shape: &Geometry, pose: &Pose) -> Option<(Arc<Model>, Pose)> {
    match shape {
        Geometry::Mesh(model) => Some((model.clone(), *pose)),
        Geometry::Convex(convex) => Some((Arc::new(Model::from(placed_hull(convex, pose)?)), Pose::IDENTITY)),
        Geometry::Compound(compound) => {
            let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
            for part in compound.parts() {
                let (model, at) = made_mesh(&part.shape, &pose.compose(&part.pose))?;
                let first = vertices.len() as u32;
                vertices.extend(model.mesh().vertices().iter().map(|p| at.apply(*p)));
                triangles.extend(model.mesh().triangles().iter().map(|t| t.map(|v| v + first)));
            }
            let mesh = Mesh::from_points(vertices, triangles).ok()?;
            Some((Arc::new(Model::from(mesh)), Pose::IDENTITY))
        }
        Geometry::Particles(_) => None,
    }
}

/// The surface of a placed convex shape.
fn placed_hull(shape: &Convex, pose: &Pose) -> Option<Mesh> {
    let round = match shape {
        Convex::Primitive(Primitive::HalfSpace { .. }) => return None,
        Convex::Primitive(
            p @ (Primitive::Sphere { .. }
            | Primitive::Capsule { .. }
            | Primitive::Cylinder { .. }
            | Primitive::Cone { .. }
            | Primitive::Ellipsoid { .. }),
        ) => p,
        _ => return PlacedConvex::new(shape, pose).mesh(),
    };
    let turn = pose.rotation();
    let points = spread_directions(CURVED_POINTS).map(|d| turn * round.support(d) + pose.translation());
    Polytope::hull(&points.collect::<Vec<DVec3>>()).and_then(|hull| hull.mesh()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::procedural;

    #[test]
    fn a_hull_is_built_for_a_convex_mesh_only_and_paid_for() {
        let model = |mesh: Result<Mesh, crate::Error>| Model::from(mesh.unwrap());
        let ring = model(procedural::torus(1.0, 0.3, 16, 8));
        assert!(matches!(convex_body(&ring, &mut Budget::UNLIMITED.clone()), Some(None)));
        assert!(!ring.knows(Fact::Hull));
        let ball = model(procedural::ico_sphere(1.0, 3));
        assert!(ball.prepare(Fact::Topology, &mut Budget::UNLIMITED.clone()));
        let units = ball.mesh().triangles().len() as u64;
        // Enough to see that it is convex, but not for the hull.
        assert!(convex_body(&ball, &mut Budget::units(2 * units)).is_none() && !ball.knows(Fact::Hull));
        assert!(convex_body(&ball, &mut Budget::UNLIMITED.clone()).flatten().is_some());
    }
}
