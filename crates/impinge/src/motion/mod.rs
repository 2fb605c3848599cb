//! How bodies are placed and move.

mod pose;
mod skeleton;

pub use pose::Pose;
pub use skeleton::{Joint, JointKind, Skeleton};
