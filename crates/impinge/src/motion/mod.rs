//! How bodies are placed and move.

mod chain;
mod moving;
mod pose;
mod rational_screw;
mod rigid_motion;
mod screw;
mod skeleton;

pub use chain::Chain;
pub use moving::Motion;
pub use pose::Pose;
pub use rational_screw::RationalScrew;
pub use rigid_motion::{AccelerationBound, Ball, Law, RigidMotion, Twist};
pub use skeleton::{Joint, JointKind, Skeleton};
