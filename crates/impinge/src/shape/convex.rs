//! Every convex shape: a primitive or a polytope.

use std::sync::Arc;

use glam::DVec3;

use super::{LazyPolytope, Polytope, Primitive};

/// A convex shape in its own frame; a copy shares what is large.
#[derive(Debug, Clone)]
pub enum Convex {
    /// Described by a formula.
    Primitive(Primitive),
    /// The hull of points.
    Polytope(Arc<LazyPolytope>),
}

impl Convex {
    /// The point farthest along a direction; see [`Primitive::support`] for half-spaces.
    pub fn support(&self, direction: DVec3) -> DVec3 {
        match self {
            Convex::Primitive(p) => p.support(direction),
            Convex::Polytope(p) => p.vertices()[p.support(direction, 0) as usize],
        }
    }

    /// Whether it has no interior: a flat polytope, a triangle or a segment.
    pub fn is_flat(&self) -> bool {
        match self {
            Convex::Primitive(p) => p.is_flat(),
            Convex::Polytope(p) => p.dimension() < 3,
        }
    }

    /// The word for its kind, as in the program's questions.
    pub fn kind(&self) -> &'static str {
        match self {
            Convex::Primitive(p) => p.kind(),
            Convex::Polytope(_) => "hull",
        }
    }
}

impl From<Primitive> for Convex {
    fn from(primitive: Primitive) -> Convex {
        Convex::Primitive(primitive)
    }
}

impl From<Polytope> for Convex {
    fn from(polytope: Polytope) -> Convex {
        Convex::Polytope(Arc::new(Arc::new(polytope).into()))
    }
}
