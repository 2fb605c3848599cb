//! A rigid placement, and the exact formula by which it places a vertex.
//!
//! The placed doubles are the truth that predicates decide on, so the order of operations is part of
//! the contract: `x' = ((r00·x + r01·y) + r02·z) + tx`, without fused multiply-add.

use std::ops::{Mul, RangeInclusive};

use glam::{DMat3, DQuat, DVec3};

use crate::Error;
use crate::num::tolerance::{LARGEST_COORDINATE, POSE_ORTHONORMALITY, ROTATION_ROUNDING};

/// Rotation and translation, as a matrix that is applied as given.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(into = "super::pose_data::PoseData", try_from = "super::pose_data::PoseData")
)]
pub struct Pose {
    rows: [DVec3; 3],
    translation: DVec3,
}

impl Pose {
    /// Leaves every point where it is, to the bit.
    pub const IDENTITY: Pose = Pose { rows: [DVec3::X, DVec3::Y, DVec3::Z], translation: DVec3::ZERO };

    /// A pure translation.
    ///
    /// # Errors
    /// Numbers that are not finite or beyond 1e60.
    pub fn from_translation(position: impl Into<DVec3>) -> Result<Pose, Error> {
        let position = position.into();
        check_translation(position)?;
        Ok(Pose::shift(position))
    }

    /// A pure translation by numbers that are known to be finite.
    pub(crate) fn shift(position: impl Into<DVec3>) -> Pose {
        Pose { translation: position.into(), ..Pose::IDENTITY }
    }

    /// Position and quaternion (x, y, z, w), which is divided by its norm.
    ///
    /// # Errors
    /// Numbers that are not finite, or a quaternion so short or so long that its square is no normal double.
    pub fn new(position: [f64; 3], rotation: [f64; 4]) -> Result<Pose, Error> {
        let [x, y, z, w] = rotation;
        let norm_sq = ((x * x + y * y) + z * z) + w * w;
        let norm = norm_sq.sqrt();
        // Below that, digits of the squares are lost.
        if !norm_sq.is_normal() {
            let reason =
                format!("the quaternion {rotation:?} has the length {norm:?} and cannot be made a unit one");
            return Err(Error::Pose { reason });
        }
        check_translation(position.into())?;
        Ok(Pose::turned(position.into(), DQuat::from_xyzw(x / norm, y / norm, z / norm, w / norm)))
    }

    /// A position and a unit quaternion, which is taken as it is ([`Pose::new`] divides by its norm).
    ///
    /// # Errors
    /// Numbers that are not finite, or a quaternion whose length is off 1 by more than 1e-4.
    // Else a scene of many bodies copies each pose twice in every frame.
    #[inline(always)]
    pub fn from_rotation(position: DVec3, rotation: DQuat) -> Result<Pose, Error> {
        check_translation(position)?;
        let [x, y, z, w] = rotation.to_array();
        // The square spares the root; NaN is in no range.
        if !UNIT_LENGTH_SQ.contains(&(((x * x + y * y) + z * z) + w * w)) {
            return Err(no_unit_quaternion(x, y, z, w));
        }
        Ok(Pose::turned(position, rotation))
    }

    /// A position and a unit quaternion that are known to be finite.
    #[inline]
    pub(crate) fn turned(position: DVec3, rotation: DQuat) -> Pose {
        let [x, y, z, w] = rotation.to_array();
        let rows = [
            DVec3::new(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)),
            DVec3::new(2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)),
            DVec3::new(2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)),
        ];
        Pose { rows, translation: position }
    }

    /// A 4×4 matrix, row by row, applied as given.
    ///
    /// # Errors
    /// Not orthonormal within 1e-4, a reflection, or a last row other than 0 0 0 1.
    pub fn from_matrix(m: &[f64; 16]) -> Result<Pose, Error> {
        let row = |i: usize| DVec3::new(m[4 * i], m[4 * i + 1], m[4 * i + 2]);
        let rows = [row(0), row(1), row(2)];
        if m[12..] != [0.0, 0.0, 0.0, 1.0] {
            return Err(Error::Pose { reason: format!("the last row is {:?}, not 0 0 0 1", &m[12..]) });
        }
        for i in 0..3 {
            for j in 0..=i {
                let want = if i == j { 1.0 } else { 0.0 };
                let off = (rows[i].dot(rows[j]) - want).abs();
                // Negated, so that NaN is refused.
                if !(off <= POSE_ORTHONORMALITY) {
                    let reason = match uniform_scale(&rows) {
                        Some(scale) => format!("the matrix is scaled by {scale}; scale the vertices instead"),
                        None => format!("rows {j} and {i} are {off:e} away from orthonormal"),
                    };
                    return Err(Error::Pose { reason });
                }
            }
        }
        if rows[0].cross(rows[1]).dot(rows[2]) <= 0.0 {
            return Err(Error::Pose { reason: "the matrix is a reflection".into() });
        }
        let translation = DVec3::new(m[3], m[7], m[11]);
        check_translation(translation)?;
        Ok(Pose { rows, translation })
    }

    /// The 4×4 matrix, row by row; [`Pose::from_matrix`] of it gives the same pose to the bit.
    pub fn to_matrix(&self) -> [f64; 16] {
        let ([x, y, z], t) = (self.rows, self.translation);
        [x.x, x.y, x.z, t.x, y.x, y.y, y.z, t.y, z.x, z.y, z.z, t.z, 0.0, 0.0, 0.0, 1.0]
    }

    /// The world position of a point, by the formula of the contract.
    #[inline]
    pub fn apply(&self, p: DVec3) -> DVec3 {
        let row = |r: DVec3, t: f64| ((r.x * p.x + r.y * p.y) + r.z * p.z) + t;
        DVec3::new(
            row(self.rows[0], self.translation.x),
            row(self.rows[1], self.translation.y),
            row(self.rows[2], self.translation.z),
        )
    }

    /// One pose after another: places a point where `self` puts what `inner` has placed, up to rounding.
    #[must_use]
    pub fn compose(&self, inner: &Pose) -> Pose {
        let [x, y, z] = inner.rows;
        let rows = self.rows.map(|r| (r.x * x + r.y * y) + r.z * z);
        Pose { rows, translation: self.apply(inner.translation) }
    }

    /// The pose that takes back what this one does, up to rounding.
    ///
    /// ```
    /// use impinge::Pose;
    ///
    /// let pose = Pose::new([1.0, 2.0, 3.0], [0.0, 0.0, 1.0, 0.0])?;
    /// assert_eq!(pose * pose.inverse(), Pose::default());
    /// # Ok::<(), impinge::Error>(())
    /// ```
    #[must_use]
    pub fn inverse(&self) -> Pose {
        let back = self.inverse_matrix();
        let turned = Pose { rows: [back.row(0), back.row(1), back.row(2)], translation: DVec3::ZERO };
        Pose { translation: turned.apply(-self.translation), ..turned }
    }

    /// The 3×3 part as given; orthonormal only within 1e-4.
    pub fn matrix(&self) -> DMat3 {
        DMat3::from_cols(self.rows[0], self.rows[1], self.rows[2]).transpose()
    }

    /// The inverse of the 3×3 part up to rounding: the transpose of a rotation, which nobody waits for.
    #[inline]
    pub(crate) fn inverse_matrix(&self) -> DMat3 {
        if self.is_rotation() {
            return DMat3::from_cols(self.rows[0], self.rows[1], self.rows[2]);
        }
        self.matrix().inverse()
    }

    /// Whether the 3×3 part is a rotation up to rounding.
    #[inline]
    pub fn is_rotation(&self) -> bool {
        let [x, y, z] = self.rows;
        let lengths = DVec3::new(x.dot(x), y.dot(y), z.dot(z)) - DVec3::ONE;
        let angles = DVec3::new(x.dot(y), y.dot(z), z.dot(x));
        lengths.abs().max(angles.abs()).max_element() <= ROTATION_ROUNDING
    }

    /// The nearest rotation to the 3×3 part, which primitives take; the part itself where it is one up to
    /// rounding.
    pub fn rotation(&self) -> DMat3 {
        let given = self.matrix();
        if self.is_rotation() {
            return given;
        }
        // Newton's iteration for the polar decomposition (Higham 1986): the error is squared each time, and
        // it starts below POSE_ORTHONORMALITY.
        (0..4).fold(given, |m, _| (m + m.inverse().transpose()) * 0.5)
    }

    /// The pose that primitives take: with the nearest rotation to the 3×3 part.
    #[must_use]
    pub(crate) fn rigid(&self) -> Pose {
        if self.is_rotation() {
            return *self;
        }
        let turn = self.rotation();
        Pose { rows: [turn.row(0), turn.row(1), turn.row(2)], translation: self.translation }
    }

    /// The same rotation at another place.
    #[must_use]
    pub(crate) fn moved_to(&self, translation: DVec3) -> Pose {
        Pose { translation, ..*self }
    }

    /// Where the body's origin is.
    pub fn translation(&self) -> DVec3 {
        self.translation
    }
}

impl Default for Pose {
    /// [`Pose::IDENTITY`].
    fn default() -> Pose {
        Pose::IDENTITY
    }
}

impl Mul for Pose {
    type Output = Pose;

    /// [`Pose::compose`]: the right one places first.
    fn mul(self, inner: Pose) -> Pose {
        self.compose(&inner)
    }
}

/// The factor of a matrix that is a rotation but for one, by its rows.
fn uniform_scale(rows: &[DVec3; 3]) -> Option<f64> {
    let scale = rows[0].length();
    let [x, y, z] = rows.map(|row| row / scale);
    let lengths = DVec3::new(x.dot(x), y.dot(y), z.dot(z)) - DVec3::ONE;
    let angles = DVec3::new(x.dot(y), y.dot(z), z.dot(x));
    let off = lengths.abs().max(angles.abs());
    // False for NaN.
    off.cmple(DVec3::splat(POSE_ORTHONORMALITY)).all().then_some(scale)
}

#[inline]
fn check_translation(t: DVec3) -> Result<(), Error> {
    if t.as_ref().iter().all(|x| x.abs() <= LARGEST_COORDINATE) {
        Ok(())
    } else {
        Err(far_position(t.x, t.y, t.z))
    }
}

/// Squares of the lengths of quaternions that are taken as they are.
const UNIT_LENGTH_SQ: RangeInclusive<f64> = {
    let [least, most] = [1.0 - POSE_ORTHONORMALITY, 1.0 + POSE_ORTHONORMALITY];
    least * least..=most * most
};

// Apart from the checks, so that who makes many poses does not carry the sentences along; by number, so that no
// vector goes through memory for their sake.
#[cold]
fn far_position(x: f64, y: f64, z: f64) -> Error {
    Error::Pose { reason: format!("the position {} is not finite or beyond 1e60", DVec3::new(x, y, z)) }
}

#[cold]
fn no_unit_quaternion(x: f64, y: f64, z: f64, w: f64) -> Error {
    let rotation = DQuat::from_xyzw(x, y, z, w);
    let off = (rotation.length() - 1.0).abs();
    Error::Pose { reason: format!("the quaternion {rotation} is {off:e} off unit length") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_many_digits_is_told_in_few() {
        let told = Pose::new([0.0; 3], [1e-160, 0.0, 0.0, 0.0]).unwrap_err().to_string();
        assert!(told.contains("1e-160") && told.len() < 160, "{told}");
    }

    #[test]
    fn a_quarter_turn_and_its_matrix_agree() {
        let half = 0.5_f64.sqrt();
        let turn = Pose::new([1.0, 2.0, 3.0], [0.0, 0.0, half, half]).unwrap();
        let p = turn.apply(DVec3::new(1.0, 0.0, 0.0));
        assert!((p - DVec3::new(1.0, 3.0, 3.0)).length() < 1e-15);
        let m = [0.0, -1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 1.0, 3.0, 0.0, 0.0, 0.0, 1.0];
        assert_eq!(Pose::from_matrix(&m).unwrap().apply(DVec3::X), DVec3::new(1.0, 3.0, 3.0));
    }

    #[test]
    fn composed_poses_place_one_after_the_other() {
        let outer = Pose::new([1.0, -2.0, 0.5], [0.1, 0.7, -0.3, 0.4]).unwrap();
        let inner = Pose::new([-0.2, 0.3, 4.0], [0.6, -0.1, 0.2, 0.9]).unwrap();
        let p = DVec3::new(0.3, -1.7, 2.2);
        let both = outer.compose(&inner);
        assert!((both.apply(p) - outer.apply(inner.apply(p))).length() < 1e-14);
        assert_eq!(outer.compose(&Pose::IDENTITY), outer);
    }

    #[test]
    fn the_nearest_rotation_is_a_rotation_and_near() {
        let exact = Pose::new([0.0; 3], [0.3, -0.5, 0.7, 0.2]).unwrap();
        assert_eq!(exact.rotation(), exact.matrix());
        let m = exact.matrix();
        let off = m + glam::DMat3::from_cols(DVec3::X, DVec3::ZERO, DVec3::Y) * 2e-5;
        let [x, y, z] = [off.row(0), off.row(1), off.row(2)];
        let rows = [x.x, x.y, x.z, 0.0, y.x, y.y, y.z, 0.0, z.x, z.y, z.z, 0.0, 0.0, 0.0, 0.0, 1.0];
        let found = Pose::from_matrix(&rows).unwrap().rotation();
        let left = found.transpose() * found - DMat3::IDENTITY;
        assert!(left.to_cols_array().iter().all(|x| x.abs() < 1e-15), "{left}");
        // Of a polar decomposition the rest is symmetric.
        let rest = found.transpose() * off;
        assert!((rest - rest.transpose()).to_cols_array().iter().all(|x| x.abs() < 1e-15), "{rest}");
    }

    #[test]
    fn what_is_not_rigid_is_refused() {
        let mut m = [0.0; 16];
        (m[0], m[5], m[10], m[15]) = (1.0, 1.0, -1.0, 1.0);
        assert!(Pose::from_matrix(&m).is_err());
        m[10] = 1.1;
        assert!(Pose::from_matrix(&m).is_err());
        m[10] = f64::NAN;
        assert!(Pose::from_matrix(&m).is_err());
        assert!(Pose::new([0.0; 3], [0.0; 4]).is_err());
        assert!(Pose::new([f64::INFINITY, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]).is_err());
        let inches = [0.0, -25.4, 0.0, 1.0, 25.4, 0.0, 0.0, 2.0, 0.0, 0.0, 25.4, 3.0, 0.0, 0.0, 0.0, 1.0];
        let refused = Pose::from_matrix(&inches).unwrap_err().to_string();
        assert!(refused.contains("scaled by 25.4; scale the vertices"), "{refused}");
    }

    #[test]
    fn an_inverse_takes_back() {
        let there = Pose::new([1.0, -2.0, 0.5], [0.1, 0.7, -0.3, 0.4]).unwrap();
        let p = DVec3::new(0.3, -1.7, 2.2);
        assert!((there.inverse().apply(there.apply(p)) - p).length() < 1e-14);
        assert!(((there * there.inverse()).apply(p) - p).length() < 1e-14);
        assert_eq!(Pose::default().inverse(), Pose::IDENTITY);
    }
}
