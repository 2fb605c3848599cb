//! Shapes at rest: what is let in, checked once.

mod mesh;
pub mod topology;
pub mod weld;

pub use mesh::Mesh;
pub use topology::Topology;
