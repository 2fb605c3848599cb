use std::collections::BTreeSet;

use glam::DVec3;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::Budget;
use crate::broad::{Brute, Mobility};
use crate::model::{Compound, Shape};
use crate::shape::{Convex, Polytope, Primitive, procedural};

/// Half the side of the room that the bodies are scattered in.
const ROOM: f64 = 4.0;

fn unlimited() -> Budget {
    Budget::UNLIMITED
}

fn shapes() -> Vec<Shape> {
    let blob = procedural::blob(0.6, 0.3, 1, 3).unwrap();
    let hull = Polytope::hull(blob.vertices()).unwrap();
    let bar = Convex::from(
        Polytope::hull(procedural::cuboid([0.7, 0.1, 0.1], [1; 3]).unwrap().vertices()).unwrap(),
    );
    let cross = [DVec3::new(0.3, 0.0, 0.0), DVec3::new(0.0, 0.5, 0.2)].map(Pose::shift);
    vec![
        hull.into(),
        Primitive::sphere(0.5).unwrap().into(),
        Compound::new(cross.map(|at| (bar.clone(), at))).unwrap().into(),
    ]
}

fn pose(rng: &mut Pcg64) -> Pose {
    let mut within = |most: f64| rng.random_range(-most..most);
    let place = [within(ROOM), within(ROOM), within(ROOM)];
    Pose::new(place, [within(1.0), within(1.0), within(1.0), within(1.0)]).unwrap()
}

fn body(rng: &mut Pcg64, shapes: &[Shape]) -> Body {
    let groups = match rng.random_range(0..6) {
        0 => Groups { member: 0b01, meets: 0b10 },
        1 => Groups { member: 0b10, meets: 0b11 },
        2 => Groups { member: 0b11, meets: 0b01 },
        _ => Groups::ALL,
    };
    let mobility = if rng.random_bool(0.2) { Mobility::Fixed } else { Mobility::Moving };
    let shape = shapes[rng.random_range(0..shapes.len())].clone();
    Body { mobility, groups, ..Body::moving(shape, pose(rng)) }
}

/// Something that happens to a scene between two steps.
fn disturb(scene: &mut Scene, ids: &mut Vec<BodyId>, rng: &mut Pcg64, shapes: &[Shape]) {
    let pick = |rng: &mut Pcg64, ids: &[BodyId]| ids[rng.random_range(0..ids.len())];
    match rng.random_range(0..20) {
        0..2 => ids.push(scene.add(body(rng, shapes))),
        2 => {
            let id = ids.swap_remove(rng.random_range(0..ids.len()));
            assert!(scene.remove(id).is_some() && scene.remove(id).is_none());
            assert!(!scene.place(id, Pose::IDENTITY) && scene.body(id).is_none());
        }
        3 => assert!(scene.set_groups(pick(rng, ids), body(rng, shapes).groups)),
        4..6 => {
            let pair = [pick(rng, ids), pick(rng, ids)];
            assert_eq!(scene.ignore(pair, rng.random_bool(0.7)), pair[0] != pair[1]);
        }
        6..12 => assert!(scene.place(pick(rng, ids), pose(rng))),
        _ => {
            let id = pick(rng, ids);
            let at = scene.body(id).unwrap().pose;
            let shift = DVec3::from([(); 3].map(|()| rng.random_range(-0.2..0.2)));
            let turn = Pose::new([0.0; 3], [0.05, -0.02, 0.01, 1.0]).unwrap();
            assert!(scene.place(id, Pose::shift(shift).compose(&at).compose(&turn)));
        }
    }
}

fn scattered(margin: f64, seed: u64) -> (Scene, Vec<BodyId>, Pcg64) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let options = Options { margin, ..Options::default() };
    let mut scene = Scene::new(options, Brute::default()).unwrap();
    let shapes = shapes();
    let ids = (0..60).map(|_| scene.add(body(&mut rng, &shapes))).collect();
    (scene, ids, rng)
}

/// What the events must be, from the pairs in contact before and now.
fn expected(before: &BTreeSet<[BodyId; 2]>, now: &BTreeSet<[BodyId; 2]>) -> Vec<Event> {
    let kind = |pair| match (before.contains(pair), now.contains(pair)) {
        (false, _) => EventKind::Began,
        (true, true) => EventKind::Persists,
        (true, false) => EventKind::Ended,
    };
    before.union(now).map(|pair| Event { bodies: *pair, kind: kind(pair) }).collect()
}

fn touching(contacts: &[SceneContact], touch: f64) -> BTreeSet<[BodyId; 2]> {
    contacts.iter().filter(|c| -c.contact.depth <= touch).map(|c| c.bodies).collect()
}

/// Equal up to what a walk from other features may round differently.
fn agree(a: &[SceneContact], b: &[SceneContact]) -> bool {
    let same = |x: &SceneContact, y: &SceneContact| {
        (x.bodies, x.parts) == (y.bodies, y.parts) && (x.contact.depth - y.contact.depth).abs() < 1e-9
    };
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same(x, y))
}

#[test]
fn every_step_tells_what_brute_force_finds() {
    let shapes = shapes();
    for (margin, seed) in [(0.0, 1), (0.3, 2)] {
        let (mut scene, mut ids, mut rng) = scattered(margin, seed);
        let mut before = BTreeSet::new();
        let (mut kinds, mut pairs) = ([0; 3], 0);
        for _ in 0..150 {
            (0..rng.random_range(0..12)).for_each(|_| disturb(&mut scene, &mut ids, &mut rng, &shapes));
            if rng.random_bool(0.1) {
                scene.forget();
            }
            let truth = scene.brute();
            let frame = scene.step(&mut unlimited());
            assert!(agree(frame.contacts, &truth), "{:?}\n{truth:?}", frame.contacts);
            let now = touching(&truth, 0.0);
            assert_eq!(frame.events, expected(&before, &now));
            assert!(frame.undecided.is_empty() && frame.outcome.finish == Finish::Complete);
            frame.events.iter().for_each(|event| kinds[event.kind as usize] += 1);
            pairs += frame.box_pairs;
            before = now;
        }
        let hits = kinds[0] + kinds[1];
        assert!(kinds.iter().all(|&n| n > 50), "{kinds:?}");
        assert!(8 * hits > pairs && 2 * hits < pairs, "{hits} of {pairs} pairs in contact");
    }
}

#[test]
fn memory_threads_and_boxes_change_no_event() {
    let shapes = shapes();
    let run = |boxes: Boxes, forget: bool| {
        let (_, _, mut rng) = scattered(0.2, 3);
        let options = Options { margin: 0.2, touch: 0.1, boxes, ..Options::default() };
        let mut scene = Scene::new(options, Brute::default()).unwrap();
        let mut ids: Vec<BodyId> = (0..60).map(|_| scene.add(body(&mut rng, &shapes))).collect();
        let mut told = Vec::new();
        for _ in 0..60 {
            (0..10).for_each(|_| disturb(&mut scene, &mut ids, &mut rng, &shapes));
            if forget {
                scene.forget();
            }
            let frame = scene.step(&mut unlimited());
            told.push((frame.events.to_vec(), frame.contacts.to_vec()));
        }
        told
    };
    let plain = run(Boxes::Tight, false);
    assert!(plain.iter().map(|(events, _)| events.len()).sum::<usize>() > 500);
    for other in [run(Boxes::Tight, true), run(Boxes::Cube, false)] {
        for ((events, contacts), (events_2, contacts_2)) in plain.iter().zip(&other) {
            assert_eq!(events, events_2);
            assert!(agree(contacts, contacts_2));
        }
    }
    #[cfg(feature = "parallel")]
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| run(Boxes::Tight, false)), plain, "{threads} threads");
    }
}

#[test]
fn a_small_budget_leaves_pairs_open_and_gets_them_all_in_the_end() {
    let shapes = shapes();
    let (mut scene, mut ids, mut rng) = scattered(0.5, 4);
    let mut left_open = 0;
    for round in 0..20 {
        (0..60).for_each(|_| disturb(&mut scene, &mut ids, &mut rng, &shapes));
        let units = if round == 0 { 1 } else { 20 };
        let (mut steps, mut before) = (0, usize::MAX);
        loop {
            let frame = scene.step(&mut Budget::units(units));
            let Counters { volume_tests, primitive_tests, .. } = frame.outcome.work;
            // A pair of convex parts is not interrupted: EPA takes at most 256 supports where they are curved.
            assert!(volume_tests + primitive_tests <= units + 300, "{:?}", frame.outcome.work);
            assert_eq!(!frame.undecided.is_empty(), frame.outcome.finish == Finish::OutOfBudget);
            assert!(frame.undecided.len() <= before && primitive_tests + volume_tests > 0);
            before = frame.undecided.len();
            if before == 0 {
                break;
            }
            left_open += before;
            steps += 1;
            assert!(steps < 2000);
        }
        let truth = scene.brute();
        let last = scene.last();
        assert!(agree(last.contacts, &truth));
        let open = touching(last.contacts, 0.0);
        assert!(last.events.iter().filter(|e| e.kind != EventKind::Ended).all(|e| open.contains(&e.bodies)));
    }
    assert!(left_open > 20, "{left_open}");
    let none = scene.step(&mut Budget::units(0));
    assert_eq!(none.outcome.work.primitive_tests, 0);
}

/// Meshes that drift through each other, with the answers of each step.
fn meshes_within(
    budget: impl Fn(usize) -> Budget,
    steps: usize,
) -> Vec<(Vec<Event>, Vec<SceneContact>, usize, Counters)> {
    let options = Options { margin: 0.3, ..Options::default() };
    let mut scene = Scene::new(options, Brute::default()).unwrap();
    let shapes = [procedural::torus(0.7, 0.25, 24, 12), procedural::blob(0.8, 0.3, 3, 3)];
    let shapes = shapes.map(|mesh| Shape::from(mesh.unwrap()));
    let mut rng = Pcg64::seed_from_u64(11);
    let mut place = |half: f64| Pose::shift(DVec3::from([(); 3].map(|()| rng.random_range(-half..half))));
    let ids: Vec<_> = (0..12).map(|k| scene.add(Body::moving(shapes[k % 2].clone(), place(1.8)))).collect();
    let mut told = Vec::new();
    for step in 0..steps {
        if step == 0 {
            ids.iter().for_each(|&id| assert!(scene.place(id, place(1.8))));
        }
        let frame = scene.step(&mut budget(step));
        let open = frame.undecided.len();
        told.push((frame.events.to_vec(), frame.contacts.to_vec(), open, frame.outcome.work));
    }
    told
}

#[test]
fn mesh_pairs_count_their_tests_and_small_budgets_come_to_the_same_answer() {
    let whole = &meshes_within(|_| unlimited(), 1)[0];
    let work = whole.3.volume_tests + whole.3.primitive_tests;
    assert!(whole.1.len() > 10 && work > 100 * whole.1.len() as u64, "{:?}", whole.3);
    let units = work / 6;
    let some = meshes_within(|_| Budget::units(units), 30);
    assert!(
        some[0].2 > 0 && some.last().unwrap().2 == 0,
        "{:?}",
        some.iter().map(|s| s.2).collect::<Vec<_>>()
    );
    let spent = some.iter().map(|s| s.3.volume_tests + s.3.primitive_tests).max().unwrap();
    assert!(spent <= units + 1024, "{spent} of {units}");
    assert!(agree(&some.last().unwrap().1, &whole.1));
    let began = |list: &[Event]| list.iter().filter(|e| e.kind == EventKind::Began).count();
    assert_eq!(some.iter().map(|s| began(&s.0)).sum::<usize>(), began(&whole.0));
    #[cfg(feature = "parallel")]
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| meshes_within(|_| Budget::units(units), 30)), some, "{threads} threads");
    }
    // Later steps have longer, so that a busy machine comes to the end too.
    let timed = meshes_within(|step| Budget::millis(40 << step), 16);
    assert!(timed.last().unwrap().2 == 0 && agree(&timed.last().unwrap().1, &whole.1));
}

#[test]
fn scenes_can_go_to_other_threads() {
    fn both<T: Send + Sync>() {}
    both::<Scene>();
    both::<SceneSweep>();
    both::<Articulated>();
    both::<crate::Memory>();
}

#[test]
fn resting_bodies_are_not_asked_again() {
    let (mut scene, ids, mut rng) = scattered(0.1, 5);
    let first = scene.step(&mut unlimited());
    let (contacts, pairs) = (first.contacts.to_vec(), first.outcome.work.primitive_tests);
    assert!(pairs > 20 && !contacts.is_empty());
    let still = scene.step(&mut unlimited());
    assert_eq!((still.outcome.work, still.contacts), (Counters::default(), &contacts[..]));
    assert!(still.events.iter().all(|event| event.kind == EventKind::Persists));
    scene.place(ids[0], pose(&mut rng));
    let moved = scene.step(&mut unlimited());
    assert_eq!(moved.outcome.work.updates, 1);
    assert!(moved.outcome.work.primitive_tests < pairs / 2);
}

#[test]
fn a_slot_that_is_used_again_is_another_body() {
    let ball = Shape::from(Primitive::sphere(1.0).unwrap());
    let mut scene = Scene::default();
    let a = scene.add(Body::moving(ball.clone(), Pose::IDENTITY));
    let b = scene.add(Body::moving(ball.clone(), Pose::shift(DVec3::X)));
    assert_eq!(scene.step(&mut unlimited()).events.len(), 1);
    assert!(scene.remove(b).is_some());
    let c = scene.add(Body::moving(ball.clone(), Pose::shift(DVec3::X)));
    assert_ne!(b.index(), c.index(), "not before the next step");
    let events = scene.step(&mut unlimited()).events.to_vec();
    let event = |bodies, kind| Event { bodies, kind };
    assert_eq!(events, [event([a, b], EventKind::Ended), event([a, c], EventKind::Began)]);
    let d = scene.add(Body::moving(ball, Pose::shift(-DVec3::X)));
    assert_eq!((d.index(), d == b, scene.len()), (b.index(), false, 3));
    assert!(scene.body(b).is_none() && scene.body(d).is_some());
}

#[test]
fn touching_is_decided_exactly_and_solids_have_an_inside() {
    let cube = Shape::from(Polytope::hull(procedural::cuboid([0.5; 3], [1; 3]).unwrap().vertices()).unwrap());
    let bars = Compound::new([(Convex::from(Primitive::cuboid([0.5; 3]).unwrap()), Pose::IDENTITY)]).unwrap();
    let solid = Shape::from(procedural::ico_sphere(3.0, 2).unwrap());
    for (shape, at, meets) in [
        (&cube, 1.0, true),
        (&cube, 1.0 + f64::EPSILON, false),
        (&bars.into(), 1.0, true),
        (&solid, 0.0, true),
        (&solid, 3.6, false),
    ] {
        let mut scene = Scene::default();
        let a = scene.add(Body::moving(cube.clone(), Pose::IDENTITY));
        let b = scene.add(Body::moving(shape.clone(), Pose::shift([at, 0.0, 0.0])));
        assert_eq!(!scene.step(&mut unlimited()).events.is_empty(), meets, "{} at {at:?}", shape.kind());
        // The same without closest features.
        assert!(scene.set_contacts([a, b], Some(Contacts::None)));
        let frame = scene.step(&mut unlimited());
        let kinds: Vec<EventKind> = frame.events.iter().map(|e| e.kind).collect();
        assert_eq!(kinds, if meets { vec![EventKind::Persists] } else { vec![] });
        assert!(frame.contacts.is_empty());
    }
}

#[test]
fn the_walk_and_gjk_tell_the_same() {
    let (mut scene, ids, _) = scattered(0.4, 9);
    let walked = scene.step(&mut unlimited()).contacts.to_vec();
    for (i, &a) in ids.iter().enumerate() {
        ids[..i].iter().for_each(|&b| scene.set_method([a, b], Method::Gjk).unwrap());
    }
    let frame = scene.step(&mut unlimited());
    assert!(frame.outcome.work.primitive_tests > 20, "a new method asks anew");
    assert!(walked.len() > 20 && agree(frame.contacts, &walked));
}

#[test]
fn a_chain_ignores_its_joints_and_meets_itself_elsewhere() {
    let parts = procedural::hand(1.0, 8).unwrap();
    let (skeleton, shapes) = jointed(&parts, |_| [0.0, 1.5]).unwrap();
    let mut scene = Scene::default();
    assert!(Articulated::add(&mut scene, skeleton.clone(), &[], &Pose::IDENTITY, Groups::ALL).is_err());
    let mut hand = Articulated::add(&mut scene, skeleton, &shapes, &Pose::IDENTITY, Groups::ALL).unwrap();
    assert!(scene.step(&mut unlimited()).events.is_empty(), "at rest nothing touches");
    let values = vec![2.4; parts.len()];
    let root = Pose::shift([5.0, 0.0, 0.0]);
    hand.place(&mut scene, &root, &values);
    let joined: Vec<[BodyId; 2]> = hand.skeleton().neighbours().map(|p| p.map(|i| hand.links()[i])).collect();
    let frame = scene.step(&mut unlimited());
    assert!(!frame.events.is_empty(), "a fist touches itself");
    assert!(frame.events.iter().all(|event| !joined.contains(&event.bodies)));
    hand.remove(&mut scene);
    assert!(
        scene.is_empty() && scene.step(&mut unlimited()).events.iter().all(|e| e.kind == EventKind::Ended)
    );
}

#[test]
fn a_scene_says_which_broad_phase_it_chose_and_why() {
    let ball = Shape::from(Primitive::sphere(0.4).unwrap());
    let mut scene = Scene::default();
    for k in 0..200 {
        scene.add(Body::moving(ball.clone(), Pose::shift([f64::from(k), 0.0, 0.0])));
    }
    scene.step(&mut unlimited());
    assert_eq!(scene.broad_phase(), "grid: 100 % of 200 bodies move");
    for _ in 0..40 {
        scene.step(&mut unlimited());
    }
    assert_eq!(scene.broad_phase(), "tree: 0 % of 200 bodies move");
    assert_eq!(Scene::new(Options::default(), Brute::default()).unwrap().broad_phase(), "named by hand");
}

#[test]
fn options_are_checked() {
    for (margin, touch) in [(-1.0, -2.0), (f64::NAN, 0.0), (0.1, 0.2), (f64::INFINITY, 0.0), (1.0, f64::NAN)]
    {
        assert!(Scene::new(Options { margin, touch, ..Options::default() }, Brute::default()).is_err());
    }
}
