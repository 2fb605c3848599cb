//! The cells of a grid and the fixed-point coordinates in it.
//!
//! A coordinate becomes an integer of up to 52 bits whose high bits are the cell and whose low bits the place inside.
//! Cells follow from the same integers as distances, so no rounding comes between them: with e the error of an integer,
//! two particles no more than m cells apart differ by at most m in their cells if the cutoff and 2e fit into m cells.
//! A coordinate is off by e ≤ 1.5: x − low and its product with the scale each lose 2⁻⁵³ of a number below 2⁵¹, and
//! rounding to an integer a half.

use glam::DVec3;

use super::Particles;
use super::images::Images;
use crate::num::compact_sort::sort_few;
use crate::simd::point_columns::PairLimits;

/// Cells along one axis, at most: together with [`MOST_BITS`] they fit into 51 bits.
pub(super) const MOST_CELLS: f64 = (1 << 20) as f64;

/// Bits of the largest difference of two coordinates that are compared.
const MOST_BITS: u32 = 30;

/// Cells that a cutoff may be wide, at most.
const MOST_ROWS: u32 = 8;

/// Cells for each particle, at most, and in any case.
const CELLS_PER_PARTICLE: f64 = 4.0;
const FEW_CELLS: f64 = 4096.0;

/// Particles in a cube as wide as the cutoff from which on smaller cells save more tests than they cost.
const DENSE: f64 = 24.0;

/// Error of a distance in units of the coordinates: 2·1.5 on each of three axes.
const ERROR: f64 = 8.0;

/// Error of a distance that is squared in f32, relative: conversions, products and sums lose 2⁻²⁴ each.
const RELATIVE_ERROR: f64 = 1.0 / (1 << 20) as f64;

/// Where the cells are.
#[derive(Debug, Clone, Default)]
pub(super) struct Lattice {
    /// Which axis is the row, and which two follow: the longest first.
    axes: [usize; 3],
    low: [f64; 3],
    /// Units of the coordinates in a length.
    scale: f64,
    /// Bits of a place inside a cell.
    bits: u32,
    /// Cells in a row, rows in a slab, slabs.
    pub size: [u32; 3],
    /// How many rows and slabs a cutoff reaches.
    rows: u32,
    /// The largest distance of candidates, in units.
    reach: f64,
    /// A cutoff, or what is added to radii, in units.
    limits: [f64; 2],
}

impl Lattice {
    /// Cells for the particles of a frame and their images, as wide as `voxel` says or as their density suggests; no
    /// more than there is memory for where each cell takes some.
    pub fn dense(particles: &Particles<'_>, images: &Images, voxel: Option<f64>) -> Lattice {
        Lattice::choose(particles, images, |extent, reach| {
            let count = (particles.len() + images.positions().len()) as f64;
            let mut width = voxel.unwrap_or_else(|| reach / f64::from(rows_by_density(extent, count, reach)));
            width = width.max(extent[0] / MOST_CELLS).max(reach / f64::from(MOST_ROWS));
            let most = (CELLS_PER_PARTICLE * count).max(FEW_CELLS);
            let cells = |width: f64| extent.iter().map(|x| (x / width).floor() + 1.0).product::<f64>();
            while cells(width) > most {
                width *= 1.125;
            }
            width
        })
    }

    /// Cells no narrower than the cutoff, however many.
    pub fn sparse(particles: &Particles<'_>, images: &Images, voxel: Option<f64>) -> Lattice {
        Lattice::choose(particles, images, |_, reach| voxel.map_or(reach, |width| width.max(reach)))
    }

    fn choose(particles: &Particles<'_>, images: &Images, width: impl Fn([f64; 3], f64) -> f64) -> Lattice {
        let [mut low, mut high] = particles.bounds();
        for x in images.positions() {
            low = low.min(DVec3::from(*x));
            high = high.max(DVec3::from(*x));
        }
        if particles.is_empty() {
            (low, high) = (DVec3::ZERO, DVec3::ZERO);
        }
        let extent = (high - low).to_array();
        let mut axes = [0, 1, 2];
        sort_few(&mut axes, |&a: &usize, &b| extent[b].total_cmp(&extent[a]));
        let extent = axes.map(|k| extent[k]);
        // A frame of equal points with nothing to add still has cells of some size.
        let reach = particles.candidate_reach().max(f64::MIN_POSITIVE * (1_u64 << 60) as f64);
        // Never so narrow that integers are too short.
        let mut width = width(extent, reach).max(reach / f64::from(MOST_ROWS)).max(extent[0] / MOST_CELLS);
        let rows = (reach / width).ceil().clamp(1.0, f64::from(MOST_ROWS));
        // The cutoff and the error of two integers fit into that many cells.
        width = width.max(reach / rows) * (1.0 + RELATIVE_ERROR);
        let rows = rows as u32;
        let bits = MOST_BITS - (u32::BITS - rows.leading_zeros());
        let scale = f64::from(1_u32 << bits) / width;
        let mut lattice = Lattice {
            axes,
            low: axes.map(|k| low[k]),
            scale,
            bits,
            size: [1; 3],
            rows,
            reach: reach * scale + ERROR,
            limits: limits(particles, scale),
        };
        let last = lattice.fixed(&high.to_array());
        lattice.size = lattice.cells(last).map(|last| last + 1);
        lattice
    }

    /// Half the side of the cube in which the candidates of a particle lie, on average over its place in a cell.
    pub fn candidate_cube(&self) -> f64 {
        (f64::from(self.rows) + 0.5) * self.width()
    }

    /// Fixed-point coordinates of a position, in the order of the axes.
    #[inline(always)]
    pub fn fixed(&self, x: &[f64; 3]) -> [u64; 3] {
        /// Its last bit is worth 1, so a sum with a smaller number ends with that number as an integer.
        const ONES: f64 = (1_u64 << 52) as f64;
        let one = |k: usize| {
            let units = (x[self.axes[k]] - self.low[k]) * self.scale;
            (units + ONES).to_bits() & ((1 << 52) - 1)
        };
        [one(0), one(1), one(2)]
    }

    /// The cell of fixed-point coordinates: its place in its row, the row in its slab, the slab.
    #[inline(always)]
    pub fn cells(&self, fixed: [u64; 3]) -> [u32; 3] {
        fixed.map(|x| (x >> self.bits) as u32)
    }

    /// The number of the cell of fixed-point coordinates.
    #[inline(always)]
    pub fn cell(&self, fixed: [u64; 3]) -> u32 {
        let [x, y, z] = self.cells(fixed);
        (z * self.size[1] + y) * self.size[0] + x
    }

    /// The cells of a row, rows and slabs that hold everything up to `radius` from a point, first and last of each; none
    /// where that is outside.
    pub fn around(&self, point: DVec3, radius: f64) -> Option<[[u32; 2]; 3]> {
        let mut range = [[0; 2]; 3];
        for (k, range) in range.iter_mut().enumerate() {
            let at = |x: f64| ((x - self.low[k]) / self.width()).floor();
            let x = point[self.axes[k]];
            // A cell more on each side makes up for all rounding.
            let (first, last) = (at(x - radius) - 1.0, at(x + radius) + 1.0);
            let most = f64::from(self.size[k]) - 1.0;
            if !(last >= 0.0 && first <= most) {
                return None;
            }
            *range = [first.max(0.0) as u32, last.min(most) as u32];
        }
        Some(range)
    }

    /// The width of a cell, a length.
    pub fn width(&self) -> f64 {
        f64::from(1_u32 << self.bits) / self.scale
    }

    /// How many cells there are.
    pub fn count(&self) -> usize {
        self.size.iter().map(|&n| n as usize).product()
    }

    /// A radius in units, rounded.
    #[inline]
    pub fn radius(&self, radius: f64) -> f32 {
        (radius * self.scale) as f32
    }

    /// When two particles are surely a pair, and when they may be one.
    pub fn limits(&self) -> PairLimits {
        PairLimits { sure: self.limits[0] as f32, maybe: self.limits[1] as f32 }
    }

    /// How many cells to each side a row `dy` rows and `dz` slabs away is searched; none where nothing in it is near
    /// enough.
    fn along_row(&self, dy: i32, dz: i32) -> Option<u32> {
        let gap = |d: i32| f64::from(d.abs().max(1) - 1) * f64::from(1_u32 << self.bits);
        let left = self.reach * self.reach - gap(dy) * gap(dy) - gap(dz) * gap(dz);
        (left >= 0.0).then(|| ((left.sqrt() + ERROR) as u32).div_ceil(1 << self.bits).min(self.rows))
    }

    /// The rows that the particles of row `y` in slab `z` look into besides their own: their first cells, and how many
    /// cells to each side. Only those behind their own, so that every pair of rows is seen once.
    pub fn rows_behind(&self, y: u32, z: u32, to: &mut Vec<(usize, u32)>) {
        to.clear();
        let m = self.rows as i32;
        for dz in 0..=m {
            for dy in if dz == 0 { 1 } else { -m }..=m {
                let (y, z) = (i64::from(y) + i64::from(dy), i64::from(z) + i64::from(dz));
                let inside = (0..i64::from(self.size[1])).contains(&y) && z < i64::from(self.size[2]);
                if let Some(along) = self.along_row(dy, dz).filter(|_| inside) {
                    let row = z as usize * self.size[1] as usize + y as usize;
                    to.push((row * self.size[0] as usize, along));
                }
            }
        }
    }

    /// How many cells ahead in their own row particles look.
    pub fn along_own_row(&self) -> u32 {
        self.rows
    }
}

/// Into how many cells a cutoff is divided.
fn rows_by_density(extent: [f64; 3], count: f64, reach: f64) -> u32 {
    let volume: f64 = extent.iter().map(|x| x.max(reach)).product();
    if count / volume * reach * reach * reach > DENSE { 2 } else { 1 }
}

/// Below which distance in units particles are surely a pair, and above which they are none.
fn limits(particles: &Particles<'_>, scale: f64) -> [f64; 2] {
    let error =
        ERROR + particles.candidate_margin() * scale + RELATIVE_ERROR * particles.candidate_reach() * scale;
    let cutoff = particles.cutoff() * scale;
    [cutoff - error, cutoff + error]
}
