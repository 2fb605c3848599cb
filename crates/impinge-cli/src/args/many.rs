//! Commands about many things: parts, particles, questions, scenes.

use std::path::PathBuf;

use clap::Args as Group;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;

use super::values::{Periodic, along, factor, margin, periodic, png};

/// `impinge clash`.
#[derive(Debug, Group)]
pub struct Clash {
    /// Mesh files and folders of mesh files
    #[arg(required = true, value_name = "FILES")]
    pub files: Vec<PathBuf>,
    /// Parts at most this far apart clash too
    #[arg(long, default_value_t = 0.0, value_parser = margin, value_name = "DISTANCE", allow_hyphen_values = true)]
    pub clearance: f64,
    /// Tells kinds and gaps only; depths, separations and volumes take most of the time
    #[arg(long)]
    pub only_kinds: bool,
    /// Leaves out one pair, by the names of its parts; may be given several times
    #[arg(long, value_name = "A,B")]
    pub ignore: Vec<String>,
    /// Multiplies all coordinates; lengths are in scaled units
    #[arg(long, default_value_t = 1.0, value_parser = factor, value_name = "FACTOR", allow_hyphen_values = true)]
    pub scale: f64,
    /// What lengths are measured in, for the heads of the page: mm, for example
    #[arg(long, value_name = "UNIT")]
    pub unit: Option<String>,
    /// Writes the clashes to a file: .csv, .json, or .html for a page with pictures
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `impinge particles`.
#[derive(Debug, Group)]
pub struct Particles {
    /// The particle file: CSV, XYZ, PDB or PLY; `-` is standard input
    pub file: PathBuf,
    /// The largest distance of a pair; with --radii what is added to the radii [default with --radii: 0]
    #[arg(long, value_name = "R", allow_hyphen_values = true, required_unless_present = "radii")]
    pub radius: Option<f64>,
    /// Takes particles as spheres with the radii of the file
    #[arg(long)]
    pub radii: bool,
    /// Repeats a box, without ZLO,ZHI in x and y only, the cell of three vectors AX,AY,AZ,BX,…,CZ, or the cell that the file
    /// names (file)
    #[arg(long, value_parser = periodic, value_name = "XLO,XHI,YLO,YHI[,ZLO,ZHI]", allow_hyphen_values = true)]
    pub periodic: Option<Periodic>,
    /// Along which of its three vectors: some of x, y and z [default: all, or what the file says]
    #[arg(long, value_parser = along, value_name = "AXES", requires = "periodic")]
    pub along: Option<[bool; 3]>,
    /// The width of cells, for grid, hash and hybrid [default: by the density]
    #[arg(long, value_name = "WIDTH", allow_hyphen_values = true)]
    pub voxel: Option<f64>,
    /// Writes all pairs to a file, CSV or JSON by its ending
    #[arg(long, value_name = "FILE")]
    pub pairs: Option<PathBuf>,
    /// Adds to that file the distances, the ways from i to j and which image of j they lead to
    #[arg(long, requires = "pairs")]
    pub vectors: bool,
}

/// `impinge query`.
#[derive(Debug, Group)]
pub struct Query {
    /// The batch, one JSON question per line; `-` is standard input
    pub file: PathBuf,
}

/// `impinge simulate`.
#[derive(Debug, Group)]
pub struct Simulate {
    /// The scene
    #[arg(value_parser = scenes())]
    pub scene: String,
    /// How many frames [default: 200, walkthrough and bounce 600, manipulate and press 400, hand and clusters 100,
    /// tunnel 20]
    #[arg(long, value_name = "N")]
    pub frames: Option<u64>,
    /// How many bodies (multibody, bounce) [default: 1000, bounce 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub bodies: Option<u64>,
    /// How many particles (clusters) [default: 8000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub particles: Option<u64>,
    /// The width of cells, for grid, hash and hybrid (clusters) [default: by the density]
    #[arg(long, value_name = "WIDTH", allow_hyphen_values = true)]
    pub voxel: Option<f64>,
    /// Writes every frame as a line of JSON
    #[arg(long, value_name = "FILE.jsonl")]
    pub record: Option<PathBuf>,
    /// Draws the last frame, contacts in red
    #[arg(long, value_name = "FILE.png", value_parser = png)]
    pub picture: Option<PathBuf>,
    /// Compares every frame with brute force and with what must be conserved
    #[arg(long)]
    pub check: bool,
}

/// The scene of particles; all others are of bodies.
pub const CLUSTERS: &str = "clusters";

fn scenes() -> PossibleValuesParser {
    PossibleValuesParser::new(impinge_sim::scenes::NAMES.into_iter().chain([CLUSTERS]))
}

/// `impinge demo`.
#[derive(Debug, Default, Group)]
pub struct Demo {
    /// Draws a scene with the meeting triangles in red
    #[arg(long, value_name = "FILE.png", value_parser = png)]
    pub picture: Option<PathBuf>,
}

/// `impinge completions`.
#[derive(Debug, Group)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}
