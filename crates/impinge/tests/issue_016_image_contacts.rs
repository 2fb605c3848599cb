//! Contacts by images said "none, exactly" of bodies that touch or have no inside.

use impinge::{Certainty, Method, Pose, Query, Shape};

fn by_images() -> Query<'static> {
    Query { method: Method::Image, ..Query::default() }
}

#[test]
fn bodies_that_touch_without_a_region_are_not_told_exactly() {
    let cube = Shape::cuboid([1.0; 3]).unwrap();
    let at = |x: f64| Pose::from_translation([x, 0.0, 0.0]).unwrap();
    let touching = by_images().contacts(&cube, cube.at(at(2.0)), 0.0).unwrap();
    assert_eq!(touching.value, Some(Vec::new()));
    assert!(matches!(touching.certainty, Certainty::Approximate { resolution } if resolution < 0.01));
    let apart = by_images().contacts(&cube, cube.at(at(2.5)), 0.0).unwrap();
    assert_eq!((apart.value, apart.certainty), (Some(Vec::new()), Certainty::Exact));
    let deep = by_images().contacts(&cube, cube.at(at(1.5)), 0.0).unwrap();
    assert_eq!(deep.value.map(|all| all.len()), Some(1));
    let sheet = Shape::hull([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]).unwrap();
    let flat = by_images().contacts(&sheet, &cube, 0.0).unwrap();
    assert_eq!(flat.value, Some(Vec::new()));
    assert!(matches!(flat.certainty, Certainty::Approximate { .. }));
}

#[test]
fn open_meshes_are_refused_by_name_as_their_volumes_are() {
    let cube = Shape::cuboid([1.0; 3]).unwrap();
    let open = Shape::mesh(vec![[0.0; 3], [0.5, 0.0, 0.0], [0.0, 0.5, 0.0]], vec![[0, 1, 2]]).unwrap();
    let refused = by_images().contacts(&cube, &open, 0.0).unwrap_err().to_string();
    let volume = by_images().volume(&cube, &open, Default::default()).unwrap_err().to_string();
    assert_eq!(refused, volume);
    let all = [[cube.at(Pose::IDENTITY), open.at(Pose::IDENTITY)]];
    assert!(by_images().contacts_batch(&all, 0.0).is_err());
}

#[test]
fn a_body_within_another_has_a_normal_and_a_way_out() {
    let room = Shape::cuboid([1.0, 2.0, 2.0]).unwrap();
    let ball = Shape::sphere(0.25).unwrap();
    let at = Pose::from_translation([0.5, 0.1, 0.0]).unwrap();
    let found = by_images().contacts(&room, ball.at(at), 0.0).unwrap().value.unwrap();
    assert_eq!(found.len(), 1);
    // To the near wall and the ball's own width beyond.
    assert!(found[0].normal.x > 0.99 && (found[0].depth - 0.75).abs() < 1e-9, "{found:?}");
    let mesh = Shape::from(impinge::procedural::ico_sphere(0.25, 3).unwrap());
    let found = by_images().contacts(&room, mesh.at(at), 0.0).unwrap();
    assert!(matches!(found.certainty, Certainty::Approximate { resolution } if resolution > 0.7));
    assert!(found.value.is_some_and(|all| all[0].normal.x > 0.99 && all[0].depth > 0.7));
}
