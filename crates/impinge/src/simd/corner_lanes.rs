//! One triangle in f64, a corner or a coordinate in each lane, on each instruction set: what a hit of a ray is decided
//! on. Every version gives the same bits.

use super::Portable;

/// Three numbers in f64, one for each axis or corner; the fourth is idle, so that they fill a register.
pub(crate) type Axes = [f64; 4];

/// From where and along what a triangle is seen: a ray whose longest axis becomes the third one by a shear.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sight {
    pub origin: Axes,
    /// The axis along which the ray goes farthest.
    pub longest: usize,
    /// How far it goes along the two axes that follow, round and round, for each step along the longest one.
    pub shear: [f64; 2],
    /// Multiplies lengths.
    pub scale: f64,
}

/// A triangle as it is seen, corner by corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seen {
    /// Twice the signed area between the line and the side across from each corner.
    pub areas: Axes,
    /// How far each corner is from the line, in the sum of the magnitudes.
    pub sizes: Axes,
    /// Where each corner is along the longest axis.
    pub places: Axes,
}

/// What is done to the corners of a triangle.
pub(crate) trait CornerLanes: Copy {
    /// A matrix, column by column, times a vector.
    fn product(self, columns: &[Axes; 3], v: &[f64; 3]) -> Axes;

    /// A matrix times the way between two points.
    fn product_of_way(self, columns: &[Axes; 3], from: &[f64; 3], to: &[f64; 3]) -> Axes;

    /// A matrix times a vector, moved.
    fn placed(self, columns: &[Axes; 3], shift: &Axes, v: &[f64; 3]) -> Axes;

    /// How a triangle lies to a ray.
    fn seen(self, sight: &Sight, corners: &[Axes; 3]) -> Seen;
}

impl CornerLanes for Portable {
    #[inline(always)]
    fn product(self, [a, b, c]: &[Axes; 3], &[x, y, z]: &[f64; 3]) -> Axes {
        let row = |k: usize| (a[k] * x + b[k] * y) + c[k] * z;
        [row(0), row(1), row(2), row(3)]
    }

    #[inline(always)]
    fn product_of_way(self, columns: &[Axes; 3], from: &[f64; 3], to: &[f64; 3]) -> Axes {
        self.product(columns, &[0, 1, 2].map(|k| to[k] - from[k]))
    }

    #[inline(always)]
    fn placed(self, columns: &[Axes; 3], shift: &Axes, v: &[f64; 3]) -> Axes {
        let turned = self.product(columns, v);
        [0, 1, 2, 3].map(|k| turned[k] + shift[k])
    }

    #[inline(always)]
    fn seen(self, sight: &Sight, corners: &[Axes; 3]) -> Seen {
        let Sight { origin, longest: z, shear, scale } = sight;
        let [p, q, r] = corners.each_ref().map(|corner| {
            let arm = |axis: usize| (corner[axis] - origin[axis]) * scale;
            let place = arm(*z);
            [arm((z + 1) % 3) - shear[0] * place, arm((z + 2) % 3) - shear[1] * place, place]
        });
        let area = |p: [f64; 3], q: [f64; 3]| q[0] * p[1] - q[1] * p[0];
        let size = |p: [f64; 3]| p[0].abs() + p[1].abs();
        Seen {
            areas: [area(q, r), area(r, p), area(p, q), 0.0],
            sizes: [size(p), size(q), size(r), 0.0],
            places: [p[2], q[2], r[2], 0.0],
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::avx::{across, load_axes, store_axes};
    use super::super::{Avx2, Avx512};
    use super::{Axes, CornerLanes, Seen, Sight};

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn sum_of_columns(columns: &[Axes; 3], v: [__m256d; 3]) -> __m256d {
        let [a, b, c] = [0, 1, 2].map(|k| _mm256_mul_pd(load_axes(&columns[k]), v[k]));
        _mm256_add_pd(_mm256_add_pd(a, b), c)
    }

    /// Each number in all lanes.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn spread([x, y, z]: &[f64; 3]) -> [__m256d; 3] {
        [_mm256_broadcast_sd(x), _mm256_broadcast_sd(y), _mm256_broadcast_sd(z)]
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn product(columns: &[Axes; 3], v: &[f64; 3]) -> Axes {
        store_axes(sum_of_columns(columns, spread(v)))
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn product_of_way(columns: &[Axes; 3], from: &[f64; 3], to: &[f64; 3]) -> Axes {
        // In all lanes at once: a number that was just written is not there yet to be read into all of them.
        let (from, to) = (spread(from), spread(to));
        store_axes(sum_of_columns(columns, [0, 1, 2].map(|k| _mm256_sub_pd(to[k], from[k]))))
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn placed(columns: &[Axes; 3], shift: &Axes, v: &[f64; 3]) -> Axes {
        store_axes(_mm256_add_pd(sum_of_columns(columns, spread(v)), load_axes(shift)))
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn seen(sight: &Sight, corners: &[Axes; 3]) -> Seen {
        let origin = load_axes(&sight.origin);
        let shear = _mm256_setr_pd(sight.shear[0], sight.shear[1], 0.0, 0.0);
        let scale = _mm256_set1_pd(sight.scale);
        let sheared = |corner: &Axes| {
            let arm = across(sight.longest, _mm256_mul_pd(_mm256_sub_pd(load_axes(corner), origin), scale));
            let place = _mm256_permute4x64_pd::<0b10_10_10_10>(arm);
            _mm256_blend_pd::<0b1100>(_mm256_sub_pd(arm, _mm256_mul_pd(shear, place)), place)
        };
        let [p, q, r] = [sheared(&corners[0]), sheared(&corners[1]), sheared(&corners[2])];
        // From a corner in each register to one in each lane; the last one twice.
        let (low, low_of_r) = (_mm256_unpacklo_pd(p, q), _mm256_unpacklo_pd(r, r));
        let (high, high_of_r) = (_mm256_unpackhi_pd(p, q), _mm256_unpackhi_pd(r, r));
        let x = _mm256_permute2f128_pd::<0x20>(low, low_of_r);
        let y = _mm256_permute2f128_pd::<0x20>(high, high_of_r);
        let places = _mm256_permute2f128_pd::<0x31>(low, low_of_r);
        let next = |v: __m256d| _mm256_permute4x64_pd::<0b00_00_10_01>(v);
        let last = |v: __m256d| _mm256_permute4x64_pd::<0b01_01_00_10>(v);
        let areas = _mm256_sub_pd(_mm256_mul_pd(last(x), next(y)), _mm256_mul_pd(last(y), next(x)));
        let minus = _mm256_set1_pd(-0.0);
        let sizes = _mm256_add_pd(_mm256_andnot_pd(minus, x), _mm256_andnot_pd(minus, y));
        Seen { areas: store_axes(areas), sizes: store_axes(sizes), places: store_axes(places) }
    }

    macro_rules! implement {
        ($($level:ty),*) => {$(
            impl CornerLanes for $level {
                #[inline(always)]
                fn product(self, columns: &[Axes; 3], v: &[f64; 3]) -> Axes {
                    // SAFETY: `self` proves AVX2 and FMA.
                    unsafe { product(columns, v) }
                }

                #[inline(always)]
                fn product_of_way(self, columns: &[Axes; 3], from: &[f64; 3], to: &[f64; 3]) -> Axes {
                    // SAFETY: `self` proves AVX2 and FMA.
                    unsafe { product_of_way(columns, from, to) }
                }

                #[inline(always)]
                fn placed(self, columns: &[Axes; 3], shift: &Axes, v: &[f64; 3]) -> Axes {
                    // SAFETY: `self` proves AVX2 and FMA.
                    unsafe { placed(columns, shift, v) }
                }

                #[inline(always)]
                fn seen(self, sight: &Sight, corners: &[Axes; 3]) -> Seen {
                    // SAFETY: `self` proves AVX2 and FMA.
                    unsafe { seen(sight, corners) }
                }
            }
        )*};
    }

    implement!(Avx2, Avx512);
}
