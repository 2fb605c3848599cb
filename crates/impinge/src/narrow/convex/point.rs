//! How far a point is from a primitive, in closed form: positive outside, negative inside.
//!
//! The ellipsoid follows Eberly, *Distance from a point to an ellipse, an ellipsoid, or a hyperellipsoid*
//! (2013): the foot's parameter is the one root of a convex function beyond its last pole.

use glam::{DVec2, DVec3};

use super::placed_core::{cuboid_feature, reach, safe_scale};
use crate::Feature;
use crate::geom::point_triangle::{TriangleFeature, closest_point, norm, segment_foot};
use crate::num::double_double::triangle_normal;
use crate::num::tolerance::{PLACING_ERROR, SUPPORT_ROUNDING, THINNEST_ELLIPSOID};
use crate::shape::Primitive;

/// Where a point is seen from a solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfaceProjection {
    /// To the surface; negative inside.
    pub distance: f64,
    /// The nearest point of the surface.
    pub point: DVec3,
    /// Unit, out of the solid at the foot: the point is `foot + distance · normal`.
    pub normal: DVec3,
    /// What the foot lies on.
    pub feature: Feature,
}

/// The signed distance of a point of the primitive's own frame.
pub fn signed_distance(primitive: &Primitive, p: DVec3) -> SurfaceProjection {
    let extent = reach(primitive).max(p.abs().max_element());
    let scale = safe_scale(extent);
    if scale == 1.0 || matches!(primitive, Primitive::HalfSpace { .. }) {
        return unscaled(primitive, p);
    }
    let foot = unscaled(&primitive.scaled(scale), p * scale);
    SurfaceProjection { distance: foot.distance / scale, point: foot.point / scale, ..foot }
}

/// Where squares of the lengths neither underflow nor overflow.
fn unscaled(primitive: &Primitive, p: DVec3) -> SurfaceProjection {
    match *primitive {
        Primitive::Sphere { radius } => round(p, DVec3::ZERO, radius),
        Primitive::Capsule { radius, half_height } => {
            round(p, DVec3::new(0.0, 0.0, p.z.clamp(-half_height, half_height)), radius)
        }
        Primitive::Cuboid { half } => cuboid(half, p),
        Primitive::Cylinder { radius, half_height } => {
            turned(p, |q| cylinder_profile(radius, half_height, q))
        }
        Primitive::Cone { radius, half_height } => turned(p, |q| cone_profile(radius, half_height, q)),
        Primitive::Ellipsoid { radii } => ellipsoid(radii, p),
        Primitive::HalfSpace { normal, offset } => {
            let length = normal.length();
            let distance = (normal.dot(p) - offset) / length;
            let normal = normal / length;
            SurfaceProjection { distance, point: p - normal * distance, normal, feature: Feature::Face(0) }
        }
        Primitive::Triangle { corners } => {
            let foot = closest_point(p, &corners);
            let feature = match foot.part {
                TriangleFeature::Corner(k) => Feature::Vertex(k.into()),
                TriangleFeature::Side(2) => Feature::Edge([0, 2]),
                TriangleFeature::Side(k) => Feature::Edge([k.into(), u32::from(k) + 1]),
                TriangleFeature::Inside => Feature::Face(0),
            };
            let across = across_triangle(&corners);
            let height = across.dot(p - corners[0]);
            if foot.part == TriangleFeature::Inside {
                // The plane's normal has more digits than the difference of two near points.
                let normal = if height < 0.0 { -across } else { across };
                return SurfaceProjection { distance: height.abs(), point: foot.point, normal, feature };
            }
            let noise = SUPPORT_ROUNDING * (reach(primitive) + p.length());
            flat(p, foot.point, if height < 0.0 { -across } else { across }, feature, noise)
        }
        Primitive::Segment { ends: [a, b] } => {
            let (point, end) = segment_foot(p, a, b);
            let feature = end.map_or(Feature::Edge([0, 1]), |k| Feature::Vertex(k.into()));
            let across = (b - a).try_normalize().map_or(DVec3::Z, |d| d.any_orthonormal_vector());
            flat(p, point, across, feature, SUPPORT_ROUNDING * (reach(primitive) + p.length()))
        }
    }
}

/// Around a core point.
fn round(p: DVec3, core: DVec3, radius: f64) -> SurfaceProjection {
    let off = p - core;
    let length = norm(off);
    // At the core every direction is as good.
    let normal = if length > 0.0 { off / length } else { DVec3::X };
    SurfaceProjection {
        distance: length - radius,
        point: core + normal * radius,
        normal,
        feature: Feature::Surface,
    }
}

/// A unit vector across a triangle, also where it has no area.
fn across_triangle([a, b, c]: &[DVec3; 3]) -> DVec3 {
    let normal = triangle_normal(*a, *b, *c).normalize_or_zero();
    if normal != DVec3::ZERO {
        return normal;
    }
    let sides = [*b - *a, *c - *b, *a - *c];
    let longest =
        sides.into_iter().reduce(|u, v| if v.length_squared() > u.length_squared() { v } else { u });
    longest.and_then(DVec3::try_normalize).map_or(DVec3::Z, |d| d.any_orthonormal_vector())
}

/// A foot on something without inside; `across` where the point lies on it, as far as rounding can tell.
fn flat(p: DVec3, point: DVec3, across: DVec3, feature: Feature, noise: f64) -> SurfaceProjection {
    let distance = norm(p - point);
    let normal = if distance > noise { (p - point) / distance } else { across };
    SurfaceProjection { distance, point, normal, feature }
}

fn cuboid(half: DVec3, p: DVec3) -> SurfaceProjection {
    let off = p.abs() - half;
    let corner = (0..3).fold(0, |bits, k| bits | u32::from(p[k] > 0.0) << k);
    if off.max_element() > 0.0 {
        let point = p.clamp(-half, half);
        let free = (0..3).fold(0, |bits, k| bits | u32::from(off[k] <= 0.0) << k);
        let distance = norm(p - point);
        let normal = (p - point) / distance;
        return SurfaceProjection { distance, point, normal, feature: cuboid_feature(free, corner) };
    }
    let axis = off.max_position();
    let sign = 1.0_f64.copysign(p[axis]);
    let (mut point, mut normal) = (p, DVec3::ZERO);
    point[axis] = half[axis] * sign;
    normal[axis] = sign;
    let corner = corner & !(1 << axis) | u32::from(sign > 0.0) << axis;
    SurfaceProjection {
        distance: off[axis],
        point,
        normal,
        feature: cuboid_feature(7 & !(1 << axis), corner),
    }
}

/// A solid of revolution around z: `profile` gives the signed distance and the normal in the plane of the axis
/// and the point.
fn turned(p: DVec3, profile: impl Fn(DVec2) -> (f64, DVec2)) -> SurfaceProjection {
    let across = norm(DVec3::new(p.x, p.y, 0.0));
    let out = if across > 0.0 { DVec2::new(p.x, p.y) / across } else { DVec2::X };
    let lift = |q: DVec2| DVec3::new(out.x * q.x, out.y * q.x, q.y);
    let here = DVec2::new(across, p.z);
    let (distance, normal) = profile(here);
    SurfaceProjection {
        distance,
        point: lift(here - normal * distance),
        normal: lift(normal),
        feature: Feature::Surface,
    }
}

/// Away from a corner of a profile; `outward` where the point lies on it, as far as rounding can tell.
fn from_corner(corner: DVec2, q: DVec2, outward: DVec2) -> (f64, DVec2) {
    let off = q - corner;
    let length = norm(off.extend(0.0));
    let noise = PLACING_ERROR * corner.abs().max_element();
    (length, if length > noise { off / length } else { outward })
}

/// The cylinder's profile: a rectangle.
fn cylinder_profile(radius: f64, half_height: f64, q: DVec2) -> (f64, DVec2) {
    let off = DVec2::new(q.x - radius, q.y.abs() - half_height);
    if off.min_element() > 0.0 {
        return from_corner(DVec2::new(radius, half_height.copysign(q.y)), q, DVec2::X);
    }
    if off.x > off.y { (off.x, DVec2::X) } else { (off.y, DVec2::new(0.0, 1.0_f64.copysign(q.y))) }
}

/// The cone's profile: a base at −h and a side from the rim to the apex.
fn cone_profile(radius: f64, half_height: f64, q: DVec2) -> (f64, DVec2) {
    let (rim, apex) = (DVec2::new(radius, -half_height), DVec2::new(0.0, half_height));
    let side = apex - rim;
    let normal = DVec2::new(side.y, -side.x).normalize();
    let (above, below) = (normal.dot(q - rim), -half_height - q.y);
    if above <= 0.0 && below <= 0.0 {
        return if above > below { (above, normal) } else { (below, DVec2::NEG_Y) };
    }
    // Which part of the outline the point is beyond.
    let along = (q - rim).dot(side);
    if below > 0.0 && q.x <= radius {
        (below, DVec2::NEG_Y)
    } else if along <= 0.0 {
        from_corner(rim, q, normal)
    } else if along >= side.length_squared() {
        from_corner(apex, q, DVec2::Y)
    } else {
        (above, normal)
    }
}

/// The foot x = r²·p / (r² + t) with Σ (r·p / (r² + t))² = 1, in units of the largest radius.
fn ellipsoid(radii: DVec3, p: DVec3) -> SurfaceProjection {
    let unit = radii.max_element();
    // Far below rounding radii are raised and places are zero: their squares and products would underflow.
    let least = DVec3::splat(THINNEST_ELLIPSOID);
    let (e, y) = ((radii / unit).max(least), (p / unit).abs());
    let y = DVec3::select(y.cmplt(least), DVec3::ZERO, y);
    let point = octant_foot(e, y) * unit;
    let point = DVec3::select(p.cmplt(DVec3::ZERO), -point, point);
    let outside = (p / radii).length_squared() > 1.0;
    let length = norm(p - point);
    // The gradient is right also where the point lies on the surface, the way from the foot elsewhere.
    let gradient = (point / unit / e * (e.min_element() / e)).normalize_or(DVec3::X);
    let way = (p - point) / if outside { length } else { -length };
    let normal = if length > PLACING_ERROR * norm(p).max(unit) { way } else { gradient };
    SurfaceProjection {
        distance: if outside { length } else { -length },
        point,
        normal,
        feature: Feature::Surface,
    }
}

/// The foot of a point of the first octant on an ellipsoid whose largest radius is 1.
fn octant_foot(e: DVec3, y: DVec3) -> DVec3 {
    let square = e * e;
    let shortest = e.min_position();
    // The unknown is u = t + least square, so that the smallest denominator is u itself: no digits are lost
    // beside the pole at u = 0, beyond which the sum falls from infinity to −1.
    let above = square - square[shortest];
    if y[shortest] == 0.0 {
        // Without a part along the shortest radius the pole may be none; the foot then leaves the plane of
        // symmetry. Equal radii share the pole, and a part along one of them makes it a pole again.
        let free = (0..3).all(|k| above[k] > 0.0 || y[k] == 0.0);
        let mut foot = DVec3::ZERO;
        for k in (0..3).filter(|&k| above[k] > 0.0) {
            foot[k] = square[k] * y[k] / above[k];
        }
        let rest = 1.0 - (foot / e).length_squared();
        if free && rest >= 0.0 {
            foot[shortest] = e[shortest] * rest.sqrt();
            return foot;
        }
    }
    let product = e * y;
    let low = product[shortest];
    let (mut low, mut high) = (low, norm(product).max(low));
    let mut u = square[shortest].clamp(low, high);
    // Bisection holds Newton's steps: low and high close in on the root, so the loop ends.
    loop {
        let ratio = product / (above + u);
        let value = ratio.length_squared() - 1.0;
        if value > 0.0 {
            low = u;
        } else {
            high = u;
        }
        let slope = -2.0 * (ratio * ratio / (above + u)).element_sum();
        let newton = u - value / slope;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        let done = (next - u).abs() <= f64::EPSILON * u || next <= low || next >= high;
        u = next;
        if done {
            break;
        }
    }
    square * y / (above + u)
}

#[cfg(test)]
#[path = "point_tests.rs"]
mod tests;
