//! A set of pairs that is emptied every frame: open addressing, and entries of earlier frames do not count.

/// The set.
#[derive(Debug, Clone)]
pub(super) struct PairSet {
    slots: Vec<(u64, u32)>,
    /// Entries with another stamp are empty.
    stamp: u32,
    len: usize,
}

/// The least number of slots; a power of two.
const SLOTS: usize = 64;

impl PairSet {
    pub fn new() -> PairSet {
        PairSet { slots: vec![(0, 0); SLOTS], stamp: 1, len: 0 }
    }

    /// Forgets all pairs, and keeps the room.
    pub fn clear(&mut self) {
        self.len = 0;
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.slots.fill((0, 0));
            self.stamp = 1;
        }
    }

    /// Whether the pair is new.
    #[inline]
    pub fn insert(&mut self, pair: [u32; 2]) -> bool {
        let key = key(pair);
        let at = self.find(key);
        if self.slots[at].1 == self.stamp {
            return false;
        }
        self.slots[at] = (key, self.stamp);
        self.len += 1;
        if 2 * self.len > self.slots.len() {
            self.grow();
        }
        true
    }

    /// The slot of a key, or the empty one where it belongs.
    #[inline]
    fn find(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = mixed(key) as usize & mask;
        while self.slots[at].1 == self.stamp && self.slots[at].0 != key {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let wider = vec![(0, 0); 2 * self.slots.len()];
        for (key, stamp) in std::mem::replace(&mut self.slots, wider) {
            if stamp == self.stamp {
                let at = self.find(key);
                self.slots[at] = (key, stamp);
            }
        }
    }
}

/// Both numbers of a pair in one.
#[inline]
fn key([a, b]: [u32; 2]) -> u64 {
    (u64::from(a) << 32) | u64::from(b)
}

/// The upper bits of a product with an odd number, which depend on all bits (Knuth: multiplicative hashing).
#[inline]
fn mixed(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::num::random::bits;

    #[test]
    fn it_holds_what_the_standard_set_holds() {
        let mut set = PairSet::new();
        for round in 0..20 {
            set.clear();
            let mut twin = HashSet::new();
            for k in 0..1 << (round % 12) {
                let pair = [bits(round, 2 * k) as u32 % 64, bits(round, 2 * k + 1) as u32 % 64];
                assert_eq!(set.insert(pair), twin.insert(pair));
            }
            let all = (0..64).flat_map(|a| (0..64).map(move |b| [a, b]));
            assert!(all.into_iter().all(|pair| set.insert(pair) == twin.insert(pair)));
        }
    }
}
