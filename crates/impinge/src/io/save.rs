//! Saving a mesh: the whole file or nothing.

use std::io::{self, Write};
use std::path::Path;

use super::Format;
use super::output_file::OutputFile;
use super::write::{Encoding, write, write_obj};
use crate::shape::procedural;
use crate::{Error, Mesh};

/// Saves a mesh as OBJ, STL or PLY by the path's extension, with every double kept.
///
/// STL is binary where its f32 hold the coordinates exactly, else text; PLY is binary.
///
/// # Errors
/// Another extension, or what the system says about the file.
pub fn save(path: impl AsRef<Path>, mesh: &Mesh) -> Result<(), Error> {
    let path = path.as_ref();
    let format = path.extension().and_then(|e| e.to_str()).and_then(Format::from_extension);
    match format.and_then(|format| Encoding::lossless(format, mesh)) {
        Some(encoding) => save_as(path, mesh, encoding),
        None => Err(refuse(path, "the extension should be .obj, .stl or .ply")),
    }
}

/// Saves meshes as objects `part0`, `part1` and so on of an OBJ, which [`load_parts`](super::load_parts) reads as parts;
/// in other formats, which have no parts, as one mesh.
///
/// # Errors
/// As [`save`], or more vertices than a mesh can hold.
pub fn save_parts(path: impl AsRef<Path>, parts: &[&Mesh]) -> Result<(), Error> {
    let path = path.as_ref();
    if Format::from_path(path) != Some(Format::Obj) {
        return save(path, &procedural::join(parts.iter().copied())?);
    }
    let (mut out, mut before) = (Vec::new(), 0);
    for (number, mesh) in parts.iter().enumerate() {
        let written = writeln!(out, "o part{number}").and_then(|()| write_obj(mesh, before, &mut out));
        written.map_err(|error| refuse(path, error.to_string()))?;
        before += mesh.vertices().len() as u64;
    }
    replace(path, &out).map_err(|error| refuse(path, error.to_string()))
}

/// Saves a mesh in a given encoding, whatever the path's extension.
///
/// # Errors
/// As [`write()`], or what the system says about the file.
pub fn save_as(path: impl AsRef<Path>, mesh: &Mesh, encoding: Encoding) -> Result<(), Error> {
    let path = path.as_ref();
    let bytes = write(mesh, encoding).map_err(|error| refuse(path, error.to_string()))?;
    replace(path, &bytes).map_err(|error| refuse(path, error.to_string()))
}

pub(super) fn refuse(path: &Path, reason: impl Into<String>) -> Error {
    Error::File { path: path.display().to_string(), reason: reason.into() }
}

pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(bytes)?;
    file.finish()
}
