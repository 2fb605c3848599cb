//! Saving a mesh: the whole file or nothing.

use std::io::{self, Write};
use std::path::Path;

use super::Format;
use super::output_file::OutputFile;
use super::write::{Encoding, write};
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
