//! A stack of a known most, in place and never cleared: a search that is over in a hundred nanoseconds has no time for
//! more.

use std::mem::MaybeUninit;

/// Up to `MOST` numbers.
pub(crate) struct FixedStack<T, const MOST: usize> {
    items: [MaybeUninit<T>; MOST],
    /// So many of the items, from the first on, were written.
    len: usize,
}

impl<T: Copy, const MOST: usize> FixedStack<T, MOST> {
    /// Nothing yet.
    #[inline(always)]
    pub fn new() -> Self {
        FixedStack { items: [const { MaybeUninit::uninit() }; MOST], len: 0 }
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// One more; there must be room.
    #[inline(always)]
    pub fn push(&mut self, item: T) {
        self.items[self.len].write(item);
        self.len += 1;
    }

    /// The last one.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        let last = self.len.checked_sub(1)?;
        self.len = last;
        // SAFETY: all items below the length were written, and this one stood below it.
        Some(unsafe { self.items[last].assume_init() })
    }

    /// The items that were pushed since there were so many.
    #[inline(always)]
    pub fn since(&mut self, len: usize) -> &mut [T] {
        let some = &mut self.items[len..self.len];
        // SAFETY: all items below the length were written, and an item that may be unwritten is laid out as one that
        // is.
        unsafe { &mut *(std::ptr::from_mut(some) as *mut [T]) }
    }
}

#[cfg(test)]
mod tests {
    use super::FixedStack;

    #[test]
    fn what_came_last_goes_first() {
        let mut stack = FixedStack::<u64, 8>::new();
        (0..8).for_each(|i| stack.push(i));
        stack.since(5).reverse();
        let popped: Vec<u64> = std::iter::from_fn(|| stack.pop()).collect();
        assert_eq!(popped, [5, 6, 7, 4, 3, 2, 1, 0]);
        assert_eq!(stack.len(), 0);
    }
}
