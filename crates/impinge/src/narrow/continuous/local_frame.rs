//! Bodies far from the origin, seen from a point near them.
//!
//! A place at 1e7 is known to 1e-9, and so is every gap that is computed there, whatever the size of the bodies. What
//! both bodies share of their place says nothing about when they touch: without it rounding is in proportion to the
//! bodies and their ways. Only the difference of two places is rounded, to its own digits.

use glam::DVec3;

use super::answer::{Impact, Sweep};
use crate::geom::point_triangle::norm;
use crate::motion::{Ball, Motion};
use crate::num::tolerance::FAR_FROM_ORIGIN;

/// A frame without the place that two bodies share.
#[derive(Debug, Clone, Copy)]
pub(super) struct LocalFrame {
    origin: DVec3,
}

impl LocalFrame {
    /// That of two bodies within balls of their own frames; `None` where the world's will do.
    pub fn of(balls: [&Ball; 2], motions: [&Motion; 2]) -> Option<LocalFrame> {
        let [a, b] = motions.map(|motion| motion.pose(0.0).translation());
        let reach = |k: usize| norm(balls[k].centre) + balls[k].radius + motions[k].way();
        let around = reach(0) + reach(1) + norm(b - a);
        (norm(a) > FAR_FROM_ORIGIN * around).then_some(LocalFrame { origin: a })
    }

    /// A motion as seen from there.
    pub fn motion(&self, motion: &Motion) -> Motion {
        motion.seen_from(self.origin)
    }

    /// What was found there, in the world.
    pub fn back(&self, found: Sweep) -> Sweep {
        let impact = found.impact.map(|impact| Impact { point: impact.point + self.origin, ..impact });
        Sweep { impact, ..found }
    }
}

#[cfg(test)]
#[path = "local_frame_tests.rs"]
mod tests;
