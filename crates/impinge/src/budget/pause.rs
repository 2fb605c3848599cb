//! Where the thread of a search sleeps between two calls.

use std::any::Any;
use std::fmt;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Budget;
use super::hand_over::{HandOver, hand_over_at, stored};

/// What a search leaves: of any type, which its caller knows.
pub(super) type Left = Box<dyn Any + Send>;

/// How long after the deadline a caller waits for the search to pause and report how far it is; a later report is
/// read by the next call.
const GRACE: Duration = Duration::from_micros(200);

/// How long a caller without a deadline sleeps at a time.
const LONG: Duration = Duration::from_secs(3600);

/// How long before its deadline a caller stops sleeping and polls: schedulers wake a thread up to some ticks late.
const POLL: Duration = Duration::from_millis(10);

/// Callers that poll now. Each keeps a core busy beside its search, so at most half of the cores may.
static POLLING: AtomicUsize = AtomicUsize::new(0);

/// Between a caller, who grants units or time, and the search, which sleeps when they are used up.
#[derive(Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
    /// Whether the search rests or has ended, for callers that poll.
    paused: AtomicBool,
    /// When something that is built in one go makes room for the caller.
    hand_over: HandOver,
}

#[derive(Default)]
struct State {
    /// Units and deadline that the search has not taken yet.
    granted: Option<(u64, Option<Instant>)>,
    resting: bool,
    /// The search has taken a grant before.
    has_begun: bool,
    /// Nobody waits any more.
    closed: bool,
    so_far: Option<Left>,
    ended: Option<thread::Result<Left>>,
    /// What the search had when it last rested.
    units: u64,
    spent: u64,
    updates: u64,
}

/// What a caller learns about a search.
pub(super) struct Heard {
    /// The answer, or the panic that the search ended with.
    pub ended: Option<thread::Result<Left>>,
    /// What it has found so far.
    pub so_far: Option<Left>,
    /// Units it has spent from its beginning, and those of them that went into building something.
    pub spent: u64,
    pub updates: u64,
}

impl Gate {
    /// Waits for the first grant; `None` when there will be none.
    pub fn enter(self: &Arc<Gate>) -> Option<Budget> {
        let mut budget = Budget { gate: Some(self.clone()), ..Budget::units(0) };
        hand_over_at(&self.hand_over);
        self.rest(&mut budget, None).then_some(budget)
    }

    /// On the thread of the search: waits for a grant; false when there will be none.
    pub fn rest(&self, budget: &mut Budget, so_far: Option<Left>) -> bool {
        let mut state = self.lock();
        (state.units, state.spent, state.updates) = (budget.units, budget.spent, budget.updates);
        // A caller whose deadline passed may have come again meanwhile.
        if state.granted.is_none() {
            state.resting = true;
            // What was left before lasts where there is nothing newer.
            state.so_far = so_far.or_else(|| state.so_far.take());
            self.tell_caller();
        }
        while !state.closed {
            if let Some((units, deadline)) = state.granted.take() {
                state.has_begun = true;
                (budget.units, budget.deadline, budget.fresh) = (units, deadline, deadline.is_some());
                if deadline.is_some() {
                    // The caller may poll from now on.
                    self.changed.notify_all();
                }
                return true;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        // Whatever it draws from now on is refused.
        (budget.units, budget.deadline, budget.fresh) = (0, None, false);
        false
    }

    /// On the thread of the search: what a caller is told who leaves before the search rests.
    pub fn leave(&self, so_far: Left) {
        self.lock().so_far = Some(so_far);
    }

    /// On the thread of the search: tells its end.
    pub fn end(&self, budget: &Budget, ended: thread::Result<Left>) {
        let mut state = self.lock();
        (state.units, state.spent, state.updates) = (budget.units, budget.spent, budget.updates);
        state.ended = Some(ended);
        self.tell_caller();
    }

    /// On the caller's thread: grants the budget, and waits until the search ends or rests, or shortly beyond the
    /// deadline.
    pub fn grant(&self, budget: &mut Budget) -> Heard {
        let mut state = self.lock();
        let before = state.spent;
        state.granted = Some((budget.units, budget.deadline));
        // What the search left after the last caller had gone.
        let late = state.so_far.take();
        // In the middle of something long, which the last caller did not wait for.
        let is_busy = state.has_begun && !state.resting;
        state.resting = false;
        self.hand_over.store(stored(budget.deadline), Ordering::Relaxed);
        self.paused.store(state.ended.is_some(), Ordering::Relaxed);
        self.changed.notify_all();
        let latest = budget.deadline.and_then(|deadline| deadline.checked_add(GRACE));
        while state.ended.is_none() && !state.resting {
            // Without a deadline as long as it takes.
            let left = latest.map_or(LONG, |latest| latest.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                break;
            }
            let asleep = left.saturating_sub(POLL);
            // Polling before the search runs could keep it from the core that it is to wake up on.
            let polls = asleep.is_zero() && (is_busy || state.granted.is_none());
            if let Some(latest) = latest.filter(|_| polls)
                && let Some(_place) = Place::take()
            {
                drop(state);
                self.poll(latest);
                state = self.lock();
                break;
            }
            let woken = self.changed.wait_timeout(state, if asleep.is_zero() { left } else { asleep });
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        if budget.units != u64::MAX {
            budget.units = if state.ended.is_some() { state.units.min(budget.units) } else { 0 };
        }
        budget.spent += state.spent - before;
        budget.fresh = false;
        let (ended, so_far) = (state.ended.take(), state.so_far.take().or(late));
        Heard { ended, so_far, spent: state.spent, updates: state.updates }
    }

    /// Nobody will grant more.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// The search rests or has ended.
    fn tell_caller(&self) {
        self.paused.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Waits without sleeping.
    fn poll(&self, latest: Instant) {
        while !self.paused.load(Ordering::Relaxed) && Instant::now() < latest {
            spin_loop();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place among those that poll.
struct Place;

impl Place {
    /// `None` where all are taken, and on a single core.
    fn take() -> Option<Place> {
        static PLACES: OnceLock<usize> = OnceLock::new();
        let places =
            *PLACES.get_or_init(|| thread::available_parallelism().map_or(0, |cores| cores.get() / 2));
        // The place is given back where it was one too many.
        let place = Place;
        (POLLING.fetch_add(1, Ordering::Relaxed) < places).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        POLLING.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gate")
    }
}
