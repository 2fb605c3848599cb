//! Many bodies in a closed box (I6): time of a frame against their number at constant density, and what the
//! frames conserve.

use std::time::Instant;

use anyhow::{Result, ensure};
use impinge::Budget;
use impinge_sim::scenes::multibody::{ENERGY_BOUND, MOMENTUM_BOUND};
use impinge_sim::scenes::{Multibody, Scenario, verify};

use super::Effort;
use crate::chart::{Chart, Series};
use crate::scenes;
use crate::table::{Table, digits, milliseconds};
use crate::timing::Statistics;

/// Numbers of bodies.
const BODIES: [usize; 7] = [1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000];

/// Rounds in which every size advances in turn, so that a disturbance hits all.
const ROUNDS: usize = 12;

/// Bodies that each size moves in a round, in as many frames as that takes.
const MOVES: usize = 100_000;

/// Unmeasured frames before the first round: pairs and memory get their size.
const WARM: usize = 5;

/// The long run: bodies and frames.
const LONG: (usize, usize) = (1_000, 10_000);

/// What the exponent of the frame time must not exceed.
const MOST: f64 = 1.1;

const SEED: u64 = 1;

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header = [
        "bodies",
        "possible pairs",
        "boxes that meet",
        "contacts",
        "median ms",
        "min ms",
        "us/body",
        "energy drift",
        "momentum drift",
        "checked",
    ];
    let mut table = Table::new("multibody", &header);
    let sizes = &BODIES[..effort.pick(BODIES.len(), 3)];
    let mut runs = sizes.iter().map(|&n| Run::new(n)).collect::<Result<Vec<_>>>()?;
    for _ in 0..effort.pick(ROUNDS, 3) {
        runs.iter_mut().try_for_each(Run::round)?;
    }
    for run in &runs {
        table.row(run.row()?);
    }
    let exponent = exponent(&runs);
    let verdict = if exponent <= MOST { "holds" } else { "MISSED" };
    table.remark("polytopes of 36 faces fill 1 % of the box; each starts with 10 % of its radius and 10 degrees a frame");
    table.remark(format!(
        "frame time ~ bodies^{exponent:.3} (least squares of the logarithms); at most {MOST}: {verdict}"
    ));
    table.remark(long_run(effort)?);
    if effort.is_kept() {
        chart(&runs, exponent).save(&scenes::pictures_folder().join("multibody.png"))?;
    }
    Ok(table)
}

/// One size.
struct Run {
    bodies: usize,
    world: Multibody,
    /// Of each measured frame.
    nanoseconds: Vec<f64>,
    contacts: usize,
    box_pairs: usize,
}

impl Run {
    fn new(bodies: usize) -> Result<Run> {
        let mut world = Multibody::new(bodies, SEED)?;
        for _ in 0..WARM {
            world.advance(&mut Budget::UNLIMITED.clone())?;
        }
        Ok(Run { bodies, world, nanoseconds: Vec::new(), contacts: 0, box_pairs: 0 })
    }

    fn round(&mut self) -> Result<()> {
        for _ in 0..MOVES.div_ceil(self.bodies) {
            let start = Instant::now();
            let frame = self.world.advance(&mut Budget::UNLIMITED.clone())?;
            self.nanoseconds.push(start.elapsed().as_nanos() as f64);
            self.contacts += frame.contacts.len();
            self.box_pairs += frame.box_pairs;
        }
        Ok(())
    }

    fn median(&self) -> f64 {
        Statistics::of(&self.nanoseconds).median
    }

    fn possible_pairs(&self) -> u64 {
        self.bodies as u64 * (self.bodies as u64 - 1) / 2
    }

    fn row(&self) -> Result<[String; 10]> {
        let world = self.world.world();
        let least = self.nanoseconds.iter().copied().fold(f64::INFINITY, f64::min);
        let frames = self.nanoseconds.len() as f64;
        let mean = |sum: usize| format!("{:.1}", sum as f64 / frames);
        // All pairs of boxes are too many for brute force beyond this.
        let compared = self.bodies <= 10_000;
        if compared {
            verify(self.world.scene()).map_err(anyhow::Error::msg)?;
        }
        self.world.check().map_err(anyhow::Error::msg)?;
        let checked = if compared { "agrees with brute force, all inside" } else { "all inside" };
        Ok([
            self.bodies.to_string(),
            self.possible_pairs().to_string(),
            mean(self.box_pairs),
            mean(self.contacts),
            milliseconds(self.median()),
            milliseconds(least),
            digits(self.median() / 1e3 / self.bodies as f64),
            format!("{:.1e}", world.energy_drift().abs()),
            format!("{:.1e}", world.momentum_drift()),
            checked.into(),
        ])
    }
}

/// The slope of log time over log bodies, by least squares.
fn exponent(runs: &[Run]) -> f64 {
    let logs: Vec<[f64; 2]> = runs.iter().map(|r| [(r.bodies as f64).ln(), r.median().ln()]).collect();
    let mean = |k: usize| logs.iter().map(|p| p[k]).sum::<f64>() / logs.len() as f64;
    let [x, y] = [mean(0), mean(1)];
    let above: f64 = logs.iter().map(|p| (p[0] - x) * (p[1] - y)).sum();
    above / logs.iter().map(|p| (p[0] - x) * (p[0] - x)).sum::<f64>()
}

/// Ten thousand frames in which nobody may leave and nothing may be lost.
fn long_run(effort: Effort) -> Result<String> {
    let (bodies, frames) = (LONG.0, effort.pick(LONG.1, LONG.1 / 50));
    let mut world = Multibody::new(bodies, SEED)?;
    let [mut energy, mut momentum] = [0.0_f64; 2];
    for frame in 0..frames {
        world.advance(&mut Budget::UNLIMITED.clone())?;
        let outside = world.world().outside();
        ensure!(outside == 0, "frame {frame}: {outside} bodies are outside");
        energy = energy.max(world.world().energy_drift().abs());
        momentum = momentum.max(world.world().momentum_drift());
    }
    ensure!(energy <= ENERGY_BOUND && momentum <= MOMENTUM_BOUND, "energy {energy:e}, momentum {momentum:e}");
    let ledger = world.world().ledger();
    Ok(format!(
        "{bodies} bodies, {frames} frames: none outside after any frame; largest drift of the energy {energy:.1e} \
         (bound {ENERGY_BOUND:.0e}), of the momentum with the walls' impulses {momentum:.1e} (bound \
         {MOMENTUM_BOUND:.0e}); {} collisions, {} bounces off walls; deepest overlap {:.2} radii",
        ledger.collisions, ledger.bounces, ledger.deepest_overlap
    ))
}

fn chart(runs: &[Run], exponent: f64) -> Chart {
    let points = |y: &dyn Fn(&Run) -> f64| runs.iter().map(|r| [r.bodies as f64, y(r)]).collect();
    Chart {
        title: "multibody: frame time and possible pairs, 1 % density".into(),
        across: "bodies".into(),
        decades_across: [3, 5],
        decades_up: 5,
        series: [
            Series {
                name: format!("ms a frame, ~N^{exponent:.2}"),
                points: points(&|r| r.median() / 1e6),
                bottom: -1,
                colour: [30, 90, 170],
            },
            Series {
                name: "possible pairs, ~N^2".into(),
                points: points(&|r| r.possible_pairs() as f64),
                bottom: 5,
                colour: [190, 70, 40],
            },
        ],
    }
}
