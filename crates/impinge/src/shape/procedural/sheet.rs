//! A flat rectangle of triangles: a floor, or a cloth at rest.

use glam::DVec3;

use super::grid::{Grid, affordable, at_least, positive};
use crate::{Error, Mesh};

/// A rectangle about the origin in the plane z = 0, facing +z: 2 · sx · sy triangles.
///
/// The diagonals alternate like those of a union jack, so that a cloth has no preferred direction. It is
/// open: its border has 2 · (sx + sy) edges.
///
/// # Errors
/// Sizes that are not positive, or a segment count of zero.
pub fn sheet(size: [f64; 2], segments: [u32; 2]) -> Result<Mesh, Error> {
    for axis in 0..2 {
        positive("size", size[axis])?;
        at_least("segments", 1, segments[axis])?;
    }
    let [nx, ny] = segments;
    affordable(&[4, nx.into(), ny.into()])?;
    let mut grid = Grid::default();
    for j in 0..=ny {
        for i in 0..=nx {
            let along = |k: u32, n: u32| (2.0 * f64::from(k) - f64::from(n)) / (2.0 * f64::from(n));
            grid.vertex(DVec3::new(size[0] * along(i, nx), size[1] * along(j, ny), 0.0));
        }
    }
    for j in 0..ny {
        for i in 0..nx {
            let a = j * (nx + 1) + i;
            let [b, c, d] = [a + 1, a + nx + 2, a + nx + 1];
            if (i + j) % 2 == 0 { grid.quad(a, b, c, d) } else { grid.quad(b, c, d, a) }
        }
    }
    grid.mesh()
}
