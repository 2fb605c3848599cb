//! Table 1 of the paper: boxes refitted, oriented boxes built anew, and layered shells, on three recorded scenes at
//! two speeds.
//!
//! Each player goes through a block of frames before the next one does the same block, so that a method finds the
//! caches as it left them, as in an application, and a disturbance of the machine still meets everybody.

use anyhow::Result;
use impinge::Counters;

use super::players::{Aabb, Default, Done, Obb, Parry, Player, Prepared, Sampled};
use crate::peers::programs::Program;
use crate::peers::{PairSet, everybody, wanted};
use crate::recordings::regions::Truth;
use crate::recordings::{Frame, Recording, SCENES, Stage};
use crate::scenes::Placement;
use crate::table::{Table, milliseconds};
use crate::tables::Effort;
use crate::timing::{Statistics, Timed};

/// Set to the name of a scene to run only that one.
const SCENE: &str = "IMPINGE_BENCH_SCENE";

/// Frames that a player does before the next one has its turn.
const BLOCK: usize = 200;

/// Those without memory of earlier frames are asked about every so many, those who build anew about fewer still.
const SPARSE: [usize; 2] = [5, 400];

const AABB: &str = "AABB";
const PARRY: &str = "parry3d-bvh";
const OBB: &str = "OBB";
const OURS: &str = "impinge-tree";
const SHELLS: &str = "impinge-shells";
const FCL: &str = "fcl-obbrss";

/// FCL is asked about every so many frames.
const FCL_EVERY: usize = 50;

/// The most pairs of coarsest facets with which shells are tried: all are looked at when a recording begins.
const MOST_ROOTS: usize = 1 << 17;

/// Rigid bodies, and shells with a given number of levels, go through this part of a recording, from its beginning.
const FEWER: usize = 4;

/// Levels above the mesh, as in the paper; without a number as many as it takes.
const LEVELS: std::ops::RangeInclusive<usize> = 1..=4;

/// How many times faster than refitted boxes shells are to be, by scene at the speed of touch: the paper's table 1. The
/// fast recordings are beside them to tell what speed does.
const WANTED: [(&str, f64); 3] = [("sphere-torus", 2.3), ("horseshoe-clover", 56.0), ("dragon-bunny", 79.0)];

/// A player with its name and what it did.
struct Track<'r> {
    name: String,
    player: Box<dyn Player + 'r>,
    /// Asked about every so many frames.
    every: usize,
    /// Asked about so many frames from the first on.
    most: usize,
    done: Vec<Done>,
}

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header = [
        "contestant",
        "scene",
        "motion",
        "update ms",
        "query ms",
        "mean ms",
        "median ms",
        "p99 ms",
        "compared",
    ];
    let mut table = Table::new("monte-carlo", &header);
    for scene in SCENES.iter().filter(|scene| is_asked_for(scene.name)) {
        let recording = match scene.load() {
            Ok(recording) => recording,
            Err(why) => {
                table.missing(format!("{why:#}"));
                continue;
            }
        };
        for (recording, motion) in [(recording.rigid(), "rigid"), (recording, "deforming")] {
            // The ratios are those of the deforming bodies.
            let all = recording.frames.len() / if motion == "rigid" { FEWER } else { 1 };
            let frames = effort.pick(all, 2 * BLOCK);
            let truth = Truth::of(&recording, frames)?;
            table.remark(recording.sentence(&truth.properties()));
            let tracks = measure(&recording, motion == "rigid", frames)?;
            add_rows(&mut table, &recording, motion, &truth, &tracks);
            if motion == "rigid" {
                add_fcl(&mut table, &recording, &truth)?;
            }
        }
    }
    Ok(table)
}

/// Whether a scene is wanted in this run.
fn is_asked_for(scene: &str) -> bool {
    std::env::var(SCENE).map_or(true, |only| only == scene)
}

/// Everybody goes through the frames, block by block.
fn measure(recording: &Recording, rigid: bool, frames: usize) -> Result<Vec<Track<'_>>> {
    let mut tracks: Vec<Track<'_>> = Vec::new();
    let mut add = |name: &str, player: Box<dyn Player>, every: usize, most: usize| {
        if wanted(name) {
            tracks.push(Track { name: name.into(), player, every, most, done: Vec::new() });
        }
    };
    add(AABB, Box::new(Aabb::new(recording)), SPARSE[0], frames);
    add(PARRY, Box::new(Parry::new(recording)), SPARSE[0], frames);
    add(OURS, Box::new(Default::new(recording, rigid)), 4 * SPARSE[0], frames);
    add(OBB, Box::new(Obb::new(recording, rigid)), SPARSE[1], frames);
    let prepared = Prepared::new(recording);
    for levels in LEVELS {
        let roots = recording.triangles().map(|count| count >> (2 * levels));
        if roots[0] * roots[1] <= MOST_ROOTS {
            let fewer = prepared.with_levels(recording, levels);
            add(&format!("{SHELLS}-{levels}"), Box::new(Sampled::new(&fewer, None)?), 1, frames / FEWER);
        }
    }
    add(SHELLS, Box::new(Sampled::new(&prepared, None)?), 1, frames);
    let mut stage = Stage::default();
    let all: Vec<usize> = (0..frames).collect();
    for (turn, block) in all.chunks(BLOCK).enumerate() {
        for place in 0..tracks.len() {
            let at = (turn + place) % tracks.len();
            let track = &mut tracks[at];
            for &frame in block.iter().filter(|&&f| f % track.every == 0 && f < track.most) {
                recording.place(frame, &mut stage);
                track.done.push(track.player.frame(&stage)?);
            }
        }
    }
    Ok(tracks)
}

fn add_rows(table: &mut Table, recording: &Recording, motion: &str, truth: &Truth, tracks: &[Track<'_>]) {
    let total = |track: &Track<'_>| -> Vec<f64> { track.done.iter().map(|d| d.update + d.query).collect() };
    for track in tracks {
        let mean =
            |part: fn(&Done) -> f64| track.done.iter().map(part).sum::<f64>() / track.done.len() as f64;
        let s = Statistics::of(&total(track));
        let times = [mean(|d| d.update), mean(|d| d.query), s.mean, s.median, s.p99].map(milliseconds);
        let names = [track.name.clone(), recording.name.into(), motion.into()];
        let verdict =
            if track.name.starts_with(SHELLS) { found(truth, track) } else { all_pairs(truth, track) };
        table.row(names.into_iter().chain(times).chain([verdict]));
    }
    for track in tracks.iter().filter(|track| track.name.starts_with(SHELLS)) {
        let mean = |part: fn(&Counters) -> u64| {
            track.done.iter().map(|d| part(&d.work)).sum::<u64>() as f64 / track.done.len() as f64
        };
        table.remark(format!(
            "{} {motion}, {}: {:.0} facet tests and {:.0} triangle tests a frame",
            recording.name,
            track.name,
            mean(|work| work.volume_tests),
            mean(|work| work.primitive_tests)
        ));
    }
    let mean_of = |name: &str| tracks.iter().find(|t| t.name == name).map(|t| Statistics::of(&total(t)).mean);
    if let (Some(aabb), Some(parry), true) = (mean_of(AABB), mean_of(PARRY), everybody()) {
        table.remark(format!(
            "{} {motion}: AABB takes {:.2} times as long as parry3d's Bvh refitted and traversed (at most 1.5)",
            recording.name,
            aabb / parry
        ));
    }
    table.remark(paper_row(recording, motion, tracks));
    if let (Some(aabb), Some(shells), "deforming") = (mean_of(AABB), mean_of(SHELLS), motion) {
        if let Some((scene, wanted)) = WANTED.iter().find(|(scene, _)| *scene == recording.name) {
            let held = if aabb / shells >= *wanted { "holds" } else { "MISSED" };
            table.remark(format!("{scene}: the paper's shells were {wanted} times as fast as AABB: {held}"));
        }
        table.ratio(&format!("aabb-{}", recording.name), aabb / shells);
    }
    // The same question to boxes that are not ours.
    if let (Some(parry), Some(shells), "deforming") = (mean_of(PARRY), mean_of(SHELLS), motion) {
        table.ratio(&format!("{PARRY}-{}", recording.name), parry / shells);
    }
}

/// The scene as a row of the paper's table 1.
fn paper_row(recording: &Recording, motion: &str, tracks: &[Track<'_>]) -> String {
    let mean = |name: &str, part: fn(&Done) -> f64| {
        let done = tracks.iter().find(|t| t.name == name).map(|t| &t.done[..]).unwrap_or_default();
        let sum: f64 = done.iter().map(part).sum();
        if done.is_empty() { "-".into() } else { milliseconds(sum / done.len() as f64) }
    };
    let levels: Vec<String> = LEVELS.map(|n| mean(&format!("{SHELLS}-{n}"), |d| d.query)).collect();
    format!(
        "table 1, {} {motion}, ms: AABB {}, OBB {} / {}, shells with 1 to 4 levels {}, with all levels {}",
        recording.name,
        mean(AABB, |d| d.update + d.query),
        mean(OBB, |d| d.update),
        mean(OBB, |d| d.query),
        levels.join(" / "),
        mean(SHELLS, |d| d.query)
    )
}

/// FCL with rigid bodies; it runs outside and keeps no memory of frames.
fn add_fcl(table: &mut Table, recording: &Recording, truth: &Truth) -> Result<()> {
    let placement = |frame: &Frame| Placement { numbers: frame.numbers, gap: 0.0, hit: false };
    let placements: Vec<Placement> = recording.frames.iter().map(placement).collect();
    let [a, b] = recording.bodies.each_ref().map(|body| &body.mesh);
    let Some(mut fcl) = Program::start("fcl", a, b, &placements, table)? else { return Ok(()) };
    let (mut times, mut differing) = (Vec::new(), 0);
    for (case, frame) in truth.frames.iter().enumerate().step_by(FCL_EVERY) {
        let Timed { nanoseconds, answer } = fcl.pairs(case, 1)?;
        times.push(nanoseconds);
        differing += usize::from(answer != frame.region_of.keys().copied().collect::<PairSet>());
    }
    let s = Statistics::of(&times);
    let [mean, median, p99] = [s.mean, s.median, s.p99].map(milliseconds);
    let names = [FCL, recording.name, "rigid"].map(String::from);
    let verdict = match differing {
        0 => "agrees: all pairs".into(),
        n => format!("{n} of {} frames DIFFER", times.len()),
    };
    table.row(names.into_iter().chain(["0".into(), mean.clone(), mean, median, p99, verdict]));
    Ok(())
}

/// Whether the pairs are those of the truth in every frame asked.
fn all_pairs(truth: &Truth, track: &Track<'_>) -> String {
    let asked = truth.frames.iter().step_by(track.every);
    let differing = track.done.iter().zip(asked).filter(|(done, frame)| {
        done.pairs.len() != frame.region_of.len()
            || done.pairs.iter().any(|p| !frame.region_of.contains_key(p))
    });
    match differing.count() {
        0 => "agrees: all pairs".into(),
        n => format!("{n} of {} frames DIFFER", track.done.len()),
    }
}

/// How the regions were found.
fn found(truth: &Truth, track: &Track<'_>) -> String {
    let reported: Vec<Vec<[u32; 2]>> = track.done.iter().map(|done| done.pairs.clone()).collect();
    let found = truth.judge(&reported);
    let verdict = if found.in_time() && found.wrong == 0 { "holds" } else { "MISSED" };
    format!(
        "{verdict}: {} of {} regions x frames seen, {} at once, {} one frame later, {} later, {} missed, {} wrong pairs",
        found.seen,
        found.instances,
        found.after[0],
        found.after[1],
        found.after[2],
        found.missed.iter().sum::<usize>(),
        found.wrong
    )
}
