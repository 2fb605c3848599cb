//! How fast two bodies can come nearer that are carried by nearly the same turn: the links on one joint of a robot, the
//! parts on one table.
//!
//! Both move fast, and bounds of their speeds and accelerations add up; against each other they hardly move. As long as
//! they do not, what is apart stays so.

use super::relative_screw::{Part, RelativeScrew, parts};
use super::{Ball, Motion};
use crate::geom::point_triangle::norm;
use crate::num::tolerance::ROUND_UP;

/// The relative motion is worth a look where it is slower than the bodies by this (no unit).
const MUCH_SLOWER: f64 = 16.0;

/// A bound of how much nearer the points of two bodies can come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RelativeDrift {
    /// By how much in a time (lengths a step).
    speed: f64,
    /// By how much more at once, for all that the motions are not about one axis, and for rounding.
    doubt: f64,
}

impl RelativeDrift {
    /// The drift of two bodies within balls that turn about nearly one axis, if it is much less than their motions.
    /// `noise` is what rounding can do to the distance of two placed points.
    pub fn of(motions: [&Motion; 2], balls: [&Ball; 2], noise: f64) -> Option<RelativeDrift> {
        let [Part::Turn(a), Part::Turn(b)] = motions.map(parts) else { return None };
        let drift = RelativeDrift::of_turns(&a.nearly_about_one_axis(&b), motions, balls, noise);
        let speeds: f64 = [0, 1].map(|k| motions[k].speed(balls[k], [0.0, 1.0])).iter().sum();
        // Negated, so that what is no number is not taken.
        (MUCH_SLOWER * (drift.speed + drift.doubt) <= speeds).then_some(drift)
    }

    /// Seen from a, points of b move by the screw and are off it by at most twice its error, before and after; and seen
    /// from b those of a. The nearer ones to the axis tell.
    fn of_turns(
        screw: &RelativeScrew,
        motions: [&Motion; 2],
        balls: [&Ball; 2],
        noise: f64,
    ) -> RelativeDrift {
        let reach = |k: usize| {
            let place = motions[k].pose(0.0).apply(balls[k].centre);
            (norm(place - screw.origin) + balls[k].radius) * ROUND_UP
        };
        let reach = reach(0).min(reach(1));
        let speed = screw.speed(reach) * ROUND_UP;
        RelativeDrift { speed, doubt: (4.0 * screw.error(reach) + 2.0 * noise) * ROUND_UP }
    }

    /// How long a gap surely lasts; 0 where nothing is certain.
    pub fn lasts(&self, gap: f64) -> f64 {
        let left = gap - self.doubt;
        // Negated, so that what is no number lasts no time.
        if !(left > 0.0) { 0.0 } else { left / self.speed / ROUND_UP }
    }
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::Pose;

    /// No two points of bodies that are carried nearly together come nearer, or part, by more than is said.
    #[test]
    fn points_drift_no_more_than_is_said() {
        let mut rng = Pcg64Mcg::seed_from_u64(41);
        let (mut known, mut tight) = (0, 0);
        for case in 0..600 {
            let mut vector = |size: f64| DVec3::from([(); 3].map(|()| rng.random_range(-size..size)));
            let [axis, centre] = [vector(1.0).normalize(), vector(2.0)];
            // Together but for rounding, or with other angles, shifts, axes and places of them.
            let off = [0.0, 1e-9, 1e-5, 1e-3][case % 4];
            let motions = [0.0, off].map(|off| {
                let [angle, shift] =
                    [[2.0, 0.0], [0.02, 0.5], [9.0, -1.0]][case % 3].map(|x| x + off * vector(1.0).x);
                let axis = (axis + vector(1.0) * off).normalize();
                let centre = centre + vector(1.0) * off;
                let start = Pose::turned(vector(1.0), DQuat::from_scaled_axis(vector(2.0)));
                let turn = DQuat::from_axis_angle(axis, angle);
                let place = centre + turn * (start.translation() - centre) + axis * shift;
                let turned = turn * DQuat::from_mat3(&start.rotation());
                let turns = if angle > 6.0 { 1 } else { 0 };
                Motion::screw(
                    &start,
                    &Pose::turned(place, turned.normalize()),
                    turns,
                    super::super::Law::Uniform,
                )
            });
            let balls = [0, 1].map(|_| Ball { centre: vector(0.5), radius: 0.3 });
            let motions = [&motions[0], &motions[1]];
            let noise: f64 = [0, 1].map(|k| motions[k].rounding(&balls[k])).iter().sum();
            let Some(drift) = RelativeDrift::of(motions, [&balls[0], &balls[1]], noise) else { continue };
            known += 1;
            let points = balls.map(|ball| ball.centre + vector(1.0).normalize() * ball.radius);
            let gap =
                |t: f64| norm(motions[1].pose(t).apply(points[1]) - motions[0].pose(t).apply(points[0]));
            let times: Vec<f64> = (0..=32).map(|k| f64::from(k) / 32.0).collect();
            for (i, &t) in times.iter().enumerate() {
                for &u in &times[i..] {
                    let moved = (gap(u) - gap(t)).abs();
                    assert!(
                        moved <= (u - t) * drift.speed + drift.doubt,
                        "{case}: {moved} {t} {u} {drift:?}"
                    );
                }
            }
            tight += usize::from(off == 0.0 && drift.speed + drift.doubt < 1e-10);
        }
        assert!(known > 300 && tight > 80, "{known} {tight}");
    }

    #[test]
    fn a_gap_lasts_as_long_as_the_drift_takes() {
        let drift = RelativeDrift { speed: 0.5, doubt: 0.25 };
        assert!((drift.lasts(0.75) - 1.0).abs() < 1e-6 && drift.lasts(0.75) <= 1.0);
        assert_eq!([drift.lasts(0.25), drift.lasts(-1.0), drift.lasts(f64::NAN)], [0.0; 3]);
        assert_eq!(RelativeDrift { speed: 0.0, ..drift }.lasts(0.5), f64::INFINITY);
    }
}
