//! Borders lie at multiples of a bucket: a few triangles near the plane change sides.

use super::{Item, binned};
use crate::hierarchy::wide::{LEAF_MOST, WIDTH};

/// Items that change sides, by their places; at most a bucket.
pub(super) struct Movers {
    places: [usize; WIDTH * LEAF_MOST],
    count: usize,
}

impl Movers {
    /// The items on the far side of `from` that are nearest to it, as many as lie between it and `to`.
    /// Of a large range only those are looked at that it is judged by.
    pub(super) fn nearest(items: &[Item], from: usize, to: usize, axis: usize) -> Movers {
        let count = from.abs_diff(to);
        let mut places = [usize::MAX; WIDTH * LEAF_MOST];
        if count == 0 {
            return Movers { places, count };
        }
        let (range, sign) = if to > from { (from..items.len(), 1.0) } else { (0..from, -1.0) };
        let mut keys = [f32::INFINITY; WIDTH * LEAF_MOST];
        let keys = &mut keys[..count];
        let mut limit = f32::INFINITY;
        let stride = binned::stride(range.len());
        for (place, item) in range.clone().zip(&items[range]).step_by(stride) {
            let key = sign * item.along(axis);
            if key < limit {
                let mut rank = count - 1;
                while rank > 0 && keys[rank - 1] > key {
                    (keys[rank], places[rank]) = (keys[rank - 1], places[rank - 1]);
                    rank -= 1;
                }
                (keys[rank], places[rank]) = (key, place);
                limit = keys[count - 1];
            }
        }
        Movers { places, count }
    }

    /// Their places, the nearest first.
    pub(super) fn places(&mut self) -> &mut [usize] {
        &mut self.places[..self.count]
    }
}

/// Moves the border between two parts.
pub(super) fn shift(items: &mut [Item], from: usize, to: usize, axis: usize) {
    let mut movers = Movers::nearest(items, from, to, axis);
    // From the border outward, so that a swap never moves an item that is still to be moved.
    movers.places().sort_unstable();
    if to > from {
        for (k, &place) in movers.places().iter().enumerate() {
            items.swap(from + k, place);
        }
    } else {
        for (k, &place) in movers.places().iter().rev().enumerate() {
            items.swap(from - 1 - k, place);
        }
    }
}
