//! Every question about every pair of kinds goes on where a budget ended it, and comes to the bits of the answer
//! without one.

use std::time::Duration;

use impinge::glam::DVec3;
use impinge::{
    Answer, Budget, DecomposeOptions, Deforming, Error, Finish, Memory, Mesh, Method, Motion, Pose, Query,
    Ray, Shape, VolumeOptions, procedural,
};

/// More calls than any of these questions needs.
const PATIENCE: u64 = 200_000;

/// The budget of a call, by its number from 1.
type Limit = fn(u64) -> Budget;

/// Budgets that buy next to nothing, and one that buys a part of the answer.
fn budgets() -> [Limit; 3] {
    [|_| Budget::units(1), |_| Budget::units(700), shortly]
}

/// A deadline. The first has passed already, so that the fastest machine does not answer at once; later ones grow, so
/// that the busiest comes to an end.
fn shortly(call: u64) -> Budget {
    Budget::time(if call == 1 { Duration::from_nanos(1) } else { Duration::from_micros(200 + call) })
}

/// Asks with small budgets through one memory until the answer is there; returns it and the number of calls.
fn to_the_end<T>(budget: Limit, mut ask: impl FnMut(&mut Query<'_>) -> Result<Answer<T>, Error>) -> (T, u64) {
    let mut memory = Memory::default();
    for calls in 1..PATIENCE {
        let limit = budget(calls);
        let units = limit.remaining();
        let mut query = Query { budget: limit, memory: Some(&mut memory), ..Query::default() };
        let answer = ask(&mut query).unwrap();
        let cost = answer.work.volume_tests + answer.work.primitive_tests + answer.work.updates;
        assert!(units.is_none_or(|units| cost <= units + 1000), "{cost} units of {units:?} at call {calls}");
        match answer.value {
            Some(value) => {
                assert_ne!(answer.finish, Finish::OutOfBudget);
                return (value, calls);
            }
            None => assert_eq!(answer.finish, Finish::OutOfBudget),
        }
    }
    panic!("no end after {PATIENCE} calls");
}

/// Makes a shape anew.
type Maker = Box<dyn Fn() -> Shape>;

/// One fresh shape of each class: facts that one test has built would hide that another cannot.
fn kinds() -> Vec<(&'static str, Maker)> {
    let ball = || Shape::sphere(0.4).unwrap();
    let compound = move || {
        let parts = [-0.5, 0.0, 0.5].map(|x| (ball(), Pose::from_translation([x, 0.1, 0.0]).unwrap()));
        Shape::compound(parts).unwrap()
    };
    vec![
        ("mesh", Box::new(|| procedural::torus(1.0, 0.3, 32, 16).unwrap().into())),
        ("ball mesh", Box::new(|| procedural::ico_sphere(0.8, 3).unwrap().into())),
        ("sheet", Box::new(|| procedural::sheet([2.0, 2.0], [12, 12]).unwrap().into())),
        (
            "hull",
            Box::new(|| Shape::hull(procedural::blob(0.7, 0.3, 2, 9).unwrap().vertices().to_vec()).unwrap()),
        ),
        ("box", Box::new(|| Shape::cuboid([0.4, 0.5, 0.6]).unwrap())),
        ("sphere", Box::new(ball)),
        ("capsule", Box::new(|| Shape::capsule(0.3, 0.5).unwrap())),
        ("cylinder", Box::new(|| Shape::cylinder(0.3, 0.5).unwrap())),
        ("half-space", Box::new(|| Shape::half_space([0.0, 0.0, 1.0], -0.2).unwrap())),
        ("compound", Box::new(compound)),
    ]
}

/// Apart, crossing, and at the same place.
fn places() -> [Pose; 3] {
    [
        Pose::from_translation([0.3, 0.2, 2.2]).unwrap(),
        Pose::new([0.9, 0.2, 0.1], [0.1, 0.3, -0.2, 0.9]).unwrap(),
        Pose::IDENTITY,
    ]
}

#[test]
fn relations_and_distances() {
    let (mut several, mut all) = (0, 0);
    for (name_a, a) in &kinds() {
        for (name_b, b) in &kinds() {
            if !(name_a.contains("mesh") || *name_a == "sheet" || *name_a == "compound") {
                continue;
            }
            for pose in places() {
                let want = {
                    let (a, b) = (a(), b());
                    let relation = Query::default().relation(&a, b.at(pose)).unwrap().value.unwrap();
                    let distance = Query::default().distance(&a, b.at(pose)).unwrap().value.unwrap();
                    (relation, distance)
                };
                for budget in budgets() {
                    let (a, b) = (a(), b());
                    let (relation, calls) = to_the_end(budget, |query| query.relation(&a, b.at(pose)));
                    let (distance, more) = to_the_end(budget, |query| query.distance(&a, b.at(pose)));
                    assert_eq!((relation, distance), want, "{name_a} {name_b}");
                    // What a deadline allows depends on the machine.
                    let counts = budget(1).remaining().is_some();
                    all += usize::from(counts);
                    several += usize::from(counts && calls + more > 4);
                }
            }
        }
    }
    assert!(2 * several > all, "{several} of {all} were interrupted");
}

/// Small ones: what was found so far is sorted at every call.
#[test]
fn pairs_and_contours() {
    type Make = fn() -> Shape;
    let meshes: [(&str, Make); 3] = [
        ("ring", || procedural::torus(1.0, 0.3, 16, 8).unwrap().into()),
        ("ball", || procedural::ico_sphere(0.8, 2).unwrap().into()),
        ("sheet", || procedural::sheet([2.0, 2.0], [8, 8]).unwrap().into()),
    ];
    let mut most = 0;
    for (name_a, a) in meshes {
        for (name_b, b) in meshes {
            for pose in places() {
                let (x, y) = (a(), b());
                let mut free = Query::default();
                let want = (
                    free.pairs(&x, y.at(pose)).unwrap().value.unwrap(),
                    free.pairs_within(&x, y.at(pose), 0.1).unwrap().value.unwrap(),
                    free.contour(&x, y.at(pose)).unwrap().value.unwrap(),
                );
                for budget in budgets() {
                    let (x, y) = (a(), b());
                    let (pairs, calls) = to_the_end(budget, |query| query.pairs(&x, y.at(pose)));
                    let found = (
                        pairs,
                        to_the_end(budget, |query| query.pairs_within(&x, y.at(pose), 0.1)).0,
                        to_the_end(budget, |query| query.contour(&x, y.at(pose))).0,
                    );
                    assert!(found == want, "{name_a} {name_b}");
                    most = most.max(calls);
                }
            }
        }
    }
    assert!(most > 100, "{most} calls");
}

#[test]
fn brute_force_goes_on() {
    let [a, b] = [6, 5].map(|n| Shape::from(procedural::torus(1.0, 0.3, n, 4).unwrap()));
    let pose = Pose::from_translation([0.8, 0.1, 0.0]).unwrap();
    let mut free = Query { method: Method::Brute, ..Query::default() };
    let want = free.pairs(&a, b.at(pose)).unwrap().value.unwrap();
    let far = Pose::from_translation([3.8, 0.1, 0.0]).unwrap();
    let gap = free.distance(&a, b.at(far)).unwrap().value.unwrap();
    for budget in budgets() {
        let brute = |query: &mut Query<'_>| query.method = Method::Brute;
        let found = to_the_end(budget, |query| {
            brute(query);
            query.pairs(&a, b.at(pose))
        });
        assert_eq!(found.0, want);
        let found = to_the_end(budget, |query| {
            brute(query);
            query.distance(&a, b.at(far))
        });
        assert_eq!(found.0, gap);
    }
}

#[test]
fn sweeps() {
    for (name_a, a) in &kinds() {
        for (name_b, b) in &kinds()[..6] {
            let start = Pose::from_translation([0.1, 0.2, 3.5]).unwrap();
            let end = Pose::new([0.2, 0.1, 0.4], [0.3, 0.1, 0.2, 0.9]).unwrap();
            let motion = Motion::between(&start, &end);
            let want = {
                let (a, b) = (a(), b());
                Query::default().sweep(&a, b.along(motion)).unwrap().value.unwrap()
            };
            for budget in budgets() {
                let (a, b) = (a(), b());
                let (found, _) = to_the_end(budget, |query| query.sweep(&a, b.along(motion)));
                assert_eq!(found.impact, want.impact, "{name_a} {name_b}");
                assert_eq!(found.free_until.to_bits(), want.free_until.to_bits());
            }
        }
    }
}

#[test]
fn sweeps_by_contact() {
    let [a, b] = [0.8, 0.6].map(|r| Shape::from(procedural::ico_sphere(r, 1).unwrap()));
    let motion = Motion::between(
        &Pose::from_translation([0.1, 0.2, 3.0]).unwrap(),
        &Pose::from_translation([0.1, 0.2, 0.0]).unwrap(),
    );
    let ask = |query: &mut Query<'_>| {
        query.method = Method::Contact;
        query.sweep(&a, b.along(motion))
    };
    let want = ask(&mut Query::default()).unwrap().value.unwrap();
    for budget in budgets() {
        assert_eq!(to_the_end(budget, ask).0.impact, want.impact);
    }
}

#[test]
fn points_and_rays() {
    let points = procedural::positions(300, DVec3::splat(-1.5), DVec3::splat(1.5), 7);
    let rays: Vec<Ray> = points.iter().map(|&p| Ray::new(p * 3.0, -p).unwrap()).collect();
    for (name, shape) in &kinds()[..6] {
        let fresh = shape();
        let mut free = Query::default();
        let near = free.closest_point_batch(&fresh, &points).unwrap().value.unwrap();
        let signed = free.signed_distance_batch(&fresh, &points).unwrap().value.unwrap();
        let inside = free.contains_batch(&fresh, &points).unwrap().value.unwrap();
        for budget in budgets() {
            let fresh = shape();
            let (found, calls) = to_the_end(budget, |query| query.closest_point_batch(&fresh, &points));
            assert!(found == near && (calls > 1 || !name.contains("mesh")), "{name}, {calls} calls");
            assert_eq!(to_the_end(budget, |query| query.signed_distance_batch(&fresh, &points)).0, signed);
            assert_eq!(to_the_end(budget, |query| query.contains_batch(&fresh, &points)).0, inside);
        }
        if name.contains("mesh") {
            let hits = free.ray_cast_batch(&fresh, &rays).unwrap().value.unwrap();
            for budget in budgets() {
                let fresh = shape();
                assert_eq!(to_the_end(budget, |query| query.ray_cast_batch(&fresh, &rays)).0, hits);
            }
        }
    }
}

#[test]
fn other_points_begin_anew() {
    let shape = Shape::from(procedural::ico_sphere(0.8, 3).unwrap());
    let mut points = procedural::positions(300, DVec3::splat(-1.5), DVec3::splat(1.5), 7);
    let mut memory = Memory::default();
    let limit = || Budget::units(9000);
    let mut asked = 0;
    loop {
        let mut query = Query { budget: limit(), memory: Some(&mut memory), ..Query::default() };
        let answer = query.closest_point_batch(&shape, &points).unwrap();
        if answer.so_far.is_some_and(|found| !found.is_empty()) {
            break;
        }
        asked += 1;
        assert!(asked < 100);
    }
    points[0] += DVec3::X;
    let want = Query::default().closest_point_batch(&shape, &points).unwrap().value;
    let mut query = Query { memory: Some(&mut memory), ..Query::default() };
    query.budget = Budget::units(1 << 40);
    assert_eq!(query.closest_point_batch(&shape, &points).unwrap().value, want);
}

#[test]
fn whole_meshes() {
    let rings = [procedural::torus(1.0, 0.3, 24, 12).unwrap(), procedural::torus(1.1, 0.25, 24, 12).unwrap()];
    let mesh = || Shape::from(procedural::join(&rings).unwrap());
    let stairs = || Shape::from(procedural::stairs(3, 1.0, 2.0, 1.0).unwrap());
    let ring = || Shape::from(procedural::torus(1.0, 0.3, 16, 8).unwrap());
    let options = DecomposeOptions { most_parts: 8, tolerance: 0.01 };
    let solids =
        [stairs as fn() -> Shape, ring].map(|solid| (solid, impinge::decompose(&solid(), &options).unwrap()));
    let want = Query::default().self_intersections(&mesh()).unwrap().value.unwrap();
    let health = impinge::inspect(&mesh()).unwrap();
    for budget in budgets() {
        let fresh = mesh();
        let (found, calls) = to_the_end(budget, |query| query.self_intersections(&fresh));
        assert!(found == want && !want.is_empty() && calls > 1);
        let fresh = mesh();
        let (seen, _) = to_the_end(budget, |query| query.inspect(&fresh));
        assert_eq!(
            (seen.self_intersections, seen.volume, &seen.problems),
            (health.self_intersections, health.volume, &health.problems)
        );
        for (solid, want) in &solids {
            let fresh = solid();
            let (found, calls) = to_the_end(budget, |query| query.decompose(&fresh, &options));
            assert_eq!(
                (found.parts.len(), found.excess, found.deviation, found.certainty),
                (want.parts.len(), want.excess, want.deviation, want.certainty)
            );
            let least = if budget(1).remaining() == Some(1) { 20 } else { 2 };
            assert!(calls >= least && want.parts.len() > 1, "{calls} calls, {} parts", want.parts.len());
        }
    }
}

/// Two solids of which one overlaps itself, so that only images measure them, at the resolution that budgets allow.
#[test]
fn volumes_by_images() {
    let two_balls = || {
        let ball = procedural::ico_sphere(1.0, 2).unwrap();
        let moved = ball.vertices().iter().map(|&p| p + DVec3::X);
        let vertices: Vec<[f64; 3]> =
            ball.vertices().iter().copied().chain(moved).map(<[f64; 3]>::from).collect();
        let first = ball.vertices().len() as u32;
        let triangles = ball.triangles().iter().flat_map(|t| [*t, t.map(|v| v + first)]).collect();
        Shape::from(Mesh::new(vertices, triangles).unwrap())
    };
    let half = || Shape::from(procedural::cuboid([4.0, 4.0, 1.0], [1; 3]).unwrap());
    let at = Pose::from_translation([0.0, 0.0, 1.0]).unwrap();
    let options = VolumeOptions::default();
    let whole = Query::default().volume(&two_balls(), half().at(at), options).unwrap();
    assert_eq!((whole.method, whole.value.is_some()), (Method::Image, true));
    let want = whole.value.map_or(0.0, |found| found.volume);
    for budget in budgets() {
        let (a, b) = (two_balls(), half());
        let (found, calls) = to_the_end(budget, |query| query.volume(&a, b.at(at), options));
        assert!(found.volume > 0.0 && (found.volume - want).abs() <= found.error, "{found:?}, {want}");
        assert!(calls > 2, "{calls} calls");
    }
}

#[test]
fn moving_vertices() {
    let start = procedural::sheet([2.0, 2.0], [12, 12]).unwrap();
    let fold = |p: &DVec3| DVec3::new(p.x.abs(), p.y, p.z + 0.3 * p.x.signum());
    let end =
        impinge::Mesh::from_points(start.vertices().iter().map(fold).collect(), start.triangles().to_vec())
            .unwrap();
    let sheet = Deforming::new(start, end).unwrap();
    let want = Query::default().self_contacts(&sheet, 0.05).unwrap().value.unwrap();
    for budget in budgets() {
        let (found, calls) = to_the_end(budget, |query| query.self_contacts(&sheet, 0.05));
        assert!(found == want && !want.is_empty() && calls > 1, "{calls} calls");
    }
}

#[test]
fn batches_go_on_pair_by_pair() {
    let torus = Shape::from(procedural::torus(1.0, 0.3, 32, 16).unwrap());
    let ball = Shape::from(procedural::ico_sphere(0.8, 3).unwrap());
    let places = procedural::positions(12, DVec3::splat(-2.0), DVec3::splat(2.0), 3);
    let pairs: Vec<_> = places
        .iter()
        .map(|p| [(&torus).into(), ball.at(Pose::from_translation(p.to_array()).unwrap())])
        .collect();
    let want: Vec<_> =
        Query::default().distance_batch(&pairs).unwrap().into_iter().map(|a| a.value.unwrap()).collect();
    for budget in budgets() {
        let mut memory = Memory::default();
        let (mut calls, mut answered) = (0, 0);
        let found = loop {
            calls += 1;
            assert!(calls < PATIENCE);
            let mut query = Query { budget: budget(calls), memory: Some(&mut memory), ..Query::default() };
            let answers = query.distance_batch(&pairs).unwrap();
            let now = answers.iter().filter(|answer| answer.value.is_some()).count();
            assert!(now >= answered, "an answer was lost");
            answered = now;
            if now == pairs.len() {
                break answers;
            }
        };
        let found: Vec<_> = found.into_iter().map(|a| a.value.unwrap()).collect();
        assert!(found == want && calls > 1, "{calls} calls");
    }
}

/// A cloud whose tree takes longer than a trial, and two whose particles lie where a search has most to look at: around
/// the middle of a ball.
fn clouds() -> [(&'static str, Shape); 2] {
    let spread = procedural::positions(3000, DVec3::splat(-0.9), DVec3::splat(0.9), 5);
    let middle = procedural::positions(60, DVec3::splat(-0.01), DVec3::splat(0.01), 6);
    [
        ("spread", Shape::particles(spread, &[0.01]).unwrap()),
        ("middle", Shape::particles(middle, &[0.0]).unwrap()),
    ]
}

#[test]
fn clouds_of_particles() {
    let ball = || Shape::from(procedural::ico_sphere(0.8, 4).unwrap());
    let hull = || Shape::hull(procedural::blob(0.7, 0.3, 2, 9).unwrap().vertices().to_vec()).unwrap();
    let other =
        || Shape::particles(procedural::positions(2000, DVec3::splat(-0.5), DVec3::ONE, 8), &[0.1]).unwrap();
    let bodies: [(&str, Maker); 3] =
        [("ball", Box::new(ball)), ("hull", Box::new(hull)), ("cloud", Box::new(other))];
    let motion = Motion::between(&Pose::from_translation([0.1, 0.2, 3.0]).unwrap(), &Pose::IDENTITY);
    for (name, cloud) in clouds() {
        for (kind, body) in &bodies {
            let b = body();
            let mut free = Query::default();
            let want = (
                free.relation(&cloud, &b).unwrap().value.unwrap(),
                free.distance(&cloud, &b).unwrap().value.unwrap(),
                free.contacts(&cloud, &b, 0.0).unwrap().value.unwrap(),
                free.sweep(&cloud, b.along(motion)).unwrap().value.unwrap().impact,
            );
            assert!(!want.2.is_empty(), "{name} {kind} are apart");
            for budget in budgets() {
                let fresh = || (cloud.unprepared(), body());
                let (a, b) = fresh();
                let (relation, calls) = to_the_end(budget, |query| query.relation(&a, &b));
                let (a, b) = fresh();
                let (distance, more) = to_the_end(budget, |query| query.distance(&a, &b));
                let (a, b) = fresh();
                let (contacts, most) = to_the_end(budget, |query| query.contacts(&a, &b, 0.0));
                let (a, b) = fresh();
                let (sweep, _) = to_the_end(budget, |query| query.sweep(&a, b.along(motion)));
                assert_eq!((relation, distance, sweep.impact), (want.0, want.1, want.3), "{name} {kind}");
                assert!(contacts == want.2, "{name} {kind}");
                // Few points are soon compared with the faces of one hull.
                let counts = budget(1).remaining().is_some() && (name, *kind) != ("middle", "hull");
                assert!(
                    !counts || calls.min(more).min(most) > 1,
                    "{name} {kind}: {calls}, {more}, {most} calls"
                );
            }
        }
    }
}

/// Points that cost more than a budget: deep within many balls or boxes, and as near to very many triangles.
#[test]
fn points_that_take_long() {
    let places = || procedural::positions(1500, DVec3::splat(-1.0), DVec3::ONE, 3);
    let boxes = move || {
        let parts = places()
            .into_iter()
            .map(|p| (Shape::cuboid([0.2; 3]).unwrap(), Pose::from_translation(p).unwrap()));
        Shape::compound(parts).unwrap()
    };
    let shapes: [(&str, Maker); 3] = [
        ("balls", Box::new(move || Shape::particles(places(), &[0.2]).unwrap())),
        ("boxes", Box::new(boxes)),
        ("round mesh", Box::new(|| procedural::ico_sphere(1.0, 5).unwrap().into())),
    ];
    let deep = procedural::positions(8, DVec3::splat(-0.9), DVec3::splat(0.9), 7);
    for (name, shape) in &shapes {
        let points = if *name == "round mesh" { vec![DVec3::ZERO; 2] } else { deep.clone() };
        let fresh = shape();
        let mut free = Query::default();
        let signed = free.signed_distance_batch(&fresh, &points).unwrap();
        let work = signed.work.volume_tests + signed.work.primitive_tests;
        assert!(work > 1000 * points.len() as u64, "{name}: {work} tests are no more than a budget");
        let signed = signed.value.unwrap();
        let closest = free.closest_point_batch(&fresh, &points).unwrap().value.unwrap();
        let inside = free.contains_batch(&fresh, &points).unwrap().value.unwrap();
        for budget in budgets() {
            let fresh = shape();
            let (found, calls) = to_the_end(budget, |query| query.signed_distance_batch(&fresh, &points));
            assert!(found == signed, "{name}");
            let counts = budget(1).remaining().is_some();
            assert!(!counts || calls > points.len() as u64, "{name}: {calls} calls");
            let (near, _) = to_the_end(budget, |query| query.closest_point_batch(&fresh, &points));
            assert!(near == closest, "{name}");
            assert_eq!(to_the_end(budget, |query| query.contains_batch(&fresh, &points)).0, inside, "{name}");
        }
    }
}

/// Hulls of which meshes are made within the question, and clouds whose every ball is drawn.
#[test]
fn volumes_and_ways_out_of_hulls_and_clouds() {
    let hull = |seed: u64| {
        let blob = procedural::blob(0.7, 0.01, 4, seed).unwrap();
        Shape::hull(blob.vertices().to_vec()).unwrap()
    };
    let cloud = || Shape::particles(procedural::positions(2000, DVec3::ZERO, DVec3::ONE, 8), &[0.1]).unwrap();
    let mesh = || Shape::from(procedural::torus(1.0, 0.3, 24, 12).unwrap());
    let at = Pose::from_translation([0.5, 0.1, 0.2]).unwrap();
    let options = VolumeOptions { resolution: Some(32), ..VolumeOptions::default() };
    let pairs: [(&str, [Shape; 2], Method); 4] = [
        ("hulls, exact", [hull(1), hull(2)], Method::Exact),
        ("hulls, image", [hull(1), hull(2)], Method::Image),
        ("hull and mesh, exact", [hull(1), mesh()], Method::Exact),
        ("clouds, image", [cloud(), cloud()], Method::Image),
    ];
    for (name, [a, b], method) in &pairs {
        let volume = |query: &mut Query<'_>| {
            query.method = *method;
            query.volume(a, b.at(at), options)
        };
        let want = volume(&mut Query::default()).unwrap().value.unwrap();
        assert!(want.volume > 0.0, "{name}");
        for budget in budgets() {
            let (found, calls) = to_the_end(budget, volume);
            assert!(found == want, "{name}");
            // Their surfaces alone cost more.
            let counts = budget(1).remaining().is_some();
            assert!(!counts || calls > 20, "{name}: {calls} calls");
        }
    }
    let (_, [a, b], _) = &pairs[0];
    let want = Query::default().separate(a, b.at(at)).unwrap().value.unwrap();
    for budget in budgets() {
        assert_eq!(to_the_end(budget, |query| query.separate(a, b.at(at))).0, want);
    }
}
