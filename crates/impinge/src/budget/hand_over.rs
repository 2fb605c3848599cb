//! How something long that is built in one go lets the caller who waits for it leave in time.
//!
//! The caller wakes up or polls by itself, but a scheduler may let it share a core with the build and wait for its
//! turn, some milliseconds. So the build looks at the clock now and then; once the caller's deadline has passed it
//! sleeps for a moment, then goes on in the background.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// How long a build sleeps after the deadline: long enough for the caller to get the core.
const PAUSE: Duration = Duration::from_micros(100);

/// When a build hands its core over, shared by its thread and the caller: nanoseconds of [`since_start`], 0 for never.
pub(crate) type HandOver = Arc<AtomicU64>;

thread_local! {
    static AT: RefCell<Option<HandOver>> = const { RefCell::new(None) };
}

/// What is built on this thread hands over at the time that is stored there.
pub(crate) fn hand_over_at(at: &HandOver) {
    AT.set(Some(at.clone()));
}

/// A deadline as it is stored.
pub(crate) fn stored(deadline: Option<Instant>) -> u64 {
    deadline.map_or(0, |deadline| since_start(deadline).max(1))
}

/// Whether a caller may wait for what this thread builds, so that checkpoints have a meaning.
pub(crate) fn is_waited_for() -> bool {
    AT.with_borrow(Option::is_some)
}

/// To be called about every tenth of a millisecond by what is built.
#[inline]
pub(crate) fn checkpoint() {
    AT.with_borrow(|at| {
        if let Some(at) = at {
            look(at);
        }
    });
}

#[cold]
fn look(at: &AtomicU64) {
    let deadline = at.load(Ordering::Relaxed);
    if deadline != 0 && since_start(Instant::now()) >= deadline {
        // Once for each deadline; a new one may have come meanwhile.
        _ = at.compare_exchange(deadline, 0, Ordering::Relaxed, Ordering::Relaxed);
        thread::sleep(PAUSE);
    }
}

/// Nanoseconds since the first call.
fn since_start(instant: Instant) -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let elapsed = instant.saturating_duration_since(*START.get_or_init(Instant::now));
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_pauses_once_after_the_deadline() {
        let at = HandOver::default();
        let own = at.clone();
        let passed = thread::spawn(move || {
            hand_over_at(&own);
            checkpoint();
            own.store(stored(Some(Instant::now() + Duration::from_secs(60))), Ordering::Relaxed);
            checkpoint();
            let early = own.load(Ordering::Relaxed) != 0;
            own.store(stored(Some(Instant::now())), Ordering::Relaxed);
            thread::sleep(Duration::from_millis(1));
            checkpoint();
            early && own.load(Ordering::Relaxed) == 0
        });
        assert!(passed.join().unwrap());
    }
}
