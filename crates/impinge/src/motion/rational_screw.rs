//! A piece of a screw under the law of CONTACT, as a rational function of one parameter.
//!
//! Redon, Kheddar and Coquillart, "An algebraic solution to the problem of collision detection for rigid
//! polyhedral objects", 2000: with u = tan(ωt/2) sines and cosines are rational, and so is the shift. They put
//! the origin on the axis. A small turn with a large shift has its axis nearly at infinity, so we keep the
//! body's own origin and count w = u/tan(ω/2) from 0 to 1: with U = tan(ω/2) and the chord term E a point is at
//!
//! `p + v·w + (w·E + U·w²·k×E + (1 − U²w²)·r + 2Uw·k×r + 2U²w²·(k·r)·k) / (1 + U²w²)`,
//!
//! where r is its place from the origin p at the start. A pure shift is U = 0, and nothing is divided by the
//! angle.

use std::f64::consts::FRAC_PI_2;

use glam::{DQuat, DVec3};

use super::rigid_motion::RigidMotion;

/// A part of a step during which a body turns by less than half a turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RationalScrew {
    /// k: the direction of the axis, of unit length.
    pub axis: DVec3,
    /// U = tan(ω/2) for the angle ω of this part; 0 for a shift.
    pub tangent: f64,
    /// p: where the body's origin is at the start.
    pub origin: DVec3,
    /// v: the shift of the whole part, along the axis where there is a turn.
    pub travel: DVec3,
    /// E: across the axis.
    pub chord: DVec3,
    /// The times of its start and end.
    pub span: [f64; 2],
    /// The body's rotation at the start.
    pub turned: DQuat,
    angle: f64,
}

impl RigidMotion {
    /// The parts of this motion, in order; `None` when it is no screw of this kind: a uniform shift along the
    /// axis of a turn, or an axis that moves, has no such form.
    pub fn rational_screws(&self) -> Option<Vec<RationalScrew>> {
        let along = self.axis.cross(self.travel) == DVec3::ZERO;
        let parts = match self.tangents {
            _ if self.angle == 0.0 => 1,
            0 if self.travel != DVec3::ZERO => return None,
            0 => (self.angle / FRAC_PI_2).ceil() as u32,
            _ if !along && self.inverse_sine == 0.0 => return None,
            n => n,
        };
        Some((0..parts).map(|k| self.rational_screw(k, parts)).collect())
    }

    /// One of `parts` equal parts.
    fn rational_screw(&self, k: u32, parts: u32) -> RationalScrew {
        let n = f64::from(parts);
        let span = [f64::from(k) / n, f64::from(k + 1) / n];
        let angle = self.angle / n;
        let turned = DQuat::from_axis_angle(self.axis, self.angle * span[0]) * self.turned;
        let (sine, cosine) = (0.5 * angle).sin_cos();
        // The chord of this part of the circle, turned back by half its angle.
        let back = DQuat::from_axis_angle(self.axis, self.angle * (span[0] - 0.5));
        let chord = back * self.chord * (sine * self.inverse_sine / cosine);
        let (travel, axis, tangent) = (self.travel / n, self.axis, sine / cosine);
        RationalScrew {
            axis,
            tangent,
            origin: self.pose(span[0]).translation(),
            travel,
            chord,
            span,
            turned,
            angle,
        }
    }
}

impl RationalScrew {
    /// The time of a parameter.
    pub fn time(&self, w: f64) -> f64 {
        let share = if self.angle == 0.0 { w } else { 2.0 * (self.tangent * w).atan() / self.angle };
        (self.span[0] + (self.span[1] - self.span[0]) * share).clamp(self.span[0], self.span[1])
    }

    /// Where a point is that lies `r` from the origin at the start, as the world sees it.
    pub fn place(&self, r: DVec3, w: f64) -> DVec3 {
        let k = self.axis;
        let u = self.tangent * w;
        let round = (self.chord + k.cross(self.chord) * u) * w
            + r * (1.0 - u * u)
            + k.cross(r) * (2.0 * u)
            + k * (2.0 * u * u * k.dot(r));
        self.origin + self.travel * w + round / (1.0 + u * u)
    }

    /// The derivative of [`RationalScrew::place`] by the parameter.
    pub fn velocity(&self, r: DVec3, w: f64) -> DVec3 {
        let k = self.axis;
        let u = self.tangent * w;
        let across = r - k * k.dot(r);
        // Of the turn about the axis: 2U/(1 + u²) · k × (the arm), and U·arm is U·r⊥ + Y turned along.
        let arm = across * self.tangent + self.far();
        let turned = (arm * (1.0 - u * u) + k.cross(arm) * (2.0 * u)) / (1.0 + u * u);
        self.travel + k.cross(turned) * (2.0 / (1.0 + u * u))
    }

    /// The place from the origin, at the start, of the body's point that is at x: the inverse of `place`.
    pub fn offset(&self, x: DVec3, w: f64) -> DVec3 {
        let turn = DQuat::from_axis_angle(self.axis, -2.0 * (self.tangent * w).atan());
        turn * (x - self.place(DVec3::ZERO, w))
    }

    /// Y = −k × E / 2: U times the way from the axis to the origin.
    pub fn far(&self) -> DVec3 {
        -0.5 * self.axis.cross(self.chord)
    }

    /// An upper bound of the acceleration by the parameter of a point that lies `r` from the origin.
    pub fn acceleration(&self, r: DVec3) -> f64 {
        // Of the angle θ = 2·atan(Uw): θ′² ≤ 4U² and |θ″| ≤ 1.3·U², both times the distance from the axis.
        let across = r - self.axis * self.axis.dot(r);
        5.3 * self.tangent * (across * self.tangent + self.far()).length()
    }

    /// An upper bound of the speed by the parameter of a point that lies `r` from the origin.
    pub fn speed(&self, r: DVec3) -> f64 {
        let across = r - self.axis * self.axis.dot(r);
        self.travel.length() + 2.0 * (across * self.tangent + self.far()).length()
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::motion::{Law, Pose};

    /// The parts of a screw are the screw: places, velocities by differences, speeds and inverses.
    #[test]
    fn parts_follow_the_motion() {
        let mut random = Pcg64::seed_from_u64(2);
        for case in 0..600 {
            let mut point =
                |size: f64| DVec3::from_array([0.0; 3].map(|_: f64| random.random_range(-size..size)));
            let turn = |axis: DVec3, angle: f64| DQuat::from_axis_angle(axis.normalize(), angle);
            let from = Pose::turned(point(1.0), turn(point(1.0), point(3.0).x));
            let angle = [1e-9, 1e-3, 1.0, 3.1, PI - 1e-6][case % 5];
            let to = Pose::turned(
                from.translation() + point(2.0),
                turn(point(1.0), angle) * DQuat::from_mat3(&from.rotation()),
            );
            let rigid = RigidMotion::screw(&from, &to, (case % 7 == 0).into(), Law::Contact);
            let local = point(1.0);
            for part in rigid.rational_screws().unwrap() {
                let r = part.turned * local;
                for w in [0.0, 0.3, 0.7, 1.0] {
                    let t = part.time(w);
                    let x = part.place(r, w);
                    let miss = x.distance(rigid.pose(t).apply(local));
                    // Several turns about an axis far away are large.
                    let allowed = 1e-13 * (1.0 + part.speed(r));
                    assert!(miss < allowed, "{case}: {miss} at {w} of {part:?}");
                    assert!(part.offset(x, w).distance(r) < allowed, "{case}");
                    let h = 1e-6;
                    let slope = (part.place(r, w + h) - part.place(r, w - h)) / (2.0 * h);
                    let scale = part.speed(r);
                    assert!(
                        slope.distance(part.velocity(r, w)) < 1e-5 * scale * (1.0 + part.tangent).powi(3),
                        "{case}"
                    );
                    assert!(part.velocity(r, w).length() <= scale * (1.0 + 1e-9), "{case}");
                    let acceleration_bound = (part.velocity(r, w + h) - part.velocity(r, w - h)) / (2.0 * h);
                    assert!(
                        acceleration_bound.length() <= part.acceleration(r) * 1.001 + 1e-6 * scale,
                        "{case}"
                    );
                }
            }
        }
    }

    #[test]
    fn other_motions_have_no_such_form() {
        let from = Pose::IDENTITY;
        let to = Pose::turned(DVec3::Z, DQuat::from_rotation_z(1.0));
        assert!(RigidMotion::screw(&from, &to, 0, Law::Uniform).rational_screws().is_none());
        assert!(RigidMotion::velocity(&from, DVec3::X, DVec3::Z).rational_screws().is_none());
        assert_eq!(
            RigidMotion::velocity(&from, DVec3::X, DVec3::ZERO).rational_screws().map(|parts| parts.len()),
            Some(1)
        );
        assert_eq!(
            RigidMotion::velocity(&from, DVec3::ZERO, DVec3::Z * 7.0).rational_screws().map(|p| p.len()),
            Some(5)
        );
    }
}
