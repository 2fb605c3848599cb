//! The contact points of a hull or box on the surface of a mesh: corners under faces, faces and edges over corners,
//! edges that cross edges.
//!
//! A corner that has sunk in is measured from what is nearest to it, a corner of the mesh from the face or edge above
//! it, two edges along their common perpendicular. Each is a contact only where its normal lies in the Voronoi regions
//! of both features, so that edges between faces of one plane, valleys and hidden edges give none.

use glam::DVec3;
use smallvec::SmallVec;

use super::local_surface::{LocalSurface, Near, SharpEdge};
use super::lower_part::LowerPart;
use crate::contact::{Contact, Feature};
use crate::geom::point_triangle::{TriangleFeature, inside_foot, segment_foot};
use crate::geom::segment_segment::inner_points;
use crate::narrow::convex::faceted::Graph;
use crate::narrow::exact::surface_patch::PatchCorner;
use crate::num::tolerance::{NO_DIRECTION, REGION_EDGE};

/// Appends the contacts of a mesh, as a, and a polytope, as b, not farther apart than `margin`.
pub(super) fn contacts(surface: &LocalSurface<'_>, graph: &Graph<'_>, margin: f64, found: &mut Vec<Contact>) {
    let body = LowerPart::new(surface, graph, margin);
    sunk_corners(surface, &body, margin, found);
    mesh_corners(surface, &body, margin, found);
    crossing_edges(surface, &body, margin, found);
}

/// The corners of the polytope that lie under the surface, or over it within the margin.
fn sunk_corners(surface: &LocalSurface<'_>, body: &LowerPart<'_, '_>, margin: f64, found: &mut Vec<Contact>) {
    let mut under: SmallVec<[Option<u32>; 32]> = SmallVec::from_elem(None, body.low.len());
    for (k, normal, offset) in surface.planes() {
        let mut corners = None;
        for (&v, known) in body.low.iter().zip(&mut under) {
            let x = body.corners[v as usize];
            let height = normal.dot(x) - offset;
            if height <= margin && known.is_none() {
                let corners = corners.get_or_insert_with(|| surface.facet(k).corners);
                if is_about_under(corners, normal, x, height) {
                    *known = Some(k as u32);
                }
            }
        }
    }
    for (&v, known) in body.low.iter().zip(&under) {
        let x = body.corners[v as usize];
        let Some(near) = known.and_then(|known| surface.nearest(x, known as usize)) else { continue };
        let name = body.graph.vertex(v);
        let nearest = point_contact(surface, x, &near, name, margin);
        found.extend(nearest);
        if let Some(nearest) = nearest.filter(|c| c.depth > 0.0 && !body.is_lowest(v, c.normal)) {
            found.extend(lowest_under(surface, body, v, nearest.depth));
        }
    }
}

/// Whether a point is under or over a triangle, or beside it by less than its height: under a valley it is under
/// neither of the two faces.
fn is_about_under(corners: &[DVec3; 3], normal: DVec3, x: DVec3, height: f64) -> bool {
    (0..3).all(|k| {
        let (p, q) = (corners[k], corners[(k + 1) % 3]);
        let out = (q - p).cross(normal);
        let beside = out.dot(x - p);
        beside <= 0.0 || beside * beside <= height * height * out.length_squared()
    })
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
        !surface.is_border(facet, foot.part)
    };
    let depth = if front { -distance } else { distance };
    let features = [surface.feature(facet, foot.part), name];
    valid.then(|| Contact::between([foot.point, x], direction, depth, features))
}

/// The nearest face above a sunk corner that no other corner is farther under: over a ridge the nearest face may be
/// one that others of the polytope have to leave farther, which its own contacts tell, and shifting it along this
/// normal parts them here.
fn lowest_under(
    surface: &LocalSurface<'_>,
    body: &LowerPart<'_, '_>,
    v: u32,
    nearest: f64,
) -> Option<Contact> {
    let x = body.corners[v as usize];
    let mut best: Option<Contact> = None;
    for (k, normal, offset) in surface.planes() {
        let depth = offset - normal.dot(x);
        let wanted = depth > nearest && depth <= body.reach && best.is_none_or(|best| depth < best.depth);
        if !wanted || !body.is_lowest(v, normal) {
            continue;
        }
        let Some(foot) = inside_foot(x, &surface.facet(k).corners) else { continue };
        let features = [surface.feature(k, TriangleFeature::Inside), body.graph.vertex(v)];
        best = Some(Contact::between([foot.point, x], normal, depth, features));
    }
    best
}

/// The corners of the mesh within the polytope, or within the margin of it.
fn mesh_corners(surface: &LocalSurface<'_>, body: &LowerPart<'_, '_>, margin: f64, found: &mut Vec<Contact>) {
    for corner in surface.sharp_corners() {
        let p = corner.at;
        if !body.holds(p, margin) {
            continue;
        }
        let mut best: Option<(usize, f64)> = None;
        for (slot, &(normal, offset)) in body.planes.iter().enumerate() {
            let height = normal.dot(p) - offset;
            let better = best.is_none_or(|(_, most)| height > most);
            if better
                && surface.is_in_corner_region(corner, -normal)
                && body.holds(p - normal * height, REGION_EDGE * body.reach)
            {
                best = Some((slot, height));
            }
        }
        if let Some((slot, height)) = best {
            let normal = -body.planes[slot].0;
            let features = [Feature::Vertex(corner.vertex), body.graph.face(body.faces[slot])];
            found.push(Contact::between([p, p + normal * height], normal, -height, features));
        } else {
            found.extend(saddle(surface, body, corner));
        }
    }
}

/// A corner of the mesh over an edge of the polytope that it rises from on both sides: ridges that lead down to the
/// corner and up again cross the edge nowhere else.
fn saddle(surface: &LocalSurface<'_>, body: &LowerPart<'_, '_>, corner: &PatchCorner) -> Option<Contact> {
    let p = corner.at;
    let mut best: Option<Contact> = None;
    if corner.border {
        return best;
    }
    for edge in &body.edges {
        let [from, to] = edge.ends.map(|v| body.corners[v as usize]);
        let (foot, end) = segment_foot(p, from, to);
        let depth = foot.distance(p);
        if end.is_some() || best.is_some_and(|best| depth >= best.depth) {
            continue;
        }
        let Some(normal) = (p - foot).try_normalize() else { continue };
        let faces = edge.slots.map(|slot| body.planes[slot as usize].0);
        if faces.iter().any(|face| face.dot(normal) >= 0.0)
            || !body.is_outside(edge.index, normal)
            || !surface.is_among_normals(corner, normal)
            // Shifted along the normal, no part of the surface around may stay inside.
            || surface.spokes(corner).any(|sector| enters(faces, sector))
        {
            continue;
        }
        let features = [Feature::Vertex(corner.vertex), body.graph.edge(edge.index)];
        best = Some(Contact::between([p, foot], normal, depth, features));
    }
    best
}

/// Whether a sector between two directions leads into the wedge behind two planes through its tip.
fn enters(faces: [DVec3; 2], [u, v]: [DVec3; 2]) -> bool {
    let heights = |w: DVec3| faces.map(|face| face.dot(w));
    let inside = |[x, y]: [f64; 2], size: f64| x < -REGION_EDGE * size && y < -REGION_EDGE * size;
    let (a, b) = (heights(u), heights(v));
    if inside(a, u.length()) || inside(b, v.length()) {
        return true;
    }
    // Where the first height passes 0 between them the second one decides, and the other way round.
    (0..2).any(|k| {
        let (x, y) = (a[k], b[k]);
        let other = a[1 - k] * y.abs() + b[1 - k] * x.abs();
        x * y < 0.0 && other < -REGION_EDGE * (u.length() * y.abs() + v.length() * x.abs())
    })
}

/// The edges of the polytope that cross sharp edges of the mesh.
fn crossing_edges(
    surface: &LocalSurface<'_>,
    body: &LowerPart<'_, '_>,
    margin: f64,
    found: &mut Vec<Contact>,
) {
    let mut slopes: SmallVec<[f64; 64]> = SmallVec::from_elem(0.0, body.planes.len());
    for (ends, edge) in surface.edges() {
        if !surface.is_sharp(edge) || body.is_above(ends, margin) || !body.clip(ends, margin, &mut slopes) {
            continue;
        }
        let sharp = surface.edge(edge);
        let level = REGION_EDGE * (ends[1] - ends[0]).length();
        let mut best: Option<Contact> = None;
        for own in &body.edges {
            // Seen along the edge of the mesh it must be part of the outline.
            let [x, y] = own.slots.map(|slot| slopes[slot as usize]);
            if x > level && y > level || x < -level && y < -level {
                continue;
            }
            let crossed = crossing(surface, body, &sharp, (edge.facet as usize, own.index), margin);
            if let Some(new) = crossed.filter(|new| best.is_none_or(|best| new.depth < best.depth)) {
                best = Some(new);
            }
        }
        found.extend(best);
    }
}

/// An edge of the mesh, at a facet, and one of the polytope, if each is nearest to the other.
fn crossing(
    surface: &LocalSurface<'_>,
    body: &LowerPart<'_, '_>,
    sharp: &SharpEdge,
    (facet, edge): (usize, u32),
    margin: f64,
) -> Option<Contact> {
    let [from, to] = body.graph.polytope().edges()[edge as usize].ends.map(|v| body.corners[v as usize]);
    let (along, own) = (sharp.ends[1] - sharp.ends[0], to - from);
    let [p, x] = inner_points(sharp.ends[0], along, from, own)?;
    let across = along.cross(own).try_normalize()?;
    let normal = if across.dot(body.middle - from) >= 0.0 { across } else { -across };
    let depth = normal.dot(p - x);
    if depth < -margin || depth > body.reach {
        return None;
    }
    if !body.is_outside(edge, normal) || !sharp.is_in_region(normal) {
        return None;
    }
    // Sunk in, the edge must be under the surface.
    if depth > 0.0 {
        let near = surface.nearest(x, facet)?;
        if surface.is_in_front(x, &near) && near.foot.distance_sq > (REGION_EDGE * body.reach).powi(2) {
            return None;
        }
    }
    Some(Contact::between([p, x], normal, depth, [sharp.feature(), body.graph.edge(edge)]))
}
