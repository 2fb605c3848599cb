//! Words and numbers of a text file, straight from its bytes.
//!
//! One pass, nothing copied: a [`Text`] hands out the words of the current line and counts lines for
//! the error messages. Lines end with `\n`, `\r\n` or `\r`.

use super::decimal;
use crate::Error;
use crate::num::tolerance::LARGEST_COORDINATE;

/// How a format treats `#` and a backslash before the line's end.
#[derive(Clone, Copy)]
pub(super) struct Dialect {
    /// The format's name in messages.
    pub format: &'static str,
    /// `#` starts a comment that ends with the line.
    pub comments: bool,
    /// A backslash before the end of the line joins it with the next one.
    pub joins: bool,
}

/// A position in a text file.
pub(super) struct Text<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    dialect: Dialect,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Blank,
    Newline,
    Hash,
    Backslash,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Word; 256];
    classes[b' ' as usize] = Class::Blank;
    classes[b'\t' as usize] = Class::Blank;
    classes[0x0b] = Class::Blank;
    classes[0x0c] = Class::Blank;
    classes[b'\n' as usize] = Class::Newline;
    classes[b'\r' as usize] = Class::Newline;
    classes[b'#' as usize] = Class::Hash;
    classes[b'\\' as usize] = Class::Backslash;
    classes
};

impl<'a> Text<'a> {
    /// At the first line, behind a byte order mark if there is one.
    pub fn new(bytes: &'a [u8], dialect: Dialect) -> Text<'a> {
        let at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Text { bytes, at, line: 1, dialect }
    }

    /// At `at`, which lies on line `line`.
    pub fn resume(bytes: &'a [u8], at: usize, line: usize, dialect: Dialect) -> Text<'a> {
        Text { bytes, at, line, dialect }
    }

    /// The next word of this line; at the line's end `None`, as often as asked.
    #[inline]
    pub fn word(&mut self) -> Option<&'a [u8]> {
        loop {
            match self.class_here()? {
                Class::Blank => self.at += 1,
                Class::Newline => return None,
                Class::Hash if self.dialect.comments => return None,
                Class::Backslash if self.at_join() => {
                    self.at += 1;
                    self.pass_newline();
                }
                _ => break,
            }
        }
        let start = self.at;
        loop {
            let rest = &self.bytes[self.at + 1..];
            let plain = rest.iter().position(|&b| CLASSES[b as usize] != Class::Word);
            self.at += 1 + plain.unwrap_or(rest.len());
            match self.class_here() {
                Some(Class::Hash) if !self.dialect.comments => {}
                Some(Class::Backslash) if !self.at_join() => {}
                _ => return Some(&self.bytes[start..self.at]),
            }
        }
    }

    /// The next word on this line or a later one; `None` at the end of the file.
    #[inline]
    pub fn word_ahead(&mut self) -> Option<&'a [u8]> {
        loop {
            if let Some(word) = self.word() {
                return Some(word);
            }
            if !self.next_line() {
                return None;
            }
        }
    }

    /// Leaves the rest of this line, and of those joined to it, unread; false at the end of the file.
    #[inline]
    pub fn next_line(&mut self) -> bool {
        let mut in_comment = false;
        while let Some(class) = self.class_here() {
            match class {
                Class::Newline => return self.pass_newline(),
                Class::Hash if self.dialect.comments => in_comment = true,
                Class::Backslash if !in_comment && self.at_join() => {
                    self.at += 1;
                    self.pass_newline();
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        false
    }

    /// The next word as a number.
    #[inline]
    pub fn number(&mut self, what: &str) -> Result<f64, Error> {
        match self.word() {
            Some(word) => self.parse_number(word, what),
            None => Err(self.error(format!("{what} is missing"))),
        }
    }

    /// The number in `word`, rounded to the nearest double.
    #[inline]
    pub fn parse_number(&self, word: &[u8], what: &str) -> Result<f64, Error> {
        decimal::parse(word)
            .ok_or_else(|| self.error(format!("{what} should be a number, not {}", quote(word))))
    }

    /// Three coordinates on this line.
    #[inline]
    pub fn point(&mut self) -> Result<[f64; 3], Error> {
        let mut point = [0.0; 3];
        for (value, axis) in point.iter_mut().zip(["x", "y", "z"]) {
            *value = self.number(axis)?;
        }
        self.check_point(point)
    }

    /// Passes coordinates that a mesh accepts.
    #[inline]
    pub fn check_point(&self, point: [f64; 3]) -> Result<[f64; 3], Error> {
        match refused_coordinate(point) {
            Some(reason) => Err(self.error(reason)),
            None => Ok(point),
        }
    }

    /// The whole number in `word`.
    #[inline]
    pub fn parse_integer(&self, word: &[u8], what: &str) -> Result<i64, Error> {
        integer(word)
            .ok_or_else(|| self.error(format!("{what} should be a whole number, not {}", quote(word))))
    }

    /// Bytes from here to the end of the file.
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The current line, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Where in the bytes the next word is looked for.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// An error on the current line.
    pub fn error(&self, reason: impl Into<String>) -> Error {
        self.error_at(self.line, reason)
    }

    /// An error on a line passed before.
    pub fn error_at(&self, line: usize, reason: impl Into<String>) -> Error {
        Error::Format { format: self.dialect.format, place: format!("line {line}"), reason: reason.into() }
    }

    #[inline]
    fn class_here(&self) -> Option<Class> {
        self.bytes.get(self.at).map(|&b| CLASSES[b as usize])
    }

    fn at_join(&self) -> bool {
        self.dialect.joins && matches!(self.bytes.get(self.at + 1), Some(b'\n' | b'\r'))
    }

    #[inline]
    fn pass_newline(&mut self) -> bool {
        let width = match self.bytes.get(self.at..) {
            Some([b'\r', b'\n', ..]) => 2,
            Some([b'\r' | b'\n', ..]) => 1,
            _ => return false,
        };
        self.at += width;
        self.line += 1;
        true
    }
}

/// Why these coordinates cannot be a vertex, if they cannot.
#[inline]
pub(super) fn refused_coordinate(point: [f64; 3]) -> Option<String> {
    // The comparison is false for NaN.
    let value = point.into_iter().find(|x| !(x.abs() <= LARGEST_COORDINATE))?;
    Some(format!("a coordinate is {value:?}; finite numbers up to 1e60 are accepted"))
}

/// The whole number in `word`, with an optional sign.
#[inline]
pub(super) fn integer(word: &[u8]) -> Option<i64> {
    let (negative, digits) = match word {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, word),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0i64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value.checked_mul(10)?.checked_add((digit - b'0').into())?;
    }
    Some(if negative { -value } else { value })
}

/// A word for a message: printable and short.
pub(super) fn quote(word: &[u8]) -> String {
    const SHOWN: usize = 40;
    let shown = String::from_utf8_lossy(&word[..word.len().min(SHOWN)]);
    let dots = if word.len() > SHOWN { "…" } else { "" };
    format!("`{}{dots}`", shown.escape_debug())
}
