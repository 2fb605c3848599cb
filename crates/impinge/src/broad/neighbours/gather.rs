//! Lists that several threads find, put together in the order of their tasks while the search goes on.
//!
//! Tasks are taken in turn. Who ends one also copies what the tasks up to it have found to where it belongs, which is
//! then still in a near cache, unless an earlier task is not done: then the list waits for that one. So nobody stands
//! idle between searching and copying, and few lists are alive at a time. Where the room of the last frame does not
//! suffice, lists wait for the end of the round.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::num::parallel;

/// Tasks of a round: as many lists wait at most while `pairs` has no room for them.
const ROUND: usize = 256;

/// Lists for each thread that are kept for the next call; more are needed only where the room did not suffice.
const KEPT: usize = 4;

/// What a task fills.
pub(super) trait TaskList: Default + Send {
    /// Forgets what was found; the memory stays.
    fn restart(&mut self);

    /// What was found.
    fn found(&self) -> &[[u32; 2]];
}

/// What all threads know of a round.
struct Progress<'p, L> {
    /// The first task whose list has no place yet.
    next: usize,
    /// What the list of the last frame has room for.
    free: &'p mut [[u32; 2]],
    /// Whether that was too little for a list.
    is_full: bool,
    /// Lists of tasks that are done and have no place yet.
    waiting: BTreeMap<usize, L>,
    /// Lists to be used again.
    spare: Vec<L>,
}

/// A list and the place where it belongs.
type Placed<'p, L> = (L, &'p mut [[u32; 2]]);

/// Runs the tasks 0..`count` on several threads and replaces `pairs` by what they found, in the order of the tasks.
/// `spare` are lists of earlier calls, and afterwards those of this one.
pub(super) fn gather<L: TaskList>(
    count: usize,
    spare: &mut Vec<L>,
    pairs: &mut Vec<[u32; 2]>,
    task: impl Fn(usize, &mut L) + Sync,
) {
    let mut len = 0;
    for first in (0..count).step_by(ROUND) {
        len = round(first..count.min(first + ROUND), spare, pairs, len, &task);
    }
    pairs.truncate(len);
    spare.truncate(KEPT * parallel::threads());
}

/// The same for some tasks, behind the first `len` pairs; returns how many there are then.
fn round<L: TaskList>(
    tasks: std::ops::Range<usize>,
    spare: &mut Vec<L>,
    pairs: &mut Vec<[u32; 2]>,
    len: usize,
    task: &(impl Fn(usize, &mut L) + Sync),
) -> usize {
    let room = pairs.len() - len;
    let progress = Mutex::new(Progress {
        next: tasks.start,
        free: &mut pairs[len..],
        is_full: false,
        waiting: BTreeMap::new(),
        spare: std::mem::take(spare),
    });
    let turn = AtomicUsize::new(tasks.start);
    let mut workers = vec![(); parallel::threads().min(tasks.len())];
    parallel::for_each_chunk(&mut workers, 1, |_, _| {
        loop {
            let k = turn.fetch_add(1, Ordering::Relaxed);
            if k >= tasks.end {
                return;
            }
            let mut list = lock(&progress).spare.pop().unwrap_or_default();
            list.restart();
            task(k, &mut list);
            let mut placed = lock(&progress).end(k, list);
            for (list, to) in &mut placed {
                to.copy_from_slice(list.found());
            }
            lock(&progress).spare.extend(placed.into_iter().map(|(list, _)| list));
        }
    });
    let Progress { free, waiting, spare: left, .. } =
        progress.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut len = len + room - free.len();
    *spare = left;
    let total: usize = waiting.values().map(|list| list.found().len()).sum();
    pairs.resize(pairs.len().max(len + total), [0; 2]);
    let mut free = &mut pairs[len..len + total];
    let mut placed: Vec<Placed<'_, L>> = Vec::with_capacity(waiting.len());
    for list in waiting.into_values() {
        let to = split(&mut free, list.found().len());
        placed.push((list, to));
    }
    parallel::for_each_chunk(&mut placed, 1, |_, one| {
        one.iter_mut().for_each(|(list, to)| to.copy_from_slice(list.found()));
    });
    spare.extend(placed.into_iter().map(|(list, _)| list));
    len += total;
    len
}

impl<'p, L: TaskList> Progress<'p, L> {
    /// Takes note that a task is done; returns the lists that have a place by now, which are to be copied there.
    fn end(&mut self, task: usize, list: L) -> Vec<Placed<'p, L>> {
        self.waiting.insert(task, list);
        let mut placed = Vec::new();
        while let Some(list) = self.waiting.remove(&self.next) {
            if self.is_full || list.found().len() > self.free.len() {
                self.is_full = true;
                self.waiting.insert(self.next, list);
                break;
            }
            let to = split(&mut self.free, list.found().len());
            placed.push((list, to));
            self.next += 1;
        }
        placed
    }
}

/// Takes the first `count` pairs off.
fn split<'p>(free: &mut &'p mut [[u32; 2]], count: usize) -> &'p mut [[u32; 2]] {
    let (head, tail) = std::mem::take(free).split_at_mut(count);
    *free = tail;
    head
}

/// A thread that panicked has left nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Plain(Vec<[u32; 2]>);

    impl TaskList for Plain {
        fn restart(&mut self) {
            self.0.clear();
        }

        fn found(&self) -> &[[u32; 2]] {
            &self.0
        }
    }

    /// Lists of different lengths, some empty, whatever the room of the last frame and the number of threads.
    #[test]
    fn lists_stand_in_the_order_of_their_tasks() {
        let length = |task: usize| task * 7919 % 13;
        let of = |task: usize| (0..length(task) as u32).map(move |k| [task as u32, k]);
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (mut spare, mut pairs) = (Vec::<Plain>::new(), Vec::new());
            for count in [0, 1, 2, ROUND - 1, 3 * ROUND + 5, 700, 30, 700] {
                pool.install(|| gather(count, &mut spare, &mut pairs, |task, to| to.0.extend(of(task))));
                assert!(
                    pairs.iter().copied().eq((0..count).flat_map(of)),
                    "{count} tasks, {threads} threads"
                );
                assert!(spare.len() <= KEPT * threads);
            }
        }
    }
}
