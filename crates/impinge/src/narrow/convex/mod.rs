//! Convex bodies: signed distance with points and features, and the relation.

mod answer;
mod boxes;
pub mod brute;
mod containment;
mod epa;
pub(crate) mod exact;
mod faceted;
mod frame;
mod gjk;
mod growth;
pub mod manifold;
mod nearest;
pub(crate) mod placed;
pub mod point;
mod region;
pub mod relation;
pub mod separation;
pub mod walk;
