//! Eight f32 lanes at once: what the vector kernels share. A kernel for a larger instruction set takes these
//! in as its own.

use std::arch::x86_64::*;

use super::wide::WIDTH;

/// Eight numbers from memory.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load(lanes: &[f32; WIDTH]) -> __m256 {
    // SAFETY: eight numbers are there.
    unsafe { _mm256_loadu_ps(lanes.as_ptr()) }
}

/// a·b in each lane.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn dot(a: &[__m256; 3], b: &[__m256; 3]) -> __m256 {
    _mm256_fmadd_ps(a[2], b[2], _mm256_fmadd_ps(a[1], b[1], _mm256_mul_ps(a[0], b[0])))
}

/// Without the signs.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn absolute(a: __m256) -> __m256 {
    _mm256_andnot_ps(_mm256_set1_ps(-0.0), a)
}

/// The first three of four numbers that stand twice, each in all lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn spread(all: __m256) -> [__m256; 3] {
    [
        _mm256_permute_ps::<0b00_00_00_00>(all),
        _mm256_permute_ps::<0b01_01_01_01>(all),
        _mm256_permute_ps::<0b10_10_10_10>(all),
    ]
}
