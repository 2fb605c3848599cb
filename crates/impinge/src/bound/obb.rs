//! The oriented box of Gottschalk, Lin and Manocha ("OBBTree: a hierarchical structure for rapid
//! interference detection", 1996): axes from the covariance of the triangles' surface, extents from the
//! corners, overlap by fifteen separating axes.
//!
//! Where we leave the paper: the covariance is that of the triangles, not of their convex hull (their
//! equation for area-weighted moments is used), and when the axis-aligned box has less surface it is
//! taken instead, which repairs the cubes and balls whose covariance has no preferred axes.

use glam::{DMat3, DVec3};

use crate::num::tolerance::ROUND_UP;

use super::{BoundRef, Bounding, Relative, Sphere, principal_axes};

/// Centre, orthonormal axes and half extents along them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Obb {
    /// The centre.
    pub centre: DVec3,
    /// Unit axes, orthogonal to rounding error.
    pub axes: [DVec3; 3],
    /// Half extents along the axes, rounded up.
    pub half: DVec3,
}

/// Whether one of fifteen axes separates two boxes: the second, centred at `t` of the first's frame,
/// has the axes of `r` (columns) and `absolute` holds the entries' absolute values.
pub(super) fn apart(r: &DMat3, absolute: &DMat3, t: DVec3, half: [DVec3; 2], by: &Relative) -> bool {
    let [a, b] = half;
    let pad = by.pad;
    let reach = *absolute * b;
    if (t.abs().cmpgt(a + reach + pad)).any() {
        return true;
    }
    // Along b's axes the paper's radius holds for orthonormal matrices; the skew covers the rest.
    let slack = pad + by.skew * 4.0 * b.element_sum();
    let b_axes = r.transpose() * t;
    let a_reach = absolute.transpose() * a;
    if (b_axes.abs().cmpgt(a_reach + b + slack)).any() {
        return true;
    }
    let (columns, sizes) =
        ([r.x_axis, r.y_axis, r.z_axis], [absolute.x_axis, absolute.y_axis, absolute.z_axis]);
    for j in 0..3 {
        let (k, l) = ((j + 1) % 3, (j + 2) % 3);
        let (c, s) = (columns[j], sizes[j]);
        // Entry i of each: the axis a_i × b_j.
        let centre = DVec3::new(t.z * c.y - t.y * c.z, t.x * c.z - t.z * c.x, t.y * c.x - t.x * c.y);
        let a_radius = DVec3::new(a.y * s.z + a.z * s.y, a.x * s.z + a.z * s.x, a.x * s.y + a.y * s.x);
        let b_radius = sizes[l] * b[k] + sizes[k] * b[l];
        if (centre.abs().cmpgt(a_radius + b_radius + slack)).any() {
            return true;
        }
    }
    false
}

impl Obb {
    fn from_intervals(axes: [DVec3; 3], interval: impl Fn(DVec3) -> [f64; 2]) -> Obb {
        let spans = axes.map(interval);
        let middle = spans.map(|[low, high]| low * 0.5 + high * 0.5);
        let centre = axes[0] * middle[0] + axes[1] * middle[1] + axes[2] * middle[2];
        let size = spans.iter().flatten().fold(0.0, |m: f64, x| m.max(x.abs()));
        let half = |i: usize| {
            (spans[i][1] - middle[i]).max(middle[i] - spans[i][0]) * ROUND_UP
                + super::project_error(DVec3::splat(size))
        };
        Obb { centre, axes, half: DVec3::new(half(0), half(1), half(2)) }
    }

    fn best(axes: [DVec3; 3], interval: impl Fn(DVec3) -> [f64; 2]) -> Obb {
        let turned = Obb::from_intervals(axes, &interval);
        let straight = Obb::from_intervals(DVec3::AXES, &interval);
        if turned.surface() < straight.surface() { turned } else { straight }
    }

    fn corners(&self) -> [DVec3; 8] {
        std::array::from_fn(|i| {
            let side = |bit: usize| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
            self.centre
                + self.axes[0] * (side(0) * self.half.x)
                + self.axes[1] * (side(1) * self.half.y)
                + self.axes[2] * (side(2) * self.half.z)
        })
    }

    fn local(&self, p: DVec3) -> DVec3 {
        let d = p - self.centre;
        DVec3::new(d.dot(self.axes[0]), d.dot(self.axes[1]), d.dot(self.axes[2]))
    }
}

impl Bounding for Obb {
    fn enclose(triangles: &[[DVec3; 3]]) -> Self {
        let points = triangles.as_flattened();
        Obb::best(principal_axes(covariance(triangles)), |d| super::span(points, d))
    }

    fn merge(&self, other: &Self) -> Self {
        Obb::around(&[BoundRef::Obb(self), BoundRef::Obb(other)])
    }

    fn around(parts: &[BoundRef<'_>]) -> Self {
        let mut points = Vec::with_capacity(8 * parts.len());
        for part in parts {
            match part {
                BoundRef::Obb(b) => points.extend(b.corners()),
                other => points.extend(Obb::from_intervals(DVec3::AXES, |d| other.interval(d)).corners()),
            }
        }
        let axes = principal_axes(point_covariance(&points));
        Obb::best(axes, |d| {
            parts
                .iter()
                .map(|p| p.interval(d))
                .fold([f64::INFINITY, f64::NEG_INFINITY], |[l, h], [x, y]| [l.min(x), h.max(y)])
        })
    }

    fn overlaps(&self, other: &Self, relative: &Relative) -> bool {
        let axes = DMat3::from_cols_array_2d(&self.axes.map(|a| a.to_array()));
        let r =
            axes.transpose() * relative.matrix * DMat3::from_cols_array_2d(&other.axes.map(|a| a.to_array()));
        let absolute = DMat3::from_cols(r.x_axis.abs(), r.y_axis.abs(), r.z_axis.abs());
        let t = axes.transpose() * (relative.point(other.centre) - self.centre);
        !apart(&r, &absolute, t, [self.half, other.half], relative)
    }

    fn interval(&self, d: DVec3) -> [f64; 2] {
        let along = DVec3::new(d.dot(self.axes[0]), d.dot(self.axes[1]), d.dot(self.axes[2])).abs();
        let error = super::project_error(self.centre.abs() + DVec3::splat(self.half.element_sum()));
        let half = along.dot(self.half) * ROUND_UP + error * d.length();
        let middle = d.dot(self.centre);
        [middle - half, middle + half]
    }

    fn ball(&self) -> Sphere {
        let radius = self.half.length() * ROUND_UP + f64::MIN_POSITIVE.sqrt();
        Sphere { centre: self.centre, radius }
    }

    fn farthest(&self, p: DVec3) -> f64 {
        let error = super::project_error(p.abs() + self.centre.abs());
        ((self.local(p).abs() + self.half).length() + error) * ROUND_UP + f64::MIN_POSITIVE.sqrt()
    }

    fn contains(&self, p: DVec3) -> bool {
        self.local(p).abs().cmple(self.half).all()
    }

    fn normals(&self, visit: &mut dyn FnMut(DVec3)) {
        self.axes.into_iter().for_each(visit);
    }

    fn inflate(&mut self, by: f64) {
        self.half = (self.half + by) * ROUND_UP;
    }

    fn surface(&self) -> f64 {
        let h = self.half;
        8.0 * (h.x * h.y + h.y * h.z + h.z * h.x)
    }

    fn volume(&self) -> f64 {
        8.0 * self.half.element_product()
    }
}

/// Second moments of the triangles' surface about its centroid, weighted by area; of the corners when
/// there is no area.
fn covariance(triangles: &[[DVec3; 3]]) -> DMat3 {
    let points = triangles.as_flattened();
    let Some(&origin) = points.first() else { return DMat3::IDENTITY };
    let size = points.iter().map(|&p| (p - origin).abs().max_element()).fold(0.0, f64::max);
    if !(size > 0.0) {
        return DMat3::IDENTITY;
    }
    // Scaled to the unit box, so that the fourth powers of lengths below neither vanish nor overflow.
    let scaled = |p: DVec3| (p - origin) / size;
    let (mut area, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
    for t in triangles {
        let [p, q, r] = t.map(scaled);
        let weight = (q - p).cross(r - p).length();
        let sum = p + q + r;
        area += weight;
        first += sum * (weight / 3.0);
        // ∫ x·xᵀ over a triangle: area/12 · (9·m·mᵀ + Σ corner·cornerᵀ), m the centroid.
        second += (outer(sum) + outer(p) + outer(q) + outer(r)) * (weight / 12.0);
    }
    if !(area > 0.0) {
        return point_covariance(points);
    }
    let mean = first / area;
    second * (1.0 / area) - outer(mean)
}

pub(super) fn point_covariance(points: &[DVec3]) -> DMat3 {
    let Some(&origin) = points.first() else { return DMat3::IDENTITY };
    let size = points.iter().map(|&p| (p - origin).abs().max_element()).fold(f64::MIN_POSITIVE, f64::max);
    let n = points.len() as f64;
    let mean = points.iter().map(|&p| (p - origin) / size).sum::<DVec3>() / n;
    points.iter().fold(DMat3::ZERO, |m, &p| m + outer((p - origin) / size - mean)) * (1.0 / n)
}

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

/// The direction in which points spread most, of unit length.
pub(crate) fn principal_direction(points: &[DVec3]) -> DVec3 {
    principal_axes(point_covariance(points))[0]
}
