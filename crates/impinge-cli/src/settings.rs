//! How a question is to be answered: method, budget and seed, from options or from a query line.

use std::time::Duration;

use impinge::{Budget, Method, Query};

use crate::error::Failure;

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
    /// What the random choices of a method follow from; the exact ones make none.
    pub seed: u64,
}

impl Settings {
    /// The question's options; the budget runs from now on.
    pub fn query(&self) -> Query<'static> {
        Query { method: self.method, budget: self.limit.start(), seed: self.seed, ..Query::default() }
    }
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
}
