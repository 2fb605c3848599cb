//! A file that appears whole or not at all: written beside its place, renamed when it is complete.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Names tried for the new file before giving up.
const ATTEMPTS: u32 = 100;

/// Symbolic links followed one after the other before giving up: as many as Linux does.
const MOST_LINKS: u32 = 40;

/// A file that appears whole or not at all.
///
/// It is written under another name in the same folder and takes its own with [`OutputFile::finish`]; dropped before,
/// it leaves nothing behind. Where the path is a symbolic link its target is replaced, not the link. What is no
/// regular file, a pipe or a device, is written directly.
///
/// ```no_run
/// use std::io::Write;
///
/// let mut file = impinge::io::OutputFile::create("distances.csv")?;
/// writeln!(file, "a,b,distance")?;
/// file.finish()?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct OutputFile {
    out: BufWriter<File>,
    /// The name it is written under and the one it gets; `None` for what is written directly or is whole.
    unfinished: Option<[PathBuf; 2]>,
}

impl OutputFile {
    /// Begins a file that shall stand at `path`.
    ///
    /// # Errors
    /// What the system says about the folder, or that the path is one.
    pub fn create(path: impl AsRef<Path>) -> io::Result<OutputFile> {
        // By the path itself: a link such as /dev/stdout may lead to a pipe that has no name.
        match fs::metadata(path.as_ref()) {
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => {
                let out = BufWriter::new(OpenOptions::new().write(true).open(path.as_ref())?);
                return Ok(OutputFile { out, unfinished: None });
            }
            _ => {}
        }
        let place = without_links(path.as_ref())?;
        let (temporary, file) = create_beside(&place)?;
        Ok(OutputFile { out: BufWriter::new(file), unfinished: Some([temporary, place]) })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// What the system says; then nothing is left behind.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()?;
        if let Some([temporary, place]) = &self.unfinished {
            self.out.get_ref().sync_all()?;
            fs::rename(temporary, place)?;
            self.unfinished = None;
        }
        Ok(())
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some([temporary, _]) = &self.unfinished {
            // That it may be missing is fine.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Where a path leads through symbolic links; the last one may lead to nothing yet.
fn without_links(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        if !fs::symlink_metadata(&place).is_ok_and(|found| found.is_symlink()) {
            return Ok(place);
        }
        // A relative target is meant from the folder of its link.
        let target = fs::read_link(&place)?;
        place = place.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::other("too many symbolic links"))
}

/// A file that did not exist, in the folder of `path`, hidden from listings.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no file name"))?;
    let mut attempt = 0;
    loop {
        let mut temporary = OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}-{attempt}.part", std::process::id()));
        let temporary = path.with_file_name(temporary);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => attempt += 1,
            opened => return opened.map(|file| (temporary, file)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own for each test.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("impinge-output-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn write(path: &Path, text: &str) -> io::Result<()> {
        let mut file = OutputFile::create(path)?;
        file.write_all(text.as_bytes())?;
        file.finish()
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut all: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        all.sort();
        all
    }

    #[test]
    fn what_is_not_finished_leaves_the_old_file_and_nothing_else() {
        let folder = folder("unfinished");
        let path = folder.join("a.txt");
        write(&path, "old").unwrap();
        let mut file = OutputFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        write(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(names(&folder), ["a.txt"]);
        assert!(OutputFile::create(folder.join("missing/a.txt")).is_err());
        assert_eq!(OutputFile::create(&folder).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_and_their_targets_are_replaced() {
        use std::os::unix::fs::symlink;
        let folder = folder("links");
        fs::create_dir(folder.join("far")).unwrap();
        symlink("far/second", folder.join("first")).unwrap();
        symlink("target.txt", folder.join("far/second")).unwrap();
        for text in ["made", "replaced"] {
            write(&folder.join("first"), text).unwrap();
            assert_eq!(fs::read_to_string(folder.join("far/target.txt")).unwrap(), text);
            assert!(fs::symlink_metadata(folder.join("first")).unwrap().is_symlink());
            assert!(fs::symlink_metadata(folder.join("far/second")).unwrap().is_symlink());
            assert_eq!(names(&folder.join("far")), ["second", "target.txt"]);
        }
        symlink("round", folder.join("round")).unwrap();
        assert!(write(&folder.join("round"), "never").is_err());
        fs::remove_dir_all(&folder).unwrap();
    }
}
