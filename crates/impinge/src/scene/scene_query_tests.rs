//! Every question against asking all bodies one by one.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::scene::Options;
use crate::shape::procedural;
use crate::{Pose, Ray, RayHit, Relation, Shape};

fn number(rng: &mut Pcg64, size: f64) -> f64 {
    rng.random_range(-size..size)
}

fn point(rng: &mut Pcg64, size: f64) -> DVec3 {
    DVec3::new(number(rng, size), number(rng, size), number(rng, size))
}

fn pose(rng: &mut Pcg64, size: f64) -> Pose {
    let turn = [number(rng, 1.0), number(rng, 1.0), number(rng, 1.0), 0.3];
    Pose::new(point(rng, size).to_array(), turn).unwrap()
}

fn shapes() -> Vec<Shape> {
    let ball = Shape::sphere(0.4).unwrap();
    let hull = procedural::blob(0.6, 0.2, 1, 1).unwrap();
    vec![
        Shape::from(procedural::torus(0.6, 0.2, 10, 6).unwrap()),
        Shape::from(procedural::ico_sphere(0.5, 1).unwrap()),
        ball.clone(),
        Shape::cuboid([0.3, 0.5, 0.2]).unwrap(),
        Shape::capsule(0.2, 0.4).unwrap(),
        Shape::hull(hull.vertices().to_vec()).unwrap(),
        Shape::compound([(ball.clone(), Pose::IDENTITY), (ball, Pose::shift([0.6, 0.0, 0.0]))]).unwrap(),
    ]
}

/// Bodies of all kinds in a box, some removed, some moved after the first question, one without bounds.
fn scene(rng: &mut Pcg64, margin: f64) -> Scene {
    let mut scene = Scene::with_options(Options { margin, ..Options::default() }).unwrap();
    let shapes = shapes();
    let floor = Shape::half_space([0.1, 0.0, 1.0], -3.4).unwrap();
    scene.add(Body::fixed(floor, Pose::IDENTITY));
    let mut ids = Vec::new();
    for k in 0..160 {
        let groups = Groups { member: 1 << (k % 3), meets: u64::MAX };
        let body = Body::moving(shapes[k % shapes.len()].clone(), pose(rng, 4.0));
        ids.push(scene.add(Body { groups, sensor: k % 7 == 3, user_data: k as u64, ..body }));
    }
    // The tree is there; what changes now stands beside it.
    assert!(scene.nearest(&shapes[2], &Filter::default()).is_some());
    for (k, &id) in ids.iter().enumerate().step_by(11) {
        match k % 3 {
            0 => _ = scene.remove(id),
            1 => _ = scene.place(id, pose(rng, 4.0)),
            _ => _ = scene.set_shape(id, shapes[k % 5].clone()),
        }
    }
    scene.add(Body::moving(shapes[0].clone(), pose(rng, 1.0)));
    scene
}

fn asked<'s>(scene: &'s Scene, filter: &Filter<'_>) -> Vec<(BodyId, &'s Body)> {
    let entries = scene.bodies.iter().filter(|(id, entry)| filter.lets(*id, entry));
    entries.map(|(id, entry)| (id, &entry.body)).collect()
}

#[test]
fn answers_are_those_of_all_bodies_asked_one_by_one() {
    let mut rng = Pcg64::seed_from_u64(31);
    let shapes = shapes();
    let odd = |id: BodyId, body: &Body| id.index() % 2 == 1 && body.user_data != 5;
    let (mut hits, mut misses, mut met, mut touched, mut held) = (0, 0, 0, 0, 0);
    for round in 0..6 {
        let scene = scene(&mut rng, if round % 2 == 0 { 0.0 } else { 0.3 });
        let filters = [
            Filter::default(),
            Filter { sensors: true, ..Filter::default() },
            Filter {
                groups: Groups { member: u64::MAX, meets: 0b10 },
                accept: Some(&odd),
                ..Filter::default()
            },
        ];
        for k in 0..40 {
            let filter = &filters[k % 3];
            let bodies = asked(&scene, filter);
            let from = point(&mut rng, 6.0);
            let ray = Ray {
                origin: from,
                direction: point(&mut rng, 3.0) - from,
                reach: if k % 4 == 0 { 0.7 } else { 9.0 },
            };
            let mut all: Vec<(BodyId, RayHit)> = Vec::new();
            for (id, body) in &bodies {
                all.extend(
                    crate::ray_cast_all(body.shape.at(body.pose), ray).into_iter().map(|hit| (*id, hit)),
                );
            }
            all.sort_by(|(i, a), (j, b)| a.t.total_cmp(&b.t).then(i.cmp(j)));
            assert_eq!(scene.ray_cast_all(ray, filter), all);
            assert_eq!(scene.ray_cast(ray, filter), all.first().copied());
            assert_eq!(scene.ray_cast_batch(&[ray], filter), [all.first().copied()]);
            assert_eq!(scene.ray_cast_any(ray, filter), !all.is_empty());
            hits += usize::from(!all.is_empty());
            misses += usize::from(all.is_empty());

            let shape = &shapes[k % shapes.len()];
            let here = pose(&mut rng, 4.0);
            let want: Vec<BodyId> = bodies
                .iter()
                .filter(|(_, body)| {
                    crate::relation(shape.at(here), body.shape.at(body.pose)) != Relation::Separated
                })
                .map(|(id, _)| *id)
                .collect();
            assert_eq!(scene.overlapping(shape.at(here), filter), want);
            met += want.len();

            let far = bodies
                .iter()
                .map(|(id, body)| (*id, crate::distance(shape.at(here), body.shape.at(body.pose))));
            let nearest = far.min_by(|(i, a), (j, b)| a.distance.total_cmp(&b.distance).then(i.cmp(j)));
            let found = scene.nearest(shape.at(here), filter);
            assert_eq!(found.map(|(id, s)| (id, s.distance)), nearest.map(|(id, s)| (id, s.distance)));

            let at = point(&mut rng, 4.0);
            let holding: Vec<BodyId> = bodies
                .iter()
                .filter(|(_, body)| crate::contains(body.shape.at(body.pose), at).unwrap())
                .map(|(id, _)| *id)
                .collect();
            assert_eq!(scene.containing(at, filter), holding);
            held += holding.len();

            let way = if k % 2 == 0 {
                Motion::velocity(&here, point(&mut rng, 4.0), DVec3::ZERO).unwrap()
            } else {
                Motion::between(&here, &pose(&mut rng, 4.0))
            };
            let swept = bodies.iter().filter_map(|(id, body)| {
                Some((*id, crate::sweep(shape.along(way), body.shape.at(body.pose)).impact?))
            });
            let first = swept.min_by(|(i, a), (j, b)| a.time.total_cmp(&b.time).then(i.cmp(j)));
            let found = scene.shape_cast(shape.along(way), filter);
            assert_eq!(found.map(|(id, i)| (id, i.time)), first.map(|(id, i)| (id, i.time)), "{round} {k}");
            touched += usize::from(first.is_some_and(|(_, i)| i.time > 0.0));
        }
    }
    assert!(
        hits > 60 && misses > 40 && met > 60 && touched > 30 && held > 15,
        "{hits} {misses} {met} {touched} {held}"
    );
}

#[test]
fn a_cast_that_begins_nested_touches_at_the_start() {
    let room = Shape::from(procedural::cuboid([3.0; 3], [2; 3]).unwrap());
    let pea = Shape::from(procedural::ico_sphere(0.1, 1).unwrap());
    let ring = Shape::from(procedural::torus(0.6, 0.2, 10, 6).unwrap());
    let way =
        Motion::velocity(&Pose::shift([0.3, 0.2, 0.1]), DVec3::new(0.4, 0.1, 0.0), DVec3::ZERO).unwrap();
    let casts =
        [pea.clone(), ring, Shape::sphere(0.2).unwrap(), Shape::cuboid([0.2; 3]).unwrap(), room.clone()];
    // In a body that is larger than the shape, and around one that is smaller; one that is met later does not hide it.
    for (body, casts) in [(&room, &casts[..4]), (&pea, &casts[4..])] {
        let mut scene = Scene::default();
        let later = scene.add(Body::fixed(Shape::sphere(0.1).unwrap(), Pose::shift([0.9, 0.35, 0.1])));
        let held = scene.add(Body::fixed(body.clone(), Pose::shift([0.3, 0.2, 0.1])));
        for shape in casts {
            let moving = shape.along(way);
            let want = crate::sweep(moving, body.at(Pose::shift([0.3, 0.2, 0.1]))).impact;
            assert!(want.is_some_and(|impact| impact.time == 0.0), "{shape:?} {want:?}");
            let other = Filter { accept: Some(&|id, _: &Body| id == held), ..Filter::default() };
            assert_eq!(scene.shape_cast(moving, &other), want.map(|impact| (held, impact)), "{shape:?}");
            let found = scene.shape_cast(moving, &Filter::default()).unwrap();
            assert!(found.1.time == 0.0 && (found.0 == held || found.0 == later), "{shape:?} {found:?}");
        }
    }
}

#[test]
fn sensors_have_events_and_no_contacts() {
    let ball = Shape::sphere(1.0).unwrap();
    let mut scene = Scene::default();
    let zone = scene.add(Body { sensor: true, ..Body::fixed(ball.clone(), Pose::IDENTITY) });
    let guest = scene.add(Body::moving(ball, Pose::shift([1.5, 0.0, 0.0])));
    let frame = scene.step(&mut Budget::UNLIMITED.clone());
    assert_eq!((frame.events.len(), frame.contacts.len()), (1, 0));
    let inside = scene.containing(DVec3::new(0.7, 0.0, 0.0), &Filter { sensors: true, ..Filter::default() });
    assert_eq!(inside, [zone, guest]);
    assert_eq!(scene.containing(DVec3::new(0.7, 0.0, 0.0), &Filter::default()), [guest]);
}

#[test]
fn an_empty_scene_answers_nothing() {
    let (scene, ball) = (Scene::default(), Shape::sphere(1.0).unwrap());
    let ray = Ray { origin: DVec3::ZERO, direction: DVec3::X, reach: f64::INFINITY };
    let filter = Filter::default();
    assert!(scene.ray_cast(ray, &filter).is_none() && scene.nearest(&ball, &filter).is_none());
    assert!(
        scene.overlapping(&ball, &filter).is_empty() && scene.containing(DVec3::ZERO, &filter).is_empty()
    );
}

/// A body that becomes unbounded, or bounded, before the scene is asked is there once.
#[test]
fn a_shape_that_becomes_unbounded_is_found_once() {
    let [ball, floor] = [Shape::sphere(0.5).unwrap(), Shape::half_space([0.0, 0.0, 1.0], 0.5).unwrap()];
    for [first, then] in [[&ball, &floor], [&floor, &ball]] {
        for asked_before in [false, true] {
            let mut scene = Scene::default();
            let id = scene.add(Body::fixed(first.clone(), Pose::IDENTITY));
            if asked_before {
                assert!(scene.nearest(&ball, &Filter::default()).is_some());
            }
            scene.set_shape(id, then.clone());
            let down = Ray { origin: DVec3::Z * 3.0, direction: -DVec3::Z, reach: f64::INFINITY };
            let found = scene.ray_cast_all(down, &Filter::default());
            assert_eq!(found.iter().filter(|(_, hit)| hit.t == 2.5).count(), 1, "{found:?}");
            assert_eq!(scene.overlapping(&ball, &Filter::default()), [id]);
            assert_eq!(scene.containing(DVec3::ZERO, &Filter::default()), [id]);
            assert!(scene.nearest(&ball, &Filter::default()).is_some());
        }
    }
}
