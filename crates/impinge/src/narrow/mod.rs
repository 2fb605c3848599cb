//! Methods that answer for pairs of bodies: kernels, what a method is, the list of methods, and how pairs reach them.

pub mod contacts;
pub mod continuous;
pub mod convex;
pub mod convex_mesh;
pub(crate) mod cuboid_mesh;
pub mod decompose;
pub mod deforming;
pub mod detector;
pub mod dispatch;
pub mod exact;
mod half_space_mesh;
pub mod image;
pub mod kernel_memory;
pub mod methods;
pub(crate) mod particles;
pub mod route;
pub mod sampled;
pub mod shape_pair;
pub(crate) mod shape_ray;
pub mod solid_sweep;
pub(crate) mod union_point;
mod union_relation;
