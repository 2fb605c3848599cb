//! One box against a run of boxes, eight or sixteen at a time, on each instruction set.

/// Compiles a plain function for each instruction set and chooses at run time.
macro_rules! for_each_level {
    ($(#[$doc:meta])* $visibility:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) = $body:path) => {
        $(#[$doc])*
        $visibility fn $name(instructions: $crate::hierarchy::simd::SimdLevel, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,popcnt,bmi1,bmi2")]
            fn avx2($($arg: $type),*) {
                $body($($arg),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,popcnt,bmi1,bmi2,avx512f,avx512vl,avx512dq")]
            fn avx512($($arg: $type),*) {
                $body($($arg),*)
            }
            match instructions {
                $crate::hierarchy::simd::SimdLevel::Portable => $body($($arg),*),
                // SAFETY: the levels are handed out only after their instructions were detected.
                #[cfg(target_arch = "x86_64")]
                $crate::hierarchy::simd::SimdLevel::Avx2 => unsafe { avx2($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::hierarchy::simd::SimdLevel::Avx512 => unsafe { avx512($($arg),*) },
            }
        }
    };
}

pub(super) use for_each_level;

/// Room that each array of boxes has beyond its last box, so that whole vectors can be loaded.
pub(super) const MOST_LANES: usize = 16;

/// Boxes coordinate by coordinate: low x, y, z, high x, y, z; [`MOST_LANES`] more than are used.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns(pub [Vec<f32>; 6]);

impl Columns {
    /// Makes room for `count` boxes.
    pub fn resize(&mut self, count: usize) {
        self.0.iter_mut().for_each(|column| column.resize(count + MOST_LANES, 0.0));
    }

    /// One box.
    #[inline(always)]
    pub fn get(&self, at: usize) -> [f32; 6] {
        std::array::from_fn(|k| self.0[k][at])
    }
}

/// What a search needs of an instruction set; every version gives the same bits.
pub(super) trait Lanes {
    /// Boxes in a vector.
    const WIDTH: usize;
    /// One number in each lane.
    type Vector: Copy;

    /// The same number in all lanes.
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn splat(x: f32) -> Self::Vector;

    /// Which boxes from `at` on share a point with box `a`.
    ///
    /// # Safety
    /// The machine has the instruction set, and `at` is at most the number of boxes.
    unsafe fn meet(a: &[Self::Vector; 6], boxes: &Columns, at: usize) -> u32;

    /// Writes `first` + lane for the lanes in `mask`, in their order; the rest of `to` may be anything.
    ///
    /// # Safety
    /// The machine has the instruction set.
    unsafe fn pack(mask: u32, first: u32, to: &mut [u32; MOST_LANES]);
}

/// Plain loops.
pub(super) struct Portable;

impl Lanes for Portable {
    const WIDTH: usize = 8;
    type Vector = [f32; 8];

    #[inline(always)]
    unsafe fn splat(x: f32) -> [f32; 8] {
        [x; 8]
    }

    #[inline(always)]
    unsafe fn meet(a: &[[f32; 8]; 6], boxes: &Columns, at: usize) -> u32 {
        let mut meet = [true; 8];
        for k in 0..3 {
            let (low, high) = (&boxes.0[k][at..at + 8], &boxes.0[k + 3][at..at + 8]);
            for j in 0..8 {
                meet[j] &= (low[j] <= a[k + 3][j]) & (a[k][j] <= high[j]);
            }
        }
        meet.iter().enumerate().fold(0, |mask, (j, &one)| mask | u32::from(one) << j)
    }

    #[inline(always)]
    unsafe fn pack(mask: u32, first: u32, to: &mut [u32; MOST_LANES]) {
        let (mut left, mut count) = (mask, 0);
        while left != 0 {
            to[count] = first + left.trailing_zeros();
            count += 1;
            left &= left - 1;
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Columns, Lanes, MOST_LANES};

    /// AVX2.
    pub struct Avx2;

    impl Avx2 {
        /// The gaps on one axis.
        ///
        /// # Safety
        /// The machine has the instruction set, and the columns are longer than `at` by a vector.
        #[inline(always)]
        unsafe fn axis(low: __m256, high: __m256, lows: &[f32], highs: &[f32], at: usize) -> __m256 {
            debug_assert!(at + MOST_LANES <= lows.len() && at + MOST_LANES <= highs.len());
            // SAFETY: as for this function.
            unsafe {
                let after = _mm256_sub_ps(_mm256_loadu_ps(lows.as_ptr().add(at)), high);
                let ahead = _mm256_sub_ps(low, _mm256_loadu_ps(highs.as_ptr().add(at)));
                _mm256_max_ps(after, ahead)
            }
        }
    }

    impl Lanes for Avx2 {
        const WIDTH: usize = 8;
        type Vector = __m256;

        #[inline(always)]
        unsafe fn splat(x: f32) -> __m256 {
            // SAFETY: the caller has AVX2.
            unsafe { _mm256_set1_ps(x) }
        }

        #[inline(always)]
        unsafe fn meet(a: &[__m256; 6], boxes: &Columns, at: usize) -> u32 {
            // SAFETY: the caller has AVX2; the columns are longer than `at` by a vector.
            unsafe {
                let x = Self::axis(a[0], a[3], &boxes.0[0], &boxes.0[3], at);
                let y = Self::axis(a[1], a[4], &boxes.0[1], &boxes.0[4], at);
                let z = Self::axis(a[2], a[5], &boxes.0[2], &boxes.0[5], at);
                let met =
                    _mm256_cmp_ps::<_CMP_LE_OQ>(_mm256_max_ps(_mm256_max_ps(x, y), z), _mm256_setzero_ps());
                _mm256_movemask_ps(met) as u32
            }
        }

        #[inline(always)]
        unsafe fn pack(mask: u32, first: u32, to: &mut [u32; MOST_LANES]) {
            // SAFETY: the caller has the instruction set, which the plain version does not need.
            unsafe { super::Portable::pack(mask, first, to) }
        }
    }

    /// AVX-512 F, VL and DQ.
    pub struct Avx512;

    impl Avx512 {
        /// The gaps on one axis.
        ///
        /// # Safety
        /// The machine has the instruction set, and the columns are longer than `at` by a vector.
        #[inline(always)]
        unsafe fn axis(low: __m512, high: __m512, lows: &[f32], highs: &[f32], at: usize) -> __m512 {
            debug_assert!(at + MOST_LANES <= lows.len() && at + MOST_LANES <= highs.len());
            // SAFETY: as for this function.
            unsafe {
                let after = _mm512_sub_ps(_mm512_loadu_ps(lows.as_ptr().add(at)), high);
                let ahead = _mm512_sub_ps(low, _mm512_loadu_ps(highs.as_ptr().add(at)));
                _mm512_max_ps(after, ahead)
            }
        }
    }

    impl Lanes for Avx512 {
        const WIDTH: usize = 16;
        type Vector = __m512;

        #[inline(always)]
        unsafe fn splat(x: f32) -> __m512 {
            // SAFETY: the caller has AVX-512.
            unsafe { _mm512_set1_ps(x) }
        }

        #[inline(always)]
        unsafe fn meet(a: &[__m512; 6], boxes: &Columns, at: usize) -> u32 {
            // SAFETY: the caller has AVX-512; the columns are longer than `at` by a vector.
            unsafe {
                let x = Self::axis(a[0], a[3], &boxes.0[0], &boxes.0[3], at);
                let y = Self::axis(a[1], a[4], &boxes.0[1], &boxes.0[4], at);
                let z = Self::axis(a[2], a[5], &boxes.0[2], &boxes.0[5], at);
                let gaps = _mm512_max_ps(_mm512_max_ps(x, y), z);
                u32::from(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(gaps, _mm512_setzero_ps()))
            }
        }

        #[inline(always)]
        unsafe fn pack(mask: u32, first: u32, to: &mut [u32; MOST_LANES]) {
            // SAFETY: the caller has AVX-512, and `to` holds a vector.
            unsafe {
                let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                let slots = _mm512_add_epi32(lanes, _mm512_set1_epi32(first as i32));
                let packed = _mm512_maskz_compress_epi32(mask as u16, slots);
                _mm512_storeu_si512(to.as_mut_ptr().cast(), packed);
            }
        }
    }
}
