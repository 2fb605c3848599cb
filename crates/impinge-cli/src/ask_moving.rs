//! Questions about vertices that move along straight lines over a step, asked of the library.

use glam::DVec3;
use impinge::geom::moving::{FeaturePairKind, first_contact_exact, first_within};
use impinge::narrow::deforming::{Deforming, DeformingSearch, MovingContact, Want, free_step};
use impinge::num::tolerance::{CONTACT_TIME, SEPARATION_SLACK};
use impinge::{Certainty, Counters, Finish, Outcome};

use crate::answer::{Answer, FeatureContact, Found, Impact, Meetings, Step};
use crate::ask;
use crate::error::Failure;
use crate::settings::{Method, Settings};

/// The features named by a word of the contract.
pub fn kind(word: &str) -> Result<FeaturePairKind, Failure> {
    match word {
        "vf" => Ok(FeaturePairKind::VertexFace),
        "ee" => Ok(FeaturePairKind::EdgeEdge),
        _ => Err(Failure(format!("{word:?} is neither \"vf\" nor \"ee\""))),
    }
}

/// When two features first meet or come within a margin, given by their points at both ends of the step.
pub fn features(
    kind: FeaturePairKind,
    ends: [[[f64; 3]; 4]; 2],
    margin: f64,
    settings: &Settings,
) -> Result<Answer, Failure> {
    let [t0, t1] = ends.map(|points| points.map(DVec3::from));
    let (mut budget, mut work) = (settings.limit.start(), Counters::default());
    let mut impact = Impact { hit: None, time: None };
    let finish = if budget.draw(1) {
        work.primitive_tests += 1;
        impact.time = match settings.method {
            Method::Brute if margin == 0.0 => first_contact_exact(kind, &t0, &t1),
            _ => first_within(kind, &t0, &t1, margin),
        };
        impact.hit = Some(impact.time.is_some());
        Finish::Complete
    } else {
        Finish::OutOfBudget
    };
    // Of a margin the tolerance is a length, of a contact a part of the step.
    let tolerance = if margin > 0.0 { margin * SEPARATION_SLACK } else { CONTACT_TIME };
    let certainty = Certainty::Conservative { tolerance };
    Ok(Answer::new(Found::Impact(impact), &Outcome { certainty, finish, work }))
}

/// What a mesh meets of itself, or comes within a margin of, while it moves: the first contact, or all of them.
pub fn self_contacts(
    mesh: &Deforming,
    all: bool,
    margin: f64,
    settings: &Settings,
) -> Result<Answer, Failure> {
    ask::refuse_brute(settings, "continuous self-collision")?;
    let want = if all { Want::All } else { Want::First };
    let found = DeformingSearch::of_one(mesh, want).within(margin).advance(&mut settings.limit.start());
    let complete = found.outcome.finish == Finish::Complete;
    let first = found.contacts.iter().min_by(|a, b| a.time.total_cmp(&b.time));
    let of = |kind: FeaturePairKind| {
        let all = found.contacts.iter().filter(|contact| contact.kind == kind);
        all.map(|&MovingContact { vertices, time, .. }| FeatureContact { vertices, time }).collect()
    };
    let step = Step {
        impact: Impact {
            hit: (complete || first.is_some()).then_some(first.is_some()),
            time: first.map(|contact| contact.time),
        },
        free_step: complete.then(|| free_step(first)),
        kind: first.map(|contact| word(contact.kind)),
        vertices: first.map(|contact| contact.vertices),
        all: all.then(|| Meetings { vf: of(FeaturePairKind::VertexFace), ee: of(FeaturePairKind::EdgeEdge) }),
    };
    Ok(Answer::new(Found::Step(step), &found.outcome))
}

fn word(kind: FeaturePairKind) -> &'static str {
    match kind {
        FeaturePairKind::VertexFace => "vf",
        FeaturePairKind::EdgeEdge => "ee",
    }
}
