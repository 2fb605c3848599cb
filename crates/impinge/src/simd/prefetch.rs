//! A hint to the processor. Lists of a frame are larger than the near caches, and hardware finds out anew on
//! every page that it is read in order.

/// Asks for memory that is read soon.
#[inline(always)]
pub(crate) fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = std::ptr::from_ref(item).cast::<i8>();
        // SAFETY: a hint, which reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(first) };
        // What is no larger than its alignment lies in one line.
        if size_of::<T>() > align_of::<T>() {
            // SAFETY: as above.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(size_of::<T>() - 1)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}

/// Asks for the first lines of a list, and for what follows where it is shorter: without a branch that would wait for its
/// length.
#[inline(always)]
pub(crate) fn prefetch_lines<const LINES: usize, T>(items: &[T]) {
    prefetch_from::<LINES>(items.as_ptr().cast());
}

/// Asks for lines from an address on, which may lie anywhere: nothing waits for what is found there.
#[inline(always)]
pub(crate) fn prefetch_from<const LINES: usize>(first: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        for line in 0..LINES {
            // SAFETY: a hint, which reads nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(first.cast::<i8>().wrapping_add(64 * line)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = first;
}

/// Asks for all lines of something large.
#[inline(always)]
pub(crate) fn prefetch_whole<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = std::ptr::from_ref(item).cast::<i8>();
        for at in (0..size_of::<T>()).step_by(64) {
            // SAFETY: a hint, which reads nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(at)) };
        }
    }
    // Its last line, where it does not begin with one.
    prefetch(item);
}
