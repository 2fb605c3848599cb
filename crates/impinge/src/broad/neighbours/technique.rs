//! The techniques by name.

use std::fmt;
use std::str::FromStr;

use super::brute::Brute;
use super::bsp_tree::BspTree;
use super::grid::Grid;
use super::hash::Hash;
use super::hybrid::{self, Hybrid};
use super::kd_tree::KdTree;
use super::lattice::MOST_CELLS;
use super::octree::Octree;
use super::r_star_search::RStarSearch;
use super::spanner_search::SpannerSearch;
use super::sweep_and_prune::SweepAndPrune;
use super::{NeighbourSearch, Particles};
use crate::error::Error;

/// A way to search pairs; all find the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Technique {
    /// A uniform grid: for many particles of about one size.
    Grid,
    /// Spatial hashing: for sets of great extent with much empty space.
    Hash,
    /// A kd-tree: for any density and balls of very different sizes.
    KdTree,
    /// Every pair tried.
    Brute,
    /// A cube cut into eight, as long as too many are in one.
    Octree,
    /// Planes that stay while they divide the particles well.
    Bsp,
    /// Boxes grouped by overlap and margin, with forced reinsertion.
    RStar,
    /// Intervals on one axis, sorted.
    Sweep,
    /// The hierarchy of discrete centres of the deformable spanner.
    Spanner,
    /// One after the other, whichever is expected to be fastest.
    Hybrid,
}

impl Technique {
    /// All of them.
    pub const ALL: &'static [Technique] = &[
        Technique::Grid,
        Technique::Hash,
        Technique::KdTree,
        Technique::Octree,
        Technique::Bsp,
        Technique::RStar,
        Technique::Sweep,
        Technique::Spanner,
        Technique::Hybrid,
        Technique::Brute,
    ];

    /// Its name, as `--method` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Technique::Grid => "grid",
            Technique::Hash => "hash",
            Technique::KdTree => "kd_tree",
            Technique::Brute => "brute",
            Technique::Octree => "octree",
            Technique::Bsp => "bsp",
            Technique::RStar => "rstar",
            Technique::Sweep => "sweep",
            Technique::Spanner => "spanner",
            Technique::Hybrid => "hybrid",
        }
    }

    /// The technique that suits a frame, by its extent and the sizes of its balls: the grid, unless most of its cells
    /// would be empty or hold many small balls because of a few large ones; a tree where cells as wide as the cutoff are
    /// too many to be numbered, as with one particle far away from all others. Of few particles every pair is tried: as
    /// long as that is expected to take less than to sort them into cells, by the coefficients of the hybrid. What takes a
    /// sample of the particles, as the hybrid does, would cost a good part of the search.
    pub fn choose(particles: &Particles<'_>) -> Technique {
        /// Cells as wide as the cutoff, for each particle, from which on a grid would have to make them wider.
        const EMPTY_CELLS: f64 = 8.0;
        /// How many times larger than the mean the largest radius may be.
        const UNEQUAL: f64 = 8.0;
        if hybrid::are_few(particles.len()) {
            return Technique::Brute;
        }
        let (radii, count) = (particles.radii(), particles.len().max(1) as f64);
        let mean = radii.iter().sum::<f64>() / count;
        if particles.reach() > UNEQUAL * (2.0 * mean + particles.cutoff()) {
            return Technique::KdTree;
        }
        let [low, high] = particles.bounds();
        let cells = (high - low).to_array().map(|x| (x / particles.reach()).max(0.0) + 1.0);
        if cells.iter().any(|&along| along > MOST_CELLS) {
            return Technique::KdTree;
        }
        let cells: f64 = cells.iter().product();
        if cells > EMPTY_CELLS * count { Technique::Hash } else { Technique::Grid }
    }

    /// When [`Technique::choose`] takes it, as a sentence for people.
    pub fn about(self) -> &'static str {
        match self {
            Technique::Grid => "the particles fill the cells of a grid, and no ball is much larger than most",
            Technique::Hash => "most cells of a grid would be empty",
            Technique::KdTree => {
                "the largest balls are much larger than most, or the particles lie very far apart"
            }
            Technique::Brute => {
                "there are so few that trying every pair takes less than sorting them into cells"
            }
            Technique::Octree => "cuts cubes into eight where particles are dense",
            Technique::Bsp => "keeps planes that still divide the particles well",
            Technique::RStar => "keeps boxes from frame to frame",
            Technique::Sweep => "sorts the particles along one axis",
            Technique::Spanner => "keeps a hierarchy of discrete centres",
            Technique::Hybrid => "switches while running",
        }
    }

    /// A structure without particles yet.
    pub fn start(self) -> Box<dyn NeighbourSearch> {
        self.start_with(None)
    }

    /// Whether it has cells, whose width can be chosen.
    pub fn has_cells(self) -> bool {
        matches!(self, Technique::Grid | Technique::Hash | Technique::Hybrid)
    }

    /// The same with cells of about the width `voxel`, if the technique has cells ([`Technique::has_cells`]); the hybrid
    /// has them while its technique of the time has.
    pub fn start_with(self, voxel: Option<f64>) -> Box<dyn NeighbourSearch> {
        match self {
            Technique::Grid => Box::new(Grid::new(voxel)),
            Technique::Hash => Box::new(Hash::new(voxel)),
            Technique::KdTree => Box::new(KdTree::default()),
            Technique::Brute => Box::new(Brute::default()),
            Technique::Octree => Box::new(Octree::default()),
            Technique::Bsp => Box::new(BspTree::default()),
            Technique::RStar => Box::new(RStarSearch::default()),
            Technique::Sweep => Box::new(SweepAndPrune::default()),
            Technique::Spanner => Box::new(SpannerSearch::default()),
            Technique::Hybrid => Box::new(Hybrid::new(voxel)),
        }
    }
}

impl fmt::Display for Technique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Technique {
    type Err = Error;

    fn from_str(name: &str) -> Result<Technique, Error> {
        Technique::ALL.iter().copied().find(|t| t.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Technique::ALL.iter().map(|t| t.name()).collect();
            let reason = format!("{name} is not one of {}", names.join(", "));
            Error::Argument { name: "method", reason }
        })
    }
}
