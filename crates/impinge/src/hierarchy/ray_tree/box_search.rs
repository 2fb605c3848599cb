//! Questions to a tree over boxes: along a ray, meeting a box, nearest to a box.
//!
//! Boxes of the world are brought into the tree's frame and rounded outward there, so that nothing is lost; what is
//! visited may be a little more than what meets.

use glam::{DVec3, Vec3};
use smallvec::SmallVec;

use super::search::{Leaves, search, sort_descending};
use super::tree_ray::TreeRay;
use super::{BoxTree, Link, Node};
use crate::Counters;
use crate::bound::Aabb;
use crate::simd::ray_lanes::{LANES, Lanes, RayLanes};
use crate::simd::{SimdLevel, dispatch};

/// Rounding of a distance of two boxes in f32 (no unit): differences, squares, a sum and a root.
const GAP_ROUNDING: f32 = 8.0 * f32::EPSILON;

impl BoxTree {
    /// Calls `visit` with every box, grown by `grown` on each side, that the ray enters before the parameter that it
    /// last returned, beginning with `reach`; nearer ones come first, about.
    pub(crate) fn along_ray(
        &self,
        way: [DVec3; 2],
        grown: DVec3,
        reach: f64,
        visit: &mut dyn FnMut(u32) -> f64,
    ) -> Counters {
        along(SimdLevel::best(), self, way, grown / self.frame.unit, reach, visit)
    }

    /// Calls `visit` with every box that may meet this one.
    pub(crate) fn meeting(&self, bounds: &Aabb, visit: &mut dyn FnMut(u32)) -> Counters {
        meeting(SimdLevel::best(), self, &self.inside(bounds), visit)
    }

    /// Calls `visit` with every box that is at most as far from this one as what it last returned, beginning with
    /// `limit` (a length), and a distance below its own, 0 where they may meet; nearer ones come first, about.
    pub(crate) fn nearest(
        &self,
        bounds: &Aabb,
        limit: f64,
        visit: &mut dyn FnMut(u32, f64) -> f64,
    ) -> Counters {
        nearest(SimdLevel::best(), self, &self.inside(bounds), limit, visit)
    }

    /// A box in the tree's frame, rounded outward; what is far away stays far away.
    fn inside(&self, bounds: &Aabb) -> [Vec3; 2] {
        let inward = |p: DVec3| self.frame.inward(p).clamp(DVec3::splat(-1e30), DVec3::splat(1e30)).as_vec3();
        [inward(bounds.low).map(f32::next_down), inward(bounds.high).map(f32::next_up)]
    }
}

dispatch! {
    fn along(
        tree: &BoxTree,
        way: [DVec3; 2],
        grown: DVec3,
        reach: f64,
        visit: &mut dyn FnMut(u32) -> f64,
    ) -> Counters = proof along_in
}

#[inline(always)]
fn along_in(
    lanes: impl RayLanes,
    tree: &BoxTree,
    [origin, direction]: [DVec3; 2],
    grown: DVec3,
    reach: f64,
    visit: &mut dyn FnMut(u32) -> f64,
) -> Counters {
    let Some(ray) = tree.placed.ray(lanes, &origin, &direction, grown) else { return Counters::default() };
    let until = ray.limit(reach).until;
    search::<true>(lanes, &tree.nodes, &ray.slabs, until, &mut BoxLeaves { ray: &ray, visit })
}

struct BoxLeaves<'s> {
    ray: &'s TreeRay,
    visit: &'s mut dyn FnMut(u32) -> f64,
}

impl Leaves for BoxLeaves<'_> {
    #[inline(always)]
    fn visit(&mut self, name: usize) -> Option<f32> {
        let reach = (self.visit)(name as u32);
        Some(self.ray.limit(reach).until)
    }

    #[inline(always)]
    fn address(&self, _: usize) -> *const u8 {
        // What is seldom looked at is not asked for.
        std::ptr::from_ref(self).cast()
    }
}

dispatch! {
    fn meeting(tree: &BoxTree, bounds: &[Vec3; 2], visit: &mut dyn FnMut(u32)) -> Counters = each meeting_in
}

#[inline(always)]
fn meeting_in(tree: &BoxTree, bounds: &[Vec3; 2], visit: &mut dyn FnMut(u32)) -> Counters {
    let mut work = Counters::default();
    let mut open: SmallVec<[u32; 64]> = SmallVec::from_slice(&[0]);
    while let Some(index) = open.pop() {
        let node = &tree.nodes[index as usize];
        work.volume_tests += LANES as u64;
        let mut mask = meets(node, bounds);
        while mask != 0 {
            let link = node.child[mask.trailing_zeros() as usize];
            mask &= mask - 1;
            if link.is_leaf() { visit(link.index() as u32) } else { open.push(link.0) }
        }
    }
    work
}

#[inline(always)]
fn meets(node: &Node, [low, high]: &[Vec3; 2]) -> u8 {
    let mut apart = [false; LANES];
    for axis in 0..3 {
        let planes = node.planes[axis][0].iter().zip(&node.planes[axis][1]);
        for (apart, (lowest, highest)) in apart.iter_mut().zip(planes) {
            *apart |= *lowest > high[axis] || *highest < low[axis];
        }
    }
    (0..LANES).fold(0, |mask, lane| mask | u8::from(!apart[lane]) << lane)
}

dispatch! {
    fn nearest(
        tree: &BoxTree,
        bounds: &[Vec3; 2],
        limit: f64,
        visit: &mut dyn FnMut(u32, f64) -> f64,
    ) -> Counters = each nearest_in
}

#[inline(always)]
fn nearest_in(
    tree: &BoxTree,
    bounds: &[Vec3; 2],
    limit: f64,
    visit: &mut dyn FnMut(u32, f64) -> f64,
) -> Counters {
    let mut work = Counters::default();
    let mut limit = limit;
    // The bits of a distance, which is not negative, above those of a link: numbers are in the order of distances.
    let mut open: SmallVec<[u64; 64]> = SmallVec::from_slice(&[0]);
    while let Some(next) = open.pop() {
        let (gap, link) =
            (f64::from(f32::from_bits((next >> 32) as u32)) * tree.frame.unit, Link(next as u32));
        if gap > limit {
            continue;
        }
        if link.is_leaf() {
            limit = visit(link.index() as u32, gap);
            continue;
        }
        let node = &tree.nodes[link.index()];
        work.volume_tests += LANES as u64;
        let gaps = gaps(node, bounds);
        // Rounded up; what is beyond would be left aside later.
        let most = ((limit / tree.frame.unit) as f32).next_up();
        let from = open.len();
        // Found together: which of them are near cannot be foreseen.
        let mut near = (0..LANES).fold(0_u8, |mask, lane| mask | u8::from(gaps[lane] <= most) << lane);
        while near != 0 {
            let lane = near.trailing_zeros() as usize % LANES;
            near &= near - 1;
            if node.child[lane] != Link::NONE {
                open.push(u64::from(gaps[lane].to_bits()) << 32 | u64::from(node.child[lane].0));
            }
        }
        sort_descending(&mut open[from..]);
    }
    work
}

/// Distances to all child boxes, rounded down.
#[inline(always)]
fn gaps(node: &Node, [low, high]: &[Vec3; 2]) -> Lanes {
    let mut squares = [0.0_f32; LANES];
    for axis in 0..3 {
        let planes = node.planes[axis][0].iter().zip(&node.planes[axis][1]);
        for (square, (lowest, highest)) in squares.iter_mut().zip(planes) {
            let gap = larger(larger(lowest - high[axis], low[axis] - highest), 0.0);
            *square += gap * gap;
        }
    }
    for square in &mut squares {
        *square = square.sqrt() * (1.0 - GAP_ROUNDING);
    }
    squares
}

// Not `f32::max`, whose care for NaN costs more than the rest.
#[inline(always)]
fn larger(x: f32, y: f32) -> f32 {
    if x > y { x } else { y }
}
