//! Questions about one shape: points, rays, and where a mesh meets itself.

use std::any::Any;
use std::sync::Arc;

use glam::DVec3;

use super::plain::value;
use super::{Query, member};
use crate::budget::QUANTUM;
use crate::contact::{Certainty, Counters, Feature, Finish, Outcome, Verdict};
use crate::model::{Fact, Geometry, Model, Placed};
use crate::narrow::convex::relation::counted_point_in;
use crate::narrow::detector::shape_memory::{Hashed, ShapeMemory, ShapeQuestion, hash};
use crate::narrow::exact::closest_point::{ClosestPoint, counted_closest_points, has_few_candidates};
use crate::narrow::exact::generalized_winding::{SolidAngles, WindingEstimate};
use crate::narrow::exact::outward::Outward;
use crate::narrow::exact::ray_cast::{Ray, RayHit};
use crate::narrow::exact::self_intersection::{self_intersections, self_intersections_within};
use crate::narrow::exact::signed_distance::{SignedDistance, counted_signed_distances};
use crate::narrow::methods::Method;
use crate::narrow::route::{Answer, Reason};
use crate::narrow::shape_ray::ShapeRays;
use crate::narrow::union_point::{UnionFoot, UnionSurface};
use crate::num::parallel;
use crate::num::tolerance::{LARGEST_COORDINATE, WINDING_ERROR};
use crate::shape::Convex;
use crate::{Budget, Error, Pose};

/// Corners of a hull up to which it is told within a fraction of a millisecond whether a point is inside.
const MOST_CORNERS: usize = 1 << 12;

/// About how many tests are made before a limited budget is asked again.
const UNITS_AT_A_TIME: usize = 256;

/// At most so many points or rays are answered before a limited budget is asked again: the next ones may cost far
/// more than the last.
const MOST_AT_A_TIME: usize = 4;

/// At most so many answers are copied for a caller whose deadline has passed: a small part of a millisecond.
const MOST_COPIED: usize = 1 << 13;

/// How far a point is from a shape.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PointDistance {
    /// The distance to the surface; negative inside a solid where a signed distance was asked for.
    pub distance: f64,
    /// Whether the point lies in the closed solid; always false for an open mesh and for a closest point.
    pub inside: bool,
    /// The nearest point of the surface, in the world.
    pub point: DVec3,
    /// The vertex, edge or face it lies on.
    pub feature: Feature,
    /// How much nearer the surface may be (a length). 0 but deep within a compound, or a cloud, some parts of which cover
    /// the surface of others: there the nearest point is searched for, and no part reaches farther than this tells.
    pub tolerance: f64,
}

impl Query<'_> {
    /// The nearest surface point of a point; see [`closest_point`](crate::closest_point).
    ///
    /// # Errors
    /// A method other than `exact`, or a point that is not finite or beyond 1e60; so for all questions about points.
    pub fn closest_point<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
        p: impl Into<DVec3>,
    ) -> Result<Answer<PointDistance>, Error> {
        Ok(self.closest_point_batch(shape, &[p.into()])?.single())
    }

    /// [`Query::closest_point`] for many points.
    ///
    /// # Errors
    /// As [`Query::closest_point`].
    pub fn closest_point_batch<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
        points: &[DVec3],
    ) -> Result<Answer<Vec<PointDistance>>, Error> {
        let body = shape.into();
        check_points("points", points)?;
        let facts = &[Fact::PointTree];
        let found =
            self.blocks(&body, "the closest point", facts, points, is_quick, |shape, pose, points| {
                measure(shape, pose, points, false)
            })?;
        Ok(with_tolerances(found))
    }

    /// The signed distance of a point; see [`signed_distance`](crate::signed_distance).
    ///
    /// # Errors
    /// As [`Query::closest_point`].
    pub fn signed_distance<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
        p: impl Into<DVec3>,
    ) -> Result<Answer<PointDistance>, Error> {
        Ok(self.signed_distance_batch(shape, &[p.into()])?.single())
    }

    /// [`Query::signed_distance`] for many points.
    ///
    /// # Errors
    /// As [`Query::closest_point`].
    pub fn signed_distance_batch<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
        points: &[DVec3],
    ) -> Result<Answer<Vec<PointDistance>>, Error> {
        let body = shape.into();
        check_points("points", points)?;
        let facts = &[Fact::Topology, Fact::PointTree];
        let found =
            self.blocks(&body, "the signed distance", facts, points, is_quick, |shape, pose, points| {
                measure(shape, pose, points, true)
            })?;
        Ok(with_tolerances(found))
    }

    /// Whether a point lies in the solid; see [`contains`](crate::contains).
    ///
    /// # Errors
    /// As [`Query::closest_point`].
    pub fn contains<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
        p: impl Into<DVec3>,
    ) -> Result<Answer<bool>, Error> {
        Ok(self.contains_batch(shape, &[p.into()])?.single())
    }

    /// [`Query::contains`] for many points.
    ///
    /// # Errors
    /// As [`Query::closest_point`].
    pub fn contains_batch<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
        points: &[DVec3],
    ) -> Result<Answer<Vec<bool>>, Error> {
        let body = shape.into();
        check_points("points", points)?;
        let facts = &[Fact::Topology, Fact::PointTree];
        let is_quick = |shape: &Geometry, pose: &Pose, p: &DVec3| {
            UnionSurface::new(shape, pose).is_some() || is_quick(shape, pose, p)
        };
        self.blocks(
            &body,
            "contains",
            facts,
            points,
            is_quick,
            |shape, pose, points| match UnionSurface::new(shape, pose) {
                Some(union) => each_point(points, |p, work| union.contains(p, work)),
                None => {
                    let (found, work) = measure(shape, pose, points, true);
                    (found.iter().map(|found| found.inside).collect(), work)
                }
            },
        )
    }

    /// The first hit of a ray; see [`ray_cast`](crate::ray_cast).
    ///
    /// # Errors
    /// A method other than `exact`; so for all questions about rays.
    pub fn ray_cast<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
        ray: Ray,
    ) -> Result<Answer<Option<RayHit>>, Error> {
        Ok(self.ray_cast_batch(shape, &[ray])?.single())
    }

    /// [`Query::ray_cast`] for many rays.
    ///
    /// # Errors
    /// As [`Query::ray_cast`].
    pub fn ray_cast_batch<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
        rays: &[Ray],
    ) -> Result<Answer<Vec<Option<RayHit>>>, Error> {
        self.rays(&shape.into(), "a ray cast", rays, |shape, ray| shape.first(ray))
    }

    /// Whether a ray hits anything; see [`ray_cast_any`](crate::ray_cast_any).
    ///
    /// # Errors
    /// As [`Query::ray_cast`].
    pub fn ray_cast_any<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
        ray: Ray,
    ) -> Result<Answer<bool>, Error> {
        Ok(self.ray_cast_any_batch(shape, &[ray])?.single())
    }

    /// [`Query::ray_cast_any`] for many rays.
    ///
    /// # Errors
    /// As [`Query::ray_cast`].
    pub fn ray_cast_any_batch<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
        rays: &[Ray],
    ) -> Result<Answer<Vec<bool>>, Error> {
        self.rays(&shape.into(), "any hit of a ray", rays, |shape, ray| shape.any(ray))
    }

    /// All hits of a ray; see [`ray_cast_all`](crate::ray_cast_all).
    ///
    /// # Errors
    /// As [`Query::ray_cast`].
    pub fn ray_cast_all<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
        ray: Ray,
    ) -> Result<Answer<Vec<RayHit>>, Error> {
        Ok(self.ray_cast_all_batch(shape, &[ray])?.single())
    }

    /// [`Query::ray_cast_all`] for many rays.
    ///
    /// # Errors
    /// As [`Query::ray_cast`].
    pub fn ray_cast_all_batch<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
        rays: &[Ray],
    ) -> Result<Answer<Vec<Vec<RayHit>>>, Error> {
        self.rays(&shape.into(), "all hits of a ray", rays, |shape, ray| shape.all(ray))
    }

    fn rays<R: Any + Clone + Send + Sync>(
        &mut self,
        body: &Placed<'_>,
        question: &'static str,
        rays: &[Ray],
        cast: impl Fn(&ShapeRays<'_>, &Ray) -> (R, Counters) + Copy + Send + Sync + 'static,
    ) -> Result<Answer<Vec<R>>, Error> {
        let facts = &[Fact::Topology, Fact::RayTree];
        self.blocks(
            body,
            question,
            facts,
            rays,
            |_, _, _| true,
            move |shape, pose, rays| {
                let shape = ShapeRays::new(shape, pose);
                let found = parallel::map(rays.len(), |k| cast(&shape, &rays[k]));
                let mut work = Counters::default();
                let hits = found.into_iter().map(|(hit, more)| {
                    work += more;
                    hit
                });
                (hits.collect(), work)
            },
        )
    }

    /// How often a mesh winds around a point; see [`winding_number`].
    ///
    /// # Errors
    /// As [`winding_number`], or a method other than `exact`.
    pub fn winding_number<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
        p: impl Into<DVec3>,
    ) -> Result<Answer<f64>, Error> {
        let (body, p) = (shape.into(), p.into());
        let question = "the winding number";
        mesh_of(&body, question)?;
        check_points("points", &[p])?;
        let answer = |shape: &Geometry, pose: &Pose, points: &[DVec3]| {
            let angles = shape.model().map(|model| SolidAngles::new(model));
            each_point(points, |p, work| {
                let Some(angles) = &angles else { return 0.0 };
                let WindingEstimate { value, terms, .. } = angles.winding(pose, p, WINDING_ERROR);
                work.primitive_tests += u64::from(terms);
                value
            })
        };
        // Dipoles leave a few of a mesh's triangles.
        let found = self.blocks(&body, question, &[Fact::Dipoles], &[p], |_, _, _| true, answer)?;
        let certainty = Certainty::Approximate { resolution: WINDING_ERROR };
        Ok(Answer { certainty, ..found.single() })
    }

    /// Every pair of triangles in which a mesh meets itself; see
    /// [`self_intersections`](crate::self_intersections).
    ///
    /// # Errors
    /// A shape that is no mesh, or a method other than `exact`.
    pub fn self_intersections<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
    ) -> Result<Answer<Vec<[u32; 2]>>, Error> {
        let body = shape.into();
        let model = mesh_of(&body, "self-intersections")?;
        let (method, reason) = self.only_exact("self-intersections")?;
        if self.budget.is_unlimited() {
            let (pairs, outcome) = self_intersections(model);
            return Ok(Answer::new(Verdict::by_finish(pairs, outcome), method, reason));
        }
        let asked = whole(&body, "self-intersections");
        let verdict = self.within(asked, |shape, budget| match shape.model() {
            Some(model) => Ok(self_intersections_within(model, budget)),
            None => Ok(Verdict::refused()),
        })?;
        Ok(Answer::new(verdict, method, reason))
    }

    /// [`Query::self_intersections`] for many meshes, one after the other. With a memory what a budget left open goes on,
    /// and what was answered is kept until all are.
    ///
    /// # Errors
    /// As [`Query::self_intersections`].
    pub fn self_intersections_batch(
        &mut self,
        shapes: &[Placed<'_>],
    ) -> Result<Vec<Answer<Vec<[u32; 2]>>>, Error> {
        let refused = |index| move |error| member("shape", index, error);
        if self.budget.is_unlimited() || self.memory.is_none() {
            let one = |(index, shape): (usize, &Placed<'_>)| {
                self.self_intersections(*shape).map_err(refused(index))
            };
            return shapes.iter().enumerate().map(one).collect();
        }
        let mut members = self
            .memory
            .as_deref_mut()
            .map_or_else(Vec::new, |memory| memory.shape.take_members(shapes.len()));
        let mut answers = Vec::with_capacity(shapes.len());
        for (index, (shape, member)) in shapes.iter().zip(&mut members).enumerate() {
            let asked = whole(shape, "self-intersections");
            if let Some(known) = member.answer::<Answer<Vec<[u32; 2]>>>(&asked) {
                answers.push(Answer { work: Counters::default(), ..known });
                continue;
            }
            let budget = std::mem::take(&mut self.budget);
            let mut own =
                Query { method: self.method, budget, memory: Some(&mut member.memory), ..Query::default() };
            let answer = own.self_intersections(*shape);
            self.budget = own.budget;
            let answer = answer.map_err(refused(index))?;
            if answer.finish != Finish::OutOfBudget {
                member.keep(asked, answer.clone());
            }
            answers.push(answer);
        }
        let open = answers.iter().any(|answer| answer.finish == Finish::OutOfBudget);
        if let (true, Some(memory)) = (open, &mut self.memory) {
            memory.shape.keep_members(members);
        }
        Ok(answers)
    }

    /// Answers block by block as far as the budget goes, after what an earlier call has answered.
    fn blocks<P: Hashed + Copy + Send + Sync + 'static, R: Any + Clone + Send + Sync>(
        &mut self,
        body: &Placed<'_>,
        question: &'static str,
        facts: &'static [Fact],
        items: &[P],
        is_quick: impl Fn(&Geometry, &Pose, &P) -> bool,
        answer: impl Fn(&Geometry, &Pose, &[P]) -> (Vec<R>, Counters) + Copy + Send + Sync + 'static,
    ) -> Result<Answer<Vec<R>>, Error> {
        let (method, reason) = self.only_exact(question)?;
        let (certainty, pose) = (Certainty::Exact, body.pose());
        if self.budget.is_unlimited() {
            let (found, work) = answer(body.geometry(), &pose, items);
            let outcome = Outcome { certainty, finish: Finish::Complete, work };
            return Ok(Answer::new(Verdict::by_finish(found, outcome), method, reason));
        }
        let ready = self.facts(body, facts)?;
        if ready.value.is_none() {
            return Ok(Answer::new(Verdict::new(None, ready.outcome), method, reason));
        }
        let asked = whole(body, question);
        let (mut found, mut owed): (Vec<R>, u64) = match &mut self.memory {
            Some(memory) => memory.shape.known(&asked, items),
            None => (Vec::new(), 0),
        };
        let mut work = ready.outcome.work + Counters { primitive_tests: owed, ..Counters::default() };
        let mut block = 1;
        while self.pay(&mut owed) && found.len() < items.len() {
            let some = &items[found.len()..items.len().min(found.len() + block)];
            let is_quick =
                |item: &&P| self.budget.deadline().is_none() || is_quick(body.geometry(), &pose, item);
            let quick = some.iter().take_while(is_quick).count();
            if quick == 0 {
                let one = self.alone(&asked, some[0], answer)?;
                work += one.outcome.work;
                let Some(more) = one.value else { break };
                found.extend(more);
                continue;
            }
            let some = &some[..quick];
            if !self.budget.draw(some.len() as u64) {
                break;
            }
            let (more, cost) = parallel::alone(|| answer(body.geometry(), &pose, some));
            let units = cost.volume_tests + cost.primitive_tests;
            owed = units.saturating_sub(some.len() as u64);
            work += cost;
            found.extend(more);
            // As many as what one look at the budget may let pass.
            block = (UNITS_AT_A_TIME * some.len() / (units as usize).max(1)).clamp(1, MOST_AT_A_TIME);
        }
        // What the next call pays is its work.
        let of_volumes = owed.saturating_sub(work.primitive_tests);
        work.primitive_tests -= owed - of_volumes;
        work.volume_tests -= of_volumes;
        if found.len() == items.len() && owed == 0 {
            let outcome = Outcome { certainty, finish: Finish::Complete, work };
            return Ok(Answer::new(Verdict::by_finish(found, outcome), method, reason));
        }
        let outcome = Outcome { certainty, finish: Finish::OutOfBudget, work };
        let Some(memory) = &mut self.memory else {
            return Ok(Answer::new(Verdict::by_finish(found, outcome), method, reason));
        };
        // A deadline leaves no time to copy very many.
        let told = if self.budget.deadline().is_some() { found.len().min(MOST_COPIED) } else { found.len() };
        let so_far = found[..told].to_vec();
        memory.shape.keep(asked, items, found, owed);
        Ok(Answer::new(Verdict::by_finish(so_far, outcome), method, reason))
    }

    /// The answer to one item that takes long: on the thread of a task, which a deadline does not wait for.
    fn alone<P: Hashed + Send + Sync + 'static, R: Any + Send>(
        &mut self,
        asked: &ShapeQuestion,
        item: P,
        answer: impl Fn(&Geometry, &Pose, &[P]) -> (Vec<R>, Counters) + Send + Sync + 'static,
    ) -> Result<Verdict<Vec<R>>, Error> {
        let (items, pose) = ([item], asked.pose);
        let asked = ShapeQuestion { item: Some(hash(&items)), ..asked.clone() };
        self.within(asked, move |shape, budget| {
            let (found, work) = answer(shape, &pose, &items);
            // What it takes is known when it is done.
            let paid = budget.charge_all(work.volume_tests + work.primitive_tests);
            let outcome = Outcome { certainty: Certainty::Exact, finish: Finish::Complete, work };
            Ok(if paid { Verdict::new(Some(found), outcome) } else { Verdict::out_of_budget() })
        })
    }

    /// Pays for what the last block has cost beyond what was drawn for it, a quantum at a time; false when the budget ends
    /// before. One point may cost more than a whole budget, which the next calls pay where there is a memory.
    fn pay(&mut self, owed: &mut u64) -> bool {
        let goes_on = self.memory.is_some() && self.budget.remaining().is_some();
        while *owed > 0 {
            let some = QUANTUM.min(*owed);
            if !self.budget.draw(some) {
                break;
            }
            *owed -= some;
        }
        *owed = if goes_on { *owed } else { 0 };
        *owed == 0
    }

    /// Finds what has to be known of a mesh or a cloud, as far as the budget goes.
    fn facts(&mut self, body: &Placed<'_>, facts: &'static [Fact]) -> Result<Verdict<()>, Error> {
        let told = |ready: bool| {
            let finish = if ready { Finish::Complete } else { Finish::OutOfBudget };
            let outcome = Outcome { finish, ..Verdict::<()>::out_of_budget().outcome };
            Verdict::new(ready.then_some(()), outcome)
        };
        // Normals of hits look out of a solid, which is found by all of its triangles.
        let sides = facts.contains(&Fact::RayTree);
        let is_known = match body.geometry() {
            Geometry::Mesh(model) => {
                facts.iter().all(|&fact| model.knows(fact)) && (!sides || model.knows_turned_components())
            }
            Geometry::Particles(cloud) if cloud.is_small() => {
                let before = self.budget.updates();
                let mut found = told(cloud.tree_within(&mut self.budget).is_some());
                found.outcome.work.updates = self.budget.updates() - before;
                return Ok(found);
            }
            Geometry::Particles(cloud) => cloud.knows_tree(),
            Geometry::Convex(_) | Geometry::Compound(_) => true,
        };
        if is_known {
            return Ok(told(true));
        }
        let asked = ShapeQuestion { facts, ..whole(body, "what has to be known of a shape") };
        self.within(asked, move |shape, budget| {
            Ok(told(match shape {
                Geometry::Mesh(model) => {
                    let ready = facts.iter().all(|&fact| model.prepare(fact, budget));
                    if ready && sides {
                        Outward::of(model);
                    }
                    ready
                }
                Geometry::Particles(cloud) => cloud.tree_within(budget).is_some(),
                Geometry::Convex(_) | Geometry::Compound(_) => true,
            }))
        })
    }

    /// A question about one shape under a limited budget; without a memory it begins anew at each call.
    pub(super) fn within<T: Any + Send>(
        &mut self,
        asked: ShapeQuestion,
        run: impl Fn(&Geometry, &mut Budget) -> Result<Verdict<T>, Error> + Send + Sync + 'static,
    ) -> Result<Verdict<T>, Error> {
        let mut fresh = ShapeMemory::default();
        let memory = self.memory.as_deref_mut().map_or(&mut fresh, |memory| &mut memory.shape);
        memory.ask(asked, &mut self.budget, run)
    }

    /// Questions about one shape have one method.
    pub(super) fn only_exact(&self, question: &'static str) -> Result<(Method, Reason), Error> {
        match self.method {
            Method::Auto => Ok((Method::Exact, Reason::Only)),
            Method::Exact => Ok((Method::Exact, Reason::Named)),
            other => {
                let reason = format!("{other} does not answer {question}; exact does");
                Err(Error::Argument { name: "method", reason })
            }
        }
    }
}

/// The generalised winding number of a mesh around a point of the world (Jacobson, Kavan and Sorkine-Hornung
/// 2013), to about six digits: near 1 in an outward oriented solid, 0 outside, in between near the holes of an
/// open one.
///
/// # Errors
/// A shape that is no mesh, or a point that is not finite or beyond 1e60.
pub fn winding_number<'s>(shape: impl Into<Placed<'s>>, p: impl Into<DVec3>) -> Result<f64, Error> {
    value(Query::default().winding_number(shape, p))
}

pub(super) fn mesh_of<'s>(body: &Placed<'s>, question: &'static str) -> Result<&'s Arc<Model>, Error> {
    match body.geometry() {
        Geometry::Mesh(model) => Ok(model),
        other => Err(Error::Kind { question, kind: other.kind().name(), known: "meshes" }),
    }
}

/// Refuses points that are not finite or beyond 1e60.
pub(super) fn check_points(name: &'static str, points: &[DVec3]) -> Result<(), Error> {
    // Negated, so that NaN is refused.
    match points.iter().position(|p| !p.as_ref().iter().all(|x| x.abs() <= LARGEST_COORDINATE)) {
        Some(i) => {
            let reason = format!("element {i}: {} is not finite or beyond 1e60", points[i]);
            Err(Error::Argument { name, reason })
        }
        None => Ok(()),
    }
}

/// A question about all of a shape.
pub(super) fn whole(body: &Placed<'_>, question: &'static str) -> ShapeQuestion {
    let (shape, pose) = (body.geometry().clone(), body.pose());
    ShapeQuestion { question, shape, pose, options: [0.0; 2], volume: None, item: None, facts: &[] }
}

/// Whether a point is found by a shape in much less than a millisecond.
fn is_quick(shape: &Geometry, pose: &Pose, p: &DVec3) -> bool {
    match shape {
        Geometry::Mesh(model) => has_few_candidates(model, pose, *p),
        Geometry::Convex(Convex::Polytope(hull)) => hull.vertices().len() <= MOST_CORNERS,
        Geometry::Convex(Convex::Primitive(_)) => true,
        Geometry::Particles(cloud) if !cloud.has_interior() => true,
        union => UnionSurface::new(union, pose).is_none_or(|union| union.is_bare(*p)),
    }
}

fn measure(shape: &Geometry, pose: &Pose, points: &[DVec3], signed: bool) -> (Vec<PointDistance>, Counters) {
    let unsigned = |c: &ClosestPoint| PointDistance {
        distance: c.distance,
        inside: false,
        point: c.point,
        feature: c.feature,
        tolerance: 0.0,
    };
    match shape {
        Geometry::Mesh(model) if signed && model.topology().is_closed() => {
            let (found, work) = counted_signed_distances(model, pose, points);
            let one = |s: &SignedDistance| PointDistance {
                distance: s.distance,
                inside: s.inside,
                ..unsigned(&s.closest)
            };
            (found.iter().map(one).collect(), work)
        }
        Geometry::Mesh(model) => {
            let (found, work) = counted_closest_points(model, pose, points);
            (found.iter().map(unsigned).collect(), work)
        }
        Geometry::Convex(convex) => {
            let mut work = Counters::default();
            let one = |&p: &DVec3| {
                let (found, inside, tests) = counted_point_in(convex, pose, p);
                work.primitive_tests += tests;
                let distance = if signed { found.distance } else { found.distance.abs() };
                let (point, feature) = (found.points[1], found.features[1]);
                PointDistance { distance, inside: inside && signed, point, feature, tolerance: 0.0 }
            };
            (points.iter().map(one).collect(), work)
        }
        union @ (Geometry::Compound(_) | Geometry::Particles(_)) => {
            let Some(union) = UnionSurface::new(union, pose) else { return Default::default() };
            each_point(points, |p, work| {
                let UnionFoot { distance, inside, point, feature, tolerance } = union.foot(p, work);
                let distance = if signed { distance } else { distance.abs() };
                PointDistance { distance, inside: inside && signed, point, feature, tolerance }
            })
        }
    }
}

/// What is found about each of many points, in parallel, and the work.
fn each_point<R: Send>(
    points: &[DVec3],
    ask: impl Fn(DVec3, &mut Counters) -> R + Sync,
) -> (Vec<R>, Counters) {
    let found = parallel::map(points.len(), |k| {
        let mut work = Counters::default();
        (ask(points[k], &mut work), work)
    });
    let mut all = Counters::default();
    let found = found.into_iter().map(|(one, work)| {
        all += work;
        one
    });
    (found.collect(), all)
}

/// The answer, as certain as the least certain of its distances.
fn with_tolerances(answer: Answer<Vec<PointDistance>>) -> Answer<Vec<PointDistance>> {
    let told = answer.value.iter().chain(&answer.so_far).flatten();
    let tolerance = told.map(|point| point.tolerance).fold(0.0, f64::max);
    let certainty = if tolerance > 0.0 { Certainty::Conservative { tolerance } } else { answer.certainty };
    Answer { certainty, ..answer }
}

impl Ray {
    /// From an origin along a direction of any length, without an end.
    ///
    /// # Errors
    /// A direction that is not finite, or zero or nearly so (no component of 1e-240), or an origin that is not finite or
    /// beyond 1e60. A ray made otherwise hits nothing then.
    pub fn new(origin: impl Into<DVec3>, direction: impl Into<DVec3>) -> Result<Ray, Error> {
        let (origin, direction) = (origin.into(), direction.into());
        check_points("origin", &[origin])?;
        let ray = Ray { origin, direction, reach: f64::INFINITY };
        if !ray.is_sound() {
            let reason = format!("{:?} leads nowhere", direction.to_array());
            return Err(Error::Argument { name: "direction", reason });
        }
        Ok(ray)
    }
}

#[cfg(test)]
#[path = "point_tests.rs"]
mod tests;
