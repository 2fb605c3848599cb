//! The optional features: what is written is read back to the bit, what is wrong is refused when it is read, and
//! poses and points come from `mint`.

use impinge::glam::DVec3;
use impinge::scene::{Articulated, Body, Groups, PathOptions, Scene};
use impinge::{
    Aabb, Answer, Budget, Certainty, Contact, Counters, DecomposeEnd, Feature, FeaturePairKind, Finish,
    Joint, JointKind, Mesh, Method, Motion, MovingContact, Outcome, Overlap, PointDistance, Pose, Query, Ray,
    RayHit, Region, Relation, Separation, Shape, Skeleton, Sweep, contour, inspect, mass, procedural,
    ray_cast, relation, signed_distance, sweep,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Through JSON and back.
fn there_and_back<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) -> String {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value, "{text}");
    text
}

fn askew() -> Pose {
    Pose::new([0.1, -2.0, 1e-7], [0.3, -0.5, 0.7, 0.2]).unwrap()
}

#[test]
fn words_are_those_of_the_program() {
    let relations = [
        (Relation::Separated, "\"separated\""),
        (Relation::Touching, "\"touching\""),
        (Relation::Intersecting, "\"intersecting\""),
        (Relation::AInsideB, "\"a_inside_b\""),
        (Relation::BInsideA, "\"b_inside_a\""),
    ];
    for (relation, text) in relations {
        assert_eq!(there_and_back(&relation), text);
    }
    assert_eq!(there_and_back(&Finish::OutOfBudget), "\"out_of_budget\"");
    assert_eq!(there_and_back(&Feature::Edge([1, 2])), "{\"edge\":[1,2]}");
    assert_eq!(there_and_back(&Feature::Surface), "\"surface\"");
    assert_eq!(there_and_back(&Certainty::Exact), "\"exact\"");
    let near = Certainty::Conservative { tolerance: 0.1 };
    assert_eq!(there_and_back(&near), "{\"conservative\":{\"tolerance\":0.1}}");
    for &method in Method::ALL {
        assert_eq!(there_and_back(&method), format!("\"{method}\""));
    }
}

#[test]
fn answers_survive_to_the_bit() {
    let (cube, ball) = (Shape::cuboid([1.0, 1.1, 0.3]).unwrap(), Shape::sphere(0.37).unwrap());
    let mesh = Shape::from(procedural::torus(1.0, 0.3, 12, 8).unwrap());
    let answer: Answer<Separation> = Query::default().distance(&cube, ball.at(askew())).unwrap();
    there_and_back(&answer);
    let separation = answer.value.unwrap();
    there_and_back(&separation);
    there_and_back(&Contact::from(separation));
    let at = |x: f64| Pose::from_translation([x, 0.1, 0.2]).unwrap();
    let found: Sweep = sweep(&mesh, ball.along(Motion::between(&at(9.0), &at(1.0))));
    assert!(found.impact.is_some());
    there_and_back(&found);
    let near: PointDistance = signed_distance(&mesh, [0.3, 0.4, 0.5]).unwrap();
    there_and_back(&near);
    let ray = Ray { reach: 100.0, ..Ray::new([5.0, 0.01, 0.02], [-1.0, 0.0, 0.0]).unwrap() };
    there_and_back(&ray);
    let hit: RayHit = ray_cast(&mesh, ray).unwrap();
    there_and_back(&hit);
    let bounds: Aabb = mesh.bounds(&askew());
    there_and_back(&bounds);
    let region = Region { centroid: DVec3::X, normal: DVec3::Y, area: 0.1, depth: 0.2 };
    there_and_back(&region);
    there_and_back(&Overlap { volume: 0.1, error: 1e-9, gradient: [DVec3::X, -DVec3::X], region });
    let work = Counters { volume_tests: 1, primitive_tests: 2, updates: 3 };
    there_and_back(&Outcome { certainty: Certainty::Exact, finish: Finish::Complete, work });
}

#[test]
fn answers_about_meshes_scenes_and_paths_survive() {
    let mesh = Shape::from(procedural::torus(1.0, 0.3, 12, 8).unwrap());
    there_and_back(&inspect(&mesh).unwrap());
    there_and_back(&mass(&mesh).unwrap());
    let curves = contour(&mesh, mesh.at(Pose::from_translation([0.9, 0.05, 0.1]).unwrap()));
    assert!(!curves.as_ref().unwrap().is_empty());
    there_and_back(&curves.unwrap());
    let kind = FeaturePairKind::VertexFace;
    let contact = there_and_back(&MovingContact { time: 0.1, kind, swapped: true, vertices: [3, 1, 4, 5] });
    assert!(contact.contains("\"vertex_face\""), "{contact}");
    assert_eq!(there_and_back(&DecomposeEnd::MostParts), "\"most_parts\"");

    let joint = Joint {
        parent: None,
        kind: JointKind::Prismatic,
        pivot: DVec3::ZERO,
        axis: DVec3::X,
        limits: [-9.0, 9.0],
    };
    let mut scene = Scene::default();
    let ball = [Shape::sphere(0.5).unwrap()];
    let slide = Skeleton::new(vec![joint]).unwrap();
    let arm = Articulated::add(&mut scene, slide, &ball, &Pose::IDENTITY, Groups::ALL).unwrap();
    there_and_back(
        &scene.add(Body::fixed(ball[0].clone(), Pose::from_translation([4.0, 0.1, 0.0]).unwrap())),
    );
    for (end, hits) in [(8.0, true), (2.0, false)] {
        let budget = &mut Budget::UNLIMITED.clone();
        let path = [[0.0], [end]];
        let found = arm.validate_path(&scene, &Pose::IDENTITY, &path, &PathOptions::default(), budget);
        assert_eq!(found.as_ref().unwrap().hit.is_some(), hits);
        there_and_back(&found.unwrap());
    }
}

#[test]
fn poses_and_meshes_are_checked_when_they_are_read() {
    there_and_back(&askew());
    let read = |text: &str| serde_json::from_str::<Pose>(text);
    let placed = read(r#"{"position":[0.1,-2.0,1e-7],"rotation":[0.3,-0.5,0.7,0.2]}"#).unwrap();
    assert_eq!(placed, askew());
    assert_eq!(read(r#"{"position":[0,0,0]}"#).unwrap(), Pose::IDENTITY);
    let refused = read(r#"{"position":[1e99,0,0],"rotation":[0,0,0,1]}"#).unwrap_err().to_string();
    assert!(refused.contains("beyond 1e60"), "{refused}");
    let refused = read(r#"{"matrix":[2,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]}"#).unwrap_err().to_string();
    assert!(refused.contains("orthonormal"), "{refused}");

    there_and_back(&procedural::ico_sphere(1.0, 1).unwrap());
    let bad = r#"{"vertices":[[0,0,0],[1,0,0],[0,1,0]],"triangles":[[0,1,7]]}"#;
    let refused = serde_json::from_str::<Mesh>(bad).unwrap_err().to_string();
    assert!(refused.contains('7'), "{refused}");
}

#[test]
fn poses_come_from_mint_and_go_there() {
    let position = mint::Vector3 { x: 0.1, y: -2.0, z: 1e-7 };
    let rotation = mint::Quaternion { v: mint::Vector3 { x: 0.3, y: -0.5, z: 0.7 }, s: 0.2 };
    let pose = Pose::try_from((position, rotation)).unwrap();
    assert_eq!(pose, askew());
    assert_eq!(Pose::try_from((mint::Point3::from([0.1, -2.0, 1e-7]), rotation)).unwrap(), pose);
    let rows: mint::RowMatrix4<f64> = pose.into();
    let columns: mint::ColumnMatrix4<f64> = pose.into();
    assert_eq!((rows.x.w, columns.w.x), (0.1, 0.1));
    assert_eq!(Pose::try_from(rows).unwrap(), pose);
    assert_eq!(Pose::try_from(columns).unwrap(), pose);
    let (there, turn): (mint::Vector3<f64>, mint::Quaternion<f64>) = pose.into();
    let back = Pose::try_from((there, turn)).unwrap();
    let p = DVec3::new(0.3, 0.4, -0.5);
    assert!((back.apply(p) - pose.apply(p)).length() < 1e-14);
    assert!(Pose::try_from((position, mint::Quaternion { s: 0.0, v: [0.0; 3].into() })).is_err());
}

#[test]
fn questions_take_points_of_mint() {
    let ball = Shape::sphere(1.0).unwrap();
    let found = signed_distance(&ball, mint::Point3 { x: 0.0, y: 0.0, z: 3.0 }).unwrap();
    assert_eq!(found.distance, 2.0);
    let beside = Pose::from_translation(mint::Vector3 { x: 2.0, y: 0.0, z: 0.0 }).unwrap();
    assert_eq!(relation(&ball, ball.at(beside)), Relation::Touching);
}
