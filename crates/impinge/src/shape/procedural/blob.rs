//! Smooth organic bodies: an ico sphere whose radius is a seeded smooth function of the direction.
//!
//! Every such body is star-shaped about the origin, and moving vertices along their rays cannot make
//! triangles cross, so it is free of self-intersections for any seed.

use std::f64::consts::TAU;

use glam::DVec3;

use super::scatter::direction;
use super::sphere::ico_sphere;
use crate::num::random::unit;
use crate::{Error, Mesh};

/// Waves that are added up.
const WAVES: u64 = 24;

/// A lumpy ball of about `radius`, its radius varying by at most `roughness` (below 1) of it:
/// 20 · 4^splits triangles.
///
/// # Errors
/// A radius that is not positive, a roughness outside 0 ≤ r < 1, more than 12 splits.
pub fn blob(radius: f64, roughness: f64, splits: u32, seed: u64) -> Result<Mesh, Error> {
    if !(0.0..1.0).contains(&roughness) {
        let reason = format!("{roughness} is not in 0 ≤ r < 1");
        return Err(Error::Argument { name: "roughness", reason });
    }
    displaced(radius, splits, |d| 1.0 + roughness * noise(d, seed))
}

/// A sitting animal of about `radius` with a head (+x), two ears (up, +z) and a tail: the bunny's part in
/// scenes without files. 20 · 4^splits triangles.
///
/// # Errors
/// A radius that is not positive, more than 12 splits.
pub fn bunny(radius: f64, splits: u32, seed: u64) -> Result<Mesh, Error> {
    // Direction, height over the radius, and sharpness of each bump.
    let bumps = [
        (DVec3::new(1.0, 0.0, 0.55), 0.55, 8.0),
        (DVec3::new(0.62, 0.28, 1.0), 1.1, 90.0),
        (DVec3::new(0.62, -0.28, 1.0), 1.1, 90.0),
        (DVec3::new(-1.0, 0.0, -0.3), 0.25, 40.0),
    ];
    displaced(radius, splits, |d| {
        let bump =
            |&(at, height, sharp): &(DVec3, f64, f64)| height * (sharp * (d.dot(at.normalize()) - 1.0)).exp();
        0.9 + 0.05 * noise(d, seed) + bumps.iter().map(bump).sum::<f64>()
    })
}

fn displaced(radius: f64, splits: u32, scale: impl Fn(DVec3) -> f64) -> Result<Mesh, Error> {
    let ball = ico_sphere(1.0, splits)?;
    super::grid::positive("radius", radius)?;
    let vertices = ball.vertices().iter().map(|&d| d * (radius * scale(d))).collect();
    Mesh::from_points(vertices, ball.triangles().to_vec())
}

/// A sum of plane waves of wave numbers 2 to 8, between −1 and 1.
fn noise(d: DVec3, seed: u64) -> f64 {
    let wave = |k: u64| {
        let number = 2.0 + 6.0 * unit(seed, 4 * k);
        let phase = TAU * unit(seed, 4 * k + 1);
        let along = direction(seed, 4 * k + 2);
        // Short waves are lower, so that slopes stay alike.
        let height = 1.0 / number;
        [height * (number * d.dot(along) + phase).sin(), height]
    };
    let [sum, most] = (0..WAVES).map(wave).fold([0.0; 2], |[s, m], [v, h]| [s + v, m + h]);
    sum / most
}
