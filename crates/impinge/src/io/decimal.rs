//! Decimal numbers to doubles, correctly rounded, the short ones fast.
//!
//! The fast path is that of W. D. Clinger, "How to read floating point numbers accurately" (PLDI 1990):
//! digits that make an integer up to 2⁵³ and a power of ten up to 10²² are both exact doubles, so one
//! multiplication or division rounds once. Everything else goes to the standard library.

use super::text::integer;

/// The powers of ten that are exact doubles.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Digits that always fit into 64 bits.
const MOST_DIGITS: usize = 18;

/// The number in `word`, rounded to the nearest double; `nan` and `inf` count as numbers.
#[inline]
pub(super) fn parse(word: &[u8]) -> Option<f64> {
    short(word).or_else(|| std::str::from_utf8(word).ok()?.parse().ok())
}

/// The number in `word` where it is short and well formed.
#[inline]
fn short(word: &[u8]) -> Option<f64> {
    let (negative, digits) = match word {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, word),
    };
    let (mut value, mut count, mut dot, mut exponent) = (0u64, 0, None, 0);
    for (at, &byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' if count < MOST_DIGITS => {
                value = 10 * value + u64::from(byte - b'0');
                count += 1;
            }
            b'.' if dot.is_none() => dot = Some(count),
            b'e' | b'E' => {
                exponent = integer(&digits[at + 1..])?;
                break;
            }
            _ => return None,
        }
    }
    let behind_dot = dot.map_or(0, |before| count - before) as i64;
    let power = exponent.checked_sub(behind_dot)?;
    let ten = *TENS.get(usize::try_from(power.unsigned_abs()).ok()?)?;
    if count == 0 || value > 1 << 53 {
        return None;
    }
    let size = if power < 0 { value as f64 / ten } else { value as f64 * ten };
    Some(if negative { -size } else { size })
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    #[test]
    fn agrees_with_the_standard_library_on_every_word() {
        let mut dice = Pcg64Mcg::seed_from_u64(3);
        let (mut fast, mut numbers, rounds) = (0, 0, 200_000);
        for _ in 0..rounds {
            // Mostly digits, so that many words are numbers.
            let length = dice.random_range(1..14);
            let word: Vec<u8> =
                (0..length).map(|_| b"00112233445566778899.e-+E"[dice.random_range(0..25)]).collect();
            let slow = std::str::from_utf8(&word).unwrap().parse::<f64>().ok();
            assert_eq!(
                parse(&word).map(f64::to_bits),
                slow.map(f64::to_bits),
                "{:?}",
                String::from_utf8(word)
            );
            numbers += usize::from(slow.is_some());
            fast += usize::from(short(&word).is_some());
        }
        assert!(numbers > rounds / 5 && numbers < rounds * 4 / 5, "{numbers} numbers");
        assert!(fast > numbers / 2 && fast < numbers, "{fast} of {numbers} were short");
    }

    #[test]
    fn doubles_in_all_notations() {
        let mut dice = Pcg64Mcg::seed_from_u64(4);
        for _ in 0..50_000 {
            let x = dice.random_range(-1000.0..1000.0f64);
            for word in [
                format!("{x:?}"),
                format!("{x:.6}"),
                format!("{x:e}"),
                format!("{x:.9e}"),
                format!("{x:.17}"),
            ] {
                assert_eq!(
                    parse(word.as_bytes()).map(f64::to_bits),
                    word.parse().ok().map(f64::to_bits),
                    "{word}"
                );
            }
        }
    }
}
