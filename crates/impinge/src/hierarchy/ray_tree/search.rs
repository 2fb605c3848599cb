//! One ray down the tree, the nearest box first.
//!
//! Both searches are taken in by the function that asks, which is compiled for an instruction set as a whole: what a
//! ray costs besides its boxes and triangles is what counts where it meets few of them.

use std::hint::black_box;

use super::tree_ray::RayLimit;
use super::{Face, Link, NODE_LINES, Node, PlacedRayTree, RayTree, TreeRay};
use crate::Counters;
use crate::simd::fixed_stack::{FixedStack, Room};
use crate::simd::ray_lanes::{Crossed, LANES, RayLanes, Slabs};
use crate::simd::{prefetch, prefetch_from};

/// Seven may wait at each level, and no tree is deeper than its [depth](super::build::DEEPEST).
const MOST_WAITING: usize = (LANES - 1) * super::build::DEEPEST;

/// What is done at the leaves. A trait and no closure: its method is taken in by the search for certain, and so
/// compiled for the same instruction set.
pub(super) trait Leaves {
    /// Looks at a leaf; returns up to where the search goes on, `None` where it ends.
    fn visit(&mut self, leaf: usize) -> Option<f32>;

    /// Where the memory begins that looking at a leaf reads.
    fn address(&self, leaf: usize) -> *const u8;
}

/// What is done with triangles that f32 cannot exclude.
pub(crate) trait Candidates {
    /// Looks at a triangle.
    fn found(&mut self, face: &Face<'_>);
}

/// What is done with triangles that may be the nearest. It may be copied, so that what is rarely done works on a copy and
/// the rest on registers.
pub(crate) trait Nearest: Candidates + Copy {
    /// The world's parameter up to which the search goes on.
    fn reach(&self) -> f64;
}

/// What tells whether a triangle that f32 leaves open is hit.
pub(crate) trait Decide {
    /// Whether the triangle is hit.
    fn is_hit(&mut self, face: &Face<'_>) -> bool;
}

impl PlacedRayTree<'_> {
    /// Shows every triangle that the ray may hit within the limit.
    #[inline(always)]
    pub(crate) fn candidates(
        &self,
        lanes: impl RayLanes,
        ray: &TreeRay,
        limit: RayLimit,
        candidates: &mut impl Candidates,
    ) -> Counters {
        let mut leaves = CandidateLeaves { lanes, tree: self.tree, ray, limit, candidates };
        search::<true>(lanes, &self.tree.nodes, &ray.slabs, limit.until, &mut leaves)
    }

    /// Shows triangles until the nearest that the ray hits within the limit is among them. Where one is hit for sure,
    /// f32 tells how far the search must go, and only what may be the nearest is shown, at the end.
    #[inline(always)]
    pub(crate) fn nearest(
        &self,
        lanes: impl RayLanes,
        ray: &TreeRay,
        limit: RayLimit,
        candidates: &mut impl Nearest,
    ) -> Counters {
        let mut room = Room::new();
        let open = FixedStack::within(&mut room);
        let mut leaves = NearestLeaves { lanes, tree: self.tree, ray, limit, open, candidates };
        let work = search::<true>(lanes, &self.tree.nodes, &ray.slabs, limit.until, &mut leaves);
        decide(self.tree, ray, leaves.limit, leaves.open, leaves.candidates);
        work
    }

    /// Whether the ray hits a triangle within the limit: certain ones end the search at once, `decide` is asked
    /// about the others.
    #[inline(always)]
    pub(crate) fn any(
        &self,
        lanes: impl RayLanes,
        ray: &TreeRay,
        limit: RayLimit,
        decide: &mut impl Decide,
    ) -> (bool, Counters) {
        let mut leaves = AnyLeaf { lanes, tree: self.tree, ray, limit, decide, any: false };
        let work = search::<false>(lanes, &self.tree.nodes, &ray.slabs, limit.until, &mut leaves);
        (leaves.any, work)
    }
}

struct CandidateLeaves<'s, L, C> {
    lanes: L,
    tree: &'s RayTree,
    ray: &'s TreeRay,
    limit: RayLimit,
    candidates: &'s mut C,
}

impl<L: RayLanes, C: Candidates> Leaves for CandidateLeaves<'_, L, C> {
    #[inline(always)]
    fn visit(&mut self, leaf: usize) -> Option<f32> {
        self.tree.prefetch_rest(leaf);
        let corners = &self.tree.block(leaf).corners;
        let mut maybe = self.lanes.triangles(&self.ray.line, corners, self.limit.to).maybe;
        while maybe != 0 {
            let lane = maybe.trailing_zeros() as usize;
            maybe &= maybe - 1;
            self.candidates.found(&self.tree.face(leaf, lane));
        }
        Some(self.limit.until)
    }

    #[inline(always)]
    fn address(&self, leaf: usize) -> *const u8 {
        self.tree.address(leaf)
    }
}

/// Triangles that may wait at a time.
const MOST_OPEN: usize = 8;

/// A triangle that may be hit, not before a place.
#[derive(Debug, Clone, Copy)]
struct Open {
    near: f32,
    leaf: u32,
    lane: u32,
}

struct NearestLeaves<'s, L, C> {
    lanes: L,
    tree: &'s RayTree,
    ray: &'s TreeRay,
    limit: RayLimit,
    open: FixedStack<'s, Open, MOST_OPEN>,
    candidates: &'s mut C,
}

/// Shows what waits, the last first: it made the limit.
#[inline(always)]
fn decide(
    tree: &RayTree,
    ray: &TreeRay,
    mut limit: RayLimit,
    mut open: FixedStack<'_, Open, MOST_OPEN>,
    candidates: &mut impl Nearest,
) {
    while let Some(Open { near, leaf, lane }) = open.pop() {
        if near <= limit.to {
            candidates.found(&tree.face(leaf as usize, lane as usize));
            if open.len() > 0 {
                limit = limit.min(ray.limit(candidates.reach()));
            }
        }
    }
}

/// The same before the end, where more wait than there is room for.
#[cold]
#[inline(never)]
fn decided_early<C: Nearest>(
    tree: &RayTree,
    ray: &TreeRay,
    limit: RayLimit,
    open: FixedStack<'_, Open, MOST_OPEN>,
    mut candidates: C,
) -> (RayLimit, C) {
    decide(tree, ray, limit, open, &mut candidates);
    (limit.min(ray.limit(candidates.reach())), candidates)
}

impl<L: RayLanes, C: Nearest> Leaves for NearestLeaves<'_, L, C> {
    #[inline(always)]
    fn visit(&mut self, leaf: usize) -> Option<f32> {
        self.tree.prefetch_rest(leaf);
        // As in `search`: many rays come to no leaf.
        let line = black_box(&self.ray.line);
        let crossed = self.lanes.crossings(line, &self.tree.block(leaf).corners, self.limit.to);
        let Crossed { mut maybe, ref near, ref far } = crossed;
        while maybe != 0 {
            let lane = maybe.trailing_zeros() as usize % LANES;
            maybe &= maybe - 1;
            if self.open.len() == MOST_OPEN {
                let open = self.open.taken();
                (self.limit, *self.candidates) =
                    decided_early(self.tree, self.ray, self.limit, open, *self.candidates);
            }
            self.open.push(Open { near: near[lane], leaf: leaf as u32, lane: lane as u32 });
            self.limit = self.ray.nearer(self.limit, far[lane]);
        }
        Some(self.limit.until)
    }

    #[inline(always)]
    fn address(&self, leaf: usize) -> *const u8 {
        self.tree.address(leaf)
    }
}

struct AnyLeaf<'s, L, D> {
    lanes: L,
    tree: &'s RayTree,
    ray: &'s TreeRay,
    limit: RayLimit,
    decide: &'s mut D,
    any: bool,
}

impl<L: RayLanes, D: Decide> Leaves for AnyLeaf<'_, L, D> {
    #[inline(always)]
    fn visit(&mut self, leaf: usize) -> Option<f32> {
        let corners = &self.tree.block(leaf).corners;
        let touched = self.lanes.triangles(&self.ray.line, corners, self.limit.to);
        self.any = touched.surely != 0;
        let mut maybe = touched.maybe;
        while maybe != 0 && !self.any {
            let lane = maybe.trailing_zeros() as usize;
            maybe &= maybe - 1;
            self.any = self.decide.is_hit(&self.tree.face(leaf, lane));
        }
        (!self.any).then_some(self.limit.until)
    }

    #[inline(always)]
    fn address(&self, leaf: usize) -> *const u8 {
        self.tree.address(leaf)
    }
}

/// Visits the leaves whose boxes are entered before the place last returned, until none is. Of
/// the boxes of a node the nearest one comes first; the others by distance if they are to be `SORTED`.
#[inline(always)]
pub(super) fn search<const SORTED: bool>(
    lanes: impl RayLanes,
    nodes: &[Node],
    slabs: &Slabs,
    mut until: f32,
    leaves: &mut impl Leaves,
) -> Counters {
    let mut work = Counters::default();
    // Where a box is entered in the upper half, so that numbers are in the order of places, which are not negative;
    // the link in the lower.
    let mut room = Room::<u64, MOST_WAITING>::new();
    let mut waiting = FixedStack::within(&mut room);
    let mut link = Link::node(0);
    'next: loop {
        // Down to a leaf, or to nothing.
        'down: {
            // Spread over registers here: the compiler would do it before the search, and store what does not stay in them.
            let slabs = black_box(slabs);
            while !link.is_leaf() {
                let node = &nodes[link.index()];
                prefetch(&node.child[0]);
                work.volume_tests += LANES as u64;
                let (mask, enters) = lanes.boxes(slabs, &node.planes, until);
                if mask == 0 {
                    break 'down;
                }
                let mut rest = u32::from(mask);
                let lane = rest.trailing_zeros();
                rest &= rest - 1;
                if rest == 0 {
                    link = node.child[lane as usize % LANES];
                    continue;
                }
                let key = |lane: u32| {
                    let lane = lane as usize % LANES;
                    u64::from(enters[lane].to_bits()) << 32 | u64::from(node.child[lane].0)
                };
                let mut nearest = key(lane);
                let from = waiting.len();
                while rest != 0 {
                    let next = key(rest.trailing_zeros());
                    rest &= rest - 1;
                    let farther = nearest.max(next);
                    nearest = nearest.min(next);
                    waiting.push(farther);
                    let link = Link(farther as u32);
                    // Without a branch: which of both it is cannot be foreseen.
                    let (first, more) = match link.is_leaf() {
                        true => (leaves.address(link.index()), 64 * NODE_LINES),
                        false => (nodes.as_ptr().wrapping_add(link.index()).cast(), 0),
                    };
                    prefetch_from::<NODE_LINES>(first);
                    prefetch_from::<1>(first.wrapping_add(more));
                }
                if SORTED {
                    sort_descending(waiting.since(from));
                }
                link = Link(nearest as u32);
            }
            work.primitive_tests += LANES as u64;
            let Some(now) = leaves.visit(link.index()) else { return work };
            until = now;
        }
        while let Some(next) = waiting.pop() {
            if f32::from_bits((next >> 32) as u32) <= until {
                link = Link(next as u32);
                continue 'next;
            }
        }
        return work;
    }
}

/// A few numbers, the largest first.
#[inline(always)]
pub(super) fn sort_descending(numbers: &mut [u64]) {
    for i in 1..numbers.len() {
        let x = numbers[i];
        let mut at = i;
        while at > 0 && numbers[at - 1] < x {
            numbers[at] = numbers[at - 1];
            at -= 1;
        }
        numbers[at] = x;
    }
}
