//! Where answers go: standard output that may be closed early, and files that appear whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::error::Failure;

/// Writes to standard output; a reader that has gone away (`| head`) is no error.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    pardon_closed(write(&mut out).and_then(|()| out.flush()))
}

/// Turns a closed pipe into success, and anything else into a failure.
pub fn pardon_closed(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Failure(format!("standard output: {e}"))),
        _ => Ok(()),
    }
}

/// Writes a file beside its place under another name, then renames it.
pub fn file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |e: io::Error| Failure(format!("{}: {e}", path.display()));
    let name = path.file_name().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(hidden);
    let written = fs::write(&part, bytes).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // Nothing half written stays behind; that it may be missing is fine.
        let _ = fs::remove_file(&part);
    }
    written.map_err(failed)
}
