//! Method `image`: volumes from layered depth images, and contacts from their regions (Faure, Allard, Falipou and Barbier
//! 2008).
//!
//! Takes every solid: meshes, hulls, primitives and compounds. The resolution is the caller's, follows from a wanted
//! error, or is the finest for which a budget lasts.

use crate::contact::{Contact, Counters, Feature, Outcome, Overlap, Verdict, Volume, VolumeOptions};
use crate::model::ShapeKind;
use crate::narrow::detector::pair_memory::PairMemory;
use crate::narrow::detector::unfinished::{Kernel, ask};
use crate::narrow::detector::{
    Batch, ContactOptions, Contacts, Detector, Finding, Memory, PairContacts, PairKernel, PartContact,
    Question, Refused, Sink, each_pair,
};
use crate::narrow::image;
use crate::narrow::shape_pair::ShapePair;
use crate::{Budget, Error};

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

    /// One contact for each region of the intersection; bodies that only touch have none.
    fn contacts(
        &self,
        pair: &ShapePair<'_>,
        options: &ContactOptions,
        memory: &mut PairMemory,
        budget: &mut Budget,
        found: &mut PairContacts,
    ) -> Outcome {
        let asked = VolumeOptions::default();
        // What bounds no solid has no region.
        let verdict = self.volume(pair, &asked, memory, budget).unwrap_or_else(|_| {
            let mut nothing = Verdict::out_of_budget();
            nothing.outcome.finish = crate::Finish::Complete;
            nothing
        });
        let Verdict { value, outcome, .. } = verdict;
        if outcome.finish == crate::Finish::OutOfBudget {
            return outcome;
        }
        found.clear();
        let regions = value.map(|volume| volume.regions).unwrap_or_default();
        found.touching = !regions.is_empty();
        let deepest = regions.iter().max_by(|x, y| x.region.depth.total_cmp(&y.region.depth)).map(contact);
        if let Some(contact) = deepest.filter(|_| options.told != Contacts::None) {
            if options.told == Contacts::Manifold {
                found.points.extend(regions.iter().map(self::contact));
            }
            let manifold = [0, found.points.len() as u32];
            found.parts.push(PartContact { parts: [0; 2], contact, certainty: outcome.certainty, manifold });
        }
        outcome
    }
}

/// A region as a contact: its extent along the normal, about its centroid.
fn contact(overlap: &Overlap) -> Contact {
    let region = &overlap.region;
    let half = 0.5 * region.depth * region.normal;
    Contact {
        points: [region.centroid + half, region.centroid - half],
        normal: region.normal,
        depth: region.depth,
        area: region.area,
        features: [Feature::Surface; 2],
        id: 0,
        time: 0.0,
    }
}
