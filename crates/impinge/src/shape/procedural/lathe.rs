//! Bodies of revolution about z: a profile in the (radius, height) half-plane, turned once around.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::{DVec2, DVec3};

use super::grid::{Grid, affordable, at_least, positive};
use crate::{Error, Mesh};

/// Turns a profile of (radius, height) points about z, in `segments` steps.
///
/// The body lies to the left of the profile. A profile that begins and ends on the axis (radius 0)
/// closes at its poles; any other is taken as a closed loop and gives a ring. Triangles: for poles
/// 2 · segments · (points − 2), for a loop 2 · segments · points.
///
/// # Errors
/// Fewer than three points or segments, a negative radius, or a radius 0 between the ends.
pub fn lathe(profile: &[DVec2], segments: u32) -> Result<Mesh, Error> {
    at_least("segments", 3, segments)?;
    affordable(&[2, segments.into(), profile.len() as u64])?;
    let refuse = |reason: &str| Err(Error::Argument { name: "profile", reason: reason.into() });
    let [first, inner @ .., last] = profile else { return refuse("it has fewer than three points") };
    if inner.is_empty() {
        return refuse("it has fewer than three points");
    }
    if inner.iter().any(|p| !(p.x > 0.0)) || [first, last].iter().any(|p| !(p.x >= 0.0)) {
        return refuse("a radius between its ends is not positive");
    }
    let mut grid = Grid::default();
    match [first.x > 0.0, last.x > 0.0] {
        [false, false] => {
            let south = grid.vertex(DVec3::new(0.0, 0.0, first.y));
            let rings: Vec<u32> = inner.iter().map(|&p| ring(&mut grid, p, segments)).collect();
            let north = grid.vertex(DVec3::new(0.0, 0.0, last.y));
            grid.fan(rings[0], segments, south, false);
            rings.windows(2).for_each(|pair| grid.band(pair[0], pair[1], segments));
            grid.fan(rings[rings.len() - 1], segments, north, true);
        }
        [true, true] => {
            let rings: Vec<u32> = profile.iter().map(|&p| ring(&mut grid, p, segments)).collect();
            rings.windows(2).for_each(|pair| grid.band(pair[0], pair[1], segments));
            grid.band(rings[rings.len() - 1], rings[0], segments);
        }
        _ => return refuse("one end lies on the axis and the other does not"),
    }
    grid.mesh()
}

/// A sphere by longitude and latitude: 2 · segments · (rings − 1) triangles.
///
/// # Errors
/// A radius that is not positive, fewer than 3 segments or 2 rings.
pub fn uv_sphere(radius: f64, segments: u32, rings: u32) -> Result<Mesh, Error> {
    positive("radius", radius)?;
    at_least("rings", 2, rings)?;
    affordable(&[2, segments.into(), rings.into()])?;
    lathe(&with_poles(arc(DVec2::ZERO, radius, -FRAC_PI_2, FRAC_PI_2, rings)), segments)
}

/// A torus about z: 2 · segments · sides triangles.
///
/// # Errors
/// Radii that are not positive, a tube that reaches the axis, fewer than 3 segments or sides.
pub fn torus(ring_radius: f64, tube_radius: f64, segments: u32, sides: u32) -> Result<Mesh, Error> {
    positive("tube_radius", tube_radius)?;
    positive("ring_radius - tube_radius", ring_radius - tube_radius)?;
    at_least("sides", 3, sides)?;
    affordable(&[2, segments.into(), sides.into()])?;
    let mut profile = arc(DVec2::new(ring_radius, 0.0), tube_radius, 0.0, TAU, sides);
    profile.pop();
    lathe(&profile, segments)
}

/// A cylinder along z from −half_height to half_height: 4 · segments triangles.
///
/// # Errors
/// Sizes that are not positive, fewer than 3 segments.
pub fn cylinder(radius: f64, half_height: f64, segments: u32) -> Result<Mesh, Error> {
    positive("radius", radius)?;
    positive("half_height", half_height)?;
    let h = half_height;
    lathe(&[(0.0, -h), (radius, -h), (radius, h), (0.0, h)].map(DVec2::from), segments)
}

/// A cone along z with its base at −half_height and its apex at half_height: 2 · segments triangles.
///
/// # Errors
/// Sizes that are not positive, fewer than 3 segments.
pub fn cone(radius: f64, half_height: f64, segments: u32) -> Result<Mesh, Error> {
    positive("radius", radius)?;
    positive("half_height", half_height)?;
    lathe(&[(0.0, -half_height), (radius, -half_height), (0.0, half_height)].map(DVec2::from), segments)
}

/// A capsule along z: a cylinder of `half_height` with half spheres of `rings` bands at its ends;
/// 4 · segments · rings triangles.
///
/// # Errors
/// Sizes that are not positive, fewer than 3 segments or 1 ring.
pub fn capsule(radius: f64, half_height: f64, segments: u32, rings: u32) -> Result<Mesh, Error> {
    positive("radius", radius)?;
    positive("half_height", half_height)?;
    at_least("rings", 1, rings)?;
    affordable(&[4, segments.into(), rings.into()])?;
    let centre = DVec2::new(0.0, half_height);
    let mut profile = arc(-centre, radius, -FRAC_PI_2, 0.0, rings);
    profile.extend(arc(centre, radius, 0.0, FRAC_PI_2, rings));
    lathe(&with_poles(profile), segments)
}

/// A half sphere shell open towards +z, its rim at z = 0: 4 · segments · rings triangles.
///
/// # Errors
/// Sizes that are not positive, a thickness not below the radius, fewer than 3 segments or 1 ring.
pub fn bowl(radius: f64, thickness: f64, segments: u32, rings: u32) -> Result<Mesh, Error> {
    positive("thickness", thickness)?;
    positive("radius - thickness", radius - thickness)?;
    at_least("rings", 1, rings)?;
    affordable(&[4, segments.into(), rings.into()])?;
    let mut profile = arc(DVec2::ZERO, radius, -FRAC_PI_2, 0.0, rings);
    profile.extend(arc(DVec2::ZERO, radius - thickness, 0.0, -FRAC_PI_2, rings));
    lathe(&with_poles(profile), segments)
}

/// Points of a circular arc, both ends included.
pub(super) fn arc(centre: DVec2, radius: f64, from: f64, to: f64, steps: u32) -> Vec<DVec2> {
    (0..=steps)
        .map(|i| centre + radius * DVec2::from_angle(from + (to - from) * f64::from(i) / f64::from(steps)))
        .collect()
}

/// Puts the ends exactly on the axis, where cos(π/2) has left a rounding error.
pub(super) fn with_poles(mut profile: Vec<DVec2>) -> Vec<DVec2> {
    if let [first, .., last] = &mut profile[..] {
        (first.x, last.x) = (0.0, 0.0);
    }
    profile
}

fn ring(grid: &mut Grid, p: DVec2, segments: u32) -> u32 {
    let first = grid.vertices.len() as u32;
    for j in 0..segments {
        let around = p.x * DVec2::from_angle(2.0 * PI * f64::from(j) / f64::from(segments));
        grid.vertex(around.extend(p.y));
    }
    first
}
