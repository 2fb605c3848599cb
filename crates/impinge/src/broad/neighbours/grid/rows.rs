//! Rows of cells: which runs of particles one particle looks at.

use std::ops::Range;

use glam::DVec3;

use super::super::lattice::Lattice;

/// Particles in the order of their fine cells, row by row.
#[derive(Clone, Copy)]
pub(in super::super) struct RowCells<'a> {
    pub lattice: &'a Lattice,
    /// The fine cell of each particle.
    pub cells: &'a [u32],
    /// For each fine cell its first particle, and behind the last one their number.
    pub starts: &'a [u32],
}

/// Goes through particles in their order and knows the rows around them.
pub(in super::super) struct Seeker<'a> {
    cells: RowCells<'a>,
    own_along: u32,
    /// The first fine cell of the row, and of the next one.
    row: usize,
    row_end: usize,
    /// The particle's fine cell in its row.
    cell: u32,
    behind: Vec<(usize, u32)>,
}

impl<'a> RowCells<'a> {
    /// Before the first particle.
    pub fn seeker(self) -> Seeker<'a> {
        Seeker {
            cells: self,
            own_along: self.lattice.along_own_row(),
            row: 0,
            row_end: 0,
            cell: 0,
            behind: Vec::new(),
        }
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
    /// Goes to a particle; returns how many runs of particles it looks at: those behind it in its row, and one for each
    /// row behind.
    #[inline(always)]
    pub fn enter(&mut self, slot: usize) -> usize {
        let cell = self.cells.cells[slot] as usize;
        if cell >= self.row_end {
            self.enter_row(cell as u32);
        }
        self.cell = (cell - self.row) as u32;
        self.behind.len() + 1
    }

    /// The first and the end of a run; `place` is the particle's first coordinate.
    #[inline(always)]
    pub fn run(&self, k: usize, slot: usize, place: u32) -> [usize; 2] {
        let RowCells { lattice, starts, .. } = self.cells;
        if k == 0 {
            let [_, last] = lattice.stretch(self.cell, place, 0, self.own_along);
            return [slot + 1, starts[self.row + last] as usize];
        }
        let (row, along) = self.behind[k - 1];
        let [first, last] = lattice.stretch(self.cell, place, along, along);
        [starts[row + first] as usize, starts[row + last] as usize]
    }

    #[cold]
    fn enter_row(&mut self, cell: u32) {
        let [length, in_slab, _] = self.cells.lattice.size;
        let number = cell / length;
        self.row = number as usize * length as usize;
        self.row_end = self.row + length as usize;
        self.cells.lattice.rows_behind(number % in_slab, number / in_slab, &mut self.behind);
    }
}
