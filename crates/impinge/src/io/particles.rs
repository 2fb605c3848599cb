//! Particle files: CSV, XYZ, PDB and the vertices of PLY.
//!
//! The content tells PLY; the extension tells XYZ and PDB, and where it says nothing, the records of a PDB or the count
//! that an XYZ file begins with. Everything else is CSV: numbers between commas, semicolons, tabs or blanks, with or
//! without a header that names the columns x, y, z and r (or radius). A set without z lies in the plane z = 0.

use std::path::Path;

use super::text::{quote, refused_coordinate};
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
        return ply::read_points(bytes).map(|(positions, radii)| ParticleSet { positions, radii });
    }
    match extension {
        Some("xyz") => read_xyz(bytes),
        Some("pdb" | "ent") => read_pdb(bytes),
        Some("csv" | "tsv" | "txt" | "dat") => read_csv(bytes),
        _ if Lines::new(bytes).any(|(_, line)| is_atom(line)) => read_pdb(bytes),
        _ if is_xyz(bytes) => read_xyz(bytes),
        _ => read_csv(bytes),
    }
}

/// The lines of a text, with their numbers from 1.
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
        let end = rest.iter().position(|&b| b == b'\n');
        // Nothing behind the last line break is no line.
        self.rest = end.map(|end| &rest[end + 1..]).filter(|rest| !rest.is_empty());
        self.number += 1;
        let line = &rest[..end.unwrap_or(rest.len())];
        Some((self.number, line.strip_suffix(b"\r").unwrap_or(line)))
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

/// Which fields of a row are x, y, z and the radius.
#[derive(Debug, Clone, Copy)]
struct Columns {
    axes: [Option<usize>; 3],
    radius: Option<usize>,
    fields: usize,
}

const CSV: &str = "CSV";

fn read_csv(bytes: &[u8]) -> Result<ParticleSet, Error> {
    let mut set = ParticleSet::default();
    let mut columns = None;
    let mut fields = Vec::new();
    for (number, line) in Lines::new(bytes) {
        if line.trim_ascii().is_empty() || line.starts_with(b"#") {
            continue;
        }
        split_fields(line, &mut fields);
        let failed = |reason: String| Lines::error(CSV, number, reason);
        let Some(known) = columns else {
            let is_header = fields.iter().any(|field| decimal::parse(field).is_none());
            let first = if is_header { named_columns(&fields) } else { plain_columns(fields.len()) };
            let first = first.map_err(failed)?;
            columns = Some(first);
            if !is_header {
                read_row(&fields, first, &mut set).map_err(failed)?;
            }
            continue;
        };
        read_row(&fields, known, &mut set).map_err(failed)?;
    }
    Ok(set)
}

/// Fields between commas, semicolons or tabs, else between blanks; quotes around a field are taken off.
fn split_fields<'a>(line: &'a [u8], fields: &mut Vec<&'a [u8]>) {
    fields.clear();
    let separator = [b',', b';', b'\t'].into_iter().find(|s| line.contains(s));
    match separator {
        Some(separator) => fields.extend(line.split(|&b| b == separator).map(unquoted)),
        None => fields.extend(line.split(u8::is_ascii_whitespace).filter(|f| !f.is_empty()).map(unquoted)),
    }
}

fn unquoted(field: &[u8]) -> &[u8] {
    let field = field.trim_ascii();
    field.strip_prefix(b"\"").and_then(|f| f.strip_suffix(b"\"")).unwrap_or(field)
}

fn named_columns(fields: &[&[u8]]) -> Result<Columns, String> {
    let place = |names: &[&str]| {
        let is_named = |field: &&[u8]| names.iter().any(|name| field.eq_ignore_ascii_case(name.as_bytes()));
        fields.iter().position(is_named)
    };
    let axes = [place(&["x"]), place(&["y"]), place(&["z"])];
    if axes[0].is_none() || axes[1].is_none() {
        let seen = fields.first().copied().unwrap_or_default();
        return Err(format!("neither numbers nor a header with x and y: it begins with {}", quote(seen)));
    }
    Ok(Columns { axes, radius: place(&["r", "radius"]), fields: fields.len() })
}

fn plain_columns(fields: usize) -> Result<Columns, String> {
    match fields {
        2..=4 => Ok(Columns {
            axes: [Some(0), Some(1), (fields > 2).then_some(2)],
            radius: (fields > 3).then_some(3),
            fields,
        }),
        _ => Err(format!("{fields} numbers without a header; x, y, z and a radius are at most four")),
    }
}

fn read_row(fields: &[&[u8]], columns: Columns, set: &mut ParticleSet) -> Result<(), String> {
    if fields.len() != columns.fields {
        return Err(format!("{} fields where the first row has {}", fields.len(), columns.fields));
    }
    let mut position = [0.0; 3];
    for ((value, column), axis) in position.iter_mut().zip(columns.axes).zip(["x", "y", "z"]) {
        if let Some(column) = column {
            *value = coordinate(fields[column], axis)?;
        }
    }
    refused_coordinate(position).map_or(Ok(()), Err)?;
    set.positions.push(position);
    if let Some(column) = columns.radius {
        let radius = coordinate(fields[column], "the radius")?;
        refused_radius(radius).map_or(Ok(()), Err)?;
        set.radii.push(radius);
    }
    Ok(())
}

const XYZ: &str = "XYZ";

/// Whether the first line is a count and the third begins with a name.
fn is_xyz(bytes: &[u8]) -> bool {
    let mut lines = Lines::new(bytes).map(|(_, line)| line.trim_ascii());
    let count = lines.next().is_some_and(|line| !line.is_empty() && line.iter().all(u8::is_ascii_digit));
    count && lines.nth(1).is_some_and(|line| line.first().is_some_and(u8::is_ascii_alphabetic))
}

fn read_xyz(bytes: &[u8]) -> Result<ParticleSet, Error> {
    let failed = |line: usize, reason: String| Lines::error(XYZ, line, reason);
    let mut lines = Lines::new(bytes);
    let first = lines.next().map_or(&b""[..], |(_, line)| line.trim_ascii());
    let count = std::str::from_utf8(first).ok().and_then(|text| text.parse::<usize>().ok());
    let count = count.ok_or_else(|| {
        failed(1, format!("the number of particles should stand here, not {}", quote(first)))
    })?;
    lines.next();
    let mut set = ParticleSet::default();
    // A line takes six bytes at least, so a wrong count asks for no more memory than the file has.
    set.positions.reserve(count.min(bytes.len() / 6));
    for (number, line) in lines.by_ref().take(count) {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let name = words.next().unwrap_or_default();
        // The name of the element may be missing where three numbers stand alone.
        let bare = decimal::parse(name).is_some() && words.clone().count() == 2;
        let mut next = if bare { Some(name) } else { words.next() };
        let mut position = [0.0; 3];
        for (value, axis) in position.iter_mut().zip(["x", "y", "z"]) {
            let word = next.ok_or_else(|| failed(number, format!("{axis} is missing")))?;
            *value = coordinate(word, axis).map_err(|reason| failed(number, reason))?;
            next = words.next();
        }
        refused_coordinate(position).map_or(Ok(()), |reason| Err(failed(number, reason)))?;
        set.positions.push(position);
    }
    if set.positions.len() < count {
        let line = lines.number;
        return Err(failed(
            line,
            format!("the file ends after {} of {count} particles", set.positions.len()),
        ));
    }
    match lines.find(|(_, line)| !line.trim_ascii().is_empty()) {
        Some((number, _)) => Err(failed(number, "more than one frame; give each its own file".into())),
        None => Ok(set),
    }
}

const PDB: &str = "PDB";

fn is_atom(line: &[u8]) -> bool {
    line.starts_with(b"ATOM  ") || line.starts_with(b"HETATM")
}

/// `ATOM` and `HETATM` records by their columns; the others say nothing about places.
fn read_pdb(bytes: &[u8]) -> Result<ParticleSet, Error> {
    let failed = |line: usize, reason: String| Lines::error(PDB, line, reason);
    let mut set = ParticleSet::default();
    let mut models = 0;
    for (number, line) in Lines::new(bytes) {
        if line.starts_with(b"MODEL ") {
            models += 1;
            if models > 1 {
                return Err(failed(number, "more than one model; give each its own file".into()));
            }
        }
        if !is_atom(line) {
            continue;
        }
        let mut position = [0.0; 3];
        for ((value, first), axis) in position.iter_mut().zip([30, 38, 46]).zip(["x", "y", "z"]) {
            let word = line.get(first..first + 8);
            let word =
                word.ok_or_else(|| failed(number, format!("{axis} is missing: the line is too short")))?;
            *value = coordinate(word, axis).map_err(|reason| failed(number, reason))?;
        }
        refused_coordinate(position).map_or(Ok(()), |reason| Err(failed(number, reason)))?;
        set.positions.push(position);
    }
    Ok(set)
}

#[cfg(test)]
#[path = "particles_tests.rs"]
mod tests;
