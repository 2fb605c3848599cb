//! Bodies with flat faces.

use std::collections::HashMap;

use glam::{DVec3, UVec3};

use super::grid::{Grid, affordable, at_least, positive};
use crate::{Error, Mesh};

/// A box about the origin, each side cut into `segments` pieces along x, y, z:
/// 4 · (sx·sy + sy·sz + sz·sx) triangles.
///
/// # Errors
/// Half extents that are not positive, or a segment count of zero.
pub fn cuboid(half: [f64; 3], segments: [u32; 3]) -> Result<Mesh, Error> {
    for axis in 0..3 {
        positive("half", half[axis])?;
        at_least("segments", 1, segments[axis])?;
        affordable(&[12, segments[axis].into(), segments[(axis + 1) % 3].into()])?;
    }
    let mut grid = Grid::default();
    let mut known: HashMap<UVec3, u32> = HashMap::new();
    let mut at = |grid: &mut Grid, cell: UVec3| {
        *known.entry(cell).or_insert_with(|| {
            let along = |axis: usize| {
                let [i, n] = [f64::from(cell[axis]), f64::from(segments[axis])];
                half[axis] * ((2.0 * i - n) / n)
            };
            grid.vertex(DVec3::new(along(0), along(1), along(2)))
        })
    };
    let axes = [UVec3::X, UVec3::Y, UVec3::Z];
    for w in 0..3 {
        let [u, v] = [(w + 1) % 3, (w + 2) % 3];
        for (i, j) in (0..segments[u]).flat_map(|i| (0..segments[v]).map(move |j| (i, j))) {
            for top in [false, true] {
                let low = axes[u] * i + axes[v] * j + axes[w] * if top { segments[w] } else { 0 };
                let cells = [low, low + axes[u], low + axes[u] + axes[v], low + axes[v]];
                let [a, b, c, d] = cells.map(|cell| at(&mut grid, cell));
                if top { grid.quad(a, b, c, d) } else { grid.quad(a, d, c, b) }
            }
        }
    }
    grid.mesh()
}

/// A regular tetrahedron with its corners at `radius` from the origin: 4 triangles.
///
/// # Errors
/// A radius that is not positive.
pub fn tetrahedron(radius: f64) -> Result<Mesh, Error> {
    positive("radius", radius)?;
    let s = radius / 3.0_f64.sqrt();
    let corners = [[s, s, s], [s, -s, -s], [-s, s, -s], [-s, -s, s]];
    Mesh::new(corners.to_vec(), vec![[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
}

/// A regular octahedron with its corners on the axes at `radius`: 8 triangles.
///
/// # Errors
/// A radius that is not positive.
pub fn octahedron(radius: f64) -> Result<Mesh, Error> {
    positive("radius", radius)?;
    let mut grid = Grid::default();
    let ring = [DVec3::X, DVec3::Y, -DVec3::X, -DVec3::Y];
    ring.into_iter().for_each(|p| _ = grid.vertex(p * radius));
    let [south, north] = [-DVec3::Z, DVec3::Z].map(|p| grid.vertex(p * radius));
    grid.fan(0, 4, south, false);
    grid.fan(0, 4, north, true);
    grid.mesh()
}

/// A regular icosahedron with its corners at `radius` from the origin: 20 triangles.
///
/// # Errors
/// A radius that is not positive.
pub fn icosahedron(radius: f64) -> Result<Mesh, Error> {
    positive("radius", radius)?;
    let golden = (1.0 + 5.0_f64.sqrt()) / 2.0;
    let scale = radius / (1.0 + golden * golden).sqrt();
    let [a, b] = [scale, golden * scale];
    let corners = [[-a, b], [a, b], [-a, -b], [a, -b]];
    let vertices = corners
        .map(|[p, q]| [p, q, 0.0])
        .into_iter()
        .chain(corners.map(|[p, q]| [0.0, p, q]))
        .chain(corners.map(|[p, q]| [q, 0.0, p]))
        .collect();
    #[rustfmt::skip]
    let triangles = vec![
        [0, 11, 5], [0, 5, 1], [0, 1, 7], [0, 7, 10], [0, 10, 11],
        [1, 5, 9], [5, 11, 4], [11, 10, 2], [10, 7, 6], [7, 1, 8],
        [3, 9, 4], [3, 4, 2], [3, 2, 6], [3, 6, 8], [3, 8, 9],
        [4, 9, 5], [2, 4, 11], [6, 2, 10], [8, 6, 7], [9, 8, 1],
    ];
    Mesh::new(vertices, triangles)
}
