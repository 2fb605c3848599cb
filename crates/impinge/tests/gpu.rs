//! The graphics processor measures what the processor does: volumes and gradients of all shared pairs and of bodies that
//! touch, nest and reach far, at several resolutions.

mod common;

use std::io::Write;

use common::{Pair, pair};
use impinge::glam::{DQuat, DVec3};
use impinge::{Method, Pose, Query, Shape, Volume, VolumeDevice, VolumeOptions, procedural};

/// The most that the two may differ by, as a share of the volume and of the gradient's norm.
const NEAR: f64 = 1e-4;

/// The device; without one a line says which test is left out.
fn device() -> Option<VolumeDevice> {
    let device = VolumeDevice::new();
    if device.has_gpu() {
        return Some(device);
    }
    let test = std::thread::current().name().unwrap_or_default().to_string();
    let line = format!("SKIP gpu::{test}: {}\n", device.note());
    // Written to the handle, not by `eprintln!`: the test harness would hide that for a test that passes.
    std::io::stderr().write_all(line.as_bytes()).unwrap();
    None
}

/// Measures on both and compares; returns the volume.
fn compare(device: &VolumeDevice, what: &str, a: (&Shape, Pose), b: (&Shape, Pose), pixels: u32) -> f64 {
    let options = VolumeOptions { gradient: true, resolution: Some(pixels), ..VolumeOptions::default() };
    let (a, b) = (a.0.at(a.1), b.0.at(b.1));
    let mut query = Query { method: Method::Image, ..Query::default() };
    let want = query.volume(a, b, options).unwrap().value.unwrap();
    let found = device.volume(a, b, options).unwrap();
    let (volume, size) = (found.volume - want.volume, want.volume.abs());
    assert!(volume.abs() <= NEAR * size, "{what} at {pixels}: {} not {}", found.volume, want.volume);
    let norm = |all: &[Vec<DVec3>; 2]| all.iter().flatten().map(|g| g.length_squared()).sum::<f64>().sqrt();
    let pairs = |k: usize| found.gradient[k].iter().zip(&want.gradient[k]).map(|(x, y)| *x - *y).collect();
    let apart = norm(&[pairs(0), pairs(1)]);
    assert!(
        apart <= NEAR * norm(&want.gradient),
        "{what} at {pixels}: gradients {apart} of {}",
        norm(&want.gradient)
    );
    assert!((found.error - want.error).abs() <= 0.01 * want.error, "{what}: {} {}", found.error, want.error);
    check_balance(&found);
    want.volume
}

/// The net forces on two meshes are opposite but for the units of the sums.
fn check_balance(found: &Volume) {
    if found.gradient.iter().any(Vec::is_empty) {
        return;
    }
    let net = found.gradient.each_ref().map(|all| all.iter().sum::<DVec3>());
    let size: f64 = found.gradient.iter().flatten().map(|slope| slope.length()).sum();
    assert!((net[0] + net[1]).length() <= 1e-6 * size, "{net:?}");
}

#[test]
fn the_shared_pairs() {
    let Some(folder) = common::shared("data/pairs") else { return };
    let Some(device) = device() else { return };
    let mut overlapping = 0;
    for k in 0..20 {
        let Pair { bodies: [a, b], .. } = pair(&folder.join(format!("pair_{k:02}.bin")));
        for pixels in [32, 128] {
            let name = format!("pair {k}");
            let volume = compare(&device, &name, (&a, Pose::IDENTITY), (&b, Pose::IDENTITY), pixels);
            overlapping += usize::from(volume > 0.0);
        }
    }
    assert!((24..=40).contains(&overlapping), "{overlapping}");
}

#[test]
fn bodies_that_touch_nest_and_reach_far() {
    let Some(device) = device() else { return };
    let mesh = |mesh: Result<impinge::Mesh, impinge::Error>| Shape::from(mesh.unwrap());
    let bodies = [
        ("cube", mesh(procedural::cuboid([0.5; 3], [1; 3]))),
        ("bar", mesh(procedural::cuboid([0.3, 0.4, 2.0], [2; 3]))),
        ("ball", mesh(procedural::ico_sphere(0.6, 3))),
        ("torus", mesh(procedural::torus(0.5, 0.2, 40, 20))),
        // Its corners are far outside of every common box.
        ("ground", mesh(procedural::cuboid([50.0, 50.0, 0.4], [1; 3]))),
        (
            "hull",
            Shape::hull([[0.6, 0.0, 0.0], [-0.5, 0.4, 0.1], [-0.4, -0.6, 0.2], [0.1, 0.0, 0.9]]).unwrap(),
        ),
        ("sphere", Shape::sphere(0.55).unwrap()),
    ];
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 0.7).to_array();
    let poses = [
        Pose::IDENTITY,
        Pose::from_translation([0.5, 0.25, 0.125]).unwrap(),
        Pose::new([0.2, 0.1, 0.3], turn).unwrap(),
        Pose::new([5.0, 0.0, 0.0], turn).unwrap(),
    ];
    for (name, a) in &bodies {
        for (other, b) in &bodies {
            for pose in poses {
                let what = format!("{name} and {other} at {:?}", pose.translation());
                compare(&device, &what, (a, Pose::IDENTITY), (b, pose), 40);
            }
        }
    }
}

#[test]
fn the_same_bits_again() {
    let Some(device) = device() else { return };
    let knot = Shape::from(procedural::torus(0.5, 0.2, 60, 30).unwrap());
    let options = VolumeOptions { gradient: true, resolution: Some(100), ..VolumeOptions::default() };
    let beside = Pose::new([0.3, 0.1, 0.05], [0.1, 0.2, 0.3, 0.9]).unwrap();
    let measure = || device.volume(&knot, knot.at(beside), options).unwrap();
    let first = measure();
    assert!(first.volume > 0.0);
    for _ in 0..3 {
        assert_eq!(measure(), first);
    }
}

#[test]
fn what_the_device_does_not_do_is_done() {
    let device = VolumeDevice::new();
    assert!(device.note().starts_with("on the "), "{}", device.note());
    let cube = Shape::from(procedural::cuboid([0.5; 3], [1; 3]).unwrap());
    let beside = Pose::from_translation([0.5, 0.3, 0.2]).unwrap();
    let options = VolumeOptions { samples: true, resolution: Some(32), ..VolumeOptions::default() };
    let found = device.volume(&cube, cube.at(beside), options).unwrap();
    assert!(!found.samples.is_empty() && !found.regions.is_empty());
    let open = Shape::from(procedural::sheet([1.0, 1.0], [1, 1]).unwrap());
    let refused = device.volume(&cube, &open, VolumeOptions::default()).unwrap_err();
    assert!(refused.to_string().contains("open"), "{refused}");
    let far = Pose::from_translation([9.0, 0.0, 0.0]).unwrap();
    assert_eq!(device.volume(&cube, cube.at(far), VolumeOptions::default()).unwrap().volume, 0.0);
}
