//! How the recorded motions were made, and how they are written and read.
//!
//! Body b comes to a and leaves it again several times, each time from another side and turned otherwise. Files hold
//! seven decimal places, so that they are the same on every machine.

use std::f64::consts::TAU;
use std::fmt::Write as _;

use anyhow::{Context, Result, ensure};
use glam::{DQuat, DVec3};
use impinge::Pose;

use super::Frame;

/// Frames of a recording.
const FRAMES: usize = 1200;

const HEADER: &str = "phase,x,y,z,qx,qy,qz,qw";

/// Where body b is at a time from 0 to 1.
type Path = fn(f64) -> (DVec3, DQuat);

/// The path of each scene.
const PATHS: [(&str, Path); 3] = [
    ("sphere-torus", through_the_hole),
    ("horseshoe-clover", onto_the_leaves),
    ("dragon-bunny", around_and_near),
];

/// Writes every recording below `folder`.
///
/// # Errors
/// A file cannot be written.
pub fn write_all(folder: &std::path::Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    for (name, path) in PATHS {
        std::fs::write(folder.join(format!("{name}.csv")), text(path))?;
    }
    Ok(())
}

/// The frames of a file's text.
///
/// # Errors
/// A row is no frame.
pub fn read(text: &str) -> Result<Vec<Frame>> {
    let mut lines = text.lines();
    ensure!(lines.next() == Some(HEADER), "the first line is not {HEADER}");
    lines.map(|line| frame(line).with_context(|| format!("row {line}"))).collect()
}

fn frame(line: &str) -> Result<Frame> {
    let numbers: Vec<f64> = line.split(',').map(|word| Ok(word.parse()?)).collect::<Result<_>>()?;
    let [phase, x, y, z, qx, qy, qz, qw] = numbers[..] else { anyhow::bail!("a frame has 8 numbers") };
    Ok(Frame { phase, poses: [Pose::IDENTITY, Pose::new([x, y, z], [qx, qy, qz, qw])?] })
}

fn text(path: Path) -> String {
    let mut out = format!("{HEADER}\n");
    for i in 0..FRAMES {
        let time = i as f64 / FRAMES as f64;
        let (at, turn) = path(time);
        let _ = write!(out, "{time:.7}");
        for number in at.to_array().into_iter().chain(turn.to_array()) {
            let _ = write!(out, ",{number:.7}");
        }
        out.push('\n');
    }
    out
}

/// The torus goes over the sphere and back, three times, a little askew.
fn through_the_hole(time: f64) -> (DVec3, DQuat) {
    let angle = TAU * time;
    let at = DVec3::new(0.012 * angle.cos(), 0.012 * (2.0 * angle).sin(), 0.34 * (3.0 * angle).cos());
    let turn = DQuat::from_rotation_x(0.1 * angle.sin()) * DQuat::from_rotation_z(0.5 * angle.sin());
    (at, turn)
}

/// The horseshoe comes down on the clover's leaves, three times, turned from time to time.
fn onto_the_leaves(time: f64) -> (DVec3, DQuat) {
    let angle = TAU * time;
    let at = DVec3::new(0.05 * angle.sin(), 0.55 + 0.2 * (3.0 * angle).cos(), 0.04 * (2.0 * angle).sin());
    let turn = DQuat::from_rotation_y(0.5 * angle.sin()) * DQuat::from_rotation_x(0.4 * (2.0 * angle).sin());
    (at, turn)
}

/// The bunny goes around the dragon once and comes near four times, turning.
fn around_and_near(time: f64) -> (DVec3, DQuat) {
    let angle = TAU * time;
    let side = DVec3::new(angle.cos(), 0.15 * (2.0 * angle).sin(), 0.7 * angle.sin());
    let at = side * (0.75 + 0.14 * (4.0 * angle).cos());
    let turn = DQuat::from_rotation_y(-angle) * DQuat::from_rotation_x(0.3 * (3.0 * angle).sin());
    (at, turn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_what_the_paths_make() {
        let folder = super::super::folder();
        for (name, path) in PATHS {
            let kept = std::fs::read_to_string(folder.join(format!("{name}.csv"))).unwrap();
            let (kept, made) = (read(&kept).unwrap(), read(&text(path)).unwrap());
            assert_eq!(kept.len(), FRAMES);
            for (k, m) in kept.iter().zip(&made) {
                let apart = (k.poses[1].translation() - m.poses[1].translation()).length();
                assert!(apart < 1e-6 && (k.phase - m.phase).abs() < 1e-6, "{name}");
            }
        }
    }
}
