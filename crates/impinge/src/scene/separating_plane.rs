//! Planes that separate two moving bodies over a span of time: the cheap proof that most pairs need no sweep.
//!
//! Along a fixed direction n the distance of two corners p and q is a function of time whose second derivative
//! the bodies' accelerations bound by a. At a share u of a span of length h, with the gaps G₀ and G₁ of the corners
//! that are nearest along n at its ends, it is therefore for all points of both bodies at least
//!
//! `G₀·(1 − u) + G₁·u − ½·a·h²·u·(1 − u)`,
//!
//! a parabola whose lowest value is known. The direction is
//! that of the last step first (the coherence that CONTACT, Redon, Kheddar, Coquillart 2001, leaves for the
//! future); where it fails it is turned towards the point nearest to the origin of the hull of differences at
//! both ends, one corner at a time (Gilbert 1966; the iteration of Frank and Wolfe). Spans that no plane
//! separates are halved. Bodies whose hulls overlap are left to the sweep.

use glam::{DMat3, DVec3};

use crate::geom::point_triangle::norm;
use crate::model::Geometry;
use crate::motion::{AccelerationBound, Ball, Motion};
use crate::num::tolerance::{DOT_ROUNDING, ROUND_UP};
use crate::shape::Convex;

/// Directions tried for a span.
const MOST_DIRECTIONS: u32 = 12;

/// Spans shorter than this are left to the sweep (in units of the step).
const SHORTEST: f64 = 1.0 / 64.0;

/// One of two bodies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side<'s> {
    pub shape: &'s Geometry,
    pub motion: &'s Motion,
    pub ball: &'s Ball,
}

/// How far two bodies are known to stay apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PlaneSeparation {
    /// The end of what was proved; `None` for the whole span.
    pub until: Option<f64>,
    /// Pairs of hulls that were looked at.
    pub tests: u64,
}

/// How long planes surely separate two bodies. `direction`, from a to b, is where the search begins and what it
/// leaves for the next.
pub(super) fn separated(sides: [&Side<'_>; 2], span: [f64; 2], direction: &mut DVec3) -> PlaneSeparation {
    let mut tests = 0;
    let [Some(a), Some(b)] = sides.map(|side| corners(side.shape)) else {
        return PlaneSeparation { until: Some(span[0]), tests };
    };
    if sides.iter().any(|side| !side.motion.knots().is_empty()) {
        return PlaneSeparation { until: Some(span[0]), tests };
    }
    let acceleration_bounds = sides.map(|side| side.motion.acceleration_bound(side.ball, span));
    // Of both placements, of the choice of the farthest corners, and of the motion itself.
    let noise = 4.0 * sides.iter().map(|side| side.motion.rounding(side.ball)).sum::<f64>();
    let (mut at, mut length) = (span[0], span[1] - span[0]);
    loop {
        let to = if at + length < span[1] { at + length } else { span[1] };
        let ends = [at, to].map(|t| sides.map(|side| Place::new(side.motion, t)));
        let piece = Piece { corners: [a, b], ends, acceleration_bounds, length: to - at, noise };
        tests += 1;
        if !piece.separates(direction) {
            length = 0.5 * (to - at);
            if !(length >= SHORTEST) {
                return PlaneSeparation { until: Some(at), tests };
            }
        } else if to < span[1] {
            (at, length) = (to, 2.0 * length);
        } else {
            return PlaneSeparation { until: None, tests };
        }
    }
}

/// The corners of a body's hull; `None` for what is round or has parts.
fn corners(shape: &Geometry) -> Option<&[DVec3]> {
    match shape {
        Geometry::Mesh(model) => model.hull().map(|hull| hull.vertices()),
        Geometry::Convex(Convex::Polytope(polytope)) => Some(polytope.vertices()),
        _ => None,
    }
}

/// Where a body is, as a linear map.
#[derive(Debug, Clone, Copy)]
struct Place {
    turn: DMat3,
    at: DVec3,
}

impl Place {
    fn new(motion: &Motion, t: f64) -> Place {
        let pose = motion.pose(t);
        Place { turn: pose.matrix(), at: pose.translation() }
    }

    /// The placed corner that is farthest along a direction of the world.
    fn farthest(&self, corners: &[DVec3], direction: DVec3) -> DVec3 {
        let d = self.turn.transpose() * direction;
        let (mut most, mut found) = (f64::NEG_INFINITY, DVec3::ZERO);
        for &corner in corners {
            let along = d.dot(corner);
            if along > most {
                (most, found) = (along, corner);
            }
        }
        self.turn * found + self.at
    }
}

/// Two bodies over a span.
#[derive(Debug)]
struct Piece<'s> {
    corners: [&'s [DVec3]; 2],
    /// At the start and at the end, where a and b are.
    ends: [[Place; 2]; 2],
    acceleration_bounds: [AccelerationBound; 2],
    length: f64,
    noise: f64,
}

impl Piece<'_> {
    /// Looks for a direction that separates them over the whole span.
    fn separates(&self, direction: &mut DVec3) -> bool {
        let mut nearest: Option<DVec3> = None;
        for _ in 0..MOST_DIRECTIONS {
            let Some(n) = direction.try_normalize() else { return false };
            let lowest = self.lowest(n);
            let gaps = lowest.map(|w| n.dot(w) - DOT_ROUNDING * w.abs().max_element() - self.noise);
            let bulge = 0.5
                * (self.acceleration_bounds[0].along(n) + self.acceleration_bounds[1].along(n))
                * self.length
                * self.length;
            if least(gaps, bulge * ROUND_UP) > 0.0 {
                return true;
            }
            let low = if gaps[0] < gaps[1] { lowest[0] } else { lowest[1] };
            let next = nearest.map_or(low, |x| nearest_between(x, low));
            // No direction shows more than the length of a difference.
            if !(norm(next) > self.noise) {
                return false;
            }
            (nearest, *direction) = (Some(next), next);
        }
        false
    }

    /// The differences b − a of corners that are lowest along n at both ends.
    fn lowest(&self, n: DVec3) -> [DVec3; 2] {
        self.ends.map(|[a, b]| b.farthest(self.corners[1], -n) - a.farthest(self.corners[0], n))
    }
}

/// The lowest value of `g₀·(1 − u) + g₁·u − c·u·(1 − u)` for u from 0 to 1, or less.
fn least([g0, g1]: [f64; 2], c: f64) -> f64 {
    let fall = c - (g1 - g0);
    if fall <= 0.0 {
        g0
    } else if fall >= 2.0 * c {
        g1
    } else {
        g0 - fall * fall / (4.0 * c) * ROUND_UP
    }
}

/// The point of a segment that is nearest to the origin.
fn nearest_between(p: DVec3, q: DVec3) -> DVec3 {
    let way = q - p;
    let share = -p.dot(way) / way.length_squared();
    if share.is_finite() { p + way * share.clamp(0.0, 1.0) } else { p }
}

#[cfg(test)]
#[path = "separating_plane_tests.rs"]
mod tests;
