//! Small draws from a budget: the clock is read often enough that no frame exceeds its time by much.

use crate::Budget;

/// Units between two looks at the budget: about a microsecond.
const QUANTUM: u64 = 16;

/// A budget that is paid in single units.
pub(super) struct Meter<'b> {
    budget: &'b mut Budget,
    /// Units drawn and not yet used; negative after work whose size was not known beforehand.
    left: i64,
    /// Units used.
    pub spent: u64,
}

impl<'b> Meter<'b> {
    pub fn new(budget: &'b mut Budget) -> Meter<'b> {
        Meter { budget, left: 0, spent: 0 }
    }

    /// Pays for work that is about to be done; false when the budget has ended.
    #[inline]
    pub fn pay(&mut self, units: u64) -> bool {
        if self.left < units as i64 && !self.refill() {
            return false;
        }
        self.charge(units);
        true
    }

    /// Pays for work that was done.
    #[inline]
    pub fn charge(&mut self, units: u64) {
        self.left -= units as i64;
        self.spent += units;
    }

    fn refill(&mut self) -> bool {
        let wanted = QUANTUM.max(self.left.unsigned_abs() + 1);
        if !self.budget.draw(wanted) {
            return false;
        }
        self.left += wanted as i64;
        true
    }
}
