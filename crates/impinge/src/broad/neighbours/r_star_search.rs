//! Pairs by an R*-tree that is kept from frame to frame: only particles that left the box of their leaf are put in anew.

use glam::DVec3;

use super::box_tree::{BoxNode, BoxTree};
use super::meter::{Meter, Unit};
use super::point_list::PointList;
use super::point_queries;
use super::r_star::{Bound, NONE, RStarTree};
use super::{Nearest, NeighbourSearch, Particles, SearchCounters, Technique};
use crate::bound::Aabb;
use crate::num::tolerance::FLAT_BOX_SHARE;

/// The R*-tree as a technique.
#[derive(Debug, Default)]
pub(super) struct RStarSearch {
    points: PointList,
    tree: RStarTree<Aabb>,
    /// The same tree laid out.
    boxes: BoxTree,
    counters: SearchCounters,
}

impl NeighbourSearch for RStarSearch {
    fn technique(&self) -> Technique {
        Technique::RStar
    }

    fn update(&mut self, particles: &Particles<'_>) {
        self.refresh(particles);
    }

    fn search(&mut self, particles: &Particles<'_>, pairs: &mut Vec<[u32; 2]>) {
        let [tests, updates] = [self.tree.tests, self.tree.updates];
        if !self.refresh(particles) {
            return pairs.clear();
        }
        let RStarSearch { points, tree, boxes, counters } = self;
        let [box_tests, point_tests] = boxes.pairs(particles, points, pairs);
        *counters = SearchCounters {
            tests: point_tests,
            volume_tests: box_tests + tree.tests - tests,
            pairs: pairs.len() as u64,
            updates: tree.updates - updates,
            bytes: points.bytes() + tree.bytes() + boxes.bytes(),
        };
    }

    fn counters(&self) -> SearchCounters {
        self.counters
    }

    fn nearest(&self, particles: &Particles<'_>, point: [f64; 3], k: usize, found: &mut Vec<Nearest>) {
        point_queries::nearest(&self.boxes, particles, point, k, found);
    }

    fn within(&self, particles: &Particles<'_>, point: [f64; 3], radius: f64, found: &mut Vec<Nearest>) {
        point_queries::within(&self.boxes, particles, point, radius, found);
    }
}

impl RStarSearch {
    /// Brings the tree up to date with a frame; false when the budget of the thread ended first.
    fn refresh(&mut self, particles: &Particles<'_>) -> bool {
        let RStarSearch { points, tree, boxes, .. } = self;
        points.update(particles);
        let count = points.positions().len();
        let bound = |p: u32| {
            let (at, ball) = (DVec3::from(points.positions()[p as usize]), points.radius(particles, p));
            Aabb { low: at - ball, high: at + ball }
        };
        for extra in count..tree.items.len() {
            tree.remove(extra as u32);
        }
        tree.items.truncate(count);
        let known = tree.items.len();
        tree.update(bound);
        let meter = Meter::of_thread();
        for p in known as u32..count as u32 {
            let before = tree.tests;
            tree.insert(p, bound(p));
            if !meter.grant(Unit::VolumeTest, tree.tests - before, 0) {
                return false;
            }
        }
        debug_assert!(tree.is_valid());
        lay_out(tree, boxes);
        boxes.fit(particles, points);
        true
    }
}

fn lay_out(tree: &RStarTree<Aabb>, boxes: &mut BoxTree) {
    boxes.clear();
    boxes.order.clear();
    let mut order = Vec::new();
    if tree.root != NONE {
        order.push(tree.root);
        boxes.nodes.push(BoxNode::leaf(0, 0));
    }
    let mut at = 0;
    while at < order.len() {
        let node = &tree.nodes[order[at] as usize];
        boxes.nodes[at] = if node.level == 0 {
            let start = boxes.order.len();
            boxes.order.extend_from_slice(&node.entries);
            BoxNode::leaf(start, node.entries.len())
        } else {
            let first = order.len();
            order.extend_from_slice(&node.entries);
            boxes.nodes.resize(order.len(), BoxNode::leaf(0, 0));
            BoxNode::inner(first, node.entries.len())
        };
        at += 1;
    }
}

impl Bound for Aabb {
    const EMPTY: Aabb = Aabb::EMPTY;
    const KEYS: usize = 6;

    fn merge(&self, other: &Aabb) -> Aabb {
        Aabb::merge(self, other)
    }

    fn volume(&self) -> f64 {
        content(sides(self))
    }

    fn margin(&self) -> f64 {
        sides(self).element_sum()
    }

    fn overlap(&self, other: &Aabb) -> f64 {
        let common = self.high.min(other.high) - self.low.max(other.low);
        if common.cmpge(DVec3::ZERO).all() { content(common) } else { 0.0 }
    }

    fn centre_distance_sq(&self, other: &Aabb) -> f64 {
        self.centre().distance_squared(other.centre())
    }

    fn key(&self, k: usize) -> f64 {
        if k < 3 { self.low[k] } else { self.high[k - 3] }
    }

    fn holds(&self, other: &Aabb) -> bool {
        self.low.cmple(other.low).all() && other.high.cmple(self.high).all()
    }
}

/// The volume, with a little of every side on the others: flat boxes differ too.
pub(super) fn content(sides: DVec3) -> f64 {
    (sides + FLAT_BOX_SHARE * sides.element_sum()).element_product()
}

fn sides(bounds: &Aabb) -> DVec3 {
    (bounds.high - bounds.low).max(DVec3::ZERO)
}
