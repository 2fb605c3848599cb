//! `impinge shells`: layered shells of a mesh, made, reported, saved and drawn.

use std::io::Write;

use impinge::{Mesh, Method, Outcome, Pose, Shape, ShellLevel, Shells};
use serde::Serialize;

use crate::args::{Common, Format, MakeShells};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::json_answer::Assurance;
use crate::picture::{self, Figure, Picture};
use crate::{commands, load, output, progress};

/// Of each level in the picture, in pixels.
const WIDTH: u32 = 360;
const HEIGHT: u32 = 360;

/// What answers.
const METHOD: &str = Method::Exact.name();

#[derive(Debug, Serialize)]
struct Found {
    /// The diagonal of the mesh's box; offsets and radii below are parts of it.
    size: f64,
    levels: Vec<LevelReport>,
    method: &'static str,
    #[serde(flatten)]
    assurance: Assurance,
}

/// A level; lengths are parts of the body's size.
#[derive(Debug, Serialize)]
struct LevelReport {
    facets: usize,
    mean_radius: f64,
    mean_outer: f64,
    largest_outer: f64,
    mean_inner: f64,
    largest_inner: f64,
    /// Mean over the facets of the largest distance of the surface from the shell's outer surface.
    tightness: f64,
    /// The same without edge planes.
    tightness_of_discs: f64,
    edge_planes: usize,
}

/// Makes the shells, writes and draws them if files are named.
pub fn run(args: &MakeShells, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let busy = progress::spinner(&format!("simplifying {}", args.mesh.display()));
    commands::only_exact(common, "shells")?;
    let shape = load::shape(&args.mesh)?;
    explain.mesh("mesh", &shape);
    explain.lap("load");
    let mut query = common.settings().query();
    let answered = query.shells(&shape, args.levels.map(|levels| levels as usize))?;
    busy.finish_and_clear();
    explain.lap("shells");
    explain.work(&answered.work);
    let outcome = answered.outcome();
    let Some(shells) = answered.value else { return undecided(common, &outcome) };
    if let Some(path) = &args.out {
        shells.save(path)?;
    }
    if let Some(path) = &args.picture {
        output::file(path, &draw(&shape, &shells)?)?;
    }
    let bounds = shape.bounds(&Pose::IDENTITY);
    let size = bounds.low.distance(bounds.high);
    let levels = shells.report().iter().map(|level| report(level, size)).collect();
    let found = Found { size, levels, method: METHOD, assurance: Assurance::EXACT };
    match common.format {
        Format::Json => commands::json(&found)?,
        Format::Text => output::print(|out| text(&found, out))?,
    }
    Ok(Exit::Free)
}

/// The budget ended before the shells were made.
fn undecided(common: &Common, outcome: &Outcome) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Open {
        levels: Option<Vec<LevelReport>>,
        method: &'static str,
        #[serde(flatten)]
        assurance: Assurance,
    }
    let assurance = Assurance::from(outcome).of_nothing();
    match common.format {
        Format::Json => commands::json(Open { levels: None, method: METHOD, assurance })?,
        Format::Text => output::print(|out| writeln!(out, "undecided\n({assurance})"))?,
    }
    Ok(Exit::Undecided)
}

fn report(level: &ShellLevel, size: f64) -> LevelReport {
    // A body that is one point has no size, and its facets none either.
    let part = |length: f64| if size > 0.0 { length / size } else { 0.0 };
    LevelReport {
        facets: level.facets,
        mean_radius: part(level.mean_radius),
        mean_outer: part(level.mean_outer),
        largest_outer: part(level.largest_outer),
        mean_inner: part(level.mean_inner),
        largest_inner: part(level.largest_inner),
        tightness: part(level.mean_offset),
        tightness_of_discs: part(level.mean_offset_of_discs),
        edge_planes: level.edge_planes,
    }
}

fn text(found: &Found, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "{} levels; lengths in percent of the size {:?}", found.levels.len(), found.size)?;
    writeln!(
        out,
        "level    facets   radius    outer      max    inner      max    tight  discs only  edge planes"
    )?;
    for (k, level) in found.levels.iter().enumerate() {
        let lengths = [
            level.mean_radius,
            level.mean_outer,
            level.largest_outer,
            level.mean_inner,
            level.largest_inner,
            level.tightness,
        ];
        write!(out, "{k:>5} {:>9}", level.facets)?;
        lengths.iter().try_for_each(|length| write!(out, " {:>8.4}", 100.0 * length))?;
        writeln!(out, "  {:>10.4}  {:>11}", 100.0 * level.tightness_of_discs, level.edge_planes)?;
    }
    writeln!(out, "({})", found.assurance)
}

/// The mesh and the discs of its levels, side by side.
fn draw(shape: &Shape, shells: &Shells) -> Result<Vec<u8>, Failure> {
    let mut meshes: Vec<Mesh> = shape.as_mesh().cloned().into_iter().collect();
    meshes.extend((1..shells.report().len()).filter_map(|level| shells.discs(level)));
    let alone = |(k, mesh)| {
        let colour = picture::BODIES[usize::from(k == 0)];
        Picture {
            figures: vec![Figure { mesh, pose: &Pose::IDENTITY, colour, red: Vec::new() }],
            ..Picture::default()
        }
    };
    let pictures: Vec<Picture<'_>> = meshes.iter().enumerate().map(alone).collect();
    picture::side_by_side(&pictures, WIDTH * pictures.len() as u32, HEIGHT)
}
