//! All bodies of a scene over one step, in one motion of the world: who touches whom first, and what then.
//!
//! CONTACT (Redon, Kheddar, Coquillart 2001) leaves many bodies in a consistent global motion for the future. Here
//! every body has one motion over the step, whoever it meets, and a pair is swept with both of them. Boxes of
//! the swept bodies go through a broad phase; the pairs that remain wait in a queue, each with a time before
//! which it cannot meet, first from balls around the bodies, then from planes that separate them
//! ([`super::separating_plane`]), then from its sweep, so that only pairs whose turn comes are swept. When bodies
//! stop or bounce, only they get a new box, and only their pairs are asked again.
//!
//! A body that is to bounce is stopped a little before the contact, so that it stays clear of what it met: the
//! queue is ordered by these times of stopping. At each of them every pair is known to be apart until then, and
//! later ones are never earlier; so no order of bounces lets anything through.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use glam::DVec3;

use super::body::Entry as BodyEntry;
use super::body_bounds::ball_of;
use super::separating_plane::{Side, separated};
use super::{BodyId, Scene};
use crate::bound::Aabb;
use crate::broad::{BroadPhase, Changes, Tree};
use crate::contact::Verdict;
use crate::geom::point_triangle::norm;
use crate::geom::triangle_distance;
use crate::model::Geometry;
use crate::motion::{Ball, Motion};
use crate::narrow::continuous::{Impact, Sweep, SweepMemory, SweepOptions};
use crate::narrow::detector::PairKernel;
use crate::narrow::detector::pair_memory::PairMemory;
use crate::narrow::dispatch;
use crate::narrow::kernel_memory::KernelMemory;
use crate::narrow::methods::exact::Exact;
use crate::narrow::shape_pair::ShapePair;
use crate::num::tolerance::{GAP_TIME_TOLERANCE, ROUND_UP, SWEEP_TOLERANCE};
use crate::{Budget, Certainty, Counters, Error, Finish, Outcome, Pose};

/// How much nearer bodies come while they are looked at (no unit: a factor of the smaller one's radius).
const LOOK_AHEAD: f64 = 0.25;

/// The least time to look ahead (in units of the step).
const SHORTEST_LOOK: f64 = 1.0 / 16.0;

/// The share of the gap that bodies may cover in the tolerance of an impact (no unit).
const TIME_OF_GAP: f64 = 0.25;

/// Work units of a sweep whose budget is spent before it begins.
const LEAST_GRANT: u64 = 64;

/// Where the speeds of bodies tell no time to go back from an impact (a half-space that turns has points of any
/// speed), the first one tried (no unit: a share of the time from now to the impact).
const FIRST_STEP_BACK: f64 = 1.0 / 1024.0;

/// A contact of two bodies during a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SceneImpact {
    /// The bodies, the smaller index first.
    pub bodies: [BodyId; 2],
    /// Where, when and how they touch.
    pub impact: Impact,
    /// How much before the true contact the impact may be (in units of the step).
    pub tolerance: f64,
    /// When they have to be stopped to stay clear of each other; never after the impact.
    pub stop: f64,
    /// How far apart the touching features are at the stop (a length).
    pub gap: f64,
}

/// What lies ahead of the bodies from now on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SceneSweepAnswer {
    /// The first contact; `None` when there is none up to the end of the step, or the budget ended before.
    pub hit: Option<SceneImpact>,
    /// All pairs are apart until then: the stop of the meeting, 1 without one, or what was reached when the
    /// budget ended.
    pub free_until: f64,
    /// How the search ended, and what the step has cost so far.
    pub outcome: Outcome,
}

/// The bodies of a scene on their way through a step; kept from step to step it remembers what touched, and
/// forgetting it costs only time.
#[derive(Debug, Default)]
pub struct SceneSweep {
    gap: f64,
    movers: Vec<Option<Mover>>,
    broad: Tree,
    changes: Changes,
    /// Which slots a slot's swept box meets, ascending.
    partners: Vec<Vec<u32>>,
    /// Looked up only, never gone through.
    memories: HashMap<[u32; 2], Memory>,
    /// Looked up only.
    interrupted: HashMap<[u32; 2], Interrupted>,
    /// Slots whose pairs have to be asked anew.
    turned: Vec<u32>,
    queue: BinaryHeap<Entry>,
    hits: Vec<SceneImpact>,
    now: f64,
    work: Counters,
}

/// What is remembered of a pair of slots.
#[derive(Debug, Clone, Copy, Default)]
struct Memory {
    /// What separated them last, from the first to the second.
    direction: Option<DVec3>,
    touched: SweepMemory,
}

/// A sweep of a pair that a budget cut short.
#[derive(Debug)]
struct Interrupted {
    numbers: [u32; 2],
    options: SweepOptions,
    memory: PairMemory,
}

/// A body's motion until it turns.
#[derive(Debug, Clone)]
struct Mover {
    id: BodyId,
    motion: Motion,
    /// Of the body's shape, which may have changed since.
    version: u64,
    ball: Ball,
    /// Bound of the speed of its points.
    speed: f64,
    bounds: Aabb,
    /// Counts the turns of this body, so that what was known of its older motions is recognised.
    number: u32,
    turned: bool,
}

/// A pair of slots in the queue.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    /// They cannot meet before; or, when swept, have to be stopped then.
    time: f64,
    pair: [u32; 2],
    numbers: [u32; 2],
    known: Known,
}

/// What is known of a pair at its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// It is apart: planes may show for how long.
    Apart,
    /// No plane separates it.
    Close,
    /// A budget ended during its sweep, which goes on where it was.
    Interrupted,
    /// It has to be stopped, for the meeting at this place.
    Meets(u32),
}

impl Eq for Entry {}

impl Ord for Entry {
    /// The earlier is greater, then what is not yet swept, then the smaller pair.
    fn cmp(&self, other: &Entry) -> Ordering {
        let swept = |entry: &Entry| matches!(entry.known, Known::Meets(_));
        let swept = swept(other).cmp(&swept(self));
        other.time.total_cmp(&self.time).then(swept).then(other.pair.cmp(&self.pair))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl SceneSweep {
    /// A sweep whose bodies are stopped where the touching features are `gap` apart (a length), or at once
    /// where they are nearer already.
    ///
    /// # Errors
    /// A gap that is negative or not finite.
    pub fn with_gap(gap: f64) -> Result<SceneSweep, Error> {
        // Negated, so that NaN is refused.
        if !(gap >= 0.0 && gap.is_finite()) {
            return Err(Error::Argument { name: "gap", reason: format!("{gap} is negative or not finite") });
        }
        Ok(SceneSweep { gap, ..SceneSweep::default() })
    }

    /// Begins a step: bodies move as told, all others rest where the scene has them.
    pub fn start(&mut self, scene: &Scene, motions: &[(BodyId, Motion)]) {
        self.queue.clear();
        self.hits.clear();
        self.interrupted.clear();
        (self.now, self.work) = (0.0, Counters::default());
        for slot in 0..self.movers.len() as u32 {
            if scene.bodies.at(slot).is_none() && self.movers[slot as usize].take().is_some() {
                self.broad.remove(slot);
            }
        }
        let mut rests: Vec<Option<Motion>> = Vec::new();
        for (id, entry) in scene.bodies.iter() {
            rests.resize(id.index() + 1, None);
            rests[id.index()] = Some(Motion::Still(entry.body.pose));
        }
        for &(id, motion) in motions.iter().filter(|(id, _)| scene.bodies.get(*id).is_some()) {
            rests[id.index()] = Some(motion);
        }
        for (id, entry) in scene.bodies.iter() {
            if let Some(motion) = rests[id.index()] {
                self.set_out(id, entry, motion);
            }
        }
    }

    /// The first contact from now on, if there is any: time goes on to its stop, and it stays the first until one
    /// of its bodies is turned. When the budget ends time goes on to what was reached, and calling again resumes.
    pub fn first(&mut self, scene: &Scene, budget: &mut Budget) -> SceneSweepAnswer {
        self.settle(scene);
        while let Some(&entry) = self.queue.peek() {
            if self.numbers(entry.pair) != entry.numbers.map(Some) {
                self.queue.pop();
                continue;
            }
            if let Known::Meets(at) = entry.known {
                self.now = entry.time;
                return self.answer(Some(self.hits[at as usize]), Finish::Complete);
            }
            if !budget.draw(1) {
                self.now = entry.time;
                return self.answer(None, Finish::OutOfBudget);
            }
            self.queue.pop();
            let left = self.look_at(scene, entry, budget);
            self.queue.extend(left);
        }
        self.now = 1.0;
        self.answer(None, Finish::Complete)
    }

    fn answer(&self, hit: Option<SceneImpact>, finish: Finish) -> SceneSweepAnswer {
        let certainty = match (hit, finish) {
            (None, Finish::Complete) => Certainty::Exact,
            (None, _) => Certainty::Conservative { tolerance: 0.0 },
            (Some(hit), _) => Certainty::Conservative { tolerance: hit.tolerance },
        };
        let outcome = Outcome { certainty, finish, work: self.work };
        SceneSweepAnswer { hit, free_until: self.now, outcome }
    }

    /// Lets a body go on otherwise from now on, the stop of the last meeting; false when there is no such body.
    /// The motion is over the whole step and must have the body where it is now ([`Motion::through`]).
    pub fn turn(&mut self, scene: &Scene, id: BodyId, motion: Motion) -> bool {
        let Some(entry) = scene.bodies.get(id) else { return false };
        self.set_out(id, entry, motion);
        true
    }

    /// Where a body is at a time between now and its next turn.
    pub fn pose(&self, id: BodyId, time: f64) -> Option<Pose> {
        self.movers
            .get(id.index())?
            .as_ref()
            .filter(|mover| mover.id == id)
            .map(|mover| mover.motion.pose(time))
    }

    /// Gives a body its motion from now on.
    fn set_out(&mut self, id: BodyId, entry: &BodyEntry, motion: Motion) {
        let slot = id.slot();
        if self.movers.len() <= id.index() {
            self.movers.resize(id.index() + 1, None);
            self.partners.resize(id.index() + 1, Vec::new());
        }
        let old = self.movers[id.index()].as_ref().filter(|mover| mover.id == id);
        let version = entry.version;
        let known = old.filter(|mover| mover.version == version);
        let ball = known.map_or_else(|| ball_of(entry.body.shape.geometry()), |mover| mover.ball);
        if old.is_some() && known.is_none() {
            self.memories.retain(|pair, _| !pair.contains(&slot));
        }
        let number = self.movers[id.index()].as_ref().map_or(0, |mover| mover.number.wrapping_add(1));
        let span = [self.now, 1.0];
        let bounds = swept_bounds(entry.body.shape.geometry(), &motion, &ball, span);
        let speed = motion.speed(&ball, span);
        if old.is_none() {
            self.broad.insert(slot, bounds, entry.body.mobility);
        } else if old.is_some_and(|mover| mover.bounds != bounds) {
            self.broad.update(slot, bounds);
        }
        self.work.updates += 1;
        self.movers[id.index()] =
            Some(Mover { id, motion, version, ball, speed, bounds, number, turned: true });
        self.turned.push(slot);
    }

    /// Puts the pairs of all bodies that turned into the queue.
    fn settle(&mut self, scene: &Scene) {
        if self.turned.is_empty() {
            return;
        }
        self.broad.step(&mut self.changes);
        for &[a, b] in &self.changes.ended {
            self.memories.remove(&[a, b]);
            for [i, j] in [[a, b], [b, a]] {
                self.partners[i as usize].retain(|&other| other != j);
            }
        }
        for &[a, b] in &self.changes.began {
            for [i, j] in [[a, b], [b, a]] {
                let list = &mut self.partners[i as usize];
                let at = list.partition_point(|&other| other < j);
                list.insert(at, j);
            }
        }
        let turned = std::mem::take(&mut self.turned);
        for &slot in &turned {
            // Once for each body, and a pair once though both turned.
            if !self.mover(slot).is_some_and(|mover| mover.turned) {
                continue;
            }
            for k in 0..self.partners[slot as usize].len() {
                let other = self.partners[slot as usize][k];
                if other > slot || !self.mover(other).is_some_and(|mover| mover.turned) {
                    self.wait(scene, [slot.min(other), slot.max(other)]);
                }
            }
        }
        for slot in turned {
            if let Some(mover) = &mut self.movers[slot as usize] {
                mover.turned = false;
            }
        }
    }

    /// Lets a pair wait for the time at which the balls around its bodies can meet.
    fn wait(&mut self, scene: &Scene, pair: [u32; 2]) {
        let [Some(a), Some(b)] = pair.map(|slot| self.mover(slot)) else { return };
        let [Some(x), Some(y)] = pair.map(|slot| scene.bodies.at(slot)) else { return };
        let speed = a.speed + b.speed;
        let ignored = x.named && y.named && scene.rules.of(pair).ignored;
        // Sensors hold nobody up.
        let sensed = x.body.sensor || y.body.sensor;
        if speed == 0.0 || sensed || ignored || !x.body.groups.allow(y.body.groups) {
            return;
        }
        let place = |mover: &Mover| mover.motion.pose(self.now).apply(mover.ball.centre);
        let reach = |mover: &Mover| mover.ball.radius + mover.motion.rounding(&mover.ball);
        let apart = norm(place(b) - place(a)) / ROUND_UP - (reach(a) + reach(b)) * ROUND_UP;
        let time = self.now + (apart / (speed * ROUND_UP)).max(0.0);
        let numbers = [a.number, b.number];
        // Unbounded bodies have no ball, and what is not a number means no bound.
        let time = if time >= self.now { time } else { self.now };
        if time <= 1.0 {
            self.queue.push(Entry { time, pair, numbers, known: Known::Apart });
        }
    }

    /// Looks at a pair whose time has come, some way ahead: its bodies may turn before the rest matters. Returns
    /// what is to wait in the queue for later.
    fn look_at(&mut self, scene: &Scene, entry: Entry, budget: &mut Budget) -> Option<Entry> {
        let interrupted = self.interrupted.remove(&entry.pair).filter(|sweep| sweep.numbers == entry.numbers);
        let [a, b] = entry.pair.map(|slot| self.mover(slot));
        let [x, y] = entry.pair.map(|slot| scene.bodies.at(slot));
        let (movers, shapes) = ([a?, b?], [x?.body.shape.geometry(), y?.body.shape.geometry()]);
        let mut memory = self.memories.get(&entry.pair).copied().unwrap_or_default();
        let mut open = None;
        let until = ahead(movers, entry.time);
        let (left, tests) = if entry.known == Known::Apart {
            let (separated, tests) = separate(shapes, movers, [entry.time, until], &mut memory);
            let known = if separated.is_some() { Known::Close } else { Known::Apart };
            budget.draw(tests.volume_tests);
            ((separated.unwrap_or(until), known, None), tests)
        } else {
            let (left, tests, cut) =
                self.sweep(shapes, movers, entry, until, (&mut memory, interrupted), budget);
            open = cut;
            (left, tests)
        };
        self.work += tests;
        self.interrupted.extend(open.map(|open| (entry.pair, open)));
        self.memories.insert(entry.pair, memory);
        let (time, mut known, hit) = left;
        if let Some(hit) = hit {
            known = Known::Meets(self.hits.len() as u32);
            self.hits.push(hit);
        }
        (known != Known::Apart || time < 1.0).then_some(Entry { time, known, ..entry })
    }

    /// Sweeps a pair that no plane separates, or goes on with that: until when nothing happens, what is known then, and
    /// its impact; what it cost; and the sweep where the budget cut it short.
    fn sweep(
        &self,
        shapes: [&Geometry; 2],
        movers: [&Mover; 2],
        entry: Entry,
        until: f64,
        (memory, interrupted): (&mut Memory, Option<Interrupted>),
        budget: &mut Budget,
    ) -> ((f64, Known, Option<SceneImpact>), Counters, Option<Interrupted>) {
        let tolerance = self.tolerance(movers);
        let mut sweep = interrupted.unwrap_or_else(|| Interrupted {
            numbers: entry.numbers,
            options: SweepOptions { from: entry.time, until, tolerance, ..SweepOptions::DEFAULT },
            memory: PairMemory::after_sweep(memory.touched),
        });
        let motions = movers.map(|mover| &mover.motion);
        let poses = motions.map(|motion| motion.pose(sweep.options.from));
        let pair = ShapePair { motions: Some(motions), ..ShapePair::new(shapes, [&poses[0], &poses[1]]) };
        // A budget that ended with the look at the queue still pays for a little, so that every call gets on.
        let mut least = Budget::units(LEAST_GRANT);
        let budget = if budget.is_spent() { &mut least } else { budget };
        // Only surfaces are refused, and these are solids.
        let verdict = Exact.sweep(&pair, &sweep.options, &mut sweep.memory, budget);
        let verdict = verdict.unwrap_or_else(|_| Verdict::refused());
        let (work, finish) = (verdict.outcome.work, verdict.outcome.finish);
        let found = verdict.value.or(verdict.so_far).unwrap_or(Sweep::UNKNOWN);
        let hit = found.impact.map(|impact| {
            memory.direction = Some(impact.normal);
            let (stop, gap) = self.stop(shapes, movers, &impact);
            let tolerance = tolerance.max(found.earliness());
            SceneImpact { bodies: movers.map(|mover| mover.id), impact, tolerance, stop, gap }
        });
        let time = hit.map_or(found.free_until.max(entry.time), |hit| hit.stop);
        if finish == Finish::OutOfBudget && hit.is_none() {
            return ((time, Known::Interrupted, None), work, Some(sweep));
        }
        memory.touched = sweep.memory.kernel.sweep_memory();
        ((time, Known::Apart, hit), work, None)
    }

    /// How early an impact may be told: bodies that are stopped at a gap anyway may stop a little before it.
    fn tolerance(&self, movers: [&Mover; 2]) -> f64 {
        let time = TIME_OF_GAP * self.gap / (movers[0].speed + movers[1].speed);
        // Without speeds that are numbers the sharper one.
        if time > SWEEP_TOLERANCE { time.min(GAP_TIME_TOLERANCE) } else { SWEEP_TOLERANCE }
    }

    /// The time before the impact at which the touching features are as far apart as they shall stay, and how
    /// far apart they are; now where they come no farther.
    fn stop(&self, shapes: [&Geometry; 2], movers: [&Mover; 2], impact: &Impact) -> (f64, f64) {
        let apart = |t: f64| {
            let poses = movers.map(|mover| mover.motion.pose(t));
            match (shapes, impact.triangles) {
                ([Geometry::Mesh(a), Geometry::Mesh(b)], [Some(i), Some(j)]) => {
                    let placed = |pose: &Pose, corners: [DVec3; 3]| corners.map(|p| pose.apply(p));
                    let corners =
                        [placed(&poses[0], a.mesh().corners(i)), placed(&poses[1], b.mesh().corners(j))];
                    triangle_distance::nearest(&corners[0], &corners[1]).distance
                }
                ([a, b], _) => {
                    let pair = ShapePair::new([a, b], [&poses[0], &poses[1]]);
                    dispatch::full_distance(&pair, &mut KernelMemory::default()).0.distance
                }
            }
        };
        // The least time in which they can close the gap, doubled until it was one.
        let mut back = self.gap / (movers[0].speed + movers[1].speed);
        if !(back > 0.0 && back.is_finite()) {
            back = (impact.time - self.now) * FIRST_STEP_BACK;
        }
        loop {
            let time = (impact.time - back).max(self.now);
            let gap = apart(time);
            if gap >= self.gap || time <= self.now {
                return (time, gap);
            }
            back *= 2.0;
        }
    }

    fn mover(&self, slot: u32) -> Option<&Mover> {
        self.movers.get(slot as usize)?.as_ref()
    }

    fn numbers(&self, pair: [u32; 2]) -> [Option<u32>; 2] {
        pair.map(|slot| self.mover(slot).map(|mover| mover.number))
    }
}

impl Scene {
    /// The first contact of all bodies over a step: those named move as told, the others rest.
    ///
    /// Closed meshes are solids: a body that begins inside another touches it at the start, unless both rest.
    pub fn first_contact(
        &self,
        motions: &[(BodyId, Motion)],
        scene_sweep: &mut SceneSweep,
        budget: &mut Budget,
    ) -> SceneSweepAnswer {
        scene_sweep.start(self, motions);
        scene_sweep.first(self, budget)
    }
}

/// How far ahead a pair is looked at: as long as its bodies take to come nearer by a share of their size.
fn ahead(movers: [&Mover; 2], from: f64) -> f64 {
    let size = movers[0].ball.radius.min(movers[1].ball.radius);
    let until = from + (LOOK_AHEAD * size / (movers[0].speed + movers[1].speed)).max(SHORTEST_LOOK);
    if until < 1.0 { until } else { 1.0 }
}

/// When planes no longer separate two bodies; `None` when they do for the whole span.
fn separate(
    shapes: [&Geometry; 2],
    movers: [&Mover; 2],
    span: [f64; 2],
    memory: &mut Memory,
) -> (Option<f64>, Counters) {
    let sides = [0, 1].map(|k| Side { shape: shapes[k], motion: &movers[k].motion, ball: &movers[k].ball });
    let place = |side: &Side<'_>| side.motion.pose(span[0]).apply(side.ball.centre);
    let direction = memory.direction.get_or_insert_with(|| place(&sides[1]) - place(&sides[0]));
    let separated = separated([&sides[0], &sides[1]], span, direction);
    (separated.until, Counters { volume_tests: separated.tests, ..Counters::default() })
}

/// A box around all a body sweeps over a span of time.
pub(super) fn swept_bounds(shape: &Geometry, motion: &Motion, ball: &Ball, span: [f64; 2]) -> Aabb {
    if let Motion::Still(pose) = motion {
        return shape.bounds(pose);
    }
    if !ball.radius.is_finite() {
        return Aabb { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY };
    }
    let [low, high] = motion.swept_box(ball, span);
    if !motion.knots().is_empty() {
        return Aabb { low, high };
    }
    // Every point leaves its chord by no more than a·h²/8, so the boxes of both ends hold all but that.
    let ends = span.map(|t| shape.bounds(&motion.pose(t)));
    let length = span[1] - span[0];
    let bulge = motion.acceleration_bound(ball, span).most() * length * length / 8.0 + motion.rounding(ball);
    let room = DVec3::splat(bulge * ROUND_UP);
    Aabb {
        low: low.max(ends[0].low.min(ends[1].low) - room),
        high: high.min(ends[0].high.max(ends[1].high) + room),
    }
}

#[cfg(test)]
#[path = "scene_sweep_tests.rs"]
mod tests;
