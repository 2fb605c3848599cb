//! The surface of a placed mesh in a region, with its edges and corners at hand: what contacts of a body on it are found
//! from, frame after frame, while the body stays in the region.
//!
//! The lists hold every facet that reaches into the region, in the order of the mesh, and their edges and corners. Who
//! takes from them what reaches into a smaller box finds the same in the same order, however large the region was.
//! Facets stand in blocks of eight, so that all that is asked of each of them is asked of eight at once
//! (`patch_lanes`).

use std::ops::ControlFlow;

use glam::DVec3;
use smallvec::SmallVec;

use super::placed_mesh::PlacedMesh;
use super::point_triangle_simd::{Corners, LANES};
use crate::Pose;
use crate::bound::Aabb;
use crate::num::tolerance::CREASE;
use crate::shape::topology::Side;
use crate::simd::prefetch_all;

/// How the surface bends over an edge, seen from the side of the triangles' normals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bend {
    Flat,
    /// A ridge.
    Convex,
    /// A valley.
    Concave,
    /// The surface ends here, or more than two triangles meet.
    Border,
}

impl Bend {
    /// The same edge seen from behind.
    pub fn turned(self) -> Bend {
        match self {
            Bend::Convex => Bend::Concave,
            Bend::Concave => Bend::Convex,
            other => other,
        }
    }

    /// Whether the edge has a region of its own outside of the surface.
    pub fn is_sharp(self) -> bool {
        matches!(self, Bend::Convex | Bend::Border)
    }
}

/// Stands for no corner.
const NONE: u32 = u32::MAX;

/// Eight triangles, column by column; those that are none repeat the last one.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub corners: Corners,
    /// Of unit length; zero without an area.
    pub normal: [[f64; LANES]; 3],
    /// How far the planes are along the normals from the origin.
    pub offset: [f64; LANES],
}

impl Block {
    /// Of up to eight triangles.
    pub fn new(placed: &[[DVec3; 3]]) -> Block {
        let last = placed.len().saturating_sub(1);
        let at = |lane: usize| placed.get(lane.min(last)).copied().unwrap_or([DVec3::ZERO; 3]);
        let corners: [[DVec3; 3]; LANES] = std::array::from_fn(at);
        let normals = corners.map(|[a, b, c]| (b - a).cross(c - a).normalize_or_zero());
        Block {
            corners: std::array::from_fn(|k| corners.map(|corners| corners[k / 3][k % 3])),
            normal: std::array::from_fn(|k| normals.map(|normal| normal[k])),
            offset: std::array::from_fn(|lane| normals[lane].dot(corners[lane][0])),
        }
    }
}

/// A triangle of the patch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PatchFacet {
    pub triangle: u32,
    /// Places in the list of corners.
    pub corners: [u32; 3],
    /// The places of the corners across the sides; none where no triangle is.
    apexes: [u32; 3],
    /// How the surface bends over its sides.
    pub bends: [Bend; 3],
    /// Whether it is the first triangle at a side, or the only one.
    is_first: [bool; 3],
}

/// An edge of the patch that is not flat.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PatchEdge {
    /// Places of its ends in the list of corners.
    pub ends: [u32; 2],
    /// The place of its first triangle, and where the edge begins in it.
    pub facet: u32,
    pub side: u8,
    pub bend: Bend,
}

/// A corner of the patch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PatchCorner {
    pub at: DVec3,
    /// The vertex of the mesh that its first triangle has here.
    pub vertex: u32,
    /// Where the triangles around it stand among those of all corners.
    star: [u32; 2],
    /// Whether all triangles around it are in the patch.
    pub is_complete: bool,
    /// Whether an edge ends here that is sharp, from the front and from behind.
    pub sharp: [bool; 2],
    /// Whether the surface ends here.
    pub border: bool,
}

/// The surface of a placed mesh in a region.
#[derive(Debug, Clone)]
pub(crate) struct SurfacePatch {
    model: u64,
    pose: Pose,
    region: Aabb,
    pub blocks: Vec<Block>,
    pub facets: Vec<PatchFacet>,
    /// Those of the facets first, then those that are only across.
    pub corners: Vec<PatchCorner>,
    /// How many corners the facets have.
    own: usize,
    pub edges: Vec<PatchEdge>,
    /// The facets around each corner, one corner after the other.
    stars: Vec<u32>,
}

impl SurfacePatch {
    /// The triangles whose boxes reach into a box, and perhaps a few more.
    pub fn gather(body: &PlacedMesh<'_>, region: Aabb) -> SurfacePatch {
        let mut inside: SmallVec<[u32; 128]> = SmallVec::new();
        // By boxes of the world, so that a smaller box within finds the same triangles in any patch.
        let reaches = |[low, high]: [DVec3; 2]| !(low.cmpgt(region.high) | high.cmplt(region.low)).any();
        body.in_boxes(reaches, |triangle| {
            inside.push(triangle);
            ControlFlow::Continue(())
        });
        // In the order of the file, whatever the tree.
        inside.sort_unstable();
        let mut patch = SurfacePatch {
            model: body.model.identity(),
            pose: *body.pose,
            region,
            blocks: Vec::with_capacity(inside.len().div_ceil(LANES)),
            facets: Vec::with_capacity(inside.len()),
            corners: Vec::new(),
            own: 0,
            edges: Vec::new(),
            stars: vec![0; 3 * inside.len()],
        };
        patch.find_corners(body, &inside);
        patch.find_bends();
        patch.find_stars();
        patch.fill_blocks();
        patch
    }

    /// Asks for the memory of all lists, which is read in every frame and of many bodies does not stay near.
    pub fn prefetch(&self) {
        prefetch_all(&self.blocks);
        prefetch_all(&self.corners);
        prefetch_all(&self.edges);
        prefetch_all(&self.facets);
        prefetch_all(&self.stars);
    }

    /// Whether this is the surface of a placed mesh in a box.
    pub fn covers(&self, body: &PlacedMesh<'_>, bounds: &Aabb) -> bool {
        self.model == body.model.identity()
            && (bounds.low.cmpge(self.region.low) & bounds.high.cmple(self.region.high)).all()
            && self.pose == *body.pose
    }

    /// The corners of the facets.
    #[inline]
    pub fn own_corners(&self) -> &[PatchCorner] {
        &self.corners[..self.own]
    }

    /// The facets around a corner, as far as they are in the patch.
    #[inline]
    pub fn star(&self, corner: &PatchCorner) -> &[u32] {
        &self.stars[corner.star[0] as usize..corner.star[1] as usize]
    }

    /// Where the corners of a facet are.
    #[inline]
    pub fn placed(&self, facet: &PatchFacet) -> [DVec3; 3] {
        let [a, b, c] = facet.corners;
        [self.corners[a as usize].at, self.corners[b as usize].at, self.corners[c as usize].at]
    }

    /// The unit normal of the facet at a place.
    #[inline]
    pub fn normal(&self, place: usize) -> DVec3 {
        let (block, lane) = (&self.blocks[place / LANES], place % LANES);
        DVec3::new(block.normal[0][lane], block.normal[1][lane], block.normal[2][lane])
    }

    /// Where the corner across a side of a facet is, if there is a triangle.
    #[inline]
    pub fn apex(&self, facet: &PatchFacet, side: usize) -> Option<DVec3> {
        self.corners.get(facet.apexes[side] as usize).map(|corner| corner.at)
    }

    /// The corners of the facets in the order in which the facets name them, then those across.
    fn find_corners(&mut self, body: &PlacedMesh<'_>, inside: &[u32]) {
        let (mesh, topology) = (body.model.mesh(), body.model.topology());
        let beyond = |triangle: u32, side: usize| topology.across(Side { triangle, corner: side as u8 });
        let across = |triangle: u32, side: usize| -> Option<(u32, u32)> {
            let other = beyond(triangle, side)?;
            let (own, theirs) =
                (topology.triangles()[triangle as usize], topology.triangles()[other as usize]);
            let k = (0..3).find(|&j| !own.contains(&theirs[j]))?;
            Some((theirs[k], mesh.triangles()[other as usize][k]))
        };
        // Welded corner, the place where it is named first, and the vertex there.
        let mut named: Vec<(u32, u32, u32)> = Vec::with_capacity(6 * inside.len());
        for (&triangle, place) in inside.iter().zip((0..).step_by(3)) {
            let (names, own) = (mesh.triangles()[triangle as usize], topology.triangles()[triangle as usize]);
            named.extend((0..3).map(|k| (own[k as usize], place + k, names[k as usize])));
        }
        let last = named.len() as u32;
        let mut apexes: Vec<[u32; 3]> = Vec::with_capacity(inside.len());
        for &triangle in inside {
            apexes.push([0, 1, 2].map(|side| {
                across(triangle, side).map_or(NONE, |(welded, vertex)| {
                    named.push((welded, last, vertex));
                    welded
                })
            }));
        }
        named.sort_unstable();
        named.dedup_by_key(|(welded, ..)| *welded);
        let mut order: Vec<u32> = (0..named.len() as u32).collect();
        order.sort_unstable_by_key(|&k| (named[k as usize].1, k));
        let mut place_of = vec![0; named.len()];
        for (&k, place) in order.iter().zip(0_u32..) {
            place_of[k as usize] = place;
            let vertex = named[k as usize].2;
            let at = body.pose.apply(mesh.vertices()[vertex as usize]);
            let Aabb { low, high } = self.region;
            let is_complete = (at.cmpge(low) & at.cmple(high)).all();
            let (star, sharp) = ([0; 2], [false; 2]);
            self.corners.push(PatchCorner { at, vertex, star, is_complete, sharp, border: false });
        }
        self.own = order.partition_point(|&k| named[k as usize].1 < last);
        let place = |welded: u32| {
            let known = named.binary_search_by_key(&welded, |(welded, ..)| *welded);
            known.map_or(NONE, |k| place_of[k])
        };
        for (&triangle, apexes) in inside.iter().zip(&apexes) {
            let corners = topology.triangles()[triangle as usize].map(place);
            let is_first = [0, 1, 2].map(|side| beyond(triangle, side).is_none_or(|other| triangle < other));
            let (apexes, bends) = (apexes.map(place), [Bend::Border; 3]);
            self.facets.push(PatchFacet { triangle, corners, apexes, bends, is_first });
        }
    }

    /// How the surface bends over the sides of the facets, and the edges that are not flat, each with its first triangle.
    fn find_bends(&mut self) {
        for place in 0..self.facets.len() {
            let facet = self.facets[place];
            for k in 0..3 {
                let bend = self.bend(&facet, k);
                self.facets[place].bends[k] = bend;
                let ends = [facet.corners[k], facet.corners[(k + 1) % 3]];
                for c in ends {
                    let corner = &mut self.corners[c as usize];
                    corner.sharp[0] |= bend.is_sharp();
                    corner.sharp[1] |= bend.turned().is_sharp();
                    corner.border |= bend == Bend::Border;
                }
                if bend != Bend::Flat && facet.is_first[k] {
                    self.edges.push(PatchEdge { ends, facet: place as u32, side: k as u8, bend });
                }
            }
        }
    }

    fn bend(&self, facet: &PatchFacet, k: usize) -> Bend {
        let Some(apex) = self.apex(facet, k) else { return Bend::Border };
        let [a, b, c] = self.placed(facet);
        let (normal, over) = ((b - a).cross(c - a), apex - [a, b, c][k]);
        let rise = normal.dot(over);
        if rise.abs() <= CREASE * normal.length() * over.length() {
            let along = [b - a, c - b, a - c][k];
            let third = [c, a, b][k] - [a, b, c][k];
            // Folded back onto itself, both triangles lie on one side of the edge.
            let sides = along.cross(third).dot(along.cross(over));
            if sides > 0.0 { Bend::Border } else { Bend::Flat }
        } else if rise < 0.0 {
            Bend::Convex
        } else {
            Bend::Concave
        }
    }

    /// The facets around each corner, by their counts.
    fn find_stars(&mut self) {
        for facet in &self.facets {
            for c in facet.corners {
                self.corners[c as usize].star[1] += 1;
            }
        }
        let mut from = 0;
        for corner in &mut self.corners {
            let count = corner.star[1];
            corner.star = [from; 2];
            from += count;
        }
        for (k, facet) in (0..).zip(&self.facets) {
            for c in facet.corners {
                let end = &mut self.corners[c as usize].star[1];
                self.stars[*end as usize] = k;
                *end += 1;
            }
        }
    }

    fn fill_blocks(&mut self) {
        for eight in self.facets.chunks(LANES) {
            let placed: SmallVec<[[DVec3; 3]; LANES]> =
                eight.iter().map(|facet| self.placed(facet)).collect();
            self.blocks.push(Block::new(&placed));
        }
    }
}
