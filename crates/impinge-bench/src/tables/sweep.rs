//! When two moving meshes first touch: our sweep against an advancement loop over Coal's distance.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use impinge::Motion;
use impinge::model::Model;
use impinge::narrow::continuous::SweepOptions;
use impinge::narrow::continuous::mesh_sweep::sweep;
use impinge::narrow::exact::collide::{Posed, first_meeting};

use super::Effort;
use crate::outside::Outside;
use crate::peers::versions::ADVANCEMENT;
use crate::peers::wanted;
use crate::scenes;
use crate::sweeps::{self, Row};
use crate::table::{Table, milliseconds};
use crate::timing::{Contestant, Timed, alternate, faster_by, median_of};

/// The pairs of meshes.
const PAIRS: [[&str; 2]; 3] =
    [["bunny4k", "dragon11k"], ["bunny59k", "dragon48k"], ["bunny59k", "dragon202k"]];

/// How many of the 50 motions end in a contact.
const KNOWN_HITS: usize = 43;

const REPEATS: usize = 5;

/// Samples of the dense reference, before it bisects.
const SAMPLES: u32 = 2000;

/// Long enough for the slowest motion, five times over.
const PATIENCE: Duration = Duration::from_secs(120);

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header =
        ["contestant", "meshes", "median ms", "mean ms", "max ms", "hits", "sum of times", "verdict"];
    let mut table = Table::new("sweep", &header);
    let rows: Vec<Row> = sweeps::rows()?.into_iter().step_by(effort.pick(1, 9)).collect();
    for names in &PAIRS[..effort.pick(3, 1)] {
        pair(&mut table, effort, *names, &rows)?;
    }
    table.remark(format!(
        "dense reference: {SAMPLES} exact relation tests along each motion, then bisection to 1e-12; ours must not be \
         later, and at most 1e-6 earlier unless a contact between two samples is proved by an exact test"
    ));
    table.remark(
        "advancement loop: Coal's distance and steps of that length over the largest speed, until the gap is 1e-6; \
         the loop is the bench's, for Coal sweeps no meshes; ratios are of the means",
    );
    Ok(table)
}

fn pair(table: &mut Table, effort: Effort, names: [&str; 2], rows: &[Row]) -> Result<()> {
    let meshes = [scenes::mesh(names[0])?, scenes::mesh(names[1])?];
    let motions: Vec<[Motion; 2]> = rows.iter().map(sweeps::motions).collect::<Result<_>>()?;
    let mut coal = coal(table, &meshes, rows)?;
    let models = meshes.map(Model::from);
    let ours = |case: usize| {
        let found = sweep([&models[0], &models[1]], [&motions[case][0], &motions[case][1]]);
        found.impact.map(|impact| impact.time)
    };
    let mut contestants = vec![Contestant::new("impinge", |case| Ok(median_of(REPEATS, || ours(case))))];
    if let Some(coal) = &mut coal {
        contestants.push(Contestant::new(ADVANCEMENT, |case| {
            let Timed { nanoseconds, answer } = coal.ask(&format!("sweep {case} {REPEATS}"))?;
            let time: f64 = answer.first().and_then(|w| w.parse().ok()).context("no time")?;
            Ok(Timed { nanoseconds, answer: (time <= 1.0).then_some(time) })
        }));
    }
    let cases: Vec<usize> = (0..motions.len()).collect();
    let tracks = alternate(&mut contestants, &cases);
    let label = names.join("-");
    for (k, track) in tracks.iter().enumerate() {
        let s = track.statistics();
        let hits = track.answers.iter().flatten().count();
        let verdict = if k == 0 {
            judge(&models, &motions, &track.answers)
        } else {
            compare(&tracks[0].answers, &track.answers)
        };
        let times = [s.median, s.mean, s.most].map(milliseconds);
        let sum: f64 = track.answers.iter().flatten().sum();
        let cells = [track.name.to_string(), label.clone()].into_iter().chain(times);
        table.row(cells.chain([hits.to_string(), format!("{sum:.6}"), verdict]));
        if let Some(why) = &track.failure {
            table.missing(format!("{} from here on: {why}", track.name));
        }
        if k == 0 && effort == Effort::Full && hits != KNOWN_HITS {
            table.remark(format!("NOT {KNOWN_HITS} hits on {label}: {hits}"));
        }
    }
    for track in &tracks[1..] {
        table.ratio(&format!("{} {label}", track.name), faster_by(&tracks[0], track).mean);
    }
    Ok(())
}

fn coal(table: &mut Table, meshes: &[impinge::Mesh; 2], rows: &[Row]) -> Result<Option<Outside>> {
    if !wanted(ADVANCEMENT) {
        return Ok(None);
    }
    let file = scenes::peers_folder().join("bin/coal_sweep");
    if !file.is_file() {
        table.missing("coal_sweep: not built; `cargo run --release -p impinge-bench -- setup` gets it");
        return Ok(None);
    }
    let [a, b, _] = scenes::export(&meshes[0], &meshes[1], &[])?;
    let motions = sweeps::export(rows)?;
    match Outside::start("coal_sweep", Command::new(file).args([a, b, motions]), PATIENCE) {
        Ok(outside) => Ok(Some(outside)),
        Err(why) => {
            table.missing(format!("{why:#}; run setup again"));
            Ok(None)
        }
    }
}

/// Our times against dense sampling.
fn judge(models: &[Model; 2], motions: &[[Motion; 2]], found: &[Option<f64>]) -> String {
    let tolerance = SweepOptions::DEFAULT.tolerance;
    let (mut missed, mut late, mut early, mut off) = (0, 0, 0, 0.0_f64);
    for (motion, time) in motions.iter().zip(found) {
        let meets = |t: f64| {
            let body = |k: usize| Posed::new(&models[k], motion[k].pose(t));
            first_meeting(body(0), body(1)).is_some()
        };
        let Some(truth) = dense(meets) else {
            early += usize::from(time.is_some_and(|t| !meets((t + tolerance).min(1.0))));
            continue;
        };
        match *time {
            None => missed += 1,
            Some(t) if t > truth => late += 1,
            Some(t) if truth - t > tolerance => early += usize::from(!meets((t + tolerance).min(1.0))),
            Some(t) => off = off.max(truth - t),
        }
    }
    if missed + late + early == 0 {
        return format!("never later than the dense reference, at most {off:.1e} earlier");
    }
    format!("{missed} MISSED, {late} LATE, {early} MADE UP")
}

/// The first sampled contact, bisected.
fn dense(meets: impl Fn(f64) -> bool) -> Option<f64> {
    let at = |k: u32| f64::from(k) / f64::from(SAMPLES);
    let first = (0..=SAMPLES).find(|&k| meets(at(k)))?;
    let (mut low, mut high) = (at(first.saturating_sub(1)), at(first));
    while high - low > 1e-12 {
        let middle = 0.5 * (low + high);
        if meets(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// Another's times against ours: it stops a millionth before the contact.
fn compare(ours: &[Option<f64>], theirs: &[Option<f64>]) -> String {
    let differ = ours.iter().zip(theirs).filter(|pair| pair.0.is_some() != pair.1.is_some()).count();
    let apart = ours.iter().zip(theirs).filter_map(|(a, b)| Some((a.as_ref()? - b.as_ref()?).abs()));
    let most = apart.fold(0.0, f64::max);
    if differ == 0 {
        format!("same hits, times within {most:.1e} of ours")
    } else {
        format!("{differ} hits DIFFER")
    }
}
