//! The peers: crates called in process, programs started outside.

pub mod jolt;
pub mod parry;
pub mod parry_contacts;
pub mod parry_refit;
pub mod parry_scene;
pub mod programs;
pub mod trees;
pub mod versions;

use std::sync::OnceLock;

/// Set to a beginning of names, such as `impinge`, to run only the contestants so named: `before-after` does.
pub const ONLY: &str = "IMPINGE_BENCH_ONLY";

/// Whether a contestant is wanted in this run; outside peers are asked about before they are started.
pub fn wanted(contestant: &str) -> bool {
    only().is_none_or(|start| contestant.starts_with(start))
}

/// Whether nobody is left out.
pub fn everybody() -> bool {
    only().is_none()
}

fn only() -> Option<&'static str> {
    static START: OnceLock<Option<String>> = OnceLock::new();
    START.get_or_init(|| std::env::var(ONLY).ok()).as_deref()
}

/// How many triangle pairs there are and an order-independent digest of which.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PairSet {
    /// How many.
    pub count: u64,
    /// The sum of the scrambled pairs; equal sets have equal sums.
    pub digest: u64,
}

impl FromIterator<[u32; 2]> for PairSet {
    fn from_iter<I: IntoIterator<Item = [u32; 2]>>(pairs: I) -> PairSet {
        pairs.into_iter().fold(PairSet::default(), |set, [i, j]| PairSet {
            count: set.count + 1,
            digest: set.digest.wrapping_add(scrambled(i, j)),
        })
    }
}

/// The finisher of splitmix64 (Steele, Lea, Flood 2014); the outside peers compute the same.
fn scrambled(i: u32, j: u32) -> u64 {
    let mut x = (u64::from(i) << 32 | u64::from(j)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_knows_the_set_but_not_its_order() {
        let of = |pairs: &[[u32; 2]]| pairs.iter().copied().collect::<PairSet>();
        assert_eq!(of(&[[1, 2], [3, 4]]), of(&[[3, 4], [1, 2]]));
        assert_ne!(of(&[[1, 2], [3, 4]]), of(&[[1, 4], [3, 2]]));
        assert_ne!(of(&[[1, 2]]), of(&[[2, 1]]));
    }
}
