//! Eight f32 lanes at once: what the vector kernels share. A kernel for a larger instruction set takes these
//! in as its own.

use std::arch::x86_64::*;

/// Numbers in a register of AVX2.
const LANES: usize = 8;

/// Eight numbers from memory.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load(lanes: &[f32; LANES]) -> __m256 {
    // SAFETY: eight numbers are there.
    unsafe { _mm256_loadu_ps(lanes.as_ptr()) }
}

/// Eight numbers to memory.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn store(lanes: __m256, out: &mut [f32; LANES]) {
    // SAFETY: eight numbers fit.
    unsafe { _mm256_storeu_ps(out.as_mut_ptr(), lanes) }
}

/// Sixteen numbers to memory, as two rows of eight.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store_rows(lanes: __m512, out: &mut [[f32; LANES]; 2]) {
    // SAFETY: sixteen numbers fit.
    unsafe { _mm512_storeu_ps(out.as_mut_ptr().cast(), lanes) }
}

/// a·b in each lane.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(crate) fn dot(a: &[__m256; 3], b: &[__m256; 3]) -> __m256 {
    _mm256_fmadd_ps(a[2], b[2], _mm256_fmadd_ps(a[1], b[1], _mm256_mul_ps(a[0], b[0])))
}

/// Without the signs.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn absolute(a: __m256) -> __m256 {
    _mm256_andnot_ps(_mm256_set1_ps(-0.0), a)
}

/// The first three of four numbers that stand twice, each in all lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn spread(all: __m256) -> [__m256; 3] {
    [
        _mm256_permute_ps::<0b00_00_00_00>(all),
        _mm256_permute_ps::<0b01_01_01_01>(all),
        _mm256_permute_ps::<0b10_10_10_10>(all),
    ]
}
