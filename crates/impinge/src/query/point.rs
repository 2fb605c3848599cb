//! Questions about one shape: points, rays, and where a mesh meets itself.

use glam::DVec3;

use super::Query;
use crate::Error;
use crate::contact::{Certainty, Counters, Feature, Finish, Outcome, Verdict};
use crate::model::{Geometry, Model, Placed};
use crate::narrow::convex::relation::point_in;
use crate::narrow::exact::closest_point::{ClosestPoint, closest_points};
use crate::narrow::exact::generalized_winding::SolidAngles;
use crate::narrow::exact::ray_cast::{Ray, RayHit, first_hits};
use crate::narrow::exact::self_intersection::{SelfIntersectionSearch, self_intersections};
use crate::narrow::exact::signed_distance::signed_distances;
use crate::narrow::method::{Answer, Method, Reason};
use crate::num::tolerance::LARGEST_COORDINATE;

/// Points or rays that are answered before a limited budget is asked again; each costs one unit.
const BLOCK: usize = 256;

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
}

impl Query<'_> {
    /// The nearest surface points of many points; see [`closest_point`](crate::closest_point).
    ///
    /// # Errors
    /// A compound, a method other than `exact`, or a point that is not finite or beyond 1e60.
    pub fn closest_points<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
        points: &[DVec3],
    ) -> Result<Answer<Vec<PointDistance>>, Error> {
        let body = shape.into();
        let question = "the closest point";
        check_points("points", points)?;
        measurable(&body, question)?;
        self.blocks(question, points, |points| measure(&body, points, false))
    }

    /// The signed distances of many points; see [`signed_distance`](crate::signed_distance).
    ///
    /// # Errors
    /// As [`Query::closest_points`].
    pub fn signed_distances<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
        points: &[DVec3],
    ) -> Result<Answer<Vec<PointDistance>>, Error> {
        let body = shape.into();
        let question = "the signed distance";
        check_points("points", points)?;
        measurable(&body, question)?;
        self.blocks(question, points, |points| measure(&body, points, true))
    }

    /// Which of many points lie in the solid; see [`contains`](crate::contains).
    ///
    /// # Errors
    /// A method other than `exact`, or a point that is not finite or beyond 1e60.
    pub fn contains<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
        points: &[DVec3],
    ) -> Result<Answer<Vec<bool>>, Error> {
        let body = shape.into();
        check_points("points", points)?;
        self.blocks("contains", points, |points| match body.geometry() {
            Geometry::Compound(compound) => {
                let inside = |p: DVec3| {
                    compound.parts().iter().any(|part| match &part.shape {
                        Geometry::Convex(convex) => point_in(convex, &body.pose().compose(&part.pose), p).1,
                        _ => false,
                    })
                };
                points.iter().map(|&p| inside(p)).collect()
            }
            _ => measure(&body, points, true).iter().map(|found| found.inside).collect(),
        })
    }

    /// The first hits of many rays; see [`ray_cast`](crate::ray_cast).
    ///
    /// # Errors
    /// A shape that is no mesh, or a method other than `exact`.
    pub fn ray_casts<'s>(
        &mut self,
        shape: impl Into<Placed<'s>>,
        rays: &[Ray],
    ) -> Result<Answer<Vec<Option<RayHit>>>, Error> {
        let body = shape.into();
        let model = mesh_of(&body, "a ray cast")?;
        let pose = body.pose();
        self.blocks("a ray cast", rays, |rays| first_hits(model, &pose, rays))
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
        let mut search = SelfIntersectionSearch::new(model);
        let outcome = search.advance(&mut self.budget).outcome;
        Ok(Answer::new(Verdict::by_finish(search.pairs().to_vec(), outcome), method, reason))
    }

    /// Answers in blocks as far as the budget goes.
    fn blocks<P, R>(
        &mut self,
        question: &'static str,
        items: &[P],
        answer: impl Fn(&[P]) -> Vec<R>,
    ) -> Result<Answer<Vec<R>>, Error> {
        let (method, reason) = self.only_exact(question)?;
        let block = if self.budget.is_unlimited() { items.len().max(1) } else { BLOCK };
        let (mut found, mut finish) = (Vec::with_capacity(items.len()), Finish::Complete);
        for block in items.chunks(block) {
            if !self.budget.draw(block.len() as u64) {
                finish = Finish::OutOfBudget;
                break;
            }
            found.extend(answer(block));
        }
        let work = Counters { primitive_tests: found.len() as u64, ..Counters::default() };
        let outcome = Outcome { certainty: Certainty::Exact, finish, work };
        Ok(Answer::new(Verdict::by_finish(found, outcome), method, reason))
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
    let (body, p) = (shape.into(), p.into());
    let model = mesh_of(&body, "the winding number")?;
    check_points("points", &[p])?;
    Ok(SolidAngles::new(model).winding(&body.pose(), p, WINDING_ERROR).value)
}

/// The error that a winding number may have.
const WINDING_ERROR: f64 = 1e-6;

pub(super) fn mesh_of<'s>(body: &Placed<'s>, question: &'static str) -> Result<&'s Model, Error> {
    match body.geometry() {
        Geometry::Mesh(model) => Ok(model),
        other => Err(Error::Kind { question, kind: other.kind().name(), known: "meshes" }),
    }
}

fn measurable(body: &Placed<'_>, question: &'static str) -> Result<(), Error> {
    match body.geometry() {
        Geometry::Compound(_) => {
            Err(Error::Kind { question, kind: "compound", known: "meshes and convex shapes" })
        }
        _ => Ok(()),
    }
}

/// Refuses points that are nowhere.
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

fn measure(body: &Placed<'_>, points: &[DVec3], signed: bool) -> Vec<PointDistance> {
    let pose = body.pose();
    let unsigned = |c: &ClosestPoint| PointDistance {
        distance: c.distance,
        inside: false,
        point: c.point,
        feature: c.feature,
    };
    match body.geometry() {
        Geometry::Mesh(model) if signed && model.topology().is_closed() => {
            signed_distances(model, &pose, points)
                .iter()
                .map(|s| PointDistance { distance: s.distance, inside: s.inside, ..unsigned(&s.closest) })
                .collect()
        }
        Geometry::Mesh(model) => closest_points(model, &pose, points).iter().map(unsigned).collect(),
        Geometry::Convex(convex) => {
            let one = |&p: &DVec3| {
                let (found, inside) = point_in(convex, &pose, p);
                let distance = if signed { found.distance } else { found.distance.abs() };
                let (point, feature) = (found.points[1], found.features[1]);
                PointDistance { distance, inside: inside && signed, point, feature }
            };
            points.iter().map(one).collect()
        }
        Geometry::Compound(_) => Vec::new(),
    }
}

impl Ray {
    /// From an origin along a direction of any length, without an end.
    ///
    /// # Errors
    /// A direction that is zero or not finite, or an origin that is not finite or beyond 1e60.
    pub fn new(origin: impl Into<DVec3>, direction: impl Into<DVec3>) -> Result<Ray, Error> {
        let (origin, direction) = (origin.into(), direction.into());
        check_points("origin", &[origin])?;
        if !direction.is_finite() || direction == DVec3::ZERO {
            let reason = format!("{direction} leads nowhere");
            return Err(Error::Argument { name: "direction", reason });
        }
        Ok(Ray { origin, direction, reach: f64::INFINITY })
    }
}
