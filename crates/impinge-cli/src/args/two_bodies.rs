//! Commands about two bodies.

use std::path::PathBuf;

use clap::{Args as Group, ValueEnum};
use impinge::Pose;

use super::values::{Drawing, margin};
use crate::pose;

/// Two meshes and where they are.
#[derive(Debug, Group)]
pub struct Two {
    /// The first mesh file
    pub a: PathBuf,
    /// The second mesh file
    pub b: PathBuf,
    /// Where a is: x,y,z or x,y,z,qx,qy,qz,qw
    #[arg(long, value_parser = pose::parse, value_name = "POSE", allow_hyphen_values = true)]
    pub at_a: Option<Pose>,
    /// Where b is
    #[arg(long, value_parser = pose::parse, value_name = "POSE", allow_hyphen_values = true)]
    pub at_b: Option<Pose>,
}

/// `impinge check`.
#[derive(Debug, Group)]
pub struct Check {
    /// The bodies.
    #[command(flatten)]
    pub two: Two,
    /// Lists every pair of triangles that meet
    #[arg(long)]
    pub all: bool,
    /// Lists every pair of triangles at most this far apart (meeting ones included)
    #[arg(long, value_parser = margin, value_name = "DISTANCE", allow_hyphen_values = true)]
    pub margin: Option<f64>,
    /// The picture: the bodies with the meeting triangles, or the curves along which they meet, in red.
    #[command(flatten)]
    pub drawing: Drawing,
}

/// `impinge distance`.
#[derive(Debug, Group)]
pub struct Distance {
    /// The bodies.
    #[command(flatten)]
    pub two: Two,
}

/// `impinge volume`.
#[derive(Debug, Group)]
pub struct Volume {
    /// The bodies.
    #[command(flatten)]
    pub two: Two,
    /// Writes the derivative of the volume by the position of every vertex: CSV, JSON or PLY, by the ending
    #[arg(long, value_name = "FILE")]
    pub gradient: Option<PathBuf>,
    /// Writes the boundary of the intersection as a closed mesh: OBJ, STL or PLY, by the ending; without an overlap
    /// nothing is written
    #[arg(long, value_name = "FILE")]
    pub mesh: Option<PathBuf>,
    /// Pixels along each side of the images, at most 4096 (method image)
    #[arg(long, value_name = "N", conflicts_with = "error")]
    pub resolution: Option<u32>,
    /// The wanted error of the volume as a share of it: images are refined until they state it (method image)
    #[arg(long, value_name = "SHARE")]
    pub error: Option<f64>,
    /// What an open mesh bounds: everything behind it (half_space), or what it winds around at least half (winding)
    #[arg(long, value_name = "HOW")]
    pub open: Option<Open>,
    /// The picture: the bodies, and beside them the border of the intersection.
    #[command(flatten)]
    pub drawing: Drawing,
}

/// What an open mesh bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Open {
    /// Everything behind it, without end.
    HalfSpace,
    /// What it winds around at least half.
    Winding,
}

/// `impinge contacts`.
#[derive(Debug, Group)]
pub struct Contacts {
    /// The bodies.
    #[command(flatten)]
    pub two: Two,
    /// Also contacts where the surfaces are at most this far apart
    #[arg(long, value_name = "DISTANCE", default_value_t = 0.0, allow_negative_numbers = true)]
    pub margin: f64,
    /// Whether open meshes push to both sides or along the normals of their triangles only
    #[arg(long, value_name = "1|2", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=2))]
    pub sides: u8,
    /// The picture: both bodies, and an arrow along the normal at every place.
    #[command(flatten)]
    pub drawing: Drawing,
}

/// `impinge separate`.
#[derive(Debug, Group)]
pub struct Separate {
    /// The bodies.
    #[command(flatten)]
    pub two: Two,
}

/// `impinge sweep`.
#[derive(Debug, Group)]
pub struct Sweep {
    /// The bodies.
    #[command(flatten)]
    pub two: Two,
    /// Where a is at the end of the step
    #[arg(long, value_parser = pose::parse, value_name = "POSE", allow_hyphen_values = true)]
    pub to_a: Option<Pose>,
    /// Where b is at the end of the step
    #[arg(long, value_parser = pose::parse, value_name = "POSE", allow_hyphen_values = true)]
    pub to_b: Option<Pose>,
    /// Whole turns that bodies with another pose make besides (about their way, or z, if they do not turn otherwise)
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub turns: u32,
    /// How the translation along the screw axis follows the rotation: uniform, or contact (the tangent of half the angle)
    #[arg(long, default_value = "uniform", value_name = "LAW")]
    pub law: String,
    /// How much too early the time may be, in units of the step [default: 1e-6]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub tolerance: Option<f64>,
    /// How near counts as a hit where no contact can be proved [default: 1e-9 of the scene's size]
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    pub slack: Option<f64>,
    /// Takes closed meshes as surfaces without an inside: a body may begin within one
    #[arg(long)]
    pub surfaces: bool,
    /// The picture: the bodies at the start, at the contact and at the end.
    #[command(flatten)]
    pub drawing: Drawing,
}
