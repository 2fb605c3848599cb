//! The unit normal of a flat polygon, right to rounding also where it is a sliver.

use glam::DVec3;

use crate::num::double_double::triangle_normal;
use crate::num::exact_vector::{direction, exact, normal as exact_normal, plus};
use crate::num::predicate::Plane;
use crate::num::tolerance::SMALLEST_PRODUCT;

/// Share of a normal's products that must be left when they have cancelled (no unit: of their sizes), or it is
/// computed with more digits. Six binary digits are lost at most.
const SLIVER: f64 = 1.0 / 64.0;

/// Normal of a polygon of unit size (an area) below which twice the digits of f64 are not enough.
const NEEDLE: f64 = f64::EPSILON;

/// The unit normal of a polygon whose corners go round anticlockwise; NaN where all lie on one line.
#[inline(always)]
pub fn unit_normal(count: usize, corner: impl Fn(usize) -> DVec3) -> DVec3 {
    let from = corner(0);
    let (mut sum, mut size) = (DVec3::ZERO, 0.0_f64);
    for i in 2..count {
        let (u, v) = (corner(i - 1) - from, corner(i) - from);
        sum += u.cross(v);
        size += u.abs().max_element() * v.abs().max_element();
    }
    let longest = sum.abs().max_element();
    if longest > SLIVER * size && (SMALLEST_PRODUCT..f64::INFINITY).contains(&longest) {
        return (sum / longest).normalize();
    }
    sliver_normal(count, corner)
}

/// The unit normal of a plane; NaN where its points lie on one line.
#[inline]
pub fn plane_normal(plane: &Plane) -> DVec3 {
    let (normal, size) = (plane.normal(), plane.size().max_element());
    let longest = normal.abs().max_element();
    if longest > SLIVER * size && (SMALLEST_PRODUCT..f64::INFINITY).contains(&longest) {
        return (normal / longest).normalize();
    }
    sliver_normal(3, |k| plane.corners()[k])
}

#[cold]
fn sliver_normal(count: usize, corner: impl Fn(usize) -> DVec3) -> DVec3 {
    let from = corner(0);
    let size = (1..count).map(|i| (corner(i) - from).abs().max_element()).fold(0.0, f64::max);
    // A power of two about 1/size, in two factors that neither overflow nor underflow: no digit is lost.
    let half = (0.5 * -size.log2()).round().exp2();
    let scaled = |i: usize| corner(i) * half * half;
    let sum: DVec3 = (2..count).map(|i| triangle_normal(scaled(0), scaled(i - 1), scaled(i))).sum();
    let longest = sum.abs().max_element();
    if longest > NEEDLE {
        return (sum / longest).normalize();
    }
    let parts = (2..count).map(|i| exact_normal(&[corner(0), corner(i - 1), corner(i)]));
    let sum = parts.reduce(|sum, part| plus(&sum, &part)).unwrap_or_else(|| exact(DVec3::ZERO));
    direction(&sum).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slivers_of_any_size_have_their_normal() {
        for size in [1e-300, 1e-6, 1.0, 1e6, 1e59] {
            for width in [1.0, 1e-9, 1e-15, 1e-40] {
                if size * width == 0.0 {
                    continue;
                }
                let corners =
                    [DVec3::ZERO, DVec3::X, DVec3::new(0.3, width, width), DVec3::new(0.1, width, width)];
                let n = unit_normal(4, |i| corners[i] * size);
                let want = DVec3::new(0.0, -1.0, 1.0).normalize();
                let [p, q, r] = [0, 1, 2].map(|i| corners[i] * size);
                let of_plane = plane_normal(&Plane::through(p, q, r));
                assert!((of_plane - want).length() < 1e-14, "{size} {width}: {of_plane}");
                assert!((n - want).length() < 1e-14, "{size} {width}: {n}");
            }
        }
        assert!(unit_normal(3, |i| DVec3::X * i as f64).is_nan());
    }
}
