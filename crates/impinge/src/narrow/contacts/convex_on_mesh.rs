//! The contacts of a convex shape and a mesh.
//!
//! A mesh that bounds a convex body is one. On any other the triangles near the shape are seen from the side on which
//! its middle lies (from outside of a solid; from the side of the triangles' normals where only that is wanted), and
//! features are matched (`polytope_on_mesh`, `round_on_mesh`, `curved_on_mesh`). A shape whose middle has sunk into a
//! solid is treated as a mesh of its own (`solids`).
//!
//! Each depth is that by which the shape leaves the feature touched. On flat ground that is the way out; where the
//! surface bends other features may hold the shape longer, and the depths are called approximate.

use glam::DVec3;

use super::convex_mesh_hull::{as_mesh, convex_body};
use super::local_surface::{LocalSurface, Near};
use super::lower_part::PlacedPolytope;
use super::region_depth::clear_along_deepest;
use super::{Wanted, convex_pair, curved_on_mesh, polytope_on_mesh, round_on_mesh, solids};
use crate::bound::Aabb;
use crate::contact::{Certainty, Contact, Counters, Feature};
use crate::geom::point_triangle::TriangleFeature;
use crate::model::{Fact, Geometry, Model};
use crate::narrow::convex::relation::{counted_point_in, half_space_of};
use crate::narrow::convex::separation::{ConvexMemory, distance};
use crate::narrow::exact::near_facets::NearFacets;
use crate::narrow::exact::patch_lanes::Ball;
use crate::narrow::exact::placed_mesh::PlacedMesh;
use crate::narrow::exact::surface_patch::SurfacePatch;
use crate::narrow::exact::volume::is_inverted;
use crate::narrow::half_space_mesh::vertices_under;
use crate::narrow::kernel_memory::KernelMemory;
use crate::num::tolerance::{FLAT_THERE, PLACED_BOX_ROUNDING, REGION_EDGE};
use crate::shape::{Convex, Primitive};
use crate::simd::SimdLevel;
use crate::{Budget, Pose};

/// Contacts that are told of one shape at most.
const MOST_CONTACTS: usize = 64;

/// Triangles are looked at in a ball larger than the shape by this factor (no unit): what is nearest to a sunk corner
/// may lie beside the shape.
const WIDER: f64 = 1.1;

/// Where a shape was before, the surface is gathered in a box that is wider to every side by this share of the shape's
/// longest side (no unit): it serves until the shape leaves it.
const ROOM: f64 = 0.05;

/// Triangles of a patch that is remembered at most.
const MOST_KEPT: usize = 2048;

/// What is asked.
#[derive(Clone, Copy)]
pub(super) struct OnMesh<'p> {
    pub mesh: &'p Model,
    pub mesh_pose: &'p Pose,
    pub shape: &'p Geometry,
    pub convex: &'p Convex,
    pub pose: &'p Pose,
    pub wanted: Wanted,
}

/// Appends the contacts of a mesh, as a, and a convex shape, as b; `None` when the budget ended.
pub(super) fn contacts(
    asked: &OnMesh<'_>,
    memory: &mut KernelMemory,
    budget: &mut Budget,
    work: &mut Counters,
    found: &mut Vec<Contact>,
) -> Option<Certainty> {
    let OnMesh { mesh, mesh_pose, shape, convex, pose, wanted: Wanted { margin, deep: looks_deep, .. } } =
        *asked;
    if half_space_of(convex, pose).is_some() {
        return under_plane(asked, budget, work, found);
    }
    if !mesh.prepare(Fact::Topology, budget) {
        return None;
    }
    if let Some(hull) = convex_body(mesh, budget)? {
        let hull = Convex::Polytope(hull);
        let certainty = convex_pair::contacts([&hull, convex], [mesh_pose, pose], margin, memory, found);
        solids::name_by_nearest([mesh, mesh], [mesh_pose, mesh_pose], [true, false], found);
        work.primitive_tests += 1;
        return Some(certainty);
    }
    let body = PlacedMesh::new(mesh, mesh_pose);
    let polytope = PlacedPolytope::new(convex, pose);
    let mut bounds = match &polytope {
        Some(polytope) => Aabb::around_points(&polytope.corners),
        None => bounds_of_round(convex, pose).unwrap_or_else(|| shape.bounds(pose)),
    };
    bounds.grow(margin);
    let patch = match &mut memory.surface {
        Some(known) if known.covers(&body, &bounds) => known,
        slot => {
            let mut region = bounds;
            if slot.is_some() {
                region.grow(ROOM * (bounds.high - bounds.low).max_element());
            }
            slot.insert(SurfacePatch::gather(&body, region))
        }
    };
    let told = on_patch(asked, polytope.as_ref(), (&body, patch, &bounds), budget, work, found);
    if patch.facets.len() > MOST_KEPT {
        memory.surface = None;
    }
    match told? {
        OnPatch::Sunk if looks_deep => deep(asked, memory, budget, work, found),
        OnPatch::Sunk => Some(Certainty::Exact),
        OnPatch::Told(certainty) => Some(certainty),
    }
}

/// What the surface near a shape tells.
enum OnPatch {
    /// Contacts, if there are any.
    Told(Certainty),
    /// That the middle of the shape is within the solid.
    Sunk,
}

/// The contacts with the surface near a shape, unless its middle has sunk into a solid; `None` when the budget ended.
fn on_patch(
    asked: &OnMesh<'_>,
    polytope: Option<&PlacedPolytope<'_>>,
    (body, patch, bounds): (&PlacedMesh<'_>, &SurfacePatch, &Aabb),
    budget: &mut Budget,
    work: &mut Counters,
    found: &mut Vec<Contact>,
) -> Option<OnPatch> {
    let OnMesh { mesh, convex, pose, wanted: Wanted { margin, one_sided, .. }, .. } = *asked;
    let middle = middle(convex, pose);
    let ball = Ball { centre: middle, radius: WIDER * (reach(convex, bounds) + margin) };
    let mut room = NearFacets::default();
    let near_facets = room.find(SimdLevel::best(), patch, bounds, &ball);
    let mut surface = LocalSurface::new(*body, patch, near_facets, (convex, pose), ball);
    let tests = 4 + u64::from(surface.len());
    work.primitive_tests += tests;
    if !budget.charge_all(tests) {
        return None;
    }
    let closed = mesh.topology().is_closed();
    let (mut behind, mut near) = surface.behind(middle);
    if closed && is_inverted(mesh, budget)? || !closed && !one_sided && behind {
        surface.turn_round();
        (behind, near) = surface.behind(middle);
    }
    // What hides the middle from a point outside of the bounds may not be near.
    let is_sure = |near: Near| bounds.meets(&Aabb::around_points(&[near.foot.point]));
    let is_told = surface.len() > 0 && near.is_none_or(is_sure);
    if closed && if is_told { behind } else { body.holds(middle, budget, work)? } {
        return Some(OnPatch::Sunk);
    }
    match (convex, polytope) {
        (Convex::Primitive(Primitive::Sphere { radius }), _) => {
            round_on_mesh::contacts(&surface, [pose.translation(); 2], *radius, margin, found);
        }
        (Convex::Primitive(Primitive::Capsule { radius, half_height }), _) => {
            let end = pose.rotation().z_axis * *half_height;
            let core = [pose.translation() - end, pose.translation() + end];
            round_on_mesh::contacts(&surface, core, *radius, margin, found);
        }
        (_, Some(polytope)) => polytope_on_mesh::contacts(&surface, polytope, margin, found),
        _ => curved_on_mesh::contacts(&surface, convex, pose, margin, found),
    }
    if found.is_empty() {
        found.extend(crossed(&surface, convex, pose, margin));
    }
    // Within a solid and met by none of its triangles, a shape may still be before all of those near it.
    if closed
        && found.is_empty()
        && is_told
        && near.is_none()
        && !surface.nearest(middle, None).is_some_and(is_sure)
        && body.holds(middle, budget, work)?
    {
        return Some(OnPatch::Sunk);
    }
    clear_along_deepest(&surface, (convex, pose), ball.radius, found);
    let certainty = certainty(&surface, found);
    reduce(found);
    Some(OnPatch::Told(certainty))
}

/// What the depths are worth: exact where all of the surface near the shape faces along the normal of the deepest contact.
fn certainty(surface: &LocalSurface<'_>, found: &[Contact]) -> Certainty {
    let deepest = found.iter().max_by(|x, y| x.depth.total_cmp(&y.depth));
    let Some(deepest) = deepest.filter(|contact| contact.depth > 0.0) else { return Certainty::Exact };
    match surface.leans(deepest.normal, FLAT_THERE) {
        true => Certainty::Approximate { resolution: deepest.depth },
        false => Certainty::Exact,
    }
}

/// Somewhere inside a convex shape.
fn middle(shape: &Convex, pose: &Pose) -> DVec3 {
    match shape {
        Convex::Polytope(hull) => pose.apply(hull.centre()),
        Convex::Primitive(primitive) => pose.rotation() * primitive.centroid() + pose.translation(),
    }
}

/// The box around a ball or capsule.
fn bounds_of_round(shape: &Convex, pose: &Pose) -> Option<Aabb> {
    let (half, radius) = match shape {
        Convex::Primitive(Primitive::Sphere { radius }) => (DVec3::ZERO, *radius),
        Convex::Primitive(Primitive::Capsule { radius, half_height }) => {
            ((pose.rotation().z_axis * *half_height).abs(), *radius)
        }
        _ => return None,
    };
    let middle = pose.translation();
    let pad = (middle.abs().max_element() + half.max_element() + radius) * PLACED_BOX_ROUNDING;
    let half = half + DVec3::splat(radius + pad + f64::MIN_POSITIVE);
    Some(Aabb { low: middle - half, high: middle + half })
}

/// Nothing of a shape is farther from its middle.
fn reach(shape: &Convex, bounds: &Aabb) -> f64 {
    match shape {
        Convex::Polytope(hull) => hull.reach(),
        Convex::Primitive(Primitive::Sphere { radius }) => *radius,
        Convex::Primitive(Primitive::Cuboid { half }) => half.length(),
        Convex::Primitive(Primitive::Capsule { radius, half_height }) => radius + half_height,
        Convex::Primitive(_) => 2.0 * bounds.half().length(),
    }
}

/// What no two features tell: the triangle that has to be left farthest, along the direction in which the shape leaves
/// it soonest.
fn crossed(surface: &LocalSurface<'_>, shape: &Convex, pose: &Pose, margin: f64) -> Option<Contact> {
    let mut memory = ConvexMemory::default();
    let all = surface.facets().filter_map(|(k, facet)| {
        let triangle = Convex::Primitive(Primitive::Triangle { corners: facet.corners });
        let (found, _) = distance(&triangle, &Pose::IDENTITY, shape, pose, &mut memory);
        (found.distance <= margin).then(|| Contact {
            features: [surface.feature(k, TriangleFeature::Inside), found.features[1]],
            ..Contact::from(found)
        })
    });
    all.max_by(|x, y| x.depth.total_cmp(&y.depth))
}

/// A shape whose middle is within a solid.
fn deep(
    asked: &OnMesh<'_>,
    memory: &mut KernelMemory,
    budget: &mut Budget,
    work: &mut Counters,
    found: &mut Vec<Contact>,
) -> Option<Certainty> {
    let OnMesh { mesh, mesh_pose, shape, convex, pose, wanted } = *asked;
    let Some((own, at)) = as_mesh(shape, pose, budget)? else { return Some(Certainty::Exact) };
    let mut certainty =
        solids::contacts([mesh, &own], [mesh_pose, &at], wanted, memory, budget, work, found)?;
    let turn = pose.matrix();
    let is_curved = !matches!(convex, Convex::Polytope(_) | Convex::Primitive(Primitive::Cuboid { .. }));
    // Elsewhere it may meet what its mesh does not.
    if let (true, Certainty::Conservative { tolerance }) = (is_curved, certainty) {
        certainty = Certainty::Approximate { resolution: tolerance };
    }
    for contact in found.iter_mut() {
        // Of a curved shape the mesh is a little too small: its own surface is farther along the normal.
        if is_curved {
            let lowest = pose.apply(convex.support(turn.transpose() * -contact.normal));
            let more = contact.normal.dot(contact.points[1] - lowest).max(0.0);
            contact.points[1] = lowest;
            contact.depth += more;
        }
        contact.features[1] = counted_point_in(convex, pose, contact.points[1]).0.features[1];
    }
    Some(certainty)
}

/// A half-space as b: the corners of the mesh under its plane, a few far from each other, the deepest among them.
fn under_plane(
    asked: &OnMesh<'_>,
    budget: &mut Budget,
    work: &mut Counters,
    found: &mut Vec<Contact>,
) -> Option<Certainty> {
    let OnMesh { mesh, mesh_pose, convex, pose, wanted: Wanted { margin, .. }, .. } = *asked;
    let plane = half_space_of(convex, pose)?;
    let normal = -plane.unit_normal();
    for v in vertices_under(&plane, margin, mesh, mesh_pose, budget, work)? {
        let p = mesh_pose.apply(mesh.mesh().vertices()[v as usize]);
        let height = plane.height(p);
        let features = [Feature::Vertex(v), Feature::Face(0)];
        found.push(Contact::between([p, p + normal * height], normal, -height, features));
    }
    spread_out(found, 4);
    Some(Certainty::Exact)
}

/// Leaves out what is told twice, and of very many contacts all but some that are far from each other.
fn reduce(found: &mut Vec<Contact>) {
    if found.len() < 2 {
        return;
    }
    let bounds = found.iter().fold(Aabb::EMPTY, |all, c| all.merge(&Aabb::around_points(&c.points)));
    let near = REGION_EDGE * (bounds.high - bounds.low).length();
    let mut kept = 0;
    for k in 0..found.len() {
        let [p, x] = found[k].points;
        let same = |c: &Contact| c.points[0].distance(p) <= near && c.points[1].distance(x) <= near;
        if !found[..kept].iter().any(same) {
            found[kept] = found[k];
            kept += 1;
        }
    }
    found.truncate(kept);
    spread_out(found, MOST_CONTACTS);
}

/// Of more than `most` contacts the deepest one and others far from those chosen.
fn spread_out(found: &mut Vec<Contact>, most: usize) {
    if found.len() <= most {
        return;
    }
    let deepest = (0..found.len()).max_by(|&i, &j| found[i].depth.total_cmp(&found[j].depth).then(j.cmp(&i)));
    let mut chosen: Vec<usize> = deepest.into_iter().collect();
    let mut away: Vec<f64> = vec![f64::INFINITY; found.len()];
    while let Some(&last) = chosen.last().filter(|_| chosen.len() < most) {
        for (k, away) in away.iter_mut().enumerate() {
            *away = away.min(found[k].points[0].distance_squared(found[last].points[0]));
        }
        let farthest = (0..found.len()).max_by(|&i, &j| away[i].total_cmp(&away[j]).then(j.cmp(&i)));
        match farthest {
            Some(k) if away[k] > 0.0 => chosen.push(k),
            _ => break,
        }
    }
    chosen.sort_unstable();
    *found = chosen.into_iter().map(|k| found[k]).collect();
}
