//! Shapes at rest: what is let in, checked once.

pub mod make;
pub mod mass;
mod mesh;
pub mod tetmesh;
pub mod topology;
pub mod weld;

pub use mesh::{MOST_TRIANGLES, MOST_VERTICES, Mesh};
pub use tetmesh::TetMesh;
pub use topology::Topology;
