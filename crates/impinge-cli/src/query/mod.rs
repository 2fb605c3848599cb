//! Batches of questions: JSON lines in, JSON lines out, in order.

pub mod fields;
pub mod line;
pub mod lines;
pub mod meshes;
pub mod ordered;
pub mod shape;
