//! The triangles of a mesh near a convex body, seen from the side that the body is to be pushed to, and whether a
//! direction lies in the Voronoi region of one of their features.
//!
//! The region of a face is its normal; of a ridge the directions between the normals of its faces; of a corner those
//! that no edge around it rises along. A valley or a flat edge has none outside of the surface, so that nothing can
//! trip over it. Inside the surface it is the other way round: what has sunk in is nearest to faces and valleys.

use std::ops::ControlFlow;
use std::sync::Arc;

use glam::DVec3;
use smallvec::SmallVec;

use super::creases::{Bend, Crease, Creases, NO_VERTEX};
use crate::bound::Aabb;
use crate::contact::Feature;
use crate::geom::point_triangle::{TriangleFeature, TriangleProjection, closest_point};
use crate::narrow::exact::closest_point::feature;
use crate::narrow::exact::placed_mesh::PlacedMesh;
use crate::num::tolerance::REGION_EDGE;

/// Squared distances that differ by a smaller share are equal (no unit): an edge or corner belongs to several triangles.
const SAME_SQUARE: f64 = 1e-12;

/// A triangle near the body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facet {
    pub triangle: u32,
    /// In the world.
    pub corners: [DVec3; 3],
    /// To the side that the body is pushed to, of unit length; zero without an area.
    pub normal: DVec3,
    /// A box around the corners.
    bounds: Aabb,
}

impl Facet {
    /// A square that the squared distance of a point from the triangle is not below.
    #[inline]
    fn least_square(&self, p: DVec3) -> f64 {
        (self.bounds.low - p).max(p - self.bounds.high).max(DVec3::ZERO).length_squared()
    }
}

/// The triangles of a mesh near a body.
pub(super) struct LocalSurface<'m> {
    body: PlacedMesh<'m>,
    creases: Arc<Creases>,
    pub facets: SmallVec<[Facet; 32]>,
    /// Whether the body is pushed against the triangles' own normals.
    pub from_behind: bool,
}

/// A sharp edge near the body.
#[derive(Debug, Clone, Copy)]
pub(super) struct SharpEdge {
    pub ends: [DVec3; 2],
    pub vertices: [u32; 2],
    /// In the planes of the two faces, across the edge and into them; zero where there is no second one.
    pub inward: [DVec3; 2],
}

/// What is nearest to a point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Near {
    /// Its place in the list of triangles.
    pub facet: usize,
    pub foot: TriangleProjection,
}

impl<'m> LocalSurface<'m> {
    /// The triangles that reach into a box and into a ball.
    pub fn new(
        body: PlacedMesh<'m>,
        creases: Arc<Creases>,
        bounds: &Aabb,
        (centre, radius): (DVec3, f64),
    ) -> LocalSurface<'m> {
        let mut inside: SmallVec<[u32; 128]> = SmallVec::new();
        body.in_region(bounds.low, bounds.high, |triangle| {
            inside.push(triangle);
            ControlFlow::Continue(())
        });
        // In the order of the file, whatever the tree.
        inside.sort_unstable();
        let mut facets = SmallVec::new();
        for triangle in inside {
            let corners @ [a, b, c] = body.corners(triangle);
            let own = Aabb { low: a.min(b).min(c), high: a.max(b).max(c) };
            let across = (b - a).cross(c - a);
            let (height, square) = (across.dot(centre - a), across.length_squared());
            let mut facet = Facet { triangle, corners, normal: DVec3::ZERO, bounds: own };
            if (own.high.cmplt(bounds.low) | own.low.cmpgt(bounds.high)).any()
                || height * height > radius * radius * square
                || facet.least_square(centre) > radius * radius
            {
                continue;
            }
            facet.normal = if square > 0.0 { across.normalize_or_zero() } else { DVec3::ZERO };
            facets.push(facet);
        }
        LocalSurface { body, creases, facets, from_behind: false }
    }

    /// Looks at the surface from behind.
    pub fn turn_round(&mut self) {
        self.from_behind = !self.from_behind;
        for facet in &mut self.facets {
            facet.normal = -facet.normal;
        }
    }

    /// The creases of a triangle, seen from the side in question.
    fn sides(&self, facet: &Facet) -> [Crease; 3] {
        let seen = |crease: Crease| Crease { bend: crease.bend.seen(self.from_behind), ..crease };
        self.creases.sides(facet.triangle).map(seen)
    }

    /// The nearest point of the triangles; of equally near ones the triangle that faces the point most. A triangle
    /// that is known to be near is looked at first.
    pub fn nearest(&self, p: DVec3, first: usize) -> Option<Near> {
        let mut best: Option<Near> = None;
        let others = (0..self.facets.len()).filter(|&k| k != first);
        for facet in std::iter::once(first).chain(others) {
            let Some(own) = self.facets.get(facet) else { continue };
            if best.is_some_and(|best| own.least_square(p) > best.foot.distance_sq * (1.0 + SAME_SQUARE)) {
                continue;
            }
            let foot = closest_point(p, &own.corners);
            let nearer = best.is_none_or(|best| {
                let (new, old) = (foot.distance_sq, best.foot.distance_sq);
                if (new - old).abs() > SAME_SQUARE * old {
                    return new < old;
                }
                let facing = |facet: usize, foot: &TriangleProjection| {
                    self.facets[facet].normal.dot(p - foot.point).abs()
                };
                facing(facet, &foot) > facing(best.facet, &best.foot)
            });
            if nearer {
                best = Some(Near { facet, foot });
            }
        }
        best
    }

    /// The triangles that can be nearer to a point than this, with their places.
    pub fn within(&self, p: DVec3, distance: f64) -> impl Iterator<Item = (usize, &Facet)> {
        let square = distance * distance;
        self.facets.iter().enumerate().filter(move |(_, facet)| facet.least_square(p) <= square)
    }

    /// Whether a point is in front of what is nearest to it.
    pub fn is_in_front(&self, p: DVec3, near: &Near) -> bool {
        self.facets[near.facet].normal.dot(p - near.foot.point) >= 0.0
    }

    /// The name of a part of a triangle.
    pub fn feature(&self, facet: usize, part: TriangleFeature) -> Feature {
        feature(self.body.model.mesh(), self.facets[facet].triangle, part)
    }

    /// Whether the surface ends at a part of a triangle.
    pub fn is_border(&self, facet: usize, part: TriangleFeature) -> bool {
        let facet = &self.facets[facet];
        match part {
            TriangleFeature::Inside => false,
            TriangleFeature::Side(k) => self.sides(facet)[usize::from(k)].bend == Bend::Border,
            TriangleFeature::Corner(k) => {
                let vertex = self.body.model.mesh().triangles()[facet.triangle as usize][usize::from(k)];
                self.around(vertex).any(|t| self.has_border_at(t, vertex))
            }
        }
    }

    fn has_border_at(&self, triangle: u32, vertex: u32) -> bool {
        let topology = self.body.model.topology();
        let welded = topology.weld().welded(vertex);
        let corners = topology.triangles()[triangle as usize];
        (0..3).any(|k| {
            self.creases.sides(triangle)[k].bend == Bend::Border
                && (corners[k] == welded || corners[(k + 1) % 3] == welded)
        })
    }

    fn around(&self, vertex: u32) -> impl Iterator<Item = u32> + '_ {
        let topology = self.body.model.topology();
        topology.around(topology.weld().welded(vertex)).iter().copied()
    }

    /// The ends of the sharp edges, each edge once, with the place of a triangle and the side of it.
    pub fn sharp_edges(&self) -> impl Iterator<Item = ([DVec3; 2], (usize, usize))> + '_ {
        self.facets.iter().enumerate().flat_map(move |(at, facet)| {
            let sides = self.sides(facet);
            let sharp = (0..3).filter(move |&k| {
                // Of two triangles at an edge the first one tells it.
                sides[k].bend.is_sharp() && (sides[k].apex == NO_VERTEX || facet.triangle < sides[k].across)
            });
            sharp.map(move |k| ([facet.corners[k], facet.corners[(k + 1) % 3]], (at, k)))
        })
    }

    /// An edge with the directions into its faces.
    pub fn edge(&self, (at, k): (usize, usize)) -> SharpEdge {
        self.sharp_edge(&self.facets[at], k)
    }

    fn sharp_edge(&self, facet: &Facet, k: usize) -> SharpEdge {
        let (p, q, r) = (facet.corners[k], facet.corners[(k + 1) % 3], facet.corners[(k + 2) % 3]);
        let mesh = self.body.model.mesh();
        let names = mesh.triangles()[facet.triangle as usize];
        let inward = |apex: DVec3| {
            let along = q - p;
            ((apex - p) - along * ((apex - p).dot(along) / along.length_squared())).normalize_or_zero()
        };
        let theirs = match self.creases.sides(facet.triangle)[k].apex {
            NO_VERTEX => DVec3::ZERO,
            apex => inward(self.body.pose.apply(mesh.vertices()[apex as usize])),
        };
        SharpEdge { ends: [p, q], vertices: [names[k], names[(k + 1) % 3]], inward: [inward(r), theirs] }
    }

    /// The corners at which sharp edges end and that are wanted, each once: their index, and where they are.
    pub fn sharp_corners(&self, wanted: impl Fn(DVec3) -> bool) -> SmallVec<[(u32, DVec3); 16]> {
        let mut found: SmallVec<[(u32, DVec3); 16]> = SmallVec::new();
        for facet in &self.facets {
            let names = self.body.model.mesh().triangles()[facet.triangle as usize];
            for (k, &v) in names.iter().enumerate() {
                let p = facet.corners[k];
                if wanted(p)
                    && self.creases.is_sharp(v, self.from_behind)
                    && !found.iter().any(|(known, q)| *known == v || *q == p)
                {
                    found.push((v, p));
                }
            }
        }
        found
    }

    /// Whether a direction lies in the region of a corner: no edge around it rises along it.
    pub fn is_in_corner_region(&self, vertex: u32, at: DVec3, direction: DVec3) -> bool {
        let mesh = self.body.model.mesh();
        self.around(vertex).all(|t| {
            mesh.triangles()[t as usize].iter().all(|&v| {
                let along = self.body.pose.apply(mesh.vertices()[v as usize]) - at;
                direction.dot(along) <= REGION_EDGE * along.length()
            })
        })
    }

    /// Whether a direction from a part of a triangle lies in its region.
    pub fn is_in_region(&self, facet: usize, part: TriangleFeature, at: DVec3, direction: DVec3) -> bool {
        let own = &self.facets[facet];
        match part {
            TriangleFeature::Inside => true,
            TriangleFeature::Side(k) => self.sharp_edge(own, usize::from(k)).is_in_region(direction),
            TriangleFeature::Corner(k) => {
                let vertex = self.body.model.mesh().triangles()[own.triangle as usize][usize::from(k)];
                self.is_in_corner_region(vertex, at, direction)
            }
        }
    }
}

impl SharpEdge {
    /// Whether a direction lies between the normals of the faces, but for its share along the edge.
    pub fn is_in_region(&self, direction: DVec3) -> bool {
        self.inward.iter().all(|into| direction.dot(*into) <= REGION_EDGE)
    }

    pub fn feature(&self) -> Feature {
        let [a, b] = self.vertices;
        Feature::Edge([a.min(b), a.max(b)])
    }
}
