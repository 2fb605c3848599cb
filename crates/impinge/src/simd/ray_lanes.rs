//! A ray against eight boxes or eight triangles, on each instruction set: the two steps of a search along a ray.
//!
//! Boxes are slabs (Kay and Kajiya 1986) with every rounding on the safe side, as by Ize, *Robust BVH ray
//! traversal* (2013): it stands in the numbers of [`Slabs`], so that it costs nothing here. Triangles are the
//! signed areas of Woop, Benthin and Wald, *Watertight ray/triangle intersection* (2013), with a bound of their
//! error: a lane is surely missed, surely hit, or left to the caller.

use super::Portable;
use super::corner_lanes::{Axes, CornerLanes};

/// Boxes or triangles at a time.
pub(crate) const LANES: usize = 8;

/// One number for each lane.
pub(crate) type Lanes = [f32; LANES];

/// A ray for boxes: planes are met at `plane·inverse + offset`. Fourth numbers are idle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slabs {
    /// For the plane of each axis that is met first: the reciprocal of the direction, smaller by the rounding.
    pub near_inverse: [f32; 4],
    /// The negated origin, moved so that the planes come nearer, times the inverse.
    pub near_offset: [f32; 4],
    /// For the plane that is met last: the reciprocal, larger by the rounding.
    pub far_inverse: [f32; 4],
    /// The negated origin, moved so that the planes go farther, times the inverse.
    pub far_offset: [f32; 4],
    /// One of [`ROWS`].
    rows: &'static [usize; 6],
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
    /// Makes places on the longest axis rise along the ray: 1 or −1.
    pub forward: f32,
    /// No triangle before this place is hit.
    pub from: f32,
    /// No sheared coordinate is off by more.
    pub error: f32,
    /// What lies by this within the places asked for is between the true ones; half of it is more than a place is off.
    pub margin: f32,
}

/// What the numbers of a ray make up for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rounding {
    /// Boxes are larger by so much on each side; the fourth number is by how much a place may be off.
    pub pad: Axes,
    /// Components of the direction below this are raised to it.
    pub flattest: f64,
    /// The error of the place where a plane is met, relative to the place.
    pub slab: f32,
    /// [`Line::error`].
    pub error: f32,
    /// [`Line::margin`].
    pub margin: f32,
}

/// For each axis the two that follow, round and round, and itself.
const ACROSS: [[u8; 3]; 3] = [[1, 2, 0], [2, 0, 1], [0, 1, 2]];

/// What eight triangles are to a ray.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Lanes that may be hit.
    pub maybe: u8,
    /// Those of them that are hit for sure.
    pub surely: u8,
}

/// Where eight triangles are hit, as places of [`Line::forward`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Crossed {
    /// Lanes that may be hit.
    pub maybe: u8,
    /// Not before this.
    pub near: Lanes,
    /// For sure, and not after this; infinite in lanes that may be missed.
    pub far: Lanes,
}

/// By how many errors of an area, relative to the sum of all three, the place of a hit may be off, relative to the spread
/// of the corners' places. Each area is off by one error and the sum by three, so the weights are off by six errors of
/// the true sum, all together, and the place by half of that. The true sum is more than half of the known one, or this is
/// more than the whole spread: six would do.
const WEIGHT_ERRORS: f32 = 8.0;

/// What is done to a ray before and at the two steps; every version gives the same masks, to the rounding that [`Line::error`] covers.
pub(crate) trait RayLanes: CornerLanes {
    /// The largest magnitude, and on which axis; NaN may be passed over.
    fn largest(self, v: &Axes) -> (f64, usize);

    /// A ray from a place with a direction whose longest component is that of the axis `z`, and how far along that axis
    /// the place is, counted forward; see [`Rounding`].
    fn set_up(self, from: &Axes, step: &Axes, z: usize, rounding: &Rounding) -> (Slabs, Line, f64);

    /// Where the ray enters each of eight boxes (low and high planes of each axis), not before 0, and which of them
    /// it enters before `until`.
    fn boxes(self, ray: &Slabs, planes: &[[Lanes; 2]; 3], until: f32) -> (u8, Lanes);

    /// Which of eight triangles (x, y, z of the first corners, then of the others) the ray hits before a place of
    /// [`Line::forward`]; a lane of NaN is none.
    fn triangles(self, ray: &Line, corners: &[[Lanes; 3]; 3], to: f32) -> Touched;

    /// The same, and where.
    fn crossings(self, ray: &Line, corners: &[[Lanes; 3]; 3], to: f32) -> Crossed;
}

impl RayLanes for Portable {
    #[inline(always)]
    fn largest(self, v: &Axes) -> (f64, usize) {
        (1..3).fold((v[0].abs(), 0), |best, k| if v[k].abs() > best.0 { (v[k].abs(), k) } else { best })
    }

    #[inline(always)]
    fn set_up(self, from: &Axes, step: &Axes, z: usize, rounding: &Rounding) -> (Slabs, Line, f64) {
        let axis = |k: usize| {
            let inverse = (step[k].abs().max(rounding.flattest).copysign(step[k]) as f32).recip();
            let (near, far) = (inverse * (1.0 - rounding.slab), inverse * (1.0 + rounding.slab));
            // The near plane of a rising ray is the low one; a higher origin brings it nearer.
            let towards = rounding.pad[k].copysign(step[k]);
            [near, (-from[k] - towards) as f32 * near, far, (towards - from[k]) as f32 * far]
        };
        let axes = [axis(0), axis(1), axis(2)];
        let four = |i: usize| [axes[0][i], axes[1][i], axes[2][i], 0.0];
        let falls = (0..3).map(|k| usize::from(step[k].is_sign_negative()) << k).sum::<usize>();
        let slabs = Slabs {
            near_inverse: four(0),
            near_offset: four(1),
            far_inverse: four(2),
            far_offset: four(3),
            rows: &ROWS[falls],
        };
        let [x, y, z] = ACROSS[z].map(usize::from);
        let depth = from[z] * 1.0_f64.copysign(step[z]);
        let per_depth = step[z].recip();
        let shear = [step[x] * per_depth, step[y] * per_depth];
        let line = Line {
            axes: ACROSS[z],
            shear: shear.map(|s| s as f32),
            foot: [(from[x] - shear[0] * from[z]) as f32, (from[y] - shear[1] * from[z]) as f32],
            forward: 1.0_f32.copysign(step[z] as f32),
            from: (depth - 2.0 * rounding.pad[3]) as f32,
            error: rounding.error,
            margin: rounding.margin,
        };
        (slabs, line, depth)
    }

    #[inline(always)]
    fn boxes(self, ray: &Slabs, planes: &[[Lanes; 2]; 3], until: f32) -> (u8, Lanes) {
        let (mut enter, mut leave) = ([0.0_f32; LANES], [until; LANES]);
        for k in 0..3 {
            let numbers = planes.as_flattened().as_flattened();
            let (near, far) = (&numbers[ray.rows[k]..], &numbers[ray.rows[3 + k]..]);
            for lane in 0..LANES {
                enter[lane] = enter[lane].max(near[lane] * ray.near_inverse[k] + ray.near_offset[k]);
                leave[lane] = leave[lane].min(far[lane] * ray.far_inverse[k] + ray.far_offset[k]);
            }
        }
        let mask = (0..LANES).fold(0, |mask, lane| mask | u8::from(enter[lane] <= leave[lane]) << lane);
        (mask, enter)
    }

    #[inline(always)]
    fn triangles(self, ray: &Line, corners: &[[Lanes; 3]; 3], to: f32) -> Touched {
        let mut touched = Touched { maybe: 0, surely: 0 };
        for lane in 0..LANES {
            let areas = Areas::new(ray, corners, lane);
            let maybe = areas.may_be_hit(ray.from, to);
            let within = areas.first >= ray.from + ray.margin && areas.last <= to - ray.margin;
            touched.maybe |= u8::from(maybe) << lane;
            touched.surely |= u8::from(maybe && areas.one_side() && within) << lane;
        }
        touched
    }

    #[inline(always)]
    fn crossings(self, ray: &Line, corners: &[[Lanes; 3]; 3], to: f32) -> Crossed {
        let mut crossed = Crossed { maybe: 0, near: [0.0; LANES], far: [f32::INFINITY; LANES] };
        for lane in 0..LANES {
            let areas = Areas::new(ray, corners, lane);
            crossed.maybe |= u8::from(areas.may_be_hit(ray.from, to)) << lane;
            crossed.near[lane] = areas.first - 0.5 * ray.margin;
            if areas.one_side() {
                let ([u, v, w], [a, b, c]) = (areas.areas, areas.places);
                let inverse = (u + v + w).recip();
                let spread = (areas.last - areas.first) * (WEIGHT_ERRORS * areas.error);
                let slack = spread * inverse.abs() + 0.5 * ray.margin;
                let place = (u * a + v * b + w * c) * inverse;
                crossed.near[lane] = place - slack;
                if place - slack >= ray.from + ray.margin {
                    crossed.far[lane] = place + slack;
                }
            }
        }
        crossed
    }
}

/// For each set of axes along which a ray falls, by bits, where among the numbers of all planes those begin that it meets
/// first on each axis, then those that it meets last.
static ROWS: [[usize; 6]; 8] = {
    let mut rows = [[0; 6]; 8];
    let mut at = 0;
    while at < 8 * 6 {
        let (falls, axis, is_last) = (at / 6, at % 3, at % 6 / 3);
        let is_high = (falls >> axis & 1) ^ is_last;
        rows[falls][at % 6] = (2 * axis + is_high) * LANES;
        at += 1;
    }
    rows
};

/// A triangle seen along a ray.
struct Areas {
    /// Twice the signed areas across from the corners.
    areas: [f32; 3],
    /// How far they can be off.
    error: f32,
    /// Where the corners are along the ray.
    places: [f32; 3],
    first: f32,
    last: f32,
}

impl Areas {
    #[inline(always)]
    fn new(ray: &Line, corners: &[[Lanes; 3]; 3], lane: usize) -> Areas {
        let [x, y, z] = ray.axes.map(usize::from);
        let [a, b, c] = corners.each_ref().map(|corner| {
            let along = corner[z][lane];
            let across = |axis: usize, k: usize| (corner[axis][lane] - ray.foot[k]) - ray.shear[k] * along;
            [across(x, 0), across(y, 1), along * ray.forward]
        });
        let area = |p: [f32; 3], q: [f32; 3]| q[0] * p[1] - q[1] * p[0];
        let size = [a, b, c].iter().map(|p| p[0].abs() + p[1].abs()).sum::<f32>();
        Areas {
            areas: [area(b, c), area(c, a), area(a, b)],
            error: area_error(ray.error, size),
            places: [a[2], b[2], c[2]],
            first: a[2].min(b[2]).min(c[2]),
            last: a[2].max(b[2]).max(c[2]),
        }
    }

    /// Whether all areas surely have the same sign.
    #[inline(always)]
    fn one_side(&self) -> bool {
        self.areas.iter().all(|&area| area > self.error) || self.areas.iter().all(|&area| area < -self.error)
    }

    #[inline(always)]
    fn may_be_hit(&self, from: f32, to: f32) -> bool {
        let missed = self.areas.iter().any(|&area| area < -self.error)
            && self.areas.iter().any(|&area| area > self.error);
        !missed && self.first <= to && self.last >= from
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

    use super::super::avx::{absolute, across, load, load_axes, store};
    use super::super::{Avx2, Avx512};
    use super::{
        ACROSS, Axes, Crossed, LANES, Lanes, Line, ROWS, RayLanes, Rounding, Slabs, Touched, WEIGHT_ERRORS,
    };

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn largest(v: &Axes) -> (f64, usize) {
        let sizes = _mm256_andnot_pd(_mm256_set1_pd(-0.0), load_axes(v));
        // The idle number does not count: it becomes that of z.
        let sizes = _mm256_permute4x64_pd::<0b10_10_01_00>(sizes);
        let two = _mm_max_pd(_mm256_castpd256_pd128(sizes), _mm256_extractf128_pd::<1>(sizes));
        let one = _mm_max_sd(two, _mm_unpackhi_pd(two, two));
        let same = _mm256_cmp_pd::<_CMP_EQ_OQ>(sizes, _mm256_broadcastsd_pd(one));
        let axis = (_mm256_movemask_pd(same) | 0b100).trailing_zeros();
        (_mm_cvtsd_f64(one), axis as usize)
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn set_up(from: &Axes, step: &Axes, z: usize, rounding: &Rounding) -> (Slabs, Line, f64) {
        let (from, step, pad) = (load_axes(from), load_axes(step), load_axes(&rounding.pad));
        let minus = _mm256_set1_pd(-0.0);
        let sign = _mm256_and_pd(minus, step);
        let size = _mm256_max_pd(_mm256_andnot_pd(minus, step), _mm256_set1_pd(rounding.flattest));
        let inverse = _mm_div_ps(_mm_set1_ps(1.0), _mm256_cvtpd_ps(_mm256_or_pd(size, sign)));
        let near = _mm_mul_ps(inverse, _mm_set1_ps(1.0 - rounding.slab));
        let far = _mm_mul_ps(inverse, _mm_set1_ps(1.0 + rounding.slab));
        // The near plane of a rising ray is the low one; a higher origin brings it nearer.
        let towards = _mm256_or_pd(pad, sign);
        let back = _mm256_xor_pd(from, minus);
        let near_offset = _mm_mul_ps(_mm256_cvtpd_ps(_mm256_sub_pd(back, towards)), near);
        let far_offset = _mm_mul_ps(_mm256_cvtpd_ps(_mm256_sub_pd(towards, from)), far);
        let falls = _mm256_movemask_pd(step) as usize;
        let four = |numbers: __m128| {
            let mut out = [0.0; 4];
            // SAFETY: four numbers fit.
            unsafe { _mm_storeu_ps(out.as_mut_ptr(), numbers) };
            out
        };
        let slabs = Slabs {
            near_inverse: four(near),
            near_offset: four(near_offset),
            far_inverse: four(far),
            far_offset: four(far_offset),
            rows: &ROWS[falls & 7],
        };
        let (step, from) = (across(z, step), across(z, from));
        let along = |v: __m256d| _mm256_permute4x64_pd::<0b10_10_10_10>(v);
        let shear = _mm256_div_pd(step, along(step));
        let depth = along(from);
        let foot = _mm256_sub_pd(from, _mm256_mul_pd(shear, depth));
        let ([a, b, ..], [c, d, ..]) = (four(_mm256_cvtpd_ps(shear)), four(_mm256_cvtpd_ps(foot)));
        let forward = 1.0 - 2.0 * (falls >> z & 1) as f64;
        let depth = _mm256_cvtsd_f64(depth) * forward;
        let line = Line {
            axes: ACROSS[z],
            shear: [a, b],
            foot: [c, d],
            forward: forward as f32,
            from: (depth - 2.0 * rounding.pad[3]) as f32,
            error: rounding.error,
            margin: rounding.margin,
        };
        (slabs, line, depth)
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn boxes(ray: &Slabs, planes: &[[Lanes; 2]; 3], until: f32) -> (u8, Lanes) {
        let numbers = planes.as_flattened().as_flattened();
        let plane = |row: usize, inverse: f32, offset: f32| {
            debug_assert!(row + LANES <= numbers.len());
            // SAFETY: rows come from `ROWS` alone, so that eight numbers follow.
            let row = unsafe { _mm256_loadu_ps(numbers.as_ptr().add(row)) };
            _mm256_fmadd_ps(row, _mm256_set1_ps(inverse), _mm256_set1_ps(offset))
        };
        let near = |k: usize| plane(ray.rows[k], ray.near_inverse[k], ray.near_offset[k]);
        let far = |k: usize| plane(ray.rows[3 + k], ray.far_inverse[k], ray.far_offset[k]);
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

    /// Eight triangles seen along a ray.
    struct Areas {
        /// Twice the signed areas across from the corners.
        areas: [__m256; 3],
        /// How far they can be off.
        error: __m256,
        /// The smallest and the largest.
        least: __m256,
        most: __m256,
        /// Where the corners are along the ray.
        places: [__m256; 3],
        first: __m256,
        last: __m256,
    }

    impl Areas {
        #[inline]
        #[target_feature(enable = "avx2,fma")]
        fn new(ray: &Line, corners: &[[Lanes; 3]; 3]) -> Areas {
            let [x, y, z] = ray.axes.map(usize::from);
            let (shear, foot) = (ray.shear.map(|s| _mm256_set1_ps(s)), ray.foot.map(|f| _mm256_set1_ps(f)));
            let forward = _mm256_set1_ps(ray.forward);
            let sheared = |corner: &[Lanes; 3]| {
                let along = load(&corner[z]);
                let across = |axis: usize, k: usize| {
                    _mm256_fnmadd_ps(shear[k], along, _mm256_sub_ps(load(&corner[axis]), foot[k]))
                };
                [across(x, 0), across(y, 1), _mm256_mul_ps(along, forward)]
            };
            let [a, b, c] = [sheared(&corners[0]), sheared(&corners[1]), sheared(&corners[2])];
            let area =
                |p: [__m256; 3], q: [__m256; 3]| _mm256_fmsub_ps(q[0], p[1], _mm256_mul_ps(q[1], p[0]));
            let [u, v, w] = [area(b, c), area(c, a), area(a, b)];
            let norm = |p: [__m256; 3]| _mm256_add_ps(absolute(p[0]), absolute(p[1]));
            let size = _mm256_add_ps(_mm256_add_ps(norm(a), norm(b)), norm(c));
            let (e, ee) = (_mm256_set1_ps(2.0 * ray.error), _mm256_set1_ps(4.0 * ray.error * ray.error));
            Areas {
                areas: [u, v, w],
                error: _mm256_fmadd_ps(e, size, ee),
                least: _mm256_min_ps(_mm256_min_ps(u, v), w),
                most: _mm256_max_ps(_mm256_max_ps(u, v), w),
                places: [a[2], b[2], c[2]],
                first: _mm256_min_ps(_mm256_min_ps(a[2], b[2]), c[2]),
                last: _mm256_max_ps(_mm256_max_ps(a[2], b[2]), c[2]),
            }
        }

        /// Lanes whose areas surely have the same sign.
        #[inline]
        #[target_feature(enable = "avx2,fma")]
        fn one_side(&self) -> __m256 {
            let below = _mm256_sub_ps(_mm256_setzero_ps(), self.error);
            let above = _mm256_cmp_ps::<_CMP_LT_OQ>(self.error, self.least);
            _mm256_or_ps(above, _mm256_cmp_ps::<_CMP_LT_OQ>(self.most, below))
        }

        #[inline]
        #[target_feature(enable = "avx2,fma")]
        fn may_be_hit(&self, from: f32, to: f32) -> u8 {
            let below = _mm256_sub_ps(_mm256_setzero_ps(), self.error);
            let negative = _mm256_cmp_ps::<_CMP_LT_OQ>(self.least, below);
            let missed = _mm256_and_ps(negative, _mm256_cmp_ps::<_CMP_LT_OQ>(self.error, self.most));
            let before = _mm256_cmp_ps::<_CMP_LE_OQ>(self.first, _mm256_set1_ps(to));
            let after = _mm256_cmp_ps::<_CMP_LE_OQ>(_mm256_set1_ps(from), self.last);
            _mm256_movemask_ps(_mm256_andnot_ps(missed, _mm256_and_ps(before, after))) as u8
        }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn triangles(ray: &Line, corners: &[[Lanes; 3]; 3], to: f32) -> Touched {
        let areas = Areas::new(ray, corners);
        let maybe = areas.may_be_hit(ray.from, to);
        if maybe == 0 {
            return Touched { maybe, surely: 0 };
        }
        let after = _mm256_cmp_ps::<_CMP_LE_OQ>(_mm256_set1_ps(ray.from + ray.margin), areas.first);
        let before = _mm256_cmp_ps::<_CMP_LE_OQ>(areas.last, _mm256_set1_ps(to - ray.margin));
        let surely = _mm256_and_ps(areas.one_side(), _mm256_and_ps(after, before));
        Touched { maybe, surely: maybe & _mm256_movemask_ps(surely) as u8 }
    }

    /// For each level its own: what is called in one place alone is taken in there, and a search that calls nothing keeps
    /// the ray in registers.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn crossings<Level>(ray: &Line, corners: &[[Lanes; 3]; 3], to: f32) -> Crossed {
        let areas = Areas::new(ray, corners);
        let mut crossed =
            Crossed { maybe: areas.may_be_hit(ray.from, to), near: [0.0; LANES], far: [0.0; LANES] };
        if crossed.maybe == 0 {
            return crossed;
        }
        let ([u, v, w], [a, b, c]) = (areas.areas, areas.places);
        let all = |x: f32| _mm256_set1_ps(x);
        let inverse = _mm256_div_ps(all(1.0), _mm256_add_ps(_mm256_add_ps(u, v), w));
        let sum = _mm256_fmadd_ps(w, c, _mm256_fmadd_ps(v, b, _mm256_mul_ps(u, a)));
        let spread = _mm256_mul_ps(
            _mm256_sub_ps(areas.last, areas.first),
            _mm256_mul_ps(areas.error, all(WEIGHT_ERRORS)),
        );
        let slack = _mm256_fmadd_ps(spread, absolute(inverse), all(0.5 * ray.margin));
        let place = _mm256_mul_ps(sum, inverse);
        let (low, high) = (_mm256_sub_ps(place, slack), _mm256_add_ps(place, slack));
        let sure = areas.one_side();
        let near = _mm256_blendv_ps(_mm256_sub_ps(areas.first, all(0.5 * ray.margin)), low, sure);
        let ahead = _mm256_cmp_ps::<_CMP_LE_OQ>(all(ray.from + ray.margin), low);
        let far = _mm256_blendv_ps(all(f32::INFINITY), high, _mm256_and_ps(sure, ahead));
        store(near, &mut crossed.near);
        store(far, &mut crossed.far);
        crossed
    }

    macro_rules! implement {
        ($($level:ty),*) => {$(
            impl RayLanes for $level {
                #[inline(always)]
                fn largest(self, v: &Axes) -> (f64, usize) {
                    // SAFETY: `self` proves AVX2 and FMA.
                    unsafe { largest(v) }
                }

                #[inline(always)]
                fn set_up(
                    self,
                    from: &Axes,
                    step: &Axes,
                    z: usize,
                    rounding: &Rounding,
                ) -> (Slabs, Line, f64) {
                    // SAFETY: `self` proves AVX2 and FMA.
                    unsafe { set_up(from, step, z, rounding) }
                }

                #[inline(always)]
                fn boxes(self, ray: &Slabs, planes: &[[Lanes; 2]; 3], until: f32) -> (u8, Lanes) {
                    // SAFETY: `self` proves AVX2 and FMA.
                    unsafe { boxes(ray, planes, until) }
                }

                #[inline(always)]
                fn triangles(self, ray: &Line, corners: &[[Lanes; 3]; 3], to: f32) -> Touched {
                    // SAFETY: `self` proves AVX2 and FMA.
                    unsafe { triangles(ray, corners, to) }
                }

                #[inline(always)]
                fn crossings(self, ray: &Line, corners: &[[Lanes; 3]; 3], to: f32) -> Crossed {
                    // SAFETY: `self` proves AVX2 and FMA.
                    unsafe { crossings::<$level>(ray, corners, to) }
                }
            }
        )*};
    }

    implement!(Avx2, Avx512);
}
