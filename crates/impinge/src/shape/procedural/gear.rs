//! Prisms that are not convex: a toothed wheel and a staircase.

use glam::{DVec2, DVec3};

use super::grid::{Grid, affordable, at_least, positive};
use crate::{Error, Mesh};

/// A wheel about z with `teeth` square-cut teeth between `root` and `tip` radius, a hole of radius `bore`
/// and the given height: 32 · teeth triangles.
///
/// # Errors
/// Radii that do not grow from bore to root to tip, a height that is not positive, fewer than 3 teeth.
pub fn gear(bore: f64, root: f64, tip: f64, height: f64, teeth: u32) -> Result<Mesh, Error> {
    positive("bore", bore)?;
    positive("root - bore", root - bore)?;
    positive("tip - root", tip - root)?;
    positive("height", height)?;
    at_least("teeth", 3, teeth)?;
    affordable(&[32, teeth.into()])?;
    let around = 4 * teeth;
    let mut grid = Grid::default();
    // The cross-section turns counter-clockwise in (radius, height): its right side goes up.
    let section = [(false, -0.5), (true, -0.5), (true, 0.5), (false, 0.5)];
    for (outer, level) in section {
        for k in 0..around {
            let radius = if !outer {
                bore
            } else if k % 4 < 2 {
                tip
            } else {
                root
            };
            let angle = std::f64::consts::TAU * f64::from(k) / f64::from(around);
            grid.vertex((radius * DVec2::from_angle(angle)).extend(level * height));
        }
    }
    for i in 0..4 {
        grid.band(i * around, (i + 1) % 4 * around, around);
    }
    grid.mesh()
}

/// A staircase that rises along x from the origin: `steps` steps of the given run (x), width (y, about 0)
/// and rise (z); 12 · steps triangles.
///
/// # Errors
/// Sizes that are not positive, or no steps.
pub fn stairs(steps: u32, run: f64, width: f64, rise: f64) -> Result<Mesh, Error> {
    positive("run", run)?;
    positive("width", width)?;
    positive("rise", rise)?;
    at_least("steps", 1, steps)?;
    affordable(&[12, steps.into()])?;
    let mut grid = Grid::default();
    // The outline in (x, z), counter-clockwise seen from −y: the floor from left to right, then the
    // steps from the top down to the first.
    let at = |i: u32, k: u32| DVec2::new(run * f64::from(i), rise * f64::from(k));
    let mut outline: Vec<DVec2> = (0..=steps).map(|i| at(i, 0)).collect();
    outline.extend((1..=steps).rev().flat_map(|k| [at(k, k), at(k - 1, k)]));
    let count = outline.len() as u32;
    for y in [-0.5 * width, 0.5 * width] {
        outline.iter().for_each(|p| _ = grid.vertex(DVec3::new(p.x, y, p.y)));
    }
    grid.band(count, 0, count);
    for i in 0..steps {
        let [left, right] = [i, i + 1];
        let top_right = steps + 1 + 2 * (steps - 1 - i);
        // The step before ends at this one's left side, at its own height.
        let middle = if i == 0 { left } else { top_right + 2 };
        let mut side = vec![[right, top_right, top_right + 1], [right, top_right + 1, middle]];
        if i > 0 {
            side.push([right, middle, left]);
        }
        for [a, b, c] in side {
            grid.triangles.extend([[a, b, c], [a + count, c + count, b + count]]);
        }
    }
    grid.mesh()
}
