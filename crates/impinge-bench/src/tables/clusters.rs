//! Eight clusters of particles that pass through each other, by every technique: collisions, tests and time beside
//! those of the experiment that the scene `clusters` follows, and its three plots.

use std::time::Instant;

use anyhow::{Result, ensure};
use impinge::broad::neighbours::{Domain, NeighbourSearch, Particles, Technique};
use impinge_sim::scenes::clusters::{Clusters, DISTANCE, FRAMES};

use super::Effort;
use crate::chart::{LineChart, Series};
use crate::scenes;
use crate::table::{Table, digits};

const SEED: u64 = 0;

/// Particles, collisions, and tests in millions by grids of 0.125, 0.25 and 0.5, the spanner and brute force, as
/// published; the spanner and brute force did not finish 64,000.
const PUBLISHED: [(usize, u64, [Option<f64>; 5]); 4] = [
    (1_000, 3_237, [Some(0.67), Some(4.47), Some(19.37), Some(3.24), Some(49.95)]),
    (8_000, 233_473, [Some(43.63), Some(280.86), Some(1_224.77), Some(2_600.26), Some(3_199.6)]),
    (27_000, 2_730_301, [Some(498.18), Some(3_202.03), Some(13_934.85), Some(29_306.16), Some(36_448.65)]),
    (64_000, 15_411_495, [Some(2_785.77), Some(17_920.65), Some(78_091.97), None, None]),
];

/// The contestants that were published, in the order of the counts above.
const NAMED: [&str; 5] = ["grid 0.125", "grid 0.25", "grid 0.5", "spanner", "brute"];

/// From so many particles on brute force searches one frame of ten: a frame takes seconds.
const MANY: usize = 50_000;
const STRIDE: u64 = 10;

/// The large set: particles, and frames around the middle of the passage.
const LARGE: (usize, u64) = (1_000_000, 3);

/// Techniques that take minutes for a frame of the large set.
const NOT_LARGE: [Technique; 2] = [Technique::Brute, Technique::Sweep];

/// How far from the published collisions ours may be.
const WITHIN: f64 = 0.25;

/// One technique with its structure and what it did.
struct Run {
    name: String,
    search: Box<dyn NeighbourSearch>,
    /// Every how many frames it searches.
    stride: u64,
    seconds: f64,
    frames: u64,
    collisions: u64,
    tests: u64,
    bytes: u64,
    pairs: Vec<[u32; 2]>,
}

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header = [
        "technique",
        "particles",
        "frames",
        "collisions",
        "tests M",
        "published M",
        "tests a collision",
        "seconds",
        "us/particle/frame",
        "MB",
        "collisions agree",
    ];
    let mut table = Table::new("clusters", &header);
    let mut plots: Vec<(usize, Vec<Run>)> = Vec::new();
    for &(particles, published, tests) in &PUBLISHED[..effort.pick(4, 2)] {
        let runs = compare(particles, DISTANCE, 1.0, 0, FRAMES)?;
        let collisions = runs[0].collisions;
        let off = collisions as f64 / published as f64 - 1.0;
        ensure!(off.abs() <= WITHIN, "{particles} particles: {collisions} collisions, published {published}");
        table.remark(format!(
            "{particles} particles: {collisions} collisions, published {published} ({:+.1} %); every technique found \
             the same in every frame it searched",
            100.0 * off
        ));
        relations(&mut table, particles, &runs);
        for run in &runs {
            let at = NAMED.iter().position(|name| *name == run.name);
            table.row(row(particles, run, at.and_then(|at| tests[at])));
        }
        plots.push((particles, runs));
    }
    if effort == Effort::Full {
        let (particles, frames) = LARGE;
        // As many neighbours as among 64,000.
        let scale = (64_000.0 / particles as f64).cbrt();
        for run in &compare(particles, DISTANCE * scale, scale, FRAMES / 2 - frames, frames)? {
            table.row(row(particles, run, None));
        }
        table.remark(format!(
            "{particles} particles: frames {} to {} at the distance {:.4} and voxels scaled alike; not by {}",
            FRAMES / 2 - frames + 1,
            FRAMES / 2,
            DISTANCE * scale,
            NOT_LARGE.map(|t| t.name()).join(" and "),
        ));
    }
    table.remark(format!(
        "collision distance {DISTANCE}, {FRAMES} frames, one thread; the motion is not measured"
    ));
    table.remark(format!(
        "brute force searches one frame of {STRIDE} from {MANY} particles on; tests and time are {STRIDE} times those"
    ));
    if effort.is_kept() {
        draw(&plots)?;
    }
    Ok(table)
}

/// All techniques over the same frames in turn; an error where two differ.
fn compare(particles: usize, distance: f64, scale: f64, skipped: u64, frames: u64) -> Result<Vec<Run>> {
    let mut clusters = Clusters::with_distance(particles, distance, SEED, Technique::Brute.start())?;
    (0..skipped).for_each(|_| clusters.step());
    let mut runs = contestants(particles, scale);
    for frame in 0..frames {
        clusters.step();
        let now = Particles::new(clusters.positions(), Domain::OPEN, distance)?;
        let mut known: Option<u64> = None;
        let count = runs.len();
        for place in 0..count {
            let run = &mut runs[(place + frame as usize) % count];
            if frame % run.stride != 0 {
                continue;
            }
            let start = Instant::now();
            run.search.search(&now, &mut run.pairs);
            run.seconds += start.elapsed().as_secs_f64() * run.stride as f64;
            let counters = run.search.counters();
            run.frames += 1;
            run.tests += counters.tests * run.stride;
            run.collisions += counters.pairs;
            run.bytes = run.bytes.max(counters.bytes);
            let this = fingerprint(&run.pairs);
            ensure!(*known.get_or_insert(this) == this, "{}: other collisions in frame {frame}", run.name);
        }
    }
    Ok(runs)
}

fn contestants(particles: usize, scale: f64) -> Vec<Run> {
    let run = |name: String, search: Box<dyn NeighbourSearch>, stride: u64| Run {
        name,
        search,
        stride,
        seconds: 0.0,
        frames: 0,
        collisions: 0,
        tests: 0,
        bytes: 0,
        pairs: Vec::new(),
    };
    let voxels = [0.125, 0.25, 0.5];
    let mut runs: Vec<Run> = voxels
        .map(|voxel| run(format!("grid {voxel}"), Technique::Grid.start_with(Some(voxel * scale)), 1))
        .into();
    for &technique in Technique::ALL.iter().filter(|t| particles < LARGE.0 || !NOT_LARGE.contains(t)) {
        let stride = if technique == Technique::Brute && particles >= MANY { STRIDE } else { 1 };
        runs.push(run(technique.name().to_string(), technique.start(), stride));
    }
    runs
}

/// The same for the same pairs in any order.
fn fingerprint(pairs: &[[u32; 2]]) -> u64 {
    let mix = |&[a, b]: &[u32; 2]| {
        let z = (u64::from(a) << 32 | u64::from(b)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (z ^ (z >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
    };
    pairs.iter().map(mix).fold(pairs.len() as u64, u64::wrapping_add)
}

/// Says whether what was published of the grids, the spanner and brute force holds here too.
fn relations(table: &mut Table, particles: usize, runs: &[Run]) {
    let named = NAMED.map(|name| runs.iter().find(|run| run.name == name));
    let [Some(fine), Some(middle), Some(coarse), Some(spanner), Some(brute)] = named else { return };
    let all = [fine, middle, coarse, spanner, brute];
    let wins = all[1..].iter().all(|other| fine.seconds < other.seconds);
    let fewer = fine.tests < middle.tests && middle.tests < coarse.tests && coarse.tests < brute.tests;
    if particles >= 8_000 {
        let verdict = |holds: bool| if holds { "holds" } else { "MISSED" };
        table.remark(format!(
            "{particles} particles: the finest of the three grids is faster than the others, the spanner and brute force: {}; \
             finer grids need fewer tests: {}; spanner {:.2} of the time of brute force (published: 2.3)",
            verdict(wins),
            verdict(fewer),
            spanner.seconds / brute.seconds,
        ));
    }
}

fn row(particles: usize, run: &Run, published: Option<f64>) -> [String; 11] {
    let frames = (run.frames * run.stride) as f64;
    [
        run.name.clone(),
        particles.to_string(),
        if run.stride == 1 { run.frames.to_string() } else { format!("{} of {}", run.frames, frames) },
        run.collisions.to_string(),
        digits(run.tests as f64 / 1e6),
        published.map_or("-".into(), digits),
        digits(run.tests as f64 / (run.collisions * run.stride).max(1) as f64),
        digits(run.seconds),
        digits(run.seconds * 1e6 / (particles as f64 * frames)),
        digits(run.bytes as f64 / 1e6),
        "all".into(),
    ]
}

/// The plots: collisions, tests and time over the number of particles.
fn draw(plots: &[(usize, Vec<Run>)]) -> Result<()> {
    let colours = [
        [30, 90, 170],
        [90, 150, 220],
        [150, 190, 235],
        [190, 70, 40],
        [60, 60, 60],
        [40, 140, 80],
        [200, 140, 30],
        [130, 60, 160],
        [0, 150, 150],
        [220, 90, 140],
        [120, 110, 70],
        [160, 160, 160],
        [235, 30, 30],
    ];
    let names: Vec<&str> =
        plots.first().map_or(Vec::new(), |(_, runs)| runs.iter().map(|r| r.name.as_str()).collect());
    let chart = |title: &str, bottom: i32, decades_up: i32, value: &dyn Fn(&Run) -> f64| LineChart {
        title: title.into(),
        across: "particles".into(),
        decades_across: [3, 5],
        decades_up,
        series: (0..names.len())
            .map(|k| Series {
                name: names[k].into(),
                points: plots.iter().map(|(n, runs)| [*n as f64, value(&runs[k])]).collect(),
                bottom,
                colour: colours[k % colours.len()],
            })
            .collect(),
    };
    let mut collisions = chart("collisions in 100 frames", 3, 5, &|run| (run.collisions * run.stride) as f64);
    collisions.series.truncate(1);
    collisions.series[0].name = "here".into();
    let published = PUBLISHED.map(|(n, count, _)| [n as f64, count as f64]).to_vec();
    collisions.series.push(Series {
        name: "published".into(),
        points: published,
        bottom: 3,
        colour: [190, 70, 40],
    });
    let folder = scenes::pictures_folder();
    collisions.save(&folder.join("clusters-collisions.png"))?;
    chart("clusters: tests in 100 frames", 5, 7, &|run| run.tests.max(1) as f64)
        .save(&folder.join("clusters-tests.png"))?;
    chart("clusters: seconds for 100 frames", -3, 7, &|run| run.seconds)
        .save(&folder.join("clusters-time.png"))
}
