//! The points of the neighbour table: sets that NumPy's generator draws, and uniform ones of any number.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::boxes::Generator;
use crate::scenes::{self, peers_folder};
use crate::setup;

/// The largest distance of a pair in all sets; there is one point in a unit of volume.
pub const CUTOFF: f64 = 1.5;

/// The sets with the number of their points and pairs.
pub const SETS: [(&str, usize, u64); 4] = [
    ("uniform", 64_000, 434_382),
    ("clustered", 64_000, 724_441),
    ("uniform", 1_000_000, 6_948_008),
    ("clustered", 1_000_000, 11_329_267),
];

/// Where a set lies.
pub fn file(name: &str, count: usize) -> PathBuf {
    peers_folder().join("scenes").join(format!("{name}-{count}.bin"))
}

/// Whether set-up has made them all.
pub fn all_there() -> bool {
    SETS.iter()
        .all(|(name, count, _)| file(name, *count).metadata().is_ok_and(|m| m.len() == 24 * *count as u64))
}

/// Makes all of them.
///
/// # Errors
/// There is no Python environment with NumPy, or the script fails.
pub fn make() -> Result<()> {
    let script = scenes::root().join("crates/impinge-bench/peers/points.py");
    let ended = Command::new(setup::python()).arg(script).arg(peers_folder().join("scenes")).output()?;
    ensure!(ended.status.success(), "points.py: {}", String::from_utf8_lossy(&ended.stderr));
    Ok(())
}

/// A set.
///
/// # Errors
/// It was not made.
pub fn load(name: &str, count: usize) -> Result<Vec<[f64; 3]>> {
    let path = file(name, count);
    let bytes = std::fs::read(&path).with_context(|| {
        format!("{}: missing; `cargo run --release -p impinge-bench -- setup` makes it", path.display())
    })?;
    let number = |bytes: &[u8]| bytes.try_into().map(f64::from_le_bytes).unwrap_or(f64::NAN);
    Ok(bytes.chunks_exact(24).map(|x| [number(&x[..8]), number(&x[8..16]), number(&x[16..])]).collect())
}

/// So many points, one in a unit of volume.
pub fn uniform(count: usize) -> Vec<[f64; 3]> {
    let side = (count as f64).cbrt();
    let mut generator = Generator { state: count as u128 };
    (0..count).map(|_| [0; 3].map(|_| generator.uniform(0.0, side))).collect()
}
