//! A uniform grid: particles in the order of their cells, each cell compared with the rows of cells behind it.
//!
//! The technique for many particles of one size. Every frame sorts anew (`sort`), which costs less than keeping track
//! of who moved. What the particles of a cell have to look at is copied side by side and tested eight or sixteen at a
//! time in fixed-point numbers (`lattice`, `scan`, [`point_columns`](crate::simd::point_columns)), and only where these
//! leave a doubt the doubles are asked. Cell lists go back to Quentrec and Brot, "New method for searching for
//! neighbors in molecular dynamics computations", 1973; here rows of cells take the place of single ones: five runs
//! of candidates instead of fourteen.

mod rows;
mod sort;

use super::images::Images;
use super::lattice::Lattice;
use super::point_queries::{nearest_by_growing, within_candidates};
use super::scan::{Scan, Scratch, Structure};
use super::{Nearest, NeighbourSearch, Particles, SearchCounters, Technique};
use crate::num::stages;
use crate::simd::SimdLevel;
pub(super) use rows::RowCells;
use sort::Cells;

/// Particles from which on a second thread is kept awake between the stages of a search: for fewer there is one stage to share
/// at most.
const ATTENDED: usize = 1 << 15;

/// Particles in cells.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    level: SimdLevel,
    voxel: Option<f64>,
    lattice: Lattice,
    images: Images,
    cells: Cells,
    scratch: Scratch,
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
            scratch: Scratch::default(),
            counters: SearchCounters::default(),
        }
    }

    fn rows(&self) -> RowCells<'_> {
        RowCells { lattice: &self.lattice, starts: &self.cells.starts }
    }

    fn search_frame(&mut self, particles: &Particles<'_>, pairs: &mut Vec<[u32; 2]>) {
        self.update(particles);
        let mut scratch = std::mem::take(&mut self.scratch);
        let scan = Scan {
            particles,
            images: &self.images,
            points: &self.cells.points,
            limits: self.lattice.limits(),
            structure: Structure::Rows(self.rows()),
        };
        let tests = scan.pairs(self.level, &mut scratch, pairs);
        self.scratch = scratch;
        self.counters = SearchCounters {
            tests,
            pairs: pairs.len() as u64,
            updates: self.cells.points.len() as u64,
            bytes: self.images.bytes() + self.cells.bytes() + self.scratch.bytes(),
            ..SearchCounters::default()
        };
    }
}

impl NeighbourSearch for Grid {
    fn technique(&self) -> Technique {
        Technique::Grid
    }

    fn update(&mut self, particles: &Particles<'_>) {
        self.images.update(particles);
        self.lattice = Lattice::dense(particles, &self.images, self.voxel);
        self.cells.sort(self.level, particles, &self.images, &self.lattice);
    }

    fn search(&mut self, particles: &Particles<'_>, pairs: &mut Vec<[u32; 2]>) {
        if particles.len() < ATTENDED {
            self.search_frame(particles, pairs);
        } else {
            stages::attended(|| self.search_frame(particles, pairs));
        }
    }

    fn counters(&self) -> SearchCounters {
        self.counters
    }

    fn nearest(&self, particles: &Particles<'_>, point: [f64; 3], k: usize, found: &mut Vec<Nearest>) {
        let within = |radius: f64, found: &mut Vec<Nearest>| self.within(particles, point, radius, found);
        nearest_by_growing(particles, self.lattice.width(), k, found, within);
    }

    fn within(&self, particles: &Particles<'_>, point: [f64; 3], radius: f64, found: &mut Vec<Nearest>) {
        within_candidates(particles, point, radius, found, |centre, radius, each| {
            let slots = self.rows().within(centre, radius).flatten();
            slots.for_each(|slot| each(self.cells.points.number(slot)));
        });
    }
}

/// Half the side of the cube around a particle in which a grid would look for its neighbours.
pub(super) fn candidate_cube(particles: &Particles<'_>, voxel: Option<f64>) -> f64 {
    Lattice::dense(particles, &Images::default(), voxel).candidate_cube()
}
