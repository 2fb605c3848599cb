//! Where to cut a large range: the best of a few planes on each axis, and the pass that separates.
//!
//! Wald, 2007. A few hundred triangles are enough to find a good plane, so larger ranges look only at
//! every second to sixteenth of theirs; the pass that separates them looks at all.

use glam::Vec4;

use super::{Bounds, Item, middles};
use crate::num::parallel;

/// Bins an axis is cut into.
const BINS: usize = 8;
/// Triangles that a thread takes at a time.
const CHUNK: usize = 8192;
/// Ranges of more than so many triangles are looked at in part; at least so many are.
const SAMPLE: usize = 256;
/// At least one of so many triangles is looked at.
const STRIDE_MOST: usize = 16;

/// A plane between two sets of doubled centres.
#[derive(Clone, Copy)]
pub(super) struct Plane {
    pub(super) axis: usize,
    /// Doubled centres up to here belong to the left.
    last: f32,
}

impl Plane {
    #[inline]
    fn is_left(&self, item: &Item) -> bool {
        item.along(self.axis) <= self.last
    }
}

/// A range of so many triangles is judged by one of this many.
pub(super) fn stride(count: usize) -> usize {
    1 << (count / SAMPLE).clamp(1, STRIDE_MOST).ilog2()
}

/// The plane with the least sum of area times count; `None` where all centres are the same.
pub(super) fn best_plane(items: &[Item]) -> Option<Plane> {
    let stride = stride(items.len());
    let (low, high) = parallel::reduce_chunks(
        items,
        4 * CHUNK,
        |chunk| middles(chunk.iter().step_by(stride)),
        |a, b| (a.0.min(b.0), a.1.max(b.1)),
    );
    let ruler = Ruler::new(low, high)?;
    let bins = parallel::reduce_chunks(items, 4 * CHUNK, |chunk| fill(chunk, stride, &ruler), merge);
    let (axis, bin) = cheapest(&bins);
    Some(Plane { axis, last: ruler.low[axis] + (bin as f32 + 0.5) / ruler.scale[axis] })
}

/// Which bin of each axis a doubled centre falls into.
#[derive(Clone, Copy)]
struct Ruler {
    low: Vec4,
    /// Bins a unit; 0 on an axis of no extent.
    scale: Vec4,
}

impl Ruler {
    fn new(low: Vec4, high: Vec4) -> Option<Ruler> {
        let scale = |axis: usize| {
            // A scale that overflows belongs to an axis of no extent.
            let scale = (BINS - 1) as f32 / (high[axis] - low[axis]);
            if scale.is_finite() { scale } else { 0.0 }
        };
        let scale = Vec4::new(scale(0), scale(1), scale(2), 0.0);
        (scale != Vec4::ZERO).then_some(Ruler { low, scale })
    }

    #[inline]
    fn bins(&self, middle: Vec4) -> [usize; 3] {
        // Adding 2²³ leaves the nearest integer in the lowest bits, without a conversion.
        let most = Vec4::splat((BINS - 1) as f32);
        let place = ((middle - self.low) * self.scale).max(Vec4::ZERO).min(most);
        let bits = (place + Vec4::splat(8_388_608.0)).to_array().map(|x| x.to_bits() as usize & (BINS - 1));
        [bits[0], bits[1], bits[2]]
    }
}

/// The boxes and numbers of items in the bins of each axis.
#[derive(Clone, Copy)]
struct Bins {
    bounds: [[Bounds; BINS]; 3],
    count: [[u32; BINS]; 3],
}

fn fill(items: &[Item], stride: usize, ruler: &Ruler) -> Bins {
    let mut bins = Bins { bounds: [[Bounds::EMPTY; BINS]; 3], count: [[0; BINS]; 3] };
    for item in items.iter().step_by(stride) {
        let bounds = item.bounds();
        for (axis, bin) in ruler.bins(item.middle()).into_iter().enumerate() {
            let slot = &mut bins.bounds[axis][bin];
            *slot = slot.union(bounds);
            bins.count[axis][bin] += 1;
        }
    }
    bins
}

fn merge(mut a: Bins, b: Bins) -> Bins {
    for axis in 0..3 {
        for bin in 0..BINS {
            a.bounds[axis][bin] = a.bounds[axis][bin].union(b.bounds[axis][bin]);
            a.count[axis][bin] += b.count[axis][bin];
        }
    }
    a
}

/// The axis, and the last bin of the left part, with the least sum of area times count.
fn cheapest(bins: &Bins) -> (usize, usize) {
    let mut best = (f32::INFINITY, 0, 0);
    for axis in 0..3 {
        let mut right_cost = [0.0; BINS];
        let mut bounds = Bounds::EMPTY;
        let mut count = 0;
        for bin in (1..BINS).rev() {
            bounds = bounds.union(bins.bounds[axis][bin]);
            count += bins.count[axis][bin];
            right_cost[bin] = bounds.half_area() * count as f32;
        }
        bounds = Bounds::EMPTY;
        count = 0;
        for bin in 0..BINS - 1 {
            bounds = bounds.union(bins.bounds[axis][bin]);
            count += bins.count[axis][bin];
            let cost = bounds.half_area() * count as f32 + right_cost[bin + 1];
            if cost < best.0 {
                best = (cost, axis, bin);
            }
        }
    }
    (best.1, best.2)
}

/// Copies the items of the left to the front of `to` and the others behind; returns how many are left.
pub(super) fn partition(items: &[Item], to: &mut [Item], plane: Plane) -> usize {
    if items.len() <= 2 * CHUNK {
        return partition_once(items, to, plane);
    }
    let counts = parallel::map(items.len().div_ceil(CHUNK), |k| {
        let chunk = &items[k * CHUNK..items.len().min((k + 1) * CHUNK)];
        chunk.iter().filter(|item| plane.is_left(item)).count()
    });
    let at = counts.iter().sum();
    let (mut left, mut right) = to.split_at_mut(at);
    let mut pieces = Vec::with_capacity(counts.len());
    for (chunk, count) in items.chunks(CHUNK).zip(counts) {
        let (here, rest) = left.split_at_mut(count);
        let (there, other_rest) = right.split_at_mut(chunk.len() - count);
        pieces.push((chunk, here, there));
        (left, right) = (rest, other_rest);
    }
    parallel::for_each_chunk(&mut pieces, 1, |_, pieces| {
        for (chunk, left, right) in pieces {
            deal(chunk, left, right, plane);
        }
    });
    at
}

/// Every item is written to both ends and only one end moves on: no branch to guess.
fn partition_once(items: &[Item], to: &mut [Item], plane: Plane) -> usize {
    let (mut front, mut back) = (0, to.len());
    for &item in items {
        to[front] = item;
        to[back - 1] = item;
        let left = usize::from(plane.is_left(&item));
        front += left;
        back -= 1 - left;
    }
    front
}

/// The same with an end for each part.
fn deal(items: &[Item], left: &mut [Item], right: &mut [Item], plane: Plane) {
    let (mut lefts, mut rights) = (0, 0);
    for &item in items {
        if let Some(slot) = left.get_mut(lefts) {
            *slot = item;
        }
        if let Some(slot) = right.get_mut(rights) {
            *slot = item;
        }
        let is_left = usize::from(plane.is_left(&item));
        lefts += is_left;
        rights += 1 - is_left;
    }
}
