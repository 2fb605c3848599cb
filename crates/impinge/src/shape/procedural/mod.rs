//! Meshes without files: the bodies of scenes and tests, from a few numbers each.
//!
//! Closed ones are watertight, oriented outward and free of self-intersections unless their page says
//! otherwise, and each page states the number of triangles. Lengths are in the caller's unit; the axis of
//! a body of revolution is z.

mod blob;
mod body_part;
mod gear;
mod grid;
mod hand;
mod lathe;
mod polyhedron;
mod scatter;
mod sheet;
mod sphere;
mod teapot;
mod tube;

pub use blob::{blob, bunny};
pub use body_part::{BodyPart, join};
pub use gear::{gear, stairs};
pub use hand::hand;
pub use lathe::{bowl, capsule, cone, cylinder, lathe, torus, uv_sphere};
pub use polyhedron::{cuboid, icosahedron, octahedron, tetrahedron};
pub use scatter::{positions, pyramid, rotations, spheres, wall};
pub use sheet::sheet;
pub use sphere::ico_sphere;
pub use teapot::teapot;
pub use tube::{Ends, chain, clover, horseshoe, knot, tube};

#[cfg(test)]
mod tests;
