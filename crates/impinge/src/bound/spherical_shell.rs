//! The spherical shell of Krishnan, Pattekar, Lin and Manocha ("Spherical shell: a higher order bounding
//! volume for fast proximity queries", 1998): the part of the space between two concentric spheres that
//! lies in a cone with its apex at their centre. It follows a curved patch to second order.
//!
//! Where we leave the paper: the centre is fitted by linear regression on all corners, and kept within [`FLATTEST_SHELL`] patch sizes;
//! a patch that fills a half-space or more of directions becomes a whole shell (half angle π); and the
//! overlap test is a list of sufficient conditions for being apart (ball against shell both ways, the
//! hole, supporting planes) instead of the paper's case analysis of cone against cone.

use glam::DVec3;

use super::{BoundRef, Bounding, Relative, Sphere, obb};
use crate::num::tolerance::{FLATTEST_SHELL, PLACING_ERROR, ROUND_UP};

/// A sector of a shell; the whole shell when `cos_half` is −1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shell {
    /// The common centre of the spheres, the cone's apex.
    pub centre: DVec3,
    /// The cone's axis, of unit length.
    pub axis: DVec3,
    /// Cosine of the cone's half angle, rounded down; −1 for no cone, otherwise above 0.
    pub cos_half: f64,
    /// Radius of the inner sphere, rounded down.
    pub inner: f64,
    /// Radius of the outer sphere, rounded up.
    pub outer: f64,
}

impl Shell {
    fn whole(ball: Sphere, inner: f64) -> Shell {
        let inner = inner.max(0.0);
        Shell { centre: ball.centre, axis: DVec3::Z, cos_half: -1.0, inner, outer: ball.radius }
    }

    fn is_whole(&self) -> bool {
        self.cos_half < 0.0
    }

    fn sin_half(&self) -> f64 {
        (1.0 - self.cos_half * self.cos_half).max(0.0).sqrt()
    }

    /// Rounding of positions and radii: the centre may be many patch sizes away.
    fn slack(&self) -> f64 {
        super::project_error(self.centre.abs() + DVec3::splat(self.outer))
    }

    /// The largest d·(x − centre)/|d| over the sector.
    fn support(&self, d: DVec3) -> f64 {
        if self.is_whole() {
            return self.outer;
        }
        let cos = d.dot(self.axis) / d.length();
        if !(cos < self.cos_half) {
            return self.outer;
        }
        let sin = (1.0 - cos * cos).max(0.0).sqrt();
        let nearest = cos * self.cos_half + sin * self.sin_half();
        nearest * if nearest > 0.0 { self.outer } else { self.inner }
    }

    /// Whether a ball in the shell's frame surely misses it.
    fn misses(&self, centre: DVec3, radius: f64) -> bool {
        let to = centre - self.centre;
        let distance = to.length();
        let slack = self.slack() + PLACING_ERROR * (distance + radius);
        if distance - radius > self.outer + slack || distance + radius + slack < self.inner {
            return true;
        }
        let radius = radius + slack;
        if self.is_whole() || radius >= distance {
            return false;
        }
        // Angles: the ball is out of the cone when its centre is beyond the half angle plus its own.
        let sin = radius / distance;
        let cos = (1.0 - sin * sin).sqrt();
        let limit = self.cos_half * cos - self.sin_half() * sin;
        // Beyond π the sum of angles covers everything; −1 is then never undercut.
        let wide = cos <= -self.cos_half;
        !wide && to.dot(self.axis) < (limit - PLACING_ERROR) * distance
    }

    fn fitted(triangles: &[[DVec3; 3]]) -> Option<Shell> {
        let points = triangles.as_flattened();
        let mean = points.iter().sum::<DVec3>() / points.len() as f64;
        let size = points.iter().map(|p| p.distance(mean)).fold(0.0, f64::max);
        if !(size > 0.0) {
            return None;
        }
        // |p − c|² is to be constant: linear regression of |p − mean|² on p − mean, which falls apart into
        // one unknown for each principal axis.
        let axes = super::principal_axes(obb::point_covariance(points));
        let offsets = || points.iter().map(|&p| (p - mean) / size);
        let mean_sq = offsets().map(|v| v.length_squared()).sum::<f64>() / points.len() as f64;
        let along = axes.map(|axis| {
            let (hh, hs) = offsets().fold((0.0, 0.0), |(hh, hs), v| {
                let h = v.dot(axis);
                (hh + h * h, hs + h * (v.length_squared() - mean_sq))
            });
            axis * (hs / (2.0 * hh))
        });
        let fitted = along.into_iter().filter(|c| c.is_finite()).sum::<DVec3>();
        // A flat patch has no curvature to fit: its centre is as far away as allowed.
        let to = if along[2].is_finite() { fitted } else { axes[2] * FLATTEST_SHELL };
        let to = to.clamp_length_max(FLATTEST_SHELL);
        let axis = (-to).try_normalize()?;
        let centre = mean + to * size;
        let cos = points
            .iter()
            .map(|&p| (p - centre).dot(axis) / p.distance(centre))
            .fold(1.0, |least: f64, c| if c >= least { least } else { c });
        // Below a right angle the cone is convex and holds the triangles when it holds their corners.
        if !(cos > PLACING_ERROR) {
            return None;
        }
        let outer = points.iter().map(|p| p.distance(centre)).fold(0.0, f64::max);
        let mut shell = Shell { centre, axis, cos_half: cos - PLACING_ERROR, inner: 0.0, outer };
        shell.outer = outer * ROUND_UP + shell.slack();
        shell.inner = (inner_radius(triangles, centre) - shell.slack()).max(0.0);
        Some(shell)
    }
}

/// At most the distance of any triangle from c: inside a triangle |x − c|² is short of the corners' by
/// at most a third of the longest side squared.
fn inner_radius(triangles: &[[DVec3; 3]], c: DVec3) -> f64 {
    let least = triangles.iter().map(|&[p, q, r]| {
        let side = p.distance_squared(q).max(q.distance_squared(r)).max(r.distance_squared(p));
        let corner = p.distance_squared(c).min(q.distance_squared(c)).min(r.distance_squared(c));
        corner - side / 3.0
    });
    least.fold(f64::INFINITY, f64::min).max(0.0).sqrt() / ROUND_UP
}

impl Bounding for Shell {
    fn enclose(triangles: &[[DVec3; 3]]) -> Self {
        Shell::fitted(triangles).unwrap_or_else(|| {
            let ball = Sphere::enclose(triangles);
            let shell = Shell::whole(ball, inner_radius(triangles, ball.centre));
            Shell { inner: (shell.inner - shell.slack()).max(0.0), ..shell }
        })
    }

    fn merge(&self, other: &Self) -> Self {
        Shell::around(&[BoundRef::Shell(self), BoundRef::Shell(other)])
    }

    fn around(parts: &[BoundRef<'_>]) -> Self {
        // A shell around other volumes has no patch to follow: the ball, and the cone of the parts' balls
        // when the first part's centre serves all of them.
        let ball = Sphere::around(parts);
        let hole = parts.iter().map(|p| p.ball()).map(|b| b.centre.distance(ball.centre) - b.radius);
        let shell = Shell::whole(ball, hole.fold(f64::INFINITY, f64::min));
        Shell { inner: (shell.inner - shell.slack()).max(0.0), ..shell }
    }

    fn overlaps(&self, other: &Self, relative: &Relative) -> bool {
        let (a, b) = (self.ball(), other.ball());
        let (b_centre, b_radius) = (relative.point(b.centre), b.radius * relative.stretch + relative.pad);
        let (a_centre, a_radius) =
            (relative.point_back(a.centre), (a.radius + relative.pad) * relative.squeeze);
        if self.misses(b_centre, b_radius) || other.misses(a_centre, a_radius) {
            return false;
        }
        let slack = relative.pad + self.slack() + other.slack();
        let in_hole = other.farthest(relative.point_back(self.centre)) * relative.stretch + slack
            < self.inner
            || (self.farthest(relative.point(other.centre)) + slack) * relative.squeeze < other.inner;
        let clear = |d: DVec3| relative.gap_along(self, other, d) > slack * d.length();
        !(in_hole
            || clear(self.axis)
            || clear(relative.direction_to_a(other.axis))
            || clear(b_centre - a.centre))
    }

    fn interval(&self, d: DVec3) -> [f64; 2] {
        let length = d.length();
        if !(length > 0.0) {
            return [0.0, 0.0];
        }
        let slack = 2.0 * self.slack() * length;
        let middle = d.dot(self.centre);
        [middle - self.support(-d) * length - slack, middle + self.support(d) * length + slack]
    }

    fn ball(&self) -> Sphere {
        if self.is_whole() {
            return Sphere { centre: self.centre, radius: self.outer };
        }
        // From a point of the axis the farthest points of a sector are on its two rims.
        let sin = self.sin_half();
        let rims = |h: f64| {
            let rim = |r: f64| (r * sin).hypot(r * self.cos_half - h);
            rim(self.outer).max(rim(self.inner))
        };
        let through_rim = self.outer * self.cos_half;
        let between = (self.outer + self.inner) / (2.0 * self.cos_half);
        let h = if rims(between) < rims(through_rim) { between } else { through_rim };
        let radius = rims(h) * ROUND_UP + 2.0 * self.slack();
        Sphere { centre: self.centre + self.axis * h, radius }
    }

    fn farthest(&self, p: DVec3) -> f64 {
        let all = (p.distance(self.centre) + self.outer) * ROUND_UP;
        if self.is_whole() { all } else { all.min(self.ball().farthest(p)) }
    }

    fn contains(&self, p: DVec3) -> bool {
        let v = p - self.centre;
        let distance = v.length();
        (self.inner..=self.outer).contains(&distance)
            && (self.is_whole() || v.dot(self.axis) >= self.cos_half * distance)
    }

    fn normals(&self, visit: &mut dyn FnMut(DVec3)) {
        visit(self.axis);
    }

    fn inflate(&mut self, by: f64) {
        // Moved by less than `by`, a direction at least `inner` away turns by less than asin(by/inner).
        let sin = by / self.inner;
        let cos = (1.0 - sin * sin).sqrt();
        let wider = self.cos_half * cos - self.sin_half() * sin - PLACING_ERROR;
        self.cos_half = if sin < 1.0 && wider > 0.0 { wider } else { -1.0 };
        self.inner = ((self.inner - by) / ROUND_UP).max(0.0);
        self.outer = (self.outer + by) * ROUND_UP;
    }

    fn surface(&self) -> f64 {
        let (r, s) = (self.inner * self.inner, self.outer * self.outer);
        let cone = if self.is_whole() { 0.0 } else { self.sin_half() * (s - r) };
        std::f64::consts::PI * (2.0 * (1.0 - self.cos_half) * (r + s) + cone)
    }

    fn volume(&self) -> f64 {
        let cubes = self.outer.powi(3) - self.inner.powi(3);
        2.0 / 3.0 * std::f64::consts::PI * (1.0 - self.cos_half) * cubes
    }
}
