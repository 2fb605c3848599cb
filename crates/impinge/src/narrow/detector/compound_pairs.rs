//! All pairs of near parts of two bodies: the contacts of every two of them within a margin.
//!
//! The trees of two compounds (I-COLLIDE 1995: trees of convex parts) are descended together; nodes whose
//! boxes are farther apart than the margin are skipped. A shape that is no compound is its own only part.
//! What is left is measured pair by pair, each starting from its own memory.

use smallvec::SmallVec;

use super::pair_memory::{PairMemory, Placement};
use super::{ContactOptions, Contacts, PairContacts, PairKernel, measure};
use crate::bound::Aabb;
use crate::model::{CompoundChild, Geometry, Node};
use crate::narrow::shape_pair::ShapePair;
use crate::{Budget, Certainty, Counters, Finish, Outcome, Pose};

/// What every near pair of parts remembers; dropping it costs speed, never correctness.
#[derive(Debug, Clone, Default)]
pub struct CompoundMemory {
    /// By ascending parts.
    kept: Vec<([u32; 2], PairMemory)>,
    /// What is known of the first pairs of parts.
    found: PairContacts,
    /// How many of them are measured, of which pair of bodies, and what that is worth, where a budget ended before all
    /// were.
    unfinished: Option<(Placement, ContactOptions, usize, Certainty)>,
}

/// The contacts of all pairs of parts within the margin, each measured by the kernel. `found` changes only when
/// all are known; what the budget leaves open is continued from the memory.
pub(super) fn contacts<K: PairKernel + ?Sized>(
    kernel: &K,
    pair: &ShapePair<'_>,
    options: &ContactOptions,
    memory: &mut CompoundMemory,
    budget: &mut Budget,
    found: &mut PairContacts,
) -> Outcome {
    let mut total =
        Outcome { certainty: Certainty::Exact, finish: Finish::Complete, work: Counters::default() };
    let mut next = match memory.unfinished.take() {
        Some((at, asked, next, certainty)) if at.is_of(pair) && asked == *options => {
            total.certainty = certainty;
            next
        }
        _ => {
            let margin = if options.told == Contacts::None { options.touch.max(0.0) } else { options.margin };
            let mut near = near_parts(pair.shapes, pair.poses, margin, &mut total.work);
            near.sort_unstable();
            memory.keep(&near);
            memory.found.clear();
            // The traversal runs to its end: it is short, and resuming it would cost as much.
            budget.draw(total.work.volume_tests);
            0
        }
    };
    while let Some((parts, own)) = memory.kept.get_mut(next) {
        let ((a, pose_a), (b, pose_b)) =
            (part(pair.shapes[0], pair.poses[0], parts[0]), part(pair.shapes[1], pair.poses[1], parts[1]));
        let one = ShapePair::new([a, b], [&pose_a, &pose_b]);
        let wanted = options.asks_touch && !memory.found.touching;
        let (measured, outcome) = measure(kernel, &one, options, wanted, own, budget);
        total.work += outcome.work;
        let Some(measured) = measured.filter(|_| outcome.finish != Finish::OutOfBudget) else {
            total.finish = Finish::OutOfBudget;
            memory.unfinished = Some((Placement::of(pair), *options, next, total.certainty));
            return total;
        };
        total.certainty = total.certainty.lesser(outcome.certainty);
        memory.found.add(*parts, &one, measured, options);
        next += 1;
    }
    std::mem::swap(&mut memory.found, found);
    total
}

impl CompoundMemory {
    /// Makes room for these pairs of parts, ascending; those that were kept before stay.
    fn keep(&mut self, near: &[[u32; 2]]) {
        if self.kept.iter().map(|(parts, _)| parts).eq(near) {
            return;
        }
        let mut old = std::mem::take(&mut self.kept).into_iter().peekable();
        self.kept.extend(near.iter().map(|&parts| {
            while old.next_if(|(known, _)| *known < parts).is_some() {}
            let own = old.next_if(|(known, _)| *known == parts).map(|(_, own)| own);
            (parts, own.unwrap_or_default())
        }));
    }
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
