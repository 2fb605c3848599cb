//! The contact points of a ball or capsule on the surface of a mesh: where the distance from its core has a local
//! minimum, that is where the way to the core lies in the Voronoi region of the feature.

use glam::DVec3;
use smallvec::SmallVec;

use super::local_surface::LocalSurface;
use crate::contact::{Contact, Feature};
use crate::geom::point_triangle::{closest_point, segment_foot};
use crate::geom::segment_segment::inner_points;
use crate::narrow::exact::patch_lanes::Squares;
use crate::num::tolerance::{NO_DIRECTION, REGION_EDGE};

/// The surface of a capsule is under an end of its core by at most this share of the radius (no unit), as long as the
/// core sinks by less than a half towards its other end: 1 / √(1 − ¼), rounded up.
const SLANTED: f64 = 1.155;

/// Appends the contacts of a mesh, as a, and a body of a radius around a segment, as b, not farther apart than
/// `margin`. A ball is a segment without a length.
pub(super) fn contacts(
    surface: &LocalSurface<'_>,
    core: [DVec3; 2],
    radius: f64,
    margin: f64,
    found: &mut Vec<Contact>,
) {
    let length = core[1].distance(core[0]);
    let axis = (core[1] - core[0]).try_normalize();
    end(surface, core[0], axis.map(|axis| (axis, length)), radius, margin, found);
    let Some(axis) = axis else { return };
    end(surface, core[1], Some((-axis, length)), radius, margin, found);
    inner_edges(surface, core, radius, margin, found);
    inner_corners(surface, core, radius, margin, found);
}

/// The contacts of one end of the core; `axis` leads to the other end, and how far.
fn end(
    surface: &LocalSurface<'_>,
    centre: DVec3,
    axis: Option<(DVec3, f64)>,
    radius: f64,
    margin: f64,
    found: &mut Vec<Contact>,
) {
    if surface.is_behind(centre) {
        let Some(near) = surface.nearest(centre, None) else { return };
        if surface.is_border(near.facet, near.foot.part) {
            return;
        }
        // Sunk in so far that the core is: out by the nearest way. Else it only looks so from a part of the surface.
        if surface.has_passed(centre, &near) {
            let way = near.foot.point - centre;
            let normal = way.try_normalize().unwrap_or(surface.facet(near.facet).normal);
            if let Some(x) = surface_point(centre, axis, radius, normal) {
                let features = [surface.feature(near.facet, near.foot.part), Feature::Surface];
                let depth = normal.dot(near.foot.point - x);
                found.push(Contact::between([near.foot.point, x], normal, depth, features));
            }
            return;
        }
    }
    // An end that is the higher one is over the surface by more than the radius.
    let reach = if axis.is_some() { SLANTED * radius } else { radius } + margin;
    let mut within = Squares::new();
    surface.within(centre, reach, &mut within);
    for &(k, square) in &within {
        let (k, distance) = (k as usize, square.sqrt());
        let facet = surface.facet(k);
        // Farther away than the radius it can only be under the core where that sinks.
        if distance > radius + margin
            && !axis.is_some_and(|(axis, _)| facet.corners.iter().any(|p| axis.dot(*p - centre) > 0.0))
        {
            continue;
        }
        let foot = closest_point(centre, &facet.corners);
        let normal = match (centre - foot.point).try_normalize() {
            Some(unit) if distance > NO_DIRECTION * radius => unit,
            _ => facet.away(),
        };
        if normal.dot(facet.normal) < -REGION_EDGE {
            continue;
        }
        let Some(x) = surface_point(centre, axis, radius, normal) else { continue };
        let depth = normal.dot(foot.point - x);
        if !(depth >= -margin) || !surface.is_in_region(k, foot.part, foot.point, normal) {
            continue;
        }
        let same = |c: &Contact| {
            c.points[0].distance_squared(foot.point) <= (REGION_EDGE * radius).powi(2)
                && c.points[1].distance_squared(x) <= (REGION_EDGE * radius).powi(2)
        };
        if !found.iter().any(same) {
            let features = [surface.feature(k, foot.part), Feature::Surface];
            found.push(Contact::between([foot.point, x], normal, depth, features));
        }
    }
}

/// The point of the surface under an end of the core against a normal; `None` where that is under the other end.
fn surface_point(centre: DVec3, axis: Option<(DVec3, f64)>, radius: f64, normal: DVec3) -> Option<DVec3> {
    let sinking = axis.map(|(axis, length)| (-normal.dot(axis), length));
    let Some((rise, length)) = sinking.filter(|(rise, _)| *rise > 0.0) else {
        return Some(centre - normal * radius);
    };
    // The core sinks towards its other end: the cylinder is left farther down.
    let across = (1.0 - rise * rise).max(0.0).sqrt();
    (rise < 0.5 && radius * rise <= length * across).then(|| centre - normal * (radius / across))
}

/// The inside of the core over sharp edges.
fn inner_edges(
    surface: &LocalSurface<'_>,
    core: [DVec3; 2],
    radius: f64,
    margin: f64,
    found: &mut Vec<Contact>,
) {
    let mut ridges = SmallVec::new();
    surface.sharp_edges(surface.corner_blocks().1, &mut ridges);
    for &edge in &ridges {
        let ends = surface.ends(edge);
        let Some([p, q]) = inner_points(ends[0], ends[1] - ends[0], core[0], core[1] - core[0]) else {
            continue;
        };
        let distance = p.distance(q);
        if distance - radius > margin {
            continue;
        }
        let Some(normal) = (q - p).try_normalize() else { continue };
        if surface.region(edge).holds(normal) {
            let features = [surface.edge_name(edge), Feature::Surface];
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
    for (place, corner) in surface.corners().filter(|(_, corner)| surface.is_sharp(corner)) {
        let p = surface.at(place);
        let (foot, end) = segment_foot(p, core[0], core[1]);
        let distance = foot.distance(p);
        if end.is_some() || distance - radius > margin {
            continue;
        }
        let Some(normal) = (foot - p).try_normalize() else { continue };
        if surface.is_in_corner_region(place, normal) {
            let features = [Feature::Vertex(corner.vertex), Feature::Surface];
            found.push(Contact::between([p, foot - normal * radius], normal, radius - distance, features));
        }
    }
}
