use glam::DVec3;

use crate::num::random::unit;
use crate::scene::{Body, Options, Scene};
use crate::shape::procedural;
use crate::{Budget, Certainty, Finish, Memory, Method, Placed, Pose, Query, Relation, Shape};

fn pose(k: u64) -> Pose {
    let at = |i: u64| 2.0 * unit(7, 8 * k + i) - 1.0;
    Pose::new([0, 1, 2].map(|i| 1.7 * at(i)), [at(3), at(4), at(5), at(6) + 1e-3]).unwrap()
}

fn shapes() -> [Shape; 3] {
    let ball = procedural::ico_sphere(0.25, 1).unwrap();
    [procedural::blob(1.0, 0.3, 3, 5).unwrap(), procedural::torus(0.9, 0.3, 24, 12).unwrap(), ball]
        .map(Shape::from)
}

#[test]
fn placements_agree_with_the_exact_relation() {
    let shapes = shapes();
    let (mut memory, mut met) = (Memory::default(), 0);
    for k in 0..200 {
        // Nested ones too: the small ball goes through both bodies.
        let (a, b) = (&shapes[(k % 2) as usize], &shapes[if k % 3 == 0 { 2 } else { 1 }]);
        let (a, b) = (a.at(pose(2 * k)), b.at(pose(2 * k + 1)));
        let exact = crate::relation(a, b);
        let mut query = Query { method: Method::Sampled, memory: Some(&mut memory), ..Query::default() };
        let found = query.relation(a, b).unwrap();
        assert_eq!((found.value, found.certainty), (Some(exact), Certainty::Exact), "{k}");
        assert_eq!(found.sampling.map(|s| (s.coverage, s.miss_probability)), Some((1.0, 0.0)), "{k}");
        met += usize::from(exact != Relation::Separated);
    }
    assert!((60..140).contains(&met), "{met} of 200");
}

#[test]
fn budgets_leave_no_answer_or_the_right_one_and_calls_go_on() {
    let shapes = shapes();
    let (mut open, mut done) = (0, 0);
    for k in 0..20 {
        let (a, b) = (shapes[0].at(pose(2 * k)), shapes[1].at(pose(2 * k + 1)));
        let exact = crate::relation(a, b);
        let (mut memory, mut before) = (Memory::default(), 0.0);
        for _ in 0..10_000 {
            let budget = Budget::units(400);
            let mut query =
                Query { method: Method::Sampled, budget, memory: Some(&mut memory), ..Query::default() };
            let found = query.relation(a, b).unwrap();
            let sampling = found.sampling.unwrap();
            assert!(sampling.coverage >= before - 1e-6, "{k}: {} after {before}", sampling.coverage);
            before = sampling.coverage;
            if let Some(value) = found.value {
                assert_eq!(value, exact, "{k}");
                done += 1;
                break;
            }
            assert_eq!(found.finish, Finish::OutOfBudget);
            open += 1;
        }
    }
    assert!(done == 20 && open > 20, "{done} {open}");
}

#[test]
fn the_number_of_threads_is_not_seen() {
    let shapes = shapes();
    let pairs: Vec<[Placed<'_>; 2]> =
        (0..24).map(|k| [shapes[0].at(pose(2 * k)), shapes[1].at(pose(2 * k + 1))]).collect();
    let ask = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut query = Query { method: Method::Sampled, ..Query::default() };
            query.relation_batch(&pairs).unwrap()
        })
    };
    assert_eq!(ask(1), ask(3));
}

#[test]
fn the_seed_decides_what_is_looked_at_and_nothing_else_does() {
    let ball = Shape::from(procedural::ico_sphere(1.0, 4).unwrap());
    let beside = ball.at(Pose::shift(DVec3::X * 2.001));
    // With the shells at hand the budget is for pairs of facets alone.
    Query { method: Method::Sampled, ..Query::default() }.relation(&ball, beside).unwrap();
    let ask = |seed: u64, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (mut memory, mut told) = (Memory::default(), Vec::new());
            for _ in 0..40 {
                let (method, budget) = (Method::Sampled, Budget::units(300));
                let mut query = Query { method, budget, seed, memory: Some(&mut memory), ..Query::default() };
                let found = query.relation(&ball, beside).unwrap();
                assert_ne!(found.value, Some(Relation::Intersecting));
                told.push((found.value, found.sampling));
            }
            told
        })
    };
    let one = ask(1, 1);
    assert!(one == ask(1, 3) && one == ask(1, 1));
    let others: Vec<_> = (2..6).map(|seed| ask(seed, 1)).collect();
    assert!(others.iter().all(|other| *other != one), "{one:?}");
    // Another seed begins anew.
    let mut memory = Memory::default();
    let mut ask = |seed: u64| {
        let (method, budget) = (Method::Sampled, Budget::units(300));
        let query = Query { method, budget, seed, memory: Some(&mut memory), ..Query::default() };
        { query }.relation(&ball, beside).unwrap().sampling
    };
    assert_eq!([ask(1), ask(2), ask(1)], [one[0].1, others[0][0].1, one[0].1]);
}

#[test]
fn it_takes_part_in_a_scene_with_one_budget() {
    let ball = Shape::from(procedural::ico_sphere(1.0, 3).unwrap());
    let mut scene = Scene::with_options(Options { margin: 0.0, touch: 0.0, ..Options::default() }).unwrap();
    let a = scene.add(Body::fixed(ball.clone(), Pose::IDENTITY));
    let others: Vec<_> = [DVec3::X, DVec3::Y]
        .map(|at| scene.add(Body::moving(ball.clone(), Pose::shift(at * 2.1))))
        .into_iter()
        .collect();
    others.iter().for_each(|&b| scene.set_method([a, b], Method::Sampled).unwrap());
    let frame = scene.step(&mut Budget::UNLIMITED.clone());
    assert!(frame.events.is_empty());
    for (&b, at) in others.iter().zip([DVec3::X, DVec3::Y]) {
        scene.place(b, Pose::shift(at * 1.9));
    }
    let frame = scene.step(&mut Budget::UNLIMITED.clone());
    assert_eq!(frame.events.len(), 2);
    let told = frame.contacts[0];
    assert!(told.certainty == Certainty::Exact && (0.0..0.3).contains(&told.contact.depth), "{told:?}");
}
