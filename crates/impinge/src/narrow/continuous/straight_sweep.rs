//! When a convex shape that moves straight first touches a mesh that does too, neither turning.
//!
//! In the frame of the mesh the shape goes along a line, so the box around it meets a box of the tree during one span
//! of time (the slabs of Kay and Kajiya, "Ray tracing complex scenes", 1986, grown by the shape). The tree is searched
//! by the beginnings of these spans; only triangles whose own boxes are met are followed by conservative advancement
//! (`convex_pair`), as in [`super::shape_sweep`].

use std::collections::BinaryHeap;

use glam::{DMat3, DVec3};

use super::answer::{ContactKind, Impact, Sweep, SweepOptions};
use super::convex_pair::{Piece, look, noise};
use super::motion_spans::spans;
use super::shape_sweep::{is_contact, triangle_feature};
use super::time_queue::TimedEntry;
use crate::bound::Aabb;
use crate::geom::point_triangle::norm;
use crate::model::Model;
use crate::motion::{Ball, Motion};
use crate::num::tolerance::SWEEP_SLACK;
use crate::shape::{Convex, Primitive};
use crate::{Budget, Certainty, Counters, Finish, Outcome, Pose};

/// The box of a shape on its way, in the frame of a mesh.
#[derive(Debug, Clone, Copy)]
struct MovingBox {
    /// Its middle at time 0, and how far that goes until time 1.
    centre: DVec3,
    way: DVec3,
    half: DVec3,
}

impl MovingBox {
    /// From when on it meets a box, if it does within a span.
    #[inline]
    fn meets_from(&self, low: DVec3, high: DVec3, [from, until]: [f64; 2]) -> Option<f64> {
        let (low, high) = (low - self.half - self.centre, high + self.half - self.centre);
        let (mut start, mut end) = (from, until);
        for axis in 0..3 {
            let (low, high, way) = (low[axis], high[axis], self.way[axis]);
            if way == 0.0 {
                if low > 0.0 || high < 0.0 {
                    return None;
                }
                continue;
            }
            let (x, y) = (low / way, high / way);
            start = start.max(x.min(y));
            end = end.min(x.max(y));
        }
        (start <= end).then_some(start)
    }
}

/// What is open: a node of the tree, or a triangle with the steps that it made below the slack.
#[derive(Debug, Clone, Copy)]
enum Open {
    Node(u32),
    Triangle { triangle: u32, steps: u32 },
}

/// The search; it can be interrupted and resumed.
#[derive(Debug, Clone)]
pub(super) struct StraightSweep<'s> {
    mesh: &'s Model,
    /// Which of the two bodies the mesh is.
    side: usize,
    shape: Piece,
    motions: [&'s Motion; 2],
    tolerance: f64,
    slack: f64,
    span: [f64; 2],
    moving: MovingBox,
    open: BinaryHeap<TimedEntry<Open>>,
    opened: u32,
    found: Option<Impact>,
    work: Counters,
}

impl<'s> StraightSweep<'s> {
    /// A sweep of a convex shape and a mesh, which is body `side`; `None` where a body turns or the shape has no end.
    pub fn new(
        convex: &Convex,
        mesh: &'s Model,
        side: usize,
        motions: [&'s Motion; 2],
        options: &SweepOptions,
    ) -> Option<StraightSweep<'s>> {
        if !motions.iter().all(|motion| motion.is_translation()) {
            return None;
        }
        let [span] = spans(motions, options.from, options.until)[..] else { return None };
        let shape = Piece { convex: convex.clone(), local: None };
        let [own, other] = [motions[1 - side].pose(0.0), motions[side].pose(0.0)];
        // As a search over pieces has them, with the ball around the root of the mesh's tree.
        let frame = mesh.tree().frame();
        let [low, high] = mesh.tree().bounds().map(|corner| corner.as_dvec3() * frame.unit);
        let balls = [
            shape.ball(),
            Ball { centre: frame.centre + 0.5 * (low + high), radius: norm(0.5 * (high - low)) },
        ];
        let places = [own.apply(balls[0].centre), other.apply(balls[1].centre)];
        let size = balls[0].radius + balls[1].radius + norm(places[1] - places[0]);
        let noise = noise(&balls[0], motions[1 - side], &own, places[0])
            + noise(&balls[1], motions[side], &other, places[1]);
        let slack = options.slack.unwrap_or(size * SWEEP_SLACK).max(2.0 * noise);
        let way = |motion: &Motion| motion.pose(1.0).translation() - motion.pose(0.0).translation();
        let moving = moving_box(convex, &own, &other, way(motions[1 - side]) - way(motions[side]), slack)?;
        let mut search = StraightSweep {
            mesh,
            side,
            shape,
            motions,
            tolerance: options.tolerance,
            slack,
            span,
            moving,
            open: BinaryHeap::new(),
            opened: 0,
            found: None,
            work: Counters::default(),
        };
        search.push(span[0], Open::Node(0));
        Some(search)
    }

    /// Goes on until the first contact is known or the budget ends; then calling again resumes.
    pub fn advance(&mut self, budget: &mut Budget) -> Sweep {
        while self.found.is_none() {
            let Some(entry) = self.open.pop() else { break };
            if !budget.draw(1) {
                let reached = entry.time;
                self.open.push(entry);
                return self.answer(reached, Finish::OutOfBudget);
            }
            match entry.what {
                Open::Node(node) => self.expand(node),
                Open::Triangle { triangle, steps } => self.follow(entry.time, triangle, steps),
            }
        }
        self.open.clear();
        self.answer(self.span[1], Finish::Complete)
    }

    fn push(&mut self, time: f64, what: Open) {
        if time <= self.span[1] {
            self.open.push(TimedEntry { time, number: self.opened, what });
            self.opened = self.opened.wrapping_add(1);
        }
    }

    fn expand(&mut self, node: u32) {
        let tree = self.mesh.tree();
        let (frame, node) = (tree.frame(), &tree.nodes()[node as usize]);
        for lane in node.used() {
            self.work.volume_tests += 1;
            let (centre, half) = node.lane(lane);
            let place = |x: [f32; 3]| DVec3::from(x.map(f64::from)) * frame.unit;
            let (centre, half) = (frame.centre + place(centre), place(half));
            let Some(time) = self.moving.meets_from(centre - half, centre + half, self.span) else {
                continue;
            };
            match node.child[lane].as_node() {
                Some(child) => self.push(time, Open::Node(child as u32)),
                None => {
                    for slot in node.child[lane].slots() {
                        let triangle = tree.order()[slot];
                        let bounds = Aabb::around_points(&self.mesh.mesh().corners(triangle));
                        if let Some(time) = self.moving.meets_from(bounds.low, bounds.high, self.span) {
                            self.push(time, Open::Triangle { triangle, steps: 0 });
                        }
                    }
                }
            }
        }
    }

    /// One step of a triangle.
    fn follow(&mut self, time: f64, triangle: u32, mut steps: u32) {
        self.work.primitive_tests += 1;
        let convex = Convex::Primitive(Primitive::Triangle { corners: self.mesh.mesh().corners(triangle) });
        let corners = Piece { convex, local: None };
        let pieces = if self.side == 0 { [&corners, &self.shape] } else { [&self.shape, &corners] };
        let gap = look(pieces, self.motions, time, self.span);
        let limits = [self.tolerance, self.slack];
        let Some(proved) = is_contact(pieces, self.motions, time, &gap, limits, &mut steps) else {
            self.push((time + gap.time).max(time.next_up()), Open::Triangle { triangle, steps });
            return;
        };
        let separation = gap.separation;
        let (mut features, mut triangles) = (separation.features, [None; 2]);
        features[self.side] = triangle_feature(self.mesh, triangle, features[self.side]);
        triangles[self.side] = Some(triangle);
        self.found = Some(Impact {
            time,
            kind: ContactKind::Shapes,
            features,
            triangles,
            point: separation.points[0].midpoint(separation.points[1]),
            normal: separation.normal,
            proved,
        });
    }

    fn answer(&self, reached: f64, finish: Finish) -> Sweep {
        let certainty = match (self.found, finish) {
            (None, Finish::Complete) => Certainty::Exact,
            _ => Certainty::Conservative { tolerance: self.tolerance },
        };
        let outcome = Outcome { certainty, finish, work: self.work };
        let free_until = self.found.map_or(reached, |impact| impact.time);
        Sweep { impact: self.found, free_until, slack: self.slack, outcome }
    }
}

/// The box around a convex shape in the frame of a mesh, grown by a length of the world; `None` where it has no end.
fn moving_box(convex: &Convex, own: &Pose, mesh: &Pose, way: DVec3, grown: f64) -> Option<MovingBox> {
    let back: DMat3 = mesh.matrix().inverse();
    let place = match convex {
        Convex::Primitive(Primitive::HalfSpace { .. }) => return None,
        Convex::Primitive(_) => own.rotation(),
        Convex::Polytope(_) => own.matrix(),
    };
    // The rows of the inverse are the directions that the mesh's axes measure.
    let rows = back.transpose();
    let farthest = |d: DVec3| d.dot(place * convex.support(place.transpose() * d));
    let along = |axis: usize| {
        let d = rows.col(axis);
        (-farthest(-d), farthest(d), norm(d) * grown)
    };
    let [x, y, z] = [along(0), along(1), along(2)];
    let (low, high) = (DVec3::new(x.0, y.0, z.0), DVec3::new(x.1, y.1, z.1));
    let centre = back * (own.translation() - mesh.translation()) + low.midpoint(high);
    let half = 0.5 * (high - low) + DVec3::new(x.2, y.2, z.2);
    (centre.is_finite() && half.is_finite()).then(|| MovingBox { centre, way: back * way, half })
}
