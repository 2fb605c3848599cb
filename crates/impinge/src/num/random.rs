//! Seeded numbers by counting: the n-th number of a seed depends on nothing else, so any part of a
//! sequence can be drawn in any order and on any thread.
//!
//! The mixing function is that of SplitMix64 (Steele, Lea, Flood 2014).

/// The `n`-th number of the sequence `seed`: 64 mixed bits.
pub fn bits(seed: u64, n: u64) -> u64 {
    let mix = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let golden = 0x9E37_79B9_7F4A_7C15_u64;
    mix(mix(seed.wrapping_add(golden)).wrapping_add(n.wrapping_add(1).wrapping_mul(golden)))
}

/// The `n`-th number of the sequence `seed`, uniform in 0 ≤ x < 1.
pub fn unit(seed: u64, n: u64) -> f64 {
    // 53 bits fill the significand, so every step of 2⁻⁵³ is equally likely.
    (bits(seed, n) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_evenly_and_differ_between_seeds() {
        let n = 100_000_u64;
        for seed in [0, 1, u64::MAX] {
            let all: Vec<f64> = (0..n).map(|i| unit(seed, i)).collect();
            let mean = all.iter().sum::<f64>() / n as f64;
            let square = all.iter().map(|x| x * x).sum::<f64>() / n as f64;
            let lag = all.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / (n - 1) as f64;
            assert!((mean - 0.5).abs() < 0.005, "{mean}");
            assert!((square - 1.0 / 3.0).abs() < 0.005, "{square}");
            assert!((lag - 0.25).abs() < 0.005, "{lag}");
            assert!(all.iter().all(|x| (0.0..1.0).contains(x)));
        }
        assert_ne!(bits(0, 1), bits(1, 0));
    }
}
