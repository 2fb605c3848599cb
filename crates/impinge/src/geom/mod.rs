//! Pure functions on points.

pub mod common_point;
pub mod crossing;
pub mod fast_max;
pub mod incremental_hull;
pub mod moving;
pub mod point_triangle;
pub mod point_triangle_exact;
pub mod ray_triangle;
pub mod segment_segment;
pub mod segment_triangle;
pub mod triangle_box;
pub mod triangle_distance;
mod triangle_distance_exact;
pub mod triangle_triangle;
pub mod unit_normal;
