//! Rows of cells: which runs of particles the particles of a cell look at.

use std::ops::Range;

use glam::DVec3;

use super::super::lattice::Lattice;

/// Particles in the order of their cells, row by row.
#[derive(Clone, Copy)]
pub(in super::super) struct RowCells<'a> {
    pub lattice: &'a Lattice,
    /// For each cell its first particle, and behind the last one their number.
    pub starts: &'a [u32],
}

/// Goes from one cell to the next that holds particles and knows the rows around it.
pub(in super::super) struct Seeker<'a> {
    cells: RowCells<'a>,
    /// The particles that look for others.
    first: usize,
    end: usize,
    /// The next cell, and the first cell of its row and of the row after it.
    cell: usize,
    row: usize,
    row_end: usize,
    behind: Vec<(usize, u32)>,
    runs: Vec<[usize; 2]>,
}

impl<'a> RowCells<'a> {
    /// Before the cell of particle `first`; the last one is that of the particle before `end`.
    pub fn seeker(self, first: usize, end: usize) -> Seeker<'a> {
        let cell = self.starts.partition_point(|&start| start as usize <= first).saturating_sub(1);
        Seeker { cells: self, first, end, cell, row: 0, row_end: 0, behind: Vec::new(), runs: Vec::new() }
    }

    /// Runs of particles that hold everything up to `radius` from a point.
    pub fn within(self, point: DVec3, radius: f64) -> impl Iterator<Item = Range<usize>> + 'a {
        let [x, y, z] = self.lattice.around(point, radius).unwrap_or([[0, 0], [1, 0], [1, 0]]);
        (z[0]..=z[1]).flat_map(move |z| (y[0]..=y[1]).map(move |y| [y, z])).map(move |[y, z]| {
            let row = (z * self.lattice.size[1] + y) as usize * self.lattice.size[0] as usize;
            self.starts[row + x[0] as usize] as usize..self.starts[row + x[1] as usize + 1] as usize
        })
    }
}

impl Seeker<'_> {
    /// Goes to the next cell with particles that look for others; returns the first of these and their end.
    #[inline(always)]
    pub fn advance(&mut self) -> Option<[usize; 2]> {
        while self.cell + 1 < self.cells.starts.len() {
            let cell = self.cell;
            let [start, end] = [cell, cell + 1].map(|cell| self.cells.starts[cell] as usize);
            if start >= self.end {
                return None;
            }
            self.cell += 1;
            if start < end {
                let own = [start.max(self.first), end.min(self.end)];
                self.enter(cell, own[0]);
                return Some(own);
            }
        }
        None
    }

    /// The candidates of the cell's particles: these first, then those behind them in their row, then the rows behind.
    #[inline(always)]
    pub fn runs(&self) -> &[[usize; 2]] {
        &self.runs
    }

    #[inline(always)]
    fn enter(&mut self, cell: usize, first: usize) {
        if cell >= self.row_end {
            self.enter_row(cell);
        }
        let RowCells { lattice, starts } = self.cells;
        let (place, length) = (cell - self.row, lattice.size[0] as usize);
        let ahead = |along: u32| (place + along as usize + 1).min(length);
        self.runs.clear();
        self.runs.push([first, starts[self.row + ahead(lattice.along_own_row())] as usize]);
        for &(row, along) in &self.behind {
            let back = place.saturating_sub(along as usize);
            self.runs.push([starts[row + back] as usize, starts[row + ahead(along)] as usize]);
        }
    }

    #[cold]
    fn enter_row(&mut self, cell: usize) {
        let [length, in_slab, _] = self.cells.lattice.size;
        let number = (cell / length as usize) as u32;
        self.row = number as usize * length as usize;
        self.row_end = self.row + length as usize;
        self.cells.lattice.rows_behind(number % in_slab, number / in_slab, &mut self.behind);
    }
}
