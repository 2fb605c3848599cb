//! A cloud of particles as a body like any other: questions, budgets, refusals and scenes.

use std::collections::BTreeMap;

use glam::DVec3;
use impinge::scene::{Body, Contacts, EventKind, Options, Scene};
use impinge::{
    Budget, Error, Feature, Finish, Memory, Mesh, Method, Motion, Pose, Query, Relation, Shape, procedural,
    sweep,
};

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation([x, y, z]).unwrap()
}

/// A cloud in a cube of side 4, and a body of about unit size.
fn cloud(count: usize, radius: f64) -> (Vec<DVec3>, Shape) {
    let points = procedural::positions(count, DVec3::splat(-2.0), DVec3::splat(2.0), 21);
    let shape = Shape::particles(points.iter().copied(), &[radius]).unwrap();
    (points, shape)
}

#[test]
fn searches_that_a_budget_cuts_short_come_to_the_same_end() {
    let (_, dust) = cloud(3000, 0.02);
    let ring = Shape::from(procedural::torus(0.9, 0.4, 24, 12).unwrap());
    let other = cloud(2000, 0.05).1;
    for body in [&ring, &other] {
        for pose in [at(0.3, -0.2, 1.0), at(5.0, 0.5, 0.0)] {
            let want = (impinge::relation(&dust, body.at(pose)), impinge::distance(&dust, body.at(pose)));
            let fresh = dust.unprepared();
            let (mut calls, mut memory) = (0, Memory::default());
            let found = loop {
                calls += 1;
                let mut query =
                    Query { budget: Budget::units(700), memory: Some(&mut memory), ..Query::default() };
                let answer = query.distance(&fresh, body.at(pose)).unwrap();
                assert_eq!(answer.method, Method::Particles);
                assert!(answer.so_far.is_none_or(|so_far| so_far.distance >= want.1.distance));
                if answer.finish != Finish::OutOfBudget {
                    break answer.value.unwrap();
                }
                assert!(calls < 2000);
            };
            assert_eq!(found, want.1);
            assert!(calls > 5, "{calls}");
            let mut memory = Memory::default();
            let found = loop {
                let mut query =
                    Query { budget: Budget::units(700), memory: Some(&mut memory), ..Query::default() };
                let answer = query.relation(&fresh, body.at(pose)).unwrap();
                if answer.finish != Finish::OutOfBudget {
                    break answer.value.unwrap();
                }
            };
            assert_eq!(found, want.0);
        }
    }
}

#[test]
fn what_clouds_do_not_answer_is_refused_by_name() {
    let (_, dust) = cloud(10, 0.1);
    let cube = Shape::cuboid([1.0; 3]).unwrap();
    let refused = [
        impinge::pairs(&dust, &cube).unwrap_err(),
        impinge::contour(&dust, &cube).unwrap_err(),
        impinge::mass(&dust).unwrap_err(),
        impinge::inspect(&dust).unwrap_err(),
        impinge::self_intersections(&dust).unwrap_err(),
        Shape::compound([(dust.clone(), Pose::IDENTITY)]).unwrap_err(),
    ];
    for error in refused {
        assert!(error.to_string().contains("particles"), "{error}");
    }
    for &method in Method::ALL.iter().filter(|&&method| method != Method::Particles) {
        let error = Query { method, ..Query::default() }.relation(&dust, &cube).unwrap_err();
        let Error::Unanswered { methods, .. } = &error else { panic!("{error}") };
        assert_eq!(methods[..], ["particles"], "{error}");
    }
    let mut query = Query { method: Method::Particles, ..Query::default() };
    assert!(query.relation(&cube, &cube).unwrap_err().to_string().contains("particles does not answer"));
    let mut moved = dust.clone();
    assert!(moved.set_vertices(&[[0.0; 3]]).unwrap_err().to_string().contains("10 particles"));
    moved.set_vertices(&[[9.0; 3]; 10]).unwrap();
    assert_eq!(impinge::relation(&moved, &cube), Relation::Separated);
    assert_ne!(impinge::relation(&dust, &cube), Relation::Separated);
}

/// Every particle swept as a ball of its own.
#[test]
fn a_sweep_is_that_of_the_first_particle() {
    let (points, dust) = cloud(200, 0.05);
    let ring = Shape::from(procedural::torus(0.9, 0.4, 24, 12).unwrap());
    let ball = Shape::sphere(0.05).unwrap();
    let from = Pose::new([-6.0, 0.3, 0.2], [0.0, 0.1, 0.2, 1.0]).unwrap();
    let to = Pose::new([5.0, -0.4, 0.1], [0.3, 0.1, -0.2, 1.0]).unwrap();
    let motion = Motion::between(&from, &to);
    let found = sweep(dust.along(motion), &ring).impact.unwrap();
    let Feature::Vertex(first) = found.features[0] else { panic!("{found:?}") };
    let parts =
        |i: usize| Shape::compound([(ball.clone(), at(points[i].x, points[i].y, points[i].z))]).unwrap();
    let times: Vec<f64> = (0..points.len())
        .filter_map(|i| sweep(parts(i).along(motion), &ring).impact.map(|impact| impact.time))
        .collect();
    let earliest = times.iter().copied().fold(1.0, f64::min);
    assert!((found.time - earliest).abs() <= 2e-6, "{} or {earliest}", found.time);
    let own = sweep(parts(first as usize).along(motion), &ring).impact.unwrap();
    assert!((own.time - earliest).abs() <= 2e-6);
    assert!(times.len() > 20);
}

/// What a scene tells about a cloud and one body, by particles: depth and id.
fn told(scene: &mut Scene) -> BTreeMap<u32, (f64, u64)> {
    let frame = scene.step(&mut Budget::UNLIMITED.clone());
    assert!(frame.undecided.is_empty());
    let points = frame.contacts.iter().flat_map(|contact| {
        let [from, to] = contact.manifold.map(|k| k as usize);
        frame.points[from..to].iter()
    });
    let mut all = BTreeMap::new();
    for point in points {
        let Feature::Vertex(i) = point.features[0] else { panic!("{point:?}") };
        let across = point.points[1] - point.points[0];
        assert!((across + point.normal * point.depth).length() < 1e-9, "{point:?}");
        assert!(all.insert(i, (point.depth, point.id)).is_none(), "particle {i} twice");
    }
    all
}

/// How far a point is from a closed mesh, by all of its triangles: negative inside, by the sum of solid angles.
fn by_all_triangles(mesh: &Mesh, pose: &Pose, p: DVec3) -> f64 {
    let point = Shape::segment([p; 2]).unwrap();
    let (mut nearest, mut angle) = (f64::INFINITY, 0.0);
    for t in 0..mesh.triangles().len() as u32 {
        let corners = mesh.corners(t).map(|corner| pose.apply(corner));
        nearest = nearest.min(impinge::distance(&Shape::triangle(corners).unwrap(), &point).distance);
        let [a, b, c] = corners.map(|corner| (corner - p).normalize());
        angle += 2.0 * a.dot(b.cross(c)).atan2(1.0 + a.dot(b) + b.dot(c) + c.dot(a));
    }
    if angle > std::f64::consts::TAU { -nearest } else { nearest }
}

/// Frames of a cloud with a mesh that moves through it, against the signed distance of every single particle, and of
/// some by all triangles.
fn moving_mesh(count: usize, frames: u32) {
    let radius = 0.6 / (count as f64).cbrt();
    let (points, dust) = cloud(count, radius);
    let ring = Shape::from(procedural::torus(0.9, 0.4, 48, 24).unwrap());
    let options = Options { contacts: Contacts::Manifold, ..Options::default() };
    let mut scene = Scene::with_options(options).unwrap();
    let still = scene.add(Body::moving(dust, Pose::IDENTITY));
    let mover = scene.add(Body::moving(ring.clone(), at(9.0, 0.0, 0.0)));
    assert!(told(&mut scene).is_empty());
    let mut last = BTreeMap::<u32, (f64, u64)>::new();
    let mut kept = 0;
    for frame in 0..frames {
        let t = f64::from(frame) / f64::from(frames);
        let pose = Pose::new([2.2 - 2.0 * t, 0.4 * t, 0.3], [0.2, 0.3 * t, 0.1, 1.0]).unwrap();
        scene.place(mover, pose);
        let found = told(&mut scene);
        let distances = impinge::signed_distance_batch(ring.at(pose), &points).unwrap();
        let want: BTreeMap<u32, f64> = (0..)
            .zip(&distances)
            .map(|(i, d)| (i, radius - d.distance))
            .filter(|(_, depth)| *depth >= 0.0)
            .collect();
        assert!(found.keys().eq(want.keys()), "{} or {} of {count}", found.len(), want.len());
        for ((i, (depth, id)), want) in found.iter().zip(want.values()) {
            assert!((depth - want).abs() < 1e-9, "particle {i}: {depth} or {want}");
            if let Some((_, before)) = last.get(i) {
                assert_eq!(id, before, "particle {i} got another id");
                kept += 1;
            } else {
                assert!(last.values().all(|(_, used)| used != id) && *id > 0);
            }
        }
        for (p, d) in points.iter().zip(&distances).step_by(count / 40) {
            let slow = by_all_triangles(ring.as_mesh().unwrap(), &pose, *p);
            assert!((slow - d.distance).abs() < 1e-9, "{p}: {} or {slow}", d.distance);
        }
        assert!(found.len() * 100 > count, "{} of {count} touch", found.len());
        last = found;
    }
    assert!(kept > 0);
    let events = scene.last().events;
    assert_eq!((events[0].kind, events[0].bodies), (EventKind::Persists, [still, mover]));
    scene.place(mover, at(-9.0, 0.0, 0.0));
    assert!(told(&mut scene).is_empty());
    assert_eq!(scene.last().events[0].kind, EventKind::Ended);
}

#[test]
fn a_moving_mesh_in_a_scene_meets_the_particles_that_it_should() {
    moving_mesh(4000, 8);
}

#[test]
fn a_hundred_thousand_particles_and_a_moving_mesh() {
    moving_mesh(100_000, 3);
}

/// Every kind of body and a second cloud in one scene; particles move too.
#[test]
fn a_scene_agrees_with_asking_every_pair() {
    let (points, dust) = cloud(2000, 0.03);
    let options = Options { contacts: Contacts::Manifold, margin: 0.05, ..Options::default() };
    let mut scene = Scene::with_options(options).unwrap();
    let id = scene.add(Body::moving(dust, Pose::IDENTITY));
    let hull = Shape::hull(procedural::blob(0.7, 0.2, 2, 5).unwrap().vertices().iter().copied()).unwrap();
    let pair = Shape::compound([
        (Shape::sphere(0.4).unwrap(), at(0.0, 0.3, 0.0)),
        (Shape::cuboid([0.3, 0.2, 0.5]).unwrap(), at(0.0, -0.3, 0.0)),
    ])
    .unwrap();
    for (k, shape) in
        [hull, pair, Shape::capsule(0.2, 0.5).unwrap(), cloud(500, 0.1).1].into_iter().enumerate()
    {
        scene.add(Body::moving(shape, at(1.2 * k as f64 - 1.8, 0.2, 0.1)));
    }
    scene.add(Body::fixed(Shape::half_space([0.0, 0.0, 1.0], -1.9).unwrap(), Pose::IDENTITY));
    for step in 0..3 {
        let moved: Vec<[f64; 3]> =
            points.iter().map(|p| (*p * (1.0 - 0.1 * f64::from(step))).to_array()).collect();
        scene.set_vertices(id, &moved).unwrap();
        let frame = scene.step(&mut Budget::UNLIMITED.clone());
        let found: Vec<_> = frame.contacts.iter().map(|c| (c.bodies, c.parts, c.contact)).collect();
        let many = frame.points.len();
        assert!(found.len() >= 5 && many > 200, "{} contacts of {many} points", found.len());
        let want: Vec<_> = scene.brute().iter().map(|c| (c.bodies, c.parts, c.contact)).collect();
        assert_eq!(found, want);
    }
    // Under a small budget the same, some steps later.
    let whole = (scene.last().contacts.len(), scene.last().points.len());
    scene.place(id, at(0.01, 0.0, 0.0));
    scene.place(id, Pose::IDENTITY);
    let mut steps = 0;
    while !scene.step(&mut Budget::units(20_000)).undecided.is_empty() {
        steps += 1;
        assert!(steps < 1000);
    }
    assert_eq!((scene.last().contacts.len(), scene.last().points.len()), whole);
    assert!(steps > 1, "{steps}");
}
