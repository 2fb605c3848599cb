//! Grouping from the triangles up: parallel locally-ordered clustering of Meister and Bittner ("Parallel
//! locally-ordered clustering for bounding volume hierarchy construction", 2018), in one thread.
//! Neighbours on Morton's curve that are each other's best partner, by the surface of their common box,
//! are joined, round after round, until one is left.

use super::group::{Group, Grouping, Items};
use crate::bound::{Aabb, Bounding};

struct Cluster {
    box_: Aabb,
    count: usize,
    made_of: MadeOf,
}

#[derive(Clone, Copy)]
enum MadeOf {
    Triangle(u32),
    Two([usize; 2]),
}

/// Pairs triangles and then pairs.
pub(super) fn pair(items: &Items, window: usize, leaf: usize) -> Grouping {
    let mut clusters: Vec<Cluster> = along_the_curve(items)
        .into_iter()
        .map(|t| Cluster { box_: items.boxes[t as usize], count: 1, made_of: MadeOf::Triangle(t) })
        .collect();
    let mut live: Vec<usize> = (0..clusters.len()).collect();
    while live.len() > 1 {
        let partner: Vec<usize> =
            (0..live.len()).map(|i| best_partner(&clusters, &live, i, window)).collect();
        let mut next = Vec::with_capacity(live.len() / 2 + 1);
        for (i, &j) in partner.iter().enumerate() {
            if partner[j] != i {
                next.push(live[i]);
            } else if i < j {
                let (a, b) = (live[i], live[j]);
                next.push(clusters.len());
                clusters.push(Cluster {
                    box_: clusters[a].box_.merge(&clusters[b].box_),
                    count: clusters[a].count + clusters[b].count,
                    made_of: MadeOf::Two([a, b]),
                });
            }
        }
        live = next;
    }
    flatten(&clusters, live[0], leaf)
}

/// The place of the best partner near place i. Equal choices fall to the pair (2k, 2k + 1), so that equal
/// triangles pair up instead of queueing.
fn best_partner(clusters: &[Cluster], live: &[usize], i: usize, window: usize) -> usize {
    let surface = |j: usize| clusters[live[i]].box_.merge(&clusters[live[j]].box_).surface();
    let first = if (i ^ 1) < live.len() { i ^ 1 } else { i - 1 };
    let mut best = (first, surface(first));
    for j in i.saturating_sub(window)..(i + window + 1).min(live.len()) {
        if j != i && j != first {
            let s = surface(j);
            if s < best.1 {
                best = (j, s);
            }
        }
    }
    best.0
}

/// Triangles in Morton order of their barycentres, ten bits an axis finer than any mesh needs locally.
fn along_the_curve(items: &Items) -> Vec<u32> {
    const STEPS: f64 = ((1 << 21) - 1) as f64;
    let around = Aabb::around_points(&items.centres);
    let scale = (around.high - around.low).max(glam::DVec3::splat(f64::MIN_POSITIVE));
    let code = |t: u32| {
        let p = (items.centres[t as usize] - around.low) / scale * STEPS;
        spread(p.x as u64) | spread(p.y as u64) << 1 | spread(p.z as u64) << 2
    };
    let mut keyed: Vec<(u64, u32)> = (0..items.centres.len() as u32).map(|t| (code(t), t)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, t)| t).collect()
}

/// Puts two zero bits before each of 21 bits.
fn spread(x: u64) -> u64 {
    let mut x = x & 0x1f_ffff;
    x = (x | x << 32) & 0x001f_0000_0000_ffff;
    x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

fn flatten(clusters: &[Cluster], root: usize, leaf: usize) -> Grouping {
    let total = clusters[root].count;
    let mut groups = vec![Group { slots: 0..total, halves: None }];
    let mut order = vec![0; total];
    let mut jobs = vec![(root, 0)];
    while let Some((cluster, group)) = jobs.pop() {
        let slots = groups[group].slots.clone();
        match clusters[cluster].made_of {
            MadeOf::Two([a, b]) if slots.len() > leaf => {
                let first = groups.len();
                let middle = slots.start + clusters[a].count;
                groups[group].halves = Some([first, first + 1]);
                groups.push(Group { slots: slots.start..middle, halves: None });
                groups.push(Group { slots: middle..slots.end, halves: None });
                jobs.extend([(a, first), (b, first + 1)]);
            }
            _ => {
                let mut inside = vec![cluster];
                let mut slot = slots.start;
                while let Some(c) = inside.pop() {
                    match clusters[c].made_of {
                        MadeOf::Triangle(t) => {
                            order[slot] = t;
                            slot += 1;
                        }
                        MadeOf::Two(halves) => inside.extend(halves),
                    }
                }
            }
        }
    }
    Grouping { groups, order }
}
