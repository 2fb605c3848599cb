//! Method `sampled`: relations and contacts of meshes from layered shells, in random order, with one budget for all
//! pairs of a batch (Guy and Debunne 2004).
//!
//! What it says is proved: apart when every pair of facets is and neither body lies in the other, in contact when two
//! triangles meet. What the budget leaves open has no answer; then the share that was covered and the probability of
//! a missed contact are told, and the next call goes on from there, also with bodies that have moved meanwhile. Where
//! triangles meet and that alone does not tell touching from intersecting, the exact relation decides.

use std::sync::Arc;

use crate::Budget;
use crate::contact::{Certainty, Contact, Counters, Finish, Outcome, Relation, Sampling, Verdict};
use crate::model::{Fact, Geometry, Model, ShapeKind};
use crate::narrow::detector::pair_memory::PairMemory;
use crate::narrow::detector::running::{Running, Step};
use crate::narrow::detector::unfinished::exact_relation;
use crate::narrow::detector::{
    Batch, ContactOptions, Contacts, Detector, Finding, Memory, PairContacts, PartContact, Question, Refused,
    Sink,
};
use crate::narrow::exact::relation::{relation_by_crossing, relation_of_disjoint};
use crate::narrow::sampled::{Layers, Surface, Tracker, TrackerOptions, TrackerReport};
use crate::narrow::shape_pair::ShapePair;

/// Layered shells, in random order.
#[derive(Debug, Clone, Copy)]
pub struct Sampled;

impl Detector for Sampled {
    fn name(&self) -> &'static str {
        "sampled"
    }

    fn accepts(&self, question: &Question, kinds: [ShapeKind; 2]) -> bool {
        let asked = match question {
            Question::Relation => true,
            // Gaps are not measured.
            Question::Contacts(ContactOptions { margin, touch, .. }) => *margin == 0.0 && *touch == 0.0,
            _ => false,
        };
        asked && kinds.iter().all(|kind| kind.is_mesh())
    }

    fn expect(&self, _: &Question, pair: &ShapePair<'_>) -> Counters {
        let roots = pair.shapes.map(|shape| shape.primitives().min(64));
        Counters { volume_tests: roots[0] * roots[1], primitive_tests: 64, updates: 0 }
    }

    fn detect(
        &self,
        batch: &Batch<'_>,
        memory: &mut Memory,
        budget: &mut Budget,
        sink: &mut dyn Sink,
    ) -> Result<(), Refused> {
        let count = batch.pairs.len();
        for (index, (pair, slot)) in batch.pairs.iter().zip(memory.slots(count)).enumerate() {
            // What a pair leaves over is shared by those after it.
            let given = budget.share(1, count - index);
            let mut own = given.clone();
            let memory = slot.get_or_insert_default();
            let finding = match &batch.question {
                Question::Contacts(options) => {
                    Finding::Contacts(contacts(pair, options, batch.seed, memory, &mut own))
                }
                _ => Finding::Relation(relation(pair, batch.seed, memory, &mut own).0),
            };
            budget.settle(&given, &own);
            if sink.take(index, finding).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// What a pair keeps from call to call.
#[derive(Debug, Default)]
struct Kept {
    /// Builds the shells of both meshes.
    building: Option<Running>,
    /// Of which meshes, by which seed.
    tracker: Option<([u64; 2], u64, Tracker)>,
}

/// How two meshes lie to each other, and the tracker that knows where they meet.
fn relation(
    pair: &ShapePair<'_>,
    seed: u64,
    memory: &mut PairMemory,
    budget: &mut Budget,
) -> (Verdict<Relation>, Option<Tracked>) {
    let [Geometry::Mesh(a), Geometry::Mesh(b)] = pair.shapes else { return (Verdict::refused(), None) };
    let models = [a, b];
    let mut kept: Box<Kept> = memory.take_kept().unwrap_or_default();
    let found = follow(models, pair, seed, &mut kept, budget);
    let (verdict, tracked) = match found {
        Followed::Open(verdict) => (verdict, None),
        Followed::To(report, contacts) => {
            let verdict = conclude(models, pair, &report, &contacts, memory, budget);
            (verdict, Some(Tracked { contacts }))
        }
    };
    memory.keep(kept);
    (verdict, tracked)
}

/// What a tracker found.
struct Tracked {
    contacts: Vec<Contact>,
}

enum Followed {
    /// The shells are not built yet.
    Open(Verdict<Relation>),
    /// A step was made.
    To(TrackerReport, Vec<Contact>),
}

/// One step of the pair's tracker.
fn follow(
    models: [&Arc<Model>; 2],
    pair: &ShapePair<'_>,
    seed: u64,
    kept: &mut Kept,
    budget: &mut Budget,
) -> Followed {
    let layers = match build(models, kept, budget) {
        Ok(layers) => layers,
        Err(work) => {
            let mut verdict = Verdict::out_of_budget();
            verdict.outcome.work = work;
            verdict.sampling = Some(Sampling { coverage: 0.0, miss_probability: 1.0 });
            return Followed::Open(verdict);
        }
    };
    let identities = models.map(|model| model.identity());
    let known = kept.tracker.take().filter(|(of, by, _)| (*of, *by) == (identities, seed));
    let mut tracker = match known {
        Some((.., tracker)) => tracker,
        None => Tracker::of_layers(layers, TrackerOptions { seed, ..TrackerOptions::default() }),
    };
    let surface =
        |k: usize| Surface { vertices: models[k].mesh().vertices(), pose: *pair.poses[k], moved: 0.0 };
    let surfaces = [surface(0), surface(1)];
    // A mesh has as many vertices as its triangles name, and rests.
    let report = tracker.step(surfaces, budget).unwrap_or_else(|_| TrackerReport::nothing());
    let contacts = if report.meeting == Some(true) { tracker.contacts(surfaces) } else { Vec::new() };
    kept.tracker = Some((identities, seed, tracker));
    Followed::To(report, contacts)
}

/// The layers of both meshes, or what this call has paid for them.
fn build(
    models: [&Arc<Model>; 2],
    kept: &mut Kept,
    budget: &mut Budget,
) -> Result<[Arc<Layers>; 2], Counters> {
    let ready = || Some([Layers::known(models[0])?, Layers::known(models[1])?]);
    // With them the tree and the topology are known.
    let known = models.iter().all(|model| model.knows(Fact::ComponentExtremes));
    if let Some(layers) = ready().filter(|_| known) {
        return Ok(layers);
    }
    let all = move |models: &[Arc<Model>; 2], budget: &mut Budget| {
        models.iter().all(|model| {
            model.prepare(Fact::ComponentExtremes, budget) && Layers::of(model, budget).is_some()
        })
    };
    let own = models.map(Arc::clone);
    let mut work = Counters::default();
    if budget.is_unlimited() {
        all(&own, budget);
    } else {
        let begun = kept.building.take();
        let Some(mut running) = begun.or_else(|| Running::start(move |budget| all(&own, budget))) else {
            return Err(work);
        };
        match running.advance::<bool, ()>(budget) {
            Step::Ended(..) => {}
            Step::Open(verdict) => {
                work = verdict.outcome.work;
                kept.building = Some(running);
            }
        }
    }
    ready().ok_or(work)
}

/// The relation that a step proves.
fn conclude(
    [a, b]: [&Arc<Model>; 2],
    pair: &ShapePair<'_>,
    report: &TrackerReport,
    contacts: &[Contact],
    memory: &mut PairMemory,
    budget: &mut Budget,
) -> Verdict<Relation> {
    let [pose_a, pose_b] = pair.poses;
    let sampling = Sampling { coverage: report.coverage, miss_probability: report.miss_probability };
    let mut outcome = Outcome { certainty: Certainty::Exact, finish: Finish::Complete, ..report.outcome };
    let value = match report.meeting {
        Some(false) => Some(relation_of_disjoint(a, pose_a, b, pose_b)),
        Some(true) => {
            let faces = contacts.first().and_then(Contact::faces);
            faces.and_then(|faces| relation_by_crossing(a, pose_a, b, pose_b, faces)).or_else(|| {
                let exact = exact_relation(pair, memory, budget);
                outcome.work += exact.outcome.work;
                exact.value
            })
        }
        None => None,
    };
    if value.is_none() {
        outcome.finish = Finish::OutOfBudget;
        outcome.certainty = report.outcome.certainty;
    }
    Verdict { sampling: Some(sampling), ..Verdict::new(value, outcome) }
}

/// Where two meshes touch: one part, whose manifold is one contact for each pair of facets in contact.
fn contacts(
    pair: &ShapePair<'_>,
    options: &ContactOptions,
    seed: u64,
    memory: &mut PairMemory,
    budget: &mut Budget,
) -> Verdict<PairContacts> {
    let (verdict, tracked) = relation(pair, seed, memory, budget);
    let Verdict { value, outcome, sampling, .. } = verdict;
    let found = value.map(|relation| {
        let mut found = PairContacts { touching: relation.is_contact(), ..PairContacts::default() };
        let all = tracked.map(|tracked| tracked.contacts).unwrap_or_default();
        let deepest = all.iter().copied().max_by(|x, y| x.depth.total_cmp(&y.depth));
        if let Some(contact) = deepest.filter(|_| options.told != Contacts::None) {
            found.points = if options.told == Contacts::Manifold { all } else { Vec::new() };
            let manifold = [0, found.points.len() as u32];
            found.parts.push(PartContact { parts: [0; 2], contact, certainty: outcome.certainty, manifold });
        }
        found
    });
    Verdict { sampling, ..Verdict::new(found, outcome) }
}

#[cfg(test)]
#[path = "sampled_tests.rs"]
mod tests;
