//! Stable sorts of which little is compiled, for lists that are short or rarely sorted.
//!
//! The sorts of the standard library are the fast ones for long lists; but each kind of item with each order
//! compiles to a dozen kilobytes, and a hundred of those are a sixth of a library.

use std::cmp::Ordering;

/// Sorts a handful of items, a dozen or so, by moving each to its place.
pub(crate) fn sort_few<T>(items: &mut [T], order: impl Fn(&T, &T) -> Ordering) {
    for end in 1..items.len() {
        let mut at = end;
        while at > 0 && order(&items[at - 1], &items[at]).is_gt() {
            items.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// Sorts any number of items outside of what has to be fast: every comparison is a call.
pub(crate) fn sort_rarely<T>(items: &mut [T], order: impl Fn(&T, &T) -> Ordering) {
    if items.len() < 2 {
        return;
    }
    let mut from = sorted_places(items.len(), &|i, j| order(&items[i], &items[j]));
    // Along each cycle of the permutation; a place that is done comes from itself.
    for start in 0..items.len() {
        let mut at = start;
        loop {
            let next = std::mem::replace(&mut from[at], at);
            if next == start {
                break;
            }
            items.swap(at, next);
            at = next;
        }
    }
}

/// The places from which the sorted items come.
#[inline(never)]
fn sorted_places(count: usize, order: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|&i, &j| order(i, j));
    places
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    #[test]
    fn both_sort_as_the_standard_library_does() {
        let mut random = Pcg64::seed_from_u64(1);
        let mut ties = 0;
        for _ in 0..2_000 {
            let count = random.random_range(0..40);
            // What is not compared shows whether equal keys stay in their order.
            let items: Vec<(u32, usize)> = (0..count).map(|k| (random.random_range(0..20), k)).collect();
            let order = |x: &(u32, usize), y: &(u32, usize)| x.0.cmp(&y.0);
            let mut truth = items.clone();
            truth.sort_by(order);
            ties += truth.windows(2).filter(|pair| pair[0].0 == pair[1].0).count();
            let (mut few, mut rarely) = (items.clone(), items);
            sort_few(&mut few, order);
            sort_rarely(&mut rarely, order);
            assert_eq!(few, truth);
            assert_eq!(rarely, truth);
        }
        assert!((5_000..30_000).contains(&ties), "{ties}");
    }
}
