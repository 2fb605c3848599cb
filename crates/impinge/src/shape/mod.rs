//! Shapes at rest: what is let in, checked once.

pub mod make;
pub mod mass;
mod mesh;
pub mod tetmesh;
pub mod topology;
pub mod weld;

pub use mesh::Mesh;
pub use tetmesh::TetMesh;
pub use topology::Topology;
