//! One ray down the tree, the nearest box first.

use smallvec::SmallVec;

use super::tree_ray::RayLimit;
use super::{Link, Node, PlacedRayTree, TreeRay};
use crate::Counters;
use crate::simd::ray_lanes::{LANES, RayLanes, Slabs};
use crate::simd::{SimdLevel, dispatch};

/// What waits: where its box is entered in the upper half, so that numbers are in the order of places, which are
/// not negative; the link in the lower.
type Waiting = SmallVec<[u64; 128]>;

impl PlacedRayTree<'_> {
    /// Calls `found` with every triangle that the ray may hit within the limit that it last returned; `None` ends
    /// the search.
    #[inline]
    pub(crate) fn candidates(
        &self,
        level: SimdLevel,
        ray: &TreeRay,
        limit: RayLimit,
        found: &mut dyn FnMut(u32) -> Option<RayLimit>,
    ) -> Counters {
        candidates(level, self, ray, limit, found)
    }

    /// Whether the ray hits a triangle within the limit: certain ones end the search at once, `decide` is asked
    /// about the others.
    #[inline]
    pub(crate) fn any(
        &self,
        level: SimdLevel,
        ray: &TreeRay,
        limit: RayLimit,
        decide: &mut dyn FnMut(u32) -> bool,
    ) -> (bool, Counters) {
        any(level, self, ray, limit, decide)
    }
}

dispatch! {
    fn candidates(
        tree: &PlacedRayTree<'_>,
        ray: &TreeRay,
        limit: RayLimit,
        found: &mut dyn FnMut(u32) -> Option<RayLimit>,
    ) -> Counters = proof candidates_in
}

dispatch! {
    fn any(
        tree: &PlacedRayTree<'_>,
        ray: &TreeRay,
        limit: RayLimit,
        decide: &mut dyn FnMut(u32) -> bool,
    ) -> (bool, Counters) = proof any_in
}

#[inline(always)]
fn candidates_in(
    lanes: impl RayLanes,
    placed: &PlacedRayTree<'_>,
    ray: &TreeRay,
    limit: RayLimit,
    found: &mut dyn FnMut(u32) -> Option<RayLimit>,
) -> Counters {
    let mut limit = limit;
    leaves(lanes, &placed.tree.nodes, &ray.slabs, limit.until, |block, _| {
        let block = &placed.tree.blocks[block];
        let mut maybe = lanes.triangles(&ray.line, &block.corners, limit.between).maybe;
        while maybe != 0 {
            let lane = maybe.trailing_zeros() as usize;
            maybe &= maybe - 1;
            limit = found(block.triangles[lane])?;
        }
        Some(limit.until)
    })
}

#[inline(always)]
fn any_in(
    lanes: impl RayLanes,
    placed: &PlacedRayTree<'_>,
    ray: &TreeRay,
    limit: RayLimit,
    decide: &mut dyn FnMut(u32) -> bool,
) -> (bool, Counters) {
    let mut any = false;
    let work = leaves(lanes, &placed.tree.nodes, &ray.slabs, limit.until, |block, _| {
        let block = &placed.tree.blocks[block];
        let touched = lanes.triangles(&ray.line, &block.corners, limit.between);
        any = touched.surely != 0;
        let mut maybe = touched.maybe;
        while maybe != 0 && !any {
            let lane = maybe.trailing_zeros() as usize;
            maybe &= maybe - 1;
            any = decide(block.triangles[lane]);
        }
        (!any).then_some(limit.until)
    });
    (any, work)
}

/// Visits the leaves whose boxes are entered before the place that `visit` last returned, with where they are
/// entered, until it returns none.
#[inline(always)]
pub(super) fn leaves(
    lanes: impl RayLanes,
    nodes: &[Node],
    slabs: &Slabs,
    mut until: f32,
    mut visit: impl FnMut(usize, f32) -> Option<f32>,
) -> Counters {
    let mut work = Counters::default();
    let mut waiting = Waiting::new();
    let (mut link, mut at) = (Link::node(0), 0.0);
    loop {
        // Down to a leaf, or to nothing.
        let leaf = loop {
            if link.is_leaf() {
                break Some(link.index());
            }
            let node = &nodes[link.index()];
            work.volume_tests += LANES as u64;
            let (mut mask, enters) = lanes.boxes(slabs, &node.planes, until);
            if mask == 0 {
                break None;
            }
            let key = |lane: u32| {
                let lane = lane as usize % LANES;
                u64::from(enters[lane].to_bits()) << 32 | u64::from(node.child[lane].0)
            };
            let mut nearest = key(mask.trailing_zeros());
            mask &= mask - 1;
            if mask == 0 {
                (link, at) = unpacked(nearest);
                continue;
            }
            let from = waiting.len();
            loop {
                let next = key(mask.trailing_zeros());
                mask &= mask - 1;
                let farther = nearest.max(next);
                nearest = nearest.min(next);
                waiting.push(farther);
                if mask == 0 {
                    break;
                }
            }
            sort_descending(&mut waiting[from..]);
            (link, at) = unpacked(nearest);
        };
        if let Some(leaf) = leaf {
            work.primitive_tests += LANES as u64;
            let Some(now) = visit(leaf, at) else { return work };
            until = now;
        }
        loop {
            let Some(next) = waiting.pop() else { return work };
            (link, at) = unpacked(next);
            if at <= until {
                break;
            }
        }
    }
}

/// Where to go, and where it is entered.
#[inline(always)]
fn unpacked(waiting: u64) -> (Link, f32) {
    (Link(waiting as u32), f32::from_bits((waiting >> 32) as u32))
}

/// A few numbers, the largest first.
#[inline(always)]
fn sort_descending(numbers: &mut [u64]) {
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
