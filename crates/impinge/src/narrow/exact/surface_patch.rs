//! The surface of a placed mesh in a region, with its edges and corners at hand: what contacts of a body on it are found
//! from, frame after frame, while the body stays in the region.
//!
//! The lists hold every facet that reaches into the region, in the order of the mesh, and their edges and corners. Who
//! takes from them what reaches into a smaller box finds the same in the same order, however large the region was.
//!
//! Of many bodies no list stays in the near caches, so what is read of all facets in every frame is little: where their
//! corners are, eight by eight, and which ones they have. Blocks of the facets near a body are made from that
//! (`near_facets`); what is asked of a few facets, edges and corners stands in lists of its own.

use std::ops::ControlFlow;

use glam::DVec3;
use smallvec::SmallVec;

use super::placed_mesh::PlacedMesh;
use super::point_triangle_simd::LANES;
use crate::Pose;
use crate::bound::Aabb;
use crate::num::tolerance::CREASE;
use crate::shape::topology::Side;
use crate::simd::prefetch_lines;

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

/// The coordinates of eight corners, column by column.
pub(crate) type CornerBlock = [[f64; LANES]; 3];

/// What a triangle of the patch is, and what is around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PatchFacet {
    pub triangle: u32,
    /// Its vertices.
    pub vertices: [u32; 3],
    /// The places of the corners across the sides; none where no triangle is.
    apexes: [u32; 3],
    /// How the surface bends over its sides.
    pub bends: [Bend; 3],
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

/// What a corner of the patch is, and what is around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PatchCorner {
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
    /// Where the corners are: those of the facets first, then those that are only across; the last block repeats its last
    /// one.
    at: Vec<CornerBlock>,
    /// The places of the corners of each facet.
    corners_of: Vec<[u32; 3]>,
    /// Those over which the surface is convex or ends, then the others, each in the order of the facets.
    edges: Vec<PatchEdge>,
    /// How many of them are convex or borders.
    ridges: usize,
    /// In the order of their places.
    pub facets: Vec<PatchFacet>,
    pub corners: Vec<PatchCorner>,
    /// How many corners the facets have.
    own: usize,
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
            at: Vec::new(),
            corners_of: Vec::with_capacity(inside.len()),
            edges: Vec::new(),
            ridges: 0,
            facets: Vec::with_capacity(inside.len()),
            corners: Vec::new(),
            own: 0,
            stars: vec![0; 3 * inside.len()],
        };
        patch.find_corners(body, &inside);
        patch.find_bends(body);
        patch.find_stars();
        patch
    }

    /// Asks for the memory of the lists, which of many bodies does not stay near.
    #[inline]
    pub fn prefetch(&self) {
        prefetch_lines::<12, _>(&self.at);
        prefetch_lines::<7, _>(&self.corners_of);
        prefetch_lines::<7, _>(&self.edges);
        prefetch_lines::<6, _>(&self.corners);
        prefetch_lines::<16, _>(&self.facets);
        prefetch_lines::<6, _>(&self.stars);
    }

    /// Whether this is the surface of a placed mesh in a box.
    pub fn covers(&self, body: &PlacedMesh<'_>, bounds: &Aabb) -> bool {
        self.model == body.model.identity()
            && (bounds.low.cmpge(self.region.low) & bounds.high.cmple(self.region.high)).all()
            && self.pose == *body.pose
    }

    /// What the corners of the facets are.
    #[inline]
    pub fn own_corners(&self) -> &[PatchCorner] {
        &self.corners[..self.own]
    }

    /// Where the corners of the facets are, and some after them.
    #[inline]
    pub fn corner_blocks(&self) -> &[CornerBlock] {
        &self.at[..self.own.div_ceil(LANES)]
    }

    /// The places of the corners of all facets.
    #[inline]
    pub fn corners_of(&self) -> &[[u32; 3]] {
        &self.corners_of
    }

    /// The edges over which the surface is concave, or the others, in the order of the facets.
    #[inline]
    pub fn edges(&self, concave: bool) -> &[PatchEdge] {
        let (ridges, valleys) = self.edges.split_at(self.ridges);
        if concave { valleys } else { ridges }
    }

    /// The facets around a corner, as far as they are in the patch.
    #[inline]
    pub fn star(&self, corner: &PatchCorner) -> &[u32] {
        &self.stars[corner.star[0] as usize..corner.star[1] as usize]
    }

    /// Where a corner is.
    #[inline]
    pub fn at(&self, corner: u32) -> DVec3 {
        let (block, lane) = (&self.at[corner as usize / LANES], corner as usize % LANES);
        DVec3::new(block[0][lane], block[1][lane], block[2][lane])
    }

    /// Where the corners of a facet are.
    #[inline]
    pub fn placed(&self, place: usize) -> [DVec3; 3] {
        let [a, b, c] = self.corners_of[place];
        [self.at(a), self.at(b), self.at(c)]
    }

    /// The unit normal of the facet at a place; zero without an area.
    #[inline]
    pub fn normal(&self, place: usize) -> DVec3 {
        let [a, b, c] = self.placed(place);
        (b - a).cross(c - a).normalize_or_zero()
    }

    /// Where the corner across a side of a facet is, if there is a triangle.
    #[inline]
    pub fn apex(&self, place: usize, side: usize) -> Option<DVec3> {
        let apex = self.facets[place].apexes[side];
        (apex != NONE).then(|| self.at(apex))
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
        let mut places: Vec<DVec3> = Vec::with_capacity(named.len());
        for (&k, place) in order.iter().zip(0_u32..) {
            place_of[k as usize] = place;
            let vertex = named[k as usize].2;
            let at = body.pose.apply(mesh.vertices()[vertex as usize]);
            let Aabb { low, high } = self.region;
            let is_complete = (at.cmpge(low) & at.cmple(high)).all();
            let (star, sharp) = ([0; 2], [false; 2]);
            self.corners.push(PatchCorner { vertex, star, is_complete, sharp, border: false });
            places.push(at);
        }
        self.at.extend(places.chunks(LANES).map(|eight| {
            let at = |lane: usize| eight[lane.min(eight.len() - 1)];
            std::array::from_fn(|axis| std::array::from_fn(|lane| at(lane)[axis]))
        }));
        self.own = order.partition_point(|&k| named[k as usize].1 < last);
        let place = |welded: u32| {
            let known = named.binary_search_by_key(&welded, |(welded, ..)| *welded);
            known.map_or(NONE, |k| place_of[k])
        };
        for (&triangle, apexes) in inside.iter().zip(&apexes) {
            self.corners_of.push(topology.triangles()[triangle as usize].map(place));
            let vertices = mesh.triangles()[triangle as usize];
            let (apexes, bends) = (apexes.map(place), [Bend::Border; 3]);
            self.facets.push(PatchFacet { triangle, vertices, apexes, bends });
        }
    }

    /// How the surface bends over the sides of the facets, and the edges that are not flat, each with its first triangle.
    fn find_bends(&mut self, body: &PlacedMesh<'_>) {
        let topology = body.model.topology();
        let mut valleys = Vec::new();
        for place in 0..self.facets.len() {
            let corners = self.corners_of[place];
            for k in 0..3 {
                let bend = self.bend(place, k);
                self.facets[place].bends[k] = bend;
                let ends = [corners[k], corners[(k + 1) % 3]];
                for c in ends {
                    let corner = &mut self.corners[c as usize];
                    corner.sharp[0] |= bend.is_sharp();
                    corner.sharp[1] |= bend.turned().is_sharp();
                    corner.border |= bend == Bend::Border;
                }
                let side = Side { triangle: self.facets[place].triangle, corner: k as u8 };
                let is_first = topology.across(side).is_none_or(|other| side.triangle < other);
                if bend != Bend::Flat && is_first {
                    let edges = if bend == Bend::Concave { &mut valleys } else { &mut self.edges };
                    edges.push(PatchEdge { ends, facet: place as u32, side: k as u8, bend });
                }
            }
        }
        self.ridges = self.edges.len();
        self.edges.append(&mut valleys);
    }

    fn bend(&self, place: usize, k: usize) -> Bend {
        let Some(apex) = self.apex(place, k) else { return Bend::Border };
        let [a, b, c] = self.placed(place);
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
        for corners in &self.corners_of {
            for &c in corners {
                self.corners[c as usize].star[1] += 1;
            }
        }
        let mut from = 0;
        for corner in &mut self.corners {
            let count = corner.star[1];
            corner.star = [from; 2];
            from += count;
        }
        for (k, corners) in (0..).zip(&self.corners_of) {
            for &c in corners {
                let end = &mut self.corners[c as usize].star[1];
                self.stars[*end as usize] = k;
                *end += 1;
            }
        }
    }
}
