//! How a search for pairs draws on a budget: its thread has a meter, which every technique asks block by block before it
//! does the work.
//!
//! Without a meter, as in every search without a limit, a block costs one comparison. With one, the search keeps to its
//! thread, so that what a budget of units is enough for is the same at any number of threads.

use std::cell::RefCell;

use super::{SearchCounters, Technique};
use crate::Budget;
use crate::budget::QUANTUM;

thread_local! {
    static RUNNING: RefCell<Option<Account>> = const { RefCell::new(None) };
}

/// What a unit is spent on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unit {
    /// A test of two particles.
    Test,
    /// A test of two boxes, cells or other sets.
    VolumeTest,
    /// A particle that is put in place.
    Update,
}

/// How far a search is.
#[derive(Debug, Clone, Default)]
pub(super) struct Done {
    /// Without the bytes.
    pub counters: SearchCounters,
    /// Which technique the hybrid took, and why.
    pub choice: Option<(Technique, String)>,
}

/// The budget of a search and what it has done.
struct Account {
    budget: Budget,
    done: Done,
    /// Units that were drawn and not used yet.
    credit: u64,
    /// The budget ended, and nobody waits for more.
    is_over: bool,
}

/// Runs a search under a budget; `None` when it ended first, with what was done by then.
pub(super) fn metered<R>(budget: &mut Budget, search: impl FnOnce() -> R) -> (Option<R>, Done) {
    let budget_of_thread = std::mem::take(budget);
    RUNNING.set(Some(Account { budget: budget_of_thread, done: Done::default(), credit: 0, is_over: false }));
    let found = search();
    let Some(account) = RUNNING.take() else { return (Some(found), Done::default()) };
    *budget = account.budget;
    ((!account.is_over).then_some(found), account.done)
}

/// Whether the searches of this thread draw on a budget.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meter {
    is_on: bool,
}

impl Meter {
    /// That of this thread.
    pub fn of_thread() -> Meter {
        Meter { is_on: RUNNING.with_borrow(Option::is_some) }
    }

    /// Whether there is a limit.
    pub fn is_on(self) -> bool {
        self.is_on
    }

    /// Asks for so many units that are about to be spent, or, where their number shows only then, just were; and tells how
    /// many pairs there are so far. False when the search should end, whatever it has found.
    #[inline]
    pub fn grant(self, unit: Unit, units: u64, pairs: usize) -> bool {
        !self.is_on || draw(unit, units, pairs)
    }
}

/// Takes note of the technique that a hybrid took.
pub(super) fn note_choice(technique: Technique, reason: &str) {
    RUNNING.with_borrow_mut(|running| {
        if let Some(account) = running {
            account.done.choice = Some((technique, reason.to_string()));
        }
    });
}

/// What was refused is not counted, nor what was drawn for it in part.
#[cold]
fn draw(unit: Unit, units: u64, pairs: usize) -> bool {
    RUNNING.with_borrow_mut(|running| {
        let Some(account) = running else { return true };
        account.done.counters.pairs = pairs as u64;
        while account.credit < units {
            while !account.is_over && !account.budget.draw(QUANTUM) {
                account.is_over = !account.budget.rest(|| account.done.clone());
            }
            if account.is_over {
                return false;
            }
            account.credit += QUANTUM;
        }
        account.credit -= units;
        let SearchCounters { tests, volume_tests, updates, .. } = &mut account.done.counters;
        *match unit {
            Unit::Test => tests,
            Unit::VolumeTest => volume_tests,
            Unit::Update => updates,
        } += units;
        !account.is_over
    })
}
