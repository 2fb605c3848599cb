//! A stack of a known most, in place and never cleared: a search that is over in a hundred nanoseconds has no time for
//! more.

use std::mem::MaybeUninit;

/// Memory for up to `MOST` items. It is apart from the stack, so that how many there are is kept in a register.
pub(crate) struct Room<T, const MOST: usize>([MaybeUninit<T>; MOST]);

impl<T: Copy, const MOST: usize> Room<T, MOST> {
    #[inline(always)]
    pub fn new() -> Self {
        Room([const { MaybeUninit::uninit() }; MOST])
    }
}

/// Up to `MOST` items.
pub(crate) struct FixedStack<'r, T, const MOST: usize> {
    items: &'r mut [MaybeUninit<T>; MOST],
    /// So many of the items, from the first on, were written.
    len: usize,
}

impl<'r, T: Copy, const MOST: usize> FixedStack<'r, T, MOST> {
    /// Nothing yet.
    #[inline(always)]
    pub fn within(room: &'r mut Room<T, MOST>) -> Self {
        FixedStack { items: &mut room.0, len: 0 }
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

    /// All items; nothing is left.
    #[inline(always)]
    pub fn taken(&mut self) -> FixedStack<'_, T, MOST> {
        FixedStack { len: std::mem::take(&mut self.len), items: self.items }
    }
}

#[cfg(test)]
mod tests {
    use super::{FixedStack, Room};

    #[test]
    fn what_came_last_goes_first() {
        let mut room = Room::<u64, 8>::new();
        let mut stack = FixedStack::within(&mut room);
        (0..8).for_each(|i| stack.push(i));
        stack.since(5).reverse();
        let mut taken = stack.taken();
        let popped: Vec<u64> = std::iter::from_fn(|| taken.pop()).collect();
        assert_eq!(popped, [5, 6, 7, 4, 3, 2, 1, 0]);
        assert_eq!((taken.len(), stack.len()), (0, 0));
    }
}
