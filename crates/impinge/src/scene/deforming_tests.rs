use glam::DVec3;

use super::*;
use crate::shape::{TetMesh, procedural};
use crate::{Budget, Mesh, Motion};

fn unlimited() -> Budget {
    Budget::UNLIMITED
}

/// A sheet that waves in the plane z = 0.
fn wave(flat: &Mesh, time: f64) -> Vec<[f64; 3]> {
    let lift = |p: &DVec3| 0.5 * (3.0 * p.x + time).sin() * (2.0 * p.y - 0.7 * time).cos();
    flat.vertices().iter().map(|p| [p.x, p.y, p.z + lift(p)]).collect()
}

fn sheet() -> Mesh {
    let at = |i: u32, j: u32| [f64::from(i) * 0.1 - 1.5, f64::from(j) * 0.1 - 1.5, 0.0];
    let vertices = (0..=30).flat_map(|j| (0..=30).map(move |i| at(i, j))).collect();
    let corner = |i: u32, j: u32| j * 31 + i;
    let cells = (0..30).flat_map(|j| (0..30).map(move |i| (i, j)));
    let two = |(i, j)| {
        let [a, b, c, d] = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
        [[a, b, c], [a, c, d]]
    };
    Mesh::new(vertices, cells.flat_map(two).collect()).unwrap()
}

/// The contacts of a fresh scene with the same shapes, which knows nothing of earlier frames.
fn twin(options: Options, bodies: &[(Shape, Pose)]) -> (usize, Vec<SceneContact>) {
    let mut scene = Scene::with_options(options).unwrap();
    for (shape, pose) in bodies {
        scene.add(Body::moving(shape.clone(), *pose));
    }
    let frame = scene.step(&mut unlimited());
    (frame.events.len(), frame.contacts.to_vec())
}

#[test]
fn a_waving_sheet_over_a_ball_meets_it_as_fresh_shapes_do() {
    let flat = sheet();
    let above = Pose::shift([0.1, -0.2, 0.9]);
    for boxes in [Boxes::Tight, Boxes::Cube] {
        for ball in [Shape::sphere(0.5).unwrap(), Shape::from(procedural::ico_sphere(0.5, 2).unwrap())] {
            let options = Options { margin: 0.1, boxes, ..Options::default() };
            let mut scene = Scene::with_options(options).unwrap();
            let moving = Shape::from(flat.clone());
            let waving = scene.add(Body::moving(moving, Pose::IDENTITY));
            scene.add(Body::fixed(ball.clone(), above));
            let (mut hits, mut near) = (0, 0);
            for step in 0..50 {
                let vertices = wave(&flat, 0.2 * f64::from(step));
                scene.set_vertices(waving, &vertices).unwrap();
                let frame = scene.step(&mut unlimited());
                let fresh = Shape::mesh(vertices, flat.triangles().to_vec()).unwrap();
                let (meets, contacts) = twin(options, &[(fresh, Pose::IDENTITY), (ball.clone(), above)]);
                let now = frame.events.iter().filter(|e| e.kind != EventKind::Ended).count();
                assert_eq!(now, meets, "step {step}");
                assert_eq!(frame.contacts.len(), contacts.len(), "step {step}");
                for (one, other) in frame.contacts.iter().zip(&contacts) {
                    assert!((one.contact.depth - other.contact.depth).abs() < 1e-12, "step {step}");
                }
                (hits, near) = (hits + meets, near + contacts.len());
            }
            assert!((10..=40).contains(&hits) && near > hits, "{hits} hits, {near} near");
        }
    }
}

#[test]
fn solids_of_tetrahedra_move_their_vertices_and_what_is_wrong_is_refused() {
    let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let solid = TetMesh::new(corners.map(DVec3::from).to_vec(), vec![[0, 1, 2, 3]]).unwrap();
    let mut scene = Scene::default();
    let id = scene.add(Body::moving(Shape::try_from(solid).unwrap(), Pose::IDENTITY));
    let ball = scene.add(Body::fixed(Shape::sphere(0.2).unwrap(), Pose::shift([0.0, 0.0, 1.5])));
    assert!(scene.step(&mut unlimited()).events.is_empty());
    let mut tall = corners;
    tall[3][2] = 2.0;
    scene.set_vertices(id, &tall).unwrap();
    assert_eq!(scene.step(&mut unlimited()).events[0].kind, EventKind::Began);
    assert!(scene.set_vertices(id, &tall[..3]).is_err());
    assert!(scene.set_vertices(ball, &tall).unwrap_err().to_string().contains("sphere"));
    tall[0][0] = f64::NAN;
    assert!(scene.set_vertices(id, &tall).is_err());
    let still = scene.step(&mut unlimited());
    assert_eq!((still.events[0].kind, still.outcome.work.updates), (EventKind::Persists, 0));
    assert!(scene.remove(id).is_some() && scene.set_vertices(id, &corners).is_err());
}

#[test]
fn sweeps_know_a_shape_that_grew() {
    let mut scene = Scene::default();
    let small = Shape::from(procedural::ico_sphere(0.5, 1).unwrap());
    let large: Vec<[f64; 3]> =
        small.as_mesh().unwrap().vertices().iter().map(|p| (4.0 * *p).to_array()).collect();
    let at = |x: f64| Pose::shift([x, 0.0, 0.0]);
    let [a, b] = [0.0, 9.0].map(|x| scene.add(Body::moving(small.clone(), at(x))));
    let mut sweep = SceneSweep::default();
    let go = [(a, Motion::between(&at(0.0), &at(9.0)))];
    let first = scene.first_contact(&go, &mut sweep, &mut unlimited()).hit.unwrap();
    scene.set_vertices(b, &large).unwrap();
    let grown = scene.first_contact(&go, &mut sweep, &mut unlimited()).hit.unwrap();
    let fresh = scene.first_contact(&go, &mut SceneSweep::default(), &mut unlimited()).hit.unwrap();
    assert!(grown.impact.time < first.impact.time - 0.1, "{first:?} {grown:?}");
    assert!((grown.impact.time - fresh.impact.time).abs() < 2e-6);
    let contact = grown.impact.contact();
    assert_eq!((contact.time, contact.point(), contact.depth), (grown.impact.time, grown.impact.point, 0.0));
}
