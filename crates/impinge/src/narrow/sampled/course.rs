//! How two bodies have moved against each other in the last frames, so that a proved gap lasts as long as it does.
//!
//! The schedule knows only the largest motion of all points, in any direction. When a gap is used up by that, the
//! bodies' own course tells how much of it is left: patches that recede or slide past each other come no nearer, and
//! no vertex has to be read to know it.
//!
//! **Claim.** Let two patches have been apart by g along the unit direction m of a's frame, b's patch within r of the
//! point c of b's frame, and let b's frame have been at y ↦ R·y + t in a's then and be at R′·y + t′ now. If vertices
//! have moved by at most e in their bodies since, a's and b's together, the patches are still apart along m by
//! g + m·((R′ − R)·c + t′ − t) − |(R′ − R)ᵀ·m|·r − e.
//!
//! **Proof.** A point y of b's patch has moved along m by m·((R′ − R)·y + t′ − t) as part of the rigid body; with
//! y = c + z, |z| ≤ r, that differs from its value at c by m·(R′ − R)·z. What vertices moved in their bodies changes
//! the distance of points of both along m by at most e. ∎ Without a direction, with g the distance of the patches,
//! the length of the vector and the norm of R′ − R take the place of the products with m.

use glam::{DMat3, DVec3, Vec3};

use super::posed::largest_turn;
use super::shells::Facet;
use crate::Pose;

/// How many frames are remembered.
const REMEMBERED: usize = 256;

/// What single precision makes of a unit direction (no unit: a part of the length that it is multiplied with).
const DIRECTION_ERROR: f64 = 4e-7;

/// The last frames.
#[derive(Debug, Clone)]
pub(super) struct Course {
    /// By frame, over and over.
    moments: Vec<Moment>,
}

/// One frame.
#[derive(Debug, Clone, Copy)]
struct Moment {
    frame: u32,
    /// Where b's frame is in a's; not numbers where the poses are not rigid.
    turn: DMat3,
    shift: DVec3,
    /// The sum of all motions of vertices in their bodies until then (a length).
    deformed: f64,
}

/// Where and when a gap was found, as far as it takes to know how long it lasts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sight {
    frame: u32,
    /// In a's frame; zero where the gap is a distance.
    direction: Vec3,
    /// The ball around b's patch, in b's frame.
    centre: Vec3,
    radius: f32,
}

impl Sight {
    /// Of a gap that was never found.
    #[cfg(test)]
    pub const NONE: Sight =
        Sight { frame: 0, direction: Vec3::ZERO, centre: Vec3::ZERO, radius: f32::INFINITY };

    /// Of a gap along a direction of the world, or zero, to a patch of b.
    #[inline]
    pub fn new(frame: u32, direction: DVec3, patch: &Facet, poses: [&Pose; 2]) -> Sight {
        let centre = poses[1].matrix().transpose() * (patch.centre - poses[1].translation());
        let near = centre.as_vec3();
        // Twice as much as rounding the centre and the radius can be off by.
        let off = 2.0 * f64::from(f32::EPSILON) * (centre.abs().max_element() + patch.radius);
        let direction = (poses[0].matrix().transpose() * direction).as_vec3();
        Sight { frame, direction, centre: near, radius: (patch.radius + off) as f32 }
    }
}

impl Course {
    pub fn new() -> Course {
        let never = Moment { frame: 0, turn: DMat3::NAN, shift: DVec3::NAN, deformed: 0.0 };
        Course { moments: vec![never; REMEMBERED] }
    }

    /// Enters a frame, which follows the last one.
    pub fn record(&mut self, frame: u32, [a, b]: [&Pose; 2], deformed: f64) {
        let before = self.at(frame.wrapping_sub(1)).deformed;
        let back = a.matrix().transpose();
        let is_rigid = a.is_rotation() && b.is_rotation();
        let turn = if is_rigid { back * b.matrix() } else { DMat3::NAN };
        let shift = back * (b.translation() - a.translation());
        let deformed = (before + deformed).next_up();
        self.moments[frame as usize % REMEMBERED] = Moment { frame, turn, shift, deformed };
    }

    fn at(&self, frame: u32) -> &Moment {
        &self.moments[frame as usize % REMEMBERED]
    }

    /// By how much a gap has become narrower at most until a frame, but for rounding; negative where it is wider, not a
    /// number where that is not known.
    #[inline]
    pub fn closed(&self, sight: &Sight, frame: u32) -> f64 {
        let (then, now) = (self.at(sight.frame), self.at(frame));
        if then.frame != sight.frame {
            return f64::NAN;
        }
        let turned = now.turn - then.turn;
        let moved = turned * sight.centre.as_dvec3() + (now.shift - then.shift);
        let (direction, radius) = (sight.direction.as_dvec3(), f64::from(sight.radius));
        let length = moved.length();
        let norm = largest_turn(turned);
        let rigid = if direction == DVec3::ZERO {
            length + norm * radius
        } else {
            let across = (turned.transpose() * direction).length();
            across * radius - direction.dot(moved) + DIRECTION_ERROR * (length + norm * radius)
        };
        rigid + (now.deformed - then.deformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::random::unit;

    fn vector(seed: u64, n: u64) -> DVec3 {
        DVec3::from_array([0, 1, 2].map(|i| 2.0 * unit(seed, 3 * n + i) - 1.0))
    }

    fn pose(seed: u64, by: f64) -> Pose {
        let turn = by * vector(seed, 0);
        let start = vector(7, 1);
        Pose::new((3.0 * start + by * vector(seed, 2)).to_array(), [turn.x + 0.3, turn.y, turn.z, 1.0])
            .unwrap()
    }

    #[test]
    fn points_come_no_nearer_than_stated() {
        let (mut wider, mut narrower) = (0, 0);
        for case in 0..300 {
            let by = [1e-3, 0.1, 1.0][case as usize % 3];
            let poses = [0, 1].map(|f| [0, 1].map(|k| pose(4 * case + 2 * f + k, by)));
            let deformed = 0.1 * by * unit(case, 9);
            let mut course = Course::new();
            course.record(1, [&poses[0][0], &poses[0][1]], 0.0);
            course.record(2, [&poses[1][0], &poses[1][1]], deformed);
            // A ball of b and its points in b's frame, and a point of a in a's.
            let (centre, radius) = (vector(case, 30), unit(case, 8));
            let patch = Facet {
                centre: poses[0][1].apply(centre),
                normal: DVec3::X,
                radius,
                inner: -radius,
                outer: radius,
            };
            let point = vector(case, 31);
            let direction = (patch.centre - poses[0][0].apply(point)).normalize();
            let along = Sight::new(1, direction, &patch, [&poses[0][0], &poses[0][1]]);
            let distance = Sight::new(1, DVec3::ZERO, &patch, [&poses[0][0], &poses[0][1]]);
            let closed = [along, distance].map(|sight| course.closed(&sight, 2));
            assert!(closed[0] <= closed[1] + 1e-6 * by, "{case}: {closed:?}");
            let fixed = poses[0][0].matrix().transpose() * direction;
            for s in 0..32 {
                let within = vector(case + 1000, s).normalize_or_zero() * radius * unit(case + 2000, s);
                let before_after = [0, 1].map(|f| {
                    let apart = poses[f][1].apply(centre + within) - poses[f][0].apply(point);
                    let seen = poses[f][0].matrix().transpose() * apart;
                    let moved = if f == 1 { deformed } else { 0.0 };
                    [seen.dot(fixed) - moved, seen.length() - moved]
                });
                for k in 0..2 {
                    let change = before_after[0][k] - before_after[1][k];
                    assert!(change <= closed[k] + 1e-14, "{case} {k}: {change} {}", closed[k]);
                }
            }
            wider += usize::from(closed[0] < 0.0);
            narrower += usize::from(closed[0] > 0.0);
        }
        assert!(wider > 20 && narrower > 20, "{wider} {narrower}");
    }

    #[test]
    fn what_is_forgotten_is_not_known() {
        let mut course = Course::new();
        let pose = Pose::IDENTITY;
        let patch = Facet { centre: DVec3::ZERO, normal: DVec3::X, radius: 1.0, inner: -1.0, outer: 1.0 };
        course.record(1, [&pose; 2], 0.0);
        let sight = Sight::new(1, DVec3::X, &patch, [&pose; 2]);
        assert!(course.closed(&sight, 1) < 1e-12);
        (2..400).for_each(|frame| course.record(frame, [&pose; 2], 0.1));
        assert!(course.closed(&sight, 399).is_nan());
        assert!(course.closed(&Sight::NONE, 399).is_nan());
    }
}
