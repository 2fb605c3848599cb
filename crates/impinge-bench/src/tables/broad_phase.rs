//! Moving boxes: update and enumerate all pairs, frame by frame; and what rests costs nothing.

use std::time::Instant;

use anyhow::{Result, ensure};
use impinge::Aabb;
use impinge::broad::{BroadPhase, Changes, Grid, Mobility, SweepAndPrune, Tree};
use parry3d::math::Vector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use rayon::ThreadPool;

use super::Effort;
use super::tree_build::{RUN_UP, kernel, pool};
use crate::boxes::{Boxes, SIZES};
use crate::table::{Table, milliseconds};
use crate::timing::{Contestant, Timed, Track, alternate, faster_by};

/// Frames for each size; enough for several rounds of whatever a method does only now and then.
const FRAMES: [usize; 3] = [120, 60, 40];

/// Frames of methods that take long.
const SLOW_FRAMES: usize = 7;

/// The frame at which the pairs are counted exactly.
const COUNTED: usize = 5;

const OURS: &str = "impinge-grid-1-thread";
const OURS_ON_TWO: &str = "impinge-grid-2-threads";
const KERNEL: &str = "(kernel-1-thread)";
const KERNEL_ON_TWO: &str = "(kernel-2-threads)";
const PARRY: &str = "parry3d-bvh";
const SWEEP: &str = "impinge-sweep-and-prune";
const SWEEP_FEW: &str = "impinge-sweep-and-prune-1%";

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header = ["contestant", "boxes", "median ms", "mean ms", "most ms", "pairs", "compared"];
    let mut table = Table::new("broad-phase", &header);
    table.remark("a frame: all boxes updated, all pairs enumerated; ours tell what began and ended besides");
    table.remark("ratios are of medians and means, theirs over ours on one thread");
    for (k, (size, expected)) in SIZES.into_iter().enumerate().take(effort.pick(3, 1)) {
        let tracks = measure(size, effort.pick(FRAMES[k], 2 * SLOW_FRAMES))?;
        add_rows(&mut table, size, expected, &tracks)?;
    }
    Ok(table)
}

fn measure(size: usize, frames: usize) -> Result<Vec<Track<u64>>> {
    let [one, two] = [pool(1)?, pool(2)?];
    let boxes = Boxes::draw(size);
    let mut contestants = vec![
        ours(OURS, &one, Grid::default(), &boxes, 1, count_grid),
        ours(OURS_ON_TWO, &two, Grid::default(), &boxes, 1, count_grid),
        Contestant::new(KERNEL, |_| Ok(nothing(kernel(&one)))),
        Contestant::new(KERNEL_ON_TWO, |_| Ok(nothing(kernel(&two)))),
        parry(&boxes),
    ];
    if size <= SIZES[1].0 {
        contestants
            .push(ours("impinge-tree", &one, Tree::default(), &boxes, 1, count_listed).at_most(SLOW_FRAMES));
        let sweep = SweepAndPrune::default();
        contestants.push(ours(SWEEP, &one, sweep.clone(), &boxes, 1, count_listed).at_most(SLOW_FRAMES));
        contestants.push(ours(SWEEP_FEW, &one, sweep, &boxes, 100, |_| 0).at_most(SLOW_FRAMES));
    }
    let cases: Vec<usize> = (1..=frames).collect();
    Ok(alternate(&mut contestants, &cases))
}

/// One of ours, whose bodies are already there; `every` says which of them move.
fn ours<'a, B: BroadPhase + Send + 'a>(
    name: &'static str,
    threads: &'a ThreadPool,
    mut broad: B,
    boxes: &Boxes,
    every: usize,
    count: fn(&B) -> u64,
) -> Contestant<'a, u64> {
    let mut boxes = boxes.clone();
    let mut changes = Changes::default();
    for i in 0..boxes.len() {
        broad.insert(i as u32, boxes.bounds(i), Mobility::Moving);
    }
    broad.step(&mut changes);
    Contestant::new(name, move |_| {
        boxes.advance(every);
        let moved: Vec<Aabb> = (0..boxes.len()).step_by(every).map(|i| boxes.bounds(i)).collect();
        Ok(threads.install(|| {
            spread();
            let start = Instant::now();
            if every == 1 {
                broad.update_range(0, &moved);
            } else {
                for (k, &bounds) in moved.iter().enumerate() {
                    broad.update((k * every) as u32, bounds);
                }
            }
            broad.step(&mut changes);
            let answer = count(&broad);
            Timed { nanoseconds: start.elapsed().as_nanos() as f64, answer }
        }))
    })
}

/// Keeps all threads at work until the system has given each a core.
fn spread() {
    let begun = Instant::now();
    rayon::broadcast(|_| while begun.elapsed().as_secs_f64() < RUN_UP {});
}

fn count_grid(grid: &Grid) -> u64 {
    let mut pairs = 0;
    grid.for_each_pair(|_, _| pairs += 1);
    pairs
}

fn count_listed(broad: &impl BroadPhase) -> u64 {
    let mut pairs = Vec::new();
    broad.pairs(&mut pairs);
    pairs.len() as u64
}

/// parry's fastest way: leaves updated, one refit, one traversal of the tree against itself.
fn parry(boxes: &Boxes) -> Contestant<'static, u64> {
    let mut boxes = boxes.clone();
    let all = |boxes: &Boxes| -> Vec<parry3d::bounding_volume::Aabb> {
        let one = |i| {
            let [centre, half] = boxes.centre_and_half(i).map(Vector::from);
            parry3d::bounding_volume::Aabb::new(centre - half, centre + half)
        };
        (0..boxes.len()).map(one).collect()
    };
    let mut bvh = Bvh::from_leaves(BvhBuildStrategy::Binned, &all(&boxes));
    let mut workspace = BvhWorkspace::default();
    Contestant::new(PARRY, move |_| {
        boxes.advance(1);
        let moved = all(&boxes);
        let start = Instant::now();
        for (i, bounds) in moved.iter().enumerate() {
            bvh.insert_or_update_partially(*bounds, i as u32, 0.0);
        }
        bvh.refit(&mut workspace);
        let mut answer = 0;
        bvh.traverse_bvtt_single_tree::<false>(&mut workspace, &mut |_, _| answer += 1);
        Ok(Timed { nanoseconds: start.elapsed().as_nanos() as f64, answer })
    })
}

fn nothing(timed: Timed<f64>) -> Timed<u64> {
    Timed { nanoseconds: timed.nanoseconds, answer: 0 }
}

fn add_rows(table: &mut Table, size: usize, expected: u64, tracks: &[Track<u64>]) -> Result<()> {
    for track in tracks {
        let s = track.statistics();
        let counted = track.answers.get(COUNTED - 1).copied().unwrap_or(0);
        let verdict = match track.name {
            name if name.starts_with('(') || name == SWEEP_FEW => "-".to_string(),
            PARRY => format!("{:+} pairs by rounding to f32", counted as i64 - expected as i64),
            _ if counted == expected => "agrees with the exact count".into(),
            _ => format!("DIFFERS from {expected}"),
        };
        let ours = track.name.starts_with("impinge") && track.name != SWEEP_FEW;
        ensure!(!ours || counted == expected, "{}: {counted} pairs instead of {expected}", track.name);
        let times = [s.median, s.mean, s.most].map(milliseconds);
        let pairs = if verdict == "-" { "-".to_string() } else { counted.to_string() };
        let names = [track.name.to_string(), size.to_string()];
        table.row(names.into_iter().chain(times).chain([pairs, verdict]));
    }
    let find = |name: &str| tracks.iter().find(|t| t.name == name);
    let (Some(ours), Some(on_two), Some(parry)) = (find(OURS), find(OURS_ON_TWO), find(PARRY)) else {
        return Ok(());
    };
    if let (Some(kernel), Some(kernel_on_two)) = (find(KERNEL), find(KERNEL_ON_TWO)) {
        let (scaling, possible) = (faster_by(on_two, ours), faster_by(kernel_on_two, kernel));
        table.remark(format!(
            "{size}: two threads are {:.2} times as fast as one (mean {:.2}); a kernel without any common data \
             {:.2} times",
            scaling.median, scaling.mean, possible.median
        ));
    }
    if let (Some(all), Some(few)) = (find(SWEEP), find(SWEEP_FEW)) {
        let share = 100.0 / faster_by(few, all).median;
        table.remark(format!(
            "{size}: sweep and prune with 1 % of the boxes moving costs {share:.2} % of all moving"
        ));
    }
    table.ratio_of_all(&format!("{PARRY}-{size}"), faster_by(ours, parry));
    Ok(())
}
