//! Where answers go: standard output that may be closed early, and files that appear whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

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

/// Writes a file whole.
pub fn file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut part = PartialFile::create(path)?;
    part.write(|out| out.write_all(bytes))?;
    part.finish()
}

/// A file that is written beside its place under another name, and renamed when it is whole.
#[derive(Debug)]
pub struct PartialFile {
    path: PathBuf,
    hidden: PathBuf,
    out: io::BufWriter<fs::File>,
    whole: bool,
}

impl PartialFile {
    /// Begins a file that shall stand at `path`.
    pub fn create(path: &Path) -> Result<PartialFile, Failure> {
        let failed = |e: io::Error| Failure(format!("{}: {e}", path.display()));
        let name = path.file_name().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.part", std::process::id()));
        let hidden = path.with_file_name(hidden);
        let out = io::BufWriter::new(fs::File::create(&hidden).map_err(failed)?);
        Ok(PartialFile { path: path.into(), hidden, out, whole: false })
    }

    /// Writes on.
    pub fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        write(&mut self.out).map_err(|e| self.failure(&e))
    }

    /// Puts the file in its place.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.out.flush().and_then(|()| fs::rename(&self.hidden, &self.path)).map_err(|e| self.failure(&e))?;
        self.whole = true;
        Ok(())
    }

    fn failure(&self, e: &io::Error) -> Failure {
        Failure(format!("{}: {e}", self.path.display()))
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if !self.whole {
            // Nothing half written stays behind; that it may be missing is fine.
            let _ = fs::remove_file(&self.hidden);
        }
    }
}
