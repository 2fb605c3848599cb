//! The shared continuous queries: moving features with the exact truth about them.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use glam::DVec3;
use impinge::geom::moving::FeaturePairKind;

use crate::scenes::root;

/// Bytes of a record.
const RECORD: usize = 208;

/// Two moving features and when they first meet.
#[derive(Debug, Clone, Copy)]
pub struct MovingQuery {
    /// What the points are.
    pub kind: FeaturePairKind,
    /// Which scene of the collection they come from.
    pub scene: u16,
    /// The points at the start.
    pub t0: [DVec3; 4],
    /// The points at the end.
    pub t1: [DVec3; 4],
    /// The exact time of first contact, if there is one.
    pub truth: Option<f64>,
}

/// Where the queries lie.
pub fn file() -> PathBuf {
    folder().join("ccd_shared.bin")
}

/// Where the queries and the whole steps lie.
pub fn folder() -> PathBuf {
    root().join("../shared/data/ccd")
}

/// All of them.
///
/// # Errors
/// The file is missing or no list of records.
pub fn all() -> Result<Vec<MovingQuery>> {
    let file = file();
    let bytes = fs::read(&file).with_context(|| format!("reading {}", file.display()))?;
    ensure!(bytes.len() % RECORD == 0, "{} is no list of records", file.display());
    Ok(bytes.chunks_exact(RECORD).map(read).collect())
}

fn read(record: &[u8]) -> MovingQuery {
    let number = |i: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&record[8 + 8 * i..16 + 8 * i]);
        f64::from_le_bytes(bytes)
    };
    let points = |first: usize| -> [DVec3; 4] {
        std::array::from_fn(|i| DVec3::from_array(std::array::from_fn(|axis| number(3 * (first + i) + axis))))
    };
    MovingQuery {
        kind: if record[0] == 0 { FeaturePairKind::VertexFace } else { FeaturePairKind::EdgeEdge },
        scene: u16::from_le_bytes([record[2], record[3]]),
        t0: points(0),
        t1: points(4),
        truth: (record[1] == 1).then(|| number(24)),
    }
}
