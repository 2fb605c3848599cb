//! The cases that lie beside the checkout; also used by the tests of the program.

use std::io::Write;
use std::path::PathBuf;

/// A folder or file of the shared data, which lies beside the checkout and never inside it; without
/// it a line says which test is left out.
pub fn shared(part: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = folder.join(part);
    if path.exists() {
        return Some(path);
    }
    let test = std::thread::current().name().unwrap_or_default().to_string();
    let missing = if folder.exists() { format!("../shared/{part}") } else { "../shared".into() };
    let line = format!("SKIP {}::{test}: {missing} is not here\n", env!("CARGO_CRATE_NAME"));
    // Written to the handle, not by `eprintln!`: the test harness would hide that for a test that passes.
    std::io::stderr().write_all(line.as_bytes()).unwrap();
    None
}
