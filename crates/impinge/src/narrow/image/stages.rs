//! How long each stage takes, for the bench.

use std::time::Instant;

use glam::DMat3;

use super::body::Body;
use super::images::Images;
use super::lattice::Lattice;
use super::layer::Inside;
use super::measure::measure;
use super::{PIXELS, common_box};
use crate::Budget;
use crate::contact::VolumeOptions;
use crate::model::Placed;

/// Nanoseconds of each stage.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stages {
    /// Placing the bodies and meeting of their boxes.
    pub broad_phase: f64,
    /// Drawing, sorting and finding the common intervals.
    pub images: f64,
    /// Volume, error and regions.
    pub volume: f64,
    /// The gradient by every vertex.
    pub forces: f64,
}

/// The stages of one question about two closed bodies.
pub fn stages<'s>(a: impl Into<Placed<'s>>, b: impl Into<Placed<'s>>, options: &VolumeOptions) -> Stages {
    let nanoseconds = |from: Instant| from.elapsed().as_secs_f64() * 1e9;
    let begun = Instant::now();
    let placed = [a.into(), b.into()];
    let bodies = placed.map(|one| Body::new(one.geometry(), &one.pose()));
    let [a, b] = &bodies;
    let lattice = Lattice::new(common_box(&[a, b], options), options.resolution.unwrap_or(PIXELS));
    let mut found = Stages { broad_phase: nanoseconds(begun), ..Stages::default() };
    let Some(lattice) = lattice else { return found };
    let begun = Instant::now();
    let drawn = [a, b];
    let images = Images::draw(&drawn, lattice, Inside::Both, options.open, &mut Budget::UNLIMITED.clone());
    found.images = nanoseconds(begun);
    let Some(images) = images else { return found };
    let timed = |gradient: bool| {
        let begun = Instant::now();
        let asked = VolumeOptions { gradient, ..*options };
        let vertices = [a.vertices(), b.vertices()];
        std::hint::black_box(measure(&images, &DMat3::IDENTITY, &asked, vertices));
        nanoseconds(begun)
    };
    found.volume = timed(false);
    found.forces = (timed(true) - found.volume).max(0.0);
    found
}
