//! A uniform grid: particles in the order of their cells, each compared with the rows of cells behind it.
//!
//! The technique for many particles of one size. Every frame sorts anew (`sort`), which costs less than keeping track
//! of who moved; candidates stand side by side and are tested sixteen at a time in fixed-point numbers (`lattice`,
//! [`point_columns`](crate::simd::point_columns)), and only where these leave a doubt the doubles are asked. Cell lists
//! go back to Quentrec and Brot, "New method for searching for neighbors in molecular dynamics computations", 1973;
//! here rows of cells take the place of single ones: five runs of candidates instead of fourteen.

mod lattice;
mod search;
mod sort;

use super::images::Images;
use super::{NeighbourSearch, Particles, SearchCounters, Technique};
use crate::simd::SimdLevel;
use lattice::Lattice;
use search::Search;
use sort::Cells;

/// Particles in cells.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    level: SimdLevel,
    voxel: Option<f64>,
    lattice: Lattice,
    images: Images,
    cells: Cells,
    scratch: Vec<search::Found>,
    counters: SearchCounters,
}

impl Grid {
    /// A grid whose cells are about as wide as `voxel` says; without it, as the density suggests.
    pub fn new(voxel: Option<f64>) -> Grid {
        Grid {
            level: SimdLevel::best(),
            voxel,
            lattice: Lattice::default(),
            images: Images::default(),
            cells: Cells::default(),
            scratch: Vec::new(),
            counters: SearchCounters::default(),
        }
    }
}

impl NeighbourSearch for Grid {
    fn technique(&self) -> Technique {
        Technique::Grid
    }

    fn search(&mut self, particles: &Particles<'_>, pairs: &mut Vec<[u32; 2]>) {
        self.images.update(particles);
        self.lattice = Lattice::choose(particles, &self.images, self.voxel);
        self.cells.sort(self.level, particles, &self.images, &self.lattice);
        let search = Search { particles, images: &self.images, lattice: &self.lattice, cells: &self.cells };
        let tests = search.pairs(self.level, &mut self.scratch, pairs);
        self.counters = SearchCounters {
            tests,
            pairs: pairs.len() as u64,
            updates: self.cells.points.len() as u64,
            bytes: self.images.bytes()
                + self.cells.bytes()
                + self.scratch.iter().map(|f| f.bytes()).sum::<u64>(),
        };
    }

    fn counters(&self) -> SearchCounters {
        self.counters
    }
}
