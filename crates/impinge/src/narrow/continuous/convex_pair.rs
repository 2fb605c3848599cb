//! Two moving convex pieces: how long they surely stay apart.
//!
//! Directed conservative advancement with support functions. At an instant n is the direction of their nearest
//! points. Over a time h a point x of a piece is at n·(x + h·v(x)) along n, up to the acceleration bound, and
//! with v(x) = v + ω×(x − o) that is linear in x: the extreme over the piece is its support along n + h·(n×ω).
//! So F(h) = min over b − max over a − a·h²/2 is concave, and a chord from F(0) > 0 to a point below zero cuts
//! zero before F does. The tangents from above and the chords from below close in on its root.
//!
//! A half-space has no support but along its own normal N, which turns with it: there N·(x − P) is followed,
//! whose second derivative is bounded by ω²|x − P| + 2ω|ẋ − Ṗ| and both accelerations.

use glam::DVec3;

use super::triangle_pair::first_root;
use crate::geom::point_triangle::norm;
use crate::motion::{Ball, Motion, Twist};
use crate::narrow::convex::placed_core::{place, reach_of};
use crate::narrow::convex::separation::{self, ConvexMemory};
use crate::num::tolerance::{PLACING_ERROR, ROUND_UP, TOO_CLOSE_TO_CALL, TURN_ROUNDING};
use crate::shape::{Convex, Primitive};
use crate::{Pose, Separation};

/// Rounds that close in on a root; each is two supports.
const ROUNDS: u32 = 8;

/// Share of an upper bound at which a lower one counts as closed in on it (no unit).
const CLOSE_ENOUGH: f64 = 0.9;

/// How much of a chord is gone (no unit): at its very end rounding could not tell what is left from nothing.
const CHORD_SHARE: f64 = 0.999;

/// A convex piece of a body that moves.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// Its shape, in its own frame.
    pub convex: Convex,
    /// From there to the body's frame; `None` where they are the same.
    pub local: Option<Pose>,
}

impl Piece {
    /// Where it is at t.
    pub fn pose(&self, motion: &Motion, t: f64) -> Pose {
        let body = motion.pose(t);
        self.local.map_or(body, |local| body.compose(&local))
    }

    /// A ball around it in the body's frame; around a half-space's own point only.
    pub fn ball(&self) -> Ball {
        let local = self.local.unwrap_or(Pose::IDENTITY);
        let radius = reach_of(&self.convex) * ROUND_UP;
        Ball { centre: place(&self.convex, &local), radius }
    }

    /// The triangles of what has no thickness, in its own frame; a segment or a point as one without area. None for
    /// what is thick.
    pub fn flat_triangles(&self) -> Vec<[DVec3; 3]> {
        match &self.convex {
            Convex::Primitive(Primitive::Triangle { corners }) => vec![*corners],
            Convex::Primitive(Primitive::Segment { ends: [p, q] }) => vec![[*p, *q, *q]],
            Convex::Polytope(hull) if hull.dimension() < 3 => {
                let mesh = hull.mesh().ok();
                mesh.map_or_else(Vec::new, |m| {
                    (0..m.triangles().len() as u32).map(|t| m.corners(t)).collect()
                })
            }
            _ => Vec::new(),
        }
    }

    fn half_space(&self) -> Option<(DVec3, f64)> {
        match self.convex {
            Convex::Primitive(Primitive::HalfSpace { normal, offset }) => Some((normal, offset)),
            _ => None,
        }
    }
}

/// What is known of two pieces at an instant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap {
    /// The signed distance.
    pub separation: Separation,
    /// The time before which they cannot meet; 0 where nothing separates them.
    pub time: f64,
}

/// Looks at two pieces at t; accelerations are bounded over the span, and times count up to its end.
pub(super) fn look(pieces: [&Piece; 2], motions: [&Motion; 2], t: f64, span: [f64; 2]) -> Gap {
    let poses = [0, 1].map(|k| pieces[k].pose(motions[k], t));
    let [a, b] = pieces;
    let mut memory = ConvexMemory::default();
    let separation = separation::distance(&a.convex, &poses[0], &b.convex, &poses[1], &mut memory).0;
    if !(separation.distance > 0.0) {
        return Gap { separation, time: 0.0 };
    }
    let sides =
        [0, 1].map(|k| Side::new(pieces[k], motions[k], &poses[k], [t, span[1]], separation.points[0]));
    let left = (span[1] - t) * ROUND_UP + f64::MIN_POSITIVE;
    let time = match (a.half_space(), b.half_space()) {
        (Some(_), Some(_)) => planes(&sides, &separation, span),
        (Some(_), None) => above(&sides[0], &sides[1], span, left),
        (None, Some(_)) => above(&sides[1], &sides[0], span, left),
        (None, None) => between(&sides, separation.normal, span, left),
    };
    Gap { separation, time }
}

/// A piece at an instant, seen from an origin nearby.
struct Side<'p> {
    piece: &'p Piece,
    motion: &'p Motion,
    pose: &'p Pose,
    twist: Twist,
    ball: Ball,
    origin: DVec3,
    /// What rounding can do to a support.
    noise: f64,
}

/// What rounding can do to the place of a ball's points up to a time, seen from an origin.
pub(super) fn noise(ball: &Ball, motion: &Motion, until: f64, pose: &Pose, origin: DVec3) -> f64 {
    let size = norm(pose.translation()) + norm(origin) + 2.0 * ball.radius + norm(ball.centre);
    motion.rounding_until(ball, until) + (PLACING_ERROR + TOO_CLOSE_TO_CALL) * size
}

/// Where the extreme point of a piece is along a direction, and how fast it moves along it.
struct Extreme {
    value: f64,
    rate: f64,
}

impl<'p> Side<'p> {
    /// A piece at a time, rounding being bounded until another.
    fn new(
        piece: &'p Piece,
        motion: &'p Motion,
        pose: &'p Pose,
        [t, until]: [f64; 2],
        origin: DVec3,
    ) -> Side<'p> {
        let ball = piece.ball();
        let noise = noise(&ball, motion, until, pose, origin);
        Side { piece, motion, pose, twist: motion.twist(t), ball, origin, noise }
    }

    /// The lowest of `n·(x − origin)` after h, every x going on with its velocity of now; `rate` is the velocity of
    /// that x.
    fn lowest(&self, n: DVec3, h: f64) -> Extreme {
        let across = n.cross(self.twist.angular);
        let d = n + across * h;
        let x = self.support(-d, self.origin);
        let steady = n.dot(self.twist.linear) + across.dot(self.origin - self.twist.at);
        Extreme { value: d.dot(x) + h * steady, rate: across.dot(x) + steady }
    }

    /// [`Side::lowest`] now and its rate, for what does not turn.
    fn steady(&self, n: DVec3) -> (f64, f64) {
        (n.dot(self.support(-n, self.origin)), n.dot(self.twist.linear))
    }

    /// The point farthest along a direction, seen from an origin.
    fn support(&self, d: DVec3, origin: DVec3) -> DVec3 {
        let place = match self.piece.convex {
            Convex::Primitive(_) => self.pose.rotation(),
            Convex::Polytope(_) => self.pose.matrix(),
        };
        place * self.piece.convex.support(place.transpose() * d) + (self.pose.translation() - origin)
    }

    fn acceleration(&self, span: [f64; 2], n: DVec3) -> f64 {
        self.motion.acceleration_bound(&self.ball, span).along(n)
    }
}

/// Two pieces with supports.
fn between(sides: &[Side<'_>; 2], n: DVec3, span: [f64; 2], left: f64) -> f64 {
    let [a, b] = sides;
    let acceleration = a.acceleration(span, n) + b.acceleration(span, n);
    let noise = a.noise + b.noise;
    if [a, b].iter().all(|side| side.twist.angular == DVec3::ZERO) {
        // What does not turn has the same extreme point at every time.
        let [(from_b, rate_b), (from_a, rate_a)] = [b.steady(n), a.steady(-n)];
        return root(noise, acceleration, left, |h| Extreme {
            value: (from_b + h * rate_b) + (from_a + h * rate_a),
            rate: rate_b + rate_a,
        });
    }
    root(noise, acceleration, left, |h| {
        let (low_b, low_a) = (b.lowest(n, h), a.lowest(-n, h));
        Extreme { value: low_b.value + low_a.value, rate: low_b.rate + low_a.rate }
    })
}

/// A piece above the plane of a half-space.
fn above(plane: &Side<'_>, piece: &Side<'_>, span: [f64; 2], left: f64) -> f64 {
    let Some((normal, offset)) = plane.piece.half_space() else { return 0.0 };
    let turn = plane.pose.rotation();
    let level = offset / norm(normal);
    // The point of the plane below the piece, carried by the half-space.
    let own = turn * (normal / norm(normal));
    let height = own.dot(piece.origin - plane.pose.translation()) - level;
    let foot = piece.origin - own * height;
    let (spin, velocity) = (plane.twist.angular, plane.twist.velocity(foot));
    let swing = spin.cross(own);
    let speed = piece.motion.speed(&piece.ball, span);
    let carried = Ball { centre: turn.transpose() * (foot - plane.pose.translation()), radius: 0.0 };
    let speed = speed + plane.motion.speed(&carried, span);
    let reach =
        norm(piece.pose.apply(DVec3::ZERO) - foot) + 2.0 * piece.ball.radius + norm(piece.ball.centre);
    let spin_most = norm(spin);
    let bend = spin_most * (spin_most * (reach + speed * left) + 2.0 * speed);
    let acceleration = piece.motion.acceleration_bound(&piece.ball, span).most()
        + plane.motion.acceleration_bound(&carried, span).most()
        + bend;
    root(plane.noise + piece.noise, acceleration * ROUND_UP, left, |h| {
        // N·(x − P) with x and N going on as they do now; what is quadratic in h is in the bend.
        let across = own.cross(piece.twist.angular) + swing;
        let d = own + across * h;
        let x = piece.support(-d, foot);
        let steady = own.dot(piece.twist.linear - velocity)
            + own.cross(piece.twist.angular).dot(foot - piece.twist.at);
        Extreme { value: d.dot(x) + h * steady, rate: across.dot(x) + steady }
    })
}

/// Two half-spaces that are apart: their planes are parallel, and stay so when both turn about their normal alone
/// or move as one.
fn planes(sides: &[Side<'_>; 2], separation: &Separation, span: [f64; 2]) -> f64 {
    if sides[0].motion == sides[1].motion {
        return f64::INFINITY;
    }
    let n = separation.normal;
    if sides.iter().any(|side| norm(side.twist.angular.cross(n)) > TURN_ROUNDING * norm(side.twist.angular)) {
        return 0.0;
    }
    let rate = n.dot(sides[1].twist.linear - sides[0].twist.linear);
    let acceleration: f64 = sides.iter().map(|side| side.acceleration(span, n)).sum();
    let noise = sides[0].noise + sides[1].noise;
    first_root(separation.distance - noise, rate - noise, acceleration)
}

/// A time before the first root of `f(h) − noise − acceleration·h²/2`, f concave; infinite where there is none up
/// to `left`.
fn root(noise: f64, acceleration: f64, left: f64, f: impl Fn(f64) -> Extreme) -> f64 {
    let at = |h: f64| {
        let found = f(h);
        let fall = acceleration * h;
        Extreme { value: found.value - noise - 0.5 * fall * h, rate: found.rate - fall }
    };
    let start = at(0.0);
    if !(start.value > 0.0) {
        return 0.0;
    }
    let end = at(left);
    if end.value > 0.0 {
        return f64::INFINITY;
    }
    let (mut low, mut high) = ((0.0, start.value, start.rate), (left, end.value));
    for _ in 0..ROUNDS {
        // The tangent with its fall is above f, the chord below.
        let touch = low.0 + first_root(low.1, low.2, acceleration) * ROUND_UP;
        if touch < high.0 {
            high = (touch, at(touch).value);
            if high.1 > 0.0 {
                return high.0;
            }
        }
        let chord = low.0 + (high.0 - low.0) * (low.1 / (low.1 - high.1)) * CHORD_SHARE;
        let middle = at(chord);
        if !(middle.value > 0.0 && chord > low.0) {
            break;
        }
        low = (chord, middle.value, middle.rate);
        if low.0 >= CLOSE_ENOUGH * high.0 {
            break;
        }
    }
    low.0
}
