//! A chain of joints over a step: every joint value goes linearly from one waypoint to the next, and the motion of
//! each link is bounded.
//!
//! The speed of a point of a link is at most the sum over the joints it hangs on of the joint's rate times how
//! far from the joint the point can be, whatever the joint values on the way (Schwarzer, Saha, Latombe, "Adaptive
//! dynamic collision checking for single and multiple articulated robots in complex environments", 2005). Two
//! links of one body move against each other only by the joints that they do not share.

use super::skeleton::{JointKind, Skeleton};
use super::{Ball, Pose};
use crate::geom::point_triangle::norm;
use crate::num::tolerance::ROUND_UP;

/// A skeleton between two waypoints, 0 ≤ t ≤ 1.
#[derive(Debug, Clone, Copy)]
pub struct Chain<'s> {
    /// The joints.
    pub skeleton: &'s Skeleton,
    /// Where the body stands.
    pub root: Pose,
    /// The joint values at both ends; a missing one counts as 0.
    pub waypoints: [&'s [f64]; 2],
}

impl Chain<'_> {
    /// The joint values at t.
    pub fn values(&self, t: f64) -> Vec<f64> {
        let joints = 0..self.skeleton.joints().len();
        joints.map(|k| if t >= 1.0 { self.end(1, k) } else { self.end(0, k) + self.rate(k) * t }).collect()
    }

    /// Where the links are at t.
    pub fn poses(&self, t: f64, out: &mut Vec<Pose>) {
        self.skeleton.poses(&self.root, &self.values(t), out);
    }

    /// An upper bound of the speed of the points of a ball of link `i`, given in the frame of the body at rest,
    /// against link `other` or the world: the joints that both hang on do not count.
    pub fn speed(&self, i: usize, ball: &Ball, other: Option<usize>) -> f64 {
        let joints = self.skeleton.joints();
        let (mut speed, mut reach) = (0.0, None::<(f64, usize)>);
        let mut link = Some(i);
        while let Some(k) = link {
            if other.is_some_and(|other| self.skeleton.hangs_on(other, k)) {
                break;
            }
            let joint = &joints[k];
            // Out to the farthest point of the ball, from pivot to pivot.
            let far = match reach {
                None => norm(ball.centre - joint.pivot) + ball.radius,
                Some((far, child)) => far + norm(joint.pivot - joints[child].pivot),
            };
            let rate = self.rate(k).abs();
            let mut out = far;
            match joint.kind {
                JointKind::Fixed => {}
                JointKind::Revolute => speed += rate * far,
                JointKind::Prismatic => {
                    speed += rate;
                    // What slides out is farther from the joints before.
                    out += self.end(0, k).abs().max(self.end(1, k).abs());
                }
            }
            reach = Some((out, k));
            link = joint.parent;
        }
        speed * ROUND_UP
    }

    fn end(&self, side: usize, k: usize) -> f64 {
        self.waypoints[side].get(k).copied().unwrap_or(0.0)
    }

    fn rate(&self, k: usize) -> f64 {
        self.end(1, k) - self.end(0, k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::Joint;
    use glam::DVec3;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    fn vector(rng: &mut Pcg64, size: f64) -> DVec3 {
        DVec3::from([(); 3].map(|()| rng.random_range(-size..size)))
    }

    fn skeleton(rng: &mut Pcg64) -> Skeleton {
        let kinds = [JointKind::Revolute, JointKind::Revolute, JointKind::Prismatic, JointKind::Fixed];
        let joint = |i: usize, rng: &mut Pcg64| Joint {
            parent: (i > 0).then(|| rng.random_range(0..i)),
            kind: kinds[rng.random_range(0..4)],
            pivot: vector(rng, 2.0),
            axis: vector(rng, 1.0),
            limits: [-9.0, 9.0],
        };
        Skeleton::new((0..6).map(|i| joint(i, rng)).collect()).unwrap()
    }

    #[test]
    fn no_point_is_faster_than_the_bound_and_some_come_near() {
        let mut rng = Pcg64::seed_from_u64(8);
        let (mut near, mut moving) = (0, 0);
        for _ in 0..300 {
            let skeleton = skeleton(&mut rng);
            let ends = [(); 2].map(|()| [(); 6].map(|()| rng.random_range(-2.0..2.0)));
            let waypoints = [&ends[0][..], &ends[1][..]];
            let chain = Chain { skeleton: &skeleton, root: Pose::IDENTITY, waypoints };
            let (i, j) = (rng.random_range(0..6), rng.random_range(0..6));
            let ball = Ball { centre: vector(&mut rng, 2.0), radius: rng.random_range(0.0..0.5) };
            let point = ball.centre + vector(&mut rng, 1.0).normalize() * ball.radius;
            for other in [None, Some(j)] {
                let bound = chain.speed(i, &ball, other);
                let (mut fastest, step) = (0.0_f64, 1e-4);
                let place = |t: f64| {
                    let mut poses = Vec::new();
                    chain.poses(t, &mut poses);
                    let world = poses[i].apply(point);
                    // Seen from the other link.
                    other.map_or(world, |j| {
                        let turn = poses[j].matrix().transpose();
                        turn * (world - poses[j].translation())
                    })
                };
                for k in 0..20 {
                    let t = f64::from(k) / 20.0;
                    fastest = fastest.max((place(t + step) - place(t)).length() / step);
                }
                // The other link's own motion counts for its own bound.
                let theirs = other.map_or(0.0, |j| {
                    let reach = 30.0;
                    chain.speed(j, &Ball { centre: point, radius: reach }, Some(i))
                });
                assert!(fastest <= bound + theirs + 1e-6, "{fastest} {bound} {theirs}");
                moving += usize::from(bound > 0.0 && other.is_none());
                near += usize::from(other.is_none() && bound > 0.0 && fastest > 0.3 * bound);
            }
        }
        assert!(near * 3 > moving && moving > 150, "{near} of {moving}");
    }

    #[test]
    fn links_that_share_their_joints_do_not_move_against_each_other() {
        let mut rng = Pcg64::seed_from_u64(9);
        let skeleton = skeleton(&mut rng);
        let chain = Chain { skeleton: &skeleton, root: Pose::IDENTITY, waypoints: [&[0.0; 6], &[1.0; 6]] };
        let ball = Ball { centre: DVec3::ONE, radius: 1.0 };
        assert_eq!(chain.speed(3, &ball, Some(3)), 0.0);
        assert_eq!(chain.values(1.0), [1.0; 6]);
        assert_eq!(chain.values(0.25), [0.25; 6]);
    }
}
