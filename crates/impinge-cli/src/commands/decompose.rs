//! `impinge decompose`: a closed mesh as convex parts.

use std::io::Write;

use impinge::narrow::decompose::{DecomposeOptions, Decomposition, decompose};
use impinge::shape::{Polytope, procedural};
use impinge::{Counters, Finish, Outcome};
use serde::Serialize;

use crate::answer::Assurance;
use crate::args::{Common, Decompose, Format};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::{commands, load, output, progress};

#[derive(Debug, Serialize)]
struct Found {
    count: usize,
    /// Of the solid.
    volume: f64,
    /// By which parts exceed their pieces of the solid.
    excess: f64,
    /// No point of a part is farther from the solid.
    deviation: f64,
    parts: Vec<PartReport>,
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
    let model = load::model(&args.mesh)?;
    explain.model("mesh", &model);
    explain.lap("load");
    let options = DecomposeOptions { most_parts: args.parts as usize, tolerance: args.tolerance };
    let name = args.mesh.display().to_string();
    let found = decompose(&model, &options).map_err(|e| Failure(e.to_string()).at(&name))?;
    busy.finish_and_clear();
    explain.lap("decompose");
    if let Some(path) = &args.output {
        let meshes = found.parts.iter().map(Polytope::mesh).collect::<Result<Vec<_>, _>>();
        let joined = meshes.and_then(|meshes| procedural::join(&meshes));
        joined.and_then(|mesh| impinge::io::save(path, &mesh)).map_err(|e| Failure(e.to_string()))?;
    }
    let outcome = Outcome { certainty: found.certainty, finish: Finish::Complete, work: Counters::default() };
    let assurance = Assurance::from(&outcome);
    match common.format {
        Format::Json => commands::json(answer(&found, assurance))?,
        Format::Text => output::print(|out| text(&found, assurance, out))?,
    }
    Ok(Exit::Free)
}

fn answer(found: &Decomposition, assurance: Assurance) -> Found {
    let part = |part: &Polytope| PartReport {
        vertices: part.vertices().len(),
        faces: part.faces().len(),
        volume: part.volume(),
        centre: part.centre().to_array(),
    };
    let Decomposition { parts, volume, excess, deviation, .. } = found;
    Found {
        count: parts.len(),
        volume: *volume,
        excess: *excess,
        deviation: *deviation,
        parts: parts.iter().map(part).collect(),
        assurance,
    }
}

fn text(found: &Decomposition, assurance: Assurance, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "{} convex parts of a solid of volume {:?}", found.parts.len(), found.volume)?;
    for (number, part) in found.parts.iter().enumerate() {
        let (corners, faces) = (part.vertices().len(), part.faces().len());
        writeln!(out, "{number:>4}  {corners} corners, {faces} faces, volume {:?}", part.volume())?;
    }
    if found.deviation > 0.0 {
        writeln!(
            out,
            "they cover it, exceed it by the volume {:?} and stand out by at most {:?}",
            found.excess, found.deviation
        )?;
    }
    writeln!(out, "({assurance})")
}
