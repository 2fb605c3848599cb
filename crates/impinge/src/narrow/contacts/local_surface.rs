//! The triangles of a mesh near a convex body, seen from the side that the body is to be pushed to, and whether a
//! direction lies in the Voronoi region of one of their features.
//!
//! The region of a face is its normal; of a ridge the directions between the normals of its faces; of a corner those
//! that no edge around it rises along. A valley or a flat edge has none outside of the surface, so that nothing can
//! trip over it. Inside the surface it is the other way round: what has sunk in is nearest to faces and valleys.

use std::ops::ControlFlow;

use glam::DVec3;
use smallvec::SmallVec;

use crate::bound::Aabb;
use crate::contact::Feature;
use crate::geom::point_triangle::{TriangleFeature, TriangleProjection, closest_point};
use crate::narrow::exact::closest_point::feature;
use crate::narrow::exact::placed_mesh::PlacedMesh;
use crate::num::tolerance::{CREASE, REGION_EDGE, SAME_SQUARE};
use crate::shape::topology::Side;

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
    pub facets: SmallVec<[Facet; 32]>,
    /// Whether the body is pushed against the triangles' own normals.
    pub from_behind: bool,
}

/// How the surface bends over an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bend {
    Flat,
    /// A ridge.
    Convex,
    /// A valley.
    Concave,
    /// The surface ends here, or more than two triangles meet.
    Border,
}

/// What lies across the side of a triangle.
#[derive(Debug, Clone, Copy)]
struct Crease {
    bend: Bend,
    /// Where the corner of the triangle across is that is not on the side; `None` where there is no triangle.
    apex: Option<DVec3>,
}

impl Crease {
    /// Whether the edge has a region of its own outside of the surface.
    fn is_sharp(&self) -> bool {
        matches!(self.bend, Bend::Convex | Bend::Border)
    }
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
    pub fn new(body: PlacedMesh<'m>, bounds: &Aabb, (centre, radius): (DVec3, f64)) -> LocalSurface<'m> {
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
        LocalSurface { body, facets, from_behind: false }
    }

    /// Looks at the surface from behind.
    pub fn turn_round(&mut self) {
        self.from_behind = !self.from_behind;
        for facet in &mut self.facets {
            facet.normal = -facet.normal;
        }
    }

    /// How the surface bends over the side of a triangle from a corner to the next, seen from the side in question.
    fn crease(&self, triangle: u32, k: usize) -> Crease {
        let (mesh, topology) = (self.body.model.mesh(), self.body.model.topology());
        let none = Crease { bend: Bend::Border, apex: None };
        let Some(across) = topology.across(Side { triangle, corner: k as u8 }) else { return none };
        let (own, theirs) = (topology.triangles()[triangle as usize], topology.triangles()[across as usize]);
        let Some(apex) = (0..3).find(|&j| !own.contains(&theirs[j])) else { return none };
        let at = |v: u32| self.body.pose.apply(mesh.vertices()[v as usize]);
        let ([a, b, c], apex) = (self.body.corners(triangle), at(mesh.triangles()[across as usize][apex]));
        let (normal, over) = ((b - a).cross(c - a), apex - [a, b, c][k]);
        let rise = if self.from_behind { -normal.dot(over) } else { normal.dot(over) };
        let bend = if rise.abs() <= CREASE * normal.length() * over.length() {
            let along = [b - a, c - b, a - c][k];
            let third = [c, a, b][k] - [a, b, c][k];
            // Folded back onto itself, both triangles lie on one side of the edge.
            let sides = along.cross(third).dot(along.cross(over));
            if sides > 0.0 { Bend::Border } else { Bend::Flat }
        } else if rise < 0.0 {
            Bend::Convex
        } else {
            Bend::Concave
        };
        Crease { bend, apex: Some(apex) }
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
            TriangleFeature::Side(k) => self.crease(facet.triangle, usize::from(k)).bend == Bend::Border,
            TriangleFeature::Corner(k) => {
                let vertex = self.body.model.mesh().triangles()[facet.triangle as usize][usize::from(k)];
                self.creases_at(vertex).any(|crease| crease.bend == Bend::Border)
            }
        }
    }

    /// The edges that end at a vertex, those between two triangles twice.
    fn creases_at(&self, vertex: u32) -> impl Iterator<Item = Crease> + '_ {
        let topology = self.body.model.topology();
        let welded = topology.weld().welded(vertex);
        self.around(vertex).flat_map(move |t| {
            let corners = topology.triangles()[t as usize];
            let ends = (0..3).filter(move |&k| corners[k] == welded || corners[(k + 1) % 3] == welded);
            ends.map(move |k| self.crease(t, k))
        })
    }

    fn around(&self, vertex: u32) -> impl Iterator<Item = u32> + '_ {
        let topology = self.body.model.topology();
        topology.around(topology.weld().welded(vertex)).iter().copied()
    }

    /// The edges: their ends, and the place of the first triangle at each and of its side.
    pub fn edges(&self) -> impl Iterator<Item = ([DVec3; 2], (usize, usize))> + '_ {
        let topology = self.body.model.topology();
        self.facets.iter().enumerate().flat_map(move |(at, facet)| {
            let triangle = facet.triangle;
            let is_first = move |k: &usize| {
                let across = topology.across(Side { triangle, corner: *k as u8 });
                across.is_none_or(|across| triangle < across)
            };
            let ends = move |k: usize| [facet.corners[k], facet.corners[(k + 1) % 3]];
            (0..3).filter(is_first).map(move |k| (ends(k), (at, k)))
        })
    }

    /// The edge along a side, if it is sharp.
    pub fn sharp_edge(&self, (at, k): (usize, usize)) -> Option<SharpEdge> {
        let crease = self.crease(self.facets[at].triangle, k);
        crease.is_sharp().then(|| self.edge(&self.facets[at], k, &crease))
    }

    /// An edge with the directions into its faces.
    fn edge(&self, facet: &Facet, k: usize, crease: &Crease) -> SharpEdge {
        let (p, q, r) = (facet.corners[k], facet.corners[(k + 1) % 3], facet.corners[(k + 2) % 3]);
        let names = self.body.model.mesh().triangles()[facet.triangle as usize];
        let inward = |apex: DVec3| {
            let along = q - p;
            ((apex - p) - along * ((apex - p).dot(along) / along.length_squared())).normalize_or_zero()
        };
        let inward = [inward(r), crease.apex.map_or(DVec3::ZERO, inward)];
        SharpEdge { ends: [p, q], vertices: [names[k], names[(k + 1) % 3]], inward }
    }

    /// The corners at which sharp edges end and that are wanted, each once: their index, and where they are.
    pub fn sharp_corners(&self, wanted: impl Fn(DVec3) -> bool) -> SmallVec<[(u32, DVec3); 16]> {
        let mut found: SmallVec<[(u32, DVec3); 16]> = SmallVec::new();
        for facet in &self.facets {
            let names = self.body.model.mesh().triangles()[facet.triangle as usize];
            for (k, &v) in names.iter().enumerate() {
                let p = facet.corners[k];
                if wanted(p) && !found.iter().any(|(known, q)| *known == v || *q == p) {
                    found.push((v, p));
                }
            }
        }
        found.retain(|(v, _)| self.creases_at(*v).any(|crease| crease.is_sharp()));
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
            TriangleFeature::Side(k) => {
                let crease = self.crease(own.triangle, usize::from(k));
                self.edge(own, usize::from(k), &crease).is_in_region(direction)
            }
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
