//! Pairs by the deformable spanner: the hierarchy is kept from frame to frame, and one traversal finds the pairs and
//! the points that have come too near to others of their level.

use std::cell::Cell;

use super::meter::{Meter, Unit};
use super::point_list::PointList;
use super::point_queries;
use super::spanner::DeformableSpanner;
use super::{Nearest, NeighbourSearch, Particles, SearchCounters, Technique};

/// The room of twins in reaches: centres closer than that save no tests.
const ROOM: f64 = 0.5;

/// How many times the reach may grow or shrink before the hierarchy is built anew.
const FACTOR: f64 = 2.0;

/// The spanner as a technique.
#[derive(Debug, Default)]
pub(super) struct SpannerSearch {
    points: PointList,
    spanner: DeformableSpanner,
    /// For which the room was chosen.
    reach: f64,
    counters: SearchCounters,
}

impl NeighbourSearch for SpannerSearch {
    fn technique(&self) -> Technique {
        Technique::Spanner
    }

    fn update(&mut self, particles: &Particles<'_>) {
        if self.resize(particles) {
            self.spanner.lay_out();
        }
    }

    fn search(&mut self, particles: &Particles<'_>, pairs: &mut Vec<[u32; 2]>) {
        let [tests, updates, _] = self.start(particles).work();
        pairs.clear();
        if !self.resize(particles) {
            return;
        }
        let SpannerSearch { points, spanner, counters, .. } = self;
        let (meter, found) = (Meter::of_thread(), Cell::new(0));
        let ball = |p: u32| points.radius(particles, p);
        let cutoff = particles.cutoff() + particles.candidate_margin();
        let visit = |p: u32, q: u32| {
            pairs.extend(points.pair(particles, p, q));
            found.set(pairs.len());
        };
        let grant = |unit: Unit, tests: u64| meter.grant(unit, tests, found.get());
        let [volume_tests, near] = spanner.separate(cutoff, ball, visit, grant);
        let [all_tests, all_updates, bytes] = spanner.work();
        *counters = SearchCounters {
            tests: near + all_tests - tests,
            volume_tests,
            pairs: pairs.len() as u64,
            updates: all_updates - updates,
            bytes: bytes + points.bytes(),
        };
    }

    fn counters(&self) -> SearchCounters {
        self.counters
    }

    fn nearest(&self, particles: &Particles<'_>, point: [f64; 3], k: usize, found: &mut Vec<Nearest>) {
        point_queries::nearest(self.spanner.laid_out(), particles, point, k, found);
    }

    fn within(&self, particles: &Particles<'_>, point: [f64; 3], radius: f64, found: &mut Vec<Nearest>) {
        point_queries::within(self.spanner.laid_out(), particles, point, radius, found);
    }
}

impl SpannerSearch {
    /// The spanner of the last frame, or an empty one where its room does not suit a frame.
    fn start(&mut self, particles: &Particles<'_>) -> &DeformableSpanner {
        if !(self.reach / FACTOR..=self.reach * FACTOR).contains(&particles.reach()) {
            self.reach = particles.reach();
            self.spanner = DeformableSpanner::with_room(ROOM * self.reach);
        }
        &self.spanner
    }

    /// Puts the points of a frame in place; false when the budget of the thread ended first.
    fn resize(&mut self, particles: &Particles<'_>) -> bool {
        self.start(particles);
        self.points.update(particles);
        self.spanner.resize(self.points.positions())
    }
}
