//! The shared motions: a turns in place, b flies past or into it.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use glam::DVec3;
use impinge::{Motion, Pose};

use crate::scenes::{find, peers_folder};

/// One row: quaternion (w x y z) and angular velocity of a, quaternion, position, velocity and angular velocity of
/// b; both turn about their own origins.
pub type Row = [f64; 20];

/// All motions.
///
/// # Errors
/// The file is missing or a row is none.
pub fn rows() -> Result<Vec<Row>> {
    let file = find("workloads/ccd_motions.txt", "ccd_motions.txt")?;
    let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()).map(read).collect()
}

fn read(line: &str) -> Result<Row> {
    let numbers: Vec<f64> = line
        .split_whitespace()
        .map(|word| word.parse().with_context(|| format!("\"{word}\" in a motion")))
        .collect::<Result<_>>()?;
    ensure!(numbers.len() == 20, "a motion has 20 numbers, not {}", numbers.len());
    let mut row = [0.0; 20];
    row.copy_from_slice(&numbers);
    Ok(row)
}

/// The motions of a and b.
///
/// # Errors
/// A quaternion is none.
pub fn motions(row: &Row) -> Result<[Motion; 2]> {
    let vector = |k: usize| DVec3::new(row[k], row[k + 1], row[k + 2]);
    let turn = |k: usize| [row[k + 1], row[k + 2], row[k + 3], row[k]];
    let start_a = Pose::new([0.0; 3], turn(0))?;
    let start_b = Pose::new(vector(11).to_array(), turn(7))?;
    Ok([
        Motion::velocity(&start_a, DVec3::ZERO, vector(4)).unwrap(),
        Motion::velocity(&start_b, vector(14), vector(17)).unwrap(),
    ])
}

/// Writes the motions for the outside peer.
///
/// # Errors
/// The folder cannot be written.
pub fn export(rows: &[Row]) -> Result<PathBuf> {
    let file = peers_folder().join("exchange/motions.bin");
    let mut bytes = (rows.len() as u32).to_le_bytes().to_vec();
    bytes.extend(rows.iter().flatten().flat_map(|x| x.to_le_bytes()));
    fs::write(&file, bytes)?;
    Ok(file)
}
