//! All pairs of near parts of two bodies: the closest features of every two of them within a margin.
//!
//! The trees of two compounds (I-COLLIDE 1995: trees of convex parts) are gone down together; nodes whose
//! boxes are farther apart than the margin are left. A shape that is no compound is its own only part.
//! What is left is measured pair by pair, each starting from its own memory.

use smallvec::SmallVec;

use super::dispatch;
use super::pair_memory::PairMemory;
use super::shape_pair::ShapePair;
use crate::bound::Aabb;
use crate::model::{CompoundChild, Geometry, Node};
use crate::{Certainty, Counters, Pose, Separation};

/// The closest features of two parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompoundPairSeparation {
    /// The part of a and the part of b; 0 for a shape that is no compound.
    pub parts: [u32; 2],
    /// How far apart they are, and where.
    pub separation: Separation,
    /// What that is worth.
    pub certainty: Certainty,
}

/// What every near pair of parts remembers; dropping it costs speed, never correctness.
#[derive(Debug, Clone, Default)]
pub struct CompoundMemory {
    /// By ascending parts.
    kept: Vec<([u32; 2], PairMemory)>,
}

/// Appends every pair of parts at most `margin` apart, by ascending parts, and returns the cost.
pub fn within(
    [a, b]: [&Geometry; 2],
    [pose_a, pose_b]: [&Pose; 2],
    margin: f64,
    memory: &mut CompoundMemory,
    found: &mut Vec<CompoundPairSeparation>,
) -> Counters {
    let mut work = Counters::default();
    let mut near = near_parts([a, b], [pose_a, pose_b], margin, &mut work);
    near.sort_unstable();
    let mut old = std::mem::take(&mut memory.kept).into_iter().peekable();
    for parts in near {
        while old.next_if(|(known, _)| *known < parts).is_some() {}
        let mut own = old.next_if(|(known, _)| *known == parts).map(|(_, own)| own).unwrap_or_default();
        let ((shape_a, at_a), (shape_b, at_b)) = (part(a, pose_a, parts[0]), part(b, pose_b, parts[1]));
        let one = ShapePair::new([shape_a, shape_b], [&at_a, &at_b]);
        let (separation, certainty) = dispatch::full_distance(&one, &mut own);
        work.primitive_tests += 1;
        memory.kept.push((parts, own));
        if separation.distance <= margin {
            found.push(CompoundPairSeparation { parts, separation, certainty });
        }
    }
    work
}

/// A part of a shape and its pose in the world.
pub(crate) fn part<'s>(shape: &'s Geometry, pose: &Pose, index: u32) -> (&'s Geometry, Pose) {
    match shape {
        Geometry::Compound(compound) => {
            let part = &compound.parts()[index as usize];
            (&part.shape, pose.compose(&part.pose))
        }
        other => (other, *pose),
    }
}

/// Pairs of parts whose boxes come within the margin, from a walk down both trees.
fn near_parts(
    [a, b]: [&Geometry; 2],
    [pose_a, pose_b]: [&Pose; 2],
    margin: f64,
    work: &mut Counters,
) -> SmallVec<[[u32; 2]; 8]> {
    let (only_a, only_b) = (lone(a), lone(b));
    let (nodes_a, nodes_b) = (nodes(a, &only_a), nodes(b, &only_b));
    let placed = |node: &Node, pose: &Pose| {
        let mut bounds = node.bounds.placed(pose);
        bounds.grow(0.5 * margin);
        bounds
    };
    let mut near = SmallVec::new();
    let mut open: SmallVec<[[u32; 2]; 32]> = SmallVec::from_slice(&[[0, 0]]);
    while let Some([i, j]) = open.pop() {
        let (node_a, node_b) = (&nodes_a[i as usize], &nodes_b[j as usize]);
        work.volume_tests += 1;
        if !placed(node_a, pose_a).meets(&placed(node_b, pose_b)) {
            continue;
        }
        match (node_a.below, node_b.below) {
            (CompoundChild::Part(p), CompoundChild::Part(q)) => near.push([p, q]),
            (CompoundChild::Two(right), CompoundChild::Part(_)) => open.extend([[i + 1, j], [right, j]]),
            (CompoundChild::Part(_), CompoundChild::Two(right)) => open.extend([[i, j + 1], [i, right]]),
            (CompoundChild::Two(p), CompoundChild::Two(q)) => {
                if node_a.bounds.area() >= node_b.bounds.area() {
                    open.extend([[i + 1, j], [p, j]]);
                } else {
                    open.extend([[i, j + 1], [i, q]]);
                }
            }
        }
    }
    near
}

/// The tree of a shape that is no compound.
fn lone(shape: &Geometry) -> [Node; 1] {
    let bounds = match shape {
        Geometry::Compound(_) => Aabb::EMPTY,
        other => other.bounds(&Pose::IDENTITY),
    };
    [Node { bounds, below: CompoundChild::Part(0) }]
}

fn nodes<'n>(shape: &'n Geometry, lone: &'n [Node]) -> &'n [Node] {
    match shape {
        Geometry::Compound(compound) => compound.nodes(),
        _ => lone,
    }
}

#[cfg(test)]
#[path = "compound_pairs_tests.rs"]
mod tests;
