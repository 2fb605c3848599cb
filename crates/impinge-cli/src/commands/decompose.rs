//! `impinge decompose`: a closed mesh as convex parts.

use std::io::Write;

use glam::DVec3;
use impinge::{
    DecomposeEnd, DecomposeOptions, Decomposition, Finish, Mass, Mesh, Method, Outcome, Pose, Shape,
};
use serde::Serialize;

use crate::args::{Common, Decompose, Format};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::json_answer::Assurance;
use crate::picture::{self, Figure, Picture};
use crate::{commands, load, output, progress};

/// How far the parts of a picture stand apart, as a share of their way from the middle.
const SPREAD: f64 = 0.25;

/// What answers.
const METHOD: &str = Method::Exact.name();

#[derive(Debug, Serialize)]
struct Found {
    /// Null when the budget ended before the last cut.
    count: Option<usize>,
    /// Of the solid, which the parts make up or cover; null as long as they are not all there.
    volume: Option<f64>,
    /// By which parts exceed their pieces of the solid.
    excess: f64,
    /// No point of a part is farther from the solid.
    deviation: f64,
    /// Why no more cuts were made; pieces of the last cut may have been joined again.
    ended: &'static str,
    parts: Vec<PartReport>,
    method: &'static str,
    #[serde(flatten)]
    assurance: Assurance,
}

#[derive(Debug, Serialize)]
struct PartReport {
    vertices: usize,
    faces: usize,
    volume: f64,
    centre: [f64; 3],
}

/// Finds the parts, and writes them to a file if one is named.
pub fn run(args: &Decompose, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let busy = progress::spinner(&format!("decomposing {}", args.mesh.display()));
    commands::only_exact(common, "a decomposition")?;
    let shape = load::shape(&args.mesh)?;
    explain.mesh("mesh", &shape);
    explain.lap("load");
    let options = DecomposeOptions { most_parts: args.parts as usize, tolerance: args.tolerance };
    let name = args.mesh.display().to_string();
    let mut query = common.settings().query();
    let answered = query.decompose(&shape, &options).map_err(|e| Failure(e.to_string()).at(&name))?;
    busy.finish_and_clear();
    explain.lap("decompose");
    explain.work(&answered.work);
    let outcome = answered.outcome();
    // What the budget was enough for covers the solid too.
    let Some(found) = answered.value.or(answered.so_far) else { return undecided(common, &outcome) };
    let keeps = args.output.is_some() || args.drawing.picture.is_some();
    let (mut parts, mut meshes) = (Vec::with_capacity(found.parts.len()), Vec::new());
    for part in &found.parts {
        let (part, surface) = report(part)?;
        parts.push(part);
        meshes.extend(keeps.then_some(surface));
    }
    let meshes: Vec<&Mesh> = meshes.iter().filter_map(Shape::as_mesh).collect();
    if let Some(path) = &args.output {
        impinge::io::save_parts(path, &meshes)?;
    }
    let poses = apart(&meshes)?;
    args.drawing.save(|| {
        let figures = meshes.iter().zip(&poses).enumerate();
        let figure =
            |(n, (&mesh, pose))| Figure { mesh, pose, colour: picture::colour_of(n), red: Vec::new() };
        Picture { figures: figures.map(figure).collect(), ..Picture::default() }
    })?;
    let open = outcome.finish == Finish::OutOfBudget;
    let assurance = Assurance::from(&outcome);
    let assurance = if open { assurance.of_nothing() } else { assurance };
    match common.format {
        Format::Json => commands::json(answer(&found, parts, assurance))?,
        Format::Text => output::print(|out| text(&found, &parts, options.most_parts, assurance, out))?,
    }
    Ok(if open { Exit::Undecided } else { Exit::Free })
}

/// Moves the parts away from the middle, so that the cuts between them can be seen.
fn apart(parts: &[&Mesh]) -> Result<Vec<Pose>, Failure> {
    let middle = |mesh: &&Mesh| mesh.vertices().iter().sum::<DVec3>() / mesh.vertices().len().max(1) as f64;
    let centre = parts.iter().map(middle).sum::<DVec3>() / parts.len().max(1) as f64;
    let pose = |mesh: &&Mesh| Ok(Pose::from_translation((middle(mesh) - centre) * SPREAD)?);
    parts.iter().map(pose).collect()
}

/// The budget ended before anything was found.
fn undecided(common: &Common, outcome: &Outcome) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Open {
        count: Option<usize>,
        method: &'static str,
        #[serde(flatten)]
        assurance: Assurance,
    }
    let assurance = Assurance::from(outcome).of_nothing();
    match common.format {
        Format::Json => commands::json(Open { count: None, method: METHOD, assurance })?,
        Format::Text => output::print(|out| writeln!(out, "undecided\n({assurance})"))?,
    }
    Ok(Exit::Undecided)
}

/// What is told of a part, and its surface as a mesh.
fn report(part: &Shape) -> Result<(PartReport, Shape), Failure> {
    let mesh = part.hull_mesh().ok_or_else(|| Failure::new("a part has more faces than a mesh can hold"))?;
    let vertices = mesh.vertices().len();
    let surface = Shape::from(mesh);
    let Mass { volume, solid, .. } = impinge::mass(&surface)?;
    let centre = solid.map_or([0.0; 3], |solid| solid.centre.to_array());
    Ok((PartReport { vertices, faces: part.hull_faces().unwrap_or(0), volume, centre }, surface))
}

fn answer(found: &Decomposition, parts: Vec<PartReport>, assurance: Assurance) -> Found {
    let &Decomposition { volume, excess, deviation, ended, .. } = found;
    let is_whole = ended != DecomposeEnd::OutOfBudget;
    let (count, volume) = (is_whole.then_some(parts.len()), is_whole.then_some(volume));
    Found { count, volume, excess, deviation, ended: ended.name(), parts, method: METHOD, assurance }
}

fn text(
    found: &Decomposition,
    parts: &[PartReport],
    most_parts: usize,
    assurance: Assurance,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let so_far = if found.ended == DecomposeEnd::OutOfBudget { " so far" } else { "" };
    writeln!(out, "{} convex parts{so_far} of a solid of volume {:?}", found.parts.len(), found.volume)?;
    for (number, PartReport { vertices, faces, volume, .. }) in parts.iter().enumerate() {
        writeln!(out, "{number:>4}  {vertices} corners, {faces} faces, volume {volume:?}")?;
    }
    if found.deviation > 0.0 {
        writeln!(
            out,
            "they cover it, exceed it by the volume {:?} and stand out by at most {:?}",
            found.excess, found.deviation
        )?;
    }
    match found.ended {
        DecomposeEnd::Tolerance => {}
        DecomposeEnd::MostParts if parts.len() < most_parts => writeln!(
            out,
            "beyond the tolerance: cut into the {most_parts} parts allowed, some of which were joined again"
        )?,
        DecomposeEnd::MostParts => writeln!(out, "beyond the tolerance: no more parts are allowed")?,
        DecomposeEnd::NoBetterCut => {
            writeln!(out, "beyond the tolerance: no further cut makes a part better")?
        }
        DecomposeEnd::OutOfBudget => writeln!(out, "undecided: the budget ended before the last cut")?,
        other => writeln!(out, "beyond the tolerance: {}", other.name().replace('_', " "))?,
    }
    writeln!(out, "({assurance})")
}
