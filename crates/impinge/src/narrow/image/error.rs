//! The three estimates of a volume put together, and the stated error.
//!
//! The paper takes the mean of the three. We weigh each by the square of its value over its variance: an image that sees a
//! wall along its rows is off by up to half a row there, while the two others see it slanted or from the front. Where such
//! a wall leans against the border of the box by less than a pixel, only those others tell. Without such walls the weights
//! are about equal, so that this is the paper's mean.

use glam::DVec3;

use super::lattice::Axis;
use super::measure::Estimate;
use crate::num::tolerance::{
    IMAGE_ALIKE, IMAGE_ALIKE_DEVIATIONS, IMAGE_DEVIATIONS, IMAGE_SPREAD, LAYER_ROUNDING,
};

/// The shares of the three images in the volume; their sum is 1.
pub fn weights(estimates: &[Estimate; 3]) -> [f64; 3] {
    let weights = Axis::ALL.map(|axis| {
        let (one, border) = (&estimates[axis.depth], border(estimates, axis));
        let square = one.volume * one.volume;
        // An image that is exact but for rounding has no infinite weight.
        let variance = one.variance + border * border + LAYER_ROUNDING * square;
        if square > 0.0 { square / variance } else { 0.0 }
    });
    let sum: f64 = weights.iter().sum();
    if sum > 0.0 { weights.map(|weight| weight / sum) } else { [1.0 / 3.0; 3] }
}

/// By how much the outermost pixels of an image count too much or too little. The image itself does not see it: a face
/// that leans by less than half a pixel against the border of the box looks as if it were the border, and all rows or
/// columns beside it agree. But the two other images see that face from the front.
fn border(estimates: &[Estimate; 3], axis: Axis) -> f64 {
    estimates[axis.across].border.across + estimates[axis.along].border.along
}

/// An estimate of the error that is rarely exceeded in random placements, from four sources: how rough the columns and
/// rows are, how far the estimates are apart, what all three miss alike at the ends of the rows, and what they miscount at
/// the border of the box. What fits into one cell of the lattice is never seen for sure.
pub fn stated(estimates: &[Estimate; 3], weights: &[f64; 3], volume: f64, size: DVec3) -> f64 {
    let each = || estimates.iter().zip(weights);
    let apart = each().map(|(one, weight)| weight * (one.volume - volume) * (one.volume - volume));
    // The standard error of a mean of three.
    let spread = (0.5 * apart.sum::<f64>()).sqrt();
    let ends = each().map(|(one, weight)| weight * one.ends).sum::<f64>().abs();
    let border =
        Axis::ALL.iter().zip(weights).map(|(axis, weight)| weight * border(estimates, *axis)).sum::<f64>();
    IMAGE_DEVIATIONS * rough(estimates, weights)
        + IMAGE_SPREAD * spread
        + ends
        + border
        + size.element_product()
}

/// The standard deviation of the mean that the roughness lets expect. Images that are equally rough are images of bodies
/// that look alike along all axes, such as balls: they do not err by chance, each for itself, but all by the same, and
/// their mean is no better than one of them.
fn rough(estimates: &[Estimate; 3], weights: &[f64; 3]) -> f64 {
    let each = || estimates.iter().zip(weights);
    let alone = each().map(|(one, weight)| weight * weight * one.variance).sum::<f64>().sqrt();
    let together = each().map(|(one, weight)| weight * one.variance.sqrt()).sum::<f64>();
    let least = estimates.iter().map(|one| one.variance).fold(f64::INFINITY, f64::min);
    let most = estimates.iter().map(|one| one.variance).fold(0.0, f64::max);
    let alike = if most > 0.0 { (1.0 - (most - least) / (IMAGE_ALIKE * most)).max(0.0) } else { 0.0 };
    (1.0 - alike) * alone + alike * IMAGE_ALIKE_DEVIATIONS * together
}
