//! The triangles of a mesh near a convex body, seen from the side that the body is to be pushed to, and whether a
//! direction lies in the Voronoi region of one of their features.
//!
//! The region of a face is its normal; of a ridge the directions between the normals of its faces; of a corner those
//! that no edge around it rises along, on the side in question. A valley or a flat edge has none outside of the surface,
//! so that nothing can trip over it. Inside the surface it is the other way round: what has sunk in is nearest to faces
//! and valleys.

use std::cell::OnceCell;

use glam::DVec3;
use smallvec::SmallVec;

use crate::Pose;
use crate::contact::Feature;
use crate::geom::point_triangle::{TriangleFeature, TriangleProjection, closest_point};
use crate::narrow::convex::separation::{ConvexMemory, distance};
use crate::narrow::exact::closest_point::feature_of;
use crate::narrow::exact::near_facets::NearView;
use crate::narrow::exact::patch_lanes::{Ball, Squares, first_over, heights, level, nearer};
use crate::narrow::exact::placed_mesh::PlacedMesh;
use crate::narrow::exact::surface_patch::{
    Bend, CornerBlock, PatchCorner, PatchEdge, PatchFacet, SurfacePatch,
};
use crate::num::tolerance::{REGION_EDGE, SAME_SQUARE};
use crate::shape::topology::Side;
use crate::shape::{Convex, Primitive};
use crate::simd::SimdLevel;

/// A triangle near the body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facet {
    /// In the world.
    pub corners: [DVec3; 3],
    /// To the side that the body is pushed to, of unit length; zero without an area.
    pub normal: DVec3,
}

impl Facet {
    /// Away from it: along its normal, or across a triangle without an area.
    pub fn away(&self) -> DVec3 {
        let [a, b, c] = self.corners;
        let longer = |x: DVec3, y: DVec3| if y.length_squared() > x.length_squared() { y } else { x };
        match self.normal == DVec3::ZERO {
            true => longer(longer(b - a, c - a), c - b).normalize_or(DVec3::X).any_orthonormal_vector(),
            false => self.normal,
        }
    }
}

/// The triangles of a mesh near a body.
pub(super) struct LocalSurface<'m> {
    body: PlacedMesh<'m>,
    /// The body that they are near to, and where it is.
    shape: (&'m Convex, &'m Pose),
    /// Around the middle of that body.
    ball: Ball,
    /// Whether that body meets any of them, once that was asked.
    is_met: OnceCell<bool>,
    patch: &'m SurfacePatch,
    /// Those that are near.
    near: NearView<'m>,
    /// 1, or −1 where the body is pushed against the triangles' own normals.
    way: f64,
    simd: SimdLevel,
}

/// The Voronoi region of an edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgeRegion {
    /// In the planes of the two faces, across the edge and into them; zero where there is no second one.
    inward: [DVec3; 2],
}

/// What is nearest to a point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Near {
    /// Its place among those that are near.
    pub facet: usize,
    pub foot: TriangleProjection,
}

impl<'m> LocalSurface<'m> {
    /// The triangles of a patch around a shape that are near it.
    pub fn new(
        body: PlacedMesh<'m>,
        patch: &'m SurfacePatch,
        near: NearView<'m>,
        shape: (&'m Convex, &'m Pose),
        ball: Ball,
    ) -> LocalSurface<'m> {
        let (is_met, simd) = (OnceCell::new(), SimdLevel::best());
        LocalSurface { body, shape, ball, is_met, patch, near, way: 1.0, simd }
    }

    /// How many triangles there are.
    pub fn len(&self) -> u32 {
        self.near.meant.iter().map(|lanes| lanes.count_ones()).sum()
    }

    /// Looks at the surface from behind.
    pub fn turn_round(&mut self) {
        self.way = -self.way;
    }

    /// The triangles, with their places.
    pub fn facets(&self) -> impl Iterator<Item = (usize, Facet)> + '_ {
        self.places().map(|k| (k, self.facet(k)))
    }

    /// Whether any triangle faces another way than along a unit vector, by more than this (a sine).
    pub fn leans(&self, normal: DVec3, most: f64) -> bool {
        self.near.any_leans(normal * self.way, most)
    }

    fn places(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.near.places.len()).filter(|&k| self.near.is_meant(k))
    }

    /// The triangle at a place.
    #[inline]
    pub fn facet(&self, place: usize) -> Facet {
        let (corners, normal) = (self.near.corners(place), self.near.normal(place) * self.way);
        Facet { corners, normal }
    }

    /// What the patch knows of the triangle at a place.
    #[inline]
    fn known(&self, place: usize) -> &'m PatchFacet {
        &self.patch.facets[self.near.places[place] as usize]
    }

    /// The nearest point of the triangles; of equally near ones the triangle that faces the point most. A triangle
    /// that is known to be near is looked at first.
    pub fn nearest(&self, p: DVec3, first: Option<usize>) -> Option<Near> {
        let square = |k: usize| closest_point(p, &self.near.corners(k)).distance_sq;
        let limit = first.map_or(f64::INFINITY, |first| square(first) * (1.0 + 4.0 * SAME_SQUARE));
        let mut found = Squares::new();
        nearer(self.simd, self.near.blocks, self.near.meant, p, limit, false, &mut found);
        let least = found.iter().fold(f64::INFINITY, |least, (_, square)| square.min(least));
        let mut best: Option<Near> = None;
        for &(place, square) in &found {
            if square > least * (1.0 + 4.0 * SAME_SQUARE) {
                continue;
            }
            let facet = place as usize;
            let foot = closest_point(p, &self.near.corners(facet));
            let nearer = best.is_none_or(|best| {
                let (new, old) = (foot.distance_sq, best.foot.distance_sq);
                if (new - old).abs() > SAME_SQUARE * old {
                    return new < old;
                }
                let facing = |near: &Near| self.near.normal(near.facet).dot(p - near.foot.point).abs();
                facing(&Near { facet, foot }) > facing(&best)
            });
            if nearer {
                best = Some(Near { facet, foot });
            }
        }
        best
    }

    /// Whether a point is behind the surface: behind what is nearest to it.
    pub fn is_behind(&self, p: DVec3) -> bool {
        self.behind(p).0
    }

    /// Whether a point is behind the surface, and what is nearest to it where that had to tell.
    pub fn behind(&self, p: DVec3) -> (bool, Option<Near>) {
        let [least, most] = heights(self.simd, self.near.blocks, self.near.meant, p);
        let [low, high] = if self.way < 0.0 { [-most, -least] } else { [least, most] };
        // Before all planes, or behind all, nothing has to be looked for; where rounding may decide it is.
        let room = REGION_EDGE * p.abs().max_element();
        if low > room || high < -room {
            return (!(low > room), None);
        }
        let near = self.nearest(p, None);
        (near.is_some_and(|near| !self.is_in_front(p, &near)), near)
    }

    /// Whether a point of the body that is behind what is nearest to it has come there through the surface, not around
    /// its border, and not because what hides it from there is not near: the way to it from the middle leads through a
    /// triangle, or the body meets the nearest one.
    pub fn has_passed(&self, x: DVec3, near: &Near) -> bool {
        near.foot.distance_sq <= (REGION_EDGE * self.ball.radius).powi(2)
            || self.is_passed(near.facet, self.ball.centre, x)
            || self.places().any(|k| self.is_passed(k, self.ball.centre, x))
            || self.meets(near.facet)
            || self.is_behind(self.ball.centre) && self.is_met()
    }

    /// Whether no triangle is between two points.
    pub fn is_free_between(&self, x: DVec3, y: DVec3) -> bool {
        !self.places().any(|k| self.is_passed(k, x, y) || self.is_passed(k, y, x))
    }

    /// Whether the body meets the surface all the way from one feature to another: triangle by triangle, over sides that
    /// it meets.
    pub fn is_met_between(&self, from: Feature, to: Feature) -> bool {
        let corners = |k: usize| self.patch.corners_of()[self.near.places[k] as usize];
        let mut reached: SmallVec<[usize; 32]> = SmallVec::new();
        reached.extend(self.places().filter(|&k| self.has(k, from) && self.meets(k)));
        let mut next = 0;
        while let Some(&k) = reached.get(next) {
            if self.has(k, to) {
                return true;
            }
            next += 1;
            for side in 0..3 {
                let ends = [corners(k)[side], corners(k)[(side + 1) % 3]];
                let is_across = |m: usize| ends.iter().all(|end| corners(m).contains(end));
                let new = self.places().filter(|m| is_across(*m) && !reached.contains(m));
                let new: SmallVec<[usize; 2]> = new.collect();
                let side = Primitive::Segment { ends: [self.at(ends[0]), self.at(ends[1])] };
                if !new.is_empty() && self.meets_shape(side) {
                    reached.extend(new);
                }
            }
        }
        false
    }

    /// Whether the way from a point to another one leads through a triangle from its front.
    fn is_passed(&self, place: usize, start: DVec3, end: DVec3) -> bool {
        let Facet { corners, normal, .. } = self.facet(place);
        let [from, to] = [start, end].map(|p| normal.dot(p - corners[0]));
        if !(from >= 0.0 && to <= 0.0 && from > to) {
            return false;
        }
        let at = end + (start - end) * (to / (to - from));
        (0..3).all(|k| {
            let (p, q) = (corners[k], corners[(k + 1) % 3]);
            self.way * normal.dot((q - p).cross(at - p)) >= 0.0
        })
    }

    /// Whether the body meets a triangle.
    fn meets(&self, place: usize) -> bool {
        self.meets_shape(Primitive::Triangle { corners: self.facet(place).corners })
    }

    fn meets_shape(&self, other: Primitive) -> bool {
        let (shape, pose) = self.shape;
        let (other, memory) = (Convex::Primitive(other), &mut ConvexMemory::default());
        distance(&other, &Pose::IDENTITY, shape, pose, memory).0.distance <= 0.0
    }

    /// Whether the body meets any triangle.
    fn is_met(&self) -> bool {
        *self.is_met.get_or_init(|| self.facets().any(|(k, _)| self.meets(k)))
    }

    /// The triangles not farther from a point than this, but for rounding, with their places.
    pub fn within(&self, p: DVec3, distance: f64, found: &mut Squares) {
        let limit = distance * distance * (1.0 + SAME_SQUARE);
        nearer(self.simd, self.near.blocks, self.near.meant, p, limit, true, found);
    }

    /// The first triangle that a point is under, or over by no more than a margin, or beside by less than its height.
    pub fn over(&self, x: DVec3, margin: f64) -> Option<usize> {
        first_over(self.simd, self.near.blocks, self.near.meant, x, margin, self.way).map(|k| k as usize)
    }

    /// A direction that all triangles look along with a cosine of this at least, and how far they reach along it.
    pub fn level(&self, least: f64) -> Option<(DVec3, f64)> {
        level(self.simd, self.near.blocks, self.near.meant, least, self.way)
    }

    /// Whether a point is in front of what is nearest to it.
    pub fn is_in_front(&self, p: DVec3, near: &Near) -> bool {
        self.way * self.near.normal(near.facet).dot(p - near.foot.point) >= 0.0
    }

    /// The name of a part of a triangle.
    pub fn feature(&self, facet: usize, part: TriangleFeature) -> Feature {
        let known = self.known(facet);
        feature_of(known.triangle, known.vertices, part)
    }

    /// Whether a triangle has a feature of that name.
    pub fn has(&self, facet: usize, name: Feature) -> bool {
        let PatchFacet { triangle, vertices, .. } = self.known(facet);
        match name {
            Feature::Face(t) => *triangle == t,
            Feature::Edge(ends) => ends.iter().all(|v| vertices.contains(v)),
            Feature::Vertex(v) => vertices.contains(&v),
            _ => false,
        }
    }

    /// Whether the surface ends at a part of a triangle.
    pub fn is_border(&self, facet: usize, part: TriangleFeature) -> bool {
        match part {
            TriangleFeature::Inside => false,
            TriangleFeature::Side(k) => self.known(facet).bends[usize::from(k)] == Bend::Border,
            TriangleFeature::Corner(k) => {
                let corner = &self.patch.corners[self.corner_of(facet, k) as usize];
                corner.border
                    || !corner.is_complete && self.ends_at(self.known(facet).triangle, usize::from(k))
            }
        }
    }

    /// The place of a corner of a triangle.
    fn corner_of(&self, facet: usize, k: u8) -> u32 {
        self.patch.corners_of()[self.near.places[facet] as usize][usize::from(k)]
    }

    /// Whether a side of a triangle at a corner has no triangle across, which the patch does not tell of all.
    fn ends_at(&self, triangle: u32, k: usize) -> bool {
        let topology = self.body.model.topology();
        let welded = topology.triangles()[triangle as usize][k];
        topology.around(welded).iter().any(|&triangle| {
            let corners = topology.triangles()[triangle as usize];
            let ends = (0..3).filter(|&k| corners[k] == welded || corners[(k + 1) % 3] == welded);
            ends.into_iter().any(|k| topology.across(Side { triangle, corner: k as u8 }).is_none())
        })
    }

    /// The edges near the body that have a region of their own outside of the surface, in the order of the patch, but for
    /// those whose ends both lie beyond the same of some planes; as bits for each corner.
    pub fn sharp_edges(&self, beyond: &[u64], found: &mut SmallVec<[&'m PatchEdge; 64]>) {
        let turned = self.way < 0.0;
        let mut add = |edges: &'m [PatchEdge]| {
            // Without a branch, as chance decides.
            let Some(first) = edges.first() else { return };
            let mut count = found.len();
            found.resize(count + edges.len(), first);
            let room = &mut found[..];
            for edge in edges {
                let [from, to] = edge.ends;
                let apart = beyond[from as usize] & beyond[to as usize] != 0;
                room[count] = edge;
                count += usize::from(!apart & self.near.is_near(edge.facet));
            }
            found.truncate(count);
        };
        add(self.patch.edges(false));
        // From behind valleys are ridges, and only borders stay what they are.
        if turned {
            add(self.patch.edges(true));
            found.retain(|edge| edge.bend != Bend::Convex);
            found.sort_unstable_by_key(|edge| (edge.facet, edge.side));
        }
    }

    /// The corners of the patch with their places: those within the box around the body.
    pub fn corners(&self) -> impl Iterator<Item = (u32, &'m PatchCorner)> + '_ {
        let inside = self.near.beyond.iter().map(|beyond| *beyond == 0);
        let corners = (0..).zip(self.patch.own_corners());
        corners.zip(inside).filter(|(_, inside)| *inside).map(|(corner, _)| corner)
    }

    /// Where the corners of the patch are, eight by eight, and a bit for each side of the box around the body that each
    /// lies beyond.
    pub fn corner_blocks(&self) -> (&'m [CornerBlock], &'m [u64]) {
        (self.patch.corner_blocks(), self.near.beyond)
    }

    /// Where a corner is.
    #[inline]
    pub fn at(&self, corner: u32) -> DVec3 {
        self.patch.at(corner)
    }

    /// Whether a sharp edge ends at a corner.
    pub fn is_sharp(&self, corner: &PatchCorner) -> bool {
        corner.is_complete && corner.sharp[usize::from(self.way < 0.0)]
    }

    /// Where an edge begins and ends.
    #[inline]
    pub fn ends(&self, edge: &PatchEdge) -> [DVec3; 2] {
        let [from, to] = edge.ends;
        [self.at(from), self.at(to)]
    }

    /// The place of the first triangle of an edge that is near.
    pub fn first_facet(&self, edge: &PatchEdge) -> Option<usize> {
        self.near.slot(edge.facet)
    }

    /// The name of an edge.
    pub fn edge_name(&self, edge: &PatchEdge) -> Feature {
        let known = &self.patch.facets[edge.facet as usize];
        feature_of(known.triangle, known.vertices, TriangleFeature::Side(edge.side))
    }

    /// The region of an edge.
    pub fn region(&self, edge: &PatchEdge) -> EdgeRegion {
        self.side(edge.facet as usize, usize::from(edge.side))
    }

    /// Of a side of the triangle at a place of the patch.
    fn side(&self, place: usize, k: usize) -> EdgeRegion {
        let corners = self.patch.placed(place);
        let (p, q, r) = (corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]);
        let along = q - p;
        let square = along.length_squared();
        let inward =
            |apex: DVec3| ((apex - p) - along * ((apex - p).dot(along) / square)).normalize_or_zero();
        EdgeRegion { inward: [inward(r), self.patch.apex(place, k).map_or(DVec3::ZERO, inward)] }
    }

    /// Whether a direction lies in the region of a corner: no edge around it rises along it, and it leaves the surface to
    /// the side in question. Of what hangs together with other parts of the mesh only what is in the patch counts.
    pub fn is_in_corner_region(&self, place: u32, direction: DVec3) -> bool {
        let (corner, at) = (&self.patch.corners[place as usize], self.at(place));
        let star = self.patch.star(corner);
        let is_level = |&k: &u32| {
            let corners = self.patch.corners_of()[k as usize];
            corners.iter().all(|&c| is_level(direction, self.at(c) - at))
        };
        star.iter().all(is_level) && (corner.border || self.is_outward(corner, direction))
    }

    /// Whether a direction leaves the surface at a corner to the side in question: a pit has a region too, behind. The
    /// triangle that looks along the direction or against it the most tells.
    fn is_outward(&self, corner: &PatchCorner, direction: DVec3) -> bool {
        let facing = self.patch.star(corner).iter().map(|&k| self.patch.normal(k as usize).dot(direction));
        facing.fold(0.0, |most: f64, x| if x.abs() > most.abs() { x } else { most }) * self.way >= 0.0
    }

    /// Whether a direction from a part of a triangle lies in its region.
    pub fn is_in_region(&self, facet: usize, part: TriangleFeature, at: DVec3, direction: DVec3) -> bool {
        match part {
            TriangleFeature::Inside => true,
            TriangleFeature::Side(k) => {
                self.side(self.near.places[facet] as usize, usize::from(k)).holds(direction)
            }
            TriangleFeature::Corner(k) => {
                let corner = self.corner_of(facet, k);
                if self.patch.corners[corner as usize].is_complete {
                    return self.is_in_corner_region(corner, direction);
                }
                let (mesh, topology) = (self.body.model.mesh(), self.body.model.topology());
                let welded = topology.triangles()[self.known(facet).triangle as usize][usize::from(k)];
                topology.around(welded).iter().flat_map(|&t| mesh.corners(t)).all(|p| {
                    let along = self.body.pose.apply(p) - at;
                    is_level(direction, along)
                })
            }
        }
    }
}

/// Whether a direction does not rise along another one, but for rounding.
#[inline]
fn is_level(direction: DVec3, along: DVec3) -> bool {
    let rise = direction.dot(along);
    rise <= 0.0 || rise <= REGION_EDGE * along.length()
}

impl EdgeRegion {
    /// Whether a direction lies between the normals of the faces, but for its share along the edge.
    pub fn holds(&self, direction: DVec3) -> bool {
        self.inward.iter().all(|into| direction.dot(*into) <= REGION_EDGE)
    }
}
