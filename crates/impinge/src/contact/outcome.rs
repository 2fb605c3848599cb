//! How sure an answer is, how its search ended, and what it cost.

use std::ops::{Add, AddAssign, Sub};

/// What a number or a yes/no is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Certainty {
    /// Decided by exact predicates, or a value computed to rounding error.
    Exact,
    /// Errs to one side only, and by at most this: a contact that is none, a distance that is too large.
    Conservative {
        /// The largest error, in the unit of the answer.
        tolerance: f64,
    },
    /// Errs to either side, depending on a resolution.
    Approximate {
        /// The size of what cannot be told apart.
        resolution: f64,
    },
    /// From samples; more samples, more certainty.
    Sampled {
        /// How many were taken.
        samples: u64,
    },
}

impl Certainty {
    /// The certainty of a length in other units, of which one is so many of these.
    pub(crate) fn in_units(self, each: f64) -> Certainty {
        match self {
            Certainty::Conservative { tolerance } => Certainty::Conservative { tolerance: tolerance / each },
            Certainty::Approximate { resolution } => Certainty::Approximate { resolution: resolution / each },
            other @ (Certainty::Exact | Certainty::Sampled { .. }) => other,
        }
    }

    /// What two answers are worth together: the weaker kind, and of one kind the larger error.
    pub fn lesser(self, other: Certainty) -> Certainty {
        use Certainty::{Approximate, Conservative, Exact, Sampled};
        match (self, other) {
            (Exact, any) | (any, Exact) => any,
            (Sampled { samples: m }, Sampled { samples: n }) => Sampled { samples: m.min(n) },
            (sampled @ Sampled { .. }, _) | (_, sampled @ Sampled { .. }) => sampled,
            (Conservative { tolerance: x }, Conservative { tolerance: y }) => {
                Conservative { tolerance: x.max(y) }
            }
            (Approximate { resolution: x }, Approximate { resolution: y })
            | (Approximate { resolution: x }, Conservative { tolerance: y })
            | (Conservative { tolerance: y }, Approximate { resolution: x }) => {
                Approximate { resolution: x.max(y) }
            }
        }
    }
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Finish {
    /// Everything was looked at.
    Complete,
    /// The caller had enough.
    Stopped,
    /// The budget ran out; calling again with the same memory goes on where it stopped.
    OutOfBudget,
}

/// The cost model T = Nv·Cv + Np·Cp + Nu·Cu (Gottschalk, Lin and Manocha 1996; the update term: Klosowski et al.
/// 1998).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Counters {
    /// Nv: pairs of bounding volumes tested.
    pub volume_tests: u64,
    /// Np: pairs of primitives tested.
    pub primitive_tests: u64,
    /// Nu: bounding volumes updated.
    pub updates: u64,
}

impl Add for Counters {
    type Output = Counters;

    fn add(mut self, more: Counters) -> Counters {
        self += more;
        self
    }
}

impl AddAssign for Counters {
    fn add_assign(&mut self, more: Counters) {
        self.volume_tests += more.volume_tests;
        self.primitive_tests += more.primitive_tests;
        self.updates += more.updates;
    }
}

impl Sub for Counters {
    type Output = Counters;

    fn sub(self, less: Counters) -> Counters {
        Counters {
            volume_tests: self.volume_tests - less.volume_tests,
            primitive_tests: self.primitive_tests - less.primitive_tests,
            updates: self.updates - less.updates,
        }
    }
}

/// How much a method that looks at samples has seen.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Sampling {
    /// The share of all pairs of surface patches about which something is proved, weighted by their areas.
    pub coverage: f64,
    /// The probability that a given contact which exists was not found.
    pub miss_probability: f64,
}

/// Certainty, end and cost of one search.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Outcome {
    /// What the answer is worth.
    pub certainty: Certainty,
    /// How the search ended.
    pub finish: Finish,
    /// What it cost.
    pub work: Counters,
}
