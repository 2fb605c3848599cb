//! A shape with what its queries need, built once.

mod compound;
mod mesh_model;
mod shape;

pub use compound::{Compound, CompoundChild, Node, Part};
pub use mesh_model::Model;
pub use shape::Shape;

pub(crate) use shape::polytope_bounds;
