//! What the lanes tell together, on each instruction set: which are within a limit, and those packed.

use super::LANES;

/// The bits of a number that make room for its lane in [`Across::first`].
pub(super) const LANE: u32 = LANES as u32 - 1;

/// The steps across lanes that no loop expresses well; every version gives the same numbers.
pub(super) trait Across {
    /// The smallest number with its lane in the bits of [`LANE`]; what was in these does not count.
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn first(numbers: &[u32; LANES]) -> u32;

    /// The lanes whose number is at most `limit`.
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn within(numbers: &[u32; LANES], limit: u32) -> u16;

    /// Puts the numbers of the lanes in `mask` first, in their order; the rest of `to` may be anything.
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn pack(mask: u16, numbers: &[u32; LANES], to: &mut [u32; LANES]);
}

/// Plain loops.
pub(super) struct Portable;

impl Across for Portable {
    #[inline(always)]
    unsafe fn first(numbers: &[u32; LANES]) -> u32 {
        numbers.iter().zip(0..).fold(u32::MAX, |least, (x, lane)| least.min(x & !LANE | lane))
    }

    #[inline(always)]
    unsafe fn within(numbers: &[u32; LANES], limit: u32) -> u16 {
        numbers.iter().enumerate().fold(0, |mask, (i, &x)| mask | u16::from(x <= limit) << i)
    }

    #[inline(always)]
    unsafe fn pack(mask: u16, numbers: &[u32; LANES], to: &mut [u32; LANES]) {
        let mut count = 0;
        for (i, &x) in numbers.iter().enumerate() {
            to[count] = x;
            count += usize::from(mask >> i & 1);
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Across, LANE, LANES};

    /// The lanes' own numbers.
    static LANE_NUMBERS: [u32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

    /// For each mask of eight lanes the lanes in it, one a byte, the first in the lowest.
    static PACKED: [u64; 256] = {
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
    pub struct Avx2;

    impl Across for Avx2 {
        #[inline(always)]
        unsafe fn first(numbers: &[u32; LANES]) -> u32 {
            // SAFETY: AVX2 is there; each half is eight numbers.
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
        unsafe fn within(numbers: &[u32; LANES], limit: u32) -> u16 {
            // SAFETY: AVX2 is there; each half is eight numbers.
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
        unsafe fn pack(mask: u16, numbers: &[u32; LANES], to: &mut [u32; LANES]) {
            let [low, high] = mask.to_le_bytes();
            // SAFETY: AVX2 is there; the second half starts at most eight places after the first, so all
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
    pub struct Avx512;

    impl Across for Avx512 {
        #[inline(always)]
        unsafe fn first(numbers: &[u32; LANES]) -> u32 {
            // SAFETY: AVX-512 is there, and sixteen numbers.
            unsafe {
                let numbers = _mm512_loadu_si512(numbers.as_ptr().cast());
                let lanes = _mm512_loadu_si512(LANE_NUMBERS.as_ptr().cast());
                let numbers = _mm512_andnot_si512(_mm512_set1_epi32(LANE as i32), numbers);
                _mm512_reduce_min_epu32(_mm512_or_si512(numbers, lanes))
            }
        }

        #[inline(always)]
        unsafe fn within(numbers: &[u32; LANES], limit: u32) -> u16 {
            // SAFETY: AVX-512 is there, and sixteen numbers.
            unsafe {
                let numbers = _mm512_loadu_si512(numbers.as_ptr().cast());
                _mm512_cmple_epu32_mask(numbers, _mm512_set1_epi32(limit as i32))
            }
        }

        #[inline(always)]
        unsafe fn pack(mask: u16, numbers: &[u32; LANES], to: &mut [u32; LANES]) {
            // SAFETY: AVX-512 is there, sixteen numbers and room for as many.
            unsafe {
                let numbers = _mm512_loadu_si512(numbers.as_ptr().cast());
                _mm512_storeu_si512(to.as_mut_ptr().cast(), _mm512_maskz_compress_epi32(mask, numbers));
            }
        }
    }
}
