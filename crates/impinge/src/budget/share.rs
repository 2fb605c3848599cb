//! How a budget is divided among several searches, and how what they leave over returns to it.

use std::time::Instant;

use super::Budget;

impl Budget {
    /// The share of `some` out of `all` equal parts of what is left, of units and of time.
    pub(crate) fn share(&self, some: usize, all: usize) -> Budget {
        if some >= all || self.is_unlimited() {
            return self.clone();
        }
        let units = self.remaining().map_or(u64::MAX, |left| {
            let share = u128::from(left) * some as u128 / all as u128;
            // One unit, if there is one, lets every search make progress.
            (share as u64).max(left.min(1))
        });
        let deadline = self.deadline.map(|end| {
            let now = Instant::now();
            now + end.saturating_duration_since(now).mul_f64(some as f64 / all as f64)
        });
        Budget { units, deadline, ..self.clone() }
    }

    /// Takes out what was drawn from a share of this budget.
    pub(crate) fn settle(&mut self, given: &Budget, left: &Budget) {
        if let (Some(given), Some(left)) = (given.remaining(), left.remaining()) {
            self.units = self.units.saturating_sub(given - left);
        }
        self.fresh &= left.fresh;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn shares_are_in_proportion_and_what_is_left_comes_back() {
        let mut budget = Budget::units(100);
        let given = budget.share(3, 10);
        let mut left = given.clone();
        assert_eq!(given.remaining(), Some(30));
        assert!(left.draw(12));
        budget.settle(&given, &left);
        assert_eq!(budget.remaining(), Some(88));
        assert_eq!(budget.share(7, 7).remaining(), Some(88));
        assert_eq!(Budget::units(1).share(1, 9).remaining(), Some(1));
        assert_eq!(Budget::units(0).share(1, 9).remaining(), Some(0));
        assert!(Budget::UNLIMITED.share(1, 9).is_unlimited());
        let hour = Budget::time(Duration::from_secs(3600));
        assert!(hour.share(1, 3600).deadline < hour.deadline && hour.share(1, 2).draw(1));
    }
}
