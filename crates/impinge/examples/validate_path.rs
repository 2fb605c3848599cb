//! The continuous check of a robot's path: a thin wall that sampling misses.
//!
//! Run with `cargo run --release --example validate_path`.

use std::f64::consts::FRAC_PI_2;

use impinge::glam::{DQuat, DVec3};
use impinge::scene::{Articulated, Body, EventKind, Groups, PathOptions, Scene};
use impinge::{Budget, Error, Joint, JointKind, Pose, Shape, Skeleton};

fn bar(low: [f64; 3], high: [f64; 3]) -> Result<Shape, Error> {
    let corner = |k: usize| DVec3::from([0, 1, 2].map(|axis| [low, high][k >> axis & 1][axis]));
    Shape::hull((0..8).map(corner))
}

fn main() -> Result<(), Error> {
    // Two links of a metre and a slender tool, turning about z at the shoulder and at the elbow.
    let joint = |parent: Option<usize>, kind: JointKind, x: f64| Joint {
        parent,
        kind,
        pivot: DVec3::X * x,
        axis: DVec3::Z,
        limits: [-3.0, 3.0],
    };
    let (turn, fixed) = (JointKind::Revolute, JointKind::Fixed);
    let joints = vec![joint(None, turn, 0.0), joint(Some(0), turn, 1.0), joint(Some(1), fixed, 2.0)];
    let shapes = [
        bar([0.0, -0.03, -0.03], [0.97, 0.03, 0.03])?,
        bar([1.03, -0.03, -0.03], [1.97, 0.03, 0.03])?,
        bar([2.0, -0.005, -0.005], [2.3, 0.005, 0.005])?,
    ];
    let mut scene = Scene::default();
    let mut arm =
        Articulated::add(&mut scene, Skeleton::new(joints)?, &shapes, &Pose::IDENTITY, Groups::ALL)?;

    // A sheet of metal, half a millimetre thick, across the way of the tool.
    let at = DQuat::from_rotation_z(0.465 * FRAC_PI_2);
    let sheet = bar([-0.1, -2.5e-4, -0.2], [0.1, 2.5e-4, 0.2])?;
    scene.add(Body::fixed(sheet, Pose::from_rotation(at * (2.2 * DVec3::X), at)?));

    let path = [[0.0; 3], [FRAC_PI_2, 0.0, 0.0]];
    let mut sampled = 0;
    for k in 0..=100 {
        arm.place(&mut scene, &Pose::IDENTITY, &[FRAC_PI_2 * f64::from(k) / 100.0, 0.0, 0.0]);
        let frame = scene.step(&mut Budget::UNLIMITED.clone());
        sampled += frame.events.iter().filter(|event| event.kind == EventKind::Began).count();
    }
    println!("101 samples see {sampled} contacts");

    let found = arm.validate_path(
        &scene,
        &Pose::IDENTITY,
        &path,
        &PathOptions::default(),
        &mut Budget::UNLIMITED.clone(),
    )?;
    let Some(hit) = found.hit else { return Ok(()) };
    println!("validate_path: link {} hits at {:.4} of the way, near {:.3}", hit.link, hit.time, hit.point);
    println!(
        "    joint values {:.4?}, {:.1e} m apart, {}",
        hit.values, hit.distance, found.outcome.work.primitive_tests
    );
    assert_eq!((sampled, hit.link), (0, 2));
    Ok(())
}
