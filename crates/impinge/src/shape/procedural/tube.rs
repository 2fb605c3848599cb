//! Tubes of constant thickness along a curve: knots, clovers, horseshoes, chain links.
//!
//! The rings follow a rotation-minimising frame by double reflection (Wang, Jüttler, Zheng, Liu 2008); on
//! a closed curve the angle that is left at the end is spread evenly, so that the last ring meets the
//! first. A tube is free of self-intersections when the curve keeps twice the radius from itself and its
//! radius of curvature is larger than the tube's.

use std::f64::consts::{PI, TAU};

use glam::{DQuat, DVec3};

use super::body_part::turned;
use super::grid::{Grid, affordable, at_least, positive};
use crate::{Error, Mesh};

/// How a tube ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ends {
    /// The last point joins the first.
    Joined,
    /// A flat cap at each end.
    Capped,
}

/// A tube around the polyline `curve`, with rings of `sides` vertices: 2 · sides triangles for each
/// point, whether joined or capped.
///
/// # Errors
/// A radius that is not positive, fewer than 3 sides, fewer than 3 points (2 when capped), or two equal
/// points in a row.
pub fn tube(curve: &[DVec3], radius: f64, sides: u32, ends: Ends) -> Result<Mesh, Error> {
    positive("radius", radius)?;
    at_least("sides", 3, sides)?;
    at_least("curve", if ends == Ends::Joined { 3 } else { 2 }, curve.len().min(3) as u32)?;
    affordable(&[2, curve.len() as u64, sides.into()])?;
    let tangents = tangents(curve, ends)?;
    let normals = frames(curve, &tangents, ends);
    let mut grid = Grid::default();
    for ((&p, &tangent), &normal) in curve.iter().zip(&tangents).zip(&normals) {
        let side = tangent.cross(normal);
        for j in 0..sides {
            let (sin, cos) = (TAU * f64::from(j) / f64::from(sides)).sin_cos();
            grid.vertex(p + radius * (cos * normal + sin * side));
        }
    }
    let last = (curve.len() as u32 - 1) * sides;
    (0..last).step_by(sides as usize).for_each(|ring| grid.band(ring, ring + sides, sides));
    match ends {
        Ends::Joined => grid.band(last, 0, sides),
        Ends::Capped => {
            let [start, end] = [curve[0], curve[curve.len() - 1]].map(|p| grid.vertex(p));
            grid.fan(0, sides, start, false);
            grid.fan(last, sides, end, true);
        }
    }
    grid.mesh()
}

/// The (p, q) torus knot: p turns about z, q about the tube of a torus; (2, 3) is the trefoil.
///
/// The curve runs on a torus of radii `size` and `size` / 2; 2 · segments · sides triangles.
///
/// # Errors
/// As [`tube`]; p or q of zero or with a common divisor (that would be several rings).
pub fn knot(turns: [u32; 2], size: f64, thickness: f64, segments: u32, sides: u32) -> Result<Mesh, Error> {
    positive("size", size)?;
    at_least("segments", 3, segments)?;
    affordable(&[2, segments.into(), sides.into()])?;
    let [p, q] = turns;
    if gcd(p, q) != 1 {
        let reason = format!("{p} and {q} have a common divisor: that is not one curve");
        return Err(Error::Argument { name: "turns", reason });
    }
    let curve = closed(segments, |angle| {
        let [around, across] = [f64::from(p) * angle, f64::from(q) * angle];
        let radius = size * (1.0 + 0.5 * across.cos());
        DVec3::new(radius * around.cos(), radius * around.sin(), 0.5 * size * across.sin())
    });
    tube(&curve, thickness, sides, Ends::Joined)
}

/// A flat closed tube with `leaves` lobes in the plane z = 0, between 0.7 and 1.3 times `size` from the
/// origin: 2 · segments · sides triangles.
///
/// # Errors
/// As [`tube`]; fewer than 2 leaves, or a tube thicker than the bend between two leaves allows.
pub fn clover(leaves: u32, size: f64, thickness: f64, segments: u32, sides: u32) -> Result<Mesh, Error> {
    positive("size", size)?;
    at_least("leaves", 2, leaves)?;
    // The radius of curvature of r = 1 + 0.3 cos nφ at its smallest r, 0.7.
    let bend = 0.49 / (0.3 * f64::from(leaves) * f64::from(leaves) - 0.7);
    positive("bend - thickness", size * bend - thickness)?;
    at_least("segments", 3, segments)?;
    affordable(&[2, segments.into(), sides.into()])?;
    let curve = closed(segments, |angle| {
        let radius = size * (1.0 + 0.3 * (f64::from(leaves) * angle).cos());
        DVec3::new(radius * angle.cos(), radius * angle.sin(), 0.0)
    });
    tube(&curve, thickness, sides, Ends::Joined)
}

/// A half ring of radius `size` in the plane z = 0 with two straight legs as long as `size`, open towards
/// −y: 2 · sides · (segments + 1) triangles.
///
/// # Errors
/// As [`tube`]; fewer than 4 segments.
pub fn horseshoe(size: f64, thickness: f64, segments: u32, sides: u32) -> Result<Mesh, Error> {
    positive("size", size)?;
    at_least("segments", 4, segments)?;
    affordable(&[2, segments.into(), sides.into()])?;
    // Measured along the curve in units of `size`: a leg, half a turn, a leg.
    let length = 2.0 + PI;
    let point = |s: f64| {
        if s < 1.0 {
            DVec3::new(1.0, s - 1.0, 0.0)
        } else if s <= 1.0 + PI {
            DVec3::new((s - 1.0).cos(), (s - 1.0).sin(), 0.0)
        } else {
            DVec3::new(-1.0, 1.0 + PI - s, 0.0)
        }
    };
    let curve: Vec<DVec3> =
        (0..=segments).map(|i| size * point(length * f64::from(i) / f64::from(segments))).collect();
    tube(&curve, thickness, sides, Ends::Capped)
}

/// A chain along x: each link an oval twice as long as wide, turned a quarter against the one before, with
/// a gap of half the thickness between neighbours. 2 · segments · sides triangles a link.
///
/// # Errors
/// As [`tube`]; no links, or a `width` (between the centre lines) of less than 4 thicknesses.
pub fn chain(links: u32, width: f64, thickness: f64, segments: u32, sides: u32) -> Result<Vec<Mesh>, Error> {
    positive("thickness", thickness)?;
    positive("width - 4 thickness", width - 4.0 * thickness)?;
    at_least("links", 1, links)?;
    at_least("segments", 8, segments)?;
    affordable(&[2, segments.into(), sides.into()])?;
    let straight = width;
    let length = 2.0 * straight + PI * width;
    let point = |s: f64| stadium(s, straight, 0.5 * width);
    let curve: Vec<DVec3> =
        (0..segments).map(|i| point(length * f64::from(i) / f64::from(segments))).collect();
    let link = tube(&curve, thickness, sides, Ends::Joined)?;
    // Inner end of one link to inner end of the next, less the thickness of both and the gap.
    let pitch = straight + width - 2.5 * thickness;
    (0..links)
        .map(|i| {
            let turn = DQuat::from_rotation_x(f64::from(i % 2) * PI / 2.0);
            turned(&link, turn, DVec3::X * (pitch * f64::from(i)))
        })
        .collect()
}

/// A point at arc length `s` of two half circles joined by two straight lines along x.
fn stadium(s: f64, straight: f64, radius: f64) -> DVec3 {
    let bend = PI * radius;
    let half = 0.5 * straight;
    if s < straight {
        DVec3::new(s - half, -radius, 0.0)
    } else if s < straight + bend {
        let angle = (s - straight) / radius - PI / 2.0;
        DVec3::new(half + radius * angle.cos(), radius * angle.sin(), 0.0)
    } else if s < 2.0 * straight + bend {
        DVec3::new(half - (s - straight - bend), radius, 0.0)
    } else {
        let angle = (s - 2.0 * straight - bend) / radius + PI / 2.0;
        DVec3::new(radius * angle.cos() - half, radius * angle.sin(), 0.0)
    }
}

fn closed(segments: u32, point: impl Fn(f64) -> DVec3) -> Vec<DVec3> {
    (0..segments).map(|i| point(TAU * f64::from(i) / f64::from(segments))).collect()
}

/// Directions of the chords to both neighbours, averaged; at open ends the only chord.
fn tangents(curve: &[DVec3], ends: Ends) -> Result<Vec<DVec3>, Error> {
    let n = curve.len();
    let chord = |i: usize| {
        let [a, b] = [curve[i % n], curve[(i + 1) % n]];
        // Divided by the largest component first, so that no length overflows or underflows.
        let step = b - a;
        let unit = (step / step.abs().max_element()).normalize();
        let reason = || format!("points {} and {} are equal or too far apart", i % n, (i + 1) % n);
        if unit.is_finite() { Ok(unit) } else { Err(Error::Argument { name: "curve", reason: reason() }) }
    };
    (0..n)
        .map(|i| match ends {
            Ends::Capped if i == 0 => chord(0),
            Ends::Capped if i == n - 1 => chord(n - 2),
            _ => {
                let [before, after] = [chord(i + n - 1)?, chord(i)?];
                // A curve that turns back on itself has no middle direction; the next chord will do.
                Ok((before + after).try_normalize().unwrap_or(after))
            }
        })
        .collect()
}

/// One unit normal for each point, turning as little as possible along the curve.
fn frames(curve: &[DVec3], tangents: &[DVec3], ends: Ends) -> Vec<DVec3> {
    let step = |i: usize, next: usize, normal: DVec3| {
        let v1 = (curve[next] - curve[i]).normalize_or_zero();
        let reflect = |x: DVec3, v: DVec3| x - 2.0 * x.dot(v) * v;
        let v2 = (tangents[next] - reflect(tangents[i], v1)).normalize_or_zero();
        let moved = reflect(reflect(normal, v1), v2);
        // Rounding is kept from adding up.
        moved.reject_from_normalized(tangents[next]).normalize()
    };
    let mut normals = vec![tangents[0].any_orthonormal_vector()];
    for i in 1..curve.len() {
        normals.push(step(i - 1, i, normals[i - 1]));
    }
    if ends == Ends::Joined {
        let back = step(curve.len() - 1, 0, normals[curve.len() - 1]);
        let off = back.cross(normals[0]).dot(tangents[0]).atan2(back.dot(normals[0]));
        for (i, normal) in normals.iter_mut().enumerate() {
            let share = off * i as f64 / curve.len() as f64;
            *normal = DQuat::from_axis_angle(tangents[i], share) * *normal;
        }
    }
    normals
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
