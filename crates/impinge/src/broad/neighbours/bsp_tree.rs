//! Pairs by a BSP tree that adjusts itself where it must (Luque, Comba and Freitas, "Broad-phase collision detection
//! using semi-adjusting BSP-trees", 2005).
//!
//! The planes stay from frame to frame while they divide their points well enough; points only go to the other side of
//! them. Where a plane has too many points on one side, what is below it gets new planes; where too few are left, it
//! becomes a leaf. Planes are perpendicular to an axis and put through the median. Where we leave the paper: points have
//! no extent, so none is on both sides, and balls are held by the boxes that are fitted around the leaves.

use glam::DVec3;

use super::box_tree::{BoxNode, BoxTree};
use super::point_list::PointList;
use super::point_queries;
use super::{Nearest, NeighbourSearch, Particles, SearchCounters, Technique};

/// Sets of so many points or fewer are not divided.
const LEAF: usize = 12;

/// A plane is kept while at most this share of the points is on one side of it.
const BALANCE: f64 = 0.7;

const NONE: u32 = u32::MAX;

/// A plane perpendicular to an axis; points below it go to the first child, others to the second.
#[derive(Debug, Clone, Copy)]
struct Plane {
    axis: usize,
    at: f64,
}

/// A BSP tree that lasts.
#[derive(Debug, Default)]
pub(super) struct BspTree {
    points: PointList,
    tree: BoxTree,
    /// The plane of each node of the tree; none in leaves.
    planes: Vec<Option<Plane>>,
    /// Points that the last update took to another side or gave new planes.
    updates: u64,
    counters: SearchCounters,
}

impl NeighbourSearch for BspTree {
    fn technique(&self) -> Technique {
        Technique::Bsp
    }

    fn update(&mut self, particles: &Particles<'_>) {
        self.points.update(particles);
        self.updates = self.adjust();
        self.tree.fit(particles, &self.points);
    }

    fn search(&mut self, particles: &Particles<'_>, pairs: &mut Vec<[u32; 2]>) {
        self.update(particles);
        let BspTree { points, tree, planes, updates, counters } = self;
        let [volume_tests, tests] = tree.pairs(particles, points, pairs);
        *counters = SearchCounters {
            tests,
            volume_tests,
            pairs: pairs.len() as u64,
            updates: *updates,
            bytes: points.bytes() + tree.bytes() + super::bytes_of(planes),
        };
    }

    fn counters(&self) -> SearchCounters {
        self.counters
    }

    fn nearest(&self, particles: &Particles<'_>, point: [f64; 3], k: usize, found: &mut Vec<Nearest>) {
        point_queries::nearest(&self.tree, particles, point, k, found);
    }

    fn within(&self, particles: &Particles<'_>, point: [f64; 3], radius: f64, found: &mut Vec<Nearest>) {
        point_queries::within(&self.tree, particles, point, radius, found);
    }
}

impl BspTree {
    /// Takes all points to their sides of the planes, from the root down; returns how many points changed sides or got
    /// new planes.
    fn adjust(&mut self) -> u64 {
        let BspTree { points, tree, planes, .. } = self;
        let positions = points.positions();
        let count = positions.len();
        let before = tree.order.len();
        if before <= count {
            tree.order.extend(before as u32..count as u32);
        } else {
            tree.order.retain(|&p| (p as usize) < count);
        }
        let (old_nodes, old_planes) = (std::mem::take(&mut tree.nodes), std::mem::take(planes));
        let mut updates = 0;
        // The new node, the old one, and the points.
        let mut waiting = std::collections::VecDeque::new();
        if count > 0 {
            tree.nodes.push(BoxNode::leaf(0, count));
            planes.push(None);
            waiting.push_back((0, if old_nodes.is_empty() { NONE } else { 0 }, 0, count));
        }
        while let Some((at, old, start, end)) = waiting.pop_front() {
            let members = &mut tree.order[start..end];
            if members.len() <= LEAF {
                continue;
            }
            let known = if old == NONE { None } else { old_planes[old as usize] };
            let kept = known.and_then(|plane| {
                let (middle, changed) = divide(members, positions, plane);
                let larger = middle.max(members.len() - middle);
                (larger as f64 <= BALANCE * members.len() as f64).then_some((plane, middle, changed))
            });
            let is_kept = kept.is_some();
            let Some((plane, middle, changed)) = kept.or_else(|| {
                let plane = median_plane(members, positions)?;
                let (middle, _) = divide(members, positions, plane);
                Some((plane, middle, members.len() as u64))
            }) else {
                continue;
            };
            updates += changed;
            let first = tree.nodes.len();
            tree.nodes[at] = BoxNode::inner(first, 2);
            planes[at] = Some(plane);
            for (side, (from, to)) in [(start, start + middle), (start + middle, end)].into_iter().enumerate()
            {
                tree.nodes.push(BoxNode::leaf(from, to - from));
                planes.push(None);
                let old = if is_kept { old_nodes[old as usize].first + side as u32 } else { NONE };
                waiting.push_back((first + side, old, from, to));
            }
        }
        updates
    }
}

/// Puts the points below a plane first; returns how many they are and how many points changed places for it.
fn divide(members: &mut [u32], positions: &[[f64; 3]], plane: Plane) -> (usize, u64) {
    let below = |p: u32| positions[p as usize][plane.axis] < plane.at;
    let (mut low, mut high, mut changed) = (0, members.len(), 0);
    loop {
        while low < high && below(members[low]) {
            low += 1;
        }
        while low < high && !below(members[high - 1]) {
            high -= 1;
        }
        if low == high {
            return (low, changed);
        }
        members.swap(low, high - 1);
        changed += 2;
    }
}

/// The plane through the median of the longest axis; none where all points coincide.
fn median_plane(members: &mut [u32], positions: &[[f64; 3]]) -> Option<Plane> {
    let at = |p: u32, axis: usize| positions[p as usize][axis];
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for &p in members.iter() {
        let place = DVec3::from(positions[p as usize]);
        (low, high) = (low.min(place), high.max(place));
    }
    let size = |axis: &usize| high[*axis] - low[*axis];
    let axis = (0..3).max_by(|a, b| size(a).total_cmp(&size(b)))?;
    if !(size(&axis) > 0.0) {
        return None;
    }
    let middle = members.len() / 2;
    let (_, &mut median, _) =
        members.select_nth_unstable_by(middle, |&p, &q| at(p, axis).total_cmp(&at(q, axis)).then(p.cmp(&q)));
    let median = at(median, axis);
    // Points at the plane are above it, so one at least must be below.
    let halfway = low[axis] + 0.5 * (high[axis] - low[axis]);
    let at = if median > low[axis] {
        median
    } else if halfway > low[axis] {
        halfway
    } else {
        high[axis]
    };
    Some(Plane { axis, at })
}
