//! Small ranges: sorted once on each axis, then every allowed border of every split is tried.
//!
//! MacDonald and Booth, "Heuristics for ray tracing using space subdivision", 1990 (the sweep); Wald and
//! Havran, "On building fast kd-trees for ray tracing", 2006 (the orders are kept through the splits).
//! Borders lie at multiples of a bucket, so a split costs one union for each triangle and axis.

use glam::Vec4;

use super::{Binary, Bounds, Item, Plan, arrange, middles};
use crate::hierarchy::wide::WIDTH;

/// Triangles in a small range.
pub(super) const MOST: usize = 64;
/// Places on an axis that are told apart.
const PLACES: usize = 128;
/// Buckets in a small range.
const GROUPS: usize = MOST / WIDTH;

/// A small range.
struct Small<'a> {
    plan: &'a Plan,
    items: &'a [Item; MOST],
    /// The items in the order of their centres on each axis; subtrees are the same ranges in all three.
    order: [[u8; MOST]; 3],
    /// Where the items end.
    home: &'a mut [Item],
    first: usize,
}

impl Plan {
    /// Fills the binary tree over few triangles and brings them into leaf order.
    pub(super) fn grow_sorted(&self, items: &mut [Item], first: usize, out: &mut [Binary]) {
        let count = items.len();
        let mut copy = [Item::BLANK; MOST];
        copy[..count].copy_from_slice(items);
        let order = orders(items);
        Small { plan: self, items: &copy, order, home: items, first }.divide(0, count, out);
    }
}

/// The items in the order of their centres on each axis, to a small part of the range's extent.
fn orders(items: &[Item]) -> [[u8; MOST]; 3] {
    let (low, high) = middles(items);
    let scale = (high - low).to_array().map(|extent| {
        // A scale that overflows belongs to an axis of no extent.
        let scale = (PLACES - 1) as f32 / extent;
        if scale.is_finite() { scale } else { 0.0 }
    });
    let scale = Vec4::from_array(scale);
    let mut places = [[0_u8; 3]; MOST];
    let mut next = [[0_u8; PLACES]; 3];
    for (item, places) in items.iter().zip(&mut places) {
        // Adding 2²³ leaves the nearest integer in the lowest bits, without a conversion.
        let place = ((item.middle() - low) * scale + Vec4::splat(8_388_608.0)).to_array();
        for axis in 0..3 {
            places[axis] = (place[axis].to_bits() as usize % PLACES) as u8;
            next[axis][usize::from(places[axis]) % PLACES] += 1;
        }
    }
    next.iter_mut().for_each(sum_before);
    let mut order = [[0; MOST]; 3];
    for (k, places) in places[..items.len()].iter().enumerate() {
        for axis in 0..3 {
            let rank = &mut next[axis][usize::from(places[axis]) % PLACES];
            order[axis][usize::from(*rank) % MOST] = k as u8;
            *rank += 1;
        }
    }
    order
}

/// Replaces each number by the sum of those before it; all of them together are at most [`MOST`].
fn sum_before(numbers: &mut [u8; PLACES]) {
    /// A one in each byte: a product with it has the sum of the first bytes of a word in each byte.
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let mut before = 0;
    for eight in numbers.as_chunks_mut::<8>().0 {
        let word = u64::from_le_bytes(*eight);
        let sums = word.wrapping_mul(ONES);
        *eight = (sums - word + before * ONES).to_le_bytes();
        before += sums >> 56;
    }
}

impl Small<'_> {
    #[inline]
    fn item(&self, axis: usize, place: usize) -> &Item {
        &self.items[usize::from(self.order[axis][place]) % MOST]
    }

    fn union(&self, axis: usize, start: usize, end: usize) -> Bounds {
        (start..end).fold(Bounds::EMPTY, |all, place| all.union(self.item(axis, place).bounds()))
    }

    /// The subtree over the items from `start` on.
    fn divide(&mut self, start: usize, count: usize, out: &mut [Binary]) {
        let first = (self.first + start) as u32;
        if count <= self.plan.bucket {
            for place in start..start + count {
                self.home[place] = *self.item(0, place);
            }
            arrange(&mut self.home[start..start + count], self.plan.leaf_most);
            out[0] = Binary { bounds: self.union(0, start, start + count), right: 0, first };
            return;
        }
        let (axis, at) = self.best_border(start, count);
        self.separate(axis, start, count, at);
        let (head, out) = out.split_at_mut(1);
        let (left, right) = out.split_at_mut(self.plan.nodes(at));
        self.divide(start, at, left);
        self.divide(start + at, count - at, right);
        let bounds = left[0].bounds.union(right[0].bounds);
        head[0] = Binary { bounds, right: left.len() as u32 + 1, first };
    }

    /// The axis and the number of items on the left with the least sum of area times count.
    fn best_border(&self, start: usize, count: usize) -> (usize, usize) {
        let bucket = self.plan.bucket;
        let groups = count.div_ceil(bucket);
        let mut best = (f32::INFINITY, 0, bucket);
        for axis in 0..3 {
            let mut boxes = [Bounds::EMPTY; GROUPS];
            for (group, bounds) in boxes[..groups].iter_mut().enumerate() {
                let first = group * bucket;
                *bounds = self.union(axis, start + first, start + count.min(first + bucket));
            }
            let mut right_cost = [0.0; GROUPS];
            let mut bounds = Bounds::EMPTY;
            for group in (1..groups).rev() {
                bounds = bounds.union(boxes[group]);
                right_cost[group] = bounds.half_area() * (count - group * bucket) as f32;
            }
            bounds = Bounds::EMPTY;
            for group in 1..groups {
                bounds = bounds.union(boxes[group - 1]);
                let cost = bounds.half_area() * (group * bucket) as f32 + right_cost[group];
                if cost < best.0 {
                    best = (cost, axis, group * bucket);
                }
            }
        }
        (best.1, best.2)
    }

    /// Brings the first `at` items of one order to the front of the other two.
    fn separate(&mut self, axis: usize, start: usize, count: usize, at: usize) {
        let left = self.order[axis][start..start + at].iter().fold(0_u64, |set, &k| set | 1 << (k % 64));
        for other in [(axis + 1) % 3, (axis + 2) % 3] {
            let order = &mut self.order[other][start..start + count];
            let mut rest = [0; MOST];
            let (mut lefts, mut rights) = (0, 0);
            for place in 0..count {
                let k = order[place];
                let is_left = (left >> (k % 64) & 1) as usize;
                order[lefts] = k;
                rest[rights % MOST] = k;
                lefts += is_left;
                rights += 1 - is_left;
            }
            order[lefts..].copy_from_slice(&rest[..rights]);
        }
    }
}
