//! How bodies are placed and move.

mod chain;
mod glide;
mod moving;
mod pose;
mod screw;
mod screwing;
mod skeleton;

pub use chain::Chain;
pub use glide::{Ball, Bend, Glide, Law, Twist};
pub use moving::Motion;
pub use pose::Pose;
pub use screwing::Screwing;
pub use skeleton::{Joint, JointKind, Skeleton};
