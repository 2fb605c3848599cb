//! Which particles with known velocities will meet, and when: a tree over boxes whose sides move (Tao, Papadias and
//! Sun, "The TPR*-tree: an optimized spatio-temporal access method for predictive queries", 2003).
//!
//! A box is known at the start and at the end of a horizon; in between its sides move linearly, so that it holds what
//! moves along with it at every time. The tree is the R*-tree, with the sums over the horizon that the paper puts in the
//! place of volume, margin and overlap: Simpson's rule, which for the volume of a box with moving sides is exact. Splits
//! sort by the sides at both ends, so by place and velocity. Where we leave the paper: a particle goes down the tree by
//! the cheapest child of each node, not by a search for the cheapest path.

use glam::DVec3;

use super::checked_number;
use super::r_star::{Bound, NONE, RStarTree};
use super::r_star_search::content;
use crate::bound::Aabb;
use crate::error::Error;
use crate::num::compact_sort::sort_rarely;
use crate::num::tolerance::{CONTACT_TIME_ROUNDING, LARGEST_COORDINATE, SMALLEST_TRAJECTORY_UNSCALED};

/// A pair that will meet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictedContact {
    /// The two, the smaller number first.
    pub pair: [u32; 2],
    /// How long from now, never later than they come within reach; 0 for those that are.
    pub time: f64,
}

/// Particles that fly straight on, and which of them will meet.
///
/// ```
/// use impinge::broad::neighbours::MovingTree;
///
/// let mut tree = MovingTree::new(10.0)?;
/// tree.insert(0, [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], 0.5)?;
/// tree.insert(1, [7.0, 0.0, 0.0], [-1.0, 0.0, 0.0], 0.5)?;
/// let predicted_contacts = tree.predicted_contacts(0.0, 10.0)?;
/// assert!(predicted_contacts[0].pair == [0, 1] && (predicted_contacts[0].time - 3.0).abs() < 1e-12);
/// tree.advance(2.0)?;
/// assert!((tree.predicted_contacts(0.0, 10.0)?[0].time - 1.0).abs() < 1e-12);
/// # Ok::<(), impinge::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct MovingTree {
    tree: RStarTree<MovingBox>,
    particles: Vec<Option<LinearTrajectory>>,
    /// Boxes are right from 0 to twice the horizon.
    horizon: f64,
    now: f64,
}

/// Where a particle was at some time, and where it goes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct LinearTrajectory {
    place: DVec3,
    velocity: DVec3,
    radius: f64,
    since: f64,
}

impl LinearTrajectory {
    fn at(&self, time: f64) -> DVec3 {
        self.place + self.velocity * (time - self.since)
    }
}

impl MovingTree {
    /// No particles yet; questions may look ahead as far as the horizon.
    ///
    /// # Errors
    /// The horizon is not positive and at most 1e60.
    pub fn new(horizon: f64) -> Result<MovingTree, Error> {
        if !(horizon > 0.0 && horizon <= LARGEST_COORDINATE) {
            let reason = format!("{horizon} is not a positive time");
            return Err(Error::Argument { name: "horizon", reason });
        }
        Ok(MovingTree { tree: RStarTree::default(), particles: Vec::new(), horizon, now: 0.0 })
    }

    /// Adds a particle with its place of now, or gives the one with this number another trajectory. Memory is taken for all
    /// numbers up to the largest.
    ///
    /// # Errors
    /// A coordinate is not finite or too large, also by the end of the horizon, the radius is negative, or the number is
    /// more than 2²⁰ beyond twice the numbers in use.
    pub fn insert(
        &mut self,
        number: u32,
        place: [f64; 3],
        velocity: [f64; 3],
        radius: f64,
    ) -> Result<(), Error> {
        let trajectory =
            LinearTrajectory { place: place.into(), velocity: velocity.into(), radius, since: self.now };
        let far = trajectory.place.abs() + trajectory.velocity.abs() * (2.0 * self.horizon);
        if let Some(&value) = far.as_ref().iter().find(|x| !(**x <= LARGEST_COORDINATE)) {
            return Err(Error::Coordinate { vertex: number as usize, value });
        }
        if !(0.0..=LARGEST_COORDINATE).contains(&radius) {
            let reason =
                format!("particle {number} has the radius {radius}; it must be 0 or more and finite");
            return Err(Error::Argument { name: "radii", reason });
        }
        checked_number(number, self.particles.len())?;
        let index = number as usize;
        if index >= self.particles.len() {
            self.particles.resize(index + 1, None);
        }
        self.particles[index] = Some(trajectory);
        self.tree.insert(number, MovingBox::of(&trajectory, self.horizon));
        Ok(())
    }

    /// Takes a particle away; nothing happens where there is none.
    pub fn remove(&mut self, number: u32) {
        if let Some(trajectory) = self.particles.get_mut(number as usize) {
            *trajectory = None;
            self.tree.remove(number);
        }
    }

    /// Lets time pass. Boxes grow looser; past the horizon all are built anew.
    ///
    /// # Errors
    /// The time is negative or not finite, or takes a particle beyond 1e60; nothing has changed then.
    pub fn advance(&mut self, time: f64) -> Result<(), Error> {
        if !(0.0..=LARGEST_COORDINATE).contains(&time) {
            let reason = format!("{time} is not a time from now on");
            return Err(Error::Argument { name: "time", reason });
        }
        let now = self.now + time;
        if now <= self.horizon {
            self.now = now;
            return Ok(());
        }
        let mut other = MovingTree::new(self.horizon)?;
        other.particles.resize(self.particles.len(), None);
        for (number, trajectory) in self.particles.iter().enumerate() {
            let Some(trajectory) = trajectory else { continue };
            other.insert(
                number as u32,
                trajectory.at(now).into(),
                trajectory.velocity.into(),
                trajectory.radius,
            )?;
        }
        *self = other;
        Ok(())
    }

    /// All pairs that come within `cutoff` plus their radii of each other during the next `time`, the earliest first.
    ///
    /// # Errors
    /// The cutoff is negative or not finite, or the time negative or beyond the horizon.
    pub fn predicted_contacts(&self, cutoff: f64, time: f64) -> Result<Vec<PredictedContact>, Error> {
        if !(0.0..=LARGEST_COORDINATE).contains(&cutoff) {
            let reason = format!("{cutoff:?} is not a distance from 0 to 1e60");
            return Err(Error::Argument { name: "cutoff", reason });
        }
        if !(0.0..=self.horizon).contains(&time) {
            let reason = format!("{time} is not a time from 0 to the horizon, {}", self.horizon);
            return Err(Error::Argument { name: "time", reason });
        }
        let mut found = Vec::new();
        let span = [self.now, self.now + time].map(|t| t / (2.0 * self.horizon));
        self.near_pairs(cutoff, span, |p, q| {
            let pair = [p.min(q), p.max(q)];
            let trajectories = pair.map(|p| self.particles[p as usize]);
            if let [Some(one), Some(other)] = trajectories {
                let meeting = meeting_time(&one, &other, self.now, cutoff, time);
                found.extend(meeting.map(|time| PredictedContact { pair, time }));
            }
        });
        sort_rarely(&mut found, |a, b| a.time.total_cmp(&b.time).then(a.pair.cmp(&b.pair)));
        Ok(found)
    }

    /// Visits pairs of particles whose boxes come within the cutoff during a span of the boxes' time.
    fn near_pairs(&self, cutoff: f64, span: [f64; 2], mut visit: impl FnMut(u32, u32)) {
        let RStarTree { nodes, items, root, .. } = &self.tree;
        let mut stack = if *root == NONE { Vec::new() } else { vec![[*root; 2]] };
        while let Some([a, b]) = stack.pop() {
            let (s, t) = (&nodes[a as usize], &nodes[b as usize]);
            // Both have the same level.
            let bound = |entry: u32, level: u32| match level {
                0 => &items[entry as usize],
                _ => &nodes[entry as usize].bound,
            };
            for (i, &x) in s.entries.iter().enumerate() {
                let others = if a == b { &t.entries[i..] } else { &t.entries[..] };
                for &y in others {
                    if x == y && s.level == 0
                        || !bound(x, s.level).comes_near(bound(y, t.level), cutoff, span)
                    {
                        continue;
                    }
                    match s.level {
                        0 => visit(x, y),
                        _ => stack.push([x, y]),
                    }
                }
            }
        }
    }
}

/// The first time from now at which two particles are within reach, if that is before the end; rounded to earlier.
fn meeting_time(
    one: &LinearTrajectory,
    other: &LinearTrajectory,
    now: f64,
    cutoff: f64,
    end: f64,
) -> Option<f64> {
    let (d, w) = (other.at(now) - one.at(now), other.velocity - one.velocity);
    let reach = (one.radius + other.radius) + cutoff;
    // Differences of rounded places are off by a share of the places themselves.
    let size = one.at(now).abs().max(other.at(now).abs()).max_element();
    let reach = reach + CONTACT_TIME_ROUNDING * (size + reach);
    let sizes = [d.abs().max_element().max(reach), w.abs().max_element()];
    if sizes.iter().any(|&size| size > 0.0 && size < SMALLEST_TRAJECTORY_UNSCALED) {
        return meeting_time_scaled(d, w, reach, sizes).filter(|&time| time <= end);
    }
    reaching_time(d, w, reach).filter(|&time| time <= end)
}

/// The same with lengths and velocities brought near 1 by powers of two, which round nothing.
#[cold]
fn meeting_time_scaled(d: DVec3, w: DVec3, reach: f64, sizes: [f64; 2]) -> Option<f64> {
    // Of 0 and subnormal numbers the largest power there is.
    let [length, velocity] = sizes.map(|size| f64::from_bits((2046 - (size.to_bits() >> 52)) << 52));
    let time = reaching_time(d * length, w * velocity, reach * length)?;
    Some(if time > 0.0 { time * (velocity / length) } else { 0.0 })
}

/// The first time from now at which d + w·t is no longer than the reach l, rounded to earlier: |d + w·t|² = l², of which
/// the smaller root is c / (−b + √(b² − a·c)) with a = w², b = d·w, c = d² − l².
fn reaching_time(d: DVec3, w: DVec3, reach: f64) -> Option<f64> {
    let (a, b, c) = (w.length_squared(), d.dot(w), d.length_squared() - reach * reach);
    if c <= 0.0 {
        return Some(0.0);
    }
    let root_sq = b * b - a * c + CONTACT_TIME_ROUNDING * (b * b + a * c);
    if !(b < 0.0 && root_sq >= 0.0) {
        return None;
    }
    Some(c / (-b + root_sq.sqrt()) * (1.0 - CONTACT_TIME_ROUNDING))
}

/// A box at the start and at the end; in between its sides move linearly.
#[derive(Debug, Clone, Copy)]
struct MovingBox {
    start: Aabb,
    end: Aabb,
}

impl MovingBox {
    /// The box of a particle from time 0 to twice the horizon, rounded outward.
    fn of(trajectory: &LinearTrajectory, horizon: f64) -> MovingBox {
        let [start, end] = [0.0, 2.0 * horizon].map(|time| {
            let at = trajectory.at(time);
            let far =
                trajectory.place.abs() + trajectory.velocity.abs() * (2.0 * horizon) + trajectory.radius;
            let room = trajectory.radius + far * (8.0 * f64::EPSILON);
            Aabb { low: at - room, high: at + room }
        });
        MovingBox { start, end }
    }

    /// Whether two boxes are at some time of a span no farther apart than the cutoff along every axis.
    fn comes_near(&self, other: &MovingBox, cutoff: f64, [from, to]: [f64; 2]) -> bool {
        let (mut from, mut to) = (from, to);
        let ends = |one: &MovingBox, other: &MovingBox| {
            [(one.start, other.start), (one.end, other.end)].map(|(one, other)| {
                let room = (one.low.abs() + other.high.abs()) * (8.0 * f64::EPSILON);
                other.high + cutoff + room - one.low
            })
        };
        for [start, end] in [ends(self, other), ends(other, self)] {
            // Each of these must be at least 0 at a time common to all.
            for (start, end) in start.to_array().into_iter().zip(end.to_array()) {
                if start < 0.0 && end < 0.0 {
                    return false;
                }
                let crossing = start / (start - end);
                // Rounded outward in time.
                if start < 0.0 {
                    from = from.max(crossing - CONTACT_TIME_ROUNDING);
                } else if end < 0.0 {
                    to = to.min(crossing + CONTACT_TIME_ROUNDING);
                }
            }
        }
        from <= to
    }

    fn middle(&self) -> Aabb {
        let half = |a: DVec3, b: DVec3| 0.5 * (a + b);
        Aabb { low: half(self.start.low, self.end.low), high: half(self.start.high, self.end.high) }
    }

    /// Simpson's rule over the horizon.
    fn sum(&self, of: impl Fn(&Aabb) -> f64) -> f64 {
        (of(&self.start) + 4.0 * of(&self.middle()) + of(&self.end)) / 6.0
    }
}

impl Bound for MovingBox {
    const EMPTY: MovingBox = MovingBox { start: Aabb::EMPTY, end: Aabb::EMPTY };
    const KEYS: usize = 12;

    fn merge(&self, other: &MovingBox) -> MovingBox {
        MovingBox { start: self.start.merge(&other.start), end: self.end.merge(&other.end) }
    }

    fn volume(&self) -> f64 {
        self.sum(|b| content((b.high - b.low).max(DVec3::ZERO)))
    }

    fn margin(&self) -> f64 {
        self.sum(|b| (b.high - b.low).max(DVec3::ZERO).element_sum())
    }

    fn overlap(&self, other: &MovingBox) -> f64 {
        let at = |a: &Aabb, b: &Aabb| Bound::overlap(a, b);
        let middle = at(&self.middle(), &other.middle());
        (at(&self.start, &other.start) + 4.0 * middle + at(&self.end, &other.end)) / 6.0
    }

    fn centre_distance_sq(&self, other: &MovingBox) -> f64 {
        self.middle().centre().distance_squared(other.middle().centre())
    }

    fn key(&self, k: usize) -> f64 {
        if k < 6 { self.start.key(k) } else { self.end.key(k - 6) }
    }

    fn holds(&self, other: &MovingBox) -> bool {
        self.start.holds(&other.start) && self.end.holds(&other.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::unit;

    fn trajectories(kind: usize, count: usize, seed: u64) -> Vec<LinearTrajectory> {
        let u = |n: usize| 2.0 * unit(seed, n as u64) - 1.0;
        let trajectory = |i: usize| {
            let place = DVec3::new(u(7 * i), u(7 * i + 1), if kind == 1 { 0.0 } else { u(7 * i + 2) });
            let velocity = DVec3::new(u(7 * i + 3), u(7 * i + 4), if kind == 1 { 0.0 } else { u(7 * i + 5) });
            // Many with a common velocity, some at rest, some at one place.
            let velocity = match i % 4 {
                0 => DVec3::X * 0.2,
                1 if kind == 2 => DVec3::ZERO,
                _ => velocity * 0.3,
            };
            let place = if kind == 2 && i.is_multiple_of(5) { DVec3::ONE } else { place };
            LinearTrajectory { place, velocity, radius: 0.04 + 0.02 * u(7 * i + 6), since: 0.0 }
        };
        (0..count).map(trajectory).collect()
    }

    fn brute(
        trajectories: &[Option<LinearTrajectory>],
        now: f64,
        cutoff: f64,
        time: f64,
    ) -> Vec<PredictedContact> {
        let mut found = Vec::new();
        for (i, one) in trajectories.iter().enumerate() {
            for (j, other) in trajectories.iter().enumerate().skip(i + 1) {
                let (Some(one), Some(other)) = (one, other) else { continue };
                let meeting = meeting_time(one, other, now, cutoff, time);
                found.extend(meeting.map(|time| PredictedContact { pair: [i as u32, j as u32], time }));
            }
        }
        found.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.pair.cmp(&b.pair)));
        found
    }

    #[test]
    fn meetings_are_those_of_brute_force_while_particles_come_and_go() {
        for kind in 0..3 {
            let mut tree = MovingTree::new(1.0).unwrap();
            for (i, f) in trajectories(kind, 300, 5).iter().enumerate() {
                tree.insert(i as u32, f.place.into(), f.velocity.into(), f.radius).unwrap();
            }
            for round in 0..5 {
                assert!(tree.tree.is_valid());
                for (cutoff, time) in [(0.0, 1.0), (0.02, 0.3), (0.05, 0.0)] {
                    let found = tree.predicted_contacts(cutoff, time).unwrap();
                    assert_eq!(found, brute(&tree.particles, tree.now, cutoff, time));
                    // Rare enough that a tree has something to do, and not none.
                    let share = found.len() as f64 / (300.0 * 299.0 / 2.0);
                    assert!(kind == 2 || (1e-5..0.3).contains(&share), "kind {kind}: {share}");
                }
                tree.advance(0.4).unwrap();
                for (i, f) in
                    trajectories(kind, 300, 50 + round).iter().enumerate().skip(round as usize * 40).take(40)
                {
                    if i % 2 == 0 {
                        tree.remove(i as u32);
                    } else {
                        tree.insert(i as u32, f.place.into(), f.velocity.into(), f.radius).unwrap();
                    }
                }
            }
        }
    }

    #[test]
    fn a_meeting_is_never_late_and_hardly_early() {
        let all = trajectories(0, 400, 9);
        let mut met = 0;
        for (i, one) in all.iter().enumerate() {
            for other in &all[i + 1..] {
                let gap = |t: f64| other.at(t).distance(one.at(t)) - (one.radius + other.radius);
                let time = meeting_time(one, other, 0.0, 0.0, 4.0);
                // The gap is convex in time: its smallest value by sections, its first root by bisection.
                let (mut low, mut high) = (0.0, 4.0);
                for _ in 0..200 {
                    let [a, b] = [low + (high - low) / 3.0, high - (high - low) / 3.0];
                    if gap(a) < gap(b) { high = b } else { low = a }
                }
                let nearest = 0.5 * (low + high);
                if gap(nearest).abs() < 1e-9 {
                    continue;
                }
                assert_eq!(time.is_some(), gap(0.0) <= 0.0 || gap(nearest) < 0.0);
                let Some(time) = time.filter(|&t| t > 0.0) else { continue };
                met += 1;
                let (mut before, mut after) = (0.0, nearest);
                for _ in 0..200 {
                    let middle = 0.5 * (before + after);
                    if gap(middle) > 0.0 { before = middle } else { after = middle }
                }
                assert!(time <= after && time >= before - 1e-9, "{time} of {after}");
            }
        }
        assert!((40..10_000).contains(&met), "{met}");
    }

    #[test]
    fn meetings_are_the_same_at_any_scale() {
        let all = trajectories(0, 120, 4);
        // Powers of two: nothing else is rounded.
        let times = |length: i32, time: i32| {
            let [length, time] = [length, time].map(|n| 2.0_f64.powi(n));
            let mut tree = MovingTree::new(4.0 * time).unwrap();
            for (i, f) in all.iter().enumerate() {
                let velocity = f.velocity * (length / time);
                tree.insert(i as u32, (f.place * length).into(), velocity.into(), f.radius * length).unwrap();
            }
            let mut found = tree.predicted_contacts(0.01 * length, 4.0 * time).unwrap();
            found.iter_mut().for_each(|meeting| meeting.time /= time);
            found
        };
        let want = times(0, 0);
        assert!((20..5000).contains(&want.len()), "{}", want.len());
        for (length, time) in [(-283, 0), (-600, 0), (-900, 0), (-400, -180), (0, 190), (-300, 180), (150, 0)]
        {
            assert!(times(length, time) == want, "2^{length}, 2^{time}");
        }
    }

    #[test]
    fn numbers_far_beyond_those_in_use_are_refused() {
        let mut tree = MovingTree::new(1.0).unwrap();
        for number in [4_000_000_000, u32::MAX] {
            let refused = tree.insert(number, [0.0; 3], [0.0; 3], 1.0).unwrap_err().to_string();
            assert!(refused.contains("numbers in use"), "{refused}");
        }
        assert_eq!(tree.particles.len(), 0);
        tree.insert(1000, [0.0; 3], [0.0; 3], 1.0).unwrap();
        tree.insert(7, [0.5; 3], [0.0; 3], 1.0).unwrap();
        assert_eq!(
            tree.predicted_contacts(0.0, 1.0).unwrap(),
            [PredictedContact { pair: [7, 1000], time: 0.0 }]
        );
    }

    #[test]
    fn what_is_no_flight_is_refused() {
        assert!(MovingTree::new(0.0).is_err() && MovingTree::new(f64::NAN).is_err());
        let mut tree = MovingTree::new(1.0).unwrap();
        assert!(tree.insert(0, [f64::INFINITY, 0.0, 0.0], [0.0; 3], 0.0).is_err());
        assert!(tree.insert(0, [0.0; 3], [0.0, f64::NAN, 0.0], 0.0).is_err());
        assert!(tree.insert(0, [0.0; 3], [0.0; 3], -1.0).is_err());
        assert!(tree.predicted_contacts(0.0, 2.0).is_err() && tree.predicted_contacts(-1.0, 0.5).is_err());
        assert!(tree.advance(-1.0).is_err());
        assert_eq!(tree.predicted_contacts(1.0, 1.0).unwrap(), []);
    }
}
