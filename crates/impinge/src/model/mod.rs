//! A shape with what its queries need, built once.

mod mesh_model;

pub use mesh_model::Model;
