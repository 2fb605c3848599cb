//! The part of a placed polytope that can reach the surface under it: corners not above all of the surface, with the
//! edges and faces at them.
//!
//! Where the surface rises by less than 45° from a common plane, whatever lies higher than its highest point is over it,
//! and nothing of it is a contact. Elsewhere all of the polytope is looked at.

use glam::DVec3;
use smallvec::SmallVec;

use super::local_surface::LocalSurface;
use crate::Pose;
use crate::narrow::convex::faceted::Graph;
use crate::num::tolerance::REGION_EDGE;

/// The cosine between the normal of a triangle and the common one (no unit) above which a triangle is flat enough.
const FLAT_ENOUGH: f64 = 0.75;

/// An edge of the polytope with a low corner.
pub(super) struct LowEdge {
    pub index: u32,
    pub ends: [u32; 2],
    /// The places of its faces among those that were kept.
    pub slots: [u32; 2],
}

/// A placed polytope, and what of it is low.
pub(super) struct LowerPart<'g, 'p> {
    pub graph: &'g Graph<'p>,
    /// All corners in the world.
    pub corners: SmallVec<[DVec3; 32]>,
    pub middle: DVec3,
    /// No corner is farther from the middle.
    pub reach: f64,
    /// The corners that are low.
    pub low: SmallVec<[u32; 32]>,
    /// The edges and faces at them.
    pub edges: SmallVec<[LowEdge; 32]>,
    pub faces: SmallVec<[u32; 64]>,
    /// The planes of these faces in the world.
    pub planes: SmallVec<[(DVec3, f64); 64]>,
    /// From the world into its own frame.
    back: Pose,
    /// The way up, and the lowest corner along it.
    up: DVec3,
    floor: f64,
}

impl<'g, 'p> LowerPart<'g, 'p> {
    pub fn new(surface: &LocalSurface<'_>, graph: &'g Graph<'p>, margin: f64) -> LowerPart<'g, 'p> {
        let polytope = graph.polytope();
        let corners: SmallVec<[DVec3; 32]> = graph.corners().collect();
        let middle = graph.middle();
        let square = corners.iter().fold(0.0_f64, |most, p| most.max(p.distance_squared(middle)));
        let (up, level) = highest(surface).unwrap_or((DVec3::ZERO, 0.0));
        // Rounding must not lift what touches.
        let room = REGION_EDGE * (square.sqrt() + level.abs());
        let heights: SmallVec<[f64; 32]> = corners.iter().map(|p| up.dot(*p)).collect();
        let is_low = |v: u32| heights[v as usize] <= level + margin + room;
        let low = (0..corners.len() as u32).filter(|&v| is_low(v)).collect();
        let mut part = LowerPart {
            graph,
            middle,
            reach: square.sqrt(),
            low,
            edges: SmallVec::new(),
            faces: SmallVec::new(),
            planes: SmallVec::new(),
            back: graph.pose().inverse(),
            up,
            floor: heights.iter().copied().fold(f64::INFINITY, f64::min) - room,
            corners,
        };
        let mut slot_of: SmallVec<[Option<u32>; 64]> = SmallVec::from_elem(None, polytope.faces().len());
        for (index, edge) in (0..).zip(polytope.edges()) {
            if edge.ends.iter().any(|&v| is_low(v)) {
                let slots = edge.faces.map(|face| {
                    *slot_of[face as usize].get_or_insert_with(|| {
                        part.faces.push(face);
                        part.faces.len() as u32 - 1
                    })
                });
                part.edges.push(LowEdge { index, ends: edge.ends, slots });
            }
        }
        let (pose, turn) = (graph.pose(), graph.pose().matrix());
        let is_rotation = pose.is_rotation();
        let plane = |&face: &u32| {
            let (normal, at) = graph.local_plane(face);
            let turned = turn * normal;
            let normal = if is_rotation { turned } else { turned.normalize() };
            (normal, normal.dot(pose.apply(at)))
        };
        part.planes = part.faces.iter().map(plane).collect();
        part
    }

    /// Whether a point is in the polytope grown by some room.
    pub fn holds(&self, p: DVec3, room: f64) -> bool {
        if !self.planes.iter().all(|(n, offset)| n.dot(p) - offset <= room) {
            return false;
        }
        let local = self.back.apply(p);
        (0..self.graph.polytope().faces().len() as u32).all(|face| {
            let (normal, at) = self.graph.local_plane(face);
            normal.dot(local - at) <= room
        })
    }

    /// Whether all corners are higher than a segment by more than a margin.
    pub fn is_above(&self, ends: [DVec3; 2], margin: f64) -> bool {
        ends.iter().all(|p| self.up.dot(*p) < self.floor - margin)
    }

    /// Whether a segment reaches behind all kept planes, with a margin; `slopes` are its heights over each that it gains
    /// from end to end.
    pub fn clip(&self, [p, q]: [DVec3; 2], margin: f64, slopes: &mut [f64]) -> bool {
        let (mut low, mut high) = (0.0_f64, 1.0_f64);
        for (&(normal, offset), slope) in self.planes.iter().zip(slopes) {
            let (start, end) = (normal.dot(p) - offset - margin, normal.dot(q) - offset - margin);
            *slope = end - start;
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

    /// Whether no other corner is lower than this one along a normal.
    pub fn is_lowest(&self, v: u32, normal: DVec3) -> bool {
        let x = self.corners[v as usize];
        let rises = |to: u32| {
            let along = self.corners[to as usize] - x;
            normal.dot(along) >= -REGION_EDGE * along.length()
        };
        self.graph.polytope().spokes(v).iter().all(|spoke| rises(spoke.to))
    }

    /// Whether the direction against a normal lies in the Voronoi region of an edge.
    pub fn is_outside(&self, edge: u32, normal: DVec3) -> bool {
        self.graph.inward(edge).iter().all(|into| -normal.dot(*into) <= REGION_EDGE)
    }
}

/// A direction that all of the surface looks along, and how far it reaches along it; `None` where there is no such.
fn highest(surface: &LocalSurface<'_>) -> Option<(DVec3, f64)> {
    let up = surface.planes().fold(DVec3::ZERO, |all, (_, normal, _)| all + normal).try_normalize()?;
    let mut level = f64::NEG_INFINITY;
    for (k, normal, _) in surface.planes() {
        if normal.dot(up) < FLAT_ENOUGH {
            return None;
        }
        for p in surface.facet(k).corners {
            level = level.max(up.dot(p));
        }
    }
    Some((up, level))
}
