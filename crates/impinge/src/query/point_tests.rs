use super::*;
use crate::shape::procedural;
use crate::{Memory, Shape};

/// A ball that waves through itself.
fn crumpled(seed: u32) -> Shape {
    let ball = procedural::ico_sphere(1.0, 3).unwrap();
    let wave = |p: &DVec3| {
        let shift = (f64::from(seed) + 9.0 * p.y).sin();
        [p.x + 0.8 * shift, p.y, p.z * (1.0 + 0.9 * (11.0 * p.x).sin())]
    };
    Shape::mesh(ball.vertices().iter().map(wave).collect(), ball.triangles().to_vec()).unwrap()
}

fn asking<'m>(memory: &'m mut Memory, units: u64) -> Query<'m> {
    Query { budget: Budget::units(units), memory: Some(memory), ..Query::default() }
}

#[test]
fn many_meshes_go_on_where_a_budget_ended_them() {
    let shapes = [0, 1, 2].map(crumpled);
    let placed = shapes.each_ref().map(Placed::from);
    let truth = Query::default().self_intersections_batch(&placed).unwrap();
    let units = |answer: &Answer<Vec<[u32; 2]>>| answer.work.volume_tests + answer.work.primitive_tests;
    let all: u64 = truth.iter().map(units).sum();
    assert!(truth.iter().all(|answer| !answer.value.as_ref().unwrap().is_empty()) && all > 10_000, "{all}");
    // Less than the least of them takes, and more than one but less than two.
    for units in [truth.iter().map(units).min().unwrap() / 3, all / 2] {
        let fresh = shapes.each_ref().map(Shape::unprepared);
        let placed = fresh.each_ref().map(Placed::from);
        let (mut memory, mut calls) = (Memory::default(), 0);
        let found = loop {
            let found = asking(&mut memory, units).self_intersections_batch(&placed).unwrap();
            calls += 1;
            assert!(calls < 100, "{units} units of {all}");
            let cost: u64 = found.iter().map(|one| one.work.volume_tests + one.work.primitive_tests).sum();
            assert!(cost <= units + 3000, "{cost} of {units}");
            if found.iter().all(|one| one.finish == Finish::Complete) {
                break found;
            }
        };
        assert!(calls > 1);
        for (found, truth) in found.iter().zip(&truth) {
            assert_eq!(found.value, truth.value);
        }
    }
}

#[test]
fn one_of_many_that_is_refused_is_named() {
    let (mesh, ball) = (crumpled(0), Shape::sphere(1.0).unwrap());
    let mut memory = Memory::default();
    for mut query in [Query::default(), asking(&mut memory, 1000)] {
        let refused = query.self_intersections_batch(&[(&mesh).into(), (&ball).into()]).unwrap_err();
        assert!(refused.to_string().starts_with("shape 1: self-intersections of a sphere"), "{refused}");
    }
}

#[test]
fn one_pair_of_many_that_is_refused_is_named_and_one_alone_is_not() {
    let closed = Shape::from(procedural::ico_sphere(1.0, 1).unwrap());
    let open = Shape::from(procedural::sheet([1.0, 1.0], [2, 2]).unwrap());
    let pairs: [[Placed<'_>; 2]; 3] =
        [[&closed, &closed], [&closed, &open], [&open, &closed]].map(|pair| pair.map(Placed::from));
    let options = crate::VolumeOptions::default();
    for method in [Method::Auto, Method::Exact, Method::Image] {
        for budget in [Budget::UNLIMITED, Budget::units(1 << 30)] {
            let mut query = Query { method, budget, ..Query::default() };
            let refused = query.volume_batch(&pairs, options).unwrap_err().to_string();
            assert!(refused.starts_with("pair 1: b: "), "{refused}");
            let alone = query.volume(&closed, &open, options).unwrap_err().to_string();
            assert_eq!(refused.strip_prefix("pair 1: "), Some(&*alone));
        }
    }
    let ball = Shape::sphere(1.0).unwrap();
    let mut query = Query { method: Method::Gjk, ..Query::default() };
    let refused = query.distance_batch(&[[&ball, &ball], [&ball, &open]].map(|pair| pair.map(Placed::from)));
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.starts_with("pair 1: method gjk does not answer distance of sphere and mesh"),
        "{refused}"
    );
    query.with_relation = true;
    let alone = query.distance(&ball, &open).unwrap_err().to_string();
    assert_eq!(refused.strip_prefix("pair 1: "), Some(&*alone));
}

#[test]
fn a_margin_is_a_length() {
    let mesh = crumpled(0);
    for margin in [f64::INFINITY, f64::NAN, -1.0] {
        let refused = Query::default().pairs_within(&mesh, &mesh, margin).unwrap_err().to_string();
        assert!(
            refused.starts_with("margin: ") && refused.ends_with("is negative or not finite"),
            "{refused}"
        );
        assert!(Query::default().contacts(&mesh, &mesh, margin).is_err());
    }
}

#[test]
fn a_ray_that_no_parameter_measures_is_refused_or_hits_nothing() {
    let (mesh, ball) = (crumpled(0), Shape::sphere(1.0).unwrap());
    let far = DVec3::Z * 1e9;
    for length in [0.0, 1e-320, 1e-250, f64::INFINITY, f64::NAN] {
        assert!(Ray::new(far, -DVec3::Z * length).is_err(), "{length}");
        let ray = Ray { origin: far, direction: -DVec3::Z * length, reach: f64::INFINITY };
        for shape in [&mesh, &ball] {
            assert_eq!(crate::ray_cast(shape, ray), None, "{length}");
            assert_eq!(Query::default().ray_cast_all(shape, ray).unwrap().value, Some(vec![]));
        }
    }
    for length in [1e-239, 1e-100, 1e300] {
        let ray = Ray::new(far, -DVec3::Z * length).unwrap();
        let hit = crate::ray_cast(&ball, ray).unwrap();
        assert!(hit.t.is_finite() && hit.point.distance(DVec3::Z) < 1e-6, "{length}: {hit:?}");
    }
}

#[test]
fn what_one_question_needs_is_not_taken_for_what_another_does() {
    let fresh = || Shape::from(procedural::torus(1.0, 0.4, 64, 32).unwrap());
    let at = DVec3::new(0.1, 0.2, 2.0);
    let ray = Ray::new(at, [0.0, 0.0, -1.0]).unwrap();
    let knows = |shape: &Shape, fact| shape.geometry().model().is_some_and(|model| model.knows(fact));
    for order in [[0, 1], [1, 0]] {
        let (shape, mut memory) = (fresh(), Memory::default());
        for question in order {
            let mut query = asking(&mut memory, 300);
            let (open, work) = match question {
                0 => {
                    let answer = query.closest_point(&shape, at).unwrap();
                    (answer.value.is_none(), answer.work)
                }
                _ => {
                    let answer = query.ray_cast(&shape, ray).unwrap();
                    (answer.value.is_none(), answer.work)
                }
            };
            // 4,096 triangles of some units each: neither tree is built by one call.
            assert!(open && work.updates < 1000, "{order:?}: {work:?} for {question}");
            assert!(!knows(&shape, Fact::PointTree) && !knows(&shape, Fact::RayTree), "{order:?}");
        }
        // Both come to their end all the same.
        let mut calls = 0;
        let nearest = loop {
            calls += 1;
            assert!(calls < 1000);
            if let Some(found) = asking(&mut memory, 300).closest_point(&shape, at).unwrap().value {
                break found;
            }
        };
        assert_eq!(nearest, crate::closest_point(&fresh(), at).unwrap());
        let hit = (0..1000).find_map(|_| asking(&mut memory, 300).ray_cast(&shape, ray).unwrap().value);
        assert_eq!(hit, Some(crate::ray_cast(&fresh(), ray)));
    }
}
