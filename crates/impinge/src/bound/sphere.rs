//! The bounding sphere: Ritter's passes ("An efficient bounding sphere", 1990), then repeated from a
//! slightly shrunken sphere as Ericson does ("Real-time collision detection", 2005), the best kept. The
//! radius is measured last and rounded up, so the sphere encloses whatever the centre is.

use glam::DVec3;

#[cfg(any(test, feature = "unstable"))]
use crate::num::tolerance::ROUND_UP;

#[cfg(any(test, feature = "unstable"))]
use super::{BoundRef, Bounding, Relative};

/// Centre and radius.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sphere {
    /// The centre.
    pub centre: DVec3,
    /// The radius, rounded up.
    pub radius: f64,
}

#[cfg(any(test, feature = "unstable"))]
/// Times the sphere is shrunk and grown again; the radius is then within a few per cent of the smallest.
const ROUNDS: usize = 12;

#[cfg(any(test, feature = "unstable"))]
/// How much it is shrunk.
const SHRINK: f64 = 0.95;

#[cfg(any(test, feature = "unstable"))]
impl Sphere {
    /// A sphere around points; there must be one at least.
    pub fn around_points(points: &[DVec3]) -> Sphere {
        let farthest = |c: DVec3| {
            let mut best = (c, -1.0);
            for &p in points {
                let d = p.distance_squared(c);
                if d > best.1 {
                    best = (p, d);
                }
            }
            best.0
        };
        let p = farthest(points[0]);
        let q = farthest(p);
        let mut centre = (p + q) / 2.0;
        let mut radius = reach(points, centre);
        let mut best = (radius, centre);
        for _ in 0..ROUNDS {
            radius *= SHRINK;
            for &p in points {
                let d = p.distance(centre);
                if d > radius {
                    centre += (p - centre) * ((d - radius) / (2.0 * d));
                    radius = (radius + d) / 2.0;
                }
            }
            radius = reach(points, centre);
            if radius < best.0 {
                best = (radius, centre);
            }
        }
        Sphere { centre: best.1, radius: best.0 }
    }

    fn around_spheres(spheres: impl Iterator<Item = Sphere> + Clone) -> Sphere {
        let mut iter = spheres.clone();
        let Some(mut whole) = iter.next() else {
            return Sphere { centre: DVec3::ZERO, radius: 0.0 };
        };
        for s in iter {
            whole = whole.merge(&s);
        }
        // Pairwise merging depends on the order; the centre is good, the radius is measured again.
        let radius = spheres.map(|s| s.farthest(whole.centre)).fold(0.0, f64::max);
        Sphere { radius, ..whole }
    }
}

#[cfg(any(test, feature = "unstable"))]
fn reach(points: &[DVec3], centre: DVec3) -> f64 {
    let far = points.iter().map(|p| p.distance_squared(centre)).fold(0.0, f64::max);
    far.sqrt() * ROUND_UP + f64::MIN_POSITIVE.sqrt()
}

#[cfg(any(test, feature = "unstable"))]
impl Bounding for Sphere {
    fn enclose(triangles: &[[DVec3; 3]]) -> Self {
        Sphere::around_points(triangles.as_flattened())
    }

    fn merge(&self, other: &Self) -> Self {
        let apart = self.centre.distance(other.centre);
        if self.farthest(other.centre) <= other.radius {
            return *other;
        }
        if other.farthest(self.centre) <= self.radius {
            return *self;
        }
        let radius = (apart + self.radius + other.radius) / 2.0;
        let along = if apart > 0.0 { (other.centre - self.centre) / apart } else { DVec3::ZERO };
        let centre = self.centre + along * (radius - self.radius);
        Sphere { centre, radius: self.farthest(centre).max(other.farthest(centre)) }
    }

    fn around(parts: &[BoundRef<'_>]) -> Self {
        let balls = parts.iter().map(|p| p.ball());
        let whole = Sphere::around_spheres(balls);
        // A part's farthest point is nearer than its ball says when the part is no sphere.
        let radius = parts.iter().map(|p| p.farthest(whole.centre)).fold(0.0, f64::max);
        Sphere { radius: radius.min(whole.radius), ..whole }
    }

    fn overlaps(&self, other: &Self, relative: &Relative) -> bool {
        let gap_sq = self.centre.distance_squared(relative.point(other.centre));
        let sum = self.radius + other.radius * relative.stretch + relative.pad;
        gap_sq <= sum * sum * ROUND_UP + f64::MIN_POSITIVE
    }

    fn interval(&self, d: DVec3) -> [f64; 2] {
        let half = d.length() * (self.radius + super::project_error(self.centre)) * ROUND_UP;
        let middle = d.dot(self.centre);
        [middle - half, middle + half]
    }

    fn ball(&self) -> Sphere {
        *self
    }

    fn farthest(&self, p: DVec3) -> f64 {
        (p.distance(self.centre) + self.radius) * ROUND_UP
    }

    fn contains(&self, p: DVec3) -> bool {
        p.distance(self.centre) <= self.radius
    }

    fn normals(&self, _visit: &mut dyn FnMut(DVec3)) {}

    fn inflate(&mut self, by: f64) {
        self.radius = (self.radius + by) * ROUND_UP;
    }

    fn surface(&self) -> f64 {
        4.0 * std::f64::consts::PI * self.radius * self.radius
    }

    fn volume(&self) -> f64 {
        self.surface() * self.radius / 3.0
    }
}
