//! Parts that move along each other with little clearance: our sweep against an advancement loop over Coal's distance.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use impinge::Motion;
use impinge::model::Model;
use impinge::narrow::continuous::SweepOptions;
use impinge::narrow::continuous::mesh_sweep::sweep;
use impinge::narrow::exact::collide::{Posed, first_meeting};

use super::Effort;
use crate::fits::{self, Fit};
use crate::outside::Outside;
use crate::peers::versions::ADVANCEMENT;
use crate::peers::wanted;
use crate::scenes;
use crate::sweeps;
use crate::table::{Table, milliseconds};
use crate::timing::{Timed, median_of};

const REPEATS: usize = 5;

/// Seconds that the advancement loop gets; what it would take for the rest of the way is extrapolated.
const SECONDS: [u32; 2] = [120, 5];

/// Samples of the dense reference of a motion with a burr, before it bisects.
const SAMPLES: u32 = 2000;

/// Largest exponent of the time over the triangles of the rings.
const MOST_GROWTH: f64 = 1.1;

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header =
        ["contestant", "fit", "triangles", "ms", "came to", "volume tests", "primitive tests", "verdict"];
    let mut table = Table::new("tight-fit", &header);
    let rings = [fits::ring(45, 4)?, fits::ring(90, 9)?, fits::ring(125, 19)?];
    let mut times = Vec::new();
    for fit in &rings {
        times.push((triangles(fit), measure(&mut table, effort, fit)?));
    }
    for fit in [fits::peg(1e-2)?, fits::peg(1e-3)?, fits::peg(1e-4)?, fits::gears()?, fits::nut(128)?] {
        measure(&mut table, effort, &fit)?;
    }
    burrs(&mut table, effort)?;
    let [(least, first), .., (most, last)] = times[..] else { return Ok(table) };
    let growth = (last / first).ln() / (most / least).ln();
    let verdict = if growth <= MOST_GROWTH { "holds" } else { "MISSED" };
    table.remark(format!("rings: time ~ triangles^{growth:.3}; at most {MOST_GROWTH}: {verdict}"));
    table.remark(format!(
        "advancement loop: as in the table sweep; after {} s its time is extrapolated from the part of the step it came \
         through",
        effort.pick(SECONDS[0], SECONDS[1])
    ));
    Ok(table)
}

fn triangles(fit: &Fit) -> f64 {
    fit.meshes.iter().map(|mesh| mesh.triangles().len() as f64).sum()
}

/// One fit; our nanoseconds.
fn measure(table: &mut Table, effort: Effort, fit: &Fit) -> Result<f64> {
    let motions = fit.motions()?;
    let models = fit.meshes.clone().map(Model::from);
    let ours = median_of(REPEATS, || sweep([&models[0], &models[1]], [&motions[0], &motions[1]]));
    let found = ours.answer;
    let verdict = if found.impact.is_none() && found.free_until >= 1.0 { "free, as it is" } else { "WRONG" };
    let work = found.outcome.work;
    table.row([
        "impinge".into(),
        fit.name.clone(),
        format!("{}", triangles(fit)),
        milliseconds(ours.nanoseconds),
        format!("{:.4}", found.free_until),
        work.volume_tests.to_string(),
        work.primitive_tests.to_string(),
        verdict.into(),
    ]);
    if let Some(Timed { nanoseconds, answer: reached }) = coal(table, effort, fit)? {
        let whole = nanoseconds / reached.min(1.0);
        let verdict =
            if reached >= 1.0 { "free".into() } else { format!("whole step {:.0} s", whole * 1e-9) };
        table.row([
            ADVANCEMENT.into(),
            fit.name.clone(),
            format!("{}", triangles(fit)),
            milliseconds(nanoseconds),
            format!("{:.4}", reached.min(1.0)),
            String::new(),
            String::new(),
            verdict,
        ]);
        table.ratio(&format!("coal-ca-{}", fit.name), whole / ours.nanoseconds);
    }
    Ok(ours.nanoseconds)
}

/// The advancement loop through one fit: its time and how far it came, 2 at the end.
fn coal(table: &mut Table, effort: Effort, fit: &Fit) -> Result<Option<Timed<f64>>> {
    if !wanted(ADVANCEMENT) {
        return Ok(None);
    }
    let file = scenes::peers_folder().join("bin/coal_sweep");
    if !file.is_file() {
        table.missing("coal_sweep: not built; `cargo run --release -p impinge-bench -- setup` gets it");
        return Ok(None);
    }
    let seconds = effort.pick(SECONDS[0], SECONDS[1]);
    let patience = Duration::from_secs(2 * u64::from(seconds) + 60);
    let [a, b, _] = scenes::export(&fit.meshes[0], &fit.meshes[1], &[])?;
    let motions = sweeps::export(&[fit.row()])?;
    let mut coal = Outside::start("coal_sweep", Command::new(file).args([a, b, motions]), patience)?;
    let Timed { nanoseconds, answer } = coal.ask(&format!("advance 0 {seconds}"))?;
    let number = |k: usize| answer.get(k).and_then(|w| w.parse::<f64>().ok()).context("no number");
    if number(1)? != 0.0 {
        table.remark(format!("{ADVANCEMENT} says that {} HITS at {}", fit.name, number(0)?));
    }
    Ok(Some(Timed { nanoseconds, answer: number(0)? }))
}

/// The same fits with a burr that does hit, against dense sampling.
fn burrs(table: &mut Table, effort: Effort) -> Result<()> {
    let ring = fits::ring(45, 4)?;
    let around = ring.meshes[1].triangles().len() / 2;
    let [peg, gears, nut] = [fits::peg(1e-3)?, fits::gears()?, fits::nut(128)?];
    // Outwards from a wall, sideways from a tooth, inwards from the nut's thread.
    let all = [
        ring.with_burr(0, ring.outward(0, 0.03))?,
        ring.with_burr(around, ring.outward(around, 0.4))?,
        peg.with_burr(640, peg.outward(640, 0.01))?,
        gears.with_burr(962, gears.outward(962, 0.2))?,
        nut.with_burr(3001, nut.outward(3001, 0.05))?,
    ];
    for fit in &all[..effort.pick(all.len(), 3)] {
        let motions = fit.motions()?;
        let models = fit.meshes.clone().map(Model::from);
        let ours = median_of(1, || sweep([&models[0], &models[1]], [&motions[0], &motions[1]]));
        let time = ours.answer.impact.map(|impact| impact.time);
        let work = ours.answer.outcome.work;
        table.row([
            "impinge".into(),
            fit.name.clone(),
            format!("{}", triangles(fit)),
            milliseconds(ours.nanoseconds),
            time.map_or("1.0000".into(), |t| format!("{t:.6}")),
            work.volume_tests.to_string(),
            work.primitive_tests.to_string(),
            judge(&models, &motions, time),
        ]);
    }
    Ok(())
}

/// Our time against the first of many samples, bisected.
fn judge(models: &[Model; 2], motions: &[Motion; 2], found: Option<f64>) -> String {
    let meets = |t: f64| {
        let [a, b] = [0, 1].map(|k| Posed::new(&models[k], motions[k].pose(t)));
        first_meeting(a, b).is_some()
    };
    let at = |k: u32| f64::from(k) / f64::from(SAMPLES);
    let tolerance = SweepOptions::DEFAULT.tolerance;
    let Some(first) = (0..=SAMPLES).find(|&k| meets(at(k))) else {
        return match found {
            None => "free, and so are all samples".into(),
            Some(t) if meets((t + tolerance).min(1.0)) => "hits between samples".into(),
            Some(_) => "MADE UP".into(),
        };
    };
    let (mut low, mut high) = (at(first.saturating_sub(1)), at(first));
    while high - low > 1e-12 {
        let middle = 0.5 * (low + high);
        if meets(middle) { high = middle } else { low = middle }
    }
    match found {
        None => "MISSED".into(),
        Some(t) if t > high => "LATE".into(),
        Some(t) if high - t > tolerance && !meets(t + tolerance) => "MADE UP".into(),
        Some(t) => format!("not later than the dense reference, {:.1e} earlier", high - t),
    }
}
