//! Pairs by an octree (Meagher, "Geometric modeling using octree encoding", 1982): a cube around all points, cut into
//! eight as long as too many are in one.
//!
//! The order of the points along a Morton curve is the order of the leaves; it is kept from frame to frame, so that
//! what has to be sorted is nearly sorted. Cubes in which all points are in one eighth are passed over, and boxes
//! shrink to what is in them. Where many points are left in one of the smallest cubes, because others lie very far away,
//! their own cube is cut in the same way.

use glam::DVec3;

use super::box_tree::{BoxNode, BoxTree};
use super::point_list::PointList;
use super::point_queries;
use super::{Nearest, NeighbourSearch, Particles, SearchCounters, Technique};

/// Cubes with so many points or fewer are not cut.
const LEAF: usize = 12;

/// Cuts of each axis: 3 · 21 bits fill a word.
const DEPTH: u32 = 21;

/// An octree, rebuilt along an order that is kept.
#[derive(Debug, Default)]
pub(super) struct Octree {
    points: PointList,
    tree: BoxTree,
    /// Code along the curve and number of each point.
    keys: Vec<(u64, u32)>,
    counters: SearchCounters,
}

impl NeighbourSearch for Octree {
    fn technique(&self) -> Technique {
        Technique::Octree
    }

    fn update(&mut self, particles: &Particles<'_>) {
        self.points.update(particles);
        self.sort();
        self.build();
        self.tree.fit(particles, &self.points);
    }

    fn search(&mut self, particles: &Particles<'_>, pairs: &mut Vec<[u32; 2]>) {
        self.update(particles);
        let Octree { points, tree, counters, keys } = self;
        let [volume_tests, tests] = tree.pairs(particles, points, pairs);
        *counters = SearchCounters {
            tests,
            volume_tests,
            pairs: pairs.len() as u64,
            updates: (points.positions().len() + tree.nodes.len()) as u64,
            bytes: points.bytes() + tree.bytes() + super::bytes_of(keys),
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

impl Octree {
    /// Puts the points in the order of the curve, starting from that of the last frame.
    fn sort(&mut self) {
        let positions = self.points.positions();
        let curve = MortonCurve::around(positions.iter().map(|&p| p.into()));
        let code = |p: u32| curve.code(positions[p as usize].into());
        let count = positions.len() as u32;
        let kept = self.keys.iter().map(|key| key.1).filter(|&p| p < count);
        let before = self.keys.len() as u32;
        let order: Vec<u32> = kept.chain(before.min(count)..count).collect();
        self.keys.clear();
        self.keys.extend(order.into_iter().map(|p| (code(p), p)));
        // Stable, because it makes use of runs; the number decides between equal codes.
        self.keys.sort();
    }

    fn build(&mut self) {
        let Octree { tree, keys, points, .. } = self;
        tree.clear();
        let mut waiting = Vec::new();
        if !keys.is_empty() {
            tree.nodes.push(BoxNode::leaf(0, keys.len()));
            waiting.push((0, 0, keys.len()));
        }
        while let Some((at, start, end)) = waiting.pop() {
            if end - start <= LEAF {
                continue;
            }
            if keys[start].0 == keys[end - 1].0 {
                sort_closer(&mut keys[start..end], points.positions());
            }
            let (first, last) = (keys[start].0, keys[end - 1].0);
            if first == last {
                continue;
            }
            // The cut that tells the first from the last.
            let digit = (63 - (first ^ last).leading_zeros()) / 3;
            let children = tree.nodes.len();
            let mut from = start;
            while from < end {
                let cube = keys[from].0 >> (3 * digit);
                let to = from + keys[from..end].partition_point(|key| key.0 >> (3 * digit) == cube);
                waiting.push((tree.nodes.len(), from, to));
                tree.nodes.push(BoxNode::leaf(from, to - from));
                from = to;
            }
            tree.nodes[at] = BoxNode::inner(children, tree.nodes.len() - children);
        }
        tree.order.clear();
        tree.order.extend(keys.iter().map(|key| key.1));
    }
}

/// Gives points that share a code others, along the curve through their own cube.
fn sort_closer(keys: &mut [(u64, u32)], positions: &[[f64; 3]]) {
    let curve = MortonCurve::around(keys.iter().map(|key| positions[key.1 as usize].into()));
    keys.iter_mut().for_each(|key| key.0 = curve.code(positions[key.1 as usize].into()));
    keys.sort();
}

/// The curve through a cube around points.
struct MortonCurve {
    low: DVec3,
    scale: f64,
}

impl MortonCurve {
    fn around(points: impl Iterator<Item = DVec3>) -> MortonCurve {
        let start = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (low, high) = points.fold(start, |(low, high), p| (low.min(p), high.max(p)));
        let size = (high - low).max_element();
        let scale = f64::from(1_u32 << DEPTH) / size;
        // Equal points, or such as are too near for their places to be told apart.
        MortonCurve { low, scale: if scale.is_finite() { scale } else { 0.0 } }
    }

    fn code(&self, p: DVec3) -> u64 {
        let at = (p - self.low) * self.scale;
        let cell = |x: f64| (x as u64).min((1 << DEPTH) - 1);
        spread(cell(at.x)) << 2 | spread(cell(at.y)) << 1 | spread(cell(at.z))
    }
}

/// Puts two zeros between all bits.
fn spread(x: u64) -> u64 {
    let mut x = x & 0x1f_ffff;
    x = (x | x << 32) & 0x1f_0000_0000_ffff;
    x = (x | x << 16) & 0x1f_0000_ff00_00ff;
    x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}
