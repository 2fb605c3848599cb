//! A tree of boxes over points or balls, laid out for one traversal that finds all near pairs.
//!
//! Octree, BSP tree and R*-tree differ in how they group points and what they keep from frame to frame; what they hand
//! over here is the same: nodes with their children side by side, and the points in the order of the leaves.

use std::cell::Cell;

use glam::DVec3;

use super::Particles;
use super::meter::{Meter, Unit};
use super::point_list::PointList;
use super::point_queries::PointTree;
use crate::num::tolerance::ROUND_UP;

/// A box around the balls below.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BoxNode {
    low: DVec3,
    high: DVec3,
    /// The largest radius of a ball below.
    ball: f64,
    /// The first child among the nodes, or the first point of a leaf in the order of the leaves.
    pub first: u32,
    /// How many children, or points of a leaf.
    pub count: u32,
    pub is_leaf: bool,
}

impl BoxNode {
    pub fn leaf(start: usize, points: usize) -> BoxNode {
        BoxNode { first: start as u32, count: points as u32, is_leaf: true, ..BoxNode::default() }
    }

    pub fn inner(first: usize, children: usize) -> BoxNode {
        BoxNode { first: first as u32, count: children as u32, is_leaf: false, ..BoxNode::default() }
    }

    #[inline]
    fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }

    /// The largest side.
    #[inline]
    fn size(&self) -> f64 {
        (self.high - self.low).max_element()
    }
}

/// Nodes, the root first and children behind their parents; points in the order of the leaves.
#[derive(Debug, Clone, Default)]
pub(super) struct BoxTree {
    pub nodes: Vec<BoxNode>,
    pub order: Vec<u32>,
    x: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
}

impl BoxTree {
    /// Forgets the nodes; the order stays.
    pub fn clear(&mut self) {
        self.nodes.clear();
    }

    /// Replaces `pairs` by all pairs of a frame to which the boxes are fitted. Returns how many pairs of boxes and of points
    /// were tested.
    pub fn pairs(
        &self,
        particles: &Particles<'_>,
        points: &PointList,
        pairs: &mut Vec<[u32; 2]>,
    ) -> [u64; 2] {
        pairs.clear();
        let cutoff = particles.cutoff() + particles.candidate_margin();
        let (meter, found) = (Meter::of_thread(), Cell::new(0));
        let visit = |p: u32, q: u32| {
            pairs.extend(points.pair(particles, p, q));
            found.set(pairs.len());
        };
        self.near_pairs(cutoff, visit, |unit, tests| meter.grant(unit, tests, found.get()))
    }

    /// Gathers the points of a frame in the order of the leaves and fits all boxes, from the leaves up.
    pub fn fit(&mut self, particles: &Particles<'_>, points: &PointList) {
        let (ball, points) = (|p| points.radius(particles, p), points.positions());
        for (column, axis) in [(&mut self.x, 0), (&mut self.y, 1), (&mut self.z, 2)] {
            column.clear();
            column.extend(self.order.iter().map(|&p| points[p as usize][axis]));
        }
        for at in (0..self.nodes.len()).rev() {
            let node = self.nodes[at];
            let (mut low, mut high, mut most) = (DVec3::INFINITY, DVec3::NEG_INFINITY, 0.0_f64);
            if node.is_leaf {
                for i in node.range() {
                    let (p, r) = (self.at(i), ball(self.order[i]));
                    // Points need no room; the ends of balls are rounded outward.
                    let r_up = if r > 0.0 { (p.abs() + r) * (2.0 * f64::EPSILON) + r } else { DVec3::ZERO };
                    low = low.min(p - r_up);
                    high = high.max(p + r_up);
                    most = most.max(r);
                }
            } else {
                for child in &self.nodes[node.range()] {
                    low = low.min(child.low);
                    high = high.max(child.high);
                    most = most.max(child.ball);
                }
            }
            self.nodes[at] = BoxNode { low, high, ball: most, ..node };
        }
    }

    #[inline]
    fn at(&self, i: usize) -> DVec3 {
        DVec3::new(self.x[i], self.y[i], self.z[i])
    }

    /// Visits pairs of points among which are all whose balls are at most `cutoff` apart, each once, as long as
    /// `grant` says so, which is asked before tests. Returns how many pairs of boxes and of points were tested.
    fn near_pairs(
        &self,
        cutoff: f64,
        mut visit: impl FnMut(u32, u32),
        grant: impl Fn(Unit, u64) -> bool,
    ) -> [u64; 2] {
        let [mut box_tests, mut point_tests] = [0_u64; 2];
        let mut stack: Vec<[u32; 2]> = if self.nodes.is_empty() { Vec::new() } else { vec![[0, 0]] };
        let limit_sq = (cutoff * ROUND_UP) * (cutoff * ROUND_UP);
        while let Some([a, b]) = stack.pop() {
            let (s, t) = (&self.nodes[a as usize], &self.nodes[b as usize]);
            let (unit, tests) = tests_of(s, t, a == b);
            if !grant(unit, tests) {
                break;
            }
            if s.is_leaf && t.is_leaf {
                point_tests += tests;
                self.compare_leaves([s, t], a == b, cutoff, &mut visit);
                continue;
            }
            box_tests += tests;
            if a == b {
                for i in s.range() {
                    stack.push([i as u32; 2]);
                    for j in i + 1..s.range().end {
                        if gap_sq(&self.nodes[i], &self.nodes[j]) <= limit_sq {
                            stack.push([i as u32, j as u32]);
                        }
                    }
                }
            } else {
                let (split, other) = if is_first_split(s, t) { (s, b) } else { (t, a) };
                for child in split.range() {
                    if gap_sq(&self.nodes[child], &self.nodes[other as usize]) <= limit_sq {
                        stack.push([child as u32, other]);
                    }
                }
            }
        }
        [box_tests, point_tests]
    }

    #[inline]
    fn compare_leaves(
        &self,
        [s, t]: [&BoxNode; 2],
        same: bool,
        cutoff: f64,
        visit: &mut impl FnMut(u32, u32),
    ) {
        let limit = (cutoff + s.ball + t.ball) * ROUND_UP;
        let limit_sq = limit * limit;
        for i in s.range() {
            let range = if same { i + 1..s.range().end } else { t.range() };
            let p = self.at(i);
            let columns =
                self.x[range.clone()].iter().zip(&self.y[range.clone()]).zip(&self.z[range.clone()]);
            for (j, ((x, y), z)) in range.zip(columns) {
                let [dx, dy, dz] = [x - p.x, y - p.y, z - p.z];
                if (dx * dx + dy * dy) + dz * dz <= limit_sq {
                    visit(self.order[i], self.order[j]);
                }
            }
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let columns = [&self.x, &self.y, &self.z].map(super::bytes_of).iter().sum::<u64>();
        columns + super::bytes_of(&self.nodes) + super::bytes_of(&self.order)
    }
}

impl PointTree for BoxTree {
    type Node = u32;

    fn root(&self) -> Option<u32> {
        (!self.nodes.is_empty()).then_some(0)
    }

    fn distance(&self, node: u32, point: DVec3) -> f64 {
        let BoxNode { low, high, .. } = self.nodes[node as usize];
        (low - point).max(point - high).max(DVec3::ZERO).length()
    }

    fn children(&self, node: u32, each: impl FnMut(u32)) {
        let node = &self.nodes[node as usize];
        if !node.is_leaf {
            node.range().map(|child| child as u32).for_each(each);
        }
    }

    fn numbers(&self, leaf: u32) -> impl Iterator<Item = u32> {
        self.order[self.nodes[leaf as usize].range()].iter().copied()
    }
}

/// How many tests of which kind two nodes, or one with itself, are followed by.
#[inline]
fn tests_of(s: &BoxNode, t: &BoxNode, same: bool) -> (Unit, u64) {
    let [m, n] = [s, t].map(|node| u64::from(node.count));
    match (s.is_leaf && t.is_leaf, same) {
        (true, false) => (Unit::Test, m * n),
        (true, true) => (Unit::Test, m * m.saturating_sub(1) / 2),
        (false, true) => (Unit::VolumeTest, m * m.saturating_sub(1) / 2),
        (false, false) => (Unit::VolumeTest, if is_first_split(s, t) { m } else { n }),
    }
}

/// Whether of two nodes, not both leaves, the first is taken apart: the wider, but no leaf.
#[inline]
fn is_first_split(s: &BoxNode, t: &BoxNode) -> bool {
    t.is_leaf || !s.is_leaf && s.size() >= t.size()
}

/// The squared distance of two boxes.
#[inline]
fn gap_sq(s: &BoxNode, t: &BoxNode) -> f64 {
    (s.low - t.high).max(t.low - s.high).max(DVec3::ZERO).length_squared()
}
