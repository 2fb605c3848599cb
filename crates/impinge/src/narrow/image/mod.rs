//! The volume of the intersection of two solids and its gradient from layered depth images (Faure, Allard, Falipou and
//! Barbier 2008).
//!
//! The bodies are drawn along three orthogonal axes over the intersection of their boxes. Each pixel is a column through
//! both; where it lies in both, its length adds to the volume, and its ends to the gradient of the triangles that end it.
//! Each image gives the volume and one component of the gradient; the volume is a mean of three. Every column has as
//! many upper ends as lower ones, so the net forces of the bodies are opposite.
//!
//! We leave the paper in these places. Drawing is exact and on the processor, with any number of layers (`raster`).
//! Samples do not stand in the centres of pixels but are shifted from row to row (`lattice`), and images have as many
//! pixels along short sides as along long ones. Curved solids are cut by the columns in closed form (`curved`). Where faces
//! of both bodies coincide, each has half of the gradient. The three
//! volumes are weighed, and the error is stated (`error`). Columns are counted from the side of the box where a body
//! reaches out less, and the second body is drawn only where the first is.

mod body;
mod curved;
mod error;
#[cfg(feature = "gpu")]
pub mod gpu;
mod images;
mod lattice;
mod layer;
mod measure;
mod open;
mod raster;
mod regions;
#[cfg(feature = "unstable")]
mod stages;

#[cfg(test)]
mod equal_tests;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::time::Instant;

use glam::{DMat3, DQuat, DVec3};

use crate::bound::Aabb;
use crate::contact::{Certainty, Finish, OpenSurface, Outcome, Verdict, Volume, VolumeOptions};
use crate::model::{Fact, Geometry};
use crate::narrow::exact::solid_surface::why_not_closed;
use crate::narrow::shape_pair::ShapePair;
use crate::num::parallel;
use crate::num::tolerance::{IMAGE_FIRST_ERROR, IMAGE_ORDER};
use crate::{Budget, Counters, Error, Pose};
use body::Body;
use images::Images;
use lattice::Lattice;
pub use lattice::MOST_PIXELS;
use layer::Inside;
#[cfg(feature = "unstable")]
pub use stages::{Stages, stages};

/// Pixels along a side where nothing else is asked.
pub const PIXELS: u32 = 256;

/// The first resolution where a budget or an error decides.
const COARSE: u32 = 16;

/// The finest resolution that a wanted error leads to.
const FINEST: u32 = 2048;

/// The volume of the intersection of two solids at a resolution, or to an error.
///
/// # Errors
/// An open mesh, unless the options say what it bounds.
pub fn volume(
    pair: &ShapePair<'_>,
    options: &VolumeOptions,
    budget: &mut Budget,
) -> Result<Verdict<Volume>, Error> {
    for (shape, name) in pair.shapes.into_iter().zip(["a", "b"]) {
        if !is_solid(shape, name, options, budget)? {
            return Ok(Verdict::out_of_budget());
        }
    }
    let Some(bodies) = both(pair, options, budget) else { return Ok(Verdict::out_of_budget()) };
    Ok(of_bodies(&[&bodies[0], &bodies[1]], Inside::Both, options, budget))
}

/// The volumes of many pairs: each body is placed once, and all are drawn in one go.
///
/// # Errors
/// As [`volume`], of the first such pair, with its index.
pub fn volume_batch(
    pairs: &[ShapePair<'_>],
    options: &VolumeOptions,
) -> Result<Vec<Verdict<Volume>>, (usize, Error)> {
    let mut unlimited = Budget::UNLIMITED.clone();
    let mut number = HashMap::new();
    let mut distinct: Vec<(&Geometry, Pose)> = Vec::new();
    let mut sides = Vec::with_capacity(pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let mut own = [0; 2];
        for (k, name) in ["a", "b"].into_iter().enumerate() {
            is_solid(pair.shapes[k], name, options, &mut unlimited).map_err(|error| (index, error))?;
            let key = (std::ptr::from_ref(pair.shapes[k]), pair.poses[k].to_matrix().map(f64::to_bits));
            own[k] = *number.entry(key).or_insert_with(|| {
                distinct.push((pair.shapes[k], in_frame(options, pair.poses[k])));
                distinct.len() - 1
            });
        }
        sides.push(own);
    }
    let bodies = parallel::map(distinct.len(), |k| Body::new(distinct[k].0, &distinct[k].1));
    Ok(parallel::map(pairs.len(), |k| {
        let [a, b] = sides[k].map(|side| &bodies[side]);
        of_bodies(&[a, b], Inside::Both, options, &mut Budget::UNLIMITED.clone())
    }))
}

/// How much a body overlaps itself: where its surface winds around more than once. The forces on both sides act on
/// the one body, so its regions have no direction.
///
/// # Errors
/// An open mesh.
pub fn self_volume(
    shape: &Geometry,
    pose: &Pose,
    options: &VolumeOptions,
    budget: &mut Budget,
) -> Result<Verdict<Volume>, Error> {
    if !is_solid(shape, "shape", &VolumeOptions { open: None, ..*options }, budget)? {
        return Ok(Verdict::out_of_budget());
    }
    let Some(body) = Body::within(shape, &in_frame(options, pose), budget) else {
        return Ok(Verdict::out_of_budget());
    };
    Ok(of_bodies(&[&body], Inside::Twice, options, budget))
}

/// The volume at the finest resolution for which the budget lasts: ever finer images, each the answer until the next is
/// done. The coarsest comes to its end in as many calls as it takes.
///
/// # Errors
/// As [`volume`].
pub fn volume_within(
    pair: &ShapePair<'_>,
    options: &VolumeOptions,
    budget: &mut Budget,
) -> Result<Verdict<Volume>, Error> {
    // What a share of the budget is enough for is coarser than what the whole is.
    if budget.is_trial() {
        return Ok(Verdict::out_of_budget());
    }
    for (shape, name) in pair.shapes.into_iter().zip(["a", "b"]) {
        if !is_solid(shape, name, options, budget)? {
            return Ok(Verdict::out_of_budget());
        }
    }
    let Some(bodies) = both(pair, options, budget) else { return Ok(Verdict::out_of_budget()) };
    let draw = |pixels: u32, budget: &mut Budget| {
        let asked = VolumeOptions { resolution: Some(pixels), error: None, ..*options };
        of_bodies(&[&bodies[0], &bodies[1]], Inside::Both, &asked, budget)
    };
    let (mut pixels, mut begun) = (COARSE, Instant::now());
    let mut best = draw(pixels, budget);
    while best.value.is_some() {
        pixels *= 2;
        // An image twice as fine takes up to four times as long.
        let is_late = budget.deadline().is_some_and(|end| begun + 5 * begun.elapsed() > end);
        if pixels > MOST_PIXELS || is_late || budget.is_spent() {
            break;
        }
        begun = Instant::now();
        let mut trial = budget.trial(u64::MAX);
        let mut finer = draw(pixels, &mut trial);
        budget.repay(&trial);
        finer.outcome.work += best.outcome.work;
        if finer.value.is_none() {
            best.outcome.work = finer.outcome.work;
            break;
        }
        best = finer;
    }
    Ok(best)
}

/// Whether a shape bounds a solid, or is allowed not to; false when the budget ends first.
fn is_solid(
    shape: &Geometry,
    name: &'static str,
    options: &VolumeOptions,
    budget: &mut Budget,
) -> Result<bool, Error> {
    let Geometry::Mesh(model) = shape else { return Ok(true) };
    if ![Fact::Tree, Fact::Topology].iter().all(|&fact| model.prepare(fact, budget)) {
        return Ok(false);
    }
    if options.open.is_none() && !model.topology().is_closed() {
        return Err(Error::Argument { name, reason: why_not_closed(model) });
    }
    Ok(true)
}

/// Both bodies in the frame of the images; `None` when the budget ends first.
fn both<'p>(pair: &ShapePair<'p>, options: &VolumeOptions, budget: &mut Budget) -> Option<[Body<'p>; 2]> {
    let mut one = |k: usize| Body::within(pair.shapes[k], &in_frame(options, pair.poses[k]), budget);
    Some([one(0)?, one(1)?])
}

/// A pose as the frame of the images sees it.
fn in_frame(options: &VolumeOptions, pose: &Pose) -> Pose {
    match Pose::from_rotation(DVec3::ZERO, options.frame) {
        Ok(frame) if options.frame != DQuat::IDENTITY => frame.inverse().compose(pose),
        _ => *pose,
    }
}

fn of_bodies(
    bodies: &[&Body<'_>],
    inside: Inside,
    options: &VolumeOptions,
    budget: &mut Budget,
) -> Verdict<Volume> {
    let common = common_box(bodies, options);
    let mut pixels = options.resolution.unwrap_or_else(|| options.error.map_or(PIXELS, first_resolution));
    let turn = DMat3::from_quat(options.frame);
    let vertices = [0, 1].map(|k| bodies.get(k).map_or(0, |body| body.vertices()));
    let mut work = Counters::default();
    loop {
        let mut outcome = Outcome { certainty: Certainty::Exact, finish: Finish::Complete, work };
        let Some(lattice) = Lattice::new(common, pixels) else {
            let gradient = vertices.map(|count| vec![DVec3::ZERO; if options.gradient { count } else { 0 }]);
            return Verdict::new(Some(Volume { gradient, ..Volume::default() }), outcome);
        };
        outcome.certainty = Certainty::Approximate { resolution: lattice.size.max_element() };
        let Some(images) = Images::draw(bodies, lattice, inside, options.open, budget) else {
            return Verdict::out_of_budget();
        };
        outcome.work += images.work;
        let found = measure::measure(&images, &turn, options, vertices);
        let wanted = options.error.filter(|_| options.resolution.is_none()).map(|error| error * found.volume);
        match wanted {
            Some(wanted) if found.error > wanted && pixels < FINEST => {
                let finer = (found.error / wanted).powf(1.0 / IMAGE_ORDER).clamp(1.3, 4.0);
                pixels = ((f64::from(pixels) * finer).ceil() as u32).min(FINEST);
                work = outcome.work;
            }
            _ => return Verdict::new(Some(found), outcome),
        }
    }
}

/// The resolution that meets a wanted error as a rule.
fn first_resolution(error: f64) -> u32 {
    let pixels = (IMAGE_FIRST_ERROR / error).powf(1.0 / IMAGE_ORDER);
    (pixels.ceil() as u32).clamp(COARSE, FINEST)
}

/// The box that holds what the bodies have in common. A half-infinite body reaches as far as the other.
fn common_box(bodies: &[&Body<'_>], options: &VolumeOptions) -> Aabb {
    let is_endless =
        |body: &Body<'_>| options.open == Some(OpenSurface::HalfSpace) && body.open_mesh().is_some();
    let all = Aabb { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY };
    let meet = |both: Aabb, body: &Aabb| Aabb { low: both.low.max(body.low), high: both.high.min(body.high) };
    let ended =
        bodies.iter().filter(|body| !is_endless(body)).fold(all, |both, body| meet(both, &body.bounds));
    if ended.low.is_finite() && ended.high.is_finite() {
        return ended;
    }
    bodies.iter().fold(all, |both, body| meet(both, &body.bounds))
}
