//! Answers as JSON: what was found, by which method, how sure it is and how the search ended.
//!
//! Everything here depends on the question alone: no times, no thread counts. Costs go to `--explain`.

use impinge::{Certainty, Counters, Finish, Outcome, Reason, Sampling};
use serde::Serialize;

use crate::exit::Exit;
use crate::found::Found;

/// Version of the JSON fields.
pub const SCHEMA: u32 = 1;

/// What was found, by whom, how sure it is, and what it cost.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The fields of the question's kind.
    #[serde(flatten)]
    pub found: Found,
    /// The method that answered.
    pub method: &'static str,
    /// `certainty` and `finish`.
    #[serde(flatten)]
    pub assurance: Assurance,
    /// Why this method, for `--explain`.
    #[serde(skip)]
    pub reason: Reason,
    /// The cost, for `--explain`.
    #[serde(skip)]
    pub work: Counters,
}

impl Answer {
    /// The fields of an answer of the library.
    pub fn new<T>(found: Found, answer: &impinge::Answer<T>) -> Answer {
        let assurance = Assurance::of(answer);
        Answer { found, method: answer.method.name(), assurance, reason: answer.reason, work: answer.work }
    }

    /// The exit code: contact wins over an unfinished search, for it is certain.
    pub fn exit(&self) -> Exit {
        match (self.found.is_contact(), self.assurance.is_decided()) {
            (true, _) => Exit::Contact,
            (false, false) => Exit::Undecided,
            (false, true) => Exit::Free,
        }
    }
}

/// How sure the answer is and how its search ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Assurance {
    /// Null beside an answer that is null.
    certainty: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tolerance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    miss_probability: Option<f64>,
    finish: &'static str,
}

impl Assurance {
    /// Exact and complete.
    pub const EXACT: Assurance = Assurance::bare("exact", COMPLETE);

    /// Of an answer of the library.
    pub fn of<T>(answer: &impinge::Answer<T>) -> Assurance {
        let mut assurance = Assurance::from(&answer.outcome());
        if answer.value.is_none() {
            assurance = assurance.of_nothing();
        }
        // Beside a proved answer the rest does not matter.
        if let Some(Sampling { coverage, miss_probability }) =
            answer.sampling.filter(|_| answer.value.is_none())
        {
            assurance =
                Assurance { coverage: Some(coverage), miss_probability: Some(miss_probability), ..assurance };
        }
        assurance
    }

    const fn bare(certainty: &'static str, finish: &'static str) -> Assurance {
        Assurance {
            certainty: Some(certainty),
            tolerance: None,
            resolution: None,
            samples: None,
            coverage: None,
            miss_probability: None,
            finish,
        }
    }

    /// The same beside an answer that is null.
    pub fn of_nothing(self) -> Assurance {
        Assurance { certainty: None, tolerance: None, resolution: None, samples: None, ..self }
    }

    /// The same without its tolerance, and the tolerance.
    pub fn without_tolerance(self) -> (Assurance, Option<f64>) {
        (Assurance { tolerance: None, ..self }, self.tolerance)
    }

    /// The same after a budget ended.
    pub fn out_of_budget(self) -> Assurance {
        Assurance { finish: OUT_OF_BUDGET, ..self }
    }

    /// Whether the budget ended the search.
    pub fn is_out_of_budget(&self) -> bool {
        self.finish == OUT_OF_BUDGET
    }

    /// Whether a tolerance stands beside the certainty.
    pub fn has_tolerance(&self) -> bool {
        self.tolerance.is_some()
    }

    fn is_decided(&self) -> bool {
        self.certainty.is_some() && !self.is_out_of_budget()
    }
}

const COMPLETE: &str = "complete";
const OUT_OF_BUDGET: &str = "out_of_budget";

impl From<&Outcome> for Assurance {
    fn from(outcome: &Outcome) -> Assurance {
        let finish = match outcome.finish {
            Finish::Complete => COMPLETE,
            Finish::OutOfBudget => OUT_OF_BUDGET,
            _ => "stopped",
        };
        match outcome.certainty {
            Certainty::Conservative { tolerance } => {
                Assurance { tolerance: Some(tolerance), ..Assurance::bare("conservative", finish) }
            }
            Certainty::Approximate { resolution } => {
                Assurance { resolution: Some(resolution), ..Assurance::bare("approximate", finish) }
            }
            Certainty::Sampled { samples } => {
                Assurance { samples: Some(samples), ..Assurance::bare("sampled", finish) }
            }
            _ => Assurance::bare("exact", finish),
        }
    }
}

impl std::fmt::Display for Assurance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.certainty.unwrap_or("undecided"))?;
        let numbers = [
            ("tolerance", self.tolerance),
            ("resolution", self.resolution),
            ("coverage", self.coverage),
            ("miss probability", self.miss_probability),
        ];
        for (name, value) in numbers {
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
