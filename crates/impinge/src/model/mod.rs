//! A shape with what its queries need, built once.

mod mesh_model;
mod shape;

pub use mesh_model::Model;
pub use shape::Shape;
