//! The signed distance of two convex shapes: which method answers which pair.
//!
//! Written in one order of the kinds and swapped by one function. Closed forms where there is one: spheres
//! and capsules against each other, a sphere against anything a point can be measured from, a half-space
//! against anything by its support. Everything else by GJK while the cores are apart, and by EPA where they
//! meet, each with a bracket.

use std::f64::consts::FRAC_PI_4;

use glam::DVec3;
use smallvec::SmallVec;

use super::box_box::BoxPair;
use super::epa::{self, Depth, depth};
use super::gjk::{Corner, Gap, gap, gap_after, support};
use super::placed_core::{Core, LocalFrame, PlacedCore, place, reach_of};
use super::point;
use super::polytope_distance::{self, WalkMemory};
use crate::geom::segment_segment::closest_points;
use crate::num::exact_vector::{cross, exact};
use crate::num::tolerance::{CURVED_DEPTH, POLISH_FIRST_TURN, POLISH_LAST_TURN, SUPPORT_ROUNDING};
use crate::shape::{Convex, Polytope, Primitive};
use crate::{Certainty, Feature, Pose, Separation};

/// Supports that EPA asks for at most where a shape is curved.
const MOST_STEPS: u32 = 256;

/// What a pair remembers between calls; dropping it costs only speed.
#[derive(Debug, Clone, Default)]
pub struct ConvexMemory {
    polytope: epa::Polytope,
    normal: DVec3,
    walk: WalkMemory,
    /// Supports of GJK and EPA so far.
    supports: u64,
}

impl ConvexMemory {
    /// What the questions so far have cost: supports, and pairs of features that a walk looked at.
    pub(crate) fn tests(&self) -> u64 {
        let walk = self.walk.work();
        self.supports + walk.steps + walk.corners
    }
}

/// The signed distance of two placed convex shapes, and what it is worth.
///
/// Exact means right to the rounding of the placed coordinates. Where both half-spaces of a pair overlap
/// without end the distance is −∞.
pub fn distance(
    a: &Convex,
    pose_a: &Pose,
    b: &Convex,
    pose_b: &Pose,
    memory: &mut ConvexMemory,
) -> (Separation, Certainty) {
    if is_swapped(a, pose_a, b, pose_b) {
        memory.normal = -memory.normal;
        let (found, certainty) = in_order(b, pose_b, a, pose_a, memory);
        memory.normal = -memory.normal;
        return (found.swapped(), certainty);
    }
    in_order(a, pose_a, b, pose_b, memory)
}

/// Whether the pair is answered with b first, so that both orders give the same bits: the simpler kind goes
/// first, and of equal kinds the one with the smaller coordinates.
fn is_swapped(a: &Convex, pose_a: &Pose, b: &Convex, pose_b: &Pose) -> bool {
    let [x, y] = [(a, pose_a), (b, pose_b)].map(|(shape, pose)| (rank(shape), pose.translation().to_array()));
    // Polytopes keep their order, which their memory knows; the walk mirrors its answers itself.
    x.0 > y.0 || x.0 == y.0 && x.1 > y.1 && !matches!(a, Convex::Polytope(_))
}

fn rank(shape: &Convex) -> u32 {
    match shape {
        Convex::Primitive(p) => match p {
            Primitive::HalfSpace { .. } => 0,
            Primitive::Sphere { .. } => 1,
            Primitive::Capsule { .. } => 2,
            Primitive::Segment { .. } => 3,
            Primitive::Triangle { .. } => 4,
            Primitive::Cuboid { .. } => 5,
            Primitive::Cylinder { .. } => 6,
            Primitive::Cone { .. } => 7,
            Primitive::Ellipsoid { .. } => 8,
        },
        Convex::Polytope(_) => 9,
    }
}

/// The pair with the simpler kind first.
fn in_order(
    a: &Convex,
    pose_a: &Pose,
    b: &Convex,
    pose_b: &Pose,
    memory: &mut ConvexMemory,
) -> (Separation, Certainty) {
    match (a, b) {
        (Convex::Primitive(Primitive::HalfSpace { normal, offset }), other) => {
            (half_space(*normal, *offset, pose_a, other, pose_b), Certainty::Exact)
        }
        (Convex::Primitive(Primitive::Sphere { radius }), Convex::Primitive(other)) => {
            (sphere(*radius, pose_a, other, pose_b), Certainty::Exact)
        }
        (Convex::Primitive(Primitive::Sphere { radius }), Convex::Polytope(hull)) => {
            match sphere_in_hull(*radius, pose_a, hull, pose_b) {
                Some(found) => (found, Certainty::Exact),
                None => distance_by_supports(a, pose_a, b, pose_b, memory),
            }
        }
        (Convex::Polytope(p), Convex::Polytope(q)) => {
            (polytope_distance::distance(p, pose_a, q, pose_b, &mut memory.walk), Certainty::Exact)
        }
        _ => distance_by_supports(a, pose_a, b, pose_b, memory),
    }
}

/// A half-space as a, by the support of the other along its normal.
fn half_space(normal: DVec3, offset: f64, pose: &Pose, other: &Convex, pose_b: &Pose) -> Separation {
    let outward = pose.rotation() * normal;
    let length = outward.length();
    let (normal, offset) = (outward / length, offset / length);
    let origin = pose.translation();
    if let Convex::Primitive(Primitive::HalfSpace { normal: theirs, offset: their_offset }) = other {
        let theirs = pose_b.rotation() * *theirs;
        return half_spaces(
            [outward, theirs],
            [offset, their_offset / theirs.length()],
            [origin, pose_b.translation()],
        );
    }
    let frame = LocalFrame { origin, scale: 1.0 };
    let body = PlacedCore::new(other, pose_b, &frame);
    let (deepest, corner) = body.support(-normal);
    let distance = deepest.dot(normal) - offset - body.radius;
    let point = frame.leave(deepest - normal * body.radius);
    Separation {
        distance,
        points: [point - normal * distance, point],
        features: [Feature::Face(0), body.feature(&[corner])],
        normal,
    }
}

/// Two half-spaces part only where their normals are opposite; else they overlap without end.
fn half_spaces(outward: [DVec3; 2], offsets: [f64; 2], origins: [DVec3; 2]) -> Separation {
    let normal = outward[0].normalize();
    let point = origins[0] + normal * offsets[0];
    let opposite = outward[0].dot(outward[1]) < 0.0
        && cross(&exact(outward[0]), &exact(outward[1])).iter().all(|x| x.is_zero());
    let distance = if opposite {
        (origins[1] - origins[0]).dot(normal) - offsets[1] - offsets[0]
    } else {
        f64::NEG_INFINITY
    };
    let theirs = if opposite { point + normal * distance } else { point };
    Separation { distance, points: [point, theirs], features: [Feature::Face(0); 2], normal }
}

/// A sphere as a, by the distance of its centre.
fn sphere(radius: f64, pose: &Pose, other: &Primitive, pose_b: &Pose) -> Separation {
    let (centre, turn) = (pose.translation(), pose_b.rotation());
    let foot = point::signed_distance(other, turn.transpose() * (centre - pose_b.translation()));
    let normal = -(turn * foot.normal);
    Separation {
        distance: foot.distance - radius,
        points: [centre + normal * radius, turn * foot.point + pose_b.translation()],
        features: [Feature::Surface, foot.feature],
        normal,
    }
}

/// The signed distance of a point, as a, from a primitive, in closed form.
pub(super) fn from_point(p: DVec3, other: &Primitive, pose: &Pose) -> Separation {
    let found = sphere(0.0, &Pose::shift(p), other, pose);
    Separation { features: [Feature::Vertex(0), found.features[1]], ..found }
}

/// A sphere whose centre is inside a hull, as a: the nearest face plane is all that matters. `None` when the
/// centre is outside, or so near to the surface that rounding decides, or where the pose is no rotation.
fn sphere_in_hull(radius: f64, pose: &Pose, hull: &Polytope, pose_b: &Pose) -> Option<Separation> {
    if hull.dimension() < 3 || !pose_b.is_rotation() {
        return None;
    }
    let (turn, centre) = (pose_b.matrix(), pose.translation());
    let p = turn.transpose() * (centre - pose_b.translation());
    let heights = hull.faces().iter().map(|face| face.normal.dot(p - face.corner));
    let (face, height) =
        heights.enumerate().fold((0, f64::NEG_INFINITY), |best, new| if new.1 > best.1 { new } else { best });
    if height >= -SUPPORT_ROUNDING * (hull.reach() + p.length()) {
        return None;
    }
    let normal = -(turn * hull.faces()[face].normal);
    Some(Separation {
        distance: height - radius,
        points: [centre + normal * radius, centre + normal * height],
        features: [Feature::Surface, Feature::Face(face as u32)],
        normal,
    })
}

/// As [`distance`], by support mappings alone: GJK and EPA, the independent check of the walk between polytopes.
/// A half-space counts as a point of its plane here.
pub fn distance_by_supports(
    a: &Convex,
    pose_a: &Pose,
    b: &Convex,
    pose_b: &Pose,
    memory: &mut ConvexMemory,
) -> (Separation, Certainty) {
    let places = [place(a, pose_a), place(b, pose_b)];
    let sizes = [reach_of(a), reach_of(b)];
    let frame = LocalFrame::between(places, sizes);
    let [a, b] = [PlacedCore::new(a, pose_a, &frame), PlacedCore::new(b, pose_b, &frame)];
    let size = a.reach + b.reach + frame.enter(places[1]).length();
    let pair = CorePair { a, b, frame, size };
    let found = match (&pair.a.core, &pair.b.core) {
        (Core::Segment(p), Core::Segment(q)) => pair.segments(p, q),
        (Core::Cuboid { .. }, Core::Cuboid { .. }) => pair.boxes(memory),
        _ => pair.search(memory),
    };
    memory.normal = found.0.normal;
    found
}

/// Two cores in one frame.
struct CorePair<'s> {
    a: PlacedCore<'s>,
    b: PlacedCore<'s>,
    frame: LocalFrame,
    /// Bounds the coordinates, in search units.
    size: f64,
}

impl CorePair<'_> {
    /// The answer about the cores, widened by the radii and brought back to the world.
    fn widened(&self, distance: f64, normal: DVec3, points: [DVec3; 2], corners: [&[u32]; 2]) -> Separation {
        let [p, q] = points;
        Separation {
            distance: (distance - (self.a.radius + self.b.radius)) / self.frame.scale,
            points: [p + normal * self.a.radius, q - normal * self.b.radius].map(|x| self.frame.leave(x)),
            features: [self.a.feature(corners[0]), self.b.feature(corners[1])],
            normal,
        }
    }

    fn segments(&self, p: &[DVec3; 2], q: &[DVec3; 2]) -> (Separation, Certainty) {
        let near = closest_points(p, q);
        let distance = near.distance_sq.sqrt();
        let along = [p[1] - p[0], q[1] - q[0]];
        let normal = if distance > SUPPORT_ROUNDING * self.size {
            (near.points[1] - near.points[0]) / distance
        } else {
            // They cross or overlap: across both they part at once.
            let [short, long] =
                if along[0].length_squared() > along[1].length_squared() { [1, 0] } else { [0, 1] };
            let normal = across_both(along[long], along[short]);
            if normal.dot(near.points[1] - near.points[0]) < 0.0 { -normal } else { normal }
        };
        let ids = near.ends.map(|end| end.map_or([0, 1], |k| [k.into(); 2]));
        (self.widened(distance, normal, near.points, [&ids[0], &ids[1]]), Certainty::Exact)
    }

    fn search(&self, memory: &mut ConvexMemory) -> (Separation, Certainty) {
        let CorePair { a, b, size, .. } = self;
        let start = if memory.normal == DVec3::ZERO { a.middle() - b.middle() } else { -memory.normal };
        let apart = gap(a, b, start, *size);
        memory.supports += u64::from(apart.steps);
        // A plane well between the cores: they are apart, even should the bracket not be closed.
        if apart.at_least > SUPPORT_ROUNDING * size {
            return self.apart(&apart);
        }
        let polyhedral = self.is_polyhedral();
        let (tolerance, most) = if polyhedral { (0.0, u32::MAX) } else { (CURVED_DEPTH * size, MOST_STEPS) };
        let mut deep = depth(&mut memory.polytope, a, b, *size, tolerance, most);
        memory.supports += u64::from(deep.steps);
        if !polyhedral {
            if deep.at_most - deep.at_least > tolerance.max(SUPPORT_ROUNDING * size) {
                self.polish(&mut deep);
            }
            self.straighten(&mut deep);
        }
        let certainty = self.certainty(deep.at_most - deep.at_least);
        let Some((points, corners)) = &deep.face else {
            return (self.overlapping(deep.at_most, deep.normal), certainty);
        };
        let ids = [ids_of(corners, 0), ids_of(corners, 1)];
        (self.widened(-deep.at_most, deep.normal, *points, [&ids[0], &ids[1]]), certainty)
    }

    /// Turns the normal of an open bracket downhill until no small turn helps: the value is then a local
    /// minimum to rounding, though the bracket may not prove it the smallest.
    fn polish(&self, deep: &mut Depth) {
        let mut step = POLISH_FIRST_TURN;
        while step > POLISH_LAST_TURN {
            let (u, v) = deep.normal.any_orthonormal_pair();
            let better = (0..8).find_map(|k| {
                let (sin, cos) = (f64::from(k) * FRAC_PI_4 + step).sin_cos();
                let normal = (deep.normal + (u * cos + v * sin) * step).normalize();
                let reach = support(&self.a, &self.b, normal).w.dot(normal);
                (reach < deep.at_most).then_some((reach, normal))
            });
            match better {
                Some((reach, normal)) => {
                    (deep.at_most, deep.normal, deep.face) = (reach, normal, None);
                }
                None => step *= 0.5,
            }
        }
    }

    /// Of normals that are equally good but for rounding, as where a cone stands with its apex on another's,
    /// takes the one along the line between the middles, if it is one of them: the same in either order.
    fn straighten(&self, deep: &mut Depth) {
        let Some(line) = (self.b.middle() - self.a.middle()).try_normalize() else { return };
        let reach = support(&self.a, &self.b, line).w.dot(line);
        if reach <= deep.at_most + SUPPORT_ROUNDING * self.size && line != deep.normal {
            (deep.at_most, deep.normal, deep.face) = (deep.at_most.max(reach), line, None);
        }
    }

    fn boxes(&self, memory: &ConvexMemory) -> (Separation, Certainty) {
        let (Core::Cuboid { centre: p, sides }, Core::Cuboid { centre: q, sides: others }) =
            (&self.a.core, &self.b.core)
        else {
            return self.search(&mut ConvexMemory::default());
        };
        let pair = BoxPair { centres: [*p, *q], sides: [sides, others] };
        let noise = SUPPORT_ROUNDING * self.size;
        let found = pair.overlap(memory.normal, noise);
        if found.depth < -noise {
            return self.apart(&gap(&self.a, &self.b, -found.normal, self.size));
        }
        let separation = match pair.touch(&found) {
            Some((points, features)) => {
                Separation { features, ..self.widened(-found.depth, found.normal, points, [&[], &[]]) }
            }
            None => self.overlapping(found.depth, found.normal),
        };
        (separation, Certainty::Exact)
    }

    /// The answer when a plane lies between the cores.
    fn apart(&self, apart: &Gap) -> (Separation, Certainty) {
        let corners = apart.simplex.corners();
        let [p, q] = apart.simplex.points();
        let ids = [ids_of(corners, 0), ids_of(corners, 1)];
        let found = self.widened(apart.at_most, apart.normal, [p, q], [&ids[0], &ids[1]]);
        (found, self.certainty(apart.at_most - apart.at_least))
    }

    /// The answer when depth and normal are known: b, moved so that they just touch, shows where.
    fn overlapping(&self, depth: f64, normal: DVec3) -> Separation {
        let shift = normal * depth;
        let touch = gap_after(&self.a, &self.b, shift, -normal, self.size);
        let [p, q] = touch.simplex.points();
        let corners = touch.simplex.corners();
        // What is left between the points after the move is shared.
        let rest = (p - q - shift) * 0.5;
        let ids = [ids_of(corners, 0), ids_of(corners, 1)];
        self.widened(-depth, normal, [p - rest, q + rest], [&ids[0], &ids[1]])
    }

    fn is_polyhedral(&self) -> bool {
        self.a.is_polyhedral() && self.b.is_polyhedral()
    }

    fn certainty(&self, width: f64) -> Certainty {
        let noise = SUPPORT_ROUNDING * self.size;
        if self.is_polyhedral() && width <= 4.0 * noise {
            return Certainty::Exact;
        }
        Certainty::Approximate { resolution: width.max(noise) / self.frame.scale }
    }
}

/// A unit vector square to two vectors, of which the first is the longer one.
fn across_both(long: DVec3, short: DVec3) -> DVec3 {
    let Some(way) = long.try_normalize() else { return DVec3::Z };
    // What the short one has across the way, freed of it twice, so that it is square to the way where little is left.
    let rest = (0..2).fold(short, |rest, _| rest - way * rest.dot(way));
    // Where nothing is left but rounding, every direction across the way is as good.
    if rest.length() <= SUPPORT_ROUNDING * short.length() {
        return way.any_orthonormal_vector();
    }
    way.cross(rest).normalize()
}

/// The corners that a body has in a simplex or face.
fn ids_of(corners: &[Corner], body: usize) -> SmallVec<[u32; 4]> {
    corners.iter().map(|c| c.ids[body]).collect()
}

#[cfg(test)]
#[path = "separation_tests.rs"]
mod tests;
