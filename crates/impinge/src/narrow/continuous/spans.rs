//! A step cut at the knots of two motions: between them bounds of the accelerations are good.

use crate::motion::Motion;

/// The spans from knot to knot between `from` and 1, the last first.
pub(super) fn spans(motions: [&Motion; 2], from: f64) -> Vec<[f64; 2]> {
    let from = from.clamp(0.0, 1.0);
    let mut ends: Vec<f64> = motions.iter().flat_map(|motion| motion.knots()).collect();
    ends.retain(|&knot| knot > from);
    if from == 1.0 {
        return vec![[1.0, 1.0]];
    }
    ends.extend([from, 1.0]);
    ends.sort_unstable_by(f64::total_cmp);
    ends.dedup();
    ends.windows(2).rev().map(|pair| [pair[0], pair[1]]).collect()
}
