//! What is remembered between questions.

use std::any::Any;

use smallvec::SmallVec;

use super::pair_memory::{Opaque, PairMemory};
use super::shape_memory::ShapeMemory;

/// What questions about the same bodies leave for the next ones: nearest features, witnesses, unfinished
/// searches. Dropping it costs speed, never an answer.
///
/// One memory belongs to one pair of bodies, or to one list of pairs whose order stays. A search that a budget cut
/// short keeps a sleeping thread of its own until it is resumed, another question is asked, or the memory is dropped.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// Of one pair without a list of their own: one place less to wait for.
    pairs: SmallVec<[Option<Box<PairMemory>>; 1]>,
    /// What questions about one shape left.
    pub(crate) shape: ShapeMemory,
    /// What questions that are asked together left for each other.
    beside: Opaque,
}

impl Memory {
    /// What pair `index` of a list remembers.
    pub(crate) fn pair(&mut self, index: usize) -> &mut PairMemory {
        if self.pairs.len() <= index {
            self.pairs.resize_with(index + 1, || None);
        }
        self.pairs[index].get_or_insert_default()
    }

    /// Takes out what questions that were asked together left, by its type.
    pub(crate) fn take_beside<T: Any>(&mut self) -> Option<Box<T>> {
        self.beside.take()
    }

    /// Keeps it for the next call.
    pub(crate) fn keep_beside<T: Any + Send + Sync>(&mut self, kept: Box<T>) {
        self.beside.keep(kept);
    }

    /// Asks for what the first pair remembers.
    #[inline]
    pub(crate) fn prefetch(&self) {
        if let Some(Some(pair)) = self.pairs.first() {
            pair.prefetch();
        }
    }

    /// Takes out what some of the pairs remember, in this order.
    pub(crate) fn take(&mut self, pairs: &[usize]) -> Memory {
        let most = pairs.iter().map(|&i| i + 1).max().unwrap_or(0);
        let slots = self.slots(most);
        Memory { pairs: pairs.iter().map(|&i| slots[i].take()).collect(), ..Memory::default() }
    }

    /// Puts back what [`Memory::take`] took out.
    pub(crate) fn put(&mut self, pairs: &[usize], taken: Memory) {
        for (&i, own) in pairs.iter().zip(taken.pairs) {
            self.pairs[i] = own;
        }
    }

    /// One slot for each of `count` pairs.
    pub(crate) fn slots(&mut self, count: usize) -> &mut [Option<Box<PairMemory>>] {
        if self.pairs.len() < count {
            self.pairs.resize_with(count, || None);
        }
        &mut self.pairs[..count]
    }
}
