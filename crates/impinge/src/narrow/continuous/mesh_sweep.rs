//! When two moving meshes first touch.
//!
//! Both trees are gone down together, the pair that can meet earliest first. Every pair carries a time before
//! which it cannot meet, found by directed conservative advancement ([`crate::hierarchy::box_time_of_impact`] for
//! boxes, `triangle_pair` for triangles) from the time its parents had; so no pair is looked at before its time
//! has come, and the search ends with the first pair of triangles that does meet. Redon, Kheddar and Coquillart,
//! "CONTACT", 2001, pass the current time of first contact down a tree in the same spirit; here both bodies move
//! in the world, by any motion whose velocities and accelerations are known.
//!
//! Where the bodies move against each other by one screw, what differs in the coordinates that it leaves unchanged is
//! dropped for the whole step, once the search takes long (`screw_shadow`).
//!
//! Where they are carried nearly together, gaps last as long as that little motion takes to close them, of boxes and of
//! triangles alike ([`RelativeDrift`]).
//!
//! A pair of triangles is a contact when it meets exactly at the time it surely had not before, or within the
//! tolerance after; or when rounding hides the gap. Then flat on flat, which part again beyond the contact, are
//! proved by having passed through each other, and bodies by other triangles that meet (`pass_through`).

use std::collections::BinaryHeap;

use glam::DVec3;

use super::answer::{Impact, Sweep, SweepOptions};
use super::child_pairs::{Blocks, ChildPairs, ChildRef, outlast};
use super::contact_normal::separating_normal;
use super::earliness::{MOST_STEPS, earliness};
use super::hull_bound::HullBound;
use super::motion_spans::spans;
use super::moving_disc_bound::{MovingDiscBound, time_apart};
use super::moving_mesh::{MovingMesh, noise, surfaces_meet};
use super::pass_through;
use super::planar_bound::PlanarShadows;
use super::screw_shadow::{ScrewShadows, Shadows};
use super::time_queue::TimedEntry;
use super::triangle_impact::triangle_impact;
use super::triangle_pair::{Corners, Step, step, time_along};
use crate::contact::Verdict;
use crate::geom::point_triangle::norm;
use crate::geom::triangle_triangle;
use crate::hierarchy::box_distance::{BoxDistance, Gaps, gaps};
use crate::hierarchy::box_time_of_impact::{BoxTimeOfImpact, Instant, Times, times};
use crate::hierarchy::wide::WIDTH;
use crate::model::{Fact, Model};
use crate::motion::{Motion, RelativeDrift};
use crate::num::tolerance::SWEEP_SLACK;
use crate::simd::SimdLevel;
use crate::{Budget, Counters, Finish};

/// Steps of one pair of triangles before others, and the budget, get their turn.
const STEPS_AT_A_TIME: u32 = 64;

/// Times nearer than this share one look at the motions (in units of the step): bodies hardly turn in between.
const SAME_INSTANT: f64 = 1.0 / 1024.0;

/// Steps that remembered triangles get to touch again.
const RECALL_STEPS: u32 = 32;

/// Triangles of both meshes for each unit of work after which their shadows are made: making one costs some hundredth of
/// following a pair.
const TRIANGLES_A_UNIT: u64 = 16;

/// Work before shadows are made, at least: pairs of nodes and of triangles.
const FIRST_SHADOWS: u64 = 512;

/// What a glance at two triangles must win to be worth another (in units of the step).
const GLANCE_GAIN: f64 = 1.0 / 256.0;

/// What a pair of bodies remembers from its last sweep; forgetting it costs only time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SweepMemory {
    triangles: Option<[u32; 2]>,
}

impl SweepMemory {
    /// Takes down what was touched.
    pub fn keep(&mut self, found: &Sweep) {
        if let Some(Impact { triangles: [Some(a), Some(b)], .. }) = found.impact {
            self.triangles = Some([a, b]);
        }
    }
}

#[cfg(any(test, feature = "unstable"))]
/// The first contact of two moving meshes, as surfaces: one that is wholly inside the other does not touch it.
///
/// ```
/// # use impinge::{model::Model, Motion, Pose, shape::procedural, narrow::continuous::mesh_sweep::sweep};
/// let ball = Model::from(procedural::ico_sphere(1.0, 3)?);
/// let [here, there] = [Pose::IDENTITY, Pose::from_translation([4.0, 0.0, 0.0])?];
/// let found = sweep([&ball, &ball], [&Motion::Still(here), &Motion::between(&there, &here)]);
/// assert!((found.impact.unwrap().time - 0.5).abs() < 0.01);
/// # Ok::<(), impinge::Error>(())
/// ```
pub fn sweep(models: [&Model; 2], motions: [&Motion; 2]) -> Sweep {
    MeshSweep::new(models, motions, &SweepOptions::DEFAULT).advance(&mut Budget::UNLIMITED.clone())
}

#[cfg(any(test, feature = "unstable"))]
/// As [`sweep`], starting from what was touched the last time and leaving what is touched now.
pub fn sweep_again(
    models: [&Model; 2],
    motions: [&Motion; 2],
    options: &SweepOptions,
    memory: &mut SweepMemory,
) -> Sweep {
    let mut search = MeshSweep::new(models, motions, options);
    search.recall(memory);
    let found = search.advance(&mut Budget::UNLIMITED.clone());
    memory.keep(&found);
    found
}

/// A sweep that can be interrupted and resumed.
#[derive(Debug, Clone)]
pub struct MeshSweep<'m> {
    bodies: [MovingMesh<'m>; 2],
    tolerance: f64,
    /// How much before a true contact the one that was found may be.
    early: f64,
    /// The slack, but for rounding.
    wanted_slack: f64,
    slack: f64,
    /// What rounding can do to the distance of two placed points, in the span.
    noise: f64,
    level: SimdLevel,
    /// The spans between the knots of both motions, the last first.
    spans: Vec<[f64; 2]>,
    /// Where the search ends.
    until: f64,
    span: [f64; 2],
    /// There is a contact before this: nothing later matters.
    latest: f64,
    /// The bodies at an instant that was looked at last.
    now: Option<Now<'m>>,
    open: BinaryHeap<TimedEntry<What>>,
    /// Nothing meets before this, whatever its entry says.
    floor: f64,
    /// The same over all spans, from shadows on the plane of the motion.
    planar_floor: f64,
    /// How much more than by rounding points may be off: those of shadows are.
    doubt: f64,
    /// What the bodies do against each other, where that is little, in the span.
    drift: Option<RelativeDrift>,
    hulls: HullBound,
    shadows: Shadows,
    blocks: Blocks,
    found: Option<Impact>,
    work: Counters,
}

/// Both bodies at an instant.
#[derive(Debug, Clone)]
struct Now<'m> {
    time: f64,
    bodies: [Instant<'m>; 2],
    toi: BoxTimeOfImpact,
    /// How far boxes are apart, where the bodies drift.
    apart: Option<BoxDistance>,
}

/// What is open: the earliest of a block of pairs, or a pair of triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// Two nodes.
    Nodes([u32; 2]),
    /// A block of pairs of children, by its place, and its earliest pair.
    ChildPairs { at: u32, slot: u32 },
    /// Two triangles, and the steps they made below the slack.
    Triangles { pair: [u32; 2], steps: u32 },
}

impl<'m> MeshSweep<'m> {
    /// A sweep over the whole step.
    pub fn new(models: [&'m Model; 2], motions: [&'m Motion; 2], options: &SweepOptions) -> MeshSweep<'m> {
        let bodies = [0, 1].map(|k| MovingMesh::new(models[k], motions[k]));
        let [a, b] = bodies.map(|body| body.instant(0.0));
        let size = bodies.iter().map(|body| body.ball.radius).sum::<f64>()
            + norm(a.pose.apply(bodies[0].ball.centre) - b.pose.apply(bodies[1].ball.centre));
        let wanted_slack = options.slack.unwrap_or(size * SWEEP_SLACK);
        let noise = noise(&bodies, 1.0);
        let balls = bodies.each_ref().map(|body| &body.ball);
        let spans = spans(motions, balls, options.from, options.until);
        MeshSweep {
            bodies,
            tolerance: options.tolerance,
            early: options.tolerance,
            wanted_slack,
            slack: wanted_slack.max(noise),
            noise,
            level: SimdLevel::best(),
            spans,
            until: options.until,
            span: [0.0; 2],
            latest: f64::INFINITY,
            now: None,
            open: BinaryHeap::new(),
            floor: 0.0,
            planar_floor: 0.0,
            doubt: 0.0,
            drift: None,
            hulls: HullBound::new(models),
            shadows: Shadows::Later,
            blocks: Blocks::default(),
            found: None,
            work: Counters::default(),
        }
    }

    /// How near surfaces may come without a contact.
    pub(super) fn slack(&self) -> f64 {
        self.slack
    }

    /// Looks at the triangles that touched the last time: when they do now, nothing later matters.
    pub fn recall(&mut self, memory: &SweepMemory) {
        // Memory of other meshes may be out of range; it is only a guess.
        let known = |t: [u32; 2]| [0, 1].map(|k| t[k] < self.bodies[k].model.mesh().triangles().len() as u32);
        let Some(pair) = memory.triangles.filter(|&t| known(t) == [true; 2]) else { return };
        let spans = self.spans.clone();
        while self.found.is_none() && self.next_span().is_some() {
            self.follow_alone(pair);
        }
        // The search finds it again, with its time to the last bit.
        if let Some(impact) = self.found.take().filter(|impact| impact.proved) {
            self.latest = impact.time + self.tolerance;
        }
        self.spans = spans;
    }

    /// Follows a pair of triangles over the span, whatever else there is.
    fn follow_alone(&mut self, pair: [u32; 2]) {
        let (mut time, mut steps) = (self.span[0], 0);
        for _ in 0..RECALL_STEPS {
            let found = self.look_at(pair, time);
            self.work.primitive_tests += 1;
            if !(time <= self.span[1]) || self.touches(pair, time, &found, &mut steps) {
                return;
            }
            time = self.after(time, &found);
        }
    }

    /// Goes on until the first contact is known or the budget ends; then calling again resumes.
    pub fn advance(&mut self, budget: &mut Budget) -> Sweep {
        self.advance_telling(budget, &|found| found)
    }

    /// As [`MeshSweep::advance`]; before something long, in which the budget may end, what is known is left in the words of
    /// the caller.
    pub(super) fn advance_telling(&mut self, budget: &mut Budget, told: &dyn Fn(Sweep) -> Sweep) -> Sweep {
        let limited = !budget.is_unlimited();
        while self.found.is_none() {
            let Some(mut entry) = self.open.pop().or_else(|| self.next_span()) else { break };
            if limited && !budget.draw((WIDTH * WIDTH) as u64) {
                self.open.push(entry);
                return self.answer(entry.time, Finish::OutOfBudget);
            }
            let before = self.work.primitive_tests;
            if limited && self.is_before_something_long() {
                budget.leave(|| Some(Verdict::from(told(self.answer(entry.time, Finish::OutOfBudget)))));
            }
            if self.hulls.is_due(self.hull_work()) && !self.hulls_are_ready(budget) {
                self.open.push(entry);
                return self.answer(entry.time, Finish::OutOfBudget);
            }
            if !self.shadows_are_ready(budget) {
                self.open.push(entry);
                return self.answer(entry.time, Finish::OutOfBudget);
            }
            self.raise_floor(entry.time);
            entry.time = entry.time.max(self.floor);
            if !(entry.time <= self.span[1]) {
                self.open.clear();
                continue;
            }
            match entry.what {
                What::Nodes(pair) => self.expand(entry.time, pair),
                What::Triangles { pair, steps } => self.follow(entry.time, pair, steps),
                What::ChildPairs { at, slot } => {
                    let (children, origin) = self.blocks.children(at, slot);
                    // The next of the block, before its pairs are looked at.
                    if let Some((time, slot)) = self.blocks.next(at, slot) {
                        self.open.push(TimedEntry { time, what: What::ChildPairs { at, slot }, ..entry });
                    }
                    self.open_children(entry.time, children, origin);
                }
            }
            if limited {
                budget.draw(self.work.primitive_tests - before);
            }
        }
        self.open.clear();
        self.answer(self.until, Finish::Complete)
    }

    /// The work after which hulls are looked at: pairs of nodes and of triangles.
    fn hull_work(&self) -> u64 {
        self.work.primitive_tests + self.work.volume_tests / (WIDTH * WIDTH) as u64
    }

    /// Whether hulls or shadows are made next.
    fn is_before_something_long(&self) -> bool {
        let hulls = self.hulls.is_due(self.hull_work())
            && !self.bodies.iter().all(|body| body.model.knows(Fact::Hull));
        hulls || self.shadows_are_due()
    }

    /// Builds the hulls as far as the budget goes.
    fn hulls_are_ready(&self, budget: &mut Budget) -> bool {
        self.bodies.iter().all(|body| body.model.prepare(Fact::Hull, budget))
    }

    /// The same search among shadows, which are known to within `doubt`; it makes none itself.
    pub(super) fn of_shadows(mut self, doubt: f64) -> MeshSweep<'m> {
        self.doubt = doubt;
        self.shadows = Shadows::None;
        self.hulls = HullBound::NONE;
        self
    }

    /// Whether the search has taken so long that shadows may be worth their cost.
    fn shadows_are_due(&self) -> bool {
        matches!(self.shadows, Shadows::Later)
            && self.hull_work() >= FIRST_SHADOWS + self.triangles() / TRIANGLES_A_UNIT
    }

    /// Of both bodies.
    fn triangles(&self) -> u64 {
        self.bodies.iter().map(|body| body.model.mesh().triangles().len() as u64).sum()
    }

    /// Makes the shadows when the search takes long; false where the budget was only a trial that ended.
    fn shadows_are_ready(&mut self, budget: &mut Budget) -> bool {
        if !self.shadows_are_due() {
            return true;
        }
        let (models, motions) = (self.bodies.map(|body| body.model), self.bodies.map(|body| body.motion));
        if !budget.charge_all(self.triangles()) {
            return false;
        }
        // They hold for the whole step, and so must the bound of its rounding.
        let most = noise(&self.bodies, 1.0);
        let all_apart = if let Some(shadows) = ScrewShadows::new(models, motions, most) {
            let all_apart = shadows.all_apart();
            self.shadows = Shadows::Made(Box::new(shadows));
            all_apart
        } else {
            let Some(all_apart) = self.look_along_the_axis(budget) else { return false };
            self.shadows = Shadows::None;
            all_apart
        };
        if all_apart {
            self.floor = f64::INFINITY;
            self.spans.clear();
        }
        true
    }

    /// How long shadows on the plane of the motion stay apart, if it has one; whether they do to the end. `None` where the
    /// budget was only a trial that ended.
    fn look_along_the_axis(&mut self, budget: &mut Budget) -> Option<bool> {
        let (models, motions) = (self.bodies.map(|body| body.model), self.bodies.map(|body| body.motion));
        let Some(shadows) = PlanarShadows::new(models, motions) else { return Some(false) };
        let (tolerance, slack) = (self.tolerance, Some(self.wanted_slack));
        let (from, until) = (self.floor, self.until);
        let options = SweepOptions { tolerance, slack, from, until, ..SweepOptions::DEFAULT };
        let found = shadows.sweep(&options, budget)?;
        self.work += found.outcome.work;
        self.planar_floor = found.free_until;
        self.floor = self.floor.max(found.free_until);
        Some(found.impact.is_none() && found.outcome.finish == Finish::Complete)
    }

    /// Looks at the hulls when the search takes long.
    fn raise_floor(&mut self, time: f64) {
        let work = self.hull_work();
        let (models, motions) = (self.bodies.map(|body| body.model), self.bodies.map(|body| body.motion));
        let reached = self.hulls.apart_until(work, models, motions, time.max(self.floor), self.span);
        self.floor = self.floor.max(reached.unwrap_or(0.0));
    }

    /// The roots at the start of the next span.
    fn next_span(&mut self) -> Option<TimedEntry<What>> {
        self.span = self.spans.pop()?;
        self.floor = self.span[0].max(self.planar_floor);
        self.noise = noise(&self.bodies, self.span[1]) + self.doubt;
        self.slack = self.wanted_slack.max(self.noise);
        let balls = self.bodies.each_ref().map(|body| &body.ball);
        self.drift = RelativeDrift::of(self.bodies.map(|body| body.motion), balls, self.noise);
        self.now = None;
        for body in &mut self.bodies {
            body.acceleration_bound = body.motion.acceleration_bound(&body.ball, self.span);
        }
        Some(TimedEntry { time: self.span[0], number: 0, what: What::Nodes([0; 2]) })
    }

    /// Goes on with a pair of children.
    fn open_children(&mut self, time: f64, [a, b]: [ChildRef; 2], origin: [Option<(u32, usize)>; 2]) {
        if self.shadows.boxes_never_meet(origin) {
            return;
        }
        match (a, b) {
            (ChildRef::Node(p), ChildRef::Node(q)) => {
                let later = self.time_of_discs(time, origin);
                if !(later <= self.span[1]) {
                    return;
                }
                if self.open.peek().is_some_and(|next| next.time < later) && later > time {
                    let number = self.blocks.number();
                    self.open.push(TimedEntry { time: later, number, what: What::Nodes([p, q]) });
                    return;
                }
                self.expand(later, [p, q]);
            }
            (ChildRef::Leaf(p), ChildRef::Leaf(q)) => {
                let orders = self.bodies.map(|body| body.model.tree().order());
                for slot_a in p.slots() {
                    for slot_b in q.slots() {
                        let pair = [orders[0][slot_a], orders[1][slot_b]];
                        if p.slots().len() * q.slots().len() == 1 {
                            return self.follow(time, pair, 0);
                        }
                        self.wait(time, pair, 0);
                    }
                }
            }
            // A block pairs leaves with leaves only.
            _ => {}
        }
    }

    /// When patches of surface can first meet that lie in boxes which already may: seen along their normals they
    /// are thin.
    fn time_of_discs(&mut self, time: f64, origin: [Option<(u32, usize)>; 2]) -> f64 {
        let [Some(a), Some(b)] = origin else { return time };
        let disc_bounds = self.bodies.map(|body| body.model.disc_bounds());
        let (Some(lanes_a), Some(lanes_b)) = (disc_bounds[0].of(a.0), disc_bounds[1].of(b.0)) else {
            return time;
        };
        let (acceleration_bounds, noise) = (self.bodies.map(|body| body.acceleration_bound), self.noise);
        let now = self.now(time);
        let moving = [
            MovingDiscBound::new(lanes_a, a.1, &now.bodies[0], &acceleration_bounds[0]),
            MovingDiscBound::new(lanes_b, b.1, &now.bodies[1], &acceleration_bounds[1]),
        ];
        let later = now.time + time_apart(&moving[0], &moving[1], noise);
        self.work.volume_tests += 1;
        later.max(time)
    }

    /// The bodies at a time, or a little before it: bounds from there hold as well and are as good.
    fn now(&mut self, time: f64) -> &Now<'m> {
        if !self.now.as_ref().is_some_and(|now| now.time <= time && time - now.time <= SAME_INSTANT) {
            self.now = None;
        }
        let (bodies, noise, drift) = (&self.bodies, self.noise, self.drift);
        self.now.get_or_insert_with(|| {
            let bodies = bodies.each_ref().map(|body| body.instant(time));
            let toi = BoxTimeOfImpact::new(&bodies[0], &bodies[1], noise);
            let [a, b] = &bodies;
            let apart = drift.map(|_| BoxDistance::new(a.tree, &a.pose, b.tree, &b.pose));
            Now { time, bodies, toi, apart }
        })
    }

    /// Finds the earliest times of the children of a pair of nodes.
    fn expand(&mut self, time: f64, pair: [u32; 2]) {
        let trees = [0, 1].map(|side: usize| self.bodies[side].model.tree());
        let [x, y] = [0, 1].map(|side: usize| &trees[side].nodes()[pair[side] as usize]);
        let (level, end, drift) = (self.level, self.span[1].min(self.latest), self.drift);
        let now = self.now(time);
        let base = now.time;
        let mut after: Times = [[0.0; WIDTH]; WIDTH];
        // A contact at the very end counts.
        let limit = ((end - base) as f32).next_up();
        let mut some = times(level, x, y, &now.toi, limit, &mut after);
        if let (true, Some(drift), Some(apart)) = (some, drift, &now.apart) {
            let mut squared: Gaps = [[0.0; WIDTH]; WIDTH];
            gaps(level, x, y, apart, f32::MAX, &mut squared);
            some = outlast(&mut after, limit, |i, j| drift.lasts(apart.distance(squared[i][j])));
        }
        self.work.volume_tests += (WIDTH * WIDTH) as u64;
        if !some || !self.shadows.drop_separated(pair, &mut after) {
            return;
        }
        let bottom = [0, 1].map(|side| trees[side].is_bottom(pair[side] as usize));
        let block = ChildPairs::new(pair, [x, y], bottom, [base, time], &after);
        let (at, first) = self.blocks.put(block);
        let number = self.blocks.number();
        let (time, slot) = first;
        self.open.push(TimedEntry { time, number, what: What::ChildPairs { at, slot } });
    }

    /// Follows a pair of triangles until it touches or another pair can touch before.
    fn follow(&mut self, mut time: f64, pair: [u32; 2], mut steps: u32) {
        if self.shadows.triangles_never_meet(pair) {
            return;
        }
        // From an instant that is known anyway, most pairs are seen to stay apart for long.
        let later = self.glance(time, pair);
        if !(later <= self.span[1]) {
            return;
        }
        if later > time + GLANCE_GAIN {
            return self.wait(later, pair, steps);
        }
        for _ in 0..STEPS_AT_A_TIME {
            self.work.primitive_tests += 1;
            let found = self.look_at(pair, time);
            if self.touches(pair, time, &found, &mut steps) {
                return;
            }
            time = self.after(time, &found);
            if !(time <= self.span[1]) {
                return;
            }
            if self.open.peek().is_some_and(|next| next.time < time) {
                break;
            }
        }
        self.wait(time, pair, steps);
    }

    /// When triangles can first meet, seen along their normals from the instant known last.
    fn glance(&mut self, time: f64, pair: [u32; 2]) -> f64 {
        let Some(now) = self.now.as_ref().filter(|now| now.time <= time && time - now.time <= SAME_INSTANT)
        else {
            return time;
        };
        self.work.primitive_tests += 1;
        let corners = [0, 1].map(|k| self.bodies[k].corners(pair[k], &now.bodies[k]));
        let middle = |c: &Corners| c.at[0] + c.at[1] + c.at[2];
        let apart = middle(&corners[1]) - middle(&corners[0]);
        let along = |c: &Corners| {
            let normal = (c.at[1] - c.at[0]).cross(c.at[2] - c.at[0]).normalize_or_zero();
            let normal = if normal.dot(apart) < 0.0 { -normal } else { normal };
            time_along(normal, &corners[0], &corners[1], self.noise, self.acceleration_along(normal))
        };
        (now.time + along(&corners[0]).max(along(&corners[1]))).max(time)
    }

    fn acceleration_along(&self, normal: DVec3) -> f64 {
        self.bodies[0].acceleration_bound.along(normal) + self.bodies[1].acceleration_bound.along(normal)
    }

    fn wait(&mut self, time: f64, pair: [u32; 2], steps: u32) {
        let number = self.blocks.number();
        self.open.push(TimedEntry { time, number, what: What::Triangles { pair, steps } });
    }

    fn look_at(&self, pair: [u32; 2], time: f64) -> Step {
        let corners = [0, 1].map(|k| {
            let body = &self.bodies[k];
            match &self.now {
                Some(now) if now.time == time => body.corners(pair[k], &now.bodies[k]),
                _ => body.corners(pair[k], &body.instant(time)),
            }
        });
        step(&corners[0], &corners[1], self.noise, |normal| self.acceleration_along(normal))
    }

    /// Whether the pair is a contact; if so it is taken down.
    fn touches(&mut self, pair: [u32; 2], time: f64, found: &Step, steps: &mut u32) -> bool {
        let placed = |t: f64| {
            let [a, b] = &self.bodies;
            [a.placed(pair[0], t), b.placed(pair[1], t)]
        };
        let meet_at = |t: f64| {
            let [a, b] = placed(t);
            triangle_triangle::meet(&a, &b)
        };
        // Slivers may be apart though the line of their nearest points does not show it.
        let apart = found.near.distance > self.slack;
        let stuck = time + found.time <= time && !apart;
        let meets = !found.near.disjoint && meet_at(time);
        let mut proved = meets;
        if !proved && found.time <= 0.5 * self.tolerance {
            proved = meet_at((time + self.tolerance).min(1.0));
        }
        if !proved {
            if found.near.distance <= self.slack {
                *steps += 1;
            }
            if apart || (!stuck && *steps < MOST_STEPS) {
                return false;
            }
            let [from, to] = self.span;
            let around = [(time - self.tolerance).max(from), (time + self.tolerance).min(to)];
            let moved = self.speed(around) * (around[1] - around[0]);
            proved = pass_through::passes_through(around.map(placed), moved, self.noise)
                || surfaces_meet(&self.bodies, (time + self.tolerance).min(1.0), &mut self.work);
        }
        let [a, b] = placed(time);
        let impact = triangle_impact(&self.bodies, pair, time, found, meets, [&a, &b], self.noise);
        if !proved {
            let first = (self.noise / self.speed(self.span)).min(self.tolerance);
            let (bodies, work) = (&self.bodies, &mut self.work);
            let (early, met) = earliness(time, first, self.until, |t| surfaces_meet(bodies, t, work));
            proved = met && early <= self.tolerance;
            self.early = self.tolerance.max(early);
        }
        let (models, motions) = (self.bodies.map(|body| body.model), self.bodies.map(|body| body.motion));
        let normal = separating_normal(models, motions, [self.tolerance, self.slack], &impact);
        self.found = Some(Impact { proved, normal, ..impact });
        true
    }

    /// The time up to which a pair that does not touch stays apart; slivers may be apart though the line of their
    /// nearest points does not show it, and then the speeds alone tell.
    fn after(&self, time: f64, found: &Step) -> f64 {
        let plain = 0.5 * (found.near.distance - self.noise) / self.speed(self.span);
        let still = self.drift.map_or(0.0, |drift| drift.lasts(found.near.distance));
        (time + found.time.max(plain).max(still)).max(time.next_up())
    }

    /// How fast points of the two can come nearer over a span.
    fn speed(&self, span: [f64; 2]) -> f64 {
        self.bodies.iter().map(|body| body.motion.speed(&body.ball, span)).sum()
    }

    fn answer(&self, reached: f64, finish: Finish) -> Sweep {
        Sweep::told(self.found, reached, [self.slack, self.early], finish, self.work)
    }
}
