//! `impinge clash`: every pair of a set of parts that overlap, coincide, touch or come too near.

use std::io::Write;
use std::path::{Path, PathBuf};

use glam::DVec3;
use impinge::io::{Format as MeshFormat, load_readable_parts};
use impinge::{ClashOptions, Finish, Mesh, Part, Pose, Shape, clash, contains};
use rayon::prelude::*;

use super::clash_report::{body, csv, json, rows, text};
use crate::args::{Clash as Args, Common, Format};
use crate::clash_page::{self, Heading};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::{commands, output, progress};

/// How many times larger one part must be than another for their units to be doubted, at least and at most: millimetres
/// beside metres, with parts of an assembly differing by less than thirty.
const DOUBTFUL: [f64; 2] = [300.0, 3000.0];

/// A closed part may enclose nothing if its volume is below this share of the pyramids over its triangles, which a plate
/// a billion times as wide as thick is not: what rounding leaves of a sum of many that cancel.
const NO_VOLUME: f64 = 1e-12;

/// How far from a triangle, as a share of the part's size, one looks whether the part is there: far more than rounding,
/// far less than any thickness.
const BESIDE: f64 = 1e-9;

/// Loads, asks, writes and prints.
pub fn run(args: &Args, common: &Common) -> Result<Exit, Failure> {
    commands::only_exact(common, "clashes")?;
    let mut explain = Explain::new(common.explain);
    let target = args.out.as_deref().map(|path| Ok::<_, Failure>((path, Ending::of(path)?))).transpose()?;
    if let Some((path, _)) = target {
        output::check(path)?;
    }
    let busy = progress::spinner("loading");
    let (mut parts, refused) = load_readable_parts(&args.files)?;
    let refused: Vec<String> = refused.iter().map(ToString::to_string).collect();
    for error in &refused {
        eprintln!("error: {error}");
    }
    for left in args.files.iter().flat_map(|path| left_out(path)) {
        eprintln!("warning: not read: {}", left.display());
    }
    if args.scale != 1.0 {
        for part in &mut parts {
            scale(part, args.scale)?;
        }
    }
    busy.finish_and_clear();
    explain.lap("load");
    explain.say("parts", || parts.len().to_string());
    let extents: Vec<Extent> = parts.par_iter().map(Extent::of).collect();
    for warning in unit_warning(&parts, &extents).into_iter().chain(emptiness_warnings(&parts, &extents)) {
        eprintln!("warning: {warning}");
    }
    let ignored = args.ignore.iter().map(|pair| ignored(pair, &parts)).collect::<Result<Vec<_>, _>>()?;
    let bar = progress::pairs("clash");
    let count = |done: u64, total: u64| {
        bar.set_length(total);
        bar.set_position(done);
    };
    let mut options = ClashOptions {
        clearance: args.clearance,
        only_kinds: args.only_kinds,
        ignored: &ignored,
        budget: common.settings().limit.start(),
        progress: Some(&count),
        ..ClashOptions::default()
    };
    let report = clash(&parts, &mut options)?;
    bar.finish_and_clear();
    explain.lap("clash");
    explain.say("pairs", || {
        format!("{} with boxes near each other, {} answered", report.candidates, report.answered)
    });
    explain.work(&report.work);
    let rows = rows(&parts, &report);
    match common.format {
        Format::Json => commands::json(body(&parts, &report).with_refused(&refused))?,
        Format::Text => output::print(|out| {
            text(&parts, &report, &rows, out)?;
            refused.iter().try_for_each(|error| writeln!(out, "not read: {error}"))
        })?,
    }
    if !refused.is_empty() {
        if let Some((path, _)) = target {
            eprintln!("error: {} is not written: it would lack parts that could not be read", path.display());
        }
        return Ok(Exit::Refused);
    }
    if let Some((path, ending)) = target {
        let bytes = match ending {
            Ending::Json => json(&parts, &report),
            Ending::Csv => Ok(csv(&rows)),
            Ending::Html => {
                let Args { clearance, scale, .. } = *args;
                let heading = Heading { clearance, scale, unit: args.unit.as_deref() };
                clash_page::page(&parts, &report, &rows, heading, &mut options.budget)
            }
        };
        if let Err(failure) = bytes.and_then(|bytes| output::file(path, &bytes)) {
            // Standard output holds the answer, and nothing else; a closed stderr leaves nobody to tell.
            let _ = writeln!(std::io::stderr(), "error: {failure}");
            return Ok(Exit::Refused);
        }
        explain.lap("write");
    }
    let serious = report.clashes.iter().any(|clash| clash.kind.is_serious());
    Ok(match report.finish {
        _ if serious => Exit::Contact,
        Finish::OutOfBudget => Exit::Undecided,
        _ => Exit::Free,
    })
}

/// What is written, by the ending of the name.
#[derive(Debug, Clone, Copy)]
enum Ending {
    Csv,
    Json,
    Html,
}

impl Ending {
    fn of(path: &Path) -> Result<Ending, Failure> {
        match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("csv") => Ok(Ending::Csv),
            Some("json") => Ok(Ending::Json),
            Some("html" | "htm") => Ok(Ending::Html),
            _ => Err(Failure(format!("{}: the name should end in .csv, .json or .html", path.display()))),
        }
    }
}

/// Multiplies the coordinates; a part that a pose places is placed by its coordinates then, which equal ones of other
/// parts stay equal to.
fn scale(part: &mut Part, by: f64) -> Result<(), Failure> {
    let Some(mesh) = part.shape.as_mesh() else { return Ok(()) };
    let placed = mesh.vertices().iter().map(|&p| part.pose.apply(p)).collect();
    let scaled = Mesh::from_points(placed, mesh.triangles().to_vec()).and_then(|mesh| mesh.scaled(by));
    part.shape = Shape::from(scaled.map_err(|e| Failure(format!("{}: {e}", part.name)))?);
    part.pose = Pose::IDENTITY;
    Ok(())
}

/// What one pass over the triangles of a part tells, without a tree.
#[derive(Debug, Clone, Copy)]
struct Extent {
    /// The longest side of its box.
    size: f64,
    /// Whether the volume is nothing but rounding.
    no_volume: bool,
}

impl Extent {
    fn of(part: &Part) -> Extent {
        let Some(mesh) = part.shape.as_mesh() else { return Extent { size: 0.0, no_volume: false } };
        let origin = mesh.corners(0)[0];
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        // Six times the sum of the pyramids over the triangles, and what they could be at most.
        let (mut volume, mut most) = (0.0, 0.0);
        for triangle in 0..mesh.triangles().len() as u32 {
            let corners = mesh.corners(triangle);
            for p in corners.map(|p| part.pose.apply(p)) {
                (low, high) = (low.min(p), high.max(p));
            }
            let [a, b, c] = corners.map(|p| p - origin);
            let base = (b - a).cross(c - a);
            volume += a.dot(base);
            most += a.length() * base.length();
        }
        Extent { size: (high - low).max_element(), no_volume: volume.abs() <= NO_VOLUME * most }
    }
}

/// Parts that look as if they were in other units than most.
fn unit_warning(parts: &[Part], extents: &[Extent]) -> Option<String> {
    let mut sorted: Vec<f64> = extents.iter().map(|extent| extent.size).collect();
    sorted.sort_by(f64::total_cmp);
    let &typical = sorted.get(sorted.len() / 2)?;
    let doubtful = |size: f64| {
        let ratio = if size > typical { size / typical } else { typical / size };
        (DOUBTFUL[0]..=DOUBTFUL[1]).contains(&ratio)
    };
    let odd: Vec<usize> = (0..parts.len()).filter(|&k| doubtful(extents[k].size)).collect();
    let &first = odd.first()?;
    Some(format!(
        "{} of {} parts differ in size from the typical {typical:.4} by about a thousand, {} for one ({:.4}): \
         millimetres and metres? (--scale multiplies the coordinates of all parts)",
        odd.len(),
        parts.len(),
        parts[first].name,
        extents[first].size,
    ))
}

/// What is in a folder and is no part: folders, and files that are no meshes by their names. None for a file.
fn left_out(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_mesh = |path: &Path| path.is_file() && MeshFormat::from_path(path).is_some();
    let hidden = |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    let paths = entries.flatten().map(|entry| entry.path());
    let mut left: Vec<PathBuf> =
        paths.filter(|path| !hidden(path) && path.exists() && !is_mesh(path)).collect();
    left.sort();
    left
}

/// Closed parts that have no inside, as a sheet with both of its sides: they touch others, and never overlap them.
fn emptiness_warnings<'a>(parts: &'a [Part], extents: &'a [Extent]) -> impl Iterator<Item = String> + 'a {
    let empty = parts.iter().zip(extents).filter(|(part, extent)| extent.no_volume && encloses_nothing(part));
    empty.map(|(part, _)| {
        format!("part {} encloses nothing: it can touch other parts, but not overlap them", part.name)
    })
}

/// Whether a part of no volume is closed and on neither side of its largest triangle.
fn encloses_nothing(part: &Part) -> bool {
    let Some(mesh) = part.shape.as_mesh().filter(|_| part.shape.is_closed()) else { return false };
    let triangles = (0..mesh.triangles().len() as u32).map(|triangle| mesh.corners(triangle));
    let normal = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a);
    let area = |corners: &[DVec3; 3]| normal(*corners).length();
    let Some(largest) = triangles.max_by(|x, y| area(x).total_cmp(&area(y))) else { return false };
    let middle = (largest[0] + largest[1] + largest[2]) / 3.0;
    let size = mesh.vertices().iter().fold(0.0_f64, |most, p| most.max(p.abs().max_element()));
    let beside = normal(largest).normalize_or_zero() * (BESIDE * size);
    // Unplaced, as is the triangle.
    [middle + beside, middle - beside].into_iter().all(|p| matches!(contains(&part.shape, p), Ok(false)))
}

/// Two names with a comma between them; names may hold commas themselves.
fn ignored(pair: &str, parts: &[Part]) -> Result<[usize; 2], Failure> {
    let find = |name: &str| parts.iter().position(|part| part.name == name);
    let splits = pair.match_indices(',').map(|(at, _)| (&pair[..at], &pair[at + 1..]));
    let found = splits.clone().find_map(|(a, b)| Some([find(a)?, find(b)?]));
    if let Some([a, b]) = found
        && a == b
    {
        let name = &parts[a].name;
        return Err(Failure(format!(
            "--ignore {pair}: {name:?} is named twice; give the names of two parts"
        )));
    }
    found.ok_or_else(|| match splits.into_iter().next() {
        None => Failure(format!("--ignore {pair}: two names with a comma between them are expected")),
        Some((a, b)) => {
            let unknown = if find(a).is_none() { a } else { b };
            Failure(format!("--ignore {pair}: there is no part {unknown:?}"))
        }
    })
}
