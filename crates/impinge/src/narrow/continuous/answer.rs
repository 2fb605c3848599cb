//! What a sweep is asked and what it answers.

use glam::DVec3;

use crate::contact::Verdict;
use crate::num::tolerance::SWEEP_TOLERANCE;
use crate::{Certainty, Contact, Counters, Feature, Finish, Outcome};

/// How sharp a sweep's answer has to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SweepOptions {
    /// How much before the true first contact the time of an impact may lie (in units of the step).
    pub tolerance: f64,
    /// How near surfaces may come without a contact and still be called an impact; `None` takes a billionth of the
    /// scene's size. Rounding is the lower limit.
    pub slack: Option<f64>,
    /// Whether closed meshes, boxes and hulls are taken as surfaces without an inside.
    pub surfaces: bool,
    /// Where in the step the search begins: the bodies are known to be apart until then.
    pub from: f64,
    /// Where in the step it ends: later contacts are not told.
    pub until: f64,
}

impl SweepOptions {
    /// A millionth of the step and a billionth of the scene.
    pub const DEFAULT: SweepOptions =
        SweepOptions { tolerance: SWEEP_TOLERANCE, slack: None, surfaces: false, from: 0.0, until: 1.0 };
}

impl Default for SweepOptions {
    fn default() -> SweepOptions {
        SweepOptions::DEFAULT
    }
}

/// Which features touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ContactKind {
    /// A vertex of a and a face of b.
    VertexFace,
    /// A face of a and a vertex of b.
    FaceVertex,
    /// Two edges.
    EdgeEdge,
    /// Solids that share a point at the start of the step although their surfaces do not meet: one begins inside the
    /// other.
    Inside,
    /// Shapes that have no such features, or have them only in part.
    Shapes,
}

/// The first contact of two moving bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Impact {
    /// Never later than the true first contact, and at most the tolerance before it; where no contact was proved the
    /// certainty says how much before.
    pub time: f64,
    /// Which features touch.
    pub kind: ContactKind,
    /// The features, of a and of b.
    pub features: [Feature; 2],
    /// The triangles they belong to, where meshes take part.
    pub triangles: [Option<u32>; 2],
    /// Where, in the world.
    pub point: DVec3,
    /// Of unit length, from a to b.
    pub normal: DVec3,
    /// Whether a contact was proved; otherwise the surfaces come nearer than the slack.
    pub proved: bool,
}

impl Impact {
    /// The impact as a contact at its time, without depth.
    pub fn contact(&self) -> Contact {
        let Impact { time, features, point, normal, .. } = *self;
        Contact { points: [point; 2], normal, depth: 0.0, area: 0.0, features, id: 0, time }
    }

    /// The answer with a and b exchanged.
    #[must_use]
    pub fn swapped(self) -> Impact {
        let ([f, g], [s, t]) = (self.features, self.triangles);
        let kind = match self.kind {
            ContactKind::VertexFace => ContactKind::FaceVertex,
            ContactKind::FaceVertex => ContactKind::VertexFace,
            other => other,
        };
        Impact { kind, features: [g, f], triangles: [t, s], normal: -self.normal, ..self }
    }
}

impl Sweep {
    /// What stands for an answer that there is none of: nothing is known.
    pub(crate) const UNKNOWN: Sweep = Sweep {
        impact: None,
        free_until: 0.0,
        slack: 0.0,
        outcome: Outcome {
            certainty: Certainty::Exact,
            finish: Finish::OutOfBudget,
            work: Counters { volume_tests: 0, primitive_tests: 0, updates: 0 },
        },
    };
}

/// Whether and when two moving bodies touch.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Sweep {
    /// The first contact; `None` when there is none, or none was found before the budget ended.
    pub impact: Option<Impact>,
    /// There is surely no contact before this: the time of the impact, the end of the search without one, and
    /// what was reached when the budget ended.
    pub free_until: f64,
    /// How near surfaces may have come without a contact (a length in the world).
    pub slack: f64,
    /// How the search ended and what it cost. The certainty of an impact is the tolerance of its time.
    pub outcome: Outcome,
}

impl Sweep {
    /// What a search answers that found this contact, or none up to the time it reached; with the slack, and how early the
    /// contact may be.
    pub(super) fn told(
        impact: Option<Impact>,
        reached: f64,
        [slack, early]: [f64; 2],
        finish: Finish,
        work: Counters,
    ) -> Sweep {
        let certainty = match (impact, finish) {
            (None, Finish::Complete) => Certainty::Exact,
            _ => Certainty::Conservative { tolerance: early },
        };
        let free_until = impact.map_or(reached, |impact| impact.time);
        Sweep { impact, free_until, slack, outcome: Outcome { certainty, finish, work } }
    }

    /// How much before the true first contact the impact may be (in units of the step).
    pub(crate) fn earliness(&self) -> f64 {
        match self.outcome.certainty {
            Certainty::Conservative { tolerance } => tolerance,
            _ => 0.0,
        }
    }
}

impl From<Sweep> for Verdict<Sweep> {
    /// A contact that was found is the first one, whatever became of the budget.
    fn from(found: Sweep) -> Verdict<Sweep> {
        let outcome = found.outcome;
        match found.impact {
            Some(_) => Verdict::new(Some(found), outcome),
            None => Verdict::by_finish(found, outcome),
        }
    }
}
