//! How much two solids overlap: the words that volume methods and pressure responses share (Faure, Allard, Falipou and
//! Barbier 2008).

use glam::{DQuat, DVec3};

/// How much two solids overlap.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Volume {
    /// The volume of the common interior.
    pub volume: f64,
    /// The stated error of the volume.
    pub error: f64,
    /// What the stated error is worth.
    pub error_kind: VolumeErrorKind,
    /// Its connected regions, the largest first.
    pub regions: Vec<Overlap>,
    /// The derivative of the volume by the position of each vertex of both bodies, in the world; empty unless asked,
    /// and for a curved primitive, which has none.
    pub gradient: [Vec<DVec3>; 2],
    /// The border of the intersection in small pieces; empty unless asked.
    pub samples: Vec<SurfaceSample>,
    /// The border of the intersection as a closed mesh, vertices and triangles that face outwards; empty unless asked,
    /// without an overlap, and from methods other than `exact`.
    pub border: (Vec<DVec3>, Vec<[u32; 3]>),
}

/// What the stated error of a volume is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum VolumeErrorKind {
    /// Proved: the true volume is no farther away.
    Bound,
    /// Expected: rarely exceeded.
    #[default]
    Estimate,
}

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

/// A small piece of one body's surface that lies in the other body.
///
/// The sum of area times barycentric coordinate over the samples at a vertex is the derivative of the volume by it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SurfaceSample {
    /// Whose surface: 0 for a, 1 for b.
    pub body: usize,
    /// The triangle it lies on; `None` on a primitive.
    pub triangle: Option<u32>,
    /// Where on the triangle: the shares of its corners, in the order of the mesh.
    pub barycentric: [f64; 3],
    /// Where, in the world.
    pub point: DVec3,
    /// The area vector, out of the body.
    pub area: DVec3,
}

/// What is wanted of a volume, and how finely.
///
/// Resolution and error are for methods that approximate; an exact answer meets any.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct VolumeOptions {
    /// Whether the derivative by every vertex is wanted too.
    pub gradient: bool,
    /// Whether the border of the intersection is wanted in pieces.
    pub samples: bool,
    /// Whether the border of the intersection is wanted as a mesh.
    pub border: bool,
    /// Pixels along the longest side of the common box, from 1 to 4096; `None` leaves it to the error, or to the method.
    pub resolution: Option<u32>,
    /// The wanted error of the volume as a share of it.
    pub error: Option<f64>,
    /// What an open mesh bounds; `None` refuses open meshes.
    pub open: Option<OpenSurface>,
    /// The axes of images: those of the world, turned by this.
    pub frame: DQuat,
}

/// What an open surface bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum OpenSurface {
    /// Everything behind it, against its normals, without end: ground, walls, bags.
    HalfSpace,
    /// The points around which it winds at least half: its holes are thought to be covered.
    Winding,
}
