//! A limit on the work of a query: work units (the same everywhere) and/or a deadline.
//!
//! One unit is one test of a bounding volume or of a primitive. Kernels draw units in quanta, so that
//! the clock is read rarely and an unlimited budget costs a comparison.

use std::time::{Duration, Instant};

/// How much work a query may still do.
#[derive(Debug, Clone)]
pub struct Budget {
    units: u64,
    deadline: Option<Instant>,
}

impl Budget {
    /// Never runs out.
    pub const UNLIMITED: Budget = Budget { units: u64::MAX, deadline: None };

    /// Runs out after `units` volume or primitive tests: reproducible on every machine.
    pub const fn units(units: u64) -> Self {
        Budget { units, deadline: None }
    }

    /// Runs out `limit` from now.
    pub fn time(limit: Duration) -> Self {
        Budget { units: u64::MAX, deadline: Instant::now().checked_add(limit) }
    }

    /// Takes `units` out of the budget; false when it has run out (nothing more should be started).
    #[inline]
    pub fn draw(&mut self, units: u64) -> bool {
        if self.units != u64::MAX {
            if self.units < units {
                self.units = 0;
                return false;
            }
            self.units -= units;
        }
        self.deadline.is_none_or(|end| Instant::now() < end)
    }

    /// Whether nothing limits this budget.
    #[inline]
    pub fn is_unlimited(&self) -> bool {
        self.units == u64::MAX && self.deadline.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_units_run_out_exactly() {
        let mut budget = Budget::units(10);
        assert!(budget.draw(4));
        assert!(budget.draw(6));
        assert!(!budget.draw(1));
    }

    #[test]
    fn a_deadline_in_the_past_refuses_the_first_draw() {
        assert!(!Budget::time(Duration::ZERO).draw(1));
        assert!(Budget::UNLIMITED.clone().draw(u64::MAX));
    }
}
