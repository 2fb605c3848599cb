//! Particle files: CSV, XYZ, PDB and the vertices of PLY.
//!
//! The content tells PLY; the extension tells XYZ and PDB, and where it says nothing, the records of a PDB or the count
//! that an XYZ file begins with. Everything else is CSV.

mod csv;
mod pdb;
mod xyz;

use std::path::Path;

use super::text::quote;
use super::{bytes_of, decimal, name_file, ply, unpacked};
use crate::Error;
use crate::num::tolerance::LARGEST_COORDINATE;

/// The particles of a file, in its order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParticleSet {
    /// Finite coordinates up to 1e60.
    pub positions: Vec<[f64; 3]>,
    /// One for each position, 0 or more; empty where the file has none.
    pub radii: Vec<f64>,
    /// The periodic cell that the file names: `CRYST1` of a PDB, `Lattice` of an extended XYZ.
    pub cell: Option<ParticleCell>,
}

/// The periodic cell of a particle file, for [`Domain::triclinic`](crate::broad::neighbours::Domain::triclinic).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParticleCell {
    /// The vectors a, b and c.
    pub vectors: [[f64; 3]; 3],
    /// Along which of them it is repeated.
    pub periodic: [bool; 3],
}

impl ParticleSet {
    /// Reads the bytes of a particle file, packed or not, whose format the content tells: PLY, the records of a PDB, the
    /// count that XYZ begins with, or else CSV.
    ///
    /// # Errors
    /// As for [`load_particles`], without a path.
    pub fn from_bytes(bytes: &[u8]) -> Result<ParticleSet, Error> {
        read_particles(&unpacked(bytes)?, None)
    }
}

/// Loads a particle file, CSV, XYZ, PDB or PLY, also packed with gzip.
///
/// # Errors
/// A file that cannot be read, a line that breaks the rules of its format, a coordinate that is not finite or beyond
/// 1e60, a radius that is not finite or negative, or several frames in one file; path and line are named.
pub fn load_particles(path: impl AsRef<Path>) -> Result<ParticleSet, Error> {
    let path = path.as_ref();
    let extension = |path: &Path| path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    let hint = match extension(path) {
        Some(packed) if packed == "gz" => path.file_stem().and_then(|stem| extension(Path::new(stem))),
        other => other,
    };
    let read = |bytes: &[u8]| read_particles(&unpacked(bytes)?, hint.as_deref());
    read(&bytes_of(path)?).map_err(|error| name_file(path, error))
}

/// Reads particles from the bytes of a file; the extension counts where the content leaves the format open.
fn read_particles(bytes: &[u8], extension: Option<&str>) -> Result<ParticleSet, Error> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.is_empty() {
        return Err(Lines::error("particle file", 1, "the file is empty".into()));
    }
    if bytes.starts_with(b"ply\n") || bytes.starts_with(b"ply\r") {
        return ply::read_points(bytes).map(|(positions, radii)| ParticleSet {
            positions,
            radii,
            cell: None,
        });
    }
    match extension {
        Some("xyz" | "extxyz") => xyz::read(bytes),
        Some("pdb" | "ent") => pdb::read(bytes),
        Some("csv" | "tsv" | "txt" | "dat") => csv::read(bytes),
        _ if Lines::new(bytes).any(|(_, line)| pdb::is_pdb(line)) => pdb::read(bytes),
        _ if xyz::is_xyz(bytes) => xyz::read(bytes),
        _ => csv::read(bytes),
    }
}

/// The lines of a text, with their numbers from 1. They end with `\n`, `\r\n` or `\r`.
struct Lines<'a> {
    rest: Option<&'a [u8]>,
    number: usize,
}

impl<'a> Lines<'a> {
    fn new(bytes: &'a [u8]) -> Lines<'a> {
        Lines { rest: Some(bytes), number: 0 }
    }

    fn error(format: &'static str, line: usize, reason: String) -> Error {
        Error::Format { format, place: format!("line {line}"), reason }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<(usize, &'a [u8])> {
        let rest = self.rest?;
        let end = rest.iter().position(|&b| b == b'\n' || b == b'\r');
        let behind = |end: usize| if rest[end..].starts_with(b"\r\n") { end + 2 } else { end + 1 };
        // Nothing behind the last line break is no line.
        self.rest = end.map(|end| &rest[behind(end)..]).filter(|rest| !rest.is_empty());
        self.number += 1;
        Some((self.number, &rest[..end.unwrap_or(rest.len())]))
    }
}

/// A coordinate of a line, or why there is none.
fn coordinate(word: &[u8], axis: &str) -> Result<f64, String> {
    decimal::parse(word.trim_ascii())
        .ok_or_else(|| format!("{axis} should be a number, not {}", quote(word.trim_ascii())))
}

/// Refuses what is no radius.
pub(super) fn refused_radius(radius: f64) -> Option<String> {
    let fine = (0.0..=LARGEST_COORDINATE).contains(&radius);
    (!fine).then(|| format!("a radius is {radius:?}; 0 or more and finite is accepted"))
}

#[cfg(test)]
mod tests;
