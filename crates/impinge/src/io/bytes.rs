//! A position in a binary file; nothing is read past its end.

use crate::Error;

/// The unread rest of a binary file.
pub(super) struct Bytes<'a> {
    bytes: &'a [u8],
    at: usize,
    format: &'static str,
}

impl<'a> Bytes<'a> {
    /// At `at` in `bytes`.
    pub fn new(bytes: &'a [u8], at: usize, format: &'static str) -> Bytes<'a> {
        Bytes { bytes, at: at.min(bytes.len()), format }
    }

    /// The next `count` bytes; `what` they are for stands in the message when the file is too short.
    #[inline]
    pub fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8], Error> {
        if count > self.remaining() {
            let left = self.remaining();
            return Err(self.error(format!("{what}: {count} bytes are needed, {left} are left")));
        }
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    /// The next `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Error> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    /// Bytes from here to the end.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// An error at this position.
    pub fn error(&self, reason: impl Into<String>) -> Error {
        Error::Format { format: self.format, place: format!("byte {}", self.at), reason: reason.into() }
    }
}
