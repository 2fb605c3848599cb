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

    /// The boxes from `at` to `end`. Runs are short: to check each takes 4 % more instructions in a search of
    /// 5,000 moving boxes.
    ///
    /// # Safety
    /// `end` is at most the number of boxes.
    #[inline(always)]
    pub unsafe fn run(&self, at: usize, end: usize) -> Run<'_> {
        debug_assert!(end <= self.count, "a run ends within the boxes");
        Run { boxes: self, at, end }
    }
}

/// Some boxes one after another; `end` is at most the number of boxes.
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
            to[count] = first + left.trailing_zeros();
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

#[cfg(test)]
mod tests {
    use super::{Columns, Lanes, MOST_LANES};
    use crate::simd::{SimdLevel, dispatch};

    fn columns(count: usize) -> Columns {
        let mut columns = Columns::default();
        columns.resize(count);
        for (k, column) in columns.as_mut_slices().into_iter().enumerate() {
            let size = if k < 3 { 0.0 } else { 1.5 };
            // Behind the last box stands one that meets everything.
            let behind = if k < 3 { f32::NEG_INFINITY } else { f32::INFINITY };
            column.iter_mut().enumerate().for_each(|(i, x)| {
                *x = if i < count { (i * (k % 3 + 1) % 7) as f32 + size } else { behind };
            });
        }
        columns
    }

    dispatch! {
        fn meeting(boxes: &Columns, a: &[f32; 6], at: usize, out: &mut Vec<u32>) = proof meeting_plain
    }

    #[inline(always)]
    fn meeting_plain<L: Lanes>(lanes: L, boxes: &Columns, a: &[f32; 6], at: usize, out: &mut Vec<u32>) {
        let [lx, ly, lz, hx, hy, hz] = *a;
        let a = [
            lanes.splat(lx),
            lanes.splat(ly),
            lanes.splat(lz),
            lanes.splat(hx),
            lanes.splat(hy),
            lanes.splat(hz),
        ];
        // SAFETY: it ends with the last box.
        let mut run = unsafe { boxes.run(at, boxes.count) };
        while let Some(batch) = run.first() {
            let mut packed = [0; MOST_LANES];
            let meet = batch.meet(lanes, &a);
            lanes.pack(meet, batch.at() as u32, &mut packed);
            out.extend(&packed[..meet.count_ones() as usize]);
            run.skip(L::WIDTH);
        }
    }

    #[test]
    fn every_instruction_set_finds_the_boxes_that_meet_one_and_none_behind_the_run() {
        let mut found = 0;
        for count in 0..40 {
            let boxes = columns(count);
            let a = [2.0, 2.0, 2.0, 4.0, 4.0, 4.0];
            let meets = |i: &usize| {
                let b = boxes.get(*i);
                (0..3).all(|k| b[k] <= a[k + 3] && a[k] <= b[k + 3])
            };
            for at in [0, count / 2, count] {
                let want: Vec<u32> = (at..count).filter(meets).map(|i| i as u32).collect();
                for level in SimdLevel::available() {
                    let mut out = Vec::new();
                    meeting(level, &boxes, &a, at, &mut out);
                    assert_eq!(out, want, "{level:?}, {at} of {count}");
                }
                found += want.len();
            }
        }
        // Of 1,180 boxes that were asked for, counting each starting point.
        assert!((100..700).contains(&found), "{found}");
    }

    #[test]
    fn an_empty_run_may_begin_anywhere() {
        let boxes = columns(3);
        for at in [3, 4, usize::MAX] {
            // SAFETY: it ends with the last box.
            assert!(unsafe { boxes.run(at, 3) }.first().is_none());
        }
    }
}
