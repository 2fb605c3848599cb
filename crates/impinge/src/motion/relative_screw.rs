//! The motion of two bodies against each other where it is one screw: both move about a common axis, or only one of
//! them moves, or both shift.

use glam::DVec3;

use super::{Motion, RigidMotion};
use crate::geom::point_triangle::norm;
use crate::num::tolerance::AXIS_ROUNDING;

/// A uniform screw that takes b against a: at each time by the same share of an angle about an axis and of a shift
/// along it, from where both are at the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RelativeScrew {
    /// A point of the axis, in the world.
    pub origin: DVec3,
    /// Of unit length.
    pub axis: DVec3,
    /// Two unit vectors across the axis and each other.
    pub across: [DVec3; 2],
    angle: f64,
    shift: f64,
    /// How far the axis can be from the true one at its origin, and by which angle it can be tilted.
    off: f64,
    tilt: f64,
}

/// One body about an axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    origin: DVec3,
    axis: DVec3,
    angle: f64,
    shift: f64,
    /// How far the origin can be from the axis of the motion.
    off: f64,
    /// What rounding can do to the poses that the motion was made from, and how much more to its axis: that of a small
    /// turn between two poses is the less certain the smaller the turn.
    rounding: f64,
    steepness: f64,
}

impl RelativeScrew {
    /// The screw of b against a, if it is one.
    pub fn of(motions: [&Motion; 2]) -> Option<RelativeScrew> {
        match motions.map(parts) {
            [Part::Shift(v), Part::Shift(w)] => {
                let way = w - v;
                let axis = way.try_normalize()?;
                let origin = motions[0].pose(0.0).translation();
                let tilt = AXIS_ROUNDING * (norm(v) + norm(w)) / norm(way);
                Some(RelativeScrew::about(origin, axis, [0.0, norm(way)], [0.0, tilt]))
            }
            [Part::Turn(turn), Part::Shift(way)] => turn.against(way, -1.0),
            [Part::Shift(way), Part::Turn(turn)] => turn.against(way, 1.0),
            [Part::Turn(a), Part::Turn(b)] => a.and(&b),
            _ => None,
        }
    }

    fn about(origin: DVec3, axis: DVec3, [angle, shift]: [f64; 2], [off, tilt]: [f64; 2]) -> RelativeScrew {
        let (x, y) = axis.any_orthonormal_pair();
        RelativeScrew { origin, axis, across: [x, y], angle, shift, off, tilt: tilt + AXIS_ROUNDING }
    }

    /// Whether it turns, or only shifts.
    pub fn turns(&self) -> bool {
        self.angle != 0.0
    }

    /// The shift along the axis for a radian; 0 for a pure shift.
    pub fn pitch(&self) -> f64 {
        if self.turns() { self.shift / self.angle } else { 0.0 }
    }

    /// How fast points at most so far from the origin move.
    pub(super) fn speed(&self, reach: f64) -> f64 {
        self.angle.abs() * reach + self.shift.abs()
    }

    /// How much coordinates about the axis can change by its rounding, for points at most so far from the origin.
    pub fn error(&self, reach: f64) -> f64 {
        self.off + self.tilt * (reach + self.shift.abs())
    }
}

impl Turn {
    /// The turn of b against this one of a, if both are about one axis as far as rounding can tell and differ.
    fn and(&self, b: &Turn) -> Option<RelativeScrew> {
        let near = self.rounding * self.steepness + b.rounding * b.steepness;
        let lean = AXIS_ROUNDING * (self.steepness + b.steepness);
        let (apart, tilt) = self.between(b);
        if apart > near + lean * norm(b.origin - self.origin) || tilt > lean {
            return None;
        }
        let screw = self.nearly_about_one_axis(b);
        let turns = screw.angle.abs() > AXIS_ROUNDING * (1.0 + self.angle + b.angle);
        let shifts = screw.shift.abs() > self.rounding + b.rounding;
        (turns || shifts).then_some(screw)
    }

    /// The turn of b against this one of a as if both were about this axis; its error tells how far they are from that.
    ///
    /// Were b to turn about this axis, with the same angle and shift, a point at the distance d from the origin would be
    /// off by at most 2·apart + 2·tilt·d + tilt·(length between the origins + shift), the difference of the two axes'
    /// directions being the tilt: a rotation and its like about an axis tilted by Q differ by 2·|Q − 1|.
    pub(super) fn nearly_about_one_axis(&self, b: &Turn) -> RelativeScrew {
        let (apart, tilt) = self.between(b);
        let sign = self.sign(b);
        let motion = [sign * b.angle - self.angle, sign * b.shift - self.shift];
        let along = norm(b.origin - self.origin) + self.shift.abs() + b.shift.abs();
        let off = self.off + b.off + apart + tilt * along;
        RelativeScrew::about(self.origin, self.axis, motion, [off, 2.0 * tilt])
    }

    /// How far b's origin is from this axis, and b's direction from this one.
    fn between(&self, b: &Turn) -> (f64, f64) {
        let between = b.origin - self.origin;
        let apart = norm(between - self.axis * between.dot(self.axis));
        (apart, norm(b.axis * self.sign(b) - self.axis))
    }

    /// Whether b's axis points the same way.
    fn sign(&self, b: &Turn) -> f64 {
        if self.axis.dot(b.axis) < 0.0 { -1.0 } else { 1.0 }
    }

    /// This turn against a shift of the other body along the same axis; the sign is that of b's motion.
    fn against(&self, way: DVec3, sign: f64) -> Option<RelativeScrew> {
        let along = self.axis.dot(way);
        if norm(way - self.axis * along) > AXIS_ROUNDING * norm(way) {
            return None;
        }
        let tilt = if way == DVec3::ZERO { 0.0 } else { AXIS_ROUNDING };
        let motion = [sign * self.angle, sign * (self.shift - along)];
        Some(RelativeScrew::about(self.origin, self.axis, motion, [self.off, tilt]))
    }
}

/// What a motion is made of.
pub(super) enum Part {
    Shift(DVec3),
    Turn(Turn),
    /// Not a uniform screw.
    Other,
}

pub(super) fn parts(motion: &Motion) -> Part {
    match motion {
        Motion::Still(_) => Part::Shift(DVec3::ZERO),
        Motion::Rigid(rigid) => rigid.parts(),
    }
}

impl RigidMotion {
    fn parts(&self) -> Part {
        if self.angle == 0.0 {
            return Part::Shift(self.travel);
        }
        let shift = self.axis.dot(self.travel);
        let strays = norm(self.travel - self.axis * shift) > AXIS_ROUNDING * norm(self.travel);
        // The law of CONTACT shifts unevenly.
        if strays || (self.tangents > 0 && shift != 0.0) {
            return Part::Other;
        }
        let [start, end] = [self.start, self.end].map(|pose| pose.translation());
        // Half the chord, and across it as far as the axis is: cot(ω/2), which after whole turns is known by the sine.
        let cotangent = (0.5 * self.angle).cos() * self.inverse_sine;
        let arm = 0.5 * (self.chord + self.axis.cross(self.chord) * cotangent);
        let off = AXIS_ROUNDING * (norm(arm) + norm(start) + norm(self.travel));
        Part::Turn(Turn {
            origin: start + arm,
            axis: self.axis,
            angle: self.angle,
            shift,
            off,
            rounding: off + AXIS_ROUNDING * norm(end),
            steepness: 1.0 + self.inverse_sine.abs(),
        })
    }
}

#[cfg(test)]
mod tests {
    use glam::DQuat;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::Pose;

    /// Points of b, seen from a, keep their distance from the axis and turn and shift by the stated shares.
    #[test]
    fn points_follow_the_screw() {
        let mut rng = Pcg64Mcg::seed_from_u64(3);
        let mut vector = |size: f64| DVec3::from([(); 3].map(|()| rng.random_range(-size..size)));
        for k in 0..300 {
            let [axis, centre] = [vector(1.0).normalize(), vector(2.0)];
            let about = |angle: f64, shift: f64, t: f64| {
                let turn = DQuat::from_axis_angle(axis, angle * t);
                let start = DQuat::from_axis_angle(DVec3::Y, 0.3);
                let place = centre + turn * (DVec3::ONE - centre) + axis * shift * t;
                Pose::turned(place, turn * start)
            };
            let motion = |angle: f64, shift: f64| {
                Motion::between(&about(angle, shift, 0.0), &about(angle, shift, 1.0))
            };
            let still = Motion::Still(Pose::shift(vector(1.0)));
            let along = Motion::between(&Pose::IDENTITY, &Pose::shift(axis * 0.7));
            let motions = match k % 4 {
                0 => [still, motion(2.0, 0.5)],
                1 => [motion(-1.0, 0.0), motion(1.5, 0.3)],
                2 => [along, motion(0.8, -0.2)],
                _ => [Motion::velocity(&Pose::IDENTITY, vector(1.0), [0.0; 3]).unwrap(), still],
            };
            let screw = RelativeScrew::of([&motions[0], &motions[1]]).unwrap();
            let p = vector(2.0);
            let coordinates = |t: f64| {
                // Where a's start sees the point.
                let [a, b] = motions.map(|motion| motion.pose(t));
                let seen = motions[0].pose(0.0).apply(a.inverse().apply(b.apply(p))) - screw.origin;
                let across = screw.across.map(|x| seen.dot(x));
                (across, seen.dot(screw.axis))
            };
            let (start, z0) = coordinates(0.0);
            for t in [0.2, 0.5, 0.9, 1.0] {
                let (now, z) = coordinates(t);
                let (sin, cos) = (screw.angle * t).sin_cos();
                let turned = [cos * start[0] - sin * start[1], sin * start[0] + cos * start[1]];
                // The pair across may be left-handed.
                let other = [cos * start[0] + sin * start[1], cos * start[1] - sin * start[0]];
                let off = |want: [f64; 2]| (now[0] - want[0]).abs().max((now[1] - want[1]).abs());
                assert!(off(turned).min(off(other)) < 1e-11, "{k} {t}");
                assert!((z - z0 - screw.shift * t).abs() < 1e-11, "{k} {t}");
            }
        }
        let skew = Motion::between(&Pose::IDENTITY, &Pose::turned(DVec3::ONE, DQuat::from_rotation_x(1.0)));
        let turn = Motion::between(&Pose::IDENTITY, &Pose::turned(DVec3::ZERO, DQuat::from_rotation_y(1.0)));
        assert_eq!(RelativeScrew::of([&skew, &turn]), None);
    }

    /// Two bodies about one axis through the origin, which doubles describe only nearly: small and large turns, with and
    /// without a shift.
    #[test]
    fn issue_015_a_common_axis_is_recognised_in_any_direction() {
        let mut rng = Pcg64Mcg::seed_from_u64(9);
        for k in 0..400 {
            let mut vector = |size: f64| DVec3::from([(); 3].map(|()| rng.random_range(-size..size)));
            let axis = vector(1.0).normalize();
            // Every other one begins at the origin, where only rounding tells the axis from another.
            let place = vector(0.5) * if k % 2 == 0 { 1.0 } else { 0.0 };
            let starts = [DVec3::ZERO, place].map(|p| Pose::turned(p, DQuat::from_scaled_axis(vector(1.0))));
            let angles = [1.0, if k % 8 < 4 { -2.0 } else { 1.5 }].map(|x| x * [1.0, 0.1, 0.01][k % 3]);
            let shift = if k % 4 < 2 { 0.0 } else { 0.3 };
            let motions = [0, 1].map(|j| {
                let turn = DQuat::from_axis_angle(axis, angles[j]);
                let place = turn * starts[j].translation() + axis * (shift * [-0.3, 1.0][j]);
                let start = DQuat::from_mat3(&starts[j].rotation());
                Motion::between(&starts[j], &Pose::turned(place, (turn * start).normalize()))
            });
            let screw = RelativeScrew::of([&motions[0], &motions[1]]);
            let screw = screw.unwrap_or_else(|| panic!("{k}: {motions:?}"));
            let turned = angles[1] - angles[0];
            assert!((screw.angle.abs() - turned.abs()).abs() < 1e-13, "{k} {screw:?}");
            assert!(screw.error(1.0) < 1e-10 && screw.error(1.0) < 1e-12 / angles[0].abs(), "{k} {screw:?}");
        }
    }
}
