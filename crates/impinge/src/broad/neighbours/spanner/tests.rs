//! Stretch by shortest paths, invariants, and comparisons with brute force while points move, come and go.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::DVec3;

use super::*;
use crate::num::random::unit;

/// Points of a seed: uniform in the unit cube, in clusters, in a plane, or with many at the same places.
fn points(kind: usize, count: usize, seed: u64) -> Vec<[f64; 3]> {
    let u = |n: usize| unit(seed, n as u64);
    let uniform = |i: usize| [u(3 * i), u(3 * i + 1), u(3 * i + 2)];
    (0..count)
        .map(|i| match kind {
            0 => uniform(i),
            1 => {
                let centre = uniform(i % 7 + count);
                let around = uniform(i);
                std::array::from_fn(|k| centre[k] + 0.02 * (around[k] - 0.5) / (0.01 + around[(k + 1) % 3]))
            }
            2 => [u(3 * i), u(3 * i + 1), 0.0],
            _ => uniform(i % (count / 3 + 1)),
        })
        .collect()
}

fn distance(p: [f64; 3], q: [f64; 3]) -> f64 {
    DVec3::from(p).distance(q.into())
}

/// The largest stretch from some sources to all points, and the largest degree.
fn stretch(places: &[Option<[f64; 3]>], edges: &[[u32; 2]], sources: &[usize]) -> (f64, usize) {
    let mut start = vec![0_usize; places.len() + 1];
    edges.iter().flatten().for_each(|&p| start[p as usize + 1] += 1);
    let degree = start.iter().copied().max().unwrap_or(0);
    (0..places.len()).for_each(|i| start[i + 1] += start[i]);
    let mut ends = vec![0_u32; 2 * edges.len()];
    let mut fill = start.clone();
    for &[p, q] in edges {
        for [p, q] in [[p, q], [q, p]] {
            ends[fill[p as usize]] = q;
            fill[p as usize] += 1;
        }
    }
    let mut most = 1.0_f64;
    for &source in sources {
        let Some(from) = places[source] else { continue };
        let mut ways = vec![f64::INFINITY; places.len()];
        let mut queue = BinaryHeap::from([(Reverse(0_u64), source)]);
        ways[source] = 0.0;
        while let Some((Reverse(bits), p)) = queue.pop() {
            let way = f64::from_bits(bits);
            if way > ways[p] {
                continue;
            }
            for &q in &ends[start[p]..start[p + 1]] {
                let next = way + distance(places[p].unwrap(), places[q as usize].unwrap());
                if next < ways[q as usize] {
                    ways[q as usize] = next;
                    queue.push((Reverse(next.to_bits()), q as usize));
                }
            }
        }
        for (place, way) in places.iter().zip(&ways) {
            let Some(to) = place else { continue };
            let straight = distance(from, *to);
            // Points at one place must be connected without length.
            most = most.max(if straight > 0.0 { way / straight } else { 1.0 + way });
        }
    }
    (most, degree)
}

/// Points that move, come and go for some rounds: the hierarchy is valid, and every edge set keeps its stretch.
fn moving_points_keep_the_stretch(kind: usize, count: usize, rounds: usize, epsilon: f64, sources: usize) {
    let mut places: Vec<Option<[f64; 3]>> = points(kind, count, 7).into_iter().map(Some).collect();
    let mut spanner = DeformableSpanner::new(&points(kind, count, 7)).unwrap();
    let flat = kind == 2;
    for round in 0..rounds {
        let seed = 100 + round as u64;
        let now: Vec<[f64; 3]> = (0..places.len())
            .map(|i| {
                let old = places[i].unwrap_or([f64::NAN; 3]);
                let step: [f64; 3] = std::array::from_fn(|k| 0.02 * (unit(seed, (3 * i + k) as u64) - 0.5));
                [old[0] + step[0], old[1] + step[1], if flat { 0.0 } else { old[2] + step[2] }]
            })
            .collect();
        spanner.update(&now).unwrap();
        places.iter_mut().zip(&now).for_each(|(place, now)| *place = place.and(Some(*now)));
        for change in 0..count / 20 {
            let at = (unit(seed, 1_000_000 + change as u64) * count as f64) as usize;
            if change % 2 == 0 {
                spanner.remove(at as u32);
                places[at] = None;
            } else {
                let [x, y, z] = points(kind, count, seed)[at];
                spanner.insert(at as u32, [x, y, z]).unwrap();
                places[at] = Some([x, y, z]);
            }
        }
        assert!(spanner.is_valid());
        assert_eq!(spanner.len(), places.iter().flatten().count());
        let edges = spanner.edges(epsilon).unwrap();
        let from: Vec<usize> = (0..sources).map(|k| (k * 7919 + round * 31) % places.len()).collect();
        let (most, degree) = stretch(&places, &edges, &from);
        let points = spanner.len();
        println!(
            "kind {kind}, round {round}: {points} points, {} edges ({:.1} a point; complete graph {:.1} %), largest degree {degree}, stretch {most:.4} <= {}",
            edges.len(),
            edges.len() as f64 / points as f64,
            200.0 * edges.len() as f64 / (points as f64 * (points as f64 - 1.0)),
            1.0 + epsilon,
        );
        assert!(most <= 1.0 + epsilon, "stretch {most}");
        let mut unique = edges.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), edges.len());
    }
}

#[test]
fn the_stretch_holds_while_points_move_come_and_go() {
    for kind in 0..4 {
        moving_points_keep_the_stretch(kind, 300, 3, [1.0, 0.5][kind % 2], 300);
    }
}

#[test]
#[ignore = "minutes: shortest paths among 10,000 points"]
fn the_stretch_holds_for_ten_thousand_points() {
    for kind in 0..4 {
        for epsilon in [1.0, 0.5] {
            moving_points_keep_the_stretch(kind, 10_000, 3, epsilon, 40);
        }
    }
}

#[test]
fn near_pairs_and_the_closest_pair_are_those_of_brute_force() {
    for kind in 0..4 {
        let mut places = points(kind, 400, 3);
        let mut spanner = DeformableSpanner::new(&places).unwrap();
        for round in 0..4 {
            for (i, place) in places.iter_mut().enumerate() {
                place
                    .iter_mut()
                    .for_each(|x| *x += 0.05 * unit(round, i as u64) * f64::from(u8::from(*x != 0.0)));
            }
            spanner.update(&places).unwrap();
            let all =
                (0..places.len()).flat_map(|i| (i + 1..places.len()).map(move |j| [i as u32, j as u32]));
            let d = |[p, q]: [u32; 2]| distance(places[p as usize], places[q as usize]);
            let closest = all.clone().min_by(|a, b| d(*a).total_cmp(&d(*b))).unwrap();
            assert_eq!(spanner.closest_pair(), Some(closest));
            for reach in [0.0, 0.03, 0.2] {
                let near: Vec<[u32; 2]> = all.clone().filter(|&pair| d(pair) <= reach).collect();
                assert_eq!(spanner.pairs_within(reach).unwrap(), near, "kind {kind}, reach {reach}");
            }
        }
    }
}

#[test]
fn tiny_sets_have_the_closest_pair_of_large_ones() {
    for kind in 0..4 {
        let places = points(kind, 60, 11);
        let want = DeformableSpanner::new(&places).unwrap().closest_pair();
        // Powers of two: nothing is rounded.
        for scale in [-400, -480, -505, -530, -565, -900] {
            let small: Vec<[f64; 3]> = places.iter().map(|p| p.map(|x| x * 2.0_f64.powi(scale))).collect();
            let mut spanner = DeformableSpanner::new(&small).unwrap();
            assert_eq!(spanner.closest_pair(), want, "kind {kind}, 2^{scale}");
            let reach = 0.2 * 2.0_f64.powi(scale);
            let near = DeformableSpanner::new(&places).unwrap().pairs_within(0.2).unwrap();
            assert_eq!(spanner.pairs_within(reach).unwrap(), near, "kind {kind}, 2^{scale}");
        }
    }
}

#[test]
fn numbers_far_beyond_those_in_use_are_refused() {
    let mut spanner = DeformableSpanner::new(&[]).unwrap();
    for number in [4_000_000_000, u32::MAX] {
        let refused = spanner.insert(number, [0.0; 3]).unwrap_err().to_string();
        assert!(refused.contains("numbers in use"), "{refused}");
    }
    assert!(spanner.is_empty());
    spanner.insert(100_000, [0.0; 3]).unwrap();
}

#[test]
fn well_separated_pairs_cover_every_pair_once() {
    for kind in 0..4 {
        let places = points(kind, 150, 5);
        let mut spanner = DeformableSpanner::new(&places).unwrap();
        let mut seen = std::collections::HashMap::new();
        let mut sets = 0;
        spanner
            .well_separated_pairs(2.0, |s, t| {
                sets += 1;
                for (&p, &q) in s.iter().flat_map(|p| t.iter().map(move |q| (p, q))) {
                    *seen.entry([p.min(q), p.max(q)]).or_insert(0) += 1;
                }
            })
            .unwrap();
        for p in 0..150_u32 {
            for q in p + 1..150 {
                let apart = places[p as usize] != places[q as usize];
                assert_eq!(
                    seen.get(&[p, q]).copied().unwrap_or(0),
                    i32::from(apart),
                    "kind {kind}: {p}, {q}"
                );
            }
        }
        assert!(sets < 150 * 149 / 2);
    }
}

#[test]
fn extreme_sets_are_held_too() {
    let mut spanner = DeformableSpanner::new(&[]).unwrap();
    assert_eq!((spanner.closest_pair(), spanner.edges(1.0).unwrap().len()), (None, 0));
    spanner.insert(3, [1.0; 3]).unwrap();
    assert_eq!((spanner.len(), spanner.closest_pair()), (1, None));
    // Distances over 120 decades, and a hundred points at one place.
    for (number, at) in
        [(0, [1e60, 0.0, 0.0]), (1, [-1e60, 1e59, 0.0]), (2, [1.0, 1.0, 1.0 + 1e-15]), (4, [1e-60; 3])]
    {
        spanner.insert(number, at).unwrap();
    }
    (5..105).for_each(|p| spanner.insert(p, [1.0; 3]).unwrap());
    assert!(spanner.is_valid());
    assert_eq!(spanner.pairs_within(0.0).unwrap().len(), 101 * 100 / 2);
    let edges = spanner.edges(0.5).unwrap().len();
    assert!((104..130).contains(&edges), "{edges}");
    (0..105).rev().for_each(|p| spanner.remove(p));
    assert!(spanner.is_empty() && spanner.is_valid());
    assert!(spanner.insert(0, [f64::NAN, 0.0, 0.0]).is_err() && spanner.edges(0.0).is_err());
}
