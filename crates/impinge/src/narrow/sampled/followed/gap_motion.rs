//! How gaps between two patches close.

use glam::DVec3;

use super::super::facet_pair::Gap;

/// Part of the expected time after which a pair is looked at (no unit): motions are not uniform.
pub(super) const CAUTION: f64 = 0.9;

/// How two bodies move against each other at some place.
pub(super) struct GapMotion {
    /// Of b against a in the last frame; `None` where that is not known.
    pub moved: Option<DVec3>,
    /// By how much gaps close in a frame whatever their direction is.
    pub aside: f64,
    /// By how much the motion of points of the patches differs from that now, or may in the next frame.
    pub unlike: f64,
    /// By how much the motion changes in a frame on the average.
    pub change: f64,
}

impl GapMotion {
    /// In how many frames a gap is expected to close, with some caution; `None` before anything is known of the motion.
    #[inline]
    pub fn frames(&self, gap: Gap) -> Option<f64> {
        let closing = -gap.direction.dot(self.moved?);
        // While the motion stays within a part of itself, or while it changes no faster than before: the gap g closes with
        // the speed s and the acceleration a after 2·g/(s + √(s² + 2·a·g)).
        let whatever = gap.width / (closing.max(0.0) + self.aside).max(f64::MIN_POSITIVE);
        let speed = closing + self.unlike;
        let root = (speed * speed + 2.0 * self.change * gap.width).sqrt();
        let steadily = 2.0 * gap.width / (speed + root).max(f64::MIN_POSITIVE);
        Some(CAUTION * whatever.max(steadily))
    }

    /// By how much a gap may close faster in a frame than by the motion now, on the average over some frames.
    #[inline]
    pub fn unlike_within(&self, frames: f64) -> f64 {
        self.unlike + 0.5 * frames * self.change
    }
}
