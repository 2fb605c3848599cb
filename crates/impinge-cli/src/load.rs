//! Mesh files, with the file's name in every error.

use std::path::Path;

use impinge::{Error, Mesh, Shape};

use crate::error::Failure;

/// Reads a mesh as a shape.
pub fn shape(path: &Path) -> Result<Shape, Failure> {
    is_file(path)?;
    impinge::io::load(path).map_err(|e| named(&e, path))
}

/// Reads a mesh.
pub fn mesh(path: &Path) -> Result<Mesh, Failure> {
    is_file(path)?;
    impinge::io::load_mesh(path).map_err(|e| named(&e, path))
}

/// Refuses `-`: without a name the format of a mesh is unknown.
fn is_file(path: &Path) -> Result<(), Failure> {
    if path == Path::new("-") {
        return Err(Failure::new(
            "-: meshes are not read from standard input; name a file (./- for one of that name)",
        ));
    }
    Ok(())
}

fn named(e: &Error, path: &Path) -> Failure {
    let (message, name) = (e.to_string(), path.display().to_string());
    if message.contains(&name) { Failure(message) } else { Failure(message).at(&name) }
}
