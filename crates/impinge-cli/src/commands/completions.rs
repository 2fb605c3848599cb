//! `impinge completions`: scripts for shells.

use clap::CommandFactory;

use crate::args::{Args, Completions};
use crate::error::Failure;
use crate::exit::Exit;
use crate::output;

/// Prints the script.
pub fn run(args: &Completions) -> Result<Exit, Failure> {
    // The generator panics where it cannot write, so it writes to memory first.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "impinge", &mut script);
    output::print(|out| out.write_all(&script))?;
    Ok(Exit::Free)
}
