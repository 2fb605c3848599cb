//! Saving: the whole file or nothing. The bytes go to a new file beside the target, which then takes
//! its name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Format;
use super::write::{Encoding, write};
use crate::{Error, Mesh};

/// Names tried for the new file before giving up.
const ATTEMPTS: u32 = 100;

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
    // A device or a pipe cannot be replaced, only written to.
    if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let (temporary, mut file) = create_beside(path)?;
    let done =
        file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&temporary, path));
    if done.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    done
}

/// A file that did not exist, in the folder of `path`.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no file name"))?;
    let mut attempt = 0;
    loop {
        let mut temporary = name.to_os_string();
        temporary.push(format!(".{}-{attempt}.tmp", std::process::id()));
        let temporary = path.with_file_name(temporary);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => attempt += 1,
            opened => return opened.map(|file| (temporary, file)),
        }
    }
}
