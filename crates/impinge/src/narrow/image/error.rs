//! The three estimates of a volume put together, and the stated error.
//!
//! The paper takes the mean of the three. We weigh each by the square of its value over its variance: an image that sees a
//! wall along its rows is off by up to half a row there, while the two others see it slanted or from the front. Without such
//! walls the weights are about equal, so that this is the paper's mean.

use glam::DVec3;

use super::measure::Estimate;
use crate::num::tolerance::{IMAGE_DEVIATIONS, IMAGE_SPREAD, LAYER_ROUNDING};

/// The shares of the three images in the volume; their sum is 1.
pub fn weights(estimates: &[Estimate; 3]) -> [f64; 3] {
    let weights = estimates.map(|one| {
        let square = one.volume * one.volume;
        // An image that is exact but for rounding has no infinite weight.
        if square > 0.0 { square / (one.variance + LAYER_ROUNDING * square) } else { 0.0 }
    });
    let sum: f64 = weights.iter().sum();
    if sum > 0.0 { weights.map(|weight| weight / sum) } else { [1.0 / 3.0; 3] }
}

/// An estimate of the error that is rarely exceeded in random placements, from three sources: how rough the columns and
/// rows are, how far the estimates are apart, and what all three miss alike at the border of the box. What fits into one
/// cell of the lattice is never seen for sure.
pub fn stated(estimates: &[Estimate; 3], weights: &[f64; 3], volume: f64, size: DVec3) -> f64 {
    let each = || estimates.iter().zip(weights);
    let rough = each().map(|(one, weight)| weight * weight * one.variance).sum::<f64>().sqrt();
    let apart = each().map(|(one, weight)| weight * (one.volume - volume) * (one.volume - volume));
    // The standard error of a mean of three.
    let spread = (0.5 * apart.sum::<f64>()).sqrt();
    let ends = each().map(|(one, weight)| weight * one.ends).sum::<f64>().abs();
    IMAGE_DEVIATIONS * rough + IMAGE_SPREAD * spread + ends + size.element_product()
}
