//! When any two moving shapes first touch.
//!
//! Two meshes go to [`super::mesh_sweep`]. Everything else is a search over pairs of convex pieces, the pair that
//! can meet earliest first (`piece_tree`). Convex shapes are solid, meshes are surfaces: a mesh inside a box
//! touches it, a box inside a mesh does not.

use std::collections::BinaryHeap;

use super::answer::{ContactKind, Impact, Sweep, SweepOptions};
use super::convex_pair::{Gap, Piece, look, noise};
use super::earliness::{MOST_STEPS, earliness};
use super::local_frame::LocalFrame;
use super::mesh_sweep::{MeshSweep, SweepMemory};
use super::motion_spans::spans;
use super::pass_through::passes_through;
use super::piece_tree::{Branch, Inner, PieceTree, triangle_feature};
use super::straight_pass::StraightPass;
use super::time_queue::TimedEntry;
use crate::contact::Verdict;
use crate::geom::point_triangle::norm;
use crate::model::Geometry;
use crate::motion::{Ball, Motion, RelativeDrift};
use crate::num::tolerance::{CURVED_TOUCH, SWEEP_SLACK};
use crate::shape::{Convex, Primitive};
use crate::{Budget, Counters, Feature, Finish, Pose};

#[cfg(any(test, feature = "unstable"))]
/// The first contact of two moving shapes of any kind.
///
/// ```
/// use impinge::narrow::continuous::{SweepOptions, shape_sweep::sweep};
/// use impinge::model::Geometry;
/// use impinge::shape::Primitive;
/// use impinge::{Motion, Pose};
///
/// let ball = Geometry::from(Primitive::sphere(0.5)?);
/// let wall = Geometry::from(Primitive::cuboid([0.01, 5.0, 5.0])?);
/// let at = |x: f64| Pose::from_translation([x, 0.0, 0.0]);
/// let flight = Motion::between(&at(-10.0)?, &at(10.0)?);
/// let found = sweep([&ball, &wall], [&flight, &Motion::Still(Pose::IDENTITY)], &SweepOptions::DEFAULT);
/// assert!((found.impact.unwrap().time - 9.49 / 20.0).abs() < 1e-6);
/// # Ok::<(), impinge::Error>(())
/// ```
pub fn sweep(shapes: [&Geometry; 2], motions: [&Motion; 2], options: &SweepOptions) -> Sweep {
    let budget = &mut Budget::UNLIMITED.clone();
    sweep_within(shapes, motions, options, &mut SweepMemory::default(), budget)
}

/// As [`sweep`], with what the last call about these shapes left, under a budget.
pub fn sweep_within(
    shapes: [&Geometry; 2],
    motions: [&Motion; 2],
    options: &SweepOptions,
    memory: &mut SweepMemory,
    budget: &mut Budget,
) -> Sweep {
    let balls = shapes.map(|shape| PieceTree::new(shape).root().piece.ball());
    let frame = LocalFrame::of([&balls[0], &balls[1]], motions);
    let local = frame.map(|frame| motions.map(|motion| frame.motion(motion)));
    let motions = local.as_ref().map_or(motions, |local| [&local[0], &local[1]]);
    let mut search = ShapeSweep::new(shapes, motions, options);
    search.recall(memory);
    loop {
        let in_world = |found: Sweep| frame.map_or(found, |frame| frame.back(found));
        let found = in_world(search.advance_telling(budget, &in_world));
        let told = || Verdict::from(found);
        if found.outcome.finish != Finish::OutOfBudget || !budget.rest(told) {
            memory.keep(&found);
            return found;
        }
    }
}

/// How near surfaces may come without a contact in a sweep of these shapes (a length in the world).
pub(crate) fn slack(shapes: [&Geometry; 2], motions: [&Motion; 2], options: &SweepOptions) -> f64 {
    let balls = shapes.map(|shape| PieceTree::new(shape).root().piece.ball());
    let frame = LocalFrame::of([&balls[0], &balls[1]], motions);
    let local = frame.map(|frame| motions.map(|motion| frame.motion(motion)));
    let motions = local.as_ref().map_or(motions, |local| [&local[0], &local[1]]);
    match &ShapeSweep::new(shapes, motions, options).0 {
        Search::Meshes(search) => search.slack(),
        Search::Pieces(search) => search.slack,
    }
}

/// A sweep of two shapes of any kind that can be interrupted and resumed.
#[derive(Debug, Clone)]
pub struct ShapeSweep<'s>(Search<'s>);

#[derive(Debug, Clone)]
enum Search<'s> {
    Meshes(Box<MeshSweep<'s>>),
    Pieces(Box<PieceSweep<'s>>),
}

impl<'s> ShapeSweep<'s> {
    /// A sweep over the whole step.
    pub fn new(
        shapes: [&'s Geometry; 2],
        motions: [&'s Motion; 2],
        options: &SweepOptions,
    ) -> ShapeSweep<'s> {
        ShapeSweep(match shapes {
            [Geometry::Mesh(a), Geometry::Mesh(b)] => {
                Search::Meshes(Box::new(MeshSweep::new([a, b], motions, options)))
            }
            _ => Search::Pieces(Box::new(PieceSweep::new(shapes, motions, options))),
        })
    }

    /// Looks first at what touched the last time; only meshes remember anything.
    pub fn recall(&mut self, memory: &SweepMemory) {
        if let Search::Meshes(search) = &mut self.0 {
            search.recall(memory);
        }
    }

    /// Goes on until the first contact is known or the budget ends; then calling again resumes. What is known before
    /// something long, in which the budget may end, is left in the words of the caller.
    fn advance_telling(&mut self, budget: &mut Budget, told: &dyn Fn(Sweep) -> Sweep) -> Sweep {
        match &mut self.0 {
            Search::Meshes(search) => search.advance_telling(budget, told),
            Search::Pieces(search) => search.advance(budget),
        }
    }
}

/// A search over pairs of pieces.
#[derive(Debug, Clone)]
struct PieceSweep<'s> {
    shapes: [&'s Geometry; 2],
    trees: [PieceTree<'s>; 2],
    motions: [&'s Motion; 2],
    tolerance: f64,
    /// How much before a true contact the one that was found may be.
    early: f64,
    balls: [Ball; 2],
    /// How large the bodies are together, and how far apart at the start.
    size: f64,
    /// The slack, but for rounding.
    wanted_slack: f64,
    slack: f64,
    spans: Vec<[f64; 2]>,
    /// Where the search ends.
    until: f64,
    span: [f64; 2],
    /// What the bodies do against each other, where that is little, in the span.
    drift: Option<RelativeDrift>,
    /// A convex shape that goes straight past a mesh.
    pass: Option<StraightPass>,
    open: BinaryHeap<TimedEntry<BranchPair>>,
    opened: u32,
    found: Option<Impact>,
    work: Counters,
}

/// Two nodes or pieces, and the steps they made: below the slack, or one that won time.
#[derive(Debug, Clone)]
struct BranchPair {
    /// When to look at them; what they wait for may be later.
    from: f64,
    steps: u32,
    branches: [Branch; 2],
}

impl<'s> PieceSweep<'s> {
    fn new(shapes: [&'s Geometry; 2], motions: [&'s Motion; 2], options: &SweepOptions) -> PieceSweep<'s> {
        let trees = shapes.map(PieceTree::new);
        let balls = [0, 1].map(|k| trees[k].root().piece.ball());
        let poses = motions.map(|motion| motion.pose(0.0));
        let places = [0, 1].map(|k| poses[k].apply(balls[k].centre));
        let size = balls[0].radius + balls[1].radius + norm(places[1] - places[0]);
        let wanted_slack = options.slack.unwrap_or(size * SWEEP_SLACK);
        let spans = spans(motions, [&balls[0], &balls[1]], options.from, options.until);
        PieceSweep {
            shapes,
            trees,
            motions,
            tolerance: options.tolerance,
            early: options.tolerance,
            balls,
            size,
            wanted_slack,
            slack: wanted_slack.max(least_slack(&balls, motions, 1.0)),
            spans,
            until: options.until,
            span: [0.0; 2],
            drift: None,
            pass: None,
            open: BinaryHeap::new(),
            opened: 0,
            found: None,
            work: Counters::default(),
        }
    }

    fn advance(&mut self, budget: &mut Budget) -> Sweep {
        while self.found.is_none() {
            let Some(entry) = self.open.pop().or_else(|| self.next_span()) else { break };
            if !budget.draw(1) {
                let reached = entry.time;
                self.open.push(entry);
                return self.answer(reached, Finish::OutOfBudget);
            }
            self.visit(entry.what);
        }
        self.open.clear();
        self.answer(self.until, Finish::Complete)
    }

    fn next_span(&mut self) -> Option<TimedEntry<BranchPair>> {
        self.span = self.spans.pop()?;
        let noise = least_slack(&self.balls, self.motions, self.span[1]);
        self.slack = self.wanted_slack.max(noise);
        // A half-space has points at any distance.
        let balls = [0, 1].map(|k| match self.shapes[k] {
            Geometry::Convex(Convex::Primitive(Primitive::HalfSpace { .. })) => {
                Ball { radius: f64::INFINITY, ..self.balls[k] }
            }
            _ => self.balls[k],
        });
        // The distance of curved pieces is known to no more digits.
        let doubt = noise + CURVED_TOUCH * self.size;
        self.drift = RelativeDrift::of(self.motions, [&balls[0], &balls[1]], doubt);
        self.pass = match self.trees {
            [PieceTree::One(shape), PieceTree::Mesh(_)] => {
                StraightPass::new(shape, self.motions[0], self.motions[1], self.slack)
            }
            [PieceTree::Mesh(_), PieceTree::One(shape)] => {
                StraightPass::new(shape, self.motions[1], self.motions[0], self.slack)
            }
            _ => None,
        };
        let branches = [self.trees[0].root(), self.trees[1].root()];
        let what = BranchPair { from: self.span[0], steps: 0, branches };
        Some(TimedEntry { time: self.span[0], number: 0, what })
    }

    /// Waits until a time before which the pair does not meet, or until it is to be looked at.
    fn push(&mut self, earliest: f64, what: BranchPair) {
        let time = what.from.max(earliest);
        if time <= self.span[1] {
            self.open.push(TimedEntry { time, number: self.opened, what });
            self.opened = self.opened.wrapping_add(1);
        }
    }

    /// Looks at a pair when its time has come.
    fn visit(&mut self, mut pair: BranchPair) {
        let time = pair.from;
        let pieces = [0, 1].map(|k: usize| &*pair.branches[k].piece);
        let mut gap = look(pieces, self.motions, time, self.span);
        let still = self.drift.map_or(0.0, |drift| drift.lasts(gap.separation.distance));
        gap.time = gap.time.max(still);
        if pair.branches.iter().all(|branch| matches!(branch.below, Inner::Leaf(_))) {
            self.work.primitive_tests += 1;
            self.found = self.touches(time, &mut pair, &gap);
            if let Some(impact) = self.found.filter(|impact| !impact.proved) {
                let (early, proved) = self.earliness(&pair, time);
                self.early = self.tolerance.max(early);
                self.found = Some(Impact { proved, ..impact });
            }
            if self.found.is_none() {
                pair.from = (time + gap.time).max(time.next_up());
                self.push(0.0, pair);
            }
            return;
        }
        self.work.volume_tests += 1;
        if gap.time > 0.0 && pair.steps == 0 {
            self.push(0.0, BranchPair { from: time + gap.time, steps: 1, ..pair });
        } else {
            self.open(time + gap.time, &pair.branches);
        }
    }

    /// Goes down in the larger of the two.
    fn open(&mut self, time: f64, pair: &[Branch; 2]) {
        let [a, b] = pair;
        let leaf = |branch: &Branch| matches!(branch.below, Inner::Leaf(_));
        let side = if leaf(a) {
            1
        } else if leaf(b) {
            0
        } else {
            usize::from(b.size > a.size)
        };
        for (earliest, child) in self.trees[side].children(&pair[side], self.pass.as_ref()) {
            let mut branches = pair.clone();
            branches[side] = child;
            // A contact may be told that much too early.
            let earliest = earliest - 2.0 * self.tolerance;
            self.push(earliest, BranchPair { from: time, steps: 0, branches });
        }
    }

    /// How early the contact of two leaves may be that rounding hides, and whether there is one within the tolerance.
    fn earliness(&self, pair: &BranchPair, time: f64) -> (f64, bool) {
        let speed: f64 = [0, 1].map(|k| self.motions[k].speed(&self.balls[k], self.span)).iter().sum();
        let noise = least_slack(&self.balls, self.motions, self.span[1]);
        if self.pass_through(pair, time, speed, noise) {
            return (0.0, true);
        }
        let (early, met) =
            earliness(time, (noise / speed).min(self.tolerance), self.until, |t| self.meet(pair, t));
        (early, met && early <= self.tolerance)
    }

    /// Whether two leaves without thickness, which meet at an instant only, pass through each other at about a time.
    fn pass_through(&self, pair: &BranchPair, time: f64, speed: f64, noise: f64) -> bool {
        let pieces = [0, 1].map(|k: usize| &*pair.branches[k].piece);
        let flat = pieces.map(Piece::flat_triangles);
        let around = [(time - self.tolerance).max(self.span[0]), (time + self.tolerance).min(self.span[1])];
        let poses = around.map(|t| [0, 1].map(|k| pieces[k].pose(self.motions[k], t)));
        let moved = speed * (around[1] - around[0]);
        flat[0].iter().any(|a| {
            flat[1].iter().any(|b| {
                let placed = |[p, q]: &[Pose; 2]| [a.map(|x| p.apply(x)), b.map(|x| q.apply(x))];
                passes_through(poses.each_ref().map(placed), moved, noise)
            })
        })
    }

    /// Whether two pieces meet at a time.
    fn meet(&self, pair: &BranchPair, t: f64) -> bool {
        let pieces = [0, 1].map(|k: usize| &*pair.branches[k].piece);
        look(pieces, self.motions, t, [t, t]).separation.distance <= 0.0
    }

    /// The contact of two leaves, if there is one now or within the tolerance.
    fn touches(&self, time: f64, pair: &mut BranchPair, gap: &Gap) -> Option<Impact> {
        let near = gap.separation.distance <= self.slack;
        let idle = time + gap.time <= time;
        let mut proved = gap.separation.distance <= 0.0;
        if !proved && (idle || gap.time <= 0.5 * self.tolerance) {
            proved = self.meet(pair, (time + self.tolerance).min(1.0));
        }
        if !proved {
            pair.steps += u32::from(near || idle);
            if !(idle && near) && pair.steps < MOST_STEPS {
                return None;
            }
        }
        let (separation, branches) = (gap.separation, &pair.branches);
        let triangle = |k: usize| match (self.shapes[k], branches[k].below) {
            (Geometry::Mesh(_), Inner::Leaf(t)) => t,
            _ => None,
        };
        let named = |k: usize| match (self.trees[k], branches[k].below) {
            (PieceTree::Mesh(model), Inner::Leaf(Some(t))) => {
                triangle_feature(model, t, separation.features[k])
            }
            (PieceTree::Cloud(_), Inner::Leaf(Some(i))) => Feature::Vertex(i),
            _ => separation.features[k],
        };
        Some(Impact {
            time,
            kind: ContactKind::Shapes,
            features: [named(0), named(1)],
            triangles: [triangle(0), triangle(1)],
            point: separation.points[0].midpoint(separation.points[1]),
            normal: separation.normal,
            proved,
        })
    }
    fn answer(&self, reached: f64, finish: Finish) -> Sweep {
        Sweep::told(self.found, reached, [self.slack, self.early], finish, self.work)
    }
}

/// The smallest slack that rounding allows up to a time, for bodies within balls.
fn least_slack(balls: &[Ball; 2], motions: [&Motion; 2], until: f64) -> f64 {
    let noise = |k: usize| {
        let pose = motions[k].pose(0.0);
        noise(&balls[k], motions[k], until, &pose, pose.apply(balls[k].centre))
    };
    2.0 * (noise(0) + noise(1))
}

#[cfg(test)]
#[path = "shape_sweep_tests.rs"]
mod tests;
