//! A rigid motion with one uniform turn: the body's origin goes along a line, an arc or a helix while the body
//! turns about an axis of fixed direction.
//!
//! The screw between two poses and the constant velocities of a physics step are both of this kind. The
//! origin's way is kept as a straight part v·g(t) and a chord D⊥ of its circle,
//! `p(t) = p0 + v·g(t) + sin(ωt/2)/sin(ω/2) · Rot(u, ω(t−1)/2)·D⊥`,
//! which is the way about an axis through c with D⊥ = (1 − Rot(u, ω))·(c − p0), but needs no c: a small turn
//! with a large shift has its axis nearly at infinity. Speeds and accelerations are bounded in closed form:
//! a point keeps its distance ρ from the axis, so that its acceleration is ω²ρ across the axis and v·g″ along.
//!
//! g(t) = t, or the law of Redon, Kheddar and Coquillart, "CONTACT: arbitrary in-between motions for collision
//! detection", 2001, g(t) = tan(ωt/2)/tan(ω/2), under which contacts are roots of cubics. The tangent has a pole
//! at π: beyond [`LARGEST_CONTACT_TANGENT`] the turn is cut into equal pieces of at most a quarter turn, each
//! with its own tangent, and the speed jumps where they join ([`RigidMotion::knots`]).

use std::f64::consts::{FRAC_PI_2, PI};

use glam::{DMat3, DQuat, DVec3};

use super::Pose;
use crate::geom::point_triangle::norm;
use crate::num::tolerance::{LARGEST_CONTACT_TANGENT, LONG_FLIGHT, MOTION_ROUNDING, ROUND_UP};

/// How far along its axis a screw is when it has turned by a share t of its angle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Law {
    /// As far as it has turned: g(t) = t.
    #[default]
    Uniform,
    /// tan(ωt/2)/tan(ω/2), of Redon, Kheddar and Coquillart (2001).
    Contact,
}

/// The velocities of a rigid body at an instant: a point at x moves with `linear + angular × (x − at)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Twist {
    /// A point of the world.
    pub at: DVec3,
    /// The velocity of the body there.
    pub linear: DVec3,
    /// The angular velocity.
    pub angular: DVec3,
}

impl Twist {
    /// The velocity of the body's point at x, a point of the world.
    #[inline]
    pub fn velocity(&self, x: DVec3) -> DVec3 {
        self.linear + self.angular.cross(x - self.at)
    }
}

/// A ball of points in a body's own frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ball {
    /// Its centre, in the body's frame.
    pub centre: DVec3,
    /// Its radius.
    pub radius: f64,
}

/// Bounds of the acceleration of points that turn: across an axis, and along a straight way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AccelerationBound {
    /// Of unit length.
    pub axis: DVec3,
    /// The largest acceleration across the axis.
    pub across: f64,
    /// The largest acceleration of the straight part.
    pub straight: f64,
}

impl AccelerationBound {
    /// In any direction.
    #[inline]
    pub fn most(&self) -> f64 {
        (self.across + self.straight) * ROUND_UP
    }

    /// Along one direction, a unit vector of the world.
    #[inline]
    pub fn along(&self, direction: DVec3) -> f64 {
        let sine = direction.cross(self.axis).length() + MOTION_ROUNDING;
        (self.across * sine + self.straight) * ROUND_UP
    }
}

/// A uniform turn and the way of the origin, over 0 ≤ t ≤ 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RigidMotion {
    pub(super) start: Pose,
    pub(super) end: Pose,
    /// The rotation at the start.
    pub(super) turned: DQuat,
    /// v: the straight part of the origin's way.
    pub(super) travel: DVec3,
    /// D⊥: the chord of its round part, across the axis.
    pub(super) chord: DVec3,
    /// u: of unit length.
    pub(super) axis: DVec3,
    /// ω: not negative, several times 2π for several turns.
    pub(super) angle: f64,
    /// 1/sin(ω/2); 0 where there is no chord.
    pub(super) inverse_sine: f64,
    /// How many tangents the law is made of; 0 for the uniform one.
    pub(super) tangents: u32,
}

impl RigidMotion {
    /// From its parts; `end` is taken at t = 1 as it is.
    pub(super) fn new(
        start: Pose,
        end: Pose,
        turned: DQuat,
        travel: DVec3,
        turn: (DVec3, f64),
    ) -> RigidMotion {
        let (axis, angle) = turn;
        let (chord, inverse_sine, tangents) = (DVec3::ZERO, 0.0, 0);
        RigidMotion { start, end, turned, travel, chord, axis, angle, inverse_sine, tangents }
    }

    /// How many tangents a turn of ω takes.
    pub(super) fn tangents(angle: f64) -> u32 {
        if angle == 0.0 {
            0
        } else if angle < PI && (0.5 * angle).tan() <= LARGEST_CONTACT_TANGENT {
            1
        } else {
            (angle / FRAC_PI_2).ceil().min(f64::from(u32::MAX)) as u32
        }
    }

    /// Where the body is at t.
    pub fn pose(&self, t: f64) -> Pose {
        if t <= 0.0 {
            return self.start;
        }
        if t >= 1.0 {
            return self.end;
        }
        if self.angle == 0.0 {
            return self.start.moved_to(self.origin(t));
        }
        let turn = DQuat::from_axis_angle(self.axis, self.angle * t);
        Pose::turned(self.origin(t), (turn * self.turned).normalize())
    }

    /// The same motion in a world whose origin is at `origin` of this one.
    pub fn seen_from(&self, origin: DVec3) -> RigidMotion {
        let [start, end] = [self.start, self.end].map(|pose| pose.moved_to(pose.translation() - origin));
        RigidMotion { start, end, ..*self }
    }

    /// How far it shifts along a direction, at most.
    pub fn shift_along(&self, direction: DVec3) -> f64 {
        // sin(ωt/2)/sin(ω/2) is at most 1 up to half a turn.
        let swing = if self.angle <= PI { 1.0 } else { self.inverse_sine.abs() };
        direction.dot(self.travel).abs() + direction.dot(self.chord).abs() * swing
    }

    /// How long the way of the body's origin is, at most.
    pub fn way(&self) -> f64 {
        norm(self.travel) + self.angle * 0.5 * norm(self.chord) * self.inverse_sine.abs()
    }

    /// The velocities at t, about the body's origin; after a knot, not before it.
    pub fn twist(&self, t: f64) -> Twist {
        let mut linear = self.travel * self.share(t)[1];
        if self.inverse_sine != 0.0 {
            let turn = DQuat::from_axis_angle(self.axis, self.angle * (t - 0.5));
            linear += turn * self.chord * (0.5 * self.angle * self.inverse_sine);
        }
        Twist { at: self.origin(t), linear, angular: self.axis * self.angle }
    }

    /// The axis u and the angle ω of the whole turn.
    pub fn turn(&self) -> (DVec3, f64) {
        (self.axis, self.angle)
    }

    /// The times inside 0..1, ascending, at which the velocity jumps or the law of CONTACT gets steeper: between
    /// them bounds of the acceleration are good.
    pub fn knots(&self) -> Vec<f64> {
        let mut knots: Vec<f64> =
            (1..self.tangents).map(|k| f64::from(k) / f64::from(self.tangents)).collect();
        if self.tangents == 1 {
            // Where the tangent is 1, 2, 4, …
            let steep = (0..=LARGEST_CONTACT_TANGENT.log2() as i32)
                .map(|k| 2.0 * 2.0_f64.powi(k).atan() / self.angle);
            knots.extend(steep.take_while(|t| *t < 1.0));
        }
        knots
    }

    /// An upper bound of the speed of the points of a ball, over a span of time.
    pub fn speed(&self, ball: &Ball, span: [f64; 2]) -> f64 {
        (norm(self.travel) * self.share_before(span[1])[1] + self.angle * self.arm(ball)) * ROUND_UP
    }

    /// Bounds of the acceleration of the points of a ball over a span of time without knots.
    pub fn acceleration_bound(&self, ball: &Ball, span: [f64; 2]) -> AccelerationBound {
        let across = self.angle * self.angle * self.arm(ball) * ROUND_UP;
        let straight = norm(self.travel) * self.share_before(span[1])[2] * ROUND_UP;
        AccelerationBound { axis: self.axis, across, straight }
    }

    /// How far a placed point of a ball can be from the exact motion up to a time, by rounding: on a long flight the
    /// less the less far it has come.
    pub fn rounding_until(&self, ball: &Ball, until: f64) -> f64 {
        let share = if self.flies_far(ball, 1.0) { self.share(until)[0] } else { 1.0 };
        let way = norm(self.start.translation()) + norm(self.travel) * share + norm(self.chord);
        let reach = norm(ball.centre) + ball.radius;
        // A rounded angle moves a point by the rounding times its distance from the axis.
        (way + reach + self.angle * self.arm(ball)) * MOTION_ROUNDING
    }

    /// Whether a share of the straight part is far beyond everything else about the motion.
    fn flies_far(&self, ball: &Ball, share: f64) -> bool {
        let rest = norm(self.start.translation()) + norm(self.chord) + norm(ball.centre) + ball.radius;
        norm(self.travel) * share > LONG_FLIGHT * rest
    }

    /// The times, descending, by which a long flight has come half as far again and again: between them rounding is in
    /// proportion to the place.
    pub fn flight_knots(&self, ball: &Ball) -> impl Iterator<Item = f64> {
        let halves = std::iter::successors(Some(0.5), |t: &f64| Some(0.5 * t));
        halves.take_while(|&t| t > f64::MIN_POSITIVE && self.flies_far(ball, 2.0 * t))
    }

    /// An upper bound of the distance of a ball's points from the axis.
    fn arm(&self, ball: &Ball) -> f64 {
        let from_origin = norm((self.turned * ball.centre).cross(self.axis)) + ball.radius;
        0.5 * norm(self.chord) * self.inverse_sine.abs() + from_origin
    }

    /// Where the body's origin is at t.
    fn origin(&self, t: f64) -> DVec3 {
        let straight = self.start.translation() + self.travel * self.share(t)[0];
        if self.inverse_sine == 0.0 {
            return straight;
        }
        let turn = DQuat::from_axis_angle(self.axis, 0.5 * self.angle * (t - 1.0));
        straight + turn * self.chord * ((0.5 * self.angle * t).sin() * self.inverse_sine)
    }

    /// g, g′ and g″ at t; at a knot those of the piece after it.
    fn share(&self, t: f64) -> [f64; 3] {
        match self.tangents {
            0 => [t, 1.0, 0.0],
            n => self.tangent(t, (t * f64::from(n)).floor().min(f64::from(n - 1))),
        }
    }

    /// The same, at a knot those of the piece before it: their largest over a piece that ends at t.
    fn share_before(&self, t: f64) -> [f64; 3] {
        match self.tangents {
            0 => [t, 1.0, 0.0],
            n => self.tangent(t, ((t * f64::from(n)).ceil() - 1.0).clamp(0.0, f64::from(n - 1))),
        }
    }

    /// The law of the `k`-th of the pieces.
    fn tangent(&self, t: f64, k: f64) -> [f64; 3] {
        let n = f64::from(self.tangents);
        let half = 0.5 * self.angle;
        let whole = (half / n).tan();
        let now = (half * (t - k / n)).tan();
        let rate = half * (1.0 + now * now) / (whole * n);
        [(k + now / whole) / n, rate, 2.0 * half * now * rate]
    }
}

/// The rotation of a pose as a unit quaternion.
pub(super) fn quaternion(pose: &Pose) -> DQuat {
    let turn: DMat3 = pose.rotation();
    DQuat::from_mat3(&turn).normalize()
}
