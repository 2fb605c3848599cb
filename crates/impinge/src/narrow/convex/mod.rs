//! Convex bodies: signed distance with points and features, and the relation.

mod answer;
mod box_box;
pub mod brute;
mod containment;
mod curved_solid;
mod epa;
mod epa_polytope;
pub(crate) mod exact;
mod exact_simplex;
pub(crate) mod faceted;
mod gjk;
mod hull_chord;
pub mod manifold;
pub(crate) mod placed_core;
pub mod point;
pub mod polytope_distance;
mod polytope_pair;
pub(crate) mod ray;
pub mod relation;
pub mod separation;
mod voronoi_walk;
