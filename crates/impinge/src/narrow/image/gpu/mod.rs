//! The images on the graphics processor: drawing, sorting and summing there, and only sums read back (Faure, Allard,
//! Falipou and Barbier 2008, section 4).
//!
//! The processor snaps the vertices, chooses the triangles and sets up their planes in f64 (`triangles`); the rest is five
//! compute kernels over a band of rows (`images.wgsl`, `device`). Coverage is decided on the same integers as by `raster`,
//! with products of 64 bits in two words, so both see the same layers. Depths are whole parts of the common box, of which f32 gives only what a triangle adds to its middle. What
//! is summed is whole numbers, in two words with a carry: the order in which threads add cannot be seen, and the same
//! device gives the same bits again.
//!
//! Instead of peeling layer by layer as in the paper, layers of a column are counted first, then each column takes its
//! room from one counter, then they are drawn once more and sorted. So there is no cap on layers.

mod device;
mod triangles;

pub use device::Device;

use glam::{DMat3, DVec3};

use super::body::Body;
use super::lattice::{Axis, Lattice};
use super::measure::Estimate;
use super::{PIXELS, common_box, error, in_frame, is_solid};
use crate::contact::{Volume, VolumeOptions};
use crate::narrow::shape_pair::ShapePair;
use crate::{Budget, Error};
use device::Band;
use triangles::{DEPTH_UNIT, Drawing, NONE};

/// The unit of shares in the sums, as in `images.wgsl`.
const SHARE_UNIT: f64 = (1_u32 << 24) as f64;

/// The volume of the intersection of two solids at a resolution, with its gradient if it is wanted; regions are not told
/// apart. `None` for what is left to the processor: samples, open meshes, a wanted error, and what the device cannot hold.
///
/// # Errors
/// An open mesh.
pub fn volume(
    device: &Device,
    pair: &ShapePair<'_>,
    options: &VolumeOptions,
) -> Result<Option<Volume>, Error> {
    if options.samples || options.border || options.open.is_some() || options.error.is_some() {
        return Ok(None);
    }
    for (shape, name) in pair.shapes.into_iter().zip(["a", "b"]) {
        is_solid(shape, name, options, &mut Budget::UNLIMITED.clone())?;
    }
    let bodies = [0, 1].map(|k| Body::new(pair.shapes[k], &in_frame(options, pair.poses[k])));
    let common = common_box(&[&bodies[0], &bodies[1]], options);
    let Some(lattice) = Lattice::new(common, options.resolution.unwrap_or(PIXELS)) else {
        // Boxes that have nothing in common need no device.
        return Ok(None);
    };
    let mut found = of_bodies(device, &bodies, &lattice, options.gradient);
    let turn = DMat3::from_quat(options.frame);
    if turn != DMat3::IDENTITY {
        found
            .iter_mut()
            .flat_map(|found| &mut found.gradient)
            .flatten()
            .for_each(|slope| *slope = turn * *slope);
    }
    Ok(found)
}

/// The same in the frame of the images.
fn of_bodies(
    device: &Device,
    bodies: &[Body<'_>; 2],
    lattice: &Lattice,
    with_gradient: bool,
) -> Option<Volume> {
    let on = [0, 1].map(|k| bodies[k].on_from_below(lattice));
    let vertices = bodies.each_ref().map(Body::vertices);
    let slots = if with_gradient { 6 * (vertices[0] + vertices[1]) } else { 0 };
    let gradient = device.zeros(slots.max(1))?;
    let mut estimates = [Estimate::default(); 3];
    for axis in Axis::ALL {
        let drawing = Drawing::new(&on, lattice, axis, [0, vertices[0] as u32]);
        let component = if with_gradient { axis.depth as u32 } else { NONE };
        let mut rows = Vec::new();
        let triangles = device.upload(&drawing.triangles)?;
        for band in drawing.bands(lattice) {
            let band = Band { component, ..band };
            rows.extend(device.run(lattice, &band, &triangles, &gradient)?);
        }
        estimates[axis.depth] = estimate(lattice, axis, &rows);
    }
    let weights = error::weights(&estimates);
    let volume = estimates.iter().zip(&weights).map(|(one, weight)| one.volume * weight).sum::<f64>();
    let error = error::stated(&estimates, &weights, volume, lattice.size);
    let mut found = Volume { volume, error, ..Volume::default() };
    if with_gradient {
        let words = device.read(&gradient, 0, slots)?;
        let slope = |v: usize| {
            let part = |axis: Axis| {
                let at = 6 * v + 2 * axis.depth;
                whole([words[at], words[at + 1]]) as f64 / SHARE_UNIT * lattice.area(axis)
            };
            DVec3::from_array(Axis::ALL.map(part))
        };
        let of = |from: usize, count: usize| (from..from + count).map(slope).collect();
        found.gradient = [of(0, vertices[0]), of(vertices[0], vertices[1])];
    }
    Some(found)
}

/// A number in two words.
fn whole([low, high]: [u32; 2]) -> i64 {
    (i64::from(high.cast_signed()) << 32) | i64::from(low)
}

/// What one image says, from the sums of its rows.
fn estimate(lattice: &Lattice, axis: Axis, rows: &[[u32; 4]]) -> Estimate {
    let (area, deep) = (lattice.area(axis), lattice.size[axis.depth] * f64::from(lattice.pixels));
    let lengths: Vec<f64> =
        rows.iter().map(|&[low, high, ..]| whole([low, high]) as f64 / DEPTH_UNIT * deep).collect();
    let squares: f64 = rows.iter().map(|row| f64::from(f32::from_bits(row[2]))).sum();
    let border: f64 = rows.iter().map(|row| f64::from(row[3].cast_signed())).sum();
    Estimate::from_rows(&lengths, squares * deep * deep, border / DEPTH_UNIT * deep, area)
}
