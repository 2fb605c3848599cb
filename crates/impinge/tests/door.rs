//! What every user of the functions relies on: values can go to other threads, and numbers that are not finite are
//! refused by name before any question is asked.

use impinge::glam::{DQuat, DVec3};
use impinge::model::Model;
use impinge::scene::{Articulated, Scene};
use impinge::{
    Answer, Budget, Certainty, Deforming, Error, Memory, Mesh, Method, Motion, Placed, Pose, Query, Ray,
    Relation, Separation, Shape, Skeleton, Sweep, TetMesh, contains, pairs_within, procedural,
};

const fn shared_between_threads<T: Send + Sync>() {}

// Checked when it is compiled.
const _: () = {
    shared_between_threads::<Shape>();
    shared_between_threads::<Placed<'_>>();
    shared_between_threads::<Memory>();
    shared_between_threads::<Query<'_>>();
    shared_between_threads::<Answer<Relation>>();
    shared_between_threads::<Answer<Separation>>();
    shared_between_threads::<Answer<Sweep>>();
    shared_between_threads::<Answer<Vec<[u32; 2]>>>();
    shared_between_threads::<Scene>();
    shared_between_threads::<Articulated>();
    shared_between_threads::<Skeleton>();
    shared_between_threads::<Model>();
    shared_between_threads::<Mesh>();
    shared_between_threads::<TetMesh>();
    shared_between_threads::<Deforming>();
    shared_between_threads::<Pose>();
    shared_between_threads::<Motion>();
    shared_between_threads::<Budget>();
    shared_between_threads::<Method>();
    shared_between_threads::<Certainty>();
    shared_between_threads::<Error>();
};

/// What is not a coordinate.
const BAD: [f64; 4] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e61];

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, Error>, words: &[&str]) {
    let message = result.expect_err("accepted").to_string();
    for word in words {
        assert!(message.contains(word), "{word:?} is not in {message:?}");
    }
}

#[test]
fn poses_of_numbers_that_are_not_finite_are_refused() {
    for bad in BAD {
        for axis in 0..3 {
            let mut position = [0.5; 3];
            position[axis] = bad;
            let words = ["position", "not finite or beyond 1e60"];
            refused(Pose::from_translation(position), &words);
            refused(Pose::from_rotation(position.into(), DQuat::IDENTITY), &words);
            refused(Pose::new(position, [0.0, 0.0, 0.0, 1.0]), &words);
            let mut matrix = Pose::IDENTITY.to_matrix();
            matrix[4 * axis + 3] = bad;
            refused(Pose::from_matrix(&matrix), &words);
        }
        if bad == 1e61 {
            continue;
        }
        for part in 0..4 {
            let mut rotation = [0.5; 4];
            rotation[part] = bad;
            refused(Pose::new([0.0; 3], rotation), &["quaternion"]);
            refused(Pose::from_rotation(DVec3::ZERO, DQuat::from_array(rotation)), &["quaternion"]);
        }
        let mut matrix = Pose::IDENTITY.to_matrix();
        matrix[5] = bad;
        refused(Pose::from_matrix(&matrix), &["orthonormal"]);
    }
    refused(Pose::new([0.0; 3], [0.0; 4]), &["quaternion", "length 0"]);
    refused(Pose::from_rotation(DVec3::ZERO, DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0)), &["off unit length"]);
}

#[test]
fn velocities_that_are_not_finite_are_refused() {
    for bad in BAD {
        let words = ["not finite or beyond"];
        refused(Motion::velocity(&Pose::IDENTITY, [bad, 0.0, 0.0], [0.0; 3]), &words);
        refused(Motion::velocity(&Pose::IDENTITY, [bad, 0.0, 0.0], [0.0; 3]), &["linear velocity"]);
        refused(Motion::velocity(&Pose::IDENTITY, [0.0; 3], [0.0, 0.0, bad]), &["angular velocity"]);
        refused(Motion::through(&Pose::IDENTITY, bad, [1.0; 3], [0.0; 3]), &["time"]);
    }
}

#[test]
fn shapes_points_rays_and_margins_are_refused_by_name() {
    let cube = Shape::from(procedural::cuboid([1.0; 3], [1; 3]).unwrap());
    for bad in BAD {
        refused(Shape::sphere(bad), &["radius"]);
        refused(Shape::cuboid([1.0, bad, 1.0]), &["half"]);
        refused(Shape::hull([[0.0, bad, 0.0], [1.0; 3]]), &["vertex 0"]);
        refused(Shape::mesh(vec![[0.0; 3], [1.0; 3], [bad; 3]], vec![[0, 1, 2]]), &["vertex 2"]);
        refused(contains(&cube, [0.0, bad, 0.0]), &["points", "element 0"]);
        refused(Ray::new([bad, 0.0, 0.0], [1.0, 0.0, 0.0]), &["origin"]);
    }
    refused(Ray::new([0.0; 3], [0.0; 3]), &["direction"]);
    refused(Ray::new([0.0; 3], [f64::NAN, 0.0, 0.0]), &["direction"]);
    refused(pairs_within(&cube, &cube, f64::NAN), &["margin"]);
    refused(pairs_within(&cube, &cube, -1.0), &["margin"]);
}
