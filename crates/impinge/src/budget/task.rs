//! A search on a thread of its own, which sleeps where it is whenever its budget ends.
//!
//! So every search can be interrupted and resumed, also one whose state is a deep stack; and a caller with a
//! deadline returns in time even while something is built in one go. The thread sleeps between calls and ends when
//! its task is dropped.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;

use super::Budget;
use super::pause::{Gate, Heard};

/// As much stack as a main thread has (bytes).
const STACK: usize = 8 << 20;

/// A search that was begun.
#[derive(Debug)]
pub(crate) struct Task {
    gate: Arc<Gate>,
    /// Units spent up to the last call, and those of them that went into building something.
    told: [u64; 2],
}

/// How far a task is.
pub(crate) struct Progress<A, T> {
    /// The answer; `None` when the budget ended first.
    pub answer: Option<A>,
    /// What was found so far, where the search can tell.
    pub so_far: Option<T>,
    /// Units that this call has spent on the search, and on what had to be built for it.
    pub spent: u64,
    pub updates: u64,
}

impl Task {
    /// Begins a search; it waits for its first grant. `None` where there are no threads.
    pub fn start<T: Any + Send>(run: impl FnOnce(&mut Budget) -> T + Send + 'static) -> Option<Task> {
        let gate = Arc::new(Gate::default());
        let own = gate.clone();
        let thread = thread::Builder::new().name("impinge task".into()).stack_size(STACK);
        let body = move || {
            let Some(mut budget) = own.enter() else { return };
            let ended = catch_unwind(AssertUnwindSafe(|| run(&mut budget)));
            own.end(&budget, ended.map(|answer| Box::new(answer) as _));
        };
        thread.spawn(body).ok()?;
        Some(Task { gate, told: [0; 2] })
    }

    /// Goes on until the search ends or the budget does. The types are those that the search gives.
    ///
    /// # Panics
    /// The search panicked.
    pub fn advance<A: Any, T: Any>(&mut self, budget: &mut Budget) -> Progress<A, T> {
        let Heard { ended, so_far, spent, updates } = self.gate.grant(budget);
        let answer = ended.map(|ended| ended.unwrap_or_else(|panic| resume_unwind(panic)));
        let [before, before_updates] = std::mem::replace(&mut self.told, [spent, updates]);
        let updates = updates - before_updates;
        Progress {
            answer: answer.and_then(|answer| answer.downcast().ok()).map(|answer| *answer),
            so_far: so_far.and_then(|found| found.downcast().ok()).map(|found| *found),
            spent: (spent - before).saturating_sub(updates),
            updates,
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.gate.close();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn count(to: u64) -> impl FnOnce(&mut Budget) -> u64 {
        move |budget| {
            let mut sum = 0;
            for k in 0..to {
                while !budget.draw(1) {
                    if !budget.rest(|| sum) {
                        return u64::MAX;
                    }
                }
                sum += k;
            }
            sum
        }
    }

    #[test]
    fn units_are_spent_to_the_last_and_the_search_goes_on() {
        let mut task = Task::start(count(100)).unwrap();
        for call in 1..=3 {
            let progress = task.advance::<u64, u64>(&mut Budget::units(30));
            assert_eq!((progress.answer, progress.spent), (None, 30));
            assert_eq!(progress.so_far, Some((0..30 * call).sum()));
        }
        let mut budget = Budget::units(30);
        let progress = task.advance::<u64, u64>(&mut budget);
        assert_eq!((progress.answer, progress.spent), (Some(4950), 10));
        assert_eq!(budget.remaining(), Some(20));
    }

    #[test]
    fn a_caller_leaves_at_its_deadline_whatever_the_search_does() {
        // The search goes on when the caller has left; one that stayed would be told the other answer.
        let (tell, hear) = std::sync::mpsc::channel();
        let mut task =
            Task::start(move |_: &mut Budget| hear.recv_timeout(Duration::from_secs(60)).unwrap_or(0_u64))
                .unwrap();
        assert_eq!(task.advance::<u64, u64>(&mut Budget::millis(5)).answer, None);
        tell.send(7).unwrap();
        assert_eq!(task.advance::<u64, u64>(&mut Budget::UNLIMITED.clone()).answer, Some(7));
    }

    #[test]
    fn a_dropped_task_ends() {
        let (tell, hear) = std::sync::mpsc::channel();
        let mut task = Task::start(move |budget: &mut Budget| {
            let found = count(100)(budget);
            let _ = tell.send(found);
            found
        })
        .unwrap();
        assert!(task.advance::<u64, u64>(&mut Budget::units(5)).answer.is_none());
        drop(task);
        assert_eq!(hear.recv_timeout(Duration::from_secs(60)), Ok(u64::MAX));
    }

    #[test]
    #[should_panic(expected = "as it should")]
    fn a_panic_reaches_the_caller() {
        let mut task = Task::start(|_: &mut Budget| -> u64 { panic!("as it should") }).unwrap();
        task.advance::<u64, u64>(&mut Budget::units(5));
    }
}
