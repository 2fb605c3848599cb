//! Ctrl-C during long work whose results so far are worth keeping: the first asks the work to end, the second ends
//! the program.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Failure;
use crate::exit::Exit;

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on the first Ctrl-C is only taken note of.
pub fn listen() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(Exit::Interrupted as i32);
        }
    })
    .map_err(|e| Failure(format!("Ctrl-C cannot be listened for: {e}")))
}

/// Whether the work is to end.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
