use std::collections::BTreeSet;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::broad::Brute;
use crate::model::{Compound, Geometry};
use crate::narrow::convex::manifold::manifold_of;
use crate::scene::{Body, BodyId, Contacts, Frame, Options, Scene, SceneContact};
use crate::shape::{Convex, Polytope, Primitive, procedural};
use crate::{Budget, Pose, Separation, Shape};

fn scene(margin: f64) -> Scene {
    let options = Options { margin, contacts: Contacts::Manifold, ..Options::default() };
    Scene::new(options, Brute::default()).unwrap()
}

fn step(scene: &mut Scene) -> Frame<'_> {
    scene.step(&mut Budget::UNLIMITED.clone())
}

fn ids(frame: &Frame<'_>) -> BTreeSet<u64> {
    frame.points.iter().map(|p| p.id).collect()
}

fn cuboid(half: [f64; 3]) -> Geometry {
    Primitive::cuboid(half).unwrap().into()
}

fn hull_of_cuboid(half: [f64; 3]) -> Geometry {
    Polytope::hull(procedural::cuboid(half, [1; 3]).unwrap().vertices()).unwrap().into()
}

/// Lies at rest on a unit cube around the origin, but for a drift of this size.
fn resting(rng: &mut Pcg64, drift: f64) -> Pose {
    let mut some = || if drift > 0.0 { rng.random_range(-drift..drift) } else { 0.0 };
    Pose::new([some(), some(), 2.0 + some()], [some(), some(), some(), 1.0]).unwrap()
}

#[test]
fn a_box_at_rest_on_its_like_keeps_four_ids_whatever_the_drift() {
    let mut rng = Pcg64::seed_from_u64(5);
    for make in [cuboid, hull_of_cuboid] {
        for drift in [0.0, 1e-16, 1e-12, 1e-9, 1e-6, 1e-5] {
            let shape = make([1.0; 3]);
            let mut scene = scene(1e-3);
            scene.add(Body::fixed(shape.clone(), Pose::IDENTITY));
            let upper = scene.add(Body::moving(shape, Pose::shift([0.0, 0.0, 2.0])));
            let first = ids(&step(&mut scene));
            assert_eq!(first.len(), 4);
            for _ in 0..100 {
                scene.place(upper, resting(&mut rng, drift));
                let frame = step(&mut scene);
                assert_eq!((ids(&frame), frame.points.len()), (first.clone(), 4), "drift {drift}");
                for point in frame.points {
                    let [p, q] = point.points;
                    assert!((p.abs() - DVec3::ONE).abs().max_element() < 10.0 * drift + 1e-12, "{p}");
                    let normal = frame.contacts[0].contact.normal;
                    assert_eq!(point.normal, normal);
                    assert!((p - q - normal * point.depth).length() < 1e-12);
                }
            }
        }
    }
}

#[test]
fn ids_last_while_the_same_features_meet_and_are_not_given_again() {
    let shape = cuboid([1.0; 3]);
    let mut scene = scene(1e-3);
    scene.add(Body::fixed(cuboid([4.0, 4.0, 1.0]), Pose::IDENTITY));
    let upper = scene.add(Body::moving(shape, Pose::shift([-2.5, 0.0, 2.0])));
    let first = ids(&step(&mut scene));
    // Slides and turns within the larger face, far in one step: the corners stay the same.
    for k in 0..20 {
        let turn = 0.1 * f64::from(k);
        let pose = Pose::new([-2.0 + turn, 0.5, 2.0], [0.0, 0.0, turn.sin(), turn.cos()]).unwrap();
        scene.place(upper, pose);
        let frame = step(&mut scene);
        assert_eq!(ids(&frame), first);
        assert!(
            frame
                .points
                .iter()
                .all(|p| matches!(p.features, [Feature::Face(5), Feature::Vertex(v)] if v < 4))
        );
    }
    // Over the rim two corners stay and two crossings come.
    scene.place(upper, Pose::shift([3.7, 0.0, 2.0]));
    let over = ids(&step(&mut scene));
    assert_eq!((over.len(), over.intersection(&first).count()), (4, 2));
    // Away and back: all are new.
    scene.place(upper, Pose::shift([0.0, 0.0, 9.0]));
    assert!(step(&mut scene).points.is_empty());
    scene.place(upper, Pose::shift([-2.5, 0.0, 2.0]));
    let again = ids(&step(&mut scene));
    assert_eq!(again.len(), 4);
    assert!(again.is_disjoint(&first) && again.is_disjoint(&over));
}

#[test]
fn planes_edges_capsules_and_balls_have_their_points() {
    let ground = Geometry::from(Primitive::half_space([0.0, 0.0, 2.0], 0.0).unwrap());
    let table = cuboid([5.0, 5.0, 1.0]);
    let on_edge = [0.3826834323650898, 0.0, 0.0, 0.9238795325112867];
    let lying = [0.0, std::f64::consts::FRAC_1_SQRT_2, 0.0, std::f64::consts::FRAC_1_SQRT_2];
    let upright = [0.0, 0.0, 0.0, 1.0];
    let capsule = Geometry::from(Primitive::capsule(0.5, 2.0).unwrap());
    let ball = Geometry::from(Primitive::sphere(0.5).unwrap());
    let root = std::f64::consts::SQRT_2;
    for (shape, height, turn, count) in [
        (cuboid([1.0; 3]), 1.0, upright, 4),
        (hull_of_cuboid([1.0; 3]), 0.999, upright, 4),
        (cuboid([1.0; 3]), root, on_edge, 2),
        (capsule.clone(), 0.5, lying, 2),
        (capsule, 2.5, upright, 1),
        (ball, 0.4999, upright, 1),
    ] {
        for (below, at) in [(&ground, 0.0), (&table, -1.0)] {
            for below_first in [true, false] {
                let mut scene = scene(1e-3);
                let upper = Body::moving(shape.clone(), Pose::new([0.1, 0.2, height], turn).unwrap());
                let lower = Body::fixed(below.clone(), Pose::shift([0.0, 0.0, at]));
                let pair = if below_first { [lower, upper] } else { [upper, lower] };
                for body in pair {
                    scene.add(body);
                }
                let frame = step(&mut scene);
                let kind = (shape.kind(), below.kind(), below_first);
                assert_eq!(frame.points.len(), count, "{kind:?} {:?}", frame.points);
                for point in frame.points {
                    let [low, high] =
                        if below_first { point.points } else { [point.points[1], point.points[0]] };
                    assert!(low.z.abs() < 1e-12 && (low.z - high.z - point.depth).abs() < 1e-12, "{kind:?}");
                    assert!((point.depth - frame.contacts[0].contact.depth).abs() < 1e-9, "{kind:?}");
                }
            }
        }
    }
}

/// Bodies of several kinds in a heap, half of them compounds.
fn heap(rng: &mut Pcg64, contacts: Contacts) -> (Scene, Vec<BodyId>) {
    let bar = Convex::from(Primitive::cuboid([0.8, 0.2, 0.2]).unwrap());
    let places = [DVec3::ZERO, DVec3::new(0.0, 0.3, 0.3)].map(Pose::shift);
    let cross = Compound::new(places.map(|at| (bar.clone(), at))).unwrap();
    let shapes = [cuboid([0.5, 0.4, 0.3]), hull_of_cuboid([0.4; 3]), cross.into()].map(Shape::from);
    let options = Options { margin: 0.1, contacts, ..Options::default() };
    let mut scene = Scene::new(options, Brute::default()).unwrap();
    let bodies = (0..40).map(|k| scene.add(Body::moving(shapes[k % 3].clone(), place(rng)))).collect();
    (scene, bodies)
}

fn place(rng: &mut Pcg64) -> Pose {
    let mut within = |most: f64| rng.random_range(-most..most);
    let at = [within(1.6), within(1.6), within(1.6)];
    // Mostly upright, so that faces lie on faces.
    Pose::new(at, [within(0.05), within(0.05), within(0.05), 1.0]).unwrap()
}

#[test]
fn every_manifold_is_that_of_its_parts_and_threads_change_no_id() {
    let run = || {
        let mut rng = Pcg64::seed_from_u64(8);
        let (mut scene, bodies) = heap(&mut rng, Contacts::Manifold);
        let (mut told, mut lasting) = (Vec::new(), 0);
        let mut before = BTreeSet::new();
        for _ in 0..20 {
            for &id in &bodies {
                let at = scene.body(id).unwrap().pose;
                let shift = DVec3::from([(); 3].map(|()| rng.random_range(-0.02..0.02)));
                scene.place(id, Pose::shift(shift).compose(&at));
            }
            step(&mut scene);
            let frame = scene.last();
            assert_eq!(ids(&frame).len(), frame.points.len(), "an id twice");
            let mut end = 0;
            for contact in frame.contacts {
                assert_eq!(contact.manifold[0], end);
                end = contact.manifold[1];
                let manifold = frame.manifold(contact);
                let [(a, at_a), (b, at_b)] = [0, 1].map(|k| {
                    let body = scene.body(contact.bodies[k]).unwrap();
                    crate::narrow::detector::compound_pairs::part(
                        body.shape.geometry(),
                        &body.pose,
                        contact.parts[k],
                    )
                });
                let (Geometry::Convex(a), Geometry::Convex(b)) = (a, b) else { panic!("parts are convex") };
                let Contact { points, features, normal, depth, .. } = contact.contact;
                let separation = Separation { distance: -depth, points, features, normal };
                let truth = manifold_of(a, &at_a, b, &at_b, &separation, 0.1 + 1e-10);
                let points: Vec<_> = manifold.iter().map(|p| (p.points, p.features)).collect();
                assert_eq!(points, truth.points.iter().map(|p| (p.points, p.features)).collect::<Vec<_>>());
            }
            assert_eq!(end as usize, frame.points.len());
            let now = ids(&frame);
            lasting += now.intersection(&before).count();
            before = now;
            told.extend(frame.points.to_vec());
        }
        (told, lasting)
    };
    let (told, lasting) = run();
    let share = lasting as f64 / told.len() as f64;
    assert!(told.len() > 2000 && (0.5..0.95).contains(&share), "{share} of {} points last", told.len());
    #[cfg(feature = "parallel")]
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(run).0, told, "{threads} threads");
    }
}

#[test]
fn single_pairs_are_told_otherwise_and_events_stay() {
    let mut rng = Pcg64::seed_from_u64(9);
    let (mut plain, _) = heap(&mut rng.clone(), Contacts::Deepest);
    let events = step(&mut plain).events.to_vec();
    let deepest = plain.last().contacts.to_vec();
    assert!(plain.last().points.is_empty() && events.len() > 50);
    let (mut silent, _) = heap(&mut rng.clone(), Contacts::None);
    let frame = step(&mut silent);
    assert_eq!((frame.events, frame.contacts.len()), (&events[..], 0));
    let pair = events[0].bodies;
    assert!(silent.set_contacts(pair, Some(Contacts::Manifold)));
    let frame = step(&mut silent);
    assert!(frame.contacts.iter().all(|c| c.bodies == pair) && !frame.points.is_empty());
    assert!(silent.set_contacts(pair, None) && step(&mut silent).contacts.is_empty());
    let (mut whole, _) = heap(&mut rng, Contacts::Manifold);
    let frame = step(&mut whole);
    let bare: Vec<_> = frame.contacts.iter().map(|c| SceneContact { manifold: [0; 2], ..*c }).collect();
    assert_eq!((frame.events, bare), (&events[..], deepest));
    assert!(frame.points.len() > frame.contacts.len());
}
