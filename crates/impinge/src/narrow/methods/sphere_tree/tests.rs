use glam::DVec3;

use super::search::bracket;
use super::tree::SphereTree;
use crate::num::random::unit;
use crate::scene::{Body, Options, Scene};
use crate::shape::procedural;
use crate::{Budget, Certainty, Method, Pose, Query, Relation, Shape};

fn poses(k: u64) -> Pose {
    let at = |i: u64| 4.0 * unit(11, 8 * k + i) - 2.0;
    Pose::new([at(0), at(1), at(2)], [at(3), at(4), at(5), at(6) + 1e-3]).unwrap()
}

#[test]
fn the_bracket_holds_the_exact_distance() {
    let meshes = [procedural::blob(1.0, 0.3, 3, 5).unwrap(), procedural::torus(0.9, 0.3, 24, 12).unwrap()];
    let shapes = meshes.map(Shape::from);
    let (mut apart, mut met) = (0, 0);
    for k in 0..300 {
        let (a, b) = (shapes[0].at(poses(2 * k)), shapes[1].at(poses(2 * k + 1)));
        let truth = crate::distance(a, b).distance;
        let mut query = Query { method: Method::SphereTree, ..Query::default() };
        let found = query.distance(a, b).unwrap();
        let (distance, Certainty::Conservative { tolerance }) =
            (found.value.unwrap().distance, found.certainty)
        else {
            panic!("{:?}", found.certainty)
        };
        assert!(truth <= distance + 1e-12 && distance - tolerance <= truth + 1e-12, "{k}: {truth} {found:?}");
        let relation = query.relation(a, b).unwrap();
        let exact = crate::relation(a, b);
        match relation.certainty {
            Certainty::Exact => assert_eq!(relation.value, Some(exact), "{k}"),
            Certainty::Conservative { tolerance } => {
                assert_eq!(relation.value, Some(Relation::Intersecting), "{k}");
                assert!(truth <= tolerance, "{k}");
            }
            other => panic!("{other:?}"),
        }
        apart += usize::from(relation.value == Some(Relation::Separated));
        met += usize::from(exact.is_contact());
    }
    assert!(apart > 60 && met > 60, "{apart} apart, {met} met of 300");
}

/// Squares of such lengths underflow.
#[test]
fn the_bracket_holds_at_every_scale() {
    for exponent in [-1060, -1000, -664, -540, -300, 0, 190] {
        let scale = 2.0_f64.powi(exponent / 2) * 2.0_f64.powi(exponent - exponent / 2);
        let mesh = |corners: [[f64; 3]; 3]| {
            Shape::mesh(corners.map(|p| p.map(|x| x * scale)).to_vec(), vec![[0, 1, 2]]).unwrap()
        };
        let a = mesh([[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        let b = mesh([[0.0, 0.0, 3.0], [1.0, 0.0, 3.0], [0.0, 1.0, 5.0]]);
        let found = Query { method: Method::SphereTree, ..Query::default() }.distance(&a, &b).unwrap();
        let Certainty::Conservative { tolerance } = found.certainty else { panic!("{found:?}") };
        let told = found.value.unwrap();
        let (distance, truth) = (told.distance, 3.0 * scale);
        assert!(distance - tolerance <= truth && truth <= distance, "2^{exponent}: {found:?}");
        assert!(exponent < -1000 || tolerance < distance, "2^{exponent}: {found:?}");
        assert!((told.normal.length() - 1.0).abs() < 1e-3, "2^{exponent}: {found:?}");
    }
}

#[test]
fn small_budgets_end_the_search() {
    let mesh = procedural::ico_sphere(1.0, 4).unwrap();
    let tree = SphereTree::new(&mesh);
    let away = Pose::shift(DVec3::X * 3.0);
    let found = bracket([&tree, &tree], [&Pose::IDENTITY, &away], &mut Budget::units(64));
    assert!(found.nearest.is_none() && found.at_least <= 1.0 && found.work.volume_tests <= 64);
}

#[test]
fn it_takes_part_in_a_scene() {
    let ball = Shape::from(procedural::ico_sphere(1.0, 3).unwrap());
    let mut scene = Scene::with_options(Options { margin: 2.0, ..Options::default() }).unwrap();
    let a = scene.add(Body::fixed(ball.clone(), Pose::IDENTITY));
    let b = scene.add(Body::moving(ball, Pose::shift(DVec3::X * 3.5)));
    scene.set_method([a, b], Method::SphereTree).unwrap();
    let frame = scene.step(&mut Budget::UNLIMITED.clone());
    let told = frame.contacts[0];
    let Certainty::Conservative { tolerance } = told.certainty else { panic!("{told:?}") };
    let gap = -told.contact.depth;
    assert!(gap >= 1.5 && gap - tolerance <= 1.5 && tolerance < 0.5, "{told:?}");
    assert!(frame.events.is_empty());
    scene.place(b, Pose::shift(DVec3::X * 1.5));
    assert_eq!(scene.step(&mut Budget::UNLIMITED.clone()).events.len(), 1);
}
