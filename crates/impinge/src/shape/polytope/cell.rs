//! What the Voronoi region of each feature is bounded by, laid out so that one step of a walk reads one
//! run of memory.

use std::ops::Range;

use glam::DVec3;

/// One edge as seen from one of its ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spoke {
    /// Along the edge away from the corner, of any length: the corner's region lies behind this normal.
    pub along: DVec3,
    /// The corner at the other end.
    pub to: u32,
    /// The edge.
    pub edge: u32,
}

/// An edge between two corners and two faces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// Its corners, the smaller index first.
    pub ends: [u32; 2],
    /// The face on the left of the way from the first to the second corner seen from outside, and the one
    /// on the right; [`super::NO_FACE`] for a segment.
    pub faces: [u32; 2],
    /// Where the first corner is.
    pub start: DVec3,
    /// From the first to the second corner.
    pub along: DVec3,
    /// For each face the direction into it, in its plane and across the edge; zero for a segment.
    pub inward: [DVec3; 2],
}

/// The corners and faces of an edge, for those who go through all edges: a seventh of what is known of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EdgeLinks {
    /// As [`Edge::ends`].
    pub ends: [u32; 2],
    /// As [`Edge::faces`].
    pub faces: [u32; 2],
}

/// A face: unit normal and where its sides are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Face {
    /// Outward, of unit length.
    pub normal: DVec3,
    /// A corner of the face.
    pub corner: DVec3,
    pub(super) first: u32,
    pub(super) count: u32,
}

impl Face {
    pub(super) fn range(&self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// One side of a face.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    /// Where the corner is at which this side starts.
    pub corner: DVec3,
    /// In the plane of the face, across the side, away from the face: the wall of the face's region.
    pub outward: DVec3,
    /// The corner at which this side starts.
    pub start: u32,
    /// The edge.
    pub edge: u32,
}

/// Where the spokes of a corner are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ring {
    pub(super) first: u32,
    pub(super) count: u32,
    /// The spokes end in one plane across the corner's cone, so that they can be searched by halving.
    pub(super) level: bool,
}

impl Ring {
    pub(super) fn range(&self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}
