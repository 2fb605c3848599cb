//! Eight f32 lanes at once: what the vector kernels share. A kernel for a larger instruction set takes these
//! in as its own.

use std::arch::x86_64::*;

use super::corner_lanes::Axes;

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

/// Three numbers of f64 and the idle one from memory.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load_axes(axes: &Axes) -> __m256d {
    // SAFETY: four numbers are there.
    unsafe { _mm256_loadu_pd(axes.as_ptr()) }
}

/// The same to memory.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn store_axes(axes: __m256d) -> Axes {
    let mut out = [0.0; 4];
    // SAFETY: four numbers fit.
    unsafe { _mm256_storeu_pd(out.as_mut_ptr(), axes) };
    out
}

/// The numbers of the two axes that follow one, round and round, then its own and the idle one.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn across(axis: usize, v: __m256d) -> __m256d {
    /// For each axis the halves of the numbers in their new order.
    const HALVES: [[i32; 8]; 3] =
        [[2, 3, 4, 5, 0, 1, 6, 7], [4, 5, 0, 1, 2, 3, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7]];
    // SAFETY: eight numbers are there.
    let halves = unsafe { _mm256_loadu_si256(HALVES[axis].as_ptr().cast()) };
    _mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(v), halves))
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
