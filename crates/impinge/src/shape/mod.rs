//! Shapes at rest: what is let in, checked once.

mod mesh;

pub use mesh::Mesh;
