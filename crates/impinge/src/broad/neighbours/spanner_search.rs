//! Pairs by the deformable spanner: the hierarchy is kept from frame to frame, and one traversal finds the pairs and
//! the points that have come too near to others of their level.

use std::cell::Cell;

use super::meter::{Meter, Unit};
use super::point_list::PointList;
use super::spanner::DeformableSpanner;
use super::{NeighbourSearch, Particles, SearchCounters, Technique};

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

    fn search(&mut self, particles: &Particles<'_>, pairs: &mut Vec<[u32; 2]>) {
        let SpannerSearch { points, spanner, reach, counters } = self;
        points.update(particles);
        if !(*reach / FACTOR..=*reach * FACTOR).contains(&particles.reach()) {
            *reach = particles.reach();
            *spanner = DeformableSpanner::with_room(ROOM * *reach);
        }
        let [tests, updates, _] = spanner.work();
        pairs.clear();
        if !spanner.resize(points.positions()) {
            return;
        }
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
}
