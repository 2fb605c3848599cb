//! Answers as JSON fields, in the words of the contract.
//!
//! Everything here depends on the question alone: no times, no thread counts. Costs go to `--explain`.

use impinge::{Certainty, Counters, Feature, Finish, Outcome, Relation};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::exit::Exit;

/// Version of the JSON fields.
pub const SCHEMA: u32 = 1;

/// What was found, how sure it is, and what it cost.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The fields of the question's kind.
    #[serde(flatten)]
    pub found: Found,
    /// `certainty` and `finish`.
    #[serde(flatten)]
    pub assurance: Assurance,
    /// The cost, for `--explain`.
    #[serde(skip)]
    pub work: Counters,
}

/// The fields of each kind of answer.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Found {
    /// How two bodies lie to each other; null when the budget ended first.
    Relation {
        /// One of the five words.
        relation: Option<&'static str>,
    },
    /// Triangles that meet, or that are nearer than a margin.
    Pairs(Pairs),
    /// A relation and its pairs (`check --all`).
    Check {
        /// One of the five words.
        relation: Option<&'static str>,
        /// The pairs.
        #[serde(flatten)]
        pairs: Pairs,
    },
    /// The smallest distance.
    Distance(Distance),
    /// Distances of points from a surface.
    Points(Points),
    /// When moving things first meet.
    Impact(Impact),
    /// When moving bodies first touch.
    Sweep(Sweep),
    /// What a mesh meets of itself while it moves.
    Step(Step),
}

/// The contacts of a mesh with itself over a step.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// Whether and when it first meets itself.
    #[serde(flatten)]
    pub impact: Impact,
    /// The part of the step in which nothing meets; null when the budget ended before that was known.
    pub free_step: Option<f64>,
    /// Which features meet first: `vf` or `ee`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// The vertices of those features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertices: Option<[u32; 4]>,
    /// Every pair that meets (`--all`).
    #[serde(flatten)]
    pub all: Option<Meetings>,
}

/// Every pair of moving features that meets.
#[derive(Debug, Clone, Serialize)]
pub struct Meetings {
    /// Vertices and faces.
    pub vf: Vec<FeatureContact>,
    /// Edges and edges.
    pub ee: Vec<FeatureContact>,
}

/// Two features that meet during a step.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct FeatureContact {
    /// Vertex and face, or the ends of both edges.
    pub vertices: [u32; 4],
    /// When they first meet.
    pub time: f64,
}

/// The first contact of a step.
#[derive(Debug, Clone, Serialize)]
pub struct Impact {
    /// Whether there is any; null when the budget ended before one was found.
    pub hit: Option<bool>,
    /// When, as a part of the step, never later than the truth.
    pub time: Option<f64>,
}

/// Triangle pairs, ascending and unique.
#[derive(Debug, Clone, Serialize)]
pub struct Pairs {
    /// How many.
    pub count: usize,
    /// The distance that counts as near; absent when only meeting pairs count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// Triangle of a, triangle of b.
    pub pairs: Vec<[u32; 2]>,
}

/// The smallest distance, where it is taken and on what.
#[derive(Debug, Clone, Serialize)]
pub struct Distance {
    /// The length; null when nothing was measured before the budget ended.
    pub distance: Option<f64>,
    /// What the length is not below; absent when it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// One point on each body, in the world frame.
    pub points: Option<[[f64; 3]; 2]>,
    /// What the points lie on.
    #[serde(serialize_with = "features")]
    pub features: Option<[Feature; 2]>,
    /// From a to b; null where the bodies meet.
    pub normal: Option<[f64; 3]>,
}

/// When and where moving bodies first touch.
#[derive(Debug, Clone, Serialize)]
pub struct Sweep {
    /// Whether they do; null when the budget ended first.
    pub hit: Option<bool>,
    /// When, never late; null without a hit.
    pub time: Option<f64>,
    /// `vf`, `fv`, `ee`, or the names of the shapes.
    pub kind: Option<String>,
    /// What touches.
    #[serde(serialize_with = "features")]
    pub features: Option<[Feature; 2]>,
    /// Where, in the world frame.
    pub point: Option<[f64; 3]>,
    /// From a to b.
    pub normal: Option<[f64; 3]>,
    /// Whether a contact was proved; otherwise they come nearer than the slack.
    pub proved: Option<bool>,
    /// There is surely no contact before this time.
    pub free_until: f64,
    /// How near counts as a hit without a proof.
    pub slack: f64,
    /// How early the time of a hit may be; where it is that of the certainty it stands there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
}

/// Distances of points.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Points {
    /// One for each point, negative inside a closed mesh.
    pub distances: Vec<f64>,
    /// Whether the point is inside a closed mesh.
    pub inside: Vec<bool>,
}

/// How sure the answer is and how its search ended.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Assurance {
    certainty: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tolerance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<u64>,
    finish: &'static str,
}

impl Assurance {
    /// Exact and complete.
    pub const EXACT: Assurance = Assurance::bare("exact", "complete");

    const fn bare(certainty: &'static str, finish: &'static str) -> Assurance {
        Assurance { certainty, tolerance: None, resolution: None, samples: None, finish }
    }

    /// Whether the budget ended the search.
    pub fn is_out_of_budget(&self) -> bool {
        self.finish == "out_of_budget"
    }
}

impl From<&Outcome> for Assurance {
    fn from(outcome: &Outcome) -> Assurance {
        let finish = match outcome.finish {
            Finish::Complete => "complete",
            Finish::Stopped => "stopped",
            Finish::OutOfBudget => "out_of_budget",
        };
        match outcome.certainty {
            Certainty::Exact => Assurance::bare("exact", finish),
            Certainty::Conservative { tolerance } => {
                Assurance { tolerance: Some(tolerance), ..Assurance::bare("conservative", finish) }
            }
            Certainty::Approximate { resolution } => {
                Assurance { resolution: Some(resolution), ..Assurance::bare("approximate", finish) }
            }
            Certainty::Sampled { samples } => {
                Assurance { samples: Some(samples), ..Assurance::bare("sampled", finish) }
            }
        }
    }
}

impl std::fmt::Display for Assurance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.certainty)?;
        for (name, value) in [("tolerance", self.tolerance), ("resolution", self.resolution)] {
            if let Some(value) = value {
                write!(f, " ({name} {value:?})")?;
            }
        }
        if let Some(samples) = self.samples {
            write!(f, " ({samples} samples)")?;
        }
        write!(f, ", {}", self.finish.replace('_', " "))
    }
}

impl Answer {
    /// An answer with the certainty, the end and the cost of its search.
    pub fn new(found: Found, outcome: &Outcome) -> Answer {
        Answer { found, assurance: outcome.into(), work: outcome.work }
    }

    /// The exit code: contact wins over an unfinished search, for it is certain.
    pub fn exit(&self) -> Exit {
        let contact = match &self.found {
            Found::Relation { relation } => is_contact(*relation),
            Found::Pairs(pairs) => pairs.count > 0,
            Found::Check { relation, pairs } => is_contact(*relation) || pairs.count > 0,
            Found::Distance(d) => d.distance.is_some_and(|d| d <= 0.0),
            Found::Points(_) => false,
            Found::Sweep(sweep) => sweep.hit == Some(true),
            Found::Impact(impact) | Found::Step(Step { impact, .. }) => impact.hit == Some(true),
        };
        match (contact, self.assurance.is_out_of_budget()) {
            (true, _) => Exit::Contact,
            (false, true) => Exit::Undecided,
            (false, false) => Exit::Free,
        }
    }
}

fn is_contact(relation: Option<&str>) -> bool {
    relation.is_some_and(|word| word != word_of(Relation::Separated))
}

/// The word of a relation.
pub const fn word_of(relation: Relation) -> &'static str {
    match relation {
        Relation::Separated => "separated",
        Relation::Touching => "touching",
        Relation::Intersecting => "intersecting",
        Relation::AInsideB => "a_inside_b",
        Relation::BInsideA => "b_inside_a",
    }
}

fn features<S: Serializer>(features: &Option<[Feature; 2]>, s: S) -> Result<S::Ok, S::Error> {
    features.map(|pair| pair.map(Named)).serialize(s)
}

/// A feature as `{"vertex":i}`, `{"edge":[i,j]}`, `{"face":t}` or `{"surface":true}`.
struct Named(Feature);

impl Serialize for Named {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(1))?;
        match self.0 {
            Feature::Vertex(v) => map.serialize_entry("vertex", &v)?,
            Feature::Edge(e) => map.serialize_entry("edge", &e)?,
            Feature::Face(f) => map.serialize_entry("face", &f)?,
            Feature::Surface => map.serialize_entry("surface", &true)?,
        }
        map.end()
    }
}

/// Any answer with the schema in front.
#[derive(Debug, Serialize)]
pub struct Document<T> {
    schema: u32,
    #[serde(flatten)]
    body: T,
}

impl<T> Document<T> {
    /// Puts the schema in front.
    pub fn new(body: T) -> Document<T> {
        Document { schema: SCHEMA, body }
    }
}

/// What stands in place of an answer that failed.
#[derive(Debug, Serialize)]
pub struct Refusal<'a> {
    /// Why.
    pub error: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    const DONE: Outcome = Outcome {
        certainty: Certainty::Exact,
        finish: Finish::Complete,
        work: Counters { volume_tests: 0, primitive_tests: 0, updates: 0 },
    };

    fn json(found: Found, outcome: &Outcome) -> String {
        serde_json::to_string(&Document::new(Answer::new(found, outcome))).unwrap()
    }

    #[test]
    fn the_fields_are_those_of_the_contract() {
        assert_eq!(
            json(Found::Relation { relation: Some(word_of(Relation::AInsideB)) }, &DONE),
            r#"{"schema":1,"relation":"a_inside_b","certainty":"exact","finish":"complete"}"#
        );
        let pairs = Pairs { count: 2, margin: None, pairs: vec![[0, 1], [3, 0]] };
        assert_eq!(
            json(Found::Pairs(pairs), &DONE),
            r#"{"schema":1,"count":2,"pairs":[[0,1],[3,0]],"certainty":"exact","finish":"complete"}"#
        );
        let distance = Distance {
            distance: Some(1e-300),
            at_least: None,
            points: Some([[-0.0, 0.0, 1.0], [0.1, 5e-324, 1e-7]]),
            features: Some([Feature::Vertex(7), Feature::Edge([1, 2])]),
            normal: None,
        };
        let rough = Outcome { certainty: Certainty::Conservative { tolerance: 0.5 }, ..DONE };
        assert_eq!(
            json(Found::Distance(distance), &rough),
            r#"{"schema":1,"distance":1e-300,"points":[[-0.0,0.0,1.0],[0.1,5e-324,1e-7]],"features":[{"vertex":7},{"edge":[1,2]}],"normal":null,"certainty":"conservative","tolerance":0.5,"finish":"complete"}"#
        );
    }

    #[test]
    fn a_certain_contact_outlives_the_budget() {
        let out = Outcome { finish: Finish::OutOfBudget, ..DONE };
        let relation = |relation| Answer::new(Found::Relation { relation }, &out).exit();
        assert_eq!(relation(Some("intersecting")), Exit::Contact);
        assert_eq!(relation(None), Exit::Undecided);
        let none = Pairs { count: 0, margin: None, pairs: vec![] };
        assert_eq!(Answer::new(Found::Pairs(none.clone()), &out).exit(), Exit::Undecided);
        assert_eq!(Answer::new(Found::Pairs(none), &DONE).exit(), Exit::Free);
    }
}
