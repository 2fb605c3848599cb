//! The continuous check of a path of an articulated body: is it free from waypoint to waypoint, and if not, who hits
//! what first.
//!
//! Conservative advancement on distances (Mirtich 1996; Schwarzer, Saha, Latombe, "Adaptive dynamic collision
//! checking", 2005): two bodies that are d apart stay apart for d divided by a bound of their speed, which
//! [`Chain`] gives for every link. Pairs wait in a queue, the one with the earliest time to be looked at first, so
//! that the first pair that touches is the first contact of all. Steps keep a share of the smallest distance met
//! so far in hand, which proves a clearance of the whole path at hardly any cost. Nothing is sampled: a wall of any
//! thinness is found.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use glam::DVec3;

use super::body_bounds::ball_of;
use super::{Articulated, BodyId, Scene};
use crate::geom::point_triangle::norm;
use crate::model::Geometry;
use crate::motion::{Ball, Chain, Joint, JointKind};
use crate::narrow::dispatch;
use crate::narrow::kernel_memory::KernelMemory;
use crate::narrow::shape_pair::ShapePair;
use crate::num::tolerance::{MOTION_ROUNDING, PATH_TOLERANCE, ROUND_UP};
use crate::{Budget, Certainty, Counters, Error, Finish, Outcome, Pose, Relation, Separation};

/// Share of the smallest distance so far that is proved to be kept.
const KEPT: f64 = 0.75;

/// What counts as a hit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathOptions {
    /// Links that come nearer than this hit (a length, not negative); 0 for contact.
    pub clearance: f64,
    /// How much above it a distance is already a hit (a length, not negative); `None` takes a millionth of the size of
    /// what moves. Rounding is the lower limit.
    pub tolerance: Option<f64>,
    /// Whether links may hit each other; pairs that the scene ignores never do.
    pub itself: bool,
}

impl Default for PathOptions {
    fn default() -> PathOptions {
        PathOptions { clearance: 0.0, tolerance: None, itself: true }
    }
}

/// The first hit on a path.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PathHit {
    /// The link that hits, by its index.
    pub link: usize,
    /// The bodies: the link, and an obstacle or another link.
    pub bodies: [BodyId; 2],
    /// Which waypoint the path had last passed.
    pub segment: usize,
    /// The time from that waypoint to the next, 0 to 1; never after the hit.
    pub time: f64,
    /// The joint values then.
    pub values: Vec<f64>,
    /// Where, in the world: the middle of the closest points.
    pub point: DVec3,
    /// From the link to the other; zero where surfaces already meet.
    pub normal: DVec3,
    /// How far apart they are then; at most clearance and tolerance.
    pub distance: f64,
}

/// Whether a path is free.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PathCheck {
    /// The first hit; `None` for a free path, or where the budget ended.
    pub hit: Option<PathHit>,
    /// The smallest distance on the way, before the hit: it is at least the first, and at most the second; the
    /// second is infinite where nothing came near enough to be measured.
    pub clearance: [f64; 2],
    /// Free until then: segments and the share of the next.
    pub free_until: f64,
    /// How the search ended and what it cost.
    pub outcome: Outcome,
}

/// A link and what it may hit.
#[derive(Debug)]
struct LinkPair<'s> {
    link: usize,
    other: Target<'s>,
    bodies: [BodyId; 2],
    /// Bound of their speed against each other over the segment.
    speed: f64,
    memory: KernelMemory,
}

#[derive(Debug, Clone, Copy)]
enum Target<'s> {
    Link(usize),
    Obstacle(&'s Geometry, &'s Pose, Ball),
}

/// A pair that is free until a time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    time: f64,
    pair: usize,
}

impl Eq for Entry {}

impl Ord for Entry {
    /// The earlier is greater, then the smaller pair.
    fn cmp(&self, other: &Entry) -> Ordering {
        other.time.total_cmp(&self.time).then(other.pair.cmp(&self.pair))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A search over the segments of a path.
struct Search<'s> {
    shapes: Vec<&'s Geometry>,
    balls: Vec<Ball>,
    pairs: Vec<LinkPair<'s>>,
    clearance: f64,
    tolerance: f64,
    noise: f64,
    /// The smallest distance so far, above the clearance.
    smallest: f64,
    work: Counters,
}

impl Articulated {
    /// Whether the links, standing at `root`, hit anything of the scene or each other on the way through the
    /// waypoints, joint values going linearly from one to the next. A waypoint beyond the limits of a joint is
    /// refused: the arm cannot get there.
    ///
    /// Other bodies rest where the scene has them. Distances are those of [`distance`](crate::distance), between the
    /// surfaces; closed meshes are solids, so a link that starts inside another body hits it at once.
    ///
    /// # Errors
    /// No waypoints, one with the wrong number of values, values that are not finite or beyond the limits of their
    /// joint, a clearance or tolerance that is negative or not finite, or a link that has left the scene.
    pub fn validate_path(
        &self,
        scene: &Scene,
        root: &Pose,
        waypoints: &[impl AsRef<[f64]>],
        options: &PathOptions,
        budget: &mut Budget,
    ) -> Result<PathCheck, Error> {
        check_waypoints("waypoint", waypoints, self.skeleton().joints())?;
        check_lengths(options)?;
        let mut search = Search::new(self, scene, options)?;
        let last = waypoints.len() - 1;
        // A single waypoint is a path that stays.
        for segment in 0..last.max(1) {
            let ends = [waypoints[segment].as_ref(), waypoints[(segment + 1).min(last)].as_ref()];
            let chain = Chain { skeleton: self.skeleton(), root: *root, waypoints: ends };
            let (reached, hit) = search.run(&chain, segment == 0, budget);
            if hit.is_some() || reached < 1.0 {
                let finish = if hit.is_some() { Finish::Complete } else { Finish::OutOfBudget };
                let hit = hit.map(|hit| PathHit { segment, ..hit });
                return Ok(search.answer(hit, segment as f64 + reached, finish));
            }
        }
        Ok(search.answer(None, last as f64, Finish::Complete))
    }
}

/// Refuses joint values that the joints cannot have; `what` is what a row of them is called.
pub(super) fn check_waypoints(
    what: &str,
    waypoints: &[impl AsRef<[f64]>],
    joints: &[Joint],
) -> Result<(), Error> {
    let refuse = |reason: String| Err(Error::Argument { name: "waypoints", reason });
    if waypoints.is_empty() {
        return refuse("a path needs one at least".into());
    }
    for (k, values) in waypoints.iter().enumerate() {
        let values = values.as_ref();
        if values.len() != joints.len() {
            return refuse(format!("{what} {k} has {} values for {} joints", values.len(), joints.len()));
        }
        for (i, (value, joint)) in values.iter().zip(joints).enumerate() {
            if !value.is_finite() {
                return refuse(format!("{what} {k}: the value of joint {i} is not finite"));
            }
            let [low, high] = joint.limits;
            // Between two values within the limits all are.
            if joint.kind != JointKind::Fixed && !(low..=high).contains(value) {
                let reason = format!("{what} {k}: joint {i} goes from {low} to {high}, not to {value}");
                return refuse(reason);
            }
        }
    }
    Ok(())
}

fn check_lengths(options: &PathOptions) -> Result<(), Error> {
    for (name, length) in [("clearance", options.clearance), ("tolerance", options.tolerance.unwrap_or(0.0))]
    {
        // Negated, so that NaN is refused.
        if !(length >= 0.0 && length.is_finite()) {
            return Err(Error::Argument { name, reason: format!("{length} is negative or not finite") });
        }
    }
    Ok(())
}

impl<'s> Search<'s> {
    fn new(arm: &Articulated, scene: &'s Scene, options: &PathOptions) -> Result<Search<'s>, Error> {
        let gone = |i: usize| Error::Argument { name: "scene", reason: format!("link {i} has left it") };
        let mut shapes = Vec::new();
        for (i, &id) in arm.links().iter().enumerate() {
            shapes.push(scene.body(id).ok_or_else(|| gone(i))?.shape.geometry());
        }
        let balls: Vec<Ball> = shapes.iter().map(|shape| ball_of(shape)).collect();
        let size = balls.iter().map(|ball| norm(ball.centre) + ball.radius).fold(0.0, f64::max);
        let noise = size * MOTION_ROUNDING * arm.links().len() as f64;
        let tolerance = options.tolerance.unwrap_or(size * PATH_TOLERANCE).max(8.0 * noise);
        let (clearance, smallest) = (options.clearance, f64::INFINITY);
        let pairs = pairs(arm, scene, options.itself);
        let work = Counters::default();
        Ok(Search { shapes, balls, pairs, clearance, tolerance, noise, smallest, work })
    }

    /// One segment, the first one or not: until when it is free, and what is hit then.
    fn run(&mut self, chain: &Chain<'_>, first: bool, budget: &mut Budget) -> (f64, Option<PathHit>) {
        let mut queue = BinaryHeap::with_capacity(self.pairs.len());
        for k in 0..self.pairs.len() {
            self.pairs[k].speed = self.speed(chain, &self.pairs[k]);
            queue.push(Entry { time: 0.0, pair: k });
        }
        let (mut poses, mut placed_at) = (Vec::new(), f64::NAN);
        while let Some(Entry { time, pair }) = queue.pop() {
            if !budget.draw(1) {
                return (time, None);
            }
            if placed_at != time {
                chain.poses(time, &mut poses);
                placed_at = time;
            }
            let before = self.work;
            let looked = self.look(pair, &poses, first && time == 0.0);
            let spent = self.work - before;
            budget.draw(spent.volume_tests + spent.primitive_tests);
            let apart = match looked {
                Ok(apart) => apart,
                Err(separation) => {
                    let LinkPair { link, bodies, .. } = self.pairs[pair];
                    let [p, q] = separation.points;
                    let hit = PathHit {
                        link,
                        bodies,
                        segment: 0,
                        time,
                        values: chain.values(time),
                        point: p.midpoint(q),
                        normal: separation.normal,
                        distance: separation.distance,
                    };
                    return (time, Some(hit));
                }
            };
            let speed = self.pairs[pair].speed;
            let kept = if self.smallest.is_finite() { self.smallest * KEPT } else { 0.0 };
            let next = time + ((apart - kept) / (speed * ROUND_UP)).max(0.0);
            if speed > 0.0 && time < 1.0 {
                // At the end of the segment the pair is looked at once more.
                queue.push(Entry { time: next.min(1.0).max(time.next_up()), pair });
            }
        }
        (1.0, None)
    }

    /// How far above the clearance a pair surely is; what is nearer than the tolerance is a hit, and so is what lies
    /// inside the other at the start of the path: later it would have to pass through its surface.
    fn look(&mut self, pair: usize, poses: &[Pose], at_start: bool) -> Result<f64, Separation> {
        let LinkPair { link, other, memory, .. } = &mut self.pairs[pair];
        let (link, own) = (*link, &poses[*link]);
        let (shape, pose, ball) = match *other {
            Target::Link(j) => (self.shapes[j], &poses[j], self.balls[j]),
            Target::Obstacle(shape, pose, ball) => (shape, pose, ball),
        };
        let mine = &self.balls[link];
        let centres = norm(own.apply(mine.centre) - pose.apply(ball.centre));
        let rough = centres - mine.radius - ball.radius - self.clearance - self.noise;
        self.work.volume_tests += 1;
        // Far apart, and no news for the smallest distance: balls are enough.
        if rough > mine.radius && rough > self.smallest {
            return Ok(rough);
        }
        let placed = ShapePair::new([self.shapes[link], shape], [own, pose]);
        // Seen through, and paid for by who asks.
        let unlimited = &mut Budget::unlimited();
        let measured = dispatch::distance(&placed, memory, unlimited);
        self.work += measured.outcome.work;
        let mut found = measured.value.unwrap_or(Separation::NONE);
        if at_start && found.distance > 0.0 {
            let told = dispatch::relation(&placed, memory, unlimited);
            self.work += told.outcome.work;
            if told.value != Some(Relation::Separated) {
                found = Separation { distance: 0.0, normal: -found.normal, ..found };
            }
        }
        let apart = found.distance - self.clearance;
        if !(apart > self.tolerance) {
            self.smallest = self.smallest.min(apart.max(0.0));
            return Err(found);
        }
        self.smallest = self.smallest.min(apart);
        Ok(apart - self.noise)
    }

    fn speed(&self, chain: &Chain<'_>, pair: &LinkPair<'_>) -> f64 {
        let own = &self.balls[pair.link];
        match pair.other {
            Target::Obstacle(..) => chain.speed(pair.link, own, None),
            Target::Link(j) => {
                chain.speed(pair.link, own, Some(j)) + chain.speed(j, &self.balls[j], Some(pair.link))
            }
        }
    }

    fn answer(&self, hit: Option<PathHit>, free_until: f64, finish: Finish) -> PathCheck {
        let clearance = match (&hit, self.smallest.is_finite()) {
            (Some(hit), _) => [hit.distance.min(self.clearance + self.tolerance * KEPT), hit.distance],
            (None, true) => [self.clearance + self.smallest * KEPT, self.clearance + self.smallest],
            (None, false) => [self.clearance, f64::INFINITY],
        };
        let certainty = match hit {
            Some(_) => Certainty::Conservative { tolerance: self.tolerance },
            None => Certainty::Exact,
        };
        PathCheck { hit, clearance, free_until, outcome: Outcome { certainty, finish, work: self.work } }
    }
}

/// All pairs that groups and rules let meet.
fn pairs<'s>(arm: &Articulated, scene: &'s Scene, itself: bool) -> Vec<LinkPair<'s>> {
    let links = arm.links();
    let mut all = Vec::new();
    let mut add = |link: usize, other: Target<'s>, id: BodyId| {
        if scene.may_hit([links[link], id]) {
            let bodies = [links[link], id];
            all.push(LinkPair { link, other, bodies, speed: 0.0, memory: KernelMemory::default() });
        }
    };
    for link in 0..links.len() {
        for (id, body) in scene.bodies().filter(|(id, _)| !links.contains(id)) {
            add(
                link,
                Target::Obstacle(body.shape.geometry(), &body.pose, ball_of(body.shape.geometry())),
                id,
            );
        }
        for (other, &id) in links.iter().enumerate().skip(link + 1).filter(|_| itself) {
            add(link, Target::Link(other), id);
        }
    }
    all
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
