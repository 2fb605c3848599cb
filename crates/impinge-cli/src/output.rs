//! Where answers go: standard output that may be closed early, and files that appear whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use impinge::io::OutputFile;

use crate::error::Failure;

/// Writes to standard output; a reader that has gone away (`| head`) is no error.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    pardon_closed(write(&mut out).and_then(|()| out.flush()))
}

/// A number of things in words.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Turns a closed pipe into success, and anything else into a failure.
pub fn pardon_closed(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Failure(format!("standard output: {e}"))),
        _ => Ok(()),
    }
}

/// Refuses a place where [`file()`] could not write, before the work: a folder that is missing or locked, or the name of
/// one.
pub fn check(path: &Path) -> Result<(), Failure> {
    // To open a pipe is to begin to write.
    if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Ok(());
    }
    // What is not finished leaves nothing behind.
    PartialFile::create(path).map(drop)
}

/// Writes a file whole.
pub fn file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut part = PartialFile::create(path)?;
    part.write(|out| out.write_all(bytes))?;
    part.finish()
}

/// An [`OutputFile`] whose errors name it.
#[derive(Debug)]
pub struct PartialFile {
    path: PathBuf,
    out: OutputFile,
}

impl PartialFile {
    /// Begins a file that shall stand at `path`.
    pub fn create(path: &Path) -> Result<PartialFile, Failure> {
        let out = OutputFile::create(path).map_err(|e| failure(path, &e))?;
        Ok(PartialFile { path: path.into(), out })
    }

    /// Writes on.
    pub fn write(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        write(&mut self.out).map_err(|e| failure(&self.path, &e))
    }

    /// Puts the file in its place.
    pub fn finish(self) -> Result<(), Failure> {
        self.out.finish().map_err(|e| failure(&self.path, &e))
    }
}

fn failure(path: &Path, e: &io::Error) -> Failure {
    Failure(format!("{}: {e}", path.display()))
}
