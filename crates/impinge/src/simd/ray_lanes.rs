//! A ray against eight boxes or eight triangles, on each instruction set: the two steps of a search along a ray.
//!
//! Boxes are slabs (Kay and Kajiya 1986) with every rounding on the safe side, as by Ize, *Robust BVH ray
//! traversal* (2013): it stands in the numbers of [`Slabs`], so that it costs nothing here. Triangles are the
//! signed areas of Woop, Benthin and Wald, *Watertight ray/triangle intersection* (2013), with a bound of their
//! error: a lane is surely missed, surely hit, or left to the caller.

use super::Portable;

/// Boxes or triangles at a time.
pub(crate) const LANES: usize = 8;

/// One number for each lane.
pub(crate) type Lanes = [f32; LANES];

/// A ray for boxes: planes are met at `(plane − origin)·inverse`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slabs {
    /// For the plane of each axis that is met first: the origin, moved so that the planes come nearer.
    pub near_origin: [f32; 3],
    /// For the plane that is met last: the origin, moved so that the planes go farther.
    pub far_origin: [f32; 3],
    /// Reciprocals of the direction, smaller by the rounding.
    pub near_inverse: [f32; 3],
    /// The same, larger by the rounding.
    pub far_inverse: [f32; 3],
    /// Which of the planes (low x, y, z, high x, y, z) are met first.
    pub near: [u8; 3],
    /// Which are met last.
    pub far: [u8; 3],
}

/// A ray for triangles: its line in the plane across its longest axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    /// The axes of the plane, then the longest one.
    pub axes: [u8; 3],
    /// How far the line moves across while it goes 1 along.
    pub shear: [f32; 2],
    /// Where it passes 0 of the longest axis.
    pub foot: [f32; 2],
    /// No sheared coordinate is off by more.
    pub error: f32,
    /// What lies by this within the places asked for is between the true ones.
    pub margin: f32,
}

/// What eight triangles are to a ray.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Lanes that may be hit.
    pub maybe: u8,
    /// Those of them that are hit for sure.
    pub surely: u8,
}

/// The two steps; every version gives the same masks, to the rounding that [`Line::error`] covers.
pub(crate) trait RayLanes: Copy {
    /// Where the ray enters each of eight boxes (low x, y, z, high x, y, z), not before 0, and which of them it
    /// enters before `until`.
    fn boxes(self, ray: &Slabs, planes: &[Lanes; 6], until: f32) -> (u8, Lanes);

    /// Which of eight triangles (x, y, z of the first corners, then of the others) the ray hits between two
    /// places of its longest axis; a lane of NaN is none.
    fn triangles(self, ray: &Line, corners: &[[Lanes; 3]; 3], between: [f32; 2]) -> Touched;
}

impl RayLanes for Portable {
    #[inline(always)]
    fn boxes(self, ray: &Slabs, planes: &[Lanes; 6], until: f32) -> (u8, Lanes) {
        let (mut enter, mut leave) = ([0.0_f32; LANES], [until; LANES]);
        for k in 0..3 {
            let (near, far) = (&planes[ray.near[k] as usize], &planes[ray.far[k] as usize]);
            for lane in 0..LANES {
                enter[lane] = enter[lane].max((near[lane] - ray.near_origin[k]) * ray.near_inverse[k]);
                leave[lane] = leave[lane].min((far[lane] - ray.far_origin[k]) * ray.far_inverse[k]);
            }
        }
        let mask = (0..LANES).fold(0, |mask, lane| mask | u8::from(enter[lane] <= leave[lane]) << lane);
        (mask, enter)
    }

    #[inline(always)]
    fn triangles(self, ray: &Line, corners: &[[Lanes; 3]; 3], [low, high]: [f32; 2]) -> Touched {
        let mut touched = Touched { maybe: 0, surely: 0 };
        let [x, y, z] = ray.axes.map(usize::from);
        for lane in 0..LANES {
            let [a, b, c] = corners.each_ref().map(|corner| {
                let along = corner[z][lane];
                let across = [x, y].map(|axis| corner[axis][lane]);
                [
                    (across[0] - ray.foot[0]) - ray.shear[0] * along,
                    (across[1] - ray.foot[1]) - ray.shear[1] * along,
                    along,
                ]
            });
            let area = |p: [f32; 3], q: [f32; 3]| q[0] * p[1] - q[1] * p[0];
            let (u, v, w) = (area(b, c), area(c, a), area(a, b));
            let size = [a, b, c].iter().map(|p| p[0].abs() + p[1].abs()).sum::<f32>();
            let error = area_error(ray.error, size);
            let (least, most) = (u.min(v).min(w), u.max(v).max(w));
            let (first, last) = (a[2].min(b[2]).min(c[2]), a[2].max(b[2]).max(c[2]));
            let missed = least < -error && most > error;
            let maybe = !missed && first <= high && last >= low;
            let within = first >= low + ray.margin && last <= high - ray.margin;
            let surely = maybe && (least > error || most < -error) && within;
            touched.maybe |= u8::from(maybe) << lane;
            touched.surely |= u8::from(surely) << lane;
        }
        touched
    }
}

/// How far a signed area can be off, when no coordinate is by more than `error` and all their magnitudes sum to
/// `size`: products of coordinates with errors, the products of errors, and the rounding of the area itself,
/// which is below the first because coordinates are below 8 and `error` is at least 2⁻²⁰.
#[inline(always)]
fn area_error(error: f32, size: f32) -> f32 {
    2.0 * error * size + 4.0 * error * error
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::avx::{absolute, load, store};
    use super::super::{Avx2, Avx512};
    use super::{LANES, Lanes, Line, RayLanes, Slabs, Touched};

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn boxes(ray: &Slabs, planes: &[Lanes; 6], until: f32) -> (u8, Lanes) {
        let plane = |row: u8, origin: f32, inverse: f32| {
            let from = _mm256_sub_ps(load(&planes[row as usize]), _mm256_set1_ps(origin));
            _mm256_mul_ps(from, _mm256_set1_ps(inverse))
        };
        let near = |k: usize| plane(ray.near[k], ray.near_origin[k], ray.near_inverse[k]);
        let far = |k: usize| plane(ray.far[k], ray.far_origin[k], ray.far_inverse[k]);
        // Of two zeros the second is taken, so that no place is −0.
        let enter =
            _mm256_max_ps(_mm256_max_ps(near(0), near(1)), _mm256_max_ps(near(2), _mm256_setzero_ps()));
        let leave =
            _mm256_min_ps(_mm256_min_ps(far(0), far(1)), _mm256_min_ps(far(2), _mm256_set1_ps(until)));
        let mask = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(enter, leave)) as u8;
        let mut out = [0.0; LANES];
        store(enter, &mut out);
        (mask, out)
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn triangles(ray: &Line, corners: &[[Lanes; 3]; 3], [low, high]: [f32; 2]) -> Touched {
        let [x, y, z] = ray.axes.map(usize::from);
        let (shear, foot) = (ray.shear.map(|s| _mm256_set1_ps(s)), ray.foot.map(|f| _mm256_set1_ps(f)));
        let sheared = |corner: &[Lanes; 3]| {
            let along = load(&corner[z]);
            let across = |axis: usize, k: usize| {
                _mm256_fnmadd_ps(shear[k], along, _mm256_sub_ps(load(&corner[axis]), foot[k]))
            };
            [across(x, 0), across(y, 1), along]
        };
        let [a, b, c] = [sheared(&corners[0]), sheared(&corners[1]), sheared(&corners[2])];
        let area = |p: [__m256; 3], q: [__m256; 3]| _mm256_fmsub_ps(q[0], p[1], _mm256_mul_ps(q[1], p[0]));
        let (u, v, w) = (area(b, c), area(c, a), area(a, b));
        let norm = |p: [__m256; 3]| _mm256_add_ps(absolute(p[0]), absolute(p[1]));
        let size = _mm256_add_ps(_mm256_add_ps(norm(a), norm(b)), norm(c));
        let (e, ee) = (_mm256_set1_ps(2.0 * ray.error), _mm256_set1_ps(4.0 * ray.error * ray.error));
        let error = _mm256_fmadd_ps(e, size, ee);
        let below = _mm256_sub_ps(_mm256_setzero_ps(), error);
        let least = _mm256_min_ps(_mm256_min_ps(u, v), w);
        let most = _mm256_max_ps(_mm256_max_ps(u, v), w);
        let first = _mm256_min_ps(_mm256_min_ps(a[2], b[2]), c[2]);
        let last = _mm256_max_ps(_mm256_max_ps(a[2], b[2]), c[2]);
        let less = |p: __m256, q: __m256| _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(p, q)) as u8;
        let at_most = |p: __m256, q: __m256| _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(p, q)) as u8;
        let all = |x: f32| _mm256_set1_ps(x);
        let missed = less(least, below) & less(error, most);
        let maybe = !missed & at_most(first, all(high)) & at_most(all(low), last);
        if maybe == 0 {
            return Touched { maybe, surely: 0 };
        }
        let one_side = less(error, least) | less(most, below);
        let within = at_most(all(low + ray.margin), first) & at_most(last, all(high - ray.margin));
        Touched { maybe, surely: maybe & one_side & within }
    }

    macro_rules! implement {
        ($($level:ty),*) => {$(
            impl RayLanes for $level {
                #[inline(always)]
                fn boxes(self, ray: &Slabs, planes: &[Lanes; 6], until: f32) -> (u8, Lanes) {
                    // SAFETY: `self` proves AVX2 and FMA.
                    unsafe { boxes(ray, planes, until) }
                }

                #[inline(always)]
                fn triangles(self, ray: &Line, corners: &[[Lanes; 3]; 3], between: [f32; 2]) -> Touched {
                    // SAFETY: `self` proves AVX2 and FMA.
                    unsafe { triangles(ray, corners, between) }
                }
            }
        )*};
    }

    implement!(Avx2, Avx512);
}
