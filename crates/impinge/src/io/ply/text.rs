//! The body of a text PLY: one row per line. A row may go on in the next line, but a line holds no
//! more than a row, so a missing or extra number is noticed where it is.

use super::Values;
use super::header::{DIALECT, Header, ScalarType};
use crate::Error;
use crate::io::text::{Text, quote};

pub(super) struct Rows<'a> {
    text: Text<'a>,
}

impl<'a> Rows<'a> {
    pub fn new(bytes: &'a [u8], header: &Header) -> Rows<'a> {
        let (at, line) = header.body;
        Rows { text: Text::resume(bytes, at, line, DIALECT) }
    }

    fn word(&mut self) -> Result<&'a [u8], Error> {
        // Behind the last line break is no line.
        let last = self.text.line();
        self.text.word_ahead().ok_or_else(|| self.text.error_at(last, "the file ends here"))
    }
}

impl Values for Rows<'_> {
    #[inline]
    fn number(&mut self, _: ScalarType) -> Result<f64, Error> {
        let word = self.word()?;
        self.text.parse_number(word, "a coordinate")
    }

    #[inline]
    fn integer(&mut self, _: ScalarType) -> Result<i64, Error> {
        let word = self.word()?;
        self.text.parse_integer(word, "an index")
    }

    fn skip(&mut self, _: ScalarType, count: usize) -> Result<(), Error> {
        for _ in 0..count {
            self.word()?;
        }
        Ok(())
    }

    fn length(&mut self, _: ScalarType, _: ScalarType) -> Result<usize, Error> {
        let word = self.word()?;
        let length = self.text.parse_integer(word, "the length of a list")?;
        usize::try_from(length).map_err(|_| self.text.error(format!("a list of {length} numbers")))
    }

    fn end_row(&mut self) -> Result<(), Error> {
        match self.text.word() {
            Some(word) => {
                Err(self.text.error(format!("{} is more than the header allows on a line", quote(word))))
            }
            None => Ok(()),
        }
    }

    fn error(&self, reason: String) -> Error {
        self.text.error(reason)
    }
}
