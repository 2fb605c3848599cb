//! `impinge self`: where a mesh meets itself.

use std::io::Write;
use std::path::Path;

use impinge::{Deforming, Mesh, Pose};

use crate::args::{Common, SelfIntersect};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::found::{FeatureContact, Found};
use crate::json_answer::Answer;
use crate::picture::{self, Figure, Picture};
use crate::{ask, commands, load, progress};

/// Finds the pairs.
pub fn run(args: &SelfIntersect, common: &Common) -> Result<Exit, Failure> {
    if let Some(end) = &args.to {
        return over_a_step(args, end, common);
    }
    let mut explain = Explain::new(common.explain);
    let busy = progress::spinner(&format!("searching {}", args.mesh.display()));
    let shape = load::shape(&args.mesh)?;
    explain.mesh("mesh", &shape);
    explain.lap("load");
    let answer = ask::self_intersections(&mut common.settings().query(), (&shape).into())?;
    busy.finish_and_clear();
    if let (Some(mesh), Found::Pairs(found)) = (shape.as_mesh(), &answer.found) {
        let red = found.pairs.as_flattened().to_vec();
        let figure = Figure { mesh, pose: &Pose::IDENTITY, colour: picture::BODIES[0], red };
        args.drawing.save(|| Picture { figures: vec![figure], ..Picture::default() })?;
    }
    commands::finish(&answer, common, &mut explain, |out| text(&answer, out))
}

/// What meets while the mesh moves to another state.
fn over_a_step(args: &SelfIntersect, end: &Path, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let busy = progress::spinner(&format!("searching {} to {}", args.mesh.display(), end.display()));
    let (start, end) = (load::mesh(&args.mesh)?, load::mesh(end)?);
    explain.lap("load");
    let mesh = Deforming::new(start, end).map_err(|e| Failure::from(e).at("--to"))?;
    explain.lap("build");
    let answer = ask::self_contacts(common.settings().query(), &mesh, args.all, args.margin)?;
    busy.finish_and_clear();
    if let (true, Found::Step(step)) = (args.drawing.picture.is_some(), &answer.found) {
        let time = step.impact.time.unwrap_or(1.0);
        let at = |v: usize| mesh.start().vertices()[v].lerp(mesh.end().vertices()[v], time);
        let points = (0..mesh.start().vertices().len()).map(at).collect();
        let then = Mesh::from_points(points, mesh.start().triangles().to_vec())?;
        let contacts = step.vertices.into_iter().flatten().map(|v| [at(v as usize); 2]).collect();
        let figure =
            Figure { mesh: &then, pose: &Pose::IDENTITY, colour: picture::BODIES[0], red: Vec::new() };
        args.drawing.save(|| Picture { figures: vec![figure], contacts, ..Picture::default() })?;
    }
    commands::finish(&answer, common, &mut explain, |out| step_text(&answer, out))
}

fn step_text(answer: &Answer, out: &mut dyn Write) -> std::io::Result<()> {
    let Found::Step(step) = &answer.found else { return Ok(()) };
    match (step.impact.time, step.impact.hit) {
        (Some(time), _) => writeln!(out, "first contact at {time:?} of the step")?,
        (None, Some(false)) => writeln!(out, "no contact during the step")?,
        (None, _) => writeln!(out, "undecided, at least {} so far", step.at_least.unwrap_or(0))?,
    }
    let named = |kind: &str| if kind == "vf" { "vertex, face" } else { "edge, edge" };
    if let (Some(kind), Some([a, b, c, d])) = (step.kind, step.vertices) {
        writeln!(out, "{}: vertices {a} {b} {c} {d}", named(kind))?;
    }
    let Some(all) = &step.all else { return Ok(()) };
    for (kind, list) in [("vf", &all.vf), ("ee", &all.ee)] {
        writeln!(out, "{} pairs ({}):", list.len(), named(kind))?;
        for FeatureContact { vertices: [a, b, c, d], time } in list {
            writeln!(out, "{a} {b} {c} {d} {time:?}")?;
        }
    }
    Ok(())
}

fn text(answer: &Answer, out: &mut dyn Write) -> std::io::Result<()> {
    let Found::Pairs(found) = &answer.found else { return Ok(()) };
    match found.count {
        Some(0) => writeln!(out, "no triangles intersect"),
        Some(1) => writeln!(out, "1 pair of triangles intersects:"),
        Some(n) => writeln!(out, "{n} pairs of triangles intersect:"),
        None => writeln!(out, "at least {} so far, pairs of triangles that intersect", found.pairs.len()),
    }?;
    found.pairs.iter().try_for_each(|[i, j]| writeln!(out, "{i} {j}"))
}
