//! Boxes of bodies in the world, kept up from frame to frame.
//!
//! The two kinds of box of I-COLLIDE (Cohen, Lin, Manocha, Ponamgi 1995). The tight box of a polytope is
//! resized by hill climbing from the corners that were extreme in the last frame; the fixed cube holds the
//! body in every rotation, so that only its centre moves. Both are rounded outward.

use glam::DVec3;

use crate::Pose;
use crate::bound::{Aabb, Sphere};
use crate::model::{Geometry, polytope_bounds};
use crate::motion::Ball;
use crate::num::tolerance::{PLACED_BOX_ROUNDING, ROUND_UP, STRETCH};
use crate::shape::{Convex, Primitive};

/// Which box stands for a body in the broad phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Boxes {
    /// The smallest box, resized each time the body moves.
    #[default]
    Tight,
    /// A cube that holds the body however it is turned: cheaper to move, but it meets more others.
    Cube,
}

/// How a body's box is found, with what is remembered from the last time; starting over costs speed only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Fit {
    /// By climbing from these corners of a polytope: lowest along x, y, z, then highest along x, y, z.
    Climb([u32; 6]),
    /// The cube around a ball of the body's frame.
    Cube(Sphere),
    /// By asking the shape.
    Ask,
}

impl Fit {
    /// How the box of a new body is found.
    pub fn new(shape: &Geometry, boxes: Boxes) -> Fit {
        match (boxes, shape) {
            (Boxes::Tight, Geometry::Convex(Convex::Polytope(_))) => Fit::Climb([0; 6]),
            (Boxes::Tight, _) => Fit::Ask,
            (Boxes::Cube, _) => {
                let ball = ball(shape);
                if ball.radius.is_finite() { Fit::Cube(ball) } else { Fit::Ask }
            }
        }
    }

    /// The box of the placed shape, grown by `pad` on each side, and how to find the next.
    pub fn bounds(&self, shape: &Geometry, pose: &Pose, pad: f64) -> (Aabb, Fit) {
        let (bounds, fit) = match (self, shape) {
            (Fit::Climb(corners), Geometry::Convex(Convex::Polytope(polytope))) => {
                let (bounds, corners) = polytope_bounds(polytope, pose, *corners);
                (bounds, Fit::Climb(corners))
            }
            (Fit::Cube(ball), _) => (cube(ball, pose), *self),
            _ => (shape.known_bounds(pose), *self),
        };
        let pad = DVec3::splat(pad);
        (Aabb { low: bounds.low - pad, high: bounds.high + pad }, fit)
    }
}

/// A ball around a shape in its own frame: about the middle of its box, out to the farthest corner.
fn ball(shape: &Geometry) -> Sphere {
    let own = shape.corner_bounds(&Pose::IDENTITY);
    let centre = own.centre();
    let radius = match shape {
        Geometry::Convex(Convex::Polytope(polytope)) => {
            polytope.vertices().iter().map(|v| v.distance(centre)).fold(0.0, f64::max)
        }
        _ => own.half().length(),
    };
    Sphere { centre, radius }
}

/// The same for motions; an unbounded shape has an infinite radius.
pub(super) fn ball_of(shape: &Geometry) -> Ball {
    let Sphere { centre, radius } = ball(shape);
    if centre.is_finite() && radius.is_finite() {
        return Ball { centre, radius: radius * ROUND_UP };
    }
    Ball { centre: DVec3::ZERO, radius: f64::INFINITY }
}

/// A ball of the world around a placed shape; an unbounded one has an infinite radius.
pub(super) fn placed_ball(shape: &Geometry, pose: &Pose) -> Sphere {
    if let Geometry::Convex(Convex::Primitive(Primitive::Sphere { radius })) = shape {
        return placed(&Sphere { centre: DVec3::ZERO, radius: *radius }, pose);
    }
    let Ball { centre, radius } = ball_of(shape);
    placed(&Sphere { centre, radius }, pose)
}

fn placed(ball: &Sphere, pose: &Pose) -> Sphere {
    let size = ball.radius + ball.centre.abs().element_sum() + pose.translation().abs().max_element();
    // A pose may stretch by as much as it may be off orthonormal.
    Sphere { centre: pose.apply(ball.centre), radius: ball.radius * STRETCH + PLACED_BOX_ROUNDING * size }
}

fn cube(ball: &Sphere, pose: &Pose) -> Aabb {
    let Sphere { centre, radius } = placed(ball, pose);
    let half = DVec3::splat(radius);
    Aabb { low: centre - half, high: centre + half }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Polytope, procedural};

    #[test]
    fn climbed_boxes_are_those_of_all_corners_and_cubes_hold_them() {
        let mesh = procedural::blob(1.0, 0.3, 2, 9).unwrap();
        let polytope = Polytope::hull(mesh.vertices()).unwrap();
        let shape = Geometry::from(polytope.clone());
        let turns = procedural::rotations(300, 4);
        let places = procedural::positions(300, DVec3::splat(-50.0), DVec3::splat(50.0), 5);
        let [mut fit, fixed] = [Boxes::Tight, Boxes::Cube].map(|boxes| Fit::new(&shape, boxes));
        for (turn, place) in turns.iter().zip(&places) {
            let pose = Pose::new(place.to_array(), *turn).unwrap();
            let placed: Vec<DVec3> = polytope.vertices().iter().map(|&v| pose.apply(v)).collect();
            let truth = Aabb::around_points(&placed);
            let (tight, next) = fit.bounds(&shape, &pose, 0.25);
            fit = next;
            let loose = (truth.low - tight.low).max(tight.high - truth.high) - 0.25;
            assert!(loose.min_element() >= 0.0 && loose.max_element() < 1e-12, "{loose}");
            let (cube, _) = fixed.bounds(&shape, &pose, 0.0);
            assert!(cube.low.cmple(truth.low).all() && cube.high.cmpge(truth.high).all());
            let sides = cube.high - cube.low;
            assert!((sides.max_element() - sides.min_element()).abs() < 1e-9 && sides.x < 6.0, "{sides}");
        }
    }
}
