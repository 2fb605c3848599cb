//! Hierarchy and exact triangle tests.

mod aligned_frame;
pub mod brute;
mod cell_classification;
pub mod closest_point;
pub mod collide;
pub mod contour;
pub mod distance;
pub mod generalized_winding;
pub mod margin;
mod morton_order;
mod outward;
pub(crate) mod patch_lanes;
mod perturbed_point;
pub(crate) mod placed_mesh;
pub(crate) mod point_triangle_simd;
pub mod ray_cast;
pub mod relation;
mod relation_facts;
pub mod self_intersection;
pub mod signed_distance;
mod single_sheet;
pub(crate) mod solid_surface;
pub(crate) mod surface_patch;
pub mod temporal_coherence;
mod triangle_arrangement;
pub mod volume;
pub mod winding;
