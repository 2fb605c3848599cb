//! Trees of bounding volumes.

pub mod box_distance;
pub mod box_overlap;
pub mod box_time_of_impact;
pub mod cancelled_triangles;
pub mod component_extremes;
pub mod cost;
#[cfg(any(test, feature = "unstable"))]
pub mod design;
pub mod dipole;
pub mod disc_bound;
pub mod disc_bound_pair;
pub mod dual;
pub mod leaf_block;
pub mod leaf_filter;
pub mod particle_tree;
pub mod point_tree;
pub mod ray_tree;
pub mod relative;
pub mod self_overlap;
pub mod sphere_cover;
pub(crate) mod spot_search;
mod stack;
pub(crate) mod uncovered_triangles;
pub mod wide;
