//! How long moving features certainly stay farther apart than a distance.
//!
//! Along a fixed direction every vertex moves uniformly, so the gap between two features along it is a minimum of
//! linear functions of time, and the time until which it stays open is a quotient. From the nearest points at
//! one time the direction is found that separates the features best; where its gap closes the next one is taken.
//! Additive CCD (Li et al., "Codimensional incremental potential contact", 2021) steps by the gap divided by
//! the largest speed; here only speed along the gap counts.

use glam::DVec3;

use super::FeaturePairKind;
use crate::geom::{point_triangle, segment_segment};
use crate::num::tolerance::{DETERMINANT_UNDERFLOW, SUPPORT_ROUNDING};

/// The first time from which on nothing is known: until it the features are farther apart than `distance`. 1 or
/// more when that holds for the whole step. Steps end when the features are within `near`.
pub(super) fn open_until(
    kind: FeaturePairKind,
    t0: &[DVec3; 4],
    t1: &[DVec3; 4],
    [distance, near]: [f64; 2],
    steps: usize,
) -> f64 {
    let pairs = kind.opposites();
    let between = |points: &[DVec3; 4]| -> [DVec3; 4] {
        std::array::from_fn(|k| points[pairs[k][1]] - points[pairs[k][0]])
    };
    let gaps = [between(t0), between(t1)];
    let size = gaps.iter().flatten().fold(DVec3::ZERO, |most, gap| most.max(gap.abs())).max_element();
    let level = distance + SUPPORT_ROUNDING * (size + distance) + DETERMINANT_UNDERFLOW;
    let mut time = 0.0;
    for _ in 0..steps {
        let now: [DVec3; 4] = std::array::from_fn(|i| t0[i] * (1.0 - time) + t1[i] * time);
        let way = nearest(kind, &now);
        let length = way.length();
        if !(length > near) {
            return time;
        }
        let direction = way / length;
        let mut end = f64::INFINITY;
        for (gap_t0, gap_t1) in gaps[0].iter().zip(&gaps[1]) {
            let (start, last) = (direction.dot(*gap_t0), direction.dot(*gap_t1));
            // The nearest points of a sliver may be off, and so the direction.
            if start + (last - start) * time < level {
                return time;
            }
            if last < level {
                end = end.min((start - level) / (start - last));
            }
        }
        if end >= 1.0 {
            return end;
        }
        // The quotient is right to a few roundings.
        let end = end * (1.0 - SUPPORT_ROUNDING);
        if !(end > time) {
            return time;
        }
        time = end;
    }
    time
}

/// From the nearest point of the first feature to that of the other.
fn nearest(kind: FeaturePairKind, &[a, b, c, d]: &[DVec3; 4]) -> DVec3 {
    match kind {
        FeaturePairKind::VertexFace => point_triangle::closest_point(a, &[b, c, d]).point - a,
        FeaturePairKind::EdgeEdge => {
            let [p, q] = segment_segment::closest_points(&[a, b], &[c, d]).points;
            q - p
        }
    }
}
