//! A hint to the system: memory that is read here and there is better in large pages, of which the processor knows
//! where they are without asking the page tables, which takes as long as the memory itself.

use crate::budget::hand_over::checkpoint;

/// Bytes that are copied between two checkpoints.
const COPIED: usize = 1 << 18;

/// An empty list with room for so many items, in large pages where Linux gives them to those who ask.
pub(crate) fn room_in_large_pages<T>(count: usize) -> Vec<T> {
    let mut room = Vec::with_capacity(count);
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    advise(room.spare_capacity_mut());
    room
}

/// The same items in memory of their size, in large pages where Linux gives them to those who ask.
pub(crate) fn in_large_pages<T: Copy>(items: Vec<T>) -> Vec<T> {
    let mut moved = room_in_large_pages(items.len());
    for part in items.chunks((COPIED / size_of::<T>().max(1)).max(1)) {
        checkpoint();
        moved.extend_from_slice(part);
    }
    release(items);
    moved
}

/// Bytes that are given back at once.
const RELEASED: usize = 4 << 20;

/// Gives memory back in parts: while much is given back at once, the system lets no other thread ask for any.
pub(crate) fn release<T: Copy>(mut items: Vec<T>) {
    let part = (RELEASED / size_of::<T>().max(1)).max(1);
    while items.len() > part {
        checkpoint();
        items.truncate(items.len() - part);
        items.shrink_to_fit();
    }
}

/// Only memory that was not touched yet gets large pages at once.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn advise<T>(memory: &mut [std::mem::MaybeUninit<T>]) {
    use std::ffi::{c_int, c_void};

    unsafe extern "C" {
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    const MADV_HUGEPAGE: c_int = 14;
    const PAGE: usize = 4096;
    /// Smaller memory holds no large page.
    const LARGE_PAGE: usize = 2 << 20;

    let length = size_of_val(memory);
    let first = memory.as_mut_ptr().cast::<u8>();
    let skipped = first.align_offset(PAGE);
    if length < LARGE_PAGE + skipped {
        return;
    }
    let whole = (length - skipped) / PAGE * PAGE;
    // SAFETY: the pages lie within memory that is ours alone, and the advice changes nothing of what they hold. Where
    // it is not taken the memory is as good as without.
    unsafe { madvise(first.wrapping_add(skipped).cast(), whole, MADV_HUGEPAGE) };
}

#[cfg(test)]
mod tests {
    use super::{in_large_pages, release};

    #[test]
    fn items_stay_as_they_are() {
        for count in [0, 1, 1000, 3 << 20] {
            let items: Vec<u32> = (0..count).collect();
            assert_eq!(in_large_pages(items.clone()), items);
            release(items);
        }
    }
}
