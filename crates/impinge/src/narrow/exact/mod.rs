//! Hierarchy and exact triangle tests.

pub(crate) mod body;
pub mod brute;
mod cells;
pub mod closest_point;
pub mod coherent;
pub mod collide;
pub mod contour;
pub mod distance;
mod evidence;
mod flag;
mod foot_lanes;
pub mod generalized_winding;
pub mod margin;
mod point_order;
pub mod ray_cast;
pub mod relation;
pub mod self_intersection;
pub mod signed_distance;
mod survey;
mod view;
pub mod winding;
