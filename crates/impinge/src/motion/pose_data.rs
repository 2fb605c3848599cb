//! How a pose is written and read: `{"matrix": […]}` to the bit; `{"position": […], "rotation": […]}` is read too.

use serde::{Deserialize, Serialize};

use super::Pose;
use crate::Error;

/// The two forms of a pose in files.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum PoseData {
    /// 4×4, row by row.
    Matrix { matrix: [f64; 16] },
    /// Quaternion (x, y, z, w), which is divided by its norm.
    Placed {
        position: [f64; 3],
        #[serde(default = "unturned")]
        rotation: [f64; 4],
    },
}

fn unturned() -> [f64; 4] {
    [0.0, 0.0, 0.0, 1.0]
}

impl From<Pose> for PoseData {
    fn from(pose: Pose) -> PoseData {
        PoseData::Matrix { matrix: pose.to_matrix() }
    }
}

impl TryFrom<PoseData> for Pose {
    type Error = Error;

    fn try_from(data: PoseData) -> Result<Pose, Error> {
        match data {
            PoseData::Matrix { matrix } => Pose::from_matrix(&matrix),
            PoseData::Placed { position, rotation } => Pose::new(position, rotation),
        }
    }
}
