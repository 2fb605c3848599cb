//! The smallest distance of two placed meshes, with the nearest points and what they lie on.
//!
//! The plan of Larsen, Gottschalk, Lin and Manocha (1999), two trees at once with the best distance so
//! far as the limit, but with three changes. A first guess comes from one greedy descent, polished by
//! alternating closest-point queries (von Neumann's projections), and polished again whenever the search
//! finds something clearly nearer: most of the work of a distance query is done under a bad limit. Sixty-
//! four pairs of boxes are measured at once. And triangle pairs are refused by their boxes in a frame
//! whose third axis is the direction of the best pair so far, along which near triangles are thin.
//!
//! Whether the surfaces meet is decided exactly. All pairs at the smallest distance are looked at and the
//! smallest indices win, so the answer depends neither on the memory nor on the order of the search.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use glam::DVec3;
use smallvec::SmallVec;

use super::aligned_frame::{AlignedFrame, Leaf};
use super::closest_point::{NearestTriangle, Search, feature};
use crate::contact::{Feature, Verdict};
use crate::geom::common_point::common_point;
use crate::geom::point_triangle::{TriangleFeature, norm};
use crate::geom::{triangle_distance, triangle_triangle};
use crate::hierarchy::box_distance::{BoxDistance, Gaps, gaps, nearest_centres};
use crate::hierarchy::dual::{DualSearch, LeafPairs};
use crate::hierarchy::point_tree::Room;
use crate::hierarchy::relative::Relative;
use crate::hierarchy::wide::{Node, WIDTH};
use crate::model::Model;
use crate::num::each::Each;
#[cfg(any(test, feature = "unstable"))]
use crate::num::parallel;
use crate::simd::SimdLevel;
use crate::{Budget, Certainty, Counters, Finish, Outcome, Pose, Separation};

/// A round of polishing that leaves more than this part of the distance is the last (no unit).
const POLISHED: f64 = 0.95;

/// The smallest distance of two surfaces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distance {
    /// The distance of the points; 0 exactly when the surfaces meet.
    pub distance: f64,
    /// What is certain: the true distance is not below this. Equal to `distance` after a complete search.
    pub at_least: f64,
    /// One point on each surface, in the world.
    pub points: [DVec3; 2],
    /// What each point lies on.
    pub features: [Feature; 2],
    /// The triangle each point lies on.
    pub triangles: [u32; 2],
    /// How the search ended and what it cost; when the budget ended, the tolerance is
    /// `distance − at_least`, by which the distance may be too large.
    pub outcome: Outcome,
}

impl Distance {
    /// The answer about two surfaces; none before anything was measured.
    pub(crate) fn verdict(&self) -> Verdict<Separation> {
        let way = self.points[1] - self.points[0];
        let normal = if way == DVec3::ZERO || self.distance <= 0.0 { DVec3::ZERO } else { way / norm(way) };
        let Distance { distance, points, features, outcome, .. } = *self;
        if !distance.is_finite() {
            return Verdict::new(None, outcome);
        }
        Verdict::by_finish(Separation { distance, points, features, normal }, outcome)
    }

    /// What is certain when everything that was not looked at is at least as far as `open`.
    pub(super) fn bracketed(self, open: f64) -> Distance {
        if self.outcome.finish == Finish::Complete {
            return Distance { at_least: self.distance, ..self };
        }
        let at_least = open.min(self.distance);
        let certainty = Certainty::Conservative { tolerance: self.distance - at_least };
        Distance { at_least, outcome: Outcome { certainty, ..self.outcome }, ..self }
    }
}

/// What a pair of bodies remembers from its last distance query; forgetting it costs only time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DistanceMemory {
    triangles: Option<[u32; 2]>,
}

impl DistanceMemory {
    /// What to remember of an answer.
    pub fn after(found: &Distance) -> DistanceMemory {
        DistanceMemory { triangles: Some(found.triangles) }
    }
}

#[cfg(any(test, feature = "unstable"))]
/// The smallest distance of two placed meshes.
///
/// ```
/// # use impinge::{model::Model, Pose, shape::procedural, narrow::exact::distance::distance};
/// let ball = Model::from(procedural::ico_sphere(1.0, 3)?);
/// let away = Pose::from_translation([3.0, 0.0, 0.0])?;
/// let gap = distance(&ball, &Pose::IDENTITY, &ball, &away);
/// assert!((gap.distance - 1.0).abs() < 0.01 && gap.points[0].x < gap.points[1].x);
/// # Ok::<(), impinge::Error>(())
/// ```
pub fn distance(a: &Model, pose_a: &Pose, b: &Model, pose_b: &Pose) -> Distance {
    DistanceSearch::new(a, pose_a, b, pose_b).advance(&mut Budget::UNLIMITED.clone())
}

#[cfg(any(test, feature = "unstable"))]
/// As [`distance`], starting from the nearest triangles of the last call and leaving those of this one.
pub fn distance_again(
    a: &Model,
    pose_a: &Pose,
    b: &Model,
    pose_b: &Pose,
    memory: &mut DistanceMemory,
) -> Distance {
    let mut search = DistanceSearch::from_memory(a, pose_a, b, pose_b, memory);
    let found = search.advance(&mut Budget::UNLIMITED.clone());
    *memory = DistanceMemory::after(&found);
    found
}

#[cfg(any(test, feature = "unstable"))]
/// [`distance`] for many placements of the same two meshes, in parallel.
pub fn distances(a: &Model, b: &Model, poses: &[[Pose; 2]]) -> Vec<Distance> {
    parallel::map(poses.len(), |k| distance(a, &poses[k][0], b, &poses[k][1]))
}

/// A distance query that can be interrupted and resumed.
#[derive(Debug, Clone)]
pub struct DistanceSearch<'m> {
    models: [&'m Model; 2],
    poses: [Pose; 2],
    box_distance: BoxDistance,
    level: SimdLevel,
    /// Everything that was not looked at yet; the nearest is on top.
    open: BinaryHeap<Entry>,
    /// How many pairs of nodes were ever put there.
    opened: u32,
    begun: bool,
    /// Whether the first distance was polished.
    polished: bool,
    memory: Option<[u32; 2]>,
    best: Best,
    /// The largest squared gap that can still matter: that of the best distance.
    limit: f32,
    meets: bool,
    /// The search for the first pair that meets, once it is known that some do.
    meeting: Option<DualSearch>,
    view: AlignedFrame,
    leaves: [Leaf; 2],
    work: Counters,
}

/// A pair of nodes, the lanes of each to look at, and the squared gap of their boxes.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    gap: f32,
    number: u32,
    node: [u32; 2],
    lanes: [u8; 2],
}

impl Entry {
    const ROOTS: Entry = Entry { gap: 0.0, number: 0, node: [0; 2], lanes: [u8::MAX; 2] };
}

impl Eq for Entry {}

impl Ord for Entry {
    /// The nearer is greater; of equally near ones the later, which lies deeper.
    fn cmp(&self, other: &Entry) -> Ordering {
        other.gap.total_cmp(&self.gap).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Best {
    distance: f64,
    triangles: [u32; 2],
    points: [DVec3; 2],
    parts: [TriangleFeature; 2],
}

impl<'m> DistanceSearch<'m> {
    /// A search without a guess.
    pub fn new(a: &'m Model, pose_a: &Pose, b: &'m Model, pose_b: &Pose) -> DistanceSearch<'m> {
        let poses = [*pose_a, *pose_b];
        let open = BinaryHeap::from([Entry::ROOTS]);
        DistanceSearch {
            models: [a, b],
            poses,
            box_distance: BoxDistance::new(a.tree(), pose_a, b.tree(), pose_b),
            level: SimdLevel::best(),
            open,
            opened: 1,
            begun: false,
            polished: false,
            memory: None,
            best: Best {
                distance: f64::INFINITY,
                triangles: [u32::MAX; 2],
                points: [DVec3::ZERO; 2],
                parts: [TriangleFeature::Inside; 2],
            },
            limit: f32::MAX,
            meets: false,
            meeting: None,
            view: AlignedFrame::new([a, b], &poses),
            leaves: [Leaf::default(), Leaf::default()],
            work: Counters::default(),
        }
    }

    /// A search that begins with the nearest triangles of an earlier one.
    pub fn from_memory(
        a: &'m Model,
        pose_a: &Pose,
        b: &'m Model,
        pose_b: &Pose,
        memory: &DistanceMemory,
    ) -> DistanceSearch<'m> {
        // Memory of other meshes may be out of range; it is only a guess.
        let known = memory.triangles.filter(|t| {
            (t[0] as usize) < a.mesh().triangles().len() && (t[1] as usize) < b.mesh().triangles().len()
        });
        DistanceSearch { memory: known, ..DistanceSearch::new(a, pose_a, b, pose_b) }
    }

    /// Goes on until the distance is known or the budget ends; then calling again resumes.
    pub fn advance(&mut self, budget: &mut Budget) -> Distance {
        if !self.begun {
            self.begun = true;
            self.guess();
            budget.draw(self.tests());
        }
        if !self.polished {
            if !budget.draw(0) {
                return self.answer(Finish::OutOfBudget);
            }
            self.polished = true;
            let before = self.tests();
            self.polish();
            budget.draw(self.tests() - before);
        }
        let limited = !budget.is_unlimited();
        while let Some(&entry) = self.open.peek() {
            if self.meets || entry.gap > self.limit {
                break;
            }
            if limited && !budget.draw((WIDTH * WIDTH) as u64) {
                return self.answer(Finish::OutOfBudget);
            }
            self.open.pop();
            let before = self.tests() + (WIDTH * WIDTH) as u64;
            self.expand(entry);
            if limited {
                budget.draw(self.tests().saturating_sub(before));
            }
        }
        if self.meets && self.best.distance > 0.0 && self.settle_meeting(budget) == Finish::OutOfBudget {
            return self.answer(Finish::OutOfBudget);
        }
        self.open.clear();
        self.answer(Finish::Complete)
    }

    fn tests(&self) -> u64 {
        self.work.volume_tests + self.work.primitive_tests
    }

    /// A first distance: the remembered pair, or one descent to the pair of boxes that looks nearest.
    fn guess(&mut self) {
        match self.memory {
            Some([a, b]) => self.look_at(a, b),
            None => self.descend(),
        }
    }

    fn descend(&mut self) {
        let mut entry = Entry::ROOTS;
        loop {
            let [x, y] = self.nodes(&entry);
            let (i, j) = nearest_centres(x, entry.lanes[0], y, entry.lanes[1], &self.box_distance);
            self.work.volume_tests += (WIDTH * WIDTH) as u64;
            let children = [x.child[i].as_node(), y.child[j].as_node()];
            if children == [None; 2] {
                let (a, b) = (x.child[i].slots().start, y.child[j].slots().start);
                self.look_at(self.models[0].tree().order()[a], self.models[1].tree().order()[b]);
                return;
            }
            for (side, (child, lane)) in children.into_iter().zip([i, j]).enumerate() {
                match child {
                    Some(child) => (entry.node[side], entry.lanes[side]) = (child as u32, u8::MAX),
                    None => entry.lanes[side] = 1 << lane,
                }
            }
        }
    }

    /// Alternates closest points between the surfaces as long as that brings them clearly nearer.
    fn polish(&mut self) {
        let mut room = Room::default();
        loop {
            let before = self.best.distance;
            for side in 0..2 {
                if self.meets || self.best.distance == 0.0 {
                    return;
                }
                let other = 1 - side;
                let search = Search::new(self.models[other], &self.poses[other]);
                let from = self.best.points[side];
                let mut nearest = search.nearer_than(self.best.distance);
                search.improve(from, None, &mut nearest, &mut room, &mut self.work);
                if nearest.triangle == NearestTriangle::NONE.triangle {
                    continue;
                }
                let mut pair = self.best.triangles;
                pair[other] = nearest.triangle;
                self.look_at(pair[0], pair[1]);
            }
            if self.best.distance > POLISHED * before {
                break;
            }
        }
        self.turn_view();
    }

    fn turn_view(&mut self) {
        self.view.turn(self.best.points);
        self.leaves.iter_mut().for_each(Leaf::forget_boxes);
    }

    fn nodes(&self, entry: &Entry) -> [&'m Node; 2] {
        let node = |side: usize| &self.models[side].tree().nodes()[entry.node[side] as usize];
        [node(0), node(1)]
    }

    /// Measures the children of a pair of nodes; what is within the limit goes on the stack or, for
    /// leaves, is looked at.
    fn expand(&mut self, entry: Entry) {
        let [x, y] = self.nodes(&entry);
        let mut gap: Gaps = [[0.0; WIDTH]; WIDTH];
        let mut mask = gaps(self.level, x, y, &self.box_distance, self.limit, &mut gap);
        self.work.volume_tests += (WIDTH * WIDTH) as u64;
        mask &= lane_pairs(entry.lanes);
        if mask == 0 {
            return;
        }
        let mut pairs: SmallVec<[(f32, usize, usize); 64]> = SmallVec::new();
        // Leaves of one side under one node of the other go on together.
        let none = Entry { gap: f32::INFINITY, lanes: [0; 2], ..Entry::ROOTS };
        let mut waiting = [[none; WIDTH]; 2];
        while mask != 0 {
            let bit = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            let (i, j) = (bit / WIDTH, bit % WIDTH);
            let gap = gap[i][j];
            match (x.child[i].as_node(), y.child[j].as_node()) {
                (Some(p), Some(q)) => {
                    self.push(Entry { gap, node: [p as u32, q as u32], lanes: [u8::MAX; 2], number: 0 });
                }
                (None, None) => pairs.push((gap, i, j)),
                (None, Some(q)) => {
                    let group = &mut waiting[0][j];
                    let lanes = [group.lanes[0] | 1 << i, u8::MAX];
                    *group =
                        Entry { gap: gap.min(group.gap), node: [entry.node[0], q as u32], lanes, number: 0 };
                }
                (Some(p), None) => {
                    let group = &mut waiting[1][i];
                    let lanes = [u8::MAX, group.lanes[1] | 1 << j];
                    *group =
                        Entry { gap: gap.min(group.gap), node: [p as u32, entry.node[1]], lanes, number: 0 };
                }
            }
        }
        pairs.sort_unstable_by(|p, q| p.0.total_cmp(&q.0));
        for (gap, i, j) in pairs {
            if self.meets {
                return;
            }
            if gap > self.limit {
                continue;
            }
            self.look_at_leaves(&entry, [x, y], [i, j]);
        }
        let limit = self.limit;
        for group in waiting.into_iter().flatten().filter(|group| group.gap <= limit) {
            self.push(group);
        }
    }

    fn push(&mut self, entry: Entry) {
        self.open.push(Entry { number: self.opened, ..entry });
        self.opened = self.opened.wrapping_add(1);
    }

    /// Looks at all pairs of triangles of two leaves that the view cannot refuse.
    fn look_at_leaves(&mut self, entry: &Entry, nodes: [&Node; 2], lanes: [usize; 2]) {
        for side in 0..2 {
            self.leaves[side].open(entry.node[side]);
        }
        for (i, slot_a) in nodes[0].child[lanes[0]].slots().enumerate() {
            for (j, slot_b) in nodes[1].child[lanes[1]].slots().enumerate() {
                let mut boxes = [[DVec3::ZERO; 2]; 2];
                for (side, (k, slot)) in [(i, slot_a), (j, slot_b)].into_iter().enumerate() {
                    let triangle = self.models[side].tree().order()[slot];
                    let corners =
                        || self.models[side].mesh().corners(triangle).each(|v| self.poses[side].apply(v));
                    boxes[side] = self.leaves[side].bounds(lanes[side], k, corners, &self.view);
                }
                if self.view.within(&boxes[0], &boxes[1], self.best.distance) {
                    let before = self.best.distance;
                    let [a, b] = [self.leaves[0].corners(lanes[0], i), self.leaves[1].corners(lanes[1], j)];
                    let order = [self.models[0].tree().order(), self.models[1].tree().order()];
                    self.take([order[0][slot_a], order[1][slot_b]], a, b);
                    if self.meets {
                        return;
                    }
                    if self.best.distance < POLISHED * before {
                        self.polish();
                    }
                }
            }
        }
    }

    fn look_at(&mut self, a: u32, b: u32) {
        let corners =
            |side: usize, t: u32| self.models[side].mesh().corners(t).each(|v| self.poses[side].apply(v));
        self.take([a, b], corners(0, a), corners(1, b));
    }

    /// Takes a pair of triangles if it is nearer, or as near and of smaller indices.
    fn take(&mut self, triangles: [u32; 2], a: [DVec3; 3], b: [DVec3; 3]) {
        self.work.primitive_tests += 1;
        let Some(near) = triangle_distance::separation(&a, &b) else {
            self.meets = true;
            return;
        };
        let distance = near.distance;
        if distance < self.best.distance
            || (distance == self.best.distance && triangles < self.best.triangles)
        {
            self.best = Best { distance, triangles, points: near.points, parts: near.parts };
            self.limit = self.box_distance.limit(distance);
        }
    }

    /// The surfaces meet somewhere: finds the first such pair in the fixed order of the dual search.
    fn settle_meeting(&mut self, budget: &mut Budget) -> Finish {
        let [a, b] = self.models;
        let relative = Relative::new(a.tree(), &self.poses[0], b.tree(), &self.poses[1], 0.0);
        let mut meeting = self.meeting.take().unwrap_or_default();
        let mut first = FirstMeeting { search: self, found: None };
        let mut work = Counters::default();
        let finish = meeting.advance(a.tree(), b.tree(), &relative, &mut first, budget, &mut work);
        let found = first.found;
        self.work += work;
        self.meeting = Some(meeting);
        if let Some((triangles, p, parts)) = found {
            self.best = Best { distance: 0.0, triangles, points: [p; 2], parts };
        }
        finish
    }

    fn answer(&self, finish: Finish) -> Distance {
        let Best { distance, triangles, points, parts } = self.best;
        let open = match self.open.peek() {
            _ if self.meets => 0.0,
            Some(entry) => self.box_distance.distance(entry.gap),
            None => f64::INFINITY,
        };
        // Where triangles meet before any were measured, nothing is known of where.
        let known = distance.is_finite();
        let side = |k: usize| {
            if known { feature(self.models[k].mesh(), triangles[k], parts[k]) } else { Feature::Surface }
        };
        let outcome = Outcome { certainty: Certainty::Exact, finish, work: self.work };
        let found =
            Distance { distance, at_least: 0.0, points, features: [side(0), side(1)], triangles, outcome };
        found.bracketed(open)
    }
}

/// The pairs of lanes in a mask of rows and a mask of columns.
#[inline]
fn lane_pairs(lanes: [u8; 2]) -> u64 {
    if lanes == [u8::MAX; 2] {
        return u64::MAX;
    }
    let rows: u64 = (0..WIDTH).map(|i| u64::from(lanes[0] >> i & 1) << (WIDTH * i)).sum();
    rows * u64::from(lanes[1])
}

/// Stops at the first pair of triangles that meet.
struct FirstMeeting<'s, 'm> {
    search: &'s DistanceSearch<'m>,
    found: Option<([u32; 2], DVec3, [TriangleFeature; 2])>,
}

impl LeafPairs for FirstMeeting<'_, '_> {
    fn meet(&mut self, slots: &[[u32; 2]], work: &mut Counters) -> ControlFlow<()> {
        for pair in slots {
            work.primitive_tests += 1;
            let triangle = |k: usize| self.search.models[k].tree().order()[pair[k] as usize];
            let corners = |k: usize| {
                let placed = |v| self.search.poses[k].apply(v);
                self.search.models[k].mesh().corners(triangle(k)).each(placed)
            };
            let (a, b) = (corners(0), corners(1));
            if triangle_triangle::meet(&a, &b) {
                let p = common_point(&a, &b);
                self.found = Some(([triangle(0), triangle(1)], p, [TriangleFeature::Inside; 2]));
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
#[path = "distance_tests.rs"]
mod tests;
