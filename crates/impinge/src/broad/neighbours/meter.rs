//! How a search for pairs draws on a budget: its thread has a meter, to which every technique tells its tests block by
//! block.
//!
//! Without a meter, as in every search without a limit, a block costs one comparison. With one, the search keeps to its
//! thread, so that what a budget of units is enough for is the same at any number of threads.

use std::cell::RefCell;

use crate::Budget;
use crate::budget::QUANTUM;

thread_local! {
    static RUNNING: RefCell<Option<Account>> = const { RefCell::new(None) };
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

/// How far a search is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Done {
    /// Pairs found.
    pub pairs: u64,
    /// Pairs of particles, boxes or cells that were tested, and particles put in place.
    pub units: u64,
}

/// Runs a search under a budget; `None` when it ended first.
pub(super) fn metered<R>(budget: &mut Budget, search: impl FnOnce() -> R) -> (Option<R>, Done) {
    let account =
        Account { budget: std::mem::take(budget), done: Done::default(), credit: 0, is_over: false };
    RUNNING.set(Some(account));
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

    /// Tells of so many units since the last call, and how many pairs there are so far. False when the search should
    /// end, whatever it has found.
    #[inline]
    pub fn go_on(self, units: u64, pairs: usize) -> bool {
        !self.is_on || draw(units, pairs)
    }
}

#[cold]
fn draw(units: u64, pairs: usize) -> bool {
    RUNNING.with_borrow_mut(|running| {
        let Some(account) = running else { return true };
        account.done.pairs = pairs as u64;
        account.done.units += units;
        while account.credit < units && !account.is_over {
            let done = account.done;
            while !account.budget.draw(QUANTUM) {
                if !account.budget.rest(|| done) {
                    account.is_over = true;
                    break;
                }
            }
            account.credit += QUANTUM;
        }
        account.credit = account.credit.saturating_sub(units);
        !account.is_over
    })
}
