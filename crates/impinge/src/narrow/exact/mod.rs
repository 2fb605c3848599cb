//! Hierarchy and exact triangle tests.

pub mod closest_point;
pub mod distance;
mod view;
