//! How a body moves over a step, 0 ≤ t ≤ 1, and bounds of what its points do.

use std::f64::consts::FRAC_PI_4;

use glam::{DQuat, DVec3};

use super::Pose;
use super::rigid_motion::{AccelerationBound, Ball, Law, RigidMotion, Twist, quaternion};
use crate::Error;
use crate::geom::point_triangle::norm;
use crate::num::tolerance::{LARGEST_COORDINATE, MOTION_ROUNDING, ROUND_UP};

/// Most spans a swept box is made of: beyond so many eighths of a turn it is the box of all turns.
const MOST_SPANS: f64 = 64.0;

/// The motion of a rigid body over a step.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a copy on the stack; a pointer would cost an allocation a body and step"
)]
#[non_exhaustive]
pub enum Motion {
    /// None.
    Still(Pose),
    /// A uniform turn: a screw, a shift, or constant velocities.
    #[doc(hidden)]
    Rigid(RigidMotion),
}

impl Motion {
    /// The uniform screw from one pose to another, by the shorter way.
    pub fn between(from: &Pose, to: &Pose) -> Motion {
        Motion::screw(from, to, 0, Law::Uniform)
    }

    /// The screw from one pose to another with whole turns more, under a law for its shift.
    pub fn screw(from: &Pose, to: &Pose, turns: u32, law: Law) -> Motion {
        if from == to && turns == 0 {
            return Motion::Still(*from);
        }
        Motion::Rigid(RigidMotion::screw(from, to, turns, law))
    }

    /// Constant velocities over a step of length 1: the body's origin moves with `linear`, and the body turns
    /// about it with `angular` (radians a step).
    ///
    /// # Errors
    /// Velocities that are not finite or beyond 1e60.
    pub fn velocity(
        start: &Pose,
        linear: impl Into<DVec3>,
        angular: impl Into<DVec3>,
    ) -> Result<Motion, Error> {
        Motion::through(start, 0.0, linear, angular)
    }

    /// Constant velocities as [`Motion::velocity`], the body being at `pose` at the time t.
    ///
    /// # Errors
    /// A time that is not finite, or velocities that are not finite or beyond 1e60.
    pub fn through(
        pose: &Pose,
        t: f64,
        linear: impl Into<DVec3>,
        angular: impl Into<DVec3>,
    ) -> Result<Motion, Error> {
        let (linear, angular) = (linear.into(), angular.into());
        for (name, value) in
            [("linear velocity", linear), ("angular velocity", angular), ("time", DVec3::splat(t))]
        {
            // Negated, so that NaN is refused.
            if !(value.abs().max_element() <= LARGEST_COORDINATE && value.is_finite()) {
                let reason = format!("{value} is not finite or beyond {LARGEST_COORDINATE:e}");
                return Err(Error::Argument { name, reason });
            }
        }
        let origin = pose.translation() - linear * t;
        let start = if t == 0.0 || angular == DVec3::ZERO {
            pose.moved_to(origin)
        } else {
            Pose::turned(origin, DQuat::from_scaled_axis(angular * -t) * quaternion(pose))
        };
        if linear == DVec3::ZERO && angular == DVec3::ZERO {
            return Ok(Motion::Still(start));
        }
        Ok(Motion::Rigid(RigidMotion::velocity(&start, linear, angular)))
    }

    /// Where the body is at t; before 0 and after 1 it rests.
    pub fn pose(&self, t: f64) -> Pose {
        match self {
            Motion::Still(pose) => *pose,
            Motion::Rigid(rigid) => rigid.pose(t),
        }
    }

    /// The velocities at t; at a knot those after it.
    #[doc(hidden)]
    pub fn twist(&self, t: f64) -> Twist {
        match self {
            Motion::Still(pose) => {
                Twist { at: pose.translation(), linear: DVec3::ZERO, angular: DVec3::ZERO }
            }
            Motion::Rigid(rigid) => rigid.twist(t),
        }
    }

    /// The times inside 0..1, ascending, at which the velocity jumps or bounds had better be taken anew.
    #[doc(hidden)]
    pub fn knots(&self) -> Vec<f64> {
        match self {
            Motion::Still(_) => Vec::new(),
            Motion::Rigid(rigid) => rigid.knots(),
        }
    }

    /// Whether it moves without turning, at a constant velocity.
    pub(crate) fn is_translation(&self) -> bool {
        match self {
            Motion::Still(_) => true,
            Motion::Rigid(rigid) => rigid.turn().1 == 0.0,
        }
    }

    /// An upper bound of the speed of the points of a ball, over a span of time.
    #[doc(hidden)]
    pub fn speed(&self, ball: &Ball, span: [f64; 2]) -> f64 {
        match self {
            Motion::Still(_) => 0.0,
            Motion::Rigid(rigid) => rigid.speed(ball, span),
        }
    }

    /// Bounds of the acceleration of the points of a ball, over a span of time without knots.
    #[doc(hidden)]
    pub fn acceleration_bound(&self, ball: &Ball, span: [f64; 2]) -> AccelerationBound {
        match self {
            Motion::Still(_) => AccelerationBound { axis: DVec3::Z, across: 0.0, straight: 0.0 },
            Motion::Rigid(rigid) => rigid.acceleration_bound(ball, span),
        }
    }

    /// How far a placed point of a ball can be from the exact motion, by rounding (a length).
    #[doc(hidden)]
    pub fn rounding(&self, ball: &Ball) -> f64 {
        self.rounding_until(ball, 1.0)
    }

    /// The same up to a time.
    pub(crate) fn rounding_until(&self, ball: &Ball, until: f64) -> f64 {
        let reach = match self {
            Motion::Still(pose) => {
                (norm(pose.translation()) + norm(ball.centre) + ball.radius) * MOTION_ROUNDING
            }
            Motion::Rigid(rigid) => rigid.rounding_until(ball, until),
        };
        reach + f64::MIN_POSITIVE
    }

    /// The times inside 0..1 between which the rounding of a long flight is in proportion to the place.
    pub(crate) fn flight_knots(&self, ball: &Ball) -> Vec<f64> {
        match self {
            Motion::Still(_) => Vec::new(),
            Motion::Rigid(rigid) => rigid.flight_knots(ball).collect(),
        }
    }

    /// The same motion in a world whose origin is at `origin` of this one. Rounded to the digits of what is left.
    pub(crate) fn seen_from(&self, origin: DVec3) -> Motion {
        match self {
            Motion::Still(pose) => Motion::Still(pose.moved_to(pose.translation() - origin)),
            Motion::Rigid(rigid) => Motion::Rigid(rigid.seen_from(origin)),
        }
    }

    /// The direction of the axis that it turns about.
    pub(crate) fn turn_axis(&self) -> Option<DVec3> {
        match self {
            Motion::Still(_) => None,
            Motion::Rigid(rigid) => {
                Some(rigid.turn()).filter(|(_, angle)| *angle != 0.0).map(|(axis, _)| axis)
            }
        }
    }

    /// How far it shifts along a direction while it turns about it (not negative).
    pub(crate) fn shift_along(&self, direction: DVec3) -> f64 {
        match self {
            Motion::Still(_) => 0.0,
            Motion::Rigid(rigid) => rigid.shift_along(direction),
        }
    }

    /// How long the way of the body's origin is, at most.
    pub(crate) fn way(&self) -> f64 {
        match self {
            Motion::Still(_) => 0.0,
            Motion::Rigid(rigid) => rigid.way(),
        }
    }

    /// A box of the world, its lowest and its highest corner, around all points of a ball over a span of time.
    #[doc(hidden)]
    pub fn swept_box(&self, ball: &Ball, span: [f64; 2]) -> [DVec3; 2] {
        let turn = match self {
            Motion::Still(_) => 0.0,
            Motion::Rigid(rigid) => rigid.turn().1 * (span[1] - span[0]),
        };
        let parts = (turn / FRAC_PI_4).ceil().clamp(1.0, MOST_SPANS);
        let mut ends: Vec<f64> =
            (0..=parts as u32).map(|k| span[0] + (span[1] - span[0]) * (f64::from(k) / parts)).collect();
        ends.extend(self.knots().into_iter().filter(|&k| span[0] < k && k < span[1]));
        ends.sort_unstable_by(f64::total_cmp);
        let point = Ball { radius: 0.0, ..*ball };
        let pad = ball.radius + self.rounding(ball);
        let mut all = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        for pair in ends.windows(2) {
            let [from, to] = [pair[0], pair[1]];
            let places = [self.pose(from).apply(ball.centre), self.pose(to).apply(ball.centre)];
            // A way with the acceleration a leaves its chord by a·h²/8, and by no more than speed allows.
            let bulge = (self.acceleration_bound(&point, [from, to]).most() * (to - from) * (to - from)
                / 8.0)
                .min(0.5 * self.speed(&point, [from, to]) * (to - from));
            let room = DVec3::splat((pad + bulge) * ROUND_UP);
            all[0] = all[0].min(places[0].min(places[1]) - room);
            all[1] = all[1].max(places[0].max(places[1]) + room);
        }
        all
    }
}

#[cfg(test)]
#[path = "moving_tests.rs"]
mod tests;
