//! The one answer to all questions.

use std::fmt;

use crate::contact::{
    Certainty, Contact, Counters, Finish, Outcome, Relation, Sampling, Separation, Verdict,
};
use crate::narrow::methods::Method;

/// The answer to a question: what was found, how sure it is, how the search ended, what it cost, and which method
/// answered and why.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Answer<T> {
    /// The answer; `None` when the budget ended before it was certain.
    pub value: Option<T>,
    /// What was found until the budget ended: some of the pairs, or an upper bound of the distance that exceeds it
    /// by at most the tolerance of the certainty.
    pub so_far: Option<T>,
    /// How sure `value` or `so_far` is; says nothing where both are `None`.
    pub certainty: Certainty,
    /// How the search ended.
    pub finish: Finish,
    /// How much was seen, by methods that look at samples.
    pub sampling: Option<Sampling>,
    /// What it cost: the counts of the cost model.
    pub work: Counters,
    /// The method that answered.
    pub method: Method,
    /// Why this method.
    pub reason: Reason,
    /// How the bodies lie to each other, where [`Query::with_relation`](crate::Query) asked for that too; `None` when the
    /// budget ended first, and beside the distance of two bodies without an inside.
    pub relation: Option<Relation>,
}

impl<T> Answer<T> {
    pub(crate) fn new(verdict: Verdict<T>, method: Method, reason: Reason) -> Answer<T> {
        let Verdict { value, so_far, outcome: Outcome { certainty, finish, work }, sampling } = verdict;
        Answer { value, so_far, certainty, finish, sampling, work, method, reason, relation: None }
    }

    /// The same about something else.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> Answer<U> {
        let Answer { value, so_far, certainty, finish, sampling, work, method, reason, relation } = self;
        let (value, so_far) = (value.map(&mut change), so_far.map(change));
        Answer { value, so_far, certainty, finish, sampling, work, method, reason, relation }
    }

    /// The answer to two questions out of one budget: complete when both are, and then as certain as the less certain one.
    /// What was found so far keeps its own certainty, which tells its bracket.
    pub(crate) fn beside(self, relation: &Answer<Relation>) -> Answer<T> {
        let (value, so_far) = match (self.value, relation.value) {
            (Some(found), None) => (None, Some(found)),
            (value, _) => (value, self.so_far),
        };
        let finish = if self.finish == Finish::Complete { relation.finish } else { self.finish };
        let certainty = match (&value, relation.value) {
            (Some(_), Some(_)) => self.certainty.lesser(relation.certainty),
            _ => self.certainty,
        };
        let work = self.work + relation.work;
        Answer { value, so_far, certainty, finish, work, relation: relation.value, ..self }
    }

    /// Certainty, end and cost.
    pub fn outcome(&self) -> Outcome {
        Outcome { certainty: self.certainty, finish: self.finish, work: self.work }
    }
}

impl<T> Answer<Vec<T>> {
    /// The answer to a question about one thing, which was asked as a list.
    pub(crate) fn single(self) -> Answer<T> {
        let Answer { value, so_far, certainty, finish, sampling, work, method, reason, relation } = self;
        let [value, so_far] = [value, so_far].map(|list| list.and_then(|mut list| list.pop()));
        Answer { value, so_far, certainty, finish, sampling, work, method, reason, relation }
    }
}

impl Answer<Separation> {
    /// What the distance is not above, also when the budget ended; `None` where nothing is known or there is no end.
    pub fn at_most(&self) -> Option<f64> {
        let told = self.value.as_ref().or(self.so_far.as_ref())?;
        let width = match self.certainty {
            Certainty::Approximate { resolution } => resolution,
            _ => 0.0,
        };
        Some(told.distance + width).filter(|distance| distance.is_finite())
    }

    /// What the distance is not below, also when the budget ended; `None` where nothing is known.
    pub fn at_least(&self) -> Option<f64> {
        let told = self.value.as_ref().or(self.so_far.as_ref())?;
        let width = match self.certainty {
            Certainty::Conservative { tolerance } => tolerance,
            Certainty::Approximate { resolution } => resolution,
            _ => 0.0,
        };
        Some(told.distance - width).filter(|distance| distance.is_finite())
    }

    /// Whether it is certain that the bodies are not apart: by their relation, where that was asked for, or by the distance.
    pub fn is_contact(&self) -> bool {
        let told = self.value.as_ref().or(self.so_far.as_ref());
        self.relation.is_some_and(Relation::is_contact) || told.is_some_and(|told| told.distance <= 0.0)
    }

    /// The same of two surfaces, which are nowhere nearer than 0.
    pub(crate) fn of_surfaces(self) -> Answer<Separation> {
        let certainty = match (self.certainty, &self.so_far) {
            (Certainty::Conservative { tolerance }, Some(told)) => {
                Certainty::Conservative { tolerance: tolerance.min(told.distance) }
            }
            (certainty, _) => certainty,
        };
        Answer { certainty, ..self }
    }
}

impl Answer<Vec<Contact>> {
    /// What no shift along the normal of one of these contacts shorter than this achieves, where the search for depths
    /// left that open.
    pub fn depth_at_least(&self, contact: &Contact) -> Option<f64> {
        match self.certainty {
            Certainty::Conservative { tolerance } if contact.depth > 0.0 => {
                Some((contact.depth - tolerance).max(0.0))
            }
            _ => None,
        }
    }
}

/// Why a method answered.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Reason {
    /// The caller named it.
    Named,
    /// The caller named another one, which does not answer this question about these kinds.
    Refused {
        /// The method that was named.
        named: Method,
    },
    /// No other exact method has stored costs for this question about these kinds.
    Only,
    /// No exact method answers this question about these shapes.
    Approximate,
    /// It was expected to be the fastest; the expected times come from the stored cost model.
    Cheapest {
        /// Its expected time in nanoseconds.
        nanoseconds: f64,
        /// The next best method.
        next: Method,
        /// Its expected time in nanoseconds.
        next_nanoseconds: f64,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Named => f.write_str("as named"),
            Reason::Refused { named } => {
                write!(
                    f,
                    "chosen by auto: {named} was named, but does not answer about these kinds of shapes"
                )
            }
            Reason::Approximate => {
                f.write_str("chosen by auto: no exact method answers this question about these shapes")
            }
            Reason::Only => {
                f.write_str("chosen by auto: no other exact method has stored costs for this question")
            }
            Reason::Cheapest { nanoseconds, next, next_nanoseconds } => write!(
                f,
                "chosen by auto: expected to take {} where {next} would take {}",
                Microseconds(*nanoseconds),
                Microseconds(*next_nanoseconds)
            ),
        }
    }
}

/// Nanoseconds in words.
struct Microseconds(f64);

impl fmt::Display for Microseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ns if ns < 1e6 => write!(f, "{:.1} µs", ns * 1e-3),
            ns => write!(f, "{:.1} ms", ns * 1e-6),
        }
    }
}
