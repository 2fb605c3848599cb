//! Where to put many bodies: seeded positions and rotations, walls and pyramids.

use std::collections::HashMap;
use std::f64::consts::TAU;

use glam::{DVec3, I64Vec3};

use super::grid::{at_least, positive};
use crate::Error;
use crate::num::random::unit;

/// Tries for each sphere before the packing is given up as too dense.
const TRIES: u64 = 200;

/// `count` points, uniform in the box from `low` to `high`.
pub fn positions(count: usize, low: DVec3, high: DVec3, seed: u64) -> Vec<DVec3> {
    (0..count as u64).map(|i| low + (high - low) * cube(seed, i)).collect()
}

/// `count` unit quaternions (x, y, z, w), uniform over all rotations (Shoemake 1992).
pub fn rotations(count: usize, seed: u64) -> Vec<[f64; 4]> {
    (0..count as u64)
        .map(|i| {
            let [share, a, b] = cube(seed, i).to_array();
            let [s, c] = [(1.0 - share).sqrt(), share.sqrt()];
            [s * (TAU * a).sin(), s * (TAU * a).cos(), c * (TAU * b).sin(), c * (TAU * b).cos()]
        })
        .collect()
}

/// Centres of `count` spheres of one radius in the box from `low` to `high`, no two of them touching and
/// none leaving the box.
///
/// # Errors
/// A radius that is not positive, a box that is smaller than a sphere, or no room found by trying.
pub fn spheres(count: usize, radius: f64, low: DVec3, high: DVec3, seed: u64) -> Result<Vec<DVec3>, Error> {
    positive("radius", radius)?;
    let room = (high - low) - 2.0 * radius;
    if !(room.min_element() >= 0.0 && room.is_finite()) {
        return Err(Error::Argument { name: "high", reason: "the box is smaller than a sphere".into() });
    }
    // Cells of a diameter: only the 27 around a centre can hold one that is nearer than that.
    let cell = |p: DVec3| ((p - low) / (2.0 * radius)).floor().as_i64vec3();
    let mut taken: HashMap<I64Vec3, Vec<DVec3>> = HashMap::new();
    let mut centres = Vec::with_capacity(count);
    for i in 0..count as u64 {
        let free = |p: &DVec3| {
            let near = (0..27).map(|k| cell(*p) + I64Vec3::new(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1));
            let too_near = |q: &DVec3| !(p.distance(*q) > 2.0 * radius);
            !near.filter_map(|c| taken.get(&c)).flatten().any(too_near)
        };
        let mut candidates = (0..TRIES).map(|t| low + radius + room * cube(seed, i * TRIES + t));
        let Some(p) = candidates.find(free) else {
            let reason = format!("no room for sphere {i} after {TRIES} tries");
            return Err(Error::Argument { name: "count", reason });
        };
        taken.entry(cell(p)).or_default().push(p);
        centres.push(p);
    }
    Ok(centres)
}

/// Centres of a wall of boxes in bond, `columns` along x and `rows` up z from z = 0, `gap` between them.
///
/// # Errors
/// Half extents that are not positive, a negative gap, no columns or rows.
pub fn wall(half: [f64; 3], columns: u32, rows: u32, gap: f64) -> Result<Vec<DVec3>, Error> {
    courses(half, rows, gap, |row| (columns, if row % 2 == 0 { 0.0 } else { 0.5 }), columns)
}

/// Centres of a flat pyramid of boxes with `base` of them along x in the lowest row and one on top.
///
/// # Errors
/// Half extents that are not positive, a negative gap, no base.
pub fn pyramid(half: [f64; 3], base: u32, gap: f64) -> Result<Vec<DVec3>, Error> {
    courses(half, base, gap, |row| (base - row, 0.5 * f64::from(row)), base)
}

/// Rows of boxes: how many in each and by how many boxes it is shifted along x.
fn courses(
    half: [f64; 3],
    rows: u32,
    gap: f64,
    row: impl Fn(u32) -> (u32, f64),
    widest: u32,
) -> Result<Vec<DVec3>, Error> {
    half.into_iter().try_for_each(|h| positive("half", h))?;
    at_least("rows", 1, rows)?;
    at_least("columns", 1, widest)?;
    if !(gap >= 0.0 && gap.is_finite()) {
        return Err(Error::Argument { name: "gap", reason: format!("{gap} is negative or not finite") });
    }
    let [dx, dz] = [2.0 * half[0] + gap, 2.0 * half[2] + gap];
    let place = |k: u32, i: u32, shift: f64| {
        let x = dx * (f64::from(i) + shift - 0.5 * f64::from(widest - 1));
        DVec3::new(x, 0.0, half[2] + dz * f64::from(k))
    };
    let boxes = |k: u32| {
        let (count, shift) = row(k);
        (0..count).map(move |i| place(k, i, shift))
    };
    Ok((0..rows).flat_map(boxes).collect())
}

/// A unit vector, uniform over the sphere.
pub(super) fn direction(seed: u64, n: u64) -> DVec3 {
    let z = 2.0 * unit(seed, 2 * n) - 1.0;
    let (sin, cos) = (TAU * unit(seed, 2 * n + 1)).sin_cos();
    let r = (1.0 - z * z).max(0.0).sqrt();
    DVec3::new(r * cos, r * sin, z)
}

fn cube(seed: u64, n: u64) -> DVec3 {
    DVec3::new(unit(seed, 3 * n), unit(seed, 3 * n + 1), unit(seed, 3 * n + 2))
}
