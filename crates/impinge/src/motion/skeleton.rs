//! A tree of joints and where it puts its links: forward kinematics.
//!
//! Pivots and axes are given in the rest pose, all in the one frame of the body, and a link's pose takes its
//! points from there to the world: the product of the joints' motions from the root outward (Brockett,
//! "Robotic manipulators and the product of exponentials formula", 1984). Poses are computed anew from the
//! joint values each time, so nothing drifts.

use glam::{DQuat, DVec3};

use super::Pose;
use crate::Error;

/// What a joint lets its link do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JointKind {
    /// Nothing.
    Fixed,
    /// Turns about the axis through the pivot; its value is an angle.
    Revolute,
    /// Slides along the axis; its value is a length.
    Prismatic,
}

/// How a link hangs on its parent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Joint {
    /// The link it hangs on, by its index; `None` for one that hangs on the body's own pose.
    pub parent: Option<usize>,
    /// What it lets the link do.
    pub kind: JointKind,
    /// A point on the axis, in the body's frame at rest.
    pub pivot: DVec3,
    /// The direction of the axis, in the body's frame at rest; made a unit vector by [`Skeleton::new`].
    pub axis: DVec3,
    /// Smallest and largest value, an angle or a length.
    pub limits: [f64; 2],
}

/// A tree of joints; joint i carries link i, and at value 0 every link is at rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Skeleton {
    joints: Vec<Joint>,
}

impl Skeleton {
    /// Checks the joints: parents stand before their children.
    ///
    /// # Errors
    /// A parent that does not come first, an axis without direction, limits that are not ordered, or a
    /// number that is not finite.
    pub fn new(mut joints: Vec<Joint>) -> Result<Skeleton, Error> {
        for (i, joint) in joints.iter_mut().enumerate() {
            let refuse =
                |what: &str| Error::Argument { name: "joints", reason: format!("joint {i}: {what}") };
            if joint.parent.is_some_and(|p| p >= i) {
                return Err(refuse("its parent does not come before it"));
            }
            if !joint.pivot.is_finite() {
                return Err(refuse("the pivot is not finite"));
            }
            let [low, high] = joint.limits;
            if !(low <= high && low.is_finite() && high.is_finite()) {
                return Err(refuse(&format!("the limits {low} to {high} are no range")));
            }
            joint.axis = joint.axis.try_normalize().ok_or_else(|| refuse("the axis has no direction"))?;
        }
        Ok(Skeleton { joints })
    }

    /// The joints, parents first.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// Moves each value into the limits of its joint.
    pub fn clamp(&self, values: &mut [f64]) {
        for (value, joint) in values.iter_mut().zip(&self.joints) {
            let [low, high] = joint.limits;
            *value = value.clamp(low, high);
        }
    }

    /// Where each link is when the body stands at `root`; a missing value counts as 0, and limits are the
    /// caller's to keep ([`Skeleton::clamp`]).
    pub fn poses(&self, root: &Pose, values: &[f64], out: &mut Vec<Pose>) {
        out.clear();
        for (i, joint) in self.joints.iter().enumerate() {
            let parent = joint.parent.map_or(*root, |p| out[p]);
            out.push(parent.compose(&joint.motion(values.get(i).copied().unwrap_or(0.0))));
        }
    }

    /// The links that hang on each other directly: pairs that meet at a joint, parent first.
    pub fn neighbours(&self) -> impl Iterator<Item = [usize; 2]> + '_ {
        self.joints.iter().enumerate().filter_map(|(i, joint)| joint.parent.map(|p| [p, i]))
    }

    /// Whether link `i` is `root` or hangs on it, however far out.
    pub fn hangs_on(&self, mut i: usize, root: usize) -> bool {
        while i > root {
            match self.joints[i].parent {
                Some(parent) => i = parent,
                None => return false,
            }
        }
        i == root
    }
}

impl Joint {
    /// How the link moves against its parent, in the frame of the body at rest.
    fn motion(&self, value: f64) -> Pose {
        match self.kind {
            JointKind::Fixed => Pose::IDENTITY,
            JointKind::Prismatic => Pose::shift(self.axis * value),
            JointKind::Revolute => {
                let turn = DQuat::from_axis_angle(self.axis, value);
                Pose::turned(self.pivot - turn * self.pivot, turn)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;

    fn joint(parent: Option<usize>, kind: JointKind, pivot: DVec3, axis: DVec3) -> Joint {
        Joint { parent, kind, pivot, axis, limits: [-FRAC_PI_2, FRAC_PI_2] }
    }

    fn arm() -> Skeleton {
        let joints = vec![
            joint(None, JointKind::Fixed, DVec3::ZERO, DVec3::Z),
            joint(Some(0), JointKind::Revolute, DVec3::X, DVec3::Z * 3.0),
            joint(Some(1), JointKind::Revolute, 2.0 * DVec3::X, DVec3::Z),
            joint(Some(2), JointKind::Prismatic, 3.0 * DVec3::X, DVec3::X),
            joint(Some(0), JointKind::Revolute, -DVec3::X, DVec3::Y),
        ];
        Skeleton::new(joints).unwrap()
    }

    #[test]
    fn an_arm_bends_where_trigonometry_says() {
        let (arm, mut poses) = (arm(), Vec::new());
        let root = Pose::shift(DVec3::Z);
        arm.poses(&root, &[], &mut poses);
        assert!(poses.iter().all(|p| *p == root), "at rest every link stands at the root");
        arm.poses(&root, &[9.0, FRAC_PI_2, FRAC_PI_2, 0.5, 0.0], &mut poses);
        // Up from (1, 0), back from (1, 1), and the slide goes on by a half.
        let tip = poses[3].apply(3.0 * DVec3::X);
        assert!((tip - DVec3::new(-0.5, 1.0, 1.0)).length() < 1e-15, "{tip}");
        assert_eq!(poses[0], root, "a fixed joint has no value");
        let mut values = [0.0, 7.0, -7.0, 0.25, 0.0];
        arm.clamp(&mut values);
        assert_eq!(values, [0.0, FRAC_PI_2, -FRAC_PI_2, 0.25, 0.0]);
    }

    #[test]
    fn links_keep_their_lengths_and_know_their_family() {
        let (arm, mut poses) = (arm(), Vec::new());
        arm.poses(&Pose::IDENTITY, &[0.0, 0.4, -1.1, 0.0, 0.3], &mut poses);
        for [p, c] in arm.neighbours() {
            let pivot = arm.joints()[c].pivot;
            let gap = poses[p].apply(pivot).distance(poses[c].apply(pivot));
            assert!(
                arm.joints()[c].kind == JointKind::Prismatic || gap < 1e-14,
                "joint {c} came apart: {gap}"
            );
        }
        assert!(arm.hangs_on(3, 1) && arm.hangs_on(2, 2) && !arm.hangs_on(4, 1) && !arm.hangs_on(1, 2));
        assert_eq!(arm.neighbours().count(), 4);
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        let good = joint(None, JointKind::Revolute, DVec3::ZERO, DVec3::Z);
        for wrong in [
            Joint { parent: Some(0), ..good },
            Joint { axis: DVec3::ZERO, ..good },
            Joint { pivot: DVec3::NAN, ..good },
            Joint { limits: [1.0, 0.0], ..good },
            Joint { limits: [f64::NAN, 0.0], ..good },
        ] {
            assert!(Skeleton::new(vec![wrong]).unwrap_err().to_string().contains("joint 0"));
        }
    }
}
