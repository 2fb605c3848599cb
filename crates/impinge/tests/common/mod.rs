//! What several test files need.

use std::path::PathBuf;

/// A folder or file of the shared data, which lies beside the checkout and never inside it; without
/// it a loud line says which test is left out.
pub fn shared(part: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(part);
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIP: {} is missing, so this test shows nothing", path.display());
    None
}
