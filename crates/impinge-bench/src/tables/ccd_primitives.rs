//! Moving vertices against faces and edges against edges: time and truth of single queries, and whole steps.

use std::ops::Range;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use impinge::geom::moving::{FeaturePairKind, first_contact};
use impinge::narrow::deforming::{Deforming, first_self_contact};

use super::Effort;
use crate::outside::Outside;
use crate::peers::wanted;
use crate::queries::{self, MovingQuery};
use crate::scenes;
use crate::setup;
use crate::table::{Table, digits, milliseconds};
use crate::timing::{Contestant, Statistics, Timed, Track, alternate};

/// Where the queries come from, as scenes of the collection.
const SOURCES: [(&str, Range<u16>); 3] =
    [("handcrafted", 0..12), ("simulated", 12..17), ("near misses", 17..22)];

/// Whole steps of a simulation.
const STEPS: [&str; 2] = ["cloth-funnel", "armadillo-rollers"];

/// Readings of a group; the median counts.
const ROUNDS: usize = 9;

/// Rounds of a reading; the fastest counts, as with the peers.
const INNER_ROUNDS: usize = 7;

/// Tight-Inclusion takes milliseconds for a contact: it is asked so many queries of a group, evenly spread.
const ASKED_OF_TIGHT_INCLUSION: usize = 400;

/// A round of any contestant takes less.
const PATIENCE: Duration = Duration::from_secs(300);

/// Times of contact, as many as there were queries.
type Answers = Vec<Option<f64>>;

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header = [
        "contestant",
        "queries",
        "asked",
        "ns/query",
        "fastest round",
        "missed",
        "false",
        "late",
        "mean early",
        "most early",
        "compared with ours",
    ];
    let mut table = Table::new("ccd-primitives", &header);
    let all = queries::all()?;
    let mut peer = ipctk(&mut table)?;
    for kind in [FeaturePairKind::VertexFace, FeaturePairKind::EdgeEdge] {
        for (source, scenes) in SOURCES {
            let group: Vec<_> =
                all.iter().filter(|q| q.kind == kind && scenes.contains(&q.scene)).copied().collect();
            measure(&mut table, effort, &format!("{source} {}", word(kind)), &scenes, &group, peer.as_mut());
        }
    }
    for name in STEPS {
        whole_step(&mut table, effort, name, peer.as_mut())?;
    }
    table.remark(format!(
        "median of {ROUNDS} readings in turn of all queries of a group; tight-inclusion one reading of every n-th, \
         compared with ours on the same ones"
    ));
    table.remark(
        "ipctk is called from Python: a reading is its fastest of up to seven rounds (as many as a second allows) less the \
         fastest of the same calls of its box test, taken in turn; ours is the fastest of seven rounds",
    );
    table.remark(
        "missed and false: against the exact truth; late and early: times of contact, parts of a step",
    );
    table.remark(
        "steps: the time until which nothing meets, from the mesh at both ends; tree or candidates included",
    );
    Ok(table)
}

fn word(kind: FeaturePairKind) -> &'static str {
    match kind {
        FeaturePairKind::VertexFace => "vf",
        FeaturePairKind::EdgeEdge => "ee",
    }
}

/// The peer, if it was set up.
fn ipctk(table: &mut Table) -> Result<Option<Outside>> {
    if !wanted("additive-ccd") {
        return Ok(None);
    }
    if !setup::has_wheel(setup::IPCTK) {
        table.missing("ipctk: not installed; `cargo run --release -p impinge-bench -- setup` gets it");
        return Ok(None);
    }
    let script = scenes::root().join("crates/impinge-bench/peers/ipctk_ccd.py");
    let mut command = Command::new(setup::python());
    command.arg(script).arg(queries::file()).arg(queries::folder().join("pipeline"));
    Outside::start("ipctk", &mut command, PATIENCE).map(Some)
}

/// One group of queries.
fn measure(
    table: &mut Table,
    effort: Effort,
    name: &str,
    scenes: &Range<u16>,
    group: &[MovingQuery],
    peer: Option<&mut Outside>,
) {
    let rounds: Vec<usize> = (0..effort.pick(ROUNDS, 2)).collect();
    let mut ask = peer.map(|peer| {
        let kind = word(group[0].kind);
        let Range { start, end } = scenes.clone();
        move |method: &str, stride: usize| {
            let asked = peer.ask(&format!("query {method} {kind} {start} {end} {stride}"))?;
            answers(asked)
        }
    });
    let mut contestants = vec![Contestant::new("impinge", |_| Ok(ours(group, 1)))];
    if let Some(ask) = &mut ask {
        contestants.push(Contestant::new("additive-ccd", |_| ask("accd", 1)));
    }
    let tracks = alternate(&mut contestants, &rounds);
    drop(contestants);
    let mine = tracks[0].statistics();
    add_row(table, name, group, 1, &tracks[0], "");
    for track in &tracks[1..] {
        let faster = track.statistics().median / mine.median;
        add_row(table, name, group, 1, track, &format!("{faster:.1} times as long"));
        table.ratio(&format!("{} {name}", track.name), faster);
    }
    let Some(ask) = &mut ask else { return };
    let stride = group.len().div_ceil(effort.pick(ASKED_OF_TIGHT_INCLUSION, 20)).max(1);
    let mut contestants = [Contestant::new("tight-inclusion", |_| ask("ti", stride))];
    let slow = alternate(&mut contestants, &[0]);
    let same: Vec<f64> = rounds.iter().map(|_| ours(group, stride).nanoseconds).collect();
    let faster = slow[0].statistics().median / Statistics::of(&same).median;
    add_row(table, name, group, stride, &slow[0], &format!("{faster:.1} times as long"));
    table.ratio(&format!("tight-inclusion {name}"), faster);
}

fn ours(group: &[MovingQuery], stride: usize) -> Timed<Answers> {
    let mut best = Timed { nanoseconds: f64::INFINITY, answer: Answers::new() };
    for _ in 0..INNER_ROUNDS {
        let start = Instant::now();
        let answer: Answers =
            group.iter().step_by(stride).map(|q| first_contact(q.kind, &q.t0, &q.t1)).collect();
        let nanoseconds = start.elapsed().as_nanos() as f64 / answer.len().max(1) as f64;
        best = Timed { nanoseconds: best.nanoseconds.min(nanoseconds), answer };
    }
    best
}

fn answers(asked: Timed<Vec<String>>) -> Result<Timed<Answers>> {
    let times = asked.answer.iter().map(|word| match word.as_str() {
        "-" => Ok(None),
        word => word.parse().map(Some).with_context(|| format!("\"{word}\" is no time")),
    });
    Ok(Timed { nanoseconds: asked.nanoseconds, answer: times.collect::<Result<_>>()? })
}

fn add_row(
    table: &mut Table,
    name: &str,
    group: &[MovingQuery],
    stride: usize,
    track: &Track<Answers>,
    compared: &str,
) {
    let truths = group.iter().step_by(stride).map(|q| q.truth);
    let none = Answers::new();
    let found = track.answers.last().unwrap_or(&none);
    let (mut missed, mut wrong, mut late, mut early) = (0, 0, 0, Vec::new());
    for (truth, found) in truths.zip(found) {
        match (truth, found) {
            (Some(_), None) => missed += 1,
            (None, Some(_)) => wrong += 1,
            (Some(truth), Some(found)) if *found > truth => late += 1,
            (Some(truth), Some(found)) => early.push(truth - found),
            (None, None) => {}
        }
    }
    let early = Statistics::of(&early);
    let size = |x: f64| if x.is_nan() { "-".into() } else { format!("{x:.1e}") };
    let fastest = track.nanoseconds.iter().copied().fold(f64::INFINITY, f64::min);
    let verdict = track.failure.as_ref().map_or(compared.to_string(), |why| format!("FAILED: {why}"));
    table.row([
        track.name.to_string(),
        name.to_string(),
        found.len().to_string(),
        digits(track.statistics().median),
        digits(fastest),
        missed.to_string(),
        wrong.to_string(),
        late.to_string(),
        size(early.mean),
        size(early.most),
        verdict,
    ]);
}

/// The free part of a whole step, with everything that is needed for it.
fn whole_step(table: &mut Table, effort: Effort, name: &str, peer: Option<&mut Outside>) -> Result<()> {
    let load = |k: usize| impinge::io::load_mesh(queries::folder().join(format!("pipeline/{name}_t{k}.ply")));
    let (start, end) = (load(0)?, load(1)?);
    let mut times = Vec::new();
    let mut first = None;
    for _ in 0..effort.pick(5, 1) {
        let begin = Instant::now();
        let mesh = Deforming::new(start.clone(), end.clone())?;
        first = first_self_contact(&mesh);
        times.push(begin.elapsed().as_nanos() as f64);
    }
    let mine = Statistics::of(&times).median;
    let first = first.map(|contact| contact.time);
    let mut row = |who: &str, time: f64, free: Option<f64>, verdict: String| {
        let free = free.map_or("free".into(), |t| format!("until {t:.6}"));
        let step = format!("step {name}");
        let [asked, blank] = ["1".to_string(), String::new()];
        let time = format!("{} ms", milliseconds(time));
        let many = [blank.clone(), blank.clone(), blank.clone(), blank.clone(), blank];
        let [a, b, c, d, e] = many;
        table.row([who.into(), step, asked, time, a, b, c, d, e, free, verdict]);
    };
    row("impinge", mine, first, String::new());
    let Some(peer) = peer else { return Ok(()) };
    let mut ratios = Vec::new();
    for (who, method) in [("additive-ccd", "accd"), ("tight-inclusion", "ti")] {
        let Timed { nanoseconds, answer } = peer.ask(&format!("step {method} {name}"))?;
        let free = answer.first().and_then(|w| w.parse().ok());
        let candidates = answer.get(1).map_or("no", String::as_str);
        let faster = nanoseconds / mine;
        row(who, nanoseconds, free, format!("{faster:.1} times as long, {candidates} candidates"));
        ratios.push((format!("{who} step {name}"), faster));
    }
    ratios.iter().for_each(|(who, faster)| table.ratio(who, *faster));
    Ok(())
}
