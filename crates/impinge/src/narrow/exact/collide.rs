//! Which triangles of two placed meshes meet: the first pair, every pair, pairs nearer than a margin.
//!
//! The trees give pairs of triangles whose boxes overlap; on the way down the disc bounds around flat patches
//! part most of what the boxes do not, and at the leaves the planes of the triangles, all in f32 with proved
//! error bounds. What is left is decided by the exact test on the placed corners.

use std::ops::ControlFlow;

use glam::DVec3;

use crate::contact::Verdict;
use crate::geom::triangle_triangle::meet;
use crate::hierarchy::box_overlap::{Carrier, overlaps};
use crate::hierarchy::disc_bound::DiscBounds;
use crate::hierarchy::disc_bound_pair::{DiscBoundTest, NodePair, PatchLanes, bent};
use crate::hierarchy::dual::{DualSearch, LanePairs, LeafPairs};
use crate::hierarchy::leaf_block::{Block, LeafBlocks};
use crate::hierarchy::leaf_filter::LeafFilter;
use crate::hierarchy::relative::Relative;
use crate::hierarchy::wide::{TreeFrame, WIDTH, WideTree};
use crate::model::{Fact, Model};
use crate::num::each::Each;
use crate::num::parallel;
use crate::num::stages;
use crate::num::tolerance::STRETCH;
use crate::simd::{SimdLevel, prefetch};
use crate::{Budget, Certainty, Counters, Finish, Outcome, Pose};

#[cfg(test)]
#[path = "collide_tests.rs"]
mod tests;

/// A model and where it is.
#[derive(Debug, Clone, Copy)]
pub struct Posed<'m> {
    /// The model.
    pub model: &'m Model,
    /// Its placement in the world.
    pub pose: Pose,
}

impl<'m> Posed<'m> {
    /// A model at a place.
    pub fn new(model: &'m Model, pose: Pose) -> Posed<'m> {
        Posed { model, pose }
    }

    /// The placed corners of a triangle: the doubles that exact answers are about.
    #[inline]
    pub fn corners(&self, triangle: u32) -> [DVec3; 3] {
        self.model.mesh().corners(triangle).each(|p| self.pose.apply(p))
    }
}

/// Two triangles that the filters could not part.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'s> {
    /// Triangle of a, triangle of b.
    pub triangles: [u32; 2],
    /// Their places in the order of their trees.
    pub slots: [u32; 2],
    bodies: &'s [Posed<'s>; 2],
    /// Whether the filters know that they meet.
    surely: bool,
}

impl Candidate<'_> {
    /// The placed corners of both.
    pub fn corners(&self) -> [[DVec3; 3]; 2] {
        [0, 1].each(|body| self.bodies[body].corners(self.triangles[body]))
    }

    /// Whether the triangles share a point, exactly.
    #[inline]
    pub fn meets(&self) -> bool {
        self.surely || {
            let [a, b] = self.corners();
            meet(&a, &b)
        }
    }
}

/// Two triangles that meet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Witness {
    /// Triangle of a, triangle of b.
    pub triangles: [u32; 2],
    /// Their places in the order of their trees.
    pub slots: [u32; 2],
    /// Whether they are known to pass through each other: the filters are sure only where every sign is.
    pub crossing: bool,
}

/// A search for triangle pairs that can be interrupted and resumed.
#[derive(Debug, Clone)]
pub struct SurfaceSearch<'m> {
    bodies: [Posed<'m>; 2],
    relative: Relative,
    filters: Filters,
    search: DualSearch,
    work: Counters,
}

impl<'m> SurfaceSearch<'m> {
    /// Looks for triangles that meet.
    pub fn new(a: Posed<'m>, b: Posed<'m>) -> SurfaceSearch<'m> {
        SurfaceSearch::within(a, b, 0.0)
    }

    /// Looks for triangles that may be as near as `margin` (a length in the world).
    pub fn within(a: Posed<'m>, b: Posed<'m>, margin: f64) -> SurfaceSearch<'m> {
        let [tree_a, tree_b] = [a.model.tree(), b.model.tree()];
        let relative = Relative::new(tree_a, &a.pose, tree_b, &b.pose, margin);
        let mut search = SurfaceSearch {
            bodies: [a, b],
            filters: Filters::new(tree_a, tree_b, &relative, margin),
            relative,
            search: DualSearch::nothing(),
            work: Counters::default(),
        };
        // Begun where it stays: a stack with something on it would be copied whole.
        search.search.begin([0, 0]);
        search
    }

    /// The same for who wants every pair and will not break off.
    fn exhaustive(mut self) -> SurfaceSearch<'m> {
        self.search = self.search.exhaustive();
        self
    }

    /// Goes on with a search of the same two placed models that was taken out by
    /// [`SurfaceSearch::into_search`].
    pub fn resume(a: Posed<'m>, b: Posed<'m>, search: DualSearch) -> SurfaceSearch<'m> {
        SurfaceSearch { search, ..SurfaceSearch::new(a, b) }
    }

    /// Begins anew, among what is below one node of each tree.
    pub(super) fn restart(&mut self, nodes: [u32; 2]) {
        self.search.begin(nodes);
    }

    /// The bottom nodes that hold two slots.
    pub(super) fn bottoms_of(&self, slots: [u32; 2]) -> [u32; 2] {
        [0, 1].each(|body| self.bodies[body].model.tree().bottom_of(slots[body]))
    }

    /// The first candidate that meets, if any is left.
    pub(super) fn first(&mut self) -> Option<Witness> {
        let mut found = None;
        self.run(&mut Budget::UNLIMITED.clone(), true, |pair| {
            if pair.meets() {
                found = Some(Witness { triangles: pair.triangles, slots: pair.slots, crossing: pair.surely });
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        found
    }

    /// How the two trees lie to each other.
    pub(super) fn relative(&self) -> &Relative {
        &self.relative
    }

    /// What is left of the search, without the bodies.
    pub fn into_search(self) -> DualSearch {
        self.search
    }

    /// Hands every candidate to `each` until it breaks or the budget ends; calling again goes on after
    /// the pair of nodes that was looked at last.
    pub fn advance(
        &mut self,
        budget: &mut Budget,
        each: impl FnMut(&Candidate<'_>) -> ControlFlow<()>,
    ) -> Finish {
        self.run(budget, false, each)
    }

    /// As [`SurfaceSearch::advance`]; `until_one` says that `each` breaks at the first pair that meets.
    fn run(
        &mut self,
        budget: &mut Budget,
        until_one: bool,
        each: impl FnMut(&Candidate<'_>) -> ControlFlow<()>,
    ) -> Finish {
        let [a, b] = self.bodies;
        let leaves = leaves(&self.bodies, &self.filters, budget.is_trial(), each);
        let mut leaves = Leaves { until_one, ..leaves };
        let (tree_a, tree_b) = (a.model.tree(), b.model.tree());
        self.search.advance(tree_a, tree_b, &self.relative, &mut leaves, budget, &mut self.work)
    }

    /// Gives away half of what is left, as an independent search; none where there is too little.
    fn halve(&mut self) -> Option<SurfaceSearch<'m>> {
        let search = self.search.halve()?;
        Some(SurfaceSearch { search, work: Counters::default(), ..*self })
    }

    /// The work so far: Nv box pairs, Np triangle pairs.
    pub fn work(&self) -> Counters {
        self.work
    }
}

/// The first pair of meeting triangles that the search comes upon; none means the surfaces are apart.
#[cfg(any(test, feature = "unstable"))]
pub fn first_meeting(a: Posed<'_>, b: Posed<'_>) -> Option<[u32; 2]> {
    counted_first_meeting(a, b).0
}

/// [`first_meeting`], and what it cost.
pub(crate) fn counted_first_meeting(a: Posed<'_>, b: Posed<'_>) -> (Option<[u32; 2]>, Counters) {
    let mut search = SurfaceSearch::new(a, b);
    let found = search.first().map(|witness| witness.triangles);
    (found, search.work())
}

/// As [`first_meeting`], paid for from a budget as long as there is any; it always comes to its end, unless nobody
/// waits for it any more.
pub(crate) fn charged_first_meeting(a: Posed<'_>, b: Posed<'_>, budget: &mut Budget) -> Option<[u32; 2]> {
    let mut search = SurfaceSearch::new(a, b);
    let mut found = None;
    let mut first = |pair: &Candidate<'_>| {
        found = pair.meets().then_some(pair.triangles);
        if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    while search.advance(budget, &mut first) == Finish::OutOfBudget {
        if !budget.rest_silently() {
            search.advance(&mut Budget::UNLIMITED.clone(), &mut first);
            break;
        }
    }
    found
}

#[cfg(any(test, feature = "unstable"))]
/// Calls `each` with every meeting pair, in an order that only the two trees decide.
pub fn for_each_meeting(
    a: Posed<'_>,
    b: Posed<'_>,
    mut each: impl FnMut(u32, u32) -> ControlFlow<()>,
) -> Counters {
    let mut search = SurfaceSearch::new(a, b);
    search.advance(&mut Budget::UNLIMITED.clone(), |pair| {
        if pair.meets() {
            return each(pair.triangles[0], pair.triangles[1]);
        }
        ControlFlow::Continue(())
    });
    search.work()
}

#[cfg(any(test, feature = "unstable"))]
/// Every pair of meeting triangles, ascending; a large search is shared between threads.
pub fn pairs(a: &Model, pose_a: &Pose, b: &Model, pose_b: &Pose) -> Vec<[u32; 2]> {
    let mut budget = Budget::UNLIMITED.clone();
    pairs_within_budget(Posed::new(a, *pose_a), Posed::new(b, *pose_b), &mut budget).0
}

/// As [`pairs`], with the cost and a limit on it; the pairs found so far when the budget ends.
pub fn pairs_within_budget(a: Posed<'_>, b: Posed<'_>, budget: &mut Budget) -> (Vec<[u32; 2]>, Outcome) {
    let (all, outcome) = unordered_pairs(a, b, budget);
    (sorted(all), outcome)
}

/// As [`pairs_within_budget`], in an order that depends on the threads and the budget.
pub(super) fn unordered_pairs(a: Posed<'_>, b: Posed<'_>, budget: &mut Budget) -> (Vec<[u32; 2]>, Outcome) {
    if budget.is_unlimited() {
        return AllPairs::begin(a, b, ALONE).finish();
    }
    let mut search = SurfaceSearch::new(a, b).exhaustive();
    let mut all = Vec::new();
    loop {
        let finish = search.advance(budget, keep_meeting(&mut all));
        let outcome = Outcome { certainty: Certainty::Exact, finish, work: search.work() };
        let so_far = || Verdict::by_finish(sorted(all.clone()), outcome);
        if finish != Finish::OutOfBudget || !budget.rest(so_far) {
            return (all, outcome);
        }
    }
}

/// A search for all pairs whose first part is made alone: what is left is worth to be shared.
pub(super) struct AllPairs<'m> {
    search: SurfaceSearch<'m>,
    found: Share,
    is_large: bool,
}

impl<'m> AllPairs<'m> {
    /// Searches alone for so many units; without end where there is nobody to share with.
    pub(super) fn begin(a: Posed<'m>, b: Posed<'m>, units: u64) -> AllPairs<'m> {
        let mut search = SurfaceSearch::new(a, b).exhaustive();
        let mut alone =
            if parallel::threads() > 1 { Budget::units(units) } else { Budget::UNLIMITED.clone() };
        let mut found = Share::with_room();
        let finish = search.advance(&mut alone, found.keep());
        AllPairs { search, found, is_large: finish == Finish::OutOfBudget }
    }

    /// Whether much is left to do.
    pub(super) fn is_large(&self) -> bool {
        self.is_large
    }

    /// The pairs, in an order that depends on the threads.
    pub(super) fn finish(self) -> (Vec<[u32; 2]>, Outcome) {
        let AllPairs { search, mut found, is_large } = self;
        let bodies = search.bodies;
        if is_large {
            let step = |own: &mut Share, part: &mut SurfaceSearch<'_>| {
                let finish = part.advance(&mut Budget::units(STEP), own.keep());
                if finish == Finish::Complete {
                    own.work += part.work();
                }
                finish == Finish::OutOfBudget
            };
            let decide = |own: &mut Share| own.decide(&bodies);
            for mut own in stages::share_search(search, step, SurfaceSearch::halve, decide) {
                found.meeting.append(&mut own.meeting);
                found.work += own.work;
            }
        } else {
            found.work = search.work();
        }
        found.decide(&bodies);
        let finish = Finish::Complete;
        (found.meeting, Outcome { certainty: Certainty::Exact, finish, work: found.work })
    }
}

#[cfg(any(test, feature = "unstable"))]
/// [`first_meeting`] for many placements of the same two models, in parallel and in their order.
pub fn first_meetings(a: &Model, b: &Model, poses: &[[Pose; 2]]) -> Vec<Option<[u32; 2]>> {
    parallel::map(poses.len(), |k| {
        let [pose_a, pose_b] = poses[k];
        first_meeting(Posed::new(a, pose_a), Posed::new(b, pose_b))
    })
}

#[cfg(any(test, feature = "unstable"))]
/// [`pairs`] for many placements of the same two models, in parallel and in their order.
pub fn pairs_of_all(a: &Model, b: &Model, poses: &[[Pose; 2]]) -> Vec<Vec<[u32; 2]>> {
    parallel::map(poses.len(), |k| {
        let [pose_a, pose_b] = poses[k];
        pairs(a, &pose_a, b, &pose_b)
    })
}

/// Work units after which a search for all pairs is shared between threads: some hundredths of a millisecond.
const ALONE: u64 = 2_000;
/// Work units after which a thread that searches looks whether another one wants half of what it has left; every visit
/// is made once, so that threads change nothing but the order.
const STEP: u64 = 500;
/// Candidates in doubt that wait to be decided together.
const WAITING: usize = 1024;
/// How many pairs ahead their corners are asked for.
const AHEAD: usize = 4;
/// Pairs for which a search has room from the start: most find no more, and lists that grow are copied.
const ROOM: usize = 64;

fn sorted(mut pairs: Vec<[u32; 2]>) -> Vec<[u32; 2]> {
    // One comparison for both numbers.
    pairs.sort_unstable_by_key(|&[a, b]| u64::from(a) << 32 | u64::from(b));
    pairs
}

fn keep_meeting(all: &mut Vec<[u32; 2]>) -> impl FnMut(&Candidate<'_>) -> ControlFlow<()> {
    |pair| {
        if pair.meets() {
            all.push(pair.triangles);
        }
        ControlFlow::Continue(())
    }
}

/// What one thread found of a search for all pairs.
#[derive(Default)]
struct Share {
    meeting: Vec<[u32; 2]>,
    /// Those that are still to be decided.
    doubtful: Vec<[u32; 2]>,
    work: Counters,
}

impl Share {
    fn with_room() -> Share {
        Share {
            meeting: Vec::with_capacity(ROOM),
            doubtful: Vec::with_capacity(ROOM),
            work: Counters::default(),
        }
    }

    /// Keeps the candidates that meet, and those in doubt that are still to be decided.
    fn keep(&mut self) -> impl FnMut(&Candidate<'_>) -> ControlFlow<()> {
        |pair| {
            if pair.surely {
                self.meeting.push(pair.triangles);
            } else {
                self.doubtful.push(pair.triangles);
                if self.doubtful.len() >= WAITING {
                    self.decide(pair.bodies);
                }
            }
            ControlFlow::Continue(())
        }
    }

    /// Decides the pairs in doubt.
    fn decide(&mut self, bodies: &[Posed<'_>; 2]) {
        decide_waiting(bodies, &mut self.doubtful, &mut self.meeting);
    }
}

/// Decides the pairs in doubt and keeps those that meet. Their corners lie anywhere in memory, so it is asked for ahead.
fn decide_waiting(bodies: &[Posed<'_>; 2], doubtful: &mut Vec<[u32; 2]>, meeting: &mut Vec<[u32; 2]>) {
    let meshes = bodies.map(|body| body.model.mesh());
    for (n, &pair) in doubtful.iter().enumerate() {
        // The vertices are known when the triangle is there.
        if let Some(later) = doubtful.get(n + 2 * AHEAD) {
            (0..2).for_each(|k| prefetch(&meshes[k].triangles()[later[k] as usize]));
        }
        if let Some(next) = doubtful.get(n + AHEAD) {
            for (mesh, triangle) in meshes.iter().zip(next) {
                let corners = mesh.triangles()[*triangle as usize];
                corners.iter().for_each(|&v| prefetch(&mesh.vertices()[v as usize]));
            }
        }
        let [a, b] = [0, 1].each(|k| bodies[k].corners(pair[k]));
        if meet(&a, &b) {
            meeting.push(pair);
        }
    }
    doubtful.clear();
}

/// Takes leaf pairs from the trees and hands on what neither disc bounds nor planes separate.
struct Leaves<'m, F> {
    bodies: &'m [Posed<'m>; 2],
    blocks: [Option<&'m LeafBlocks>; 2],
    disc_bounds: [Option<&'m DiscBounds>; 2],
    filters: &'m Filters,
    level: SimdLevel,
    /// Whether one pair that meets is enough.
    until_one: bool,
    each: F,
}

/// What parts patches and triangles in floats: a among b, and b among a.
#[derive(Debug, Clone, Copy)]
struct Filters {
    disc_bounds: [DiscBoundTest; 2],
    planes: [LeafFilter; 2],
}

impl Filters {
    fn new(a: &WideTree, b: &WideTree, relative: &Relative, margin: f64) -> Filters {
        let Relative { a_to_b, b_to_a, a_in_b, b_in_a, .. } = relative;
        let [bent_a, bent_b] = [bent(a_to_b), bent(b_to_a)];
        let (frame_a, frame_b) = (a.frame(), b.frame());
        // A margin in a frame that is orthonormal within 1e-4.
        let within = |frame: &TreeFrame| STRETCH * margin / frame.unit;
        Filters {
            disc_bounds: [
                DiscBoundTest::new(frame_a, frame_b, a_in_b, bent_a, within(frame_b)),
                DiscBoundTest::new(frame_b, frame_a, b_in_a, bent_b, within(frame_a)),
            ],
            planes: [
                LeafFilter::new(a, b, a_to_b, a_in_b, within(frame_b)),
                LeafFilter::new(b, a, b_to_a, b_in_a, within(frame_a)),
            ],
        }
    }
}

/// A visitor for the candidates of two placed models; `trial` builds nothing and filters by what is there.
fn leaves<'m, F>(bodies: &'m [Posed<'m>; 2], filters: &'m Filters, trial: bool, each: F) -> Leaves<'m, F> {
    let wanted = |model: &Model, fact: Fact| !trial || model.knows(fact);
    let models = bodies.map(|body| body.model);
    Leaves {
        bodies,
        blocks: models.map(|model| wanted(model, Fact::LeafBlocks).then(|| model.leaf_blocks())),
        disc_bounds: models.map(|model| wanted(model, Fact::DiscBounds).then(|| model.disc_bounds())),
        filters,
        level: SimdLevel::best(),
        until_one: false,
        each,
    }
}

impl<'m, F> Leaves<'m, F> {
    /// The triangles of a bottom node, where they are known.
    #[inline]
    fn block(&self, body: usize, node: u32) -> Option<&'m Block> {
        self.blocks[body].and_then(|blocks| blocks.of(node))
    }

    /// The children of a node as disc bounds, where they are known.
    #[inline]
    fn patches(&self, body: usize, node: u32) -> Option<PatchLanes<'_>> {
        match self.disc_bounds[body].and_then(|bounds| bounds.of(node)) {
            Some(disc_bounds) => Some(PatchLanes::DiscBounds(disc_bounds)),
            None => self.block(body, node).map(PatchLanes::Triangles),
        }
    }
}

impl<F: FnMut(&Candidate<'_>) -> ControlFlow<()>> LeafPairs for Leaves<'_, F> {
    #[inline]
    fn keep(&self, lanes: &LanePairs<'_>) -> u64 {
        let [few, many] = lanes.nodes;
        let [x, y] = lanes.in_order([0, 1]);
        match (self.patches(x, few), self.patches(y, many)) {
            (Some(own), Some(other)) => {
                self.filters.disc_bounds[x].keep(self.level, lanes.to_many, [own, other], lanes.mask)
            }
            _ => lanes.mask,
        }
    }

    #[inline]
    fn overlaps(&self, level: SimdLevel, lanes: &LanePairs<'_>, rows: u8, to_few: &Carrier) -> u64 {
        let [few, many] = lanes.nodes;
        let [x, y] = lanes.in_order([0, 1]);
        match (self.patches(x, few), self.patches(y, many)) {
            (Some(own), Some(other)) => {
                let (nodes, to_many) = ([lanes.few, lanes.many], lanes.to_many);
                let pair = NodePair { nodes, patches: [own, other], to_few, to_many };
                self.filters.disc_bounds[x].overlaps(level, &pair, rows)
            }
            _ => overlaps(level, lanes.few, rows, lanes.many, to_few, lanes.to_many),
        }
    }

    #[inline]
    fn meet_lanes(&mut self, lanes: &LanePairs<'_>, work: &mut Counters) -> ControlFlow<()> {
        let [few, many] = lanes.nodes;
        let [x, y] = lanes.in_order([0, 1]);
        let (Some(block), Some(other)) = (self.block(x, few), self.block(y, many)) else {
            return self.meet(&lanes.slots(), work);
        };
        work.primitive_tests += u64::from(lanes.mask.count_ones());
        let filter = &self.filters.planes[x];
        let found = if self.until_one {
            filter.decide_until_one(self.level, block, other, lanes.mask)
        } else {
            filter.decide(self.level, block, other, lanes.mask)
        };
        let mut left = found.meeting | found.doubtful;
        while left != 0 {
            let bit = left.trailing_zeros() as usize;
            left &= left - 1;
            let leaves = [lanes.few.child[bit / WIDTH], lanes.many.child[bit % WIDTH]];
            let slots = lanes.in_order(leaves).map(|leaf| leaf.slots().start as u32);
            self.candidate(slots, found.meeting >> bit & 1 != 0)?;
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn meet(&mut self, slots: &[[u32; 2]], work: &mut Counters) -> ControlFlow<()> {
        work.primitive_tests += slots.len() as u64;
        slots.iter().try_for_each(|&slots| self.candidate(slots, false))
    }
}

impl<F: FnMut(&Candidate<'_>) -> ControlFlow<()>> Leaves<'_, F> {
    #[inline]
    fn candidate(&mut self, slots: [u32; 2], surely: bool) -> ControlFlow<()> {
        let triangles = [0, 1].each(|body| self.bodies[body].model.tree().order()[slots[body] as usize]);
        (self.each)(&Candidate { triangles, slots, bodies: self.bodies, surely })
    }
}
