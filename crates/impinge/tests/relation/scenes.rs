//! The relation in scenes whose answer is plain to see: fine faces on coarse ones, bodies at rest in
//! rooms, nested spheres; and what budget and memory may change, which is never the answer.

use std::collections::BTreeMap;

use glam::DVec3;
use impinge::geom::triangle_triangle::meet;
use impinge::model::Model;
use impinge::narrow::exact::relation::{RelationMemory, relation, relation_within};
use impinge::procedural::{ico_sphere, torus};
use impinge::{Budget, Finish, Mesh, Pose, Relation};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Vertices and triangles.
type Surface = (Vec<[f64; 3]>, Vec<[u32; 3]>);

/// The surface of a box, each face a grid of n × n squares.
fn grid_box(low: [f64; 3], high: [f64; 3], n: u32, inverted: bool) -> Surface {
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for axis in 0..3 {
        for up in [false, true] {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let base = points.len() as u32;
            for i in 0..=n {
                for j in 0..=n {
                    // Exact for powers of two, so that neighbouring faces share their corners.
                    let at =
                        |k: usize, step: u32| low[k] + (high[k] - low[k]) * f64::from(step) / f64::from(n);
                    let mut p = [0.0; 3];
                    p[axis] = if up { high[axis] } else { low[axis] };
                    (p[u], p[v]) = (at(u, i), at(v, j));
                    points.push(p);
                }
            }
            for i in 0..n {
                for j in 0..n {
                    let at = |di: u32, dj: u32| base + (i + di) * (n + 1) + j + dj;
                    for [a, b, c] in [[at(0, 0), at(1, 0), at(1, 1)], [at(0, 0), at(1, 1), at(0, 1)]] {
                        triangles.push(if up != inverted { [a, b, c] } else { [a, c, b] });
                    }
                }
            }
        }
    }
    (points, triangles)
}

fn model(parts: &[Surface]) -> Model {
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for (p, t) in parts {
        let base = points.len() as u32;
        points.extend(p);
        triangles.extend(t.iter().map(|corners| corners.map(|v| v + base)));
    }
    let model = Model::from(Mesh::new(points, triangles).unwrap());
    assert!(model.topology().is_closed());
    model
}

fn swap_checked(a: &Model, b: &Model, at: &Pose) -> Relation {
    let found = relation(a, at, b, &Pose::IDENTITY);
    assert_eq!(relation(b, &Pose::IDENTITY, a, at), found.swapped());
    found
}

/// 2,048 triangles on the floor of a room, so that no plane parts the bodies; one step lower and higher.
#[test]
fn a_fine_box_on_the_coarse_floor_of_a_room() {
    let fine = model(&[grid_box([-1.0, -1.0, 0.0], [1.0, 1.0, 1.0], 32, false)]);
    let room = model(&[
        grid_box([-8.0, -8.0, -4.0], [8.0, 8.0, 12.0], 1, false),
        grid_box([-4.0, -4.0, 0.0], [4.0, 4.0, 8.0], 1, true),
    ]);
    let at = |z: f64| Pose::from_translation([0.125, 0.25, z]).unwrap();
    assert_eq!(swap_checked(&fine, &room, &at(0.0)), Relation::Touching);
    assert_eq!(swap_checked(&fine, &room, &at(f64::EPSILON)), Relation::Separated);
    assert_eq!(swap_checked(&fine, &room, &at(-f64::EPSILON)), Relation::Intersecting);
    assert_eq!(swap_checked(&fine, &room, &at(-4.5)), Relation::Intersecting);
    assert_eq!(swap_checked(&fine, &room, &at(-2.0)), Relation::AInsideB);
    assert_eq!(swap_checked(&fine, &room, &at(-1.0)), Relation::AInsideB);
    assert_eq!(swap_checked(&fine, &room, &at(9.0)), Relation::AInsideB);
}

#[test]
fn a_fine_box_on_a_coarse_block() {
    let fine = model(&[grid_box([-1.0, -1.0, 0.0], [1.0, 1.0, 1.0], 32, false)]);
    let block = model(&[grid_box([-8.0, -8.0, -4.0], [8.0, 8.0, 0.0], 1, false)]);
    assert_eq!(swap_checked(&fine, &block, &Pose::IDENTITY), Relation::Touching);
    let hanging = Pose::from_translation([7.5, 7.5, 0.0]).unwrap();
    assert_eq!(swap_checked(&fine, &block, &hanging), Relation::Touching);
    let flush = Pose::from_translation([0.0, 0.0, -1.0]).unwrap();
    assert_eq!(swap_checked(&fine, &block, &flush), Relation::AInsideB);
    let corner = Pose::from_translation([9.0, 9.0, 0.0]).unwrap();
    assert_eq!(swap_checked(&fine, &block, &corner), Relation::Touching);
}

#[test]
fn one_surface_in_two_triangulations_is_the_same_surface() {
    let coarse = model(&[grid_box([0.0; 3], [1.0; 3], 1, false)]);
    let fine = model(&[grid_box([0.0; 3], [1.0; 3], 4, true)]);
    assert_eq!(swap_checked(&coarse, &fine, &Pose::IDENTITY), Relation::Intersecting);
    assert_eq!(swap_checked(&coarse, &coarse, &Pose::IDENTITY), Relation::Intersecting);
    let aside = Pose::from_translation([1.0, 0.0, 0.0]).unwrap();
    assert_eq!(swap_checked(&coarse, &fine, &aside), Relation::Touching);
}

#[test]
fn spheres_and_tori_at_random() {
    let mut rng = Pcg64::seed_from_u64(1);
    let small = Model::from(ico_sphere(0.3, 3).unwrap());
    let large = Model::from(ico_sphere(1.0, 3).unwrap());
    let ring = Model::from(torus(1.0, 0.35, 48, 24).unwrap());
    let mut seen = [0; 3];
    for _ in 0..300 {
        let offset: [f64; 3] = std::array::from_fn(|_| rng.random_range(-1.2..1.2));
        let turn = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
        let at = Pose::new(offset, turn).unwrap();
        let length = offset.iter().map(|x| x * x).sum::<f64>().sqrt();
        // Between the radii of the inscribed and the circumscribed sphere the answer is open.
        let found = swap_checked(&small, &large, &at);
        match length {
            d if d < 0.68 => assert_eq!(found, Relation::AInsideB),
            d if (0.71..1.28).contains(&d) => assert_eq!(found, Relation::Intersecting),
            d if d > 1.31 => assert_eq!(found, Relation::Separated),
            _ => {}
        }
        let tube = ((offset[0].hypot(offset[1]) - 1.0).hypot(offset[2]), 0.35, 0.3);
        let found = swap_checked(&small, &ring, &at);
        match tube.0 {
            d if d < 0.03 => assert_eq!(found, Relation::AInsideB),
            d if (0.07..0.62).contains(&d) => assert_eq!(found, Relation::Intersecting),
            d if d > 0.66 => assert_eq!(found, Relation::Separated),
            _ => {}
        }
        seen[match found {
            Relation::Separated => 0,
            Relation::Intersecting => 1,
            _ => 2,
        }] += 1;
    }
    assert!(seen[0] > 50 && seen[1] > 50, "{seen:?}");
}

/// Triangles back to back: a surface that bounds nothing.
fn fin(corners: [[f64; 3]; 3], copies: u32) -> Surface {
    let triangles = (0..copies).flat_map(|_| [[0, 1, 2], [1, 0, 2]]).collect();
    (corners.to_vec(), triangles)
}

/// How a solid and a fin together lie to the box from 0 to 4, given how the solid alone lies.
fn with_fin(solid: Relation, corners: &[[f64; 3]; 3], cube: &Surface) -> Relation {
    let within = corners.iter().flatten().all(|x| (0.0..=4.0).contains(x));
    let placed = corners.map(DVec3::from);
    let meets = |t: &[u32; 3]| meet(&placed, &t.map(|v| DVec3::from(cube.0[v as usize])));
    match solid {
        Relation::AInsideB if !within => Relation::Intersecting,
        Relation::Separated if within || cube.1.iter().any(meets) => Relation::Touching,
        other => other,
    }
}

/// Fins that lie outside, inside, across and, with whole coordinates, on the faces, edges and corners of a
/// box, beside solids in every relation to it.
#[test]
fn fins_bound_nothing_but_count_as_surface() {
    let mut rng = Pcg64::seed_from_u64(3);
    let solids = [
        (grid_box([6.0; 3], [7.0; 3], 1, false), Relation::Separated),
        (grid_box([4.0, 1.0, 1.0], [5.0, 2.0, 2.0], 1, false), Relation::Touching),
        (grid_box([3.0; 3], [5.0; 3], 1, false), Relation::Intersecting),
        (grid_box([1.0; 3], [2.0; 3], 1, false), Relation::AInsideB),
        (grid_box([-8.0; 3], [8.0; 3], 1, true), Relation::BInsideA),
    ];
    let cubes = [1, 2].map(|n| grid_box([0.0; 3], [4.0; 3], n, false));
    let boxes = [0, 1].map(|k| model(&cubes[k..=k]));
    let mut seen = BTreeMap::new();
    for round in 0..1500 {
        let whole = round % 3 == 0;
        let middle: [f64; 3] = std::array::from_fn(|_| rng.random_range(-1.5..5.5));
        let reach = rng.random_range(0.5..2.5);
        let corners: [[f64; 3]; 3] = std::array::from_fn(|_| {
            middle.map(|x| {
                let x = x + rng.random_range(-reach..reach);
                if whole { x.round() } else { x }
            })
        });
        let (solid, alone) = &solids[round % 5];
        let k = round / 15 % 2;
        let body = model(&[solid.clone(), fin(corners, 1 + round as u32 / 30 % 2)]);
        let expected = with_fin(*alone, &corners, &cubes[k]);
        // A turn would break what touches exactly.
        let at = match whole || *alone == Relation::Touching {
            true => Pose::from_translation([0.5, -0.25, 2.0]).unwrap(),
            false => {
                Pose::new([0.3, -0.2, 0.1], std::array::from_fn(|_| rng.random_range(-1.0..1.0))).unwrap()
            }
        };
        let found = relation(&body, &at, &boxes[k], &at);
        assert_eq!(found, expected, "{corners:?} beside {alone:?}");
        assert_eq!(relation(&boxes[k], &at, &body, &at), found.swapped(), "{corners:?} beside {alone:?}");
        *seen.entry(format!("{alone:?} {expected:?}")).or_insert(0) += 1;
    }
    // A fin changes the answer of solids that are apart or inside, and does so neither always nor never.
    assert_eq!(seen.len(), 7, "{seen:?}");
    assert!(seen.values().all(|&count| count >= 15), "{seen:?}");
}

/// A budget in work units stops the search; calling again with the memory goes on to the same answer.
#[test]
fn a_small_budget_is_resumed_and_memory_changes_nothing() {
    let mut rng = Pcg64::seed_from_u64(2);
    let (a, b) = (Model::from(ico_sphere(1.0, 4).unwrap()), Model::from(torus(1.0, 0.5, 60, 30).unwrap()));
    let (mut stops, mut hits, mut kept) = (0, 0, RelationMemory::default());
    for _ in 0..60 {
        let step = Pose::from_translation(std::array::from_fn(|_| rng.random_range(-2.0..2.0))).unwrap();
        let still = Pose::IDENTITY;
        let want = relation(&a, &step, &b, &still);
        let mut memory = RelationMemory::default();
        let found = loop {
            let mut budget = Budget::units(150);
            let (found, outcome) = relation_within(&a, &step, &b, &still, &mut memory, &mut budget);
            if let Some(found) = found {
                assert_eq!(outcome.finish, Finish::Complete);
                break found;
            }
            assert_eq!(outcome.finish, Finish::OutOfBudget);
            stops += 1;
        };
        assert_eq!(found, want);
        let mut unlimited = Budget::UNLIMITED;
        assert_eq!(relation_within(&a, &step, &b, &still, &mut kept, &mut unlimited).0, Some(want));
        // The memory of other bodies must not change an answer.
        assert_eq!(relation_within(&b, &still, &a, &step, &mut kept, &mut unlimited).0, Some(want.swapped()));
        hits += usize::from(want.is_contact());
    }
    assert!(stops > 20 && (10..55).contains(&hits), "{stops} {hits}");
}

/// A search that ran out of budget belongs to its models: others at the same poses begin anew.
#[test]
fn an_unfinished_search_is_not_resumed_with_other_models() {
    let large = [ico_sphere(1.0, 4), torus(1.0, 0.5, 60, 30)].map(|mesh| Model::from(mesh.unwrap()));
    let small = [ico_sphere(1.0, 1), ico_sphere(0.4, 1)].map(|mesh| Model::from(mesh.unwrap()));
    let pose = Pose::IDENTITY;
    let mut memory = RelationMemory::default();
    let (found, _) =
        relation_within(&large[0], &pose, &large[1], &pose, &mut memory, &mut Budget::units(100));
    assert_eq!(found, None);
    let (found, _) =
        relation_within(&small[0], &pose, &small[1], &pose, &mut memory, &mut Budget::units(1 << 20));
    assert_eq!(found, Some(Relation::BInsideA));
}
