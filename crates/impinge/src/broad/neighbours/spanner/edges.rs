//! What the hierarchy says of all pairs at once: edges of a spanner, well-separated pairs.
//!
//! Both come from one traversal: two nodes are taken apart, the wider first, until they satisfy a condition for all
//! pairs of points below them. So every pair of points is below exactly one pair of nodes.
//!
//! Edges. With r the radius of a node, l the longest way from a point below along parents to its centre, and d the
//! distance of two centres, an edge between the centres serves all pairs below if l₁ + d + l₂ ≤ (1 + ε)(d − r₁ − r₂): the
//! way up, across and down against the smallest distance that two points below can have. Together with the edges to
//! parents that is a (1 + ε)-spanner by construction. At level i, r ≤ l ≤ 2^(i+1), so the condition holds at the latest
//! for d ≥ (4 + 8/ε)·2ⁱ, and by packing a centre has O(1/ε^d) edges on each level: O(n/ε^d) in all.
//!
//! Where we leave the paper: it connects all centres of level i that are at most (4 + 16/ε)·2ⁱ apart. With the radii that
//! nodes really have, most edges end sooner.

use super::flat::{Flat, Node};
use super::hierarchy::{Hierarchy, NONE};
use crate::num::tolerance::ROUND_UP;

/// Edges to parents and across, so that every pair has a way of at most 1 + ε times its distance.
pub(super) fn spanner_edges(hierarchy: &Hierarchy, flat: &Flat, epsilon: f64) -> Vec<[u32; 2]> {
    let parent = |p: u32| hierarchy.parent[p as usize];
    let up = flat.order.iter().filter(|&&p| parent(p) != NONE).map(|&p| sorted([p, parent(p)]));
    let mut edges: Vec<[u32; 2]> = up.collect();
    let serves = |s: &Node, t: &Node| {
        let d = s.centre.distance(t.centre);
        let way = (s.path + t.path + d * ROUND_UP) * ROUND_UP;
        way <= (1.0 + epsilon) * (d / ROUND_UP - s.radius - t.radius)
    };
    covering_pairs(flat, serves, |s, t| {
        let [p, q] = [s.point, t.point];
        // That edge is there already.
        if parent(p) != q && parent(q) != p {
            edges.push(sorted([p, q]));
        }
    });
    edges
}

/// Visits pairs of sets such that every pair of points at different places is in exactly one of them, and both sets
/// lie in balls whose gap is at least `separation` times the larger radius.
pub(super) fn well_separated(flat: &Flat, separation: f64, mut visit: impl FnMut(&[u32], &[u32])) {
    let apart = |s: &Node, t: &Node| {
        let gap = s.centre.distance(t.centre) / ROUND_UP - s.radius - t.radius;
        gap >= separation * s.radius.max(t.radius)
    };
    let members = |node: &Node| &flat.order[node.start as usize..(node.start + node.points) as usize];
    covering_pairs(flat, apart, |s, t| visit(members(s), members(t)));
}

/// Takes nodes apart until a condition holds, or both are single places.
fn covering_pairs(flat: &Flat, holds: impl Fn(&Node, &Node) -> bool, mut visit: impl FnMut(&Node, &Node)) {
    let mut stack: Vec<[u32; 2]> = if flat.nodes.is_empty() { Vec::new() } else { vec![[0, 0]] };
    while let Some([a, b]) = stack.pop() {
        let (s, t) = (&flat.nodes[a as usize], &flat.nodes[b as usize]);
        if a == b {
            // Twins are connected by way of their parent, without length.
            let children = if s.scale > 0.0 { flat.children(a) } else { 0..0 };
            for i in children.clone() {
                stack.push([i as u32; 2]);
                stack.extend((i + 1..children.end).map(|j| [i as u32, j as u32]));
            }
        } else if s.radius + t.radius == 0.0 || holds(s, t) {
            visit(s, t);
        } else {
            let (split, other) = if s.radius >= t.radius { (a, b) } else { (b, a) };
            debug_assert!(flat.nodes[split as usize].children > 0);
            stack.extend(flat.children(split).map(|child| [child as u32, other]));
        }
    }
}

fn sorted([p, q]: [u32; 2]) -> [u32; 2] {
    [p.min(q), p.max(q)]
}
