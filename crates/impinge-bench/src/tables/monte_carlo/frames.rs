//! A hundred thousand frames of a millisecond: the processor time of each.

use std::time::Duration;

use anyhow::Result;

use super::players::{Prepared, Sampled};
use crate::recordings::{SCENES, Stage};
use crate::table::{Table, milliseconds};
use crate::tables::Effort;
use crate::thread_time;

/// Frames, over and over the recording.
const FRAMES: usize = 100_000;

/// The time of a frame.
const BUDGET: Duration = Duration::from_millis(1);

/// Milliseconds that 999 of 1,000 frames keep, and that all keep.
const WANTED: [f64; 2] = [1.05, 1.5];

/// Measures the table.
pub fn run(effort: Effort) -> Result<Table> {
    let mut table = Table::new("monte-carlo-frames", &["scene", "frames", "of thread time", "ms", "wanted"]);
    let recording = SCENES[2].load()?;
    let frames = effort.pick(FRAMES, 3000);
    let mut sampled = Sampled::new(&Prepared::new(&recording), Some(BUDGET))?;
    let (mut stage, mut times, mut meeting) = (Stage::default(), Vec::with_capacity(frames), 0);
    let mut finished = 0;
    for frame in 0..frames {
        recording.place_own(frame, &mut stage);
        times.push(sampled.step(&stage, thread_time::nanoseconds)?);
        meeting += usize::from(sampled.report.is_some_and(|r| r.meeting == Some(true)));
        finished += usize::from(sampled.is_finished());
    }
    let in_order = times.clone();
    times.sort_unstable();
    let at = |share: f64| times[((share * frames as f64) as usize).min(frames - 1)] as f64;
    let most = at(1.0);
    for (name, value, wanted) in [
        ("mean", times.iter().sum::<u64>() as f64 / frames as f64, None),
        ("median", at(0.5), None),
        ("90th percentile", at(0.9), None),
        ("99th percentile", at(0.99), None),
        ("99.9th percentile", at(0.999), Some(WANTED[0])),
        ("most", most, Some(WANTED[1])),
    ] {
        let verdict = wanted.map_or_else(String::new, |wanted| {
            let held = if value / 1e6 <= wanted { "holds" } else { "MISSED" };
            format!("at most {wanted}: {held}")
        });
        table.row([recording.name.into(), frames.to_string(), name.into(), milliseconds(value), verdict]);
    }
    let share = |n: usize| 100.0 * n as f64 / frames as f64;
    let longer = times.iter().filter(|&&t| t as f64 > 1e6 * WANTED[0]).count();
    let longest = in_order.iter().position(|&t| t as f64 >= most).unwrap_or(0);
    table.remark(format!(
        "deforming; budget {} ms a frame; the bodies meet in {:.1} % of the frames, {:.1} % were finished within the \
         budget; {longer} frames took more than {} ms; the longest was frame {longest}",
        BUDGET.as_secs_f64() * 1e3,
        share(meeting),
        share(finished),
        WANTED[0],
    ));
    Ok(table)
}
