//! The Protein Data Bank's format: `ATOM` and `HETATM` records by their columns, and the cell of `CRYST1`; the other
//! records say nothing about places. Serial numbers with more than five digits take a blank before their columns, or move
//! what stands behind them; decimal points tell by how much.

use super::{Lines, ParticleCell, ParticleSet, coordinate};
use crate::Error;
use crate::io::text::refused_coordinate;

const PDB: &str = "PDB";

/// Whether a line of some file looks like the record of an atom.
pub(super) fn is_pdb(line: &[u8]) -> bool {
    line.starts_with(b"ATOM  ") || line.starts_with(b"HETATM")
}

/// Whether a line of this format is the record of an atom: no other begins like that.
fn is_atom(line: &[u8]) -> bool {
    begins(line, b"ATOM") || begins(line, b"HETATM")
}

fn begins(line: &[u8], name: &[u8]) -> bool {
    line.get(..name.len()).is_some_and(|word| word.eq_ignore_ascii_case(name))
}

/// By how many columns a long serial number has moved the place of an atom.
fn moved(line: &[u8]) -> Result<usize, String> {
    // A blank in other lines.
    if !line.get(11).is_some_and(u8::is_ascii_digit) {
        return Ok(0);
    }
    let has_points = |by: &usize| [34, 42, 50].iter().all(|at| line.get(at + by) == Some(&b'.'));
    (0..=4).find(has_points).ok_or_else(|| {
        "behind a serial number of more than five digits x, y and z do not stand in columns of eight".into()
    })
}

/// Reads the atoms of one model.
pub(super) fn read(bytes: &[u8]) -> Result<ParticleSet, Error> {
    let failed = |line: usize, reason: String| Lines::error(PDB, line, reason);
    let mut set = ParticleSet::default();
    let (mut lines, mut models, mut has_ended) = (0, 0, false);
    for (number, line) in Lines::new(bytes) {
        lines = number;
        if begins(line, b"CRYST1") {
            set.cell = cell(line).map_err(|reason| failed(number, reason))?;
        }
        models += u32::from(begins(line, b"MODEL "));
        if models > 1 || has_ended && is_atom(line) {
            return Err(failed(number, "more than one model or frame; give each its own file".into()));
        }
        has_ended |= matches!(&*line.trim_ascii_end().to_ascii_uppercase(), b"END" | b"ENDMDL");
        if !is_atom(line) {
            continue;
        }
        let moved = moved(line).map_err(|reason| failed(number, reason))?;
        let mut position = [0.0; 3];
        for ((value, first), axis) in
            position.iter_mut().zip([30, 38, 46].map(|first| first + moved)).zip(["x", "y", "z"])
        {
            *value = number_at(line, first..first + 8, axis).map_err(|reason| failed(number, reason))?;
        }
        refused_coordinate(position).map_or(Ok(()), |reason| Err(failed(number, reason)))?;
        set.positions.push(position);
    }
    if set.positions.is_empty() {
        return Err(failed(lines, "the file ends without an ATOM or HETATM record".into()));
    }
    Ok(set)
}

fn number_at(line: &[u8], columns: std::ops::Range<usize>, what: &str) -> Result<f64, String> {
    let word = line.get(columns).ok_or_else(|| format!("{what} is missing: the line is too short"))?;
    coordinate(word, what)
}

/// The cell of lengths a, b, c and angles α, β, γ, with a along x and b in the plane of x and y; none for the unit cube
/// or the lengths of 0 that stand where there is no crystal.
fn cell(line: &[u8]) -> Result<Option<ParticleCell>, String> {
    let length = |k: usize, name: &str| number_at(line, 6 + 9 * k..15 + 9 * k, name);
    let angle = |k: usize, name: &str| number_at(line, 33 + 7 * k..40 + 7 * k, name);
    let [a, b, c] = [length(0, "a")?, length(1, "b")?, length(2, "c")?];
    let angles = [angle(0, "alpha")?, angle(1, "beta")?, angle(2, "gamma")?];
    if [[0.0; 3], [1.0; 3]].contains(&[a, b, c]) {
        return Ok(None);
    }
    // Right angles exactly.
    let cosine = |angle: f64| if angle == 90.0 { 0.0 } else { angle.to_radians().cos() };
    let [alpha, beta, gamma] = angles.map(cosine);
    let sine = (1.0 - gamma * gamma).sqrt();
    let [x, y] = [beta, (alpha - beta * gamma) / sine];
    let z = (1.0 - x * x - y * y).sqrt();
    if !(a > 0.0 && b > 0.0 && c > 0.0 && sine > 0.0 && z > 0.0) {
        return Err(format!("no cell has the lengths {a}, {b}, {c} and the angles {angles:?}"));
    }
    let vectors = [[a, 0.0, 0.0], [b * gamma, b * sine, 0.0], [c * x, c * y, c * z]];
    Ok(Some(ParticleCell { vectors, periodic: [true; 3] }))
}
