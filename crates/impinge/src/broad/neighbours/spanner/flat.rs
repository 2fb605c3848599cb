//! The hierarchy laid out for traversals: nodes whose children are neighbours in memory, points in the order of the
//! leaves, and the true radius of everything below a node.
//!
//! A node stands for a point q and those of its children whose level is below some bound; the first child of a node is
//! q again, with what is left. Every inner node has two children at least, so n points have less than 2n nodes.

use glam::DVec3;

use super::super::meter::Unit;
use super::super::point_queries::PointTree;
use super::hierarchy::{Hierarchy, NONE, TWIN, scale, scale_sq};
use crate::num::tolerance::ROUND_UP;

/// Nodes of up to so many points get their true radius; larger ones a bound from their children.
const MEASURED: u32 = 64;

/// A centre and what is below it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub centre: DVec3,
    /// No point below is farther from the centre.
    pub radius: f64,
    /// No way to a point below along parents is longer.
    pub path: f64,
    /// The largest radius of a ball below.
    pub ball: f64,
    /// 2^l for the largest level l of what is below, the centre not counted; 0 in a leaf.
    pub scale: f64,
    /// The first of its children among the nodes.
    pub first: u32,
    /// How many children; none in a leaf.
    pub children: u32,
    /// The first of its points in the order of the leaves.
    pub start: u32,
    /// How many points.
    pub points: u32,
    /// The number of the point in the centre.
    pub point: u32,
    /// Where its children begin in the lists of the hierarchy.
    cursor: u32,
}

impl Node {
    /// Whether its points are compared one by one: few, or twins.
    #[inline]
    fn is_bucket(&self, bucket: u32) -> bool {
        self.points <= bucket || self.scale == 0.0
    }
}

/// All nodes, the root first, and the points in the order of the leaves.
#[derive(Debug, Clone, Default)]
pub(super) struct Flat {
    pub nodes: Vec<Node>,
    /// Numbers of the points.
    pub order: Vec<u32>,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub z: Vec<f64>,
    /// 4^l for the level l of each point.
    pub separation_sq: Vec<f64>,
    /// Whether the points and nodes are those of the hierarchy as it is now.
    pub is_current: bool,
}

impl Flat {
    /// Lays out a hierarchy; `ball` is the radius of a point's ball.
    pub fn update(&mut self, hierarchy: &Hierarchy, ball: impl Fn(u32) -> f64) {
        self.nodes.clear();
        if hierarchy.count > 0 {
            self.nodes.push(node(hierarchy, hierarchy.root, hierarchy.first[hierarchy.root as usize]));
        }
        let mut at = 0;
        while at < self.nodes.len() {
            self.expand(hierarchy, at);
            at += 1;
        }
        self.count_points();
        self.order_points(hierarchy);
        self.measure(ball);
        self.is_current = true;
    }

    /// Appends the children of a node.
    fn expand(&mut self, hierarchy: &Hierarchy, at: usize) {
        let Node { point, cursor, .. } = self.nodes[at];
        let first = self.nodes.len();
        let (mut child, level) = match cursor {
            NONE => (hierarchy.first_twin[point as usize], TWIN),
            _ => (cursor, hierarchy.level[cursor as usize]),
        };
        if child == NONE || self.nodes[at].children == LEAF {
            self.nodes[at].children = 0;
            return;
        }
        self.nodes.push(node(hierarchy, point, NONE));
        while child != NONE && hierarchy.level[child as usize] == level {
            self.nodes.push(node(hierarchy, child, hierarchy.first[child as usize]));
            child = hierarchy.next[child as usize];
        }
        self.nodes[first].cursor = child;
        if level == TWIN {
            self.nodes[first].children = LEAF;
        }
        let children = (self.nodes.len() - first) as u32;
        let parent = &mut self.nodes[at];
        (parent.first, parent.children, parent.scale) = (first as u32, children, scale(level));
    }

    fn count_points(&mut self) {
        for at in (0..self.nodes.len()).rev() {
            let children = self.children(at as u32);
            let points = self.nodes[children].iter().map(|child| child.points).sum::<u32>();
            self.nodes[at].points = points.max(1);
        }
    }

    fn order_points(&mut self, hierarchy: &Hierarchy) {
        let count = hierarchy.count;
        self.order.clear();
        self.order.resize(count, NONE);
        for at in 0..self.nodes.len() {
            let mut start = self.nodes[at].start;
            if self.nodes[at].children == 0 {
                self.order[start as usize] = self.nodes[at].point;
            }
            for child in self.children(at as u32) {
                self.nodes[child].start = start;
                start += self.nodes[child].points;
            }
        }
        let point = |&p: &u32| hierarchy.points[p as usize];
        for (column, axis) in [(&mut self.x, 0), (&mut self.y, 1), (&mut self.z, 2)] {
            column.clear();
            column.extend(self.order.iter().map(|p| point(p)[axis]));
        }
        self.separation_sq.clear();
        self.separation_sq.extend(self.order.iter().map(|&p| scale_sq(hierarchy.level[p as usize])));
    }

    /// Radii, ways and balls, from the leaves up.
    fn measure(&mut self, ball: impl Fn(u32) -> f64) {
        for at in (0..self.nodes.len()).rev() {
            let children = self.children(at as u32);
            let node = &self.nodes[at];
            let Node { centre, start, points, .. } = *node;
            let [mut path, mut radius, mut most] = [0.0_f64, 0.0, 0.0];
            if children.is_empty() {
                most = ball(node.point);
            }
            for child in &self.nodes[children] {
                let way = centre.distance(child.centre) * ROUND_UP;
                path = path.max(way + child.path);
                radius = radius.max(way + child.radius);
                most = most.max(child.ball);
            }
            if (2..=MEASURED).contains(&points) {
                let range = start as usize..(start + points) as usize;
                let sq = range.map(|i| self.at(i).distance_squared(centre)).fold(0.0, f64::max);
                radius = sq.sqrt() * ROUND_UP;
            }
            let node = &mut self.nodes[at];
            (node.path, node.radius, node.ball) = (path, radius, most);
        }
    }

    #[inline]
    pub fn at(&self, i: usize) -> DVec3 {
        DVec3::new(self.x[i], self.y[i], self.z[i])
    }

    /// The numbers of the points at two places, the smaller first.
    #[inline]
    pub fn numbers(&self, i: usize, j: usize) -> [u32; 2] {
        let [p, q] = [self.order[i], self.order[j]];
        [p.min(q), p.max(q)]
    }

    /// The numbers of a node's children.
    #[inline]
    pub fn children(&self, at: u32) -> std::ops::Range<usize> {
        let Node { first, children, .. } = self.nodes[at as usize];
        first as usize..(first + children) as usize
    }

    /// Visits pairs of points such that every pair at most `reach` plus the radii of their balls apart is among them,
    /// and every pair that is nearer than the levels of both allow: as places in the order of the leaves, with the
    /// squared distance. Nodes of up to `bucket` points, and twins, are not taken apart. Ends
    /// where `grant`, which is asked before measurements, says no. Returns how many pairs of nodes and of points were
    /// measured.
    pub fn near_pairs(
        &self,
        reach: f64,
        bucket: u32,
        mut visit: impl FnMut(usize, usize, f64),
        grant: impl Fn(Unit, u64) -> bool,
    ) -> [u64; 2] {
        let [mut node_tests, mut point_tests] = [0_u64; 2];
        let mut stack = if self.nodes.is_empty() { Vec::new() } else { vec![[0, 0]] };
        while let Some([a, b]) = stack.pop() {
            let (s, t) = (&self.nodes[a as usize], &self.nodes[b as usize]);
            let (unit, tests) = tests_of(s, t, a == b, bucket);
            if !grant(unit, tests) {
                break;
            }
            if s.is_bucket(bucket) && t.is_bucket(bucket) {
                point_tests += tests;
                let wanted = (reach + s.ball + t.ball).max(s.scale).max(t.scale) * ROUND_UP;
                self.compare_buckets([s, t], a == b, wanted * wanted, &mut visit);
                continue;
            }
            node_tests += tests;
            if a == b {
                let children = self.children(a);
                for i in children.clone() {
                    stack.push([i as u32; 2]);
                    for j in i + 1..children.end {
                        self.push_near(&mut stack, reach, [i as u32, j as u32]);
                    }
                }
            } else {
                let (split, other) = if is_first_split(s, t, bucket) { (a, b) } else { (b, a) };
                for child in self.children(split) {
                    self.push_near(&mut stack, reach, [child as u32, other]);
                }
            }
        }
        [node_tests, point_tests]
    }

    /// Notes two nodes whose points may be near or too near each other.
    #[inline]
    fn push_near(&self, stack: &mut Vec<[u32; 2]>, reach: f64, [a, b]: [u32; 2]) {
        let (s, t) = (&self.nodes[a as usize], &self.nodes[b as usize]);
        let wanted = (reach + s.ball + t.ball).max(s.scale).max(t.scale);
        let limit = (wanted + s.radius + t.radius) * ROUND_UP;
        let d_sq = s.centre.distance_squared(t.centre);
        // The centres themselves may have larger levels than all below them.
        let centres = || {
            let [p, q] = [s.start, t.start].map(|i| self.separation_sq[i as usize]);
            d_sq < p.min(q)
        };
        if d_sq <= limit * limit || centres() {
            stack.push([a, b]);
        }
    }

    /// All pairs of two buckets, or within one, up to a squared distance.
    #[inline]
    fn compare_buckets(
        &self,
        [s, t]: [&Node; 2],
        same: bool,
        limit_sq: f64,
        visit: &mut impl FnMut(usize, usize, f64),
    ) {
        let places = |node: &Node| node.start as usize..(node.start + node.points) as usize;
        // A centre is the first of its points.
        let centres = self.separation_sq[s.start as usize].min(self.separation_sq[t.start as usize]);
        for i in places(s) {
            let range = if same { i + 1..places(s).end } else { places(t) };
            let p = self.at(i);
            let columns =
                self.x[range.clone()].iter().zip(&self.y[range.clone()]).zip(&self.z[range.clone()]);
            for (j, ((x, y), z)) in range.zip(columns) {
                let [dx, dy, dz] = [x - p.x, y - p.y, z - p.z];
                let d_sq = (dx * dx + dy * dy) + dz * dz;
                if d_sq <= limit_sq || d_sq < centres && i == s.start as usize && j == t.start as usize {
                    visit(i, j, d_sq);
                }
            }
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let columns = [&self.x, &self.y, &self.z, &self.separation_sq];
        let doubles: usize = columns.iter().map(|c| c.capacity() * size_of::<f64>()).sum();
        (self.nodes.capacity() * size_of::<Node>() + self.order.capacity() * size_of::<u32>() + doubles)
            as u64
    }
}

impl PointTree for Flat {
    type Node = u32;

    fn root(&self) -> Option<u32> {
        (!self.nodes.is_empty()).then_some(0)
    }

    fn distance(&self, node: u32, point: DVec3) -> f64 {
        let node = &self.nodes[node as usize];
        // Both distances are rounded.
        let centre = node.centre.distance(point);
        (centre - node.radius - (centre + node.radius) * (ROUND_UP - 1.0)).max(0.0)
    }

    fn children(&self, node: u32, each: impl FnMut(u32)) {
        Flat::children(self, node).map(|child| child as u32).for_each(each);
    }

    fn numbers(&self, leaf: u32) -> impl Iterator<Item = u32> {
        std::iter::once(self.nodes[leaf as usize].point)
    }
}

/// How many tests of which kind two nodes, or one with itself, are followed by.
#[inline]
fn tests_of(s: &Node, t: &Node, same: bool, bucket: u32) -> (Unit, u64) {
    let choose_two = |n: u32| u64::from(n) * u64::from(n.saturating_sub(1)) / 2;
    match (s.is_bucket(bucket) && t.is_bucket(bucket), same) {
        (true, false) => (Unit::Test, u64::from(s.points) * u64::from(t.points)),
        (true, true) => (Unit::Test, choose_two(s.points)),
        (false, true) => (Unit::VolumeTest, choose_two(s.children)),
        (false, false) => {
            (Unit::VolumeTest, u64::from(if is_first_split(s, t, bucket) { s } else { t }.children))
        }
    }
}

/// Whether of two nodes, not both small enough, the first is taken apart: the wider, but nothing that is small enough.
#[inline]
fn is_first_split(s: &Node, t: &Node, bucket: u32) -> bool {
    t.is_bucket(bucket) || !s.is_bucket(bucket) && s.radius >= t.radius
}

/// Marks a node that is a single point, although the point has twins.
const LEAF: u32 = u32::MAX;

fn node(hierarchy: &Hierarchy, point: u32, cursor: u32) -> Node {
    Node {
        centre: hierarchy.points[point as usize],
        radius: 0.0,
        path: 0.0,
        ball: 0.0,
        scale: 0.0,
        first: 0,
        children: 0,
        start: 0,
        points: 0,
        point,
        cursor,
    }
}
