//! What sixteen u32 lanes tell together, on each instruction set: the smallest, which are within a limit, and
//! those packed.

use super::Portable;

/// Numbers at a time.
pub(crate) const LANES: usize = 16;

/// The bits of a number that make room for its lane in [`Across::first`].
pub(crate) const LANE: u32 = LANES as u32 - 1;

/// The steps across lanes that no loop expresses well; every version gives the same numbers.
pub(crate) trait Across: Copy {
    /// The smallest number with its lane in the bits of [`LANE`]; what was in these does not count.
    fn first(self, numbers: &[u32; LANES]) -> u32;

    /// The lanes whose number is at most `limit`.
    fn within(self, numbers: &[u32; LANES], limit: u32) -> u16;

    /// Puts the numbers of the lanes in `mask` first, in their order; the rest of `to` may be anything.
    fn pack(self, mask: u16, numbers: &[u32; LANES], to: &mut [u32; LANES]);
}

impl Across for Portable {
    #[inline(always)]
    fn first(self, numbers: &[u32; LANES]) -> u32 {
        numbers.iter().zip(0..).fold(u32::MAX, |least, (x, lane)| least.min(x & !LANE | lane))
    }

    #[inline(always)]
    fn within(self, numbers: &[u32; LANES], limit: u32) -> u16 {
        numbers.iter().enumerate().fold(0, |mask, (i, &x)| mask | u16::from(x <= limit) << i)
    }

    #[inline(always)]
    fn pack(self, mask: u16, numbers: &[u32; LANES], to: &mut [u32; LANES]) {
        let mut count = 0;
        for (i, &x) in numbers.iter().enumerate() {
            to[count] = x;
            count += usize::from(mask >> i & 1);
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(in crate::simd) use x86::PACKED;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::{Avx2, Avx512};
    use super::{Across, LANE, LANES};

    /// The lanes' own numbers.
    static LANE_NUMBERS: [u32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

    /// For each mask of eight lanes the lanes in it, one a byte, the first in the lowest.
    pub(in crate::simd) static PACKED: [u64; 256] = {
        let mut packed = [0; 256];
        let mut mask = 0;
        while mask < 256 {
            let (mut lane, mut count) = (0, 0);
            while lane < 8 {
                if mask >> lane & 1 != 0 {
                    packed[mask] |= lane << (8 * count);
                    count += 1;
                }
                lane += 1;
            }
            mask += 1;
        }
        packed
    };

    /// Two registers of eight lanes.
    impl Across for Avx2 {
        #[inline(always)]
        fn first(self, numbers: &[u32; LANES]) -> u32 {
            // SAFETY: `self` proves AVX2; each half is eight numbers.
            unsafe {
                let half = |at: usize| {
                    let numbers = _mm256_loadu_si256(numbers.as_ptr().add(at).cast());
                    let lanes = _mm256_loadu_si256(LANE_NUMBERS.as_ptr().add(at).cast());
                    let numbers = _mm256_andnot_si256(_mm256_set1_epi32(LANE as i32), numbers);
                    _mm256_or_si256(numbers, lanes)
                };
                let least = _mm256_min_epu32(half(0), half(LANES / 2));
                let least =
                    _mm_min_epu32(_mm256_castsi256_si128(least), _mm256_extracti128_si256::<1>(least));
                let least = _mm_min_epu32(least, _mm_shuffle_epi32::<0b01_00_11_10>(least));
                let least = _mm_min_epu32(least, _mm_shuffle_epi32::<0b10_11_00_01>(least));
                _mm_cvtsi128_si32(least) as u32
            }
        }

        #[inline(always)]
        fn within(self, numbers: &[u32; LANES], limit: u32) -> u16 {
            // SAFETY: `self` proves AVX2; each half is eight numbers.
            unsafe {
                let limit = _mm256_set1_epi32(limit as i32);
                let half = |at: usize| {
                    let numbers = _mm256_loadu_si256(numbers.as_ptr().add(at).cast());
                    let within = _mm256_cmpeq_epi32(_mm256_min_epu32(numbers, limit), numbers);
                    _mm256_movemask_ps(_mm256_castsi256_ps(within)) as u16
                };
                half(0) | half(LANES / 2) << (LANES / 2)
            }
        }

        #[inline(always)]
        fn pack(self, mask: u16, numbers: &[u32; LANES], to: &mut [u32; LANES]) {
            let [low, high] = mask.to_le_bytes();
            // SAFETY: `self` proves AVX2; the second half starts at most eight places after the first, so all
            // writes end within sixteen.
            unsafe {
                let half = |at: usize, mask: u8| {
                    let lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(PACKED[mask as usize] as i64));
                    let numbers = _mm256_loadu_si256(numbers.as_ptr().add(at).cast());
                    _mm256_permutevar8x32_epi32(numbers, lanes)
                };
                let second = low.count_ones() as usize;
                _mm256_storeu_si256(to.as_mut_ptr().cast(), half(0, low));
                _mm256_storeu_si256(to.as_mut_ptr().add(second).cast(), half(LANES / 2, high));
            }
        }
    }

    /// One register of sixteen lanes.
    impl Across for Avx512 {
        #[inline(always)]
        fn first(self, numbers: &[u32; LANES]) -> u32 {
            // SAFETY: `self` proves AVX-512; sixteen numbers are there.
            unsafe {
                let numbers = _mm512_loadu_si512(numbers.as_ptr().cast());
                let lanes = _mm512_loadu_si512(LANE_NUMBERS.as_ptr().cast());
                let numbers = _mm512_andnot_si512(_mm512_set1_epi32(LANE as i32), numbers);
                _mm512_reduce_min_epu32(_mm512_or_si512(numbers, lanes))
            }
        }

        #[inline(always)]
        fn within(self, numbers: &[u32; LANES], limit: u32) -> u16 {
            // SAFETY: `self` proves AVX-512; sixteen numbers are there.
            unsafe {
                let numbers = _mm512_loadu_si512(numbers.as_ptr().cast());
                _mm512_cmple_epu32_mask(numbers, _mm512_set1_epi32(limit as i32))
            }
        }

        #[inline(always)]
        fn pack(self, mask: u16, numbers: &[u32; LANES], to: &mut [u32; LANES]) {
            // SAFETY: `self` proves AVX-512; there are sixteen numbers, and room for as many.
            unsafe {
                let numbers = _mm512_loadu_si512(numbers.as_ptr().cast());
                _mm512_storeu_si512(to.as_mut_ptr().cast(), _mm512_maskz_compress_epi32(mask, numbers));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Across, LANES};
    use crate::simd::{SimdLevel, dispatch};

    dispatch! {
        fn check(numbers: &[u32; LANES]) = proof check_plain
    }

    #[inline(always)]
    fn check_plain(across: impl Across, numbers: &[u32; LANES]) {
        for limit in 0..=16 {
            let mask = across.within(numbers, limit);
            let want: Vec<u32> = numbers.iter().copied().filter(|&x| x <= limit).collect();
            let mut packed = [0; LANES];
            across.pack(mask, numbers, &mut packed);
            assert_eq!(packed[..mask.count_ones() as usize], want);
        }
        for lane in 0..LANES {
            let mut numbers = numbers.map(|x| x | 1 << 31);
            numbers[lane] = 1 << 30 | 7;
            assert_eq!(across.first(&numbers), 1 << 30 | lane as u32);
        }
    }

    #[test]
    fn lanes_are_packed_in_order_on_every_instruction_set() {
        let numbers = std::array::from_fn(|i| (i as u32 * 7) % 16 + u32::from(i == 3) * (u32::MAX - 99));
        for level in SimdLevel::available() {
            check(level, &numbers);
        }
    }
}
