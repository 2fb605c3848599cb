//! What is open in a search, the earliest first.

use std::cmp::Ordering;

/// Something that cannot meet before a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimedEntry<T> {
    /// Before it nothing meets.
    pub time: f64,
    /// Of equally early ones the one with the larger number comes first: it lies deeper.
    pub number: u32,
    /// What it is.
    pub what: T,
}

impl<T> PartialEq for TimedEntry<T> {
    fn eq(&self, other: &TimedEntry<T>) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for TimedEntry<T> {}

impl<T> Ord for TimedEntry<T> {
    /// The earlier is greater: a heap hands out the greatest.
    fn cmp(&self, other: &TimedEntry<T>) -> Ordering {
        other.time.total_cmp(&self.time).then(self.number.cmp(&other.number))
    }
}

impl<T> PartialOrd for TimedEntry<T> {
    fn partial_cmp(&self, other: &TimedEntry<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BinaryHeap;

    use super::*;

    #[test]
    fn the_earliest_comes_first_and_of_equals_the_last_found() {
        let entry = |time: f64, number: u32| TimedEntry { time, number, what: () };
        let mut heap: BinaryHeap<_> = [entry(0.5, 1), entry(0.25, 2), entry(0.25, 7), entry(0.75, 9)].into();
        let order: Vec<u32> = std::iter::from_fn(|| heap.pop()).map(|entry| entry.number).collect();
        assert_eq!(order, [7, 2, 1, 9]);
    }
}
