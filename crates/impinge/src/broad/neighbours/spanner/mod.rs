//! The deformable spanner (Gao, Guibas and Nguyen, "Deformable spanners and applications", 2004): a sparse graph over
//! moving points in which the way between any two is at most 1 + ε times their distance.
//!
//! `hierarchy` holds the discrete centres and keeps them while points move, come and go; `flat` lays them out and finds
//! near pairs; `edges` lists the edges and well-separated pairs. One hierarchy serves every ε.

mod edges;
mod flat;
mod hierarchy;
#[cfg(test)]
mod tests;

use self::flat::Flat;
use self::hierarchy::Hierarchy;
use super::checked_number;
use super::meter::{Meter, Unit};
use super::particles::{SCALE_UP, are_within};
use super::point_queries::PointTree;
use crate::error::Error;
use crate::num::tolerance::{LARGEST_COORDINATE, SMALLEST_CUTOFF_UNSCALED};

/// Sets of so many points are compared pair by pair.
const BUCKET: u32 = 12;

/// Points up to this number are checked after each single change in debug builds.
const FEW: usize = 64;

/// A (1 + ε)-spanner of points that move, come and go.
///
/// ```
/// use impinge::broad::neighbours::DeformableSpanner;
///
/// let mut spanner = DeformableSpanner::new(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [5.0, 0.0, 0.0]])?;
/// assert_eq!(spanner.closest_pair(), Some([0, 1]));
/// spanner.update(&[[0.0, 0.0, 0.0], [4.5, 0.0, 0.0], [5.0, 0.0, 0.0]])?;
/// assert_eq!(spanner.closest_pair(), Some([1, 2]));
/// assert!(spanner.edges(0.5)?.len() <= 3);
/// # Ok::<(), impinge::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct DeformableSpanner {
    hierarchy: Hierarchy,
    flat: Flat,
    too_near: Vec<u32>,
}

impl DeformableSpanner {
    /// A spanner of points, numbered in their order.
    ///
    /// # Errors
    /// A coordinate that is not finite or beyond 1e60.
    pub fn new(points: &[[f64; 3]]) -> Result<DeformableSpanner, Error> {
        points.iter().enumerate().try_for_each(|(i, p)| checked(i, p))?;
        let mut spanner = DeformableSpanner::default();
        spanner.resize(points);
        spanner.flat.update(&spanner.hierarchy, |_| 0.0);
        debug_assert!(spanner.is_valid());
        Ok(spanner)
    }

    /// No points yet, and no levels below this length: for near pairs alone.
    pub(super) fn with_room(room: f64) -> DeformableSpanner {
        DeformableSpanner { hierarchy: Hierarchy::with_room(room), ..DeformableSpanner::default() }
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.hierarchy.count
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.hierarchy.count == 0
    }

    /// Adds a point under a number of one's own, or moves the one that has it. Memory is taken for all numbers up to the
    /// largest.
    ///
    /// # Errors
    /// A coordinate that is not finite or beyond 1e60, or a number more than 2²⁰ beyond twice the numbers in use.
    pub fn insert(&mut self, point: u32, at: [f64; 3]) -> Result<(), Error> {
        checked(point as usize, &at)?;
        checked_number(point, self.hierarchy.len())?;
        self.hierarchy.insert(point, at.into());
        self.changed();
        Ok(())
    }

    /// Takes a point away; nothing happens where there is none.
    pub fn remove(&mut self, point: u32) {
        self.hierarchy.remove(point);
        self.changed();
    }

    /// Moves all points: the one with number i goes to `places[i]`; numbers without a point are passed over.
    ///
    /// # Errors
    /// A coordinate that is not finite or beyond 1e60, or fewer places than numbers; nothing has moved then.
    pub fn update(&mut self, places: &[[f64; 3]]) -> Result<(), Error> {
        let numbers = self.hierarchy.len();
        if places.len() < numbers {
            let reason = format!("there are {} for the numbers below {numbers}", places.len());
            return Err(Error::Argument { name: "places", reason });
        }
        let present = |(i, _): &(usize, _)| self.hierarchy.is_present(*i as u32);
        places.iter().enumerate().filter(present).try_for_each(|(i, p)| checked(i, p))?;
        self.hierarchy.move_to(|p| places[p as usize].into());
        self.separate(0.0, |_| 0.0, |_, _| (), |_, _| true);
        self.lay_out();
        debug_assert!(self.is_valid());
        Ok(())
    }

    /// The edges for this ε, each once, the smaller number first.
    ///
    /// # Errors
    /// ε is not positive and finite.
    pub fn edges(&mut self, epsilon: f64) -> Result<Vec<[u32; 2]>, Error> {
        positive("epsilon", epsilon)?;
        self.lay_out();
        Ok(edges::spanner_edges(&self.hierarchy, &self.flat, epsilon))
    }

    /// Visits pairs of sets of points: every pair of points at different places is in exactly one, and the gap between
    /// two balls around the sets is at least `separation` times the larger radius.
    ///
    /// # Errors
    /// The separation is not positive and finite.
    pub fn well_separated_pairs(
        &mut self,
        separation: f64,
        visit: impl FnMut(&[u32], &[u32]),
    ) -> Result<(), Error> {
        positive("separation", separation)?;
        self.lay_out();
        edges::well_separated(&self.flat, separation, visit);
        Ok(())
    }

    /// Two points with the smallest distance; of several the first pair in order.
    pub fn closest_pair(&mut self) -> Option<[u32; 2]> {
        self.lay_out();
        let Hierarchy { parent, .. } = &self.hierarchy;
        // At most twice the smallest distance: every point is covered at twice the separation of its level.
        let to_parent = |&p: &u32| Some(parent[p as usize]).filter(|&q| q != hierarchy::NONE);
        let ways = self.flat.order.iter().filter_map(|p| Some(self.hierarchy.distance_sq(*p, to_parent(p)?)));
        let bound = ways.reduce(f64::min)?.sqrt();
        let is_tiny = bound < SMALLEST_CUTOFF_UNSCALED;
        let mut best: Option<(f64, [u32; 2])> = None;
        let flat = &self.flat;
        let visit = |i: usize, j: usize, d_sq: f64| {
            // Squares of tiny distances underflow.
            let d_sq = if is_tiny { ((flat.at(j) - flat.at(i)) * SCALE_UP).length_squared() } else { d_sq };
            let this = (d_sq, flat.numbers(i, j));
            if best.is_none_or(|best| this < best) {
                best = Some(this);
            }
        };
        flat.near_pairs(bound.max(SMALLEST_CUTOFF_UNSCALED), BUCKET, visit, |_, _| true);
        best.map(|(_, pair)| pair)
    }

    /// All pairs at most `reach` apart, ascending.
    ///
    /// # Errors
    /// The reach is negative or not finite.
    pub fn pairs_within(&mut self, reach: f64) -> Result<Vec<[u32; 2]>, Error> {
        if !(0.0..=LARGEST_COORDINATE).contains(&reach) {
            let reason = format!("{reach} is not a distance from 0 to 1e60");
            return Err(Error::Argument { name: "reach", reason });
        }
        self.lay_out();
        let mut pairs = Vec::new();
        let (points, flat) = (&self.hierarchy.points, &self.flat);
        let visit = |i: usize, j: usize, _: f64| {
            let [p, q] = flat.numbers(i, j);
            if are_within(points[p as usize], points[q as usize], reach) {
                pairs.push([p, q]);
            }
        };
        flat.near_pairs(reach.max(SMALLEST_CUTOFF_UNSCALED), BUCKET, visit, |_, _| true);
        crate::broad::sort_pairs(&mut pairs);
        Ok(pairs)
    }

    /// Puts points 0, 1, … in these places: those that are there move, others come or go. False when the budget of the
    /// thread ended first.
    pub(super) fn resize(&mut self, places: &[[f64; 3]]) -> bool {
        let meter = Meter::of_thread();
        self.flat.is_current = false;
        for extra in places.len()..self.hierarchy.len() {
            self.hierarchy.remove(extra as u32);
        }
        self.hierarchy.move_to(|p| places[p as usize].into());
        for (p, place) in places.iter().enumerate() {
            if !self.hierarchy.is_present(p as u32) {
                let before = self.hierarchy.tests;
                self.hierarchy.insert(p as u32, (*place).into());
                if !meter.grant(Unit::Test, self.hierarchy.tests - before, 0) {
                    return false;
                }
            }
        }
        true
    }

    /// Lays out the hierarchy, visits pairs among which are all that are at most `reach` plus their balls apart, and
    /// restores the separation. What is laid out is stale then. Ends early where `grant`, which is asked before tests,
    /// says no. Returns the tests of nodes and of points.
    pub(super) fn separate(
        &mut self,
        reach: f64,
        ball: impl Fn(u32) -> f64,
        mut visit: impl FnMut(u32, u32),
        grant: impl Fn(Unit, u64) -> bool,
    ) -> [u64; 2] {
        let DeformableSpanner { hierarchy, flat, too_near } = self;
        flat.update(hierarchy, ball);
        too_near.clear();
        let visit_places = |i: usize, j: usize, d_sq: f64| {
            let [p, q] = flat.numbers(i, j);
            let [s, t] = [flat.separation_sq[i], flat.separation_sq[j]];
            if d_sq < s.min(t) {
                // The one of the smaller level goes; of two of one level the later.
                let first = if flat.order[i] == p { s } else { t };
                too_near.push(if first < s.max(t) { p } else { q });
            }
            visit(p, q);
        };
        let tests = flat.near_pairs(reach, BUCKET, visit_places, grant);
        hierarchy.mend(too_near.drain(..));
        flat.is_current = false;
        tests
    }

    /// The hierarchy as it was laid out last: for questions about points, which have not moved since.
    pub(super) fn laid_out(&self) -> &impl PointTree {
        &self.flat
    }

    /// Distances measured while points were put in place, points put in place, both since the start, and bytes held.
    pub(super) fn work(&self) -> [u64; 3] {
        let Hierarchy { tests, updates, .. } = self.hierarchy;
        [tests, updates, self.hierarchy.bytes() + self.flat.bytes()]
    }

    fn changed(&mut self) {
        self.flat.is_current = false;
        debug_assert!(self.len() > FEW || self.is_valid());
    }

    pub(super) fn lay_out(&mut self) {
        if !self.flat.is_current {
            self.flat.update(&self.hierarchy, |_| 0.0);
        }
    }

    /// Whether both rules of the hierarchy hold: cover for each point, separation for each pair.
    fn is_valid(&self) -> bool {
        let mut flat = Flat::default();
        flat.update(&self.hierarchy, |_| 0.0);
        let mut separated = true;
        let visit = |i: usize, j: usize, d_sq: f64| {
            separated &= d_sq >= flat.separation_sq[i].min(flat.separation_sq[j]);
        };
        flat.near_pairs(0.0, 1, visit, |_, _| true);
        separated && self.hierarchy.is_covering()
    }
}

fn positive(name: &'static str, value: f64) -> Result<(), Error> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::Argument { name, reason: format!("{value} is not a positive number") })
}

fn checked(vertex: usize, at: &[f64; 3]) -> Result<(), Error> {
    match at.iter().find(|x| !(x.abs() <= LARGEST_COORDINATE)) {
        Some(&value) => Err(Error::Coordinate { vertex, value }),
        None => Ok(()),
    }
}
