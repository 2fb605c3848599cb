//! The screw between two poses: a turn about an axis and a shift along it.
//!
//! Any two poses are joined by such a motion (Chasles 1830). C1 of Redon, Kheddar and Coquillart, "CONTACT",
//! 2001: the turn is uniform, the shift follows it by one of two laws. The shorter way round is taken; half a
//! turn goes about the axis whose first component that is not zero is positive.

use std::f64::consts::{PI, TAU};

use glam::{DQuat, DVec3};

use super::Pose;
use super::rigid_motion::{Law, RigidMotion, quaternion};
use crate::num::tolerance::TURN_ROUNDING;

impl RigidMotion {
    /// The screw from one pose to another, by the shorter way and `turns` whole turns more.
    ///
    /// A turn needs an axis: where the poses differ by a shift alone, whole turns go about the shift through the
    /// body's origin; where they do not differ at all, about z.
    pub fn screw(from: &Pose, to: &Pose, turns: u32, law: Law) -> RigidMotion {
        let (turned, way) = (quaternion(from), to.translation() - from.translation());
        let (axis, rest) = shorter_turn(quaternion(to) * turned.conjugate());
        let extra = TAU * f64::from(turns);
        // Equal rotations leave no axis but what rounding makes of it.
        let rest =
            if rest <= TURN_ROUNDING && (turns > 0 || from.matrix() == to.matrix()) { 0.0 } else { rest };
        let [start, end] = [from, to].map(straightened);
        if rest == 0.0 {
            let axis = (way / way.abs().max_element()).try_normalize().unwrap_or(DVec3::Z);
            let rigid = RigidMotion::new(start, end, turned, way, (axis, extra));
            return if law == Law::Contact {
                RigidMotion { tangents: RigidMotion::tangents(extra), ..rigid }
            } else {
                rigid
            };
        }
        let angle = rest + extra;
        let travel = axis * axis.dot(way);
        let rigid = RigidMotion::new(start, end, turned, travel, (axis, angle));
        // sin(ω/2) of the whole angle: whole turns change its sign only.
        let sine = (0.5 * rest).sin() * if turns % 2 == 1 { -1.0 } else { 1.0 };
        let tangents = if law == Law::Contact { RigidMotion::tangents(angle) } else { 0 };
        RigidMotion { chord: way - travel, inverse_sine: 1.0 / sine, tangents, ..rigid }
    }

    /// Constant velocities over a step of length 1: the origin moves with `linear`, and the body turns about it
    /// with `angular` (radians a step).
    pub fn velocity(start: &Pose, linear: DVec3, angular: DVec3) -> RigidMotion {
        let largest = angular.abs().max_element();
        let axis = (angular / largest).try_normalize().unwrap_or(DVec3::Z);
        let angle = if largest > 0.0 { axis.dot(angular) } else { 0.0 };
        let turned = quaternion(start);
        let origin = start.translation() + linear;
        let end = if angle == 0.0 {
            start.moved_to(origin)
        } else {
            Pose::turned(origin, (DQuat::from_axis_angle(axis, angle) * turned).normalize())
        };
        RigidMotion::new(*start, end, turned, linear, (axis, angle))
    }
}

/// The axis and the angle, in [0, π], of a rotation.
fn shorter_turn(turn: DQuat) -> (DVec3, f64) {
    let turn = if turn.w < 0.0 { -turn } else { turn };
    let imaginary = DVec3::new(turn.x, turn.y, turn.z);
    let Some(axis) = imaginary.try_normalize() else { return (DVec3::Z, 0.0) };
    if turn.w > TURN_ROUNDING {
        return (axis, 2.0 * imaginary.length().atan2(turn.w));
    }
    let first = axis.to_array().into_iter().find(|x| x.abs() > TURN_ROUNDING).unwrap_or(1.0);
    (axis * first.signum(), PI)
}

/// The pose with the nearest rotation, which motions take.
fn straightened(pose: &Pose) -> Pose {
    if pose.is_rotation() { *pose } else { Pose::turned(pose.translation(), quaternion(pose)) }
}
