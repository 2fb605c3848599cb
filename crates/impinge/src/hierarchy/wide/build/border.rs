//! Borders lie at multiples of a bucket: a few triangles near the plane change sides.

use std::ops::Range;

use super::Item;
use super::binned::{self, Plane};
use crate::hierarchy::wide::{LEAF_MOST, WIDTH};

/// Items that change sides, by their places; at most a bucket.
pub(super) struct Movers {
    places: [usize; WIDTH * LEAF_MOST],
    count: usize,
}

impl Movers {
    /// The items on the far side of `from` that are nearest to the plane, as many as lie between it and
    /// `to`. Of a large range only those are looked at that it is judged by.
    pub(super) fn nearest(items: &[Item], from: usize, to: usize, plane: Plane) -> Movers {
        let mut movers = Movers { places: [usize::MAX; WIDTH * LEAF_MOST], count: from.abs_diff(to) };
        if movers.count == 0 {
            return movers;
        }
        let (range, sign) = if to > from { (from..items.len(), 1.0) } else { (0..from, -1.0) };
        // Most items are far away; if they were spread evenly, this slab would hold a few times the count.
        let slab = plane.extent * (4 * (movers.count + 2)) as f32 / items.len() as f32;
        if !movers.look(items, range.clone(), plane.axis, sign, sign * plane.last + slab) {
            movers.look(items, range, plane.axis, sign, f32::INFINITY);
        }
        movers
    }

    /// Finds the items with the least centres, times `sign`, below a limit; returns whether they are enough.
    fn look(&mut self, items: &[Item], range: Range<usize>, axis: usize, sign: f32, limit: f32) -> bool {
        let last = self.count - 1;
        let mut keys = [limit; WIDTH * LEAF_MOST];
        let stride = binned::stride(range.len());
        for (place, item) in range.clone().zip(&items[range]).step_by(stride) {
            let key = sign * item.along(axis);
            if key < keys[last] {
                let mut rank = last;
                while rank > 0 && keys[rank - 1] > key {
                    (keys[rank], self.places[rank]) = (keys[rank - 1], self.places[rank - 1]);
                    rank -= 1;
                }
                (keys[rank], self.places[rank]) = (key, place);
            }
        }
        keys[last] < limit
    }

    /// Their places, the nearest first.
    pub(super) fn places(&mut self) -> &mut [usize] {
        &mut self.places[..self.count]
    }
}

/// Moves the border between two parts.
pub(super) fn shift(items: &mut [Item], from: usize, to: usize, plane: Plane) {
    let mut movers = Movers::nearest(items, from, to, plane);
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
