use rand::{Rng, SeedableRng};

use super::*;
use crate::Mesh;
use crate::geom::triangle_triangle::{folded_over_edge, has_area, meet, meet_sharing_corner};
use crate::num::random::{bits, unit};
use crate::shape::procedural;

/// The definition on all pairs, with the shared corners counted by position.
fn slow(model: &Model) -> Vec<[u32; 2]> {
    let mesh = model.mesh();
    let n = mesh.triangles().len() as u32;
    let mut pairs = vec![];
    for j in 0..n {
        for i in 0..j {
            let [a, b] = [mesh.corners(i), mesh.corners(j)];
            if !has_area(&a) || !has_area(&b) || !meet(&a, &b) {
                continue;
            }
            let shared: Vec<usize> = (0..3).filter(|&k| b.contains(&a[k])).collect();
            let counts = match shared[..] {
                [] => true,
                [k] => meet_sharing_corner(&a, &b, k, b.iter().position(|p| *p == a[k]).unwrap()),
                [k, l] => {
                    let ra = a[3 - k - l];
                    let rb = b.into_iter().find(|p| *p != a[k] && *p != a[l]).unwrap();
                    folded_over_edge(a[k], a[l], ra, rb)
                }
                _ => false,
            };
            if counts {
                pairs.push([i, j]);
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

fn check(mesh: Mesh) -> usize {
    let model = Model::from(mesh);
    let (pairs, _) = self_intersections(&model);
    assert_eq!(pairs, slow(&model));
    let counted = count_self_intersections(&model);
    assert_eq!((counted.count, counted.first), (pairs.len() as u64, pairs.first().copied()));
    pairs.len()
}

#[test]
fn random_soups_agree_with_all_pairs() {
    for (seed, size) in (0..12).zip([1e-6, 1.0, 1e6, 1e59, 1e-300, 1.0].into_iter().cycle()) {
        let n = 120;
        let point = |k: u64| [0, 1, 2].map(|c| size * (unit(seed, 6 * k + c) - 0.5));
        let points = (0..3 * n).map(|v| {
            let [near, offset] = [point(v / 3), point(1000 + v)];
            [0, 1, 2].map(|c| near[c] + 0.8 * offset[c])
        });
        let mesh =
            Mesh::new(points.collect(), (0..n as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect());
        let found = check(mesh.unwrap());
        assert!((50..2000).contains(&found), "{found} of 7140 pairs, size {size}");
    }
}

#[test]
fn grid_soups_with_shared_corners_copies_and_slivers_agree_with_all_pairs() {
    let mut found = [0; 4];
    for seed in 0..60 {
        let side = 3 + seed % 3;
        let point = |v: u64| [0, 1, 2].map(|c| (bits(seed, 3 * v + c) % side) as f64);
        // Some positions twice, with different signs of zero.
        let points: Vec<[f64; 3]> =
            (0..20).map(|v| point(v % 14)).map(|p| if seed % 2 == 0 { p } else { p.map(|x| -x) }).collect();
        let corner = |k: u64| (bits(seed, 1000 + k) % 20) as u32;
        let triangles: Vec<[u32; 3]> =
            (0..30).map(|t| [corner(3 * t), corner(3 * t + 1), corner(3 * t + 2)]).collect();
        let mesh = Mesh::new(points, triangles).unwrap();
        let model = Model::from(mesh.clone());
        for [i, j] in self_intersections(&model).0 {
            let [a, b] = [i, j].map(|t| model.topology().triangles()[t as usize]);
            found[a.iter().filter(|v| b.contains(v)).count()] += 1;
        }
        check(mesh);
    }
    assert!(found[0] > 1000 && found[1] > 1000 && found[2] > 100 && found[3] == 0, "{found:?}");
}

#[test]
fn what_the_contract_says_about_neighbours() {
    let square = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.5, 0.5, 1.0]];
    let count = |triangles: &[[u32; 3]]| check(Mesh::new(square.to_vec(), triangles.to_vec()).unwrap());
    // Side by side, then folded over the common edge, then a copy, then hinged out of the plane.
    assert_eq!(count(&[[0, 1, 2], [1, 3, 2]]), 0);
    assert_eq!(count(&[[0, 1, 2], [0, 1, 3]]), 1);
    assert_eq!(count(&[[0, 1, 2], [2, 1, 0]]), 0);
    assert_eq!(count(&[[0, 1, 2], [0, 1, 4]]), 0);
    // A corner on the other's side: they meet in more than the shared corner.
    assert_eq!(count(&[[1, 2, 3], [1, 4, 0]]), 0);
    assert_eq!(count(&[[0, 3, 1], [0, 3, 3]]), 0);
}

#[test]
fn promised_bodies_do_not_meet_themselves() {
    let bodies = [
        procedural::cuboid([1.0, 2.0, 3.0], [3, 4, 5]),
        procedural::uv_sphere(1.0, 40, 20),
        procedural::ico_sphere(0.3, 4),
        procedural::torus(1.0, 0.4, 40, 20),
        procedural::knot([2, 3], 1.0, 0.2, 200, 16),
        procedural::knot([3, 2], 1.0, 0.1, 200, 16),
        procedural::clover(3, 1.0, 0.1, 200, 16),
        procedural::clover(4, 1.0, 0.1, 320, 16),
        procedural::horseshoe(1.0, 0.3, 64, 16),
        procedural::capsule(0.3, 0.7, 24, 8),
        procedural::cylinder(0.3, 0.7, 24),
        procedural::cone(0.3, 0.7, 24),
        procedural::bowl(1.0, 0.1, 40, 12),
        procedural::gear(0.2, 0.8, 1.0, 0.3, 20),
        procedural::stairs(9, 0.3, 1.0, 0.17),
        procedural::blob(1.0, 0.6, 4, 3),
        procedural::bunny(1.0, 4, 3),
        procedural::tetrahedron(1.0),
        procedural::octahedron(1.0),
        procedural::icosahedron(1.0),
        procedural::sheet([1.0, 1.0], [20, 30]),
    ];
    for (k, mesh) in bodies.into_iter().enumerate() {
        let (found, _) = self_intersections(&Model::from(mesh.unwrap()));
        assert!(found.is_empty(), "body {k}: {found:?}");
    }
    for part in procedural::hand(0.19, 12).unwrap().iter().chain(&procedural::teapot(1.0, 24).unwrap()) {
        assert_eq!(count_self_intersections(&Model::from(part.mesh.clone())).count, 0, "{}", part.name);
    }
    let links = procedural::chain(5, 1.0, 0.12, 48, 12).unwrap();
    assert_eq!(count_self_intersections(&Model::from(procedural::join(&links).unwrap())).count, 0);
    let fingers = procedural::hand(0.19, 12).unwrap();
    let hand = procedural::join(fingers.iter().map(|part| &part.mesh)).unwrap();
    assert_eq!(count_self_intersections(&Model::from(hand)).count, 0);
    let pot = procedural::teapot(1.0, 24).unwrap();
    let pot = procedural::join(pot.iter().map(|part| &part.mesh)).unwrap();
    assert!(count_self_intersections(&Model::from(pot)).count > 50);
}

#[test]
fn a_budget_stops_the_search_and_it_goes_on_to_the_same_answer() {
    let rings = [procedural::torus(1.0, 0.3, 40, 20).unwrap(), procedural::torus(1.1, 0.25, 40, 20).unwrap()];
    let model = Model::from(procedural::join(&rings).unwrap());
    let (all, _) = self_intersections(&model);
    assert!(all.len() > 100);
    let mut search = SelfIntersectionSearch::new(&model);
    let mut steps = 0;
    while search.advance(&mut Budget::units(5_000)).outcome.finish != Finish::Complete {
        assert!(search.pairs().iter().all(|pair| all.binary_search(pair).is_ok()));
        steps += 1;
    }
    assert!(steps > 5, "{steps}");
    assert_eq!(search.pairs(), all);
}

#[cfg(feature = "parallel")]
#[test]
fn the_number_of_threads_changes_nothing() {
    let rings = [procedural::torus(1.0, 0.3, 60, 30).unwrap(), procedural::torus(1.1, 0.25, 60, 30).unwrap()];
    let model = Model::from(procedural::join(&rings).unwrap());
    let [one, many] = [1, 7].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| self_intersections(&model))
    });
    assert_eq!(one, many);
}

#[test]
fn all_pairs_tell_what_the_tree_does() {
    let mut dice = rand_pcg::Pcg64Mcg::seed_from_u64(15);
    let mut seen = [0; 2];
    for round in 0..300 {
        let side = 2 + round % 7;
        let mut whole = || f64::from(dice.random_range(0..side));
        let points: Vec<[f64; 3]> = (0..12).map(|_| [whole(), whole(), whole()]).collect();
        let triangles = (0..1 + round % 6).map(|_| [0; 3].map(|_: u32| dice.random_range(0..12))).collect();
        let model = Model::from(Mesh::new(points, triangles).unwrap());
        let meets = few_triangles_intersect(model.mesh());
        assert_eq!(meets, !self_intersections(&model).0.is_empty());
        seen[usize::from(meets)] += 1;
    }
    assert!(seen.iter().all(|&count| count > 40), "{seen:?}");
}
