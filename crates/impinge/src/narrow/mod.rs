//! Methods that answer for one pair of bodies.

pub mod convex;
pub mod exact;
