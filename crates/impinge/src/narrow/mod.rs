//! Methods that answer for one pair of bodies.

pub mod between;
pub mod continuous;
pub mod convex;
pub mod decompose;
pub mod deforming;
pub mod exact;
pub mod parts;
pub mod surface;
