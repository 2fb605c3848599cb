//! A search that runs as a task, and what each call has cost.

use std::any::Any;

use crate::Budget;
use crate::budget::task::Task;
use crate::contact::{Counters, Verdict};
use crate::num::parallel;

/// A search on its own thread.
#[derive(Debug)]
pub(crate) struct Running {
    task: Task,
    /// Box tests reported so far.
    volume_tests: u64,
    /// Whether a budget ended before the search did.
    interrupted: bool,
}

/// Where a search is after a call.
pub(crate) enum Step<A, T> {
    /// It came to its end with this.
    Ended(A, Spent),
    /// The budget ended.
    Open(Verdict<T>),
}

/// Units that a call has spent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spent {
    tests: u64,
    updates: u64,
}

impl Running {
    /// Begins a search; `None` where there are no threads.
    pub fn start<A: Any + Send>(run: impl FnOnce(&mut Budget) -> A + Send + 'static) -> Option<Running> {
        let task = Task::start(move |budget| parallel::alone(|| run(budget)))?;
        Some(Running { task, volume_tests: 0, interrupted: false })
    }

    /// Goes on as far as the budget goes; `T` is what the search finds, `A` what it ends with.
    pub fn advance<A: Any, T: Any>(&mut self, budget: &mut Budget) -> Step<A, T> {
        let progress = self.task.advance::<A, Verdict<T>>(budget);
        let spent = Spent { tests: progress.spent, updates: progress.updates };
        if let Some(answer) = progress.answer {
            return Step::Ended(answer, spent);
        }
        let own = progress.so_far.as_ref().map(|so_far| so_far.outcome.work);
        let mut verdict = progress.so_far.unwrap_or_else(Verdict::out_of_budget);
        verdict.outcome.work = self.work(own, spent);
        self.interrupted = true;
        Step::Open(verdict)
    }

    /// The work of one call, given what the search has counted from its beginning. A search that was never
    /// interrupted knows it best; later the units that were drawn tell what belongs to which call.
    pub fn work(&mut self, own: Option<Counters>, spent: Spent) -> Counters {
        let Spent { tests, updates } = spent;
        if let Some(own) = own.filter(|_| !self.interrupted) {
            self.volume_tests = own.volume_tests;
            return Counters { updates: own.updates + updates, ..own };
        }
        let more = own.map_or(0, |own| own.volume_tests.saturating_sub(self.volume_tests));
        let volume_tests = more.min(tests);
        self.volume_tests += volume_tests;
        Counters { volume_tests, primitive_tests: tests - volume_tests, updates }
    }
}
