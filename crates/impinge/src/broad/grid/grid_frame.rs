//! Where the cells lie: the grid's units, its levels and their sizes, chosen from a sample of the boxes.
//!
//! A coordinate is moved, scaled to units of the finest cell and rounded to f32; all of that keeps order,
//! and so does the step to cells, so boxes that meet are never in cells that the search passes over. Boxes
//! far outside land in the border cells: that costs time where there are many of them, never a pair.

use crate::bound::Aabb;
use crate::num::compact_sort::sort_few;
use crate::num::tolerance::{GRID_FARTHEST, GRID_FINEST, GRID_LARGEST_EXTENT, GRID_SMALLEST_UNIT};
use crate::simd::dispatch;

use super::super::bodies::Chunk;
use super::packed_aabb::PackedAabb;

/// Cells of a row in the length of one unit of its level. Finer than across the rows: a row's boxes are
/// tested many at a time, and a search takes any piece of a row.
pub(super) const ROW_CELLS: f32 = 4.0;

/// A level's unit over that of the next finer one.
const LEVEL_FACTOR: f32 = 4.0;

/// Levels with cells; what is larger than the coarsest unit stays without.
const MOST_LEVELS: usize = 6;

/// Parts of a level that are sorted independently.
const MOST_BINS: u32 = 256;

/// Cells of all levels for each body, at most, in units of whole cells.
const CELLS_PER_BODY: f64 = 4.0;

/// Boxes that the units are chosen from, at most.
pub(super) const SAMPLE: usize = 2048;

/// Step by which the unit grows until there are few enough cells.
const UNIT_GROWTH: f64 = 1.125;

/// Boxes up to this many times the median size set the finest unit; larger ones have coarser cells.
const TYPICAL: f64 = 4.0;

/// Units in a typical side: boxes are kept with room to move.
const ROOM: f64 = 1.25;

/// The grid's units and levels.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct GridFrame {
    /// Which axes run along rows, across rows and across slabs.
    axes: [usize; 3],
    origin: [f64; 3],
    /// Units per length.
    scale: f64,
    /// Finest first; the last has a single cell.
    pub levels: Vec<GridLevel>,
    /// All cells of all levels.
    pub cells: usize,
    /// All bins of all levels.
    pub bins: usize,
}

/// Cells of one size.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GridLevel {
    /// Cells in one unit of the grid, on each axis.
    per_side: [f32; 3],
    /// Cells along a row, rows in a slab, slabs.
    pub size: [u32; 3],
    /// Index of its first cell among all.
    pub first_cell: usize,
    /// Index of its first bin among all.
    pub first_bin: usize,
    /// Slabs in a bin, as a power of two.
    pub slabs_per_bin_log: u32,
}

impl GridFrame {
    /// Units for `count` boxes, of which `sample` is a part.
    pub fn choose(sample: &[Aabb], count: usize) -> GridFrame {
        let extent = [0, 1, 2].map(|k| middle_range(sample, k));
        let lengths = extent.map(|[low, high]| high - low);
        let longest = lengths.into_iter().fold(0.0, f64::max);
        let mut unit =
            (ROOM * typical_side(sample)).max(longest / f64::from(GRID_FINEST)).max(GRID_SMALLEST_UNIT);
        let most = CELLS_PER_BODY * count.max(64) as f64;
        let cells = |unit: f64| lengths.map(|length| (length / unit).floor() + 1.0);
        while f64::from(ROW_CELLS) * cells(unit).into_iter().product::<f64>() > most {
            unit *= UNIT_GROWTH;
        }
        let mut axes = [0, 1, 2];
        sort_few(&mut axes, |&i: &usize, &j| lengths[i].total_cmp(&lengths[j]));
        // The longest across slabs, which are shared between threads, and the next along rows.
        axes.swap(0, 1);
        let size = axes.map(|k| cells(unit)[k] as u32);
        let origin = extent.map(|[low, _]| low);
        let mut frame = GridFrame { axes, origin, scale: 1.0 / unit, ..GridFrame::default() };
        let largest = sample.iter().map(side).fold(0.0, f64::max) / unit;
        let mut level_side = 1.0;
        for _ in 0..MOST_LEVELS {
            frame.push_level(level_side, size);
            if f64::from(level_side) >= largest || size.iter().all(|&n| n as f32 <= level_side) {
                break;
            }
            level_side *= LEVEL_FACTOR;
        }
        frame.push_level(f32::INFINITY, size);
        frame
    }

    /// A box as corners in units of the grid; an empty one stays empty.
    #[inline(always)]
    pub fn corners(&self, bounds: &Aabb, fixed: bool) -> PackedAabb {
        let ([x, y, z], scale) = (self.origin, self.scale);
        let (low, high, mark) = (bounds.low, bounds.high, PackedAabb::mark(fixed));
        // Eight at once, though two of them do not count.
        let ends = [low.x, low.y, low.z, 0.0, high.x, high.y, high.z, 0.0];
        let origin = [x, y, z, 0.0, x, y, z, 0.0];
        let scale = [scale, scale, scale, 0.0, -scale, -scale, -scale, 0.0];
        let mut to = PackedAabb([0.0; 8]);
        for k in 0..8 {
            let u = ((ends[k] - origin[k]) * scale[k]) as f32;
            let u = if u < GRID_FARTHEST { u } else { GRID_FARTHEST };
            to.0[k] = if u > -GRID_FARTHEST { u } else { -GRID_FARTHEST };
        }
        (to.0[3], to.0[7]) = (mark, mark);
        to
    }

    /// Low and high ends in the order of [`Columns`](crate::simd::box_columns::Columns): along rows, across rows and
    /// across slabs.
    #[inline(always)]
    pub fn units(&self, corners: &PackedAabb) -> [f32; 6] {
        let ([i, j, k], c) = (self.axes, &corners.0);
        [c[i], c[j], c[k], -c[4 + i], -c[4 + j], -c[4 + k]]
    }

    /// Finds the places of boxes in units of the grid; empty ones have none.
    #[inline(always)]
    pub fn place(&self, block: &mut Block) {
        let Block { units, cells, bins } = block;
        let finest = &self.levels[0];
        let mut corners = [[[0_u32; BLOCK]; 3]; 2];
        for k in 0..3 {
            for i in 0..BLOCK {
                corners[0][k][i] = finest.cell(k, units[k][i]);
                corners[1][k][i] = finest.cell(k, units[k + 3][i]);
            }
        }
        let [low, high] = &corners;
        for i in 0..BLOCK {
            let here = [low[0][i], low[1][i], low[2][i]];
            let fits = high[0][i] <= here[0] + ROW_CELLS as u32
                && high[1][i] <= here[1] + 1
                && high[2][i] <= here[2] + 1
                && units[0][i] <= units[3][i];
            cells[i] = finest.index(here);
            bins[i] = if fits { here[2] >> finest.slabs_per_bin_log } else { ELSEWHERE };
        }
        for i in 0..BLOCK {
            if bins[i] == ELSEWHERE {
                let b = std::array::from_fn(|k| units[k][i]);
                (cells[i], bins[i]) = self.place_one(&b);
            }
        }
    }

    /// The cell and bin of a box that is not in the finest level.
    fn place_one(&self, b: &[f32; 6]) -> (u32, u32) {
        if b[0] > b[3] {
            return (0, NO_BIN);
        }
        let fits = |level: &&GridLevel| {
            let [low, high] = level.cells(b);
            high[0] <= low[0] + ROW_CELLS as u32 && high[1] <= low[1] + 1 && high[2] <= low[2] + 1
        };
        let Some(level) = self.levels.iter().find(fits) else { return (0, NO_BIN) };
        let [low, _] = level.cells(b);
        let cell = level.first_cell as u32 + level.index(low);
        (cell, level.first_bin as u32 + (low[2] >> level.slabs_per_bin_log))
    }

    fn push_level(&mut self, side: f32, finest: [u32; 3]) {
        let mut size = finest.map(|n| (n as f32 / side).ceil().max(1.0) as u32);
        size[0] = (finest[0] as f32 * ROW_CELLS / side).ceil().max(1.0) as u32;
        let slabs_per_bin_log = size[2].div_ceil(MOST_BINS).next_power_of_two().ilog2();
        let level = GridLevel {
            per_side: [ROW_CELLS / side, 1.0 / side, 1.0 / side],
            size,
            first_cell: self.cells,
            first_bin: self.bins,
            slabs_per_bin_log,
        };
        self.cells += size.iter().map(|&n| n as usize).product::<usize>();
        self.bins += size[2].div_ceil(1 << slabs_per_bin_log) as usize;
        self.levels.push(level);
    }
}

dispatch! {
    /// Moves some bodies and writes their boxes in units of the grid.
    pub(super) fn take_in(frame: &GridFrame, bodies: &mut Chunk<'_>, to: &mut [PackedAabb]) = each take_in_plain
}

#[inline(always)]
fn take_in_plain(frame: &GridFrame, bodies: &mut Chunk<'_>, to: &mut [PackedAabb]) {
    bodies.take_in(to, |bounds, fixed, to| *to = frame.corners(bounds, fixed));
}

impl GridLevel {
    /// The cell of a coordinate along the row, across rows or across slabs.
    #[inline(always)]
    pub fn cell(&self, k: usize, u: f32) -> u32 {
        let (u, most) = (u * self.per_side[k], (self.size[k] - 1) as f32);
        let u = if u < most { u } else { most };
        let u = if u > 0.0 { u } else { 0.0 };
        u as i32 as u32
    }

    /// The cells of a box's two corners.
    #[inline(always)]
    pub fn cells(&self, b: &[f32; 6]) -> [[u32; 3]; 2] {
        let corner = |first| std::array::from_fn(|k| self.cell(k, b[first + k]));
        [corner(0), corner(3)]
    }

    /// A cell's number in its level.
    #[inline(always)]
    pub fn index(&self, [x, y, z]: [u32; 3]) -> u32 {
        (z * self.size[1] + y) * self.size[0] + x
    }
}

/// Boxes that are placed together.
pub(super) const BLOCK: usize = 64;

/// The bin of a body that is not there.
pub(super) const NO_BIN: u32 = u32::MAX;

/// The bin of a body that is not in the finest level.
const ELSEWHERE: u32 = u32::MAX - 1;

/// Boxes in units of the grid and where they are kept.
pub(super) struct Block {
    /// As in [`Columns`](crate::simd::box_columns::Columns).
    pub units: [[f32; BLOCK]; 6],
    /// Among all cells.
    pub cells: [u32; BLOCK],
    /// Among all bins, or [`NO_BIN`].
    pub bins: [u32; BLOCK],
}

impl Block {
    /// Nothing yet.
    pub const EMPTY: Block = Block { units: [[0.0; BLOCK]; 6], cells: [0; BLOCK], bins: [0; BLOCK] };
}

fn side(b: &Aabb) -> f64 {
    (b.high - b.low).max_element()
}

/// The largest side among the boxes that are not far larger than the median.
fn typical_side(sample: &[Aabb]) -> f64 {
    let mut sides: Vec<f64> = sample.iter().map(side).collect();
    sides.sort_by(f64::total_cmp);
    let Some(&median) = sides.get(sides.len() / 2) else { return 1.0 };
    sides[sides.partition_point(|&s| s <= TYPICAL * median) - 1].min(f64::MAX)
}

/// Where the boxes are on one axis, without a few that are far out.
fn middle_range(sample: &[Aabb], axis: usize) -> [f64; 2] {
    let mut centres: Vec<f64> = sample.iter().map(|b| b.low[axis] * 0.5 + b.high[axis] * 0.5).collect();
    centres.sort_by(f64::total_cmp);
    let [Some(&first), Some(&last)] = [centres.first(), centres.last()] else { return [0.0, 0.0] };
    let few = centres.len() / 32;
    let [low, high] = [centres[few], centres[centres.len() - 1 - few]];
    let [low, high] = [low - (high - low), high + (high - low)];
    [first.max(low), last.min(high)].map(|x| x.clamp(-GRID_LARGEST_EXTENT, GRID_LARGEST_EXTENT))
}
