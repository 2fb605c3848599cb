//! A triangle mesh as it came: nothing is dropped, merged or reordered.

use glam::DVec3;

use crate::Error;
use crate::num::each::Each;
use crate::num::tolerance::LARGEST_COORDINATE;

/// Vertices of a mesh, at most: `u32::MAX` stays free to stand for "none".
pub const MOST_VERTICES: usize = u32::MAX as usize - 1;

/// Triangles of a mesh, at most: the leaves of the production tree name a slot by 28 bits.
pub const MOST_TRIANGLES: usize = (1 << 28) - 1;

/// Vertices and triangles, every index in range and every coordinate finite.
///
/// Zero-area triangles, duplicates, open and non-manifold surfaces are all accepted.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "MeshData"))]
pub struct Mesh {
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// Checks and takes the arrays.
    ///
    /// # Errors
    /// No triangles, an index out of range, or a coordinate that is not finite or beyond 1e60.
    pub fn new(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Result<Mesh, Error> {
        Mesh::from_points(vertices.into_iter().map(DVec3::from).collect(), triangles)
    }

    /// As [`Mesh::new`], from points.
    ///
    /// # Errors
    /// As [`Mesh::new`].
    pub fn from_points(vertices: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Result<Mesh, Error> {
        for (what, count, most) in
            [("vertices", vertices.len(), MOST_VERTICES), ("triangles", triangles.len(), MOST_TRIANGLES)]
        {
            if count > most {
                return Err(Error::TooMany { what, count, most });
            }
        }
        if triangles.is_empty() {
            return Err(Error::NoTriangles);
        }
        check_coordinates(&vertices)?;
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(&v) = corners.iter().find(|&&v| v as usize >= vertices.len()) {
                return Err(Error::VertexIndex { triangle, vertex: v.into(), vertices: vertices.len() });
            }
        }
        Ok(Mesh { vertices, triangles })
    }

    /// The same mesh in other units: every coordinate times a factor.
    ///
    /// ```
    /// let inch = impinge::procedural::ico_sphere(1.0, 1)?;
    /// let millimetres = inch.scaled(25.4)?;
    /// assert_eq!(millimetres.vertices()[0], inch.vertices()[0] * 25.4);
    /// # Ok::<(), impinge::Error>(())
    /// ```
    ///
    /// # Errors
    /// A factor that is not positive and finite, or a coordinate beyond 1e60.
    pub fn scaled(&self, factor: f64) -> Result<Mesh, Error> {
        // Negated, so that NaN is refused.
        if !(factor > 0.0 && factor.is_finite()) {
            let reason = format!("{factor} is not positive and finite");
            return Err(Error::Argument { name: "factor", reason });
        }
        Mesh::from_points(self.vertices.iter().map(|&p| p * factor).collect(), self.triangles.clone())
    }

    /// The vertices, in the order they came.
    pub fn vertices(&self) -> &[DVec3] {
        &self.vertices
    }

    /// Vertex indices of each triangle, in the order they came.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The corners of one triangle.
    #[inline]
    pub fn corners(&self, triangle: u32) -> [DVec3; 3] {
        self.triangles[triangle as usize].each(|v| self.vertices[v as usize])
    }
}

/// A mesh as it is read, before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct MeshData {
    vertices: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
}

#[cfg(feature = "serde")]
impl TryFrom<MeshData> for Mesh {
    type Error = Error;

    fn try_from(data: MeshData) -> Result<Mesh, Error> {
        Mesh::new(data.vertices, data.triangles)
    }
}

pub(super) fn check_coordinates(vertices: &[DVec3]) -> Result<(), Error> {
    for (vertex, p) in vertices.iter().enumerate() {
        // The comparison is false for NaN.
        if let Some(&value) = p.as_ref().iter().find(|x| !(x.abs() <= LARGEST_COORDINATE)) {
            return Err(Error::Coordinate { vertex, value });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_culprit_is_named() {
        let points = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, f64::NAN, 0.0]];
        let refused = Mesh::new(points.clone(), vec![[0, 1, 2]]).unwrap_err();
        assert!(matches!(refused, Error::Coordinate { vertex: 2, .. }), "{refused}");
        let refused = Mesh::new(points[..2].to_vec(), vec![[0, 1, 0], [0, 1, 2]]).unwrap_err();
        assert_eq!(refused, Error::VertexIndex { triangle: 1, vertex: 2, vertices: 2 });
        assert_eq!(Mesh::new(points, vec![]).unwrap_err(), Error::NoTriangles);
    }
}
