//! The contact points of a ball or capsule on the surface of a mesh: where the distance from its core has a local
//! minimum, that is where the way to the core lies in the Voronoi region of the feature.

use glam::DVec3;

use super::local_surface::LocalSurface;
use crate::contact::{Contact, Feature};
use crate::geom::point_triangle::{TriangleFeature, inside_foot, segment_foot};
use crate::geom::segment_segment::inner_points;
use crate::num::tolerance::{NO_DIRECTION, REGION_EDGE};

/// The surface of a capsule is under an end of its core by at most this share of the radius (no unit), as long as the
/// core sinks by less than a half towards its other end: 1 / √(1 − ¼), rounded up.
const SLANTED: f64 = 1.155;

/// A ball, or one end of the core of a capsule.
struct End {
    centre: DVec3,
    /// Leads to the other end.
    axis: Option<DVec3>,
    radius: f64,
    margin: f64,
}

/// Appends the contacts of a mesh, as a, and a body of a radius around a segment, as b, not farther apart than
/// `margin`. A ball is a segment without a length.
pub(super) fn contacts(
    surface: &LocalSurface<'_>,
    core: [DVec3; 2],
    radius: f64,
    margin: f64,
    found: &mut Vec<Contact>,
) {
    let axis = (core[1] - core[0]).try_normalize();
    End { centre: core[0], axis, radius, margin }.contacts(surface, found);
    let Some(axis) = axis else { return };
    End { centre: core[1], axis: Some(-axis), radius, margin }.contacts(surface, found);
    inner_edges(surface, core, radius, margin, found);
    inner_corners(surface, core, radius, margin, found);
}

impl End {
    fn contacts(&self, surface: &LocalSurface<'_>, found: &mut Vec<Contact>) {
        if !surface.sees(self.centre) {
            self.sunk(surface, found);
            return;
        }
        let (centre, first) = (self.centre, found.len());
        // The higher end is over the surface by more than the radius.
        let reach = if self.axis.is_some() { SLANTED * self.radius } else { self.radius } + self.margin;
        let near = |p: DVec3| p.distance_squared(centre) <= reach * reach;
        for (k, normal, offset) in surface.planes() {
            let height = normal.dot(centre) - offset;
            if height > reach || height < -REGION_EDGE * self.radius {
                continue;
            }
            let Some(foot) = inside_foot(centre, &surface.facet(k).corners) else { continue };
            self.add(surface.feature(k, TriangleFeature::Inside), foot.point, normal, first, found);
        }
        for (ends, edge) in surface.edges() {
            let (foot, end) = segment_foot(centre, ends[0], ends[1]);
            if end.is_some() || !near(foot) {
                continue;
            }
            let spread = surface.edge(edge);
            let face = surface.facet(edge.facet as usize).normal;
            let normal = self.direction(foot, face);
            if normal.dot(face) >= -REGION_EDGE && spread.is_in_region(normal) {
                self.add(spread.feature(), foot, normal, first, found);
            }
        }
        for corner in surface.corners().filter(|corner| near(corner.at)) {
            let normal = self.direction(corner.at, DVec3::ZERO);
            if normal != DVec3::ZERO && surface.is_in_corner_region(corner, normal) {
                self.add(Feature::Vertex(corner.vertex), corner.at, normal, first, found);
            }
        }
    }

    /// The way from a point of the surface, or the normal there.
    fn direction(&self, from: DVec3, normal: DVec3) -> DVec3 {
        let way = self.centre - from;
        let known = way.length_squared() > (NO_DIRECTION * self.radius).powi(2);
        if known { way.normalize() } else { normal }
    }

    /// Sunk in so far that the core is: out by the nearest way.
    fn sunk(&self, surface: &LocalSurface<'_>, found: &mut Vec<Contact>) {
        let Some(near) = surface.nearest(self.centre, usize::MAX) else { return };
        if surface.is_border(near.facet, near.foot.part) {
            return;
        }
        let way = near.foot.point - self.centre;
        let normal = way.try_normalize().unwrap_or(surface.facet(near.facet).normal);
        if let Some(x) = self.surface_point(normal) {
            let features = [surface.feature(near.facet, near.foot.part), Feature::Surface];
            let depth = normal.dot(near.foot.point - x);
            found.push(Contact::between([near.foot.point, x], normal, depth, features));
        }
    }

    /// Adds the contact of a point of the surface, unless it is within the margin of none or told already.
    fn add(&self, name: Feature, foot: DVec3, normal: DVec3, first: usize, found: &mut Vec<Contact>) {
        let Some(x) = self.surface_point(normal) else { return };
        let depth = normal.dot(foot - x);
        let same = |c: &Contact| {
            c.points[0].distance_squared(foot) <= (REGION_EDGE * self.radius).powi(2)
                && c.points[1].distance_squared(x) <= (REGION_EDGE * self.radius).powi(2)
        };
        if depth >= -self.margin && !found[first..].iter().any(same) {
            found.push(Contact::between([foot, x], normal, depth, [name, Feature::Surface]));
        }
    }

    /// The point of the surface under the end against a normal; `None` where that is under the other end.
    fn surface_point(&self, normal: DVec3) -> Option<DVec3> {
        let Some(rise) = self.axis.map(|axis| -normal.dot(axis)).filter(|rise| *rise > 0.0) else {
            return Some(self.centre - normal * self.radius);
        };
        // The core sinks towards its other end: the cylinder is left farther down.
        let across = (1.0 - rise * rise).max(0.0).sqrt();
        (rise < 0.5).then(|| self.centre - normal * (self.radius / across))
    }
}

/// The inside of the core over sharp edges.
fn inner_edges(
    surface: &LocalSurface<'_>,
    core: [DVec3; 2],
    radius: f64,
    margin: f64,
    found: &mut Vec<Contact>,
) {
    for (ends, edge) in surface.edges() {
        if !surface.is_sharp(edge) {
            continue;
        }
        let Some([p, q]) = inner_points(ends[0], ends[1] - ends[0], core[0], core[1] - core[0]) else {
            continue;
        };
        let distance = p.distance(q);
        if distance - radius > margin {
            continue;
        }
        let Some(normal) = (q - p).try_normalize() else { continue };
        let sharp = surface.edge(edge);
        if sharp.is_in_region(normal) {
            let features = [sharp.feature(), Feature::Surface];
            found.push(Contact::between([p, q - normal * radius], normal, radius - distance, features));
        }
    }
}

/// The inside of the core over sharp corners.
fn inner_corners(
    surface: &LocalSurface<'_>,
    core: [DVec3; 2],
    radius: f64,
    margin: f64,
    found: &mut Vec<Contact>,
) {
    for corner in surface.sharp_corners() {
        let p = corner.at;
        let (foot, end) = segment_foot(p, core[0], core[1]);
        let distance = foot.distance(p);
        if end.is_some() || distance - radius > margin {
            continue;
        }
        let Some(normal) = (foot - p).try_normalize() else { continue };
        if surface.is_in_corner_region(corner, normal) {
            let features = [Feature::Vertex(corner.vertex), Feature::Surface];
            found.push(Contact::between([p, foot - normal * radius], normal, radius - distance, features));
        }
    }
}
