//! Convex parts of every closed shared mesh: how long a call takes, and what it has on the heap at its peak.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use impinge::{Budget, DecomposeEnd, DecomposeOptions, Query, Shape, decompose, procedural};

use super::Effort;
use crate::heap::{Taken, settle, taken_by};
use crate::scenes;
use crate::table::{Table, digits};

/// The word by which the table starts this program again for one mesh: nothing of another one is left there.
pub const ONE: &str = "decompose-one";

/// The budget of each call, in milliseconds.
const BUDGET: u64 = 5_000;

/// How long after its budget a call may return, in milliseconds.
const LATE: f64 = 50.0;

/// Bytes for each triangle of the mesh and each part, at most.
const ASKED: f64 = 100.0;

/// What one call gave.
struct Reading {
    triangles: f64,
    parts: f64,
    milliseconds: f64,
    peak: f64,
    kept: f64,
    excess: f64,
    deviation: f64,
    ended: String,
}

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header = [
        "mesh",
        "triangles",
        "parts",
        "ended",
        "ms",
        "peak kB",
        "kept kB",
        "bytes/(triangle part)",
        "beyond kept",
        "excess",
        "deviation",
    ];
    let mut table = Table::new("decompose", &header);
    let mut files = meshes()?;
    files.truncate(effort.pick(usize::MAX, 12));
    let (mut closed, mut stopped, mut late) = (0, 0, 0);
    let (mut over, mut over_with_answer) = (Vec::new(), Vec::new());
    for file in &files {
        let Some(reading) = one(file)? else { continue };
        let name = file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        closed += 1;
        late += usize::from(reading.milliseconds > BUDGET as f64 + LATE);
        stopped += usize::from(reading.ended == OUT_OF_BUDGET);
        let cells = reading.triangles * reading.parts;
        let [all, beyond] = [reading.peak, reading.peak - reading.kept].map(|bytes| bytes / cells);
        for (bytes, names) in [(all, &mut over_with_answer), (beyond, &mut over)] {
            // Also where there is no part.
            if bytes.is_nan() || bytes >= ASKED {
                names.push(name.clone());
            }
        }
        table.row([
            name,
            reading.triangles.to_string(),
            reading.parts.to_string(),
            reading.ended.clone(),
            digits(reading.milliseconds),
            digits(reading.peak / 1e3),
            digits(reading.kept / 1e3),
            digits(all),
            digits(beyond),
            format!("{:.2e}", reading.excess),
            format!("{:.2e}", reading.deviation),
        ]);
    }
    let verdict = |holds: bool| if holds { "holds" } else { "MISSED" };
    table.remark(format!(
        "{closed} closed meshes, {stopped} stopped by the budget of {BUDGET} ms; {late} returned more than {LATE} ms after \
         it: {}",
        verdict(late == 0)
    ));
    for (what, names) in [("with what is kept", over_with_answer), ("beyond what is kept", over)] {
        table.remark(format!(
            "below {ASKED} bytes for each triangle and part, {what}: {} of {closed}: {} {}",
            closed - names.len(),
            verdict(names.is_empty()),
            names.join(", ")
        ));
    }
    table.remark(
        "peak: heap bytes of the call beyond the mesh, on all threads; kept: what of it is left in the end, the parts and what \
         the mesh learnt (topology, trees). A part is kept as its corners, a convex mesh as itself; the feature graph, some \
         500 bytes for each triangle of a part, is made when a part is first asked something. excess: share of the volume; \
         deviation: share of the diagonal of the box",
    );
    Ok(table)
}

const OUT_OF_BUDGET: &str = "budget";

/// All shared mesh files, the small ones first.
fn meshes() -> Result<Vec<PathBuf>> {
    let folder = scenes::root().join("../shared/data/meshes");
    let entries = std::fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut files: Vec<(u64, PathBuf)> = Vec::new();
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_file()
            && !["md", "csv"].iter().any(|end| path.extension().is_some_and(|e| e == *end))
        {
            files.push((entry.metadata()?.len(), path));
        }
    }
    files.sort();
    Ok(files.into_iter().map(|(_, path)| path).collect())
}

/// What a process of its own says about one mesh; `None` where it is not closed.
fn one(file: &Path) -> Result<Option<Reading>> {
    let said = Command::new(std::env::current_exe()?).arg(ONE).arg(file).arg(BUDGET.to_string()).output()?;
    if !said.status.success() {
        bail!("{}: {}", file.display(), String::from_utf8_lossy(&said.stderr));
    }
    let text = String::from_utf8(said.stdout)?;
    let words: Vec<&str> = text.split_whitespace().collect();
    let [ended, numbers @ ..] = &words[..] else { return Ok(None) };
    let numbers = numbers.iter().map(|word| Ok(word.parse()?)).collect::<Result<Vec<f64>>>()?;
    let [triangles, parts, milliseconds, peak, kept, excess, deviation] = numbers[..] else {
        bail!("{}: {text:?}", file.display());
    };
    Ok(Some(Reading {
        triangles,
        parts,
        milliseconds,
        peak,
        kept,
        excess,
        deviation,
        ended: ended.to_string(),
    }))
}

/// Prints what a call about one mesh took; a budget of 0 is none. Nothing for a mesh that is not closed.
///
/// # Errors
/// The mesh cannot be read, or encloses nothing.
pub fn print_one(file: &str, milliseconds: &str) -> Result<()> {
    let milliseconds: u64 = milliseconds.parse()?;
    let shape = impinge::io::load(file)?;
    // Threads and tables that every first call makes; threads of the pool may still be starting.
    decompose(&Shape::from(procedural::torus(1.0, 0.3, 8, 6)?), &DecomposeOptions::DEFAULT)?;
    taken_by(settle);
    if !Shape::from(shape.as_mesh().context("no mesh")?.clone()).is_closed() {
        return Ok(());
    }
    let ((answer, time), Taken { peak, kept }) = taken_by(|| {
        let start = Instant::now();
        let budget = match milliseconds {
            0 => Budget::UNLIMITED,
            limit => Budget::time(Duration::from_millis(limit)),
        };
        let answer = Query { budget, ..Query::default() }.decompose(&shape, &DecomposeOptions::DEFAULT);
        let time = start.elapsed();
        settle();
        (answer, time)
    });
    let bounds = shape.bounds(&impinge::Pose::IDENTITY);
    let size = (bounds.high - bounds.low).length();
    let answer = answer?;
    let found = answer.value.or(answer.so_far);
    let (parts, excess, deviation) = found
        .as_ref()
        .map_or((0, f64::NAN, f64::NAN), |f| (f.parts.len(), f.excess / f.volume, f.deviation / size));
    let ended = match found.map(|found| found.ended) {
        Some(DecomposeEnd::Tolerance) => "tolerance",
        Some(DecomposeEnd::MostParts) => "parts",
        Some(DecomposeEnd::NoBetterCut) => "no-better-cut",
        Some(DecomposeEnd::OutOfBudget) | None => OUT_OF_BUDGET,
        Some(other) => other.name(),
    };
    let triangles = shape.as_mesh().map_or(0, |mesh| mesh.triangles().len());
    let time = time.as_secs_f64() * 1e3;
    println!("{ended} {triangles} {parts} {time} {peak} {kept} {excess} {deviation}");
    Ok(())
}
