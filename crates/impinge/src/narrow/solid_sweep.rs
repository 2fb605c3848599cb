//! When two moving bodies first touch, closed ones being solids: bodies that share a point at the start are in
//! contact at the start, also where one lies wholly inside the other.
//!
//! A body cannot get into another without passing through its surface. So only the start is asked for the relation
//! of the solids; the rest of the step is a sweep of the surfaces ([`super::continuous`]).
//!
//! As surfaces without an inside, boxes and hulls are swept as the meshes of their faces. Curved shapes, the balls of
//! a cloud among them, are always solid: a body that begins inside one of them is refused.

use std::sync::Arc;

use glam::DVec3;

use super::continuous::{
    ContactKind, Impact, Sweep, SweepOptions, slack as slack_of_surfaces, sweep_within as sweep_of_surfaces,
};
use super::convex::placed_core::{cuboid_feature, polytope_feature};
use super::convex::relation::PlacedConvex;
use super::dispatch;
use super::kernel_memory::KernelMemory;
use super::shape_pair::ShapePair;
use crate::contact::{Outcome, Relation, Verdict};
use crate::model::{Fact, Geometry, Model};
use crate::shape::{Convex, Primitive};
use crate::{Budget, Certainty, Counters, Error, Feature, Finish, Motion, Pose};

/// The first contact of two moving shapes of any kind, by the sweep of their surfaces that `exact` uses.
///
/// # Errors
/// Surfaces are asked for, and a body begins inside a curved shape or a compound, whose surface is not swept alone.
pub fn sweep_within(
    shapes: [&Geometry; 2],
    motions: [&Motion; 2],
    options: &SweepOptions,
    memory: &mut KernelMemory,
    budget: &mut Budget,
) -> Result<Sweep, Error> {
    if !options.surfaces || options.from > 0.0 {
        return Ok(solid_sweep(shapes, motions, options, memory, budget));
    }
    let mut of_solid = |k: usize| faces(shapes[k], memory, budget);
    let (Some(a), Some(b)) = (of_solid(0), of_solid(1)) else {
        return Ok(open(options, Verdict::<Sweep>::out_of_budget().outcome));
    };
    let faces = [a, b];
    let hollow = [0, 1].map(|k| faces[k].as_ref().unwrap_or(shapes[k]));
    let poses = motions.map(|motion| motion.pose(options.from));
    let mut work = Counters::default();
    if hollow.iter().any(|shape| is_always_solid(shape)) && boxes_meet(hollow, &poses) {
        let pair = ShapePair::new(hollow, [&poses[0], &poses[1]]);
        let told = budget.silently(|budget| dispatch::relation(&pair, memory, budget));
        work = told.outcome.work;
        let outer = match told.value {
            None => return Ok(open(options, told.outcome)),
            Some(Relation::AInsideB) => Some(hollow[1]),
            Some(Relation::BInsideA) => Some(hollow[0]),
            Some(_) => None,
        };
        if let Some(outer) = outer.filter(|shape| is_always_solid(shape)) {
            let name = match outer {
                Geometry::Particles(_) => "particle",
                other => other.kind().name(),
            };
            let reason =
                format!("a body begins inside a {name}, whose surface is not swept alone; give it as a mesh");
            return Err(Error::Argument { name: "surfaces", reason });
        }
    }
    let mut found = solid_sweep(hollow, motions, options, memory, budget);
    found.outcome.work += work;
    if let Some(impact) = &mut found.impact {
        for k in 0..2 {
            if let Some(Geometry::Mesh(faces)) = &faces[k] {
                impact.features[k] = feature_of_solid(shapes[k], faces, impact.features[k]);
                impact.triangles[k] = None;
                impact.kind = ContactKind::Shapes;
            }
        }
    }
    Ok(found)
}

/// [`with_surfaces`] by the sweep of `exact`.
fn solid_sweep(
    shapes: [&Geometry; 2],
    motions: [&Motion; 2],
    options: &SweepOptions,
    memory: &mut KernelMemory,
    budget: &mut Budget,
) -> Sweep {
    let surfaces = |options: &SweepOptions, memory: &mut KernelMemory, budget: &mut Budget| {
        Ok(sweep_of_surfaces(shapes, motions, options, &mut memory.sweep, budget))
    };
    // That sweep refuses no motion.
    with_surfaces(shapes, motions, options, memory, budget, surfaces).unwrap_or(Sweep::UNKNOWN)
}

/// The faces of a box or of a solid hull as a mesh in its own frame; inner `None` for other shapes, outer when the budget
/// ends first. Those of a hull are kept for the next call.
fn faces(shape: &Geometry, memory: &mut KernelMemory, budget: &mut Budget) -> Option<Option<Geometry>> {
    let model = match shape {
        Geometry::Convex(Convex::Polytope(hull)) if hull.dimension() == 3 => {
            let model = dispatch::hull_model(hull, memory, budget)?;
            let ready = |model: &Arc<Model>| dispatch::is_ready(model, &[Fact::Tree], budget);
            if !model.as_ref().is_none_or(ready) {
                return None;
            }
            model
        }
        Geometry::Convex(cuboid @ Convex::Primitive(Primitive::Cuboid { .. })) => {
            PlacedConvex::new(cuboid, &Pose::IDENTITY).mesh().map(|mesh| Arc::new(Model::from(mesh)))
        }
        _ => None,
    };
    Some(model.map(Geometry::Mesh))
}

/// Whether the shape has an inside, and no mesh of its surface.
fn is_always_solid(shape: &Geometry) -> bool {
    match shape {
        Geometry::Convex(convex) => !convex.is_flat(),
        Geometry::Compound(_) => true,
        // Particles without a radius are points, which hold nothing.
        Geometry::Particles(cloud) => cloud.has_interior(),
        Geometry::Mesh(_) => false,
    }
}

/// A feature of the mesh of the faces as one of the box or hull.
fn feature_of_solid(solid: &Geometry, faces: &Model, feature: Feature) -> Feature {
    let corners: &[u32] = match &feature {
        Feature::Vertex(v) => &[*v],
        Feature::Edge(ends) => ends,
        Feature::Face(t) => &faces.mesh().triangles()[*t as usize],
        Feature::Surface => return feature,
    };
    if let Geometry::Convex(Convex::Polytope(hull)) = solid {
        return polytope_feature(hull, corners);
    }
    // The corners of a box are numbered by the sides they lie on.
    let number = |c: u32| faces.mesh().vertices()[c as usize].cmpgt(DVec3::ZERO).bitmask();
    let first = number(corners[0]);
    cuboid_feature(corners.iter().fold(0, |free, &c| free | (number(c) ^ first)), first)
}

/// The first contact of two moving shapes, given the sweep of their surfaces.
///
/// # Errors
/// Those of the sweep of the surfaces.
pub fn with_surfaces(
    shapes: [&Geometry; 2],
    motions: [&Motion; 2],
    options: &SweepOptions,
    memory: &mut KernelMemory,
    budget: &mut Budget,
    surfaces: impl Fn(&SweepOptions, &mut KernelMemory, &mut Budget) -> Result<Sweep, Error>,
) -> Result<Sweep, Error> {
    let poses = motions.map(|motion| motion.pose(options.from));
    let pair = ShapePair::new(shapes, [&poses[0], &poses[1]]);
    // A search that begins later in the step goes on from bodies that are known to be apart.
    if options.surfaces || options.from > 0.0 || !boxes_meet(shapes, &poses) {
        return surfaces(options, memory, budget);
    }
    let told = budget.silently(|budget| dispatch::relation(&pair, memory, budget));
    let Some(relation) = told.value else { return Ok(open(options, told.outcome)) };
    let asked = told.outcome.work;
    let meshes = shapes.iter().all(|shape| matches!(shape, Geometry::Mesh(_)));
    match relation {
        Relation::Separated | Relation::Touching => {
            let mut found = surfaces(options, memory, budget)?;
            found.outcome.work += asked;
            Ok(found)
        }
        Relation::AInsideB | Relation::BInsideA if !meshes => {
            Ok(inside(&pair, motions, options, asked, memory, budget))
        }
        _ => {
            // Surfaces that meet tell more about the contact than solids that share a point.
            let until = (options.from + options.tolerance).min(options.until);
            let mut found = surfaces(&SweepOptions { until, ..*options }, memory, budget)?;
            found.outcome.work += asked;
            let at_start = found.impact.is_some_and(|impact| impact.time <= options.from);
            if at_start || found.outcome.finish == Finish::OutOfBudget {
                return Ok(found);
            }
            if relation == Relation::Intersecting && told.outcome.certainty != Certainty::Exact {
                // Curved shapes beside what has no inside may be called intersecting though they are just apart.
                let Some(closed) = has_closed_mesh(shapes, budget) else {
                    return Ok(open(options, Outcome { finish: Finish::OutOfBudget, ..found.outcome }));
                };
                if !closed {
                    let before = found.outcome.work;
                    found = surfaces(options, memory, budget)?;
                    found.outcome.work += before;
                    return Ok(found);
                }
            }
            Ok(inside(&pair, motions, options, found.outcome.work, memory, budget))
        }
    }
}

/// Whether one of the shapes is a closed mesh, in which a body may lie without meeting its surface; every other solid
/// is swept as one. `None` when the budget ended first.
fn has_closed_mesh(shapes: [&Geometry; 2], budget: &mut Budget) -> Option<bool> {
    for shape in shapes {
        let Geometry::Mesh(model) = shape else { continue };
        if !model.prepare(Fact::Topology, budget) {
            return None;
        }
        if model.topology().is_closed() {
            return Some(true);
        }
    }
    Some(false)
}

/// Whether two placed shapes are near enough to share a point.
fn boxes_meet(shapes: [&Geometry; 2], poses: &[Pose; 2]) -> bool {
    shapes[0].bounds(&poses[0]).meets(&shapes[1].bounds(&poses[1]))
}

/// The contact of two solids that share a point at the start, none of their surfaces: where the surfaces are nearest.
fn inside(
    pair: &ShapePair<'_>,
    motions: [&Motion; 2],
    options: &SweepOptions,
    work: Counters,
    memory: &mut KernelMemory,
    budget: &mut Budget,
) -> Sweep {
    let Verdict { value, outcome, .. } = budget.silently(|budget| dispatch::distance(pair, memory, budget));
    let work = work + outcome.work;
    let Some(gap) = value else { return open(options, Outcome { work, ..outcome }) };
    let triangle = |k: usize| match (pair.shapes[k], gap.features[k]) {
        (Geometry::Mesh(_), Feature::Face(t)) => Some(t),
        _ => None,
    };
    let impact = Impact {
        time: options.from,
        kind: ContactKind::Inside,
        features: gap.features,
        triangles: [triangle(0), triangle(1)],
        point: gap.points[0].midpoint(gap.points[1]),
        // Signed between convex shapes; between surfaces the way out leads through the gap, against its direction.
        normal: if gap.distance > 0.0 { -gap.normal } else { gap.normal },
        proved: true,
    };
    let certainty = Certainty::Conservative { tolerance: options.tolerance };
    let outcome = Outcome { certainty, finish: Finish::Complete, work };
    let slack = slack_of_surfaces(pair.shapes, motions, options);
    Sweep { impact: Some(impact), free_until: options.from, slack, outcome }
}

/// Nothing is known beyond the start.
fn open(options: &SweepOptions, outcome: Outcome) -> Sweep {
    Sweep { free_until: options.from, outcome, ..Sweep::UNKNOWN }
}

#[cfg(test)]
#[path = "solid_sweep_tests.rs"]
mod tests;
