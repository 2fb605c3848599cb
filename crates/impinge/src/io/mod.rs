//! Mesh files: readers for six formats, writers for three.
//!
//! Nothing is dropped, merged or reordered: triangle indices count the file's triangles in order,
//! vertex indices the file's vertices. What a file cannot hold is refused before memory is asked for
//! it, and every message names the line, the element or the byte.
//!
//! The content tells the format; the extension counts only where the content leaves it open. Every
//! format may be packed with gzip.
//!
//! | format | read | passed over | refused |
//! |---|---|---|---|
//! | OBJ | `v`, `f` (polygons fanned from their first corner, indices from the end, from later vertices), joined lines | weights and colours of vertices, texture and normal references, groups, materials, points `p`, lines `l`, free-form curves and surfaces | faces of fewer than 3 corners, index 0, `call` |
//! | STL | text (several solids) and binary; equal corners share a vertex | normals, names, attributes, bytes behind the last triangle | facets that are no triangles, a missing `endsolid`, fewer bytes than the count asks for |
//! | PLY | text and both byte orders; `vertex`, `face`, `tristrips` | other properties and elements, what follows the last element | faces of fewer than 3 corners, indices of a float type, more numbers on a line than the header says |
//! | OFF | text and binary, `[ST][C][N][n]OFF` or no keyword | colours, normals, texture coordinates, what follows the last face | faces of fewer than 3 corners, four dimensions |
//! | glTF, GLB | triangles, strips and fans of the scene in node order, transforms applied; buffers in base64, in the GLB, in files beside it; quantized positions | points, lines, materials, skins, morph targets, animations | sparse accessors, required extensions that change geometry (Draco, meshopt, instancing), glTF 1 |
//! | MEDIT | text: `Vertices`, `Triangles`, `Quadrilaterals`; the boundary of `Tetrahedra` where there is no triangle | references, all other sections | binary, two dimensions |
//!
//! OBJ, STL and PLY are also written, with every double kept; see [`Encoding`].
//!
//! Particles come from CSV, XYZ and PDB files and from the vertices of PLY: [`load_particles`].
//!
//! In every format: coordinates that are NaN, infinite or beyond 1e60, indices out of range, and a
//! file without a triangle are refused.

mod assemble;
mod bytes;
mod decimal;
mod format;
mod gltf;
mod gzip;
mod medit;
mod obj;
mod off;
mod output_file;
mod particles;
mod parts;
mod ply;
mod save;
mod shells;
mod stl;
#[cfg(test)]
mod tests;
mod text;
mod write;

use std::borrow::Cow;
use std::fs::{File, FileType};
use std::io::Read;
use std::path::Path;

pub use format::Format;
pub use output_file::OutputFile;
pub use particles::{ParticleCell, ParticleSet, load_particles};
pub use parts::{load_parts, load_readable_parts};
pub use save::{save, save_as, save_parts};
pub use write::{Encoding, write};

use crate::shape::TetMesh;
use crate::{Error, Mesh, Shape};

/// Loads a mesh file as a shape; the content tells the format.
///
/// # Errors
/// As [`load_mesh`].
pub fn load(path: impl AsRef<Path>) -> Result<Shape, Error> {
    load_mesh(path).map(Shape::from)
}

/// Loads a file; the content tells the format, the extension only where the content leaves it open.
///
/// # Errors
/// A file that cannot be read, or what [`read`] refuses; the path is named.
pub fn load_mesh(path: impl AsRef<Path>) -> Result<Mesh, Error> {
    let path = path.as_ref();
    let folder = path.parent().unwrap_or(Path::new(""));
    read_any(&bytes_of(path)?, Format::from_path(path), &|name, length| fetch(&folder.join(name), length))
        .map_err(|error| name_file(path, error))
}

/// Loads the tetrahedra of a MEDIT file.
///
/// # Errors
/// A file that cannot be read, is not MEDIT, breaks its rules, or has no tetrahedra; the path is named.
pub fn load_tetmesh(path: impl AsRef<Path>) -> Result<TetMesh, Error> {
    let path = path.as_ref();
    read_tetmesh(&bytes_of(path)?).map_err(|error| name_file(path, error))
}

/// Reads the tetrahedra of a MEDIT file.
///
/// # Errors
/// As [`load_tetmesh`].
pub fn read_tetmesh(bytes: &[u8]) -> Result<TetMesh, Error> {
    medit::read_tetrahedra(&unpacked(bytes)?)
}

/// Reads a mesh from the bytes of a file; `hint` counts only where the content leaves the format open.
///
/// # Errors
/// An unknown format, text or bytes that break its rules (line, element or byte are named), no
/// triangles, an index out of range, or a coordinate that is not finite or beyond 1e60.
pub fn read(bytes: &[u8], hint: Option<Format>) -> Result<Mesh, Error> {
    read_any(bytes, hint, &no_files)
}

/// Reads a mesh in a known format, not packed.
///
/// # Errors
/// As [`read`].
pub fn read_as(bytes: &[u8], format: Format) -> Result<Mesh, Error> {
    dispatch(bytes, format, &no_files)
}

fn read_any(bytes: &[u8], hint: Option<Format>, fetch: gltf::Fetch<'_>) -> Result<Mesh, Error> {
    let bytes = if gzip::is_packed(bytes) { Cow::Owned(gzip::unpack(bytes)?) } else { Cow::Borrowed(bytes) };
    if bytes.is_empty() {
        return Err(unknown("the file is empty".into()));
    }
    match Format::from_content(&bytes).or(hint) {
        Some(format) => dispatch(&bytes, format, fetch),
        None => {
            let names = Format::ALL.map(Format::name).join(", ");
            Err(unknown(format!("neither content nor extension shows a known format ({names})")))
        }
    }
}

fn unpacked(bytes: &[u8]) -> Result<Cow<'_, [u8]>, Error> {
    Ok(if gzip::is_packed(bytes) { Cow::Owned(gzip::unpack(bytes)?) } else { Cow::Borrowed(bytes) })
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, Error> {
    let failed = |error: std::io::Error| name_file(path, error);
    // Asked before it is opened: a device may never end, or do something when it is opened.
    if !is_file_or_pipe(std::fs::metadata(path).map_err(failed)?.file_type()) {
        return Err(name_file(path, "neither a regular file nor a pipe"));
    }
    std::fs::read(path).map_err(failed)
}

#[cfg(unix)]
fn is_file_or_pipe(kind: FileType) -> bool {
    kind.is_file() || std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
fn is_file_or_pipe(kind: FileType) -> bool {
    kind.is_file()
}

fn name_file(path: &Path, error: impl ToString) -> Error {
    Error::File { path: path.display().to_string(), reason: error.to_string() }
}

fn unknown(reason: String) -> Error {
    Error::Format { format: "mesh file", place: "byte 0".into(), reason }
}

fn dispatch(bytes: &[u8], format: Format, fetch: gltf::Fetch<'_>) -> Result<Mesh, Error> {
    match format {
        Format::Obj => obj::read(bytes),
        Format::Stl => stl::read(bytes),
        Format::Ply => ply::read(bytes),
        Format::Off => off::read(bytes),
        Format::Gltf => gltf::read(bytes, fetch),
        Format::Medit => medit::read(bytes),
    }
}

/// At most `length` bytes of a file beside the document; devices and pipes are refused.
fn fetch(path: &Path, length: usize) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("not a regular file".into());
    }
    let mut content = Vec::new();
    file.take(length as u64).read_to_end(&mut content).map_err(|error| error.to_string())?;
    Ok(content)
}

fn no_files(_: &str, _: usize) -> Result<Vec<u8>, String> {
    Err("a file beside the document can be read only when the document is loaded by its path".into())
}
