//! Images of particles near the border of a periodic cell, so that a structure for open space serves it too.
//!
//! A pair that meets across a border is a particle and an image of another. Of the two ways to see it, j's image
//! beside i by a shift and i's beside j by the opposite one, only the shift that is first positive has images: so
//! every pair is among the particles and images once. Which image counts is decided by
//! [`Particles::pair_of_images`](super::Particles).

use glam::DVec3;

use super::{Particles, bytes_of};
use crate::num::tolerance::IMAGE_MARGIN;

/// The images of a frame; none in open space. They are numbered after the particles.
#[derive(Debug, Clone, Default)]
pub(crate) struct Images {
    /// Particles before the first image.
    particles: u32,
    /// Where each image is.
    positions: Vec<[f64; 3]>,
    /// Whose image it is and by which shift.
    sources: Vec<(u32, [i8; 3])>,
}

impl Images {
    /// Replaces all by the images that particles of a frame can meet.
    pub fn update(&mut self, particles: &Particles<'_>) {
        self.particles = particles.len() as u32;
        self.positions.clear();
        self.sources.clear();
        let domain = particles.domain();
        if domain.is_open() {
            return;
        }
        let near = domain.widths().map(|width| particles.candidate_reach() / width + IMAGE_MARGIN);
        let periodic = domain.is_periodic();
        for (i, x) in particles.positions().iter().enumerate() {
            let x = DVec3::from(*x);
            let at = domain.fractional(x);
            let axis = |k: usize| {
                let wanted = move |s: &i8| match s {
                    0 => true,
                    1 => periodic[k] && at[k] <= near[k],
                    _ => periodic[k] && at[k] >= 1.0 - near[k],
                };
                [-1, 0, 1].into_iter().filter(wanted)
            };
            for a in axis(0) {
                for b in axis(1) {
                    for c in axis(2).filter(|&c| [a, b, c] > [0; 3]) {
                        self.positions.push(domain.shifted(x, [a, b, c].map(f64::from)).into());
                        self.sources.push((i as u32, [a, b, c]));
                    }
                }
            }
        }
    }

    /// The positions of the images, in the order of their numbers.
    pub fn positions(&self) -> &[[f64; 3]] {
        &self.positions
    }

    /// The particle behind a number.
    #[inline]
    pub fn source(&self, number: u32) -> u32 {
        if number < self.particles { number } else { self.sources[(number - self.particles) as usize].0 }
    }

    /// How many cells away from its particle; 0 for particles.
    #[inline]
    pub fn shift(&self, number: u32) -> [i8; 3] {
        if number < self.particles { [0; 3] } else { self.sources[(number - self.particles) as usize].1 }
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        bytes_of(&self.positions) + bytes_of(&self.sources)
    }
}
