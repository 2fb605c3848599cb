//! One particle against a run of others, eight or sixteen at a time, on each instruction set.
//!
//! Coordinates are the low 32 bits of fixed-point numbers: the difference of two that are near each other is exact,
//! however large the space is. It is squared in f32 and compared with two limits: below the smaller one a pair is
//! sure, above the larger one there is none, and what lies between is for the caller to decide.

use std::marker::PhantomData;

use super::Portable;

/// Most particles that are tested at a time.
pub(crate) const MOST_LANES: usize = 16;

/// Particles coordinate by coordinate, each with a number, and a radius if they are balls.
#[derive(Debug, Clone, Default)]
pub(crate) struct PointColumns {
    /// Each column is at least [`MOST_LANES`] longer than there are particles, so that whole vectors can be loaded.
    coordinates: [Vec<u32>; 3],
    numbers: Vec<u32>,
    radii: Vec<f32>,
    count: usize,
}

/// The columns of some particles one after another, to be written; the radii of points are empty.
pub(crate) struct PointColumnsMut<'a> {
    pub coordinates: [&'a mut [u32]; 3],
    pub numbers: &'a mut [u32],
    pub radii: &'a mut [f32],
}

impl PointColumns {
    /// Makes room for `count` points or balls.
    pub fn resize(&mut self, count: usize, balls: bool) {
        self.coordinates.iter_mut().for_each(|column| column.resize(count + MOST_LANES, 0));
        self.numbers.resize(count + MOST_LANES, 0);
        self.radii.resize(if balls { count + MOST_LANES } else { 0 }, 0.0);
        self.count = count;
    }

    /// Takes all away; the room for them stays.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds particles of other columns, those from `at` on, as far as there is room; returns where it stopped, at `end` or
    /// before. Both are points or both balls.
    #[inline(always)]
    pub fn append(&mut self, from: &PointColumns, at: usize, end: usize) -> usize {
        let room = self.numbers.len().saturating_sub(MOST_LANES + self.count);
        let end = end.min(at.saturating_add(room));
        let to = self.count;
        self.count += end.saturating_sub(at);
        for (at, to) in (at..end).step_by(MOST_LANES).zip((to..).step_by(MOST_LANES)) {
            for (column, other) in self.coordinates.iter_mut().zip(&from.coordinates) {
                copy_vector(column, to, other, at);
            }
            copy_vector(&mut self.numbers, to, &from.numbers, at);
            if !self.radii.is_empty() {
                copy_vector(&mut self.radii, to, &from.radii, at);
            }
        }
        end
    }

    /// How many there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Coordinates of one.
    #[inline(always)]
    pub fn coordinates(&self, at: usize) -> [u32; 3] {
        [self.coordinates[0][at], self.coordinates[1][at], self.coordinates[2][at]]
    }

    /// Number of one.
    #[inline(always)]
    pub fn number(&self, at: usize) -> u32 {
        self.numbers[at]
    }

    /// Radius of one; 0 for points.
    #[inline(always)]
    pub fn radius(&self, at: usize) -> f32 {
        if self.radii.is_empty() { 0.0 } else { self.radii[at] }
    }

    /// All columns, to be written.
    pub fn as_mut(&mut self) -> PointColumnsMut<'_> {
        PointColumnsMut {
            coordinates: self.coordinates.each_mut().map(Vec::as_mut_slice),
            numbers: &mut self.numbers,
            radii: &mut self.radii,
        }
    }

    /// Those from `at` on, a vector at a time; the last one may reach beyond the last particle.
    #[inline(always)]
    pub fn batches<L: PointLanes>(&self, at: usize) -> PointBatches<'_, L> {
        let [x, y, z] = &self.coordinates;
        let points = PointSlices { coordinates: [x, y, z], numbers: &self.numbers, radii: &self.radii };
        PointBatches { points, at, end: self.count, lanes: PhantomData }
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let words: usize = self.coordinates.iter().map(Vec::capacity).sum();
        4 * (words + self.numbers.capacity() + self.radii.capacity()) as u64
    }
}

/// Copies [`MOST_LANES`] numbers, which are there by the length of columns.
#[inline(always)]
fn copy_vector<T: Copy>(column: &mut [T], to: usize, other: &[T], at: usize) {
    let to = column.get_mut(to..).and_then(|rest| rest.first_chunk_mut::<MOST_LANES>());
    let from = other.get(at..).and_then(|rest| rest.first_chunk::<MOST_LANES>());
    debug_assert!(to.is_some() && from.is_some());
    if let (Some(to), Some(from)) = (to, from) {
        *to = *from;
    }
}

impl<'a> PointColumnsMut<'a> {
    /// Takes the first `count` off.
    pub fn split(&mut self, count: usize) -> PointColumnsMut<'a> {
        fn first<'a, T>(all: &mut &'a mut [T], count: usize) -> &'a mut [T] {
            let (head, tail) = std::mem::take(all).split_at_mut(count);
            *all = tail;
            head
        }
        PointColumnsMut {
            coordinates: self.coordinates.each_mut().map(|column| first(column, count)),
            numbers: first(&mut self.numbers, count),
            radii: if self.radii.is_empty() { &mut [] } else { first(&mut self.radii, count) },
        }
    }
}

/// The columns themselves, so that a loop which writes elsewhere need not look up again where they are.
#[derive(Clone, Copy)]
struct PointSlices<'p> {
    coordinates: [&'p [u32]; 3],
    numbers: &'p [u32],
    radii: &'p [f32],
}

/// Some particles one after another; `end` is at most the number of particles.
pub(crate) struct PointBatches<'p, L> {
    points: PointSlices<'p>,
    at: usize,
    end: usize,
    lanes: PhantomData<L>,
}

impl<'p, L: PointLanes> Iterator for PointBatches<'p, L> {
    type Item = PointBatch<'p>;

    #[inline(always)]
    fn next(&mut self) -> Option<PointBatch<'p>> {
        let batch = (self.at < self.end).then_some(PointBatch { points: self.points, at: self.at });
        self.at += L::WIDTH;
        batch
    }
}

/// Particles that are tested at a time: those from `at` on, of which there is one at least.
#[derive(Clone, Copy)]
pub(crate) struct PointBatch<'p> {
    points: PointSlices<'p>,
    at: usize,
}

/// When two are a pair, in units of the coordinates: at most `sure` apart they are, beyond `maybe` they are not. For
/// balls both are added to the radii.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairLimits {
    pub sure: f32,
    pub maybe: f32,
}

/// Lanes of a test; those behind the last particle may say anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PairMasks {
    /// Surely a pair.
    pub sure: u32,
    /// A pair or to be decided; holds `sure`.
    pub maybe: u32,
}

/// What a search needs of an instruction set. Every version finds masks that are right; rounding may leave other lanes
/// to be decided.
pub(crate) trait PointLanes: Copy {
    /// Particles in a vector.
    const WIDTH: usize;
    /// A particle and the limits in all lanes.
    type One: Copy;

    /// One particle that looks for others.
    fn one(self, coordinates: [u32; 3], radius: f32, limits: PairLimits) -> Self::One;

    /// Tests the particles of a batch.
    fn test<const BALLS: bool>(self, one: &Self::One, batch: PointBatch<'_>) -> PairMasks;

    /// Writes the pairs of `number` and the lanes in `mask`, in the order of the lanes and the smaller number first; what
    /// follows in `to` may be anything.
    fn list(self, mask: u32, number: u32, batch: PointBatch<'_>, to: &mut [[u32; 2]; MOST_LANES]);
}

/// x·|x|: a limit that is negative holds no square.
#[inline(always)]
fn signed_square(x: f32) -> f32 {
    x * x.abs()
}

/// A particle in plain numbers.
#[derive(Clone, Copy)]
pub(crate) struct PortableOne {
    coordinates: [u32; 3],
    sure: f32,
    maybe: f32,
}

/// Eight lanes in plain loops.
impl PointLanes for Portable {
    const WIDTH: usize = 8;
    type One = PortableOne;

    #[inline(always)]
    fn one(self, coordinates: [u32; 3], radius: f32, limits: PairLimits) -> PortableOne {
        PortableOne { coordinates, sure: limits.sure + radius, maybe: limits.maybe + radius }
    }

    #[inline(always)]
    fn test<const BALLS: bool>(self, one: &PortableOne, batch: PointBatch<'_>) -> PairMasks {
        let mut squares = [0.0_f32; 8];
        for (column, &a) in batch.points.coordinates.into_iter().zip(&one.coordinates) {
            for (square, &b) in squares.iter_mut().zip(&column[batch.at..batch.at + 8]) {
                let d = b.wrapping_sub(a).cast_signed() as f32;
                *square += d * d;
            }
        }
        let mut masks = PairMasks { sure: 0, maybe: 0 };
        for (k, &square) in squares.iter().enumerate() {
            let radius = if BALLS { batch.points.radii[batch.at + k] } else { 0.0 };
            masks.sure |= u32::from(square <= signed_square(one.sure + radius)) << k;
            masks.maybe |= u32::from(square <= signed_square(one.maybe + radius)) << k;
        }
        masks
    }

    #[inline(always)]
    fn list(self, mask: u32, number: u32, batch: PointBatch<'_>, to: &mut [[u32; 2]; MOST_LANES]) {
        let (mut left, mut count) = (mask, 0);
        while left != 0 {
            let other = batch.points.numbers[batch.at + left.trailing_zeros() as usize];
            to[count] = [number.min(other), number.max(other)];
            count += 1;
            left &= left - 1;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::u32x16::PACKED;
    use super::super::{Avx2, Avx512};
    use super::{MOST_LANES, PairLimits, PairMasks, PointBatch, PointLanes, signed_square};

    /// The place in a column where a run begins, with a whole vector behind it.
    #[inline(always)]
    fn column<T>(column: &[T], batch: PointBatch<'_>) -> *const T {
        debug_assert!(batch.at + MOST_LANES <= column.len());
        // SAFETY: `at` is below the number of particles, and the column is longer than that by a vector.
        unsafe { column.as_ptr().add(batch.at) }
    }

    /// A particle and squared limits, or for balls limits, in eight lanes.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2One {
        coordinates: [__m256i; 3],
        sure: __m256,
        maybe: __m256,
        plain: [f32; 2],
    }

    impl PointLanes for Avx2 {
        const WIDTH: usize = 8;
        type One = Avx2One;

        #[inline(always)]
        fn one(self, [x, y, z]: [u32; 3], radius: f32, limits: PairLimits) -> Avx2One {
            let [sure, maybe] = [limits.sure + radius, limits.maybe + radius];
            // SAFETY: `self` proves AVX2.
            unsafe {
                Avx2One {
                    coordinates: [
                        _mm256_set1_epi32(x as i32),
                        _mm256_set1_epi32(y as i32),
                        _mm256_set1_epi32(z as i32),
                    ],
                    sure: _mm256_set1_ps(signed_square(sure)),
                    maybe: _mm256_set1_ps(signed_square(maybe)),
                    plain: [sure, maybe],
                }
            }
        }

        #[inline(always)]
        fn test<const BALLS: bool>(self, one: &Avx2One, batch: PointBatch<'_>) -> PairMasks {
            // SAFETY: `self` proves AVX2 and FMA; columns are longer than `at` by a vector, those of the radii too where
            // there are any, and a slice of none is caught by its check.
            unsafe {
                let [cx, cy, cz] = batch.points.coordinates;
                let x = _mm256_sub_epi32(_mm256_loadu_si256(column(cx, batch).cast()), one.coordinates[0]);
                let y = _mm256_sub_epi32(_mm256_loadu_si256(column(cy, batch).cast()), one.coordinates[1]);
                let z = _mm256_sub_epi32(_mm256_loadu_si256(column(cz, batch).cast()), one.coordinates[2]);
                let (x, y, z) = (_mm256_cvtepi32_ps(x), _mm256_cvtepi32_ps(y), _mm256_cvtepi32_ps(z));
                let squares = _mm256_fmadd_ps(z, z, _mm256_fmadd_ps(y, y, _mm256_mul_ps(x, x)));
                let (mut sure, mut maybe) = (one.sure, one.maybe);
                if BALLS {
                    let Some(radii) = batch.points.radii.get(batch.at..batch.at + 8) else {
                        return PairMasks { sure: 0, maybe: 0 };
                    };
                    let radii = _mm256_loadu_ps(radii.as_ptr());
                    let square = |limit: f32| {
                        let limit = _mm256_add_ps(_mm256_set1_ps(limit), radii);
                        _mm256_mul_ps(limit, _mm256_andnot_ps(_mm256_set1_ps(-0.0), limit))
                    };
                    (sure, maybe) = (square(one.plain[0]), square(one.plain[1]));
                }
                let mask = |limit| _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(squares, limit)) as u32;
                PairMasks { sure: mask(sure), maybe: mask(maybe) }
            }
        }

        #[inline(always)]
        fn list(self, mask: u32, number: u32, batch: PointBatch<'_>, to: &mut [[u32; 2]; MOST_LANES]) {
            // SAFETY: `self` proves AVX2; the numbers are longer than `at` by a vector, and `to` holds sixteen pairs.
            unsafe {
                let lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(PACKED[mask as usize & 255] as i64));
                let numbers = _mm256_loadu_si256(column(batch.points.numbers, batch).cast());
                let packed = _mm256_permutevar8x32_epi32(numbers, lanes);
                let number = _mm256_set1_epi32(number as i32);
                let (low, high) = (_mm256_min_epu32(packed, number), _mm256_max_epu32(packed, number));
                // Pairs 0, 1, 4, 5 and 2, 3, 6, 7.
                let (even, odd) = (_mm256_unpacklo_epi32(low, high), _mm256_unpackhi_epi32(low, high));
                let to = to.as_mut_ptr().cast::<__m256i>();
                _mm256_storeu_si256(to, _mm256_permute2x128_si256::<0x20>(even, odd));
                _mm256_storeu_si256(to.add(1), _mm256_permute2x128_si256::<0x31>(even, odd));
            }
        }
    }

    /// A particle and squared limits, or for balls limits, in sixteen lanes.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512One {
        coordinates: [__m512i; 3],
        sure: __m512,
        maybe: __m512,
        plain: [f32; 2],
    }

    impl PointLanes for Avx512 {
        const WIDTH: usize = 16;
        type One = Avx512One;

        #[inline(always)]
        fn one(self, [x, y, z]: [u32; 3], radius: f32, limits: PairLimits) -> Avx512One {
            let [sure, maybe] = [limits.sure + radius, limits.maybe + radius];
            // SAFETY: `self` proves AVX-512.
            unsafe {
                Avx512One {
                    coordinates: [
                        _mm512_set1_epi32(x as i32),
                        _mm512_set1_epi32(y as i32),
                        _mm512_set1_epi32(z as i32),
                    ],
                    sure: _mm512_set1_ps(signed_square(sure)),
                    maybe: _mm512_set1_ps(signed_square(maybe)),
                    plain: [sure, maybe],
                }
            }
        }

        #[inline(always)]
        fn test<const BALLS: bool>(self, one: &Avx512One, batch: PointBatch<'_>) -> PairMasks {
            // SAFETY: `self` proves AVX-512; columns are longer than `at` by a vector, those of the radii too where there
            // are any, and a slice of none is caught by its check.
            unsafe {
                let [cx, cy, cz] = batch.points.coordinates;
                let x = _mm512_sub_epi32(_mm512_loadu_si512(column(cx, batch).cast()), one.coordinates[0]);
                let y = _mm512_sub_epi32(_mm512_loadu_si512(column(cy, batch).cast()), one.coordinates[1]);
                let z = _mm512_sub_epi32(_mm512_loadu_si512(column(cz, batch).cast()), one.coordinates[2]);
                let (x, y, z) = (_mm512_cvtepi32_ps(x), _mm512_cvtepi32_ps(y), _mm512_cvtepi32_ps(z));
                let squares = _mm512_fmadd_ps(z, z, _mm512_fmadd_ps(y, y, _mm512_mul_ps(x, x)));
                let (mut sure, mut maybe) = (one.sure, one.maybe);
                if BALLS {
                    let Some(radii) = batch.points.radii.get(batch.at..batch.at + 16) else {
                        return PairMasks { sure: 0, maybe: 0 };
                    };
                    let radii = _mm512_loadu_ps(radii.as_ptr());
                    let square = |limit: f32| {
                        let limit = _mm512_add_ps(_mm512_set1_ps(limit), radii);
                        _mm512_mul_ps(limit, _mm512_abs_ps(limit))
                    };
                    (sure, maybe) = (square(one.plain[0]), square(one.plain[1]));
                }
                let mask = |limit| u32::from(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(squares, limit));
                PairMasks { sure: mask(sure), maybe: mask(maybe) }
            }
        }

        #[inline(always)]
        fn list(self, mask: u32, number: u32, batch: PointBatch<'_>, to: &mut [[u32; 2]; MOST_LANES]) {
            // SAFETY: `self` proves AVX-512; the numbers are longer than `at` by a vector, and `to` holds sixteen pairs.
            unsafe {
                let numbers = _mm512_loadu_si512(column(batch.points.numbers, batch).cast());
                let packed = _mm512_maskz_compress_epi32(mask as u16, numbers);
                let number = _mm512_set1_epi32(number as i32);
                let (low, high) = (_mm512_min_epu32(packed, number), _mm512_max_epu32(packed, number));
                // Lanes from 16 on are those of `high`.
                let first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
                let second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
                let to = to.as_mut_ptr().cast::<__m512i>();
                _mm512_storeu_si512(to, _mm512_permutex2var_epi32(low, first, high));
                _mm512_storeu_si512(to.add(1), _mm512_permutex2var_epi32(low, second, high));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_LANES, PairLimits, PairMasks, PointColumns, PointLanes};
    use crate::simd::{SimdLevel, dispatch};

    /// Particles on a line along x from just below the wrap of the numbers.
    fn columns(count: usize, balls: bool) -> PointColumns {
        let mut columns = PointColumns::default();
        columns.resize(count, balls);
        let to = columns.as_mut();
        for i in 0..count {
            to.coordinates[0][i] = (10 * i as u32).wrapping_sub(95);
            to.coordinates[1][i] = 7;
            to.coordinates[2][i] = u32::MAX - i as u32 % 2;
            to.numbers[i] = 1000 + i as u32;
            if balls {
                to.radii[i] = (i % 4) as f32;
            }
        }
        columns
    }

    type Found = Vec<(u32, bool)>;

    dispatch! {
        fn found(points: &PointColumns, a: usize, at: usize, limits: PairLimits, out: &mut Found) = proof found_plain
    }

    #[inline(always)]
    fn found_plain<L: PointLanes>(
        lanes: L,
        points: &PointColumns,
        a: usize,
        at: usize,
        limits: PairLimits,
        out: &mut Found,
    ) {
        let one = lanes.one(points.coordinates(a), points.radius(a), limits);
        for (k, batch) in points.batches::<L>(at).enumerate() {
            let masks: PairMasks = match points.radii.is_empty() {
                true => lanes.test::<false>(&one, batch),
                false => lanes.test::<true>(&one, batch),
            };
            let left = points.len() - (at + k * L::WIDTH);
            let maybe = masks.maybe & u32::MAX >> (32 - left.min(32));
            let mut pairs = [[0; 2]; MOST_LANES];
            // Between the numbers of the others, so that it comes first in some pairs and last in others.
            let own = points.number(a);
            lanes.list(maybe, own, batch, &mut pairs);
            let lane = (0..32).filter(|k| maybe >> k & 1 != 0);
            out.extend(lane.zip(pairs).map(|(k, [low, high])| {
                assert!(low <= high && (low == own || high == own));
                (low ^ high ^ own, masks.sure >> k & 1 != 0)
            }));
        }
    }

    #[test]
    fn every_instruction_set_finds_what_is_near_across_the_wrap() {
        let limits = PairLimits { sure: 29.0, maybe: 31.0 };
        for balls in [false, true] {
            for count in [1, 5, 8, 16, 17, 40] {
                let points = columns(count, balls);
                for (a, at) in [(0, 0), (count / 2, 0), (count / 2, count / 2), (0, count - 1)] {
                    let mut want = Found::new();
                    for j in at..count {
                        let d = 10.0 * (j as f64 - a as f64).abs();
                        let d = d.hypot(((a % 2) as f64 - (j % 2) as f64).abs());
                        let radii = f64::from(points.radius(a) + points.radius(j));
                        if d <= 31.0 + radii {
                            want.push((1000 + j as u32, d <= 29.0 + radii));
                        }
                    }
                    for level in SimdLevel::available() {
                        let mut out = Found::new();
                        found(level, &points, a, at, limits, &mut out);
                        assert_eq!(out, want, "{level:?}, {a} of {count}, balls {balls}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_block_takes_runs_as_far_as_there_is_room() {
        for balls in [false, true] {
            let points = columns(60, balls);
            let mut block = PointColumns::default();
            block.resize(50, balls);
            block.clear();
            assert_eq!([block.append(&points, 3, 3), block.append(&points, 20, 37)], [3, 37]);
            assert_eq!([block.append(&points, 5, 6), block.append(&points, 10, 60)], [6, 42]);
            assert_eq!((block.append(&points, 42, 60), block.len()), (42, 50));
            for (at, from) in (20..37).chain(5..6).chain(10..42).enumerate() {
                assert_eq!(block.coordinates(at), points.coordinates(from));
                assert_eq!((block.number(at), block.radius(at)), (points.number(from), points.radius(from)));
            }
        }
    }

    #[test]
    fn a_negative_limit_holds_nothing() {
        let points = columns(3, false);
        for level in SimdLevel::available() {
            let mut out = Found::new();
            found(level, &points, 1, 0, PairLimits { sure: -20.0, maybe: 0.0 }, &mut out);
            assert_eq!(out, [(1001, false)], "{level:?}");
        }
    }
}
