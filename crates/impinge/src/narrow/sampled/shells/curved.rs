//! Shells of bodies that are no meshes (Guy and Debunne 2004, section 7, leave them for the future): a coarse
//! polygonisation, and for each of its triangles a proved bound of how far from it the true surface may be,
//! by which the facets grow.
//!
//! **Implicit surfaces**, f(x) = 0 with |f(x) − f(y)| ≤ L·|x − y|. A grid is polygonised by marching
//! tetrahedra (six to a cell, along its diagonal: Doi and Koide 1991). *Bound:* a cell with centre c and half
//! diagonal h in which |f(c)| > L·h holds no zero. Cells that may hold one are halved again and again; each
//! that is left is charged to the triangle nearest to its centre, at the distance d: a zero in it is within
//! d + h of that triangle. So every zero inside the bounds is within the error of some triangle, whatever the
//! polygonisation missed.
//!
//! **Parametric patches**, P(u, v) on the unit square with |P_uu| ≤ M₁, |P_uv| ≤ M₂, |P_vv| ≤ M₃, polygonised
//! on a grid of n × n cells of two triangles. *Bound:* a patch is within (M₁ + 2·M₂ + M₃) / (8·n²) of its
//! triangle, parameter by parameter (Filip, Magedson and Markot 1986).

use std::collections::HashMap;

use glam::DVec3;

use super::Shells;
use crate::model::Model;
use crate::narrow::exact::closest_point::one_after_another;
use crate::num::parallel;
use crate::num::tolerance::{LARGEST_COORDINATE, ROUND_UP};
use crate::{Aabb, Error, Mesh, Pose};

/// How often a cell of the grid that may hold a zero is halved before it is charged to a triangle.
const HALVINGS: u32 = 3;

/// Cells along the longest side of a grid, at most: its points are held at once.
const MOST_CELLS: u32 = 512;

/// Steps by which a zero on an edge is found from both ends (regula falsi, Illinois variant). They make
/// triangles good, not bounds.
const ZERO_STEPS: usize = 12;

/// A surface patch over the unit square.
#[derive(Clone, Copy)]
pub struct Patch<'f> {
    /// The point of two parameters from 0 to 1.
    pub point: &'f (dyn Fn(f64, f64) -> DVec3 + Sync),
    /// Bounds of the lengths of the second derivatives: twice by u, by u and v, twice by v.
    pub second_derivatives: [f64; 3],
}

impl Shells {
    /// The shells of the surface f = 0 inside `bounds`, on a grid of so many cells along its longest side,
    /// and the polygonised surface they ride on. The differences of f are at most `lipschitz` times those of
    /// its arguments.
    ///
    /// # Errors
    /// Bounds without volume, a Lipschitz constant that is not positive, a value that is not finite, no or
    /// too many cells, or a function of one sign at all points of the grid.
    pub(crate) fn of_implicit(
        f: &(dyn Fn(DVec3) -> f64 + Sync),
        bounds: Aabb,
        lipschitz: f64,
        cells: u32,
    ) -> Result<(Mesh, Shells), Error> {
        let grid = Grid::new(bounds, cells)?;
        if !(lipschitz > 0.0 && lipschitz.is_finite()) {
            return Err(argument("lipschitz", format!("{lipschitz} is not a positive number")));
        }
        let values = parallel::map(grid.points(), |p| f(grid.point(p)));
        if let Some(p) = values.iter().position(|value| !value.is_finite()) {
            return Err(argument("f", format!("{} at {}", values[p], grid.point(p))));
        }
        let mesh = polygonise(&grid, &values, f)?;
        let error = errors(&grid, &mesh, f, lipschitz);
        let shells = Shells::build(&mesh, None, Some(error));
        Ok((mesh, shells))
    }

    /// The shells of patches, each on a grid of `cells` × `cells`, and the polygonised surface they ride on,
    /// whose vertices lie on the patches.
    ///
    /// # Errors
    /// No patches, no or too many cells, bounds of derivatives that are negative, or points that are not
    /// finite.
    pub fn of_patches(patches: &[Patch<'_>], cells: u32) -> Result<(Mesh, Shells), Error> {
        if cells == 0 || cells > MOST_CELLS {
            return Err(argument("cells", format!("{cells}; 1 to {MOST_CELLS} are possible")));
        }
        let (mut vertices, mut triangles, mut error) = (Vec::new(), Vec::new(), Vec::new());
        for patch in patches {
            let [uu, uv, vv] = patch.second_derivatives;
            let sum = uu + 2.0 * uv + vv;
            if !([uu, uv, vv].iter().all(|bound| *bound >= 0.0) && sum.is_finite()) {
                return Err(argument("second_derivatives", format!("{:?}", patch.second_derivatives)));
            }
            let first = vertices.len() as u32;
            let n = f64::from(cells);
            let along = cells + 1;
            vertices.extend(
                (0..along * along).map(|k| (patch.point)(f64::from(k % along) / n, f64::from(k / along) / n)),
            );
            for k in (0..cells).flat_map(|row| (0..cells).map(move |column| row * along + column)) {
                let [a, b, c, d] = [k, k + 1, k + 1 + along, k + along].map(|v| first + v);
                triangles.extend([[a, b, c], [a, c, d]]);
            }
            let more = ROUND_UP * sum / (8.0 * n * n);
            error.resize(triangles.len(), more);
        }
        let mesh = Mesh::from_points(vertices, triangles)?;
        let shells = Shells::build(&mesh, None, Some(error));
        Ok((mesh, shells))
    }
}

fn argument(name: &'static str, reason: String) -> Error {
    Error::Argument { name, reason }
}

/// A grid of cubes.
struct Grid {
    low: DVec3,
    side: f64,
    cells: [u32; 3],
}

impl Grid {
    fn new(bounds: Aabb, cells: u32) -> Result<Grid, Error> {
        let extent = bounds.high - bounds.low;
        let finite = bounds.low.abs().max(bounds.high.abs()).max_element() <= LARGEST_COORDINATE;
        if !(extent.min_element() > 0.0 && finite) {
            return Err(argument("bounds", format!("from {} to {} is no box", bounds.low, bounds.high)));
        }
        if cells == 0 || cells > MOST_CELLS {
            return Err(argument("cells", format!("{cells}; 1 to {MOST_CELLS} are possible")));
        }
        let side = extent.max_element() / f64::from(cells);
        // One more where rounding might leave a part of the box outside.
        let counts = extent.to_array().map(|x| (x / side).ceil() as u32 + 1);
        Ok(Grid { low: bounds.low, side, cells: counts })
    }

    fn points(&self) -> usize {
        self.cells.iter().map(|&n| n as usize + 1).product()
    }

    fn index(&self, [x, y, z]: [u32; 3]) -> usize {
        let [nx, ny, _] = self.cells.map(|n| n as usize + 1);
        (z as usize * ny + y as usize) * nx + x as usize
    }

    fn point(&self, index: usize) -> DVec3 {
        let [nx, ny, _] = self.cells.map(|n| n as usize + 1);
        let place = [index % nx, index / nx % ny, index / (nx * ny)];
        self.low + DVec3::from_array(place.map(|n| n as f64)) * self.side
    }

    fn each_cell(&self) -> impl Iterator<Item = [u32; 3]> + use<> {
        let [nx, ny, nz] = self.cells;
        (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
    }
}

/// The tetrahedra of a cell: from its first corner to its last along the axes, in every order of the axes.
const PATHS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// Marching tetrahedra: triangles between the signs, turned towards the positive side.
fn polygonise(grid: &Grid, values: &[f64], f: &(dyn Fn(DVec3) -> f64 + Sync)) -> Result<Mesh, Error> {
    let mut vertex_on: HashMap<(usize, usize), u32> = HashMap::new();
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for cell in grid.each_cell() {
        let corner = |k: usize| grid.index(std::array::from_fn(|axis| cell[axis] + (k as u32 >> axis & 1)));
        let negative = (0..8).filter(|&k| values[corner(k)] < 0.0).count();
        if negative == 0 || negative == 8 {
            continue;
        }
        for path in PATHS {
            let mut at = 0;
            let mut tetrahedron = [corner(0); 4];
            for (k, axis) in path.into_iter().enumerate() {
                at |= 1 << axis;
                tetrahedron[k + 1] = corner(at);
            }
            let (inside, outside): (Vec<usize>, Vec<usize>) =
                tetrahedron.into_iter().partition(|&p| values[p] < 0.0);
            let mut cut = |i: usize, o: usize| {
                let key = (i.min(o), i.max(o));
                *vertex_on.entry(key).or_insert_with(|| {
                    vertices.push(zero_between(
                        [grid.point(key.0), grid.point(key.1)],
                        [values[key.0], values[key.1]],
                        f,
                    ));
                    vertices.len() as u32 - 1
                })
            };
            let polygon = match (&inside[..], &outside[..]) {
                ([a], [p, q, r]) => vec![cut(*a, *p), cut(*a, *q), cut(*a, *r)],
                ([a, b, c], [p]) => vec![cut(*a, *p), cut(*b, *p), cut(*c, *p)],
                ([a, b], [p, q]) => vec![cut(*a, *p), cut(*a, *q), cut(*b, *q), cut(*b, *p)],
                _ => continue,
            };
            let out = grid.point(outside[0]) - grid.point(inside[0]);
            for k in 2..polygon.len() {
                let corners = [polygon[0], polygon[k - 1], polygon[k]];
                let [a, b, c] = corners.map(|v| vertices[v as usize]);
                let turned: DVec3 = (b - a).cross(c - a);
                triangles.push(if turned.dot(out) < 0.0 {
                    [corners[0], corners[2], corners[1]]
                } else {
                    corners
                });
            }
        }
    }
    if triangles.is_empty() {
        return Err(argument("f", "it has one sign at all points of the grid".into()));
    }
    Mesh::from_points(vertices, triangles)
}

/// A point near a zero between two points whose values have different signs.
fn zero_between(mut p: [DVec3; 2], mut value: [f64; 2], f: &(dyn Fn(DVec3) -> f64 + Sync)) -> DVec3 {
    let middle = |p: &[DVec3; 2], value: &[f64; 2]| {
        let way = value[0] / (value[0] - value[1]);
        p[0] + (p[1] - p[0]) * if way.is_finite() { way.clamp(0.0, 1.0) } else { 0.5 }
    };
    let mut last = None;
    for _ in 0..ZERO_STEPS {
        let at = middle(&p, &value);
        let now = f(at);
        if !(now.abs() > f64::EPSILON * value[0].abs().max(value[1].abs())) {
            return at;
        }
        let side = usize::from((now < 0.0) != (value[0] < 0.0));
        (p[side], value[side]) = (at, now);
        if last == Some(side) {
            value[1 - side] *= 0.5;
        }
        last = Some(side);
    }
    middle(&p, &value)
}

/// How far zeros may be from each triangle of a polygonised surface.
fn errors(grid: &Grid, mesh: &Mesh, f: &(dyn Fn(DVec3) -> f64 + Sync), lipschitz: f64) -> Vec<f64> {
    let cells: Vec<[u32; 3]> = grid.each_cell().collect();
    let left = parallel::map(cells.len(), |k| {
        let centre = grid.low + (DVec3::from_array(cells[k].map(f64::from)) + 0.5) * grid.side;
        let mut left = Vec::new();
        cells_with_zeros(centre, grid.side, HALVINGS, lipschitz, f, &mut left);
        left
    });
    let centres: Vec<DVec3> = left.into_iter().flatten().collect();
    let half_diagonal = grid.side / f64::from(1 << HALVINGS) * HALF_DIAGONAL;
    let mut error = vec![0.0_f64; mesh.triangles().len()];
    let (nearest, _) = one_after_another(&Model::from(mesh.clone()), &Pose::IDENTITY, &centres);
    for near in nearest {
        let of = &mut error[near.triangle as usize];
        *of = of.max((near.distance + half_diagonal) * ROUND_UP);
    }
    error
}

/// Half the diagonal of a cube of side 1, rounded up.
const HALF_DIAGONAL: f64 = 0.866_025_404;

/// The centres of the smallest cells that may hold a zero.
fn cells_with_zeros(
    centre: DVec3,
    side: f64,
    halvings: u32,
    lipschitz: f64,
    f: &(dyn Fn(DVec3) -> f64 + Sync),
    left: &mut Vec<DVec3>,
) {
    // A value that is not finite excludes nothing.
    if f(centre).abs() > lipschitz * side * HALF_DIAGONAL {
        return;
    }
    if halvings == 0 {
        left.push(centre);
        return;
    }
    for k in 0..8_u32 {
        let shift = DVec3::from_array([0, 1, 2].map(|axis| if k >> axis & 1 == 1 { 0.25 } else { -0.25 }));
        cells_with_zeros(centre + shift * side, 0.5 * side, halvings - 1, lipschitz, f, left);
    }
}

#[cfg(test)]
#[path = "curved_tests.rs"]
mod tests;
