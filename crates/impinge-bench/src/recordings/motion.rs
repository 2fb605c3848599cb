//! How the recorded motions were made, and how they are written and read.
//!
//! Body b comes to a and leaves it again several times. A file has a row for every ten milliseconds, with seven decimal
//! places; frames of a millisecond lie on straight lines in between.
//!
//! There are two speeds, and the tables tell them apart. At the speed of touch a hand explores one body with the other, as
//! haptic devices have it with a frame a millisecond: it follows the surface at some centimetres a second and presses on
//! it a little. For bodies about 0.3 m large that is about a tenth of their size a second, paths that press by about a
//! hundredth of it, and surfaces that deform by a thirtieth of it a second. In the recordings called `-fast` bodies
//! fly past each other at about their own size a second, pass through each other by a tenth of it and more, and deform by
//! a tenth of it a second. What the bodies really do is measured and printed with every table.

use std::f64::consts::TAU;
use std::fmt::Write as _;

use anyhow::{Context, Result, ensure};
use glam::{DQuat, DVec3};
use impinge::Pose;

use super::Frame;

/// Rows of a recording.
const ROWS: usize = 600;

/// Frames from one row to the next.
pub const FRAMES_A_ROW: usize = 10;

const HEADER: &str = "phase,x,y,z,qx,qy,qz,qw";

/// Where body b is at a time from 0 to 1.
type Path = fn(f64) -> (DVec3, DQuat);

/// The path of each scene.
const PATHS: [(&str, Path); 6] = [
    ("sphere-torus", onto_the_ball),
    ("horseshoe-clover", along_the_leaves),
    ("dragon-bunny", along_the_back),
    ("sphere-torus-fast", through_the_hole),
    ("horseshoe-clover-fast", onto_the_leaves),
    ("dragon-bunny-fast", around_and_near),
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

/// What a row of a file holds.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The phase of all waves, 0 ≤ phase < 1.
    phase: f64,
    /// Where body b is.
    at: DVec3,
    /// How it is turned, nearly of unit length.
    turn: DQuat,
}

/// The rows of a file's text.
///
/// # Errors
/// A row is none of a recording.
pub fn read(text: &str) -> Result<Vec<Row>> {
    let mut lines = text.lines();
    ensure!(lines.next() == Some(HEADER), "the first line is not {HEADER}");
    lines.map(|line| row(line).with_context(|| format!("row {line}"))).collect()
}

/// The frame between two rows, `share` of the way to the second.
///
/// # Errors
/// The rows are no poses.
pub fn between(from: &Row, to: &Row, share: f64) -> Result<Frame> {
    // From the last row on to the first.
    let end = if to.phase < from.phase { to.phase + 1.0 } else { to.phase };
    let at = from.at.lerp(to.at, share);
    let to_turn = if from.turn.dot(to.turn) < 0.0 { -to.turn } else { to.turn };
    let turn = (from.turn * (1.0 - share) + to_turn * share).normalize();
    let pose = Pose::new(at.to_array(), turn.to_array())?;
    let [w, i, j, k] = [turn.w, turn.x, turn.y, turn.z];
    let numbers = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, w, i, j, k, at.x, at.y, at.z];
    Ok(Frame { phase: from.phase + (end - from.phase) * share, poses: [Pose::IDENTITY, pose], numbers })
}

fn row(line: &str) -> Result<Row> {
    let numbers: Vec<f64> = line.split(',').map(|word| Ok(word.parse()?)).collect::<Result<_>>()?;
    let [phase, x, y, z, qx, qy, qz, qw] = numbers[..] else { anyhow::bail!("a row has 8 numbers") };
    Ok(Row { phase, at: DVec3::new(x, y, z), turn: DQuat::from_xyzw(qx, qy, qz, qw) })
}

fn text(path: Path) -> String {
    let mut out = format!("{HEADER}\n");
    for i in 0..ROWS {
        let time = i as f64 / ROWS as f64;
        let (at, turn) = path(time);
        let _ = write!(out, "{time:.7}");
        for number in at.to_array().into_iter().chain(turn.to_array()) {
            let _ = write!(out, ",{number:.7}");
        }
        out.push('\n');
    }
    out
}

/// The torus is put on the sphere four times, a little askew, and turned on it.
fn onto_the_ball(time: f64) -> (DVec3, DQuat) {
    let angle = TAU * time;
    let at = DVec3::new(0.008 * angle.cos(), 0.008 * angle.sin(), 0.15 + 0.018 * (4.0 * angle).cos());
    let turn = DQuat::from_rotation_x(0.04 * angle.sin()) * DQuat::from_rotation_z(0.04 * angle.sin());
    (at, turn)
}

/// The horseshoe touches the clover's leaves four times and slides along them.
fn along_the_leaves(time: f64) -> (DVec3, DQuat) {
    let angle = TAU * time;
    let at = DVec3::new(0.02 * angle.sin(), 0.3 + 0.02 * angle.cos(), 0.15 + 0.018 * (4.0 * angle).cos());
    let turn = DQuat::from_rotation_y(0.04 * angle.sin()) * DQuat::from_rotation_x(0.03 * angle.cos());
    (at, turn)
}

/// The bunny touches the dragon four times and slides along it.
fn along_the_back(time: f64) -> (DVec3, DQuat) {
    let angle = TAU * time;
    let around = 4.0 + 0.05 * angle.sin();
    let side = DVec3::new(around.cos(), 0.03 * angle.cos(), 0.7 * around.sin());
    // Once in the time the waves bring the surfaces nearer to each other and take them away.
    let at = side * (0.686 + 0.015 * (4.0 * angle).cos() + 0.035 * (angle - 4.6).cos());
    let turn = DQuat::from_rotation_y(-4.0) * DQuat::from_rotation_x(0.03 * angle.sin());
    (at, turn)
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
    fn frames_lie_between_their_rows_and_the_last_row_leads_to_the_first() {
        let row = |phase, x| Row { phase, at: DVec3::X * x, turn: DQuat::from_rotation_z(x) };
        let frame = between(&row(0.9, 1.0), &row(0.1, 1.2), 0.5).unwrap();
        assert!((frame.phase - 1.0).abs() < 1e-12);
        assert!(
            (frame.poses[1].apply(DVec3::X)
                - (DVec3::X * 1.1 + DVec3::new(1.1_f64.cos(), 1.1_f64.sin(), 0.0)))
            .length()
                < 1e-12
        );
    }

    #[test]
    fn the_files_are_what_the_paths_make() {
        let folder = super::super::folder();
        for (name, path) in PATHS {
            let kept = std::fs::read_to_string(folder.join(format!("{name}.csv"))).unwrap();
            let (kept, made) = (read(&kept).unwrap(), read(&text(path)).unwrap());
            assert_eq!(kept.len(), ROWS);
            for (k, m) in kept.iter().zip(&made) {
                let turned = (k.turn - m.turn).length();
                assert!(
                    k.at.distance(m.at) < 1e-6 && turned < 1e-6 && (k.phase - m.phase).abs() < 1e-6,
                    "{name}"
                );
            }
        }
    }
}
