//! Sharing the short stages of one question between threads that stay awake from the first stage to the last.
//!
//! A thread of the pool that finds no work falls asleep within some hundredths of a millisecond, and takes as long again
//! to wake up: more than a stage of a small question takes. So one more thread attends such a question until it is
//! answered, and whoever waits for the other half of a stage looks for work meanwhile. Both take up any work of the
//! pool, so that nobody else loses by it, and both go back to sleep as usual where nothing comes for long.

#[cfg(feature = "parallel")]
use std::sync::atomic::{AtomicUsize, Ordering};
#[cfg(feature = "parallel")]
use std::sync::{Mutex, PoisonError};

use super::parallel;
#[cfg(feature = "parallel")]
use super::shared_range::join;
#[cfg(feature = "parallel")]
pub(super) use attendance::attend;
#[cfg(feature = "parallel")]
use attendance::{State, attending, is_attending, wait_for};

/// Answers a question, attended by one more thread of the pool.
pub fn attended<R: Send>(answer: impl FnOnce() -> R + Send) -> R {
    #[cfg(feature = "parallel")]
    if parallel::threads() > 1 && !is_attending() {
        let state = State::default();
        let question = || {
            let _end = state.begin();
            attending(answer)
        };
        // A thread that answers or attends already would wait for itself.
        let attendance = || {
            if !is_attending() {
                attending(|| attend(|| state.has_ended()));
            }
        };
        return join(|_| question(), |_| attendance()).0;
    }
    answer()
}

/// Runs both, on two threads if `worth` it.
pub fn join_if<A: Send, B: Send>(
    worth: bool,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    #[cfg(feature = "parallel")]
    if worth && parallel::threads() > 1 {
        let state = State::default();
        let first = || {
            let found = a();
            attend(|| !state.is_under_way());
            found
        };
        let second = || {
            let _end = state.begin();
            b()
        };
        return join(|_| first(), |_| second());
    }
    parallel::join_if(worth, a, b)
}

/// `each` for 0..count, which may be of unequal work: threads take the next one in turn. The results are in order.
pub fn map<R: Send>(count: usize, each: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let shares = share(count, |own: &mut Vec<(usize, R)>, turn| own.push((turn, each(turn))), |_| ());
    let mut all: Vec<(usize, R)> = shares.into_iter().flatten().collect();
    all.sort_unstable_by_key(|(turn, _)| *turn);
    all.into_iter().map(|(_, found)| found).collect()
}

/// Calls `each` with 0..count, which may be of unequal work, and with what the thread has found so far: threads take the
/// next number in turn, and `finish` what they found. What each thread found, in no order.
pub fn share<S: Default + Send>(
    count: usize,
    each: impl Fn(&mut S, usize) + Sync,
    finish: impl Fn(&mut S) + Sync,
) -> Vec<S> {
    #[cfg(feature = "parallel")]
    if count > 1 && parallel::threads() > 1 {
        let next = AtomicUsize::new(0);
        return on_threads(parallel::threads().min(count), &|| {
            let mut found = S::default();
            let turns = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
            turns.take_while(|&turn| turn < count).for_each(|turn| each(&mut found, turn));
            finish(&mut found);
            vec![found]
        });
    }
    let mut found = S::default();
    (0..count).for_each(|turn| each(&mut found, turn));
    finish(&mut found);
    vec![found]
}

/// Works off a search of unknown extent. Every thread calls `step` with what it has found so far and its part until that
/// says that nothing is left of it; who has nothing left is given half of another's part. `decide` is called where a
/// thread runs out of work, at least once at the end. What each thread found, in no order.
pub fn share_search<W: Send, S: Default + Send>(
    whole: W,
    step: impl Fn(&mut S, &mut W) -> bool + Sync,
    halve: impl Fn(&mut W) -> Option<W> + Sync,
    decide: impl Fn(&mut S) + Sync,
) -> Vec<S> {
    #[cfg(feature = "parallel")]
    if parallel::threads() > 1 {
        let parts = Parts::of(whole, &halve);
        return on_threads(parallel::threads(), &|| {
            let mut found = S::default();
            loop {
                while let Some(mut own) = parts.take() {
                    while step(&mut found, &mut own) {
                        parts.offer(|| halve(&mut own));
                    }
                    parts.end();
                }
                decide(&mut found);
                if !parts.wait() {
                    return vec![found];
                }
            }
        });
    }
    let _ = halve;
    let (mut found, mut whole) = (S::default(), whole);
    while step(&mut found, &mut whole) {}
    decide(&mut found);
    vec![found]
}

/// Parts of a search that threads give each other.
#[cfg(feature = "parallel")]
struct Parts<W> {
    offered: Mutex<Vec<W>>,
    /// How many are offered.
    count: AtomicUsize,
    /// Parts that are offered or worked on: at 0 the search has ended.
    open: AtomicUsize,
    /// Threads that have nothing to do.
    waiting: AtomicUsize,
}

#[cfg(feature = "parallel")]
impl<W> Parts<W> {
    /// Two halves to begin with, so that nobody has to ask for the first.
    fn of(mut whole: W, halve: impl Fn(&mut W) -> Option<W>) -> Parts<W> {
        let half = halve(&mut whole);
        let offered: Vec<W> = half.into_iter().chain([whole]).collect();
        let [count, open] = [offered.len(); 2].map(AtomicUsize::new);
        Parts { offered: Mutex::new(offered), count, open, waiting: AtomicUsize::new(0) }
    }

    fn take(&self) -> Option<W> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let part = self.offered.lock().unwrap_or_else(PoisonError::into_inner).pop();
        self.count.fetch_sub(usize::from(part.is_some()), Ordering::Relaxed);
        part
    }

    /// Offers something, if anybody waits for it.
    #[inline]
    fn offer(&self, halve: impl FnOnce() -> Option<W>) {
        if self.waiting.load(Ordering::Relaxed) > self.count.load(Ordering::Relaxed)
            && let Some(half) = halve()
        {
            self.open.fetch_add(1, Ordering::Relaxed);
            self.offered.lock().unwrap_or_else(PoisonError::into_inner).push(half);
            self.count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A part has been worked off.
    fn end(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// Waits until a part is offered, the search has ended or nothing has come for long; whether one is offered.
    fn wait(&self) -> bool {
        let is_offered = || self.count.load(Ordering::Relaxed) > 0;
        self.waiting.fetch_add(1, Ordering::Relaxed);
        wait_for(|| is_offered() || self.open.load(Ordering::Relaxed) == 0, || false);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        is_offered()
    }
}

/// What `run` returns on several threads.
#[cfg(feature = "parallel")]
pub(super) fn on_threads<R: Send>(threads: usize, run: &(impl Fn() -> Vec<R> + Sync)) -> Vec<R> {
    if threads <= 1 {
        return run();
    }
    let half = threads / 2;
    let (mut all, more) = join_if(true, || on_threads(threads - half, run), || on_threads(half, run));
    all.extend(more);
    all
}

#[cfg(feature = "parallel")]
mod attendance {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU8, Ordering};
    use std::time::{Duration, Instant};

    /// How long a thread looks for work in vain before it goes to sleep: longer than most stages that cannot be shared.
    const PATIENCE: Duration = Duration::from_micros(500);

    /// How often it looks in vain before it looks at the clock and offers its core to others.
    const LOOKS: u32 = 64;

    thread_local! {
        static ATTENDS: Cell<bool> = const { Cell::new(false) };
    }

    /// Whether this thread answers or attends a question: what it takes up meanwhile gets no attendance of its own, so
    /// that waiting is not nested.
    pub(super) fn is_attending() -> bool {
        ATTENDS.get()
    }

    /// Runs something on a thread that gives no attendance to what it takes up meanwhile.
    pub(super) fn attending<R>(run: impl FnOnce() -> R) -> R {
        /// As before, also after a panic.
        struct Restore(bool);
        impl Drop for Restore {
            fn drop(&mut self) {
                ATTENDS.set(self.0);
            }
        }
        let _restore = Restore(ATTENDS.replace(true));
        run()
    }

    /// Takes up work of the pool until something is over, or until there has been none for long.
    pub(in crate::num) fn attend(is_over: impl Fn() -> bool) {
        wait_for(is_over, || rayon::yield_now() == Some(rayon::Yield::Executed));
    }

    /// Waits until something is over, or until there has been no other work for long; `work` says whether there was some.
    pub(super) fn wait_for(is_over: impl Fn() -> bool, work: impl Fn() -> bool) {
        let (mut looks, mut since) = (0_u32, None);
        while !is_over() {
            if work() {
                (looks, since) = (0, None);
                continue;
            }
            std::hint::spin_loop();
            looks += 1;
            if looks == LOOKS {
                looks = 0;
                if since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                    return;
                }
                std::thread::yield_now();
            }
        }
    }

    const BEGUN: u8 = 1;
    const ENDED: u8 = 2;

    /// How far a piece of work has come that another thread may have taken up.
    #[derive(Default)]
    pub(super) struct State(AtomicU8);

    impl State {
        pub(super) fn is_under_way(&self) -> bool {
            self.0.load(Ordering::Acquire) == BEGUN
        }

        pub(super) fn has_ended(&self) -> bool {
            self.0.load(Ordering::Acquire) == ENDED
        }

        /// It begins now, and ends where the result is dropped.
        pub(super) fn begin(&self) -> End<'_> {
            self.0.store(BEGUN, Ordering::Release);
            End(self)
        }
    }

    /// The end of a piece of work, also after a panic.
    pub(super) struct End<'s>(&'s State);

    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.0.store(ENDED, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// Stages within stages, of unequal work.
    fn sums(depth: u32) -> Vec<u64> {
        let work = |k: u64| (0..k % 7 * 1000).fold(k, |sum, i| sum.wrapping_mul(31).wrapping_add(i));
        let mut all = map(50, |k| work(k as u64 + u64::from(depth)));
        if depth > 0 {
            let (a, b) = join_if(true, || sums(depth - 1), || attended(|| sums(depth - 1)));
            all.extend(a.into_iter().chain(b));
        }
        all
    }

    #[test]
    fn threads_change_nothing() {
        let alone = parallel::alone(|| sums(4));
        for _ in 0..20 {
            assert_eq!(attended(|| sums(4)), alone);
        }
        assert_eq!(sums(4), alone);
        assert!(map(0, |k| k).is_empty());
    }

    #[test]
    fn a_search_is_worked_off_once_on_any_number_of_threads() {
        // The numbers below some bounds, each of which is halved until it is small.
        let step = |found: &mut Vec<u64>, part: &mut Vec<std::ops::Range<u64>>| {
            match part.pop() {
                Some(range) if range.end - range.start > 3 => {
                    let middle = range.start.midpoint(range.end);
                    part.extend([range.start..middle, middle..range.end]);
                }
                Some(range) => found.extend(range),
                None => {}
            }
            !part.is_empty()
        };
        let halve = |part: &mut Vec<std::ops::Range<u64>>| {
            let half = part.len() / 2;
            (half > 0).then(|| part.drain(..half).collect())
        };
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for count in [0, 1, 10, 5_000] {
                let shares = pool.install(|| {
                    attended(|| {
                        share_search(std::iter::once(0..count).collect(), step, halve, |found| {
                            found.sort_unstable()
                        })
                    })
                });
                assert!(shares.iter().all(|found| found.is_sorted()));
                let mut all = shares.concat();
                all.sort_unstable();
                assert_eq!(all, (0..count).collect::<Vec<u64>>());
            }
        }
    }

    #[test]
    fn a_panic_ends_the_question() {
        let panics = |of: u32| {
            let question = || attended(|| join_if(true, || assert_ne!(of, 0), || assert_ne!(of, 1)));
            catch_unwind(AssertUnwindSafe(question)).is_err()
        };
        assert_eq!([0, 1, 2].map(panics), [true, true, false]);
        assert_eq!(attended(|| 7), 7);
    }
}
