//! The contacts of a Monte-Carlo tracker drive the projection as they are: pairs of triangles that meet, with the normal
//! of their average plane and their overlap along it.

use glam::{DMat3, DQuat, DVec3};
use impinge::response::{Displacement, FineRegion, Projection, Receiver, Refinable, Stuck};
use impinge::{
    Budget, Contact, Pose, Relation, Shape, Surface, Tracker, TrackerOptions, procedural, relation,
};
use impinge_sim::two_level::{Elasticity, Hysteresis, TwoLevel};

const ROUNDS: usize = 40;

fn between(contacts: &[Contact]) -> Vec<([usize; 2], Contact)> {
    contacts.iter().map(|c| ([0, 1], *c)).collect()
}

fn deepest(contacts: &[Contact]) -> f64 {
    contacts.iter().map(|c| c.depth).fold(0.0, f64::max)
}

/// The pose of a body whose centre of mass is the origin of its frame.
fn moved(pose: &Pose, displacement: &Displacement) -> Pose {
    let Displacement::Rigid { translation, rotation } = displacement else { return *pose };
    let turned = DMat3::from_quat(DQuat::from_scaled_axis(*rotation)) * pose.rotation();
    Pose::from_rotation(pose.translation() + *translation, DQuat::from_mat3(&turned)).unwrap()
}

#[test]
fn rigid_meshes_that_overlap_are_parted() {
    let torus = procedural::torus(1.0, 0.35, 32, 16).unwrap();
    let ball = procedural::ico_sphere(0.7, 3).unwrap();
    let shapes = [Shape::from(torus.clone()), Shape::from(ball.clone())];
    let masses = [2.0, 1.0];
    for start in [DVec3::new(1.2, 0.4, 0.8), DVec3::new(0.1, 0.0, 0.2), DVec3::new(-0.9, 0.9, -0.7)] {
        let mut tracker = Tracker::new(&shapes[0], &shapes[1], TrackerOptions::default()).unwrap();
        let mut poses = [Pose::IDENTITY, Pose::from_translation(start).unwrap()];
        let met = relation(&shapes[0], shapes[1].at(poses[1]));
        assert_eq!(met, Relation::Intersecting, "from {start}");
        let mut first = None;
        for _ in 0..ROUNDS {
            let surfaces = [
                Surface { vertices: torus.vertices(), pose: poses[0], moved: 0.0 },
                Surface { vertices: ball.vertices(), pose: poses[1], moved: 0.0 },
            ];
            let report = tracker.step(surfaces, &mut Budget::UNLIMITED.clone()).unwrap();
            let contacts = tracker.contacts(surfaces);
            assert_eq!(report.meeting, Some(!contacts.is_empty()));
            first.get_or_insert(deepest(&contacts));
            if contacts.is_empty() {
                break;
            }
            let body = |k: usize| Receiver::Rigid {
                centre: poses[k].translation(),
                inverse_mass: 1.0 / masses[k],
                inverse_inertia: DMat3::IDENTITY / masses[k],
                moved: [DVec3::ZERO; 2],
            };
            let bodies = [body(0), body(1)];
            // Past touching, by a hair: touching triangles meet.
            let contacts: Vec<Contact> =
                contacts.iter().map(|c| Contact { depth: c.depth + 1e-6, ..*c }).collect();
            let done =
                Projection::default().project(&bodies, &between(&contacts), &mut Stuck::default()).unwrap();
            poses = [0, 1].map(|k| moved(&poses[k], &done.displacements[k]));
        }
        let centre = (2.0 * poses[0].translation() + poses[1].translation()) / 3.0;
        assert!((centre - start / 3.0).length() < 1e-9, "the centre of mass stays");
        let found = relation(shapes[0].at(poses[0]), shapes[1].at(poses[1]));
        assert_eq!(found, Relation::Separated, "from {start}, {first:?} deep");
        assert!(first > Some(0.01));
    }
}

#[test]
fn a_soft_ball_yields_to_a_rigid_mesh_and_is_fine_only_there() {
    // The place of a contact is between the middles of two triangles, so these are about as large as the ball's.
    let rigid = procedural::cuboid([1.0, 1.0, 0.2], [24, 24, 4]).unwrap();
    let [fine, coarse] = [4, 2].map(|n| procedural::ico_sphere(1.0, n).unwrap());
    let shapes = [Shape::from(fine.clone()), Shape::from(rigid.clone())];
    let elasticity = Elasticity {
        foundation: 100.0,
        anchor: f64::INFINITY,
        edge: 0.0,
        masses: [0.01, 1.0, 1.0],
        damping: 10.0,
    };
    let hysteresis = Hysteresis { patience: 10, slack: 1e-3 };
    let mut soft = TwoLevel::new(fine, coarse, elasticity, hysteresis, 0.02).unwrap();
    let options = TrackerOptions { deformation: [0.5, 0.0], ..TrackerOptions::default() };
    let mut tracker = Tracker::new(&shapes[0], &shapes[1], options).unwrap();
    // A tracker tells of triangles that cross: the ball is let in so little that all of its triangles there do.
    let lowest = soft.vertices().iter().map(|p| p.z).fold(0.0, f64::min);
    soft.put(DVec3::new(0.3, 0.2, 0.2 - 0.002 - lowest));
    let (mut moved, mut depths) = (0.0, Vec::new());
    for _ in 0..ROUNDS {
        let surfaces = [
            Surface { vertices: soft.vertices(), pose: Pose::IDENTITY, moved },
            Surface { vertices: rigid.vertices(), pose: Pose::IDENTITY, moved: 0.0 },
        ];
        tracker.step(surfaces, &mut Budget::UNLIMITED.clone()).unwrap();
        let contacts = tracker.contacts(surfaces);
        depths.push(deepest(&contacts));
        soft.refine(&FineRegion::around(&contacts, 0, 0.15, 0.01));
        let bodies = [soft.receiver(), Receiver::Fixed];
        let done =
            Projection::default().project(&bodies, &between(&contacts), &mut Stuck::default()).unwrap();
        assert!(done.residual < 1e-9 && done.unanswered == 0, "{done:?}");
        let before = soft.vertices().to_vec();
        soft.displace(&done.displacements[0]);
        moved = before.iter().zip(soft.vertices()).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max);
    }
    assert!(depths[0] > 0.001 && depths[ROUNDS - 1] < 1e-6, "{depths:?}");
    let share = soft.fine_vertices() as f64 / soft.vertices().len() as f64;
    assert!(share > 0.001 && share < 0.05, "{share}");
    let lowest = soft.vertices().iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
    assert!(lowest > 0.2 - 1e-6, "{lowest}");
}
