//! An order of facets in which consecutive ones lie far apart, so that few seeds cover a surface (Guy and
//! Debunne 2004, section 3.2; the paper asks for such a numbering and leaves open which).
//!
//! The coarsest level is ordered by farthest points (Gonzalez 1985): each facet is the farthest from all
//! before it. A finer level takes one child of each facet in the coarser level's order, then the second
//! children, and so on.

use glam::DVec3;

use super::csr::Csr;

/// Facets of a level, at most, that are ordered by farthest points, whose time is the square of their number.
/// More of them are a coarsest level only where the caller asked for few levels.
const FARTHEST_MOST: usize = 2048;

/// The order of the coarsest level.
pub(super) fn coarsest(centres: &[DVec3]) -> Vec<u32> {
    let count = centres.len();
    let stride = count.div_ceil(FARTHEST_MOST).max(1);
    let (mut order, mut taken) = (Vec::with_capacity(count), vec![false; count]);
    let mut gap: Vec<f64> = vec![f64::INFINITY; count];
    let mut next = 0;
    // One in `stride` facets, by farthest points.
    while order.len() < count.div_ceil(stride) && !taken[next] {
        order.push(next as u32);
        taken[next] = true;
        let from = centres[next];
        let mut farthest = f64::NEG_INFINITY;
        for i in (0..count).step_by(stride) {
            gap[i] = gap[i].min(centres[i].distance_squared(from));
            if !taken[i] && gap[i] > farthest {
                (farthest, next) = (gap[i], i);
            }
        }
    }
    // Between them, those that come so many places later in the list.
    for later in 1..stride {
        for k in 0..count.div_ceil(stride) {
            let i = order[k] + later as u32;
            if (i as usize) < count {
                order.push(i);
            }
        }
    }
    order
}

/// The order of a level from that of the next coarser one.
pub(super) fn finer(coarser: &[u32], children: &Csr, count: usize) -> Vec<u32> {
    let mut order = Vec::with_capacity(count);
    let mut parents = coarser.to_vec();
    for round in 0.. {
        parents.retain(|&p| children.of(p).len() > round);
        if parents.is_empty() {
            break;
        }
        order.extend(parents.iter().map(|&p| children.of(p)[round]));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::procedural;

    fn is_permutation(order: &[u32], count: usize) -> bool {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        sorted == (0..count as u32).collect::<Vec<_>>()
    }

    #[test]
    fn every_facet_has_one_number() {
        for count in [1, 2, 7, FARTHEST_MOST - 1, FARTHEST_MOST, FARTHEST_MOST + 1, 3 * FARTHEST_MOST + 5] {
            let centres = procedural::positions(count, DVec3::ZERO, DVec3::ONE, 3);
            assert!(is_permutation(&coarsest(&centres), count), "{count}");
            assert!(is_permutation(&coarsest(&vec![DVec3::ONE; count]), count), "{count} equal ones");
        }
        let children = Csr::by_owner(&[0, 2, 0, 1, 0, 2], 3);
        assert_eq!(finer(&[2, 0, 1], &children, 6), [1, 0, 3, 5, 2, 4]);
    }

    #[test]
    fn few_seeds_cover_the_surface() {
        let centres: Vec<DVec3> = procedural::ico_sphere(1.0, 3).unwrap().vertices().to_vec();
        let order = coarsest(&centres);
        // Sixteen discs of equal area cover a quarter of it each radius 0.5; farthest points reach within twice that.
        let seeds = &order[..16];
        let near =
            |p: &DVec3| seeds.iter().map(|&s| centres[s as usize].distance(*p)).fold(f64::INFINITY, f64::min);
        let uncovered = centres.iter().map(near).fold(0.0, f64::max);
        assert!(uncovered < 1.0, "{uncovered}");
        let step = |pair: &[u32]| centres[pair[0] as usize].distance(centres[pair[1] as usize]);
        let mean = order[..64].windows(2).map(step).sum::<f64>() / 63.0;
        assert!(mean > 1.0, "{mean}: two random points of the sphere are 4/3 apart");
    }
}
