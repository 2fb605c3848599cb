//! How two placed convex shapes lie to each other.
//!
//! The signed distance settles what is farther apart or deeper than rounding. What is closer is decided on
//! the placed doubles in exact numbers: cores with a radius by comparing squared distances, hulls, boxes,
//! triangles and segments by the exact relation of their triangulated surfaces. For cylinders, cones and
//! ellipsoids, whose surfaces doubles do not describe, pairs within the stated tolerance count as touching.

use std::cmp::Ordering;

use glam::DVec3;
use smallvec::SmallVec;

use super::containment::{Out, Turned, ellipsoid_out, farthest_out};
use super::curved_solid;
use super::exact::{self, compare_height};
use super::placed_core::{Core, LocalFrame, PlacedCore, place, reach_of};
use super::point;
use super::separation::{ConvexMemory, distance, from_point};
use crate::model::Model;
use crate::narrow::exact::relation::relation as mesh_relation;
use crate::num::dyadic::Dyadic;
use crate::num::exact_vector;
use crate::num::predicate::Sign;
use crate::num::tolerance::{CURVED_TOUCH, CURVED_TOUCH_PLACED, TOO_CLOSE_TO_CALL};
use crate::shape::{Convex, Polytope, Primitive};
use crate::{Budget, Certainty, Mesh, Pose, Relation, Separation};

/// Units for each corner of a hull that is found anew from its placed corners: about as many tests as would take the same
/// time.
const UNITS_PER_CORNER: u64 = 64;

/// The relation of two placed convex shapes; flat ones count like open surfaces.
pub fn relation(
    a: &Convex,
    pose_a: &Pose,
    b: &Convex,
    pose_b: &Pose,
    memory: &mut ConvexMemory,
) -> (Relation, Certainty) {
    match (half_space_of(a, pose_a), half_space_of(b, pose_b)) {
        (Some(p), Some(q)) => (p.beside(&q), Certainty::Exact),
        (Some(p), None) => p.against(b, pose_b),
        (None, Some(q)) => {
            let (found, certainty) = q.against(a, pose_a);
            (found.swapped(), certainty)
        }
        (None, None) => bounded(a, pose_a, b, pose_b, memory),
    }
}

#[cfg(any(test, feature = "unstable"))]
/// The separation of a point from a placed shape, and whether the point is in the closed solid; flat shapes have
/// no inside.
pub fn point_in(shape: &Convex, pose: &Pose, p: DVec3) -> (Separation, bool) {
    let (found, inside, _) = counted_point_in(shape, pose, p);
    (found, inside)
}

/// [`point_in`], and how many supports it asked for; a closed form is one test. The distance of a solid is positive just
/// where the point is not in it.
pub(crate) fn counted_point_in(shape: &Convex, pose: &Pose, p: DVec3) -> (Separation, bool, u64) {
    let body = PlacedConvex::new(shape, pose);
    let (found, inside, tests) = match shape {
        Convex::Primitive(solid) if body.is_curved() => {
            let found = from_point(p, solid, pose);
            let noise = curved_noise(&body, p.length(), (p - pose.translation()).length());
            let surely = found.distance.abs() > noise;
            let inside = if surely { found.distance < 0.0 } else { curved_solid::holds(solid, pose, p) };
            (found, inside, 1)
        }
        _ => {
            let point = Convex::Primitive(Primitive::Segment { ends: [p; 2] });
            let mut memory = ConvexMemory::default();
            let (found, _) = distance(&point, &Pose::IDENTITY, shape, pose, &mut memory);
            let (how, _) = relation(&point, &Pose::IDENTITY, shape, pose, &mut memory);
            (found, how == Relation::AInsideB, memory.tests().max(1))
        }
    };
    let distance = match inside {
        true => found.distance.min(0.0),
        false if body.is_solid() => found.distance.max(f64::MIN_POSITIVE),
        false => found.distance,
    };
    (Separation { distance, ..found }, inside, tests)
}

/// Whether two placed convex shapes share a point, where their signed distance alone tells it.
pub(crate) fn meet_surely(a: &Convex, pose_a: &Pose, b: &Convex, pose_b: &Pose) -> Option<bool> {
    if half_space_of(a, pose_a).is_some() || half_space_of(b, pose_b).is_some() {
        return None;
    }
    let bodies = [PlacedConvex::new(a, pose_a), PlacedConvex::new(b, pose_b)];
    let (found, noise, _) = measured(&bodies, &mut ConvexMemory::default());
    (found.abs() > noise).then_some(found < 0.0)
}

/// Two shapes that both end somewhere.
fn bounded(
    a: &Convex,
    pose_a: &Pose,
    b: &Convex,
    pose_b: &Pose,
    memory: &mut ConvexMemory,
) -> (Relation, Certainty) {
    let bodies = [PlacedConvex::new(a, pose_a), PlacedConvex::new(b, pose_b)];
    let (distance, noise, rounding) = measured(&bodies, memory);
    if distance > noise {
        return (Relation::Separated, Certainty::Exact);
    }
    if bodies.iter().any(PlacedConvex::is_curved) {
        curved_pair(&bodies, distance, noise, rounding)
    } else {
        (sharp_pair(&bodies, distance, noise), Certainty::Exact)
    }
}

/// The signed distance of two shapes that end somewhere, how far it may be off, and the part of that which is rounding.
fn measured(bodies: &[PlacedConvex<'_>; 2], memory: &mut ConvexMemory) -> (f64, f64, f64) {
    let [PlacedConvex { shape: a, pose: pose_a }, PlacedConvex { shape: b, pose: pose_b }] = bodies;
    let (found, certainty) = distance(a, pose_a, b, pose_b, memory);
    let places = [place(a, pose_a), place(b, pose_b)];
    let reach = reach_of(a) + reach_of(b);
    let width = match certainty {
        Certainty::Approximate { resolution } => resolution,
        _ => 0.0,
    };
    let rounding = if bodies.iter().any(PlacedConvex::is_curved) {
        let far: f64 = bodies.iter().map(PlacedConvex::coordinates).sum();
        CURVED_TOUCH * (reach + (places[1] - places[0]).length()) + CURVED_TOUCH_PLACED * far
    } else {
        TOO_CLOSE_TO_CALL * (reach + places[0].length() + places[1].length())
    };
    (found.distance, width + rounding, rounding)
}

/// A shape and where it is.
pub(crate) struct PlacedConvex<'s> {
    shape: &'s Convex,
    pose: &'s Pose,
}

impl<'s> PlacedConvex<'s> {
    pub fn new(shape: &'s Convex, pose: &'s Pose) -> PlacedConvex<'s> {
        PlacedConvex { shape, pose }
    }

    pub fn is_curved(&self) -> bool {
        use Primitive::{Cone, Cylinder, Ellipsoid};
        matches!(self.shape, Convex::Primitive(Cylinder { .. } | Cone { .. } | Ellipsoid { .. }))
    }

    /// How large the world's coordinates are that take part in placing it.
    fn coordinates(&self) -> f64 {
        place(self.shape, self.pose).length() + self.pose.translation().length()
    }

    pub fn radius(&self) -> f64 {
        match self.shape {
            Convex::Primitive(Primitive::Sphere { radius } | Primitive::Capsule { radius, .. }) => *radius,
            _ => 0.0,
        }
    }

    /// The corners of the core where the pose puts them: the doubles that exact decisions are about.
    pub fn corners(&self) -> SmallVec<[DVec3; 8]> {
        let turn = self.pose.rotation();
        // As a pose places a point, with the nearest rotation in place of the matrix.
        let at = |p: DVec3| {
            let row = |k: usize| {
                let r = turn.row(k);
                ((r.x * p.x + r.y * p.y) + r.z * p.z) + self.pose.translation()[k]
            };
            DVec3::new(row(0), row(1), row(2))
        };
        match self.shape {
            Convex::Polytope(p) => p.vertices().iter().map(|&v| self.pose.apply(v)).collect(),
            Convex::Primitive(p) => match *p {
                Primitive::Cuboid { half } => (0..8_u32)
                    .map(|k| {
                        let sign = |bit: u32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
                        at(half * DVec3::new(sign(0), sign(1), sign(2)))
                    })
                    .collect(),
                Primitive::Capsule { half_height, .. } => {
                    [-half_height, half_height].map(|z| at(DVec3::Z * z)).into_iter().collect()
                }
                Primitive::Triangle { corners } => corners.map(at).into_iter().collect(),
                Primitive::Segment { ends } => ends.map(at).into_iter().collect(),
                _ => [self.pose.translation()].into_iter().collect(),
            },
        }
    }

    /// The core as triangles, outward where it is solid.
    pub fn triangles(&self) -> Vec<[DVec3; 3]> {
        let mesh = self.mesh();
        mesh.map_or_else(Vec::new, |m| (0..m.triangles().len() as u32).map(|t| m.corners(t)).collect())
    }

    /// The hull of the placed corners as a mesh; doubles that were let in have one.
    pub fn mesh(&self) -> Option<Mesh> {
        Polytope::hull(&self.corners()).and_then(|hull| hull.mesh()).ok()
    }

    /// [`PlacedConvex::mesh`], whose units are drawn beforehand; `None` outside when the budget ends first.
    pub fn mesh_within(&self, budget: &mut Budget) -> Option<Option<Mesh>> {
        budget.draw_all_updates(self.mesh_units()).then(|| self.mesh())
    }

    /// Units for its mesh.
    pub fn mesh_units(&self) -> u64 {
        match self.shape {
            Convex::Polytope(hull) => UNITS_PER_CORNER * hull.vertices().len() as u64,
            Convex::Primitive(_) => 0,
        }
    }

    /// The same where it has an interior; a flat hull's mesh bounds nothing.
    pub fn solid_mesh(&self) -> Option<Mesh> {
        let hull = Polytope::hull(&self.corners()).ok()?;
        if hull.dimension() == 3 { hull.mesh().ok() } else { None }
    }

    /// Whether it has an interior.
    fn is_solid(&self) -> bool {
        !self.shape.is_flat()
    }

    /// How far the other's farthest point is outside of this solid, negative when it is inside: the largest
    /// value of a convex function over a convex body. Right to rounding for corners, flat faces and ellipsoids in
    /// ellipsoids; else a bracket that tells which side of ±`noise` it lies on, where that can be told.
    fn farthest_out(&self, other: &PlacedConvex<'_>, noise: f64) -> Out {
        let turn = self.pose.rotation();
        let origin = self.pose.translation();
        let frame = LocalFrame { origin, scale: 1.0 };
        let inner = PlacedCore::new(other.shape, other.pose, &frame);
        let solid = match self.shape {
            Convex::Primitive(solid) => solid,
            Convex::Polytope(hull) => return Out::exactly(hull_out(hull, self.pose, &inner, origin)),
        };
        let out = |p: DVec3| point::signed_distance(solid, turn.transpose() * p).distance;
        let Core::Curved { primitive, centre, turn: own } = &inner.core else {
            let corners = other.corners();
            let worst = corners.iter().map(|&p| out(p - origin)).fold(f64::NEG_INFINITY, f64::max);
            return Out::exactly(worst + inner.radius);
        };
        let body = Turned { primitive, centre: *centre, turn: *own };
        match (solid, primitive) {
            (Primitive::Cuboid { half }, _) => {
                let reach = |d: DVec3| d.dot(inner.support(d).0);
                let over = |axis: DVec3, half: f64| reach(axis).max(reach(-axis)) - half;
                let faces = [over(turn.x_axis, half.x), over(turn.y_axis, half.y), over(turn.z_axis, half.z)];
                Out::exactly(faces.into_iter().fold(f64::NEG_INFINITY, f64::max))
            }
            (Primitive::Ellipsoid { radii }, Primitive::Ellipsoid { radii: theirs }) => {
                ellipsoid_out(&body, *theirs, turn, *radii)
            }
            (Primitive::Sphere { radius }, Primitive::Ellipsoid { radii: theirs }) => {
                ellipsoid_out(&body, *theirs, turn, DVec3::splat(*radius))
            }
            _ => farthest_out(&body, out, noise),
        }
    }
}

/// The support of the inner body over each face is all that matters.
fn hull_out(hull: &Polytope, pose: &Pose, inner: &PlacedCore<'_>, origin: DVec3) -> f64 {
    // A matrix that is no rotation turns planes by its inverse transpose.
    let turn = if pose.is_rotation() { pose.matrix() } else { pose.matrix().inverse().transpose() };
    let heights = hull.faces().iter().map(|face| {
        let normal = (turn * face.normal).normalize();
        let plane = normal.dot(pose.apply(face.corner) - origin);
        normal.dot(inner.support(normal).0) - plane
    });
    heights.fold(f64::NEG_INFINITY, f64::max) + inner.radius
}

/// Inside, touching or intersecting, where a curved shape takes part: the distance is known to `noise`, what is
/// inside to `rounding`.
fn curved_pair(
    bodies: &[PlacedConvex<'_>; 2],
    distance: f64,
    noise: f64,
    rounding: f64,
) -> (Relation, Certainty) {
    let [a, b] = bodies;
    let out = |around: &PlacedConvex<'_>, inner: &PlacedConvex<'_>| {
        let never = Out::exactly(f64::INFINITY);
        if around.is_solid() { around.farthest_out(inner, rounding) } else { never }
    };
    let brackets = [out(b, a), out(a, b)];
    // What could not be proved to stick out is taken to be inside; the width says so below.
    let [a_out, b_out] = brackets.map(|out| out.at_least);
    let relation = match (a_out <= rounding, b_out <= rounding) {
        (true, true) => Relation::Intersecting,
        (true, false) => Relation::AInsideB,
        (false, true) => Relation::BInsideA,
        _ if distance >= -noise && a.is_solid() && b.is_solid() => Relation::Touching,
        _ => Relation::Intersecting,
    };
    let fits = a_out.abs() <= rounding || b_out.abs() <= rounding;
    let inside = a_out <= rounding || b_out <= rounding;
    let certainty = match (fits, !inside && distance.abs() <= noise) {
        (_, true) => Certainty::Approximate { resolution: noise },
        (true, false) => Certainty::Approximate { resolution: rounding },
        (false, false) => Certainty::Exact,
    };
    let unproved = brackets.iter().filter(|out| out.at_least <= rounding && out.at_most > rounding);
    let width = unproved.map(|out| out.at_most).fold(0.0, f64::max);
    let open = if width > 0.0 { Certainty::Approximate { resolution: width } } else { Certainty::Exact };
    (relation, certainty.lesser(open))
}

/// Shapes with corners and radii, decided exactly.
fn sharp_pair(bodies: &[PlacedConvex<'_>; 2], distance: f64, noise: f64) -> Relation {
    let [a, b] = bodies;
    let inside = [is_inside(a, b, noise), is_inside(b, a, noise)];
    if let [Some(a_in), Some(b_in)] = inside {
        match (a_in, b_in) {
            (true, true) => return Relation::Intersecting,
            (true, false) => return Relation::AInsideB,
            (false, true) => return Relation::BInsideA,
            (false, false) if distance < -noise => return Relation::Intersecting,
            (false, false) => {}
        }
    }
    settle(bodies, inside)
}

/// Whether all of `inner` lies in the closed solid `around`; `None` when only exact numbers can tell.
fn is_inside(inner: &PlacedConvex<'_>, around: &PlacedConvex<'_>, noise: f64) -> Option<bool> {
    if !around.is_solid() {
        return Some(false);
    }
    let out = around.farthest_out(inner, noise).at_least;
    if out.abs() > noise { Some(out < 0.0) } else { None }
}

/// The exact answer on the placed doubles.
fn settle(bodies: &[PlacedConvex<'_>; 2], inside: [Option<bool>; 2]) -> Relation {
    let [a, b] = bodies;
    let radii = [a.radius(), b.radius()];
    if radii == [0.0; 2] {
        return match [a.mesh(), b.mesh()].map(|mesh| mesh.map(Model::from)) {
            [Some(p), Some(q)] => match mesh_relation(&p, &Pose::IDENTITY, &q, &Pose::IDENTITY) {
                // The triangle of a point or a segment has no border, but no inside either.
                Relation::Touching if !(a.is_solid() && b.is_solid()) => Relation::Intersecting,
                found => found,
            },
            _ => Relation::Intersecting,
        };
    }
    let triangles = [a.triangles(), b.triangles()];
    let exactly = |inner: usize, around: usize| {
        inside[inner].unwrap_or_else(|| {
            let difference = &Dyadic::from(radii[around]) - &Dyadic::from(radii[inner]);
            let corners = bodies[inner].corners();
            let mut corners = corners.iter();
            let solid = radii[around] == 0.0;
            match difference.sign() {
                Sign::Negative => {
                    solid && corners.all(|&p| exact::holds_ball(&triangles[around], p, &difference))
                }
                _ if solid => corners.all(|&p| exact::holds(&triangles[around], p)),
                _ => corners.all(|&p| {
                    let square = &difference * &difference;
                    exact::compare_distance(&[[p; 3]], &triangles[around], &square) != Ordering::Greater
                }),
            }
        })
    };
    match (exactly(0, 1), exactly(1, 0)) {
        (true, true) => return Relation::Intersecting,
        (true, false) => return Relation::AInsideB,
        (false, true) => return Relation::BInsideA,
        (false, false) => {}
    }
    let sum = &Dyadic::from(radii[0]) + &Dyadic::from(radii[1]);
    let mut order = exact::compare_distance(&triangles[0], &triangles[1], &(&sum * &sum));
    // A core deep in a solid is far from its surface.
    for (inner, around) in [(0, 1), (1, 0)] {
        let solid = bodies[around].is_solid() && radii[around] == 0.0;
        if solid && exact::holds(&triangles[around], bodies[inner].corners()[0]) {
            order = Ordering::Less;
        }
    }
    match order {
        Ordering::Greater => Relation::Separated,
        Ordering::Equal if a.is_solid() && b.is_solid() => Relation::Touching,
        _ => Relation::Intersecting,
    }
}

/// What rounding can do to the signed distance of a shape from things in coordinates of this extent, none of them
/// farther from its place than `away`.
pub(crate) fn curved_noise(body: &PlacedConvex<'_>, extent: f64, away: f64) -> f64 {
    let reach = reach_of(body.shape);
    if body.is_curved() {
        CURVED_TOUCH * (reach + away) + CURVED_TOUCH_PLACED * (body.coordinates() + extent)
    } else {
        TOO_CLOSE_TO_CALL * (reach + place(body.shape, body.pose).length() + extent)
    }
}

/// A placed half-space: the points with normal·(x − origin) ≤ offset.
pub(crate) struct HalfSpace {
    normal: DVec3,
    origin: DVec3,
    offset: f64,
}

pub(crate) fn half_space_of(shape: &Convex, pose: &Pose) -> Option<HalfSpace> {
    let Convex::Primitive(Primitive::HalfSpace { normal, offset }) = shape else { return None };
    Some(HalfSpace { normal: pose.rotation() * *normal, origin: pose.translation(), offset: *offset })
}

impl HalfSpace {
    /// The relation of this half-space, as a, to a shape that ends somewhere.
    fn against(&self, b: &Convex, pose_b: &Pose) -> (Relation, Certainty) {
        let body = PlacedConvex::new(b, pose_b);
        let length = self.normal.length();
        let frame = LocalFrame { origin: self.origin, scale: 1.0 };
        let placed = PlacedCore::new(b, pose_b, &frame);
        let normal = self.normal / length;
        let height = |sign: f64| {
            placed.support(normal * sign).0.dot(normal) - self.offset / length + sign * placed.radius
        };
        let (low, high) = (height(-1.0), height(1.0));
        let noise = if body.is_curved() {
            // A height is linear in the place, and only the shape's own support is curved.
            let away = (place(b, pose_b) - self.origin).length() + self.offset.abs();
            CURVED_TOUCH * reach_of(b)
                + TOO_CLOSE_TO_CALL * away
                + CURVED_TOUCH_PLACED * (body.coordinates() + self.origin.length())
        } else {
            let far = place(b, pose_b).length() + self.origin.length() + self.offset.abs();
            TOO_CLOSE_TO_CALL * (reach_of(b) + far)
        };
        let order = |x: f64| {
            if x.abs() <= noise { Ordering::Equal } else { x.total_cmp(&0.0) }
        };
        let (mut lowest, mut highest) = (order(low), order(high));
        let mut certainty = Certainty::Exact;
        if lowest == Ordering::Equal || highest == Ordering::Equal {
            if body.is_curved() {
                certainty = Certainty::Approximate { resolution: noise };
            } else {
                (lowest, highest) = self.exact_heights(&body);
            }
        }
        let relation = match (lowest, highest) {
            (Ordering::Greater, _) => Relation::Separated,
            (_, Ordering::Less | Ordering::Equal) => Relation::BInsideA,
            (Ordering::Equal, _) if body.is_solid() => Relation::Touching,
            _ => Relation::Intersecting,
        };
        (relation, certainty)
    }

    /// The normal of unit length.
    pub fn unit_normal(&self) -> DVec3 {
        self.normal.normalize()
    }

    /// Where the plane is along that normal.
    pub fn level(&self) -> f64 {
        self.unit_normal().dot(self.origin) + self.offset / self.normal.length()
    }

    /// Bounds the numbers that enter a height, but for the point.
    pub fn extent(&self) -> f64 {
        self.origin.length() + (self.offset / self.normal.length()).abs()
    }

    /// How far a point is beyond the plane; negative inside.
    pub fn height(&self, p: DVec3) -> f64 {
        (self.normal.dot(p - self.origin) - self.offset) / self.normal.length()
    }

    /// Whether a point lies inside, in the plane or beyond it, exactly.
    pub fn side(&self, p: DVec3) -> Ordering {
        let height = self.height(p);
        let noise = (self.origin.length() + self.offset.abs() + p.length()) * TOO_CLOSE_TO_CALL;
        if height.abs() > noise {
            height.total_cmp(&0.0)
        } else {
            compare_height(&exact_vector::exact(self.normal), self.origin, self.offset, p, 0.0)
        }
    }

    /// The signs of the lowest and the highest point over the plane.
    fn exact_heights(&self, body: &PlacedConvex<'_>) -> (Ordering, Ordering) {
        let normal = exact_vector::exact(self.normal);
        let turned = exact_vector::exact(-self.normal);
        let (corners, radius) = (body.corners(), body.radius());
        // The lowest point is at its corner's height less the radius; seen from below the highest likewise.
        let lows = corners.iter().map(|&p| compare_height(&normal, self.origin, self.offset, p, radius));
        let highs = corners.iter().map(|&p| compare_height(&turned, self.origin, -self.offset, p, radius));
        let (low, high) = (lows.min(), highs.min());
        (low.unwrap_or(Ordering::Less), high.map_or(Ordering::Less, Ordering::reverse))
    }

    /// The relation of two half-spaces: they end nowhere, so only parallel planes tell anything.
    fn beside(&self, other: &HalfSpace) -> Relation {
        let [n, m] = [self, other].map(|h| exact_vector::exact(h.normal));
        if exact_vector::cross(&n, &m).iter().any(|x| !x.is_zero()) {
            return Relation::Intersecting;
        }
        // m = λ·n; the planes n·x = level compare after crosswise multiplication with the largest component.
        let level = |h: &HalfSpace, n: &exact_vector::ExactVec| {
            &Dyadic::from(h.offset) + &exact_vector::dot(n, &exact_vector::exact(h.origin))
        };
        let (own, theirs) = (level(self, &n), level(other, &m));
        let axis = self.normal.abs().max_position();
        let mut order = exact::compare(&(&own * &m[axis]), &(&theirs * &n[axis]));
        if m[axis].sign() == Sign::Negative {
            order = order.reverse();
        }
        let along = n[axis].sign() == m[axis].sign();
        match (along, order) {
            (true, Ordering::Less) => Relation::AInsideB,
            (true, Ordering::Greater) => Relation::BInsideA,
            (false, Ordering::Less) => Relation::Separated,
            (false, Ordering::Equal) => Relation::Touching,
            (true, Ordering::Equal) | (false, Ordering::Greater) => Relation::Intersecting,
        }
    }
}

#[cfg(test)]
#[path = "relation_tests.rs"]
mod tests;
