//! The techniques by name.

use std::fmt;
use std::str::FromStr;

use super::NeighbourSearch;
use super::brute::Brute;
use super::grid::Grid;
use crate::error::Error;

/// A way to search pairs; all find the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Technique {
    /// A uniform grid: for many particles of about one size.
    Grid,
    /// Every pair tried.
    Brute,
}

impl Technique {
    /// All of them.
    pub const ALL: &'static [Technique] = &[Technique::Grid, Technique::Brute];

    /// Its name, as `--method` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Technique::Grid => "grid",
            Technique::Brute => "brute",
        }
    }

    /// A structure without particles yet.
    pub fn start(self) -> Box<dyn NeighbourSearch> {
        self.start_with(None)
    }

    /// The same with cells of about the width `voxel`, if the technique has cells.
    pub fn start_with(self, voxel: Option<f64>) -> Box<dyn NeighbourSearch> {
        match self {
            Technique::Grid => Box::new(Grid::new(voxel)),
            Technique::Brute => Box::new(Brute::default()),
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
