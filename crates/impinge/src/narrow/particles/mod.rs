//! A cloud of particles against any other body.
//!
//! The other body is seen as a signed distance ([`field`]): negative inside a solid. It changes by no more than one
//! moves, so one look at the middle of a node of the cloud's tree tells about all particles of the node: all too far
//! away, all deep inside, or to be looked at more closely. What is left is measured in batches that follow each other
//! in space. Two clouds go down both trees ([`cloud_pair`]).
//!
//! Values are floats, decisions are exact: where a distance is too near to touching, the exact relation of the
//! particle, as a ball or a point, decides its sign.

mod cloud_pair;
mod field;
mod search;

#[cfg(test)]
mod tests;

use glam::DVec3;

use super::convex::relation as convex_relation;
use super::convex::separation::ConvexMemory;
use super::convex_mesh;
use super::exact::winding::{Winding, counted_winding};
use super::union_relation::UnionRelation;
use crate::contact::{Counters, Verdict};
use crate::model::{Cloud, Geometry};
use crate::shape::{Convex, Primitive};
use crate::{Budget, Certainty, Finish, Outcome, Pose, Relation, Separation};
use field::Field;
use search::PlacedCloud;

/// A particle near another body, or two near each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Near {
    /// The part of the other body; 0 where it is no compound.
    pub part: u32,
    /// From the particle to the body.
    pub separation: Separation,
}

/// The smallest distance of a particle's surface from a body: negative is how deep the deepest one is.
pub(super) fn distance(
    cloud: &Cloud,
    pose: &Pose,
    other: &Geometry,
    other_pose: &Pose,
    budget: &mut Budget,
) -> Verdict<Separation> {
    let Some(placed) = PlacedCloud::new(cloud, pose, budget) else { return Verdict::out_of_budget() };
    if let Geometry::Particles(b) = other {
        let Some(b) = PlacedCloud::new(b, other_pose, budget) else { return Verdict::out_of_budget() };
        return cloud_pair::distance([&placed, &b], budget);
    }
    match Field::new(other, other_pose, budget) {
        Some(field) => search::nearest(&placed, &field, budget),
        None => Verdict::out_of_budget(),
    }
}

/// Every particle at most `limit` from a body, with how far it is, by ascending parts of the body and particles; for
/// two clouds every two particles.
pub(crate) fn near(
    cloud: &Cloud,
    pose: &Pose,
    other: &Geometry,
    other_pose: &Pose,
    limit: f64,
    budget: &mut Budget,
) -> Verdict<Vec<Near>> {
    let Some(placed) = PlacedCloud::new(cloud, pose, budget) else { return Verdict::out_of_budget() };
    let mut work = Counters::default();
    let found = if let Geometry::Particles(b) = other {
        PlacedCloud::new(b, other_pose, budget)
            .and_then(|b| cloud_pair::near([&placed, &b], limit, budget, &mut work))
    } else {
        Field::new(other, other_pose, budget)
            .and_then(|field| near_body(&placed, &field, limit, budget, &mut work))
    };
    let finish = if found.is_some() { Finish::Complete } else { Finish::OutOfBudget };
    Verdict::new(found, Outcome { certainty: Certainty::Exact, finish, work })
}

fn near_body(
    cloud: &PlacedCloud<'_>,
    field: &Field<'_>,
    limit: f64,
    budget: &mut Budget,
    work: &mut Counters,
) -> Option<Vec<Near>> {
    let mut found: Vec<(u32, Near)> = Vec::new();
    let mut doubtful: Vec<usize> = Vec::new();
    let doubt = cloud.doubt(field);
    search::visit_near(cloud, field, limit + doubt, budget, work, |seen| {
        let search::Seen::One(slot, foot) = seen else { return search::Go::Down };
        let separation = cloud.separation(slot, &foot);
        if separation.distance.abs() <= doubt {
            doubtful.push(found.len());
        }
        if separation.distance <= limit + doubt {
            found.push((slot as u32, Near { part: foot.part, separation }));
        }
        search::Go::Down
    })?;
    for k in doubtful {
        let (slot, near) = &mut found[k];
        let (centre, radius) = cloud.ball(*slot as usize);
        let (relation, certainty) =
            particle_relation(centre, radius, field.geometry(), field.pose(), budget, work)?;
        near.separation = with_sign_of(relation, certainty, near.separation);
    }
    let mut found: Vec<Near> = found.into_iter().map(|(_, near)| near).collect();
    found.retain(|near| near.separation.distance <= limit);
    found.sort_unstable_by_key(|near| (near.part, near.separation.features[0]));
    Some(found)
}

/// The distance with the sign of the exact relation, which rounding may have cost it.
fn with_sign_of(relation: Relation, certainty: Certainty, found: Separation) -> Separation {
    let distance = match (relation, certainty) {
        (Relation::Separated, Certainty::Exact) => found.distance.max(f64::MIN_POSITIVE),
        (_, Certainty::Exact) => found.distance.min(0.0),
        _ => found.distance,
    };
    Separation { distance, ..found }
}

/// How a cloud lies to a body: the union of its balls, particles of radius 0 being points.
pub(super) fn relation(
    cloud: &Cloud,
    pose: &Pose,
    other: &Geometry,
    other_pose: &Pose,
    budget: &mut Budget,
) -> (Option<Relation>, Outcome) {
    let mut work = Counters::default();
    let found = relate(cloud, pose, other, other_pose, budget, &mut work);
    let finish = if found.is_some() { Finish::Complete } else { Finish::OutOfBudget };
    let certainty = found.map_or(Certainty::Exact, |(_, certainty)| certainty);
    (found.map(|(relation, _)| relation), Outcome { certainty, finish, work })
}

fn relate(
    cloud: &Cloud,
    pose: &Pose,
    other: &Geometry,
    other_pose: &Pose,
    budget: &mut Budget,
    work: &mut Counters,
) -> Option<(Relation, Certainty)> {
    let placed = PlacedCloud::new(cloud, pose, budget)?;
    if let Geometry::Particles(b) = other {
        let b = PlacedCloud::new(b, other_pose, budget)?;
        return cloud_pair::relation([&placed, &b], budget, work);
    }
    let field = Field::new(other, other_pose, budget)?;
    let doubt = placed.doubt(&field);
    let (mut union, mut certainty) = (UnionRelation::default(), Certainty::Exact);
    let mut doubtful: Vec<usize> = Vec::new();
    let mut apart = 0;
    // A ball that cannot hold the body only enters it.
    let largest = placed.tree().nodes()[0].largest;
    let may_hold = |radius: f64| 2.0 * radius + doubt >= field.width();
    search::visit_near(&placed, &field, doubt, budget, work, |seen| {
        match seen {
            search::Seen::Inside(count) => {
                union.add_inside(count);
                return search::Go::Past;
            }
            search::Seen::One(slot, foot) => {
                let (_, radius) = placed.ball(slot);
                if foot.distance > radius + doubt {
                    apart += 1;
                } else if foot.distance < -(radius + doubt) {
                    union.add(Relation::AInsideB);
                } else if foot.distance.abs() < radius - doubt && !may_hold(radius) {
                    union.add(Relation::Intersecting);
                } else {
                    doubtful.push(slot);
                }
            }
            search::Seen::Node => return search::Go::Down,
        }
        let settled = union.enters() || (union.has_inside() && apart > 0);
        if settled && !may_hold(largest) { search::Go::Stop } else { search::Go::Down }
    })?;
    for slot in doubtful {
        if union.enters() && !may_hold(largest) {
            break;
        }
        let (centre, radius) = placed.ball(slot);
        let (one, sure) = particle_relation(centre, radius, other, other_pose, budget, work)?;
        certainty = certainty.lesser(sure);
        union.add(one);
        if union.holds() {
            break;
        }
    }
    Some((union.conclude(cloud.points().len()), certainty))
}

/// A particle as a convex shape around the origin.
fn ball(radius: f64) -> Convex {
    Convex::Primitive(if radius > 0.0 {
        Primitive::Sphere { radius }
    } else {
        Primitive::Segment { ends: [DVec3::ZERO; 2] }
    })
}

/// How one particle, as a, lies to a body, decided exactly where its kind allows; `None` when the budget ended first.
fn particle_relation(
    centre: DVec3,
    radius: f64,
    other: &Geometry,
    pose: &Pose,
    budget: &mut Budget,
    work: &mut Counters,
) -> Option<(Relation, Certainty)> {
    match other {
        Geometry::Convex(convex) => {
            if !budget.draw_or_rest(1) {
                return None;
            }
            let mut memory = ConvexMemory::default();
            let found =
                convex_relation::relation(&ball(radius), &Pose::shift(centre), convex, pose, &mut memory);
            work.primitive_tests += memory.tests().max(1);
            Some(found)
        }
        Geometry::Mesh(model) if radius > 0.0 => {
            let (primitive, at) = (Primitive::Sphere { radius }, Pose::shift(centre));
            let (found, outcome) = convex_mesh::relation(&primitive, &at, model, pose, budget);
            *work += outcome.work;
            found.map(|found| (found, outcome.certainty))
        }
        Geometry::Mesh(model) => {
            let (winding, tests) = counted_winding(model, pose, centre);
            work.primitive_tests += tests;
            let closed = model.topology().is_closed();
            let found = match winding {
                winding if closed && winding.is_inside() => Relation::AInsideB,
                Winding::OnSurface { .. } => Relation::Intersecting,
                Winding::Off(_) => Relation::Separated,
            };
            budget.charge_all(tests).then_some((found, Certainty::Exact))
        }
        Geometry::Compound(compound) => {
            let (mut union, mut certainty) = (UnionRelation::default(), Certainty::Exact);
            for part in compound.parts() {
                let at = pose.compose(&part.pose);
                let (one, sure) = particle_relation(centre, radius, &part.shape, &at, budget, work)?;
                certainty = certainty.lesser(sure);
                union.add(one.swapped());
            }
            Some((union.conclude(compound.parts().len()).swapped(), certainty))
        }
        // Two clouds are asked particle by particle.
        Geometry::Particles(_) => None,
    }
}
