//! Solids that a formula describes, each with its support mapping: the point farthest along a direction.
//!
//! All stand in their own frame: centred at the origin, capsule, cylinder and cone along z. Sizes are
//! checked once, here; every number that is let in is finite, and no length is zero.

use std::f64::consts::PI;

use glam::DVec3;

use crate::Error;
use crate::num::tolerance::LARGEST_COORDINATE;

/// A primitive solid in its own frame; made by the checking constructors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Primitive {
    /// The points at most `radius` from the origin.
    #[non_exhaustive]
    Sphere {
        /// Its radius.
        radius: f64,
    },
    /// A box.
    #[non_exhaustive]
    Cuboid {
        /// Half its sides.
        half: DVec3,
    },
    /// The points at most `radius` from a segment of the z axis.
    #[non_exhaustive]
    Capsule {
        /// Radius of the round.
        radius: f64,
        /// The segment goes from −half_height to +half_height.
        half_height: f64,
    },
    /// A round bar along z.
    #[non_exhaustive]
    Cylinder {
        /// Its radius.
        radius: f64,
        /// Its caps lie at ±half_height.
        half_height: f64,
    },
    /// A cone with its base at −half_height and its apex at +half_height.
    #[non_exhaustive]
    Cone {
        /// Radius of the base.
        radius: f64,
        /// Half the way from base to apex.
        half_height: f64,
    },
    /// A stretched ball.
    #[non_exhaustive]
    Ellipsoid {
        /// Its radii along x, y and z.
        radii: DVec3,
    },
    /// The points x with n·x ≤ offset.
    #[non_exhaustive]
    HalfSpace {
        /// Points out of the solid; its largest component is from 1 to 2.
        normal: DVec3,
        /// In the unit of the normal's length.
        offset: f64,
    },
    /// A flat triangle, which may be of no area.
    #[non_exhaustive]
    Triangle {
        /// Its corners.
        corners: [DVec3; 3],
    },
    /// A segment, which may be of no length.
    #[non_exhaustive]
    Segment {
        /// Its ends.
        ends: [DVec3; 2],
    },
}

impl Primitive {
    /// A ball around the origin.
    ///
    /// # Errors
    /// A radius that is not positive, not finite or beyond 1e60; so for the sizes of all primitives.
    pub fn sphere(radius: f64) -> Result<Primitive, Error> {
        size("radius", radius)?;
        Ok(Primitive::Sphere { radius })
    }

    /// A box around the origin.
    ///
    /// # Errors
    /// As [`Primitive::sphere`].
    pub fn cuboid(half: impl Into<DVec3>) -> Result<Primitive, Error> {
        let half = half.into();
        half.to_array().into_iter().try_for_each(|h| size("half extent", h))?;
        Ok(Primitive::Cuboid { half })
    }

    /// A capsule along z; its round ends reach beyond ±`half_height` by the radius.
    ///
    /// # Errors
    /// As [`Primitive::sphere`].
    pub fn capsule(radius: f64, half_height: f64) -> Result<Primitive, Error> {
        bar(radius, half_height)?;
        Ok(Primitive::Capsule { radius, half_height })
    }

    /// A cylinder along z.
    ///
    /// # Errors
    /// As [`Primitive::sphere`].
    pub fn cylinder(radius: f64, half_height: f64) -> Result<Primitive, Error> {
        bar(radius, half_height)?;
        Ok(Primitive::Cylinder { radius, half_height })
    }

    /// A cone along z with the apex at +`half_height`.
    ///
    /// # Errors
    /// As [`Primitive::sphere`].
    pub fn cone(radius: f64, half_height: f64) -> Result<Primitive, Error> {
        bar(radius, half_height)?;
        Ok(Primitive::Cone { radius, half_height })
    }

    /// An ellipsoid along the axes.
    ///
    /// # Errors
    /// As [`Primitive::sphere`].
    pub fn ellipsoid(radii: impl Into<DVec3>) -> Result<Primitive, Error> {
        let radii = radii.into();
        radii.to_array().into_iter().try_for_each(|r| size("radius", r))?;
        Ok(Primitive::Ellipsoid { radii })
    }

    /// The points x with normal·x ≤ offset; the normal may have any length but zero.
    ///
    /// # Errors
    /// A normal that is zero or not finite, or a plane that passes the origin farther away than 1e60.
    pub fn half_space(normal: impl Into<DVec3>, offset: f64) -> Result<Primitive, Error> {
        let normal = normal.into();
        let largest = normal.abs().max_element();
        if !(normal.is_finite() && largest > 0.0) {
            return Err(argument("normal", format!("{normal} has no direction")));
        }
        // A power of two, in two factors because the reciprocal of a subnormal is infinite: nothing is rounded.
        let (mut normal, mut offset) = (normal, offset);
        let mut largest = largest;
        while !(1.0..2.0).contains(&largest) {
            let exponent = ((largest.to_bits() >> 52) as i64 - 1023).clamp(-512, 512);
            let factor = f64::from_bits(((1023 - exponent) as u64) << 52);
            (normal, offset, largest) = (normal * factor, offset * factor, largest * factor);
        }
        if !(offset.abs() <= LARGEST_COORDINATE) {
            return Err(argument(
                "offset",
                format!("the plane is {offset:e} away; at most 1e60 is accepted"),
            ));
        }
        Ok(Primitive::HalfSpace { normal, offset })
    }

    /// A triangle; one of no area counts as its longest side.
    ///
    /// # Errors
    /// A coordinate that is not finite or beyond 1e60.
    pub fn triangle(corners: [DVec3; 3]) -> Result<Primitive, Error> {
        points(&corners)?;
        Ok(Primitive::Triangle { corners })
    }

    /// A segment; one of no length counts as a point.
    ///
    /// # Errors
    /// As [`Primitive::triangle`].
    pub fn segment(ends: [DVec3; 2]) -> Result<Primitive, Error> {
        points(&ends)?;
        Ok(Primitive::Segment { ends })
    }

    /// The word for its kind, as in the program's questions.
    pub const fn kind(&self) -> &'static str {
        match self {
            Primitive::Sphere { .. } => "sphere",
            Primitive::Cuboid { .. } => "box",
            Primitive::Capsule { .. } => "capsule",
            Primitive::Cylinder { .. } => "cylinder",
            Primitive::Cone { .. } => "cone",
            Primitive::Ellipsoid { .. } => "ellipsoid",
            Primitive::HalfSpace { .. } => "halfspace",
            Primitive::Triangle { .. } => "triangle",
            Primitive::Segment { .. } => "segment",
        }
    }

    /// Whether it has no interior: a triangle or a segment.
    pub const fn is_flat(&self) -> bool {
        matches!(self, Primitive::Triangle { .. } | Primitive::Segment { .. })
    }

    /// Its point farthest along a direction; for a half-space a point of its plane, which is the farthest
    /// only along the normal.
    pub fn support(&self, d: DVec3) -> DVec3 {
        match *self {
            Primitive::Sphere { radius } => unit(d, DVec3::Z) * radius,
            Primitive::Cuboid { half } => half.copysign(d),
            Primitive::Capsule { radius, half_height } => {
                unit(d, DVec3::Z) * radius + DVec3::Z * half_height.copysign(d.z)
            }
            Primitive::Cylinder { radius, half_height } => rim(d, radius, half_height.copysign(d.z)),
            Primitive::Cone { radius, half_height } => {
                let (base, apex) = (rim(d, radius, -half_height), DVec3::Z * half_height);
                if d.dot(apex) >= d.dot(base) { apex } else { base }
            }
            // Scaled, so that no square leaves the range of f64.
            Primitive::Ellipsoid { radii } => radii * unit(radii / radii.max_element() * d, DVec3::Z),
            Primitive::HalfSpace { normal, offset } => normal * (offset / normal.length_squared()),
            Primitive::Triangle { corners } => farthest(&corners, d),
            Primitive::Segment { ends } => farthest(&ends, d),
        }
    }

    /// The same solid, enlarged by a power of two.
    pub(crate) fn scaled(self, s: f64) -> Primitive {
        match self {
            Primitive::Sphere { radius } => Primitive::Sphere { radius: radius * s },
            Primitive::Cuboid { half } => Primitive::Cuboid { half: half * s },
            Primitive::Capsule { radius: r, half_height: h } => {
                Primitive::Capsule { radius: r * s, half_height: h * s }
            }
            Primitive::Cylinder { radius: r, half_height: h } => {
                Primitive::Cylinder { radius: r * s, half_height: h * s }
            }
            Primitive::Cone { radius: r, half_height: h } => {
                Primitive::Cone { radius: r * s, half_height: h * s }
            }
            Primitive::Ellipsoid { radii } => Primitive::Ellipsoid { radii: radii * s },
            Primitive::HalfSpace { normal, offset } => Primitive::HalfSpace { normal, offset: offset * s },
            Primitive::Triangle { corners } => Primitive::Triangle { corners: corners.map(|p| p * s) },
            Primitive::Segment { ends } => Primitive::Segment { ends: ends.map(|p| p * s) },
        }
    }

    /// Its volume; infinite for a half-space.
    pub fn volume(&self) -> f64 {
        match *self {
            Primitive::Sphere { radius } => 4.0 / 3.0 * PI * radius.powi(3),
            Primitive::Cuboid { half } => 8.0 * half.element_product(),
            Primitive::Capsule { radius, half_height } => {
                PI * radius * radius * (2.0 * half_height + 4.0 / 3.0 * radius)
            }
            Primitive::Cylinder { radius, half_height } => 2.0 * PI * radius * radius * half_height,
            Primitive::Cone { radius, half_height } => 2.0 / 3.0 * PI * radius * radius * half_height,
            Primitive::Ellipsoid { radii } => 4.0 / 3.0 * PI * radii.element_product(),
            Primitive::HalfSpace { .. } => f64::INFINITY,
            Primitive::Triangle { .. } | Primitive::Segment { .. } => 0.0,
        }
    }

    /// Its centre of mass; for a half-space the point of its plane nearest to the origin.
    pub fn centroid(&self) -> DVec3 {
        match *self {
            // A cone's lies a quarter of its height above the base.
            Primitive::Cone { half_height, .. } => DVec3::Z * (-0.5 * half_height),
            Primitive::HalfSpace { normal, .. } => self.support(normal),
            Primitive::Triangle { corners: [a, b, c] } => a / 3.0 + b / 3.0 + c / 3.0,
            Primitive::Segment { ends: [a, b] } => a.midpoint(b),
            _ => DVec3::ZERO,
        }
    }
}

/// The farthest point of the circle around z at height `z`.
fn rim(d: DVec3, radius: f64, z: f64) -> DVec3 {
    let flat = unit(DVec3::new(d.x, d.y, 0.0), DVec3::X) * radius;
    DVec3::new(flat.x, flat.y, z)
}

/// The direction of a vector of any length; `other` for the vector zero.
fn unit(d: DVec3, other: DVec3) -> DVec3 {
    (d / d.abs().max_element()).normalize_or(other)
}

/// The first of the points that are farthest along `d`.
fn farthest(points: &[DVec3], d: DVec3) -> DVec3 {
    points.iter().copied().reduce(|p, q| if d.dot(q) > d.dot(p) { q } else { p }).unwrap_or(DVec3::ZERO)
}

fn bar(radius: f64, half_height: f64) -> Result<(), Error> {
    size("radius", radius)?;
    size("half_height", half_height)
}

fn size(name: &'static str, value: f64) -> Result<(), Error> {
    // Both comparisons are false for NaN.
    if value > 0.0 && value <= LARGEST_COORDINATE {
        return Ok(());
    }
    Err(argument(name, format!("{value} is not a size; positive numbers up to 1e60 are accepted")))
}

fn points(points: &[DVec3]) -> Result<(), Error> {
    for (vertex, p) in points.iter().enumerate() {
        // The comparison is false for NaN.
        if let Some(&value) = p.as_ref().iter().find(|x| !(x.abs() <= LARGEST_COORDINATE)) {
            return Err(Error::Coordinate { vertex, value });
        }
    }
    Ok(())
}

fn argument(name: &'static str, reason: String) -> Error {
    Error::Argument { name, reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    fn solids() -> Vec<Primitive> {
        vec![
            Primitive::sphere(0.7).unwrap(),
            Primitive::cuboid([0.3, 0.5, 0.9]).unwrap(),
            Primitive::capsule(0.4, 0.6).unwrap(),
            Primitive::cylinder(0.5, 0.8).unwrap(),
            Primitive::cone(0.8, 0.7).unwrap(),
            Primitive::ellipsoid([0.4, 0.6, 0.9]).unwrap(),
        ]
    }

    /// Whether a point belongs to the solid, from its definition.
    fn holds(solid: &Primitive, p: DVec3) -> bool {
        let across = p.x.hypot(p.y);
        match *solid {
            Primitive::Sphere { radius } => p.length() <= radius,
            Primitive::Cuboid { half } => p.abs().cmple(half).all(),
            Primitive::Capsule { radius, half_height } => {
                across.hypot((p.z.abs() - half_height).max(0.0)) <= radius
            }
            Primitive::Cylinder { radius, half_height } => across <= radius && p.z.abs() <= half_height,
            Primitive::Cone { radius, half_height } => {
                p.z.abs() <= half_height && across <= radius * (half_height - p.z) / (2.0 * half_height)
            }
            Primitive::Ellipsoid { radii } => (p / radii).length() <= 1.0,
            _ => false,
        }
    }

    #[test]
    fn supports_volumes_and_centroids_agree_with_sampling() {
        let mut rng = Pcg64::seed_from_u64(1);
        for solid in solids() {
            let mut inside = Vec::new();
            let tries = 60_000;
            for _ in 0..tries {
                let p = DVec3::from([(); 3].map(|()| rng.random_range(-1.0..1.0)));
                if holds(&solid, p) {
                    inside.push(p);
                }
            }
            let volume = 8.0 * inside.len() as f64 / f64::from(tries);
            assert!((volume / solid.volume() - 1.0).abs() < 0.05, "{solid:?}: {volume}");
            let centre = inside.iter().sum::<DVec3>() / inside.len() as f64;
            assert!((centre - solid.centroid()).length() < 0.02, "{solid:?}: {centre}");
            for _ in 0..50 {
                let d = DVec3::from([(); 3].map(|()| rng.random_range(-1.0..1.0)));
                let support = solid.support(d);
                assert!(holds(&solid, support * (1.0 - 1e-12)), "{solid:?} {d}");
                assert!(!holds(&solid, support + d * 1e-9), "{solid:?} {d}");
                assert!(inside.iter().all(|p| p.dot(d) <= support.dot(d) + 1e-12), "{solid:?} {d}");
            }
        }
    }

    #[test]
    fn no_direction_still_has_a_point() {
        for solid in solids() {
            assert!(solid.support(DVec3::ZERO).is_finite(), "{solid:?}");
        }
    }

    #[test]
    fn wrong_sizes_are_refused_by_name() {
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e61] {
            let refused = [
                Primitive::sphere(wrong),
                Primitive::cuboid([1.0, wrong, 1.0]),
                Primitive::capsule(1.0, wrong),
                Primitive::capsule(wrong, 1.0),
                Primitive::cylinder(1.0, wrong),
                Primitive::cone(wrong, 1.0),
                Primitive::ellipsoid([1.0, 1.0, wrong]),
            ];
            for refused in refused {
                let Err(Error::Argument { name, reason }) = refused else { panic!("{wrong} was let in") };
                assert!(["radius", "half_height", "half extent"].contains(&name), "{name}: {reason}");
            }
        }
        assert!(Primitive::half_space([0.0; 3], 1.0).is_err());
        assert!(Primitive::half_space([f64::NAN, 0.0, 0.0], 1.0).is_err());
        assert!(Primitive::half_space([1e-200, 0.0, 0.0], 1.0).is_err());
        assert!(Primitive::half_space([1.0, 0.0, 0.0], f64::INFINITY).is_err());
        assert!(Primitive::triangle([DVec3::ZERO, DVec3::X, DVec3::NAN]).is_err());
        assert!(Primitive::segment([DVec3::ZERO, DVec3::X * 1e61]).is_err());
    }

    #[test]
    fn a_half_space_keeps_its_plane_at_any_length_of_the_normal() {
        for scale in [1e-300, 5e-324, 1e-3, 1.0, 6.0, 1e300] {
            let half = Primitive::half_space([0.0, scale, 0.0], 3.0 * scale).unwrap();
            assert!((half.support(DVec3::Y) - DVec3::Y * 3.0).length() < 1e-15, "{scale}");
        }
    }
}
