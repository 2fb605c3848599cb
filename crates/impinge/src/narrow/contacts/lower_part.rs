//! The part of a placed polytope that can reach the surface under it: corners not above all of the surface, with the
//! edges and faces at them.
//!
//! Where all of the surface looks along a common direction, what lies higher than its highest point is over it, and
//! nothing of it is a contact. Elsewhere all of the polytope is looked at.

use glam::DVec3;
use smallvec::SmallVec;

use super::local_surface::LocalSurface;
use crate::Pose;
use crate::narrow::convex::faceted::{Faceted, Graph};
use crate::narrow::exact::patch_lanes::bits;
use crate::narrow::exact::point_triangle_simd::LANES;
use crate::narrow::exact::surface_patch::PatchCorner;
use crate::num::tolerance::REGION_EDGE;
use crate::shape::{Convex, Primitive};
use crate::simd::{SimdLevel, dispatch};

/// The cosine between the normal of a triangle and the common direction (no unit) from which on it looks along it.
const LOOKS_ALONG: f64 = 0.5;

/// An edge of the polytope with a low corner.
pub(super) struct LowEdge {
    pub index: u32,
    pub ends: [u32; 2],
    /// Bits of its faces among those that were kept; none where one is not among the first 64.
    pub faces: u64,
}

/// Eight planes, column by column; those that are none have no normal and are infinitely far.
#[derive(Debug, Clone, Copy)]
struct PlaneBlock {
    normal: [[f64; LANES]; 3],
    offset: [f64; LANES],
}

/// A bit for each of the first 64 planes.
const MOST_BLOCKS: usize = 64 / LANES;

/// A polytope and where its corners are in the world.
pub(super) struct PlacedPolytope<'p> {
    pub graph: Graph<'p>,
    pub corners: SmallVec<[DVec3; 32]>,
}

impl<'p> PlacedPolytope<'p> {
    /// Of a hull or box that has a volume.
    pub fn new(shape: &'p Convex, pose: &Pose) -> Option<PlacedPolytope<'p>> {
        let (Convex::Polytope(_) | Convex::Primitive(Primitive::Cuboid { .. })) = shape else { return None };
        match Faceted::new(shape, pose, DVec3::ZERO)? {
            Faceted::Graph(graph) if graph.polytope().dimension() == 3 => {
                Some(PlacedPolytope { corners: graph.corners().collect(), graph })
            }
            _ => None,
        }
    }
}

/// A placed polytope, and what of it is low.
pub(super) struct LowerPart<'g, 'p> {
    pub graph: &'g Graph<'p>,
    /// All corners in the world.
    pub corners: &'g [DVec3],
    pub middle: DVec3,
    /// No corner is farther from the middle.
    pub reach: f64,
    /// The corners that are low.
    pub low: SmallVec<[u32; 32]>,
    /// The edges and faces at them.
    pub edges: SmallVec<[LowEdge; 32]>,
    pub faces: SmallVec<[u32; 32]>,
    /// The planes of these faces in the world: outward unit normal, and how far they are along it from the origin.
    pub planes: SmallVec<[(DVec3, f64); 32]>,
    /// The first 64 of them.
    blocks: SmallVec<[PlaneBlock; 4]>,
    /// From the world into its own frame.
    back: Pose,
    simd: SimdLevel,
}

impl<'g, 'p> LowerPart<'g, 'p> {
    pub fn new(surface: &LocalSurface<'_>, placed: &'g PlacedPolytope<'p>, margin: f64) -> LowerPart<'g, 'p> {
        let PlacedPolytope { graph, corners } = placed;
        let polytope = graph.polytope();
        let middle = graph.middle();
        let square = corners.iter().fold(0.0_f64, |most, p| most.max(p.distance_squared(middle)));
        let (up, level) = surface.level(LOOKS_ALONG).unwrap_or((DVec3::ZERO, 0.0));
        // Rounding must not lift what touches.
        let level = level + margin + REGION_EDGE * (square.sqrt() + level.abs());
        let is_low: SmallVec<[bool; 32]> = corners.iter().map(|p| up.dot(*p) <= level).collect();
        let mut part = LowerPart {
            graph,
            middle,
            reach: square.sqrt(),
            low: (0..).zip(&is_low).filter(|(_, low)| **low).map(|(v, _)| v).collect(),
            edges: SmallVec::new(),
            faces: SmallVec::new(),
            planes: SmallVec::new(),
            blocks: SmallVec::new(),
            back: graph.pose().inverse(),
            simd: SimdLevel::best(),
            corners,
        };
        // The bit of each face that is kept.
        let mut kept: SmallVec<[u64; 64]> = SmallVec::from_elem(NOT_KEPT, polytope.faces().len());
        let (bits, is_low, edges) = (&mut kept[..], &is_low[..], polytope.edges());
        for (index, edge) in (0..).zip(edges) {
            let [p, q] = edge.ends;
            if is_low[p as usize] | is_low[q as usize] {
                let [x, y] = edge.faces;
                (bits[x as usize], bits[y as usize]) = (0, 0);
                part.edges.push(LowEdge { index, ends: edge.ends, faces: 0 });
            }
        }
        for (face, bit) in (0..).zip(bits.iter_mut()).filter(|(_, bit)| **bit != NOT_KEPT) {
            *bit = 1_u64.checked_shl(part.faces.len() as u32).unwrap_or(0);
            part.faces.push(face);
        }
        for edge in &mut part.edges {
            let [x, y] = edges[edge.index as usize].faces;
            let (x, y) = (bits[x as usize], bits[y as usize]);
            edge.faces = if x != 0 && y != 0 { x | y } else { 0 };
        }
        part.planes = graph.planes(&part.faces).collect();
        part.blocks = part.planes.chunks(LANES).take(MOST_BLOCKS).map(PlaneBlock::new).collect();
        part
    }

    /// Whether a point is in the polytope grown by some room.
    pub fn holds(&self, p: DVec3, room: f64) -> bool {
        if !self.planes.iter().all(|(n, offset)| n.dot(p) - offset <= room) {
            return false;
        }
        let local = self.back.apply(p);
        let faces = self.graph.polytope().faces().len();
        faces == self.faces.len() || (0..faces as u32).all(|face| self.graph.height(face, local) <= room)
    }

    /// Whether a segment reaches into the polytope grown by a margin.
    pub fn is_reached(&self, [p, q]: [DVec3; 2], margin: f64) -> bool {
        let [p, q] = [self.back.apply(p), self.back.apply(q)];
        let (mut low, mut high) = (0.0_f64, 1.0_f64);
        for face in 0..self.graph.polytope().faces().len() as u32 {
            let (start, end) = (self.graph.height(face, p) - margin, self.graph.height(face, q) - margin);
            if start > 0.0 && end > 0.0 {
                return false;
            }
            if start > 0.0 {
                low = low.max(start / (start - end));
            } else if end > 0.0 {
                high = high.min(start / (start - end));
            }
        }
        low <= high
    }

    /// Whether the direction against a normal lies in the Voronoi region of an edge.
    pub fn is_outside(&self, edge: u32, normal: DVec3) -> bool {
        let [x, y] = self.graph.inward(edge);
        -normal.dot(x) <= REGION_EDGE && -normal.dot(y) <= REGION_EDGE
    }

    /// For each of some corners the planes that it lies beyond, and some room more: a bit for each of the first 64.
    pub fn beyond(&self, corners: &[PatchCorner], room: f64) -> SmallVec<[u64; 64]> {
        let mut found = SmallVec::new();
        beyond(self.simd, &self.blocks, corners, room, &mut found);
        found
    }

    /// The planes that a direction rises from by more than a height, and those that it sinks under by more, as bits.
    pub fn slopes(&self, along: DVec3, level: f64) -> [u64; 2] {
        slopes(self.simd, &self.blocks, along, level)
    }
}

/// Stands for the bit of a face that was not kept.
const NOT_KEPT: u64 = u64::MAX;

impl PlaneBlock {
    fn new(planes: &[(DVec3, f64)]) -> PlaneBlock {
        let mut block = PlaneBlock { normal: [[0.0; LANES]; 3], offset: [f64::INFINITY; LANES] };
        for (lane, (normal, offset)) in planes.iter().enumerate().take(LANES) {
            for axis in 0..3 {
                block.normal[axis][lane] = normal[axis];
            }
            block.offset[lane] = *offset;
        }
        block
    }

    /// How far a vector leads along the normal of a lane.
    #[inline(always)]
    fn along(&self, v: [f64; 3], i: usize) -> f64 {
        self.normal[0][i] * v[0] + self.normal[1][i] * v[1] + self.normal[2][i] * v[2]
    }
}

dispatch! {
    fn beyond(blocks: &[PlaneBlock], corners: &[PatchCorner], room: f64, out: &mut SmallVec<[u64; 64]>)
        = each beyond_plain
}

dispatch! {
    fn slopes(blocks: &[PlaneBlock], along: DVec3, level: f64) -> [u64; 2] = each slopes_plain
}

#[inline(always)]
fn beyond_plain(blocks: &[PlaneBlock], corners: &[PatchCorner], room: f64, out: &mut SmallVec<[u64; 64]>) {
    for corner in corners {
        let (p, mut found) = (corner.at.to_array(), 0);
        for (k, block) in blocks.iter().enumerate() {
            let mut lanes = [0; LANES];
            for (i, lane) in lanes.iter_mut().enumerate() {
                *lane = u8::from(block.along(p, i) > block.offset[i] + room);
            }
            found |= u64::from(bits(lanes)) << (LANES * k);
        }
        out.push(found);
    }
}

#[inline(always)]
fn slopes_plain(blocks: &[PlaneBlock], along: DVec3, level: f64) -> [u64; 2] {
    let (along, mut found) = (along.to_array(), [0; 2]);
    for (k, block) in blocks.iter().enumerate() {
        let (mut rising, mut sinking) = ([0; LANES], [0; LANES]);
        for i in 0..LANES {
            let slope = block.along(along, i);
            (rising[i], sinking[i]) = (u8::from(slope > level), u8::from(slope < -level));
        }
        found[0] |= u64::from(bits(rising)) << (LANES * k);
        found[1] |= u64::from(bits(sinking)) << (LANES * k);
    }
    found
}
