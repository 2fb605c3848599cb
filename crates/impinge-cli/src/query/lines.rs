//! Lines of bounded length from any reader.

use std::io::{self, BufRead};

/// Longest line that is read, in bytes; a stream without line ends must not fill the memory.
pub const LONGEST: usize = 1 << 30;

/// What one step of reading found.
#[derive(Debug, PartialEq, Eq)]
pub enum Read {
    /// A line, without its end, in the buffer.
    Line,
    /// A line longer than the limit; it was skipped.
    TooLong,
    /// Nothing more.
    End,
}

/// Reads the next line into `line` (cleared first); returns also the bytes taken from the reader.
pub fn next(reader: &mut impl BufRead, line: &mut Vec<u8>, longest: usize) -> io::Result<(Read, u64)> {
    line.clear();
    let (mut taken, mut too_long) = (0, false);
    loop {
        let found = match reader.fill_buf() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if found.is_empty() {
            let end = if taken == 0 { Read::End } else { kind(too_long) };
            return Ok((end, taken));
        }
        let stop = found.iter().position(|&b| b == b'\n');
        let piece = &found[..stop.unwrap_or(found.len())];
        too_long |= line.len() + piece.len() > longest;
        if too_long {
            *line = Vec::new();
        } else {
            line.extend_from_slice(piece);
        }
        let used = piece.len() + usize::from(stop.is_some());
        reader.consume(used);
        taken += used as u64;
        if stop.is_some() {
            return Ok((kind(too_long), taken));
        }
    }
}

fn kind(too_long: bool) -> Read {
    if too_long { Read::TooLong } else { Read::Line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_found_whatever_the_buffer() {
        for capacity in [1, 2, 3, 64] {
            let mut reader = io::BufReader::with_capacity(capacity, &b"ab\n\ncdefg\nxy"[..]);
            let mut line = Vec::new();
            let mut found = Vec::new();
            loop {
                match next(&mut reader, &mut line, 4).unwrap().0 {
                    Read::End => break,
                    Read::TooLong => found.push("-".to_string()),
                    Read::Line => found.push(String::from_utf8(line.clone()).unwrap()),
                }
            }
            assert_eq!(found, ["ab", "", "-", "xy"]);
        }
    }
}
