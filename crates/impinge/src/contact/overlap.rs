//! How much two solids overlap: the word that volume methods and pressure responses share
//! (Faure, Allard, Falipou and Barbier 2008).

use glam::DVec3;

/// One connected region of the intersection of two solids.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Overlap {
    /// The volume of the region.
    pub volume: f64,
    /// The stated error of the volume.
    pub error: f64,
    /// The derivative of the volume by a translation of each body: the direction in which it grows.
    pub gradient: [DVec3; 2],
    /// Where the region is and how it faces.
    pub region: Region,
}

/// Where a region of overlap is and how it faces.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Region {
    /// Its centre of mass, in the world.
    pub centroid: DVec3,
    /// The mean normal of unit length, from a to b.
    pub normal: DVec3,
    /// Its area seen along the normal.
    pub area: f64,
    /// Its extent along the normal.
    pub depth: f64,
}
