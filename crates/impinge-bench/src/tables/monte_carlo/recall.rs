//! How many contact regions are found, and how late, when a frame may take so much time.

use std::time::Duration;

use anyhow::Result;

use super::players::{Player, Prepared, Sampled};
use crate::chart::{Chart, Series};
use crate::recordings::regions::{Found, Truth};
use crate::recordings::{Recording, SCENES, Stage};
use crate::scenes;
use crate::table::{Table, milliseconds};
use crate::tables::Effort;
use crate::timing::Statistics;

/// Microseconds of a frame.
const BUDGETS: [u64; 8] = [50, 100, 200, 350, 500, 1000, 2000, 5000];

/// At which every region is to be found with a delay of at most one frame.
const WANTED: u64 = 1000;

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let header = [
        "budget ms",
        "mean ms",
        "p99 ms",
        "finished %",
        "regions x frames",
        "seen %",
        "at once",
        "1 later",
        "2+ later",
        "missed",
        "longest",
        "wrong",
        "in time %",
    ];
    let mut table = Table::new("monte-carlo-recall", &header);
    let recording = SCENES[2].load()?;
    let frames = effort.pick(recording.frames.len(), 200);
    let truth = Truth::of(&recording, frames)?;
    table.remark(recording.sentence(&truth.properties()));
    table.remark("at once, 1 later, 2+ later: frames from a region's beginning, or its loss, until it is reported; missed: ended before");
    table.remark(
        "in time: reported with a delay of at most one frame; wrong: reported pairs that do not intersect",
    );
    let prepared = Prepared::new(&recording);
    table.remark(format!(
        "largest deformation, as measured and stated: {:.3} and {:.3}",
        prepared.deformation[0], prepared.deformation[1]
    ));
    let mut shares = Vec::new();
    for budget in BUDGETS {
        let (found, s, finished) = replay(&recording, &prepared, &truth, frames, budget)?;
        shares.push([budget as f64 / 1e3, 100.0 * found.share_in_time(), f64::from(found.longest)]);
        table.row(row(budget, &found, &s, finished));
        if budget == WANTED {
            let verdict = if found.in_time() { "holds" } else { "MISSED" };
            table.remark(format!("every region found with a delay of at most one frame at 1 ms: {verdict}"));
        }
    }
    if effort.is_kept() {
        chart(&shares).save(&scenes::pictures_folder().join("monte-carlo-recall.png"))?;
    }
    Ok(table)
}

/// All frames with one budget: what was found, the times, and the share of frames that were finished.
fn replay(
    recording: &Recording,
    prepared: &Prepared,
    truth: &Truth,
    frames: usize,
    budget: u64,
) -> Result<(Found, Statistics, f64)> {
    let mut sampled = Sampled::new(prepared, Some(Duration::from_micros(budget)))?;
    let (mut stage, mut reported, mut times) = (Stage::default(), Vec::new(), Vec::new());
    let mut finished = 0;
    for frame in 0..frames {
        recording.place_own(frame, &mut stage);
        let done = sampled.frame(&stage)?;
        times.push(done.query);
        reported.push(done.pairs);
        finished += usize::from(sampled.is_finished());
    }
    Ok((truth.judge(&reported), Statistics::of(&times), finished as f64 / frames as f64))
}

fn row(budget: u64, found: &Found, s: &Statistics, finished: f64) -> [String; 13] {
    let [once, one, more] = found.after;
    [
        format!("{:.2}", budget as f64 / 1e3),
        milliseconds(s.mean),
        milliseconds(s.p99),
        format!("{:.1}", 100.0 * finished),
        found.instances.to_string(),
        format!("{:.2}", 100.0 * found.seen as f64 / found.instances.max(1) as f64),
        once.to_string(),
        one.to_string(),
        more.to_string(),
        found.missed.iter().sum::<usize>().to_string(),
        found.longest.to_string(),
        found.wrong.to_string(),
        format!("{:.1}", 100.0 * found.share_in_time()),
    ]
}

fn chart(shares: &[[f64; 3]]) -> Chart {
    let series = |name: &str, which: usize, colour| Series {
        name: name.into(),
        points: shares.iter().map(|row| [row[0], row[which].max(1.0)]).collect(),
        bottom: 0,
        colour,
    };
    Chart {
        title: "regions found, deforming dragon and bunny".into(),
        across: "budget of a frame, ms".into(),
        decades_across: [-2, 1],
        decades_up: 3,
        series: [
            series("% of regions in time", 1, [31, 119, 180]),
            series("longest delay, frames (1 or fewer: 1)", 2, [214, 39, 40]),
        ],
    }
}
