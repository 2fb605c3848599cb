//! How a range of items is halved between the threads of rayon, as its parallel iterators do it.
//!
//! Those compile all of `rayon::join` anew for every function that is mapped, a seventh of the library's code;
//! here both sides of a [`join`] are called through a table, once for each part, so it is compiled once.

use std::ops::Range;

use rayon::iter::plumbing::{Consumer, Folder, ProducerCallback, Reducer, UnindexedConsumer};
use rayon::prelude::*;

/// Runs both, on two threads where one is free; each is told whether it has moved to another thread.
pub(super) fn join<A: Send, B: Send>(
    a: impl FnOnce(bool) -> A + Send,
    b: impl FnOnce(bool) -> B + Send,
) -> (A, B) {
    let (mut a, mut b) = (Some(a), Some(b));
    let (mut first, mut second) = (None, None);
    join_calls(&mut |moved| first = a.take().map(|run| run(moved)), &mut |moved| {
        second = b.take().map(|run| run(moved))
    });
    match (first, second) {
        (Some(first), Some(second)) => (first, second),
        _ => unreachable!("rayon has run both, or a panic has gone through here"),
    }
}

type Call<'a> = &'a mut (dyn FnMut(bool) + Send);

#[inline(never)]
fn join_calls(a: Call<'_>, b: Call<'_>) {
    rayon::join_context(|context| a(context.migrated()), |context| b(context.migrated()));
}

/// Calls `each` with every chunk of `size` items and the index of its first item, which is `first` for the first of
/// them; each chunk may go to another thread.
pub(super) fn share_chunks<T: Send>(
    items: &mut [T],
    size: usize,
    first: usize,
    each: &(impl Fn(usize, &mut [T]) + Sync),
) {
    let count = items.len().div_ceil(size);
    if count <= 1 {
        each(first, items);
        return;
    }
    let half = count / 2 * size;
    let (left, right) = items.split_at_mut(half);
    join(|_| share_chunks(left, size, first, each), |_| share_chunks(right, size, first + half, each));
}

/// The results of a function for 0..count, in order.
pub(super) struct SharedRange<'a, F> {
    count: usize,
    each: &'a F,
}

impl<'a, R: Send, F: Fn(usize) -> R + Sync> SharedRange<'a, F> {
    /// In parts that the threads agree on while they work.
    pub(super) fn new(count: usize, each: &'a F) -> Self {
        SharedRange { count, each }
    }

    pub(super) fn collect(self) -> Vec<R> {
        let mut all = Vec::new();
        self.collect_into_vec(&mut all);
        all
    }
}

impl<R: Send, F: Fn(usize) -> R + Sync> ParallelIterator for SharedRange<'_, F> {
    type Item = R;

    fn drive_unindexed<C: UnindexedConsumer<R>>(self, consumer: C) -> C::Result {
        self.drive(consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.count)
    }
}

impl<R: Send, F: Fn(usize) -> R + Sync> IndexedParallelIterator for SharedRange<'_, F> {
    fn len(&self) -> usize {
        self.count
    }

    fn drive<C: Consumer<R>>(self, consumer: C) -> C::Result {
        let halvings = Halvings(rayon::current_num_threads());
        drive_part(0..self.count, halvings, false, self.each, consumer)
    }

    fn with_producer<P: ProducerCallback<R>>(self, callback: P) -> P::Output {
        (0..self.count).into_par_iter().map(self.each).with_producer(callback)
    }
}

/// How many parts are still made of a part before another thread asks for one.
#[derive(Clone, Copy)]
struct Halvings(usize);

impl Halvings {
    /// Whether to halve once more. A part that has moved shows that threads are idle, and starts again.
    fn next(&mut self, moved: bool) -> bool {
        let is_wanted = moved || self.0 > 0;
        self.0 /= 2;
        if moved {
            self.0 = self.0.max(rayon::current_num_threads());
        }
        is_wanted
    }
}

fn drive_part<R, C: Consumer<R>>(
    part: Range<usize>,
    mut halvings: Halvings,
    moved: bool,
    each: &(impl Fn(usize) -> R + Sync),
    consumer: C,
) -> C::Result {
    if consumer.full() || part.len() < 2 || !halvings.next(moved) {
        return consumer.into_folder().consume_iter(part.map(each)).complete();
    }
    let half = part.len() / 2;
    let middle = part.start + half;
    let (left, right, reducer) = consumer.split_at(half);
    let (first, second) = join(
        |moved| drive_part(part.start..middle, halvings, moved, each, left),
        |moved| drive_part(middle..part.end, halvings, moved, each, right),
    );
    reducer.reduce(first, second)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const COUNTS: [usize; 9] = [0, 1, 2, 3, 7, 64, 100, 1_023, 10_000];

    #[test]
    fn results_come_in_order_each_once_at_any_number_of_threads() {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for count in COUNTS {
                let calls = AtomicUsize::new(0);
                let each = |k: usize| {
                    calls.fetch_add(1, Ordering::Relaxed);
                    vec![k; k % 3]
                };
                let truth: Vec<_> = (0..count).map(|k| vec![k; k % 3]).collect();
                assert_eq!(pool.install(|| SharedRange::new(count, &each).collect()), truth);
                let mut all = truth.clone();
                pool.install(|| all.par_extend(SharedRange::new(count, &each)));
                assert_eq!(all, [&truth[..], &truth].concat());
                assert_eq!(calls.into_inner(), 2 * count);
            }
        }
    }

    #[test]
    fn chunks_are_those_of_the_standard_library() {
        for (count, size) in COUNTS.into_iter().flat_map(|count| [1, 3, 64, 20_000].map(|size| (count, size)))
        {
            let mut items: Vec<usize> = (0..count).collect();
            let seen = Mutex::new(HashSet::new());
            share_chunks(&mut items, size, 0, &|first, chunk: &mut [usize]| {
                assert_eq!(chunk.first().copied().unwrap_or_default(), first);
                chunk.iter_mut().for_each(|item| *item += 1);
                assert!(seen.lock().unwrap().insert((first, chunk.len())));
            });
            assert!(items.iter().enumerate().all(|(k, &item)| item == k + 1));
            let expected: HashSet<_> = match count {
                0 => [(0, 0)].into(),
                _ => (0..count).step_by(size).map(|first| (first, size.min(count - first))).collect(),
            };
            assert_eq!(seen.into_inner().unwrap(), expected);
        }
    }

    #[test]
    fn all_threads_of_a_pool_take_part() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let threads = Mutex::new(HashSet::new());
        let barrier = std::sync::Barrier::new(3);
        let each = |_: usize| {
            threads.lock().unwrap().insert(std::thread::current().id());
            barrier.wait();
        };
        // Each item waits for two others, so they end only if three threads share them.
        pool.install(|| SharedRange::new(3, &each).collect());
        assert_eq!(threads.into_inner().unwrap().len(), 3);
    }

    #[test]
    fn a_panic_comes_through() {
        let each = |k: usize| assert_ne!(k, 77, "seventy-seven");
        let caught = std::panic::catch_unwind(|| SharedRange::new(100, &each).collect());
        assert!(caught.is_err());
    }
}
