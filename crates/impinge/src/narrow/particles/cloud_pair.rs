//! Two clouds of particles, down both trees.
//!
//! The searches of `broad/neighbours` find the pairs of one set of points; asked about two they would find those
//! within each as well, and could not stop where a budget ends.

use std::collections::BinaryHeap;

use glam::DVec3;

use super::search::{Entry, PlacedCloud};
use super::{Near, ball, with_sign_of};
use crate::contact::{Counters, Verdict};
use crate::geom::point_triangle::norm;
use crate::hierarchy::particle_tree::LEAF;
use crate::narrow::convex::relation as convex_relation;
use crate::narrow::convex::separation::ConvexMemory;
use crate::num::parallel;
use crate::num::tolerance::TOUCH_DOUBT;
use crate::{Budget, Certainty, Feature, Finish, Outcome, Pose, Relation, Separation};

/// Pairs of leaves that one thread looks at.
const CHUNK: usize = 64;

/// The same before a limited budget is asked again.
const LIMITED_CHUNK: usize = 2;

/// Distances below this are not told from touching by their value.
fn doubt([a, b]: [&PlacedCloud<'_>; 2]) -> f64 {
    TOUCH_DOUBT * a.size().max(b.size())
}

/// How far apart the balls of two nodes are at least.
fn gap(clouds: [&PlacedCloud<'_>; 2], nodes: [u32; 2]) -> f64 {
    let [(p, reach_a), (q, reach_b)] = [0, 1].map(|k| {
        let node = &clouds[k].tree().nodes()[nodes[k] as usize];
        let (centre, reach) = clouds[k].node_ball(node);
        (centre, reach + node.largest)
    });
    norm(q - p) - reach_a - reach_b
}

/// The pairs below a pair of nodes, of which the larger is opened; `None` for two leaves.
fn below(clouds: [&PlacedCloud<'_>; 2], [i, j]: [u32; 2]) -> Option<[[u32; 2]; 2]> {
    let reach = |k: usize, node: u32| clouds[k].tree().nodes()[node as usize].reach;
    let [a, b] = [clouds[0].tree().children(i), clouds[1].tree().children(j)];
    match (a, b) {
        (Some([k, l]), None) => Some([[k, j], [l, j]]),
        (None, Some([k, l])) => Some([[i, k], [i, l]]),
        (Some([k, l]), Some(_)) if reach(0, i) >= reach(1, j) => Some([[k, j], [l, j]]),
        (Some(_), Some([k, l])) => Some([[i, k], [i, l]]),
        (None, None) => None,
    }
}

/// Two particles, by their slots.
fn separation([a, b]: [&PlacedCloud<'_>; 2], [s, t]: [usize; 2]) -> Separation {
    let ((p, radius_a), (q, radius_b)) = (a.ball(s), b.ball(t));
    let length = norm(q - p);
    // At one place every direction is as good.
    let normal = if length > 0.0 { (q - p) / length } else { DVec3::X };
    Separation {
        distance: length - radius_a - radius_b,
        points: [p + normal * radius_a, q - normal * radius_b],
        features: [Feature::Vertex(a.tree().particle(s)), Feature::Vertex(b.tree().particle(t))],
        normal,
    }
}

/// How two particles lie to each other, decided exactly.
fn exact_relation([a, b]: [&PlacedCloud<'_>; 2], [s, t]: [usize; 2], work: &mut Counters) -> Relation {
    let ((p, radius_a), (q, radius_b)) = (a.ball(s), b.ball(t));
    let poses = [p, q].map(Pose::shift);
    let mut memory = ConvexMemory::default();
    let (found, _) =
        convex_relation::relation(&ball(radius_a), &poses[0], &ball(radius_b), &poses[1], &mut memory);
    work.primitive_tests += memory.tests().max(1);
    found
}

/// [`exact_relation`] for what it costs; `None` when the budget ended.
fn paid_relation(
    clouds: [&PlacedCloud<'_>; 2],
    slots: [usize; 2],
    budget: &mut Budget,
    work: &mut Counters,
) -> Option<Relation> {
    let before = work.primitive_tests;
    let found = exact_relation(clouds, slots, work);
    budget.charge_all(work.primitive_tests - before).then_some(found)
}

/// Every two particles at most `limit` apart, by their slots; `None` when the budget ended first.
fn near_slots(
    clouds: [&PlacedCloud<'_>; 2],
    limit: f64,
    budget: &mut Budget,
    work: &mut Counters,
) -> Option<Vec<([usize; 2], Separation)>> {
    let (mut open, mut leaves) = (vec![[0, 0]], Vec::new());
    while let Some(nodes) = open.pop() {
        if !budget.draw_or_rest(1) {
            return None;
        }
        work.volume_tests += 1;
        if gap(clouds, nodes) <= limit {
            match below(clouds, nodes) {
                Some(two) => open.extend(two),
                None => leaves.push(nodes),
            }
        }
    }
    let chunk = if budget.is_unlimited() { CHUNK } else { LIMITED_CHUNK };
    let look = |some: &[[u32; 2]]| {
        let (mut found, mut tests) = (Vec::new(), 0);
        for &[i, j] in some {
            let [a, b] = [clouds[0].tree().nodes()[i as usize], clouds[1].tree().nodes()[j as usize]];
            tests += (a.count() * b.count()) as u64;
            for s in a.slots() {
                for t in b.slots() {
                    let separation = separation(clouds, [s, t]);
                    if separation.distance <= limit {
                        found.push(([s, t], separation));
                    }
                }
            }
        }
        (found, tests)
    };
    let mut all = Vec::new();
    let parts = leaves.chunks(chunk).collect::<Vec<_>>();
    if budget.is_unlimited() {
        for (found, tests) in parallel::map(parts.len(), |k| look(parts[k])) {
            all.extend(found);
            work.primitive_tests += tests;
        }
        return Some(all);
    }
    for some in parts {
        if !budget.draw_or_rest((some.len() * LEAF * LEAF) as u64) {
            return None;
        }
        let (found, tests) = look(some);
        all.extend(found);
        work.primitive_tests += tests;
    }
    Some(all)
}

/// Every two particles at most `limit` apart, by ascending particles.
pub(super) fn near(
    clouds: [&PlacedCloud<'_>; 2],
    limit: f64,
    budget: &mut Budget,
    work: &mut Counters,
) -> Option<Vec<Near>> {
    let doubt = doubt(clouds);
    let mut found = Vec::new();
    for (slots, separation) in near_slots(clouds, limit + doubt, budget, work)? {
        let separation = if separation.distance.abs() <= doubt {
            with_sign_of(paid_relation(clouds, slots, budget, work)?, Certainty::Exact, separation)
        } else {
            separation
        };
        if separation.distance <= limit {
            found.push(Near { part: 0, separation });
        }
    }
    found.sort_unstable_by_key(|near| near.separation.features);
    Some(found)
}

/// The two particles that are nearest or deepest in each other; as [`super::search::nearest`].
pub(super) fn distance(clouds: [&PlacedCloud<'_>; 2], budget: &mut Budget) -> Verdict<Separation> {
    let mut open = BinaryHeap::from([Entry { bound: f64::NEG_INFINITY, what: [0, 0] }]);
    let mut best: Option<([usize; 2], Separation)> = None;
    let mut work = Counters::default();
    let limit = |best: &Option<(_, Separation)>| best.as_ref().map_or(f64::INFINITY, |(_, b)| b.distance);
    let finish = loop {
        let Some(&entry) = open.peek().filter(|entry| entry.bound < limit(&best)) else {
            break Finish::Complete;
        };
        if !budget.draw(1) {
            let told = || bracket(best.map(|(_, b)| b), entry.bound, work);
            if budget.rest(told) {
                continue;
            }
            break Finish::OutOfBudget;
        }
        open.pop();
        if let Some(two) = below(clouds, entry.what) {
            for nodes in two {
                work.volume_tests += 1;
                let bound = gap(clouds, nodes);
                if bound < limit(&best) {
                    open.push(Entry { bound, what: nodes });
                }
            }
            continue;
        }
        let nodes = [0, 1].map(|k| clouds[k].tree().nodes()[entry.what[k] as usize]);
        let tests = (nodes[0].count() * nodes[1].count()) as u64;
        budget.draw(tests);
        work.primitive_tests += tests;
        for s in nodes[0].slots() {
            for t in nodes[1].slots() {
                let found = separation(clouds, [s, t]);
                if found.distance < limit(&best) {
                    best = Some(([s, t], found));
                }
            }
        }
    };
    let Some((slots, found)) = best else { return bracket(None, f64::NEG_INFINITY, work) };
    if finish == Finish::OutOfBudget {
        let bound = open.peek().map_or(found.distance, |entry| entry.bound);
        return bracket(Some(found), bound, work);
    }
    let found = if found.distance.abs() <= doubt(clouds) {
        with_sign_of(exact_relation(clouds, slots, &mut work), Certainty::Exact, found)
    } else {
        found
    };
    Verdict::by_finish(found, Outcome { certainty: Certainty::Exact, finish, work })
}

/// What is known when the budget ended.
fn bracket(best: Option<Separation>, bound: f64, work: Counters) -> Verdict<Separation> {
    let tolerance = best.map_or(f64::INFINITY, |best| best.distance - bound.min(best.distance));
    let outcome =
        Outcome { certainty: Certainty::Conservative { tolerance }, finish: Finish::OutOfBudget, work };
    Verdict { so_far: best, ..Verdict::new(None, outcome) }
}

/// How two clouds lie to each other: one is inside the other where each of its particles is in one of the other's.
pub(super) fn relation(
    clouds: [&PlacedCloud<'_>; 2],
    budget: &mut Budget,
    work: &mut Counters,
) -> Option<(Relation, Certainty)> {
    let doubt = doubt(clouds);
    let pairs = near_slots(clouds, doubt, budget, work)?;
    let [a, b] = clouds;
    let mut held = [vec![false; a.tree().points().len()], vec![false; b.tree().points().len()]];
    let (mut meets, mut touches) = (false, false);
    for ([s, t], found) in pairs {
        let ((_, radius_a), (_, radius_b)) = (a.ball(s), b.ball(t));
        let length = found.distance + radius_a + radius_b;
        let nested = (radius_a - radius_b).abs() - length;
        let how = if nested > doubt {
            if radius_a < radius_b { Relation::AInsideB } else { Relation::BInsideA }
        } else if found.distance < -doubt && nested < -doubt {
            Relation::Intersecting
        } else {
            paid_relation(clouds, [s, t], budget, work)?
        };
        match how {
            Relation::Separated => {}
            Relation::Touching => touches = true,
            Relation::Intersecting => meets = true,
            Relation::AInsideB => held[0][s] = true,
            Relation::BInsideA => held[1][t] = true,
        }
    }
    let all = held.each_ref().map(|held| held.iter().all(|&held| held));
    let any = held.iter().flatten().any(|&held| held);
    let found = match all {
        [true, false] => Relation::AInsideB,
        [false, true] => Relation::BInsideA,
        _ if meets || any => Relation::Intersecting,
        _ if touches => Relation::Touching,
        _ => Relation::Separated,
    };
    Some((found, Certainty::Exact))
}
