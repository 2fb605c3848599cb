//! The shortest translation that takes bodies of convex parts apart, curved ones among them, from each other or from a
//! mesh.
//!
//! As in `translation` every pair meets for one interval of lengths along a direction. Here its ends are found by
//! signed distances: the plane through the nearest points, square to the line between them, bounds the Minkowski
//! difference, so that going on to where the direction crosses it never goes past an end. That is the ray cast of van
//! den Bergen ("Ray casting against general convex objects with application to continuous collision detection", 2004)
//! with whole distances for its steps.

use std::ops::ControlFlow;

use glam::DVec3;
use smallvec::SmallVec;

use super::interval::Interval;
use super::payment::Payment;
use super::translation::{Exit, WayOut, end_of_union};
use crate::bound::Aabb;
use crate::contact::{Certainty, Separation};
use crate::model::Geometry;
use crate::narrow::convex::placed_core::place;
use crate::narrow::convex::{point, separation};
use crate::narrow::exact::closest_point::one_after_another;
use crate::narrow::exact::placed_mesh::PlacedMesh;
use crate::num::compact_sort::sort_rarely;
use crate::num::tolerance::{FREE_GAP, INTERVAL_CLOSED, SHIFT_ACROSS};
use crate::shape::{Convex, Primitive};
use crate::{Budget, Counters, Pose};

/// Distances that one end of an interval takes at most; what is left then lies between the end and what is told.
const MOST_STEPS: u32 = 48;

/// Directions that the pairs which overlap give at most.
const MOST_DIRECTIONS: usize = 256;

/// A convex shape and where it is.
struct PlacedPart {
    shape: Convex,
    pose: Pose,
    bounds: Aabb,
}

impl PlacedPart {
    fn new(shape: Convex, pose: Pose) -> PlacedPart {
        let geometry = Geometry::Convex(shape.clone());
        PlacedPart { shape, pose, bounds: geometry.bounds(&pose) }
    }

    fn triangle(corners: [DVec3; 3]) -> PlacedPart {
        let shape = Convex::Primitive(Primitive::Triangle { corners });
        PlacedPart { shape, pose: Pose::IDENTITY, bounds: Aabb::around_points(&corners) }
    }

    /// The signed distance of this part from another one moved by `shift`, and by how much it may be too large.
    fn distance(&self, moved: &PlacedPart, shift: DVec3) -> (Separation, f64) {
        let pose = moved.pose.moved_to(moved.pose.translation() + shift);
        let (found, certainty) =
            separation::distance(&self.shape, &self.pose, &moved.shape, &pose, &mut Default::default());
        (found, doubt(certainty))
    }
}

/// By how much a signed distance may differ from the truth.
pub(super) fn doubt(certainty: Certainty) -> f64 {
    match certainty {
        Certainty::Approximate { resolution } => resolution,
        Certainty::Conservative { tolerance } => tolerance,
        Certainty::Exact | Certainty::Sampled { .. } => 0.0,
    }
}

/// The body that stays.
enum Fixed<'m> {
    Parts(Vec<PlacedPart>),
    Mesh(PlacedMesh<'m>),
}

/// Two bodies of which the one that is moved has convex parts.
pub(super) struct PartTranslation<'m> {
    fixed: Fixed<'m>,
    moved: Vec<PlacedPart>,
    /// The body that is moved is a, against the direction.
    backwards: bool,
    /// The extent of both bodies (a length).
    size: f64,
}

/// What is known before any search.
pub(super) struct PartsOverlap {
    /// Along which single pairs part soonest, the deepest pair first, and then the normals of triangles.
    pub directions: Vec<DVec3>,
    /// No translation shorter than this parts the bodies.
    pub at_least: f64,
}

impl<'m> PartTranslation<'m> {
    /// Two bodies of which one has convex parts and the other such parts or a mesh; `None` for others.
    pub fn new(shapes: [&'m Geometry; 2], poses: [&'m Pose; 2]) -> Option<PartTranslation<'m>> {
        let (k, moved) = match (parts(shapes[1], poses[1]), parts(shapes[0], poses[0])) {
            (Some(of_b), _) => (1, of_b),
            (None, Some(of_a)) => (0, of_a),
            (None, None) => return None,
        };
        let fixed = match shapes[1 - k] {
            Geometry::Mesh(model) => Fixed::Mesh(PlacedMesh::new(model, poses[1 - k])),
            shape => Fixed::Parts(parts(shape, poses[1 - k])?),
        };
        let of_fixed = match &fixed {
            Fixed::Parts(parts) => around(parts),
            Fixed::Mesh(mesh) => mesh.tight_bounds(),
        };
        let [p, q] = [of_fixed, around(&moved)];
        let size = (p.high - p.low).length() + (q.high - q.low).length();
        Some(PartTranslation { fixed, moved, backwards: k == 0, size })
    }

    /// Longer than any way out of bodies that meet.
    pub fn reach(&self) -> f64 {
        2.0 * self.size
    }

    /// The direction in the frame of the search, in which the parts are moved along it.
    fn own(&self, direction: DVec3) -> DVec3 {
        if self.backwards { -direction } else { direction }
    }

    /// Calls `visit` with each part of the fixed body that may reach into a box, until it breaks.
    fn near(&self, low: DVec3, high: DVec3, mut visit: impl FnMut(&PlacedPart) -> ControlFlow<()>) {
        let mut meets = |part: &PlacedPart| {
            if part.bounds.low.cmpgt(high).any() || part.bounds.high.cmplt(low).any() {
                return ControlFlow::Continue(());
            }
            visit(part)
        };
        match &self.fixed {
            Fixed::Parts(parts) => _ = parts.iter().try_for_each(meets),
            Fixed::Mesh(mesh) => mesh.in_region(low, high, |t| meets(&PlacedPart::triangle(mesh.corners(t)))),
        }
    }

    /// What the pairs that overlap tell of the ways out.
    pub fn overlap(&self) -> PartsOverlap {
        let (mut pairs, mut faces): (Vec<(f64, DVec3)>, Vec<DVec3>) = (Vec::new(), Vec::new());
        let mut at_least = 0.0_f64;
        for moved in &self.moved {
            self.near(moved.bounds.low, moved.bounds.high, |fixed| {
                let (found, doubt) = fixed.distance(moved, DVec3::ZERO);
                if found.distance <= doubt {
                    at_least = at_least.max(-found.distance - doubt);
                    pairs.push((found.distance, found.normal));
                    if let Convex::Primitive(Primitive::Triangle { corners: [p, q, r] }) = fixed.shape
                        && faces.len() < MOST_DIRECTIONS
                        && let Some(normal) = (q - p).cross(r - p).try_normalize()
                    {
                        faces.extend([normal, -normal]);
                    }
                }
                ControlFlow::Continue(())
            });
            at_least = at_least.max(self.common_ball(moved));
        }
        sort_rarely(&mut pairs, |x, y| x.0.total_cmp(&y.0));
        pairs.truncate(MOST_DIRECTIONS);
        // Out of all of them at once, where they overlap by about the same.
        let sum: DVec3 = pairs.iter().map(|(_, normal)| *normal).sum();
        let normals = pairs.into_iter().map(|(_, normal)| normal).filter(|n| *n != DVec3::ZERO);
        let own = normals.chain(sum.try_normalize()).chain(faces);
        PartsOverlap { directions: own.map(|n| self.own(n)).collect(), at_least }
    }

    /// A ball around the middle of a part and one within the closed mesh around the same point overlap until they
    /// have moved by the sum of their radii.
    fn common_ball(&self, part: &PlacedPart) -> f64 {
        let (Fixed::Mesh(mesh), Convex::Primitive(primitive)) = (&self.fixed, &part.shape) else {
            return 0.0;
        };
        let middle = place(&part.shape, &part.pose);
        if !self.is_held(part, DVec3::ZERO) {
            return 0.0;
        }
        let inner = (-point::signed_distance(primitive, DVec3::ZERO).distance).max(0.0);
        let near = one_after_another(mesh.model, mesh.pose, &[middle]).0;
        let outer = near.first().map_or(0.0, |near| near.distance);
        ((inner + outer) - INTERVAL_CLOSED * self.size).max(0.0)
    }

    /// Whether the middle of a part moved by `shift` is inside the closed mesh.
    fn is_held(&self, part: &PlacedPart, shift: DVec3) -> bool {
        let Fixed::Mesh(mesh) = &self.fixed else { return false };
        let middle = place(&part.shape, &part.pose) + shift;
        mesh.is_closed()
            && mesh.holds(middle, &mut Budget::UNLIMITED.clone(), &mut Counters::default()) == Some(true)
    }

    /// For which lengths up to `limit` a part moved along the unit vector `direction` meets a fixed one; one that meets
    /// at the limit is told to end there.
    fn interval(
        &self,
        fixed: &PlacedPart,
        moved: &PlacedPart,
        direction: DVec3,
        limit: f64,
    ) -> Option<Interval> {
        let closed = INTERVAL_CLOSED * self.size;
        let mut low = 0.0;
        for _ in 0..MOST_STEPS {
            let (found, doubt) = fixed.distance(moved, direction * low);
            let gap = found.distance - doubt;
            if gap <= closed {
                break;
            }
            let speed = -found.normal.dot(direction);
            if speed <= SHIFT_ACROSS {
                return None;
            }
            low += gap / speed;
            if low > limit {
                return None;
            }
        }
        let (mut high, mut exit) = (limit, direction);
        for _ in 0..MOST_STEPS {
            let (found, doubt) = fixed.distance(moved, direction * high);
            let gap = found.distance - doubt;
            let speed = found.normal.dot(direction);
            if speed > 0.0 {
                exit = found.normal;
            }
            if gap <= closed || speed <= SHIFT_ACROSS {
                break;
            }
            high -= gap / speed;
            if high <= low {
                high = low;
                break;
            }
        }
        Some(Interval { low, high, exit })
    }
}

impl WayOut for PartTranslation<'_> {
    fn first_exit(&self, direction: DVec3, limit: f64, payment: &mut Payment<'_>) -> Option<Exit> {
        let own = self.own(direction);
        let gap = self.floor();
        let mut found: Vec<(Interval, ())> = Vec::new();
        let (mut blocked, mut paid) = (false, true);
        for moved in &self.moved {
            let [p, q] = [moved.bounds.low, moved.bounds.high];
            let way = own * limit;
            self.near(p.min(p + way), q.max(q + way), |fixed| {
                paid &= payment.pay(u64::from(MOST_STEPS / 8));
                if !paid {
                    return ControlFlow::Break(());
                }
                if let Some(met) = self.interval(fixed, moved, own, limit) {
                    blocked = met.low <= gap && met.high >= limit;
                    found.push((met, ()));
                }
                if blocked { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            if blocked || !paid {
                return None;
            }
        }
        let is_out = |length: f64| {
            payment.pay(self.moved.len() as u64);
            !self.moved.iter().any(|part| self.is_held(part, own * length))
        };
        let (length, plane) = end_of_union(&mut found, own, limit, gap, is_out).ok()?;
        Some(Exit { direction, length, plane: self.own(plane), pairs: SmallVec::new() })
    }

    fn floor(&self) -> f64 {
        FREE_GAP * self.size
    }

    /// Distances.
    fn cost(&self) -> u64 {
        let fixed = match &self.fixed {
            Fixed::Parts(parts) => parts.len() as u64,
            Fixed::Mesh(mesh) => mesh.model.mesh().triangles().len().max(2).ilog2().into(),
        };
        fixed * self.moved.len() as u64 * u64::from(MOST_STEPS / 8)
    }
}

/// The convex parts of a body; `None` of a mesh, of particles and of what has no bounds.
fn parts(shape: &Geometry, pose: &Pose) -> Option<Vec<PlacedPart>> {
    match shape {
        Geometry::Convex(Convex::Primitive(Primitive::HalfSpace { .. })) => None,
        Geometry::Convex(convex) => Some(vec![PlacedPart::new(convex.clone(), *pose)]),
        Geometry::Compound(compound) => {
            let parts = compound.parts().iter();
            let parts = parts.map(|part| self::parts(&part.shape, &pose.compose(&part.pose)));
            Some(parts.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
        }
        Geometry::Mesh(_) | Geometry::Particles(_) => None,
    }
}

fn around(parts: &[PlacedPart]) -> Aabb {
    parts.iter().fold(Aabb::EMPTY, |all, part| all.merge(&part.bounds))
}
