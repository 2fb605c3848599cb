//! Method `image`: volumes from layered depth images, and contacts from their regions (Faure, Allard, Falipou and Barbier
//! 2008).
//!
//! Takes every solid: meshes, hulls, primitives and compounds. The resolution is the caller's, follows from a wanted
//! error, or is the finest for which a budget lasts.

use std::cell::OnceCell;

use glam::DVec3;

use crate::contact::{Contact, Counters, Feature, Outcome, Overlap, Verdict, Volume, VolumeOptions};
use crate::model::{Geometry, ShapeKind};
use crate::narrow::convex::separation::{ConvexMemory, distance};
use crate::narrow::detector::pair_memory::PairMemory;
use crate::narrow::detector::unfinished::{Kernel, ask, exact_relation};
use crate::narrow::detector::{
    Batch, ContactOptions, Contacts, Detector, Finding, Memory, PairContacts, PairKernel, PartContact,
    Question, Refused, Sink, each_pair,
};
use crate::narrow::image;
use crate::narrow::shape_pair::ShapePair;
use crate::shape::{Convex, Primitive};
use crate::{Budget, Certainty, Error, Finish, Pose, Relation};

/// Layered depth images.
#[derive(Debug, Clone, Copy)]
pub struct Image;

impl Detector for Image {
    fn name(&self) -> &'static str {
        "image"
    }

    fn accepts(&self, question: &Question, kinds: [ShapeKind; 2]) -> bool {
        let asked = match question {
            Question::Volume(_) => true,
            // Gaps are not measured.
            Question::Contacts(ContactOptions { margin, touch, .. }) => *margin == 0.0 && *touch == 0.0,
            _ => false,
        };
        let is_solid = |kind: &ShapeKind| !matches!(kind, ShapeKind::Triangle | ShapeKind::Segment);
        // Two half-spaces may overlap without end.
        let is_finite = kinds != [ShapeKind::HalfSpace; 2];
        asked && is_finite && kinds.iter().all(is_solid)
    }

    fn expect(&self, question: &Question, pair: &ShapePair<'_>) -> Counters {
        let pixels = match question {
            Question::Volume(VolumeOptions { resolution: Some(pixels), .. }) => u64::from(*pixels),
            _ => u64::from(image::PIXELS),
        };
        let volume_tests = pair.shapes.iter().map(|shape| shape.primitives()).sum();
        Counters { volume_tests, primitive_tests: 3 * pixels * pixels, updates: 0 }
    }

    fn detect(
        &self,
        batch: &Batch<'_>,
        memory: &mut Memory,
        budget: &mut Budget,
        sink: &mut dyn Sink,
    ) -> Result<(), Refused> {
        let Question::Volume(options) = &batch.question else {
            return each_pair(self, batch, memory, budget, sink);
        };
        if !budget.is_unlimited() {
            return each_pair(self, batch, memory, budget, sink);
        }
        let found = image::volume_batch(batch.pairs, options);
        let found = found.map_err(|(index, error)| Refused { index, error })?;
        for (index, verdict) in found.into_iter().enumerate() {
            if sink.take(index, Finding::Volume(verdict)).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn pairwise(&self) -> Option<&dyn PairKernel> {
        Some(self)
    }
}

impl PairKernel for Image {
    fn volume(
        &self,
        pair: &ShapePair<'_>,
        options: &VolumeOptions,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Result<Verdict<Volume>, Error> {
        let kernel: Kernel<Volume> = |pair, question, _, budget| match question {
            Question::Volume(options @ VolumeOptions { resolution: None, error: None, .. })
                if !budget.is_unlimited() =>
            {
                image::volume_within(pair, options, budget)
            }
            Question::Volume(options) => image::volume(pair, options, budget),
            _ => Ok(Verdict::refused()),
        };
        ask("image", &Question::Volume(*options), pair, memory, budget, kernel)
    }

    /// One contact for each region of the intersection that the images see. Where they see none, the exact relation tells
    /// whether there may be any.
    fn contacts(
        &self,
        pair: &ShapePair<'_>,
        options: &ContactOptions,
        memory: &mut PairMemory,
        budget: &mut Budget,
        found: &mut PairContacts,
    ) -> Result<Outcome, Error> {
        let Verdict { value, mut outcome, .. } =
            self.volume(pair, &VolumeOptions::default(), memory, budget)?;
        if outcome.finish == Finish::OutOfBudget {
            return Ok(outcome);
        }
        found.clear();
        let regions = value.map(|volume| volume.regions).unwrap_or_default();
        found.touching = !regions.is_empty();
        let nested = OnceCell::new();
        let as_contact = |overlap: &Overlap| contact(overlap, || *nested.get_or_init(|| way_out(pair)));
        let deepest = regions.iter().map(as_contact).max_by(|x, y| x.depth.total_cmp(&y.depth));
        // The depth of what has no normal of its own may be too large by all of it.
        let without = regions.iter().any(|overlap| overlap.region.normal == DVec3::ZERO);
        if let Some(deepest) = deepest.filter(|_| without) {
            let resolution = deepest.depth;
            outcome.certainty = outcome.certainty.lesser(Certainty::Approximate { resolution });
        }
        if regions.is_empty() {
            // A relation that a budget leaves open tells no more than the images.
            let related = exact_relation(pair, memory, budget);
            outcome.work += related.outcome.work;
            found.touching = related.value.is_some_and(Relation::is_contact);
            if related.value != Some(Relation::Separated) {
                let resolution = pixel(pair);
                outcome.certainty = outcome.certainty.lesser(Certainty::Approximate { resolution });
            } else if related.outcome.certainty == Certainty::Exact {
                outcome.certainty = Certainty::Exact;
            }
        }
        if let Some(contact) = deepest.filter(|_| options.told != Contacts::None) {
            if options.told == Contacts::Manifold {
                found.points.extend(regions.iter().map(as_contact));
            }
            let manifold = [0, found.points.len() as u32];
            found.parts.push(PartContact { parts: [0; 2], contact, certainty: outcome.certainty, manifold });
        }
        Ok(outcome)
    }
}

/// How far the columns of the images are apart at most: the smaller body's longest side over the number of pixels.
fn pixel(pair: &ShapePair<'_>) -> f64 {
    let side = |k: usize| {
        let bounds = pair.shapes[k].bounds(pair.poses[k]);
        (bounds.high - bounds.low).max_element()
    };
    side(0).min(side(1)) / f64::from(image::PIXELS)
}

/// The direction and length of a way out of one another, of bodies that are nested: that of the boxes around those that are
/// not convex.
fn way_out(pair: &ShapePair<'_>) -> (DVec3, f64) {
    let [(a, pose_a), (b, pose_b)] = [0, 1].map(|k| convex_around(pair.shapes[k], pair.poses[k]));
    let (found, _) = distance(&a, &pose_a, &b, &pose_b, &mut ConvexMemory::default());
    (found.normal, -found.distance)
}

/// A region as a contact: its extent along the normal, about its centroid. A body within another has no normal of its own:
/// there both are those of the way out.
fn contact(overlap: &Overlap, way_out: impl FnOnce() -> (DVec3, f64)) -> Contact {
    let region = &overlap.region;
    let is_nested = region.normal == DVec3::ZERO;
    let (normal, depth) = if is_nested { way_out() } else { (region.normal, region.depth) };
    let half = 0.5 * depth * normal;
    Contact {
        points: [region.centroid + half, region.centroid - half],
        normal,
        depth,
        area: region.area,
        features: [Feature::Surface; 2],
        id: 0,
        time: 0.0,
    }
}

/// A convex shape, or the box around one that is none, in the world.
fn convex_around(shape: &Geometry, pose: &Pose) -> (Convex, Pose) {
    match shape {
        Geometry::Convex(convex) => (convex.clone(), *pose),
        other => {
            let bounds = other.bounds(pose);
            (Convex::Primitive(Primitive::Cuboid { half: bounds.half() }), Pose::shift(bounds.centre()))
        }
    }
}
