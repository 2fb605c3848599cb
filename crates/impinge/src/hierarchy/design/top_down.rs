//! Division from the root down, without recursion: median, mean, surface-area heuristic (Goldsmith and
//! Salmon 1987, in the bins of Wald 2007), middle of space, two clusters (Lloyd 1982).

use std::ops::Range;

use glam::DVec3;

use super::group::{Group, Grouping, Items};
use super::options::{Axis, Partition, Split};
use crate::Mesh;
use crate::bound::{Aabb, Bounding, principal_direction};
use crate::num::compact_sort::sort_rarely;

const BINS: usize = 16;

/// Steps of Lloyd's method; more change little.
const LLOYD: usize = 4;

/// A depth that no sensible division reaches; below it medians keep the tree shallow.
const DEEP: usize = 64;

/// Slots still to be divided: a run of parts, or one part.
struct Job {
    group: usize,
    parts: Range<usize>,
    depth: usize,
}

/// Divides all triangles until no group has more than `leaf`.
pub(super) fn divide(
    mesh: &Mesh,
    items: &Items,
    partition: Partition,
    split: Split,
    axis: Axis,
    leaf: usize,
) -> Grouping {
    let mut parts = parts_of(mesh, items, partition);
    let mut groups = vec![Group { slots: 0..items.boxes.len(), halves: None }];
    let mut order: Vec<u32> = vec![0; items.boxes.len()];
    let mut jobs = vec![Job { group: 0, parts: 0..parts.len(), depth: 0 }];
    while let Some(job) = jobs.pop() {
        let slots = groups[job.group].slots.clone();
        let (left, halves): (usize, [Range<usize>; 2]) = if job.parts.len() > 1 {
            let middle = halve_parts(items, &mut parts[job.parts.clone()]) + job.parts.start;
            let left = parts[job.parts.start..middle].iter().map(Vec::len).sum();
            (left, [job.parts.start..middle, middle..job.parts.end])
        } else {
            if !parts[job.parts.start].is_empty() {
                // The part reaches its place; from here on it is divided there.
                let part = std::mem::take(&mut parts[job.parts.start]);
                order[slots.clone()].copy_from_slice(&part);
            }
            if slots.len() <= leaf {
                continue;
            }
            let split = if job.depth < DEEP { split } else { Split::Median };
            let left = divide_slots(items, &mut order[slots.clone()], split, axis);
            (left, [job.parts.clone(), job.parts.clone()])
        };
        let middle = slots.start + left;
        let first = groups.len();
        groups[job.group].halves = Some([first, first + 1]);
        groups.push(Group { slots: slots.start..middle, halves: None });
        groups.push(Group { slots: middle..slots.end, halves: None });
        for (i, parts) in halves.into_iter().enumerate() {
            jobs.push(Job { group: first + i, parts, depth: job.depth + 1 });
        }
    }
    Grouping { groups, order }
}

fn parts_of(mesh: &Mesh, items: &Items, partition: Partition) -> Vec<Vec<u32>> {
    let all = 0..items.boxes.len() as u32;
    let mut parts: Vec<Vec<u32>> = match partition {
        Partition::Whole => vec![all.collect()],
        Partition::Orientation => {
            let side = |t: u32| (items.boxes[t as usize].high - items.boxes[t as usize].low).max_position();
            (0..3).map(|axis| all.clone().filter(|&t| side(t) == axis).collect()).collect()
        }
        Partition::Parts => connected_parts(mesh),
    };
    parts.retain(|p| !p.is_empty());
    parts
}

/// Triangles that hang together by vertex indices, each part in ascending order.
fn connected_parts(mesh: &Mesh) -> Vec<Vec<u32>> {
    let mut leader: Vec<u32> = (0..mesh.vertices().len() as u32).collect();
    fn find(leader: &mut [u32], mut v: u32) -> u32 {
        while leader[v as usize] != v {
            leader[v as usize] = leader[leader[v as usize] as usize];
            v = leader[v as usize];
        }
        v
    }
    for t in mesh.triangles() {
        let root = find(&mut leader, t[0]);
        for &v in &t[1..] {
            let other = find(&mut leader, v);
            leader[other as usize] = root;
        }
    }
    let mut place = vec![u32::MAX; leader.len()];
    let mut parts: Vec<Vec<u32>> = Vec::new();
    for (t, corners) in mesh.triangles().iter().enumerate() {
        let root = find(&mut leader, corners[0]) as usize;
        if place[root] == u32::MAX {
            place[root] = parts.len() as u32;
            parts.push(Vec::new());
        }
        parts[place[root] as usize].push(t as u32);
    }
    parts
}

/// Sorts parts by their centres along the longest axis and gives the middle.
fn halve_parts(items: &Items, parts: &mut [Vec<u32>]) -> usize {
    let mut boxed: Vec<(DVec3, Vec<u32>)> =
        parts.iter_mut().map(std::mem::take).map(|p| (items.box_of(&p).centre(), p)).collect();
    let around = Aabb::around_points(&boxed.iter().map(|b| b.0).collect::<Vec<_>>());
    let axis = (around.high - around.low).max_position();
    sort_rarely(&mut boxed, |a, b| a.0[axis].total_cmp(&b.0[axis]).then(a.1[0].cmp(&b.1[0])));
    for (place, (_, part)) in parts.iter_mut().zip(boxed) {
        *place = part;
    }
    parts.len() / 2
}

/// Divides slots in place; how many go left, never none and never all.
fn divide_slots(items: &Items, slots: &mut [u32], split: Split, axis: Axis) -> usize {
    let centre = |t: u32| items.centres[t as usize];
    let around = slots.iter().fold(Aabb::EMPTY, |b, &t| {
        let c = centre(t);
        Aabb { low: b.low.min(c), high: b.high.max(c) }
    });
    let d = match axis {
        Axis::Longest => DVec3::AXES[(around.high - around.low).max_position()],
        Axis::Principal => principal_direction(&slots.iter().map(|&t| centre(t)).collect::<Vec<_>>()),
    };
    let key = |t: u32| centre(t).dot(d);
    let left = match split {
        Split::Median => 0,
        Split::Mean => {
            let mean = slots.iter().map(|&t| key(t) / slots.len() as f64).sum::<f64>();
            part_by(slots, |t| key(t) < mean)
        }
        Split::Midpoint => {
            let low = slots.iter().map(|&t| key(t)).fold(f64::INFINITY, f64::min);
            let high = slots.iter().map(|&t| key(t)).fold(f64::NEG_INFINITY, f64::max);
            part_by(slots, |t| key(t) < low / 2.0 + high / 2.0)
        }
        Split::SurfaceArea => match axis {
            Axis::Longest => by_surface(items, slots, &DVec3::AXES),
            Axis::Principal => by_surface(items, slots, &[d]),
        },
        Split::Clusters => by_clusters(items, slots, d),
    };
    if left > 0 && left < slots.len() {
        return left;
    }
    let middle = slots.len() / 2;
    slots.select_nth_unstable_by(middle, |&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
    middle
}

/// Moves those that satisfy a condition to the front, all else staying in order.
fn part_by(slots: &mut [u32], front: impl Fn(u32) -> bool) -> usize {
    let (yes, no): (Vec<u32>, Vec<u32>) = slots.iter().partition(|&&t| front(t));
    slots[..yes.len()].copy_from_slice(&yes);
    slots[yes.len()..].copy_from_slice(&no);
    yes.len()
}

fn by_surface(items: &Items, slots: &mut [u32], directions: &[DVec3]) -> usize {
    let mut best = (f64::INFINITY, DVec3::X, 0.0);
    for &d in directions {
        let key = |t: u32| items.centres[t as usize].dot(d);
        let low = slots.iter().map(|&t| key(t)).fold(f64::INFINITY, f64::min);
        let high = slots.iter().map(|&t| key(t)).fold(f64::NEG_INFINITY, f64::max);
        let scale = BINS as f64 / (high - low);
        if !scale.is_finite() {
            continue;
        }
        let mut bins = [(0_usize, Aabb::EMPTY); BINS];
        for &t in slots.iter() {
            let bin = &mut bins[(((key(t) - low) * scale) as usize).min(BINS - 1)];
            *bin = (bin.0 + 1, bin.1.merge(&items.boxes[t as usize]));
        }
        let right_to_left = sweep(bins.iter().rev());
        for (i, left) in sweep(bins.iter()).into_iter().enumerate().take(BINS - 1) {
            let cost = left + right_to_left[BINS - 2 - i];
            if cost < best.0 {
                best = (cost, d, low + (i + 1) as f64 / scale);
            }
        }
    }
    if best.0.is_finite() { part_by(slots, |t| items.centres[t as usize].dot(best.1) < best.2) } else { 0 }
}

/// Surface times number of what lies in the bins so far.
fn sweep<'a>(bins: impl Iterator<Item = &'a (usize, Aabb)>) -> Vec<f64> {
    bins.scan((0, Aabb::EMPTY), |so_far, bin| {
        *so_far = (so_far.0 + bin.0, so_far.1.merge(&bin.1));
        Some(if so_far.0 == 0 { f64::INFINITY } else { so_far.1.surface() * so_far.0 as f64 })
    })
    .collect()
}

fn by_clusters(items: &Items, slots: &mut [u32], d: DVec3) -> usize {
    let centre = |t: u32| items.centres[t as usize];
    let end = |sign: f64| {
        let far = slots.iter().max_by(|&&a, &&b| {
            (sign * centre(a).dot(d)).total_cmp(&(sign * centre(b).dot(d))).then(b.cmp(&a))
        });
        far.map_or(DVec3::ZERO, |&t| centre(t))
    };
    let mut seeds = [end(-1.0), end(1.0)];
    let near_first = |seeds: &[DVec3; 2], t: u32| {
        centre(t).distance_squared(seeds[0]) <= centre(t).distance_squared(seeds[1])
    };
    for _ in 0..LLOYD {
        let mut sums = [(DVec3::ZERO, 0.0_f64); 2];
        for &t in slots.iter() {
            let sum = &mut sums[usize::from(!near_first(&seeds, t))];
            *sum = (sum.0 + (centre(t) - sum.0) / (sum.1 + 1.0), sum.1 + 1.0);
        }
        seeds = [sums[0].0, sums[1].0];
    }
    part_by(slots, |t| near_first(&seeds, t))
}
