//! Methods that answer for one pair of bodies.

pub mod compound_pairs;
pub mod continuous;
pub mod convex;
pub mod convex_mesh;
pub mod decompose;
pub mod deforming;
pub mod dispatch;
pub mod exact;
