//! One ray down the tree, the nearest box first.
//!
//! Both searches are taken in by the function that asks, which is compiled for an instruction set as a whole: what a
//! ray costs besides its boxes and triangles is what counts where it meets few of them.

use super::tree_ray::RayLimit;
use super::{Face, Link, Node, PlacedRayTree, TreeRay};
use crate::Counters;
use crate::simd::fixed_stack::FixedStack;
use crate::simd::ray_lanes::{LANES, RayLanes, Slabs};

/// Seven may wait at each level, and no tree is deeper than its [depth](super::build::DEEPEST).
const MOST_WAITING: usize = (LANES - 1) * super::build::DEEPEST;

impl PlacedRayTree<'_> {
    /// Calls `found` with every triangle that the ray may hit within the limit that it last returned.
    #[inline(always)]
    pub(crate) fn candidates(
        &self,
        lanes: impl RayLanes,
        ray: &TreeRay,
        limit: RayLimit,
        mut found: impl FnMut(&Face) -> RayLimit,
    ) -> Counters {
        let mut limit = limit;
        leaves::<true>(lanes, &self.tree.nodes, &ray.slabs, limit.until, |block| {
            let block = &self.tree.blocks[block];
            let mut maybe = lanes.triangles(&ray.line, &block.corners, limit.between).maybe;
            while maybe != 0 {
                let lane = maybe.trailing_zeros() as usize;
                maybe &= maybe - 1;
                limit = found(&block.faces[lane % LANES]);
            }
            Some(limit.until)
        })
    }

    /// Whether the ray hits a triangle within the limit: certain ones end the search at once, `decide` is asked
    /// about the others.
    #[inline(always)]
    pub(crate) fn any(
        &self,
        lanes: impl RayLanes,
        ray: &TreeRay,
        limit: RayLimit,
        mut decide: impl FnMut(&Face) -> bool,
    ) -> (bool, Counters) {
        let mut any = false;
        let work = leaves::<false>(lanes, &self.tree.nodes, &ray.slabs, limit.until, |block| {
            let block = &self.tree.blocks[block];
            let touched = lanes.triangles(&ray.line, &block.corners, limit.between);
            any = touched.surely != 0;
            let mut maybe = touched.maybe;
            while maybe != 0 && !any {
                let lane = maybe.trailing_zeros() as usize;
                maybe &= maybe - 1;
                any = decide(&block.faces[lane % LANES]);
            }
            (!any).then_some(limit.until)
        });
        (any, work)
    }
}

/// Visits the leaves whose boxes are entered before the place that `visit` last returned, until it returns none. Of
/// the boxes of a node the nearest one comes first; the others by distance if they are to be `SORTED`.
#[inline(always)]
pub(super) fn leaves<const SORTED: bool>(
    lanes: impl RayLanes,
    nodes: &[Node],
    slabs: &Slabs,
    mut until: f32,
    mut visit: impl FnMut(usize) -> Option<f32>,
) -> Counters {
    let mut work = Counters::default();
    // Where a box is entered in the upper half, so that numbers are in the order of places, which are not negative;
    // the link in the lower.
    let mut waiting = FixedStack::<u64, MOST_WAITING>::new();
    let mut link = Link::node(0);
    'next: loop {
        // Down to a leaf, or to nothing.
        'down: {
            while !link.is_leaf() {
                let node = &nodes[link.index()];
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
                    waiting.push(nearest.max(next));
                    nearest = nearest.min(next);
                }
                if SORTED {
                    sort_descending(waiting.since(from));
                }
                link = Link(nearest as u32);
            }
            work.primitive_tests += LANES as u64;
            let Some(now) = visit(link.index()) else { return work };
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
