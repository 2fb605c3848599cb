//! How a question is to be answered: method, budget and seed, from options or from a query line.

use std::time::Duration;

use clap::ValueEnum;
use impinge::Budget;

use crate::error::Failure;

/// The methods that can be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Method {
    /// Chooses by the question; today always `exact`.
    #[default]
    Auto,
    /// Trees and exact predicates.
    Exact,
    /// Every triangle against every other, by the same exact predicates.
    Brute,
    /// Sweeps of two meshes by sphere trees, cubics under a screw and labels.
    Contact,
}

impl Method {
    /// The method with this name.
    pub fn named(name: &str) -> Result<Method, Failure> {
        Method::from_str(name, false).map_err(|_| {
            let known: Vec<_> = Method::value_variants().iter().map(|m| m.name()).collect();
            Failure(format!("there is no method {name:?}; known are {}", known.join(", ")))
        })
    }

    /// Refuses the method that answers sweeps alone.
    pub fn refuse_contact(self, what: &str) -> Result<(), Failure> {
        if self == Method::Contact {
            return Err(Failure(format!("method contact answers sweeps of two meshes, not {what}")));
        }
        Ok(())
    }

    /// The name it is called by.
    pub fn name(self) -> &'static str {
        match self {
            Method::Auto => "auto",
            Method::Exact => "exact",
            Method::Brute => "brute",
            Method::Contact => "contact",
        }
    }
}

/// A budget that has not begun to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Limit {
    /// None.
    #[default]
    Unlimited,
    /// Wall-clock time from the start of the question.
    Time(Duration),
    /// Volume and primitive tests.
    Units(u64),
}

impl Limit {
    /// Reads `2ms`, `1.5s`, `300us` or a bare number of work units.
    pub fn parse(text: &str) -> Result<Limit, Failure> {
        let wrong = || {
            Failure(format!(
                "the budget {text:?} is neither a time (2ms, 1.5s, 300us) nor work units (100000)"
            ))
        };
        let split =
            text.find(|c: char| c.is_ascii_alphabetic() && c != 'e' && c != 'E').unwrap_or(text.len());
        let (number, unit) = text.split_at(split);
        let scale = match unit {
            "" => return number.parse().map(Limit::Units).map_err(|_| wrong()),
            "s" => 1.0,
            "ms" => 1e-3,
            "us" => 1e-6,
            "ns" => 1e-9,
            _ => return Err(wrong()),
        };
        let amount: f64 = number.parse().map_err(|_| wrong())?;
        Duration::try_from_secs_f64(amount * scale).map(Limit::Time).map_err(|_| wrong())
    }

    /// The budget, running from now on.
    pub fn start(self) -> Budget {
        match self {
            Limit::Unlimited => Budget::UNLIMITED,
            Limit::Time(time) => Budget::time(time),
            Limit::Units(units) => Budget::units(units),
        }
    }
}

/// Method, budget and seed of one question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settings {
    /// Which method answers.
    pub method: Method,
    /// How much it may cost.
    pub limit: Limit,
    /// For methods that draw random numbers; the exact ones draw none.
    pub seed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_times_or_work_units() {
        assert_eq!(Limit::parse("2ms"), Ok(Limit::Time(Duration::from_millis(2))));
        assert_eq!(Limit::parse("1.5s"), Ok(Limit::Time(Duration::from_millis(1500))));
        assert_eq!(Limit::parse("1e3us"), Ok(Limit::Time(Duration::from_millis(1))));
        assert_eq!(Limit::parse("100000"), Ok(Limit::Units(100_000)));
        for wrong in ["", "ms", "-1ms", "2 parsecs", "nans", "1e30s", "-5", "1.5", "2ms3"] {
            assert!(Limit::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_unknown_method_lists_the_known_ones() {
        assert_eq!(Method::named("brute"), Ok(Method::Brute));
        let refused = Method::named("fast").unwrap_err().0;
        assert!(refused.contains("auto, exact, brute, contact"), "{refused}");
    }
}
