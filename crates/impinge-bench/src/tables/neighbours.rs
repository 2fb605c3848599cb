//! All pairs of particles within a cutoff, stored; and how the time grows with their number.

use std::hint::black_box;
use std::process::Command;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use impinge::broad::neighbours::{Domain, NeighbourSearch, Particles, Technique};
use rayon::ThreadPool;
use zelll::CellGrid;

use super::Effort;
use super::tree_build::{RUN_UP, kernel, pool, pool_on};
use crate::machine::peak_memory;
use crate::outside::Outside;
use crate::peers::{PairSet, wanted};
use crate::points::{self, CUTOFF, SETS};
use crate::scenes;
use crate::setup;
use crate::table::{Table, milliseconds};
use crate::timing::{Contestant, Statistics, Timed, Track, alternate, faster_by};

const OURS: &str = "impinge-grid-1-thread";
const OURS_ON_TWO: &str = "impinge-grid-2-threads";
const KERNEL: &str = "(kernel-1-thread)";
const KERNEL_ON_TWO: &str = "(kernel-2-threads)";
const APART: &str = "(two-searches-apart)";
const COPY: &str = "(copy-1-thread)";
const ZELLL: &str = "zelll";
const VESIN: &str = "vesin";

/// Readings of each contestant, for small and for large sets.
const ROUNDS: [usize; 2] = [41, 15];

/// Readings of contestants that take long.
const SLOW_ROUNDS: [usize; 2] = [15, 5];

/// A search of any contestant takes less.
const PATIENCE: Duration = Duration::from_secs(120);

/// Numbers of particles over which the growth of the time is measured.
const GROWTH: [usize; 4] = [10_000, 100_000, 1_000_000, 10_000_000];

/// What two threads must reach of what a kernel without any common data gains, and of what two searches apart gain.
const SCALING: f64 = 0.85;

/// Bytes of a buffer that is copied to measure the memory: larger than what a core keeps near.
const COPIED: usize = 64 << 20;

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header = ["contestant", "set", "median ms", "mean ms", "most ms", "pairs", "compared"];
    let mut table = Table::new("neighbours", &header);
    table.remark(format!(
        "all pairs at most {CUTOFF} apart of points in the given random order, structure built anew and pairs stored in \
         a list that is reused; ratios are of medians, theirs over ours on one thread"
    ));
    growth(&mut table, effort)?;
    let mut vesin = start_vesin(&mut table)?;
    for (number, &(name, count, pairs)) in SETS.iter().enumerate().take(effort.pick(4, 2)) {
        let all = points::load(name, count)?;
        let tracks = measure(&all, number, vesin.as_mut(), effort)?;
        add_rows(&mut table, &set_name(name, count), pairs, &all, &tracks)?;
    }
    Ok(table)
}

fn set_name(name: &str, count: usize) -> String {
    let count =
        if count >= 1_000_000 { format!("{}M", count / 1_000_000) } else { format!("{}k", count / 1000) };
    format!("{count}-{name}")
}

fn start_vesin(table: &mut Table) -> Result<Option<Outside>> {
    if !wanted(VESIN) {
        return Ok(None);
    }
    if !setup::has_wheel(setup::VESIN) {
        table.missing("vesin: not installed; `cargo run --release -p impinge-bench -- setup` gets it");
        return Ok(None);
    }
    let script = scenes::root().join("crates/impinge-bench/peers/vesin_pairs.py");
    let mut command = Command::new(setup::python());
    command.arg(script).arg(CUTOFF.to_string()).env("OMP_NUM_THREADS", "1");
    command.args(SETS.iter().map(|(name, count, _)| points::file(name, *count)));
    Outside::start(VESIN, &mut command, PATIENCE).map(Some)
}

fn measure(
    all: &[[f64; 3]],
    number: usize,
    vesin: Option<&mut Outside>,
    effort: Effort,
) -> Result<Vec<Track<PairSet>>> {
    let [one, two] = [pool(1)?, pool(2)?];
    let apart = [pool_on(0, 1)?, pool_on(1, 1)?];
    let large = usize::from(all.len() > 100_000);
    let slow = effort.pick(SLOW_ROUNDS[large], 2);
    let mut contestants = vec![
        ours(OURS, Technique::Grid, &one, all),
        ours(OURS_ON_TWO, Technique::Grid, &two, all),
        ours("impinge-hash-1-thread", Technique::Hash, &one, all).at_most(slow),
        ours("impinge-kd-tree-1-thread", Technique::KdTree, &one, all).at_most(slow),
        Contestant::new(KERNEL, |_| Ok(nothing(kernel(&one).nanoseconds))),
        Contestant::new(KERNEL_ON_TWO, |_| Ok(nothing(kernel(&two).nanoseconds))),
        two_searches_apart(&apart, all),
        copy(),
        zelll(all),
    ];
    if let Some(vesin) = vesin {
        contestants.push(Contestant::new(VESIN, move |_| ask_vesin(vesin, number)).at_most(slow));
    }
    let cases: Vec<usize> = (0..effort.pick(ROUNDS[large], 4)).collect();
    Ok(alternate(&mut contestants, &cases))
}

/// One of our techniques with a list that is reused.
fn ours<'a>(
    name: &'static str,
    technique: Technique,
    threads: &'a ThreadPool,
    all: &'a [[f64; 3]],
) -> Contestant<'a, PairSet> {
    let mut search = technique.start();
    let mut pairs = Vec::new();
    Contestant::new(name, move |_| {
        threads.install(|| {
            spread();
            let start = Instant::now();
            let particles = Particles::new(all, Domain::OPEN, CUTOFF)?;
            search.search(&particles, &mut pairs);
            let nanoseconds = start.elapsed().as_nanos() as f64;
            Ok(Timed { nanoseconds, answer: pairs.iter().copied().collect() })
        })
    })
}

/// Two searches at the same time, each on a thread, a core and a copy of the points of its own: what two threads can
/// gain with this very work where nothing is shared. Cores may be the two halves of one, which a kernel that waits for
/// its own results does not notice.
fn two_searches_apart<'a>(threads: &'a [ThreadPool; 2], all: &[[f64; 3]]) -> Contestant<'a, PairSet> {
    let mut own = [(); 2].map(|()| (all.to_vec(), Technique::Grid.start(), Vec::new()));
    Contestant::new(APART, move |_| {
        let barrier = Barrier::new(threads.len());
        let search = |(k, (all, search, pairs)): (usize, &mut (Vec<_>, Box<dyn NeighbourSearch>, Vec<_>))| {
            threads[k].install(|| {
                spread();
                barrier.wait();
                let start = Instant::now();
                let particles = Particles::new(all, Domain::OPEN, CUTOFF)?;
                search.search(&particles, pairs);
                Ok(start.elapsed().as_nanos() as f64)
            })
        };
        let times = std::thread::scope(|scope| {
            let running: Vec<_> = own.iter_mut().enumerate().map(|one| scope.spawn(|| search(one))).collect();
            let ended =
                running.into_iter().map(|one| one.join().map_err(|_| anyhow!("a search panicked"))?);
            ended.collect::<Result<Vec<f64>>>()
        })?;
        Ok(nothing(times.into_iter().fold(0.0, f64::max)))
    })
}

/// Keeps all threads at work until the system has given each a core.
fn spread() {
    let begun = Instant::now();
    rayon::broadcast(|_| while begun.elapsed().as_secs_f64() < RUN_UP {});
}

/// zelll's cells, rebuilt in place; its candidates are filtered as its documentation shows.
fn zelll(all: &[[f64; 3]]) -> Contestant<'_, PairSet> {
    let mut grid = CellGrid::new(all.iter().copied().enumerate(), CUTOFF);
    let mut pairs: Vec<[u32; 2]> = Vec::new();
    Contestant::new(ZELLL, move |_| {
        let start = Instant::now();
        grid.rebuild_mut(all.iter().copied().enumerate(), Some(CUTOFF));
        pairs.clear();
        grid.particle_pairs().for_each(|((i, a), (j, b))| {
            let d = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
            if d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= CUTOFF * CUTOFF {
                pairs.push([*i as u32, *j as u32]);
            }
        });
        let nanoseconds = start.elapsed().as_nanos() as f64;
        Ok(Timed { nanoseconds, answer: pairs.iter().map(|&[i, j]| [i.min(j), i.max(j)]).collect() })
    })
}

fn ask_vesin(vesin: &mut Outside, number: usize) -> Result<Timed<PairSet>> {
    let Timed { nanoseconds, answer } = vesin.ask(&number.to_string())?;
    let number = |k: usize| -> Result<u64> {
        answer.get(k).context("an answer too short")?.parse().map_err(Into::into)
    };
    Ok(Timed { nanoseconds, answer: PairSet { count: number(0)?, digest: number(1)? } })
}

/// What the memory gives: a buffer copied to another.
fn copy() -> Contestant<'static, PairSet> {
    let (from, mut to) = (vec![1_u8; COPIED], vec![2_u8; COPIED]);
    Contestant::new(COPY, move |_| {
        let start = Instant::now();
        black_box(&mut to).copy_from_slice(black_box(&from));
        Ok(nothing(start.elapsed().as_nanos() as f64))
    })
}

fn nothing(nanoseconds: f64) -> Timed<PairSet> {
    Timed { nanoseconds, answer: PairSet::default() }
}

fn add_rows(
    table: &mut Table,
    set: &str,
    expected: u64,
    all: &[[f64; 3]],
    tracks: &[Track<PairSet>],
) -> Result<()> {
    let find = |name: &str| tracks.iter().find(|t| t.name == name);
    let ours = find(OURS);
    let truth = ours.and_then(|track| track.answers.first().copied());
    for track in tracks {
        let Statistics { median, mean, most, .. } = track.statistics();
        let own = track.name.starts_with("impinge");
        let verdict = match (track.name.starts_with('('), &track.failure) {
            (true, _) => "-".to_string(),
            (_, Some(why)) => why.clone(),
            _ if track.answers.iter().all(|found| Some(*found) == truth && found.count == expected) => {
                "agrees on every pair".into()
            }
            _ => "DIFFERS".into(),
        };
        ensure!(!own || verdict.starts_with("agrees"), "{} on {set}: {verdict}", track.name);
        let pairs = if verdict == "-" { "-".into() } else { expected.to_string() };
        let times = [median, mean, most].map(milliseconds);
        table.row([track.name.to_string(), set.to_string()].into_iter().chain(times).chain([pairs, verdict]));
    }
    let Some(ours) = ours else { return Ok(()) };
    if let (Some(on_two), Some(kernel), Some(kernel_on_two)) =
        (find(OURS_ON_TWO), find(KERNEL), find(KERNEL_ON_TWO))
    {
        let (scaling, possible) = (faster_by(on_two, ours).median, faster_by(kernel_on_two, kernel).median);
        let verdict = |possible: f64| if scaling >= SCALING * possible { "holds" } else { "MISSED" };
        table.remark(format!(
            "{set}: two threads are {scaling:.2} times as fast as one, a kernel without any common data {possible:.2} \
             times: {:.2} of that (at least {SCALING}: {})",
            scaling / possible,
            verdict(possible),
        ));
        if let Some(apart) = find(APART) {
            let possible = 2.0 * faster_by(apart, ours).median;
            table.remark(format!(
                "{set}: two searches at the same time, each of points of its own, are {possible:.2} times as fast as one \
                 after the other; two threads on one search reach {:.2} of that (at least {SCALING}: {})",
                scaling / possible,
                verdict(possible),
            ));
        }
    }
    if let Some(copy) = find(COPY) {
        // A copy reads and writes each byte.
        let speed = 2.0 * COPIED as f64 / copy.statistics().median;
        let bytes = (24 * all.len() + 8 * expected as usize) as f64;
        let times = ours.statistics().median / (bytes / speed);
        table.remark(format!(
            "{set}: positions read once and pairs written once are {:.0} MB, {} ms at the {speed:.1} GB/s of a copy; \
             the search takes {times:.1} times that",
            bytes / 1e6,
            milliseconds(bytes / speed)
        ));
    }
    for peer in [ZELLL, VESIN] {
        if let Some(theirs) = find(peer) {
            table.ratio(&format!("{peer}-{set}"), faster_by(ours, theirs).median);
        }
    }
    Ok(())
}

/// How time and memory grow with the number of particles.
fn growth(table: &mut Table, effort: Effort) -> Result<()> {
    let one = pool(1)?;
    let mut medians = Vec::new();
    for count in GROWTH.into_iter().take(effort.pick(4, 2)) {
        let all = points::uniform(count);
        let rounds = if count > 1_000_000 { 3 } else { 9 };
        let mut contestants = [ours(OURS, Technique::Grid, &one, &all)];
        let tracks = alternate(&mut contestants, &(0..=rounds).collect::<Vec<_>>());
        let Some(track) = tracks.first() else { return Ok(()) };
        ensure!(track.failure.is_none(), "{:?}", track.failure);
        // The first reading pays for fresh memory, which later frames do not.
        let Statistics { median, mean, most, .. } = Statistics::of(&track.nanoseconds[1..]);
        let pairs = track.answers[0].count.to_string();
        let row = [track.name.to_string(), format!("{count}-uniform")];
        let rest = [milliseconds(median), milliseconds(mean), milliseconds(most), pairs, "-".into()];
        table.row(row.into_iter().chain(rest));
        medians.push((count as f64, median));
    }
    if let (Some(first), Some(last)) = (medians.first(), medians.last()) {
        let exponent = (last.1 / first.1).ln() / (last.0 / first.0).ln();
        table.remark(format!(
            "from {} to {} particles the time grows with the power {exponent:.3}",
            first.0, last.0
        ));
    }
    if let Some(peak) = peak_memory() {
        table
            .remark(format!("most memory of the process up to here: {:.2} GiB", peak / (1_u64 << 30) as f64));
    }
    Ok(())
}
