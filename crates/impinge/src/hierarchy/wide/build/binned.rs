//! Where to cut a range: the best of a few planes on each axis, and the pass that separates.
//!
//! Wald, 2007. A few hundred triangles are enough to find a good plane, so larger ranges look only at
//! every second to sixteenth of theirs; the pass that separates them looks at all.

use glam::Vec4;

use super::{Bounds, Item, middles};

/// Bins an axis is cut into.
const BINS: usize = 8;
/// Ranges of more than so many triangles are looked at in part; at least so many are.
const SAMPLE: usize = 256;
/// At least one of so many triangles is looked at.
const STRIDE_MOST: usize = 16;

/// A plane between two sets of doubled centres.
#[derive(Clone, Copy)]
pub(super) struct Plane {
    pub(super) axis: usize,
    /// Doubled centres up to here belong to the left.
    pub(super) last: f32,
    /// How far the doubled centres of both sets are spread on the axis.
    pub(super) extent: f32,
}

impl Plane {
    /// Leaves everything on the left.
    pub(super) const NONE: Plane = Plane { axis: 0, last: f32::INFINITY, extent: 0.0 };

    #[inline]
    pub(super) fn is_left(&self, item: &Item) -> bool {
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
    let (low, high) = middles(items.iter().step_by(stride));
    let ruler = Ruler::new(low, high)?;
    let (axis, bin) = cheapest(&fill(items, stride, &ruler));
    let last = ruler.low[axis] + (bin as f32 + 0.5) / ruler.scale[axis];
    Some(Plane { axis, last, extent: high[axis] - low[axis] })
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
///
/// Every item is written to both ends and only one end moves on: no branch to guess.
pub(super) fn partition(items: &[Item], to: &mut [Item], plane: Plane) -> usize {
    let (mut front, mut back) = (0, to.len());
    for item in items {
        to[front] = *item;
        to[back - 1] = *item;
        let left = usize::from(plane.is_left(item));
        front += left;
        back -= 1 - left;
    }
    front
}
