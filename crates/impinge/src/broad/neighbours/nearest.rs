//! Questions about a point: which particles are nearest to it, or within a distance.

use glam::DVec3;

use super::Particles;
use super::particles::MOST_CELLS_AWAY;
use super::reduced_cell::ReducedCell;
use crate::num::tolerance::LARGEST_COORDINATE;

/// Images of a point that a structure is searched around, at most: in cells so slanted that there are more, every particle
/// is tried.
const MOST_IMAGES: f64 = 512.0;

/// A particle near a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// Its index.
    pub particle: u32,
    /// From the point to its centre, or to its nearest image in a periodic cell.
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

/// A point from which particles are seen.
pub(super) struct Viewpoint<'a> {
    particles: &'a Particles<'a>,
    cell: ReducedCell,
    /// Inside the cell.
    point: DVec3,
}

/// One of the images of a point, and the particles whose nearest images are seen from there.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    view: &'a Viewpoint<'a>,
    steps: [f64; 3],
}

impl<'a> Particles<'a> {
    /// What is seen from a point; nothing where it is not finite, or as far away as no particle may be.
    pub(super) fn seen_from(&'a self, point: [f64; 3]) -> Option<Viewpoint<'a>> {
        let domain = self.domain();
        let at = DVec3::from(point);
        let cells = domain.fractional(at).map(f64::floor);
        let is_far = |x: &f64| !(x.abs() <= LARGEST_COORDINATE);
        if point.iter().any(is_far) || cells.iter().any(|n| n.abs() >= MOST_CELLS_AWAY) {
            return None;
        }
        let point = if domain.is_open() { at } else { domain.shifted(at, cells.map(|n| -n)) };
        Some(Viewpoint { particles: self, cell: ReducedCell::of(domain), point })
    }
}

impl Viewpoint<'_> {
    /// The way to the nearest image of a particle: by how many vectors, and how far.
    fn nearest(&self, particle: u32) -> ([f64; 3], Nearest) {
        let (steps, d) = self.cell.nearest(self.particles.position(particle) - self.point);
        (steps, Nearest { particle, distance: d.length() })
    }

    /// Replaces `found` by the particles at most `radius` away, the nearest first, by trying every one.
    pub fn within(&self, radius: f64, found: &mut Vec<Nearest>) {
        found.clear();
        let all = (0..self.particles.len() as u32).map(|i| self.nearest(i).1);
        found.extend(all.filter(|one| one.distance <= radius));
        Nearest::sort(found);
    }

    /// The images of the point that are nearest to some particle; none where there are too many.
    pub fn images(&self) -> Option<impl Iterator<Item = Around<'_>>> {
        let bounds = match self.particles.is_empty() {
            true => [DVec3::ZERO; 2],
            false => self.particles.bounds().map(|corner| corner - self.point),
        };
        let steps = self.cell.steps_of(bounds);
        let count: f64 = steps.iter().map(|[first, last]| (last - first + 1.0).max(0.0)).product();
        let along = move |k: usize| (steps[k][0] as i64..=steps[k][1] as i64).map(|n| n as f64);
        (count <= MOST_IMAGES).then(|| {
            along(0)
                .flat_map(move |a| along(1).flat_map(move |b| along(2).map(move |c| [a, b, c])))
                .map(move |steps| Around { view: self, steps })
        })
    }
}

impl Around<'_> {
    /// Where the point is seen.
    pub fn centre(&self) -> DVec3 {
        self.view.cell.moved(self.view.point, self.steps.map(|s| -s))
    }

    /// A particle, if this is the image of the point that counts for it.
    pub fn nearest(&self, particle: u32) -> Option<Nearest> {
        let (steps, nearest) = self.view.nearest(particle);
        // −0 is 0.
        (steps == self.steps).then_some(nearest)
    }
}
