//! The part of a shape that a point lies on.

/// A feature of a mesh or polytope, by the indices of the shape as it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Feature {
    /// A corner.
    Vertex(u32),
    /// The edge between two vertices, the smaller index first.
    Edge([u32; 2]),
    /// The inside of a face.
    Face(u32),
    /// Somewhere on a curved primitive.
    Surface,
}
