//! The few ways in which work is shared between threads; without the feature `parallel`, none.
//!
//! Chunks have fixed sizes and partial results are combined in the order of the data, so that the
//! number of threads changes nothing.

use std::cell::Cell;
use std::cmp::Ordering;
use std::sync::OnceLock;

#[cfg(feature = "parallel")]
use super::shared_range::{SharedRange, join, share_chunks};
use crate::budget::hand_over::{checkpoint, is_waited_for};

/// Items, or comparisons, between two checkpoints.
const STRIDE: usize = 64;

thread_local! {
    /// Whether this thread keeps its work to itself.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Runs something without sharing its work: a caller who waits for it needs a core to wake up on.
pub(crate) fn alone<R>(run: impl FnOnce() -> R) -> R {
    /// Shares again, also after a panic.
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            ALONE.set(self.0);
        }
    }
    let _restore = Restore(ALONE.replace(true));
    run()
}

/// Fills a cell once. A thread of the pool does not share the work: while it waited for a part it could take up
/// another job that asks for the same cell, and wait for itself.
#[inline]
pub(crate) fn once<T>(cell: &OnceLock<T>, build: impl FnOnce() -> T) -> &T {
    cell.get_or_init(|| if is_in_pool() { alone(build) } else { build() })
}

#[cfg(feature = "parallel")]
fn is_in_pool() -> bool {
    rayon::current_thread_index().is_some()
}

#[cfg(not(feature = "parallel"))]
fn is_in_pool() -> bool {
    false
}

#[cfg(feature = "parallel")]
fn is_shared() -> bool {
    !ALONE.get()
}

/// How many threads share work.
pub fn threads() -> usize {
    #[cfg(feature = "parallel")]
    if is_shared() {
        return rayon::current_num_threads();
    }
    1
}

/// Runs both, on two threads if `worth` it.
pub fn join_if<A: Send, B: Send>(
    worth: bool,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    #[cfg(feature = "parallel")]
    if worth && is_shared() {
        return join(|_| a(), |_| b());
    }
    let _ = worth;
    checkpoint();
    (a(), b())
}

/// Calls `each` with every chunk of `size` items and the index of its first item.
pub fn for_each_chunk<T: Send>(items: &mut [T], size: usize, each: impl Fn(usize, &mut [T]) + Sync) {
    #[cfg(feature = "parallel")]
    if items.len() > size && is_shared() {
        share_chunks(items, size, 0, &each);
        return;
    }
    for (k, chunk) in items.chunks_mut(size).enumerate() {
        checkpoint();
        each(k * size, chunk);
    }
}

/// Maps every chunk of `size` items and combines the results from left to right.
pub fn reduce_chunks<T: Sync, R: Send>(
    items: &[T],
    size: usize,
    map: impl Fn(&[T]) -> R + Sync,
    combine: impl Fn(R, R) -> R,
) -> R {
    #[cfg(feature = "parallel")]
    if items.len() > size && is_shared() {
        let part = |k: usize| map(&items[k * size..items.len().min((k + 1) * size)]);
        let parts = SharedRange::new(items.len().div_ceil(size), &part).collect();
        if let Some(whole) = parts.into_iter().reduce(&combine) {
            return whole;
        }
    }
    let mut chunks = items.chunks(size);
    let first = map(chunks.next().unwrap_or_default());
    chunks.fold(first, |all, chunk| {
        checkpoint();
        combine(all, map(chunk))
    })
}

/// `each` for 0..count, in parallel, in order.
pub fn map<R: Send>(count: usize, each: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    #[cfg(feature = "parallel")]
    if is_shared() {
        return SharedRange::new(count, &each).collect();
    }
    (0..count).map(with_checkpoints(each)).collect()
}

/// Appends `each` for 0..count, in parallel, in order.
pub fn extend<R: Send>(to: &mut Vec<R>, count: usize, each: impl Fn(usize) -> R + Sync + Send) {
    #[cfg(feature = "parallel")]
    if is_shared() {
        use rayon::prelude::*;
        to.par_extend(SharedRange::new(count, &each));
        return;
    }
    to.extend((0..count).map(with_checkpoints(each)));
}

/// The items one after the other, with checkpoints between them: for what must be built in their order.
pub fn in_turn<I: IntoIterator>(items: I) -> impl Iterator<Item = I::Item> {
    items.into_iter().enumerate().map(|(k, item)| {
        if k.is_multiple_of(STRIDE) {
            checkpoint();
        }
        item
    })
}

fn with_checkpoints<R>(each: impl Fn(usize) -> R) -> impl Fn(usize) -> R {
    move |k| {
        if k.is_multiple_of(STRIDE) {
            checkpoint();
        }
        each(k)
    }
}

/// Sorts, in parallel; equal items must not be told apart.
pub fn sort<T: Ord + Send>(items: &mut [T]) {
    #[cfg(feature = "parallel")]
    if is_shared() {
        use rayon::prelude::*;
        items.par_sort_unstable();
        return;
    }
    match is_waited_for() {
        true => items.sort_unstable_by(compared(T::cmp)),
        false => items.sort_unstable(),
    }
}

/// Puts in place what would stand at `at` in order, smaller items before it and larger behind.
pub fn select<T>(items: &mut [T], at: usize, order: impl Fn(&T, &T) -> Ordering) {
    match is_waited_for() {
        true => items.select_nth_unstable_by(at, compared(order)),
        false => items.select_nth_unstable_by(at, order),
    };
}

/// An order with checkpoints between its comparisons.
fn compared<T>(order: impl Fn(&T, &T) -> Ordering) -> impl FnMut(&T, &T) -> Ordering {
    let mut count = 0_usize;
    move |a, b| {
        count += 1;
        if count.is_multiple_of(STRIDE) {
            checkpoint();
        }
        order(a, b)
    }
}

/// Sorts by a key, in parallel; items with equal keys must not be told apart.
pub fn sort_by_key<T: Send, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K + Sync) {
    #[cfg(feature = "parallel")]
    if is_shared() {
        use rayon::prelude::*;
        items.par_sort_unstable_by_key(key);
        return;
    }
    match is_waited_for() {
        true => items.sort_unstable_by(compared(|a: &T, b: &T| key(a).cmp(&key(b)))),
        false => items.sort_unstable_by_key(key),
    }
}
