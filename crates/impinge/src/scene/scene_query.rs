//! Questions to a scene as it stands now: what a ray or a moving shape meets, what lies in a region, what is nearest,
//! what holds a point.
//!
//! The answers are those of asking every body that the [`Filter`] lets through by the functions at the crate's root;
//! a tree over the boxes of the bodies keeps most of them from being asked. Nothing of the scene changes, so many
//! threads may ask at once.

use glam::DVec3;
use smallvec::SmallVec;

use super::body::Entry;
use super::body_bounds::{ball_of, placed_ball};
use super::overlap;
use super::scene_sweep::swept_bounds;
use super::{Body, BodyId, Groups, Scene};
use crate::model::{Geometry, Placed};
use crate::motion::Motion;
use crate::narrow::continuous::{
    Impact, StraightPass, SweepMemory, SweepOptions, sweep_within as sweep_of_surfaces,
};
use crate::narrow::convex_mesh;
use crate::narrow::dispatch;
use crate::narrow::kernel_memory::KernelMemory;
use crate::narrow::shape_pair::ShapePair;
use crate::narrow::solid_sweep::sweep_within;
use crate::num::tolerance::{CAST_BOX_SLACK, SCENE_OVERLAP_ROUNDING, SWEEP_TOLERANCE};
use crate::query::Query;
use crate::shape::{Convex, Primitive};
use crate::{Budget, Pose, Separation};

/// Bodies whose boxes a cast enters that wait until as many more are found: the one that can be met first is swept first,
/// as a sweep costs much more than to look for bodies.
const CAST_WAITING: usize = 3;

/// The time before which each is not met, and its slot.
type Waiting = SmallVec<[(f64, u32); CAST_WAITING + 1]>;

/// Says whether a body answers.
type Accept<'f> = &'f (dyn Fn(BodyId, &Body) -> bool + Sync);

/// Which bodies a question is about.
#[derive(Clone, Copy)]
pub struct Filter<'f> {
    /// What asks: bodies must meet a group of it, and be in one that it meets.
    pub groups: Groups,
    /// Whether sensors answer too.
    pub sensors: bool,
    /// Bodies for which this is false do not answer; it may be asked about a body more than once.
    pub accept: Option<Accept<'f>>,
}

impl Default for Filter<'_> {
    /// All bodies but sensors.
    fn default() -> Self {
        Filter { groups: Groups::ALL, sensors: false, accept: None }
    }
}

impl Filter<'_> {
    pub(super) fn lets(&self, id: BodyId, entry: &Entry) -> bool {
        let body = &entry.body;
        self.groups.allow(body.groups)
            && (self.sensors || !body.sensor)
            && self.accept.is_none_or(|accept| accept(id, body))
    }
}

/// The distance of a shape from a body, if it is at most `limit`; see [`distance`](crate::distance).
fn distance_within(shape: &Geometry, pose: &Pose, body: &Body, limit: f64) -> Option<Separation> {
    if let (Geometry::Convex(Convex::Primitive(primitive)), Geometry::Mesh(mesh)) =
        (shape, body.shape.geometry())
        && !matches!(primitive, Primitive::HalfSpace { .. })
    {
        return convex_mesh::distance_within(primitive, pose, mesh, &body.pose, limit);
    }
    if let (Geometry::Convex(Convex::Primitive(Primitive::Sphere { radius })), Geometry::Convex(hull)) =
        (shape, body.shape.geometry())
        && is_beyond_a_face(pose.translation(), radius + limit, hull, &body.pose)
    {
        return None;
    }
    let pair = ShapePair::new([shape, body.shape.geometry()], [pose, &body.pose]);
    let (found, _) = dispatch::full_distance(&pair, &mut KernelMemory::default());
    (found.distance <= limit).then_some(found)
}

/// A time before which a shape that goes straight does not meet the box of a body, its way and itself being so long; 0
/// where that is not known.
fn earliest(shape: &Geometry, motion: &Motion, length: f64, body: &Body) -> f64 {
    let Geometry::Convex(convex) = shape else { return 0.0 };
    let other = body.shape.geometry();
    if !body.pose.is_rotation() || matches!(other, Geometry::Compound(_) | Geometry::Particles(_)) {
        return 0.0;
    }
    let bounds = other.own_box();
    let slack = CAST_BOX_SLACK * (length + 2.0 * bounds.half().length());
    if !slack.is_finite() {
        return 0.0;
    }
    let pass = StraightPass::new(convex, motion, &Motion::Still(body.pose), slack);
    pass.map_or(0.0, |pass| pass.box_time(bounds.centre(), bounds.half()))
}

/// Takes out the earliest, of equal ones the smallest slot.
fn take_earliest(waiting: &mut Waiting) -> Option<(f64, u32)> {
    let order = |&i: &usize, &j: &usize| {
        let (a, b) = (waiting[i], waiting[j]);
        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
    };
    let least = (0..waiting.len()).min_by(order)?;
    Some(waiting.swap_remove(least))
}

/// Whether a point is surely farther than so much from the plane of a face of a hull, and so from the hull.
fn is_beyond_a_face(p: DVec3, far: f64, hull: &Convex, pose: &Pose) -> bool {
    let Convex::Polytope(hull) = hull else { return false };
    if hull.dimension() < 3 || !pose.is_rotation() {
        return false;
    }
    let own = pose.matrix().transpose() * (p - pose.translation());
    let size = p.abs().max_element() + pose.translation().abs().max_element() + hull.reach();
    let far = far + SCENE_OVERLAP_ROUNDING * (size + hull.centre().abs().max_element());
    hull.faces().iter().any(|face| face.normal.dot(own - face.corner) > far)
}

/// The smaller by value, then by name.
pub(super) fn is_better<T>(
    found: &Option<(BodyId, T)>,
    value: f64,
    id: BodyId,
    of: impl Fn(&T) -> f64,
) -> bool {
    found.as_ref().is_none_or(|(best, known)| (value, id) < (of(known), *best))
}

impl Scene {
    /// What a moving shape first touches, bodies standing where they are; see [`sweep`](crate::sweep). Of the
    /// features and points the first is that of the moving shape; of bodies touched at the same time the one with
    /// the smallest name is told.
    pub fn shape_cast<'s>(
        &self,
        moving: impl Into<Placed<'s>>,
        filter: &Filter<'_>,
    ) -> Option<(BodyId, Impact)> {
        let moving = moving.into();
        let (shape, motion) = (moving.geometry(), moving.motion());
        let options = SweepOptions::default();
        let ball = ball_of(shape);
        let [start, end] = [0.0, 1.0].map(|t| shape.bounds(&motion.pose(t)));
        let mut swept = swept_bounds(shape, motion, &ball, [0.0, 1.0]);
        let length = (swept.high - swept.low).length();
        let mut first: Option<(BodyId, Impact)> = None;
        // A time may be told so much too early.
        let limit = |first: &Option<(BodyId, Impact)>| {
            first.map_or(1.0, |(_, impact)| impact.time) + 2.0 * SWEEP_TOLERANCE
        };
        let time_of = |slot: u32, entry: &Entry| {
            let lets = filter.lets(self.bodies.id(slot), entry);
            lets.then(|| earliest(shape, motion, length, &entry.body))
        };
        let sweep = |slot: u32, entry: &Entry, first: &mut Option<(BodyId, Impact)>| {
            let id = self.bodies.id(slot);
            let still = Motion::Still(entry.body.pose);
            let shapes = [shape, entry.body.shape.geometry()];
            let motions = [motion, &still];
            let surfaces = |until: f64| {
                let (options, budget) = (SweepOptions { until, ..options }, &mut Budget::unlimited());
                sweep_of_surfaces(shapes, motions, &options, &mut SweepMemory::default(), budget).impact
            };
            // Bodies that begin near each other may begin nested.
            let near = start.meets(&shapes[1].bounds(&entry.body.pose));
            // What comes too late is seen sooner; what does not is asked as if it were alone.
            let late = first.is_some_and(|(_, known): (BodyId, Impact)| {
                let until = known.time + 2.0 * SWEEP_TOLERANCE;
                !near && until < 1.0 && surfaces(until).is_none()
            });
            let solids = || {
                let (memory, budget) = (&mut KernelMemory::default(), &mut Budget::unlimited());
                // Only surfaces alone are refused.
                sweep_within(shapes, motions, &options, memory, budget).ok()?.impact
            };
            if !late
                && let Some(impact) = if near { solids() } else { surfaces(1.0) }
                && is_better(first, impact.time, id, |impact| impact.time)
            {
                *first = Some((id, impact));
            }
        };
        swept.grow(CAST_BOX_SLACK * (swept.high - swept.low).max_element());
        let way = end.centre() - start.centre();
        let straight = motion.is_translation() && start.half().is_finite() && way != DVec3::ZERO;
        if straight {
            // A box that is shifted meets another where its centre meets the other one grown by it.
            let half = start.half().max(end.half());
            let grown = half + DVec3::splat(CAST_BOX_SLACK * (way.length() + half.max_element()));
            let ray = [start.centre(), way];
            let mut waiting = Waiting::new();
            let sweep_earliest = |waiting: &mut Waiting, first: &mut Option<(BodyId, Impact)>| {
                let Some((time, slot)) = take_earliest(waiting) else { return };
                if let Some(entry) = self.bodies.at(slot).filter(|_| time <= limit(first)) {
                    sweep(slot, entry, first);
                }
            };
            self.index.along_ray(&self.bodies, ray, grown, limit(&None), &mut |slot, entry, _| {
                waiting.extend(time_of(slot, entry).filter(|time| *time <= limit(&first)).map(|t| (t, slot)));
                if waiting.len() > CAST_WAITING {
                    sweep_earliest(&mut waiting, &mut first);
                }
                limit(&first)
            });
            while !waiting.is_empty() {
                sweep_earliest(&mut waiting, &mut first);
            }
            return first;
        }
        // By when the balls around the shapes can meet.
        let speed = motion.speed(&ball, [0.0, 1.0]);
        let centre = motion.pose(0.0).apply(ball.centre);
        let mut near: Vec<(f64, u32)> = Vec::new();
        self.index.meeting(&self.bodies, &swept, &mut |slot, entry| {
            let other = ball_of(entry.body.shape.geometry());
            let apart = (entry.body.pose.apply(other.centre) - centre).length() - other.radius - ball.radius;
            let time = (apart / speed).max(0.0) * (1.0 - CAST_BOX_SLACK);
            near.push((if time.is_finite() { time } else { 0.0 }, slot));
        });
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut until = f64::INFINITY;
        for (time, slot) in near {
            if time > until {
                break;
            }
            if let Some(entry) = self.bodies.at(slot) {
                if time_of(slot, entry).is_some_and(|time| time <= limit(&first)) {
                    sweep(slot, entry, &mut first);
                }
                until = limit(&first);
            }
        }
        first
    }

    /// The bodies that a shape at a pose meets, touches, holds or lies in, ascending: all that are not `Separated` by
    /// [`relation`](crate::relation).
    pub fn overlapping<'s>(&self, shape: impl Into<Placed<'s>>, filter: &Filter<'_>) -> Vec<BodyId> {
        let placed = shape.into();
        let (shape, pose) = (placed.geometry(), placed.pose());
        let mut all = Vec::new();
        self.index.meeting(&self.bodies, &shape.bounds(&pose), &mut |slot, entry| {
            let (id, body) = (self.bodies.id(slot), &entry.body);
            if filter.lets(id, entry) && overlap::meet([shape, body.shape.geometry()], [&pose, &body.pose]) {
                all.push(id);
            }
        });
        all.sort_unstable();
        all
    }

    /// The body nearest to a shape at a pose, and how far it is; see [`distance`](crate::distance). Of bodies at the
    /// same distance the one with the smallest name is told.
    pub fn nearest<'s>(
        &self,
        shape: impl Into<Placed<'s>>,
        filter: &Filter<'_>,
    ) -> Option<(BodyId, Separation)> {
        self.nearer_than(&shape.into(), f64::INFINITY, &|id, entry| filter.lets(id, entry))
    }

    /// The nearest of the bodies that are let through and at most as far away as the limit.
    pub(super) fn nearer_than(
        &self,
        placed: &Placed<'_>,
        limit: f64,
        lets: &dyn Fn(BodyId, &Entry) -> bool,
    ) -> Option<(BodyId, Separation)> {
        let (shape, pose) = (placed.geometry(), placed.pose());
        let mut nearest: Option<(BodyId, Separation)> = None;
        let around = (&shape.bounds(&pose), &placed_ball(shape, &pose));
        self.index.nearest(&self.bodies, around, limit, &mut |slot, entry, limit| {
            let id = self.bodies.id(slot);
            if lets(id, entry)
                && let Some(found) = distance_within(shape, &pose, &entry.body, limit)
                && is_better(&nearest, found.distance, id, |s| s.distance)
            {
                nearest = Some((id, found));
            }
            nearest.as_ref().map_or(limit, |(_, found)| found.distance)
        });
        nearest
    }

    /// The solids that hold a point, ascending; see [`contains`](crate::contains).
    pub fn containing(&self, point: impl Into<DVec3>, filter: &Filter<'_>) -> Vec<BodyId> {
        let point = point.into();
        let mut all = Vec::new();
        self.index.meeting(&self.bodies, &overlap::at_point(point), &mut |slot, entry| {
            let id = self.bodies.id(slot);
            let body = &entry.body;
            // A point that is not finite is in no solid.
            let held = || Query::default().contains(body.shape.at(body.pose), point);
            if filter.lets(id, entry) && held().is_ok_and(|answer| answer.value == Some(true)) {
                all.push(id);
            }
        });
        all.sort_unstable();
        all
    }
}

#[cfg(test)]
#[path = "scene_query_tests.rs"]
mod tests;
