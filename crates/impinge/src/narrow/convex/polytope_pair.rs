//! How one polytope lies in the frame of another, for walks that look at both.

use glam::{DMat3, DVec3};

use crate::motion::Pose;
use crate::shape::Polytope;

/// A polytope in whose frame one works, and another whose points and directions are brought into it.
#[derive(Clone, Copy)]
pub(super) struct PolytopePair<'p> {
    /// The one in its own frame.
    pub own: &'p Polytope,
    /// The other one.
    pub other: &'p Polytope,
    /// Turns directions of the other into this frame.
    turn: DMat3,
    shift: DVec3,
}

impl<'p> PolytopePair<'p> {
    /// The view from a; both poses must be rotations to rounding.
    #[inline]
    pub fn from_a(a: &'p Polytope, pose_a: &Pose, b: &'p Polytope, pose_b: &Pose) -> PolytopePair<'p> {
        let to_a = pose_a.matrix().transpose();
        let shift = to_a * (pose_b.translation() - pose_a.translation());
        PolytopePair { own: a, other: b, turn: to_a * pose_b.matrix(), shift }
    }

    /// The view from the other.
    #[inline]
    pub fn swapped(&self) -> PolytopePair<'p> {
        let turn = self.turn.transpose();
        PolytopePair { own: self.other, other: self.own, turn, shift: -(turn * self.shift) }
    }

    /// A point of the other in this frame.
    #[inline]
    pub fn place(&self, p: DVec3) -> DVec3 {
        self.turn * p + self.shift
    }

    /// A corner of the other in this frame.
    #[inline]
    pub fn corner(&self, vertex: u32) -> DVec3 {
        self.place(self.other.vertices()[vertex as usize])
    }

    /// A direction of the other in this frame.
    #[inline]
    pub fn turn(&self, d: DVec3) -> DVec3 {
        self.turn * d
    }

    /// A direction of this frame in the other's.
    #[inline]
    pub fn back(&self, d: DVec3) -> DVec3 {
        DVec3::new(self.turn.x_axis.dot(d), self.turn.y_axis.dot(d), self.turn.z_axis.dot(d))
    }

    /// A point of this frame in the other's.
    #[inline]
    pub fn place_back(&self, p: DVec3) -> DVec3 {
        self.back(p - self.shift)
    }
}
