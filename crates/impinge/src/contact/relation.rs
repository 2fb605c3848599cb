//! How two bodies lie to each other.

/// The relation of two placed bodies; closed meshes count as solids.
///
/// Decided in this order: identical surfaces intersect; a body that lies wholly in the closed solid of
/// the other is inside it; closed bodies whose interiors share a point intersect, those that share only
/// surface points touch; an open surface that shares any point intersects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Relation {
    /// No common point.
    Separated,
    /// Common points, but no common interior point.
    Touching,
    /// A common interior point, or a surface that passes through the other.
    Intersecting,
    /// All of a lies in the closed solid b.
    AInsideB,
    /// All of b lies in the closed solid a.
    BInsideA,
}

impl Relation {
    /// The relation of b to a.
    pub const fn swapped(self) -> Relation {
        match self {
            Relation::AInsideB => Relation::BInsideA,
            Relation::BInsideA => Relation::AInsideB,
            other => other,
        }
    }

    /// Whether the bodies have a point in common.
    pub const fn is_contact(self) -> bool {
        !matches!(self, Relation::Separated)
    }
}
