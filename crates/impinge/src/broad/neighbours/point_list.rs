//! The particles of a frame and their periodic images as one list of points, for structures of open space.

use super::images::Images;
use super::{Particles, bytes_of};

/// All particles, then their images.
#[derive(Debug, Clone, Default)]
pub(super) struct PointList {
    images: Images,
    positions: Vec<[f64; 3]>,
}

impl PointList {
    /// Takes over a frame.
    pub fn update(&mut self, particles: &Particles<'_>) {
        self.images.update(particles);
        self.positions.clear();
        self.positions.extend_from_slice(particles.positions());
        self.positions.extend_from_slice(self.images.positions());
    }

    pub fn positions(&self) -> &[[f64; 3]] {
        &self.positions
    }

    /// The radius of the ball at a point.
    #[inline]
    pub fn radius(&self, particles: &Particles<'_>, point: u32) -> f64 {
        particles.radius(self.images.source(point))
    }

    /// The pair that two points stand for, if they do.
    #[inline]
    pub fn pair(&self, particles: &Particles<'_>, a: u32, b: u32) -> Option<[u32; 2]> {
        particles.pair_of_images(&self.images, a, b)
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.images.bytes() + bytes_of(&self.positions)
    }
}
