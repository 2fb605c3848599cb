//! Any two shapes: the one place that picks the algorithm for a pair of kinds.
//!
//! A pair is written in one order and swapped by one function. Two meshes go to the exact methods on trees,
//! two convex shapes to closed forms, GJK and EPA with exact decisions behind them, a hull, box, triangle or
//! segment against a mesh is decided as two meshes, a round or curved primitive searches the mesh's tree, and a cloud
//! of particles goes down its own tree by the distances of the other body.
//! docs/SHAPES.md has the table of all pairs.

mod compound;
mod cover;

use std::sync::Arc;

use super::convex::placed_core::polytope_feature;
use super::convex::relation::{self as convex_relation, PlacedConvex, half_space_of};
use super::convex::separation;
use super::convex_mesh::{self, Crossing};
use super::exact::distance::{DistanceMemory, DistanceSearch};
use super::exact::placed_mesh::PlacedMesh;
use super::exact::relation::relation_within;
use super::exact::solid_surface::{OVERLAPS, SolidSurface, why_not_closed};
use super::exact::volume::volume as intersection_volume;
use super::half_space_mesh;
use super::kernel_memory::KernelMemory;
use super::particles;
use super::shape_pair::ShapePair;
use crate::contact::{Verdict, Volume, VolumeOptions};
use crate::model::{Fact, Geometry, Model};
use crate::num::tolerance::TOUCH_DOUBT;
use crate::shape::{Convex, LazyPolytope, Polytope, Primitive};
use crate::{Budget, Certainty, Counters, Error, Feature, Finish, Outcome, Pose, Relation, Separation};
use compound::{parts_distance, parts_relation};

/// Whether a pair is answered with a and b exchanged.
pub(super) fn is_swapped(pair: &ShapePair<'_>) -> bool {
    match pair.shapes {
        [Geometry::Particles(_), _] => false,
        [_, Geometry::Particles(_)] => true,
        [Geometry::Compound(_), _] => false,
        [_, Geometry::Compound(_)] => true,
        [Geometry::Mesh(_), other] => !matches!(other, Geometry::Mesh(_)),
        _ => false,
    }
}

/// How far apart two placed shapes are.
///
/// Signed for two convex shapes (negative: penetration depth), positive exactly where the exact relation is
/// `Separated`; where a mesh takes part the distance of the surfaces, 0 with a zero normal where they meet. Two
/// half-spaces that overlap without end are −∞ apart. Signed for clouds: negative is how deep the deepest particle is
/// in the other body. When the budget ends, what was found is an upper bound and
/// the tolerance of its certainty the width of the bracket.
pub fn distance(pair: &ShapePair<'_>, memory: &mut KernelMemory, budget: &mut Budget) -> Verdict<Separation> {
    let [pose_a, pose_b] = pair.poses;
    match pair.shapes {
        [Geometry::Particles(a), other] => particles::distance(a, pose_a, other, pose_b, budget),
        [Geometry::Mesh(a), Geometry::Mesh(b)] => mesh_distance([a, b], pair.poses, memory, budget, |s| s),
        [Geometry::Convex(a), Geometry::Convex(b)] => {
            if !budget.draw_or_rest(1) {
                return Verdict::out_of_budget();
            }
            let before = memory.convex.tests();
            let (found, certainty) = separation::distance(a, pose_a, b, pose_b, &mut memory.convex);
            let found = signed(found, [a, b], pair.poses, memory);
            Verdict::by_finish(found, convex_outcome(certainty, before, memory, budget))
        }
        [Geometry::Convex(a), Geometry::Mesh(b)] => {
            convex_mesh_distance(a, pose_a, b, pose_b, memory, budget)
        }
        [_, Geometry::Particles(_)] => distance(&pair.swapped(), memory, budget).map(Separation::swapped),
        [Geometry::Compound(a), _] => parts_distance(a, pair, budget),
        [Geometry::Mesh(_), _] | [_, Geometry::Compound(_)] => {
            distance(&pair.swapped(), memory, budget).map(Separation::swapped)
        }
    }
}

/// [`distance`] without a limit.
pub fn full_distance(pair: &ShapePair<'_>, memory: &mut KernelMemory) -> (Separation, Certainty) {
    let Verdict { value, outcome, .. } = distance(pair, memory, &mut Budget::UNLIMITED.clone());
    // An unlimited budget does not run out.
    (value.unwrap_or(Separation::NONE), outcome.certainty)
}

/// [`relation`] without a limit.
#[cfg(any(test, feature = "unstable"))]
pub fn full_relation(pair: &ShapePair<'_>, memory: &mut KernelMemory) -> (Relation, Certainty) {
    let Verdict { value, outcome, .. } = relation(pair, memory, &mut Budget::UNLIMITED.clone());
    // An unlimited budget does not run out.
    (value.unwrap_or(Relation::Separated), outcome.certainty)
}

/// The distance with the sign of the exact relation, which rounding may have cost it.
pub(super) fn signed(
    found: Separation,
    [a, b]: [&Convex; 2],
    [pose_a, pose_b]: [&Pose; 2],
    memory: &mut KernelMemory,
) -> Separation {
    let reach = found.points[0].abs().max(found.points[1].abs()).max_element();
    // Negated, so that infinite depths pass.
    if !(found.distance.abs() <= TOUCH_DOUBT * reach) {
        return found;
    }
    let distance = match convex_relation::relation(a, pose_a, b, pose_b, &mut memory.convex) {
        (Relation::Separated, Certainty::Exact) => found.distance.max(f64::MIN_POSITIVE),
        (_, Certainty::Exact) => found.distance.min(0.0),
        _ => found.distance,
    };
    Separation { distance, ..found }
}

/// Two surfaces, starting from the nearest triangles of the last call; features are `named`.
fn mesh_distance(
    [a, b]: [&Model; 2],
    [pose_a, pose_b]: [&Pose; 2],
    memory: &mut KernelMemory,
    budget: &mut Budget,
    named: impl Fn(Separation) -> Separation,
) -> Verdict<Separation> {
    let mut search = DistanceSearch::from_memory(a, pose_a, b, pose_b, &memory.distance);
    loop {
        let found = search.advance(budget);
        let told = || found.verdict().map(&named);
        if found.outcome.finish != Finish::OutOfBudget || !budget.rest(told) {
            memory.distance = DistanceMemory::after(&found);
            return told();
        }
    }
}

/// The end of a question about two convex shapes, with the tests since `before`; a closed form is one.
pub(super) fn convex_outcome(
    certainty: Certainty,
    before: u64,
    memory: &KernelMemory,
    budget: &mut Budget,
) -> Outcome {
    let primitive_tests = (memory.convex.tests() - before).max(1);
    // The first unit was drawn before.
    budget.draw(primitive_tests - 1);
    let work = Counters { primitive_tests, ..Counters::default() };
    Outcome { certainty, finish: Finish::Complete, work }
}

fn outcome(certainty: Certainty, finish: Finish) -> Outcome {
    let work = Counters { primitive_tests: 1, ..Counters::default() };
    Outcome { certainty, finish, work }
}

fn convex_mesh_distance(
    a: &Convex,
    pose_a: &Pose,
    b: &Model,
    pose_b: &Pose,
    memory: &mut KernelMemory,
    budget: &mut Budget,
) -> Verdict<Separation> {
    match a {
        Convex::Polytope(hull) => {
            let Some(model) = hull_model(hull, memory, budget) else { return Verdict::out_of_budget() };
            let Some(model) = model else {
                return Verdict::new(None, outcome(Certainty::Exact, Finish::Stopped));
            };
            if !is_ready(&model, &[Fact::PointTree], budget) {
                return Verdict::out_of_budget();
            }
            mesh_distance([&model, b], [pose_a, pose_b], memory, budget, |s| Separation {
                features: [hull_feature(hull, &model, s.features[0]), s.features[1]],
                ..s
            })
        }
        Convex::Primitive(Primitive::HalfSpace { .. }) => {
            let Some(plane) = half_space_of(a, pose_a) else { return Verdict::refused() };
            half_space_mesh::distance(&plane, b, pose_b, budget)
        }
        Convex::Primitive(primitive) => convex_mesh::distance(primitive, pose_a, b, pose_b, budget),
    }
}

/// Whether what a question needs of a mesh that it made itself is known, as far as a limited budget goes to find it;
/// without a limit it is found when it is needed.
pub(super) fn is_ready(model: &Model, facts: &[Fact], budget: &mut Budget) -> bool {
    budget.is_unlimited() || facts.iter().all(|&fact| model.prepare(fact, budget))
}

/// The hull as a mesh with its tree, kept for the next call; inner none when it has more triangles than a mesh can
/// name, outer when the budget ends first.
pub(super) fn hull_model(
    hull: &Arc<LazyPolytope>,
    memory: &mut KernelMemory,
    budget: &mut Budget,
) -> Option<Option<Arc<Model>>> {
    if let Some((_, model)) = memory.hulls.iter().flatten().find(|(known, _)| Arc::ptr_eq(known, hull)) {
        return Some(Some(model.clone()));
    }
    // One unit for each corner and each triangle of its faces.
    let corners = hull.vertices().len() as u64;
    if !budget.draw_all_updates(3 * corners) {
        return None;
    }
    let Ok(mesh) = hull.mesh() else { return Some(None) };
    let model = Arc::new(Model::from(mesh));
    memory.hulls.swap(0, 1);
    memory.hulls[0] = Some((hull.clone(), model.clone()));
    Some(Some(model))
}

/// A feature of the triangulated hull as one of the hull.
fn hull_feature(hull: &Polytope, model: &Model, feature: Feature) -> Feature {
    match feature {
        Feature::Vertex(v) => polytope_feature(hull, &[v]),
        Feature::Edge(ends) => polytope_feature(hull, &ends),
        Feature::Face(t) => polytope_feature(hull, &model.mesh().triangles()[t as usize]),
        Feature::Surface => Feature::Surface,
    }
}

/// How two placed shapes lie to each other.
///
/// Exact on the placed doubles but for cylinders, cones and ellipsoids nearer than the stated tolerance to
/// touching, and for bodies that several parts of a compound hold together, or nearly: these are told apart down to a
/// stated resolution.
pub fn relation(pair: &ShapePair<'_>, memory: &mut KernelMemory, budget: &mut Budget) -> Verdict<Relation> {
    let [pose_a, pose_b] = pair.poses;
    let (found, outcome) = match pair.shapes {
        [Geometry::Particles(a), other] => particles::relation(a, pose_a, other, pose_b, budget),
        [_, Geometry::Particles(_)] => {
            return relation(&pair.swapped(), memory, budget).map(Relation::swapped);
        }
        [Geometry::Mesh(a), Geometry::Mesh(b)] => {
            relation_within(a, pose_a, b, pose_b, &mut memory.relation, budget)
        }
        [Geometry::Convex(a), Geometry::Convex(b)] => {
            if !budget.draw_or_rest(1) {
                return Verdict::out_of_budget();
            }
            let before = memory.convex.tests();
            let (found, certainty) = convex_relation::relation(a, pose_a, b, pose_b, &mut memory.convex);
            (Some(found), convex_outcome(certainty, before, memory, budget))
        }
        [Geometry::Convex(a), Geometry::Mesh(b)] => {
            convex_mesh_relation(a, pose_a, b, pose_b, memory, budget)
        }
        [Geometry::Compound(a), _] => parts_relation(a, pair, budget),
        [Geometry::Mesh(_), _] | [_, Geometry::Compound(_)] => {
            return relation(&pair.swapped(), memory, budget).map(Relation::swapped);
        }
    };
    Verdict::new(found, outcome)
}

fn convex_mesh_relation(
    a: &Convex,
    pose_a: &Pose,
    b: &Model,
    pose_b: &Pose,
    memory: &mut KernelMemory,
    budget: &mut Budget,
) -> (Option<Relation>, Outcome) {
    if let Some(plane) = half_space_of(a, pose_a) {
        return half_space_mesh::relation(&plane, b, pose_b, budget);
    }
    match a {
        Convex::Primitive(
            p @ (Primitive::Sphere { .. }
            | Primitive::Capsule { .. }
            | Primitive::Cylinder { .. }
            | Primitive::Cone { .. }
            | Primitive::Ellipsoid { .. }),
        ) => convex_mesh::relation(p, pose_a, b, pose_b, budget),
        Convex::Primitive(_) | Convex::Polytope(_) => {
            sharp_mesh_relation(a, pose_a, b, pose_b, memory, budget)
        }
    }
}

/// A hull, box, triangle or segment against a mesh; the truth is the hull of the placed corners, not the placed
/// hull.
fn sharp_mesh_relation(
    a: &Convex,
    pose_a: &Pose,
    b: &Model,
    pose_b: &Pose,
    memory: &mut KernelMemory,
    budget: &mut Budget,
) -> (Option<Relation>, Outcome) {
    let (body, corners) = (PlacedMesh::new(b, pose_b), PlacedConvex::new(a, pose_a).corners());
    let known = memory.placed.as_ref().is_some_and(|(known, _)| *known == corners);
    let mut work = Counters::default();
    if !known {
        let thorough = budget.is_unlimited();
        match convex_mesh::crossing(a, pose_a, &body, thorough, budget, &mut work) {
            // What is clear of all triangles is inside or outside as a whole, and no mesh of it is needed.
            Crossing::Clear => {
                let (found, finish) = match body.holds(corners[0], budget, &mut work) {
                    Some(true) => (Some(Relation::AInsideB), Finish::Complete),
                    Some(false) => (Some(Relation::Separated), Finish::Complete),
                    None => (None, Finish::OutOfBudget),
                };
                return (found, Outcome { certainty: Certainty::Exact, finish, work });
            }
            // Nothing is inside an open surface.
            Crossing::Crossed if thorough && !body.is_closed() => {
                let finish = Finish::Complete;
                let outcome = Outcome { certainty: Certainty::Exact, finish, work };
                return (Some(Relation::Intersecting), outcome);
            }
            Crossing::Crossed | Crossing::Doubtful => {}
        }
    }
    if !known {
        let Some(mesh) = PlacedConvex::new(a, pose_a).mesh_within(budget) else {
            return (None, Outcome { work, ..Verdict::<Relation>::out_of_budget().outcome });
        };
        memory.placed = mesh.map(|mesh| (corners, Arc::new(Model::from(mesh))));
    }
    let Some((_, hull)) = &memory.placed else {
        return (None, outcome(Certainty::Exact, Finish::Stopped));
    };
    if !is_ready(hull, &[Fact::Topology, Fact::DiscBounds], budget) {
        return (None, Outcome { work, ..Verdict::<Relation>::out_of_budget().outcome });
    }
    let (found, mut outcome) =
        relation_within(hull, &Pose::IDENTITY, b, pose_b, &mut memory.relation, budget);
    outcome.work += work;
    // The triangle of a segment has no border, but no inside either.
    let flat = |found| if found == Relation::Touching { Relation::Intersecting } else { found };
    (if a.is_flat() { found.map(flat) } else { found }, outcome)
}

/// Whether one of the bodies is a mesh that is known to overlap itself, whose volumes are not measured exactly.
pub(super) fn is_known_to_overlap(pair: &ShapePair<'_>) -> bool {
    pair.shapes.iter().filter_map(|shape| shape.model()).any(|model| SolidSurface::is_known_to_overlap(model))
}

/// The volume of the intersection of two meshes, hulls or boxes.
///
/// # Errors
/// A mesh that bounds no solid or overlaps itself.
pub fn volume(
    pair: &ShapePair<'_>,
    options: &VolumeOptions,
    budget: &mut Budget,
) -> Result<Verdict<Volume>, Error> {
    let mut made: [Option<Model>; 2] = [None, None];
    let mut solids: [Option<Arc<SolidSurface>>; 2] = [None, None];
    for (k, name) in ["a", "b"].into_iter().enumerate() {
        match pair.shapes[k] {
            Geometry::Mesh(model) => {
                if !model.prepare(Fact::Topology, budget) {
                    return Ok(Verdict::out_of_budget());
                }
                if !model.topology().is_closed() {
                    return Err(Error::Argument { name, reason: why_not_closed(model) });
                }
                let Some(solid) = SolidSurface::of(model, budget) else {
                    return Ok(Verdict::out_of_budget());
                };
                if matches!(*solid, SolidSurface::Overlapping) {
                    return Err(Error::Argument { name, reason: OVERLAPS.into() });
                }
                solids[k] = Some(solid);
            }
            Geometry::Convex(convex) => {
                let placed = PlacedConvex::new(convex, pair.poses[k]);
                if !budget.draw_all_updates(placed.mesh_units()) {
                    return Ok(Verdict::out_of_budget());
                }
                made[k] = placed.solid_mesh().map(Model::from);
                let facts = [Fact::Topology, Fact::DiscBounds];
                if !made[k].as_ref().is_none_or(|model| is_ready(model, &facts, budget)) {
                    return Ok(Verdict::out_of_budget());
                }
            }
            Geometry::Compound(_) | Geometry::Particles(_) => return Ok(Verdict::refused()),
        }
    }
    let body = |k: usize| match (pair.shapes[k], &made[k]) {
        (Geometry::Mesh(model), _) => Some((&**model, pair.poses[k])),
        (_, Some(model)) => Some((model, &Pose::IDENTITY)),
        _ => None,
    };
    // A hull without volume has no mesh.
    let (Some((a, pose_a)), Some((b, pose_b))) = (body(0), body(1)) else {
        let outcome = outcome(Certainty::Exact, Finish::Complete);
        return Ok(Verdict::new(Some(Volume::default()), outcome));
    };
    let mut models = [a, b];
    for (model, solid) in models.iter_mut().zip(&solids) {
        let Some(solid) = solid else { continue };
        let Some(instead) = solid.instead(budget) else { return Ok(Verdict::out_of_budget()) };
        *model = instead.unwrap_or(*model);
    }
    let found = intersection_volume(models, [pose_a, pose_b], options, budget);
    Ok(found.map(|mut volume| {
        for (k, solid) in solids.iter().enumerate() {
            solid.iter().for_each(|solid| solid.rename(k, &mut volume));
        }
        volume
    }))
}

#[cfg(test)]
#[path = "dispatch_tests.rs"]
mod tests;
