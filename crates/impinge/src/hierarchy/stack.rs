//! Searches whose whole state is a stack: the loops that empty it, under a budget or shared out.
//!
//! What an entry means and what a visit does is the search's own; a search can stop between any two
//! entries and go on later.

use std::ops::ControlFlow;

use smallvec::SmallVec;

use crate::{Budget, Counters, Finish};

/// Entries that are still to be visited; most searches fit in place.
pub(super) type Stack<E> = SmallVec<[E; 96]>;

/// A search that visits the entries of a stack, each of which may push more.
pub(super) trait StackSearch: Sized {
    /// What the stack holds.
    type Entry: Copy;

    /// The entries left.
    fn stack(&mut self) -> &mut Stack<Self::Entry>;

    /// Pairs of boxes that a visit tests: what the budget pays for it.
    fn tests(entry: &Self::Entry) -> u64;

    /// The same search, with nothing but these entries to visit.
    fn with(&self, stack: Stack<Self::Entry>) -> Self;

    /// Visits until nothing is left, `visit` breaks or the budget ends.
    #[inline]
    fn run(
        &mut self,
        budget: &mut Budget,
        work: &mut Counters,
        mut visit: impl FnMut(&mut Self, Self::Entry, &mut Counters) -> ControlFlow<()>,
    ) -> Finish {
        let limited = !budget.is_unlimited();
        while let Some(entry) = self.stack().pop() {
            if limited && !budget.draw(Self::tests(&entry)) {
                self.stack().push(entry);
                return Finish::OutOfBudget;
            }
            let before = work.primitive_tests;
            if visit(self, entry, work).is_break() {
                return Finish::Stopped;
            }
            if limited {
                budget.draw(work.primitive_tests - before);
            }
        }
        Finish::Complete
    }

    /// Gives away half of what is left: every second entry from the oldest on, below which most is to be found. None where
    /// one entry is left.
    fn give_half(&mut self) -> Option<Self> {
        if self.stack().len() < 2 {
            return None;
        }
        let (mut own, mut given) = (Stack::new(), Stack::new());
        for (n, &entry) in self.stack().iter().enumerate() {
            if n % 2 == 0 { given.push(entry) } else { own.push(entry) }
        }
        *self.stack() = own;
        Some(self.with(given))
    }

    /// Cuts the search into at least `parts` independent ones where there is so much to do; none when
    /// `visit` breaks.
    fn cut(
        mut self,
        parts: usize,
        work: &mut Counters,
        mut visit: impl FnMut(&mut Self, Self::Entry, &mut Counters) -> ControlFlow<()>,
    ) -> Vec<Self> {
        while !self.stack().is_empty() && self.stack().len() < parts {
            for entry in std::mem::take(self.stack()) {
                if visit(&mut self, entry, work).is_break() {
                    return Vec::new();
                }
            }
        }
        let left = std::mem::take(self.stack());
        left.into_iter().map(|entry| self.with(Stack::from_slice(&[entry]))).collect()
    }
}
