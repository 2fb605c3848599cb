//! Bodies so small or so large that products of their lengths leave the range of the doubles: their contacts and ways out
//! are looked for in another unit of length, a power of two, which no coordinate loses a bit by.

use std::sync::Arc;

use super::{Wanted, in_this_unit};
use crate::contact::{Contact, Verdict};
use crate::model::{Compound, Fact, Geometry, Model};
use crate::narrow::convex::placed_core::{reach_of, safe_scale};
use crate::narrow::kernel_memory::KernelMemory;
use crate::narrow::shape_pair::ShapePair;
use crate::shape::{Convex, Mesh};
use crate::{Budget, Outcome, Pose};

/// Two placed bodies in another unit.
pub(super) struct Rescaled {
    shapes: [Geometry; 2],
    poses: [Pose; 2],
    /// Units in a unit of the world; a power of two.
    pub scale: f64,
}

impl Rescaled {
    /// Two bodies in a unit in which they are about as large as 1; `None` inside where that of the world will do, outside
    /// when the budget ended before the trees were built that tell their sizes.
    pub fn of(pair: &ShapePair<'_>, budget: &mut Budget) -> Option<Option<Rescaled>> {
        let models = |shapes: [&Geometry; 2], budget: &mut Budget| {
            let mut models = shapes.into_iter().filter_map(|shape| shape.model());
            models.all(|model| model.prepare(Fact::Tree, budget))
        };
        if !models(pair.shapes, budget) {
            return None;
        }
        let scale = scale_of(pair);
        if scale == 1.0 {
            return Some(None);
        }
        let [Some((a, pose_a)), Some((b, pose_b))] =
            [0, 1].map(|k| rescaled(pair.shapes[k], pair.poses[k], scale))
        else {
            return Some(None);
        };
        let found = Rescaled { shapes: [a, b], poses: [pose_a, pose_b], scale };
        models(found.shapes.each_ref(), budget).then_some(Some(found))
    }

    /// The bodies.
    pub fn pair(&self) -> ShapePair<'_> {
        ShapePair::new(self.shapes.each_ref(), self.poses.each_ref())
    }

    /// Their contacts, in the unit of the world.
    pub fn contacts(&self, wanted: Wanted, budget: &mut Budget) -> Verdict<Vec<Contact>> {
        let wanted = Wanted { margin: wanted.margin * self.scale, ..wanted };
        let found = in_this_unit(&self.pair(), wanted, &mut KernelMemory::default(), budget);
        let length = |x: f64| if x > 0.0 { (x / self.scale).max(f64::from_bits(1)) } else { x / self.scale };
        let in_world = |contact: Contact| Contact {
            points: contact.points.map(|p| p / self.scale),
            depth: length(contact.depth),
            area: contact.area / self.scale / self.scale,
            ..contact
        };
        let certainty = found.outcome.certainty.in_units(self.scale);
        let found = found.map(|all| all.into_iter().map(in_world).collect());
        Verdict { outcome: Outcome { certainty, ..found.outcome }, ..found }
    }
}

/// Units of a search in a unit of the world: 1 but for bodies of which all lengths and places are tiny, or one is huge.
fn scale_of(pair: &ShapePair<'_>) -> f64 {
    let places = pair.poses.map(|pose| pose.translation().abs().max_element());
    let [a, b] = pair.shapes.map(size_of);
    let extent = places[0].max(places[1]).max(a).max(b);
    // Points and half-spaces at the origin have no length to begin with.
    if extent == 0.0 { 1.0 } else { safe_scale(extent) }
}

/// About how far the surface of a shape reaches from the origin of its frame; 0 where it has no end.
fn size_of(shape: &Geometry) -> f64 {
    match shape {
        Geometry::Mesh(model) => {
            let frame = model.tree().frame();
            frame.centre.abs().max_element() + f64::from(frame.reach) * frame.unit
        }
        Geometry::Convex(convex) => match convex {
            Convex::Polytope(hull) => reach_of(convex) + hull.centre().abs().max_element(),
            Convex::Primitive(_) => reach_of(convex),
        },
        Geometry::Compound(compound) => {
            let parts = compound.parts().iter();
            let sizes = parts.map(|part| size_of(&part.shape) + part.pose.translation().abs().max_element());
            sizes.fold(0.0, f64::max)
        }
        Geometry::Particles(_) => 1.0,
    }
}

/// A placed shape in another unit; `None` for clouds, which are asked by their own method.
fn rescaled(shape: &Geometry, pose: &Pose, scale: f64) -> Option<(Geometry, Pose)> {
    let there = pose.moved_to(pose.translation() * scale);
    Some(match shape {
        Geometry::Mesh(model) => {
            let mesh = model.mesh();
            let vertices = mesh.vertices().iter().map(|&p| pose.apply(p) * scale).collect();
            let mesh = Mesh::from_points(vertices, mesh.triangles().to_vec()).ok()?;
            (Geometry::from(Arc::new(Model::from(mesh))), Pose::IDENTITY)
        }
        Geometry::Convex(convex) => (Geometry::Convex(rescaled_convex(convex, scale)), there),
        Geometry::Compound(compound) => {
            let mut parts = Vec::with_capacity(compound.parts().len());
            for part in compound.parts() {
                let Geometry::Convex(convex) = &part.shape else { return None };
                let at = part.pose.moved_to(part.pose.translation() * scale);
                parts.push((rescaled_convex(convex, scale), at));
            }
            (Geometry::from(Compound::new(parts).ok()?), there)
        }
        Geometry::Particles(_) => return None,
    })
}

fn rescaled_convex(convex: &Convex, scale: f64) -> Convex {
    match convex {
        Convex::Primitive(primitive) => Convex::Primitive(primitive.scaled(scale)),
        Convex::Polytope(hull) => Convex::from(hull.scaled(scale)),
    }
}
