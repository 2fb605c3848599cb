//! One box against a run of boxes, eight or sixteen at a time, on each instruction set.

use super::Portable;

/// Most boxes that are tested at a time.
pub(crate) const MOST_LANES: usize = 16;

/// Boxes coordinate by coordinate: low x, y, z, high x, y, z.
#[derive(Debug, Clone, Default)]
pub(crate) struct Columns {
    /// Each with [`MOST_LANES`] numbers more than there are boxes, so that whole vectors can be loaded.
    columns: [Vec<f32>; 6],
    count: usize,
}

impl Columns {
    /// Makes room for `count` boxes.
    pub fn resize(&mut self, count: usize) {
        self.columns.iter_mut().for_each(|column| column.resize(count + MOST_LANES, 0.0));
        self.count = count;
    }

    /// One box.
    #[inline(always)]
    pub fn get(&self, at: usize) -> [f32; 6] {
        std::array::from_fn(|k| self.columns[k][at])
    }

    /// The numbers, to be written.
    pub fn as_mut_slices(&mut self) -> [&mut [f32]; 6] {
        self.columns.each_mut().map(Vec::as_mut_slice)
    }

    /// The boxes from `at` to `end`.
    ///
    /// # Panics
    /// If some of them are not there.
    #[inline(always)]
    pub fn run(&self, at: usize, end: usize) -> Run<'_> {
        // Most runs of a search are empty, and those need not look at the count.
        assert!(at >= end || end <= self.count, "a run ends within the boxes");
        Run { boxes: self, at, end }
    }
}

/// Some boxes one after another; unless there are none, they end within the columns.
pub(crate) struct Run<'b> {
    boxes: &'b Columns,
    at: usize,
    end: usize,
}

impl<'b> Run<'b> {
    /// The first boxes that are left.
    #[inline(always)]
    pub fn first(&self) -> Option<Batch<'b>> {
        (self.at < self.end).then_some(Batch { boxes: self.boxes, at: self.at, end: self.end })
    }

    /// Goes on by `count` boxes.
    #[inline(always)]
    pub fn skip(&mut self, count: usize) {
        self.at += count;
    }
}

/// Boxes that are tested at a time: those of a [`Run`] from `at` on, of which there is one at least.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'b> {
    boxes: &'b Columns,
    at: usize,
    end: usize,
}

impl Batch<'_> {
    /// The number of the first.
    #[inline(always)]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Which share a point with box `a`.
    #[inline(always)]
    pub fn meet<L: Lanes>(self, lanes: L, a: &[L::Vector; 6]) -> u32 {
        let left = self.end - self.at;
        lanes.meet(a, self) & if left < L::WIDTH { (1 << left) - 1 } else { u32::MAX }
    }
}

/// What a search needs of an instruction set; every version gives the same bits.
pub(crate) trait Lanes: Copy {
    /// Boxes in a vector.
    const WIDTH: usize;
    /// One number in each lane.
    type Vector: Copy;

    /// The same number in all lanes.
    fn splat(self, x: f32) -> Self::Vector;

    /// Which of the boxes in a vector share a point with box `a`; those behind the run may be anything.
    fn meet(self, a: &[Self::Vector; 6], batch: Batch<'_>) -> u32;

    /// Writes `first` + lane for the lanes in `mask`, in their order; the rest of `to` may be anything.
    fn pack(self, mask: u32, first: u32, to: &mut [u32; MOST_LANES]);
}

/// Eight lanes in plain loops.
impl Lanes for Portable {
    const WIDTH: usize = 8;
    type Vector = [f32; 8];

    #[inline(always)]
    fn splat(self, x: f32) -> [f32; 8] {
        [x; 8]
    }

    #[inline(always)]
    fn meet(self, a: &[[f32; 8]; 6], Batch { boxes, at, .. }: Batch<'_>) -> u32 {
        let mut meet = [true; 8];
        for k in 0..3 {
            let (low, high) = (&boxes.columns[k][at..at + 8], &boxes.columns[k + 3][at..at + 8]);
            for j in 0..8 {
                meet[j] &= (low[j] <= a[k + 3][j]) & (a[k][j] <= high[j]);
            }
        }
        meet.iter().enumerate().fold(0, |mask, (j, &one)| mask | u32::from(one) << j)
    }

    #[inline(always)]
    fn pack(self, mask: u32, first: u32, to: &mut [u32; MOST_LANES]) {
        let (mut left, mut count) = (mask, 0);
        while left != 0 {
            // No mask has more lanes: the remainder costs less than a check.
            to[count % MOST_LANES] = first + left.trailing_zeros();
            count += 1;
            left &= left - 1;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::{Avx2, Avx512};
    use super::{Batch, Lanes, MOST_LANES, Portable};

    /// One coordinate of the boxes of a batch.
    #[inline(always)]
    fn column(batch: Batch<'_>, k: usize) -> *const f32 {
        let column = &batch.boxes.columns[k];
        debug_assert!(batch.at + MOST_LANES <= column.len());
        // SAFETY: `at` is below the number of boxes, and the column is longer than that.
        unsafe { column.as_ptr().add(batch.at) }
    }

    /// The gaps on axis k.
    #[inline(always)]
    fn axis(_: Avx2, a: &[__m256; 6], batch: Batch<'_>, k: usize) -> __m256 {
        // SAFETY: the proof of AVX2 is there; the columns are longer than `at` by a vector.
        unsafe {
            let after = _mm256_sub_ps(_mm256_loadu_ps(column(batch, k)), a[k + 3]);
            let ahead = _mm256_sub_ps(a[k], _mm256_loadu_ps(column(batch, k + 3)));
            _mm256_max_ps(after, ahead)
        }
    }

    impl Lanes for Avx2 {
        const WIDTH: usize = 8;
        type Vector = __m256;

        #[inline(always)]
        fn splat(self, x: f32) -> __m256 {
            // SAFETY: `self` proves AVX2.
            unsafe { _mm256_set1_ps(x) }
        }

        #[inline(always)]
        fn meet(self, a: &[__m256; 6], batch: Batch<'_>) -> u32 {
            let (x, y, z) = (axis(self, a, batch, 0), axis(self, a, batch, 1), axis(self, a, batch, 2));
            // SAFETY: `self` proves AVX2.
            unsafe {
                let gaps = _mm256_max_ps(_mm256_max_ps(x, y), z);
                _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(gaps, _mm256_setzero_ps())) as u32
            }
        }

        #[inline(always)]
        fn pack(self, mask: u32, first: u32, to: &mut [u32; MOST_LANES]) {
            Portable.pack(mask, first, to);
        }
    }

    /// The gaps on axis k.
    #[inline(always)]
    fn axis_512(_: Avx512, a: &[__m512; 6], batch: Batch<'_>, k: usize) -> __m512 {
        // SAFETY: the proof of AVX-512 is there; the columns are longer than `at` by a vector.
        unsafe {
            let after = _mm512_sub_ps(_mm512_loadu_ps(column(batch, k)), a[k + 3]);
            let ahead = _mm512_sub_ps(a[k], _mm512_loadu_ps(column(batch, k + 3)));
            _mm512_max_ps(after, ahead)
        }
    }

    impl Lanes for Avx512 {
        const WIDTH: usize = 16;
        type Vector = __m512;

        #[inline(always)]
        fn splat(self, x: f32) -> __m512 {
            // SAFETY: `self` proves AVX-512.
            unsafe { _mm512_set1_ps(x) }
        }

        #[inline(always)]
        fn meet(self, a: &[__m512; 6], batch: Batch<'_>) -> u32 {
            let x = axis_512(self, a, batch, 0);
            let y = axis_512(self, a, batch, 1);
            let z = axis_512(self, a, batch, 2);
            // SAFETY: `self` proves AVX-512.
            unsafe {
                let gaps = _mm512_max_ps(_mm512_max_ps(x, y), z);
                u32::from(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(gaps, _mm512_setzero_ps()))
            }
        }

        #[inline(always)]
        fn pack(self, mask: u32, first: u32, to: &mut [u32; MOST_LANES]) {
            // SAFETY: `self` proves AVX-512, and `to` holds a vector.
            unsafe {
                let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                let slots = _mm512_add_epi32(lanes, _mm512_set1_epi32(first as i32));
                let packed = _mm512_maskz_compress_epi32(mask as u16, slots);
                _mm512_storeu_si512(to.as_mut_ptr().cast(), packed);
            }
        }
    }
}
