//! Where the columns of the three images stand: a lattice over the common box of two bodies, with places in it as
//! integers, so that every decision about edges is exact.
//!
//! Each image has as many pixels along one side of its box as along the other, so that flat boxes are seen as finely as
//! others. The samples of a row are shifted against those of the row before by the golden section of a pixel: a wall
//! along the rows' columns is then counted right on average over few rows, where samples at the centres of pixels would
//! all fall on the same side of it. Every row has one sample in each pixel, so a box that fills the image is measured
//! exactly.

use glam::{DVec2, DVec3};

use crate::bound::Aabb;

/// Bits of a coordinate within the image, pixels and their fractions together. Edge functions of points within
/// [`NEAR`] are sums of two products of differences: 2·30 + 1 bits, which i64 holds.
const BITS: u32 = 26;

/// Places beyond this are far: edges to them are decided by expansions.
pub const NEAR: f64 = (1 << 29) as f64;

/// The finest image.
pub const MOST_PIXELS: u32 = 4096;

/// The golden section as a fraction of 2³².
const GOLDEN: u32 = 0x9E37_79B9;

/// The place of a point in units of a fraction of a pixel; the fourth says whether it is far.
pub type Place = [i32; 4];

/// An image: which coordinate is its depth, and which run along and across its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis {
    pub depth: usize,
    pub along: usize,
    pub across: usize,
}

impl Axis {
    /// The three images; along, across and depth form a right-handed frame.
    pub const ALL: [Axis; 3] = [Axis::of(0), Axis::of(1), Axis::of(2)];

    const fn of(depth: usize) -> Axis {
        Axis { depth, along: (depth + 1) % 3, across: (depth + 2) % 3 }
    }

    /// The point of these coordinates.
    pub fn point(self, along: f64, across: f64, depth: f64) -> DVec3 {
        let mut p = [0.0; 3];
        (p[self.along], p[self.across], p[self.depth]) = (along, across, depth);
        DVec3::from_array(p)
    }
}

/// The samples over a box.
#[derive(Debug, Clone)]
pub struct Lattice {
    pub bounds: Aabb,
    /// Pixels along each side.
    pub pixels: u32,
    /// The sides of a pixel.
    pub size: DVec3,
    /// Bits of a fraction of a pixel.
    pub shift: u32,
    scale: DVec3,
    unit: DVec3,
    /// Where the samples of each row stand in their pixels.
    offsets: Vec<i32>,
}

impl Lattice {
    /// Over a box; `None` where it has no volume.
    pub fn new(bounds: Aabb, pixels: u32) -> Option<Lattice> {
        let pixels = pixels.clamp(1, MOST_PIXELS);
        let shift = BITS - pixels.next_power_of_two().trailing_zeros();
        let size = (bounds.high - bounds.low) / f64::from(pixels);
        let unit = size / f64::from(1_u32 << shift);
        let scale = DVec3::ONE / unit;
        if !(size.cmpgt(DVec3::ZERO).all() && scale.is_finite()) {
            return None;
        }
        // From the middle of the pixel in the first row.
        let offset = |row: u32| (GOLDEN.wrapping_mul(row).wrapping_add(1 << 31) >> (32 - shift)) as i32;
        Some(Lattice { bounds, pixels, size, shift, scale, unit, offsets: (0..pixels).map(offset).collect() })
    }

    /// The place of a point, in whole units.
    #[inline(always)]
    pub fn snapped(&self, p: DVec3) -> DVec3 {
        let at = (p - self.bounds.low) * self.scale;
        DVec3::new(at.x.round_ties_even(), at.y.round_ties_even(), at.z.round_ties_even())
    }

    /// The place of a point as integers; held at [`NEAR`] and marked where it is farther.
    #[inline(always)]
    pub fn place(&self, p: DVec3) -> Place {
        let at = self.snapped(p);
        let held = at.clamp(DVec3::splat(-NEAR), DVec3::splat(NEAR));
        [held.x as i32, held.y as i32, held.z as i32, i32::from(held != at)]
    }

    /// Where the samples of a row stand within their pixels, in units.
    #[inline(always)]
    pub fn offset(&self, row: u32) -> i32 {
        self.offsets[row as usize]
    }

    /// Half a pixel, in units: where the rows stand.
    #[inline(always)]
    pub fn half(&self) -> i32 {
        1 << (self.shift - 1)
    }

    /// The side of the image, in units.
    #[inline(always)]
    pub fn extent(&self) -> i32 {
        (self.pixels << self.shift) as i32
    }

    /// The place of a sample along and across the rows, in units.
    #[inline(always)]
    pub fn sample(&self, column: u32, row: u32) -> [i32; 2] {
        [((column << self.shift) as i32) + self.offset(row), ((row << self.shift) as i32) + self.half()]
    }

    /// The place of the sample of a column, counted through all rows.
    #[inline(always)]
    pub fn sample_of(&self, column: u32) -> [i32; 2] {
        self.sample(column % self.pixels, column / self.pixels)
    }

    /// The same as a point.
    #[inline(always)]
    pub fn place_of(&self, column: u32) -> DVec2 {
        let [along, across] = self.sample_of(column);
        DVec2::new(f64::from(along), f64::from(across))
    }

    /// The coordinate at a place.
    #[inline(always)]
    pub fn coordinate(&self, axis: usize, at: i32) -> f64 {
        self.bounds.low[axis] + f64::from(at) * self.unit[axis]
    }

    /// The column of the sample of a row that is nearest to a coordinate, and the row nearest to another.
    pub fn nearest(&self, axis: Axis, p: DVec3) -> Option<[u32; 2]> {
        let at = |k: usize| (p[k] - self.bounds.low[k]) * self.scale[k];
        let (along, across) = (at(axis.along), at(axis.across));
        let inside = |x: f64| x >= 0.0 && x < f64::from(self.extent());
        if !(inside(along) && inside(across)) {
            return None;
        }
        // Less than half a pixel from the samples, the fraction of a unit does not matter.
        let row = (across as u32) >> self.shift;
        let column = (along as i32 - self.offset(row) + self.half()) >> self.shift;
        Some([column.clamp(0, self.pixels as i32 - 1) as u32, row])
    }

    /// The box of everything that can be seen in an image: rounding to places may bring points in by half a unit.
    pub fn reached(&self) -> Aabb {
        Aabb { low: self.bounds.low - 2.0 * self.unit, high: self.bounds.high + 2.0 * self.unit }
    }

    /// The area of a pixel.
    pub fn area(&self, axis: Axis) -> f64 {
        self.size[axis.along] * self.size[axis.across]
    }

    /// The finest place that two layers can be told apart at, as a length: rounding of coordinates.
    pub fn rounding(&self) -> f64 {
        let size = self.bounds.low.abs().max(self.bounds.high.abs()).max_element();
        crate::num::tolerance::LAYER_ROUNDING * size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_filled_evenly_and_places_come_back() {
        let bounds = Aabb { low: DVec3::new(-1.0, 2.0, 3.0), high: DVec3::new(1.0, 2.5, 3.25) };
        for pixels in [1, 2, 3, 16, 100, 4096] {
            let lattice = Lattice::new(bounds, pixels).unwrap();
            let mean = (0..pixels).map(|row| f64::from(lattice.offset(row))).sum::<f64>() / f64::from(pixels);
            let half = f64::from(lattice.half());
            assert!((mean / half - 1.0).abs() <= 2.0 / f64::from(pixels), "{pixels}: {mean} {half}");
            for (column, row) in [(0, 0), (pixels - 1, pixels - 1), (pixels / 2, pixels / 3)] {
                let [along, across] = lattice.sample(column, row);
                assert!(along >> lattice.shift == column as i32 && across >> lattice.shift == row as i32);
                let axis = Axis::ALL[2];
                let p = axis.point(lattice.coordinate(0, along), lattice.coordinate(1, across), 3.1);
                assert_eq!(lattice.place(p)[..2], [along, across]);
                assert_eq!(lattice.nearest(axis, p), Some([column, row]));
            }
        }
        assert!(Lattice::new(Aabb { high: DVec3::new(1.0, 2.0, 4.0), ..bounds }, 8).is_none());
        let lattice = Lattice::new(bounds, 16).unwrap();
        assert_eq!(lattice.place(DVec3::splat(1e60)), [1 << 29, 1 << 29, 1 << 29, 1]);
    }
}
