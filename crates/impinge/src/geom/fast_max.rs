//! The larger of numbers that are known to be numbers: one comparison, where the standard maximum also asks for NaN.

use glam::DVec3;

/// The larger of two numbers, of which none is a NaN.
#[inline]
pub fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The largest absolute component.
#[inline]
pub fn largest(v: DVec3) -> f64 {
    larger(larger(v.x.abs(), v.y.abs()), v.z.abs())
}
