//! A limit on the work of a query: work units (the same everywhere) and/or a deadline.
//!
//! One unit is one test of a bounding volume or of a primitive. Kernels draw units in quanta, so that
//! the clock is read rarely and an unlimited budget costs a comparison. The last quantum may be larger than
//! what is left: so every call of a search gets on, however small its budget, and none exceeds it by more
//! than one quantum.

mod share;

use std::time::{Duration, Instant};

/// How much work a query may still do.
#[derive(Debug, Clone)]
pub struct Budget {
    units: u64,
    deadline: Option<Instant>,
    /// Whether the next draw is granted whatever the clock says.
    fresh: bool,
}

impl Budget {
    /// Never runs out.
    pub const UNLIMITED: Budget = Budget { units: u64::MAX, deadline: None, fresh: false };

    /// Runs out after `units` volume or primitive tests: reproducible on every machine.
    pub const fn units(units: u64) -> Self {
        Budget { units, deadline: None, fresh: false }
    }

    /// Runs out `limit` from now.
    pub fn time(limit: Duration) -> Self {
        Budget { units: u64::MAX, deadline: Instant::now().checked_add(limit), fresh: !limit.is_zero() }
    }

    /// Runs out so many milliseconds from now.
    pub fn millis(milliseconds: u64) -> Self {
        Budget::time(Duration::from_millis(milliseconds))
    }

    /// Takes `units`, or what is left, out of the budget; false when nothing was left and nothing more
    /// should be started.
    #[inline]
    pub fn draw(&mut self, units: u64) -> bool {
        if self.units != u64::MAX {
            if self.units == 0 {
                return false;
            }
            self.units = self.units.saturating_sub(units);
        }
        self.deadline.is_none_or(|end| std::mem::take(&mut self.fresh) || Instant::now() < end)
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
    fn the_last_draw_may_be_larger_than_what_is_left() {
        let mut budget = Budget::units(1);
        assert!(budget.draw(64));
        assert!(!budget.draw(0));
        assert!(!Budget::units(0).draw(1));
    }

    #[test]
    fn a_deadline_in_the_past_grants_one_draw_and_no_time_none() {
        assert!(!Budget::time(Duration::ZERO).draw(1));
        let mut budget = Budget::time(Duration::from_nanos(1));
        std::thread::sleep(Duration::from_millis(1));
        assert!(budget.draw(1));
        assert!(!budget.draw(1));
        assert!(Budget::UNLIMITED.clone().draw(u64::MAX));
    }
}
