//! `impinge inspect`: the health of a mesh.

use std::io::Write;

use impinge::{Budget, Finish, Inspection, Memory, Method, Query, Shape};
use serde::Serialize;

use crate::args::{Common, Format, Inspect};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::json_answer::Assurance;
use crate::settings::Settings;
use crate::{commands, load, output, progress};

/// The fields of the contract, and what else is known.
#[derive(Debug, Serialize)]
struct Health<'a> {
    vertices: usize,
    welded_vertices: usize,
    triangles: usize,
    components: usize,
    closed: bool,
    watertight: bool,
    boundary_edges: usize,
    nonmanifold_edges: usize,
    nonmanifold_vertices: usize,
    misoriented_edges: usize,
    degenerate_triangles: usize,
    duplicate_triangles: usize,
    /// Null when the budget ended before all were found.
    self_intersections: Option<u64>,
    /// How many were found until the budget ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<u64>,
    euler: i64,
    area: f64,
    volume: f64,
    centre_of_mass: Option<[f64; 3]>,
    /// About the centre of mass, for unit density, row by row.
    inertia: Option<[[f64; 3]; 3]>,
    #[serde(rename = "box")]
    bounds: [[f64; 3]; 2],
    problems: &'a [String],
    method: &'static str,
    #[serde(flatten)]
    assurance: Assurance,
}

/// Looks at everything and reports.
pub fn run(args: &Inspect, common: &Common) -> Result<Exit, Failure> {
    let mut explain = Explain::new(common.explain);
    let busy = progress::spinner(&format!("inspecting {}", args.mesh.display()));
    commands::only_exact(common, "the health of a mesh")?;
    let shape = load::shape(&args.mesh)?;
    explain.mesh("mesh", &shape);
    explain.lap("load");
    let seen = look(&shape, &common.settings())?;
    busy.finish_and_clear();
    explain.lap("inspect");
    explain.work(&seen.outcome.work);
    match common.format {
        Format::Json => commands::json(health(&seen))?,
        Format::Text => output::print(|out| text(&seen, out))?,
    }
    // Whatever is wrong with it: the mesh could be read.
    Ok(if seen.outcome.finish == Finish::OutOfBudget { Exit::Undecided } else { Exit::Free })
}

/// Units that are granted at a time for what is told whatever the budget.
const MORE: u64 = 4096;

/// The budget is for the self-intersections; all else is told in any case.
fn look(shape: &Shape, settings: &Settings) -> Result<Inspection, Failure> {
    let mut memory = Memory::default();
    let mut budget = settings.limit.start();
    loop {
        let answer = Query { budget, memory: Some(&mut memory), ..settings.query() }.inspect(shape)?;
        if let Some(seen) = answer.value.or(answer.so_far) {
            return Ok(seen);
        }
        budget = Budget::units(MORE);
    }
}

fn health(seen: &Inspection) -> Health<'_> {
    let complete = seen.outcome.finish == Finish::Complete;
    Health {
        vertices: seen.vertices,
        welded_vertices: seen.welded_vertices,
        triangles: seen.triangles,
        components: seen.components,
        closed: seen.closed,
        watertight: seen.watertight,
        boundary_edges: seen.boundary_edges,
        nonmanifold_edges: seen.nonmanifold_edges,
        nonmanifold_vertices: seen.nonmanifold_vertices,
        misoriented_edges: seen.misoriented_edges,
        degenerate_triangles: seen.degenerate_triangles,
        duplicate_triangles: seen.duplicate_triangles,
        self_intersections: complete.then_some(seen.self_intersections),
        at_least: (!complete).then_some(seen.self_intersections),
        euler: seen.euler,
        area: seen.area,
        volume: seen.volume,
        centre_of_mass: seen.solid.as_ref().map(|s| s.centre.to_array()),
        inertia: seen.solid.as_ref().map(|s| s.inertia.transpose().to_cols_array_2d()),
        bounds: seen.bounds.map(|p| p.to_array()),
        problems: &seen.problems,
        method: Method::Exact.name(),
        assurance: Assurance::from(&seen.outcome),
    }
}

fn text(seen: &Inspection, out: &mut dyn Write) -> std::io::Result<()> {
    let vertices = format!("{} ({} distinct)", seen.vertices, seen.welded_vertices);
    let kind = match (seen.watertight, seen.closed) {
        (true, _) => "watertight",
        (false, true) => "closed, not watertight",
        (false, false) => "open",
    };
    let meetings = match seen.outcome.finish {
        Finish::Complete => seen.self_intersections.to_string(),
        _ => format!("at least {} so far", seen.self_intersections),
    };
    let point = |p: [f64; 3]| format!("{:?},{:?},{:?}", p[0], p[1], p[2]);
    for (name, value) in [
        ("vertices", vertices),
        ("triangles", seen.triangles.to_string()),
        ("components", seen.components.to_string()),
        ("surface", kind.to_string()),
        ("boundary edges", seen.boundary_edges.to_string()),
        ("non-manifold edges", seen.nonmanifold_edges.to_string()),
        ("zero-area triangles", seen.degenerate_triangles.to_string()),
        ("duplicate triangles", seen.duplicate_triangles.to_string()),
        ("self-intersections", meetings),
        ("area", format!("{:?}", seen.area)),
        ("volume", format!("{:?}", seen.volume)),
        ("box", seen.bounds.map(|p| point(p.to_array())).join(" to ")),
    ] {
        writeln!(out, "{name:<20} {value}")?;
    }
    let complete = seen.outcome.finish == Finish::Complete;
    match &seen.problems[..] {
        [] if complete => writeln!(out, "\nno problems")?,
        [] => writeln!(out, "\nno problems found so far")?,
        all => {
            writeln!(out, "\nproblems:")?;
            all.iter().try_for_each(|problem| writeln!(out, "- {problem}"))?;
        }
    }
    if !complete {
        writeln!(
            out,
            "self-intersections are undecided: the budget ended before all triangles were compared"
        )?;
    }
    writeln!(out, "({})", Assurance::from(&seen.outcome))
}
