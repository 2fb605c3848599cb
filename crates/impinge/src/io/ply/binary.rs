//! The body of a binary PLY in either byte order.

use super::header::{Header, ScalarType};
use super::{FORMAT, Values};
use crate::Error;
use crate::io::bytes::Bytes;

pub(super) struct Stream<'a, const BIG: bool> {
    data: Bytes<'a>,
}

impl<'a, const BIG: bool> Stream<'a, BIG> {
    pub fn new(bytes: &'a [u8], header: &Header) -> Stream<'a, BIG> {
        Stream { data: Bytes::new(bytes, header.body.0, FORMAT) }
    }

    /// The next `N` bytes, the least significant first.
    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut array = self.data.array("a number")?;
        if BIG {
            array.reverse();
        }
        Ok(array)
    }
}

impl<const BIG: bool> Values for Stream<'_, BIG> {
    #[inline]
    fn number(&mut self, kind: ScalarType) -> Result<f64, Error> {
        match kind {
            ScalarType::F32 => Ok(f32::from_le_bytes(self.array()?).into()),
            ScalarType::F64 => Ok(f64::from_le_bytes(self.array()?)),
            _ => Ok(self.integer(kind)? as f64),
        }
    }

    #[inline]
    fn integer(&mut self, kind: ScalarType) -> Result<i64, Error> {
        Ok(match kind {
            ScalarType::I8 => i8::from_le_bytes(self.array()?).into(),
            ScalarType::U8 => u8::from_le_bytes(self.array()?).into(),
            ScalarType::I16 => i16::from_le_bytes(self.array()?).into(),
            ScalarType::U16 => u16::from_le_bytes(self.array()?).into(),
            ScalarType::I32 => i32::from_le_bytes(self.array()?).into(),
            ScalarType::U32 => u32::from_le_bytes(self.array()?).into(),
            ScalarType::I64 => i64::from_le_bytes(self.array()?),
            ScalarType::U64 => i64::try_from(u64::from_le_bytes(self.array()?))
                .map_err(|_| self.data.error("a number beyond 64 signed bits"))?,
            // The header allows no fractions where a whole number is asked for.
            ScalarType::F32 | ScalarType::F64 => {
                return Err(self.data.error("a fraction instead of a whole number"));
            }
        })
    }

    #[inline]
    fn skip(&mut self, kind: ScalarType, count: usize) -> Result<(), Error> {
        self.data.take(kind.size().saturating_mul(count), "a row").map(drop)
    }

    #[inline]
    fn length(&mut self, count: ScalarType, item: ScalarType) -> Result<usize, Error> {
        let length = self.integer(count)?;
        match usize::try_from(length) {
            Ok(length) if length.saturating_mul(item.size()) <= self.data.remaining() => Ok(length),
            _ => {
                let left = self.data.remaining();
                Err(self.data.error(format!("a list of {length} numbers, but only {left} bytes follow")))
            }
        }
    }

    fn end_row(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn error(&self, reason: String) -> Error {
        self.data.error(reason)
    }
}
