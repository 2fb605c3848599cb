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

/// Bytes of a list that are asked for at most: more would drive each other out of the nearest cache.
const MOST_BYTES: usize = 8192;

/// Asks for a list that is read soon, as far as it makes sense.
#[inline]
pub(crate) fn prefetch_all<T>(items: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const LINE: usize = 64;
        let first = items.as_ptr().cast::<i8>();
        let bytes = size_of_val(items).min(MOST_BYTES);
        for at in (0..bytes).step_by(LINE) {
            // SAFETY: a hint, which reads nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(at)) };
        }
        // The list may end in one line more than it is long.
        // SAFETY: as above.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(bytes)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = items;
}
