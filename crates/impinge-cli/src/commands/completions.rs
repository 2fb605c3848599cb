//! `impinge completions`: scripts for shells.

use crate::args::{Completions, command};
use crate::error::Failure;
use crate::exit::Exit;
use crate::output;

/// Prints the script.
pub fn run(args: &Completions) -> Result<Exit, Failure> {
    // The generator panics where it cannot write, so it writes to memory first.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "impinge", &mut script);
    output::print(|out| out.write_all(&script))?;
    Ok(Exit::Free)
}
