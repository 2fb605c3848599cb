//! Two convex hulls of equal size and a slow motion past each other: `../shared` has the ones of peers.md;
//! where it is missing, hulls of the same kind are made.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use glam::{DQuat, DVec3};
use impinge::Pose;
use impinge::shape::Polytope;

use crate::scenes::{Placement, root};

/// Semi-axes of the ellipsoid that the corners lie on.
const AXES: DVec3 = DVec3::new(0.5, 0.4, 0.3);

/// Poses of a made trajectory.
const STEPS: usize = 1000;

/// Two hulls of `corners` corners each, and whether they come from `../shared`.
///
/// # Errors
/// The file is there but broken.
pub fn pair(corners: usize) -> Result<([Polytope; 2], bool)> {
    let file = shared(&format!("hull{corners}.bin"));
    if !file.is_file() {
        let made = |which: u64| Polytope::hull(&ellipsoid(corners, 2 * corners as u64 + which));
        return Ok(([made(0)?, made(1)?], false));
    }
    let bytes = fs::read(&file).with_context(|| format!("reading {}", file.display()))?;
    let mut rest = &bytes[..];
    Ok(([next_hull(&mut rest)?, next_hull(&mut rest)?], true))
}

/// Poses of b in a's frame as placements: from `../shared`, or a made slow turn past a.
///
/// # Errors
/// The file is there but a row is no pose.
pub fn trajectory() -> Result<Vec<Placement>> {
    let file = shared("hull_traj.txt");
    let rows: Vec<[f64; 7]> = if file.is_file() {
        let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
        text.lines().filter(|line| !line.trim().is_empty()).map(row).collect::<Result<_>>()?
    } else {
        (0..STEPS).map(made_row).collect()
    };
    Ok(rows.into_iter().map(placement).collect())
}

/// The poses of b along a trajectory; a stands still.
///
/// # Errors
/// Numbers that are no pose.
pub fn poses(trajectory: &[Placement]) -> Result<Vec<Pose>> {
    trajectory.iter().map(|p| Ok(p.poses()?[1])).collect()
}

fn shared(name: &str) -> PathBuf {
    root().join("../shared/data/workloads").join(name)
}

/// u32 vertices, u32 faces, the vertices as f64, the faces as u32, all little-endian; the faces are ours to
/// find.
fn next_hull(rest: &mut &[u8]) -> Result<Polytope> {
    let mut take = |count: usize| -> Result<&[u8]> {
        let (head, tail) = rest.split_at_checked(count).context("a hull file ends too early")?;
        *rest = tail;
        Ok(head)
    };
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, &b| sum << 8 | usize::from(b));
    let (vertices, faces) = (number(take(4)?), number(take(4)?));
    let numbers: Vec<f64> = take(24 * vertices)?.chunks_exact(8).map(double).collect();
    take(12 * faces)?;
    let points: Vec<DVec3> = numbers.chunks_exact(3).map(DVec3::from_slice).collect();
    let hull = Polytope::hull(&points)?;
    ensure!(hull.vertices().len() == vertices, "{vertices} points, {} corners", hull.vertices().len());
    Ok(hull)
}

fn double(bytes: &[u8]) -> f64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(bytes);
    f64::from_le_bytes(eight)
}

fn row(line: &str) -> Result<[f64; 7]> {
    let numbers: Vec<f64> = line
        .split_whitespace()
        .map(|word| word.parse().with_context(|| format!("\"{word}\" in a trajectory")))
        .collect::<Result<_>>()?;
    numbers.try_into().map_err(|n: Vec<f64>| anyhow::anyhow!("a pose has 7 numbers, not {}", n.len()))
}

/// About 0.01 rad and 0.006 units from the last, never in contact.
fn made_row(step: usize) -> [f64; 7] {
    let t = step as f64 * 0.01;
    let turn = DQuat::from_axis_angle(DVec3::new(0.3, 0.8, 0.5).normalize(), t);
    let (sin, cos) = (0.4 * t).sin_cos();
    let at = DVec3::new(1.4 * cos, 1.4 * sin, 0.3 * (0.7 * t).sin());
    [turn.w, turn.x, turn.y, turn.z, at.x, at.y, at.z]
}

fn placement(b: [f64; 7]) -> Placement {
    let mut numbers = [0.0; 14];
    numbers[0] = 1.0;
    numbers[7..].copy_from_slice(&b);
    Placement { numbers, gap: f64::NAN, hit: false }
}

/// Points on the ellipsoid, evenly in direction: splitmix64 (Steele, Lea, Flood 2014) in a cube, those in the
/// ball kept.
fn ellipsoid(count: usize, seed: u64) -> Vec<DVec3> {
    let mut state = seed;
    let mut uniform = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = state;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ x >> 31) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let mut points = Vec::with_capacity(count);
    while points.len() < count {
        let p = DVec3::new(uniform(), uniform(), uniform());
        if (0.01..=1.0).contains(&p.length_squared()) {
            points.push(p.normalize() * AXES);
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_hulls_have_all_their_corners_and_stay_apart() {
        let hull = Polytope::hull(&ellipsoid(100, 1)).unwrap();
        assert_eq!(hull.vertices().len(), 100);
        let farthest = hull.vertices().iter().map(|v| v.length()).fold(0.0, f64::max);
        assert!(farthest <= 0.5);
        for step in 0..STEPS {
            let row = made_row(step);
            assert!(DVec3::new(row[4], row[5], row[6]).length() > 2.0 * 0.5);
        }
    }

    #[test]
    fn a_hull_file_is_read() {
        let mut bytes = vec![4, 0, 0, 0, 1, 0, 0, 0];
        for v in [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
            bytes.extend(v.iter().flat_map(|x: &f64| x.to_le_bytes()));
        }
        bytes.extend([0; 12]);
        let hull = next_hull(&mut &bytes[..]).unwrap();
        assert_eq!((hull.vertices().len(), hull.faces().len()), (4, 4));
        assert!(next_hull(&mut &bytes[..50]).is_err());
    }
}
