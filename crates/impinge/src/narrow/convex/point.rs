//! How far a point is from a primitive, in closed form: positive outside, negative inside.
//!
//! The ellipsoid follows Eberly, *Distance from a point to an ellipse, an ellipsoid, or a hyperellipsoid*
//! (2013): the foot's parameter is the one root of a convex function beyond its last pole.

use glam::{DVec2, DVec3};

use super::placed::{cuboid_feature, reach, safe_scale};
use crate::Feature;
use crate::geom::point_triangle::{Part, closest_point, norm, segment_foot};
use crate::shape::Primitive;

/// Where a point is seen from a solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Foot {
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
pub fn signed_distance(primitive: &Primitive, p: DVec3) -> Foot {
    let extent = reach(primitive).max(p.abs().max_element());
    let scale = safe_scale(extent);
    if scale == 1.0 || matches!(primitive, Primitive::HalfSpace { .. }) {
        return unscaled(primitive, p);
    }
    let foot = unscaled(&primitive.scaled(scale), p * scale);
    Foot { distance: foot.distance / scale, point: foot.point / scale, ..foot }
}

/// Where squares of the lengths neither underflow nor overflow.
fn unscaled(primitive: &Primitive, p: DVec3) -> Foot {
    match *primitive {
        Primitive::Sphere { radius } => round(p, DVec3::ZERO, radius),
        Primitive::Capsule { radius, half_height } => {
            round(p, DVec3::new(0.0, 0.0, p.z.clamp(-half_height, half_height)), radius)
        }
        Primitive::Cuboid { half } => cuboid(half, p),
        Primitive::Cylinder { radius, half_height } => {
            let rim = DVec2::new(radius, half_height);
            turned(p, |q| {
                // The profile in the quarter plane is a rectangle.
                let off = DVec2::new(q.x, q.y.abs()) - rim;
                let foot = q.min(rim).max(DVec2::new(0.0, -half_height));
                if off.max_element() > 0.0 {
                    return (foot, None);
                }
                let up = half_height.copysign(q.y);
                if off.x > off.y {
                    (DVec2::new(radius, q.y), Some(DVec2::X))
                } else {
                    (DVec2::new(q.x, up), Some(DVec2::new(0.0, 1.0_f64.copysign(q.y))))
                }
            })
        }
        Primitive::Cone { radius, half_height } => turned(p, |q| cone_profile(radius, half_height, q)),
        Primitive::Ellipsoid { radii } => ellipsoid(radii, p),
        Primitive::HalfSpace { normal, offset } => {
            let length = normal.length();
            let distance = (normal.dot(p) - offset) / length;
            let normal = normal / length;
            Foot { distance, point: p - normal * distance, normal, feature: Feature::Face(0) }
        }
        Primitive::Triangle { corners } => {
            let foot = closest_point(p, &corners);
            let feature = match foot.part {
                Part::Corner(k) => Feature::Vertex(k.into()),
                Part::Side(2) => Feature::Edge([0, 2]),
                Part::Side(k) => Feature::Edge([k.into(), u32::from(k) + 1]),
                Part::Inside => Feature::Face(0),
            };
            let across = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
            flat(p, foot.point, across.normalize_or(DVec3::Z), feature)
        }
        Primitive::Segment { ends: [a, b] } => {
            let (point, end) = segment_foot(p, a, b);
            let feature = end.map_or(Feature::Edge([0, 1]), |k| Feature::Vertex(k.into()));
            let across = (b - a).try_normalize().map_or(DVec3::Z, |d| d.any_orthonormal_vector());
            flat(p, point, across, feature)
        }
    }
}

/// Around a core point.
fn round(p: DVec3, core: DVec3, radius: f64) -> Foot {
    let off = p - core;
    let length = norm(off);
    // At the core every direction is as good.
    let normal = if length > 0.0 { off / length } else { DVec3::X };
    Foot { distance: length - radius, point: core + normal * radius, normal, feature: Feature::Surface }
}

/// A foot on something without inside; `across` where the point lies on it.
fn flat(p: DVec3, point: DVec3, across: DVec3, feature: Feature) -> Foot {
    let distance = norm(p - point);
    let normal = if distance > 0.0 { (p - point) / distance } else { across };
    Foot { distance, point, normal, feature }
}

fn cuboid(half: DVec3, p: DVec3) -> Foot {
    let off = p.abs() - half;
    let corner = (0..3).fold(0, |bits, k| bits | u32::from(p[k] > 0.0) << k);
    if off.max_element() > 0.0 {
        let point = p.clamp(-half, half);
        let free = (0..3).fold(0, |bits, k| bits | u32::from(off[k] <= 0.0) << k);
        return flat(p, point, DVec3::X, cuboid_feature(free, corner));
    }
    let axis = off.max_position();
    let sign = 1.0_f64.copysign(p[axis]);
    let (mut point, mut normal) = (p, DVec3::ZERO);
    point[axis] = half[axis] * sign;
    normal[axis] = sign;
    let corner = corner & !(1 << axis) | u32::from(sign > 0.0) << axis;
    Foot { distance: off[axis], point, normal, feature: cuboid_feature(7 & !(1 << axis), corner) }
}

/// A solid of revolution around z: `profile` finds the foot in the plane of the axis and the point, and the
/// normal there when the point is inside.
fn turned(p: DVec3, profile: impl Fn(DVec2) -> (DVec2, Option<DVec2>)) -> Foot {
    let across = norm(DVec3::new(p.x, p.y, 0.0));
    let out = if across > 0.0 { DVec2::new(p.x, p.y) / across } else { DVec2::X };
    let lift = |q: DVec2| DVec3::new(out.x * q.x, out.y * q.x, q.y);
    let here = DVec2::new(across, p.z);
    let (foot, inside) = profile(here);
    let point = lift(foot);
    match inside {
        Some(normal) => {
            let distance = -norm((foot - here).extend(0.0));
            Foot { distance, point, normal: lift(normal), feature: Feature::Surface }
        }
        None => flat(p, point, lift(foot.normalize_or(DVec2::X)), Feature::Surface),
    }
}

/// The cone's profile: a base at −h and a side from the rim to the apex.
fn cone_profile(radius: f64, half_height: f64, q: DVec2) -> (DVec2, Option<DVec2>) {
    let (rim, apex) = (DVec2::new(radius, -half_height), DVec2::new(0.0, half_height));
    let side = apex - rim;
    let normal = DVec2::new(side.y, -side.x).normalize();
    let (above, below) = (normal.dot(q - rim), -half_height - q.y);
    if above <= 0.0 && below <= 0.0 {
        return if above > below {
            (q - normal * above, Some(normal))
        } else {
            (DVec2::new(q.x, -half_height), Some(DVec2::NEG_Y))
        };
    }
    let on_side = rim + side * ((q - rim).dot(side) / side.length_squared()).clamp(0.0, 1.0);
    let on_base = DVec2::new(q.x.min(radius), -half_height);
    let nearer = if q.distance_squared(on_side) < q.distance_squared(on_base) { on_side } else { on_base };
    (nearer, None)
}

/// The foot x = r²·p / (r² + t) with Σ (r·p / (r² + t))² = 1, in units of the largest radius.
fn ellipsoid(radii: DVec3, p: DVec3) -> Foot {
    let unit = radii.max_element();
    let (e, y) = (radii / unit, (p / unit).abs());
    let point = octant_foot(e, y) * unit;
    let point = DVec3::select(p.cmplt(DVec3::ZERO), -point, point);
    let outside = (p / radii).length_squared() > 1.0;
    // The gradient: right also where the point lies on the surface.
    let normal = (point / radii / (radii / unit)).normalize_or(DVec3::X);
    let length = norm(p - point);
    Foot { distance: if outside { length } else { -length }, point, normal, feature: Feature::Surface }
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
