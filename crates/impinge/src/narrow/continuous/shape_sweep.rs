//! When any two moving shapes first touch.
//!
//! Two meshes go to [`super::mesh_sweep`]. Everything else is a search over pairs of convex pieces, the pair that
//! can meet earliest first: a convex shape is one piece, a compound a tree of boxes over its parts, a mesh the
//! boxes of its tree over its triangles, a cloud the balls of its tree over its particles. Convex shapes are solid, meshes are surfaces: a mesh inside a box
//! touches it, a box inside a mesh does not.

use std::collections::BinaryHeap;
use std::sync::Arc;

use glam::DVec3;

use super::answer::{ContactKind, Impact, Sweep, SweepOptions};
use super::convex_pair::{Gap, Piece, look, noise};
use super::earliness::earliness;
use super::local_frame::LocalFrame;
use super::mesh_sweep::{MeshSweep, SweepMemory};
use super::motion_spans::spans;
use super::pass_through::passes_through;
use super::straight_pass::StraightPass;
use super::time_queue::TimedEntry;
use crate::contact::Verdict;
use crate::geom::point_triangle::norm;
use crate::hierarchy::particle_tree::ParticleTree;
use crate::hierarchy::wide::Child;
use crate::model::{CompoundChild, Geometry, Model};
use crate::motion::{Ball, Motion, RelativeDrift};
use crate::num::tolerance::{CURVED_TOUCH, ROUND_UP, SWEEP_SLACK};
use crate::shape::{Convex, Primitive};
use crate::{Budget, Certainty, Counters, Feature, Finish, Outcome, Pose};

/// Steps of one pair of pieces whose gap stays below the slack before they count as touching.
const MOST_STEPS: u32 = 4096;

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
    let balls = shapes.map(|shape| Tree::new(shape).root().piece.ball());
    let frame = LocalFrame::of([&balls[0], &balls[1]], motions);
    let local = frame.map(|frame| motions.map(|motion| frame.motion(motion)));
    let motions = local.as_ref().map_or(motions, |local| [&local[0], &local[1]]);
    let mut search = ShapeSweep::new(shapes, motions, options);
    search.recall(memory);
    loop {
        let found = search.advance(budget);
        let found = frame.map_or(found, |frame| frame.back(found));
        let told = || Verdict::from(found);
        if found.outcome.finish != Finish::OutOfBudget || !budget.rest(told) {
            memory.keep(&found);
            return found;
        }
    }
}

/// How near surfaces may come without a contact in a sweep of these shapes (a length in the world).
pub(crate) fn slack(shapes: [&Geometry; 2], motions: [&Motion; 2], options: &SweepOptions) -> f64 {
    let balls = shapes.map(|shape| Tree::new(shape).root().piece.ball());
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

    /// Goes on until the first contact is known or the budget ends; then calling again resumes.
    pub fn advance(&mut self, budget: &mut Budget) -> Sweep {
        match &mut self.0 {
            Search::Meshes(search) => search.advance(budget),
            Search::Pieces(search) => search.advance(budget),
        }
    }
}

/// A shape as a tree of convex pieces.
#[derive(Debug, Clone, Copy)]
enum Tree<'s> {
    One(&'s Convex),
    Parts(&'s crate::model::Compound),
    Mesh(&'s Model),
    Cloud(&'s ParticleTree),
}

/// A node of such a tree.
#[derive(Debug, Clone)]
struct Branch {
    piece: Arc<Piece>,
    /// What lies below a box.
    below: Inner,
    /// Half the diagonal of the box; the larger of two is opened first.
    size: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inner {
    /// Nothing: the piece is the shape, a part, a triangle or a particle (its number).
    Leaf(Option<u32>),
    /// Two nodes of a compound, from this one.
    Part(u32),
    /// The children of a mesh's node.
    Node(u32),
    /// The triangles of a mesh's leaf.
    Slots(Child),
    /// What lies below a node of a cloud.
    Particles(u32),
}

/// A search over pairs of pieces.
#[derive(Debug, Clone)]
struct PieceSweep<'s> {
    shapes: [&'s Geometry; 2],
    trees: [Tree<'s>; 2],
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

impl<'s> Tree<'s> {
    fn new(shape: &'s Geometry) -> Tree<'s> {
        match shape {
            Geometry::Mesh(model) => Tree::Mesh(model),
            Geometry::Convex(convex) => Tree::One(convex),
            Geometry::Compound(compound) => Tree::Parts(compound),
            Geometry::Particles(cloud) => Tree::Cloud(cloud.tree()),
        }
    }

    fn root(&self) -> Branch {
        match self {
            Tree::One(convex) => {
                let piece = Arc::new(Piece { convex: (*convex).clone(), local: None });
                Branch { piece, below: Inner::Leaf(None), size: 0.0 }
            }
            Tree::Parts(_) => self.part(0),
            Tree::Mesh(model) => {
                let frame = model.tree().frame();
                let [low, high] = model.tree().bounds().map(|corner| corner.as_dvec3() * frame.unit);
                boxed(frame.centre + 0.5 * (low + high), 0.5 * (high - low), Inner::Node(0))
            }
            Tree::Cloud(tree) => some_particles(tree, 0),
        }
    }

    /// A node of a compound: a part, or the box over some.
    fn part(&self, at: u32) -> Branch {
        let Tree::Parts(compound) = self else { return self.root() };
        let node = &compound.nodes()[at as usize];
        match node.below {
            CompoundChild::Two(_) => boxed(node.bounds.centre(), node.bounds.half(), Inner::Part(at)),
            CompoundChild::Part(i) => {
                let part = &compound.parts()[i as usize];
                let Geometry::Convex(convex) = &part.shape else {
                    return boxed(node.bounds.centre(), node.bounds.half(), Inner::Leaf(Some(i)));
                };
                let piece = Arc::new(Piece { convex: convex.clone(), local: Some(part.pose) });
                Branch { piece, below: Inner::Leaf(Some(i)), size: 0.0 }
            }
        }
    }

    /// What lies below, and times before which the other shape, if it passes straight, does not meet it; without what it
    /// never meets.
    fn children(&self, branch: &Branch, pass: Option<&StraightPass>) -> Vec<(f64, Branch)> {
        let any_time = |branches: Vec<Branch>| branches.into_iter().map(|branch| (0.0, branch)).collect();
        match (self, branch.below) {
            (Tree::Parts(compound), Inner::Part(at)) => match compound.nodes()[at as usize].below {
                CompoundChild::Two(right) => any_time(vec![self.part(at + 1), self.part(right)]),
                CompoundChild::Part(_) => any_time(vec![self.part(at)]),
            },
            (Tree::Mesh(model), Inner::Node(at)) => {
                let (frame, node) = (model.tree().frame(), &model.tree().nodes()[at as usize]);
                let child = |lane: usize| {
                    let (centre, half) = node.lane(lane);
                    let place = |x: [f32; 3]| DVec3::from(x.map(f64::from)) * frame.unit;
                    let (centre, half) = (frame.centre + place(centre), place(half));
                    let time = pass.map_or(0.0, |pass| pass.box_time(centre, half));
                    let below = node.child[lane]
                        .as_node()
                        .map_or(Inner::Slots(node.child[lane]), |n| Inner::Node(n as u32));
                    (time < f64::INFINITY).then(|| (time, boxed(centre, half, below)))
                };
                node.used().filter_map(child).collect()
            }
            (Tree::Mesh(model), Inner::Slots(child)) => {
                let triangle = |slot: usize| {
                    let t = model.tree().order()[slot];
                    let corners = model.mesh().corners(t);
                    let time = pass.map_or(0.0, |pass| pass.triangle_time(&corners));
                    (time < f64::INFINITY).then(|| {
                        let convex = Convex::Primitive(Primitive::Triangle { corners });
                        let piece = Arc::new(Piece { convex, local: None });
                        (time, Branch { piece, below: Inner::Leaf(Some(t)), size: 0.0 })
                    })
                };
                child.slots().filter_map(triangle).collect()
            }
            (Tree::Cloud(tree), Inner::Particles(at)) => match tree.children(at) {
                Some(two) => any_time(two.into_iter().map(|at| some_particles(tree, at)).collect()),
                None => {
                    any_time(tree.nodes()[at as usize].slots().map(|slot| particle(tree, slot)).collect())
                }
            },
            _ => Vec::new(),
        }
    }
}

/// A ball around the particles below a node of a cloud.
fn some_particles(tree: &ParticleTree, at: u32) -> Branch {
    let node = &tree.nodes()[at as usize];
    let size = (node.reach + node.largest) * ROUND_UP;
    round(node.centre, size, Inner::Particles(at), size)
}

fn particle(tree: &ParticleTree, slot: usize) -> Branch {
    let number = Inner::Leaf(Some(tree.particle(slot)));
    round(tree.points()[slot], tree.radii()[slot], number, 0.0)
}

/// A ball of the body's frame; without a radius a point.
fn round(centre: DVec3, radius: f64, below: Inner, size: f64) -> Branch {
    let convex = Convex::Primitive(if radius > 0.0 {
        Primitive::Sphere { radius }
    } else {
        Primitive::Segment { ends: [DVec3::ZERO; 2] }
    });
    let piece = Arc::new(Piece { convex, local: Some(Pose::shift(centre)) });
    Branch { piece, below, size }
}

/// A box of the body's frame.
fn boxed(centre: DVec3, half: DVec3, below: Inner) -> Branch {
    // A flat box is made a little thick: a box needs sides.
    let size = norm(half);
    let half = half.max(DVec3::splat(size * CURVED_TOUCH + f64::MIN_POSITIVE));
    let convex = Convex::Primitive(Primitive::Cuboid { half });
    let piece = Arc::new(Piece { convex, local: Some(Pose::shift(centre)) });
    Branch { piece, below, size }
}

impl<'s> PieceSweep<'s> {
    fn new(shapes: [&'s Geometry; 2], motions: [&'s Motion; 2], options: &SweepOptions) -> PieceSweep<'s> {
        let trees = shapes.map(Tree::new);
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
            [Tree::One(shape), Tree::Mesh(_)] => {
                StraightPass::new(shape, self.motions[0], self.motions[1], self.slack)
            }
            [Tree::Mesh(_), Tree::One(shape)] => {
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
            (Tree::Mesh(model), Inner::Leaf(Some(t))) => triangle_feature(model, t, separation.features[k]),
            (Tree::Cloud(_), Inner::Leaf(Some(i))) => Feature::Vertex(i),
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
        let certainty = match (self.found, finish) {
            (None, Finish::Complete) => Certainty::Exact,
            _ => Certainty::Conservative { tolerance: self.early },
        };
        let outcome = Outcome { certainty, finish, work: self.work };
        let free_until = self.found.map_or(reached, |impact| impact.time);
        Sweep { impact: self.found, free_until, slack: self.slack, outcome }
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

/// A feature of a triangle as one of its mesh.
fn triangle_feature(model: &Model, triangle: u32, feature: Feature) -> Feature {
    let corners = model.mesh().triangles()[triangle as usize];
    match feature {
        Feature::Vertex(i) => {
            corners.get(i as usize).map_or(Feature::Face(triangle), |&v| Feature::Vertex(v))
        }
        Feature::Edge([i, j]) => match (corners.get(i as usize), corners.get(j as usize)) {
            (Some(&v), Some(&w)) => Feature::Edge([v.min(w), v.max(w)]),
            _ => Feature::Face(triangle),
        },
        _ => Feature::Face(triangle),
    }
}

#[cfg(test)]
#[path = "shape_sweep_tests.rs"]
mod tests;
