//! Moving disc bounds: how long two patches of surface surely stay apart, seen along their normals.
//!
//! A disc bound ([`crate::hierarchy::disc_bound`]) is as thick as a patch is bent and as wide as it is. Patches
//! that slide past each other have boxes that overlap for long, but a normal of either separates them. Along that
//! direction, fixed at an instant, directed advancement goes on as it does for boxes
//! ([`crate::hierarchy::box_time_of_impact`]).

use glam::DVec3;

use super::triangle_pair::first_root;
use crate::hierarchy::box_time_of_impact::Instant;
use crate::hierarchy::disc_bound::DiscBoundLanes;
use crate::motion::{AccelerationBound, Twist};
use crate::num::tolerance::{MOTION_ROUNDING, STRETCH};

/// A disc bound of a body at an instant, in the world.
#[derive(Debug, Clone, Copy)]
pub(super) struct MovingDiscBound {
    centre: DVec3,
    axis: DVec3,
    half: f64,
    radius: f64,
    velocity: DVec3,
    twist: Twist,
    acceleration_bound: AccelerationBound,
}

impl MovingDiscBound {
    /// One of the disc bounds of a node.
    pub fn new(
        lanes: &DiscBoundLanes,
        lane: usize,
        now: &Instant<'_>,
        acceleration_bound: &AccelerationBound,
    ) -> MovingDiscBound {
        let frame = now.tree.frame();
        let at = |k: usize| f64::from(lanes[k][lane]);
        let centre = now.pose.apply(frame.centre + DVec3::new(at(0), at(1), at(2)) * frame.unit);
        let axis = now.pose.matrix() * DVec3::new(at(3), at(4), at(5));
        // Poses stretch a little, and turn planes a little.
        let (half, radius) = (at(6) * frame.unit * STRETCH, at(7) * frame.unit * STRETCH);
        let bent = if now.pose.is_rotation() { 0.0 } else { (STRETCH - 1.0) * radius };
        let velocity = now.twist.velocity(centre);
        MovingDiscBound {
            centre,
            axis,
            half: half + bent,
            radius,
            velocity,
            twist: now.twist,
            acceleration_bound: *acceleration_bound,
        }
    }

    /// How far it reaches from its centre along a direction.
    fn reach(&self, n: DVec3) -> f64 {
        let cosine = n.dot(self.axis).abs();
        // The axis is rounded to f32.
        let sine = (1.0 + f64::from(f32::EPSILON) * 4.0 - cosine * cosine).max(0.0).sqrt();
        cosine * self.half + sine * self.radius
    }
}

/// The time before which two disc bounds cannot meet.
pub(super) fn time_apart(a: &MovingDiscBound, b: &MovingDiscBound, noise: f64) -> f64 {
    if !(a.radius + b.radius + a.half + b.half).is_finite() {
        return 0.0;
    }
    let way = b.centre - a.centre;
    let along = |axis: DVec3| {
        let n = axis.normalize_or_zero();
        let n = if n.dot(way) < 0.0 { -n } else { n };
        let gap = n.dot(way) - (a.reach(n) + b.reach(n)) * (1.0 + MOTION_ROUNDING) - noise;
        if !(gap > 0.0) {
            return 0.0;
        }
        let rim = |disc_bound: &MovingDiscBound| {
            n.cross(disc_bound.twist.angular).length() * (disc_bound.half + disc_bound.radius)
        };
        let doubt = MOTION_ROUNDING * (a.velocity.length() + b.velocity.length());
        let rate = n.dot(b.velocity - a.velocity) - rim(a) - rim(b) - doubt;
        first_root(gap, rate, a.acceleration_bound.along(n) + b.acceleration_bound.along(n))
    };
    along(a.axis).max(along(b.axis))
}
