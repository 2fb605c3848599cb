//! Mesh files.

mod assemble;
mod bytes;
mod format;
mod obj;
mod off;
mod ply;
mod stl;
mod text;

use std::path::Path;

pub use format::Format;

use crate::{Error, Mesh, Model};

/// Loads a file and builds its tree.
///
/// # Errors
/// As [`load_mesh`].
pub fn load(path: impl AsRef<Path>) -> Result<Model, Error> {
    load_mesh(path).map(Model::from)
}

/// Loads a file; the content tells the format, the extension only where the content leaves it open.
///
/// # Errors
/// A file that cannot be read, or what [`read`] refuses; the path is named.
pub fn load_mesh(path: impl AsRef<Path>) -> Result<Mesh, Error> {
    let path = path.as_ref();
    let name_path = |reason: String| Error::File { path: path.display().to_string(), reason };
    let bytes = std::fs::read(path).map_err(|error| name_path(error.to_string()))?;
    let hint = path.extension().and_then(|e| e.to_str()).and_then(Format::from_extension);
    read(&bytes, hint).map_err(|error| name_path(error.to_string()))
}

/// Reads a mesh from the bytes of a file; `hint` counts only where the content leaves the format open.
///
/// # Errors
/// An unknown format, text or bytes that break its rules (line, element or byte are named), no
/// triangles, an index out of range, or a coordinate that is not finite or beyond 1e60.
pub fn read(bytes: &[u8], hint: Option<Format>) -> Result<Mesh, Error> {
    match Format::from_content(bytes).or(hint) {
        Some(format) => read_as(bytes, format),
        None => Err(Error::Format {
            format: "mesh file",
            place: "byte 0".into(),
            reason: if bytes.is_empty() { "the file is empty".into() } else { unknown_format() },
        }),
    }
}

/// Reads a mesh in a known format.
///
/// # Errors
/// As [`read`].
pub fn read_as(bytes: &[u8], format: Format) -> Result<Mesh, Error> {
    match format {
        Format::Obj => obj::read(bytes),
        Format::Stl => stl::read(bytes),
        Format::Ply => ply::read(bytes),
        Format::Off => off::read(bytes),
    }
}

fn unknown_format() -> String {
    let names = Format::ALL.map(Format::name).join(", ");
    format!("neither the content nor the extension shows a known format ({names})")
}
