//! Compounds: the distance and the relation of a union from those of its parts.
//!
//! The trees of the parts' boxes are gone through, the nearest boxes first. What the parts tell is not always what the
//! union is like: its surface is only that of the parts which no other part covers, its depth may be larger than theirs,
//! and several parts may hold a body that none holds alone. Such answers are recognised, and say how far they may be off.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use glam::DVec3;

use super::cover::{Cover, cover};
use super::{distance, relation};
use crate::bound::Aabb;
use crate::contact::Verdict;
use crate::model::{Compound, CompoundChild, Geometry};
use crate::narrow::kernel_memory::KernelMemory;
use crate::narrow::shape_pair::ShapePair;
use crate::narrow::union_point::UnionSurface;
use crate::narrow::union_relation::UnionRelation;
use crate::num::tolerance::TOUCH_DOUBT;
use crate::{Budget, Certainty, Counters, Finish, Outcome, Pose, Relation, Separation};

/// Pushes along the normals of what still overlaps before only the boxes tell a way out.
const PUSHES: usize = 16;

/// Two nodes, of which the second is 0 for a body that is no compound.
#[derive(Debug, Clone, Copy)]
struct Open {
    gap: f64,
    nodes: [u32; 2],
}

impl PartialEq for Open {
    fn eq(&self, other: &Open) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}

impl Ord for Open {
    /// The nearest is the greatest, of equal ones that which comes first.
    fn cmp(&self, other: &Open) -> Ordering {
        other.gap.total_cmp(&self.gap).then(other.nodes.cmp(&self.nodes))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Open) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What the nearest or deepest two parts tell.
struct Nearest {
    found: Option<Separation>,
    outcome: Outcome,
}

/// The distance of a compound, as a.
pub(super) fn parts_distance(a: &Compound, pair: &ShapePair<'_>, budget: &mut Budget) -> Verdict<Separation> {
    let Nearest { found, mut outcome } = nearest_parts(a, pair, budget);
    let Some(mut found) = found else { return Verdict::new(None, outcome) };
    if outcome.finish == Finish::Complete {
        let doubt = doubt(pair, &found);
        let told = match pair.shapes[1] {
            Geometry::Mesh(_) => Some(from_union_surface(pair, &mut found, doubt, &mut outcome.work)),
            // Apart from every part is apart from all.
            _ if found.distance >= -doubt => Some(0.0),
            _ => hidden_depth(a, pair, &found, doubt, &mut outcome.work, budget),
        };
        match told {
            Some(tolerance) if tolerance > doubt => {
                outcome.certainty = outcome.certainty.lesser(Certainty::Conservative { tolerance });
            }
            Some(_) => {}
            None => {
                outcome.finish = Finish::OutOfBudget;
                outcome.certainty = Certainty::Conservative { tolerance: f64::INFINITY };
            }
        }
    }
    Verdict::by_finish(found, outcome)
}

/// A box of the world around a body, for which nothing is built.
pub(super) fn region_of(shape: &Geometry, pose: &Pose) -> Aabb {
    match shape {
        Geometry::Compound(compound) => compound.placed_bounds(0, pose),
        other => other.known_bounds(pose),
    }
}

/// Lengths below this are rounding where two bodies are measured.
fn doubt(pair: &ShapePair<'_>, found: &Separation) -> f64 {
    let places = found.points[0].abs().max(found.points[1].abs()).max_element();
    let poses = pair.poses.map(|pose| pose.translation().abs().max_element());
    TOUCH_DOUBT * (places + poses[0].max(poses[1]))
}

/// The nearest part of a compound, or the nearest parts of two. What a budget leaves open may be nearer by any length, or
/// deeper.
fn nearest_parts(a: &Compound, pair: &ShapePair<'_>, budget: &mut Budget) -> Nearest {
    let [pose_a, pose_b] = pair.poses;
    let whole_b = region_of(pair.shapes[1], pose_b);
    let box_of = |nodes: [u32; 2]| match pair.shapes[1] {
        Geometry::Compound(b) => b.placed_bounds(nodes[1], pose_b),
        _ => whole_b,
    };
    let gap = |nodes: [u32; 2]| a.placed_bounds(nodes[0], pose_a).gap(&box_of(nodes));
    let mut best: Option<(Separation, [u32; 2])> = None;
    let mut total =
        Outcome { certainty: Certainty::Exact, finish: Finish::Complete, work: Counters::default() };
    let mut open = BinaryHeap::from([Open { gap: 0.0, nodes: [0, 0] }]);
    while let Some(Open { gap: away, nodes }) = open.pop() {
        if best.is_some_and(|(best, _)| away > best.distance.max(0.0)) {
            break;
        }
        total.work.volume_tests += 1;
        let child_b = match pair.shapes[1] {
            Geometry::Compound(b) => Some((b, b.nodes()[nodes[1] as usize])),
            _ => None,
        };
        let node_a = a.nodes()[nodes[0] as usize];
        let mut push = |two: [[u32; 2]; 2]| {
            open.extend(two.map(|nodes| Open { gap: gap(nodes), nodes }));
        };
        let part_a = match (node_a.below, child_b.map(|(_, node)| (node.below, node.bounds.area()))) {
            (CompoundChild::Two(right), Some((CompoundChild::Two(_), area)))
                if area <= node_a.bounds.area() =>
            {
                push([[nodes[0] + 1, nodes[1]], [right, nodes[1]]]);
                continue;
            }
            (_, Some((CompoundChild::Two(right), _))) => {
                push([[nodes[0], nodes[1] + 1], [nodes[0], right]]);
                continue;
            }
            (CompoundChild::Two(right), _) => {
                push([[nodes[0] + 1, nodes[1]], [right, nodes[1]]]);
                continue;
            }
            (CompoundChild::Part(part), _) => part,
        };
        let own = &a.parts()[part_a as usize];
        let at = pose_a.compose(&own.pose);
        let mut measure = |one: &ShapePair<'_>| {
            budget.silently(|budget| distance(one, &mut KernelMemory::default(), budget))
        };
        let (verdict, parts) = match child_b.map(|(b, node)| (b, node.below)) {
            Some((b, CompoundChild::Part(part_b))) => {
                let theirs = &b.parts()[part_b as usize];
                let their_pose = pose_b.compose(&theirs.pose);
                let one = ShapePair::new([&theirs.shape, &own.shape], [&their_pose, &at]);
                (measure(&one).map(Separation::swapped), [part_a, part_b])
            }
            _ => (measure(&ShapePair::new([&own.shape, pair.shapes[1]], [&at, pose_b])), [part_a, 0]),
        };
        let Verdict { value, so_far, outcome, .. } = verdict;
        total.work += outcome.work;
        if outcome.finish != Finish::Complete {
            total.finish = outcome.finish;
            total.certainty = Certainty::Conservative { tolerance: f64::INFINITY };
        }
        total.certainty = total.certainty.lesser(outcome.certainty);
        let Some(found) = value.or(so_far) else {
            // Of a part that was not measured nothing is known: the others bound the distance from above only.
            total.certainty = total.certainty.lesser(Certainty::Conservative { tolerance: f64::INFINITY });
            continue;
        };
        // Of equally near ones the first of the compound.
        if best.is_none_or(|(best, of)| (found.distance, parts) < (best.distance, of)) {
            best = Some((found, parts));
        }
    }
    Nearest { found: best.map(|(found, _)| found), outcome: total }
}

/// Where the surface of a mesh is nearest to a part, the union's own surface may be farther: the distance is then that of the
/// union's surface from the same point of the mesh. How much nearer the surfaces may be elsewhere.
fn from_union_surface(pair: &ShapePair<'_>, found: &mut Separation, doubt: f64, work: &mut Counters) -> f64 {
    let Some(union) = UnionSurface::new(pair.shapes[0], pair.poses[0]) else { return 0.0 };
    let foot = union.foot(found.points[1], work);
    let hidden = foot.distance.abs() - found.distance;
    if !foot.inside || hidden <= doubt {
        return 0.0;
    }
    *found = Separation {
        distance: foot.distance.abs(),
        points: [foot.point, found.points[1]],
        features: [foot.feature, found.features[1]],
        // Out of the union it leads to its surface.
        normal: (found.points[1] - foot.point).normalize_or_zero(),
    };
    hidden
}

/// How much deeper a body may be in a union than in the part in which it is deepest: nothing where leaving that part is
/// leaving all. `None` when the budget ended first.
fn hidden_depth(
    a: &Compound,
    pair: &ShapePair<'_>,
    found: &Separation,
    doubt: f64,
    work: &mut Counters,
    budget: &mut Budget,
) -> Option<f64> {
    let [box_a, box_b] = [0, 1].map(|k| region_of(pair.shapes[k], pair.poses[k]));
    let mut least = way_out(&box_a, &box_b);
    let (mut moved, mut rest) = (*pair.poses[1], *found);
    for _ in 0..PUSHES {
        let shift = rest.normal * -rest.distance;
        if !shift.is_finite() {
            break;
        }
        moved = moved.moved_to(moved.translation() + shift);
        let Nearest { found: next, outcome } =
            nearest_parts(a, &ShapePair::new(pair.shapes, [pair.poses[0], &moved]), budget);
        *work += outcome.work;
        if outcome.finish != Finish::Complete {
            return None;
        }
        rest = next?;
        if rest.distance >= -doubt {
            least = least.min((moved.translation() - pair.poses[1].translation()).length());
            break;
        }
    }
    Some((least + found.distance).max(0.0))
}

/// The shortest way along an axis that takes a box out of another.
fn way_out(a: &Aabb, b: &Aabb) -> f64 {
    (a.high - b.low).min(b.high - a.low).max(DVec3::ZERO).min_element()
}

/// The relation of a compound, as a.
pub(super) fn parts_relation(
    a: &Compound,
    pair: &ShapePair<'_>,
    budget: &mut Budget,
) -> (Option<Relation>, Outcome) {
    let mut total =
        Outcome { certainty: Certainty::Exact, finish: Finish::Complete, work: Counters::default() };
    let mut union = UnionRelation::default();
    let region = region_of(pair.shapes[1], pair.poses[1]);
    let near = a.parts_in(pair.poses[0], &region, &mut total.work);
    budget.draw(total.work.volume_tests);
    for part in near {
        let part = &a.parts()[part as usize];
        let at = pair.poses[0].compose(&part.pose);
        let one = ShapePair::new([&part.shape, pair.shapes[1]], [&at, pair.poses[1]]);
        let Verdict { value: found, outcome, .. } =
            budget.silently(|budget| relation(&one, &mut KernelMemory::default(), budget));
        total.work += outcome.work;
        total.certainty = total.certainty.lesser(outcome.certainty);
        match found {
            Some(relation) => union.add(relation),
            None => return (None, Outcome { finish: outcome.finish, ..total }),
        }
        if union.holds() {
            break;
        }
    }
    let mut found = union.conclude(a.parts().len());
    if found == Relation::Intersecting && union.may_hold_together() {
        let Some(told) = budget.silently(|budget| cover(pair, budget, &mut total.work)) else {
            return (None, Outcome { finish: Finish::OutOfBudget, ..total });
        };
        match told {
            Cover::SticksOut => {}
            Cover::Within(resolution) => {
                found = Relation::BInsideA;
                total.certainty = total.certainty.lesser(Certainty::Approximate { resolution });
            }
        }
    }
    (Some(found), total)
}

#[cfg(test)]
#[path = "compound_tests.rs"]
mod tests;
