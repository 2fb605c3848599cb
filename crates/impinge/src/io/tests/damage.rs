//! Files cut short and files with wrong bytes: an answer or a message, never a panic.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::format::samples;
use super::*;
use crate::io::read;

/// Bytes that mean something to some format.
const SPICE: [&[u8]; 12] = [
    b"-1",
    b"0",
    b" ",
    b"\n",
    b"nan",
    b"1e999",
    b"\xff\xff\xff\xff",
    b"\0\0\0\0",
    b"4294967295",
    b"f",
    b"#",
    b"\\\n",
];

#[test]
fn every_prefix_is_read_or_refused() {
    for (format, bytes) in samples() {
        let whole = read_as(&bytes, format).unwrap();
        let mut refused = 0;
        for length in 0..bytes.len() {
            match read_as(&bytes[..length], format) {
                Ok(mesh) => assert!(mesh.triangles().len() <= whole.triangles().len()),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > bytes.len() / 3, "{format:?}: {refused} of {} prefixes", bytes.len());
    }
}

#[test]
fn wrong_bytes_are_read_or_refused() {
    let mut dice = Pcg64Mcg::seed_from_u64(7);
    for (format, bytes) in samples() {
        let mut read_well = 0;
        let rounds = 3000;
        for _ in 0..rounds {
            let mut damaged = bytes.clone();
            for _ in 0..dice.random_range(1..4) {
                let at = dice.random_range(0..damaged.len());
                match dice.random_range(0..4) {
                    0 => damaged[at] = dice.random(),
                    1 => damaged[at] ^= 1 << dice.random_range(0..8),
                    2 => drop(damaged.drain(at..(at + dice.random_range(1..9)).min(damaged.len()))),
                    _ => {
                        drop(damaged.splice(at..at, SPICE[dice.random_range(0..SPICE.len())].iter().copied()))
                    }
                }
                if damaged.is_empty() {
                    break;
                }
            }
            read_well += usize::from(read_as(&damaged, format).is_ok());
            // Whatever the format is taken for now, it ends well.
            let _ = read(&damaged, Some(format));
        }
        assert!((rounds / 100..rounds).contains(&read_well), "{format:?}: {read_well} of {rounds} were read");
    }
}
