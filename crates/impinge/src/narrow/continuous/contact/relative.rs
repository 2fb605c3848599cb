//! Two bodies that both move, by CONTACT (Redon, Kheddar and Coquillart 2001): one as the other sees it, screw by
//! screw.
//!
//! The cubics hold for one body that is carried by a screw under its law. Seen from b, a moves by no
//! such screw, but on a short span nearly so. There the screw between the relative poses at its ends is taken, and
//! how far a point can be from it is bounded: the difference vanishes at both ends, so it is at most an eighth of
//! the largest second derivative times the square of the span. In a frame that turns with ω these are the
//! accelerations of both bodies, 2ω·v and ω²·r. Features that come within that bound of each other are looked at
//! again on a shorter span from there; features that do not are free on this one. So no contact is lost, and a hit
//! is told only where the bound is below the slack.

use std::f64::consts::FRAC_PI_2;

use glam::{DQuat, DVec3};

use super::{ContactSearch, Covered, Tables, Tests, noise};
use crate::contact::Counters;
use crate::motion::{Ball, Law, RigidMotion};
use crate::narrow::continuous::answer::{Impact, Sweep, SweepOptions};
use crate::narrow::continuous::motion_spans::spans;
use crate::num::tolerance::{ROUND_UP, SWEEP_SLACK};
use crate::{Budget, Certainty, Error, Finish, Motion, Outcome, Pose};

/// How much shorter a span is taken where features come near (no unit).
const SHORTER: f64 = 0.25;

/// A search over the relative motion of two bodies that can be interrupted and resumed.
#[derive(Debug, Clone)]
pub struct RelativeSearch<'m> {
    bodies: [Covered<'m>; 2],
    motions: [&'m Motion; 2],
    balls: [Ball; 2],
    tolerance: f64,
    slack: f64,
    /// What rounding can do to a relative place.
    noise: f64,
    tables: Tables,
    /// What is left between the knots of both motions, the last first.
    spans: Vec<[f64; 2]>,
    /// Where the search ends.
    until: f64,
    /// There is no contact before this.
    reached: f64,
    length: f64,
    longest: f64,
    current: Option<Span<'m>>,
    found: Option<Impact>,
    tests: Tests,
}

/// A span of time with the screw that stands for the relative motion.
#[derive(Debug, Clone)]
struct Span<'m> {
    search: ContactSearch<'m>,
    ends: [f64; 2],
    /// How far a point may be from the screw.
    drift: f64,
}

impl<'m> RelativeSearch<'m> {
    /// A search over the whole step.
    ///
    /// # Errors
    /// A body that rests at a pose that is no rotation.
    pub fn new(
        bodies: [Covered<'m>; 2],
        motions: [&'m Motion; 2],
        options: &SweepOptions,
        tables: Tables,
    ) -> Result<RelativeSearch<'m>, Error> {
        if motions.iter().any(|motion| !motion.pose(0.0).is_rotation()) {
            let reason = "the method contact needs poses that are rotations where both bodies move".into();
            return Err(Error::Argument { name: "motion", reason });
        }
        let balls = bodies.map(|body| body.ball());
        let places = [0, 1].map(|k: usize| motions[k].pose(0.0).apply(balls[k].centre));
        let size = balls[0].radius + balls[1].radius + places[0].distance(places[1]);
        let noise = noise(&balls, motions);
        let spans = spans(motions, [&balls[0], &balls[1]], options.from, options.until);
        let turning: f64 = motions.iter().map(|motion| motion.twist(0.0).angular.length()).sum();
        // Relative turns stay below half a turn, so that the shorter way is theirs.
        let longest = (FRAC_PI_2 / turning).min(1.0);
        Ok(RelativeSearch {
            bodies,
            motions,
            balls,
            tolerance: options.tolerance,
            slack: options.slack.unwrap_or(size * SWEEP_SLACK).max(4.0 * noise),
            noise,
            tables,
            spans,
            until: options.until,
            reached: options.from,
            length: longest,
            longest,
            current: None,
            found: None,
            tests: Tests::default(),
        })
    }

    #[cfg(any(test, feature = "unstable"))]
    /// What was tested so far.
    pub fn tests(&self) -> Tests {
        self.tests
    }

    /// Goes on until the first contact is known or the budget ends; then calling again resumes.
    pub fn advance(&mut self, budget: &mut Budget) -> Sweep {
        while self.found.is_none() {
            let next = match self.current.take() {
                Some(span) => Some(span),
                None => self.next_span(),
            };
            let Some(mut span) = next else { break };
            let before = span.search.tests();
            let answer = span.search.advance(budget);
            self.tests += span.search.tests() - before;
            if answer.outcome.finish != Finish::Complete {
                self.current = Some(span);
                return self.answer(Finish::OutOfBudget);
            }
            self.take_in(&span, answer.impact);
        }
        self.answer(Finish::Complete)
    }

    /// Goes on behind a span, or more closely from where features came near in it.
    fn take_in(&mut self, span: &Span<'_>, impact: Option<Impact>) {
        let [from, to] = span.ends;
        let Some(impact) = impact else {
            self.reached = to;
            self.length = (2.0 * self.length).min(self.longest);
            return;
        };
        let time = ((from + impact.time * (to - from)) / ROUND_UP).max(from);
        if span.drift <= 0.5 * self.slack {
            let pose = self.motions[1].pose(time);
            let (point, normal) = (pose.apply(impact.point), pose.matrix() * impact.normal);
            self.found = Some(Impact { time, point, normal, ..impact });
        } else {
            self.reached = time;
            self.length = SHORTER * (to - from);
        }
    }

    fn next_span(&mut self) -> Option<Span<'m>> {
        while self.spans.last().is_some_and(|span| self.reached >= span[1] && span[0] < span[1]) {
            self.spans.pop();
        }
        let last = *self.spans.last()?;
        let from = self.reached.max(last[0]);
        let to = (from + self.length).min(last[1]);
        // A step of no length is looked at once.
        let to = if to > from { to } else { last[1] };
        if last[0] == last[1] {
            self.spans.pop();
        }
        let ends = [from, to];
        let [start, end] = ends.map(|t| relative(self.motions.map(|motion| motion.pose(t))));
        let rigid = RigidMotion::screw(&start, &end, 0, Law::Contact);
        let drift = self.drift(&rigid, ends);
        let slack = Some(0.5 * self.slack);
        let options = SweepOptions { slack, ..SweepOptions::DEFAULT };
        let [a, b] = self.bodies;
        // A screw under the law always has its parts.
        let search = ContactSearch::new(a, &Motion::Rigid(rigid), b, &Pose::IDENTITY, &options, self.tables);
        let search = search.ok()?.drifting(drift);
        Some(Span { search, ends, drift })
    }

    /// How far a point of a can be from where the screw puts it, as b sees it.
    fn drift(&self, rigid: &RigidMotion, [from, to]: [f64; 2]) -> f64 {
        let ([moving, resting], [ball, other]) = (self.motions, self.balls);
        let (span, h) = ([from, to], to - from);
        let point = Ball { radius: 0.0, ..other };
        let speed = moving.speed(&ball, span) + resting.speed(&point, span);
        let spin = resting.twist(from).angular.length();
        let apart = moving.pose(from).apply(ball.centre).distance(resting.pose(from).apply(point.centre));
        let reach = apart + ball.radius + speed * h;
        let bend =
            moving.acceleration_bound(&ball, span).most() + resting.acceleration_bound(&point, span).most();
        let second = bend + spin * (2.0 * speed + spin * reach);
        (second * h * h + rigid.acceleration_bound(&ball, [0.0, 1.0]).most()) / 8.0 * ROUND_UP + self.noise
    }

    fn answer(&self, finish: Finish) -> Sweep {
        let work = Counters {
            volume_tests: self.tests.spheres,
            primitive_tests: self.tests.total() - self.tests.spheres,
            updates: 0,
        };
        let free = if finish == Finish::Complete { self.until } else { self.reached };
        Sweep {
            impact: self.found,
            free_until: self.found.map_or(free, |impact| impact.time),
            slack: self.slack,
            outcome: Outcome {
                certainty: Certainty::Conservative { tolerance: self.tolerance },
                finish,
                work,
            },
        }
    }
}

/// The pose of a as b sees it.
fn relative([a, b]: [Pose; 2]) -> Pose {
    let back = b.rotation().transpose();
    let turn = DQuat::from_mat3(&(back * a.rotation())).normalize();
    let place: DVec3 = back * (a.translation() - b.translation());
    Pose::turned(place, turn)
}
