//! How a search for a way out is paid: for each look at a box or a triangle, a quantum at a time.

use crate::budget::QUANTUM;
use crate::{Budget, Counters};

/// The budget that a search draws from, and what it has looked at.
pub(super) struct Payment<'b> {
    budget: &'b mut Budget,
    work: &'b mut Counters,
    /// Looks that were not drawn yet.
    open: u64,
    has_ended: bool,
}

impl<'b> Payment<'b> {
    pub fn from(budget: &'b mut Budget, work: &'b mut Counters) -> Payment<'b> {
        Payment { budget, work, open: 0, has_ended: false }
    }

    /// Pays for so many looks; false when the budget has ended, and nothing that is found from then on counts.
    #[inline]
    pub fn pay(&mut self, looks: u64) -> bool {
        self.open += looks;
        if self.open >= QUANTUM { self.settle() } else { !self.has_ended }
    }

    /// Draws what is open; whether the budget lasted.
    pub fn settle(&mut self) -> bool {
        let open = std::mem::take(&mut self.open);
        self.work.primitive_tests += open;
        self.has_ended |= !self.budget.charge_all(open);
        !self.has_ended
    }
}
