//! Questions about a point: which particles are nearest to it, or within a distance.

use glam::DVec3;

use super::{Domain, Particles};

/// A particle near a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// Its index.
    pub particle: u32,
    /// From the point to its centre, or to its nearest image in a periodic cell. In a cell with slanted vectors the
    /// image is that whose fractional coordinates differ least; up to half the smallest width it is the nearest.
    pub distance: f64,
}

impl Nearest {
    /// The order of answers: by distance, then by index.
    pub(super) fn order(&self, other: &Nearest) -> std::cmp::Ordering {
        self.distance.total_cmp(&other.distance).then(self.particle.cmp(&other.particle))
    }

    /// The nearest first.
    pub(super) fn sort(found: &mut [Nearest]) {
        found.sort_unstable_by(Nearest::order);
    }

    /// Adds one to the best `k`, which are in order.
    pub(super) fn insert(self, k: usize, best: &mut Vec<Nearest>) {
        let at = best.partition_point(|other| other.order(&self).is_lt());
        if at < k {
            best.truncate(k - 1);
            best.insert(at, self);
        }
    }
}

/// A point shifted by a cell, and the particles whose nearest images are seen from there.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    particles: &'a Particles<'a>,
    /// Inside the cell.
    point: DVec3,
    shift: [f64; 3],
}

impl<'a> Particles<'a> {
    /// A point seen from its own cell and from those beside it.
    pub(super) fn around(&'a self, point: [f64; 3]) -> impl Iterator<Item = Around<'a>> + 'a {
        let domain = self.domain();
        let at = DVec3::from(point);
        let cells = domain.fractional(at).map(f64::floor);
        let point = if domain.is_open() { at } else { domain.shifted(at, cells.map(|n| -n)) };
        let steps = |k: usize| if self.domain().is_periodic()[k] { -1..=1 } else { 0..=0 };
        steps(0)
            .flat_map(move |a| steps(1).flat_map(move |b| steps(2).map(move |c| [a, b, c])))
            .map(move |shift| Around { particles: self, point, shift: shift.map(f64::from) })
    }
}

impl Around<'_> {
    /// Where the point is seen.
    pub fn centre(&self) -> DVec3 {
        let domain: &Domain = self.particles.domain();
        domain.shifted(self.point, self.shift.map(|s| -s))
    }

    /// A particle, if this is the image of the point that counts for it.
    pub fn nearest(&self, particle: u32) -> Option<Nearest> {
        let domain = self.particles.domain();
        let d = self.particles.position(particle) - self.point;
        let shift = domain.nearest_image(d);
        // −0 is 0.
        (shift == self.shift).then(|| Nearest { particle, distance: domain.shifted(d, shift).length() })
    }
}
