//! Pairs that several threads find, put together in the order of their tasks while the search goes on.
//!
//! Tasks are taken in turn. One whose predecessors have all ended knows where its pairs belong and writes them there; until
//! then it fills a list, which is copied as soon as the place is known: in the middle of the task, at its end, or by
//! whoever ends the last of the tasks before it. So with n threads about one pair in n is not copied, what is copied is
//! still in a near cache, nobody stands idle between searching and copying, and few lists are alive at a time. Where the
//! room of the last frame does not suffice, lists wait for the end of the round.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::bytes_of;
use crate::num::parallel;

/// Tasks of a round: as many lists wait at most while there is no room for them.
const ROUND: usize = 256;

/// Lists for each thread that are kept for the next call; more are needed only where the room did not suffice.
const KEPT: usize = 4;

/// Pairs after which a task looks whether its place is known; a list that is no longer is copied from the nearest cache.
const PIECE: usize = 1 << 11;

/// Pairs for which room is made at a time where nothing is to be looked at.
const PAIRS: usize = 1 << 14;

/// Pairs one after another, of which the first `count` were found; what follows was written in passing or stood there
/// before.
#[derive(Debug, Clone, Default)]
pub(super) struct List {
    pairs: Vec<[u32; 2]>,
    count: usize,
}

impl List {
    fn found(&self) -> &[[u32; 2]] {
        &self.pairs[..self.count]
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        bytes_of(&self.pairs)
    }
}

/// Where a task puts its pairs: into a list, or, once it is known, to their place.
pub(super) struct Sink<'s, 'p> {
    list: Vec<[u32; 2]>,
    /// Everything behind the pairs of earlier tasks, while `is_placed`.
    place: &'p mut [[u32; 2]],
    is_placed: bool,
    count: usize,
    /// Up to where may be written before the next look.
    end: usize,
    /// The number of the task and what all threads know; nothing for a search on one thread.
    task: Option<(usize, &'s Mutex<Progress<'p>>)>,
}

impl<'s, 'p> Sink<'s, 'p> {
    /// Straight into a list, whose pairs are replaced.
    pub fn whole(list: Vec<[u32; 2]>) -> Self {
        let end = list.len();
        Sink { list, place: &mut [], is_placed: false, count: 0, end, task: None }
    }

    fn of_task(task: usize, progress: &'s Mutex<Progress<'p>>, list: List) -> Self {
        let task = Some((task, progress));
        Sink { list: list.pairs, place: &mut [], is_placed: false, count: 0, end: 0, task }
    }

    /// The list with what was found, for a sink of [`Sink::whole`].
    pub fn into_whole(mut self) -> Vec<[u32; 2]> {
        self.list.truncate(self.count);
        self.list
    }

    /// How many pairs there are.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Those that were written behind the first ones count from now on, or some no longer do.
    #[inline(always)]
    pub fn set_count(&mut self, count: usize) {
        self.count = count;
    }

    /// Makes room for so many numbers behind the pairs.
    #[inline(always)]
    pub fn reserve(&mut self, more: usize) {
        let needed = self.count + more;
        if needed > self.end {
            self.make_room(needed);
        }
    }

    /// All pairs, and the room behind them.
    #[inline(always)]
    pub fn slots(&mut self) -> &mut [[u32; 2]] {
        if self.is_placed { self.place } else { &mut self.list }
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, needed: usize) {
        let Some((task, progress)) = self.task else {
            self.list.resize(needed + PAIRS, [0; 2]);
            self.end = self.list.len();
            return;
        };
        let mut progress = lock(progress);
        if !self.is_placed && progress.next == task && !progress.is_full {
            if progress.free.len() >= needed {
                self.place = std::mem::take(&mut progress.free);
                // Nobody waits for a copy.
                drop(progress);
                self.place[..self.count].copy_from_slice(&self.list[..self.count]);
                self.is_placed = true;
                self.end = self.place.len();
                return;
            }
            progress.is_full = true;
        }
        self.end = needed + PIECE;
        if self.list.len() < self.end {
            self.list.resize(self.end, [0; 2]);
        }
        if self.is_placed {
            self.list[..self.count].copy_from_slice(&self.place[..self.count]);
            progress.free = std::mem::take(&mut self.place);
            (progress.is_full, self.is_placed) = (true, false);
        }
    }
}

/// What all threads know of a round.
#[derive(Default)]
struct Progress<'p> {
    /// The first task that has not ended or whose list has no place.
    next: usize,
    /// What the last frame's pairs leave of room; empty while a task writes there.
    free: &'p mut [[u32; 2]],
    /// Whether that was too little.
    is_full: bool,
    /// Lists of tasks that have ended and have no place yet.
    waiting: BTreeMap<usize, List>,
    /// Lists to be used again.
    spare: Vec<List>,
}

/// A list and the place where it belongs.
type Placed<'p> = (List, &'p mut [[u32; 2]]);

/// Runs the tasks 0..`count`, as many at a time as there are `workers`, and replaces `pairs` by what they found, in the
/// order of the tasks. `spare` are lists of earlier calls, and afterwards those of this one.
pub(super) fn gather<W: Send>(
    count: usize,
    workers: &mut [W],
    spare: &mut Vec<List>,
    pairs: &mut Vec<[u32; 2]>,
    task: impl Fn(usize, &mut W, &mut Sink<'_, '_>) + Sync,
) {
    let mut len = 0;
    for first in (0..count).step_by(ROUND) {
        len = round(first..count.min(first + ROUND), workers, spare, pairs, len, &task);
    }
    pairs.truncate(len);
    spare.truncate(KEPT * workers.len());
}

/// The same for some tasks, behind the first `len` pairs; returns how many there are then.
fn round<W: Send>(
    tasks: std::ops::Range<usize>,
    workers: &mut [W],
    spare: &mut Vec<List>,
    pairs: &mut Vec<[u32; 2]>,
    len: usize,
    task: &(impl Fn(usize, &mut W, &mut Sink<'_, '_>) + Sync),
) -> usize {
    let room = pairs.len() - len;
    let progress = Mutex::new(Progress {
        next: tasks.start,
        free: &mut pairs[len..],
        spare: std::mem::take(spare),
        ..Progress::default()
    });
    let turn = AtomicUsize::new(tasks.start);
    parallel::for_each_chunk(workers, 1, |_, worker| {
        let Some(worker) = worker.first_mut() else { return };
        loop {
            let k = turn.fetch_add(1, Ordering::Relaxed);
            if k >= tasks.end {
                return;
            }
            let list = lock(&progress).spare.pop().unwrap_or_default();
            let mut sink = Sink::of_task(k, &progress, list);
            task(k, worker, &mut sink);
            let mut placed = lock(&progress).end(k, sink);
            for (list, to) in &mut placed {
                to.copy_from_slice(list.found());
            }
            if !placed.is_empty() {
                lock(&progress).spare.extend(placed.into_iter().map(|(list, _)| list));
            }
        }
    });
    let Progress { free, waiting, spare: left, .. } =
        progress.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut len = len + room - free.len();
    *spare = left;
    let total: usize = waiting.values().map(|list| list.count).sum();
    pairs.resize(pairs.len().max(len + total), [0; 2]);
    let mut free = &mut pairs[len..len + total];
    let mut placed: Vec<Placed<'_>> = Vec::with_capacity(waiting.len());
    for list in waiting.into_values() {
        let to = split(&mut free, list.count);
        placed.push((list, to));
    }
    parallel::for_each_chunk(&mut placed, 1, |_, one| {
        one.iter_mut().for_each(|(list, to)| to.copy_from_slice(list.found()));
    });
    spare.extend(placed.into_iter().map(|(list, _)| list));
    len += total;
    len
}

impl<'p> Progress<'p> {
    /// Takes note that a task is done; returns the lists that have a place by now, which are to be copied there.
    fn end(&mut self, task: usize, sink: Sink<'_, 'p>) -> Vec<Placed<'p>> {
        let list = List { pairs: sink.list, count: sink.count };
        if sink.is_placed {
            self.free = sink.place;
            split(&mut self.free, list.count);
            self.spare.push(list);
            self.next += 1;
        } else {
            self.waiting.insert(task, list);
        }
        let mut placed = Vec::new();
        while !self.is_full
            && let Some(list) = self.waiting.remove(&self.next)
        {
            if list.count > self.free.len() {
                self.is_full = true;
                self.waiting.insert(self.next, list);
                break;
            }
            let to = split(&mut self.free, list.count);
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

    /// Lists of different lengths, some empty and some of many pieces, whatever the room of the last frame and the
    /// number of threads.
    #[test]
    fn lists_stand_in_the_order_of_their_tasks() {
        let length = |task: usize| task * 7919 % 13 * if task % 17 == 3 { PIECE / 2 } else { 1 };
        let of = |task: usize| (0..length(task) as u32).map(move |k| [task as u32, k]);
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (mut spare, mut pairs, mut workers) = (Vec::new(), Vec::new(), vec![0; threads]);
            let put = |task: usize, done: &mut usize, sink: &mut Sink<'_, '_>| {
                *done += 1;
                for pair in of(task) {
                    sink.reserve(1);
                    let at = sink.count();
                    sink.slots()[at] = pair;
                    sink.set_count(at + 1);
                }
            };
            let counts = [0, 1, 2, ROUND - 1, 3 * ROUND + 5, 700, 30, 700, 700, 699];
            for count in counts {
                pool.install(|| gather(count, &mut workers, &mut spare, &mut pairs, put));
                assert!(
                    pairs.iter().copied().eq((0..count).flat_map(of)),
                    "{count} tasks, {threads} threads"
                );
                assert!(spare.len() <= KEPT * threads);
            }
            assert_eq!(workers.iter().sum::<usize>(), counts.iter().sum::<usize>());
        }
    }
}
