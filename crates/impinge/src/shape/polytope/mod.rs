//! Convex polytopes with their feature graph: corners, straight edges, flat faces, each with what the
//! walls of its Voronoi region need, in flat arrays (Lin and Canny 1991; Cohen, Lin, Manocha and Ponamgi,
//! "I-COLLIDE", 1995).
//!
//! I-COLLIDE splits faces with many sides and corners with many edges beforehand, so that a step of the
//! walk looks at a bounded number of neighbours. Here features stay whole and a large ring or loop is
//! searched by halving (`search`), which bounds a step by the logarithm of its size and keeps answers in
//! the features of the body as it is.

mod build;
mod cell;
mod lazy;
mod planes;
mod search;

use glam::DVec3;

pub(crate) use build::Outline;
pub use cell::{Edge, Face, Side, Spoke};
pub use lazy::LazyPolytope;
use planes::LazyPlanes;
pub(crate) use planes::{FacePlanes, PLANES};

use super::hull;
use super::mesh::{MOST_VERTICES, Mesh, check_coordinates};
use crate::Error;
use crate::simd::prefetch_lines;
use cell::{EdgeLinks, Ring};

/// Stands for "no face" in [`Edge::faces`]: a segment has none.
pub const NO_FACE: u32 = u32::MAX;

/// A convex polytope of dimension 0 (a point), 1 (a segment), 2 (a flat polygon) or 3 (a solid).
///
/// Corners are numbered in the order of the points they came from. A solid's faces are in ascending order
/// of their corners; a flat polygon has two, the second seen from the other side.
///
/// ```
/// use impinge::shape::Polytope;
/// use glam::DVec3;
///
/// let points: Vec<DVec3> = (0..27).map(|i| [i % 3, i / 3 % 3, i / 9].map(f64::from).into()).collect();
/// let cube = Polytope::hull(&points)?;
/// assert_eq!((cube.vertices().len(), cube.edges().len(), cube.faces().len()), (8, 12, 6));
/// assert_eq!(cube.original(7), 26);
/// # Ok::<(), impinge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Polytope {
    dimension: u32,
    corners: Vec<DVec3>,
    originals: Vec<u32>,
    rings: Vec<Ring>,
    spokes: Vec<Spoke>,
    edges: Vec<Edge>,
    links: Vec<EdgeLinks>,
    faces: Vec<Face>,
    sides: Vec<Side>,
    centre: DVec3,
    reach: f64,
    planes: LazyPlanes,
}

impl Polytope {
    /// The convex hull of points, decided exactly; duplicates, collinear and coplanar points are fine.
    ///
    /// # Errors
    /// No points, more than an index can name, or a coordinate that is not finite or beyond 1e60.
    pub fn hull(points: &[DVec3]) -> Result<Polytope, Error> {
        if points.is_empty() {
            return Err(Error::Argument { name: "points", reason: "a hull needs one at least".into() });
        }
        if points.len() > MOST_VERTICES {
            return Err(Error::TooMany { what: "vertices", count: points.len(), most: MOST_VERTICES });
        }
        check_coordinates(points)?;
        Ok(Polytope::of_points(points))
    }

    /// [`Polytope::hull`] of points that were checked before: finite ones, and one at least.
    pub(crate) fn of_points(points: &[DVec3]) -> Polytope {
        build::assemble(Outline::of(points))
    }

    /// The same hull, enlarged or reduced by a power of two.
    pub(crate) fn scaled(&self, scale: f64) -> Polytope {
        let points: Vec<DVec3> = self.corners.iter().map(|&p| p * scale).collect();
        let mut found = Polytope::of_points(&points);
        found.originals.iter_mut().for_each(|own| *own = self.originals[*own as usize]);
        found
    }

    /// The volume of the hull of points as [`Outline::of_ascending`] takes them, seen from `origin` to keep the digits;
    /// costs less than the outline.
    pub(crate) fn volume_of_ascending(points: &[DVec3], origin: DVec3) -> f64 {
        let spanned = |triangle: &hull::Triangle| {
            let [a, b, c] = triangle.corners.map(|p| points[p as usize] - origin);
            a.cross(b).dot(c)
        };
        match hull::hull(points) {
            hull::Hull::Solid(triangles) => triangles.iter().map(spanned).sum::<f64>() / 6.0,
            _ => 0.0,
        }
    }

    /// 0 for a point, 1 for a segment, 2 for a flat polygon, 3 for a solid.
    pub fn dimension(&self) -> u32 {
        self.dimension
    }

    /// The corners of the hull.
    #[inline]
    pub fn vertices(&self) -> &[DVec3] {
        &self.corners
    }

    /// The index that a corner had among the points given to [`Polytope::hull`], the first of equal ones.
    #[inline]
    pub fn original(&self, vertex: u32) -> u32 {
        self.originals[vertex as usize]
    }

    /// The edges; their sides never lie in one plane.
    #[inline]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The corners and faces of all edges.
    #[inline]
    pub(crate) fn links(&self) -> &[EdgeLinks] {
        &self.links
    }

    /// Asks for the memory of the corners and of what hangs together with them, of a hull that is small.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch_lines::<12, _>(&self.corners);
        prefetch_lines::<21, _>(&self.links);
    }

    /// The faces; no two neighbours lie in one plane.
    #[inline]
    pub fn faces(&self) -> &[Face] {
        &self.faces
    }

    /// The edges that leave a corner, in order around it.
    #[inline]
    pub fn spokes(&self, vertex: u32) -> &[Spoke] {
        &self.spokes[self.rings[vertex as usize].range()]
    }

    /// The sides of a face, anticlockwise seen from outside.
    #[inline]
    pub fn sides(&self, face: u32) -> &[Side] {
        &self.sides[self.faces[face as usize].range()]
    }

    /// The mean of the corners: a point inside.
    #[inline]
    pub fn centre(&self) -> DVec3 {
        self.centre
    }

    /// The volume inside; 0 below dimension 3.
    pub fn volume(&self) -> f64 {
        let solid = if self.dimension == 3 { 0..self.faces.len() as u32 } else { 0..0 };
        let triangles = solid.flat_map(|face| self.fan(face)).map(|t| t.map(|v| self.corners[v as usize]));
        build::spanned_volume(triangles, self.centre)
    }

    /// No corner is farther from the centre.
    #[inline]
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// A corner that is farthest in a direction, to rounding, by climbing from `start` along edges.
    #[inline]
    pub fn support(&self, direction: DVec3, start: u32) -> u32 {
        let from = self.corners[start as usize];
        let (mut at, mut gained) = (start, 0.0);
        while let Some(spoke) = self.steepest(at, direction) {
            // A gain that is rounding only could lead round in a circle.
            let gain = (self.corners[spoke.to as usize] - from).dot(direction);
            if !(gain > gained) {
                break;
            }
            (at, gained) = (spoke.to, gain);
        }
        at
    }

    /// The surface as triangles, closed for a solid and one sheet for a polygon; a segment or a point
    /// becomes one triangle without area.
    ///
    /// # Errors
    /// More triangles than a mesh can hold.
    pub fn mesh(&self) -> Result<Mesh, Error> {
        let triangles = match self.dimension {
            0 => vec![[0; 3]],
            1 => vec![[0, 1, 1]],
            2 => self.fan(0).collect(),
            _ => (0..self.faces.len() as u32).flat_map(|f| self.fan(f)).collect(),
        };
        Mesh::from_points(self.corners.clone(), triangles)
    }

    /// The same graph with every corner moved, by a map that keeps planes and orientation to rounding.
    #[must_use]
    pub fn map(&self, by: impl Fn(DVec3) -> DVec3) -> Polytope {
        let corners = self.corners.iter().map(|&p| by(p)).collect();
        let loops: Vec<Vec<u32>> = (0..self.faces.len() as u32)
            .map(|f| self.sides(f).iter().map(|side| side.start).collect())
            .collect();
        let (dimension, originals) = (self.dimension, self.originals.clone());
        build::assemble(Outline { dimension, corners, originals, loops })
    }

    /// A face as triangles around its first corner.
    pub(crate) fn fan(&self, face: u32) -> impl Iterator<Item = [u32; 3]> {
        let sides = self.sides(face);
        sides[1..].windows(2).map(|w| [sides[0].start, w[0].start, w[1].start])
    }
}

#[cfg(test)]
mod tests;
