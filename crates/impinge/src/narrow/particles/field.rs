//! A body as a signed distance: how far points are from its surface, negative inside a solid.

use glam::DVec3;
use smallvec::SmallVec;

use crate::bound::Aabb;
use crate::contact::Counters;
use crate::geom::triangle_triangle::has_area;
use crate::model::{Fact, Geometry, Model};
use crate::narrow::convex::point;
use crate::narrow::convex::separation::{self, ConvexMemory};
use crate::narrow::exact::closest_point::{ClosestPoint, counted_closest_points, has_few_candidates};
use crate::narrow::exact::signed_distance::counted_signed_distances;
use crate::num::double_double::triangle_normal;
use crate::num::parallel;
use crate::num::tolerance::{FOOT_ERROR, PLACING_ERROR, TOUCH_DOUBT};
use crate::shape::{Convex, Primitive};
use crate::{Budget, Feature, Pose};

/// Points that one thread asks convex parts about.
const CHUNK: usize = 256;

/// Where a point is seen from a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Foot {
    /// To the surface; negative inside a solid.
    pub distance: f64,
    /// The nearest point of the surface.
    pub point: DVec3,
    /// Of unit length, from the point to the body: moving the body along it parts them. Zero where no direction is
    /// known.
    pub normal: DVec3,
    /// What the nearest point lies on.
    pub feature: Feature,
    /// The part of the body; 0 where it is no compound.
    pub part: u32,
}

/// A placed body.
pub(super) struct Field<'s> {
    geometry: &'s Geometry,
    pose: &'s Pose,
    bounds: Aabb,
    parts: SmallVec<[Part<'s>; 1]>,
}

struct Part<'s> {
    solid: Solid<'s>,
    pose: Pose,
    bounds: Aabb,
}

enum Solid<'s> {
    Mesh(&'s Model),
    Convex(&'s Convex),
}

impl<'s> Field<'s> {
    /// A body with what its distances need, as far as the budget goes to build it.
    pub fn new(geometry: &'s Geometry, pose: &'s Pose, budget: &mut Budget) -> Option<Field<'s>> {
        let one = |geometry: &'s Geometry, pose: Pose| {
            let solid = match geometry {
                Geometry::Mesh(model) => Solid::Mesh(model),
                Geometry::Convex(convex) => Solid::Convex(convex),
                Geometry::Compound(_) | Geometry::Particles(_) => return None,
            };
            Some(Part { solid, bounds: geometry.bounds(&pose), pose })
        };
        if let Geometry::Mesh(model) = geometry {
            let facts = [Fact::Topology, Fact::PointTree];
            if !facts.iter().all(|&fact| model.prepare(fact, budget)) {
                return None;
            }
        }
        let parts = match geometry {
            Geometry::Compound(compound) => {
                let placed = compound.parts().iter().map(|part| one(&part.shape, pose.compose(&part.pose)));
                placed.collect::<Option<_>>()?
            }
            other => SmallVec::from_iter(one(other, *pose)),
        };
        Some(Field { geometry, pose, bounds: geometry.bounds(pose), parts })
    }

    /// The body.
    pub fn geometry(&self) -> &'s Geometry {
        self.geometry
    }

    /// Where it is.
    pub fn pose(&self) -> &'s Pose {
        self.pose
    }

    /// A ball that holds the body is at least so wide.
    pub fn width(&self) -> f64 {
        (self.bounds.high - self.bounds.low).max_element() * (1.0 - FOOT_ERROR)
    }

    /// No point of the body is nearer than this to a point of the world.
    pub fn box_gap(&self, p: DVec3) -> f64 {
        box_gap(&self.bounds, p)
    }

    /// Distances below this, of bodies with such coordinates, are not told from touching by their value.
    pub fn doubt(&self, size: f64) -> f64 {
        let own = self.bounds.low.abs().max(self.bounds.high.abs()).max_element();
        let size = if own.is_finite() { own.max(size) } else { size };
        let share = if matches!(self.geometry, Geometry::Mesh(_)) { FOOT_ERROR } else { TOUCH_DOUBT };
        share * size
    }

    /// Where points of the world are; they are best neighbours of each other.
    pub fn feet(&self, points: &[DVec3], work: &mut Counters) -> Vec<Foot> {
        if let [Part { solid: Solid::Mesh(model), pose, .. }] = &self.parts[..] {
            return mesh_feet(model, pose, points, work);
        }
        let parts = parallel::map(points.len().div_ceil(CHUNK), |k| {
            let some = &points[k * CHUNK..points.len().min((k + 1) * CHUNK)];
            let mut work = Counters::default();
            let feet: Vec<Foot> = some.iter().map(|&p| self.nearest_part(p, &mut work)).collect();
            (feet, work)
        });
        let mut all = Vec::with_capacity(points.len());
        for (feet, more) in parts {
            all.extend(feet);
            *work += more;
        }
        all
    }

    /// Whether a point is seen in much less than a millisecond.
    pub fn is_quick(&self, p: DVec3) -> bool {
        self.parts.iter().all(|part| match part.solid {
            Solid::Mesh(model) => has_few_candidates(model, &part.pose, p),
            Solid::Convex(_) => true,
        })
    }

    /// Of convex parts that which is nearest or deepest.
    fn nearest_part(&self, p: DVec3, work: &mut Counters) -> Foot {
        let mut best: Option<Foot> = None;
        for (k, part) in (0..).zip(&self.parts) {
            let Solid::Convex(convex) = part.solid else { continue };
            let gap = box_gap(&part.bounds, p);
            if best.is_some_and(|best| if gap > 0.0 { best.distance <= gap } else { is_deeper(&best, part) })
            {
                continue;
            }
            work.primitive_tests += 1;
            let foot = Foot { part: k, ..convex_foot(convex, &part.pose, p) };
            if best.is_none_or(|best| foot.distance < best.distance) {
                best = Some(foot);
            }
        }
        best.unwrap_or(Foot {
            distance: f64::INFINITY,
            point: p,
            normal: DVec3::ZERO,
            feature: Feature::Surface,
            part: 0,
        })
    }
}

/// Whether nothing in a part can be as deep as what was found.
fn is_deeper(best: &Foot, part: &Part<'_>) -> bool {
    -best.distance > 0.5 * (part.bounds.high - part.bounds.low).min_element()
}

fn box_gap(bounds: &Aabb, p: DVec3) -> f64 {
    (bounds.low - p).max(p - bounds.high).max(DVec3::ZERO).length()
}

fn mesh_feet(model: &Model, pose: &Pose, points: &[DVec3], work: &mut Counters) -> Vec<Foot> {
    let foot = |p: DVec3, distance: f64, closest: &ClosestPoint| {
        let off = closest.point - p;
        let noise = PLACING_ERROR * p.abs().max(closest.point.abs()).max_element();
        let normal = if closest.distance > noise {
            off * (distance.signum() / closest.distance)
        } else {
            into_surface(model, pose, closest.triangle)
        };
        Foot { distance, point: closest.point, normal, feature: closest.feature, part: 0 }
    };
    if model.topology().is_closed() {
        let (found, more) = counted_signed_distances(model, pose, points);
        *work += more;
        points.iter().zip(&found).map(|(&p, found)| foot(p, found.distance, &found.closest)).collect()
    } else {
        let (found, more) = counted_closest_points(model, pose, points);
        *work += more;
        points.iter().zip(&found).map(|(&p, found)| foot(p, found.distance, found)).collect()
    }
}

/// Against the normal of a placed triangle; zero where it has none.
fn into_surface(model: &Model, pose: &Pose, triangle: u32) -> DVec3 {
    let corners = model.mesh().corners(triangle).map(|p| pose.apply(p));
    let [a, b, c] = corners;
    if has_area(&corners) { -triangle_normal(a, b, c).normalize_or_zero() } else { DVec3::ZERO }
}

fn convex_foot(convex: &Convex, pose: &Pose, p: DVec3) -> Foot {
    match convex {
        Convex::Primitive(primitive) => {
            let (turn, origin) = (pose.rotation(), pose.translation());
            let foot = point::signed_distance(primitive, turn.transpose() * (p - origin));
            Foot {
                distance: foot.distance,
                point: turn * foot.point + origin,
                normal: -(turn * foot.normal),
                feature: foot.feature,
                part: 0,
            }
        }
        Convex::Polytope(_) => {
            let point = Convex::Primitive(Primitive::Segment { ends: [p; 2] });
            let mut memory = ConvexMemory::default();
            let (found, _) = separation::distance(&point, &Pose::IDENTITY, convex, pose, &mut memory);
            Foot {
                distance: found.distance,
                point: found.points[1],
                normal: found.normal,
                feature: found.features[1],
                part: 0,
            }
        }
    }
}
