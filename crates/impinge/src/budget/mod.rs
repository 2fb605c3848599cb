//! A limit on the work of a query: work units (the same everywhere) and/or a deadline.
//!
//! One unit is one test of a bounding volume or of a primitive, or one triangle taken up by something that is
//! built. Kernels draw units in quanta, so that the clock is read rarely and an unlimited budget costs a
//! comparison. The last quantum may be larger than what is left: so every call of a search makes progress,
//! however small its budget, and none exceeds it by more than one quantum.
//!
//! A search either keeps its own place when [`Budget::draw`] refuses, or it runs as a [`task::Task`]: then its
//! thread sleeps where it is until the next call grants more.

pub(crate) mod hand_over;
mod pause;
mod share;
pub(crate) mod task;

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pause::Gate;

/// Units that are drawn at a time where the work can be divided at will.
pub(crate) const QUANTUM: u64 = 512;

/// How much work a query may still do.
#[derive(Debug, Clone)]
pub struct Budget {
    units: u64,
    deadline: Option<Instant>,
    /// Whether the next draw is granted whatever the clock says.
    fresh: bool,
    /// Where the search rests when the budget ends; `None` where the caller's thread does the work.
    gate: Option<Arc<Gate>>,
    /// A try, as a rule a first one on the caller's thread: what cannot keep its place gives up.
    trial: bool,
    /// Whether what is found so far is only a part of the question, so that it is not reported.
    silent: bool,
    /// Units drawn, and those of them that went into building something.
    spent: u64,
    updates: u64,
}

impl Budget {
    /// Never runs out.
    pub const UNLIMITED: Budget = Budget::limited(u64::MAX, None, false);

    /// [`Budget::UNLIMITED`].
    pub const fn unlimited() -> Self {
        Budget::UNLIMITED
    }

    const fn limited(units: u64, deadline: Option<Instant>, fresh: bool) -> Budget {
        Budget { units, deadline, fresh, gate: None, trial: false, silent: false, spent: 0, updates: 0 }
    }

    /// Runs out after `units` volume or primitive tests, or triangles taken up by something that is built:
    /// reproducible on every machine, as long as no other thread builds for the same shapes meanwhile.
    pub const fn units(units: u64) -> Self {
        Budget::limited(units, None, false)
    }

    /// Runs out `limit` from now.
    pub fn time(limit: Duration) -> Self {
        Budget::limited(u64::MAX, Instant::now().checked_add(limit), !limit.is_zero())
    }

    /// Runs out so many milliseconds from now.
    pub fn millis(milliseconds: u64) -> Self {
        Budget::time(Duration::from_millis(milliseconds))
    }

    /// Takes `units`, or what is left, out of the budget; false when nothing was left and nothing more
    /// should be started.
    #[inline]
    pub fn draw(&mut self, units: u64) -> bool {
        if self.is_unlimited() {
            return true;
        }
        if self.units != u64::MAX {
            if self.units == 0 {
                return false;
            }
            self.units = self.units.saturating_sub(units);
        }
        let granted = self.deadline.is_none_or(|end| std::mem::take(&mut self.fresh) || Instant::now() < end);
        self.spent += if granted { units } else { 0 };
        granted
    }

    /// Whether nothing limits this budget.
    #[inline]
    pub fn is_unlimited(&self) -> bool {
        self.units == u64::MAX && self.deadline.is_none()
    }

    /// The units left; `None` where they are not counted.
    pub fn remaining(&self) -> Option<u64> {
        (self.units != u64::MAX).then_some(self.units)
    }

    /// When it runs out, whatever is left of its units.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether the next draw would be refused.
    pub fn is_spent(&self) -> bool {
        self.units == 0 || !self.fresh && self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    /// As [`Budget::draw`] for a search that cannot keep its place: a task rests until it is granted more. False
    /// where no task carries the search, or nobody waits for it any more.
    #[inline]
    pub(crate) fn draw_or_rest(&mut self, units: u64) -> bool {
        self.draw(units) || self.draw_after_rest(units)
    }

    /// [`Budget::draw_or_rest`] for many units: a task draws a quantum at a time.
    pub(crate) fn draw_all_or_rest(&mut self, units: u64) -> bool {
        if self.gate.is_none() {
            return self.draw(units);
        }
        let mut open = units;
        while open > 0 {
            let some = QUANTUM.min(open);
            if !self.draw_or_rest(some) {
                return false;
            }
            open -= some;
        }
        true
    }

    /// As [`Budget::draw_or_rest`] for work that is short without a task: there it is charged, and done. False
    /// where it was only a trial, or nobody waits any more.
    #[inline]
    pub(crate) fn charge(&mut self, units: u64) -> bool {
        self.draw_or_rest(units) || (self.gate.is_none() && !self.trial)
    }

    /// [`Budget::charge`] for many units, a quantum at a time.
    pub(crate) fn charge_all(&mut self, units: u64) -> bool {
        self.charge_and_tell(units, |_| None::<()>)
    }

    /// As [`Budget::charge_all`], for a search that leaves what was found so far, if anything, where it rests;
    /// `so_far` is told how many of the units were drawn.
    pub(crate) fn charge_and_tell<T: Any + Send>(
        &mut self,
        units: u64,
        so_far: impl Fn(u64) -> Option<T>,
    ) -> bool {
        let mut drawn = 0;
        while drawn < units {
            let some = QUANTUM.min(units - drawn);
            while !self.draw(some) {
                let rested = match so_far(drawn) {
                    Some(so_far) => self.rest(|| so_far),
                    None => self.rest_silently(),
                };
                if !rested && (self.gate.is_some() || self.trial) {
                    return false;
                }
                if !rested {
                    break;
                }
            }
            drawn += some;
        }
        true
    }

    /// As [`Budget::draw`], for something that is built.
    pub(crate) fn draw_updates(&mut self, units: u64) -> bool {
        let granted = self.draw_or_rest(units);
        self.updates += if granted { units } else { 0 };
        granted
    }

    /// [`Budget::draw_updates`] for many units, a quantum at a time.
    pub(crate) fn draw_all_updates(&mut self, units: u64) -> bool {
        let mut open = units;
        while open > 0 && !self.is_unlimited() {
            let some = QUANTUM.min(open);
            if !self.draw_updates(some) {
                return false;
            }
            open -= some;
        }
        true
    }

    /// Rests until the next call grants more, and leaves what was found so far; false where no task carries the
    /// search, or nobody waits for it any more.
    pub(crate) fn rest<T: Any + Send>(&mut self, so_far: impl FnOnce() -> T) -> bool {
        match self.gate.clone() {
            Some(gate) if self.silent => gate.rest(self, None),
            Some(gate) => gate.rest(self, Some(Box::new(so_far()))),
            None => false,
        }
    }

    /// Leaves what was found so far for a caller whose deadline passes before the search rests again.
    pub(crate) fn leave<T: Any + Send>(&self, so_far: impl FnOnce() -> Option<T>) {
        if let Some(gate) = self.gate.as_ref().filter(|_| !self.silent)
            && let Some(so_far) = so_far()
        {
            gate.leave(Box::new(so_far));
        }
    }

    /// [`Budget::rest`] with nothing to tell.
    pub(crate) fn rest_silently(&mut self) -> bool {
        self.gate.clone().is_some_and(|gate| gate.rest(self, None))
    }

    /// Runs something that is only a part of the question: what it finds so far is not reported.
    pub(crate) fn silently<R>(&mut self, run: impl FnOnce(&mut Budget) -> R) -> R {
        let before = std::mem::replace(&mut self.silent, true);
        let found = run(self);
        self.silent = before;
        found
    }

    /// A share of this budget for a try that gives up where the share ends; see [`Budget::repay`].
    pub(crate) fn trial(&self, units: u64) -> Budget {
        let units = self.units.min(units);
        Budget { trial: true, gate: None, spent: 0, updates: 0, units, ..self.clone() }
    }

    /// Units of it that went into something that was built.
    pub(crate) fn updates(&self) -> u64 {
        self.updates
    }

    /// Whether it is a share of a budget for a first try, with which nothing large is built.
    pub(crate) fn is_trial(&self) -> bool {
        self.trial
    }

    /// Takes out what a trial has spent.
    pub(crate) fn repay(&mut self, trial: &Budget) {
        self.spent += trial.spent;
        self.updates += trial.updates;
        self.fresh &= trial.fresh;
        if self.units != u64::MAX {
            self.units = self.units.saturating_sub(trial.spent);
        }
    }

    #[cold]
    fn draw_after_rest(&mut self, units: u64) -> bool {
        while self.rest_silently() {
            if self.draw(units) {
                return true;
            }
        }
        false
    }
}

impl Default for Budget {
    /// No limit.
    fn default() -> Budget {
        Budget::UNLIMITED
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
        assert!(budget.is_spent() && !budget.draw(1));
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
        assert!(!budget.is_spent() && budget.draw(1));
        assert!(budget.is_spent() && !budget.draw(1));
        assert!(Budget::unlimited().draw(u64::MAX) && Budget::unlimited().is_unlimited());
    }

    #[test]
    fn without_a_task_nothing_rests() {
        let mut budget = Budget::units(1);
        assert!(budget.draw_or_rest(1) && !budget.draw_or_rest(1) && !budget.rest(|| 7));
        assert!(budget.charge(5), "work that cannot stop is done");
        let mut trial = Budget::units(10).trial(3);
        assert!(trial.charge(3) && !trial.charge(3));
        let mut whole = Budget::units(10);
        whole.repay(&trial);
        assert_eq!(whole.remaining(), Some(7));
    }
}
