//! Shapes at rest: what is let in, checked once.

mod convex;
pub(crate) mod hole_filling;
pub mod hull;
pub mod mass;
mod mesh;
mod polytope;
mod primitive;
pub mod procedural;
pub(crate) mod seams;
pub(crate) mod star_surface;
pub mod tetmesh;
pub mod topology;
pub mod weld;

pub use convex::Convex;
pub use mesh::{MOST_TRIANGLES, Mesh};
pub use polytope::{Edge, LazyPolytope, NO_FACE, Polytope, Side};
pub(crate) use polytope::{FacePlanes, Outline, PLANES};
pub use primitive::Primitive;
pub use tetmesh::TetMesh;
pub use topology::Topology;

#[cfg(any(test, feature = "unstable"))]
pub use {
    mesh::MOST_VERTICES,
    polytope::{Face, Spoke},
};
