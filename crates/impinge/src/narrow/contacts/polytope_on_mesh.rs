//! The contact points of a hull or box on the surface of a mesh: corners under faces, faces over corners, edges that
//! cross edges.
//!
//! A corner that has sunk in is measured from what is nearest to it, a corner of the mesh from the face above it, two
//! edges along their common perpendicular. Each is a contact only where its normal lies in the Voronoi regions of both
//! features, so that edges between faces of one plane, valleys and hidden edges give none.

use glam::DVec3;
use smallvec::SmallVec;

use super::local_surface::{LocalSurface, Near, SharpEdge};
use crate::bound::Aabb;
use crate::contact::{Contact, Feature};
use crate::geom::point_triangle::segment_foot;
use crate::geom::segment_segment::inner_points;
use crate::narrow::convex::faceted::Graph;
use crate::num::tolerance::{NO_DIRECTION, REGION_EDGE};

/// A placed polytope with its planes at hand.
struct Placed<'g, 'p> {
    graph: &'g Graph<'p>,
    corners: SmallVec<[DVec3; 32]>,
    planes: SmallVec<[(DVec3, f64); 64]>,
    middle: DVec3,
    /// No corner is farther from the middle.
    reach: f64,
    bounds: Aabb,
}

/// Appends the contacts of a mesh, as a, and a polytope, as b, not farther apart than `margin`.
pub(super) fn contacts(surface: &LocalSurface<'_>, graph: &Graph<'_>, margin: f64, found: &mut Vec<Contact>) {
    let corners: SmallVec<[DVec3; 32]> = graph.corners().collect();
    let middle = graph.middle();
    let reach = corners.iter().fold(0.0_f64, |most, p| most.max(p.distance(middle)));
    let bounds = Aabb::around_points(&corners);
    let body = Placed { graph, planes: graph.planes().collect(), corners, middle, reach, bounds };
    sunk_corners(surface, &body, margin, found);
    mesh_corners(surface, &body, margin, found);
    crossing_edges(surface, &body, margin, found);
}

/// The corners of the polytope that lie under the surface, or over it within the margin.
fn sunk_corners(surface: &LocalSurface<'_>, body: &Placed<'_, '_>, margin: f64, found: &mut Vec<Contact>) {
    let mut under: SmallVec<[Option<u32>; 32]> = SmallVec::from_elem(None, body.corners.len());
    for (k, facet) in surface.facets.iter().enumerate() {
        let base = facet.normal.dot(facet.corners[0]);
        for (x, known) in body.corners.iter().zip(&mut under) {
            let height = facet.normal.dot(*x) - base;
            if height <= margin && known.is_none() && is_about_under(&facet.corners, facet.normal, *x, height)
            {
                *known = Some(k as u32);
            }
        }
    }
    for (v, (&x, known)) in body.corners.iter().zip(&under).enumerate() {
        let Some(near) = known.and_then(|known| surface.nearest(x, known as usize)) else { continue };
        let name = body.graph.vertex(v as u32);
        found.extend(point_contact(surface, x, &near, name, margin));
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
    let normal = surface.facets[facet].normal;
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

/// The corners of the mesh within the polytope, or within the margin of it.
fn mesh_corners(surface: &LocalSurface<'_>, body: &Placed<'_, '_>, margin: f64, found: &mut Vec<Contact>) {
    let inside = |p: DVec3| body.planes.iter().all(|(n, offset)| n.dot(p) - offset <= margin);
    for (v, p) in surface.sharp_corners(inside) {
        let heights: SmallVec<[f64; 64]> = body.planes.iter().map(|(n, offset)| n.dot(p) - offset).collect();
        let mut best: Option<(usize, f64)> = None;
        for (face, &height) in heights.iter().enumerate() {
            let normal = body.planes[face].0;
            let better = best.is_none_or(|(_, most)| height > most);
            if better && surface.is_in_corner_region(v, p, -normal) && body.holds(p - normal * height, face) {
                best = Some((face, height));
            }
        }
        if let Some((face, height)) = best {
            let normal = -body.planes[face].0;
            let features = [Feature::Vertex(v), body.graph.face(face as u32)];
            found.push(Contact::between([p, p + normal * height], normal, -height, features));
        }
    }
}

impl Placed<'_, '_> {
    /// Whether a point of the plane of a face is within the face.
    fn holds(&self, p: DVec3, face: usize) -> bool {
        let room = REGION_EDGE * self.reach;
        (0..).zip(&self.planes).all(|(k, (n, offset))| k == face || n.dot(p) <= offset + room)
    }

    /// The part of an edge within the polytope grown by a margin, and the faces through which it goes in and out.
    fn clipped(&self, [p, q]: [DVec3; 2], margin: f64) -> Option<[Option<usize>; 2]> {
        let Aabb { low, high } = self.bounds;
        if (p.min(q).cmpgt(high + margin) | p.max(q).cmplt(low - margin)).any() {
            return None;
        }
        let near = segment_foot(self.middle, p, q).0;
        if near.distance_squared(self.middle) > (self.reach + margin).powi(2) {
            return None;
        }
        let way = q - p;
        let (mut low, mut high) = (0.0_f64, 1.0_f64);
        let mut faces = [None; 2];
        for (face, (normal, offset)) in self.planes.iter().enumerate() {
            let (start, speed) = (normal.dot(p) - offset - margin, normal.dot(way));
            if speed > 0.0 {
                let t = -start / speed;
                if t < high {
                    (high, faces[1]) = (t, Some(face));
                }
            } else if speed < 0.0 {
                let t = -start / speed;
                if t > low {
                    (low, faces[0]) = (t, Some(face));
                }
            } else if start > 0.0 {
                return None;
            }
            if low > high {
                return None;
            }
        }
        Some(faces)
    }
}

/// The edges of the polytope that cross sharp edges of the mesh.
fn crossing_edges(surface: &LocalSurface<'_>, body: &Placed<'_, '_>, margin: f64, found: &mut Vec<Contact>) {
    let polytope = body.graph.polytope();
    for (ends, place) in surface.edges() {
        let Some(faces) = body.clipped(ends, margin) else { continue };
        let Some(sharp) = surface.sharp_edge(place) else { continue };
        let mut tried: SmallVec<[u32; 16]> = SmallVec::new();
        for side in faces.iter().flatten().flat_map(|&face| polytope.sides(face as u32)) {
            if !tried.contains(&side.edge) {
                tried.push(side.edge);
                found.extend(crossing(surface, body, &sharp, side.edge, margin));
            }
        }
    }
}

/// An edge of the mesh and one of the polytope, if each is nearest to the other.
fn crossing(
    surface: &LocalSurface<'_>,
    body: &Placed<'_, '_>,
    sharp: &SharpEdge,
    edge: u32,
    margin: f64,
) -> Option<Contact> {
    let [from, to] = body.graph.polytope().edges()[edge as usize].ends.map(|v| body.corners[v as usize]);
    let (along, own) = (sharp.ends[1] - sharp.ends[0], to - from);
    let across = along.cross(own).try_normalize()?;
    let normal = if across.dot(body.middle - from) >= 0.0 { across } else { -across };
    let outside = body.graph.inward(edge).iter().all(|into| -normal.dot(*into) <= REGION_EDGE);
    if !outside || !sharp.is_in_region(normal) {
        return None;
    }
    let [p, x] = inner_points(sharp.ends[0], along, from, own)?;
    let depth = normal.dot(p - x);
    if depth < -margin || depth > body.reach {
        return None;
    }
    // Sunk in, the edge must be under the surface.
    if depth > 0.0 {
        let near = surface.nearest(x, 0)?;
        if surface.is_in_front(x, &near) && near.foot.distance_sq > (REGION_EDGE * body.reach).powi(2) {
            return None;
        }
    }
    Some(Contact::between([p, x], normal, depth, [sharp.feature(), body.graph.edge(edge)]))
}
