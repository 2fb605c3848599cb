//! A shape with what its queries need, built once.

mod attachments;
mod cloud;
mod component_bounds;
mod compound;
mod geometry;
mod mesh_model;
mod placed;
mod prepare;
mod shape;

pub use cloud::Cloud;
#[cfg(any(test, feature = "unstable"))]
pub use compound::Part;
pub use compound::{Compound, CompoundChild, Node};
pub use geometry::Geometry;
pub use mesh_model::Model;
pub use placed::Placed;
pub use prepare::Fact;
pub use shape::{Shape, ShapeKind};

pub(crate) use component_bounds::component_bounds;
pub(crate) use geometry::polytope_bounds;
