//! Every resumable search gets on with each call, however small the budget, and comes to the answer of
//! the search without one.

use std::ops::ControlFlow;
use std::time::Duration;

use impinge::model::Model;
use impinge::narrow::exact::collide::{Posed, SurfaceSearch, pairs};
use impinge::narrow::exact::distance::{DistanceSearch, distance};
use impinge::narrow::exact::margin::{MarginSearch, pairs_within};
use impinge::narrow::exact::relation::{RelationMemory, relation, relation_within};
use impinge::narrow::exact::self_intersection::{SelfIntersectionSearch, self_intersections};
use impinge::procedural;
use impinge::{Budget, Certainty, Counters, Finish, Outcome, Pose};

/// More calls than any of these searches has steps.
const PATIENCE: usize = 100_000;

/// Budgets that buy less than one pair of nodes.
fn tiny() -> [Budget; 2] {
    [Budget::units(1), Budget::time(Duration::from_nanos(1))]
}

/// Calls until the search is complete; each call must have done something. Returns the last answer and the
/// number of calls.
fn to_the_end<T>(budget: &Budget, mut call: impl FnMut(&mut Budget) -> (T, Outcome)) -> (T, usize) {
    let mut before = Counters::default();
    for calls in 1..PATIENCE {
        let (answer, outcome) = call(&mut budget.clone());
        if outcome.finish == Finish::Complete {
            return (answer, calls);
        }
        assert_eq!(outcome.finish, Finish::OutOfBudget);
        assert!(outcome.work.volume_tests > before.volume_tests, "call {calls} did nothing");
        before = outcome.work;
    }
    panic!("no end after {PATIENCE} calls");
}

/// Two bodies that cross, and two that are apart.
fn scenes() -> [(Model, Model, Pose); 2] {
    let torus = || Model::from(procedural::torus(1.0, 0.3, 32, 16).unwrap());
    let ball = || Model::from(procedural::ico_sphere(0.8, 3).unwrap());
    [
        (torus(), ball(), Pose::from_translation([1.1, 0.2, 0.1]).unwrap()),
        (torus(), ball(), Pose::from_translation([0.3, 0.2, 1.15]).unwrap()),
    ]
}

#[test]
fn distances_are_bracketed_at_every_call() {
    for (a, b, pose) in scenes() {
        let want = distance(&a, &Pose::IDENTITY, &b, &pose);
        for budget in tiny() {
            let mut search = DistanceSearch::new(&a, &Pose::IDENTITY, &b, &pose);
            let (found, calls) = to_the_end(&budget, |budget| {
                let found = search.advance(budget);
                let tolerance = match found.outcome.certainty {
                    Certainty::Conservative { tolerance } => tolerance,
                    certainty => {
                        assert_eq!((certainty, found.outcome.finish), (Certainty::Exact, Finish::Complete));
                        0.0
                    }
                };
                assert_eq!(found.distance - found.at_least, tolerance);
                assert!(found.at_least <= want.distance && want.distance <= found.distance);
                (found, found.outcome)
            });
            assert_eq!(found, want);
            assert!(want.distance == 0.0 || calls > 5, "{calls} calls");
        }
    }
}

#[test]
fn pairs_within_a_margin_come_to_an_end() {
    for (a, b, pose) in scenes() {
        let want = pairs_within(&a, &Pose::IDENTITY, &b, &pose, 0.3);
        for budget in tiny() {
            let mut search = MarginSearch::new(&a, &Pose::IDENTITY, &b, &pose, 0.3);
            let (found, calls) = to_the_end(&budget, |budget| {
                let found = search.advance(budget);
                (found.pairs, found.outcome)
            });
            assert_eq!(found, want.pairs);
            assert!(calls > 20 && !found.is_empty(), "{calls} calls");
        }
    }
}

#[test]
fn meeting_pairs_come_to_an_end() {
    let [(a, b, pose), _] = scenes();
    let want = pairs(&a, &Pose::IDENTITY, &b, &pose);
    for budget in tiny() {
        let mut found = Vec::new();
        let mut search = SurfaceSearch::new(Posed::new(&a, Pose::IDENTITY), Posed::new(&b, pose));
        let ((), calls) = to_the_end(&budget, |budget| {
            let finish = search.advance(budget, |pair| {
                found.extend(pair.meets().then_some(pair.triangles));
                ControlFlow::Continue(())
            });
            ((), Outcome { certainty: Certainty::Exact, finish, work: search.work() })
        });
        found.sort_unstable();
        assert_eq!(found, want);
        assert!(calls > 20 && !want.is_empty(), "{calls} calls");
    }
}

#[test]
fn relations_come_to_an_end() {
    let mut together = 0;
    for (a, b, pose) in scenes() {
        let want = relation(&a, &Pose::IDENTITY, &b, &pose);
        for budget in tiny() {
            let mut memory = RelationMemory::default();
            let mut work = Counters::default();
            let (found, calls) = to_the_end(&budget, |budget| {
                let (found, outcome) = relation_within(&a, &Pose::IDENTITY, &b, &pose, &mut memory, budget);
                // A relation counts the work of each call by itself.
                work += outcome.work;
                (found, Outcome { work, ..outcome })
            });
            assert_eq!(found, Some(want));
            together += calls;
        }
    }
    assert!(together > 10, "{together} calls");
}

#[test]
fn self_intersections_come_to_an_end() {
    let rings = [procedural::torus(1.0, 0.3, 24, 12).unwrap(), procedural::torus(1.1, 0.25, 24, 12).unwrap()];
    let model = Model::from(procedural::join(&rings).unwrap());
    let (want, _) = self_intersections(&model);
    for budget in tiny() {
        let mut search = SelfIntersectionSearch::new(&model);
        let (count, calls) = to_the_end(&budget, |budget| {
            let found = search.advance(budget);
            (found.count, found.outcome)
        });
        assert_eq!((search.pairs(), count), (&want[..], want.len() as u64));
        assert!(calls > 20 && !want.is_empty(), "{calls} calls");
    }
}
