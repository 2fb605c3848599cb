//! Pairs by sweep and prune: the intervals of all balls on one axis, sorted by their lower ends; those that overlap are
//! candidates (Baraff 1992; Cohen, Lin, Manocha and Ponamgi 1995).
//!
//! The axis is the one along which the points are spread most. The order is kept from frame to frame, so that the sort,
//! which makes use of runs, has little to do where little moves. Where we leave the papers: one axis is swept and the
//! distance decides the rest; keeping overlaps on three axes costs more than it saves for points.

use super::meter::{Meter, Unit};
use super::point_list::PointList;
use super::point_queries::{nearest_by_growing, within_candidates};
use super::{Nearest, NeighbourSearch, Particles, SearchCounters, Technique};
use crate::budget::QUANTUM;
use crate::num::tolerance::ROUND_UP;

/// Points in the order of one axis.
#[derive(Debug, Default)]
pub(super) struct SweepAndPrune {
    points: PointList,
    order: Vec<u32>,
    /// Lower ends of the intervals, and the coordinates, in the order.
    low: Vec<f64>,
    columns: [Vec<f64>; 3],
    axis: usize,
    /// The largest radius of a ball.
    ball: f64,
    /// Points that the last update moved to another place in the order.
    updates: u64,
    counters: SearchCounters,
}

impl NeighbourSearch for SweepAndPrune {
    fn technique(&self) -> Technique {
        Technique::Sweep
    }

    fn update(&mut self, particles: &Particles<'_>) {
        self.points.update(particles);
        self.updates = self.sort(particles);
    }

    fn search(&mut self, particles: &Particles<'_>, pairs: &mut Vec<[u32; 2]>) {
        self.update(particles);
        let SweepAndPrune { points, order, low, columns: [x, y, z], .. } = self;
        let reach = particles.candidate_reach() * ROUND_UP;
        let cutoff = particles.cutoff() + particles.candidate_margin();
        let limit_sq = reach * reach;
        let mut tests = 0;
        let meter = Meter::of_thread();
        pairs.clear();
        'all: for i in 0..order.len() {
            let (px, py, pz) = (x[i], y[i], z[i]);
            let ball = points.radius(particles, order[i]);
            // The interval and the cutoff behind it, rounded upward.
            let end = low[i] + (2.0 * ball + cutoff) * ROUND_UP;
            let end = end + 4.0 * f64::EPSILON * end.abs().max(low[i].abs());
            let mut first = i + 1;
            loop {
                let last = if meter.is_on() { metered_end(low, first, end) } else { order.len() };
                if !meter.grant(Unit::Test, (last - first) as u64, pairs.len()) {
                    break 'all;
                }
                let mut j = first;
                while j < last && low[j] <= end {
                    let [dx, dy, dz] = [x[j] - px, y[j] - py, z[j] - pz];
                    if (dx * dx + dy * dy) + dz * dz <= limit_sq {
                        pairs.extend(points.pair(particles, order[i], order[j]));
                    }
                    j += 1;
                }
                tests += (j - first) as u64;
                if !meter.is_on() || j == first {
                    break;
                }
                first = j;
            }
        }
        let columns: u64 = self.columns.iter().map(super::bytes_of).sum();
        self.counters = SearchCounters {
            tests,
            volume_tests: 0,
            pairs: pairs.len() as u64,
            updates: self.updates,
            bytes: self.points.bytes() + super::bytes_of(&self.order) + super::bytes_of(&self.low) + columns,
        };
    }

    fn counters(&self) -> SearchCounters {
        self.counters
    }

    fn nearest(&self, particles: &Particles<'_>, point: [f64; 3], k: usize, found: &mut Vec<Nearest>) {
        let within = |radius: f64, found: &mut Vec<Nearest>| self.within(particles, point, radius, found);
        nearest_by_growing(particles, particles.candidate_reach(), k, found, within);
    }

    fn within(&self, particles: &Particles<'_>, point: [f64; 3], radius: f64, found: &mut Vec<Nearest>) {
        within_candidates(particles, point, radius, found, |centre, radius, each| {
            // Lower ends are rounded and lie before their centres by up to the largest radius.
            let at = centre[self.axis];
            let [first, last] = [at - (radius + self.ball) * ROUND_UP, at + radius];
            let wider = 4.0 * f64::EPSILON * first.abs().max(last.abs());
            let begin = self.low.partition_point(|&low| low < first - wider);
            let slab = self.low.iter().zip(&self.order).skip(begin);
            slab.take_while(|(low, _)| **low <= last + wider).for_each(|(_, &number)| each(number));
        });
    }
}

impl SweepAndPrune {
    /// Sorts by the lower ends along the best axis; returns how many points have changed places.
    fn sort(&mut self, particles: &Particles<'_>) -> u64 {
        let SweepAndPrune { points, order, low, columns, axis, ball, .. } = self;
        let positions = points.positions();
        let count = positions.len();
        if order.len() <= count {
            order.extend(order.len() as u32..count as u32);
        } else {
            order.retain(|&p| (p as usize) < count);
        }
        *axis = widest_axis(positions);
        *ball = particles.radii().iter().copied().fold(0.0, f64::max);
        let axis = *axis;
        let key = |p: u32| positions[p as usize][axis] - points.radius(particles, p);
        let before = order.clone();
        order.sort_by(|&p, &q| key(p).total_cmp(&key(q)).then(p.cmp(&q)));
        low.clear();
        low.extend(order.iter().map(|&p| key(p)));
        for (k, column) in columns.iter_mut().enumerate() {
            column.clear();
            column.extend(order.iter().map(|&p| positions[p as usize][k]));
        }
        order.iter().zip(&before).filter(|(p, q)| p != q).count() as u64
    }
}

/// Where those of the next [`QUANTUM`] intervals that begin before `end` are over.
fn metered_end(low: &[f64], first: usize, end: f64) -> usize {
    let last = low.len().min(first + QUANTUM as usize);
    first + low[first..last].partition_point(|&low| low <= end)
}

/// The axis with the largest variance.
fn widest_axis(positions: &[[f64; 3]]) -> usize {
    let count = positions.len().max(1) as f64;
    let variance = |axis: usize| {
        let mean = positions.iter().map(|p| p[axis] / count).sum::<f64>();
        positions.iter().map(|p| (p[axis] - mean) * (p[axis] - mean) / count).sum::<f64>()
    };
    let variances = [0, 1, 2].map(variance);
    (0..3).max_by(|&a, &b| variances[a].total_cmp(&variances[b])).unwrap_or(0)
}
