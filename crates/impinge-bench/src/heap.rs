//! The bytes that a call has on the heap at its peak: a global allocator that counts while it is asked to.
//!
//! A request that changes the size of a block counts as the difference, as in other tools that count. While nothing is
//! counted, a request costs one look at a flag.

#![allow(unsafe_code, reason = "an allocator is a promise to the language; this one passes every request on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};
use std::thread;
use std::time::Duration;

/// What a call took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// At most at a time, beyond what there was before.
    pub peak: isize,
    /// When it returned.
    pub kept: isize,
}

static COUNTS: AtomicBool = AtomicBool::new(false);
static NOW: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

/// Runs something and counts what all threads take from the heap meanwhile; only one call at a time.
pub fn taken_by<R>(run: impl FnOnce() -> R) -> (R, Taken) {
    NOW.store(0, Ordering::SeqCst);
    PEAK.store(0, Ordering::SeqCst);
    COUNTS.store(true, Ordering::SeqCst);
    let found = run();
    COUNTS.store(false, Ordering::SeqCst);
    (found, Taken { peak: PEAK.load(Ordering::SeqCst), kept: NOW.load(Ordering::SeqCst) })
}

/// Waits until nothing has changed for a while: what a budget stopped ends on its own thread.
pub fn settle() {
    const STEP: Duration = Duration::from_millis(100);
    let mut before = None;
    for _ in 0..100 {
        let now = Some(NOW.load(Ordering::SeqCst));
        if now == before {
            return;
        }
        before = now;
        thread::sleep(STEP);
    }
}

struct Heap;

#[global_allocator]
static HEAP: Heap = Heap;

fn changed(bytes: isize) {
    if COUNTS.load(Ordering::Relaxed) {
        let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if bytes > 0 {
            PEAK.fetch_max(now, Ordering::Relaxed);
        }
    }
}

// SAFETY: every request goes to the system's allocator as it came, and counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        changed(layout.size() as isize);
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        changed(layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        changed(-(layout.size() as isize));
        // SAFETY: as above; every block came from the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        changed(size as isize - layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_and_what_is_kept() {
        let (kept, taken) = taken_by(|| {
            let large = vec![1_u8; 5_000_000];
            vec![large[17]; 1_000_000]
        });
        // Other tests may run meanwhile.
        assert!((5_900_000..8_000_000).contains(&taken.peak), "{taken:?}");
        assert!((900_000..3_000_000).contains(&taken.kept) && kept.len() == 1_000_000, "{taken:?}");
    }
}
