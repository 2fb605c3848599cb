//! The surface of a placed mesh in a region, with its edges and corners at hand: what contacts of a body on it are found
//! from, frame after frame, while the body stays in the region.
//!
//! The lists hold every facet, edge and corner that reaches into the region, in the order of the mesh. Who takes from
//! them what reaches into a smaller box finds the same in the same order, however large the region was.

use std::ops::ControlFlow;

use glam::DVec3;
use smallvec::SmallVec;

use super::placed_mesh::PlacedMesh;
use crate::Pose;
use crate::bound::Aabb;
use crate::num::tolerance::CREASE;
use crate::shape::topology::Side;

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

/// What lies across the side of a triangle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crease {
    pub bend: Bend,
    /// The welded corner of the triangle across that is not on the side; `None` where there is no triangle.
    pub apex: Option<u32>,
}

/// Stands for no corner.
const NONE: u32 = u32::MAX;

/// How the surface bends over the side of a triangle from a corner to the next.
pub(crate) fn crease(body: &PlacedMesh<'_>, triangle: u32, k: usize) -> Crease {
    let (mesh, topology) = (body.model.mesh(), body.model.topology());
    let none = Crease { bend: Bend::Border, apex: None };
    let Some(across) = topology.across(Side { triangle, corner: k as u8 }) else { return none };
    let (own, theirs) = (topology.triangles()[triangle as usize], topology.triangles()[across as usize]);
    let Some(apex) = (0..3).find(|&j| !own.contains(&theirs[j])) else { return none };
    let at = body.pose.apply(mesh.vertices()[mesh.triangles()[across as usize][apex] as usize]);
    let [a, b, c] = body.corners(triangle);
    let (normal, over) = ((b - a).cross(c - a), at - [a, b, c][k]);
    let rise = normal.dot(over);
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
    Crease { bend, apex: Some(theirs[apex]) }
}

/// A triangle of the patch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PatchFacet {
    pub triangle: u32,
    /// Places in the list of corners.
    pub corners: [u32; 3],
    /// Of the triangle, of unit length; zero without an area.
    pub normal: DVec3,
    /// How far its plane is along the normal from the origin.
    pub offset: f64,
    /// A box around it.
    pub low: DVec3,
    pub high: DVec3,
}

/// An edge of the patch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PatchEdge {
    /// Places of its ends in the list of corners.
    pub ends: [u32; 2],
    /// The place of its first triangle, and where the edge begins in it.
    pub facet: u32,
    pub side: u8,
    pub bend: Bend,
    /// The place of the corner across, if there is one.
    pub apex: u32,
}

/// A corner of the patch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PatchCorner {
    pub at: DVec3,
    /// The smallest index of a vertex of the mesh here.
    pub vertex: u32,
    /// Whether an edge ends here that is sharp, from the front and from behind.
    pub sharp: [bool; 2],
    /// Whether the surface ends here.
    pub border: bool,
    star: [u32; 2],
}

/// The surface of a placed mesh in a region.
#[derive(Debug, Clone)]
pub(crate) struct SurfacePatch {
    model: u64,
    pose: Pose,
    region: Aabb,
    pub corners: Vec<PatchCorner>,
    pub facets: Vec<PatchFacet>,
    pub edges: Vec<PatchEdge>,
    /// The facets around each corner, one corner after the other.
    stars: Vec<u32>,
}

impl SurfacePatch {
    /// The triangles that reach into a box, and perhaps a few more.
    pub fn gather(body: &PlacedMesh<'_>, region: Aabb) -> SurfacePatch {
        let (mesh, topology) = (body.model.mesh(), body.model.topology());
        let mut inside: SmallVec<[u32; 128]> = SmallVec::new();
        // All whose own boxes reach into the region, so that a smaller box within finds the same ones in any patch.
        let reaches = |[low, high]: [DVec3; 2]| !(low.cmpgt(region.high) | high.cmplt(region.low)).any();
        body.in_boxes(reaches, |triangle| {
            inside.push(triangle);
            ControlFlow::Continue(())
        });
        // In the order of the file, whatever the tree.
        inside.sort_unstable();
        let mut welded: SmallVec<[u32; 128]> = SmallVec::new();
        welded.extend(inside.iter().flat_map(|&t| topology.triangles()[t as usize]));
        welded.sort_unstable();
        welded.dedup();
        let mut patch = SurfacePatch {
            model: body.model.identity(),
            pose: *body.pose,
            region,
            corners: Vec::with_capacity(welded.len()),
            facets: Vec::with_capacity(inside.len()),
            edges: Vec::with_capacity(2 * inside.len()),
            stars: vec![0; 3 * inside.len()],
        };
        patch.corners.extend(welded.iter().map(|_| PatchCorner {
            at: DVec3::ZERO,
            vertex: u32::MAX,
            sharp: [false; 2],
            border: false,
            star: [0; 2],
        }));
        for &triangle in &inside {
            let [a, b, c] = body.corners(triangle);
            let (names, own) = (mesh.triangles()[triangle as usize], topology.triangles()[triangle as usize]);
            let corners = own.map(|v| welded.partition_point(|&w| w < v) as u32);
            for (&place, (at, vertex)) in corners.iter().zip([a, b, c].into_iter().zip(names)) {
                let corner = &mut patch.corners[place as usize];
                (corner.at, corner.vertex) = (at, corner.vertex.min(vertex));
                corner.star[1] += 1;
            }
            let normal = (b - a).cross(c - a).normalize_or_zero();
            let (offset, low, high) = (normal.dot(a), a.min(b).min(c), a.max(b).max(c));
            patch.facets.push(PatchFacet { triangle, corners, normal, offset, low, high });
        }
        patch.find_stars();
        patch.find_edges(body, &inside, &welded);
        patch
    }

    /// Whether this is the surface of a placed mesh in a box.
    pub fn covers(&self, body: &PlacedMesh<'_>, bounds: &Aabb) -> bool {
        self.model == body.model.identity()
            && self.pose == *body.pose
            && (bounds.low.cmpge(self.region.low) & bounds.high.cmple(self.region.high)).all()
    }

    /// The facets around a corner.
    pub fn star(&self, corner: &PatchCorner) -> &[u32] {
        &self.stars[corner.star[0] as usize..corner.star[1] as usize]
    }

    /// Where the corners of a facet are.
    #[inline]
    pub fn placed(&self, facet: &PatchFacet) -> [DVec3; 3] {
        let [a, b, c] = facet.corners;
        [self.corners[a as usize].at, self.corners[b as usize].at, self.corners[c as usize].at]
    }

    /// Where the corner across an edge is.
    pub fn apex(&self, edge: &PatchEdge) -> Option<DVec3> {
        self.corners.get(edge.apex as usize).map(|corner| corner.at)
    }

    /// The facets around each corner, by their counts.
    fn find_stars(&mut self) {
        let mut from = 0;
        for corner in &mut self.corners {
            let count = corner.star[1];
            corner.star = [from; 2];
            from += count;
        }
        for (k, facet) in (0..).zip(&self.facets) {
            for &c in &facet.corners {
                let end = &mut self.corners[c as usize].star[1];
                self.stars[*end as usize] = k;
                *end += 1;
            }
        }
    }

    /// The edges that reach into the region, each with its first triangle.
    fn find_edges(&mut self, body: &PlacedMesh<'_>, inside: &[u32], welded: &[u32]) {
        let topology = body.model.topology();
        for (facet, &triangle) in (0..).zip(inside) {
            let places = self.facets[facet as usize].corners;
            for k in 0..3_usize {
                let across = topology.across(Side { triangle, corner: k as u8 });
                let ends = [places[k], places[(k + 1) % 3]];
                let [p, q] = ends.map(|c| self.corners[c as usize].at);
                let beside = p.max(q).cmplt(self.region.low) | p.min(q).cmpgt(self.region.high);
                if across.is_some_and(|across| across < triangle) || beside.any() {
                    continue;
                }
                let Crease { bend, apex } = crease(body, triangle, k);
                // Both triangles at an edge in the region are in the patch.
                let apex = apex.and_then(|apex| welded.binary_search(&apex).ok()).map_or(NONE, |k| k as u32);
                for c in ends {
                    let corner = &mut self.corners[c as usize];
                    corner.sharp[0] |= bend.is_sharp();
                    corner.sharp[1] |= bend.turned().is_sharp();
                    corner.border |= bend == Bend::Border;
                }
                self.edges.push(PatchEdge { ends, facet, side: k as u8, bend, apex });
            }
        }
    }
}
