//! A convex shape where its pose puts it, as the searches see it: a core and a radius around it.
//!
//! Spheres and capsules are a point and a segment, widened. The signed distance of widened shapes is that of
//! their cores less the radii, also in penetration, because a radius adds the same to the support function in
//! every direction. Coordinates are taken relative to an origin near the shapes and scaled by a power of two,
//! so that neither cancellation nor the range of f64 harms the searches.

use std::cell::Cell;

use glam::{DMat3, DVec3};

use crate::num::tolerance::{LARGEST_LENGTH_UNSCALED, SMALLEST_LENGTH_UNSCALED, STRETCH};
use crate::shape::{Convex, Polytope, Primitive};
use crate::{Feature, Pose};

/// Where the searches have their origin, and their unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalFrame {
    /// In the world.
    pub origin: DVec3,
    /// Search units in a world unit; a power of two.
    pub scale: f64,
}

impl LocalFrame {
    /// The frame for two shapes of these sizes and places.
    pub fn between(places: [DVec3; 2], sizes: [f64; 2]) -> LocalFrame {
        let origin = places[0];
        let apart = (places[1] - origin).abs().max_element();
        LocalFrame { origin, scale: safe_scale(sizes[0].max(sizes[1]).max(apart)) }
    }

    /// A point of the world in search units.
    #[inline]
    pub fn enter(&self, p: DVec3) -> DVec3 {
        (p - self.origin) * self.scale
    }

    /// A point in search units in the world.
    #[inline]
    pub fn leave(&self, p: DVec3) -> DVec3 {
        p / self.scale + self.origin
    }
}

/// The power of two that brings lengths of this extent near 1; 1 where their powers are safe as they are.
pub(crate) fn safe_scale(extent: f64) -> f64 {
    if extent > SMALLEST_LENGTH_UNSCALED && extent < LARGEST_LENGTH_UNSCALED {
        return 1.0;
    }
    // Subnormal extents count as the smallest one with a finite reciprocal.
    1.0 / f64::from_bits((extent.to_bits() & f64::INFINITY.to_bits()).max(1 << 54))
}

/// What is left of a placed shape without its radius.
#[derive(Debug, Clone)]
pub(crate) enum Core<'s> {
    /// A point.
    Point(DVec3),
    /// A segment.
    Segment([DVec3; 2]),
    /// A triangle.
    Triangle([DVec3; 3]),
    /// A box: its centre and its half sides as columns.
    Cuboid { centre: DVec3, sides: DMat3 },
    /// A polytope; the last support is where the next search begins.
    Polytope { polytope: &'s Polytope, pose: &'s Pose, frame: LocalFrame, turned: DMat3, last: Cell<u32> },
    /// Anything curved: a primitive in its own frame, turned and moved.
    Curved { primitive: Primitive, centre: DVec3, turn: DMat3 },
}

/// A core in search units and the radius around it.
#[derive(Debug, Clone)]
pub(crate) struct PlacedCore<'s> {
    /// The core.
    pub core: Core<'s>,
    /// The radius around it, in search units.
    pub radius: f64,
    /// An upper bound of the farthest point of the core from its place, in search units.
    pub reach: f64,
}

/// The size of a primitive: no point but those of a half-space is farther from its origin.
pub(crate) fn reach(primitive: &Primitive) -> f64 {
    match *primitive {
        Primitive::Sphere { radius } => radius,
        Primitive::Cuboid { half } => half.element_sum(),
        Primitive::Ellipsoid { radii } => radii.max_element(),
        Primitive::Capsule { radius, half_height }
        | Primitive::Cylinder { radius, half_height }
        | Primitive::Cone { radius, half_height } => radius + half_height,
        Primitive::HalfSpace { .. } => 0.0,
        Primitive::Triangle { corners } => farthest(&corners),
        Primitive::Segment { ends } => farthest(&ends),
    }
}

/// The size of a shape: no point is farther from its [`place`].
pub(crate) fn reach_of(shape: &Convex) -> f64 {
    match shape {
        Convex::Primitive(p) => reach(p),
        // A pose may stretch a polytope a little.
        Convex::Polytope(p) => p.reach() * STRETCH,
    }
}

/// Where a placed shape is: the middle of a polytope, the origin of a primitive.
pub(crate) fn place(shape: &Convex, pose: &Pose) -> DVec3 {
    match shape {
        Convex::Primitive(_) => pose.translation(),
        Convex::Polytope(p) => pose.apply(p.centre()),
    }
}

fn farthest(points: &[DVec3]) -> f64 {
    points.iter().fold(0.0, |most, p| p.abs().element_sum().max(most))
}

impl<'s> PlacedCore<'s> {
    /// Places a shape; a half-space has no core and is answered elsewhere: here it counts as a point of its
    /// plane.
    pub fn new(shape: &'s Convex, pose: &'s Pose, frame: &LocalFrame) -> PlacedCore<'s> {
        let reach = reach_of(shape) * frame.scale;
        let (core, radius) = match shape {
            Convex::Polytope(polytope) => {
                let turned = pose.matrix().transpose();
                let last = Cell::new(0);
                (Core::Polytope { polytope, pose, frame: *frame, turned, last }, 0.0)
            }
            Convex::Primitive(primitive) => PlacedCore::primitive(primitive, pose, frame),
        };
        PlacedCore { core, radius: radius * frame.scale, reach }
    }

    fn primitive(primitive: &Primitive, pose: &Pose, frame: &LocalFrame) -> (Core<'s>, f64) {
        let centre = frame.enter(pose.translation());
        let turn = pose.rotation();
        let at = |p: DVec3| centre + turn * p * frame.scale;
        match *primitive {
            Primitive::Sphere { radius } => (Core::Point(centre), radius),
            Primitive::Capsule { radius, half_height } => {
                let end = turn.z_axis * (half_height * frame.scale);
                (Core::Segment([centre - end, centre + end]), radius)
            }
            Primitive::Triangle { corners } => (Core::Triangle(corners.map(at)), 0.0),
            Primitive::Segment { ends } => (Core::Segment(ends.map(at)), 0.0),
            Primitive::HalfSpace { normal, .. } => (Core::Point(at(primitive.support(normal))), 0.0),
            Primitive::Cuboid { half } => {
                let sides = turn * DMat3::from_diagonal(half * frame.scale);
                (Core::Cuboid { centre, sides }, 0.0)
            }
            Primitive::Cylinder { .. } | Primitive::Cone { .. } | Primitive::Ellipsoid { .. } => {
                (Core::Curved { primitive: primitive.scaled(frame.scale), centre, turn }, 0.0)
            }
        }
    }

    /// Somewhere inside.
    pub fn middle(&self) -> DVec3 {
        match &self.core {
            Core::Point(p) => *p,
            Core::Segment([a, b]) => a.midpoint(*b),
            Core::Triangle([a, b, c]) => a.midpoint(b.midpoint(*c)),
            Core::Cuboid { centre, .. } => *centre,
            Core::Polytope { polytope, pose, frame, .. } => frame.enter(pose.apply(polytope.centre())),
            Core::Curved { centre, .. } => *centre,
        }
    }

    /// The point of the core farthest along `d`, and which corner it is.
    #[inline]
    pub fn support(&self, d: DVec3) -> (DVec3, u32) {
        match &self.core {
            Core::Point(p) => (*p, 0),
            Core::Segment([a, b]) => {
                if d.dot(*b - *a) > 0.0 {
                    (*b, 1)
                } else {
                    (*a, 0)
                }
            }
            Core::Triangle([a, b, c]) => {
                let (mut best, mut id) = (*a, 0);
                if d.dot(*b - best) > 0.0 {
                    (best, id) = (*b, 1);
                }
                if d.dot(*c - best) > 0.0 {
                    (best, id) = (*c, 2);
                }
                (best, id)
            }
            Core::Cuboid { centre, sides } => {
                let [x, y, z] = [sides.x_axis, sides.y_axis, sides.z_axis];
                let up = [d.dot(x) >= 0.0, d.dot(y) >= 0.0, d.dot(z) >= 0.0];
                let along = |up: bool, side: DVec3| if up { side } else { -side };
                let id = u32::from(up[0]) | u32::from(up[1]) << 1 | u32::from(up[2]) << 2;
                (*centre + along(up[0], x) + along(up[1], y) + along(up[2], z), id)
            }
            Core::Polytope { polytope, pose, frame, turned, last } => {
                let v = polytope.support(*turned * d, last.get());
                last.set(v);
                (frame.enter(pose.apply(polytope.vertices()[v as usize])), v)
            }
            Core::Curved { primitive, centre, turn } => {
                (*centre + *turn * primitive.support(turn.transpose() * d), 0)
            }
        }
    }

    /// Whether the core has corners only, so that a search ends after finitely many steps.
    pub fn is_polyhedral(&self) -> bool {
        !matches!(self.core, Core::Curved { .. })
    }

    /// The feature that holds all these corners, as `support` named them.
    pub fn feature(&self, corners: &[u32]) -> Feature {
        if self.radius > 0.0 {
            return Feature::Surface;
        }
        let Some(&first) = corners.first() else { return Feature::Surface };
        match &self.core {
            Core::Curved { .. } => Feature::Surface,
            Core::Point(_) => Feature::Vertex(0),
            Core::Segment(_) | Core::Triangle(_) => match corners.iter().find(|&&c| c != first) {
                None => Feature::Vertex(first),
                Some(&second) => {
                    if corners.iter().any(|c| ![first, second].contains(c)) {
                        Feature::Face(0)
                    } else {
                        Feature::Edge([first.min(second), first.max(second)])
                    }
                }
            },
            Core::Cuboid { .. } => cuboid_feature(corners.iter().fold(0, |m, c| m | (c ^ first)), first),
            Core::Polytope { polytope, .. } => polytope_feature(polytope, corners),
        }
    }
}

/// The feature of a box on which the axes of `free` vary and the others are those of a corner. Corner k lies
/// on the positive side of x, y, z where bits 0, 1, 2 of k are set; faces count −x, +x, −y, +y, −z, +z.
pub(crate) fn cuboid_feature(free: u32, corner: u32) -> Feature {
    match (free & 7).count_ones() {
        0 => Feature::Vertex(corner),
        1 => Feature::Edge([corner & !free, corner | free]),
        2 => {
            let axis = (!free & 7).trailing_zeros();
            Feature::Face(2 * axis + (corner >> axis & 1))
        }
        _ => Feature::Surface,
    }
}

/// The feature of a polytope that holds all these corners: a corner, an edge, or a face.
pub(crate) fn polytope_feature(polytope: &Polytope, corners: &[u32]) -> Feature {
    let first = corners[0];
    let Some(&second) = corners.iter().find(|&&c| c != first) else {
        return Feature::Vertex(polytope.original(first));
    };
    let pair = corners.iter().all(|c| [first, second].contains(c));
    let spokes = polytope.spokes(first);
    if pair && spokes.iter().any(|s| s.to == second) {
        let (i, j) = (polytope.original(first), polytope.original(second));
        return Feature::Edge([i.min(j), i.max(j)]);
    }
    let around = spokes.iter().flat_map(|s| polytope.edges()[s.edge as usize].faces);
    let holds = |face: &u32| corners.iter().all(|c| polytope.sides(*face).iter().any(|s| s.start == *c));
    let known = |face: &u32| (*face as usize) < polytope.faces().len();
    around.filter(known).find(holds).map_or(Feature::Surface, Feature::Face)
}
