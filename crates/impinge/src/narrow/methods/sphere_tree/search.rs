//! The best-first search through two sphere trees.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use glam::DVec3;

use super::tree::{Below, Node, SphereTree};
use crate::contact::Counters;
use crate::geom::point_triangle::norm;
use crate::num::tolerance::{PLACING_ERROR, POSE_ORTHONORMALITY, ROUND_UP};
use crate::{Budget, Pose};

/// Pairs of spheres between two looks at the budget.
const QUANTUM: u64 = 64;

/// What the spheres tell about the distance of two surfaces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bracket {
    /// The distance is not below this; 0 where spheres overlap.
    pub at_least: f64,
    /// Two points of the surfaces; `None` when the budget ended first.
    pub nearest: Option<Nearest>,
    pub work: Counters,
}

/// Two points of the surfaces, whose distance that of the surfaces does not exceed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Nearest {
    pub at_most: f64,
    /// In the world.
    pub points: [DVec3; 2],
    /// The triangles they lie on.
    pub triangles: [u32; 2],
}

/// A pair of nodes and how near their spheres are.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    gap: f64,
    nodes: [u32; 2],
}

impl Eq for Entry {}

impl Ord for Entry {
    /// The nearest is the greatest; of equally near ones the first.
    fn cmp(&self, other: &Entry) -> Ordering {
        other.gap.total_cmp(&self.gap).then(other.nodes.cmp(&self.nodes))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Brackets the distance of two placed surfaces: the first two leaves that come up are nearest, sphere to sphere.
pub(super) fn bracket(trees: [&SphereTree; 2], poses: [&Pose; 2], budget: &mut Budget) -> Bracket {
    let mut work = Counters::default();
    let mut open = BinaryHeap::new();
    let root = Pair::new(trees, poses, [0, 0]);
    open.push(Entry { gap: root.gap, nodes: [0, 0] });
    while let Some(Entry { gap, nodes }) = open.pop() {
        if work.volume_tests % QUANTUM == 0 && !budget.draw_or_rest(QUANTUM) {
            return Bracket { at_least: gap.max(0.0), nearest: None, work };
        }
        work.volume_tests += 1;
        let pair = Pair::new(trees, poses, nodes);
        if let [Below::Triangle(i), Below::Triangle(j)] = pair.spheres.map(|sphere| sphere.below) {
            let nearest = Nearest { at_most: pair.between, points: pair.centres, triangles: [i, j] };
            return Bracket { at_least: gap.max(0.0), nearest: Some(nearest), work };
        }
        for nodes in children(nodes, &pair.spheres) {
            open.push(Entry { gap: Pair::new(trees, poses, nodes).gap, nodes });
        }
    }
    // Every way down ends at leaves.
    Bracket { at_least: 0.0, nearest: None, work }
}

/// Two placed spheres.
struct Pair {
    spheres: [Node; 2],
    /// In the world.
    centres: [DVec3; 2],
    /// From centre to centre.
    between: f64,
    /// What lies in the spheres is not nearer than this; negative where they overlap.
    gap: f64,
}

impl Pair {
    fn new(trees: [&SphereTree; 2], poses: [&Pose; 2], nodes: [u32; 2]) -> Pair {
        let spheres = [0, 1].map(|k| trees[k].nodes[nodes[k] as usize]);
        let centres = [0, 1].map(|k| poses[k].apply(spheres[k].centre));
        let between = norm(centres[1] - centres[0]);
        let size = centres[0].abs().max(centres[1].abs()).max_element() + between;
        let radii = stretched(spheres[0].radius, poses[0]) + stretched(spheres[1].radius, poses[1]);
        // The last term is for the roundings of subnormal numbers, which are relative to nothing.
        let gap = between - radii - (PLACING_ERROR * (size + radii) + f64::MIN_POSITIVE);
        Pair { spheres, centres, between, gap }
    }
}

/// The pairs below: the larger sphere is opened.
fn children([a, b]: [u32; 2], [s, t]: &[Node; 2]) -> [[u32; 2]; 2] {
    match (s.below, t.below) {
        (Below::Nodes(right), Below::Triangle(_)) => [[a + 1, b], [right, b]],
        (Below::Nodes(right), _) if s.radius >= t.radius => [[a + 1, b], [right, b]],
        (_, Below::Nodes(right)) => [[a, b + 1], [a, right]],
        // Two leaves have nothing below; the caller has taken them.
        (_, Below::Triangle(_)) => [[a, b]; 2],
    }
}

/// A radius after a pose that may be off orthonormal by its tolerance.
fn stretched(radius: f64, pose: &Pose) -> f64 {
    if pose.is_rotation() { radius * ROUND_UP } else { radius * (1.0 + POSE_ORTHONORMALITY) }
}
