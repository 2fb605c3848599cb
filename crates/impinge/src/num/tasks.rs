//! The tasks of one question, of which each needs what a few others leave: threads take whichever is ready, and meet once.
//!
//! Stages that end with a meeting of all threads (`stages`) leave a thread idle wherever a stage cannot be cut into equal
//! parts.

#[cfg(feature = "parallel")]
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

#[cfg(feature = "parallel")]
use super::parallel;
#[cfg(feature = "parallel")]
use super::stages::{attend, on_threads};
use crate::budget::hand_over::checkpoint;

/// A step of a question that needs what others leave.
pub struct Task<'t> {
    /// The tasks that it runs after, a bit for each; all of them come before it.
    after: u32,
    run: &'t (dyn Fn(usize) + Sync),
    /// What it is called with.
    of: usize,
}

impl<'t> Task<'t> {
    /// A task that calls `run` with a number, after others that are named by their places.
    pub fn new(run: &'t (dyn Fn(usize) + Sync), of: usize, after: &[usize]) -> Task<'t> {
        Task { after: after.iter().fold(0, |set, other| set | 1 << other), run, of }
    }

    fn run(&self) {
        (self.run)(self.of);
    }
}

/// At most 31 tasks that wait for each other and for nothing else: threads take whichever is ready, and meet again only
/// when all are done.
pub struct Tasks<'t> {
    all: &'t [Task<'t>],
    /// How many have been run by earlier calls.
    begin: usize,
}

impl<'t> Tasks<'t> {
    /// The first ones are the most urgent.
    pub fn new(all: &'t [Task<'t>]) -> Tasks<'t> {
        let is_ordered = all.iter().enumerate().all(|(n, task)| task.after >> n == 0);
        debug_assert!(is_ordered && all.len() < PANICKED.trailing_zeros() as usize);
        Tasks { all, begin: 0 }
    }

    /// Runs those before `end` that have not been run yet, on several threads if `worth` it.
    pub fn run_until(&mut self, end: usize, worth: bool) {
        let begin = std::mem::replace(&mut self.begin, end);
        #[cfg(feature = "parallel")]
        if worth && parallel::threads() > 1 {
            let board = Board::new(self.all, begin, end);
            on_threads(parallel::threads().min(USEFUL), &|| {
                board.work();
                Vec::<()>::new()
            });
            return;
        }
        let _ = worth;
        for task in &self.all[begin..end] {
            checkpoint();
            task.run();
        }
    }
}

/// Stands among the tasks that are done when one of them has panicked; it is not the bit of a task.
const PANICKED: u32 = 1 << 31;

/// Threads that tasks of a question can keep busy: two surfaces, and little besides.
#[cfg(feature = "parallel")]
const USEFUL: usize = 4;

/// Which tasks are taken and which are done.
#[cfg(feature = "parallel")]
struct Board<'t> {
    all: &'t [Task<'t>],
    wanted: u32,
    taken: AtomicU32,
    done: AtomicU32,
}

#[cfg(feature = "parallel")]
impl<'t> Board<'t> {
    fn new(all: &'t [Task<'t>], begin: usize, end: usize) -> Board<'t> {
        let before = (1 << begin) - 1;
        let [taken, done] = [before; 2].map(AtomicU32::new);
        Board { all, wanted: (1 << end) - 1, taken, done }
    }

    /// Runs whatever is ready until all tasks are done.
    fn work(&self) {
        loop {
            let done = self.done.load(Ordering::Acquire);
            if done & PANICKED != 0 || done & self.wanted == self.wanted {
                return;
            }
            match self.take(done) {
                Some(task) => self.run(task),
                None => attend(|| self.done.load(Ordering::Acquire) != done),
            }
        }
    }

    /// The first task that is ready and that nobody else has taken.
    fn take(&self, done: u32) -> Option<usize> {
        let mut left = self.wanted & !self.taken.load(Ordering::Relaxed);
        while left != 0 {
            let task = left.trailing_zeros() as usize;
            left &= left - 1;
            let is_ready = self.all[task].after & !done == 0;
            if is_ready && self.taken.fetch_or(1 << task, Ordering::Relaxed) >> task & 1 == 0 {
                return Some(task);
            }
        }
        None
    }

    fn run(&self, task: usize) {
        /// Tells the others, also of a panic.
        struct End<'e>(&'e AtomicU32, u32);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                self.0.fetch_or(self.1, Ordering::Release);
            }
        }
        let mut end = End(&self.done, PANICKED);
        self.all[task].run();
        end.1 = 1 << task;
    }
}

/// What a task leaves for those that run after it.
pub struct Left<T>(OnceLock<T>);

impl<T> Left<T> {
    /// Nothing yet.
    pub const fn nothing() -> Left<T> {
        Left(OnceLock::new())
    }

    /// Leaves something, once.
    pub fn put(&self, what: T) {
        let is_first = self.0.set(what).is_ok();
        debug_assert!(is_first, "a task runs once");
    }

    /// What has been left.
    pub fn get(&self) -> &T {
        match self.0.get() {
            Some(what) => what,
            None => unreachable!("a task runs after those whose results it needs"),
        }
    }
}

/// What one task hands over to another, who changes it.
pub struct Handed<T>(Mutex<Option<T>>);

impl<T> Handed<T> {
    /// Nothing yet.
    pub const fn nothing() -> Handed<T> {
        Handed(Mutex::new(None))
    }

    /// Something from the start.
    pub fn of(what: T) -> Handed<T> {
        Handed(Mutex::new(Some(what)))
    }

    /// Hands something over.
    pub fn put(&self, what: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
    }

    /// Takes what has been handed over.
    pub fn take(&self) -> T {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(what) => what,
            None => unreachable!("a task runs once, after those whose results it needs"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn tasks_run_once_after_those_they_need() {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for _ in 0..100 {
                let (a, b, ab) = (Left::nothing(), Left::nothing(), Left::nothing());
                let (one, two) = (Handed::of(vec![1]), Handed::nothing());
                let first = |_| a.put(50);
                let second = |_| two.put([one.take(), vec![2]].concat());
                let third = |more| b.put(a.get() + more);
                let fourth = |_| ab.put((*b.get(), two.take()));
                let tasks = [
                    Task::new(&first, 0, &[]),
                    Task::new(&second, 0, &[]),
                    Task::new(&third, 1, &[0]),
                    Task::new(&fourth, 0, &[1, 2]),
                ];
                pool.install(|| {
                    let mut tasks = Tasks::new(&tasks);
                    tasks.run_until(2, true);
                    tasks.run_until(4, true);
                });
                assert_eq!(ab.get(), &(51, vec![1, 2]));
            }
        }
    }

    #[test]
    fn a_panic_ends_all_tasks() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for bad in 0..4 {
            let run = |k| assert_ne!(k, bad);
            let tasks = [(0, vec![]), (1, vec![]), (2, vec![0]), (3, vec![1, 2])]
                .map(|(k, after)| Task::new(&run, k, &after));
            let all = || pool.install(|| Tasks::new(&tasks).run_until(4, true));
            assert!(catch_unwind(AssertUnwindSafe(all)).is_err());
        }
    }
}
