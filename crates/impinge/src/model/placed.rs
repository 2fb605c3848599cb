//! A shape and where it is, or how it moves: what every question is asked about.

use glam::DVec3;

use super::{Geometry, Shape};
use crate::{Motion, Pose};

/// A shape at a pose or along a motion; made by [`Shape::at`], [`Shape::along`], or from a `&Shape`, whose
/// frame is then that of the world.
///
/// Questions about one moment take the start of a motion.
#[derive(Debug, Clone, Copy)]
pub struct Placed<'s> {
    shape: &'s Shape,
    motion: Motion,
}

impl<'s> Placed<'s> {
    /// The shape.
    pub fn shape(&self) -> &'s Shape {
        self.shape
    }

    /// Where it is, at the start of its motion.
    pub fn pose(&self) -> Pose {
        match &self.motion {
            Motion::Still(pose) => *pose,
            moving => moving.pose(0.0),
        }
    }

    /// The same shape with this added to the translation of its pose, standing still.
    pub fn shifted(&self, by: impl Into<DVec3>) -> Placed<'s> {
        let pose = self.pose();
        self.shape.at(pose.moved_to(pose.translation() + by.into()))
    }

    /// How it moves over the step.
    pub fn motion(&self) -> &Motion {
        &self.motion
    }

    /// What the kernels work on.
    #[inline]
    pub(crate) fn geometry(&self) -> &'s Geometry {
        self.shape.geometry()
    }
}

impl Shape {
    /// The shape at a pose.
    pub fn at(&self, pose: Pose) -> Placed<'_> {
        Placed { shape: self, motion: Motion::Still(pose) }
    }

    /// The shape along a motion over the step.
    pub fn along(&self, motion: Motion) -> Placed<'_> {
        Placed { shape: self, motion }
    }
}

impl<'s> From<&'s Shape> for Placed<'s> {
    fn from(shape: &'s Shape) -> Placed<'s> {
        shape.at(Pose::IDENTITY)
    }
}
