//! A step cut at the knots of two motions: between them bounds of the accelerations, and of
//! the rounding on a long flight, are good.

use crate::motion::{Ball, Motion};

/// The spans from knot to knot between `from` and `until`, the last first.
pub(super) fn spans(motions: [&Motion; 2], balls: [&Ball; 2], from: f64, until: f64) -> Vec<[f64; 2]> {
    let from = from.clamp(0.0, 1.0);
    let until = until.clamp(from, 1.0);
    let mut ends: Vec<f64> = motions.iter().flat_map(|motion| motion.knots()).collect();
    ends.extend([0, 1].into_iter().flat_map(|k| motions[k].flight_knots(balls[k])));
    ends.retain(|&knot| knot > from && knot < until);
    if from == until {
        return vec![[from, until]];
    }
    ends.extend([from, until]);
    ends.sort_unstable_by(f64::total_cmp);
    ends.dedup();
    ends.windows(2).rev().map(|pair| [pair[0], pair[1]]).collect()
}
