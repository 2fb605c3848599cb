//! `impinge clash`: every pair of a set of parts that overlap, coincide, touch or come too near.

use std::io::Write;
use std::path::{Path, PathBuf};

use glam::DVec3;
use impinge::io::{Format as MeshFormat, load_parts};
use impinge::{
    Certainty, ClashKind, ClashOptions, ClashReport, Counters, Finish, Mesh, Outcome, Part, Pose, Shape,
    clash, contains,
};
use rayon::prelude::*;
use serde::Serialize;

use crate::answer::{Assurance, Document};
use crate::args::{Clash as Args, Common, Format};
use crate::clash_page::{self, Heading};
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::output::counted;
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

/// The fields of the contract.
#[derive(Debug, Serialize)]
struct Body<'a> {
    parts: Vec<&'a str>,
    clashes: Vec<Row<'a>>,
    /// Null while kinds are unknown.
    counts: Option<Counts>,
    /// How many clashes were found so far, where the budget ended before all kinds were known.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<usize>,
    /// Pairs whose boxes are near each other, and how many of them were answered.
    candidates: usize,
    answered: usize,
    #[serde(flatten)]
    assurance: Assurance,
}

/// One clash.
#[derive(Debug, Serialize)]
pub struct Row<'a> {
    /// The parts.
    pub a: &'a str,
    /// The second of them.
    pub b: &'a str,
    /// How they clash.
    pub kind: &'static str,
    /// The smallest distance of the surfaces.
    pub gap: f64,
    /// The penetration depth; negative for a gap.
    pub depth: Option<f64>,
    /// The length of a translation that takes the parts apart.
    pub separate: Option<f64>,
    /// That translation, of the second part.
    pub translation: Option<[f64; 3]>,
    /// The volume in common.
    pub volume: Option<f64>,
    /// The stated error of the volume.
    pub volume_error: Option<f64>,
    /// What that is: the error is estimated, not proved.
    pub error_kind: Option<&'static str>,
    /// Whether the volume is right but for rounding.
    #[serde(skip)]
    pub is_exact: bool,
    /// A point of the place.
    pub at: [f64; 3],
    /// A box around the place.
    #[serde(rename = "box")]
    pub bounds: [[f64; 3]; 2],
}

#[derive(Debug, Serialize)]
struct Counts {
    hard: usize,
    inside: usize,
    duplicate: usize,
    touching: usize,
    clearance: usize,
}

/// Loads, asks, writes and prints.
pub fn run(args: &Args, common: &Common) -> Result<Exit, Failure> {
    commands::only_exact(common, "clashes")?;
    let mut explain = Explain::new(common.explain);
    let target = args.out.as_deref().map(|path| Ok::<_, Failure>((path, Ending::of(path)?))).transpose()?;
    if let Some((path, _)) = target {
        output::check(path)?;
    }
    let busy = progress::spinner("loading");
    let mut parts = load_parts(&args.files)?;
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
    let rows = rows(&parts, &report);
    match common.format {
        Format::Json => commands::json(body(&parts, &report))?,
        Format::Text => output::print(|out| text(&parts, &report, &rows, out))?,
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
    let extension = |path: &Path| path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    let is_mesh = |path: &Path| {
        let stem = path.file_stem().map(Path::new).unwrap_or(path);
        let last = extension(path).filter(|last| last != "gz").or_else(|| extension(stem));
        path.is_file() && last.is_some_and(|last| MeshFormat::from_extension(&last).is_some())
    };
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

fn rows<'a>(parts: &'a [Part], report: &ClashReport) -> Vec<Row<'a>> {
    let row = |clash: &impinge::Clash| {
        let [a, b] = clash.parts.map(|k| parts[k].name.as_str());
        let bounds = [clash.bounds.low.to_array(), clash.bounds.high.to_array()];
        let (kind, at) = (clash.kind.name(), clash.at.to_array());
        let impinge::Clash { gap, depth, separate, volume, volume_error, .. } = *clash;
        let translation = clash.translation.map(|by| by.to_array());
        let error_kind = volume_error.map(|_| "estimate");
        let is_exact = clash.volume_certainty.is_none_or(|certainty| certainty == Certainty::Exact);
        Row {
            a,
            b,
            kind,
            gap,
            depth,
            separate,
            translation,
            volume,
            volume_error,
            error_kind,
            is_exact,
            at,
            bounds,
        }
    };
    report.clashes.iter().map(row).collect()
}

fn body<'a>(parts: &'a [Part], report: &ClashReport) -> Body<'a> {
    let count = |kind| report.count(kind);
    let (certainty, finish) = (report.certainty(), report.finish);
    let mut assurance = Assurance::from(&Outcome { certainty, finish, work: Counters::default() });
    if finish == Finish::OutOfBudget && report.clashes.is_empty() {
        assurance = assurance.of_nothing();
    }
    let counts = Counts {
        hard: count(ClashKind::Hard),
        inside: count(ClashKind::Inside),
        duplicate: count(ClashKind::Duplicate),
        touching: count(ClashKind::Touching),
        clearance: count(ClashKind::Clearance),
    };
    let is_whole = report.lists_all();
    Body {
        parts: parts.iter().map(|part| part.name.as_str()).collect(),
        clashes: rows(parts, report),
        counts: is_whole.then_some(counts),
        at_least: (!is_whole).then_some(report.clashes.len()),
        candidates: report.candidates,
        answered: report.answered,
        assurance,
    }
}

fn json(parts: &[Part], report: &ClashReport) -> Result<Vec<u8>, Failure> {
    let document = Document::new(body(parts, report));
    let mut bytes = serde_json::to_vec(&document).map_err(|e| Failure(e.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn csv(rows: &[Row<'_>]) -> Vec<u8> {
    let mut text = String::from(
        "a,b,kind,gap,depth,separate,volume,x,y,z,xlo,ylo,zlo,xhi,yhi,zhi,volume_error,error_kind,tx,ty,tz\n",
    );
    for row in rows {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:?}"));
        let [depth, separate, volume, error] =
            [row.depth, row.separate, row.volume, row.volume_error].map(number);
        text += &format!("{},{},{}", quoted(row.a), quoted(row.b), row.kind);
        text += &format!(",{:?},{depth},{separate},{volume}", row.gap);
        for x in [row.at, row.bounds[0], row.bounds[1]].as_flattened() {
            text += &format!(",{x:?}");
        }
        let [tx, ty, tz] = row.translation.map_or([None; 3], |by| by.map(Some)).map(number);
        text += &format!(",{error},{},{tx},{ty},{tz}\n", row.error_kind.unwrap_or_default());
    }
    text.into_bytes()
}

/// A name as a field of CSV (RFC 4180).
fn quoted(name: &str) -> String {
    match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_string(),
    }
}

fn text(parts: &[Part], report: &ClashReport, rows: &[Row<'_>], out: &mut dyn Write) -> std::io::Result<()> {
    for row in rows {
        write!(out, "{:<9} {} × {}", row.kind, row.a, row.b)?;
        if let Some(volume) = row.volume {
            write!(out, ", volume {volume:?}")?;
            if let Some(error) = row.volume_error.filter(|_| !row.is_exact) {
                write!(out, " (error about {error:.1e})")?;
            }
        }
        if let Some(separate) = row.separate.filter(|&length| length > 0.0) {
            write!(out, ", apart after {separate:?}")?;
        }
        if row.gap > 0.0 {
            write!(out, ", gap {:?}", row.gap)?;
        }
        writeln!(out)?;
    }
    let all_known = report.lists_all();
    let counts = ClashKind::ALL.map(|kind| format!("{} {kind}", report.count(kind))).join(", ");
    let at_least = if all_known { "" } else { "at least " };
    let parts = counted(parts.len(), "part", "parts");
    let pairs = counted(report.candidates, "near pair", "near pairs");
    writeln!(out, "{parts}, {pairs}: {at_least}{counts}")?;
    if !all_known {
        let (pairs, clashes) =
            (counted(report.answered, "pair", "pairs"), counted(rows.len(), "clash", "clashes"));
        writeln!(out, "the budget ended after {pairs}: at least {clashes} so far")?;
    } else if report.finish == Finish::OutOfBudget {
        writeln!(out, "the budget ended before all depths, separations and volumes were measured")?;
    }
    Ok(())
}
