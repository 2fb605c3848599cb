//! A motion from uniform through clustered to collapsed: the hybrid, which switches techniques while running, against
//! every fixed technique, in all and phase by phase.
//!
//! The phases are chosen for what the techniques are made for: a grid where particles fill space evenly, a hash table
//! where they fly apart in swarms, so that the cells of a grid would be either too many or too wide, and no structure at
//! all where all of them are within the cutoff. The number of particles and the frames are meant to give each phase a fair
//! share of the time. Whether another technique is best in each is what the table says.

use std::time::Instant;

use anyhow::{Result, ensure};
use impinge::broad::neighbours::{Domain, NeighbourSearch, Particles, Technique};

use super::Effort;
use crate::random::Numbers;
use crate::table::{Table, milliseconds};

/// Particles: so many that trying all pairs of a cluster takes longer than hashing it on any machine, and so few that all
/// pairs, 16 MB, fit into a cache. Otherwise every technique would wait for the memory where all pairs are near.
const COUNT: usize = 2_000;

/// The side of the cube that they fill at the start, in cutoffs: about four neighbours each.
const SIDE: f64 = 12.6;

/// A swarm and, for every so many particles, one of a second swarm; and the side of the space that they fly out to: so
/// far that the cells of a grid, which are not many more than particles, hold whole swarms.
const APART: usize = 16;
const FAR: f64 = 1e6;

/// Half the side of a swarm, and half the diagonal of the cube that all collapse to; the walk adds to that.
const SWARM: f64 = 6.3;
const COLLAPSED: f64 = 0.38;

/// Names and frames of the phases: so many that the two best fixed techniques, grid and hash table, take about as long in
/// all, each losing in the other's phase. The last phase is short, for a frame of it takes as long as many of the others.
const PHASES: [(&str, usize); 3] = [("uniform", 400), ("clustered", 300), ("collapsed", 60)];

/// Frames in which a phase goes over into the next.
const CHANGE: usize = 4;

/// The hybrid must take at most this share of the time of any fixed technique, and at most this much more than the
/// best of a phase.
const TOTAL: f64 = 0.9;
const PHASE: f64 = 1.05;

/// Runs of which the fastest counts for each frame; the memory of the pairs is that of the first.
const REPEATS: usize = 5;

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let mut table = Table::new(
        "hybrid",
        &["technique", "uniform ms", "clustered ms", "collapsed ms", "total ms", "hybrid takes"],
    );
    let shorter = effort.pick(1, 4);
    let phases = PHASES.map(|(_, frames)| frames / shorter);
    let mut techniques: Vec<Technique> =
        Technique::ALL.iter().copied().filter(|&t| t != Technique::Hybrid).collect();
    techniques.push(Technique::Hybrid);
    let (mut times, mut switches) =
        (vec![vec![Vec::new(); phases.iter().sum()]; techniques.len()], Vec::new());
    let mut pairs = Vec::new();
    let mut random = Numbers::new(5);
    for _ in 0..effort.pick(REPEATS, 1) {
        switches = repeat(&techniques, phases, &mut random, &mut times, &mut pairs)?;
    }
    let least_of = |frame: &Vec<f64>| frame.iter().copied().fold(f64::INFINITY, f64::min);
    let least: Vec<Vec<f64>> = times.iter().map(|frames| frames.iter().map(least_of).collect()).collect();
    let sums: Vec<[f64; 3]> = least.iter().map(|frames| by_phase(frames, phases)).collect();
    let total = |sums: &[f64; 3]| sums.iter().sum::<f64>();
    let Some((hybrid, fixed)) = sums.split_last() else { return Ok(table) };
    for (technique, sums) in techniques.iter().zip(&sums) {
        let share = total(hybrid) / total(sums);
        let [a, b, c] = sums.map(milliseconds);
        table.row([
            technique.name().into(),
            a,
            b,
            c,
            milliseconds(total(sums)),
            format!("{:.1} %", 100.0 * share),
        ]);
    }
    for (k, (name, _)) in PHASES.iter().enumerate() {
        let best = (0..fixed.len()).min_by(|&a, &b| fixed[a][k].total_cmp(&fixed[b][k])).unwrap_or(0);
        let share = hybrid[k] / fixed[best][k];
        table.remark(format!(
            "{name}: best in hindsight {}, the hybrid takes {:.1} % of its time (at most {:.0} %: {})",
            techniques[best],
            100.0 * share,
            100.0 * PHASE,
            verdict(share <= PHASE),
        ));
    }
    let best_fixed = fixed.iter().map(total).fold(f64::INFINITY, f64::min);
    table.remark(format!(
        "in all the hybrid takes {:.1} % of the time of the best fixed technique (at most {:.0} %: {})",
        100.0 * total(hybrid) / best_fixed,
        100.0 * TOTAL,
        verdict(total(hybrid) <= TOTAL * best_fixed),
    ));
    switches.into_iter().for_each(|reason| table.remark(reason));
    table.remark(format!(
        "{COUNT} particles, cutoff 1, frames {}, one thread, all techniques in each frame in a random order, the fastest of {} runs; all \
         found the same pairs",
        phases.map(|n| n.to_string()).join(" + "),
        effort.pick(REPEATS, 1),
    ));
    table.ratio("best fixed technique", best_fixed / total(hybrid));
    Ok(table)
}

/// One run of all techniques; adds the times of each frame and returns the reasons of the hybrid's switches.
///
/// Their order in a frame is random: in turn each would always have the same one before it, and who follows another that
/// runs the same code finds caches and branch predictors prepared, some 10 % of a frame.
#[expect(clippy::needless_range_loop, reason = "the frame also counts the motion")]
fn repeat(
    techniques: &[Technique],
    phases: [usize; 3],
    random: &mut Numbers,
    times: &mut [Vec<Vec<f64>>],
    pairs: &mut Vec<[u32; 2]>,
) -> Result<Vec<String>> {
    let mut searches: Vec<Box<dyn NeighbourSearch>> = techniques.iter().map(|t| t.start()).collect();
    let mut motion = Motion::new();
    let mut reasons = Vec::<String>::new();
    let mut order: Vec<usize> = (0..searches.len()).collect();
    for frame in 0..phases.iter().sum() {
        let positions = motion.frame(frame, phases);
        let particles = Particles::new(&positions, Domain::OPEN, 1.0)?;
        let mut known: Option<usize> = None;
        for k in (1..order.len()).rev() {
            order.swap(k, random.next(0.0, (k + 1) as f64) as usize);
        }
        for &at in &order {
            let start = Instant::now();
            searches[at].search(&particles, pairs);
            let taken = start.elapsed().as_nanos() as f64;
            times[at][frame].push(taken);
            let (found, technique) = (pairs.len(), techniques[at]);
            ensure!(
                *known.get_or_insert(found) == found,
                "frame {frame}: {technique} finds {found}, others {known:?}"
            );
        }
        let reason = searches.last().map_or("", |hybrid| hybrid.reason());
        if reasons.last().is_none_or(|last| last != reason) {
            reasons.push(reason.to_string());
        }
    }
    Ok(reasons)
}

/// Places in the phases, and a random walk on top of them.
struct Motion {
    random: Numbers,
    uniform: Vec<[f64; 3]>,
    clustered: Vec<[f64; 3]>,
    collapsed: Vec<[f64; 3]>,
    walk: Vec<[f64; 3]>,
}

impl Motion {
    fn new() -> Motion {
        let mut random = Numbers::new(4);
        let mut cube = |half: f64| random.point(-half, half);
        let sites = [cube(0.5 * FAR), cube(0.5 * FAR)];
        let uniform = (0..COUNT).map(|_| cube(0.5 * SIDE)).collect();
        let clustered = (0..COUNT)
            .map(|i| {
                let (site, at) = (sites[usize::from(i % APART == 0)], cube(SWARM));
                std::array::from_fn(|k| site[k] + at[k])
            })
            .collect();
        // Half the diagonal of a cube, so that all are within the cutoff.
        let collapsed = (0..COUNT).map(|_| cube(COLLAPSED / 3.0_f64.sqrt())).collect();
        Motion { random, uniform, clustered, collapsed, walk: vec![[0.0; 3]; COUNT] }
    }

    /// The positions of a frame; frames are asked in order.
    fn frame(&mut self, frame: usize, [first, second, _]: [usize; 3]) -> Vec<[f64; 3]> {
        let share = |since: usize| ((frame + 1).saturating_sub(since) as f64 / CHANGE as f64).min(1.0);
        let (out, back) = (share(first), share(first + second));
        (0..COUNT)
            .map(|i| {
                let [from, via, to] = [self.uniform[i], self.clustered[i], self.collapsed[i]];
                let walk = &mut self.walk[i];
                std::array::from_fn(|k| {
                    // Stays near its place.
                    walk[k] = 0.9 * walk[k] + self.random.next(-0.01, 0.01);
                    (from[k] * (1.0 - out) + via[k] * out) * (1.0 - back) + to[k] * back + walk[k]
                })
            })
            .collect()
    }
}

/// Sums over the frames of each phase.
fn by_phase(frames: &[f64], phases: [usize; 3]) -> [f64; 3] {
    let mut rest = frames;
    phases.map(|count| {
        let (phase, later) = rest.split_at(count.min(rest.len()));
        rest = later;
        phase.iter().sum()
    })
}

fn verdict(holds: bool) -> &'static str {
    if holds { "holds" } else { "MISSED" }
}
