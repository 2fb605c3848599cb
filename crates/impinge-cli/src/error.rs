//! What ends a command early: a message that names the culprit.

use std::fmt;

/// Why a command or a line was refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure(pub String);

impl Failure {
    /// A failure with this message.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure(message.into())
    }

    /// The same failure, with the place it happened in front.
    pub fn at(self, place: &str) -> Failure {
        Failure(format!("{place}: {}", self.0))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<impinge::Error> for Failure {
    fn from(e: impinge::Error) -> Failure {
        Failure(e.to_string())
    }
}

impl std::error::Error for Failure {}
