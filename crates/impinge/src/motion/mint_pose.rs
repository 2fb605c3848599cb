//! Poses from and to the types of `mint`, which nalgebra, glam of any version and others convert to.
//!
//! Points and vectors need nothing of their own: glam turns those of `mint` into `DVec3`, which every question takes.

use ::mint::{ColumnMatrix4, IntoMint, Point3, Quaternion, RowMatrix4, Vector3};
use glam::DQuat;

use super::Pose;
use crate::Error;

impl TryFrom<(Vector3<f64>, Quaternion<f64>)> for Pose {
    type Error = Error;

    /// As [`Pose::new`].
    fn try_from((position, rotation): (Vector3<f64>, Quaternion<f64>)) -> Result<Pose, Error> {
        let Vector3 { x, y, z } = rotation.v;
        Pose::new(position.into(), [x, y, z, rotation.s])
    }
}

impl TryFrom<(Point3<f64>, Quaternion<f64>)> for Pose {
    type Error = Error;

    /// As [`Pose::new`].
    fn try_from((position, rotation): (Point3<f64>, Quaternion<f64>)) -> Result<Pose, Error> {
        let Point3 { x, y, z } = position;
        Pose::try_from((Vector3 { x, y, z }, rotation))
    }
}

impl From<Pose> for (Vector3<f64>, Quaternion<f64>) {
    /// The position and the nearest rotation, up to rounding.
    fn from(pose: Pose) -> (Vector3<f64>, Quaternion<f64>) {
        let rotation = DQuat::from_mat3(&pose.rotation());
        (pose.translation().into(), rotation.into())
    }
}

impl TryFrom<RowMatrix4<f64>> for Pose {
    type Error = Error;

    /// As [`Pose::from_matrix`].
    fn try_from(matrix: RowMatrix4<f64>) -> Result<Pose, Error> {
        Pose::from_matrix(&matrix.into())
    }
}

impl TryFrom<ColumnMatrix4<f64>> for Pose {
    type Error = Error;

    /// As [`Pose::from_matrix`].
    fn try_from(matrix: ColumnMatrix4<f64>) -> Result<Pose, Error> {
        let columns: [f64; 16] = matrix.into();
        Pose::from_matrix(&std::array::from_fn(|k| columns[k % 4 * 4 + k / 4]))
    }
}

impl From<Pose> for RowMatrix4<f64> {
    /// To the bit.
    fn from(pose: Pose) -> RowMatrix4<f64> {
        pose.to_matrix().into()
    }
}

impl From<Pose> for ColumnMatrix4<f64> {
    /// To the bit.
    fn from(pose: Pose) -> ColumnMatrix4<f64> {
        let rows = pose.to_matrix();
        std::array::from_fn::<f64, 16, _>(|k| rows[k % 4 * 4 + k / 4]).into()
    }
}

impl IntoMint for Pose {
    type MintType = RowMatrix4<f64>;
}
