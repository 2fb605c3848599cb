//! The contact points of a hull or box on the surface of a mesh: corners under faces, faces over corners, edges that
//! cross edges.
//!
//! A corner that has sunk in is measured from what is nearest to it, a corner of the mesh from the face above it, two
//! edges along their common perpendicular. Each is a contact only where its normal lies in the Voronoi regions of both
//! features, so that edges between faces of one plane, valleys and hidden edges give none.

use std::cell::OnceCell;

use glam::DVec3;
use smallvec::SmallVec;

use super::local_surface::{EdgeRegion, LocalSurface, Near};
use super::lower_part::{LowerPart, PlacedPolytope};
use crate::contact::{Contact, Feature};
use crate::geom::segment_segment::inner_points;
use crate::narrow::exact::patch_lanes::{Lanes, chosen};
use crate::narrow::exact::surface_patch::PatchEdge;
use crate::num::tolerance::{NO_DIRECTION, REGION_EDGE};

/// Appends the contacts of a mesh, as a, and a polytope, as b, not farther apart than `margin`.
pub(super) fn contacts(
    surface: &LocalSurface<'_>,
    placed: &PlacedPolytope<'_>,
    margin: f64,
    found: &mut Vec<Contact>,
) {
    let mut body = LowerPart::of(placed);
    body.find(surface, margin);
    let mut beyond = SmallVec::new();
    body.beyond(surface, margin, &mut beyond);
    sunk_corners(surface, &body, margin, found);
    mesh_corners(surface, &body, &beyond, margin, found);
    crossing_edges(surface, &body, &beyond, margin, found);
}

/// The corners of the polytope that lie under the surface, or over it within the margin.
fn sunk_corners(surface: &LocalSurface<'_>, body: &LowerPart<'_, '_>, margin: f64, found: &mut Vec<Contact>) {
    for &v in &body.low {
        let x = body.corners[v as usize];
        let Some(over) = surface.over(x, margin) else { continue };
        let Some(near) = surface.nearest(x, Some(over)) else { continue };
        found.extend(point_contact(surface, x, &near, body.graph.vertex(v), margin));
    }
}

/// A point of b and what is nearest to it of a as a contact, if it has sunk in or is within the margin.
pub(super) fn point_contact(
    surface: &LocalSurface<'_>,
    x: DVec3,
    near: &Near,
    name: Feature,
    margin: f64,
) -> Option<Contact> {
    let (facet, foot) = (near.facet, near.foot);
    let way = x - foot.point;
    let distance = way.length();
    let front = surface.is_in_front(x, near);
    let normal = surface.facet(facet).normal;
    // On the surface, or so near that the way to it is rounding.
    let direction = match way.try_normalize() {
        Some(unit) if distance > NO_DIRECTION * foot.point.length() => {
            if front {
                unit
            } else {
                -unit
            }
        }
        _ => normal,
    };
    let valid = if front {
        distance <= margin && surface.is_in_region(facet, foot.part, foot.point, direction)
    } else {
        !surface.is_border(facet, foot.part) && surface.has_passed(x, near)
    };
    let depth = if front { -distance } else { distance };
    let features = [surface.feature(facet, foot.part), name];
    valid.then(|| Contact::between([foot.point, x], direction, depth, features))
}

/// The corners of the mesh within the polytope, or within the margin of it.
fn mesh_corners(
    surface: &LocalSurface<'_>,
    body: &LowerPart<'_, '_>,
    beyond: &[u64],
    margin: f64,
    found: &mut Vec<Contact>,
) {
    for (place, corner) in surface.corners().filter(|(place, _)| beyond[*place as usize] == 0) {
        let p = surface.at(place);
        if !surface.is_sharp(corner) || !body.holds(p, margin) {
            continue;
        }
        let mut best: Option<(usize, f64)> = None;
        for (slot, &(normal, offset)) in body.planes.iter().enumerate() {
            let height = normal.dot(p) - offset;
            let better = best.is_none_or(|(_, most)| height > most);
            if better
                && surface.is_in_corner_region(place, -normal)
                && body.holds(p - normal * height, REGION_EDGE * body.reach)
            {
                best = Some((slot, height));
            }
        }
        let is_held = |height: f64| height >= 0.0 || body.holds(p, margin.min(REGION_EDGE * body.reach));
        if let Some((slot, height)) = best.filter(|(_, height)| is_held(*height)) {
            let normal = -body.planes[slot].0;
            let features = [Feature::Vertex(corner.vertex), body.graph.face(body.faces[slot])];
            found.push(Contact::between([p, p + normal * height], normal, -height, features));
        }
    }
}

/// The edges of the polytope that cross sharp edges of the mesh: for each of these the one that is left soonest.
fn crossing_edges(
    surface: &LocalSurface<'_>,
    body: &LowerPart<'_, '_>,
    beyond: &[u64],
    margin: f64,
    found: &mut Vec<Contact>,
) {
    let mut crossed = Lanes::new();
    let mut ridges = SmallVec::new();
    surface.sharp_edges(beyond, &mut ridges);
    for &edge in &ridges {
        let [p, q] = surface.ends(edge);
        let along = q - p;
        let mut best: Option<Contact> = None;
        let ridge = Ridge { edge, start: p, along, region: OnceCell::new() };
        body.crossed_by(p, along, REGION_EDGE * along.length(), &mut crossed);
        for own in chosen(&crossed).map(|k| &body.edges[k]) {
            let [from, to] = own.ends;
            let ends = [body.corners[from as usize], body.corners[to as usize]];
            let most = best.map_or(body.reach, |best| best.depth);
            let crossed = crossing(surface, body, &ridge, (own.index, ends), [-margin, most]);
            best = crossed.or(best);
        }
        // Sunk in, the polytope itself must be reached.
        let room = |depth: f64| if depth > 0.0 { margin.min(REGION_EDGE * body.reach) } else { margin };
        found.extend(best.filter(|best| body.is_reached([p, q], room(best.depth))));
    }
}

/// An edge of the mesh, from a point along a vector.
struct Ridge<'m> {
    edge: &'m PatchEdge,
    start: DVec3,
    along: DVec3,
    /// Found at the first crossing that asks for it.
    region: OnceCell<EdgeRegion>,
}

/// An edge of the mesh and one of the polytope between its ends, if each is nearest to the other and the depth is in a
/// range.
fn crossing(
    surface: &LocalSurface<'_>,
    body: &LowerPart<'_, '_>,
    Ridge { edge, start, along, region }: &Ridge<'_>,
    (own, [from, to]): (u32, [DVec3; 2]),
    [least, most]: [f64; 2],
) -> Option<Contact> {
    let [p, x] = inner_points(*start, *along, from, to - from)?;
    let across = along.cross(to - from).try_normalize()?;
    let normal = if across.dot(body.middle - from) >= 0.0 { across } else { -across };
    let depth = normal.dot(p - x);
    if depth < least || depth > most {
        return None;
    }
    if !body.is_outside(own, normal) || !region.get_or_init(|| surface.region(edge)).holds(normal) {
        return None;
    }
    // Sunk in, the edge must be under the surface.
    if depth > 0.0 {
        let near = surface.nearest(x, surface.first_facet(edge))?;
        if surface.is_in_front(x, &near) && near.foot.distance_sq > (REGION_EDGE * body.reach).powi(2) {
            return None;
        }
    }
    Some(Contact::between([p, x], normal, depth, [surface.edge_name(edge), body.graph.edge(own)]))
}
