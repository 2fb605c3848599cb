//! Every convex shape: a primitive or a polytope.

use glam::DVec3;

use super::Primitive;

/// A convex shape in its own frame.
#[derive(Debug, Clone)]
pub enum Convex {
    /// Described by a formula.
    Primitive(Primitive),
}

impl Convex {
    /// The point farthest along a direction; see [`Primitive::support`] for half-spaces.
    pub fn support(&self, direction: DVec3) -> DVec3 {
        match self {
            Convex::Primitive(p) => p.support(direction),
        }
    }

    /// Whether it has no interior: a flat polytope, a triangle or a segment.
    pub fn is_flat(&self) -> bool {
        match self {
            Convex::Primitive(p) => p.is_flat(),
        }
    }

    /// The word for its kind, as in the program's questions.
    pub fn kind(&self) -> &'static str {
        match self {
            Convex::Primitive(p) => p.kind(),
        }
    }
}

impl From<Primitive> for Convex {
    fn from(primitive: Primitive) -> Convex {
        Convex::Primitive(primitive)
    }
}
