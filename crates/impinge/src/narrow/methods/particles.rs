//! Method `particles`: clouds of particles against anything, down a tree over the cloud by the signed distance of the
//! other body; closed meshes and primitives are solids.
//!
//! In a scene each touching particle is a contact of its own: the points of the manifold, by ascending particles.

use super::decides_each_pair;
use super::exact::never_refused;
use crate::contact::{Contact, Counters, Outcome, Relation, Separation, Verdict};
use crate::model::{Geometry, ShapeKind};
use crate::narrow::continuous::{Sweep, SweepOptions};
use crate::narrow::detector::pair_memory::PairMemory;
use crate::narrow::detector::unfinished::{Kernel, ask};
use crate::narrow::detector::{
    ContactOptions, Contacts, Detector, PairContacts, PairKernel, PartContact, Question,
};
use crate::narrow::dispatch;
use crate::narrow::particles::{Near, near};
use crate::narrow::shape_pair::ShapePair;
use crate::narrow::solid_sweep::sweep_within;
use crate::{Budget, Certainty, Error, Motion};

/// Trees over particles.
#[derive(Debug, Clone, Copy)]
pub struct Particles;

impl Detector for Particles {
    fn name(&self) -> &'static str {
        "particles"
    }

    fn accepts(&self, question: &Question, kinds: [ShapeKind; 2]) -> bool {
        let asked = matches!(
            question,
            Question::Relation | Question::Distance | Question::Contacts(_) | Question::Sweep(_)
        );
        asked && kinds.contains(&ShapeKind::Particles)
    }

    fn expect(&self, question: &Question, pair: &ShapePair<'_>) -> Counters {
        let depth = |n: u64| u64::from(n.max(1).ilog2()) + 1;
        let [m, n] = pair.shapes.map(Geometry::primitives);
        let looks = match question {
            // A distance ends at the nearest particle; contacts are those of a surface through the cloud.
            Question::Contacts(_) => m.max(n).isqrt(),
            _ => depth(m),
        };
        Counters { volume_tests: looks * depth(m.min(n)), primitive_tests: looks, updates: 0 }
    }

    decides_each_pair!();
}

impl PairKernel for Particles {
    fn relation(
        &self,
        pair: &ShapePair<'_>,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Verdict<Relation> {
        let kernel: Kernel<Relation> =
            |pair, _, memory, budget| Ok(dispatch::relation(pair, &mut memory.kernel, budget));
        never_refused(ask("particles", &Question::Relation, pair, memory, budget, kernel))
    }

    fn distance(
        &self,
        pair: &ShapePair<'_>,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Verdict<Separation> {
        let kernel: Kernel<Separation> =
            |pair, _, memory, budget| Ok(dispatch::distance(pair, &mut memory.kernel, budget));
        never_refused(ask("particles", &Question::Distance, pair, memory, budget, kernel))
    }

    fn contacts(
        &self,
        pair: &ShapePair<'_>,
        options: &ContactOptions,
        memory: &mut PairMemory,
        budget: &mut Budget,
        found: &mut PairContacts,
    ) -> Result<Outcome, Error> {
        let kernel: Kernel<PairContacts> = |pair, question, memory, budget| match question {
            Question::Contacts(options) => Ok(touching(pair, options, memory, budget)),
            _ => Ok(Verdict::refused()),
        };
        let asked = Question::Contacts(*options);
        let Verdict { value, outcome, .. } = ask("particles", &asked, pair, memory, budget, kernel)?;
        if let Some(value) = value {
            *found = value;
        }
        Ok(outcome)
    }

    fn sweep(
        &self,
        pair: &ShapePair<'_>,
        options: &SweepOptions,
        memory: &mut PairMemory,
        budget: &mut Budget,
    ) -> Result<Verdict<Sweep>, Error> {
        let kernel: Kernel<Sweep> = |pair, question, memory, budget| {
            let Question::Sweep(options) = question else { return Ok(Verdict::refused()) };
            for shape in pair.shapes {
                if let Geometry::Particles(cloud) = shape
                    && cloud.tree_within(budget).is_none()
                {
                    return Ok(Verdict::out_of_budget());
                }
            }
            let still = pair.poses.map(|pose| Motion::Still(*pose));
            let motions = pair.motions.unwrap_or([&still[0], &still[1]]);
            Ok(sweep_within(pair.shapes, motions, options, &mut memory.kernel, budget)?.into())
        };
        ask("particles", &Question::Sweep(*options), pair, memory, budget, kernel)
    }
}

/// Where a cloud touches another body.
fn touching(
    pair: &ShapePair<'_>,
    options: &ContactOptions,
    memory: &mut PairMemory,
    budget: &mut Budget,
) -> Verdict<PairContacts> {
    if options.told == Contacts::None && options.touch == 0.0 {
        return dispatch::relation(pair, &mut memory.kernel, budget)
            .map(|relation| PairContacts { touching: relation.is_contact(), ..PairContacts::default() });
    }
    let swapped = dispatch::is_swapped(pair);
    let ordered = if swapped { pair.swapped() } else { *pair };
    let ([Geometry::Particles(cloud), other], [pose, other_pose]) = (ordered.shapes, ordered.poses) else {
        return Verdict::refused();
    };
    let limit = if options.told == Contacts::None { options.touch } else { options.margin };
    near(cloud, pose, other, other_pose, limit, budget).map(|near| told(&near, swapped, options))
}

/// What is reported of the particles near a body: one entry for each part of the body, its particles as a manifold.
fn told(near: &[Near], swapped: bool, options: &ContactOptions) -> PairContacts {
    let touching = near.iter().any(|near| near.separation.distance <= options.touch);
    let mut found = PairContacts { touching, ..PairContacts::default() };
    if options.told == Contacts::None {
        return found;
    }
    let contact = |near: &Near| {
        let contact = Contact::from(near.separation);
        if swapped { contact.swapped() } else { contact }
    };
    for of_part in near.chunk_by(|p, q| p.part == q.part) {
        let deepest = of_part.iter().min_by(|p, q| p.separation.distance.total_cmp(&q.separation.distance));
        let Some(deepest) = deepest else { continue };
        let from = found.points.len() as u32;
        if options.told == Contacts::Manifold {
            found.points.extend(of_part.iter().map(contact));
        }
        let manifold = [from, found.points.len() as u32];
        let parts = if swapped { [deepest.part, 0] } else { [0, deepest.part] };
        found.parts.push(PartContact {
            parts,
            contact: contact(deepest),
            certainty: Certainty::Exact,
            manifold,
        });
    }
    found
}
