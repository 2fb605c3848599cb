//! The triangles of a mesh near a convex body, seen from the side that the body is to be pushed to, and whether a
//! direction lies in the Voronoi region of one of their features.
//!
//! The region of a face is its normal; of a ridge the directions between the normals of its faces; of a corner those
//! that no edge around it rises along, on the side in question. A valley or a flat edge has none outside of the surface,
//! so that nothing can trip over it. Inside the surface it is the other way round: what has sunk in is nearest to faces
//! and valleys.

use glam::DVec3;
use smallvec::SmallVec;

use crate::bound::Aabb;
use crate::contact::Feature;
use crate::geom::point_triangle::{TriangleFeature, TriangleProjection, closest_point};
use crate::narrow::exact::closest_point::feature;
use crate::narrow::exact::placed_mesh::PlacedMesh;
use crate::narrow::exact::surface_patch::{Bend, Crease, PatchCorner, PatchEdge, SurfacePatch, crease};
use crate::num::tolerance::{REGION_EDGE, SAME_SQUARE};

/// A triangle near the body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facet {
    pub triangle: u32,
    /// In the world.
    pub corners: [DVec3; 3],
    /// To the side that the body is pushed to, of unit length; zero without an area.
    pub normal: DVec3,
}

/// The triangles of a mesh near a body.
pub(super) struct LocalSurface<'m> {
    body: PlacedMesh<'m>,
    patch: &'m SurfacePatch,
    /// For each corner of the patch the sides of the body's box that it lies beyond, one bit each.
    beyond: SmallVec<[u8; 96]>,
    /// The places of the triangles that reach into the body's box.
    reaching: SmallVec<[u32; 96]>,
    /// 1, or −1 where the body is pushed against the triangles' own normals.
    way: f64,
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
    /// Its place in the patch.
    pub facet: usize,
    pub foot: TriangleProjection,
}

impl<'m> LocalSurface<'m> {
    /// The part of a patch that reaches into a box.
    pub fn new(body: PlacedMesh<'m>, patch: &'m SurfacePatch, bounds: &Aabb) -> LocalSurface<'m> {
        let Aabb { low, high } = *bounds;
        let beyond: SmallVec<[u8; 96]> = patch
            .corners
            .iter()
            .map(|corner| {
                let p = corner.at;
                let under = p.cmplt(low).bitmask();
                (under | p.cmpgt(high).bitmask() << 3) as u8
            })
            .collect();
        let reaches = |[a, b, c]: [u32; 3]| beyond[a as usize] & beyond[b as usize] & beyond[c as usize] == 0;
        let reaching = (0..).zip(&patch.facets).filter(|(_, f)| reaches(f.corners)).map(|(k, _)| k).collect();
        LocalSurface { body, patch, beyond, reaching, way: 1.0 }
    }

    /// How many triangles there are.
    pub fn len(&self) -> usize {
        self.reaching.len()
    }

    /// Looks at the surface from behind.
    pub fn turn_round(&mut self) {
        self.way = -self.way;
    }

    /// The triangles, with their places.
    pub fn facets(&self) -> impl Iterator<Item = (usize, Facet)> + '_ {
        self.reaching.iter().map(|&k| (k as usize, self.facet(k as usize)))
    }

    /// The planes of the triangles: place, unit normal, and offset along it from the origin.
    #[inline]
    pub fn planes(&self) -> impl Iterator<Item = (usize, DVec3, f64)> + '_ {
        self.reaching.iter().map(|&k| {
            let facet = &self.patch.facets[k as usize];
            (k as usize, facet.normal * self.way, facet.offset * self.way)
        })
    }

    /// The triangle at a place.
    #[inline]
    pub fn facet(&self, k: usize) -> Facet {
        let facet = &self.patch.facets[k];
        Facet { triangle: facet.triangle, corners: self.patch.placed(facet), normal: facet.normal * self.way }
    }

    /// How the surface bends over the side of a triangle, seen from the side in question.
    fn crease(&self, triangle: u32, k: usize) -> Crease {
        let found = crease(&self.body, triangle, k);
        Crease { bend: self.seen(found.bend), ..found }
    }

    fn seen(&self, bend: Bend) -> Bend {
        if self.way < 0.0 { bend.turned() } else { bend }
    }

    /// The nearest point of the triangles; of equally near ones the triangle that faces the point most. A triangle
    /// that is known to be near is looked at first.
    pub fn nearest(&self, p: DVec3, first: usize) -> Option<Near> {
        let mut best: Option<Near> = None;
        let others = self.reaching.iter().map(|&k| k as usize).filter(|&k| k != first);
        for place in Some(first).into_iter().chain(others) {
            let Some(own) = self.patch.facets.get(place) else { continue };
            if let Some(Near { foot, .. }) = best {
                let limit = foot.distance_sq * (1.0 + SAME_SQUARE);
                let height = own.normal.dot(p) - own.offset;
                if height * height > limit + REGION_EDGE * foot.distance_sq {
                    continue;
                }
                let beside = (own.low - p).max(p - own.high).max(DVec3::ZERO);
                if beside.length_squared() > limit {
                    continue;
                }
            }
            let foot = closest_point(p, &self.patch.placed(own));
            let nearer = best.is_none_or(|best| {
                let (new, old) = (foot.distance_sq, best.foot.distance_sq);
                if (new - old).abs() > SAME_SQUARE * old {
                    return new < old;
                }
                let facing = |facet: usize, foot: &TriangleProjection| {
                    self.patch.facets[facet].normal.dot(p - foot.point).abs()
                };
                facing(place, &foot) > facing(best.facet, &best.foot)
            });
            if nearer {
                best = Some(Near { facet: place, foot });
            }
        }
        best
    }

    /// Whether a point is in front of the surface: of what is nearest to it.
    pub fn sees(&self, p: DVec3) -> bool {
        let (mut front, mut behind) = (true, true);
        for (_, normal, offset) in self.planes() {
            let height = normal.dot(p) - offset;
            front &= height > 0.0;
            behind &= height < 0.0;
        }
        // Beside no plane nothing has to be looked for.
        if front || behind {
            return front;
        }
        let first = self.reaching.first().map_or(0, |&k| k as usize);
        self.nearest(p, first).is_none_or(|near| self.is_in_front(p, &near))
    }

    /// Whether a point is in front of what is nearest to it.
    pub fn is_in_front(&self, p: DVec3, near: &Near) -> bool {
        self.way * self.patch.facets[near.facet].normal.dot(p - near.foot.point) >= 0.0
    }

    /// The name of a part of a triangle.
    pub fn feature(&self, facet: usize, part: TriangleFeature) -> Feature {
        feature(self.body.model.mesh(), self.patch.facets[facet].triangle, part)
    }

    /// Whether the surface ends at a part of a triangle.
    pub fn is_border(&self, facet: usize, part: TriangleFeature) -> bool {
        let triangle = self.patch.facets[facet].triangle;
        match part {
            TriangleFeature::Inside => false,
            TriangleFeature::Side(k) => self.crease(triangle, usize::from(k)).bend == Bend::Border,
            TriangleFeature::Corner(k) => {
                let topology = self.body.model.topology();
                let welded = topology.triangles()[triangle as usize][usize::from(k)];
                topology.around(welded).iter().any(|&t| {
                    let corners = topology.triangles()[t as usize];
                    let ends = (0..3).filter(|&k| corners[k] == welded || corners[(k + 1) % 3] == welded);
                    ends.into_iter().any(|k| self.crease(t, k).bend == Bend::Border)
                })
            }
        }
    }

    /// The edges that reach into the body's box, but for valleys: their ends, and what else is known of them.
    pub fn edges(&self) -> impl Iterator<Item = ([DVec3; 2], &PatchEdge)> + '_ {
        let reaches = |edge: &PatchEdge| {
            let [a, b] = edge.ends;
            self.beyond[a as usize] & self.beyond[b as usize] == 0 && self.seen(edge.bend) != Bend::Concave
        };
        let at = |c: u32| self.patch.corners[c as usize].at;
        let ends = move |edge: &PatchEdge| [at(edge.ends[0]), at(edge.ends[1])];
        self.patch.edges.iter().filter(move |edge| reaches(edge)).map(move |edge| (ends(edge), edge))
    }

    /// Whether an edge has a region of its own outside of the surface.
    pub fn is_sharp(&self, edge: &PatchEdge) -> bool {
        self.seen(edge.bend).is_sharp()
    }

    /// An edge with the directions into its faces.
    pub fn edge(&self, edge: &PatchEdge) -> SharpEdge {
        let facet = self.facet(edge.facet as usize);
        self.spread(&facet, usize::from(edge.side), self.patch.apex(edge))
    }

    fn spread(&self, facet: &Facet, k: usize, apex: Option<DVec3>) -> SharpEdge {
        let (p, q, r) = (facet.corners[k], facet.corners[(k + 1) % 3], facet.corners[(k + 2) % 3]);
        let names = self.body.model.mesh().triangles()[facet.triangle as usize];
        let along = q - p;
        let square = along.length_squared();
        let inward =
            |apex: DVec3| ((apex - p) - along * ((apex - p).dot(along) / square)).normalize_or_zero();
        let inward = [inward(r), apex.map_or(DVec3::ZERO, inward)];
        SharpEdge { ends: [p, q], vertices: [names[k], names[(k + 1) % 3]], inward }
    }

    /// The corners in the body's box at which sharp edges end.
    pub fn sharp_corners(&self) -> impl Iterator<Item = &PatchCorner> + '_ {
        let behind = usize::from(self.way < 0.0);
        self.corners().filter(move |corner| corner.sharp[behind])
    }

    /// The corners in the body's box.
    pub fn corners(&self) -> impl Iterator<Item = &PatchCorner> + '_ {
        self.patch
            .corners
            .iter()
            .zip(&self.beyond)
            .filter(|(_, beyond)| **beyond == 0)
            .map(|(corner, _)| corner)
    }

    /// The directions along the edges that leave a corner, two after each other for each triangle.
    pub fn spokes(&self, corner: &PatchCorner) -> impl Iterator<Item = [DVec3; 2]> + '_ {
        let at = corner.at;
        self.patch.star(corner).iter().map(move |&k| {
            let [a, b, c] = self.patch.placed(&self.patch.facets[k as usize]);
            // Those of the corners that are others; of a collapsed triangle one is nothing.
            if a == at {
                [b - at, c - at]
            } else if b == at {
                [c - at, a - at]
            } else {
                [a - at, b - at]
            }
        })
    }

    /// Whether a direction lies in the region of a corner of the body's box: no edge around it rises along it.
    pub fn is_in_corner_region(&self, corner: &PatchCorner, direction: DVec3) -> bool {
        let level = |along: &DVec3| direction.dot(*along) <= REGION_EDGE * along.length();
        self.spokes(corner).all(|along| along.iter().all(level))
            && (corner.border || self.is_outward(corner, direction))
    }

    /// Whether a direction leaves the surface at a corner to the side in question: a pit has a region too, behind. The
    /// triangle that looks along the direction or against it the most tells.
    pub fn is_outward(&self, corner: &PatchCorner, direction: DVec3) -> bool {
        let facing =
            self.patch.star(corner).iter().map(|&k| self.patch.facets[k as usize].normal.dot(direction));
        facing.fold(0.0, |most: f64, x| if x.abs() > most.abs() { x } else { most }) * self.way >= 0.0
    }

    /// Whether a direction is no farther from the mean normal around a corner than those of the triangles there.
    pub fn is_among_normals(&self, corner: &PatchCorner, direction: DVec3) -> bool {
        let normals =
            || self.patch.star(corner).iter().map(|&k| self.patch.facets[k as usize].normal * self.way);
        let mean = normals().sum::<DVec3>();
        direction.dot(mean) >= normals().fold(f64::INFINITY, |least, normal| least.min(normal.dot(mean)))
    }

    /// Whether a direction from a part of a triangle lies in its region.
    pub fn is_in_region(&self, facet: usize, part: TriangleFeature, at: DVec3, direction: DVec3) -> bool {
        let own = self.facet(facet);
        match part {
            TriangleFeature::Inside => true,
            TriangleFeature::Side(k) => {
                let k = usize::from(k);
                let (mesh, weld) = (self.body.model.mesh(), self.body.model.topology().weld());
                let apex = self.crease(own.triangle, k).apex;
                let at = |apex: u32| self.body.pose.apply(mesh.vertices()[weld.first(apex) as usize]);
                self.spread(&own, k, apex.map(at)).is_in_region(direction)
            }
            TriangleFeature::Corner(k) => {
                let (mesh, topology) = (self.body.model.mesh(), self.body.model.topology());
                let welded = topology.triangles()[own.triangle as usize][usize::from(k)];
                topology.around(welded).iter().all(|&t| {
                    mesh.triangles()[t as usize].iter().all(|&v| {
                        let along = self.body.pose.apply(mesh.vertices()[v as usize]) - at;
                        direction.dot(along) <= REGION_EDGE * along.length()
                    })
                })
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
