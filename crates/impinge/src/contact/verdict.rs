//! What a kernel found about one pair: the answer, or how far it came.

use super::{Certainty, Counters, Finish, Outcome, Sampling};

/// The answer of one search, or what it had when its budget ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict<T> {
    /// The answer; `None` when the budget ended before it was certain.
    pub value: Option<T>,
    /// What was found until the budget ended: some of the pairs, or a distance that the true one does not exceed
    /// and falls short of by at most the tolerance of the certainty.
    pub so_far: Option<T>,
    /// Certainty, end and cost.
    pub outcome: Outcome,
    /// How much was seen, by methods that look at samples.
    pub sampling: Option<Sampling>,
}

impl<T> Verdict<T> {
    /// Found, or left open without a partial answer.
    pub fn new(value: Option<T>, outcome: Outcome) -> Verdict<T> {
        Verdict { value, so_far: None, outcome, sampling: None }
    }

    /// The answer if the search came to its end, else a part of it.
    #[inline]
    pub fn by_finish(found: T, outcome: Outcome) -> Verdict<T> {
        match outcome.finish {
            Finish::OutOfBudget => Verdict { so_far: Some(found), ..Verdict::new(None, outcome) },
            Finish::Complete | Finish::Stopped => Verdict::new(Some(found), outcome),
        }
    }

    /// A question that the method does not answer; the route refuses it before it gets here.
    pub fn refused() -> Verdict<T> {
        debug_assert!(false, "a method was asked what it does not accept");
        let outcome =
            Outcome { certainty: Certainty::Exact, finish: Finish::Stopped, work: Counters::default() };
        Verdict::new(None, outcome)
    }

    /// Nothing was done: the budget was empty.
    pub fn out_of_budget() -> Verdict<T> {
        let outcome =
            Outcome { certainty: Certainty::Exact, finish: Finish::OutOfBudget, work: Counters::default() };
        Verdict::new(None, outcome)
    }

    /// The same about something else.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> Verdict<U> {
        Verdict {
            value: self.value.map(&mut change),
            so_far: self.so_far.map(&mut change),
            outcome: self.outcome,
            sampling: self.sampling,
        }
    }
}
