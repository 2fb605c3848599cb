//! Methods that answer for one pair of bodies.

pub mod exact;
