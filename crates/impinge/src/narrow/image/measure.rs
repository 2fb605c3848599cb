//! What three images say: the volume, its error, its derivative by every vertex, and pieces of the border.

use glam::{DMat3, DVec3};

use super::error;
use super::images::Images;
use super::lattice::Axis;
use super::layer::Interval;
use super::regions::Regions;
use crate::contact::{SurfaceSample, Volume, VolumeOptions};

/// The volume that three images show, in the world; `turn` leads from the frame of the images there. The lengths of the
/// gradients are given.
pub fn measure(
    images: &Images<'_, '_>,
    turn: &DMat3,
    options: &VolumeOptions,
    vertices: [usize; 2],
) -> Volume {
    let estimates = Axis::ALL.map(|axis| Estimate::of(images, axis));
    let weights = error::weights(&estimates);
    let volume = estimates.iter().zip(&weights).map(|(one, weight)| one.volume * weight).sum::<f64>();
    let error = error::stated(&estimates, &weights, volume, images.lattice.size);
    let mut regions = Regions::of(images).measured(images, &weights, error);
    for one in &mut regions {
        one.gradient = one.gradient.map(|area| *turn * area);
        one.region.centroid = *turn * one.region.centroid;
        one.region.normal = *turn * one.region.normal;
    }
    let mut found = Volume { volume, error, regions, ..Volume::default() };
    if options.gradient {
        found.gradient = vertices.map(|count| vec![DVec3::ZERO; count]);
    }
    if options.gradient || options.samples {
        add_ends(images, turn, options, &mut found);
        if *turn != DMat3::IDENTITY {
            found.gradient.iter_mut().flatten().for_each(|slope| *slope = *turn * *slope);
        }
    }
    found
}

/// What one image says.
#[derive(Debug, Clone, Copy, Default)]
pub struct Estimate {
    pub volume: f64,
    /// The expected square of its error, from the variation of the columns along the rows and of the rows.
    pub variance: f64,
}

/// The variance of the sum of a function over samples in the middle of their cells, in units of the sum of the squares of
/// its second differences. A jump somewhere in a cell has the variance 1/12 of its square, and is seen in two differences.
pub const OF_A_JUMP: f64 = 1.0 / 24.0;

impl Estimate {
    fn of(images: &Images<'_, '_>, axis: Axis) -> Estimate {
        let (all, pixels) = (&images.intervals[axis.depth], images.lattice.pixels as usize);
        let area = images.lattice.area(axis);
        let mut lengths = vec![0.0; pixels];
        let (mut squares, mut sum) = (0.0, 0.0);
        let mut rows = Vec::with_capacity(pixels);
        let mut at = 0;
        for row in 0..pixels {
            let begin = at;
            while at < all.len() && (all[at].column as usize) < (row + 1) * pixels {
                lengths[all[at].column as usize - row * pixels] += all[at].length();
                at += 1;
            }
            let own: f64 = all[begin..at].iter().map(Interval::length).sum();
            rows.push(own);
            sum += own;
            if begin < at {
                // Where nothing is, there are no differences.
                let first = (all[begin].column as usize - row * pixels).saturating_sub(1);
                let last = (all[at - 1].column as usize - row * pixels + 2).min(pixels);
                squares += second_differences(&lengths[first..last]);
                lengths[first..last].fill(0.0);
            }
        }
        let variance = (squares + second_differences(&rows)) * OF_A_JUMP * area * area;
        Estimate { volume: sum * area, variance }
    }
}

/// The sum of the squares of the second differences.
pub fn second_differences(values: &[f64]) -> f64 {
    values.windows(3).map(|w| w[0] - 2.0 * w[1] + w[2]).map(|d| d * d).sum()
}

/// Adds the ends of all intervals to the gradient and the samples.
fn add_ends(images: &Images<'_, '_>, turn: &DMat3, options: &VolumeOptions, found: &mut Volume) {
    let lattice = &images.lattice;
    for axis in Axis::ALL {
        let area = lattice.area(axis);
        let up = *turn * axis.point(0.0, 0.0, area);
        for interval in &images.intervals[axis.depth] {
            let sample = lattice.sample(interval.column % lattice.pixels, interval.column / lattice.pixels);
            for (face, share, end) in interval.ends() {
                let body = face.body();
                let on = images.bodies[body].at(lattice, axis, face.number(), sample);
                let signed = if end == 0 { -share } else { share };
                if let (Some((_, corners, shares)), false) = (on, found.gradient[body].is_empty()) {
                    for (v, part) in corners.into_iter().zip(shares) {
                        found.gradient[body][v as usize][axis.depth] += signed * area * part;
                    }
                }
                if options.samples {
                    let [along, across] = sample;
                    let point = axis.point(
                        lattice.coordinate(axis.along, along),
                        lattice.coordinate(axis.across, across),
                        interval.depth[end],
                    );
                    found.samples.push(SurfaceSample {
                        body,
                        triangle: on.map(|(triangle, ..)| triangle),
                        barycentric: on.map_or([0.0; 3], |(_, _, shares)| shares),
                        point: *turn * point,
                        area: up * signed,
                    });
                }
            }
        }
    }
}
