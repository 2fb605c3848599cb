//! Whether some of a surface lies inside its hull: the highest corner of the hull over every triangle.
//!
//! Heights over a plane have no top among the corners of a convex body but the highest: it is found by climbing along
//! edges. The climb over a triangle starts from a corner of its own, which is the top already where the surface is
//! that of the hull, and otherwise from the top over the triangle before.

use glam::DVec3;

use super::solids::Outward;
use super::{HEIGHTS_FOR_A_UNIT, Work};
use crate::num::tolerance::SUPPORT_ROUNDING;
use crate::shape::Outline;
use crate::shape::hull::ascending;

/// Corners of a hull up to which all of them are looked at.
const FEW_CORNERS: usize = 16;

/// Edges of a corner up to which a climb starts there without looking for one with fewer.
const FEW_EDGES: usize = 16;

/// Triangles after which what was looked at is paid for.
const AT_A_TIME: usize = 256;

impl Work<'_> {
    /// Whether the plane of some triangle of a piece has a corner of the hull beyond it; `None` where `pay` refuses.
    pub(super) fn is_hollow(
        &self,
        triangles: &[u32],
        hull: &Outline,
        mut pay: impl FnMut(usize) -> Option<()>,
    ) -> Option<bool> {
        let reach = hull.reach();
        let mut search = TopSearch::new(hull);
        for some in triangles.chunks(AT_A_TIME) {
            let beyond = |&triangle: &u32| {
                let face = Outward::of(self.mesh, triangle, self.inward);
                let own = self.mesh.corners(triangle);
                search.rises_above(&face, own, face.doubt(self.slack, reach))
            };
            let found = some.iter().any(beyond);
            pay(std::mem::take(&mut search.heights).div_ceil(HEIGHTS_FOR_A_UNIT))?;
            if found {
                return Some(true);
            }
        }
        Some(false)
    }
}

/// A search for the highest corner of a hull over one triangle after the other.
pub(super) struct TopSearch<'h> {
    corners: &'h [DVec3],
    /// What leads from corner to corner; `None` where they are few.
    graph: Option<CornerGraph>,
    /// Where the last climb ended.
    top: u32,
    /// How many heights were asked for.
    pub(super) heights: usize,
}

/// The edges of a hull by their ends.
struct CornerGraph {
    /// The corners in ascending order of coordinates.
    order: Vec<u32>,
    /// Where the neighbours of each corner end.
    ends: Vec<u32>,
    neighbours: Vec<u32>,
}

impl<'h> TopSearch<'h> {
    pub(super) fn new(hull: &'h Outline) -> TopSearch<'h> {
        let corners = hull.corners();
        let graph = (corners.len() > FEW_CORNERS).then(|| CornerGraph::new(hull));
        TopSearch { corners, graph, top: 0, heights: 0 }
    }

    /// Whether a corner is higher over the plane of a triangle than `most`; false for NaN.
    pub(super) fn rises_above(&mut self, face: &Outward, own: [DVec3; 3], most: f64) -> bool {
        let height = |p: DVec3| face.normal.dot(p - own[0]);
        let Some(graph) = &self.graph else {
            self.heights += self.corners.len();
            return self.corners.iter().any(|&p| height(p) > most);
        };
        let mut top = graph.fewest_edges(self.corners, own).unwrap_or(self.top);
        let slope_sq = (SUPPORT_ROUNDING + face.tilt()).powi(2);
        let mut beyond = height(self.corners[top as usize]) > most;
        self.heights += 1;
        while !beyond {
            let from = self.corners[top as usize];
            let (mut next, mut gained) = (top, 0.0);
            let around = graph.around(top);
            self.heights += around.len();
            for &corner in around {
                let edge = self.corners[corner as usize] - from;
                let gain = face.normal.dot(edge);
                // A gain that is rounding only could lead round in a circle, or to a corner with a great many edges.
                if gain > gained && gain * gain > slope_sq * edge.length_squared() {
                    (next, gained) = (corner, gain);
                }
            }
            if next == top {
                break;
            }
            top = next;
            beyond = height(self.corners[top as usize]) > most;
        }
        self.top = top;
        beyond
    }
}

impl CornerGraph {
    /// Of a hull with faces.
    fn new(hull: &Outline) -> CornerGraph {
        let corners = hull.corners();
        let sides = || hull.loops().iter().flat_map(|l| (0..l.len()).map(|k| [l[k], l[(k + 1) % l.len()]]));
        // Each edge is a side of two faces, once in each direction. First where the neighbours begin, then, when all have
        // been put there, where they end.
        let mut ends = vec![0; corners.len()];
        sides().for_each(|[from, _]| ends[from as usize] += 1);
        let mut count = 0;
        for end in &mut ends {
            count += std::mem::replace(end, count);
        }
        let mut neighbours = vec![0; count as usize];
        for [from, to] in sides() {
            neighbours[ends[from as usize] as usize] = to;
            ends[from as usize] += 1;
        }
        let mut order: Vec<u32> = (0..corners.len() as u32).collect();
        order.sort_unstable_by(|&p, &q| ascending(&corners[p as usize], &corners[q as usize]));
        CornerGraph { order, ends, neighbours }
    }

    fn around(&self, corner: u32) -> &[u32] {
        let first = (corner as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.neighbours[first as usize..self.ends[corner as usize] as usize]
    }

    /// Of some points the one that is a corner with few edges, or else with the fewest.
    fn fewest_edges(&self, corners: &[DVec3], points: [DVec3; 3]) -> Option<u32> {
        let mut best: Option<(usize, u32)> = None;
        for p in points {
            // −0 and 0 are one coordinate.
            let p = p + DVec3::ZERO;
            let Ok(place) = self.order.binary_search_by(|&q| ascending(&corners[q as usize], &p)) else {
                continue;
            };
            let corner = self.order[place];
            let edges = self.around(corner).len();
            if best.is_none_or(|(fewest, _)| edges < fewest) {
                best = Some((edges, corner));
            }
            if edges <= FEW_EDGES {
                break;
            }
        }
        best.map(|(_, corner)| corner)
    }
}
