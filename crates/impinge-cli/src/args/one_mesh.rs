//! Commands about one mesh.

use std::path::PathBuf;

use clap::Args as Group;
use impinge::Pose;

use super::values::{Drawing, margin, png};
use crate::pose;

/// `impinge inspect`.
#[derive(Debug, Group)]
pub struct Inspect {
    /// The mesh file
    pub mesh: PathBuf,
}

/// `impinge rays`.
#[derive(Debug, Group)]
pub struct Rays {
    /// The mesh file
    pub mesh: PathBuf,
    /// The rays, a CSV file
    #[arg(long, value_name = "FILE.csv")]
    pub rays: PathBuf,
    /// Where the mesh is: x,y,z or x,y,z,qx,qy,qz,qw
    #[arg(long, value_parser = pose::parse, value_name = "POSE", allow_hyphen_values = true)]
    pub at: Option<Pose>,
    /// The picture.
    #[command(flatten)]
    pub drawing: Drawing,
}

/// `impinge self`.
#[derive(Debug, Group)]
pub struct SelfIntersect {
    /// The mesh file
    pub mesh: PathBuf,
    /// The same mesh at the end of a step: what meets while each vertex moves there on a straight line
    #[arg(long, value_name = "MESH2")]
    pub to: Option<PathBuf>,
    /// With --to: lists every vertex and face and every two edges that meet, each with its time
    #[arg(long, requires = "to")]
    pub all: bool,
    /// With --to: counts what comes at most this near as meeting
    #[arg(long, requires = "to", default_value_t = 0.0, value_parser = margin, value_name = "DISTANCE",
        allow_hyphen_values = true)]
    pub margin: f64,
    /// The picture: the triangles that meet in red.
    #[command(flatten)]
    pub drawing: Drawing,
}

/// `impinge decompose`.
#[derive(Debug, Group)]
pub struct Decompose {
    /// The mesh file
    pub mesh: PathBuf,
    /// Parts, at most
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub parts: u32,
    /// A piece is good enough when its hull exceeds it by this share of the whole volume
    #[arg(long, default_value_t = 0.0, value_parser = margin, value_name = "SHARE", allow_hyphen_values = true)]
    pub tolerance: f64,
    /// Writes the parts into one mesh file: OBJ, STL or PLY
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The picture: the parts, each in its colour, drawn apart.
    #[command(flatten)]
    pub drawing: Drawing,
}

/// `impinge shells`.
#[derive(Debug, Group)]
pub struct MakeShells {
    /// The mesh file
    pub mesh: PathBuf,
    /// Levels, the mesh itself among them; fewer where no more can be made [default: down to a few tens of facets]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32))]
    pub levels: Option<u32>,
    /// Saves the shells
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Draws the levels side by side
    #[arg(long, value_name = "FILE.png", value_parser = png)]
    pub picture: Option<PathBuf>,
}
