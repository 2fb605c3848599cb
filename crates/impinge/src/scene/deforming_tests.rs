use glam::DVec3;

use super::*;
use crate::model::Fact;
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

/// Units for a frame: a small part of what building anything for the largest cloth costs.
const FRAME: u64 = 2000;

/// A cloth that falls on what lies at the origin, with folds that no two frames share.
fn falling(flat: &Mesh, frame: u32) -> Vec<[f64; 3]> {
    let (time, height) = (f64::from(frame), 1.3 - 0.02 * f64::from(frame));
    let lift = |p: &DVec3| 0.05 * (3.0 * p.x + 0.3 * time).sin() * (2.0 * p.y - 0.2 * time).cos();
    flat.vertices().iter().map(|p| [p.x, p.y, height + lift(p)]).collect()
}

/// A mesh whose tree is built before the first frame.
fn loaded(mesh: Mesh) -> Shape {
    let shape = Shape::from(mesh);
    shape.bounds(&Pose::IDENTITY);
    shape
}

/// The frame in which a cloth of so many cells begins to touch, and how many frames were left open before.
fn touchdown(cells: u32, ball: &Shape, told: Contacts, budget: &Budget) -> (u32, u32) {
    let flat = procedural::sheet([2.0, 2.0], [cells, cells]).unwrap();
    let mut scene = Scene::with_options(Options { contacts: told, ..Options::default() }).unwrap();
    let cloth = scene.add(Body::moving(loaded(flat.clone()), Pose::IDENTITY));
    scene.add(Body::fixed(ball.clone(), Pose::IDENTITY));
    let mut open = 0;
    for frame in 0..100 {
        scene.set_vertices(cloth, &falling(&flat, frame)).unwrap();
        let told = scene.step(&mut budget.clone());
        if told.events.iter().any(|event| event.kind == EventKind::Began) {
            return (frame, open);
        }
        open += u32::from(!told.undecided.is_empty());
    }
    panic!("never decided; {open} frames were left open");
}

#[test]
fn a_cloth_that_moves_every_frame_is_decided_within_a_budget() {
    let round = Shape::sphere(0.8).unwrap();
    let mesh = loaded(procedural::ico_sphere(0.8, 3).unwrap());
    for (ball, told) in [(&round, Contacts::None), (&round, Contacts::Deepest), (&mesh, Contacts::None)] {
        for cells in [20, 40, 100] {
            let (first, _) = touchdown(cells, ball, told, &Budget::UNLIMITED);
            let (found, open) = touchdown(cells, ball, told, &Budget::units(FRAME));
            assert!(found <= first + 3, "{cells} cells: frame {found} instead of {first}, {open} open");
        }
    }
}

/// What contacts of two meshes need costs many frames, and is kept while the vertices move.
#[test]
fn what_a_moving_mesh_needs_is_paid_for_once() {
    let flat = procedural::sheet([2.0, 2.0], [100, 100]).unwrap();
    let ball = loaded(procedural::ico_sphere(0.8, 3).unwrap());
    let mut scene =
        Scene::with_options(Options { contacts: Contacts::Deepest, ..Options::default() }).unwrap();
    let body = scene.add(Body::moving(loaded(flat.clone()), Pose::IDENTITY));
    scene.add(Body::fixed(ball, Pose::IDENTITY));
    let mut last_open = 0;
    for frame in 0..40 {
        scene.set_vertices(body, &falling(&flat, 27 + frame % 5)).unwrap();
        // Enough for the search of one frame.
        if !scene.step(&mut Budget::units(10 * FRAME)).undecided.is_empty() {
            last_open = frame;
        }
    }
    // 8 units for each of 20,000 triangles, 20,000 in a frame; some more for the ball and the rest.
    assert!((6..11).contains(&last_open), "{last_open}");
}

/// A shape that comes in the middle of everything costs no frame more than its budget: its tree is paid for like all else.
#[test]
fn the_tree_of_a_new_mesh_is_built_within_the_budget_of_frames() {
    let is_built = |shape: &Shape| shape.geometry().model().is_some_and(|model| model.knows(Fact::Tree));
    let [ball, large] = [2, 5].map(|n| Shape::from(procedural::ico_sphere(0.8, n).unwrap()));
    let mut scene = Scene::default();
    let body = scene.add(Body::moving(ball.clone(), Pose::IDENTITY));
    let far = scene.add(Body::fixed(ball.clone(), Pose::shift([9.0, 0.0, 0.0])));
    scene.add(Body::fixed(Shape::sphere(0.5).unwrap(), Pose::shift([1.0, 0.0, 0.0])));
    scene.set_shape(far, large.clone());
    scene.step(&mut unlimited());
    assert!(!is_built(&large), "it meets nothing");
    scene.set_shape(body, large.clone());
    let mut frames = 0;
    loop {
        let told = scene.step(&mut Budget::units(FRAME));
        let work = told.outcome.work;
        assert!(work.volume_tests + work.primitive_tests + work.updates <= FRAME + 1000, "{work:?}");
        frames += 1;
        if told.undecided.is_empty() {
            assert!(told.events.iter().all(|event| event.kind == EventKind::Persists), "{:?}", told.events);
            break;
        }
        assert!(frames >= 80 || !is_built(&large), "{frames} frames");
    }
    // For each of 20,480 triangles the tree costs 8 units, and so do the topology and the hull that the contact needs.
    assert!((240..300).contains(&frames), "{frames}");
}

#[test]
fn moved_meshes_answer_as_fresh_ones_do() {
    use rand::{Rng, SeedableRng};
    let mut dice = rand_pcg::Pcg64::seed_from_u64(11);
    let (ball, other) = (Shape::sphere(0.5).unwrap(), Shape::from(procedural::ico_sphere(0.6, 2).unwrap()));
    let start = procedural::ico_sphere(1.0, 2).unwrap();
    let mut moved = Shape::from(start.clone());
    let (mut welded, mut contacts) = (0, 0);
    for step in 0..60 {
        let mut vertices: Vec<[f64; 3]> =
            start.vertices().iter().map(|p| (*p * dice.random_range(0.7..1.3)).to_array()).collect();
        // Every third move welds two vertices, so that the connectivity changes to and fro.
        if step % 3 == 0 {
            let [i, j] = [0; 2].map(|_| dice.random_range(0..vertices.len()));
            vertices[i] = vertices[j];
            welded += 1;
        }
        moved.set_vertices(&vertices).unwrap();
        let fresh = Shape::mesh(vertices, start.triangles().to_vec()).unwrap();
        let [Some(a), Some(b)] = [&moved, &fresh].map(|shape| shape.geometry().model()) else {
            panic!("both are meshes")
        };
        assert_eq!(a.topology(), b.topology(), "step {step}");
        let at = Pose::shift([dice.random_range(-2.5..2.5), dice.random_range(-0.5..0.5), 0.1]);
        for thing in [&ball, &other] {
            let [x, y] = [&moved, &fresh].map(|mesh| crate::relation(mesh, thing.at(at)));
            assert_eq!(x, y, "step {step}");
            contacts += usize::from(x.is_contact());
            let [x, y] = [&moved, &fresh].map(|mesh| crate::distance(mesh, thing.at(at)).distance);
            assert_eq!(x, y, "step {step}");
        }
        assert_eq!(crate::pairs(&moved, other.at(at)).unwrap(), crate::pairs(&fresh, other.at(at)).unwrap());
    }
    assert!(welded == 20 && (24..=96).contains(&contacts), "{contacts} contacts of 120");
}
