//! A kd-tree (Bentley, "Multidimensional binary search trees used for associative searching", 1975): balanced, halved
//! across the longest side, eight particles a leaf. It adapts to any density and to balls of very different sizes, since
//! each node knows its largest radius; all pairs come from descending it against itself.

use glam::DVec3;

use super::images::Images;
use super::meter::{Meter, Unit};
use super::point_queries::{self, PointTree};
use super::{Nearest, NeighbourSearch, Particles, SearchCounters, Technique, bytes_of};
use crate::num::parallel;
use crate::num::tolerance::IMAGE_MARGIN;

/// Particles of a leaf, at most.
const LEAF: usize = 8;

/// Particles below a node from which on its halves are built on two threads.
const SHARED_BUILD: usize = 1 << 14;

/// Particles below a node from which on its pairs are left to several threads.
const SHARED_PAIRS: usize = 1 << 11;

/// Particles in a tree.
#[derive(Debug, Clone, Default)]
pub(super) struct KdTree {
    images: Images,
    /// Particles and images in the order of the leaves.
    points: Vec<Point>,
    /// Node k has the children 2k + 1 and 2k + 2; all leaves have the same depth.
    nodes: Vec<Node>,
    /// What candidates may be farther apart than their radii: the cutoff and what rounding can hide.
    apart: f64,
    counters: SearchCounters,
}

/// A particle or an image.
#[derive(Debug, Clone, Copy)]
struct Point {
    position: DVec3,
    radius: f64,
    number: u32,
}

/// What lies below a node.
#[derive(Debug, Clone, Copy)]
struct Node {
    low: DVec3,
    high: DVec3,
    radius: f64,
}

/// A node with its particles.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    node: usize,
    first: usize,
    end: usize,
}

impl Place {
    fn children(self) -> [Place; 2] {
        let middle = self.first + (self.end - self.first) / 2;
        [
            Place { node: 2 * self.node + 1, first: self.first, end: middle },
            Place { node: 2 * self.node + 2, first: middle, end: self.end },
        ]
    }
}

/// What two nodes have among them.
#[derive(Default)]
struct Pairs {
    found: Vec<[u32; 2]>,
    tests: u64,
    volume_tests: u64,
    /// Tests of nodes that the meter has been told of.
    told: u64,
    /// The budget ended.
    is_over: bool,
}

impl Pairs {
    /// Asks for so many tests of particles, and for the tests of nodes since the last call.
    fn grant(&mut self, meter: Meter, tests: usize) -> bool {
        let new = self.volume_tests - std::mem::replace(&mut self.told, self.volume_tests);
        let pairs = self.found.len();
        self.is_over |=
            !(meter.grant(Unit::VolumeTest, new, pairs) && meter.grant(Unit::Test, tests as u64, pairs));
        !self.is_over
    }
}

impl KdTree {
    fn all(&self) -> Place {
        Place { node: 0, first: 0, end: self.points.len() }
    }

    fn is_leaf(&self, place: Place) -> bool {
        2 * place.node + 1 >= self.nodes.len()
    }

    /// Pairs of nodes that together hold all pairs, small enough to be dealt to threads; counts tests of nodes.
    fn deal(&self, [a, b]: [Place; 2], to: &mut Vec<[Place; 2]>, tests: &mut u64) {
        if !self.is_near([a, b], tests) {
            return;
        }
        let is_small = |p: Place| self.is_leaf(p) || p.end - p.first <= SHARED_PAIRS;
        if is_small(a) && is_small(b) {
            to.push([a, b]);
        } else if a.node == b.node {
            let [l, r] = a.children();
            [[l, l], [l, r], [r, r]].into_iter().for_each(|two| self.deal(two, to, tests));
        } else {
            let [wide, other] = self.wider_first([a, b]);
            wide.children().into_iter().for_each(|child| self.deal([child, other], to, tests));
        }
    }

    /// The one that is divided first: it has more particles and is no leaf.
    fn wider_first(&self, [a, b]: [Place; 2]) -> [Place; 2] {
        let first = !self.is_leaf(a) && (self.is_leaf(b) || a.end - a.first >= b.end - b.first);
        if first { [a, b] } else { [b, a] }
    }

    /// Whether anything below one node can be a pair with anything below the other; counts a test, unless there is no
    /// need of one.
    fn is_near(&self, [a, b]: [Place; 2], tests: &mut u64) -> bool {
        if a.node == b.node || a.first == a.end || b.first == b.end {
            return a.first < a.end && b.first < b.end;
        }
        *tests += 1;
        let (a, b) = (&self.nodes[a.node], &self.nodes[b.node]);
        let gap = (b.low - a.high).max(a.low - b.high).max(DVec3::ZERO);
        let limit = self.limit(a.radius, b.radius);
        gap.length_squared() <= limit * limit
    }

    /// Up to which distance two particles, or anything in two nodes, have to be looked at.
    #[inline]
    fn limit(&self, a: f64, b: f64) -> f64 {
        (a + b + self.apart) * (1.0 + IMAGE_MARGIN)
    }

    fn pairs_between(&self, [a, b]: [Place; 2], particles: &Particles<'_>, meter: Meter, to: &mut Pairs) {
        if to.is_over || !self.is_near([a, b], &mut to.volume_tests) {
            return;
        }
        match (a.node == b.node, self.is_leaf(a) && self.is_leaf(b)) {
            (true, true) => {
                let count = a.end - a.first;
                if to.grant(meter, count * (count - 1) / 2) {
                    (a.first..a.end).for_each(|i| self.test(i, i + 1..a.end, particles, to));
                }
            }
            (true, false) => {
                let [l, r] = a.children();
                let parts = [[l, l], [l, r], [r, r]];
                parts.into_iter().for_each(|two| self.pairs_between(two, particles, meter, to));
            }
            (false, true) => {
                if to.grant(meter, (a.end - a.first) * (b.end - b.first)) {
                    (a.first..a.end).for_each(|i| self.test(i, b.first..b.end, particles, to));
                }
            }
            (false, false) => {
                if to.grant(meter, 0) {
                    let [wide, other] = self.wider_first([a, b]);
                    let parts = wide.children().map(|child| [child, other]);
                    parts.into_iter().for_each(|two| self.pairs_between(two, particles, meter, to));
                }
            }
        }
    }

    #[inline]
    fn test(&self, i: usize, others: std::ops::Range<usize>, particles: &Particles<'_>, to: &mut Pairs) {
        to.tests += others.len() as u64;
        let a = &self.points[i];
        let is_open = particles.domain().is_open();
        for b in &self.points[others] {
            let (d, limit) = (b.position - a.position, self.limit(a.radius, b.radius));
            if d.length_squared() > limit * limit {
                continue;
            }
            if !is_open {
                to.found.extend(particles.pair_of_images(&self.images, a.number, b.number));
            } else if particles.is_pair_apart([a.number, b.number], d, [a.radius, b.radius]) {
                to.found.push([a.number.min(b.number), a.number.max(b.number)]);
            }
        }
    }
}

impl PointTree for KdTree {
    type Node = Place;

    fn root(&self) -> Option<Place> {
        Some(self.all()).filter(|all| all.first < all.end)
    }

    fn distance(&self, place: Place, point: DVec3) -> f64 {
        let node = &self.nodes[place.node];
        (node.low - point).max(point - node.high).max(DVec3::ZERO).length()
    }

    fn children(&self, place: Place, each: impl FnMut(Place)) {
        if !self.is_leaf(place) {
            place.children().into_iter().filter(|child| child.first < child.end).for_each(each);
        }
    }

    fn numbers(&self, leaf: Place) -> impl Iterator<Item = u32> {
        self.points[leaf.first..leaf.end].iter().map(|point| point.number)
    }
}

impl NeighbourSearch for KdTree {
    fn technique(&self) -> Technique {
        Technique::KdTree
    }

    fn update(&mut self, particles: &Particles<'_>) {
        self.images.update(particles);
        self.apart = particles.cutoff() + particles.candidate_margin();
        let own = (0..).zip(particles.positions());
        let images = (particles.len() as u32..).zip(self.images.positions());
        self.points.clear();
        self.points.extend(own.chain(images).map(|(number, x)| {
            let radius = particles.radius(self.images.source(number));
            Point { position: DVec3::from(*x), radius, number }
        }));
        // The deepest level halves down to at most a leaf.
        let levels = self.points.len().div_ceil(LEAF).next_power_of_two().trailing_zeros() + 1;
        let nothing = Node { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY, radius: 0.0 };
        self.nodes.clear();
        self.nodes.resize((1 << levels) - 1, nothing);
        let mut by_level: Vec<&mut [Node]> = Vec::new();
        let mut rest = self.nodes.as_mut_slice();
        for level in 0..levels {
            let (own, below) = rest.split_at_mut(1 << level);
            by_level.push(own);
            rest = below;
        }
        build(&mut self.points, by_level);
    }

    fn search(&mut self, particles: &Particles<'_>, pairs: &mut Vec<[u32; 2]>) {
        self.update(particles);
        let (mut tasks, mut volume_tests) = (Vec::new(), 0);
        let meter = Meter::of_thread();
        let search = |two: [Place; 2]| {
            let mut part = Pairs::default();
            self.pairs_between(two, particles, meter, &mut part);
            part
        };
        let parts = if meter.is_on() {
            vec![search([self.all(); 2])]
        } else {
            self.deal([self.all(); 2], &mut tasks, &mut volume_tests);
            parallel::map(tasks.len(), |k| search(tasks[k]))
        };
        pairs.clear();
        let mut tests = 0;
        for part in parts {
            pairs.extend_from_slice(&part.found);
            tests += part.tests;
            volume_tests += part.volume_tests;
        }
        self.counters = SearchCounters {
            tests,
            volume_tests,
            pairs: pairs.len() as u64,
            updates: (self.points.len() + self.nodes.len()) as u64,
            bytes: self.images.bytes() + bytes_of(&self.points) + bytes_of(&self.nodes),
        };
    }

    fn counters(&self) -> SearchCounters {
        self.counters
    }

    fn nearest(&self, particles: &Particles<'_>, point: [f64; 3], k: usize, found: &mut Vec<Nearest>) {
        point_queries::nearest(self, particles, point, k, found);
    }

    fn within(&self, particles: &Particles<'_>, point: [f64; 3], radius: f64, found: &mut Vec<Nearest>) {
        point_queries::within(self, particles, point, radius, found);
    }
}

/// Puts points in the order of the leaves; the first of the levels holds the node of them all.
fn build(points: &mut [Point], mut levels: Vec<&mut [Node]>) {
    let node = points.iter().fold(None, |node: Option<Node>, p| {
        let Node { low, high, radius } =
            node.unwrap_or(Node { low: p.position, high: p.position, radius: 0.0 });
        Some(Node { low: low.min(p.position), high: high.max(p.position), radius: radius.max(p.radius) })
    });
    let Some(node) = node else { return };
    levels[0][0] = node;
    levels.remove(0);
    if levels.is_empty() {
        return;
    }
    let axis = longest(node.high - node.low);
    let middle = points.len() / 2;
    let order =
        |a: &Point, b: &Point| a.position[axis].total_cmp(&b.position[axis]).then(a.number.cmp(&b.number));
    if middle < points.len() {
        parallel::select(points, middle, order);
    }
    let (left, right) = points.split_at_mut(middle);
    let halves = levels.into_iter().map(|level| level.split_at_mut(level.len() / 2));
    let (first, second): (Vec<_>, Vec<_>) = halves.unzip();
    let worth = left.len() > SHARED_BUILD;
    parallel::join_if(worth, || build(left, first), || build(right, second));
}

fn longest(d: DVec3) -> usize {
    if d.x >= d.y && d.x >= d.z {
        0
    } else if d.y >= d.z {
        1
    } else {
        2
    }
}
