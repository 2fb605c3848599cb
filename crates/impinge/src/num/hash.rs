//! Small hashes: one that is the same on every machine, for what is written to files and compared later, and one for
//! tables of numbers that nobody chooses to collide.

use std::hash::{BuildHasherDefault, Hasher};

/// For tables whose keys are numbers from the geometry, one multiplication each (Fibonacci hashing, Knuth 1973).
pub(crate) type Mixing = BuildHasherDefault<Mixed>;

/// The state of [`Mixing`].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mixed(u64);

impl Hasher for Mixed {
    #[inline]
    fn finish(&self) -> u64 {
        // Tables take the lower bits for the place and the upper ones for a first comparison.
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    #[inline]
    fn write_u64(&mut self, x: u64) {
        self.0 = (self.0.rotate_left(29) ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    #[inline]
    fn write_u128(&mut self, x: u128) {
        self.write_u64(x as u64);
        self.write_u64((x >> 64) as u64);
    }
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo). Changing one byte always changes it.
pub(crate) fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

#[cfg(test)]
mod tests {
    use super::fnv1a;

    #[test]
    fn published_values() {
        assert_eq!(fnv1a(*b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(*b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(*b"foobar"), 0x8594_4171_f739_67e8);
    }
}
