//! `impinge particles`: all pairs of particles at most a distance apart.

use std::io::{Read, Write};
use std::path::Path;

use impinge::broad::neighbours::{Displacement, Domain, LimitedPairs, Particles, SearchCounters, Technique};
use impinge::io::{ParticleCell, ParticleSet, load_particles};
use serde::Serialize;

use crate::args::{self, Common, Format, Periodic};
use crate::commands;
use crate::commands::query::is_stdin;
use crate::error::Failure;
use crate::exit::Exit;
use crate::explain::Explain;
use crate::json_answer::Assurance;
use crate::output::{PartialFile, check, print};

/// Pairs that the text names; `--pairs` has them all.
const SHOWN: usize = 20;

/// The fields of the answer.
#[derive(Debug, Serialize)]
struct Found {
    /// Null when the budget ended first.
    count: Option<u64>,
    /// How many were found before the budget ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<u64>,
    method: &'static str,
    /// What the hybrid took and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    technique: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    tests: u64,
    particles: usize,
    #[serde(flatten)]
    assurance: Assurance,
}

/// Searches.
pub fn run(args: &args::Particles, common: &Common) -> Result<Exit, Failure> {
    let ending = args.pairs.as_deref().map(Ending::of).transpose()?;
    if let Some(path) = &args.pairs {
        check(path)?;
    }
    let mut explain = Explain::new(common.explain);
    let set = load(&args.file)?;
    explain.say("file", || format!("{} particles", set.positions.len()));
    explain.lap("load");
    let particles = frame(args, &set)?;
    let technique = common.technique().unwrap_or_else(|| Technique::choose(&particles));
    check_voxel(args.voxel, technique)?;
    let mut budget = common.budget.unwrap_or_default().start();
    let LimitedPairs { pairs, at_least, counters, technique: used, reason, .. } =
        technique.pairs_limited(&particles, args.voxel, &mut budget);
    explain.lap("search");
    let SearchCounters { tests, updates, bytes, .. } = counters;
    let is_hybrid = technique == Technique::Hybrid;
    explain.say("method", || match common.technique() {
        Some(_) if is_hybrid => format!("{technique}, {reason}"),
        Some(_) => format!("{technique}, named by hand"),
        None => format!("{technique}, {}", technique.about()),
    });
    explain.say("work", || format!("{tests} tests, {updates} updates, {bytes} bytes"));
    let mut found = Found {
        count: None,
        at_least: None,
        method: technique.name(),
        technique: is_hybrid.then(|| used.name()),
        reason: is_hybrid.then_some(reason),
        tests,
        particles: particles.len(),
        assurance: Assurance::EXACT,
    };
    let Some(mut pairs) = pairs else { return undecided(found, at_least, common) };
    if args.pairs.is_some() || common.format == Format::Text {
        pairs.sort_unstable();
    }
    if let Some(path) = &args.pairs {
        write_pairs(path, ending, &Columns::new(&particles, &pairs, args.vectors))?;
        explain.lap("write");
    }
    found.count = Some(at_least);
    match common.format {
        Format::Json => commands::json(&found)?,
        Format::Text => print(|out| text(&found, &pairs, out))?,
    }
    Ok(if pairs.is_empty() { Exit::Free } else { Exit::Contact })
}

/// The particles of a file or of standard input.
fn load(file: &Path) -> Result<ParticleSet, Failure> {
    if !is_stdin(file) {
        return Ok(load_particles(file)?);
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().read_to_end(&mut bytes).map_err(|error| Failure(error.to_string()));
    let set = read.and_then(|_| Ok(ParticleSet::from_bytes(&bytes)?));
    set.map_err(|failure| failure.at("standard input"))
}

/// Refuses a width of cells that is none, or that is for a technique without cells.
pub fn check_voxel(voxel: Option<f64>, technique: Technique) -> Result<(), Failure> {
    let Some(width) = voxel else { return Ok(()) };
    if !(width > 0.0 && width.is_finite()) {
        return Err(Failure::new("--voxel must be a positive width"));
    }
    if technique.has_cells() {
        return Ok(());
    }
    let with_cells = Technique::ALL.iter().filter(|technique| technique.has_cells());
    let names: Vec<&str> = with_cells.map(|technique| technique.name()).collect();
    let names = names.join(", ");
    Err(Failure(format!("--voxel is the width of cells, and {technique} has none; --method may be {names}")))
}

/// The budget ended before the search did; files are not written.
fn undecided(mut found: Found, at_least: u64, common: &Common) -> Result<Exit, Failure> {
    found.at_least = Some(at_least);
    found.assurance = found.assurance.out_of_budget().of_nothing();
    let noun = if at_least == 1 { "pair" } else { "pairs" };
    match common.format {
        Format::Json => commands::json(&found)?,
        Format::Text => {
            print(|out| writeln!(out, "undecided, at least {at_least} {noun} so far\n({})", found.assurance))?
        }
    }
    Ok(if at_least > 0 { Exit::Contact } else { Exit::Undecided })
}

/// The frame that the options describe.
fn frame<'s>(args: &args::Particles, set: &'s ParticleSet) -> Result<Particles<'s>, Failure> {
    let along = args.along.unwrap_or([true; 3]);
    let domain = match (args.periodic, set.cell) {
        (Some(Periodic::Box(low, high)), _) => Domain::periodic_along(low, high, along)?,
        (Some(Periodic::Rectangle(..)), _) if args.along.is_some() && along[2] => {
            return Err(Failure::new("--periodic names no ends along z, so --along may be x, y or xy"));
        }
        (Some(Periodic::Rectangle([xl, yl], [xh, yh])), _) => {
            Domain::periodic_along([xl, yl, 0.0], [xh, yh, 0.0], [along[0], along[1], false])?
        }
        (Some(Periodic::Cell(vectors)), _) => Domain::triclinic([0.0; 3], vectors)?,
        (Some(Periodic::OfFile), Some(ParticleCell { vectors, periodic })) => {
            Domain::triclinic([0.0; 3], vectors)?.along(args.along.unwrap_or(periodic))
        }
        (Some(Periodic::OfFile), None) => {
            return Err(Failure::new("the file names no periodic cell").at(&args.file.display().to_string()));
        }
        (None, _) => Domain::OPEN,
    };
    let domain = domain.along(along);
    if args.periodic.is_none() && set.cell.is_some() {
        eprintln!("note: the file names a periodic cell; --periodic file takes it");
    }
    let particles = match (args.radii, args.radius) {
        (true, _) if set.radii.len() != set.positions.len() => {
            return Err(Failure::new("the file has no radii").at(&args.file.display().to_string()));
        }
        (true, radius) => Particles::with_radii(&set.positions, &set.radii, domain, radius.unwrap_or(0.0)),
        (false, radius) => Particles::new(&set.positions, domain, radius.unwrap_or(0.0)),
    };
    Ok(particles?)
}

/// What a file of pairs holds, pair by pair.
struct Columns<'p> {
    names: &'static [&'static str],
    pairs: &'p [[u32; 2]],
    /// Empty where these are not wanted.
    ways: Vec<Displacement>,
}

/// The names of the columns; the first two are always there.
const COLUMNS: [&str; 9] = ["i", "j", "distance", "dx", "dy", "dz", "sx", "sy", "sz"];

impl<'p> Columns<'p> {
    fn new(particles: &Particles<'_>, pairs: &'p [[u32; 2]], vectors: bool) -> Columns<'p> {
        let (names, wanted) = if vectors { (&COLUMNS[..], pairs) } else { (&COLUMNS[..2], &[][..]) };
        Columns { names, pairs, ways: wanted.iter().map(|&[i, j]| particles.displacement(i, j)).collect() }
    }

    fn write(&self, out: &mut dyn Write, row: usize, column: usize) -> std::io::Result<()> {
        match (self.ways.get(row), column) {
            (Some(way), 2) => {
                let [x, y, z] = way.vector;
                write!(out, "{}", ((x * x + y * y) + z * z).sqrt())
            }
            (Some(way), 3..=5) => write!(out, "{}", way.vector[column - 3]),
            (Some(way), 6..) => write!(out, "{}", way.shift[column - 6]),
            _ => write!(out, "{}", self.pairs[row][column]),
        }
    }
}

/// Endings of tables that are not written: CSV under such a name would mislead.
const OTHERS: [&str; 12] =
    ["parquet", "feather", "arrow", "npy", "npz", "h5", "hdf5", "xlsx", "jsonl", "ndjson", "gz", "zip"];

/// How pairs are written, by the ending of the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Csv,
    Json,
}

impl Ending {
    fn of(path: &Path) -> Result<Ending, Failure> {
        match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("json") => Ok(Ending::Json),
            Some(other) if OTHERS.contains(&other) => {
                Err(Failure(format!("{}: pairs are written as .csv or .json", path.display())))
            }
            _ => Ok(Ending::Csv),
        }
    }
}

/// All pairs, ascending: rows of CSV, or columns of JSON.
fn write_pairs(path: &Path, ending: Option<Ending>, columns: &Columns<'_>) -> Result<(), Failure> {
    let mut file = PartialFile::create(path)?;
    let is_json = ending == Some(Ending::Json);
    file.write(|out| if is_json { write_columns(out, columns) } else { write_rows(out, columns) })?;
    file.finish()
}

fn write_rows(out: &mut dyn Write, columns: &Columns<'_>) -> std::io::Result<()> {
    let names = columns.names;
    writeln!(out, "{}", names.join(","))?;
    for row in 0..columns.pairs.len() {
        for column in 0..names.len() {
            columns.write(out, row, column)?;
            out.write_all(if column + 1 < names.len() { b"," } else { b"\n" })?;
        }
    }
    Ok(())
}

fn write_columns(out: &mut dyn Write, columns: &Columns<'_>) -> std::io::Result<()> {
    for (column, name) in columns.names.iter().enumerate() {
        write!(out, "{}\"{name}\":[", if column == 0 { "{" } else { "]," })?;
        for row in 0..columns.pairs.len() {
            out.write_all(if row == 0 { b"" } else { b"," })?;
            columns.write(out, row, column)?;
        }
    }
    writeln!(out, "]}}")
}

fn text(found: &Found, pairs: &[[u32; 2]], out: &mut dyn Write) -> std::io::Result<()> {
    let Found { particles, method, technique, .. } = found;
    let count = pairs.len();
    let noun = if count == 1 { "pair" } else { "pairs" };
    let took = technique.map(|took| format!(", which took {took}")).unwrap_or_default();
    writeln!(out, "{count} {noun} of {particles} particles, by {method}{took}")?;
    for [i, j] in pairs.iter().take(SHOWN) {
        writeln!(out, "  {i} {j}")?;
    }
    if pairs.len() > SHOWN {
        writeln!(out, "  … and {} more (--pairs FILE writes them all)", pairs.len() - SHOWN)?;
    }
    writeln!(out, "({})", found.assurance)
}
