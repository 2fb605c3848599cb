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

/// Runs something and counts what all threads take from the heap meanwhile; only one call at a time.
pub fn taken_by<R>(run: impl FnOnce() -> R) -> (R, Taken) {
    HEAP.taken_by(run)
}

/// Waits until nothing has changed for a while: what a budget stopped ends on its own thread.
pub fn settle() {
    const STEP: Duration = Duration::from_millis(100);
    let mut before = None;
    for _ in 0..100 {
        let now = Some(HEAP.now.load(Ordering::SeqCst));
        if now == before {
            return;
        }
        before = now;
        thread::sleep(STEP);
    }
}

struct Heap {
    counts: AtomicBool,
    now: AtomicIsize,
    peak: AtomicIsize,
}

#[global_allocator]
static HEAP: Heap = Heap::new();

impl Heap {
    const fn new() -> Self {
        Self { counts: AtomicBool::new(false), now: AtomicIsize::new(0), peak: AtomicIsize::new(0) }
    }

    fn taken_by<R>(&self, run: impl FnOnce() -> R) -> (R, Taken) {
        self.now.store(0, Ordering::SeqCst);
        self.peak.store(0, Ordering::SeqCst);
        self.counts.store(true, Ordering::SeqCst);
        let found = run();
        self.counts.store(false, Ordering::SeqCst);
        (found, Taken { peak: self.peak.load(Ordering::SeqCst), kept: self.now.load(Ordering::SeqCst) })
    }

    fn changed(&self, bytes: isize) {
        if self.counts.load(Ordering::Relaxed) {
            let now = self.now.fetch_add(bytes, Ordering::Relaxed) + bytes;
            if bytes > 0 {
                self.peak.fetch_max(now, Ordering::Relaxed);
            }
        }
    }
}

// SAFETY: every request goes to the system's allocator as it came, and counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.changed(layout.size() as isize);
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.changed(layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.changed(-(layout.size() as isize));
        // SAFETY: as above; every block came from the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.changed(size as isize - layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a heap of its own: the other tests of this program, which run meanwhile, take from the global one.
    #[test]
    fn the_peak_and_what_is_kept() {
        let heap = Heap::new();
        let bytes = |size| Layout::from_size_align(size, 8).unwrap();
        let ((), taken) = heap.taken_by(|| {
            // SAFETY: no size is zero, and every block is given back, or resized, once with the layout it has.
            unsafe {
                let large = heap.alloc(bytes(5_000_000));
                let grown = heap.realloc(heap.alloc_zeroed(bytes(600_000)), bytes(600_000), 1_000_000);
                heap.dealloc(large, bytes(5_000_000));
                System.dealloc(grown, bytes(1_000_000));
            }
        });
        assert_eq!(taken, Taken { peak: 6_000_000, kept: 1_000_000 });
        // SAFETY: as above.
        unsafe { heap.dealloc(heap.alloc(bytes(64)), bytes(64)) };
        assert_eq!(heap.now.load(Ordering::SeqCst), 1_000_000, "nobody counts any more");
    }

    #[test]
    fn what_a_vector_takes_is_counted() {
        let (kept, taken) = taken_by(|| vec![0_u8; 1 << 30]);
        assert!(taken.peak >= 1 << 29 && kept.len() == 1 << 30, "{taken:?}");
    }
}
