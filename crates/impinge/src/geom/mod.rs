//! Pure functions on points.

pub mod point_triangle;
pub mod segment_segment;
pub mod triangle_distance;
