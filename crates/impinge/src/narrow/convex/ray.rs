//! Where a line enters and leaves a placed convex shape.
//!
//! Curved primitives are quadrics cut by slabs, solved about the point of the line nearest to the shape's middle, so
//! that a distant origin costs no more digits than its own rounding. Hulls and triangles are their placed triangles,
//! without gaps between neighbours. A ray that starts on a surface hits it there, also where it runs in it, and one that
//! touches a curved surface to rounding hits it. What has no area is never hit.

use glam::{DMat3, DVec3};
use smallvec::SmallVec;

use super::hull_chord::HullChord;
use super::point::signed_distance;
use crate::contact::Feature;
use crate::geom::ray_triangle::{ShearedRay, in_lanes};
use crate::geom::unit_normal::unit_normal;
use crate::narrow::exact::ray_cast::{Ray, RayHit, crossing_ahead, triangle_hit};
use crate::num::tolerance::{LARGEST_LENGTH_UNSCALED, RAY_START_ROUNDING, SMALLEST_LENGTH_UNSCALED};
use crate::shape::{Convex, Polytope, Primitive};
use crate::simd::Portable;
use crate::{Counters, Pose};

/// How steeply a line must enter a round bar for its ends to be known about as well as its points (no unit: a sine).
const LEAST_STEEPNESS: f64 = 1e-3;

/// At most two hits, the nearer first.
pub(crate) type Hits = SmallVec<[RayHit; 2]>;

/// An end of the part of a line in a solid: the way to it, by how much rounding can change that where it is known, the
/// outward normal (of any length) and the feature.
#[derive(Debug, Clone, Copy)]
struct End {
    at: f64,
    doubt: f64,
    normal: DVec3,
    feature: Feature,
}

impl End {
    fn new(at: f64, normal: DVec3) -> End {
        End { at, doubt: 0.0, normal, feature: Feature::Surface }
    }

    /// No end: the line comes from or goes to infinity within the solid.
    fn never(at: f64) -> End {
        End::new(at, DVec3::ZERO)
    }
}

/// The part of a line in a convex solid.
type Chord = [End; 2];

/// The direction of a ray, measured once for all shapes that it is cast at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heading {
    longest: f64,
    /// After it was divided by its longest component.
    length: f64,
    unit: DVec3,
}

impl Heading {
    pub(crate) fn of(ray: &Ray) -> Heading {
        let longest = ray.direction.abs().max_element();
        let along = ray.direction / longest;
        let length = along.length();
        Heading { longest, length, unit: along / length }
    }
}

/// The surface points of a convex shape on a ray, from inside too, and the work.
pub(crate) fn hits(convex: &Convex, pose: &Pose, ray: &Ray) -> (Hits, Counters) {
    let hits = match convex {
        _ if !ray.is_sound() => Hits::new(),
        Convex::Polytope(hull) if hull.dimension() == 3 => match HullChord::new(hull, pose, ray) {
            Some(chord) => chord_hits(&chord, hull, pose, ray),
            None => Hits::new(),
        },
        Convex::Primitive(primitive) if !convex.is_flat() => solid_hits(primitive, pose, ray),
        _ => flat_hit(convex, pose, ray).into_iter().collect(),
    };
    (hits, work(convex, ray))
}

/// The first of [`hits`], which are not all looked for.
pub(crate) fn first_hit(
    convex: &Convex,
    pose: &Pose,
    ray: &Ray,
    heading: &Heading,
) -> (Option<RayHit>, Counters) {
    let hit = match convex {
        _ if !ray.is_sound() => None,
        Convex::Polytope(hull) if hull.dimension() == 3 => first_hull_hit(hull, pose, ray),
        Convex::Primitive(primitive) if !convex.is_flat() => first_solid_hit(primitive, pose, ray, heading),
        _ => flat_hit(convex, pose, ray),
    };
    (hit, work(convex, ray))
}

fn work(convex: &Convex, ray: &Ray) -> Counters {
    let tests = match convex {
        _ if !ray.is_sound() => 0,
        Convex::Polytope(hull) => hull.faces().len().max(1),
        Convex::Primitive(_) => 1,
    };
    Counters { primitive_tests: tests as u64, ..Counters::default() }
}

fn scale_of(size: f64) -> f64 {
    if (SMALLEST_LENGTH_UNSCALED..LARGEST_LENGTH_UNSCALED).contains(&size) || size == 0.0 {
        return 1.0;
    }
    // A power of two that brings the size to about one.
    f64::from_bits(((2046 - (size.to_bits() >> 52)).clamp(1, 2045)) << 52)
}

/// Where a flat shape is hit.
fn flat_hit(convex: &Convex, pose: &Pose, ray: &Ray) -> Option<RayHit> {
    let sheet: SmallVec<[[DVec3; 3]; 8]> = match convex {
        Convex::Polytope(hull) if hull.dimension() == 2 => {
            hull.fan(0).map(|t| t.map(|v| pose.apply(hull.vertices()[v as usize]))).collect()
        }
        Convex::Primitive(Primitive::Triangle { corners }) => {
            let rigid = pose.rigid();
            SmallVec::from_slice(&[corners.map(|p| rigid.apply(p))])
        }
        _ => return None,
    };
    first_of_sheet(&sheet, ray)
}

/// One sheet of triangles: its normal looks towards the ray's origin.
fn first_of_sheet(triangles: &[[DVec3; 3]], ray: &Ray) -> Option<RayHit> {
    let size = triangles.iter().flatten().fold(0.0_f64, |size, p| size.max(p.abs().max_element()));
    let sheared = ShearedRay::new(ray.origin, ray.direction, scale_of(size));
    let crossed =
        triangles.iter().filter_map(|t| Some((t, crossing_ahead(Portable, ray, &sheared, &in_lanes(t))?)));
    let first = crossed.min_by(|(_, a), (_, b)| a.t.total_cmp(&b.t));
    let (corners, crossing) = first.filter(|(_, crossing)| crossing.t <= ray.reach)?;
    let mut hit = triangle_hit(Portable, &in_lanes(corners), crossing, Feature::Face(0));
    hit.weights = hit.weights.filter(|_| triangles.len() == 1);
    if hit.normal.dot(ray.direction) > 0.0 {
        hit.normal = -hit.normal;
    }
    Some(hit)
}

fn first_hull_hit(hull: &Polytope, pose: &Pose, ray: &Ray) -> Option<RayHit> {
    let chord = HullChord::new(hull, pose, ray)?;
    if let Some(face) = chord.only_entry() {
        let mut hits = Hits::new();
        add_face_hits(&mut hits, hull, pose, ray, face);
        if let [first, ..] = hits[..] {
            return Some(first);
        }
    }
    chord_hits(&chord, hull, pose, ray).first().copied()
}

/// The hits of those faces of a solid hull that may be hit.
fn chord_hits(chord: &HullChord<'_>, hull: &Polytope, pose: &Pose, ray: &Ray) -> Hits {
    let mut hits = Hits::new();
    for face in (0..hull.faces().len() as u32).filter(|&face| chord.may_end_on(face)) {
        add_face_hits(&mut hits, hull, pose, ray, face);
    }
    hits
}

fn add_face_hits(hits: &mut Hits, hull: &Polytope, pose: &Pose, ray: &Ray, face: u32) {
    let corner = |v: u32| pose.apply(hull.vertices()[v as usize]);
    let sheared = ShearedRay::new(ray.origin, ray.direction, scale_of(hull.reach()));
    for triangle in hull.fan(face) {
        let corners = in_lanes(&triangle.map(corner));
        let Some(crossing) = crossing_ahead(Portable, ray, &sheared, &corners).filter(|c| c.t <= ray.reach)
        else {
            continue;
        };
        let mut hit = triangle_hit(Portable, &corners, crossing, Feature::Face(face));
        hit.weights = None;
        hit.normal = face_normal(hull, face, corner, pose.apply(hull.centre()));
        keep_ends(hits, hit);
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

/// The line of a ray in the frame of a primitive with a volume, both scaled, about the point nearest to the middle.
struct SolidLine {
    solid: Primitive,
    scale: f64,
    turn: DMat3,
    shift: DVec3,
    origin: DVec3,
    unit: DVec3,
    /// The point nearest to the middle, and how far it is from the origin.
    foot: DVec3,
    nearest: f64,
    heading: Heading,
    /// Points so near to the origin may be the origin.
    rounding: f64,
}

impl SolidLine {
    #[inline]
    fn new(primitive: &Primitive, pose: &Pose, ray: &Ray, heading: &Heading) -> SolidLine {
        let (turn, shift) = (pose.rotation(), pose.translation());
        let back = turn.transpose();
        let size = size_of_primitive(primitive);
        let scale = scale_of(size);
        let unit = back * heading.unit;
        let origin = back * ((ray.origin - shift) * scale);
        let nearest = -origin.dot(unit);
        SolidLine {
            solid: if scale == 1.0 { *primitive } else { primitive.scaled(scale) },
            scale,
            turn,
            shift,
            origin,
            unit,
            foot: origin + unit * nearest,
            nearest,
            heading: *heading,
            rounding: RAY_START_ROUNDING * (size * scale + ray.origin.abs().max_element() * scale),
        }
    }

    /// The surface points of the line, those at infinity left out.
    #[inline]
    fn ends(&self) -> impl Iterator<Item = End> {
        chord(&self.solid, self.foot, self.unit, self.rounding)
            .into_iter()
            .flatten()
            .filter(|end| end.at.is_finite())
    }

    /// The hit at an end; `None` where that is not on the ray.
    #[inline]
    fn hit(&self, ray: &Ray, end: &End) -> Option<RayHit> {
        let mut way = self.nearest + end.at;
        if way.abs() <= self.rounding {
            way = 0.0;
        }
        let t = way / self.scale / self.heading.length / self.heading.longest;
        if !(t >= 0.0 && t <= ray.reach) {
            return None;
        }
        let point = self.turn * ((self.foot + self.unit * end.at) / self.scale) + self.shift;
        let normal = (self.turn * (end.normal / end.normal.abs().max_element())).normalize();
        Some(RayHit { t, point, normal, feature: end.feature, weights: None })
    }

    /// The hit where the ray starts, if that is on the surface: a line that runs in it, or touches it to rounding, has no
    /// end there.
    #[inline]
    fn start(&self, ray: &Ray) -> Option<RayHit> {
        let (normal, feature) = surface_at(&self.solid, self.origin, self.rounding)?;
        let normal = (self.turn * normal).normalize();
        Some(RayHit { t: 0.0, point: ray.origin, normal, feature, weights: None })
    }
}

fn first_solid_hit(primitive: &Primitive, pose: &Pose, ray: &Ray, heading: &Heading) -> Option<RayHit> {
    let line = SolidLine::new(primitive, pose, ray, heading);
    let first = line.ends().find_map(|end| line.hit(ray, &end));
    let starts = if first.is_none_or(|hit| hit.t > 0.0) { line.start(ray) } else { None };
    starts.or(first)
}

fn solid_hits(primitive: &Primitive, pose: &Pose, ray: &Ray) -> Hits {
    let line = SolidLine::new(primitive, pose, ray, &Heading::of(ray));
    let mut hits: Hits = line.ends().filter_map(|end| line.hit(ray, &end)).collect();
    if let [a, b] = hits[..]
        && a.t == b.t
    {
        hits.pop();
    }
    if hits.first().is_none_or(|hit| hit.t > 0.0)
        && let Some(start) = line.start(ray)
    {
        hits.insert(0, start);
        hits.truncate(2);
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

/// The part of the line p + s·u, u of length 1, in the solid. Points of the line are known up to `rounding`: one that
/// touches an edge of a box, a rim, an apex or a curved surface within that has a chord of length 0.
fn chord(primitive: &Primitive, p: DVec3, u: DVec3, rounding: f64) -> Option<Chord> {
    match *primitive {
        Primitive::Sphere { radius } => ball(DVec3::ZERO, radius, p, u, |_| rounding),
        Primitive::Ellipsoid { radii } => {
            let (q, v) = (p / radii, u / radii);
            let length = v.length();
            // What rounding moves a point by, along the normal of the unit sphere.
            let rounding = |foot: DVec3| rounding * (foot / radii).length();
            let unit = ball(DVec3::ZERO, 1.0, q, v / length, rounding)?;
            Some(unit.map(|end| End::new(end.at / length, end.normal / radii)))
        }
        Primitive::Cuboid { half } => {
            let sides = (0..3).map(|axis| slab(axis, half[axis], p, u, rounding));
            sides.reduce(|a, b| common(a?, b?)).flatten()
        }
        Primitive::Cylinder { radius, half_height } => {
            common(bar(radius, p, u, rounding)?, surface_only(slab(2, half_height, p, u, rounding)?))
        }
        Primitive::Capsule { radius, half_height } => {
            let middle = bar(radius, p, u, rounding).zip(slab(2, half_height, p, u, rounding));
            let middle = middle.and_then(|(a, b)| common(a, b));
            let ends = [half_height, -half_height].map(|z| ball(DVec3::Z * z, radius, p, u, |_| rounding));
            ends.into_iter().chain([middle]).flatten().reduce(joined).map(surface_only)
        }
        Primitive::Cone { radius, half_height } => common(
            cone(radius, half_height, p, u, rounding)?,
            surface_only(slab(2, half_height, p, u, rounding)?),
        ),
        Primitive::HalfSpace { normal, offset } => {
            let rate = normal.dot(u);
            let at = (offset - normal.dot(p)) / rate;
            let end = End { feature: Feature::Face(0), ..End::new(at, normal) };
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

/// The common part of two; one point where rounding may have parted them.
fn common(a: Chord, b: Chord) -> Option<Chord> {
    let enter = if a[0].at >= b[0].at { a[0] } else { b[0] };
    let leave = if a[1].at <= b[1].at { a[1] } else { b[1] };
    if enter.at <= leave.at {
        return Some([enter, leave]);
    }
    (enter.at - leave.at <= enter.doubt + leave.doubt).then_some([enter, End { at: enter.at, ..leave }])
}

/// Two that overlap, as one.
fn joined(a: Chord, b: Chord) -> Chord {
    [if a[0].at <= b[0].at { a[0] } else { b[0] }, if a[1].at >= b[1].at { a[1] } else { b[1] }]
}

/// Between two planes across an axis.
fn slab(axis: usize, half: f64, p: DVec3, u: DVec3, rounding: f64) -> Option<Chord> {
    if u[axis] == 0.0 {
        let forever = [End::never(f64::NEG_INFINITY), End::never(f64::INFINITY)];
        return (p[axis].abs() <= half + rounding).then_some(forever);
    }
    let doubt = rounding / u[axis].abs();
    let end = |side: f64| {
        let feature = Feature::Face(2 * axis as u32 + u32::from(side > 0.0));
        End { at: (side * half - p[axis]) / u[axis], doubt, normal: DVec3::AXES[axis] * side, feature }
    };
    let far = 1.0_f64.copysign(u[axis]);
    Some([end(-far), end(far)])
}

/// A ball; a line that passes it within what `rounding` tells of the nearest point touches it there.
fn ball(centre: DVec3, radius: f64, p: DVec3, u: DVec3, rounding: impl Fn(DVec3) -> f64) -> Option<Chord> {
    let from = p - centre;
    let near = -from.dot(u);
    let foot = from + u * near;
    let away = foot.length();
    if away > radius {
        return (away <= radius + rounding(foot)).then(|| [End::new(near, foot); 2]);
    }
    let half = ((radius - away) * (radius + away)).sqrt();
    let end = |half: f64| End::new(near + half, foot + u * half);
    Some([end(-half), end(half)])
}

/// A round bar along z without ends. How far rounding moves the ends of a line that nearly touches it sideways is not
/// told.
fn bar(radius: f64, p: DVec3, u: DVec3, rounding: f64) -> Option<Chord> {
    let (flat, across) = (p.truncate(), u.truncate());
    let speed = across.length();
    if speed == 0.0 {
        let forever = [End::never(f64::NEG_INFINITY), End::never(f64::INFINITY)];
        return (flat.length() <= radius + rounding).then_some(forever);
    }
    let unit = across / speed;
    let circle = ball(DVec3::ZERO, radius, flat.extend(0.0), unit.extend(0.0), |_| rounding)?;
    // How fast the line leaves the bar, as a share of its speed across.
    let steepness = 0.5 * (circle[1].at - circle[0].at) / radius;
    let doubt = match steepness {
        0.0 => rounding / speed,
        _ if steepness > LEAST_STEEPNESS => rounding / (steepness * speed),
        _ => 0.0,
    };
    Some(circle.map(|end| End { at: end.at / speed, doubt, ..end }))
}

/// A cone with its apex at +half_height that widens downwards without end.
fn cone(radius: f64, half_height: f64, p: DVec3, u: DVec3, rounding: f64) -> Option<Chord> {
    let slope = radius / (2.0 * half_height);
    // From heights across the axis to lengths across the surface.
    let slant = (1.0 + slope * slope).sqrt();
    let (flat, across) = (p.truncate(), u.truncate());
    let end = |at: f64, doubt: f64| {
        let x = p + u * at;
        let level = x.truncate().length();
        let outward = x.truncate().extend(slope * level);
        End { doubt, ..End::new(at, if level > 0.0 { outward } else { DVec3::Z }) }
    };
    let downward = |end: End| match u.z > 0.0 {
        true => [End::never(f64::NEG_INFINITY), end],
        false => [end, End::never(f64::INFINITY)],
    };
    let to_apex = DVec3::Z * half_height - p;
    let at_apex = to_apex.dot(u);
    if (to_apex - u * at_apex).length_squared() <= rounding * rounding {
        // How far outside of the surface it is at the level of the base, but for the length of u.z.
        let lean = (across.length() - slope * u.z.abs()) * 2.0 * half_height;
        let apex = End { doubt: rounding, ..End::new(at_apex, DVec3::Z) };
        if lean.abs() <= 2.0 * rounding * slant * u.z.abs() {
            return Some(downward(apex));
        }
        if lean > 0.0 {
            return Some([apex; 2]);
        }
    }
    let depth = half_height - p.z;
    // |flat + s·across|² = slope²·(depth − s·u.z)²
    let a = across.length_squared() - slope * slope * u.z * u.z;
    let b = flat.dot(across) + slope * slope * depth * u.z;
    let c = (flat.length() - slope * depth.abs()) * (flat.length() + slope * depth.abs());
    let mut inside = b * b - a * c;
    if inside < 0.0 {
        // Along the surface; a line that goes steeper than the surface always meets it.
        if a > 0.0 {
            let at = -b / a;
            let x = p + u * at;
            let outside = x.truncate().length() - slope * (half_height - x.z);
            let is_below = x.z <= half_height + rounding;
            return (is_below && outside <= rounding * slant).then(|| [end(at, rounding); 2]);
        }
        inside = 0.0;
    }
    let root = inside.sqrt();
    let sum = -(b + root.copysign(b));
    let end = |at: f64| {
        let level = (p + u * at).truncate().length();
        // How fast the line leaves the cone.
        let steepness = root / (level * slant);
        end(at, if steepness > LEAST_STEEPNESS { rounding / steepness } else { 0.0 })
    };
    if a == 0.0 {
        return (b != 0.0).then(|| downward(end(-0.5 * c / b)));
    }
    let roots = [sum / a, if sum == 0.0 { 0.0 } else { c / sum }];
    let (low, high) = (roots[0].min(roots[1]), roots[0].max(roots[1]));
    if a < 0.0 {
        return Some(downward(end(if u.z > 0.0 { low } else { high })));
    }
    let middle = p.z + u.z * (0.5 * (low + high));
    (middle <= half_height).then(|| [end(low), end(high)])
}

#[cfg(test)]
#[path = "ray_tests.rs"]
mod tests;
