//! Sharing the short stages of one question between threads that stay awake from the first stage to the last.
//!
//! A thread of the pool that finds no work falls asleep within some hundredths of a millisecond, and takes as long again
//! to wake up: more than a stage of a small question takes. So one more thread attends such a question until it is
//! answered, and whoever waits for the other half of a stage looks for work meanwhile. Both take up any work of the
//! pool, so that nobody else loses by it, and both go back to sleep as usual where nothing comes for long.

#[cfg(feature = "parallel")]
use std::sync::atomic::{AtomicUsize, Ordering};

use super::parallel;
#[cfg(feature = "parallel")]
use super::shared_range::join;
#[cfg(feature = "parallel")]
use attendance::{State, attend, attending, is_attending};

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

/// What `run` returns on several threads.
#[cfg(feature = "parallel")]
fn on_threads<R: Send>(threads: usize, run: &(impl Fn() -> Vec<R> + Sync)) -> Vec<R> {
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
    pub(super) fn attend(is_over: impl Fn() -> bool) {
        let (mut looks, mut since) = (0_u32, None);
        while !is_over() {
            if rayon::yield_now() == Some(rayon::Yield::Executed) {
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
    fn a_panic_ends_the_question() {
        let panics = |of: u32| {
            let question = || attended(|| join_if(true, || assert_ne!(of, 0), || assert_ne!(of, 1)));
            catch_unwind(AssertUnwindSafe(question)).is_err()
        };
        assert_eq!([0, 1, 2].map(panics), [true, true, false]);
        assert_eq!(attended(|| 7), 7);
    }
}
