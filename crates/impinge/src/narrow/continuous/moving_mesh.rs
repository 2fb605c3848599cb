//! A mesh that moves over a step, as a sweep looks at it.

use glam::DVec3;

use super::triangle_pair::Corners;
use crate::Counters;
use crate::geom::point_triangle::norm;
use crate::hierarchy::box_time_of_impact::Instant;
use crate::hierarchy::relative::placement_error;
use crate::model::Model;
use crate::motion::{AccelerationBound, Ball, Motion};
use crate::narrow::exact::collide::{Posed, counted_first_meeting};
use crate::num::each::Each;

/// A mesh and how it moves.
#[derive(Debug, Clone, Copy)]
pub(super) struct MovingMesh<'m> {
    pub model: &'m Model,
    pub motion: &'m Motion,
    pub ball: Ball,
    /// Bounds of the acceleration over the span.
    pub acceleration_bound: AccelerationBound,
}

impl<'m> MovingMesh<'m> {
    pub fn new(model: &'m Model, motion: &'m Motion) -> MovingMesh<'m> {
        let frame = model.tree().frame();
        let [low, high] = model.tree().bounds().map(|corner| corner.as_dvec3() * frame.unit);
        let centre = frame.centre + 0.5 * (low + high);
        let ball = Ball { centre, radius: norm(high - low) * 0.5 + f64::EPSILON * norm(centre) };
        MovingMesh { model, motion, ball, acceleration_bound: motion.acceleration_bound(&ball, [0.0, 1.0]) }
    }

    /// Pose, velocity and largest acceleration at a time.
    pub fn instant(&self, t: f64) -> Instant<'m> {
        let MovingMesh { model, motion, acceleration_bound, .. } = *self;
        Instant {
            tree: model.tree(),
            pose: motion.pose(t),
            twist: motion.twist(t),
            acceleration: acceleration_bound.most(),
        }
    }

    /// The corners of a triangle in the world, and their velocities.
    pub fn corners(&self, triangle: u32, now: &Instant<'_>) -> Corners {
        let at = self.model.mesh().corners(triangle).each(|p| now.pose.apply(p));
        Corners { at, velocity: at.each(|x| now.twist.velocity(x)) }
    }

    /// The corners of a triangle in the world at a time.
    pub fn placed(&self, triangle: u32, t: f64) -> [DVec3; 3] {
        let pose = self.motion.pose(t);
        self.model.mesh().corners(triangle).map(|p| pose.apply(p))
    }
}

/// What rounding can do to the distance of two placed points up to a time.
pub(super) fn noise(bodies: &[MovingMesh<'_>; 2], until: f64) -> f64 {
    let [a, b] = bodies.each_ref().map(|body| (body.model.tree(), body.motion.pose(0.0)));
    placement_error(a.0, &a.1, b.0, &b.1)
        + bodies.iter().map(|body| body.motion.rounding_until(&body.ball, until)).sum::<f64>()
}

/// Whether any triangles of the two meet at a time, exactly.
pub(super) fn surfaces_meet(bodies: &[MovingMesh<'_>; 2], time: f64, work: &mut Counters) -> bool {
    let [a, b] = [0, 1].map(|k: usize| Posed::new(bodies[k].model, bodies[k].motion.pose(time)));
    let (met, tests) = counted_first_meeting(a, b);
    *work += tests;
    met.is_some()
}
