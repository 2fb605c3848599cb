//! The fields of each kind of answer, in the words of the contract.

use std::io::Write;

use impinge::{Feature, Relation};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// The fields of each kind of answer.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Found {
    /// How two bodies lie to each other; null when the budget ended first.
    Relation {
        /// One of the five words.
        relation: Option<&'static str>,
        /// What that leaves undecided.
        #[serde(flatten)]
        openness: Openness,
    },
    /// Triangles that meet, or that are nearer than a margin.
    Pairs(Pairs),
    /// A relation and its pairs (`check --all`).
    Check {
        /// One of the five words.
        relation: Option<&'static str>,
        /// What that leaves undecided.
        #[serde(flatten)]
        openness: Openness,
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
    /// How much two solids overlap.
    Volume(Volume),
    /// What rays hit.
    Rays(RayHits),
    /// Where two bodies overlap or are near.
    Contacts(Contacts),
    /// A translation that takes two bodies apart.
    Separate(Separate),
}

impl Found {
    /// Whether a contact is certain.
    pub fn is_contact(&self) -> bool {
        match self {
            Found::Relation { relation, .. } => is_contact(*relation),
            Found::Pairs(pairs) => !pairs.pairs.is_empty(),
            Found::Check { relation, pairs, .. } => is_contact(*relation) || !pairs.pairs.is_empty(),
            Found::Distance(found) => found.is_contact,
            Found::Points(_) => false,
            Found::Sweep(sweep) => sweep.hit == Some(true),
            Found::Impact(impact) => impact.hit == Some(true),
            Found::Rays(found) => found.hits.iter().any(Option::is_some),
            Found::Contacts(found) => found.contacts.as_ref().is_some_and(|all| !all.is_empty()),
            Found::Separate(found) => found.length.is_some_and(|length| length > 0.0),
            Found::Volume(found) => {
                // A region may be too small for its volume to be a double.
                found.volume.is_some_and(|volume| volume > 0.0) || !found.patches.is_empty()
            }
            Found::Step(step) => step.impact.hit == Some(true) || step.at_least > Some(0),
        }
    }
}

/// Which bodies are open meshes, where it is open for that reason whether the other lies within.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Openness {
    /// `a`, `b` or both; absent where none is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<&'static str>,
    /// The same in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Openness {
    /// Of these bodies, with what may lie within each, and how many of how many connected parts of it are open.
    pub fn of(bodies: &[(&'static str, &str, [usize; 2])]) -> Openness {
        let sentence = |&(name, others, [open, all]): &(&str, &str, [usize; 2])| {
            let parts = match open < all {
                true => format!(" ({open} of {all} connected parts open)"),
                false => String::new(),
            };
            format!(
                "{name} is an open mesh{parts} and has no inside: whether {others} within it is not decided"
            )
        };
        let note = bodies.iter().map(sentence).reduce(|one, other| format!("{one}; {other}"));
        Openness { open: bodies.iter().map(|(name, ..)| *name).collect(), note }
    }

    /// The line for people, if there is anything to say.
    pub fn tell(&self, out: &mut dyn Write) -> std::io::Result<()> {
        self.note.as_ref().map_or(Ok(()), |note| writeln!(out, "note: {note}"))
    }
}

/// Triangle pairs, ascending and unique.
#[derive(Debug, Clone, Serialize)]
pub struct Pairs {
    /// How many; null when the budget ended before all were found.
    pub count: Option<usize>,
    /// How many were found until the budget ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<usize>,
    /// The distance that counts as near; absent when only meeting pairs count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// Triangle of a, triangle of b.
    pub pairs: Vec<[u32; 2]>,
}

impl Pairs {
    /// The same, of a search that the budget ended.
    pub fn so_far(self) -> Pairs {
        Pairs { count: None, at_least: Some(self.pairs.len()), ..self }
    }
}

/// The smallest distance, where it is taken and on what.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Distance {
    /// The length; null when the budget ended before it was known.
    pub distance: Option<f64>,
    /// What the length is not above and not below, when the budget ended.
    #[serde(flatten)]
    pub bracket: Option<Bracket>,
    /// How the bodies lie to each other, where one has an inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<&'static str>,
    /// What that leaves undecided.
    #[serde(flatten)]
    pub openness: Openness,
    /// One point on each body, in the world frame.
    pub points: Option<[[f64; 3]; 2]>,
    /// What the points lie on.
    pub features: Option<[Named; 2]>,
    /// From a to b; null where the bodies meet.
    pub normal: Option<[f64; 3]>,
    /// Whether it is certain that the bodies are not apart.
    #[serde(skip)]
    pub is_contact: bool,
}

/// What is known of a distance when the budget ended; both are null where it may have no end.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Bracket {
    /// It is no more than this.
    pub at_most: Option<f64>,
    /// And no less.
    pub at_least: Option<f64>,
}

/// Where two bodies overlap or are near.
#[derive(Debug, Clone, Serialize)]
pub struct Contacts {
    /// Each place; null when the budget ended first.
    pub contacts: Option<Vec<Place>>,
    /// What is left undecided where they do not overlap.
    #[serde(flatten)]
    pub openness: Openness,
}

/// One place where two bodies overlap or are near.
#[derive(Debug, Clone, Serialize)]
pub struct Place {
    /// Midway between the points.
    pub point: [f64; 3],
    /// One on each surface, in the world frame.
    pub points: [[f64; 3]; 2],
    /// From a to b.
    pub normal: [f64; 3],
    /// By how much b has to move along the normal to be out; negative for a gap.
    pub depth: f64,
    /// What no shorter translation than this achieves, where the search left that open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth_at_least: Option<f64>,
    /// The area of the patch.
    pub area: f64,
    /// What the points lie on.
    pub features: [Named; 2],
    /// Tells this contact from others.
    pub id: u64,
}

/// A translation that takes two bodies apart; null when the budget ended first.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Separate {
    /// Of b.
    pub translation: Option<[f64; 3]>,
    /// Its length.
    pub length: Option<f64>,
    /// No shorter one than this does.
    pub at_least: Option<f64>,
    /// One of this length does, when the budget ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// What is left undecided about the bodies after it.
    #[serde(flatten)]
    pub openness: Openness,
}

/// How much two solids overlap.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Volume {
    /// The volume of the common interior; null when the budget ended first.
    pub volume: Option<f64>,
    /// Its stated error.
    pub volume_error: Option<f64>,
    /// What the error is: `bound` or `estimate`.
    pub error_kind: Option<&'static str>,
    /// The connected regions, the largest first.
    pub patches: Vec<Patch>,
}

/// One connected region of an overlap.
#[derive(Debug, Clone, Serialize)]
pub struct Patch {
    /// Its volume.
    pub volume: f64,
    /// Its centre of mass, in the world frame.
    pub centroid: [f64; 3],
    /// From a to b; null where no direction reduces the volume, as inside another body.
    pub normal: Option<[f64; 3]>,
    /// Its area seen along the normal.
    pub area: f64,
    /// Its extent along the normal.
    pub depth: f64,
}

/// Distances of points; of those that were measured when the budget ended.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Points {
    /// One for each point, negative inside a solid.
    pub distances: Vec<f64>,
    /// Whether the point is inside a solid.
    pub inside: Vec<bool>,
    /// The nearest points of the surface, in the world frame.
    pub closest: Vec<[f64; 3]>,
    /// What those lie on.
    pub features: Vec<Named>,
    /// Why nothing is inside, where that is so.
    #[serde(flatten)]
    pub openness: Openness,
}

/// What rays hit; of those that were cast when the budget ended.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RayHits {
    /// One for each ray; null where it hits nothing.
    pub hits: Vec<Option<RayHit>>,
}

/// Where a ray hits a surface.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct RayHit {
    /// The ray's parameter.
    pub t: f64,
    /// The point, in the world frame.
    pub point: [f64; 3],
    /// Out of a closed shape, towards the ray's origin for an open one.
    pub normal: [f64; 3],
    /// What is hit.
    pub feature: Named,
}

/// The first contact of a step.
#[derive(Debug, Clone, Serialize)]
pub struct Impact {
    /// Whether there is any; null when the budget ended before that was known.
    pub hit: Option<bool>,
    /// When, as a part of the step, never later than the truth.
    pub time: Option<f64>,
    /// How far beyond the margin things may be that count as within it (a length); absent without a margin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack: Option<f64>,
}

/// When and where moving bodies first touch.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Sweep {
    /// Whether they do; null when the budget ended first.
    pub hit: Option<bool>,
    /// When, never late; null without a hit.
    pub time: Option<f64>,
    /// `vf`, `fv`, `ee`, or the names of the shapes.
    pub kind: Option<String>,
    /// What touches.
    pub features: Option<[Named; 2]>,
    /// Where, in the world frame.
    pub point: Option<[f64; 3]>,
    /// From a to b.
    pub normal: Option<[f64; 3]>,
    /// Whether a contact was proved; otherwise they come nearer than the slack.
    pub proved: Option<bool>,
    /// There is surely no contact before this time.
    pub free_until: f64,
    /// How near counts as a hit without a proof; null when the budget ended before that was known.
    pub slack: Option<f64>,
    /// How early the time of a hit may be; where it is that of the certainty it stands there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// What is left undecided about the start.
    #[serde(flatten)]
    pub openness: Openness,
}

/// The contacts of a mesh with itself over a step.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// Whether and when it first meets itself.
    #[serde(flatten)]
    pub impact: Impact,
    /// How many contacts were found until the budget ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<usize>,
    /// The part of the step in which nothing meets; null when the budget ended before that was known.
    pub free_step: Option<f64>,
    /// Which features meet first: `vf` or `ee`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// The vertices of those features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertices: Option<[u32; 4]>,
    /// Every pair that meets (`--all`), or what was found until the budget ended.
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

/// A feature as `{"vertex":i}`, `{"edge":[i,j]}`, `{"face":t}` or `{"surface":true}`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Named(pub Feature);

impl Serialize for Named {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(1))?;
        match self.0 {
            Feature::Vertex(v) => map.serialize_entry("vertex", &v)?,
            Feature::Edge(e) => map.serialize_entry("edge", &e)?,
            Feature::Face(f) => map.serialize_entry("face", &f)?,
            _ => map.serialize_entry("surface", &true)?,
        }
        map.end()
    }
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Feature::Vertex(v) => write!(f, "vertex {v}"),
            Feature::Edge([v, w]) => write!(f, "edge {v}-{w}"),
            Feature::Face(t) => write!(f, "triangle {t}"),
            _ => f.write_str("surface"),
        }
    }
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

fn is_contact(relation: Option<&str>) -> bool {
    relation.is_some_and(|word| word != word_of(Relation::Separated))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(found: Found) -> String {
        serde_json::to_string(&found).unwrap()
    }

    #[test]
    fn the_fields_are_those_of_the_contract() {
        let relation = |openness| Found::Relation { relation: Some(word_of(Relation::AInsideB)), openness };
        assert_eq!(json(relation(Openness::default())), r#"{"relation":"a_inside_b"}"#);
        assert_eq!(
            json(relation(Openness::of(&[("b", "a lies", [1, 3])]))),
            r#"{"relation":"a_inside_b","open":["b"],"note":"b is an open mesh (1 of 3 connected parts open) and has no inside: whether a lies within it is not decided"}"#
        );
        let pairs = Pairs { count: Some(2), at_least: None, margin: None, pairs: vec![[0, 1], [3, 0]] };
        assert_eq!(json(Found::Pairs(pairs.clone())), r#"{"count":2,"pairs":[[0,1],[3,0]]}"#);
        assert_eq!(
            json(Found::Pairs(pairs.so_far())),
            r#"{"count":null,"at_least":2,"pairs":[[0,1],[3,0]]}"#
        );
        let distance = Distance {
            distance: Some(1e-300),
            points: Some([[-0.0, 0.0, 1.0], [0.1, 5e-324, 1e-7]]),
            features: Some([Named(Feature::Vertex(7)), Named(Feature::Edge([1, 2]))]),
            ..Distance::default()
        };
        assert_eq!(
            json(Found::Distance(distance)),
            r#"{"distance":1e-300,"points":[[-0.0,0.0,1.0],[0.1,5e-324,1e-7]],"features":[{"vertex":7},{"edge":[1,2]}],"normal":null}"#
        );
    }

    #[test]
    fn what_is_certain_is_a_contact_whatever_became_of_the_budget() {
        let relation = |relation| Found::Relation { relation, openness: Openness::default() }.is_contact();
        assert_eq!(
            [relation(Some("intersecting")), relation(Some("separated")), relation(None)],
            [true, false, false]
        );
        let pairs = |pairs: Vec<[u32; 2]>| {
            Found::Pairs(Pairs { count: None, at_least: Some(pairs.len()), margin: None, pairs }).is_contact()
        };
        assert_eq!([pairs(vec![[0, 0]]), pairs(vec![])], [true, false]);
    }
}
