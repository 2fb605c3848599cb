//! Where a line enters and leaves a placed convex shape.
//!
//! Curved primitives are quadrics cut by slabs, solved about the point of the line nearest to the shape's middle, so
//! that a distant origin costs no more digits than its own rounding. Hulls and triangles are their placed triangles,
//! without gaps between neighbours. A ray that starts on a surface hits it there, also where it runs in it. What has
//! no area is never hit.

use glam::DVec3;
use smallvec::SmallVec;

use super::point::signed_distance;
use crate::contact::Feature;
use crate::geom::ray_triangle::ShearedRay;
use crate::geom::unit_normal::unit_normal;
use crate::narrow::exact::ray_cast::{Ray, RayHit, crossing_ahead, triangle_hit};
use crate::num::tolerance::{
    HULL_CHORD_ROUNDING, LARGEST_LENGTH_UNSCALED, RAY_START_ROUNDING, ROUND_UP, SMALLEST_LENGTH_UNSCALED,
};
use crate::shape::{Convex, Polytope, Primitive};
use crate::{Counters, Pose};

/// At most two hits, the nearer first.
pub(crate) type Hits = SmallVec<[RayHit; 2]>;

/// An end of the part of a line in a solid: the way to it, the outward normal (of any length) and the feature.
#[derive(Debug, Clone, Copy)]
struct End {
    at: f64,
    normal: DVec3,
    feature: Feature,
}

impl End {
    fn new(at: f64, normal: DVec3) -> End {
        End { at, normal, feature: Feature::Surface }
    }

    /// No end: the line comes from or goes to infinity within the solid.
    fn never(at: f64) -> End {
        End::new(at, DVec3::ZERO)
    }
}

/// The part of a line in a convex solid.
type Chord = [End; 2];

/// How many of the surface points are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    First,
    Both,
}

/// The surface points of a convex shape on a ray, from inside too, and the work.
pub(crate) fn hits(convex: &Convex, pose: &Pose, ray: &Ray) -> (Hits, Counters) {
    wanted_hits(convex, pose, ray, Wanted::Both)
}

/// The first of [`hits`], which are not all looked for.
pub(crate) fn first_hit(convex: &Convex, pose: &Pose, ray: &Ray) -> (Option<RayHit>, Counters) {
    let (hits, work) = wanted_hits(convex, pose, ray, Wanted::First);
    (hits.first().copied(), work)
}

#[inline]
fn wanted_hits(convex: &Convex, pose: &Pose, ray: &Ray, wanted: Wanted) -> (Hits, Counters) {
    let (hits, tests) = match convex {
        _ if !ray.is_sound() => (Hits::new(), 0),
        Convex::Polytope(hull) => (hull_hits(hull, pose, ray, wanted), hull.faces().len().max(1)),
        Convex::Primitive(Primitive::Triangle { corners }) => {
            let rigid = pose.rigid();
            (flat_hits(&[corners.map(|p| rigid.apply(p))], ray), 1)
        }
        Convex::Primitive(primitive) => (solid_hits(primitive, pose, ray, wanted), 1),
    };
    (hits, Counters { primitive_tests: tests as u64, ..Counters::default() })
}

fn scale_of(size: f64) -> f64 {
    if (SMALLEST_LENGTH_UNSCALED..LARGEST_LENGTH_UNSCALED).contains(&size) || size == 0.0 {
        return 1.0;
    }
    // A power of two that brings the size to about one.
    f64::from_bits(((2046 - (size.to_bits() >> 52)).clamp(1, 2045)) << 52)
}

/// One sheet of triangles: its normal looks towards the ray's origin.
fn flat_hits(triangles: &[[DVec3; 3]], ray: &Ray) -> Hits {
    let size = triangles.iter().flatten().fold(0.0_f64, |size, p| size.max(p.abs().max_element()));
    let sheared = ShearedRay::new(ray.origin, ray.direction, scale_of(size));
    let crossed = triangles.iter().filter_map(|t| Some((t, crossing_ahead(ray, &sheared, t)?)));
    let first = crossed.min_by(|(_, a), (_, b)| a.t.total_cmp(&b.t));
    let hit = first.filter(|(_, crossing)| crossing.t <= ray.reach).map(|(corners, crossing)| {
        let mut hit = triangle_hit(corners, crossing, Feature::Face(0));
        hit.weights = hit.weights.filter(|_| triangles.len() == 1);
        if hit.normal.dot(ray.direction) > 0.0 {
            hit.normal = -hit.normal;
        }
        hit
    });
    hit.into_iter().collect()
}

fn hull_hits(hull: &Polytope, pose: &Pose, ray: &Ray, wanted: Wanted) -> Hits {
    let corner = |v: u32| pose.apply(hull.vertices()[v as usize]);
    if hull.dimension() < 3 {
        let sheet: SmallVec<[[DVec3; 3]; 8]> = match hull.dimension() {
            2 => hull.fan(0).map(|t| t.map(corner)).collect(),
            _ => SmallVec::new(),
        };
        return flat_hits(&sheet, ray);
    }
    let Some(chord) = HullChord::new(hull, pose, ray) else { return Hits::new() };
    if wanted == Wanted::First
        && let Some((face, _)) = chord.entered.filter(|entry| chord.enters_only_by(hull, entry))
    {
        let mut hits = Hits::new();
        add_face_hits(&mut hits, hull, pose, ray, face);
        if !hits.is_empty() {
            return hits;
        }
    }
    face_hits(hull, pose, ray, |face| chord.may_end_on(hull, face))
}

/// The hits of those faces of a solid hull that may be hit.
fn face_hits(hull: &Polytope, pose: &Pose, ray: &Ray, may_be_hit: impl Fn(u32) -> bool) -> Hits {
    let mut hits = Hits::new();
    for face in (0..hull.faces().len() as u32).filter(|&face| may_be_hit(face)) {
        add_face_hits(&mut hits, hull, pose, ray, face);
    }
    hits
}

fn add_face_hits(hits: &mut Hits, hull: &Polytope, pose: &Pose, ray: &Ray, face: u32) {
    let corner = |v: u32| pose.apply(hull.vertices()[v as usize]);
    let sheared = ShearedRay::new(ray.origin, ray.direction, scale_of(hull.reach()));
    for triangle in hull.fan(face) {
        let corners = triangle.map(corner);
        let Some(crossing) = crossing_ahead(ray, &sheared, &corners).filter(|c| c.t <= ray.reach) else {
            continue;
        };
        let mut hit = triangle_hit(&corners, crossing, Feature::Face(face));
        hit.weights = None;
        hit.normal = face_normal(hull, face, corner, pose.apply(hull.centre()));
        keep_ends(hits, hit);
    }
}

/// The part of a ray in a solid hull, in the hull's frame and with room for rounding: only faces at its ends are hit.
struct HullChord {
    ends: [DVec3; 2],
    /// The face through which the ray enters, to rounding, and the latest point where it does; `None` where it starts
    /// within.
    entered: Option<(u32, DVec3)>,
    /// What rounding can do to the height of a point over a face.
    pad: f64,
}

impl HullChord {
    /// `None` where the ray surely misses.
    fn new(hull: &Polytope, pose: &Pose, ray: &Ray) -> Option<HullChord> {
        let longest = ray.direction.abs().max_element();
        let back = pose.matrix().inverse();
        let origin = back * (ray.origin - pose.translation());
        let step = back * (ray.direction / longest);
        let size = ray.origin.abs().max_element()
            + pose.translation().abs().max_element()
            + origin.abs().max_element()
            + hull.centre().abs().max_element()
            + hull.reach();
        let pad = HULL_CHORD_ROUNDING * size;
        let from_centre = origin - hull.centre();
        let room = (hull.reach() + pad) * ROUND_UP;
        let square = step.length_squared();
        if from_centre.cross(step).length_squared() > room * room * square * ROUND_UP {
            return None;
        }
        let (mut enter, mut leave) = (-4.0 * pad, ray.reach * longest + 4.0 * pad);
        let mut entered = None;
        for (index, face) in hull.faces().iter().enumerate() {
            let (height, rate) = (face.normal.dot(origin - face.corner), face.normal.dot(step));
            // The plane is passed at room/rate, which is divided only where it changes an end: few do. Where the rate
            // is 0 the whole line is on one side; what is no number says nothing.
            let room = pad - height;
            let known = if rate > 0.0 { leave } else { enter };
            if room < known * rate {
                if rate > 0.0 {
                    leave = room / rate;
                } else if rate < 0.0 {
                    (enter, entered) = (room / rate, Some(index as u32));
                } else {
                    return None;
                }
                if enter > leave {
                    return None;
                }
            }
        }
        let entered = entered.map(|index| {
            let face = &hull.faces()[index as usize];
            let latest = (-pad - face.normal.dot(origin - face.corner)) / face.normal.dot(step);
            (index, origin + step * latest)
        });
        Some(HullChord { ends: [enter, leave].map(|at| origin + step * at), entered, pad })
    }

    /// Whether an end is so near to the plane of a face that the face may be hit.
    fn may_end_on(&self, hull: &Polytope, face: u32) -> bool {
        !self.ends.iter().all(|end| self.is_below(hull, face, end))
    }

    /// Whether no other face may be hit where the ray enters, between the earliest and the latest point of it.
    fn enters_only_by(&self, hull: &Polytope, (face, latest): &(u32, DVec3)) -> bool {
        let below = |other: u32| [&self.ends[0], latest].into_iter().all(|p| self.is_below(hull, other, p));
        (0..hull.faces().len() as u32).all(|other| other == *face || below(other))
    }

    /// Whether a point is so far below a face that the face is not hit there; not where the height is no number.
    fn is_below(&self, hull: &Polytope, face: u32, p: &DVec3) -> bool {
        let face = &hull.faces()[face as usize];
        face.normal.dot(p - face.corner) < -2.0 * self.pad
    }
}

/// Keeps the nearest and the farthest hit; a side or corner is hit through the face with the smallest index.
fn keep_ends(hits: &mut Hits, hit: RayHit) {
    match hits.as_mut_slice() {
        [] => hits.push(hit),
        [one] if hit.t > one.t => hits.push(hit),
        [one] if hit.t < one.t => hits.insert(0, hit),
        [_] => {}
        [first, ..] if hit.t < first.t => *first = hit,
        [.., last] if hit.t > last.t => *last = hit,
        _ => {}
    }
}

fn face_normal(hull: &Polytope, face: u32, corner: impl Fn(u32) -> DVec3, centre: DVec3) -> DVec3 {
    let sides = hull.sides(face);
    let normal = unit_normal(sides.len(), |i| corner(sides[i].start));
    if normal.dot(corner(sides[0].start) - centre) < 0.0 { -normal } else { normal }
}

/// A primitive with a volume.
fn solid_hits(primitive: &Primitive, pose: &Pose, ray: &Ray, wanted: Wanted) -> Hits {
    let rigid = pose.rigid();
    let turn = rigid.matrix();
    let back = turn.transpose();
    let size = size_of_primitive(primitive);
    let scale = scale_of(size);
    let longest = ray.direction.abs().max_element();
    let along = ray.direction / longest;
    let length = along.length();
    let unit = back * (along / length);
    let origin = back * ((ray.origin - rigid.translation()) * scale);
    // About the point of the line nearest to the middle.
    let nearest = -origin.dot(unit);
    let foot = origin + unit * nearest;
    let scaled = primitive.scaled(scale);
    let rounding = RAY_START_ROUNDING * (size * scale + ray.origin.abs().max_element() * scale);
    let mut hits = Hits::new();
    let chord = chord(&scaled, foot, unit);
    for end in chord.iter().flatten().filter(|end| end.at.is_finite()) {
        let mut way = nearest + end.at;
        if way.abs() <= rounding {
            way = 0.0;
        }
        let t = way / scale / length / longest;
        if t >= 0.0 && t <= ray.reach {
            let point = turn * ((foot + unit * end.at) / scale) + rigid.translation();
            let normal = (turn * (end.normal / end.normal.abs().max_element())).normalize();
            hits.push(RayHit { t, point, normal, feature: end.feature, weights: None });
            if wanted == Wanted::First {
                break;
            }
        }
    }
    if let [a, b] = hits[..]
        && a.t == b.t
    {
        hits.pop();
    }
    // A line that runs in the surface, or touches it to rounding, has no end at the start.
    if hits.first().is_none_or(|hit| hit.t > 0.0)
        && let Some((normal, feature)) = surface_at(&scaled, origin, rounding)
    {
        let normal = (turn * normal).normalize();
        hits.insert(0, RayHit { t: 0.0, point: ray.origin, normal, feature, weights: None });
        hits.truncate(if wanted == Wanted::First { 1 } else { 2 });
    }
    hits
}

/// The outward normal and the feature at a point of a surface; `None` for a point that is not on it to rounding.
fn surface_at(primitive: &Primitive, p: DVec3, rounding: f64) -> Option<(DVec3, Feature)> {
    let size = size_of_primitive(primitive) + rounding;
    match *primitive {
        Primitive::HalfSpace { normal, offset } => {
            let is_on = (normal.dot(p) - offset).abs() <= rounding * normal.length();
            is_on.then_some((normal, Feature::Face(0)))
        }
        _ if p.abs().max_element() > size => None,
        Primitive::Cuboid { half } => {
            let beyond = p.abs() - half;
            let axis = beyond.max_position();
            let is_up = p[axis] > 0.0;
            let normal = DVec3::AXES[axis] * if is_up { 1.0 } else { -1.0 };
            (beyond[axis].abs() <= rounding)
                .then_some((normal, Feature::Face(2 * axis as u32 + u32::from(is_up))))
        }
        _ => {
            let surface = signed_distance(primitive, p);
            (surface.distance.abs() <= rounding).then_some((surface.normal, Feature::Surface))
        }
    }
}

/// A length that no point of the surface near the origin exceeds.
fn size_of_primitive(primitive: &Primitive) -> f64 {
    match *primitive {
        Primitive::Sphere { radius } => radius,
        Primitive::Cuboid { half } => half.max_element(),
        Primitive::Capsule { radius, half_height }
        | Primitive::Cylinder { radius, half_height }
        | Primitive::Cone { radius, half_height } => radius + half_height,
        Primitive::Ellipsoid { radii } => radii.max_element(),
        Primitive::HalfSpace { offset, .. } => offset.abs(),
        Primitive::Triangle { .. } | Primitive::Segment { .. } => 0.0,
    }
}

/// The part of the line p + s·u, u of length 1, in the solid.
fn chord(primitive: &Primitive, p: DVec3, u: DVec3) -> Option<Chord> {
    match *primitive {
        Primitive::Sphere { radius } => ball(DVec3::ZERO, radius, p, u),
        Primitive::Ellipsoid { radii } => {
            let (q, v) = (p / radii, u / radii);
            let length = v.length();
            let unit = ball(DVec3::ZERO, 1.0, q, v / length)?;
            Some(unit.map(|end| End::new(end.at / length, end.normal / radii)))
        }
        Primitive::Cuboid { half } => {
            let sides = (0..3).map(|axis| slab(axis, half[axis], p, u));
            sides.reduce(|a, b| common(a?, b?)).flatten()
        }
        Primitive::Cylinder { radius, half_height } => {
            common(bar(radius, p, u)?, surface_only(slab(2, half_height, p, u)?))
        }
        Primitive::Capsule { radius, half_height } => {
            let middle = bar(radius, p, u).zip(slab(2, half_height, p, u)).and_then(|(a, b)| common(a, b));
            let ends = [half_height, -half_height].map(|z| ball(DVec3::Z * z, radius, p, u));
            ends.into_iter().chain([middle]).flatten().reduce(joined).map(surface_only)
        }
        Primitive::Cone { radius, half_height } => {
            common(cone(radius, half_height, p, u)?, surface_only(slab(2, half_height, p, u)?))
        }
        Primitive::HalfSpace { normal, offset } => {
            let rate = normal.dot(u);
            let at = (offset - normal.dot(p)) / rate;
            let end = End { at, normal, feature: Feature::Face(0) };
            match rate {
                _ if !at.is_finite() => None,
                _ if rate < 0.0 => Some([end, End::never(f64::INFINITY)]),
                _ => Some([End::never(f64::NEG_INFINITY), end]),
            }
        }
        Primitive::Triangle { .. } | Primitive::Segment { .. } => None,
    }
}

fn surface_only(chord: Chord) -> Chord {
    chord.map(|end| End { feature: Feature::Surface, ..end })
}

/// The common part of two.
fn common(a: Chord, b: Chord) -> Option<Chord> {
    let enter = if a[0].at >= b[0].at { a[0] } else { b[0] };
    let leave = if a[1].at <= b[1].at { a[1] } else { b[1] };
    (enter.at <= leave.at).then_some([enter, leave])
}

/// Two that overlap, as one.
fn joined(a: Chord, b: Chord) -> Chord {
    [if a[0].at <= b[0].at { a[0] } else { b[0] }, if a[1].at >= b[1].at { a[1] } else { b[1] }]
}

/// Between two planes across an axis.
fn slab(axis: usize, half: f64, p: DVec3, u: DVec3) -> Option<Chord> {
    if u[axis] == 0.0 {
        let forever = [End::never(f64::NEG_INFINITY), End::never(f64::INFINITY)];
        return (p[axis].abs() <= half).then_some(forever);
    }
    let end = |side: f64| {
        let feature = Feature::Face(2 * axis as u32 + u32::from(side > 0.0));
        End { at: (side * half - p[axis]) / u[axis], normal: DVec3::AXES[axis] * side, feature }
    };
    let far = 1.0_f64.copysign(u[axis]);
    Some([end(-far), end(far)])
}

fn ball(centre: DVec3, radius: f64, p: DVec3, u: DVec3) -> Option<Chord> {
    let from = p - centre;
    let near = -from.dot(u);
    let foot = from + u * near;
    let away = foot.length();
    if away > radius {
        return None;
    }
    let half = ((radius - away) * (radius + away)).sqrt();
    let end = |half: f64| End::new(near + half, foot + u * half);
    Some([end(-half), end(half)])
}

/// A round bar along z without ends.
fn bar(radius: f64, p: DVec3, u: DVec3) -> Option<Chord> {
    let (flat, across) = (p.truncate(), u.truncate());
    let speed = across.length();
    if speed == 0.0 {
        let forever = [End::never(f64::NEG_INFINITY), End::never(f64::INFINITY)];
        return (flat.length() <= radius).then_some(forever);
    }
    let unit = across / speed;
    let circle = ball(DVec3::ZERO, radius, flat.extend(0.0), unit.extend(0.0))?;
    Some(circle.map(|end| End { at: end.at / speed, ..end }))
}

/// A cone with its apex at +half_height that widens downwards without end.
fn cone(radius: f64, half_height: f64, p: DVec3, u: DVec3) -> Option<Chord> {
    let slope = radius / (2.0 * half_height);
    let depth = half_height - p.z;
    let (flat, across) = (p.truncate(), u.truncate());
    // |flat + s·across|² = slope²·(depth − s·u.z)²
    let a = across.length_squared() - slope * slope * u.z * u.z;
    let b = flat.dot(across) + slope * slope * depth * u.z;
    let c = (flat.length() - slope * depth.abs()) * (flat.length() + slope * depth.abs());
    let mut inside = b * b - a * c;
    if inside < 0.0 {
        // Through the apex or along the surface; a line that goes steeper than the surface always meets it.
        if a >= 0.0 {
            return None;
        }
        inside = 0.0;
    }
    let sum = -(b + inside.sqrt().copysign(b));
    let end = |at: f64| {
        let x = p + u * at;
        let level = x.truncate().length();
        let outward = x.truncate().extend(slope * level);
        End::new(at, if level > 0.0 { outward } else { DVec3::Z })
    };
    let downward = |at: f64| match u.z > 0.0 {
        true => [End::never(f64::NEG_INFINITY), end(at)],
        false => [end(at), End::never(f64::INFINITY)],
    };
    if a == 0.0 {
        return (b != 0.0).then(|| downward(-0.5 * c / b));
    }
    let roots = [sum / a, if sum == 0.0 { 0.0 } else { c / sum }];
    let (low, high) = (roots[0].min(roots[1]), roots[0].max(roots[1]));
    if a < 0.0 {
        return Some(downward(if u.z > 0.0 { low } else { high }));
    }
    let middle = p.z + u.z * (0.5 * (low + high));
    (middle <= half_height).then(|| [end(low), end(high)])
}

#[cfg(test)]
#[path = "ray_tests.rs"]
mod tests;
