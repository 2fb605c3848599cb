//! Seeded numbers by counting: the n-th number of a seed depends on nothing else, so the scenes are the same at any
//! thread count.
//!
//! The mixing function is that of SplitMix64 (Steele, Lea, Flood 2014).

/// The `n`-th number of the sequence `seed`, uniform in 0 ≤ x < 1.
pub(crate) fn unit(seed: u64, n: u64) -> f64 {
    let mix = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let golden = 0x9E37_79B9_7F4A_7C15_u64;
    let bits = mix(mix(seed.wrapping_add(golden)).wrapping_add(n.wrapping_add(1).wrapping_mul(golden)));
    // 53 bits fill the significand, so every step of 2⁻⁵³ is equally likely.
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}
