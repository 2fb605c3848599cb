//! Methods that answer for pairs of bodies.

pub mod compound_pairs;
pub mod continuous;
pub mod convex;
pub mod convex_mesh;
pub mod decompose;
pub mod deforming;
pub mod detectors;
pub mod dispatch;
pub mod exact;
pub mod method;
pub mod pair_memory;
pub(crate) mod running;
pub(crate) mod shape_memory;
pub mod shape_pair;
mod unfinished;
