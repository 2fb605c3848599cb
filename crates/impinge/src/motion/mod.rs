//! How bodies are placed and move.

mod chain;
#[cfg(feature = "mint")]
mod mint_pose;
mod moving;
mod pose;
#[cfg(feature = "serde")]
mod pose_data;
mod rational_screw;
mod relative_drift;
mod relative_screw;
mod rigid_motion;
mod screw;
mod skeleton;

pub use chain::Chain;
pub use moving::Motion;
pub use pose::Pose;
pub use rational_screw::RationalScrew;
pub use relative_drift::RelativeDrift;
pub use relative_screw::RelativeScrew;
pub use rigid_motion::{AccelerationBound, Ball, Law, RigidMotion, Twist};
pub use skeleton::{Joint, JointKind, Skeleton};
