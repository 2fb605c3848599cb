//! Exit codes, part of the contract.

use std::process::ExitCode;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Nothing met, or plain success.
    Free = 0,
    /// Something met.
    Contact = 1,
    /// A usage or input error.
    Refused = 2,
    /// The budget ended before the answer was certain.
    Undecided = 3,
    /// Ended by Ctrl-C, as shells expect it.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}
