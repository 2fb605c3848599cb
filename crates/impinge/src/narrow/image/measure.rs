//! What three images say: the volume, its error, its derivative by every vertex, and pieces of the border.

use glam::{DMat3, DVec2, DVec3};

use super::error;
use super::images::Images;
use super::lattice::Axis;
use super::layer::{Face, Interval};
use super::regions::Regions;
use crate::contact::{SurfaceSample, Volume, VolumeOptions};
use crate::num::parallel;

/// Intervals above which regions and gradient are found side by side.
const SHARED: usize = 1 << 10;

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
    let is_large = images.intervals.iter().map(Vec::len).sum::<usize>() > SHARED;
    let of_regions = || Regions::of(images).measured(images, &weights, error);
    let of_vertices = || {
        let mut gradient = vertices.map(|count| vec![DVec3::ZERO; if options.gradient { count } else { 0 }]);
        if options.gradient {
            add_gradient(images, &mut gradient);
        }
        gradient
    };
    let (mut regions, mut gradient) = parallel::join_if(is_large, of_regions, of_vertices);
    if *turn != DMat3::IDENTITY {
        gradient.iter_mut().flatten().for_each(|slope| *slope = *turn * *slope);
        for one in &mut regions {
            one.gradient = one.gradient.map(|area| *turn * area);
            one.region.centroid = *turn * one.region.centroid;
            one.region.normal = *turn * one.region.normal;
        }
    }
    let samples = if options.samples { samples(images, turn) } else { Vec::new() };
    Volume { volume, error, regions, gradient, samples, ..Volume::default() }
}

/// What one image says.
#[derive(Debug, Clone, Copy, Default)]
pub struct Estimate {
    pub volume: f64,
    /// The expected square of its error, from the variation of the columns along the rows and of the rows.
    pub variance: f64,
    /// What the rows at the border miss, which the samples in their middles do not tell: the first term of Euler and
    /// Maclaurin's series, with the growth between the last two rows at each end.
    pub ends: f64,
    /// By how much the two other images, which see the depth of this one across or along their rows, count their
    /// outermost pixels wrong there.
    pub border: Border,
}

/// By how much the outermost pixels along an axis count too much or too little, by the image with that depth: see
/// [`miscounted`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Border {
    /// In the image with rows across the axis.
    pub across: f64,
    /// In the image with rows along it.
    pub along: f64,
}

/// The variance of the sum of a function over samples in the middle of their cells, in units of the sum of the squares of
/// its second differences. A jump somewhere in a cell has the variance 1/12 of its square, and is seen in two differences.
const OF_A_JUMP: f64 = 1.0 / 24.0;

impl Estimate {
    fn of(images: &Images<'_, '_>, axis: Axis) -> Estimate {
        let (all, pixels) = (&images.intervals[axis.depth], images.lattice.pixels as usize);
        let (bounds, pixel) = (&images.lattice.bounds, images.lattice.size[axis.depth]);
        let [low, high] = [bounds.low, bounds.high].map(|corner| corner[axis.depth]);
        let mut lengths = vec![0.0; pixels];
        let (mut squares, mut border) = (0.0, 0.0);
        let mut rows = Vec::with_capacity(pixels);
        let mut at = 0;
        for row in 0..pixels {
            let begin = at;
            while at < all.len() && (all[at].column as usize) < (row + 1) * pixels {
                let [from, to] = all[at].depth;
                lengths[all[at].column as usize - row * pixels] += to - from;
                border += miscounted(from - low, pixel) + miscounted(high - to, pixel);
                at += 1;
            }
            let own: f64 = all[begin..at].iter().map(Interval::length).sum();
            rows.push(own);
            if begin < at {
                // Where nothing is, there are no differences.
                let first = (all[begin].column as usize - row * pixels).saturating_sub(1);
                let last = (all[at - 1].column as usize - row * pixels + 2).min(pixels);
                squares += second_differences(&lengths[first..last]);
                lengths[first..last].fill(0.0);
            }
        }
        Estimate::from_rows(&rows, squares, border, images.lattice.area(axis))
    }

    /// From the sums of the rows, of the squared second differences along them, and of what rows across the depth
    /// miscount at the border.
    pub fn from_rows(rows: &[f64], squares: f64, border: f64, area: f64) -> Estimate {
        let ends = match rows {
            [first, second, .., before, last] => ((last - before) - (second - first)) / 24.0,
            _ => 0.0,
        };
        let volume = rows.iter().sum::<f64>() * area;
        let across = (border * area).abs();
        // Along the rows, the samples of each row stand elsewhere in their pixels. Together they tell where the body begins
        // to a pixel over the number of rows, and a layer of pixels is about the volume over that number.
        let along = across.min(volume / (rows.len() * rows.len()) as f64);
        Estimate {
            volume,
            variance: (squares + second_differences(rows)) * OF_A_JUMP * area * area,
            ends: ends * area,
            border: Border { across, along },
        }
    }
}

/// By how much a sample in the middle of the outermost pixel counts too much where the body begins so far behind the border
/// of the box; negative where it counts too little. Up to half a pixel it counts the whole pixel, as if the body began at
/// the border, and no difference between samples tells.
#[inline(always)]
fn miscounted(gap: f64, pixel: f64) -> f64 {
    if gap >= pixel || gap <= 0.0 {
        return 0.0;
    }
    if gap < 0.5 * pixel { gap } else { gap - pixel }
}

/// The sum of the squares of the second differences. What is nothing at an end is nothing beyond, too.
fn second_differences(values: &[f64]) -> f64 {
    let inner: f64 = values.windows(3).map(|w| w[0] - 2.0 * w[1] + w[2]).map(|d| d * d).sum();
    let beyond = |end: f64, next: f64| if end == 0.0 { next * next } else { 0.0 };
    match values {
        [first, second, ..] => {
            let [before, last] = [values[values.len() - 2], values[values.len() - 1]];
            inner + beyond(*first, *second) + beyond(last, before)
        }
        _ => inner,
    }
}

/// Ends of intervals on one face of one image, one after the other: their mean tells their common share of the corners.
#[derive(Debug, Clone, Copy)]
struct Run {
    face: Face,
    /// Signed, in pixels.
    weight: f64,
    /// The sums of their places, times their weights.
    places: DVec2,
}

impl Run {
    const NONE: Run = Run { face: Face::NONE, weight: 0.0, places: DVec2::ZERO };

    /// Adds it to the gradient by the corners of its face.
    fn finish(&self, images: &Images<'_, '_>, axis: Axis, gradient: &mut [Vec<DVec3>; 2]) {
        if self.face == Face::NONE || gradient[self.face.body()].is_empty() {
            return;
        }
        let (body, lattice) = (self.face.body(), &images.lattice);
        let found = images.bodies[body].at(lattice, axis, self.face.number(), self.places / self.weight);
        if let Some((_, corners, shares)) = found {
            let area = self.weight * lattice.area(axis);
            for (v, share) in corners.into_iter().zip(shares) {
                gradient[body][v as usize][axis.depth] += area * share;
            }
        }
    }
}

/// The derivatives by the vertices, from the ends of all intervals.
fn add_gradient(images: &Images<'_, '_>, gradient: &mut [Vec<DVec3>; 2]) {
    for axis in Axis::ALL {
        // Lower and upper ends, alone and shared: neighbours mostly lie on the same face.
        let mut runs = [[Run::NONE; 2]; 2];
        let mut add = |face: Face, weight: f64, place: DVec2, run: &mut Run| {
            if run.face != face {
                run.finish(images, axis, gradient);
                *run = Run { face, ..Run::NONE };
            }
            run.weight += weight;
            run.places += weight * place;
        };
        for interval in &images.intervals[axis.depth] {
            let place = images.lattice.place_of(interval.column);
            for (end, [own, other]) in runs.iter_mut().enumerate() {
                let sign = if end == 0 { -1.0 } else { 1.0 };
                if interval.shared[end] == Face::NONE {
                    add(interval.face[end], sign, place, own);
                } else {
                    add(interval.face[end], 0.5 * sign, place, own);
                    add(interval.shared[end], 0.5 * sign, place, other);
                }
            }
        }
        runs.as_flattened().iter().for_each(|run| run.finish(images, axis, gradient));
    }
}

/// The ends of all intervals as samples of the surfaces.
fn samples(images: &Images<'_, '_>, turn: &DMat3) -> Vec<SurfaceSample> {
    let lattice = &images.lattice;
    let mut found = Vec::new();
    for axis in Axis::ALL {
        let up = *turn * axis.point(0.0, 0.0, lattice.area(axis));
        for interval in &images.intervals[axis.depth] {
            let place = lattice.place_of(interval.column);
            let [along, across] = lattice.sample_of(interval.column);
            for (face, share, end) in interval.ends() {
                let on = images.bodies[face.body()].at(lattice, axis, face.number(), place);
                let point = axis.point(
                    lattice.coordinate(axis.along, along),
                    lattice.coordinate(axis.across, across),
                    interval.depth[end],
                );
                found.push(SurfaceSample {
                    body: face.body(),
                    triangle: on.map(|(triangle, ..)| triangle),
                    barycentric: on.map_or([0.0; 3], |(_, _, shares)| shares),
                    point: *turn * point,
                    area: up * if end == 0 { -share } else { share },
                });
            }
        }
    }
    found
}
