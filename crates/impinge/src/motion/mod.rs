//! Where bodies are.

mod pose;

pub use pose::Pose;
