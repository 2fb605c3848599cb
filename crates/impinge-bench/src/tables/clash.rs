//! Every clash of an assembly of 10,000 parts, against trimesh's manager over python-fcl; and how time and memory grow
//! with the parts.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use impinge::io::{load_parts, save};
use impinge::{ClashKind, ClashOptions, Part, clash};

use super::Effort;
use crate::assembly::Assembly;
use crate::machine::peak_memory;
use crate::outside::Outside;
use crate::peers::wanted;
use crate::table::{Table, digits, milliseconds};
use crate::timing::{Contestant, Statistics, Timed, Track, alternate, faster_by};
use crate::{scenes, setup};

const OURS: &str = "impinge-kinds";
const MEASURED: &str = "impinge";
const PEER: &str = "trimesh-fcl";

/// The word by which the table starts this program again to measure its memory.
pub const MEMORY: &str = "clash-memory";

/// Parts of the assemblies; the peer is asked about the last one.
const SIZES: [usize; 4] = [1_248, 2_496, 4_992, 10_000];

const REPEATS: usize = 5;

/// How often everybody is asked.
const ROUNDS: [usize; 3] = [0, 1, 2];

/// How long the peer may take to read the files, and for each answer.
const PATIENCE: Duration = Duration::from_secs(240);

/// Parts that clash. The peer takes convex parts for solids, as all of these are that lie within another.
type Pairs = Vec<[usize; 2]>;

/// What one size gave.
struct Reading {
    parts: f64,
    time: f64,
    memory: f64,
}

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header =
        ["contestant", "parts", "triangles", "read ms", "median ms", "MB", "pairs", "compared with ours"];
    let mut table = Table::new("clash", &header);
    let sizes = effort.pick(&SIZES[..], &SIZES[..2]);
    let mut readings = Vec::new();
    for (k, &count) in sizes.iter().enumerate() {
        readings.push(measure(&mut table, count, k + 1 == sizes.len())?);
    }
    if let [first, .., last] = &readings[..] {
        let power = |of: fn(&Reading) -> f64| (of(last) / of(first)).ln() / (last.parts / first.parts).ln();
        table.remark(format!(
            "from {} to {} parts the time grows with the power {:.3}, the memory with {:.3}",
            first.parts,
            last.parts,
            power(|reading| reading.time),
            power(|reading| reading.memory),
        ));
    }
    table.remark(
        "ours: from triangles in memory to the kinds, gaps and places of all clashes, trees built on the way, on one thread; \
         the row without \"kinds\" adds depths, separations and volumes; the clashes are those that were made",
    );
    table.remark(
        "peer: filling the manager and asking it for all pairs; its own clock, meshes read beforehand",
    );
    Ok(table)
}

fn measure(table: &mut Table, count: usize, with_peer: bool) -> Result<Reading> {
    let assembly = Assembly::of(count)?;
    let folder = written(&assembly)?;
    let memory = memory_of(&folder)?;
    let begin = Instant::now();
    let parts = load_parts([&folder])?;
    let read = begin.elapsed().as_nanos() as f64;
    check(&parts, &assembly)?;
    let mut peer = if with_peer { Peer::start(&folder, table)? } else { None };
    let mut contestants = vec![
        Contestant::new(OURS, |_| ours(&parts, true)),
        Contestant::new(MEASURED, |_| ours(&parts, false)),
    ];
    if let Some(peer) = &mut peer {
        // What it makes of a mesh it keeps, so that only the first answer counts.
        contestants.push(Contestant::new(PEER, move |_| peer.ask()).at_most(1));
    }
    let tracks = alternate(&mut contestants, &ROUNDS);
    drop(contestants);
    let mut reads = vec![read; 2];
    if let Some(Peer { parts: [read, fill, ask], .. }) = peer {
        reads.push(read);
        let [fill, ask] = [fill, ask].map(milliseconds);
        table.remark(format!("{PEER}: {fill} ms for filling the manager, {ask} ms for asking it"));
    }
    let [own, measured, others @ ..] = &tracks[..] else { bail!("nobody was asked") };
    let megabytes = digits(memory / 1e6);
    let triangles: usize = assembly.parts.iter().map(|mesh| mesh.triangles().len()).sum();
    for (track, read) in tracks.iter().zip(reads) {
        let is_ours = [OURS, MEASURED].contains(&track.name);
        let found = track.answers.first().map_or(0, Vec::len);
        table.row([
            track.name.to_string(),
            count.to_string(),
            triangles.to_string(),
            milliseconds(read),
            milliseconds(track.statistics().median),
            if track.name == MEASURED { megabytes.clone() } else { String::new() },
            found.to_string(),
            if is_ours { String::new() } else { verdict(track, own, &assembly) },
        ]);
    }
    for theirs in others.iter().filter(|track| track.failure.is_none()) {
        table.ratio(theirs.name, faster_by(own, theirs).median);
        table.ratio(&format!("{}-measured", theirs.name), faster_by(measured, theirs).median);
    }
    Ok(Reading { parts: count as f64, time: measured.statistics().median, memory })
}

/// Whether the clashes are found that were made.
fn check(parts: &[Part], assembly: &Assembly) -> Result<()> {
    let found = clash(parts, &mut ClashOptions::default())?;
    let told: Vec<_> = found.clashes.iter().map(|clash| (clash.parts, clash.kind)).collect();
    ensure!(told == assembly.clashes, "the clashes are not those that were made");
    Ok(())
}

/// Asks about parts of which nothing is known yet but their triangles.
fn ours(parts: &[Part], only_kinds: bool) -> Result<Timed<Pairs>> {
    let mut times = Vec::new();
    let mut pairs = Vec::new();
    for _ in 0..if only_kinds { REPEATS } else { 1 } {
        let fresh = |part: &Part| -> Result<Part> {
            let mesh = part.shape.as_mesh().context("a part is no mesh")?.clone();
            Ok(Part::new(part.name.clone(), mesh))
        };
        let parts = parts.iter().map(fresh).collect::<Result<Vec<Part>>>()?;
        let start = Instant::now();
        let report = clash(&parts, &mut ClashOptions { only_kinds, ..ClashOptions::default() })?;
        times.push(start.elapsed().as_nanos() as f64);
        pairs = report.clashes.iter().map(|clash| clash.parts).collect();
    }
    Ok(Timed { nanoseconds: Statistics::of(&times).median, answer: pairs })
}

/// Whether a peer found what we found; touching parts count for either.
fn verdict(theirs: &Track<Pairs>, ours: &Track<Pairs>, assembly: &Assembly) -> String {
    let (Some(theirs), Some(ours)) = (theirs.answers.first(), ours.answers.first()) else {
        return theirs.failure.clone().unwrap_or_default();
    };
    let touching = |pair: &[usize; 2]| assembly.clashes.contains(&(*pair, ClashKind::Touching));
    let missed: Vec<_> = ours.iter().filter(|pair| !theirs.contains(pair)).collect();
    let more = theirs.iter().filter(|pair| !ours.contains(pair)).count();
    let touch = missed.iter().filter(|pair| touching(pair)).count();
    match (missed.len() - touch, more) {
        (0, 0) if touch == 0 => "agrees".into(),
        (0, 0) => format!("agrees but for {touch} that touch"),
        (missed, more) => format!("{missed} MISSED, {more} MORE"),
    }
}

/// The peer with the files read.
struct Peer {
    outside: Outside,
    /// What reading, filling the manager and asking it took (nanoseconds).
    parts: [f64; 3],
}

impl Peer {
    /// `None` where it is not installed, which the table says.
    fn start(folder: &Path, table: &mut Table) -> Result<Option<Peer>> {
        if !wanted(PEER) {
            return Ok(None);
        }
        if ![setup::TRIMESH, setup::SCIPY, setup::PYTHON_FCL].into_iter().all(setup::has_wheel) {
            table.missing(format!(
                "{PEER}: not installed; `cargo run --release -p impinge-bench -- setup` gets it"
            ));
            return Ok(None);
        }
        let script = scenes::root().join("crates/impinge-bench/peers/clash.py");
        let outside = Outside::start(PEER, Command::new(setup::python()).arg(script).arg(folder), PATIENCE)?;
        Ok(Some(Peer { outside, parts: [f64::NAN; 3] }))
    }

    fn ask(&mut self) -> Result<Timed<Pairs>> {
        let Timed { nanoseconds, answer } = self.outside.ask("all pairs")?;
        let time = |k: usize| answer.get(k).and_then(|word| word.parse().ok()).unwrap_or(f64::NAN);
        self.parts = [time(0), time(1), nanoseconds - time(1)];
        let numbers = answer.iter().skip(2).map(|word| word.parse::<usize>().context("no number of a part"));
        let numbers: Vec<usize> = numbers.collect::<Result<_>>()?;
        Ok(Timed { nanoseconds, answer: numbers.as_chunks().0.to_vec() })
    }
}

/// The folder with the parts as files, written unless it is there.
fn written(assembly: &Assembly) -> Result<PathBuf> {
    let folder = scenes::peers_folder().join(format!("scenes/assembly{}", assembly.parts.len()));
    // The last file tells that the others were written.
    let name = |k: usize| folder.join(format!("part{k:05}.ply"));
    if !name(assembly.parts.len() - 1).is_file() {
        std::fs::create_dir_all(&folder)?;
        for (k, mesh) in assembly.parts.iter().enumerate() {
            save(name(k), mesh)?;
        }
    }
    Ok(folder)
}

/// The most memory of a process that reads and asks, less what it had before (bytes).
fn memory_of(folder: &Path) -> Result<f64> {
    let out = Command::new(std::env::current_exe()?).arg(MEMORY).arg(folder).output()?;
    let said = String::from_utf8_lossy(&out.stdout);
    said.trim().parse::<f64>().with_context(|| format!("no memory in \"{said}\""))
}

/// What [`memory_of`] starts.
///
/// # Errors
/// The parts cannot be read, or the system tells no memory.
pub fn print_memory(folder: &str) -> Result<()> {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let before = peak_memory().context("the system tells no memory")?;
    let parts = load_parts([folder])?;
    clash(&parts, &mut ClashOptions::default())?;
    println!("{}", peak_memory().unwrap_or(f64::NAN) - before);
    Ok(())
}
