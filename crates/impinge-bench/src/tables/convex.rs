//! Distance of two convex hulls in coherent motion: the walk from the last features against GJK.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use impinge::Pose;
use impinge::narrow::convex::polytope_distance::{WalkMemory, distance};

use super::Effort;
use crate::hulls;
use crate::outside::Outside;
use crate::peers::{parry, wanted};
use crate::scenes::{self, Placement};
use crate::table::Table;
use crate::timing::{Contestant, Timed, Track, alternate, faster_by};

/// Corners of each hull.
const SIZES: [usize; 3] = [20, 100, 1000];

/// Runs along the whole trajectory; each counts as one reading.
const ROUNDS: usize = 41;

/// parry's time grows with the number of corners; a few rounds tell.
const PARRY_ROUNDS: usize = 5;

/// How far a distance may be from Coal's.
const TOLERANCE: f64 = 1e-9;

/// A run along the trajectory takes less than this with any peer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header =
        ["contestant", "corners", "ns/query", "fastest round", "sum of distances", "compared with ours"];
    let mut table = Table::new("convex", &header);
    let trajectory = hulls::trajectory()?;
    let poses = hulls::poses(&trajectory)?;
    let mut ours = Vec::new();
    for corners in SIZES {
        let tracks = size(&mut table, effort, corners, &trajectory, &poses)?;
        ours.push(tracks[0].statistics().median);
        for track in &tracks[1..] {
            table.ratio(&format!("{} at {corners} corners", track.name), faster_by(&tracks[0], track).median);
        }
    }
    let growth = ours[2] / ours[0];
    table.remark(format!("our time at {} corners is {growth:.2} times that at {}", SIZES[2], SIZES[0]));
    table.remark(format!(
        "{} poses, 0.01 rad and 0.006 units from one to the next; a reading is one run along all of them \
         after one that does not count, without a memory at its start; ns/query is the median of {ROUNDS} readings in turn",
        poses.len()
    ));
    table.remark(
        "coal-cached and coal-cold: tolerance 1e-6 as Coal comes; coal-tight: cached, tolerance 1e-13",
    );
    table.remark(
        "parry3d-f64 (cold): query::distance, which keeps nothing between frames; (warm): its GJK begun in the last \
         direction, which costs a call of its inner function",
    );
    table.remark(format!("agrees: each distance within {TOLERANCE:e} of ours; ratios are of the medians"));
    Ok(table)
}

fn size(
    table: &mut Table,
    effort: Effort,
    corners: usize,
    trajectory: &[Placement],
    poses: &[Pose],
) -> Result<Vec<Track<Vec<f64>>>> {
    let ([a, b], shared) = hulls::pair(corners)?;
    if !shared {
        table.missing(format!("hull{corners}.bin of ../shared: hulls of the same kind were made instead"));
    }
    let parry = parry::double::Hulls::new(a.vertices(), b.vertices(), trajectory)?;
    let mut contestants = vec![
        Contestant::new("impinge", |_| {
            timed(poses, |memory, case| Ok(distance(&a, &Pose::IDENTITY, &b, &poses[case], memory).distance))
        }),
        Contestant::new("impinge, no memory", |_| {
            let fresh = WalkMemory::default;
            timed(poses, |_, case| Ok(distance(&a, &Pose::IDENTITY, &b, &poses[case], &mut fresh()).distance))
        }),
    ];
    for (name, word) in [("coal-cached", "cached"), ("coal-cold", "cold"), ("coal-tight", "tight")] {
        if let Some(mut coal) = coal(table, word == "cached", &[&a, &b], trajectory)? {
            contestants.push(Contestant::new(name, move |_| all_distances(&mut coal, word)));
        }
    }
    let few = effort.pick(PARRY_ROUNDS, 1);
    contestants.push(
        Contestant::new("parry3d-f64 (cold)", |_| timed(poses, |_, case| parry.distance(case))).at_most(few),
    );
    contestants.push(
        Contestant::new("parry3d-f64 (warm)", |_| {
            let mut last = None;
            timed(poses, |_, case| {
                if case == 0 {
                    last = None;
                }
                parry.distance_again(case, &mut last)
            })
        })
        .at_most(few),
    );
    let rounds: Vec<usize> = (0..effort.pick(ROUNDS, 2)).collect();
    let tracks = alternate(&mut contestants, &rounds);
    drop(contestants);
    add_rows(table, corners, &tracks);
    Ok(tracks)
}

/// One run along the trajectory that does not count, as Coal's program makes one too, and one that does; each
/// starts without a memory.
fn timed(
    poses: &[Pose],
    mut question: impl FnMut(&mut WalkMemory, usize) -> Result<f64>,
) -> Result<Timed<Vec<f64>>> {
    let mut run = || {
        let mut memory = WalkMemory::default();
        let start = Instant::now();
        let answer =
            (0..poses.len()).map(|case| question(&mut memory, case)).collect::<Result<Vec<f64>>>()?;
        Ok(Timed { nanoseconds: start.elapsed().as_nanos() as f64 / poses.len() as f64, answer })
    };
    let warm_up: Result<_> = run();
    warm_up.and_then(|_| run())
}

/// Coal's program on a pair of hulls; says once for each size that it is missing.
fn coal(
    table: &mut Table,
    loud: bool,
    pair: &[&impinge::shape::Polytope; 2],
    trajectory: &[Placement],
) -> Result<Option<Outside>> {
    if !wanted("coal") {
        return Ok(None);
    }
    let program = scenes::peers_folder().join("bin/coal_hulls");
    if !program.is_file() {
        if loud {
            table.missing("coal_hulls: not built; `cargo run --release -p impinge-bench -- setup` gets it");
        }
        return Ok(None);
    }
    let files = scenes::export(&pair[0].mesh()?, &pair[1].mesh()?, trajectory)?;
    Outside::start("coal_hulls", Command::new(program).args(files), PATIENCE).map(Some)
}

fn all_distances(coal: &mut Outside, word: &str) -> Result<Timed<Vec<f64>>> {
    let Timed { nanoseconds, answer } = coal.ask(&format!("{word} 0 1"))?;
    let numbers = answer.iter().map(|w| w.parse().with_context(|| format!("\"{w}\" is no distance")));
    Ok(Timed { nanoseconds, answer: numbers.collect::<Result<_>>()? })
}

fn add_rows(table: &mut Table, corners: usize, tracks: &[Track<Vec<f64>>]) {
    let Some(known) = tracks[0].answers.first() else { return };
    for track in tracks {
        let verdict = match (&track.failure, track.answers.last()) {
            (Some(why), _) => format!("FAILED: {why}"),
            (None, None) => "no answer".into(),
            (None, Some(answers)) => {
                let off = answers.iter().zip(known).map(|(a, b)| (a - b).abs());
                let differing = off.clone().filter(|off| !(*off <= TOLERANCE)).count();
                let most = off.fold(0.0, f64::max);
                match differing {
                    0 => format!("agrees, {most:.1e} at most"),
                    some => format!("{some} of {} differ, {most:.1e} at most", known.len()),
                }
            }
        };
        let fastest = track.nanoseconds.iter().copied().fold(f64::INFINITY, f64::min);
        let sum: f64 = track.answers.last().map_or(f64::NAN, |a| a.iter().sum());
        table.row([
            track.name.to_string(),
            corners.to_string(),
            format!("{:.0}", track.statistics().median),
            format!("{fastest:.0}"),
            format!("{sum:.9}"),
            verdict,
        ]);
    }
}
