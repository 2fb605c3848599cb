//! Which method answers when none is named: the one whose expected time is smallest,
//! T = Nv·Cv + Np·Cp + Nu·Cu (Gottschalk, Lin and Manocha 1996; the update term: Klosowski et al. 1998).
//!
//! The counts are what each method expects ([`Detector::expect`]); the coefficients were measured by
//! `impinge-bench -- calibrate` and are stored beside this file, so that the choice is the same on every machine
//! and no clock is read. Methods without coefficients for a question are never chosen, nor are those whose answers
//! are not exact, but for volumes that no exact method measures: of curved and open bodies by their kinds, of meshes that
//! overlap themselves once that is known.
//!
//! [`Detector::expect`]: crate::narrow::detector::Detector::expect

use std::sync::OnceLock;

use super::Reason;
use crate::Error;
use crate::hierarchy::cost::CostModel;
use crate::model::ShapeKind;
use crate::narrow::detector::Question;
use crate::narrow::dispatch;
use crate::narrow::methods::Method;
use crate::narrow::shape_pair::ShapePair;

/// The measured coefficients: `method,question,kinds,cv,cp,cu`, in nanoseconds.
const COEFFICIENTS: &str = include_str!("coefficients.csv");

/// The classes of shapes with costs of their own.
const CLASSES: [&str; 5] = ["mesh", "hull", "primitive", "compound", "particles"];

/// The questions, by their names.
const QUESTIONS: [&str; 9] =
    ["relation", "distance", "pairs", "pairs_within", "contour", "sweep", "contacts", "volume", "separate"];

/// A method and what its tests cost.
type Candidate = (Method, CostModel);

/// The stored cost model: for each question and two classes of shapes the methods to choose from.
#[derive(Debug, Clone)]
pub struct Costs {
    candidates: Vec<Vec<Candidate>>,
}

impl Costs {
    /// The coefficients of the release.
    pub fn stored() -> &'static Costs {
        static STORED: OnceLock<Costs> = OnceLock::new();
        STORED.get_or_init(|| Costs::parse(COEFFICIENTS))
    }

    /// From rows of `method,question,class_a-class_b,cv,cp,cu`; rows that name nothing known are passed over.
    pub fn parse(text: &str) -> Costs {
        let mut candidates = vec![Vec::new(); QUESTIONS.len() * CLASSES.len() * CLASSES.len()];
        for row in text.lines().filter_map(parse_row) {
            let (place, candidate) = row;
            candidates[place].push(candidate);
        }
        Costs { candidates }
    }

    /// The methods to choose from.
    fn candidates(&self, question: &Question, kinds: [ShapeKind; 2]) -> &[Candidate] {
        &self.candidates[place(question_index(question), kinds.map(class))]
    }
}

/// The method of choice for a pair, and why.
///
/// # Errors
/// No method answers the question about these kinds.
pub fn choose(question: &Question, pair: &ShapePair<'_>) -> Result<(Method, Reason), Error> {
    let kinds = pair.kinds();
    let mut best: Option<(Method, f64)> = None;
    let mut next: Option<(Method, f64)> = None;
    let candidates = Costs::stored().candidates(question, kinds);
    if candidates.len() > 1 {
        for (method, costs) in candidates {
            let Some(detector) = method.detector().filter(|_| method.accepts(question, kinds)) else {
                continue;
            };
            let nanoseconds = costs.predict(&detector.expect(question, pair));
            let this = Some((*method, nanoseconds));
            if best.is_none_or(|(_, least)| nanoseconds < least) {
                next = std::mem::replace(&mut best, this);
            } else if next.is_none_or(|(_, least)| nanoseconds < least) {
                next = this;
            }
        }
    }
    match (best, next) {
        (Some((method, nanoseconds)), Some((next, next_nanoseconds))) => {
            Ok((method, Reason::Cheapest { nanoseconds, next, next_nanoseconds }))
        }
        _ => {
            // No exact method measures what overlaps itself.
            let is_refused = matches!(question, Question::Volume(_)) && dispatch::is_known_to_overlap(pair);
            let only = [Method::Exact, Method::Particles]
                .into_iter()
                .find(|m| m.accepts(question, kinds) && !is_refused);
            match only {
                Some(method) => Ok((method, Reason::Only)),
                None if matches!(question, Question::Volume(_)) && Method::Image.accepts(question, kinds) => {
                    Ok((Method::Image, Reason::Approximate))
                }
                None => Err(Method::Auto.refusal(question, kinds)),
            }
        }
    }
}

fn parse_row(row: &str) -> Option<(usize, Candidate)> {
    let mut fields = row.split(',');
    let method: Method = fields.next()?.parse().ok()?;
    let question = QUESTIONS.iter().position(|name| Some(*name) == fields.clone().next())?;
    let (a, b) = fields.nth(1)?.split_once('-')?;
    let class = |name: &str| CLASSES.iter().position(|known| *known == name);
    let mut number = || fields.next()?.trim().parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0);
    let (volume_test, primitive_test, update) = (number()?, number()?, number()?);
    let costs = CostModel { volume_test, primitive_test, update };
    Some((place(question, [class(a)?, class(b)?]), (method, costs)))
}

fn place(question: usize, [a, b]: [usize; 2]) -> usize {
    (question * CLASSES.len() + a) * CLASSES.len() + b
}

fn class(kind: ShapeKind) -> usize {
    match kind {
        ShapeKind::Mesh | ShapeKind::TetMesh => 0,
        ShapeKind::Hull => 1,
        ShapeKind::Compound => 3,
        ShapeKind::Particles => 4,
        _ => 2,
    }
}

fn question_index(question: &Question) -> usize {
    match question {
        Question::Relation => 0,
        Question::Distance => 1,
        Question::Pairs { margin: None } => 2,
        Question::Pairs { margin: Some(_) } => 3,
        Question::Contour => 4,
        Question::Sweep(_) => 5,
        Question::Contacts(_) => 6,
        Question::Volume(_) => 7,
        Question::Separate => 8,
    }
}
