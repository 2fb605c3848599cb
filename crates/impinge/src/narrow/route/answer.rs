//! The one answer to all questions.

use std::fmt;

use crate::contact::{Certainty, Counters, Finish, Outcome, Sampling, Verdict};
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
}

impl<T> Answer<T> {
    pub(crate) fn new(verdict: Verdict<T>, method: Method, reason: Reason) -> Answer<T> {
        let Verdict { value, so_far, outcome: Outcome { certainty, finish, work }, sampling } = verdict;
        Answer { value, so_far, certainty, finish, sampling, work, method, reason }
    }

    /// The same about something else.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> Answer<U> {
        let Answer { value, so_far, certainty, finish, sampling, work, method, reason } = self;
        let (value, so_far) = (value.map(&mut change), so_far.map(change));
        Answer { value, so_far, certainty, finish, sampling, work, method, reason }
    }

    /// Certainty, end and cost.
    pub fn outcome(&self) -> Outcome {
        Outcome { certainty: self.certainty, finish: self.finish, work: self.work }
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
